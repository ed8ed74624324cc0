//! Text files: CSV and JSON lines. They have no types, so that each column is cast to what it stands for.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    parquet::file_name,
    store::{Store, Wanted},
};
use serde_json::{Map, Value};
use std::{fmt::Write as _, path::Path};
use tempfile::TempDir;
use tieout::model::ReadOrder;
use tieout_testkit::contract::{Cell, Kind, Table, keyed};

/// CSV files in key order.
pub(crate) struct Csv(TempDir);

/// Files of JSON lines in key order.
pub(crate) struct JsonLines(TempDir);

/// The cast of a column of a file that has no types.
fn cast(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean | Kind::Integer(_) | Kind::Decimal(..) => "number",
        Kind::Real | Kind::Double => "float",
        Kind::Text | Kind::Char(_) => "text",
        Kind::Binary => "binary",
        Kind::Date => "date",
        Kind::Time => "time",
        Kind::Timestamp => "timestamp",
        Kind::Instant => "timestamptz",
        Kind::Uuid => "uuid",
    }
}

/// Text of a cell as a text file has it.
fn text_of(cell: &Cell) -> Option<String> {
    let text = cell.text()?;
    Some(match cell {
        Cell::Bytes(_) => format!("\\x{text}"),
        Cell::Instant(_) => format!("{text}+00"),
        // Text of 32 bits would be read as 64 bits, and these are other numbers.
        Cell::Real(value) => format!("{:e}", f64::from(*value)),
        _ => text,
    })
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Writes a CSV file: text is quoted, an unquoted nothing is NULL.
pub(crate) fn write_csv(path: &Path, table: &Table, rows: &[Vec<Cell>]) {
    let names: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    let mut out = format!("{}\n", names.join(","));
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| match (cell, text_of(cell)) {
                (_, None) => String::new(),
                (Cell::Text(_), Some(text)) => quoted(&text),
                (_, Some(text)) => text,
            })
            .collect();
        writeln!(out, "{}", cells.join(",")).unwrap();
    }
    std::fs::write(path, out).unwrap();
}

/// Writes JSON lines: whole numbers as such, all else as strings.
fn write_json(path: &Path, table: &Table, rows: &[Vec<Cell>]) {
    let mut out = String::new();
    for row in rows {
        let mut object = Map::new();
        for (column, cell) in table.columns.iter().zip(row) {
            let value = match cell {
                Cell::Null => Value::Null,
                Cell::Int(value) => Value::from(*value),
                cell => text_of(cell).map_or(Value::Null, Value::String),
            };
            object.insert(column.name.clone(), value);
        }
        writeln!(out, "{}", Value::Object(object)).unwrap();
    }
    std::fs::write(path, out).unwrap();
}

impl Store for Csv {
    async fn start() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn create(&self, table: &Table) -> String {
        let path = self.0.path().join(file_name(table, "csv"));
        write_csv(&path, table, &table.sorted());
        path.to_str().unwrap().to_owned()
    }

    fn cast(&self, kind: Kind) -> Option<&'static str> {
        Some(cast(kind))
    }

    /// In order, but a range of it costs a read of all.
    fn order(&self, table: &Table) -> ReadOrder {
        if table.key == 0 { ReadOrder::Local } else { ReadOrder::ServerOnce }
    }

    fn has_constraints(&self) -> bool {
        false
    }
}

impl Store for JsonLines {
    async fn start() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn create(&self, table: &Table) -> String {
        let path = self.0.path().join(file_name(table, "jsonl"));
        write_json(&path, table, &table.sorted());
        path.to_str().unwrap().to_owned()
    }

    fn cast(&self, kind: Kind) -> Option<&'static str> {
        Some(cast(kind))
    }

    fn order(&self, table: &Table) -> ReadOrder {
        if table.key == 0 { ReadOrder::Local } else { ReadOrder::ServerOnce }
    }

    fn has_constraints(&self) -> bool {
        false
    }
}

mod files {
    use super::Csv;
    use crate::contract::contract;

    contract!(Csv: columns, single_keys, composite_keys, no_key, empty_tables, names);
}

mod json_lines {
    use super::JsonLines;
    use crate::contract::contract;

    // A table without rows has no columns.
    contract!(JsonLines: columns, single_keys, composite_keys, no_key, names);
}

#[tokio::test]
async fn a_text_file_that_is_cut_inside_of_a_value_is_an_error() {
    let table = keyed("t", &[Kind::Text], true, 60, 1);
    for locator in [Csv::start().await.create(&table).await, JsonLines::start().await.create(&table).await] {
        // The folders are gone, so the files are made anew in one of their own.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Path::new(&locator).file_name().unwrap());
        if locator.ends_with("csv") {
            write_csv(&path, &table, &table.sorted());
        } else {
            write_json(&path, &table, &table.sorted());
        }
        let bytes = std::fs::read(&path).unwrap();
        // Behind the last opening quote.
        let end = bytes.iter().rposition(|byte| *byte == b'"').unwrap();
        std::fs::write(&path, &bytes[..end]).unwrap();
        let wanted =
            Wanted { locator: path.to_str().unwrap().to_owned(), key: vec!["k0".to_owned()], ..Wanted::default() };
        let read = async {
            let opened = wanted.try_open().await?;
            opened.try_read(tieout::model::KeyRange::all(), false).await
        };
        assert!(read.await.is_err(), "{locator}");
    }
}
