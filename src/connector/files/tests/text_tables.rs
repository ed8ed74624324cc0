//! CSV and JSON lines through the connector.

use super::harness::*;
use crate::{
    connector::FrozenTable,
    model::{CanonicalType, ErrorKind, KeyRange, LogicalType, ReadOrder, Value},
};
use std::io::Write;

fn logical(table: &dyn FrozenTable, name: &str) -> LogicalType {
    table.schema().column(name).unwrap().logical.clone()
}

#[test]
fn csv_tells_null_from_empty_and_drops_the_byte_order_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "\u{FEFF}id,v,w\n1,,x\n2,\"\",x\n3,NULL,x\n4,\"a\"\"b\",x\n").unwrap();
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let projection = projection(&*table, &["id"], &[("id", CanonicalType::Number)]);
        let values: Vec<Value> =
            rows(&*table, &projection).await.unwrap().into_iter().map(|row| row[1].clone()).collect();
        assert_eq!(values, vec![Value::Null, text(""), text("NULL"), text("a\"b")]);
        assert_eq!(table.order(&projection).await.unwrap().best, ReadOrder::ServerOnce);
        assert_eq!(keys(&*table, &projection, KeyRange::all()).await.unwrap().len(), 4);
    });
}

#[test]
fn order_is_that_of_the_key_type() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "id\n9\n10\n100\n").unwrap();
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let numbers = projection(&*table, &["id"], &[("id", CanonicalType::Number)]);
        assert_eq!(table.order(&numbers).await.unwrap().best, ReadOrder::ServerOnce);
        let texts = projection(&*table, &["id"], &[]);
        assert_eq!(table.order(&texts).await.unwrap().best, ReadOrder::Local);
    });
}

#[test]
fn ranges_of_text_files_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.gz");
    let mut file = flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
    writeln!(file, "id,v").unwrap();
    for id in 0..2000 {
        writeln!(file, "{id},row number {id}").unwrap();
    }
    file.finish().unwrap();
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let projection = projection(&*table, &["id"], &[("id", CanonicalType::Number)]);
        let bound = |value| crate::encode::encode_key(&[CanonicalType::Number], &[whole(value)]).unwrap();
        let range = KeyRange { lower: Some(bound(700)), upper: Some(bound(1300)) };
        let found = keys(&*table, &projection, range).await.unwrap();
        assert_eq!(found, (700..1300).map(|value| vec![whole(value)]).collect::<Vec<_>>());
    });
}

#[test]
fn ragged_records_and_bad_headers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    run(async {
        std::fs::write(&path, "a,b\n1,2\n3\n").unwrap();
        let table = freeze(path.display().to_string()).await.unwrap();
        let error = rows(&*table, &projection(&*table, &[], &[])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.to_string().contains("record 3: expected 2 fields, found 1"), "{error}");
        std::fs::write(&path, "a,a\n1,2\n").unwrap();
        assert_eq!(freeze(path.display().to_string()).await.err().unwrap().kind(), ErrorKind::Schema);
        std::fs::write(&path, b"a\n\xFF\n").unwrap();
        let table = freeze(path.display().to_string()).await.unwrap();
        let error = rows(&*table, &projection(&*table, &[], &[])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value);
    });
}

#[test]
fn json_lines_keep_kinds_and_digits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(
        &path,
        "{\"id\":123456789012345678901234567890,\"f\":1.50,\"s\":\"a\\u00e9\",\"b\":true,\"d\":{\"x\":[1]}}\n\
         {\"s\":\"\",\"id\":2,\"n\":null,\"f\":2,\"b\":null}\n",
    )
    .unwrap();
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        assert_eq!(logical(&*table, "id"), LogicalType::Decimal { declared: None });
        assert_eq!(logical(&*table, "f"), LogicalType::Untyped);
        assert_eq!(logical(&*table, "s"), LogicalType::Untyped);
        assert_eq!(logical(&*table, "b"), LogicalType::Boolean);
        assert_eq!(logical(&*table, "d"), LogicalType::Json);
        assert_eq!(logical(&*table, "n"), LogicalType::Null);
        let wanted = projection(&*table, &[], &[("f", CanonicalType::Number)]);
        let all = rows(&*table, &wanted).await.unwrap();
        assert_eq!(all[0][0], digits(false, 15, &[12, 34, 56, 78, 90, 12, 34, 56, 78, 90, 12, 34, 56, 78, 90]));
        assert_eq!(all[0][1], digits(false, 1, &[1, 50]));
        assert_eq!(all[0][2], text("a\u{e9}"));
        assert_eq!(all[0][3], Value::Bool(true));
        assert_eq!(all[1][2..], [text(""), Value::Null, Value::Null, Value::Null]);
    });
}

#[test]
fn a_json_string_is_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "{\"v\":\"12\"}\n").unwrap();
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let numbers = projection(&*table, &[], &[("v", CanonicalType::Number)]);
        let error = rows(&*table, &numbers).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.to_string().contains("column v"), "{error}");
    });
}

#[test]
fn a_json_number_in_a_text_column_names_the_cast() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "{\"v\":0.5}\n").unwrap();
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let error = rows(&*table, &projection(&*table, &[], &[])).await.unwrap_err();
        assert!(error.hint_text().unwrap().contains("--cast v=number"), "{error}");
    });
}

#[test]
fn lines_that_are_no_object_are_refused_without_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    run(async {
        for line in ["[1,\"secret\"]", "{\"a\":1} {\"a\":\"secret\"}", "{\"a\":01}", "{\"a\":\"secret"] {
            std::fs::write(&path, format!("{{\"a\":1}}\n\n{line}\n")).unwrap();
            let error = freeze(path.display().to_string()).await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Value, "{line}");
            assert!(error.to_string().contains("line 3") && !error.to_string().contains("secret"), "{error}");
        }
    });
}

#[test]
fn a_truncated_archive_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.zst");
    let text: String = std::iter::once("id\n".to_owned()).chain((0..5000).map(|id| format!("{id}\n"))).collect();
    let whole = zstd::encode_all(text.as_bytes(), 1).unwrap();
    run(async {
        std::fs::write(&path, &whole).unwrap();
        let table = freeze(path.display().to_string()).await.unwrap();
        assert_eq!(rows(&*table, &projection(&*table, &[], &[])).await.unwrap().len(), 5000);
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let error = match freeze(path.display().to_string()).await {
            Ok(table) => rows(&*table, &projection(&*table, &[], &[])).await.unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.kind(), ErrorKind::Read);
    });
}
