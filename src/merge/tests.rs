//! The merge against a naive oracle, and its refusals.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::{
    model::{CanonicalType, DifferenceKind, ErrorKind, RangeOutcome},
    sort::SorterOptions,
};
use tieout_testkit::{oracle, random::SplitMix64 as Random};

type Record = (Vec<u8>, Vec<u8>);

/// A feed over records in the order given, in batches of `size` rows.
struct Rows {
    records: Vec<Record>,
    at: usize,
    size: usize,
}

impl Feed for Rows {
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
        let end = (self.at + self.size).min(self.records.len());
        self.records[self.at..end].iter().for_each(|(key, row)| into.push(key, row));
        let any = end > self.at;
        self.at = end;
        Ok(any)
    }
}

#[derive(Default)]
struct Found(Vec<oracle::Difference>);

impl DifferenceSink for Found {
    fn write(&mut self, difference: &Difference<'_>) -> Result<()> {
        self.0.push(oracle::Difference {
            key: difference.key.to_vec(),
            kind: match difference.kind {
                DifferenceKind::Missing => oracle::Kind::Missing,
                DifferenceKind::Extra => oracle::Kind::Extra,
                DifferenceKind::Changed => oracle::Kind::Changed,
            },
            source: difference.source.map(<[u8]>::to_vec),
            sink: difference.sink.map(<[u8]>::to_vec),
            occurrences: difference.occurrences,
        });
        Ok(())
    }
}

fn spec(group_bytes_max: u64, folder: &std::path::Path) -> MergeSpec {
    MergeSpec {
        key_types: vec![CanonicalType::Uuid],
        row_types: vec![CanonicalType::Binary],
        options: vec![ColumnOptions::default()],
        folded_fields: Vec::new(),
        rows_sorted: Sides::new(false, false),
        group_bytes_max,
        sorter: SorterOptions { memory_bytes: 64 << 10, spill_folder: folder.to_owned(), disk_bytes_max: None },
    }
}

fn run(
    spec: &MergeSpec,
    range: KeyRange,
    source: &[Record],
    sink: &[Record],
    size: usize,
) -> Result<(RangeOutcome, Vec<oracle::Difference>)> {
    let mut found = Found::default();
    let mut source = Rows { records: source.to_vec(), at: 0, size };
    let mut sink = Rows { records: sink.to_vec(), at: 0, size };
    let bounds = RangeBounds { number: 0, range };
    let outcome = merge_range(spec, &bounds, Sides { source: &mut source, sink: &mut sink }, &mut found)?;
    Ok((outcome, found.0))
}

fn row(value: u64) -> Vec<u8> {
    vec![1, 1, u8::try_from(value).unwrap()]
}

/// Random records: keys ascending, rows of one key in any order.
fn records(random: &mut Random, rows: u64, keys: u64, values: u64) -> Vec<Record> {
    let mut records: Vec<Record> =
        (0..rows).map(|_| (random.below(keys).to_be_bytes().to_vec(), row(random.below(values)))).collect();
    records.sort_by(|one, other| one.0.cmp(&other.0));
    records
}

fn check_against_oracle(source: &[Record], sink: &[Record]) {
    let folder = tempfile::tempdir().unwrap();
    let expected = oracle::compare(source, sink);
    for size in [1, 2, 7, 49, 50, 51] {
        for group_bytes_max in [1, 100, 1 << 20] {
            let spec = spec(group_bytes_max, folder.path());
            let (outcome, mut found) = run(&spec, KeyRange::all(), source, sink, size).unwrap();
            found.sort();
            let mut differences = expected.differences.clone();
            differences.sort();
            assert_eq!(found, differences);
            let counts = outcome.counts;
            assert_eq!(
                (counts.matched, counts.missing, counts.extra, counts.changed),
                (expected.matched, expected.missing, expected.extra, expected.changed)
            );
            for (tally, records, duplicates) in [
                (outcome.sides.source, source, expected.source_duplicates),
                (outcome.sides.sink, sink, expected.sink_duplicates),
            ] {
                assert_eq!(tally.rows, records.len() as u64);
                assert_eq!(tally.digest.0, oracle::range_digest(records));
                assert_eq!((tally.duplicate_keys, tally.surplus_rows), (duplicates.keys, duplicates.surplus));
            }
        }
    }
}

#[test]
fn every_batch_split_agrees_with_the_oracle() {
    let mut random = Random::new(7);
    for round in 0..40 {
        let (rows, keys, values) = (random.below(120), 1 + random.below(80), 1 + random.below(4));
        let source = records(&mut random, rows, keys, values);
        let mut sink = if round % 2 == 0 { source.clone() } else { records(&mut random, rows, keys, values) };
        if round % 4 == 0 && !sink.is_empty() {
            let at = usize::try_from(random.below(sink.len() as u64)).unwrap();
            sink.remove(at);
        }
        check_against_oracle(&source, &sink);
    }
}

#[test]
fn swapping_the_sides_swaps_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(1 << 20, folder.path());
    let mut random = Random::new(11);
    for _ in 0..50 {
        let source = records(&mut random, 60, 40, 3);
        let sink = records(&mut random, 60, 40, 3);
        let (one, _) = run(&spec, KeyRange::all(), &source, &sink, 7).unwrap();
        let (other, _) = run(&spec, KeyRange::all(), &sink, &source, 7).unwrap();
        assert_eq!(one.counts.missing, other.counts.extra);
        assert_eq!(one.counts.extra, other.counts.missing);
        assert_eq!((one.counts.changed, one.counts.matched), (other.counts.changed, other.counts.matched));
        assert_eq!(one.sides.source, other.sides.sink);
    }
}

#[test]
fn any_cut_gives_the_same_differences_and_the_oracles_digests() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(1 << 20, folder.path());
    let mut random = Random::new(13);
    for _ in 0..30 {
        let source = records(&mut random, 80, 50, 3);
        let sink = records(&mut random, 80, 50, 3);
        let expected = oracle::compare(&source, &sink);
        let cuts: Vec<Vec<u8>> = (0..random.below(6)).map(|_| random.below(60).to_be_bytes().to_vec()).collect();
        let ranges = crate::model::PlannedRanges::from_cuts(cuts);
        let mut found = Vec::new();
        for range in ranges.as_slice() {
            let inside = |records: &[Record]| -> Vec<Record> {
                records.iter().filter(|(key, _)| range.contains(key)).cloned().collect()
            };
            let (source, sink) = (inside(&source), inside(&sink));
            let (outcome, differences) = run(&spec, range.clone(), &source, &sink, 5).unwrap();
            assert_eq!(outcome.sides.source.digest.0, oracle::range_digest(&source));
            assert_eq!(outcome.sides.sink.digest.0, oracle::range_digest(&sink));
            found.extend(differences);
        }
        found.sort();
        let mut differences = expected.differences;
        differences.sort();
        assert_eq!(found, differences);
    }
}

#[test]
fn one_key_with_many_copies_is_sorted_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(4096, folder.path());
    let key = 5_u64.to_be_bytes().to_vec();
    let mut source: Vec<Record> = (0..20_000_u64).map(|value| (key.clone(), row(value * 7 % 200))).collect();
    source.push((6_u64.to_be_bytes().to_vec(), row(1)));
    let mut sink = source.clone();
    sink[..20_000].reverse();
    let (outcome, found) = run(&spec, KeyRange::all(), &source, &sink, 50).unwrap();
    assert_eq!(outcome.counts.matched, 20_001);
    assert!(found.is_empty());
    sink.remove(3);
    let (outcome, found) = run(&spec, KeyRange::all(), &source, &sink, 50).unwrap();
    assert_eq!((outcome.counts.matched, outcome.counts.missing), (20_000, 1));
    assert_eq!(found.len(), 1);
}

#[test]
fn a_key_that_is_smaller_than_its_predecessor_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(1 << 20, folder.path());
    let ordered: Vec<Record> = (0..10_u64).map(|key| (key.to_be_bytes().to_vec(), row(0))).collect();
    for size in [1, 3, 100] {
        for at in 1..10 {
            let mut broken = ordered.clone();
            broken.swap(at - 1, at);
            let error = run(&spec, KeyRange::all(), &ordered, &broken, size).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Order);
            assert_eq!(error.place().side, Some(crate::model::Side::Sink));
            let error = run(&spec, KeyRange::all(), &broken, &ordered, size).unwrap_err();
            assert_eq!(error.place().side, Some(crate::model::Side::Source));
        }
    }
}

#[test]
fn a_key_outside_of_the_bounds_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(1 << 20, folder.path());
    let records: Vec<Record> = (0..10_u64).map(|key| (key.to_be_bytes().to_vec(), row(0))).collect();
    let bound = |key: u64| Some(key.to_be_bytes().to_vec());
    let whole = KeyRange { lower: bound(0), upper: bound(10) };
    assert!(run(&spec, whole, &records, &records, 3).is_ok());
    for range in [KeyRange { lower: bound(1), upper: None }, KeyRange { lower: None, upper: bound(9) }] {
        for size in [1, 3, 100] {
            let error = run(&spec, range.clone(), &records, &records, size).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Order);
        }
    }
}

#[test]
fn a_feed_that_fails_is_never_a_shorter_table() {
    struct Broken(usize);
    impl Feed for Broken {
        fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
            self.0 += 1;
            if self.0 > 2 {
                return Err(crate::model::Error::new(ErrorKind::Read, "the stream was cut"));
            }
            into.push(&(self.0 as u64).to_be_bytes(), &row(0));
            Ok(true)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(1 << 20, folder.path());
    let bounds = RangeBounds { number: 0, range: KeyRange::all() };
    let mut empty = Rows { records: Vec::new(), at: 0, size: 1 };
    let mut broken = Broken(0);
    let sides: Sides<&mut dyn Feed> = Sides { source: &mut broken, sink: &mut empty };
    let error = merge_range(&spec, &bounds, sides, &mut Found::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Read);
}

#[test]
fn rows_without_a_key_are_a_multiset() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(1 << 20, folder.path());
    spec.key_types.clear();
    spec.rows_sorted = Sides::new(true, true);
    let rows = |values: &[u64]| -> Vec<Record> { values.iter().map(|value| (Vec::new(), row(*value))).collect() };
    let (outcome, found) = run(&spec, KeyRange::all(), &rows(&[1, 1, 2]), &rows(&[1, 3, 3]), 2).unwrap();
    let counts = outcome.counts;
    assert_eq!((counts.matched, counts.missing, counts.extra, counts.changed), (1, 2, 2, 0));
    assert_eq!((outcome.sides.source.duplicate_keys, outcome.sides.source.surplus_rows), (1, 1));
    assert_eq!(found.len(), 3);
    // One row left on each side is not a change: nothing says that they belong together.
    let (outcome, _) = run(&spec, KeyRange::all(), &rows(&[1]), &rows(&[2]), 2).unwrap();
    assert_eq!((outcome.counts.missing, outcome.counts.extra), (1, 1));
}

/// Compares in ranges of `rows` rows of the source; the outcomes, the cuts, and the differences.
fn run_cut(
    spec: &MergeSpec,
    source: &[Record],
    sink: &[Record],
    sizes: (usize, usize),
    rows: u64,
) -> (Vec<RangeOutcome>, Vec<Vec<u8>>, Vec<oracle::Difference>) {
    let mut found = Found::default();
    let mut source = Rows { records: source.to_vec(), at: 0, size: sizes.0 };
    let mut sink = Rows { records: sink.to_vec(), at: 0, size: sizes.1 };
    let bounds = RangeBounds { number: 0, range: KeyRange::all() };
    let mut merge = RunningMerge::new(spec, bounds, Sides { source: &mut source, sink: &mut sink });
    let (mut outcomes, mut cuts) = (Vec::new(), Vec::new());
    loop {
        let (outcome, cut) = merge.run(outcomes.len(), rows, &mut found).unwrap();
        outcomes.push(outcome);
        let Some(cut) = cut else { return (outcomes, cuts, found.0) };
        cuts.push(cut);
    }
}

#[test]
fn a_merge_that_is_cut_as_it_runs_is_the_merge_of_its_ranges() {
    let folder = tempfile::tempdir().unwrap();
    // A bound that large groups outgrow, so that they go through the disk.
    let spec = spec(256, folder.path());
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let keys = 1 + random.below(40);
        let mut side = |rows: u64| -> Vec<Record> {
            let mut records: Vec<Record> =
                (0..rows).map(|_| (vec![1, u8::try_from(random.below(keys)).unwrap()], row(random.below(3)))).collect();
            records.sort_by(|one, other| one.0.cmp(&other.0));
            records
        };
        let (source, sink) = (side(120), side(100));
        for rows in [1, 7, 40, 1000] {
            let (outcomes, cuts, differences) = run_cut(&spec, &source, &sink, (200, 200), rows);
            // Cuts by the rule itself: before the first new key after `rows` rows.
            let mut expected = Vec::new();
            let mut since = 0;
            for (index, (key, _)) in source.iter().enumerate() {
                if since >= rows && index > 0 && source[index - 1].0 != *key {
                    expected.push(key.clone());
                    since = 0;
                }
                since += 1;
            }
            assert_eq!(cuts, expected, "seed {seed}, {rows} rows a range");
            for sizes in [(1, 1), (3, 11), (11, 3), (1, 200)] {
                let again = run_cut(&spec, &source, &sink, sizes, rows);
                assert_eq!(again, (outcomes.clone(), cuts.clone(), differences.clone()), "seed {seed}, {sizes:?}");
            }
            let planned = crate::model::PlannedRanges::from_cuts(cuts.clone());
            assert_eq!(planned.as_slice().len(), outcomes.len());
            let mut all = Vec::new();
            for (outcome, range) in outcomes.iter().zip(planned.as_slice()) {
                let inside = |records: &[Record]| -> Vec<Record> {
                    records.iter().filter(|(key, _)| range.contains(key)).cloned().collect()
                };
                let (source, sink) = (inside(&source), inside(&sink));
                let (apart, found) = run(&spec, range.clone(), &source, &sink, 5).unwrap();
                assert_eq!(
                    *outcome,
                    RangeOutcome { range: outcome.range, ..apart },
                    "seed {seed}, {rows} rows a range"
                );
                let answer = oracle::compare(&source, &sink);
                let tally = outcome.sides.source;
                assert_eq!((tally.rows, outcome.counts.matched), (source.len() as u64, answer.matched));
                let duplicates = (answer.source_duplicates.keys, answer.source_duplicates.surplus);
                assert_eq!((tally.duplicate_keys, tally.surplus_rows), duplicates);
                assert_eq!(tally.digest.0, oracle::range_digest(&source));
                all.extend(found);
            }
            assert_eq!(differences, all, "seed {seed}, {rows} rows a range");
        }
    }
}

#[test]
fn rows_with_null_in_the_key_are_counted_on_their_side() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(256, folder.path());
    spec.key_types = vec![CanonicalType::Text, CanonicalType::Number];
    let keys: [(&[u8], bool); 6] = [
        (&[0, 0], true),
        (&[0, 1, 0x80], true),
        // An empty text, then NULL; a NUL in the text, then zero; NUL and NULL; a letter.
        (&[1, 0, 0, 0], true),
        (&[1, 0, 0xFF, 0, 0, 1, 0x80], false),
        (&[1, 0, 0xFF, 0, 0xFF, 0, 0, 0], true),
        (&[1, 0x61, 0, 0, 1, 0xA2, 2, 0], false),
    ];
    let mut random = Random::new(17);
    for _ in 0..40 {
        let mut side = || -> (Vec<Record>, u64) {
            let mut nulls = 0;
            let mut records = Vec::new();
            for (key, holds_null) in &keys {
                let rows = random.below(30);
                nulls += if *holds_null { rows } else { 0 };
                records.extend((0..rows).map(|_| (key.to_vec(), row(random.below(3)))));
            }
            (records, nulls)
        };
        let ((source, source_nulls), (sink, sink_nulls)) = (side(), side());
        for size in [1, 7, 200] {
            let (outcome, _) = run(&spec, KeyRange::all(), &source, &sink, size).unwrap();
            assert_eq!(outcome.sides.source.null_key_rows, source_nulls);
            assert_eq!(outcome.sides.sink.null_key_rows, sink_nulls);
            let (outcomes, ..) = run_cut(&spec, &source, &sink, (size, size), 20);
            let sum = |take: fn(&RangeOutcome) -> u64| outcomes.iter().map(take).sum::<u64>();
            assert_eq!(sum(|outcome| outcome.sides.source.null_key_rows), source_nulls);
            assert_eq!(sum(|outcome| outcome.sides.sink.null_key_rows), sink_nulls);
        }
    }
}
