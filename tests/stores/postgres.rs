//! PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    contract::contract,
    sql::{Dialect, quoted},
    store::{Database, Server, Store},
};
use tieout::model::ReadOrder;
use tieout_testkit::{
    contract::{Cell, Kind, Table},
    postgres::{TestDatabase, query, test_database},
};

/// A fresh database, dropped at the end.
pub(crate) struct Postgres(TestDatabase);

pub(crate) const DIALECT: Dialect = Dialect {
    quote: |name| quoted(name, '"'),
    native: |kind| match kind {
        Kind::Boolean => "boolean".to_owned(),
        Kind::Integer(bits) => format!("int{}", bits / 8),
        Kind::Decimal(precision, scale) => format!("numeric({precision},{scale})"),
        Kind::Real => "float4".to_owned(),
        Kind::Double => "float8".to_owned(),
        Kind::Text => "text COLLATE \"C\"".to_owned(),
        Kind::Char(width) => format!("char({width}) COLLATE \"C\""),
        Kind::Binary => "bytea".to_owned(),
        Kind::Date => "date".to_owned(),
        Kind::Time => "time".to_owned(),
        Kind::Timestamp => "timestamp".to_owned(),
        Kind::Instant => "timestamptz".to_owned(),
        Kind::Uuid => "uuid".to_owned(),
    },
    literal: |cell| {
        let text = quoted(&cell.text().unwrap_or_default(), '\'');
        match cell {
            Cell::Bytes(_) => text.replacen('\'', "'\\x", 1),
            Cell::Instant(_) => format!("{}+00'", text.trim_end_matches('\'')),
            _ => text,
        }
    },
    index_term: |name| format!("{name} NULLS FIRST"),
    suffix: "",
};

impl Postgres {
    pub(crate) fn url(&self) -> &str {
        self.0.url()
    }
}

impl Store for Postgres {
    async fn start() -> Self {
        let database = test_database().unwrap();
        // Reads go along the index, so that rows arrive before a scan is over; a plan that must sort all the same is so
        // dear by that setting that the server would compile it.
        for setting in ["enable_sort = off", "jit = off"] {
            database.execute(&format!("ALTER DATABASE {} SET {setting}", database.name())).unwrap();
        }
        Self(database)
    }

    async fn create(&self, table: &Table) -> String {
        let statements = DIALECT.statements(table);
        self.sql(&statements.iter().map(String::as_str).collect::<Vec<_>>()).await;
        self.locator(&table.name)
    }

    fn order(&self, table: &Table) -> ReadOrder {
        if table.key == 0 { ReadOrder::Local } else { ReadOrder::ServerRanges }
    }
}

impl Database for Postgres {
    async fn sql(&self, statements: &[&str]) {
        let text = statements.join(";\n");
        self.0.execute(&text).unwrap_or_else(|error| panic!("{error}\n{text:.2000}"));
    }

    fn quote(&self, name: &str) -> String {
        quoted(name, '"')
    }

    fn locator(&self, table: &str) -> String {
        self.0.table(&self.quote(table))
    }
}

/// Statements of the program in this database.
const OURS: &str =
    "FROM pg_stat_activity WHERE application_name = 'tieout' AND datname = current_database() AND state = 'active'";

impl Server for Postgres {
    fn slow(&self) -> &'static str {
        "id < 15000 OR pg_sleep(60) IS NULL"
    }

    async fn running(&self) -> u64 {
        query(self.0.url(), &format!("SELECT count(*) {OURS}")).unwrap().parse().unwrap()
    }

    async fn cut(&self) {
        assert_ne!(query(self.0.url(), &format!("SELECT pg_terminate_backend(pid) {OURS}")).unwrap(), "");
    }

    async fn unsettle(&self) {
        let settings = [
            "DateStyle = 'SQL, DMY'",
            "TimeZone = 'Asia/Kathmandu'",
            "IntervalStyle = 'sql_standard'",
            "extra_float_digits = -15",
            "bytea_output = 'escape'",
            "lc_monetary = 'C'",
            "client_encoding = 'LATIN1'",
            "standard_conforming_strings = off",
            "backslash_quote = off",
            "transform_null_equals = on",
            "search_path = public, pg_catalog",
            "default_transaction_isolation = 'read committed'",
            "row_security = off",
        ];
        for setting in settings {
            self.0.execute(&format!("ALTER DATABASE {} SET {setting}", self.0.name())).unwrap();
        }
    }
}

contract!(Postgres: columns, single_keys, composite_keys, no_key, empty_tables, names, views, frozen_while_written,
    cancelled, cut_streams, settings_pinned);
