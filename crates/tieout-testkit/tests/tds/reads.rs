//! Values, whatever the row encoding and wherever packets and chunks are cut.

use crate::client::{connect, rows};
use crate::values::{EVERY_TYPE, FIXED, canned, cases};
use std::time::{Duration, Instant};
use tiberius::{ColumnData, Query};
use tieout_testkit::tds::backend::{Cell, ColumnInfo, Reply, ResultSet, TdsType};
use tieout_testkit::tds::canned::Canned;
use tieout_testkit::tds::types::Plp;
use tieout_testkit::tds::wire::{LATIN1_BIN2, LATIN1_UTF8_BIN2};
use tieout_testkit::tds::{RowEncoding, TdsOptions, TdsServer};

/// Reads both tables under some options and compares each value.
async fn reads_all(options: TdsOptions) {
    let server = TdsServer::start(canned(), options.clone()).unwrap();
    let mut client = connect(&server).await;
    let cases = cases();
    let read = rows(&mut client, EVERY_TYPE).await.unwrap();
    assert_eq!(read.len(), 4);
    for (index, case) in cases.iter().enumerate() {
        assert_eq!(read[0][index], case.expected[0], "{} under {options:?}", case.name);
        assert_eq!(read[2][index], case.expected[1], "{} under {options:?}", case.name);
        // A NULL has a type of its own in tiberius, which for some depends on the row's encoding.
        let null = &read[1][index];
        let expected = if case.name == "c_smalldatetime" && !matches!(null, ColumnData::DateTime(None)) {
            &ColumnData::SmallDateTime(None)
        } else {
            &case.null
        };
        if !matches!(case.kind, TdsType::SmallMoney) {
            assert_eq!(null, expected, "{} under {options:?}", case.name);
        }
    }
    assert_eq!(read[1].len(), cases.len());
    let fixed = rows(&mut client, FIXED).await.unwrap();
    for (index, case) in cases.iter().enumerate() {
        for (row, read) in fixed.iter().enumerate() {
            // The fixed form of smallmoney is an f32 in tiberius.
            if !matches!(case.kind, TdsType::SmallMoney) {
                assert_eq!(read[index], case.expected[row], "{} under {options:?}", case.name);
            }
        }
    }
    assert_eq!(server.failures(), Vec::<String>::new());
    assert_eq!(server.queries(), [EVERY_TYPE, FIXED]);
}

#[tokio::test]
async fn every_type_in_every_row_encoding() {
    for row_encoding in [RowEncoding::Row, RowEncoding::NbcRow, RowEncoding::Mixed] {
        reads_all(TdsOptions { row_encoding, ..TdsOptions::default() }).await;
    }
}

#[tokio::test]
async fn every_type_wherever_packets_are_cut() {
    for (split, row_encoding) in [(1, RowEncoding::Mixed), (2, RowEncoding::Row), (3, RowEncoding::NbcRow)] {
        reads_all(TdsOptions { split_every: Some(split), row_encoding, ..TdsOptions::default() }).await;
    }
    for split in [5, 7, 11, 13, 64, 127, 509, 1021] {
        reads_all(TdsOptions { split_every: Some(split), row_encoding: RowEncoding::Mixed, ..TdsOptions::default() })
            .await;
    }
}

#[tokio::test]
async fn every_type_wherever_long_values_are_cut() {
    for (chunk, unknown_length) in [(None, true), (Some(1), false), (Some(2), true), (Some(4093), true)] {
        reads_all(TdsOptions { plp: Plp { chunk, unknown_length }, ..TdsOptions::default() }).await;
    }
    // An odd cut divides a UTF-16 unit.
    reads_all(TdsOptions { plp: Plp { chunk: Some(3), unknown_length: true }, ..TdsOptions::default() }).await;
}

#[tokio::test]
async fn every_type_in_packets_of_any_size() {
    for size in [512, 4096, 32_767] {
        reads_all(TdsOptions { packet_size: Some(size), ..TdsOptions::default() }).await;
    }
}

fn column(name: &str, kind: TdsType) -> ColumnInfo {
    ColumnInfo { name: name.into(), kind, nullable: true, collation: None }
}

#[tokio::test]
async fn a_variant_has_the_type_of_its_value() {
    let cells = [Cell::Int(5), Cell::Utf16(vec![0x20AC]), Cell::Bytes(vec![1]), Cell::Null, Cell::Bit(true)];
    let table = cells.iter().map(|cell| vec![cell.clone()]).collect();
    let backend = Canned::new().rows("variants", vec![column("v", TdsType::Variant)], table);
    let server = TdsServer::start(backend, TdsOptions::default()).unwrap();
    let read = rows(&mut connect(&server).await, "variants").await.unwrap();
    let expected = [
        ColumnData::I64(Some(5)),
        ColumnData::String(Some("\u{20ac}".into())),
        ColumnData::Binary(Some([1_u8].as_slice().into())),
        ColumnData::String(None),
        ColumnData::Bit(Some(true)),
    ];
    assert_eq!(read.concat(), expected);
}

#[tokio::test]
async fn a_million_rows_are_made_as_they_are_read() {
    let columns = vec![column("id", TdsType::Int), column("name", TdsType::NVarChar(Some(20)))];
    let backend = Canned::new().answer("million", move |_| {
        let rows = (0..1_000_000_i64).map(|id| {
            let name = format!("name {id}").encode_utf16().collect();
            Ok(vec![Cell::Int(id), Cell::Utf16(name)])
        });
        Ok(vec![Reply::Rows(ResultSet { columns: columns.clone(), rows: Box::new(rows) })])
    });
    let server = TdsServer::start(backend, TdsOptions::default()).unwrap();
    let mut client = connect(&server).await;
    let mut stream = client.simple_query("million").await.unwrap();
    let mut sum = 0_i64;
    let mut count = 0_u64;
    while let Some(item) = futures::TryStreamExt::try_next(&mut stream).await.unwrap() {
        if let tiberius::QueryItem::Row(row) = item {
            sum += i64::from(row.get::<i32, _>(0).unwrap());
            count += 1;
            if count == 1 {
                // Sockets hold some; the rest does not exist yet.
                tokio::time::sleep(Duration::from_millis(200)).await;
                assert!(server.rows() < 500_000, "{} rows were made before they were read", server.rows());
            }
        }
    }
    assert_eq!((count, sum), (1_000_000, 499_999_500_000));
}

#[tokio::test]
async fn parameters_arrive_with_name_type_and_value() {
    let echo = |params: &[tieout_testkit::tds::backend::Param]| {
        let columns = params.iter().map(|p| ColumnInfo {
            name: p.name.clone(),
            kind: p.kind.clone(),
            nullable: true,
            collation: None,
        });
        let row: Vec<Cell> = params.iter().map(|param| param.value.clone()).collect();
        Ok(vec![Reply::Rows(ResultSet { columns: columns.collect(), rows: Box::new(std::iter::once(Ok(row))) })])
    };
    let server = TdsServer::start(Canned::new().answer("echo", echo), TdsOptions::default()).unwrap();
    let mut client = connect(&server).await;
    let long = "\u{1F600}".repeat(5000);
    let mut query = Query::new("echo");
    query.bind(5_i32);
    query.bind(Some(-9_i64));
    query.bind(Option::<i64>::None);
    query.bind("\u{20ac}");
    query.bind(long.clone());
    query.bind(vec![1_u8, 2]);
    query.bind(0.1_f64);
    query.bind(true);
    query.bind(tiberius::numeric::Numeric::new_with_scale(-12_345, 3));
    query.bind(tiberius::Uuid::from_u128(0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF));
    let row = query.query(&mut client).await.unwrap().into_row().await.unwrap().unwrap();
    let names: Vec<String> = row.columns().iter().map(|column| column.name().to_owned()).collect();
    assert_eq!(names[..3], ["@P1", "@P2", "@P3"]);
    let values: Vec<ColumnData<'static>> = row.into_iter().collect();
    assert_eq!(
        values,
        [
            ColumnData::I32(Some(5)),
            ColumnData::I64(Some(-9)),
            ColumnData::I64(None),
            ColumnData::String(Some("\u{20ac}".into())),
            ColumnData::String(Some(long.into())),
            ColumnData::Binary(Some(vec![1_u8, 2].into())),
            ColumnData::F64(Some(0.1)),
            ColumnData::Bit(Some(true)),
            ColumnData::Numeric(Some(tiberius::numeric::Numeric::new_with_scale(-12_345, 3))),
            ColumnData::Guid(Some(tiberius::Uuid::from_u128(0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF))),
        ]
    );
    assert_eq!(server.failures(), Vec::<String>::new());
}

#[tokio::test]
async fn several_results_and_counts_in_one_batch() {
    let one = |value: i64| {
        let rows = Box::new(std::iter::once(Ok(vec![Cell::Int(value)])));
        Reply::Rows(ResultSet { columns: vec![column("n", TdsType::Int)], rows })
    };
    let backend = Canned::new()
        .answer("two", move |_| Ok(vec![one(1), Reply::Done { affected: Some(3) }, one(2)]))
        .answer("count", |_| Ok(vec![Reply::Done { affected: Some(7) }]))
        .answer("nothing", |_| Ok(Vec::new()));
    let server = TdsServer::start(backend, TdsOptions::default()).unwrap();
    let mut client = connect(&server).await;
    let results = client.simple_query("two").await.unwrap().into_results().await.unwrap();
    let values: Vec<i32> = results.iter().flatten().map(|row| row.get(0).unwrap()).collect();
    assert_eq!(values, [1, 2]);
    assert_eq!(client.execute("count", &[]).await.unwrap().total(), 7);
    assert!(client.simple_query("nothing").await.unwrap().into_results().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_lone_surrogate_and_code_pages_are_sent_as_they_are() {
    let utf8 = ColumnInfo { collation: Some(LATIN1_UTF8_BIN2), ..column("t", TdsType::VarChar(Some(10))) };
    let bin2 = ColumnInfo { collation: Some(LATIN1_BIN2), ..column("t", TdsType::VarChar(Some(10))) };
    let euro = vec![vec![Cell::Bytes("\u{20ac}".into())]];
    let backend = Canned::new()
        .rows("lone", vec![column("t", TdsType::NVarChar(Some(4)))], vec![vec![Cell::Utf16(vec![0xD83D])]])
        .rows("utf8", vec![utf8], euro)
        .rows("bin2", vec![bin2], vec![vec![Cell::Bytes(vec![0x80])]]);
    let server = TdsServer::start(backend, TdsOptions::default()).unwrap();
    assert!(rows(&mut connect(&server).await, "lone").await.is_err());
    let mut client = connect(&server).await;
    assert_eq!(rows(&mut client, "bin2").await.unwrap(), [[ColumnData::String(Some("\u{20ac}".into()))]]);
    // tiberius does not know the UTF-8 flag and takes the bytes for code page 1252: the engine has to cast on the server.
    let wrong = "\u{e2}\u{201a}\u{ac}";
    assert_eq!(rows(&mut client, "utf8").await.unwrap(), [[ColumnData::String(Some(wrong.into()))]]);
}

#[tokio::test]
async fn a_row_that_does_not_fit_its_columns_is_an_error() {
    let backend =
        Canned::new().rows("bad", vec![column("n", TdsType::TinyInt)], vec![vec![Cell::Int(1)], vec![Cell::Int(256)]]);
    let server = TdsServer::start(backend, TdsOptions::default()).unwrap();
    let started = Instant::now();
    let error = rows(&mut connect(&server).await, "bad").await.unwrap_err();
    assert!(error.to_string().contains("a row that it cannot send"), "{error}");
    assert_eq!(server.failures().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(20));
}
