//! The standard faults between every two stores: rows that are missing, extra, or changed in one column by the least that
//! its type allows. All are found, and nothing else.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    csv::Csv,
    digests::{Place, is_shared, plan_of},
    mariadb::Mariadb,
    parquet::Parquet,
    postgres::Postgres,
    sqlite::Sqlite,
    sqlserver::{OverPostgres, SqlServer},
    store::Store,
};
use tieout_testkit::contract::{Cell, KINDS, Table, changed, every_kind};

const ROWS: usize = 400;
const MISSING: u64 = 3;
const EXTRA: u64 = 4;

/// The source, and a sink that has each column changed in one row of its own.
fn tables() -> (Table, Table) {
    let source = every_kind("source", &KINDS, ROWS, 12).only(is_shared);
    let mut sink = Table { name: "sink".to_owned(), ..source.clone() };
    // Each row at most one fault.
    let mut row = 0;
    for column in 1..sink.columns.len() {
        while sink.rows[row][column] == Cell::Null {
            row += 1;
        }
        let other = changed(&sink.rows[row][column]);
        sink.rows[row][column] = other;
        row += 1;
    }
    let gone = sink.rows.len() - usize::try_from(MISSING).unwrap();
    sink.rows.truncate(gone);
    for number in 0..EXTRA {
        let mut extra = source.rows[usize::try_from(number).unwrap()].clone();
        extra[0] = Cell::Int(1_000_000 + i64::try_from(number).unwrap());
        sink.rows.push(extra);
    }
    (source, sink)
}

async fn both<S: Store>(store: &S, name: &'static str, tables: &(Table, Table)) -> [Place; 2] {
    [Place::new(name, store.create(&tables.0).await), Place::new(name, store.create(&tables.1).await)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_found_between_every_two_stores() {
    let tables = tables();
    let (postgres, mariadb, sqlite) = (Postgres::start().await, Mariadb::start().await, Sqlite::start().await);
    let (parquet, csv) = (Parquet::start().await, Csv::start().await);
    let (sqlserver, over_postgres) = (SqlServer::start().await, OverPostgres::start().await);
    let places = [
        both(&postgres, "postgres", &tables).await,
        both(&mariadb, "mariadb", &tables).await,
        both(&sqlite, "sqlite", &tables).await,
        both(&sqlserver, "sqlserver", &tables).await,
        both(&over_postgres, "over-postgres", &tables).await,
        both(&parquet, "parquet", &tables).await,
        both(&csv, "csv", &tables).await,
    ];
    let plan = plan_of(&tables.0);
    for [source, _] in &places {
        for [_, sink] in &places {
            let label = format!("{} and {}", source.name, sink.name);
            let document = plan.run(source, sink).await.document;
            let counts = &document["counts"];
            let changed = KINDS.len() as u64;
            let found = ["matched", "missing", "extra", "changed"].map(|name| counts[name].as_u64().unwrap());
            assert_eq!(found, [ROWS as u64 - MISSING - changed, MISSING, EXTRA, changed], "{label}");
            for column in document["columns"].as_array().unwrap() {
                assert_eq!(column["changed"], 1, "{label}: {}", column["source"]);
            }
            assert_eq!(document["verdict"], "different", "{label}");
        }
    }
}
