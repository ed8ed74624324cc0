//! What columns say against what records say: value by value, and through the merge with either path.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking; numbers are small"
)]

use super::super::{ArrowBatch, BatchColumn, Column, canonical_of, logical_of};
use crate::{
    connector::{NativeBatch, NativeColumns},
    encode::{EncodedBatch, RowLayout, RowWriter},
    merge::{DifferenceSink, Feed, MergeSpec, NativeRows, RangeBounds, RunningMerge},
    model::{
        CanonicalType, ColumnOptions, Conversion, Difference, DifferenceKind, FieldTarget, KeyRange, Projected,
        Projection, RangeOutcome, Result, Side, Sides, TextFold,
    },
    sort::SorterOptions,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DictionaryArray,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, LargeStringArray, StringArray, StringViewArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
    types::{Int8Type, IntervalMonthDayNanoType},
};
use arrow_buffer::{NullBuffer, i256};
use arrow_schema::Field;
use std::{
    any::Any,
    collections::VecDeque,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tieout_testkit::random::SplitMix64 as Random;

const TEXTS: [&str; 6] = ["", "a", "b", "ab", "longer than twelve bytes", "longer than twelve bytez"];

/// Number of kinds of [`column`].
const KINDS: u64 = 20;

/// A column of one kind; values, and whatever stands in the place of a NULL, follow from small numbers.
fn column(kind: u64, values: &[u64], nulls: Option<Vec<bool>>) -> ArrayRef {
    let nulls = nulls.map(NullBuffer::from);
    let text = |value: &u64| TEXTS[*value as usize % TEXTS.len()];
    let small = |value: &u64| *value as i32 - 2;
    let long = |value: &u64| i64::from(small(value)) * 1_000_003;
    let float = |value: &u64| [0.0, -0.0, f64::NAN, 1.5, -1.5, 2.5][*value as usize % 6];
    let wide = |value: &u64| i128::from(long(value)) * 1_000_000_007;
    let bytes: Vec<[u8; 16]> = values.iter().map(|value| wide(value).to_be_bytes()).collect();
    let longs: Vec<i64> = values.iter().map(long).collect();
    let strings: Vec<&str> = values.iter().map(text).collect();
    match kind {
        0 => Arc::new(Int64Array::new(longs.into(), nulls)),
        1 => Arc::new(Int32Array::new(values.iter().map(small).collect(), nulls)),
        2 => Arc::new(Int16Array::new(values.iter().map(|v| small(v) as i16).collect(), nulls)),
        3 => Arc::new(UInt64Array::new(values.iter().copied().collect(), nulls)),
        4 => Arc::new(Float64Array::new(values.iter().map(float).collect(), nulls)),
        5 => Arc::new(Float32Array::new(values.iter().map(|v| float(v) as f32).collect(), nulls)),
        6 => {
            let array = Decimal128Array::new(values.iter().map(wide).collect(), nulls);
            Arc::new(array.with_precision_and_scale(38, 2).unwrap())
        }
        7 => {
            let array = Decimal256Array::new(values.iter().map(|v| i256::from_i128(wide(v))).collect(), nulls);
            Arc::new(array.with_precision_and_scale(60, 3).unwrap())
        }
        8 => {
            let (offsets, values, _) = StringArray::from(strings).into_parts();
            Arc::new(StringArray::new(offsets, values, nulls))
        }
        9 => {
            let (offsets, values, _) = LargeStringArray::from(strings).into_parts();
            Arc::new(LargeStringArray::new(offsets, values, nulls))
        }
        10 => {
            let (views, buffers, _) = StringViewArray::from(strings).into_parts();
            Arc::new(StringViewArray::new(views, buffers, nulls))
        }
        11 => {
            let bytes: Vec<&[u8]> = strings.iter().map(|text| text.as_bytes()).collect();
            let (offsets, values, _) = BinaryArray::from(bytes).into_parts();
            Arc::new(BinaryArray::new(offsets, values, nulls))
        }
        12 => Arc::new(FixedSizeBinaryArray::new(16, bytes.concat().into(), nulls)),
        13 => Arc::new(Date32Array::new(values.iter().map(small).collect(), nulls)),
        14 => Arc::new(Time64MicrosecondArray::new(longs.into(), nulls)),
        15 => Arc::new(TimestampMicrosecondArray::new(longs.into(), nulls)),
        16 => Arc::new(TimestampNanosecondArray::new(longs.into(), nulls).with_timezone("UTC")),
        17 => Arc::new(BooleanArray::new(values.iter().map(|value| value % 2 == 0).collect(), nulls)),
        18 => {
            let interval = |v: &u64| IntervalMonthDayNanoType::make_value(small(v), small(v), long(v) * 1000);
            Arc::new(IntervalMonthDayNanoArray::new(values.iter().map(interval).collect(), nulls))
        }
        _ => {
            let keys = values.iter().map(|value| (value % 3) as i8).collect();
            let labels = Arc::new(StringArray::from(vec!["x", "y", "z"]));
            Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::new(keys, nulls), labels))
        }
    }
}

fn projected(array: &ArrayRef) -> Projected {
    let logical = logical_of(&Field::new("c", array.data_type().clone(), true));
    let target = FieldTarget {
        canonical: canonical_of(&logical).unwrap(),
        conversion: Conversion::Direct,
        strip_pad: false,
        zone: None,
        key_fold: TextFold::default(),
        parse_float_bits: 64,
        dynamic: false,
    };
    Projected { name: "c".to_owned(), index: 0, as_text: false, nullable: true, target }
}

/// Rows `span` of `arrays`.
fn batch(arrays: &[ArrayRef], span: (usize, usize)) -> ArrowBatch {
    let columns = arrays.iter().map(|array| {
        let logical = logical_of(&Field::new("c", array.data_type().clone(), true));
        BatchColumn { name: "c".to_owned(), data: Column::new(array, &logical).unwrap(), as_text: None }
    });
    ArrowBatch { rows: arrays[0].len(), bytes: 1, columns: columns.collect(), span }
}

fn layout(arrays: &[ArrayRef], keys: usize) -> RowLayout {
    let (key, row) = arrays.split_at(keys);
    let (key, row) = (key.iter().map(projected).collect(), row.iter().map(projected).collect());
    RowLayout::new(&Projection { side: Side::Source, key, row }).unwrap()
}

fn random_column(random: &mut Random, kind: u64, rows: u64, values: u64) -> ArrayRef {
    let numbers: Vec<u64> = (0..rows).map(|_| random.below(values)).collect();
    let nulls = (random.below(2) == 0).then(|| (0..rows).map(|_| random.below(3) > 0).collect());
    column(kind, &numbers, nulls)
}

#[test]
fn columns_never_call_different_records_equal() {
    let mut random = Random::new(3);
    let mut found = [0_u64; KINDS as usize];
    for round in 0..4000 {
        let kind = round % KINDS;
        let values = 1 + random.below(3);
        let other_kind = if random.below(8) == 0 { random.below(KINDS) } else { kind };
        let arrays = [random_column(&mut random, kind, 40, values)];
        let others = [random_column(&mut random, other_kind, 40, values)];
        let (one, other) = (batch(&arrays, (3, 40)), batch(&others, (1, 37)));
        let (from, other_from) = (random.below(37) as usize, random.below(36) as usize);
        let equal = one.equal_rows(from, &other, other_from, 30);
        found[kind as usize] += equal as u64;
        let most = 30.min(37 - from).min(36 - other_from);
        assert!(equal <= most);
        if arrays[0].data_type() != others[0].data_type() {
            let is_null = |row: usize| arrays[0].is_null(3 + from + row) && others[0].is_null(1 + other_from + row);
            assert!((0..equal).all(is_null), "values of another type are left to the records");
            continue;
        }
        let (layout, mut records, mut other_records) = (layout(&arrays, 0), EncodedBatch::new(), EncodedBatch::new());
        one.encode(&mut RowWriter::new(&layout, &mut records)).unwrap();
        other.encode(&mut RowWriter::new(&layout, &mut other_records)).unwrap();
        let same = |at: &usize| records.record(from + at).bytes == other_records.record(other_from + at).bytes;
        let expected = (0..most).take_while(same).count();
        assert!(equal <= expected, "columns of kind {kind} are equal too far: {equal} of {expected}");
        // Zeros of both signs are one value, and nothing but the records of a dictionary tells its values.
        if !matches!(kind, 4 | 5 | 19) {
            assert_eq!(equal, expected, "columns of kind {kind}");
        }
    }
    for (kind, found) in found.iter().enumerate() {
        assert_eq!(*found > 100, kind != 19, "kind {kind} was found equal in {found} rows");
    }
}

#[test]
fn units_scales_and_meanings_tell_types_apart() {
    let two: ArrayRef = Arc::new(Decimal128Array::from(vec![5, 5]).with_precision_and_scale(9, 2).unwrap());
    let three: ArrayRef = Arc::new(Decimal128Array::from(vec![5, 5]).with_precision_and_scale(9, 3).unwrap());
    let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![5, 5]));
    let nanos: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![5, 5]));
    let moments: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![5, 5]).with_timezone("UTC"));
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![5, 5]));
    let all = [two, three, micros, nanos, moments, whole];
    for (at, one) in all.iter().enumerate() {
        for (other_at, other) in all.iter().enumerate() {
            let (one, other) = (batch(std::slice::from_ref(one), (0, 2)), batch(std::slice::from_ref(other), (0, 2)));
            assert_eq!(one.equal_rows(0, &other, 0, 9), if at == other_at { 2 } else { 0 });
        }
    }
    let mut text = batch(&all[5..], (0, 2));
    text.columns[0].as_text = Some(CanonicalType::Number);
    assert_eq!(text.equal_rows(0, &batch(&all[5..], (0, 2)), 0, 9), 0);
}

/// One row: its key, and a number for each column.
type Row = (u64, [u64; 4]);

/// Kinds of the columns of [`Row`].
const ROW_KINDS: [u64; 4] = [8, 4, 6, 10];

/// Parts of the key of a [`Row`].
const KEYS: usize = 2;

/// The key is a number and a text that may be NULL. One row becomes the same record in every `shape`: those differ in
/// types, scales, NaNs and zeros.
fn arrays(rows: &[Row], shape: u64) -> Vec<ArrayRef> {
    let whole = |row: &Row| (row.0 / 4).cast_signed() - 2;
    let numbers: ArrayRef = if shape.is_multiple_of(2) {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(whole)))
    } else {
        Arc::new(Int16Array::from_iter_values(rows.iter().map(|row| whole(row) as i16)))
    };
    let texts = rows.iter().map(|row| [None, Some(""), Some("a"), Some("a longer text")][row.0 as usize % 4]);
    let texts: ArrayRef = if shape.is_multiple_of(3) {
        Arc::new(texts.collect::<StringArray>())
    } else {
        Arc::new(texts.collect::<DictionaryArray<Int8Type>>())
    };
    let columns = ROW_KINDS.iter().enumerate().map(|(at, kind)| {
        let values: Vec<u64> = rows.iter().map(|row| row.1[at]).collect();
        // A few numbers are NULL, and leave differing values in its place.
        let nulls: Vec<bool> = values.iter().map(|value| *value < 5).collect();
        shaped(*kind, &values, nulls, (shape >> (8 * at)) % 5)
    });
    [numbers, texts].into_iter().chain(columns).collect()
}

/// The values of [`column`] in another shape; shape 0 is its own.
fn shaped(kind: u64, values: &[u64], nulls: Vec<bool>, shape: u64) -> ArrayRef {
    let valid = Some(NullBuffer::from(nulls.clone()));
    match (kind, shape) {
        (8 | 10, 1) => column(8, values, Some(nulls)),
        (8 | 10, 2) => column(9, values, Some(nulls)),
        (8 | 10, 3) => column(10, values, Some(nulls)),
        (8 | 10, 4) => {
            let keys = values.iter().map(|value| (*value as usize % TEXTS.len()) as i8).collect();
            let labels = Arc::new(StringArray::from(TEXTS.to_vec()));
            Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::new(keys, valid), labels))
        }
        (4, 1) => column(5, values, Some(nulls)),
        (4, 2 | 3) => {
            let nan = f64::from_bits(if shape == 2 { 0x7ff8_0000_0000_1234 } else { 0xfff8_0000_0000_0000 });
            let float = |value: &u64| [-0.0, 0.0, nan, 1.5, -1.5, 2.5][*value as usize % 6];
            Arc::new(Float64Array::new(values.iter().map(float).collect(), valid))
        }
        (6, 1 | 2) => {
            let wide = |value: &u64| i128::from(*value as i32 - 2) * 1_000_003 * 1_000_000_007;
            if shape == 1 {
                let array = Decimal128Array::new(values.iter().map(|value| wide(value) * 10).collect(), valid);
                return Arc::new(array.with_precision_and_scale(38, 3).unwrap());
            }
            let array = Decimal256Array::new(values.iter().map(|v| i256::from_i128(wide(v))).collect(), valid);
            Arc::new(array.with_precision_and_scale(60, 2).unwrap())
        }
        _ => column(kind, values, Some(nulls)),
    }
}

#[test]
fn every_shape_becomes_the_same_records() {
    let rows: Vec<Row> = (0..28).map(|key| (key, [key % 7; 4])).collect();
    let layout = layout(&arrays(&[], 0), KEYS);
    let records = |shape: u64| {
        let mut records = EncodedBatch::new();
        batch(&arrays(&rows, shape), (0, rows.len())).encode(&mut RowWriter::new(&layout, &mut records)).unwrap();
        records.slice(0, rows.len()).to_vec()
    };
    for shape in 1..5 {
        assert_eq!(records(shape * 0x0101_0101), records(0), "shape {shape}");
    }
}

/// A batch that counts the rows that were encoded.
struct Counted(ArrowBatch, Arc<AtomicU64>);

impl NativeBatch for Counted {
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
        self.encode_rows(0..self.rows(), writer)
    }

    fn columns(&self) -> Option<&dyn NativeColumns> {
        Some(self)
    }
}

impl NativeColumns for Counted {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn encode_rows(&self, rows: Range<usize>, writer: &mut RowWriter<'_>) -> Result<()> {
        self.1.fetch_add(rows.len() as u64, Ordering::Relaxed);
        self.0.encode_rows(rows, writer)
    }

    fn equal_rows(&self, from: usize, other: &dyn NativeColumns, other_from: usize, most: usize) -> usize {
        self.0.equal_rows(from, other, other_from, most)
    }
}

/// A feed of batches that may hide that they are columns.
struct Batches {
    waiting: VecDeque<ArrowBatch>,
    layout: Arc<RowLayout>,
    hidden: bool,
    encoded: Arc<AtomicU64>,
}

impl Batches {
    /// `rows` in batches of random sizes about `size`, some of them parts of larger ones, some in another of `shapes`.
    fn new(rows: &[Row], size: u64, seed: u64, shapes: u64, hidden: bool) -> Self {
        let mut random = Random::new(seed);
        let (mut batches, mut from) = (VecDeque::new(), 0);
        while from < rows.len() {
            let to = (from + 1 + random.below(2 * size) as usize).min(rows.len());
            let (first, last) = (from.saturating_sub(random.below(3) as usize), (to + 2).min(rows.len()));
            let shape = if random.below(2) == 0 { 0 } else { random.below(shapes) };
            let mut arrays = arrays(&rows[first..last], shape);
            let mut span = (from - first, to - first);
            if random.below(2) == 0 {
                arrays = arrays.iter().map(|array| array.slice(span.0, to - from)).collect();
                span = (0, to - from);
            }
            batches.push_back(batch(&arrays, span));
            from = to;
        }
        Self { waiting: batches, layout: Arc::new(layout(&arrays(&[], 0), KEYS)), hidden, encoded: Arc::default() }
    }
}

impl Feed for Batches {
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
        let Some(batch) = self.waiting.pop_front() else { return Ok(false) };
        batch.encode(&mut RowWriter::new(&self.layout, into))?;
        Ok(true)
    }

    fn layout(&self) -> Option<&Arc<RowLayout>> {
        (!self.hidden).then_some(&self.layout)
    }

    fn pull(&mut self) -> Result<Option<NativeRows>> {
        assert!(!self.hidden);
        let batch = self.waiting.pop_front().map(|batch| Box::new(Counted(batch, Arc::clone(&self.encoded))));
        Ok(batch.map(|batch| NativeRows { batch, guard: Box::new(()) }))
    }
}

type Found = (DifferenceKind, Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>, Vec<u32>, u64);

#[derive(Default)]
struct Findings(Vec<Found>);

impl DifferenceSink for Findings {
    fn write(&mut self, difference: &Difference<'_>) -> Result<()> {
        let (source, sink) = (difference.source.map(<[u8]>::to_vec), difference.sink.map(<[u8]>::to_vec));
        let changed = difference.changed.to_vec();
        self.0.push((difference.kind, difference.key.to_vec(), source, sink, changed, difference.occurrences));
        Ok(())
    }
}

/// Everything that a merge says: each range with the key at which it was cut, each difference, and the error.
type Said = (Vec<(RangeOutcome, Option<Vec<u8>>)>, Vec<Found>, Option<String>);

/// How a merge is run.
#[derive(Clone, Copy)]
struct Way {
    sizes: Sides<u64>,
    seed: u64,
    shapes: u64,
    group_bytes_max: u64,
    rows_of_range: u64,
}

fn merge(sides: &Sides<Vec<Row>>, range: &KeyRange, way: Way, hidden: bool) -> (Said, Sides<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let row_types = layout_types();
    let spec = MergeSpec {
        key_types: vec![CanonicalType::Number, CanonicalType::Text],
        options: vec![ColumnOptions::default(); row_types.len()],
        row_types,
        folded_fields: Vec::new(),
        rows_sorted: Sides::new(false, false),
        group_bytes_max: way.group_bytes_max,
        sorter: SorterOptions { memory_bytes: 64 << 10, spill_folder: folder.path().to_owned(), disk_bytes_max: None },
    };
    let mut source = Batches::new(&sides.source, way.sizes.source, way.seed, way.shapes, hidden);
    let mut sink = Batches::new(&sides.sink, way.sizes.sink, way.seed + 1, way.shapes, hidden);
    let counters = (Arc::clone(&source.encoded), Arc::clone(&sink.encoded));
    let bounds = RangeBounds { number: 0, range: range.clone() };
    let mut merge = RunningMerge::new(&spec, bounds, Sides { source: &mut source, sink: &mut sink });
    let (mut ranges, mut findings, mut error) = (Vec::new(), Findings::default(), None);
    loop {
        match merge.run(ranges.len(), way.rows_of_range, &mut findings) {
            Ok((outcome, cut)) => {
                let is_last = cut.is_none();
                ranges.push((outcome, cut));
                if is_last {
                    break;
                }
            }
            Err(stopped) => {
                error = Some(stopped.to_string());
                break;
            }
        }
    }
    let encoded = Sides::new(counters.0.load(Ordering::Relaxed), counters.1.load(Ordering::Relaxed));
    ((ranges, findings.0, error), encoded)
}

fn layout_types() -> Vec<CanonicalType> {
    arrays(&[], 0)[KEYS..].iter().map(|array| projected(array).target.canonical).collect()
}

/// Rows in key order, some keys twice.
fn random_rows(random: &mut Random, rows: u64, doubles: u64) -> Vec<Row> {
    let mut key = 0;
    (0..rows)
        .map(|_| {
            key += u64::from(random.below(1000) >= doubles) * (1 + random.below(2));
            (key, [random.below(7), random.below(7), random.below(7), random.below(7)])
        })
        .collect()
}

/// A copy of `rows` with faults about every `distance` rows.
fn faulty(random: &mut Random, rows: &[Row], distance: u64) -> Vec<Row> {
    let mut sink = Vec::new();
    for row in rows {
        let mut other = *row;
        match if random.below(distance) == 0 { random.below(6) } else { 9 } {
            0 => {}
            1 => sink.extend([*row, *row]),
            2 => {
                let column = random.below(4) as usize;
                other.1[column] = random.below(7);
                sink.push(other);
            }
            3 => {
                other.1[0] = random.below(7);
                sink.extend([other, *row]);
            }
            4 => {
                other.0 += 1;
                sink.push(other);
            }
            5 => {
                other.1[0] = random.below(7);
                sink.extend([*row, other]);
            }
            _ => sink.push(*row),
        }
    }
    sink.sort_by_key(|row| row.0);
    sink
}

#[test]
fn both_paths_say_the_same() {
    let mut random = Random::new(5);
    let mut spared = 0;
    for round in 0..800 {
        let (rows, doubles, distance) =
            (random.below(160), [0, 0, 20, 300][round % 4], [1000, 60, 9, 2][random.below(4) as usize]);
        let source = random_rows(&mut random, rows, doubles);
        let sink = faulty(&mut random, &source, distance);
        let mut sides = Sides::new(source, sink);
        if random.below(2) == 0 {
            std::mem::swap(&mut sides.source, &mut sides.sink);
        }
        let way = Way {
            sizes: Sides::new(1 + random.below(50), 1 + random.below(50)),
            seed: random.next_u64() >> 1,
            shapes: [1, 1, u64::MAX][random.below(3) as usize],
            group_bytes_max: [1, 200, 1 << 20][random.below(3) as usize],
            rows_of_range: [u64::MAX, 1, 7, 50][random.below(4) as usize],
        };
        let (expected, _) = merge(&sides, &KeyRange::all(), way, true);
        let (said, encoded) = merge(&sides, &KeyRange::all(), way, false);
        assert_eq!(said, expected, "round {round}");
        assert_eq!(encoded.source, sides.source.len() as u64, "the source is encoded once");
        spared += sides.sink.len() as u64 - encoded.sink;
    }
    assert!(spared > 3_000, "rows of the sink that were not encoded: {spared}");
}

#[test]
fn both_paths_refuse_the_same() {
    let mut random = Random::new(17);
    for round in 0..400 {
        let source = random_rows(&mut random, 100, 0);
        let mut sides = Sides::new(source.clone(), source);
        let bad = if round % 2 == 0 { &mut sides.sink } else { &mut sides.source };
        let at = 1 + random.below(98) as usize;
        let mut range = KeyRange::all();
        let fault = random.below(3);
        match fault {
            0 => bad.swap(at, at + 1),
            1 => bad[at] = bad[at - 1],
            _ => {
                let (layout, mut records) = (layout(&arrays(&[], 0), KEYS), EncodedBatch::new());
                let bound = batch(&arrays(&[bad[99]], 0), (0, 1));
                bound.encode(&mut RowWriter::new(&layout, &mut records)).unwrap();
                range.upper = Some(records.record(0).key.to_vec());
                let other = if round % 2 == 0 { &mut sides.source } else { &mut sides.sink };
                other.pop();
            }
        }
        let size = 1 + random.below(50);
        let (batch_sizes, seed) = (Sides::new(size, 1 + random.below(50)), random.next_u64() >> 1);
        let way = Way {
            sizes: batch_sizes,
            seed,
            shapes: 1 + random.below(9),
            group_bytes_max: 1 << 20,
            rows_of_range: u64::MAX,
        };
        let ((_, _, expected), _) = merge(&sides, &range, way, true);
        let ((_, _, said), _) = merge(&sides, &range, way, false);
        assert_eq!(said, expected, "round {round}");
        // A key that comes twice is no fault of the order.
        assert_eq!(said.is_some(), fault != 1, "round {round}");
    }
}

#[test]
fn equal_sides_are_encoded_once() {
    let rows: Vec<Row> = (0..20_000).map(|key| (key, [key % 7, key % 6, key % 5, key % 3])).collect();
    let sides = Sides::new(rows.clone(), rows);
    let way =
        Way { sizes: Sides::new(500, 700), seed: 1, shapes: 1, group_bytes_max: 1 << 20, rows_of_range: u64::MAX };
    let (said, encoded) = merge(&sides, &KeyRange::all(), way, false);
    assert_eq!(said.0[0].0.counts.matched, 20_000);
    assert_eq!(encoded.source, 20_000);
    assert!(encoded.sink < 2_000, "{} rows of the sink were encoded", encoded.sink);
}
