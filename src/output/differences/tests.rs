//! Tests of the parts: what is written is read back with the Parquet reader.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::{
    model::{DifferenceKind, OutputHint},
    output::fixture::{key, pair, plan, row},
};
use arrow_array::{Array, cast::AsArray, types};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fmt::Write as _;

fn read(path: &Path) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = Arc::clone(builder.schema());
    let batches: Vec<_> = builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect();
    assert!(batches.len() <= 1);
    batches.into_iter().next().unwrap_or_else(|| RecordBatch::new_empty(schema))
}

fn missing<'a>(key: &'a [u8], source: &'a [u8]) -> Difference<'a> {
    Difference { kind: DifferenceKind::Missing, key, source: Some(source), sink: None, changed: &[], occurrences: 1 }
}

fn text_schema() -> Arc<DifferenceSchema> {
    let name = pair("name", CanonicalType::Text, OutputHint::Plain);
    Arc::new(DifferenceSchema::new(&plan(Vec::new(), vec![name], Vec::new())))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_writer_can_move_to_a_worker() {
    fn sendable<T: Send>() {}
    sendable::<DifferenceWriter>();
}

#[test]
fn no_difference_makes_no_file_but_the_empty_part_has_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let writer = DifferenceWriter::new(folder.path(), text_schema(), 3);
    assert!(writer.finish().unwrap().is_empty());
    assert!(names(folder.path()).is_empty());
    let path = DifferenceWriter::write_empty(folder.path(), text_schema()).unwrap();
    assert_eq!(names(folder.path()), ["part-000000-0000.parquet"]);
    let batch = read(&path);
    assert_eq!(batch.num_rows(), 0);
    let columns: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(
        columns,
        [
            "kind",
            "range",
            "changed_columns",
            "occurrences",
            "source",
            "sink",
            "source_digest",
            "sink_digest",
            "beyond_type"
        ]
    );
}

#[test]
fn rows_without_a_key_are_written_with_their_digests() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DifferenceWriter::new(folder.path(), text_schema(), 12);
    let (source, sink) = (row(&[Some(b"a")]), row(&[None]));
    writer.write(&missing(&[], &source)).unwrap();
    writer
        .write(&Difference {
            kind: DifferenceKind::Extra,
            key: &[],
            source: None,
            sink: Some(&sink),
            changed: &[],
            occurrences: 3,
        })
        .unwrap();
    let parts = writer.finish().unwrap();
    assert_eq!(names(folder.path()), ["part-000012-0000.parquet"]);
    let batch = read(&parts[0]);
    let column = |name: &str| batch.column_by_name(name).unwrap();
    assert_eq!(column("kind").as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["missing", "extra"]);
    assert_eq!(column("range").as_primitive::<types::UInt32Type>().values(), &[12, 12]);
    assert_eq!(column("occurrences").as_primitive::<types::UInt64Type>().values(), &[1, 3]);
    assert_eq!((column("source").is_null(0), column("source").is_null(1)), (false, true));
    assert_eq!((column("sink").is_null(0), column("sink").is_null(1)), (true, false));
    assert_eq!(column("source").as_struct().column(0).as_string::<i32>().value(0), "a");
    assert!(column("sink").as_struct().column(0).is_null(1));
    // blake2b-256 of 01 01 61, by Python's hashlib.
    assert_eq!(
        column("source_digest").as_fixed_size_binary().value(0),
        hex("c300def5073114a0eaca1382a4ef9ce7927a216bf134be4a0a77a6a7baf48cb7")
    );
    assert!(column("source_digest").is_null(1) && column("sink_digest").is_null(0));
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn parts_are_cut_by_bytes_and_sort_as_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DifferenceWriter::new(folder.path(), text_schema(), 0);
    writer.part_bytes = 1 << 16;
    // Text that hardly compresses, about 1.2 MiB a row: a row group is full after a few.
    let (mut most, mut state) = (0, 1_u64);
    for _ in 0..8 {
        let mut text = String::new();
        for _ in 0..75_000 {
            // Knuth's MMIX generator.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let _ = write!(text, "{state:016x}");
        }
        let mut source = vec![1];
        let mut length = text.len();
        while length >= 128 {
            source.push(u8::try_from(length % 128).unwrap() | 0x80);
            length /= 128;
        }
        source.push(u8::try_from(length).unwrap());
        source.extend_from_slice(text.as_bytes());
        writer.write(&missing(&[], &source)).unwrap();
        most = most.max(writer.open.as_ref().map_or(0, |part| part.writer.memory_size()));
    }
    assert!(names(folder.path()).iter().all(|name| name.contains(UNFINISHED)), "{:?}", names(folder.path()));
    assert!(most < ROW_GROUP_BYTES, "{most}");
    let parts = writer.finish().unwrap();
    assert!(parts.len() > 1, "{parts:?}");
    assert!(parts.is_sorted());
    assert_eq!(parts.iter().map(|part| read(part).num_rows()).sum::<usize>(), 8);
}

#[test]
fn a_range_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DifferenceWriter::new(folder.path(), text_schema(), 0);
    let source = row(&[Some(b"a")]);
    writer.write(&missing(&[], &source)).unwrap();
    writer.flush().unwrap();
    assert_eq!(names(folder.path()), ["part-000000-0000.tmp"]);
    drop(writer);
    assert!(names(folder.path()).is_empty());

    let mut writer = DifferenceWriter::new(&folder.path().join("absent"), text_schema(), 0);
    writer.write(&missing(&[], &source)).unwrap();
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Output);
}

#[test]
fn bytes_that_do_not_fit_the_plan_are_a_bug() {
    let folder = tempfile::tempdir().unwrap();
    for source in [row(&[]), row(&[None, None]), row(&[Some(&[0xFF])])] {
        let mut writer = DifferenceWriter::new(folder.path(), text_schema(), 0);
        assert_eq!(writer.write(&missing(&[], &source)).unwrap_err().kind(), ErrorKind::Internal);
        assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Internal, "a lost difference must not pass");
    }
}

fn typed_schema() -> Arc<DifferenceSchema> {
    let id = pair("id", CanonicalType::Number, OutputHint::Int64);
    let row = vec![
        pair("flag", CanonicalType::Boolean, OutputHint::Plain),
        pair("amount", CanonicalType::Number, OutputHint::Decimal(12, 2)),
        pair("wide", CanonicalType::Number, OutputHint::Decimal(50, 10)),
        pair("any", CanonicalType::Number, OutputHint::Plain),
        pair("ratio", CanonicalType::Float, OutputHint::Plain),
        pair("bytes", CanonicalType::Binary, OutputHint::Plain),
        pair("day", CanonicalType::Date, OutputHint::Plain),
        pair("hour", CanonicalType::Time, OutputHint::Digits(6)),
        pair("local", CanonicalType::Timestamp, OutputHint::Digits(9)),
        pair("moment", CanonicalType::Instant, OutputHint::Digits(6)),
        pair("uid", CanonicalType::Uuid, OutputHint::Plain),
        pair("doc", CanonicalType::Json, OutputHint::Plain),
    ];
    Arc::new(DifferenceSchema::new(&plan(vec![id], row, Vec::new())))
}

/// 2026-11-30, half past twelve and a microsecond, in every type.
fn held() -> Vec<u8> {
    row(&[
        Some(&[1]),
        Some(&[0xA2, 6, 51, 0]),
        Some(&[0xA2, 6, 51, 0]),
        Some(&[0xA0, 51, 0]),
        Some(&hex("BFF8000000000000")),
        Some(&[0, 255]),
        Some(&hex("800007EA0B1E")),
        Some(&hex("800028ED6103D3E8")),
        Some(&hex("800000006B0D6C48000003E8")),
        Some(&hex("800000006B0D6C48000003E8")),
        Some(&[7; 16]),
        Some(&[5, 1, 1]),
    ])
}

/// Values that no Arrow type holds: NaN, seven digits, infinity, 24:00:00, a zero date.
fn beyond() -> Vec<u8> {
    row(&[
        None,
        Some(&[0xFF]),
        Some(&[0xFE]),
        Some(&[0xFF]),
        None,
        None,
        Some(&[0xFF; 6]),
        Some(&hex("80004E94914F0000")),
        Some(&[0; 12]),
        Some(&hex("8000000000000000000003E9")),
        None,
        None,
    ])
}

#[test]
fn every_type_is_exact_or_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DifferenceWriter::new(folder.path(), typed_schema(), 0);
    let (source, sink, key) = (held(), beyond(), key(5));
    writer
        .write(&Difference {
            kind: DifferenceKind::Changed,
            key: &key,
            source: Some(&source),
            sink: Some(&sink),
            changed: &[0, 11],
            occurrences: 1,
        })
        .unwrap();
    let batch = read(&writer.finish().unwrap()[0]);
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let changed = column("changed_columns").as_list::<i32>().value(0);
    assert_eq!(changed.as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["flag", "doc"]);
    assert_eq!(column("key").as_struct().column(0).as_primitive::<types::Int64Type>().value(0), 5);
    let source = column("source").as_struct();
    let cell = |name: &str| source.column_by_name(name).unwrap();
    assert!(cell("flag").as_boolean().value(0));
    assert_eq!(cell("amount").as_primitive::<types::Decimal128Type>().value_as_string(0), "5.50");
    assert_eq!(cell("wide").as_string::<i32>().value(0), "5.5");
    assert_eq!(cell("any").as_string::<i32>().value(0), "0.005");
    assert_eq!(cell("ratio").as_primitive::<types::Float64Type>().value(0).to_bits(), 1.5_f64.to_bits());
    assert_eq!(cell("bytes").as_binary::<i32>().value(0), [0, 255]);
    assert_eq!(cell("day").as_primitive::<types::Date32Type>().value(0), 20_787);
    assert_eq!(cell("hour").as_primitive::<types::Time64MicrosecondType>().value(0), 45_000_000_001);
    let nanos = cell("local").as_primitive::<types::TimestampNanosecondType>().value(0);
    assert_eq!(nanos, 1_796_041_800_000_001_000);
    let micros = cell("moment").as_primitive::<types::TimestampMicrosecondType>().value(0);
    assert_eq!(micros, 1_796_041_800_000_001);
    assert_eq!(cell("uid").as_fixed_size_binary().value(0), [7; 16]);
    assert_eq!(cell("doc").as_string::<i32>().value(0), "[false]");

    let sink = column("sink").as_struct();
    assert!(sink.columns().iter().enumerate().all(|(at, cells)| cells.is_null(0) == !matches!(at, 2 | 3)));
    let told = column("beyond_type").as_list::<i32>().value(0);
    let told = told.as_struct();
    let texts = |at: usize| told.column(at).as_string::<i32>().iter().flatten().collect::<Vec<_>>();
    assert_eq!(texts(0), ["sink"; 5]);
    assert_eq!(texts(1), ["amount", "day", "hour", "local", "moment"]);
    let values = texts(2);
    assert_eq!(values[0], "NaN");
    assert!(values[2].starts_with("24:00:00"), "{values:?}");
    assert!(values.iter().all(|value| !value.is_empty()));
}
