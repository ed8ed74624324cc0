//! Runs on disk: blocks of ascending records, compressed and checksummed.
//!
//! A block: u32 bytes of the records, u32 bytes as stored, u32 rows, u32 CRC-32 of the number of the block, these three
//! numbers and the stored bytes; then the stored bytes. They are compressed (zstd) unless both sizes are the same. A
//! record that is larger than a block has a block of its own, stored as it is.

use super::arena::record_at;
use crate::model::{Error, ErrorKind, Result};
use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use zstd::bulk::{Compressor, Decompressor};

const HEADER_BYTES: usize = 16;
/// Fastest level that is not a negative one: a run is read once.
const LEVEL: i32 = 1;

/// Where runs go, and how much of the disk they take.
#[derive(Clone, Debug)]
pub(super) struct Spill {
    shared: Arc<SpillState>,
}

#[derive(Debug)]
struct SpillState {
    folder: PathBuf,
    disk_bytes_max: Option<u64>,
    disk_bytes: AtomicU64,
    disk_bytes_peak: AtomicU64,
    bytes_written: AtomicU64,
}

impl Spill {
    pub(super) fn new(folder: PathBuf, disk_bytes_max: Option<u64>) -> Self {
        let shared = Arc::new(SpillState {
            folder,
            disk_bytes_max,
            disk_bytes: AtomicU64::new(0),
            disk_bytes_peak: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
        });
        Self { shared }
    }

    pub(super) fn bytes_written(&self) -> u64 {
        self.shared.bytes_written.load(Ordering::Relaxed)
    }

    pub(super) fn disk_bytes_peak(&self) -> u64 {
        self.shared.disk_bytes_peak.load(Ordering::Relaxed)
    }

    /// Counts bytes that are about to be written.
    fn take(&self, bytes: u64) -> Result<()> {
        let disk_bytes = self.shared.disk_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if let Some(max) = self.shared.disk_bytes_max.filter(|max| disk_bytes > *max) {
            self.shared.disk_bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "a sort needs more than disk_bytes_max = {max} bytes in the spill folder {}",
                    self.shared.folder.display()
                ),
            )
            .hint("allow more bytes on disk, or more memory"));
        }
        self.shared.disk_bytes_peak.fetch_max(disk_bytes, Ordering::Relaxed);
        self.shared.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn write_error(&self, error: io::Error) -> Error {
        let message = format!("writing sorted rows to the spill folder {} failed", self.shared.folder.display());
        Error::new(ErrorKind::Output, format!("{message}: {error}"))
            .hint("free space in that folder, name another one, or give the run more memory")
            .caused_by(error)
    }

    fn read_error(&self, what: &str) -> Error {
        let message = format!("reading sorted rows back from the spill folder {} failed", self.shared.folder.display());
        Error::new(ErrorKind::Read, format!("{message}: {what}"))
            .hint("check the disk under that folder, and run again")
    }
}

/// A finished run. Its file has no name and ends with it.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) file: File,
    spill: Spill,
    bytes: u64,
    rows: u64,
    block_bytes_max: usize,
    level: u32,
}

impl Run {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Size of the largest block in memory.
    pub(super) fn block_bytes_max(&self) -> usize {
        self.block_bytes_max
    }

    /// How many merges its rows went through.
    pub(super) fn level(&self) -> u32 {
        self.level
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.spill.shared.disk_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Writes a run from records in ascending order.
pub(super) struct RunWriter {
    run: Run,
    block: Vec<u8>,
    block_rows: u32,
    blocks: u64,
    block_bytes: usize,
    packed: Vec<u8>,
    compressor: Compressor<'static>,
}

impl RunWriter {
    pub(super) fn new(spill: &Spill, block_bytes: usize, level: u32) -> Result<Self> {
        let file = tempfile::tempfile_in(&spill.shared.folder).map_err(|error| spill.write_error(error))?;
        let compressor = Compressor::new(LEVEL).map_err(|error| spill.write_error(error))?;
        let run = Run { file, spill: spill.clone(), bytes: 0, rows: 0, block_bytes_max: 0, level };
        let packed = Vec::with_capacity(zstd::zstd_safe::compress_bound(block_bytes));
        let block = Vec::with_capacity(block_bytes);
        Ok(Self { run, block, block_rows: 0, blocks: 0, block_bytes, packed, compressor })
    }

    pub(super) fn push(&mut self, record: &[u8]) -> Result<()> {
        if record.len() > self.block_bytes - self.block.len() {
            self.flush()?;
        }
        self.run.rows += 1;
        if record.len() > self.block_bytes {
            return self.write_block(record.len(), 1, Some(record));
        }
        self.block.extend_from_slice(record);
        self.block_rows += 1;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.packed.clear();
        let packed = self.compressor.compress_to_buffer(&self.block, &mut self.packed);
        packed.map_err(|error| self.run.spill.write_error(error))?;
        if self.packed.len() >= self.block.len() {
            self.packed.clear();
            self.packed.extend_from_slice(&self.block);
        }
        let rows = std::mem::take(&mut self.block_rows);
        self.write_block(self.block.len(), rows, None)?;
        self.block.clear();
        Ok(())
    }

    fn write_block(&mut self, bytes: usize, rows: u32, stored: Option<&[u8]>) -> Result<()> {
        let stored = stored.unwrap_or(&self.packed);
        let header = header(self.blocks, size(bytes)?, size(stored.len())?, rows, stored);
        let written = (HEADER_BYTES + stored.len()) as u64;
        self.run.spill.take(written)?;
        self.run.bytes += written;
        self.run.block_bytes_max = self.run.block_bytes_max.max(bytes);
        self.blocks += 1;
        let result = self.run.file.write_all(&header).and_then(|()| self.run.file.write_all(stored));
        result.map_err(|error| self.run.spill.write_error(error))
    }

    pub(super) fn finish(mut self) -> Result<Run> {
        self.flush()?;
        self.run.file.rewind().map_err(|error| self.run.spill.write_error(error))?;
        Ok(self.run)
    }
}

fn size(bytes: usize) -> Result<u32> {
    u32::try_from(bytes)
        .map_err(|_| Error::new(ErrorKind::Limit, format!("a row of {bytes} bytes is too large: the limit is 4 GiB")))
}

fn header(block: u64, bytes: u32, stored_bytes: u32, rows: u32, stored: &[u8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&bytes.to_be_bytes());
    header[4..8].copy_from_slice(&stored_bytes.to_be_bytes());
    header[8..12].copy_from_slice(&rows.to_be_bytes());
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&block.to_be_bytes());
    checksum.update(&header[..12]);
    checksum.update(stored);
    header[12..].copy_from_slice(&checksum.finalize().to_be_bytes());
    header
}

/// What all readers of a merge share: the decompressor and the block that is being read.
pub(super) struct Unpacker {
    decompressor: Decompressor<'static>,
    packed: Vec<u8>,
}

impl Unpacker {
    pub(super) fn new(block_bytes: usize) -> Result<Self> {
        let decompressor = Decompressor::new()
            .map_err(|error| Error::internal("the decompressor could not be made").caused_by(error))?;
        Ok(Self { decompressor, packed: Vec::with_capacity(block_bytes) })
    }
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacker").finish_non_exhaustive()
    }
}

/// Reads a run, one record at a time.
#[derive(Debug)]
pub(super) struct RunReader {
    run: Run,
    block: Vec<u8>,
    start: usize,
    end: usize,
    block_rows: u32,
    blocks: u64,
    bytes_read: u64,
    rows_read: u64,
}

impl RunReader {
    /// A reader before the first record.
    pub(super) fn new(run: Run) -> Self {
        let block = Vec::with_capacity(run.block_bytes_max);
        Self { run, block, start: 0, end: 0, block_rows: 0, blocks: 0, bytes_read: 0, rows_read: 0 }
    }

    /// The record it stands at; empty before the first and after the last.
    #[inline]
    pub(super) fn record(&self) -> &[u8] {
        &self.block[self.start..self.end]
    }

    /// Goes to the next record. `false` at the end of the run.
    pub(super) fn advance(&mut self, unpacker: &mut Unpacker) -> Result<bool> {
        self.start = self.end;
        if self.start == self.block.len() {
            if self.block_rows != 0 {
                return Err(self.run.spill.read_error("a block holds fewer rows than were written"));
            }
            if self.bytes_read == self.run.bytes {
                return self.end_of_run();
            }
            self.read_block(unpacker)?;
        }
        let record = record_at(&self.block[self.start..]).map(<[u8]>::len);
        let (Some(bytes), Some(rows)) = (record, self.block_rows.checked_sub(1)) else {
            return Err(self.run.spill.read_error("a block does not hold the rows that were written"));
        };
        self.end = self.start + bytes;
        self.block_rows = rows;
        self.rows_read += 1;
        Ok(true)
    }

    fn end_of_run(&self) -> Result<bool> {
        if self.rows_read != self.run.rows {
            let (expected, found) = (self.run.rows, self.rows_read);
            return Err(self.run.spill.read_error(&format!("expected {expected} rows, found {found}")));
        }
        Ok(false)
    }

    fn read_block(&mut self, unpacker: &mut Unpacker) -> Result<()> {
        let mut found = [0; HEADER_BYTES];
        let spill = self.run.spill.clone();
        let failed = |error: io::Error| spill.read_error(&error.to_string()).caused_by(error);
        self.run.file.read_exact(&mut found).map_err(failed)?;
        let [bytes, stored_bytes, rows] = [0, 4, 8].map(|at| word(&found, at));
        let (raw_len, stored_len) = (bytes as usize, stored_bytes as usize);
        let damaged = || spill.read_error(&format!("block {} of a run is damaged", self.blocks));
        // The lengths are not to be trusted before the checksum: neither may make a buffer larger than it is.
        let room = if stored_len == raw_len { self.block.capacity() } else { unpacker.packed.capacity() };
        if raw_len > self.block.capacity() || stored_len > raw_len || stored_len > room {
            return Err(damaged());
        }
        let stored = if stored_len == raw_len { &mut self.block } else { &mut unpacker.packed };
        stored.clear();
        stored.resize(stored_len, 0);
        self.run.file.read_exact(stored).map_err(failed)?;
        if header(self.blocks, bytes, stored_bytes, rows, stored) != found {
            return Err(damaged());
        }
        if stored_len != raw_len {
            self.block.clear();
            let length = unpacker.decompressor.decompress_to_buffer(&unpacker.packed, &mut self.block);
            if !matches!(length, Ok(length) if length == raw_len && self.block.len() == raw_len) {
                return Err(damaged());
            }
        }
        self.blocks += 1;
        self.bytes_read += (HEADER_BYTES + stored_len) as u64;
        (self.start, self.end, self.block_rows) = (0, 0, rows);
        Ok(())
    }
}

fn word(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}
