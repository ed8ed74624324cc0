//! The sort: shuffled records in, ascending records out, in memory and through runs on disk.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

mod shapes;

use criterion::Criterion;
use shapes::Table;
use std::path::Path;
use tieout::{
    encode::EncodedBatch,
    model::Result,
    sort::{MEMORY_BYTES_MIN, SortCounters, Sorter, SorterOptions},
};
use tieout_testkit::random::SplitMix64;

/// Bytes of records that are taken out at a time; about what a merge takes.
const BATCH_BYTES: usize = 1 << 20;
/// Budget of a sort that must not spill, as a multiple of the records.
const ROOMY: u64 = 4;
/// What the records are divided by to get a budget that makes some ten runs.
const TIGHT: u64 = 8;
/// Seed of the order in which records arrive.
const SEED: u64 = 0x0bad_5eed;

fn main() -> Result<()> {
    shapes::for_each_shape(sort)
}

fn sort(criterion: &mut Criterion, table: &Table, records: &EncodedBatch) {
    let folder = tempfile::tempdir().unwrap();
    let shuffled = shuffle(records);
    let bytes = records.bytes() as u64;
    for (stage, memory_bytes, spills) in [("sort_memory", bytes * ROOMY, false), ("sort_disk", bytes / TIGHT, true)] {
        shapes::case(criterion, stage, table, records, |bencher| {
            bencher.iter(|| {
                let counters = sort_all(&shuffled, records, folder.path(), memory_bytes).unwrap();
                assert_eq!(counters.runs_written > 0, spills);
            });
        });
    }
}

/// Sorts `shuffled`, reads the output to its end and holds it against `expected`, which costs little beside the sort.
fn sort_all(
    shuffled: &EncodedBatch,
    expected: &EncodedBatch,
    folder: &Path,
    memory_bytes: u64,
) -> Result<SortCounters> {
    let memory_bytes = memory_bytes.max(MEMORY_BYTES_MIN);
    let options = SorterOptions { memory_bytes, spill_folder: folder.to_owned(), disk_bytes_max: None };
    let mut sorter = Sorter::new(options)?;
    sorter.push(shuffled)?;
    let mut output = sorter.finish()?;
    let (mut batch, mut rows) = (EncodedBatch::new(), 0);
    while output.next_batch(&mut batch, BATCH_BYTES)? {
        let end = rows + batch.len();
        assert!(batch.slice(0, batch.len()) == expected.slice(rows, end), "rows {rows} to {end} are out of order");
        rows = end;
    }
    assert_eq!(rows, expected.len());
    Ok(output.counters())
}

/// The records in an order that has nothing to do with their keys (Fisher and Yates).
fn shuffle(records: &EncodedBatch) -> EncodedBatch {
    let mut random = SplitMix64::new(SEED);
    let mut order: Vec<usize> = (0..records.len()).collect();
    for index in (1..order.len()).rev() {
        let other = random.below(index as u64 + 1);
        order.swap(index, usize::try_from(other).unwrap());
    }
    let mut shuffled = EncodedBatch::new();
    for index in order {
        shuffled.push_record(records.record(index).bytes);
    }
    shuffled
}
