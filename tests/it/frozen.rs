//! A frozen table stays as it was: whatever others write, every read sees the rows of one position, each once.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Postgres};
use futures::StreamExt;
use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tieout::{
    connector::{FrozenTable, Read, registry::connector_for},
    encode::{EncodedBatch, RowLayout, RowWriter},
    engine::{Control, plan},
    model::{ComparisonRequest, KeyRange, Projection, SideRequest, Sides, SortChoice},
};
use tieout_testkit::postgres::query;
use tokio_util::sync::CancellationToken;

/// The projection of a table, as a plan of the table against itself has it.
pub(crate) async fn projection(locator: &str) -> Arc<Projection> {
    let side = || SideRequest { locator: locator.to_owned(), ..SideRequest::default() };
    let request = ComparisonRequest {
        sides: Sides::new(side(), side()),
        key: Vec::new(),
        columns: Vec::new(),
        exclude: Vec::new(),
        map: Vec::new(),
        casts: Vec::new(),
        options: std::collections::BTreeMap::new(),
        sort: SortChoice::Auto,
        snapshot_age_max: None,
        ranges_from: None,
        output: PathBuf::from("unused"),
        workers: 1,
        memory_bytes: 256 << 20,
        ranges: 1,
    };
    let control = Control { progress: Arc::default(), cancel: CancellationToken::new(), colour: false };
    Arc::clone(&plan(request, control).await.unwrap().facts.plan.projection.source)
}

pub(crate) async fn freeze(locator: &str) -> Box<dyn FrozenTable> {
    let request = SideRequest { locator: locator.to_owned(), ..SideRequest::default() };
    connector_for(locator).unwrap().freeze(&request, 2).await.unwrap()
}

/// (key bytes, row bytes) of a range, in the order in which they come.
pub(crate) async fn rows(
    table: &dyn FrozenTable,
    projection: &Arc<Projection>,
    range: KeyRange,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut stream = table.stream(projection, &Read { range, ascending: true, batch_bytes_max: 1 << 14 });
    let layout = RowLayout::new(projection).unwrap();
    let mut encoded = EncodedBatch::new();
    while let Some(batch) = stream.next().await {
        batch.unwrap().encode(&mut RowWriter::new(&layout, &mut encoded)).unwrap();
    }
    (0..encoded.len())
        .map(|index| {
            let record = encoded.record(index);
            (record.key.to_vec(), record.row.to_vec())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn rows_are_those_of_the_freeze() {
    let postgres = Postgres::new();
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 1000) i",
    );
    let (locator, url) = (postgres.table("t"), postgres.url());
    let projection = projection(&locator).await;
    let untouched = freeze(&locator).await;
    let before = rows(untouched.as_ref(), &projection, KeyRange::all()).await;
    drop(untouched);
    assert_eq!(before.len(), 1000);
    let frozen = freeze(&locator).await;
    postgres.sql(
        "DELETE FROM t WHERE id <= 500; INSERT INTO t SELECT i, 'new' FROM generate_series(1001, 1500) i;
         UPDATE t SET id = id + 100000 WHERE id BETWEEN 600 AND 700; UPDATE t SET v = 'other' WHERE id = 900",
    );
    assert_eq!(rows(frozen.as_ref(), &projection, KeyRange::all()).await, before);
    // Two reads at once, of adjacent ranges, while a third of all goes on.
    let cut = before[400].0.clone();
    let (low, high, all) = tokio::join!(
        rows(frozen.as_ref(), &projection, KeyRange { lower: None, upper: Some(cut.clone()) }),
        rows(frozen.as_ref(), &projection, KeyRange { lower: Some(cut), upper: None }),
        rows(frozen.as_ref(), &projection, KeyRange::all()),
    );
    assert_eq!((low.len(), high.len()), (400, 600));
    assert_eq!([low, high].concat(), before);
    assert_eq!(all, before);
    assert!(before.windows(2).all(|pair| pair[0].0 < pair[1].0), "keys ascend and none comes twice");
    // Nobody may truncate, rewrite or drop what is frozen.
    for statement in ["TRUNCATE t", "ALTER TABLE t ADD COLUMN w int", "DROP TABLE t", "VACUUM FULL t"] {
        let refused = query(&url, &format!("SET lock_timeout = '100ms'; {statement}")).unwrap_err().to_string();
        assert!(refused.contains("lock timeout"), "{statement}: {refused}");
    }
    assert_eq!(rows(frozen.as_ref(), &projection, KeyRange::all()).await, before);
    drop(frozen);
    query(&url, "SET lock_timeout = '10s'; TRUNCATE t").unwrap();
    let later = freeze(&locator).await;
    assert_eq!(rows(later.as_ref(), &projection, KeyRange::all()).await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_dropped_ends_on_the_server() {
    let postgres = Postgres::new();
    postgres.sql("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 20000)");
    postgres.sql(NO_SORTS);
    let (locator, url) = (postgres.table("t"), postgres.url());
    let projection = projection(&locator).await;
    let mut request = SideRequest { locator: locator.clone(), ..SideRequest::default() };
    request.filter = Some("id < 15000 OR pg_sleep(60) IS NULL".to_owned());
    let frozen = connector_for(&locator).unwrap().freeze(&request, 1).await.unwrap();
    let read = Read { range: KeyRange::all(), ascending: true, batch_bytes_max: 1 << 10 };
    let mut stream = frozen.stream(&projection, &read);
    assert!(stream.next().await.unwrap().unwrap().rows() > 0);
    await_count(&url, ACTIVE, |count| count == 1);
    drop(stream);
    await_count(&url, ACTIVE, |count| count == 0);
}

/// Has the server read along the index, so that rows arrive before the scan is over.
pub(crate) const NO_SORTS: &str =
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_sort = off', current_database()); END $$";

/// Queries of the program that run now in this database.
pub(crate) const ACTIVE: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tieout' \
     AND datname = current_database() AND state = 'active'";

/// Looks until `wanted` is true of a count, for at most ten seconds.
#[track_caller]
pub(crate) fn await_count(url: &str, sql: &str, wanted: impl Fn(u64) -> bool) {
    await_count_within(url, sql, Duration::from_secs(10), wanted);
}

/// The same, for at most `longest`.
#[track_caller]
pub(crate) fn await_count_within(url: &str, sql: &str, longest: Duration, wanted: impl Fn(u64) -> bool) {
    let started = Instant::now();
    loop {
        let count = query(url, sql).unwrap().parse().unwrap();
        if wanted(count) {
            return;
        }
        assert!(started.elapsed() < longest, "still {count}: {sql}");
    }
}

#[test]
fn o57_a_writer_that_goes_on_changes_no_count() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    // The writer moves rows to the other end of the key space and back, and replaces others: 40 000 rows at any moment.
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT i, i FROM generate_series(1, 40000) i;
         ANALYZE t;
         CREATE PROCEDURE stir() LANGUAGE plpgsql AS $$ BEGIN
           FOR turn IN 1..100000 LOOP
             UPDATE t SET id = 50000000 - id WHERE v % 97 = turn % 97;
             COMMIT;
             WITH gone AS (DELETE FROM t WHERE v % 89 = turn % 89 RETURNING *)
             INSERT INTO t SELECT id + CASE WHEN turn % 2 = 0 THEN 100000 ELSE -100000 END, v FROM gone;
             COMMIT;
           END LOOP;
         END $$;",
    );
    let mut writer = Command::new("psql")
        .args(["-X", "-q", "-d", &postgres.url(), "-c", "SET application_name = 'writer'", "-c", "CALL stir()"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    await_count(
        &postgres.url(),
        "SELECT n_tup_upd + (SELECT count(*) FROM t WHERE id > 1000000) FROM pg_stat_user_tables WHERE relname = 't'",
        |count| count > 0,
    );
    let table = postgres.table("t");
    for sort in ["server", "local"] {
        let outcome = desk.diff(&[&table, &table, "--ranges", "12", "-j", "4", "--sort", sort]);
        let document = outcome.document();
        assert_eq!(document["rows"]["source"], 40000);
        assert_eq!(document["rows"]["sink"], 40000);
        assert_eq!(document["counts"]["duplicate"], 0);
        let count = |name: &str| document["counts"][name].as_u64().unwrap();
        assert_eq!(count("matched") + count("changed") + count("missing"), 40000);
        assert_eq!(count("matched") + count("changed") + count("extra"), 40000);
    }
    assert!(writer.try_wait().unwrap().is_none(), "the writer stopped too early");
    writer.kill().unwrap();
    writer.wait().unwrap();
}
