//! MariaDB.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    contract::{self, contract},
    sql::{Dialect, quoted},
    store::{Database, Server, Store},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write as _;
use tieout::model::ReadOrder;
use tieout_testkit::{
    contract::{Cell, Kind, Table},
    mariadb::{MariadbServer, TestDatabase, query, test_database},
};

/// A fresh database, dropped at the end.
pub(crate) struct Mariadb(TestDatabase);

/// Moments of 32 bits of seconds, without the first one, which is the zero moment.
const MOMENTS: std::ops::Range<i64> = 1_000_000..2_147_483_648_000_000;

const DIALECT: Dialect = Dialect {
    quote: |name| quoted(name, '`'),
    native: |kind| match kind {
        Kind::Boolean => "tinyint(1)".to_owned(),
        Kind::Integer(16) => "smallint".to_owned(),
        Kind::Integer(32) => "int".to_owned(),
        Kind::Integer(_) => "bigint".to_owned(),
        Kind::Decimal(precision, scale) => format!("decimal({precision},{scale})"),
        Kind::Real => "float".to_owned(),
        Kind::Double => "double".to_owned(),
        Kind::Text => "varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin".to_owned(),
        Kind::Char(width) => format!("char({width}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
        Kind::Binary => "varbinary(200)".to_owned(),
        Kind::Date => "date".to_owned(),
        Kind::Time => "time(6)".to_owned(),
        Kind::Timestamp => "datetime(6)".to_owned(),
        Kind::Instant => "timestamp(6)".to_owned(),
        Kind::Uuid => "uuid".to_owned(),
    },
    literal: |cell| match cell {
        // No mode of the session changes what these mean.
        Cell::Text(text) => format!("_utf8mb4 x'{}'", hex(text.as_bytes())),
        Cell::Bytes(bytes) => format!("x'{}'", hex(bytes)),
        // The shortest text of the largest number is beyond it.
        Cell::Real(value) => format!("{:e}", f64::from(*value)),
        other => quoted(&other.text().unwrap_or_default(), '\''),
    },
    index_term: str::to_owned,
    suffix: " ENGINE=InnoDB",
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Mariadb {
    /// A server of its own, whose settings are nobody else's.
    fn alone() -> Self {
        Self(TestDatabase::on(MariadbServer::start().unwrap()).unwrap())
    }

    pub(crate) fn url(&self) -> &str {
        self.0.url()
    }
}

impl Store for Mariadb {
    async fn start() -> Self {
        Self(test_database().unwrap())
    }

    async fn create(&self, table: &Table) -> String {
        let statements = DIALECT.statements(table);
        self.sql(&statements.iter().map(String::as_str).collect::<Vec<_>>()).await;
        self.locator(&table.name)
    }

    fn holds(&self, _kind: Kind, cell: &Cell) -> bool {
        match cell {
            Cell::Instant(micros) => MOMENTS.contains(micros),
            _ => true,
        }
    }

    /// 32-bit floats, padded text and UUIDs are ordered by an expression that no index has.
    fn order(&self, table: &Table) -> ReadOrder {
        let mut key = table.columns.iter().take(table.key);
        if table.key == 0 {
            ReadOrder::Local
        } else if key.any(|column| matches!(column.kind, Kind::Real | Kind::Char(_) | Kind::Uuid)) {
            ReadOrder::ServerOnce
        } else {
            ReadOrder::ServerRanges
        }
    }
}

impl Database for Mariadb {
    async fn sql(&self, statements: &[&str]) {
        // What the tables are made with is not what they are read with.
        let session = "SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES'";
        let text = format!("{session};\n{};", statements.join(";\n"));
        if let Err(error) = self.0.execute(&text) {
            let said = error.to_string();
            panic!("{}", said.rsplit("--------------").next().unwrap_or_default());
        }
    }

    fn quote(&self, name: &str) -> String {
        quoted(name, '`')
    }

    fn locator(&self, table: &str) -> String {
        self.0.table(&utf8_percent_encode(&self.quote(table), NON_ALPHANUMERIC).to_string())
    }
}

/// Statements of the program in this database.
const OURS: &str =
    "FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command <> 'Sleep'";

impl Server for Mariadb {
    fn slow(&self) -> &'static str {
        "id < 15000 OR SLEEP(60) = 1"
    }

    async fn running(&self) -> u64 {
        query(self.0.url(), &format!("SELECT count(*) {OURS}")).unwrap().trim().parse().unwrap()
    }

    async fn cut(&self) {
        let kills = query(self.0.url(), &format!("SELECT CONCAT('KILL ', id, ';') {OURS}")).unwrap();
        assert!(kills.contains("KILL"), "nothing runs");
        self.0.execute(&kills).unwrap();
    }

    async fn unsettle(&self) {
        let settings = [
            "sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,HIGH_NOT_PRECEDENCE,REAL_AS_FLOAT,NO_UNSIGNED_SUBTRACTION,IGNORE_SPACE'",
            "time_zone = '+05:45'",
            "max_sort_length = 64",
            "group_concat_max_len = 4",
            "sql_select_limit = 3",
            "sql_safe_updates = 1",
            "div_precision_increment = 0",
            "lc_time_names = 'de_DE'",
            "collation_connection = 'latin1_german2_ci'",
            "character_set_results = 'latin1'",
            "tx_isolation = 'READ-UNCOMMITTED'",
            "autocommit = 0",
            "max_statement_time = 20",
            "sql_auto_is_null = 1",
            "completion_type = 'CHAIN'",
        ];
        for setting in settings {
            self.0.execute(&format!("SET GLOBAL {setting}")).unwrap();
        }
    }
}

contract!(Mariadb: columns, single_keys, composite_keys, no_key, empty_tables, names, views, frozen_while_written,
    cancelled, cut_streams);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_pinned() {
    // Other tests use the shared server at the same time.
    contract::settings_pinned(&Mariadb::alone()).await;
}
