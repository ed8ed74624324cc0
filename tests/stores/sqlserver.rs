//! SQL Server, and a server that speaks its language over PostgreSQL: both played by the test TDS server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    contract::contract,
    sql::{Dialect, quoted},
    store::{Database, Server, Store, Wanted},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write as _;
use tieout::model::ReadOrder;
use tieout_testkit::{
    contract::{Cell, Kind, Table, keyed},
    tds::{FaultPlan, RowEncoding, TdsOptions, TdsServer},
    tsql::{Flavour, Tsql},
};

/// A server of its own.
pub(crate) struct SqlServer {
    flavour: Flavour,
    pub(crate) tsql: Tsql,
    server: TdsServer,
}

const DIALECT: Dialect = Dialect {
    quote: |name| format!("[{}]", name.replace(']', "]]")),
    native: |kind| match kind {
        Kind::Boolean => "bit".to_owned(),
        Kind::Integer(16) => "smallint".to_owned(),
        Kind::Integer(32) => "int".to_owned(),
        Kind::Integer(_) => "bigint".to_owned(),
        Kind::Decimal(precision, scale) => format!("decimal({precision},{scale})"),
        Kind::Real => "real".to_owned(),
        Kind::Double => "float".to_owned(),
        Kind::Text => "nvarchar(200) COLLATE Latin1_General_100_BIN2".to_owned(),
        Kind::Char(width) => format!("nchar({width}) COLLATE Latin1_General_100_BIN2"),
        Kind::Binary => "varbinary(200)".to_owned(),
        Kind::Date => "date".to_owned(),
        Kind::Time => "time(6)".to_owned(),
        Kind::Timestamp => "datetime2(6)".to_owned(),
        Kind::Instant => "datetimeoffset(6)".to_owned(),
        Kind::Uuid => "uniqueidentifier".to_owned(),
    },
    literal: |cell| match cell {
        Cell::Bool(value) => u8::from(*value).to_string(),
        Cell::Int(_) | Cell::Decimal(..) => cell.text().unwrap_or_default(),
        Cell::Real(value) => format!("{value:e}"),
        Cell::Double(value) => format!("{value:e}"),
        Cell::Bytes(bytes) => bytes.iter().fold("0x".to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
        Cell::Instant(_) => quoted(&format!("{}+00:00", cell.text().unwrap_or_default()), '\''),
        other => format!("N{}", quoted(&other.text().unwrap_or_default(), '\'')),
    },
    index_term: str::to_owned,
    suffix: "",
};

impl SqlServer {
    pub(crate) fn playing(flavour: Flavour) -> Self {
        let tsql = Tsql::new(flavour);
        // Both row encodings, and values cut anywhere.
        let options = TdsOptions { row_encoding: RowEncoding::Mixed, split_every: Some(1009), ..TdsOptions::default() };
        let server = tsql.serve(options).unwrap();
        Self { flavour, tsql, server }
    }

    fn is_genuine(&self) -> bool {
        self.flavour == Flavour::SqlServer
    }
}

impl Store for SqlServer {
    async fn start() -> Self {
        Self::playing(Flavour::SqlServer)
    }

    async fn create(&self, table: &Table) -> String {
        let statements = DIALECT.statements(table);
        self.sql(&statements.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let track = |database: &mut tieout_testkit::tsql::Database| {
            database.tracks_changes = true;
            database.table_mut(&table.name)?.tracked_since = Some(0);
            Ok(())
        };
        self.tsql.alter(track).unwrap();
        self.locator(&table.name)
    }

    /// Every collation pads with blanks, so that texts which end in them are no two keys, and control characters come before
    /// the end of a text. A binary collation compares UTF-16, in which some characters come before others that have a smaller
    /// number. Bytes are padded with zeros.
    fn sorts(&self, unique: bool, kind: Kind, cell: &Cell) -> bool {
        let by_units = kind == Kind::Text || !self.is_genuine();
        match cell {
            Cell::Text(text) => {
                let apart = !text.ends_with(' ') && !text.chars().any(|letter| letter < ' ');
                apart && !(by_units && text.chars().any(|letter| letter > '\u{FFFF}'))
            }
            Cell::Bytes(bytes) => !unique || bytes.last() != Some(&0),
            _ => true,
        }
    }

    fn order(&self, table: &Table) -> ReadOrder {
        let key = || table.columns.iter().take(table.key).map(|column| column.kind);
        let by_expression =
            |kind| matches!(kind, Kind::Real | Kind::Double | Kind::Char(_) | Kind::Binary | Kind::Uuid);
        if table.key == 0 || key().any(|kind| kind == Kind::Instant) {
            ReadOrder::Local
        } else if !table.unique || !self.is_genuine() || key().any(by_expression) {
            // An index beside the rows does not cover them; without change tracking, one connection reads alone.
            ReadOrder::ServerOnce
        } else {
            ReadOrder::ServerRanges
        }
    }
}

impl Database for SqlServer {
    async fn sql(&self, statements: &[&str]) {
        for statement in statements {
            self.tsql.execute(statement).unwrap_or_else(|error| panic!("{error}\n{statement:.2000}"));
        }
    }

    fn quote(&self, name: &str) -> String {
        (DIALECT.quote)(name)
    }

    fn locator(&self, table: &str) -> String {
        let table = utf8_percent_encode(&self.quote(table), NON_ALPHANUMERIC).to_string();
        format!("mssql://u:p@127.0.0.1:{}/test?encrypt=no#dbo.{table}", self.server.port())
    }
}

impl Server for SqlServer {
    /// The server falls silent after 15 000 rows of such a query.
    fn slow(&self) -> &'static str {
        const ALL: &str = "id < 20002";
        let faults = FaultPlan { only: Some(ALL.to_owned()), stall: Some(15_000), ..FaultPlan::default() };
        self.server.set_faults(faults);
        ALL
    }

    async fn running(&self) -> u64 {
        self.server.running() as u64
    }

    async fn cut(&self) {
        self.server.cut_running();
    }

    async fn unsettle(&self) {}
}

contract!(SqlServer: columns, single_keys, composite_keys, no_key, empty_tables, names, views, frozen_while_written,
    cancelled, cut_streams);

/// A server that speaks the language over PostgreSQL.
pub(crate) struct OverPostgres(SqlServer);

impl Store for OverPostgres {
    async fn start() -> Self {
        Self(SqlServer::playing(Flavour::PostgresBacked))
    }

    async fn create(&self, table: &Table) -> String {
        self.0.create(table).await
    }

    fn sorts(&self, unique: bool, kind: Kind, cell: &Cell) -> bool {
        self.0.sorts(unique, kind, cell)
    }

    fn order(&self, table: &Table) -> ReadOrder {
        self.0.order(table)
    }
}

impl Database for OverPostgres {
    async fn sql(&self, statements: &[&str]) {
        self.0.sql(statements).await;
    }

    fn quote(&self, name: &str) -> String {
        self.0.quote(name)
    }

    fn locator(&self, table: &str) -> String {
        self.0.locator(table)
    }
}

mod over_postgres {
    use super::{OverPostgres, contract};

    contract!(OverPostgres: columns, single_keys, composite_keys, no_key, empty_tables, names, views, frozen_while_written);
}

/// What the defaults of a server or login could change is set before anything else is sent, on every connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_pinned() {
    let (store, table) = (SqlServer::start().await, keyed("t", &[Kind::Integer(32)], true, 100, 1));
    let locator = store.create(&table).await;
    Wanted::new(&store, &table, locator).open().await.read_all().await;
    let queries = store.server.queries();
    let pins = queries.iter().filter(|text| text.contains("SET XACT_ABORT ON")).count();
    assert_eq!(pins, store.server.connections());
    assert!(queries[0].contains("SET ANSI_NULLS ON") && queries[0].contains("SET DATEFORMAT ymd"));
}
