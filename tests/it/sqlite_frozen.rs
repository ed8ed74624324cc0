//! A frozen SQLite table stays as it was, whatever others write; many streams share its one connection.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    frozen::{freeze, projection, rows},
    harness::Desk,
    sqlite::{sqlite, table},
};
use futures::StreamExt;
use tieout::{
    connector::Read,
    model::{ErrorKind, Exactness, KeyRange, SideRequest},
};

const FILL: &str = "CREATE TABLE t (id integer primary key, v text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO t SELECT i, 'row ' || i FROM n;";

#[tokio::test]
async fn a_writer_changes_nothing_that_is_frozen() {
    for mode in ["wal", "delete"] {
        let desk = Desk::new();
        let connection = sqlite(&desk, "t.db", &format!("PRAGMA journal_mode = {mode}; {FILL}"));
        let locator = table(&desk, "t.db", "t");
        let projection = projection(&locator).await;
        let frozen = freeze(&locator).await;
        let before = rows(&*frozen, &projection, KeyRange::all()).await;
        assert_eq!(before.len(), 5000);
        connection.busy_timeout(std::time::Duration::ZERO).unwrap();
        let written = connection.execute("UPDATE t SET v = 'other' WHERE id % 2 = 0", []);
        // In WAL mode writers go on; else the reader's lock keeps them out until it is done.
        assert_eq!(written.is_ok(), mode == "wal", "{mode}: {written:?}");
        let expected = if mode == "wal" { Exactness::Bracketed } else { Exactness::Exact };
        assert_eq!(frozen.position().exactness, expected, "{}", frozen.position());
        assert!(frozen.position().value.contains("t.db"), "{}", frozen.position());
        assert_eq!(rows(&*frozen, &projection, KeyRange::all()).await, before, "{mode}");
        drop(frozen);
        drop(connection);
        let again = freeze(&locator).await;
        assert_eq!(rows(&*again, &projection, KeyRange::all()).await == before, mode == "delete");
        assert_eq!(again.position().exactness, expected, "alone: {}", again.position());
    }
}

#[tokio::test(flavor = "current_thread")]
async fn streams_take_turns_and_none_waits_for_another_to_end() {
    let desk = Desk::new();
    drop(sqlite(&desk, "t.db", FILL));
    let locator = table(&desk, "t.db", "t");
    let projection = projection(&locator).await;
    let frozen = freeze(&locator).await;
    let read = |range: KeyRange| Read { range, ascending: true, batch_bytes_max: 256 };
    let mut streams: Vec<_> = (0..20).map(|_| frozen.stream(&projection, &read(KeyRange::all()))).collect();
    // One batch of each, over and over: a stream that held the connection would stop the others.
    let mut counts = [0_usize; 20];
    loop {
        let mut ended = 0;
        for (stream, count) in streams.iter_mut().zip(&mut counts) {
            match stream.next().await {
                Some(batch) => {
                    let batch = batch.unwrap();
                    assert!(batch.bytes() <= 256, "{} bytes", batch.bytes());
                    *count += batch.rows();
                }
                None => ended += 1,
            }
        }
        if ended == 20 {
            break;
        }
        // Some are given up on the way.
        if counts[0] > 1000 && streams.len() == 20 {
            streams[19] = futures::stream::empty().boxed();
        }
    }
    assert!(counts[..19].iter().all(|count| *count == 5000), "{counts:?}");
    assert!(counts[19] < 5000);
}

#[tokio::test]
async fn a_single_large_row_is_a_batch_of_its_own() {
    let desk = Desk::new();
    drop(sqlite(
        &desk,
        "t.db",
        "CREATE TABLE t (id integer primary key, v blob); INSERT INTO t VALUES (1, x'01'), (2, randomblob(1000000)), (3, x'02')",
    ));
    let locator = table(&desk, "t.db", "t");
    let projection = projection(&locator).await;
    let frozen = freeze(&locator).await;
    let read = Read { range: KeyRange::all(), ascending: true, batch_bytes_max: 4096 };
    let mut stream = frozen.stream(&projection, &read);
    let mut sizes = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch.unwrap();
        sizes.push((batch.rows(), batch.bytes() > 4096));
    }
    assert_eq!(sizes, [(1, false), (1, true), (1, false)]);
}

#[tokio::test]
async fn a_stream_that_is_dropped_ends_its_statement_and_no_other() {
    let desk = Desk::new();
    let writer = sqlite(&desk, "t.db", FILL);
    let locator = table(&desk, "t.db", "t");
    let projection = projection(&locator).await;
    // Its first row never comes.
    let request = SideRequest {
        locator: locator.clone(),
        query: Some(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
             SELECT i AS id, 'x' AS v FROM n WHERE i < 0 UNION ALL SELECT id, v FROM t"
                .to_owned(),
        ),
        ..SideRequest::default()
    };
    let endless = tieout::connector::registry::connector_for(&locator).unwrap().freeze(&request, 2).await.unwrap();
    let read = Read { range: KeyRange::all(), ascending: false, batch_bytes_max: 4096 };
    for _ in 0..3 {
        let mut stream = endless.stream(&projection, &read);
        let waited = tokio::time::timeout(std::time::Duration::from_millis(50), stream.next()).await;
        assert!(waited.is_err());
    }
    // The thread is free: it answers the next one.
    let mut stream = endless.stream(&projection, &read);
    let waited = tokio::time::timeout(std::time::Duration::from_millis(50), stream.next()).await;
    assert!(waited.is_err());
    drop(stream);
    drop(endless);
    // And the lock of its transaction is gone within the time that a writer waits.
    writer.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE; ROLLBACK").unwrap();

    let frozen = freeze(&locator).await;
    let mut kept = frozen.stream(&projection, &read);
    let mut count = kept.next().await.unwrap().unwrap().rows();
    for _ in 0..10 {
        let mut given_up = frozen.stream(&projection, &read);
        given_up.next().await.unwrap().unwrap();
    }
    while let Some(batch) = kept.next().await {
        count += batch.unwrap().rows();
    }
    assert_eq!(count, 5000);
}

#[tokio::test]
async fn a_locked_database_is_an_error() {
    let desk = Desk::new();
    let connection = sqlite(&desk, "t.db", FILL);
    connection.execute_batch("BEGIN EXCLUSIVE; DELETE FROM t").unwrap();
    let locator = table(&desk, "t.db", "t");
    let request = SideRequest { locator: locator.clone(), ..SideRequest::default() };
    let connector = tieout::connector::registry::connector_for(&locator).unwrap();
    let error = connector.freeze(&request, 1).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert!(error.to_string().contains("locked"), "{error}");
}

#[tokio::test]
async fn a_damaged_database_is_an_error() {
    let desk = Desk::new();
    drop(sqlite(&desk, "t.db", FILL));
    let locator = table(&desk, "t.db", "t");
    let projection = projection(&locator).await;
    let mut bytes = std::fs::read(desk.path("t.db")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xA5);
    std::fs::write(desk.path("t.db"), bytes).unwrap();
    let frozen = match tieout::connector::registry::connector_for(&locator)
        .unwrap()
        .freeze(&SideRequest { locator: locator.clone(), ..SideRequest::default() }, 1)
        .await
    {
        Ok(frozen) => frozen,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Read, "{error}");
            return;
        }
    };
    let read = Read { range: KeyRange::all(), ascending: true, batch_bytes_max: 4096 };
    let outcome: Vec<_> = frozen.stream(&projection, &read).collect().await;
    let error = outcome.into_iter().find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::Read, "{error}");
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[tokio::test]
async fn a_journal_that_must_be_rolled_back_is_an_error() {
    let desk = Desk::new();
    let connection = sqlite(&desk, "t.db", FILL);
    // Pages that do not fit the cache are written to the file in the middle of the transaction.
    connection
        .execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE t SET v = v || 'x'")
        .unwrap();
    for suffix in ["", "-journal"] {
        std::fs::copy(desk.path(&format!("t.db{suffix}")), desk.path(&format!("crashed.db{suffix}"))).unwrap();
    }
    let locator = table(&desk, "crashed.db", "t");
    let request = SideRequest { locator: locator.clone(), ..SideRequest::default() };
    let connector = tieout::connector::registry::connector_for(&locator).unwrap();
    let error = connector.freeze(&request, 1).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Permission, "{error}");
    assert!(error.to_string().contains("recovered from its journal"), "{error}");
    // A program that may write recovers it: all rows are as they were.
    drop(sqlite(&desk, "crashed.db", "SELECT count(*) FROM t"));
    let projection = projection(&locator).await;
    let recovered = freeze(&locator).await;
    drop(connection);
    let whole = freeze(&table(&desk, "t.db", "t")).await;
    let expected = rows(&*whole, &projection, KeyRange::all()).await;
    assert_eq!(rows(&*recovered, &projection, KeyRange::all()).await, expected);
}

#[tokio::test]
async fn a_schema_that_denies_null_is_not_believed() {
    let desk = Desk::new();
    let connection = sqlite(
        &desk,
        "t.db",
        "CREATE TABLE t (id int, v int); CREATE UNIQUE INDEX ti ON t (id); INSERT INTO t VALUES (NULL, 0), (1, 1), (2, 2)",
    );
    connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = 'CREATE TABLE t (id int NOT NULL, v int)' WHERE name = 't';
             PRAGMA writable_schema = RESET;",
        )
        .unwrap();
    let locator = table(&desk, "t.db", "t");
    let projection = projection(&locator).await;
    assert_eq!(projection.key.len(), 1);
    let frozen = freeze(&locator).await;
    let bound = tieout::encode::encode_key(
        &[tieout::model::CanonicalType::Number],
        &[tieout::encode::parse(&tieout::model::CanonicalType::Number, "2").unwrap()],
    );
    let range = KeyRange { lower: None, upper: Some(bound.unwrap()) };
    let read = Read { range, ascending: true, batch_bytes_max: 4096 };
    let outcome: Vec<_> = frozen.stream(&projection, &read).collect().await;
    let error = outcome.into_iter().find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
    assert!(error.to_string().contains("holds NULL"), "{error}");
}
