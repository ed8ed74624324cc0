//! Random small tables on real stores: the engine agrees with a naive oracle over the same canonical bytes, whatever the
//! ranges, the workers, the stores and the direction.
//!
//! Seeds are new in every run; a failure names its seed, and `TIEOUT_TEST_SEED` repeats it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    harness::{Desk, Postgres},
    ranges::{batches, bounds, differences},
};
use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray};
use futures::StreamExt;
use parquet::arrow::ArrowWriter;
use std::{fmt::Write as _, fs::File, path::PathBuf, sync::Arc};
use tieout::{
    config::{PartialRequest, PartialSide},
    connector::{FrozenTable, Read, registry::connector_for},
    encode::{EncodedBatch, RowLayout, RowWriter},
    engine::{Control, RunResult},
    model::{ComparisonRequest, KeyRange, Sides},
    plan::map_columns,
};
use tieout_testkit::{oracle, random::SplitMix64};

const TEXTS: [&str; 9] = ["", "a", "A", "a b", "\u{e9}", "\u{ff5e}", "\u{1F600}", "z,\"q\"\n", "NULL"];

/// (a, b, v in hundredths, w)
type Row = (Option<i64>, Option<&'static str>, Option<i64>, Option<&'static str>);

fn random_row(random: &mut SplitMix64, keys: u64) -> Row {
    let mut text = |nulls: u64| {
        let null = random.below(nulls) == 0;
        let text = TEXTS[usize::try_from(random.below(TEXTS.len() as u64)).unwrap()];
        (!null).then_some(text)
    };
    let (b, w) = (text(6), text(4));
    let a = (random.below(8) > 0).then(|| random.below(keys).cast_signed() - 3);
    let v = (random.below(5) > 0).then(|| random.below(500).cast_signed() - 250);
    (a, b, v, w)
}

/// Rows of both sides: the sink is a shuffled copy with rows that are gone, doubled, changed or new.
fn random_rows(random: &mut SplitMix64) -> Sides<Vec<Row>> {
    let (rows, keys) = (random.below(90), 1 + random.below(60));
    let source: Vec<Row> = (0..rows).map(|_| random_row(random, keys)).collect();
    let mut sink = Vec::new();
    for row in &source {
        match random.below(12) {
            0 => {}
            1 => sink.extend([*row, *row]),
            2 => sink.push((row.0, row.1, row.2.map_or(Some(0), |value| Some(value + 1)), row.3)),
            3 => sink.extend([*row, random_row(random, keys)]),
            _ => sink.push(*row),
        }
    }
    for at in (1..sink.len()).rev() {
        sink.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap());
    }
    Sides::new(source, sink)
}

fn hundredths(value: i64) -> String {
    format!("{}{}.{:02}", if value < 0 { "-" } else { "" }, value.abs() / 100, value.abs() % 100)
}

fn write_postgres(postgres: &Postgres, table: &str, rows: &[Row], index: &str) {
    let text = |text: Option<&str>| text.map_or_else(|| "NULL".to_owned(), |text| format!("'{text}'"));
    let number = |number: Option<String>| number.unwrap_or_else(|| "NULL".to_owned());
    let mut sql = format!("CREATE TABLE {table} (a int, b text COLLATE \"C\", v numeric(10,2), w text);");
    for (a, b, v, w) in rows {
        let (a, v) = (number(a.map(|a| a.to_string())), number(v.map(hundredths)));
        write!(sql, "INSERT INTO {table} VALUES ({a}, {}, {v}, {});", text(*b), text(*w)).unwrap();
    }
    postgres.sql(&format!("{sql}{}", index.replace("TABLE", table)));
}

fn write_parquet(path: PathBuf, rows: &[Row]) {
    let v: Decimal128Array = rows.iter().map(|row| row.2.map(i128::from)).collect();
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("a", Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()), true),
        ("b", Arc::new(rows.iter().map(|row| row.1).collect::<StringArray>()), true),
        ("v", Arc::new(v.with_precision_and_scale(10, 2).unwrap()), true),
        ("w", Arc::new(rows.iter().map(|row| row.3).collect::<StringArray>()), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn write_csv(path: PathBuf, rows: &[Row]) {
    let text = |text: Option<&str>| text.map_or_else(String::new, |text| format!("\"{}\"", text.replace('"', "\"\"")));
    let mut out = "a,b,v,w\n".to_owned();
    for (a, b, v, w) in rows {
        let (a, v) = (a.map_or_else(String::new, |a| a.to_string()), v.map_or_else(String::new, hundredths));
        writeln!(out, "{a},{},{v},{}", text(*b), text(*w)).unwrap();
    }
    std::fs::write(path, out).unwrap();
}

/// One pair of random tables on all stores.
struct Case {
    label: String,
    desk: Desk,
    /// Locators, one pair a store: PostgreSQL, Parquet, CSV.
    stores: Vec<Sides<String>>,
    key: &'static [&'static str],
    _postgres: Postgres,
}

impl Case {
    fn new(seed: u64, key: &'static [&'static str]) -> Self {
        let (desk, postgres) = (Desk::new(), Postgres::new());
        let mut random = SplitMix64::new(seed);
        let rows = random_rows(&mut random);
        // Half of the time an index serves, so that ranges are reads of their own.
        let index = if random.below(2) == 0 { "CREATE INDEX ON TABLE (a NULLS FIRST, b NULLS FIRST)" } else { "" };
        for (name, rows) in [("s", &rows.source), ("t", &rows.sink)] {
            let mut rows = rows.clone();
            write_csv(desk.path(&format!("{name}.csv")), &rows);
            write_postgres(&postgres, name, &rows, index);
            // In key order, so that ranges of the file are reads of their own; NULL comes first, text by its bytes.
            rows.sort_by_key(|row| (row.0, row.1));
            write_parquet(desk.path(&format!("{name}.parquet")), &rows);
        }
        let files = |kind: &str| Sides::new(desk.arg(&format!("s.{kind}")), desk.arg(&format!("t.{kind}")));
        let stores = vec![Sides::new(postgres.table("s"), postgres.table("t")), files("parquet"), files("csv")];
        Self { label: format!("TIEOUT_TEST_SEED={seed}, key {key:?}"), desk, stores, key, _postgres: postgres }
    }

    fn request(&self, source: &str, sink: &str, ranges: &Ranges, workers: usize) -> ComparisonRequest {
        let side = |locator: &str| PartialSide { locator: Some(locator.to_owned()), ..PartialSide::default() };
        let cast = |column: &str, kind: &str| (column.to_owned(), kind.to_owned());
        // Text files have no types: two of them are told theirs, one takes those of its partner.
        let untyped = source.contains(".csv") && sink.contains(".csv");
        let casts = [("a", "int"), ("b", "text"), ("v", "decimal"), ("w", "text")];
        let partial = PartialRequest {
            sides: Sides::new(side(source), side(sink)),
            key: self.key.iter().map(|&name| name.to_owned()).collect(),
            casts: if untyped { casts.map(|(column, kind)| cast(column, kind)).to_vec() } else { Vec::new() },
            output: Some(self.desk.path("runs")),
            workers: Some(workers),
            ranges: if let Ranges::Number(ranges) = ranges { Some(*ranges) } else { None },
            snapshot_age_max: None,
            ranges_from: if let Ranges::From(folder) = ranges { Some(folder.clone()) } else { None },
            ..PartialRequest::default()
        };
        partial.finish().unwrap()
    }

    async fn run(&self, source: &str, sink: &str, ranges: &Ranges, workers: usize) -> RunResult {
        let control =
            Control { progress: Arc::default(), cancel: tokio_util::sync::CancellationToken::new(), colour: false };
        let request = self.request(source, sink, ranges, workers);
        Box::pin(tieout::engine::compare(request, control))
            .await
            .unwrap_or_else(|error| panic!("{}: {source} {sink}: {error}", self.label))
    }

    /// The canonical bytes of both sides.
    async fn records(&self, stores: &Sides<String>) -> Sides<Vec<oracle::Record>> {
        let request = self.request(&stores.source, &stores.sink, &Ranges::Number(1), 1);
        let freeze = async |side| -> Box<dyn FrozenTable> {
            let request: &tieout::model::SideRequest = side;
            connector_for(&request.locator).unwrap().freeze(request, 1).await.unwrap()
        };
        let tables = Sides::new(freeze(&request.sides.source).await, freeze(&request.sides.sink).await);
        let schemas = Sides::new(tables.source.schema().clone(), tables.sink.schema().clone());
        let projections = map_columns(&request, &schemas).unwrap().projection;
        let mut sides = Vec::new();
        for (table, projection) in [(&tables.source, &projections.source), (&tables.sink, &projections.sink)] {
            let layout = RowLayout::new(projection).unwrap();
            let read = Read { range: KeyRange::all(), ascending: false, batch_bytes_max: 1 << 16 };
            let mut rows = table.stream(projection, &read);
            let mut encoded = EncodedBatch::new();
            while let Some(batch) = rows.next().await {
                batch.unwrap().encode(&mut RowWriter::new(&layout, &mut encoded)).unwrap();
            }
            let record = |row| (encoded.record(row).key.to_vec(), encoded.record(row).row.to_vec());
            sides.push((0..encoded.len()).map(record).collect());
        }
        let sink = sides.pop().unwrap();
        Sides::new(sides.pop().unwrap(), sink)
    }

    /// Holds a run against the oracle: counts, duplicates, number of differences, digests.
    fn assert_answer(&self, run: &RunResult, records: &Sides<Vec<oracle::Record>>) {
        let answer = oracle::compare(&records.source, &records.sink);
        let counts = &run.document["counts"];
        let expected = [answer.matched, answer.missing, answer.extra, answer.changed];
        let found = ["matched", "missing", "extra", "changed"].map(|name| counts[name].as_u64().unwrap());
        assert_eq!(found, expected, "{}: matched, missing, extra, changed", self.label);
        assert_eq!(differences(&run.folder).len(), answer.differences.len(), "{}", self.label);
        if !self.key.is_empty() {
            for (side, expected) in [("source", answer.source_duplicates), ("sink", answer.sink_duplicates)] {
                let found = &run.document["duplicates"][side];
                assert_eq!(found["keys"], expected.keys, "{}: {side}", self.label);
                assert_eq!(found["surplus"], expected.surplus, "{}: {side}", self.label);
            }
        }
        let cuts: Vec<Vec<u8>> =
            bounds(&batches(&run.folder.join("ranges.parquet")), "lower").into_iter().flatten().collect();
        for (side, records) in [("source", &records.source), ("sink", &records.sink)] {
            let digest = oracle::table_digest(records, &cuts);
            let digest = digest.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
            assert_eq!(run.document["digest"][side], digest, "{}: {side}", self.label);
        }
    }

    async fn check(&self) {
        let postgres = &self.stores[0];
        let records = self.records(postgres).await;
        // Canonical bytes do not depend on the store.
        for stores in &self.stores[1..] {
            let mut others = self.records(stores).await;
            let mut expected = records.clone();
            for side in [&mut others.source, &mut others.sink, &mut expected.source, &mut expected.sink] {
                side.sort();
            }
            assert_eq!(others, expected, "{}: {stores:?}", self.label);
        }
        for (at, stores) in self.stores.iter().enumerate() {
            let mut known: Option<Vec<String>> = None;
            for (ranges, workers) in [(1, 1), (3, 4), (16, 1), (16, 2)] {
                let run = self.run(&stores.source, &stores.sink, &Ranges::Number(ranges), workers).await;
                self.assert_answer(&run, &records);
                let found = differences(&run.folder);
                let known = known.get_or_insert_with(|| found.clone());
                assert_eq!(found, *known, "{}: {ranges} ranges, {workers} workers", self.label);
            }
            // Swapped, and across stores.
            let other = &self.stores[(at + 1) % self.stores.len()];
            let run = self.run(&other.sink, &stores.source, &Ranges::Number(3), 2).await;
            self.assert_answer(&run, &Sides::new(records.sink.clone(), records.source.clone()));
        }
        let first = self.run(&postgres.source, &postgres.sink, &Ranges::Number(16), 2).await;
        let ranges = Ranges::From(first.folder.clone());
        for stores in &self.stores {
            for workers in [1, 2, 4] {
                let run = self.run(&stores.source, &stores.sink, &ranges, workers).await;
                assert_eq!(run.document["digest"], first.document["digest"], "{}: {stores:?}", self.label);
                let fingerprint = |run: &RunResult| run.document["plan"]["fingerprint"].clone();
                assert_eq!(fingerprint(&run), fingerprint(&first), "{}: {stores:?}", self.label);
            }
        }
    }
}

enum Ranges {
    Number(usize),
    From(PathBuf),
}

fn check(key: &'static [&'static str]) {
    let given = std::env::var("TIEOUT_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let seed = given.unwrap_or_else(|| u64::try_from(now % u128::from(u32::MAX)).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(Box::pin(Case::new(seed, key).check()));
}

#[test]
fn tables_with_a_key_that_may_be_null_and_repeat() {
    check(&["a"]);
}

#[test]
fn tables_with_a_composite_key() {
    check(&["a", "b"]);
}

#[test]
fn tables_with_a_text_key() {
    check(&["b"]);
}

#[test]
fn tables_without_a_key() {
    check(&[]);
}
