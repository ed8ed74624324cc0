//! The same rows in every store: under one plan and one list of cuts the table digest is literally the same, whichever
//! two of them are compared.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    csv::Csv,
    mariadb::Mariadb,
    parquet::Parquet,
    postgres::Postgres,
    sqlite::Sqlite,
    sqlserver::SqlServer,
    store::{Database, Store},
};
use std::{path::PathBuf, sync::Arc};
use tempfile::TempDir;
use tieout::{
    config::{OptionSetting, PartialRequest, PartialSide},
    engine::{Control, RunResult, compare},
    model::Sides,
};
use tieout_testkit::{
    contract::{Cell, KINDS, Kind, Table, every_kind},
    mysql, oracle, sqlite,
    table::{STANDARD_SEED, Side},
    write,
};

/// Rows of the table that has every shared type.
const SHARED_ROWS: usize = 3000;

/// Rows of the standard table here; `scripts/same-digest` does the same with a million.
const STANDARD_ROWS: u64 = 3000;

/// A place where the rows are.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) locator: String,
    /// Columns whose zoneless times are those of UTC.
    zoned: &'static [&'static str],
    /// Whether the store has moments: a zone is for a pair of a zoneless time and a moment.
    has_moments: bool,
}

impl Place {
    pub(crate) fn new(name: &'static str, locator: String) -> Self {
        Self { name, locator, zoned: &[], has_moments: true }
    }
}

/// What all runs have in common.
pub(crate) struct Plan {
    folder: TempDir,
    key: &'static str,
    casts: Vec<(String, String)>,
    /// The run whose ranges the others take.
    first: Option<PathBuf>,
}

impl Plan {
    pub(crate) async fn run(&self, source: &Place, sink: &Place) -> RunResult {
        let side = |place: &Place| PartialSide { locator: Some(place.locator.clone()), ..PartialSide::default() };
        let zone = |column: &&str| OptionSetting {
            column: (*column).to_owned(),
            name: "zone".to_owned(),
            value: "UTC".to_owned(),
        };
        let mut zoned: Vec<&str> = source.zoned.iter().chain(sink.zoned).copied().collect();
        zoned.dedup();
        let partial = PartialRequest {
            sides: Sides::new(side(source), side(sink)),
            key: vec![self.key.to_owned()],
            // A zone is a mapping of its own.
            casts: self.casts.iter().filter(|(column, _)| !zoned.contains(&column.as_str())).cloned().collect(),
            options: zoned.iter().map(zone).collect(),
            output: Some(self.folder.path().to_owned()),
            workers: Some(2),
            ranges: if self.first.is_some() { None } else { Some(16) },
            ranges_from: self.first.clone(),
            ..PartialRequest::default()
        };
        let control =
            Control { progress: Arc::default(), cancel: tokio_util::sync::CancellationToken::new(), colour: false };
        let request = partial.finish().unwrap();
        let label = format!("{} and {}", source.name, sink.name);
        Box::pin(compare(request, control)).await.unwrap_or_else(|error| panic!("{label}: {error:?}"))
    }

    /// Compares every two of the places, both of the first one too; returns the digest that they all have.
    async fn check(&mut self, places: &[Place], rows: u64) -> String {
        let first = self.run(&places[0], &places[0]).await;
        self.first = Some(first.folder.clone());
        let digest = first.document["digest"]["source"].as_str().unwrap().to_owned();
        assert!(first.document["plan"]["ranges"].as_u64().unwrap() >= 8, "the table is cut into ranges");
        for (at, source) in places.iter().enumerate() {
            for sink in &places[at + 1..] {
                let [zoned, moments] = [|place: &Place| !place.zoned.is_empty(), |place: &Place| place.has_moments];
                if (zoned(source) && !moments(sink)) || (zoned(sink) && !moments(source)) {
                    continue;
                }
                let run = self.run(source, sink).await;
                let label = format!("{} and {}", source.name, sink.name);
                let document = &run.document;
                assert_eq!(document["verdict"], "equal", "{label}: {:#}", document["counts"]);
                assert_eq!(document["counts"]["matched"], rows, "{label}");
                assert_eq!(document["plan"]["ranges"], first.document["plan"]["ranges"], "{label}");
                for side in ["source", "sink"] {
                    assert_eq!(document["digest"][side], digest.as_str(), "{label}: {side}");
                }
            }
        }
        digest
    }
}

/// Values that every store has.
pub(crate) fn is_shared(kind: Kind, cell: &Cell) -> bool {
    match (kind, cell) {
        // From the first second of 1970 to the last one of 32 bits; some stores have no moments beyond.
        (Kind::Instant, Cell::Instant(micros)) => (1_000_000..2_147_483_647_000_000).contains(micros),
        (Kind::Double, Cell::Double(value)) => *value == 0.0 || value.is_normal(),
        _ => true,
    }
}

/// Every shared type with its extremes, but for values that one of the stores lacks.
fn shared_table() -> Table {
    every_kind("shared", &KINDS, SHARED_ROWS, 11).only(is_shared)
}

/// A cast that says what each column is compared as, so that no pair of stores decides it.
fn canonical_name(kind: Kind) -> &'static str {
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

pub(crate) fn plan_of(table: &Table) -> Plan {
    let casts = table.columns.iter().map(|column| (column.name.clone(), canonical_name(column.kind).to_owned()));
    Plan { folder: tempfile::tempdir().unwrap(), key: "id", casts: casts.collect(), first: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn same_digest() {
    let table = shared_table();
    let (postgres, mariadb, sqlite) = (Postgres::start().await, Mariadb::start().await, Sqlite::start().await);
    let (parquet, csv, sqlserver) = (Parquet::start().await, Csv::start().await, SqlServer::start().await);
    let places = [
        Place::new("sqlserver", sqlserver.create(&table).await),
        Place::new("postgres", postgres.create(&table).await),
        Place::new("mariadb", mariadb.create(&table).await),
        Place::new("sqlite", sqlite.create(&table).await),
        Place::new("parquet", parquet.create(&table).await),
        Place::new("csv", csv.create(&table).await),
    ];
    plan_of(&table).check(&places, SHARED_ROWS as u64).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn same_digest_of_the_standard_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let postgres = Postgres::start().await;
    let client = tieout_testkit::postgres::connect(postgres.url()).await.unwrap();
    write::load_postgres(&client, "standard", STANDARD_SEED, STANDARD_ROWS, Side::Source).await.unwrap();
    let (mariadb, database) = (Mariadb::start().await, file("standard.db"));
    mysql::load_mysql(mariadb.url(), "standard", STANDARD_SEED, STANDARD_ROWS, Side::Source).await.unwrap();
    sqlite::load_sqlite(&database, "standard", STANDARD_SEED, STANDARD_ROWS, Side::Source).unwrap();
    write::write_parquet(&file("standard.parquet"), STANDARD_SEED, STANDARD_ROWS, Side::Source).unwrap();
    write::write_csv_with(&file("standard.csv"), STANDARD_SEED, STANDARD_ROWS, Side::Source, ["0", "1"]).unwrap();
    let sqlserver = SqlServer::start().await;
    sqlserver.tsql.add_standard("standard", STANDARD_SEED, STANDARD_ROWS, Side::Source).unwrap();
    let path = |name: &str| file(name).to_str().unwrap().to_owned();
    let places = [
        Place::new("postgres", format!("{}#standard", postgres.url())),
        Place {
            zoned: &["created_at"],
            has_moments: false,
            ..Place::new("mariadb", format!("{}#standard", mariadb.url()))
        },
        Place { has_moments: false, ..Place::new("sqlite", format!("sqlite:{}#standard", path("standard.db"))) },
        Place::new("sqlserver", sqlserver.locator("standard")),
        Place::new("parquet", path("standard.parquet")),
        Place { has_moments: false, ..Place::new("csv", path("standard.csv")) },
    ];
    let mut plan = standard_plan();
    plan.check(&places, STANDARD_ROWS).await;
}

/// The plan of the standard table, the same in `scripts/same-digest`.
fn standard_plan() -> Plan {
    let casts = [
        ("id", "number"),
        ("quantity", "number"),
        ("name", "text"),
        ("note", "text"),
        ("amount", "number"),
        ("status", "number"),
        ("score", "float"),
        ("created_at", "timestamptz"),
        ("day", "date"),
        ("code", "text"),
        ("reference", "uuid"),
        // Not every store has a boolean.
        ("active", "number"),
    ];
    let casts = casts.map(|(column, kind)| (column.to_owned(), kind.to_owned())).to_vec();
    Plan { folder: tempfile::tempdir().unwrap(), key: "id", casts, first: None }
}

/// The digest is that of `docs/encoding.md`, not just the same one everywhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_digest_is_the_documented_one() {
    let table = shared_table();
    let parquet = Parquet::start().await;
    let place = Place::new("parquet", parquet.create(&table).await);
    let mut plan = plan_of(&table);
    let digest = plan.check(std::slice::from_ref(&place), SHARED_ROWS as u64).await;
    let wanted = crate::store::Wanted {
        locator: place.locator.clone(),
        key: vec!["id".to_owned()],
        casts: plan.casts.clone(),
        filter: None,
    };
    let opened = wanted.open().await;
    let records = opened.read_all().await;
    let facts = plan.run(&place, &place).await.facts;
    let ranges = facts.plan.plan.ranges.as_slice();
    let cuts: Vec<Vec<u8>> = ranges.iter().filter_map(|range| range.lower.clone()).collect();
    let expected = oracle::table_digest(&records, &cuts);
    let expected = expected.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    assert_eq!(digest, expected);
}
