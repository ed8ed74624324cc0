//! SQLite: a file in WAL mode. It has no decimals, dates or UUIDs: they are text there, and cast.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    contract::contract,
    sql::{Dialect, quoted},
    store::{Database, Store, Wanted},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::{Connection, params_from_iter, types::Value};
use std::{path::PathBuf, sync::Mutex};
use tempfile::TempDir;
use tieout::model::ReadOrder;
use tieout_testkit::contract::{Cell, Kind, Table, keyed};

/// A database file in a folder of its own.
pub(crate) struct Sqlite {
    folder: TempDir,
    connection: Mutex<Connection>,
}

const DIALECT: Dialect = Dialect {
    quote: |name| quoted(name, '"'),
    native: |kind| {
        match kind {
            Kind::Boolean | Kind::Integer(_) => "INTEGER",
            Kind::Real | Kind::Double => "REAL",
            Kind::Binary => "BLOB",
            _ => "TEXT",
        }
        .to_owned()
    },
    // Values are bound.
    literal: |_| "?".to_owned(),
    index_term: str::to_owned,
    suffix: "",
};

fn bound(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Bool(value) => Value::Integer(i64::from(*value)),
        Cell::Int(value) => Value::Integer(*value),
        Cell::Real(value) => Value::Real(f64::from(*value)),
        Cell::Double(value) => Value::Real(*value),
        Cell::Bytes(bytes) => Value::Blob(bytes.clone()),
        Cell::Instant(_) => Value::Text(format!("{}+00", cell.text().unwrap())),
        other => Value::Text(other.text().unwrap()),
    }
}

impl Sqlite {
    fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }
}

impl Store for Sqlite {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("test.db")).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.pragma_update(None, "synchronous", "off").unwrap();
        Self { folder, connection: Mutex::new(connection) }
    }

    async fn create(&self, table: &Table) -> String {
        let statements = DIALECT.statements(&Table { rows: Vec::new(), ..table.clone() });
        self.sql(&statements.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let mut connection = self.connection.lock().unwrap();
        let transaction = connection.transaction().unwrap();
        let places = vec!["?"; table.columns.len()].join(", ");
        let insert = format!("INSERT INTO {} VALUES ({places})", self.quote(&table.name));
        let mut statement = transaction.prepare(&insert).unwrap();
        for row in &table.rows {
            statement.execute(params_from_iter(row.iter().map(bound))).unwrap();
        }
        drop(statement);
        transaction.commit().unwrap();
        self.locator(&table.name)
    }

    fn cast(&self, kind: Kind) -> Option<&'static str> {
        match kind {
            Kind::Decimal(..) => Some("number"),
            Kind::Date => Some("date"),
            Kind::Time => Some("time"),
            Kind::Timestamp => Some("timestamp"),
            Kind::Instant => Some("timestamptz"),
            Kind::Uuid => Some("uuid"),
            _ => None,
        }
    }

    /// What is parsed from text is not in the order of its values.
    fn order(&self, table: &Table) -> ReadOrder {
        let parsed = table.columns.iter().take(table.key).any(|column| self.cast(column.kind).is_some());
        if table.key == 0 || parsed { ReadOrder::Local } else { ReadOrder::ServerRanges }
    }
}

impl Database for Sqlite {
    async fn sql(&self, statements: &[&str]) {
        let connection = self.connection.lock().unwrap();
        for statement in statements {
            connection.execute_batch(statement).unwrap_or_else(|error| panic!("{error}\n{statement:.2000}"));
        }
    }

    fn quote(&self, name: &str) -> String {
        quoted(name, '"')
    }

    fn locator(&self, table: &str) -> String {
        let table = self.quote(table);
        format!("sqlite:{}#{}", self.path().display(), utf8_percent_encode(&table, NON_ALPHANUMERIC))
    }
}

// There is no server to be told of a read that is given up, no connection to cut and no setting of a server.
contract!(Sqlite: columns, single_keys, composite_keys, no_key, empty_tables, names, views, frozen_while_written);

#[tokio::test]
async fn a_file_that_is_not_there_is_an_error_and_stays_away() {
    let store = Sqlite::start().await;
    let path = store.folder.path().join("other.db");
    let wanted = Wanted { locator: format!("sqlite:{}#t", path.display()), ..Wanted::default() };
    assert!(wanted.try_open().await.is_err());
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_dropped_frees_the_reader() {
    let (store, mut table) = (Sqlite::start().await, keyed("t", &[Kind::Integer(32)], true, 1, 1));
    table.rows = (0..20_000).map(|id| vec![Cell::Int(id), Cell::Int(id)]).collect();
    let locator = store.create(&table).await;
    let opened = Wanted::new(&store, &table, locator).open().await;
    for _ in 0..3 {
        let read = tieout::connector::Read {
            range: tieout::model::KeyRange::all(),
            ascending: true,
            batch_bytes_max: 1 << 10,
        };
        let mut stream = opened.table.stream(&opened.projection, &read);
        assert!(futures::StreamExt::next(&mut stream).await.unwrap().unwrap().rows() > 0);
        drop(stream);
    }
    assert_eq!(opened.read_all().await.len(), 20_000);
}
