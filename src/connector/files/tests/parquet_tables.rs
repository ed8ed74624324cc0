//! Parquet tables: order, ranges, pruning, several files, objects, changed files.

use super::{
    super::{FilesConnector, locate, parquet::freeze_with},
    harness::*,
};
use crate::{
    connector::{Connector, FrozenTable},
    model::{
        CanonicalType, DateValue, ErrorKind, Exactness, KeyRange, LogicalType, PlannedRanges, ReadOrder,
        TimestampValue, Value,
    },
};
use arrow_array::{
    ArrayRef, Date32Array, DictionaryArray, DurationSecondArray, Float32Array, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, types::Int32Type,
};
use object_store::{ObjectStoreExt, memory::InMemory, path::Path as ObjectPath};
use std::sync::Arc;

fn ints(values: impl IntoIterator<Item = i64>) -> Arc<Int64Array> {
    Arc::new(Int64Array::from_iter_values(values))
}

fn labels(values: impl IntoIterator<Item = i64>) -> Arc<StringArray> {
    Arc::new(StringArray::from_iter_values(values.into_iter().map(|value| format!("value {value}"))))
}

#[test]
fn ranges_tile_a_table_in_order_and_prune_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    // Every key occurs twice, so that cuts fall between equal keys too.
    write(&folder.path().join("a.parquet"), vec![("k", ints((0..500).map(|k| k / 2))), ("v", labels(0..500))], 100);
    write(
        &folder.path().join("b.parquet"),
        vec![("k", ints((500..1000).map(|k| k / 2))), ("v", labels(500..1000))],
        100,
    );
    run(async {
        let locator = folder.path().display().to_string();
        let set =
            tokio::task::spawn_blocking(move || locate::locate(&locator, None, &tokio::runtime::Handle::current()));
        let table = freeze_with(set.await.unwrap().unwrap(), 16).unwrap();
        let projection = projection(&table, &["k"], &[]);
        let support = table.order(&projection).await.unwrap();
        assert_eq!(support.best, ReadOrder::ServerRanges, "{}", support.reason);
        let whole_table = encoded(&table, &projection, KeyRange::all(), true).await.unwrap();
        assert_eq!(whole_table.len(), 1000);
        for parts in [1, 2, 7, 40] {
            let cuts = table.splits(&projection, parts).await.unwrap();
            assert!(cuts.len() < parts && cuts.len() + 1 >= parts.min(30), "{} cuts of {parts}", cuts.len());
            let mut together = Vec::new();
            for range in PlannedRanges::from_cuts(cuts).as_slice() {
                let part = encoded(&table, &projection, range.clone(), true).await.unwrap();
                assert!((0..part.len()).all(|row| range.contains(part.record(row).key)));
                together.extend_from_slice(part.slice(0, part.len()));
            }
            assert_eq!(together, whole_table.slice(0, 1000));
        }
        let cuts = table.splits(&projection, 40).await.unwrap();
        let narrow = KeyRange { lower: Some(cuts[3].clone()), upper: Some(cuts[4].clone()) };
        let before = table.row_groups_opened();
        let part = encoded(&table, &projection, narrow, true).await.unwrap();
        assert!(!part.is_empty() && part.len() < 60, "{}", part.len());
        assert!(
            table.row_groups_opened() - before <= 5,
            "of ten row groups, at most two hold the range and its bounds"
        );
    });
}

#[test]
fn disorder_is_named_with_both_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, vec![("k", ints([1, 2, 9, 4]))], 100);
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let projection = projection(&*table, &["k"], &[]);
        let support = table.order(&projection).await.unwrap();
        assert_eq!((support.best, support.can_order), (ReadOrder::Local, true));
        let error = keys(&*table, &projection, KeyRange::all()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Order);
        assert!(error.to_string().contains("found 4 after 9"), "{error}");
        assert_eq!(rows(&*table, &projection).await.unwrap().len(), 4);
    });
}

#[test]
fn a_table_without_order_is_cut_by_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, vec![("k", ints((0..5000).map(|k| k * 7919 % 5000)))], 1000);
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let projection = projection(&*table, &["k"], &[]);
        let cuts = table.splits(&projection, 4).await.unwrap();
        let types = [CanonicalType::Number];
        let texts: Vec<_> = cuts.iter().map(|cut| crate::encode::decode_key(&types, cut).unwrap()).collect();
        assert_eq!(cuts.len(), 3, "{texts:?}");
        assert!(cuts.is_sorted());
        assert_eq!(cuts, table.splits(&projection, 4).await.unwrap());
    });
}

#[test]
fn files_of_one_table_must_agree() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a.parquet"), vec![("k", ints([1]))], 100);
    write(&folder.path().join("b.parquet"), vec![("k", Arc::new(Int32Array::from(vec![2])))], 100);
    run(async {
        let error = freeze(folder.path().display().to_string()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        let text = error.to_string();
        assert!(text.contains("a.parquet") && text.contains("b.parquet") && text.contains("column k"), "{text}");
    });
}

#[test]
fn columns_of_several_files_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a.parquet"), vec![("k", ints([1])), ("v", labels([1]))], 100);
    write(&folder.path().join("b.parquet"), vec![("v", labels([2])), ("k", ints([2]))], 100);
    std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    run(async {
        let table = freeze(folder.path().join("*.parquet").display().to_string()).await.unwrap();
        let projection = projection(&*table, &["k"], &[]);
        let expected = vec![vec![whole(1), text("value 1")], vec![whole(2), text("value 2")]];
        assert_eq!(rows(&*table, &projection).await.unwrap(), expected);
    });
}

#[test]
fn a_file_that_changes_is_a_lost_position() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, vec![("k", ints([1, 2]))], 100);
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let projection = projection(&*table, &["k"], &[]);
        write(&path, vec![("k", ints([1, 3]))], 100);
        let error = rows(&*table, &projection).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PositionLost);
    });
}

#[test]
fn an_empty_range_of_a_changed_file_is_a_lost_position() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, csv) = (folder.path().join("a.parquet"), folder.path().join("a.csv"));
    let bound = |value| crate::encode::encode_key(&[CanonicalType::Number], &[whole(value)]).unwrap();
    run(async {
        for path in [&parquet, &csv] {
            for (lower, upper) in [(Some(2), Some(3)), (None, Some(1)), (Some(9), None)] {
                write(&parquet, vec![("k", ints([1, 5, 6]))], 100);
                std::fs::write(&csv, "k\n1\n5\n6\n").unwrap();
                let table = freeze(path.display().to_string()).await.unwrap();
                let projection = projection(&*table, &["k"], &[("k", CanonicalType::Number)]);
                let range = KeyRange { lower: lower.map(bound), upper: upper.map(bound) };
                assert!(keys(&*table, &projection, range.clone()).await.unwrap().is_empty());
                let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
                std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
                let error = keys(&*table, &projection, range).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::PositionLost, "{lower:?} {upper:?} {}", path.display());
            }
        }
    });
}

#[test]
fn an_empty_file_that_changes_is_a_lost_position() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a.parquet"), vec![("k", ints([1]))], 100);
    write(&folder.path().join("b.parquet"), vec![("k", ints([]))], 100);
    run(async {
        let table = freeze(folder.path().display().to_string()).await.unwrap();
        let projection = projection(&*table, &["k"], &[]);
        write(&folder.path().join("b.parquet"), vec![("k", ints([2]))], 100);
        let error = rows(&*table, &projection).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PositionLost);
    });
}

#[test]
fn a_web_file_without_tag_and_time_has_no_known_position() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let (mut connection, mut request) = (connection.unwrap(), [0; 4096]);
            let count = connection.read(&mut request).unwrap();
            let head = request[..count].starts_with(b"HEAD");
            let tagged = request[..count].windows(7).any(|part| part == b"/tagged");
            let tag = if tagged { "ETag: \"x\"\r\n" } else { "" };
            let answer = if head {
                format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n{tag}Connection: close\r\n\r\n")
            } else {
                format!(
                    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/4\r\nContent-Length: 4\r\n{tag}Connection: close\r\n\r\nk\n1\n"
                )
            };
            connection.write_all(answer.as_bytes()).unwrap();
        }
    });
    run(async {
        let table = freeze(format!("http://{address}/blind.csv")).await.unwrap();
        assert_eq!(table.position().exactness, Exactness::Unknown, "{}", table.position());
        assert!(table.position().obtained.contains("ETag"));
        let table = freeze(format!("http://{address}/tagged.csv")).await.unwrap();
        assert_eq!(table.position().exactness, Exactness::Bracketed, "{}", table.position());
    });
}

#[test]
fn narrow_columns_count_little_in_the_memory_of_a_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let wide = StringArray::from_iter_values((0..300).map(|row| format!("{row:09999}")));
    write(&path, vec![("k", ints(0..300)), ("v", Arc::new(wide))], 1000);
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let all = projection(&*table, &["k"], &[]);
        let keys = Arc::new(crate::model::Projection { row: Vec::new(), ..(*all).clone() });
        let index = 8 << 20;
        let (narrow, both) = (table.read_bytes_max(&keys) - index, table.read_bytes_max(&all) - index);
        // 300 values of 8 bytes, plain and in the dictionary, are far from the 3 MB of text: a page and the dictionary.
        assert!((2400..20_000).contains(&narrow), "{narrow}");
        assert!((1 << 20..4 << 20).contains(&both), "{both}");
    });
}

#[test]
fn nothing_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().display().to_string();
    run(async {
        for locator in [format!("{base}/none.parquet"), format!("{base}/*.parquet"), base.clone()] {
            let error = freeze(&locator).await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Schema, "{locator}");
            assert!(error.to_string().contains(&base), "{error}");
        }
        std::fs::write(folder.path().join("a.csv"), "k\n1\n").unwrap();
        std::fs::write(folder.path().join("b.jsonl"), "{\"k\":1}\n").unwrap();
        let error = freeze(&base).await.err().unwrap();
        assert!(error.to_string().contains("one format"), "{error}");
    });
}

#[test]
fn objects_are_read_like_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, vec![("k", ints(0..300)), ("v", labels(0..300))], 100);
    let bytes = std::fs::read(&path).unwrap();
    run(async {
        let store = Arc::new(InMemory::new());
        store.put(&ObjectPath::from("t/a.parquet"), bytes.into()).await.unwrap();
        let connector = FilesConnector::with_store(store);
        for locator in ["memory://t/a.parquet", "memory://t", "memory://t/*.parquet"] {
            let table = connector.freeze(&request(locator), 1).await.unwrap();
            let projection = projection(&*table, &["k"], &[]);
            let all = rows(&*table, &projection).await.unwrap();
            assert_eq!(all.len(), 300);
            assert_eq!(all[299], vec![whole(299), text("value 299")]);
            assert_eq!(keys(&*table, &projection, KeyRange::all()).await.unwrap().len(), 300);
        }
    });
}

#[test]
fn arrow_columns_survive_the_way_through_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let labels: DictionaryArray<Int32Type> = [Some("x"), None].into_iter().collect();
    let moments = TimestampMicrosecondArray::from(vec![Some(-1), None]).with_timezone("Europe/Berlin");
    let local = TimestampNanosecondArray::from(vec![Some(1_000_000_001), None]);
    let floats = Float32Array::from(vec![Some(0.1), None]);
    let durations = DurationSecondArray::from(vec![Some(1), None]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("label", Arc::new(labels)),
        ("moment", Arc::new(moments)),
        ("local", Arc::new(local)),
        ("float", Arc::new(floats)),
        ("day", Arc::new(Date32Array::from(vec![Some(-1), None]))),
    ];
    write(&path, columns, 100);
    let refused = folder.path().join("b.parquet");
    write(&refused, vec![("d", Arc::new(durations))], 100);
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let all = rows(&*table, &projection(&*table, &[], &[])).await.unwrap();
        let expected = vec![
            text("x"),
            Value::Instant(TimestampValue::Finite(-1, 999_999_000)),
            Value::Timestamp(TimestampValue::Finite(1, 1)),
            Value::Float(0.100_000_001_490_116_12),
            Value::Date(DateValue::Day(1969, 12, 31)),
        ];
        assert_eq!(all, vec![expected, vec![Value::Null; 5]]);
        let table = freeze(refused.display().to_string()).await.unwrap();
        assert!(matches!(table.schema().columns[0].logical, LogicalType::Unsupported(_)));
    });
}

#[test]
fn an_empty_file_has_no_rows_and_is_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, vec![("k", ints([]))], 100);
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let projection = projection(&*table, &["k"], &[]);
        assert_eq!(table.order(&projection).await.unwrap().best, ReadOrder::ServerRanges);
        assert!(keys(&*table, &projection, KeyRange::all()).await.unwrap().is_empty());
    });
}
