//! Every PostgreSQL type against the server's own text of it: what is read is decoded by the independent decoder.
//!
//! The server makes random values and writes them as text; the library reads the same rows into canonical bytes; a
//! script parses the text, decodes the bytes, and compares the two. The golden vectors go through that decoder too.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod cases;

use crate::harness::{Desk, Postgres, python};
use cases::{CASES, TypeCase};
use futures::TryStreamExt;
use std::{fmt::Write as _, path::Path, sync::Arc};
use tieout::{
    connector::{Connector, Read, postgres::PostgresConnector},
    encode::{EncodedBatch, RowLayout, RowWriter},
    model::{ComparisonRequest, KeyRange, Projection, SideRequest, Sides, SortChoice},
    plan::map_columns,
};

/// Rows of the table, the first of them with the extreme values of each type.
const ROWS: usize = 1000;
/// Every so many rows a column is NULL.
const NULL_EVERY: usize = 23;
const BATCH_BYTES: usize = 1 << 20;

/// Runs a script of `tests/python`; its output, if it succeeded.
#[track_caller]
fn script(arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let output = python().arg("-B").args(arguments).current_dir(folder).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?} failed:\n{text}");
    text
}

/// The table `t` of all types, filled.
fn fill(postgres: &Postgres) {
    postgres.sql(include_str!("types/random.sql"));
    let mut columns = "id int PRIMARY KEY".to_owned();
    let mut values = "i".to_owned();
    for (place, TypeCase { name, sql, extremes, random, .. }) in CASES.iter().enumerate() {
        write!(columns, ", {name} {sql}").unwrap();
        let texts: Vec<String> = extremes.iter().map(|text| text.replace('\'', "''")).collect();
        let array = if texts.is_empty() { String::new() } else { format!("'{}'", texts.join("', '")) };
        write!(
            values,
            ", CASE WHEN i <= {} THEN (ARRAY[{array}]::text[])[i]::{sql} WHEN (i + {place}) % {NULL_EVERY} <> 0 THEN {random} END",
            texts.len()
        )
        .unwrap();
    }
    // What a database prescribes must not reach the values.
    let name = postgres.url().rsplit('/').next().unwrap().to_owned();
    postgres.sql(&format!(
        "CREATE TABLE t ({columns});
         SELECT setseed(0.25);
         INSERT INTO t SELECT {values} FROM generate_series(1, {ROWS}) AS i;
         ALTER DATABASE {name} SET timezone = 'Asia/Kathmandu';
         ALTER DATABASE {name} SET datestyle = 'German';
         ALTER DATABASE {name} SET intervalstyle = 'iso_8601';
         ALTER DATABASE {name} SET extra_float_digits = -15;
         ALTER DATABASE {name} SET bytea_output = 'escape'"
    ));
}

/// The server's text of every column, one JSON array a row, by ascending id.
fn server_texts(postgres: &Postgres) -> Vec<String> {
    let texts: Vec<String> = CASES.iter().map(|case| format!("{}::text", case.name)).collect();
    let sql = format!(
        "SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET extra_float_digits = 1;
         SET bytea_output = 'hex'; SET lc_monetary = 'C';
         SELECT to_json(ARRAY[id::text, {}]) FROM t ORDER BY id",
        texts.join(", ")
    );
    tieout_testkit::postgres::query(&postgres.url(), &sql).unwrap().lines().map(str::to_owned).collect()
}

fn request(locator: String) -> ComparisonRequest {
    let side = SideRequest { locator, ..SideRequest::default() };
    ComparisonRequest {
        sides: Sides::new(side.clone(), side),
        key: vec!["id".to_owned()],
        columns: Vec::new(),
        exclude: Vec::new(),
        map: Vec::new(),
        casts: Vec::new(),
        options: std::collections::BTreeMap::new(),
        sort: SortChoice::Local,
        snapshot_age_max: None,
        ranges_from: None,
        output: ".".into(),
        workers: 1,
        memory_bytes: 1 << 30,
        ranges: 1,
    }
}

/// Reads `t`, with every column in the key and in the row; the canonical types, and the records by ascending id.
async fn read(locator: String) -> (Vec<String>, EncodedBatch) {
    let request = request(locator);
    let table = PostgresConnector::new().freeze(&request.sides.source, 1).await.unwrap();
    let mapping = map_columns(&request, &Sides::new(table.schema().clone(), table.schema().clone())).unwrap();
    let types = mapping.key.iter().chain(&mapping.row).map(|pair| pair.canonical.to_string()).collect();
    let planned = &mapping.projection.source;
    let columns: Vec<_> = planned.columns().cloned().collect();
    let projection = Arc::new(Projection { side: planned.side, key: columns.clone(), row: columns });
    let layout = RowLayout::new(&projection).unwrap();
    let everything = Read { range: KeyRange::all(), ascending: false, batch_bytes_max: BATCH_BYTES };
    let batches: Vec<_> = table.stream(&projection, &everything).try_collect().await.unwrap();
    let mut encoded = EncodedBatch::new();
    for batch in &batches {
        batch.encode(&mut RowWriter::new(&layout, &mut encoded)).unwrap();
    }
    // The id leads the key, so that the order of keys is the order of ids.
    let mut records: Vec<_> = (0..encoded.len()).map(|index| encoded.record(index).bytes.to_vec()).collect();
    records.sort_by(|one, other| one[4..].cmp(&other[4..]));
    let mut sorted = EncodedBatch::new();
    for record in &records {
        sorted.push_record(record);
    }
    (types, sorted)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[test]
fn every_type_holds_what_the_server_writes() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    fill(&postgres);
    let texts = server_texts(&postgres);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (types, rows) = runtime.block_on(read(postgres.table("t")));
    assert_eq!((texts.len(), rows.len(), types.len()), (ROWS, ROWS, CASES.len() + 1));
    for (case, found) in CASES.iter().zip(&types[1..]) {
        assert_eq!(found, case.canonical, "canonical type of {}", case.name);
    }
    let shape = |text: &str| if text.starts_with('[') { text.to_owned() } else { format!("\"{text}\"") };
    let columns = CASES.iter().zip(&types[1..]).map(|(case, canonical)| {
        format!("[{:?}, {}, {}]", case.name, shape(case.shape), serde_json::to_string(canonical).unwrap())
    });
    let columns: Vec<String> = std::iter::once("[\"id\", \"number\", \"number\"]".to_owned()).chain(columns).collect();
    let mut lines = format!("{{\"columns\": [{}]}}\n", columns.join(", "));
    for (index, texts) in texts.iter().enumerate() {
        let record = rows.record(index);
        writeln!(lines, "{{\"key\": \"{}\", \"row\": \"{}\", \"texts\": {texts}}}", hex(record.key), hex(record.row))
            .unwrap();
    }
    let file = desk.file("rows.jsonl", lines);
    let said = script(&["check_types.py", &file]);
    let expected = format!("{ROWS} rows of {0} columns: {1} passed, 0 failed\n", types.len(), ROWS * types.len());
    assert_eq!(said, expected);
    // A byte that changed must show: the checks above can fail.
    let head: Vec<String> = std::fs::read_to_string(&file).unwrap().lines().take(3).map(str::to_owned).collect();
    let broken = head.join("\n").replacen("\"key\": \"01a20200", "\"key\": \"01a20300", 1);
    let file = desk.file("broken.jsonl", broken);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let output = python().arg("-B").args(["check_types.py", &file]).current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().ends_with(" passed, 1 failed\n"));
}

#[test]
fn the_independent_decoder_reads_the_golden_vectors() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/encoding/vectors.json");
    let count = serde_json::from_slice::<Vec<serde_json::Value>>(&std::fs::read(&vectors).unwrap()).unwrap().len();
    assert!(count >= 200, "only {count} vectors");
    let said = script(&["check_vectors.py", vectors.to_str().unwrap()]);
    assert_eq!(said, format!("{count} passed, 0 failed\n"));
}

#[test]
fn the_independent_decoder_passes_its_own_tests() {
    let said = script(&["-m", "unittest", "-q", "test_decoder"]);
    assert!(said.contains("Ran 7 tests") && said.ends_with("OK\n"), "{said}");
}
