//! Ranges: every family of keys is cut into them, read by two workers or two sides at once, and says the same as a run
//! of one range.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Outcome, Postgres};
use arrow_array::{Array, ArrayRef, BinaryArray, Decimal128Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder};
use serde_json::Value;
use std::{fs::File, path::Path, sync::Arc};

/// Rows of a source; those of its sink are 3 less, 4 more, and 3 others.
const ROWS: i64 = 3000;

/// All batches of the Parquet file at `path`.
pub(crate) fn batches(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    reader.map(Result::unwrap).collect()
}

/// Number of rows in the differences of a run.
pub(crate) fn difference_rows(folder: &Path) -> usize {
    let parts = std::fs::read_dir(folder.join("differences")).unwrap().map(|entry| entry.unwrap().path());
    parts.flat_map(|part| batches(&part)).map(|batch| batch.num_rows()).sum()
}

/// The differences of a run in their order, each as text, without the number of its range.
pub(crate) fn differences(folder: &Path) -> Vec<String> {
    let mut parts: Vec<_> =
        std::fs::read_dir(folder.join("differences")).unwrap().map(|entry| entry.unwrap().path()).collect();
    parts.sort();
    let mut rows = Vec::new();
    for batch in parts.iter().flat_map(|part| batches(part)) {
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let cells = schema.fields().iter().zip(batch.columns()).filter(|(field, _)| field.name() != "range");
            let cells: Vec<String> =
                cells.map(|(field, cells)| format!("{} {:?}", field.name(), cells.slice(row, 1))).collect();
            rows.push(cells.join("; "));
        }
    }
    rows
}

/// A column of `ranges.parquet`, summed.
fn sum(ranges: &[RecordBatch], name: &str) -> u64 {
    let column =
        |batch: &RecordBatch| batch.column_by_name(name).unwrap().as_any().downcast_ref::<UInt64Array>().cloned();
    ranges.iter().map(|batch| column(batch).unwrap().values().iter().sum::<u64>()).sum()
}

/// A bound of every range.
pub(crate) fn bounds(ranges: &[RecordBatch], name: &str) -> Vec<Option<Vec<u8>>> {
    let column =
        |batch: &RecordBatch| batch.column_by_name(name).unwrap().as_any().downcast_ref::<BinaryArray>().cloned();
    let columns: Vec<BinaryArray> = ranges.iter().map(|batch| column(batch).unwrap()).collect();
    columns.iter().flat_map(|column| column.iter().map(|key| key.map(<[u8]>::to_vec)).collect::<Vec<_>>()).collect()
}

/// Start and end of something timed.
fn span(timing: &Value) -> (f64, f64) {
    let start = timing["start_seconds"].as_f64().unwrap();
    (start, start + timing["seconds"].as_f64().unwrap())
}

fn overlap(one: (f64, f64), other: (f64, f64)) -> bool {
    one.0 < other.1 && other.0 < one.1
}

/// Asserts what must hold of the ranges of any run: they tile the key space, their rows are all rows, and two reads went
/// on at once: two ranges, or, where each side is read once, the two sides.
#[track_caller]
pub(crate) fn assert_ranges(outcome: &Outcome, least: usize) {
    let (document, folder) = (outcome.document(), outcome.folder());
    let ranges = batches(&folder.join("ranges.parquet"));
    let (lower, upper) = (bounds(&ranges, "lower"), bounds(&ranges, "upper"));
    assert!(lower.len() >= least, "{} ranges\n{}", lower.len(), outcome.stdout);
    assert_eq!(document["plan"]["ranges"], lower.len());
    assert_eq!(document["coverage"]["ranges_done"], lower.len());
    assert_eq!((lower.first(), upper.last()), (Some(&None), Some(&None)));
    assert_eq!(lower[1..], upper[..upper.len() - 1]);
    assert!(lower.windows(2).all(|pair| pair[0] < pair[1]), "bounds ascend");
    for side in ["source", "sink"] {
        assert_eq!(document["rows"][side], sum(&ranges, &format!("{side}_rows")));
    }
    for count in ["matched", "missing", "extra", "changed"] {
        assert_eq!(document["counts"][count], sum(&ranges, count), "{count}");
    }
    let timing: Value = serde_json::from_slice(&std::fs::read(folder.join("timing.json")).unwrap()).unwrap();
    let spans: Vec<(f64, f64)> = timing["ranges"].as_array().unwrap().iter().map(span).collect();
    assert_eq!(spans.len(), lower.len());
    let in_ranges = document["plan"]["order"]["source"] == "server-ranges";
    assert_eq!(in_ranges, timing["reads"].is_null(), "sides are read once or in ranges");
    if in_ranges {
        let at_once =
            spans.iter().enumerate().any(|(at, one)| spans[at + 1..].iter().any(|other| overlap(*one, *other)));
        assert!(at_once, "no two ranges were compared at once: {timing:#}");
    } else {
        let (source, sink) = (span(&timing["reads"]["source"]), span(&timing["reads"]["sink"]));
        assert!(overlap(source, sink), "the sides were not read at once: {timing:#}");
    }
}

/// Compares in ranges and in one: the same counts, the same differences.
#[track_caller]
fn check(desk: &Desk, source: &str, sink: &str, flags: &[&str], order: [&str; 2], rows: i64) {
    let run = |more: &[&str]| desk.diff(&[&[source, sink], flags, more].concat());
    let cut = run(&["--ranges", "12", "-j", "2"]);
    cut.assert_counts(3, 4, 3);
    let document = cut.document();
    assert_eq!(document["plan"]["order"]["source"], order[0], "{}", cut.stdout);
    assert_eq!(document["plan"]["order"]["sink"], order[1], "{}", cut.stdout);
    assert_eq!(document["rows"]["source"], rows);
    assert_eq!(document["rows"]["sink"], rows + 1);
    assert_ranges(&cut, 8);
    let whole = run(&["--ranges", "1"]);
    whole.assert_counts(3, 4, 3);
    assert_eq!(whole.document()["plan"]["ranges"], 1);
    assert_eq!(differences(&cut.folder()), differences(&whole.folder()));
}

/// A family of keys of PostgreSQL.
struct Family {
    /// Statements before the tables.
    setup: &'static str,
    /// Columns of the key as in CREATE TABLE, and what follows all columns.
    columns: (&'static str, &'static str),
    /// Their values for the number `i`, from -1 (below all of the source) to `rows + 2` (above all).
    values: &'static str,
    /// Statement for each table (`TABLE`) afterwards.
    index: &'static str,
    /// Named key columns.
    key: &'static [&'static str],
    order: &'static str,
    rows: i64,
}

const FAMILY: Family =
    Family { setup: "", columns: ("", ""), values: "", index: "", key: &[], order: "server-ranges", rows: ROWS };

impl Family {
    /// A primary key of one column `k`.
    const fn single(kind: &'static str, values: &'static str, order: &'static str) -> Self {
        Self { columns: (kind, ", PRIMARY KEY (k)"), values, order, ..FAMILY }
    }

    #[track_caller]
    fn check(&self) {
        let (desk, postgres) = (Desk::new(), Postgres::new());
        let rows = self.rows;
        postgres.sql(self.setup);
        for table in ["s", "t"] {
            let (before, after) = self.columns;
            postgres.sql(&format!("CREATE TABLE {table} ({before}, v int{after})"));
        }
        // Missing at both ends and in the middle, changed beside them, extra beyond both ends.
        let (middle, last) = (rows / 2, rows + 2);
        postgres.sql(&format!(
            "INSERT INTO s SELECT {0}, i FROM generate_series(1, {rows}) i;
             INSERT INTO t SELECT {0}, CASE WHEN i IN (2, {middle} + 1, {rows} - 1) THEN -i ELSE i END
             FROM generate_series(-1, {last}) i WHERE i NOT IN (1, {middle}, {rows})",
            self.values
        ));
        for table in ["s", "t"] {
            postgres.sql(&self.index.replace("TABLE", table));
            postgres.sql(&format!("ANALYZE {table}"));
        }
        let flags: Vec<&str> = self.key.iter().flat_map(|key| ["-k", key]).collect();
        check(&desk, &postgres.table("s"), &postgres.table("t"), &flags, [self.order; 2], rows);
    }
}

/// One test a family of single keys.
macro_rules! single_keys {
    ($($name:ident: $kind:literal, $values:literal, $order:literal;)*) => {
        $(#[test]
        fn $name() {
            Family::single($kind, $values, $order).check();
        })*
    };
}

single_keys! {
    key_int2: "k int2", "i", "server-ranges";
    key_int4: "k int4", "(i - 1500) * 1400000", "server-ranges";
    key_int8: "k int8", "(i::int8 - 1500) * 6000000000000000", "server-ranges";
    key_numeric: "k numeric",
        "CASE i WHEN 3000 THEN 'NaN' WHEN 2 THEN -1e40 ELSE (i - 1500) * 12345678901234567890.00123 END", "server-ranges";
    key_float8: "k float8",
        "CASE i WHEN 1 THEN '-infinity'::float8 WHEN 2999 THEN 'infinity' WHEN 3000 THEN 'NaN' WHEN 1499 THEN '-0' ELSE (i - 1499) * 1.1e300 END",
        "server-ranges";
    key_text_byte_order: "k text COLLATE \"C\"",
        "repeat(chr(ascii('a') + (i + 10) % 26), 1 + i % 2) || chr(CASE i % 3 WHEN 0 THEN 233 WHEN 1 THEN 65374 ELSE 128512 END) || i",
        "server-ranges";
    key_text_other_collation: "k text COLLATE \"en-x-icu\"",
        "CASE i % 3 WHEN 0 THEN 'a b' WHEN 1 THEN 'a_' ELSE 'A-' END || i", "server-once";
    key_varchar: "k varchar(20) COLLATE \"C\"", "lpad((i + 10)::text, 5, '0') || CASE i % 2 WHEN 0 THEN ' ' ELSE '' END", "server-ranges";
    key_char: "k char(12) COLLATE \"C\"", "lpad((i + 10)::text, 5 + i % 4, 'x')", "server-ranges";
    key_name: "k name", "'n' || i", "server-ranges";
    key_bytea: "k bytea", "decode(lpad(to_hex(i * 21), 6, '0') || CASE i % 2 WHEN 0 THEN '00' ELSE '' END, 'hex')", "server-ranges";
    key_date: "k date",
        "CASE i WHEN 1 THEN '-infinity'::date WHEN 3000 THEN 'infinity' ELSE '0001-01-01'::date + (i - 1500) * 300 END",
        "server-ranges";
    key_time: "k time", "'00:00:40'::time + i * interval '20.000001 seconds'", "server-ranges";
    key_timestamp: "k timestamp",
        "CASE i WHEN 1 THEN '-infinity'::timestamp WHEN 3000 THEN 'infinity' ELSE '1999-12-31 23:59:59.999999'::timestamp + (i - 1500) * interval '400 days 1.000001 seconds' END",
        "server-ranges";
    key_timestamptz: "k timestamptz",
        "CASE i WHEN 1 THEN '-infinity'::timestamptz WHEN 3000 THEN 'infinity' ELSE '2024-03-31 00:00:00+00'::timestamptz + (i - 1500) * interval '10 minutes' END",
        "server-ranges";
    key_interval: "k interval", "(i - 1500) * interval '1 month 3 days 4.5 seconds'", "local";
    key_timetz: "k timetz", "('00:10:00+00'::timetz + i * interval '20 seconds')", "local";
    key_uuid: "k uuid", "md5(i::text)::uuid", "server-ranges";
    key_bit: "k bit(16)", "(i + 10)::bit(16)", "server-once";
    key_varbit: "k varbit", "repeat(CASE i % 2 WHEN 0 THEN '0' ELSE '1' END, i % 5)::varbit || (i + 10)::bit(16)::varbit", "server-once";
    key_macaddr: "k macaddr", "('08002b01' || lpad(to_hex((i + 10) * 7), 4, '0'))::macaddr", "server-ranges";
    key_inet: "k inet", "CASE i % 2 WHEN 0 THEN '10.0.0.0'::inet + i ELSE '2001:db8::'::inet + i + 10 END", "local";
    key_oid: "k oid", "(i::int8 + 10) * 1400000", "server-once";
    key_money: "k money", "((i - 1500) * 1.07)::numeric::money", "server-once";
}

#[test]
fn key_bool_and_int() {
    let columns = ("b bool, k int", ", PRIMARY KEY (b, k)");
    Family { columns, values: "i % 2 = 0, i", ..FAMILY }.check();
}

#[test]
fn key_single_byte_char() {
    Family { rows: 100, ..Family::single("k \"char\"", "chr(i + 10)::\"char\"", "local") }.check();
}

#[test]
fn key_enum() {
    let setup = "DO $$ BEGIN EXECUTE (SELECT 'CREATE TYPE label AS ENUM (' || string_agg(quote_literal('L' || i * 37 % 211), ',') || ')' FROM generate_series(1, 210) i); END $$";
    Family { setup, rows: 200, ..Family::single("k label", "('L' || (i + 5))::label", "server-once") }.check();
}

#[test]
fn key_of_three_mixed_columns_with_nulls() {
    let values = "CASE WHEN i % 3 > 0 THEN i / 100 END, CASE WHEN i % 5 > 0 THEN 'x' || i % 50 END, '2024-01-01'::timestamptz + i * interval '1 day'";
    let family = Family { columns: ("a int, b text, c timestamptz", ""), values, key: &["a", "b", "c"], ..FAMILY };
    Family { order: "server-once", ..family }.check();
    let index = "CREATE INDEX ON TABLE (a NULLS FIRST, b COLLATE \"C\" NULLS FIRST, c NULLS FIRST)";
    Family {
        columns: ("a int, b text COLLATE \"C\", c timestamptz", ""),
        values,
        key: &["a", "b", "c"],
        index,
        ..FAMILY
    }
    .check();
}

#[test]
fn key_that_may_be_null() {
    let family = Family { columns: ("k int", ""), values: "CASE WHEN i <> 1000 THEN i END", key: &["k"], ..FAMILY };
    Family { index: "CREATE UNIQUE INDEX ON TABLE (k)", order: "server-once", ..family }.check();
}

#[test]
fn key_that_may_be_null_with_an_index_that_serves() {
    let family = Family { columns: ("k int", ""), values: "CASE WHEN i <> 1000 THEN i END", key: &["k"], ..FAMILY };
    Family { index: "CREATE UNIQUE INDEX ON TABLE (k NULLS FIRST)", ..family }.check();
}

#[test]
fn views_and_queries_are_cut_as_their_rows_arrive() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE VIEW s AS SELECT i AS k, i AS v FROM generate_series(1, 3000) i;
         CREATE VIEW t AS SELECT i AS k, CASE WHEN i IN (2, 1501, 2999) THEN -i ELSE i END AS v
         FROM generate_series(-1, 3002) i WHERE i NOT IN (1, 1500, 3000)",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("t"));
    check(&desk, &source, &sink, &["-k", "k"], ["server-once"; 2], ROWS);
    check(&desk, &source, &sink, &["-k", "k", "--sort", "local"], ["local"; 2], ROWS);
    // Cuts are data: the sink and the number of workers have no part in them.
    let run = |sink: &str, workers| desk.diff(&[&source, sink, "-k", "k", "--ranges", "12", "-j", workers]).document();
    let (one, two, other) = (run(&sink, "1"), run(&sink, "4"), run(&source, "2"));
    assert_eq!(one["plan"]["fingerprint"], two["plan"]["fingerprint"]);
    assert_eq!(one["digest"], two["digest"]);
    assert_eq!(one["plan"]["fingerprint"], other["plan"]["fingerprint"]);
    assert_eq!(one["digest"]["source"], other["digest"]["sink"]);
    // A later run takes them over.
    let cut = desk.diff(&[&source, &sink, "-k", "k", "--ranges", "12"]);
    let again = desk.diff(&[&source, &sink, "-k", "k", "--ranges-from", cut.folder().to_str().unwrap()]);
    assert_eq!(again.document()["plan"]["fingerprint"], cut.document()["plan"]["fingerprint"]);
    assert_eq!(again.document()["digest"], cut.document()["digest"]);
    assert_eq!(differences(&again.folder()), differences(&cut.folder()));
}

#[test]
fn ranges_of_a_run_over_another_order_of_columns_are_refused() {
    let desk = Desk::new();
    let (one, two) = (desk.file("one.csv", "id,a,b\n1,x,y\n"), desk.file("two.csv", "id,b,a\n1,y,x\n"));
    let first = desk.diff(&[&one, &two, "-k", "id"]);
    first.assert_counts(0, 0, 0);
    let folder = first.folder();
    let folder = folder.to_str().unwrap();
    desk.diff(&[&one, &one, "-k", "id", "--ranges-from", folder]).assert_counts(0, 0, 0);
    desk.diff(&[&two, &one, "-k", "id", "--ranges-from", folder]).assert_refused(&["tieout.row"]);
}

/// The numbers of a side and the value of each, as `Family::check` makes them.
fn numbers(source: bool) -> Vec<(i64, i64)> {
    let rows = if source { 1..=ROWS } else { -1..=ROWS + 2 };
    let (middle, last) = (ROWS / 2, ROWS);
    rows.filter(|i| source || ![1, middle, last].contains(i))
        .map(|i| (i, if !source && [2, middle + 1, last - 1].contains(&i) { -i } else { i }))
        .collect()
}

/// Writes both sides as Parquet, with the key columns that `key` makes of the numbers, and compares.
#[track_caller]
fn check_parquet(names: &[&str], order: &str, reverse: bool, key: impl Fn(&[i64]) -> Vec<ArrayRef>) {
    let desk = Desk::new();
    for (file, source) in [("s.parquet", true), ("t.parquet", false)] {
        let mut rows = numbers(source);
        if reverse {
            rows.reverse();
        }
        let keys: Vec<i64> = rows.iter().map(|(key, _)| *key).collect();
        let values: ArrayRef = Arc::new(rows.iter().map(|(_, value)| *value).collect::<Int64Array>());
        let columns = names.iter().copied().zip(key(&keys)).chain([("v", values)]);
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = ArrowWriter::try_new(File::create(desk.path(file)).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    let flags: Vec<&str> = names.iter().flat_map(|name| ["-k", name]).collect();
    check(&desk, &desk.arg("s.parquet"), &desk.arg("t.parquet"), &flags, [order; 2], ROWS);
}

fn int_key(keys: &[i64]) -> Vec<ArrayRef> {
    vec![Arc::new(Int64Array::from(keys.to_vec()))]
}

#[test]
fn parquet_key_int() {
    check_parquet(&["k"], "server-ranges", false, int_key);
    check_parquet(&["k"], "local", true, int_key);
}

#[test]
fn parquet_key_text() {
    let key = |keys: &[i64]| -> Vec<ArrayRef> {
        vec![Arc::new(keys.iter().map(|key| Some(format!("\u{e9}{:05}", key + 10))).collect::<StringArray>())]
    };
    check_parquet(&["k"], "server-ranges", false, key);
}

#[test]
fn parquet_key_decimal() {
    let key = |keys: &[i64]| -> Vec<ArrayRef> {
        let unscaled = keys.iter().map(|key| i128::from(key - 1500) * 10_i128.pow(30));
        vec![Arc::new(Decimal128Array::from_iter_values(unscaled).with_precision_and_scale(38, 4).unwrap())]
    };
    check_parquet(&["k"], "server-ranges", false, key);
}

#[test]
fn parquet_key_of_two_columns_with_nulls() {
    let key = |keys: &[i64]| -> Vec<ArrayRef> {
        let first = keys.iter().map(|key| (*key >= 900).then_some(key.div_euclid(1000))).collect::<Int64Array>();
        let second = keys.iter().map(|key| Some(format!("{:05}", key + 10))).collect::<StringArray>();
        vec![Arc::new(first), Arc::new(second)]
    };
    check_parquet(&["a", "b"], "server-ranges", false, key);
    check_parquet(&["a", "b"], "local", true, key);
}

#[test]
fn csv_in_order_and_in_disorder() {
    let desk = Desk::new();
    let text = |source: bool, reverse: bool| {
        let mut rows = numbers(source);
        if reverse {
            rows.reverse();
        }
        rows.iter().fold("k,v\n".to_owned(), |text, (key, value)| format!("{text}{:05},{value}\n", key + 10))
    };
    for (reverse, order) in [(false, "server-once"), (true, "local")] {
        let (source, sink) = (desk.file("s.csv", text(true, reverse)), desk.file("t.csv", text(false, reverse)));
        check(&desk, &source, &sink, &["-k", "k"], [order; 2], ROWS);
    }
}
