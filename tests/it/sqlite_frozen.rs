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
