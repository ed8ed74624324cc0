//! The parts of the contract. Each store's file lists those that hold of it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    bounds,
    store::{Database, Opened, Record, Server, Store, Wanted},
};
use futures::StreamExt;
use std::time::{Duration, Instant};
use tieout::{
    connector::Read,
    model::{KeyRange, NameCase, ReadOrder, Value},
};
use tieout_testkit::contract::{Cell, Column, KINDS, Kind, Table, every_kind, keyed};

/// How soon a server must have been told that a read is given up.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(10);

/// Makes tests of the parts that a store passes.
macro_rules! contract {
    ($store:ty: $($part:ident),* $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $part() {
            let store = <$store as $crate::store::Store>::start().await;
            $crate::contract::$part(&store).await;
        })*
    };
}
pub(crate) use contract;

/// Makes `table` of what the store holds, and opens it.
async fn made<S: Store>(store: &S, table: Table) -> (Table, Opened) {
    let mut table = table.only(|kind, cell| store.holds(kind, cell));
    let (columns, key, unique) = (&table.columns, table.key, table.unique);
    let sorts = |(cell, column): (&Cell, &Column)| *cell == Cell::Null || store.sorts(unique, column.kind, cell);
    table.rows.retain(|row| row.iter().zip(columns).take(key).all(sorts));
    let locator = store.create(&table).await;
    let opened = Wanted::new(store, &table, locator).open().await;
    (table, opened)
}

/// Asserts columns, key, order and rows; returns the records.
async fn check<S: Store>(store: &S, table: &Table, opened: &Opened, label: &str) -> Vec<Record> {
    let schema = opened.table.schema();
    let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    let expected: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, expected, "{label}: columns");
    for (found, column) in schema.columns.iter().zip(&table.columns) {
        assert!(found.nullable || !column.nullable, "{label}: {} may be NULL", column.name);
        assert!(!store.has_constraints() || found.nullable == column.nullable, "{label}: {} has no NULL", column.name);
        assert!(!found.hidden, "{label}: {} takes part", column.name);
        assert!(!found.native.is_empty(), "{label}: {} has a type", column.name);
    }
    if store.has_constraints() && table.unique && table.key > 0 {
        let keys: Vec<&[String]> = schema.keys.iter().map(|key| key.columns.as_slice()).collect();
        assert!(keys.contains(&table.key_names().as_slice()), "{label}: keys {keys:?}");
    } else {
        assert!(schema.keys.is_empty(), "{label}: no key is promised: {:?}", schema.keys);
    }
    let order = opened.table.order(&opened.projection).await.unwrap();
    assert_eq!(order.best, store.order(table), "{label}: {}", order.reason);
    let records = opened.read_all().await;
    let found: Vec<_> = records.iter().map(|record| opened.values(record)).collect();
    let expected = opened.expected(table);
    if table.key == 0 {
        // In the order of bytes that are not those of keys.
        let sorted = |rows: &[Vec<Value>]| {
            let mut texts: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
            texts.sort();
            texts
        };
        assert_eq!(sorted(&found), sorted(&expected), "{label}");
        return records;
    }
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "{label}: row {at}");
    }
    assert_eq!(found.len(), expected.len(), "{label}: rows");
    records
}

/// Every type with its extremes: names, order, NULL and values are exact.
pub(crate) async fn columns<S: Store>(store: &S) {
    let (table, opened) = made(store, every_kind("every", &KINDS, 200, 1)).await;
    check(store, &table, &opened, "every kind").await;
}

/// Keys of one part, unique, and with NULLs and repeats: the ranges of any bounds tile the table.
pub(crate) async fn single_keys<S: Store>(store: &S) {
    for (at, kind) in KINDS.into_iter().enumerate().filter(|(_, kind)| *kind != Kind::Boolean) {
        for unique in [true, false] {
            let label = format!("key {kind:?}, {}", if unique { "unique" } else { "repeated" });
            let made = made(store, keyed(&format!("t{at}{unique}"), &[kind], unique, 60, 3)).await;
            check_keys(store, made, &label).await;
        }
    }
}

/// Keys of several parts of mixed types, with NULLs in every part.
pub(crate) async fn composite_keys<S: Store>(store: &S) {
    let keys: [&[Kind]; 7] = [
        &[Kind::Boolean, Kind::Integer(32)],
        &[Kind::Integer(32), Kind::Text],
        &[Kind::Text, Kind::Decimal(12, 2), Kind::Boolean],
        &[Kind::Uuid, Kind::Date],
        &[Kind::Char(12), Kind::Binary],
        &[Kind::Timestamp, Kind::Double, Kind::Integer(16)],
        &[Kind::Instant, Kind::Time],
    ];
    for (at, kinds) in keys.into_iter().enumerate() {
        for unique in [true, false] {
            let label = format!("key {kinds:?}, {}", if unique { "unique" } else { "repeated" });
            let made = made(store, keyed(&format!("c{at}{unique}"), kinds, unique, 90, 4)).await;
            check_keys(store, made, &label).await;
        }
    }
}

async fn check_keys<S: Store>(store: &S, made: (Table, Opened), label: &str) {
    let (table, opened) = made;
    let records = check(store, &table, &opened, label).await;
    if store.order(&table) == ReadOrder::ServerRanges {
        bounds::check(&opened, &records, label).await;
    }
}

/// Without a key, rows are read in any order, all of them, equal ones too.
pub(crate) async fn no_key<S: Store>(store: &S) {
    let mut table = keyed("bag", &[Kind::Integer(32), Kind::Text], false, 50, 5);
    table.key = 0;
    let twice: Vec<Vec<Cell>> = table.rows.iter().take(7).cloned().collect();
    table.rows.extend(twice);
    let (table, opened) = made(store, table).await;
    check(store, &table, &opened, "no key").await;
}

/// Tables without rows: they have columns where the store keeps any, and every range is empty.
pub(crate) async fn empty_tables<S: Store>(store: &S) {
    for unique in [true, false] {
        let mut table = keyed(&format!("empty{unique}"), &[Kind::Integer(32), Kind::Text], unique, 1, 6);
        table.rows.clear();
        let made = made(store, table).await;
        check_keys(store, made, "no rows").await;
    }
}

/// Names that are quoted, reserved, or look like something else.
pub(crate) async fn names<S: Store>(store: &S) {
    let names = [
        "select",
        "order",
        "a b",
        "A\"b",
        "it's",
        "back`tick",
        "semi;colon",
        "x.y",
        "\u{e9}\u{6771}",
        "[k]",
        "%s",
        "null",
    ];
    let mut table = keyed("order \"x\".`y' [z] \u{e9}", &[Kind::Integer(32), Kind::Text], true, 30, 7);
    let rest = names.iter().map(|name| Column { name: (*name).to_owned(), kind: Kind::Integer(16), nullable: true });
    table.columns[0].name = "group".into();
    table.columns[1].name = "key \"of\" `it'".into();
    table.columns.extend(rest);
    for row in &mut table.rows {
        row.extend((0_i64..).take(names.len()).map(Cell::Int));
    }
    let (table, opened) = made(store, table).await;
    check_keys(store, (table, opened), "names").await;
    // Names that differ in case alone are two where the store says so.
    let mut cased = keyed("Cased", &[Kind::Integer(32)], true, 20, 8);
    let column = |name: &str| Column { name: name.to_owned(), kind: Kind::Integer(32), nullable: true };
    cased.columns.extend([column("Value"), column("MiXed")]);
    for row in &mut cased.rows {
        row.extend([Cell::Int(1), Cell::Null]);
    }
    let (_, opened) = made(store, cased.clone()).await;
    check(store, &cased, &opened, "names in mixed case").await;
    if opened.table.schema().name_case == NameCase::Sensitive {
        cased.name = "CASED".into();
        cased.columns.push(column("value"));
        for row in &mut cased.rows {
            row.push(Cell::Int(2));
        }
        let made = made(store, cased).await;
        check_keys(store, made, "names that differ in case").await;
    }
}

/// A view is read as a table is, without the promises of one.
pub(crate) async fn views<S: Database>(store: &S) {
    let (table, opened) = made(store, every_kind("base", &KINDS, 50, 9)).await;
    let expected = check(store, &table, &opened, "base table").await;
    let view = format!("CREATE VIEW seen AS SELECT * FROM {}", store.quote("base"));
    store.sql(&[&view]).await;
    let opened = Wanted::new(store, &table, store.locator("seen")).open().await;
    let names = |opened: &Opened| -> Vec<String> {
        opened.table.schema().columns.iter().map(|column| column.name.clone()).collect()
    };
    assert_eq!(names(&opened), table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>());
    assert!(opened.table.schema().keys.is_empty(), "a view promises no key");
    assert_eq!(opened.read_all().await, expected);
    // A view that lacks rows.
    let part = format!("CREATE VIEW part AS SELECT * FROM {} WHERE id < 10", store.quote("base"));
    store.sql(&[&part]).await;
    let opened = Wanted::new(store, &table, store.locator("part")).open().await;
    assert_eq!(opened.read_all().await, expected[..opened.read_all().await.len()]);
    assert_eq!(
        opened.read_all().await.len(),
        table.rows.iter().filter(|row| matches!(row[0], Cell::Int(..10))).count()
    );
}

/// A table `t` of `rows` rows with the key `id`, and a column `v`.
fn numbered(rows: i64) -> Table {
    let mut table = keyed("t", &[Kind::Integer(32)], true, 1, 1);
    table.columns[0].name = "id".into();
    table.rows = (1..=rows).map(|id| vec![Cell::Int(id), Cell::Int(id % 1000)]).collect();
    table
}

/// Whatever is written after the freeze, before and during the reads, every read sees the rows of one moment.
pub(crate) async fn frozen_while_written<S: Database>(store: &S) {
    let table = numbered(1000);
    let wanted = Wanted::new(store, &table, store.create(&table).await);
    let before = wanted.open().await.read_all().await;
    assert_eq!(before.len(), 1000);
    let frozen = wanted.open().await;
    let insert: Vec<String> = (1001..1100).map(|id| format!("({id}, 0)")).collect();
    let insert = format!("INSERT INTO t VALUES {}", insert.join(", "));
    store
        .sql(&["DELETE FROM t WHERE id <= 500", &insert, "UPDATE t SET id = id + 100000 WHERE id BETWEEN 600 AND 700"])
        .await;
    store.sql(&["UPDATE t SET v = 9999 WHERE id = 900"]).await;
    assert_eq!(frozen.read_all().await, before);
    // Two reads at once, of adjacent ranges, while a third of all goes on, with a writer beside them.
    let cut = before[400].0.clone();
    let writes = async {
        for id in 701..720 {
            store
                .sql(&[&format!("DELETE FROM t WHERE id = {id}"), &format!("UPDATE t SET v = {id} WHERE id = 800")])
                .await;
        }
    };
    let (low, high, all, ()) = tokio::join!(
        frozen.read(KeyRange { lower: None, upper: Some(cut.clone()) }),
        frozen.read(KeyRange { lower: Some(cut.clone()), upper: None }),
        frozen.read(KeyRange::all()),
        writes,
    );
    assert_eq!((low.len(), high.len()), (400, 600));
    assert_eq!([low, high].concat(), before);
    assert_eq!(all, before);
    // A read that was begun before a write and goes on after it.
    let read = Read { range: KeyRange::all(), ascending: true, batch_bytes_max: 1 << 10 };
    let mut stream = frozen.table.stream(&frozen.projection, &read);
    let mut rows = stream.next().await.unwrap().unwrap().rows();
    store.sql(&["DELETE FROM t"]).await;
    while let Some(batch) = stream.next().await {
        rows += batch.unwrap().rows();
    }
    assert_eq!(rows, 1000);
    assert_eq!(frozen.read_all().await, before);
    drop((stream, frozen));
    assert_eq!(wanted.open().await.read_all().await, []);
}

/// Opens a table of 20 000 rows whose reads fall asleep after 15 000.
async fn slow<S: Server>(store: &S) -> Opened {
    let table = numbered(20_000);
    let mut wanted = Wanted::new(store, &table, store.create(&table).await);
    wanted.filter = Some(store.slow().to_owned());
    wanted.open().await
}

async fn await_running<S: Server>(store: &S, wanted: impl Fn(u64) -> bool) {
    let started = Instant::now();
    loop {
        let running = store.running().await;
        if wanted(running) {
            return;
        }
        assert!(started.elapsed() < GIVEN_UP_WITHIN, "{running} statements still run");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A read that is dropped ends on the server, which would otherwise work for another minute.
pub(crate) async fn cancelled<S: Server>(store: &S) {
    let frozen = slow(store).await;
    for ascending in [true, false] {
        let read = Read { range: KeyRange::all(), ascending, batch_bytes_max: 1 << 10 };
        let mut stream = frozen.table.stream(&frozen.projection, &read);
        let first = tokio::time::timeout(GIVEN_UP_WITHIN, stream.next()).await;
        assert!(first.unwrap().unwrap().unwrap().rows() > 0, "rows arrive before the scan is over");
        await_running(store, |running| running > 0).await;
        drop(stream);
        await_running(store, |running| running == 0).await;
    }
    // And one that has not given anything yet.
    let read = Read { range: KeyRange::all(), ascending: true, batch_bytes_max: 1 << 20 };
    let mut stream = frozen.table.stream(&frozen.projection, &read);
    let nothing =
        tokio::time::timeout(Duration::from_millis(300), async { while stream.next().await.is_some() {} }).await;
    assert!(nothing.is_err(), "the read sleeps");
    drop(stream);
    await_running(store, |running| running == 0).await;
}

/// A connection that breaks in the middle of a read is an error, not an end.
pub(crate) async fn cut_streams<S: Server>(store: &S) {
    let frozen = slow(store).await;
    let read = Read { range: KeyRange::all(), ascending: true, batch_bytes_max: 1 << 10 };
    let mut stream = frozen.table.stream(&frozen.projection, &read);
    let mut rows = stream.next().await.unwrap().unwrap().rows();
    await_running(store, |running| running > 0).await;
    store.cut().await;
    let mut failure = None;
    while let Some(batch) = tokio::time::timeout(GIVEN_UP_WITHIN, stream.next()).await.unwrap() {
        match batch {
            Ok(batch) => rows += batch.rows(),
            Err(error) => failure = Some(error),
        }
    }
    let failure = failure.unwrap_or_else(|| panic!("{rows} rows and no error"));
    assert!(rows < 20_000, "{rows} rows, {failure}");
}

/// Defaults of the server that change what it sends change no byte of ours; text that is made of values neither.
pub(crate) async fn settings_pinned<S: Server>(store: &S) {
    let (table, opened) = made(store, every_kind("every", &KINDS, 90, 10)).await;
    let before = check(store, &table, &opened, "as it was").await;
    let plain = Wanted::new(store, &table, store.locator("every"));
    let casts = table.columns.iter().skip(1).map(|column| (column.name.clone(), "text".to_owned()));
    let as_text = Wanted { casts: casts.collect(), ..plain.clone() };
    let text_before = as_text.open().await.read_all().await;
    assert_eq!(text_before.len(), before.len());
    drop(opened);
    store.unsettle().await;
    assert_eq!(check(store, &table, &plain.open().await, "unsettled").await, before);
    assert_eq!(as_text.open().await.read_all().await, text_before);
}
