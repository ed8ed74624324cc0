//! External merge sort of encoded rows under a byte budget.
//!
//! Order: key bytes, then row bytes, each compared as memcmp. Rows are collected in memory; when the budget is full they
//! are sorted and spilled as a run, and the runs are merged. What was spilled is checked when it comes back: a damaged
//! block or a wrong number of rows is an error, never a wrong order. Synchronous: runs on CPU threads. Knows no store.

mod arena;
mod merge;
mod run;
#[cfg(test)]
mod tests;

use crate::{
    encode::{EncodedBatch, Record},
    model::{Error, ErrorKind, Result},
};
use arena::Arena;
use merge::Merger;
use run::{Run, RunWriter, Spill};
use std::{cmp::Ordering, path::PathBuf};

/// Smallest budget, in bytes: below it, blocks get so small that a merge does little but switch between them.
pub const MEMORY_BYTES_MIN: u64 = 64 << 10;
/// Largest block of a run, in bytes: past it, larger reads from a disk are no faster.
const BLOCK_BYTES_MAX: usize = 256 << 10;
/// Blocks that the budget is cut into at least; so a merge takes more than two dozen runs at once.
const BLOCKS_MIN: usize = 32;
/// Blocks set aside for what writes a run: the block that is filled, its compressed form, and slack.
const WRITER_BLOCKS: usize = 3;
/// Blocks set aside for what reads runs: the compressed block that is read, and slack.
const READER_BLOCKS: usize = 2;
/// Runs of one level that are kept before they are merged; bounds the open files.
const RUNS_PER_LEVEL_MAX: usize = 64;

/// What a sort may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SorterOptions {
    /// Memory for rows, their index and the blocks of runs, in bytes; at least [`MEMORY_BYTES_MIN`]. The states of the
    /// (de)compressor, about 1 MiB while there are runs, come on top, and so does the batch that the caller fills.
    pub memory_bytes: u64,
    /// Folder for runs. The files have no name in it (or lose it as soon as they are open), are readable by nobody
    /// else, and are gone when the sort is dropped or the process dies.
    pub spill_folder: PathBuf,
    /// Most bytes on disk at a time; `None` is as much as the disk has.
    pub disk_bytes_max: Option<u64>,
}

/// What a sort did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortCounters {
    /// Rows taken in.
    pub rows: u64,
    /// Bytes of the records taken in.
    pub bytes: u64,
    /// Runs written, those of intermediate merges included.
    pub runs_written: u64,
    /// Merges of runs into a run, before the last merge.
    pub merges: u64,
    /// Bytes written to disk, in total.
    pub bytes_spilled: u64,
    /// Most bytes on disk at a time.
    pub disk_bytes_peak: u64,
    /// Most bytes of memory held at a time, out of the budget.
    pub memory_bytes_peak: u64,
}

/// Takes rows in any order.
#[derive(Debug)]
pub struct Sorter {
    arena: Arena,
    spill: Spill,
    runs: Vec<Run>,
    memory_bytes: usize,
    block_bytes: usize,
    counters: SortCounters,
}

impl Sorter {
    /// A sorter that holds nothing yet. Memory is taken as rows arrive.
    ///
    /// # Errors
    /// `Config` if the budget is below [`MEMORY_BYTES_MIN`] or the spill folder is not a folder.
    pub fn new(options: SorterOptions) -> Result<Self> {
        if options.memory_bytes < MEMORY_BYTES_MIN {
            return Err(Error::new(
                ErrorKind::Config,
                format!("memory of a sort is {} bytes, expected at least {MEMORY_BYTES_MIN}", options.memory_bytes),
            ));
        }
        if !options.spill_folder.is_dir() {
            return Err(Error::new(
                ErrorKind::Config,
                format!("the spill folder {} is not a folder", options.spill_folder.display()),
            )
            .hint("create it, or name another one"));
        }
        let memory_bytes = usize::try_from(options.memory_bytes).unwrap_or(usize::MAX / 2);
        let block_bytes = (memory_bytes / BLOCKS_MIN).min(BLOCK_BYTES_MAX);
        Ok(Self {
            arena: Arena::new(memory_bytes - WRITER_BLOCKS * block_bytes),
            spill: Spill::new(options.spill_folder, options.disk_bytes_max),
            runs: Vec::new(),
            memory_bytes,
            block_bytes,
            counters: SortCounters::default(),
        })
    }

    /// Largest record that can be sorted, in bytes: a merge holds at least two.
    #[must_use]
    pub fn record_bytes_max(&self) -> usize {
        self.readers_bytes() / 2
    }

    /// Copies the records of `batch` in.
    ///
    /// # Errors
    /// `Limit` for a record above [`Self::record_bytes_max`] and for more bytes on disk than allowed; `Output` if a run
    /// cannot be written; `Read` if one cannot be read back as it was written.
    pub fn push(&mut self, batch: &EncodedBatch) -> Result<()> {
        for index in 0..batch.len() {
            let bytes = batch.slice(index, index + 1);
            let record = Record::parse(bytes)
                .ok_or_else(|| Error::internal(format!("record {index} of a batch to sort is not a record")))?;
            if !self.arena.push(&record) {
                self.make_room(&record)?;
            }
            self.counters.rows += 1;
            self.counters.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    /// Ends the input. If all rows fit into memory, nothing is written.
    ///
    /// # Errors
    /// As for [`Self::push`].
    pub fn finish(mut self) -> Result<SortedRecords> {
        self.note_memory(self.arena.held_bytes());
        if self.runs.is_empty() {
            self.arena.sort();
            let state = State::Memory { arena: self.arena, next: 0 };
            return Ok(SortedRecords { state, counters: self.counters, rows_given: 0 });
        }
        self.spill_arena()?;
        self.arena.free();
        self.runs.sort_by_key(|run| std::cmp::Reverse(run.bytes()));
        while self.fan_in() < self.runs.len() {
            // The smallest runs stand last; merging no more of them than the last merge asks for moves the fewest bytes.
            let surplus = self.runs.len() - self.fan_in() + 1;
            let group = self.take_group(surplus.max(2));
            let merged = self.merge_runs(group)?;
            let place = self.runs.partition_point(|run| run.bytes() >= merged.bytes());
            self.runs.insert(place, merged);
        }
        let runs = std::mem::take(&mut self.runs);
        self.note_memory(runs.iter().map(Run::block_bytes_max).sum::<usize>() + READER_BLOCKS * self.block_bytes);
        let merger = Merger::new(runs, self.block_bytes)?;
        let counters = self.counters();
        Ok(SortedRecords { state: State::Merge(Box::new(merger)), counters, rows_given: 0 })
    }

    /// Bytes written to disk so far.
    #[must_use]
    pub fn bytes_spilled(&self) -> u64 {
        self.spill.bytes_written()
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> SortCounters {
        SortCounters {
            bytes_spilled: self.spill.bytes_written(),
            disk_bytes_peak: self.spill.disk_bytes_peak(),
            memory_bytes_peak: self.counters.memory_bytes_peak.max(self.arena.held_bytes() as u64),
            ..self.counters
        }
    }

    /// Memory that the blocks of runs may take in a merge that writes a run.
    fn readers_bytes(&self) -> usize {
        self.memory_bytes - (WRITER_BLOCKS + READER_BLOCKS) * self.block_bytes
    }

    /// How many of the last runs can be merged at once.
    fn fan_in(&self) -> usize {
        let mut bytes = 0;
        let fit = self.runs.iter().rev().take(RUNS_PER_LEVEL_MAX * 2).take_while(|run| {
            bytes += run.block_bytes_max();
            bytes <= self.readers_bytes()
        });
        fit.count().max(2)
    }

    fn take_group(&mut self, runs_max: usize) -> Vec<Run> {
        let count = self.fan_in().min(runs_max).min(self.runs.len());
        self.runs.split_off(self.runs.len() - count)
    }

    fn make_room(&mut self, record: &Record<'_>) -> Result<()> {
        if record.bytes.len() > self.record_bytes_max() {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "a row of {} bytes is too large to be sorted: with memory_bytes = {} the limit is {} bytes",
                    record.bytes.len(),
                    self.memory_bytes,
                    self.record_bytes_max()
                ),
            )
            .hint("give the run more memory"));
        }
        self.spill_arena()?;
        if self.arena.push(record) {
            return Ok(());
        }
        Err(Error::internal(format!("a row of {} bytes does not fit an empty sort", record.bytes.len())))
    }

    fn spill_arena(&mut self) -> Result<()> {
        if self.arena.is_empty() {
            return Ok(());
        }
        self.note_memory(self.arena.held_bytes() + WRITER_BLOCKS * self.block_bytes);
        self.arena.sort();
        let mut writer = RunWriter::new(&self.spill, self.block_bytes, 0)?;
        for index in 0..self.arena.len() {
            writer.push(self.arena.record(index))?;
        }
        self.runs.push(writer.finish()?);
        self.counters.runs_written += 1;
        self.arena.clear();
        self.merge_full_levels()
    }

    /// Merges the runs of a level once there are many, so that the number of open files stays small. Runs stand by
    /// level, the highest first.
    fn merge_full_levels(&mut self) -> Result<()> {
        let mut level = 0;
        while self.runs.iter().filter(|run| run.level() == level).count() >= RUNS_PER_LEVEL_MAX {
            self.arena.free();
            let first = self.runs.partition_point(|run| run.level() > level);
            let higher: Vec<Run> = self.runs.drain(..first).collect();
            let mut merged = Vec::new();
            while !self.runs.is_empty() {
                let group = self.take_group(RUNS_PER_LEVEL_MAX);
                merged.push(self.merge_runs(group)?);
            }
            self.runs = higher;
            self.runs.append(&mut merged);
            level += 1;
        }
        Ok(())
    }

    fn merge_runs(&mut self, runs: Vec<Run>) -> Result<Run> {
        let level = runs.iter().map(Run::level).max().unwrap_or(0) + 1;
        let blocks: usize = runs.iter().map(Run::block_bytes_max).sum();
        self.note_memory(blocks + (WRITER_BLOCKS + READER_BLOCKS) * self.block_bytes);
        let rows: u64 = runs.iter().map(Run::rows).sum();
        let mut merger = Merger::new(runs, self.block_bytes)?;
        let mut writer = RunWriter::new(&self.spill, self.block_bytes, level)?;
        while let Some(record) = merger.head() {
            writer.push(record)?;
            merger.advance()?;
        }
        let run = writer.finish()?;
        if run.rows() != rows {
            return Err(Error::internal(format!("a merge of {rows} rows wrote {} rows", run.rows())));
        }
        self.counters.runs_written += 1;
        self.counters.merges += 1;
        Ok(run)
    }

    fn note_memory(&mut self, bytes: usize) {
        self.counters.memory_bytes_peak = self.counters.memory_bytes_peak.max(bytes as u64);
    }
}

/// Gives the rows in order.
#[derive(Debug)]
pub struct SortedRecords {
    state: State,
    counters: SortCounters,
    rows_given: u64,
}

#[derive(Debug)]
enum State {
    Memory { arena: Arena, next: usize },
    Merge(Box<Merger>),
}

impl SortedRecords {
    /// Clears `into` and fills it with the next records in ascending order, up to `bytes_max` bytes but at least one
    /// record. `false` at the end, with `into` empty.
    ///
    /// # Errors
    /// `Read` if a run cannot be read back as it was written; `Internal` if the number of rows is not that of the input.
    pub fn next_batch(&mut self, into: &mut EncodedBatch, bytes_max: usize) -> Result<bool> {
        into.clear();
        match &mut self.state {
            State::Memory { arena, next } => {
                while *next < arena.len() {
                    let record = arena.record(*next);
                    if !fits(into, record, bytes_max) {
                        break;
                    }
                    into.push_record(record);
                    *next += 1;
                }
            }
            State::Merge(merger) => {
                while let Some(record) = merger.head() {
                    if !fits(into, record, bytes_max) {
                        break;
                    }
                    into.push_record(record);
                    merger.advance()?;
                }
            }
        }
        self.rows_given += into.len() as u64;
        if into.is_empty() && self.rows_given != self.counters.rows {
            return Err(Error::internal(format!(
                "a sort of {} rows gave {} rows back",
                self.counters.rows, self.rows_given
            )));
        }
        Ok(!into.is_empty())
    }

    /// Bytes written to disk, in total.
    #[must_use]
    pub fn bytes_spilled(&self) -> u64 {
        self.counters.bytes_spilled
    }

    /// What the sort did.
    #[must_use]
    pub fn counters(&self) -> SortCounters {
        self.counters
    }
}

fn fits(into: &EncodedBatch, record: &[u8], bytes_max: usize) -> bool {
    into.is_empty() || into.bytes().saturating_add(record.len()) <= bytes_max
}

/// Key and row of a record that was parsed when it came in.
#[inline]
fn parts(record: &[u8]) -> (&[u8], &[u8]) {
    Record::parse(record).map_or((&[], &[]), |record| (record.key, record.row))
}

/// The order of two records: key bytes, then row bytes.
#[inline]
fn compare(one: &[u8], other: &[u8]) -> Ordering {
    parts(one).cmp(&parts(other))
}

/// A word that sorts as the records do, as far as it reaches: equal words decide nothing. The highest bit says whether
/// there is a key; the others are the first bits of the key or, without a key, of the row.
#[inline]
fn prefix(key: &[u8], row: &[u8]) -> u64 {
    let (bytes, flag) = if key.is_empty() { (row, 0) } else { (key, 1 << 63) };
    let word = bytes.first_chunk::<8>().copied().unwrap_or_else(|| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        word
    });
    u64::from_be_bytes(word) >> 1 | flag
}
