//! Results that do not come to their end.

use crate::client::{Tiberius, connect, rows};
use futures::TryStreamExt;
use std::time::Duration;
use tieout_testkit::tds::backend::{Cell, ColumnInfo, Reply, ResultSet, SqlError, TdsType};
use tieout_testkit::tds::canned::Canned;
use tieout_testkit::tds::{FaultPlan, TdsOptions, TdsServer};
use tokio::time::timeout;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// `numbers` gives `count` rows; `one` gives one.
fn start(count: i64, faults: FaultPlan) -> TdsServer {
    let numbers = move |count: i64| {
        move |_: &[_]| {
            let columns =
                vec![ColumnInfo { name: "n".into(), kind: TdsType::BigInt, nullable: false, collation: None }];
            let rows = Box::new((0..count).map(|n| Ok(vec![Cell::Int(n)])));
            Ok(vec![Reply::Rows(ResultSet { columns, rows })])
        }
    };
    let backend = Canned::new().answer("numbers", numbers(count)).answer("one", numbers(1));
    TdsServer::start(backend, TdsOptions { faults, ..TdsOptions::default() }).unwrap()
}

/// Reads `numbers` until its end or its error.
async fn count(client: &mut Tiberius) -> (u64, Option<tiberius::error::Error>) {
    let mut count = 0;
    let mut stream = match client.simple_query("numbers").await {
        Ok(stream) => stream.into_row_stream(),
        Err(error) => return (0, Some(error)),
    };
    loop {
        match timeout(PATIENCE, stream.try_next()).await.unwrap() {
            Ok(Some(_)) => count += 1,
            Ok(None) => return (count, None),
            Err(error) => return (count, Some(error)),
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_is_an_error() {
    let error = SqlError { number: 3960, state: 1, class: 16, message: "Snapshot.".into(), line: 1 };
    for after in [0, 1, 5000] {
        let server =
            start(10_000, FaultPlan { error_after_rows: Some((after, error.clone())), ..FaultPlan::default() });
        let mut client = connect(&server).await;
        let (read, found) = count(&mut client).await;
        assert_eq!(found.unwrap().code(), Some(3960), "after {after} rows");
        assert_eq!(read, after);
        server.set_faults(FaultPlan::default());
        assert_eq!(rows(&mut client, "one").await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_cut_in_the_middle_is_an_error() {
    for after in [0, 1, 9999] {
        let server = start(10_000, FaultPlan { cut_after_rows: Some(after), ..FaultPlan::default() });
        let (read, found) = count(&mut connect(&server).await).await;
        assert!(found.is_some(), "cut after {after} rows, {read} read");
        assert!(read <= after);
    }
    for bytes in [0, 1, 7, 8, 9, 20, 4095, 4096, 4097, 90_000] {
        let server = start(10_000, FaultPlan { cut_after_bytes: Some(bytes), ..FaultPlan::default() });
        let (read, found) = count(&mut connect(&server).await).await;
        assert!(found.is_some(), "cut after {bytes} bytes, {read} rows read");
    }
}

#[tokio::test]
async fn a_fault_is_for_some_queries_and_some_times() {
    let server = start(
        10,
        FaultPlan { only: Some("numbers".into()), times: Some(1), cut_after_rows: Some(5), ..FaultPlan::default() },
    );
    assert_eq!(rows(&mut connect(&server).await, "one").await.unwrap().len(), 1);
    assert!(count(&mut connect(&server).await).await.1.is_some());
    let (read, found) = count(&mut connect(&server).await).await;
    assert_eq!(read, 10);
    assert!(found.is_none());
}

#[tokio::test]
async fn an_attention_stops_a_result_and_keeps_the_connection() {
    let server = start(i64::MAX, FaultPlan::default());
    let mut client = connect(&server).await;
    {
        let mut stream = client.simple_query("numbers").await.unwrap().into_row_stream();
        stream.try_next().await.unwrap().unwrap();
    }
    timeout(PATIENCE, client.cancel_query()).await.unwrap().unwrap();
    assert_eq!(server.attentions(), 1);
    let made = server.rows();
    assert_eq!(rows(&mut client, "one").await.unwrap().len(), 1);
    assert_eq!(server.rows(), made + 1);
}

#[tokio::test]
async fn an_attention_ends_a_stall() {
    let server = start(10, FaultPlan { stall: Some(2), times: Some(1), ..FaultPlan::default() });
    let mut client = connect(&server).await;
    {
        let mut stream = client.simple_query("numbers").await.unwrap().into_row_stream();
        for _ in 0..2 {
            stream.try_next().await.unwrap().unwrap();
        }
        assert!(timeout(Duration::from_millis(200), stream.try_next()).await.is_err());
    }
    timeout(PATIENCE, client.cancel_query()).await.unwrap().unwrap();
    assert_eq!(server.attentions(), 1);
    assert_eq!(rows(&mut client, "one").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_work() {
    let server = start(i64::MAX, FaultPlan::default());
    let mut client = connect(&server).await;
    {
        let mut stream = client.simple_query("numbers").await.unwrap().into_row_stream();
        stream.try_next().await.unwrap().unwrap();
    }
    drop(client);
    let ended = async {
        while server.open_connections() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, ended).await.unwrap();
    let made = server.rows();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(server.rows(), made);
}
