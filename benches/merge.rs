//! The merge: order proof, digests and differences of two sides, equal and with one row of a hundred different.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

mod shapes;

use criterion::Criterion;
use shapes::Table;
use tieout::{
    encode::EncodedBatch,
    merge::{DifferenceSink, Feed, MergeSpec, RangeBounds, merge_range},
    model::{ColumnOptions, Counts, Difference, KeyRange, Result, Sides},
    sort::{MEMORY_BYTES_MIN, SorterOptions},
};

/// Rows that a feed hands over at a time.
const BATCH_ROWS: usize = 2_000;
/// Distance in rows of what is missing from the sink, and of what is changed there.
const DIFFERENCE_EVERY: usize = 200;

/// Records of one side, copied out batch by batch.
struct Records<'a> {
    records: &'a EncodedBatch,
    at: usize,
}

impl Feed for Records<'_> {
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
        let end = (self.at + BATCH_ROWS).min(self.records.len());
        (self.at..end).for_each(|index| into.push_record(self.records.record(index).bytes));
        let any = end > self.at;
        self.at = end;
        Ok(any)
    }
}

/// Counts differences; writing them is another stage.
struct Counted(usize);

impl DifferenceSink for Counted {
    fn write(&mut self, _: &Difference<'_>) -> Result<()> {
        self.0 += 1;
        Ok(())
    }
}

fn main() -> Result<()> {
    shapes::for_each_shape(merge)
}

fn merge(criterion: &mut Criterion, table: &Table, records: &EncodedBatch) {
    let folder = tempfile::tempdir().unwrap();
    let (key_types, row_types) = table.shape.types();
    let options = vec![ColumnOptions::default(); row_types.len()];
    let spill_folder = folder.path().to_owned();
    let spec = MergeSpec {
        key_types,
        row_types,
        options,
        folded_fields: Vec::new(),
        rows_sorted: Sides::new(false, false),
        group_bytes_max: MEMORY_BYTES_MIN,
        sorter: SorterOptions { memory_bytes: MEMORY_BYTES_MIN, spill_folder, disk_bytes_max: None },
    };
    let (altered, missing, changed) = alter(records);
    for (stage, sink, missing, changed) in
        [("merge_equal", records, 0, 0), ("merge_different", &altered, missing, changed)]
    {
        let matched = records.len() - missing - changed;
        shapes::case(criterion, stage, table, records, |bencher| {
            bencher.iter(|| {
                let (counts, written) = merge_all(&spec, records, sink).unwrap();
                assert_eq!(written, missing + changed);
                assert_eq!(
                    [counts.matched, counts.missing, counts.changed, counts.extra],
                    [matched, missing, changed, 0].map(|rows| rows as u64)
                );
            });
        });
    }
}

fn merge_all(spec: &MergeSpec, source: &EncodedBatch, sink: &EncodedBatch) -> Result<(Counts, usize)> {
    let mut feeds = Sides::new(Records { records: source, at: 0 }, Records { records: sink, at: 0 });
    let mut found = Counted(0);
    let bounds = RangeBounds { number: 0, range: KeyRange::all() };
    let feeds = Sides::<&mut dyn Feed>::new(&mut feeds.source, &mut feeds.sink);
    Ok((merge_range(spec, &bounds, feeds, &mut found)?.counts, found.0))
}

/// The records without some of them, and with some under the row of the record before; how many of each.
fn alter(records: &EncodedBatch) -> (EncodedBatch, usize, usize) {
    let (mut altered, mut missing, mut changed) = (EncodedBatch::new(), 0, 0);
    for index in 0..records.len() {
        let record = records.record(index);
        match index % DIFFERENCE_EVERY {
            1 => missing += 1,
            101 => {
                let row = records.record(index - 1).row;
                altered.push(record.key, row);
                changed += usize::from(row != record.row);
            }
            _ => altered.push_record(record.bytes),
        }
    }
    (altered, missing, changed)
}
