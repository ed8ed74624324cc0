//! Tests of the reads: each text is a golden file, which `tests/it/sqlserver.rs` parses as T-SQL.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::{
    relation::{Abilities, ColumnFacts, Index, IndexKey, RowSource},
    sql::tests::golden,
    types::{Size, Wire},
    *,
};
use crate::{
    encode::encode_key,
    model::{
        CanonicalType, Column, Conversion, DateValue, ErrorKind, FieldTarget, KeyRange, NameCase, Projected, ReadOrder,
        Side, TextFold, TimestampValue, Value,
    },
};

/// A column of the tests: name, type, its size, whether NULL may occur, collation.
struct Made(&'static str, &'static str, Size, bool, Option<&'static str>);

const fn size(max_length: i64, precision: u8, scale: u8) -> Size {
    Size { max_length, precision, scale }
}

fn relation(columns: &[Made], filter: Option<&str>) -> Relation {
    let wires: Vec<Wire> = columns.iter().map(|column| Wire::new(column.1, column.2)).collect();
    Relation {
        schema: TableSchema {
            display: "dbo.orders".to_owned(),
            columns: columns
                .iter()
                .zip(&wires)
                .map(|(column, wire)| Column {
                    name: column.0.to_owned(),
                    native: column.1.to_owned(),
                    logical: wire.logical(),
                    nullable: column.3,
                    hidden: false,
                    collation: column.4.map(str::to_owned),
                })
                .collect(),
            keys: Vec::new(),
            name_case: NameCase::Insensitive,
            rows_estimate: Some(1000),
            bytes_estimate: None,
        },
        source: RowSource {
            from: "[dbo].[orders] AS t".to_owned(),
            filter: filter.map(str::to_owned),
            can_sample: true,
        },
        columns: (1..)
            .zip(columns)
            .zip(wires)
            .map(|((id, column), wire)| ColumnFacts {
                wire,
                id,
                code_points: column.4.is_some_and(|name| name.contains("_BIN2")),
                driver_reads: types::driver_reads(column.4),
            })
            .collect(),
        indexes: Vec::new(),
        abilities: Abilities { genuine: true, utf16_bytes: true, utf8: false },
    }
}

fn projected(relation: &Relation, name: &str, canonical: CanonicalType) -> Projected {
    let index = relation.schema.columns.iter().position(|column| column.name == name).unwrap();
    let strip_pad = matches!(&relation.columns[index].wire, Wire::Text(characters) if characters.fixed);
    let target = FieldTarget {
        canonical,
        conversion: Conversion::Direct,
        strip_pad,
        zone: None,
        key_fold: TextFold::default(),
        parse_float_bits: 64,
        dynamic: false,
    };
    Projected {
        name: name.to_owned(),
        index,
        as_text: false,
        nullable: relation.schema.columns[index].nullable,
        target,
    }
}

fn projection(key: Vec<Projected>, row: Vec<Projected>) -> Projection {
    Projection { side: Side::Source, key, row }
}

fn read(lower: Option<Vec<u8>>, upper: Option<Vec<u8>>, ascending: bool) -> Read {
    Read { range: KeyRange { lower, upper }, ascending, batch_bytes_max: 1 }
}

fn number(text: &str) -> Value {
    crate::encode::parse(&CanonicalType::Number, text).unwrap()
}

/// The golden query of a range on one key column `k`.
#[expect(clippy::needless_pass_by_value, reason = "types are made where they are used")]
#[track_caller]
fn one_key(name: &str, made: Made, canonical: CanonicalType, lower: Value, upper: Value) {
    let relation = relation(&[made], None);
    let key = projected(&relation, "k", canonical.clone());
    let projection = projection(vec![key], Vec::new());
    let bound = |value: Value| Some(encode_key(std::slice::from_ref(&canonical), &[value]).unwrap());
    let text = select(&relation, &projection, &read(bound(lower), bound(upper), true)).unwrap();
    golden(name, &text);
}

const NONE: Size = size(0, 0, 0);

#[test]
fn ranges_of_numbers() {
    let one = |name, kind, size, lower, upper| {
        one_key(name, Made("k", kind, size, false, None), CanonicalType::Number, number(lower), number(upper));
    };
    one("range-tinyint", "tinyint", NONE, "0", "255");
    one("range-smallint", "smallint", NONE, "-32768", "32767");
    one("range-bigint", "bigint", NONE, "-9223372036854775808", "9223372036854775807");
    one("range-decimal", "decimal", size(17, 38, 10), "-0.0123", "9999999999999999999999999999.9999999999");
    one("range-money", "money", NONE, "1.2345", "922337203685477.5807");
    one("range-smallmoney", "smallmoney", NONE, "-214748.3648", "214748.3647");
    let bit = Made("k", "bit", NONE, false, None);
    one_key("range-bit", bit, CanonicalType::Boolean, Value::Bool(false), Value::Bool(true));
}

#[test]
fn ranges_of_times() {
    let day = |year, month, day| Value::Date(DateValue::Day(year, month, day));
    let date = Made("k", "date", NONE, false, None);
    one_key("range-date", date, CanonicalType::Date, day(1, 1, 1), day(9999, 12, 31));
    let time = Made("k", "time", size(5, 16, 7), false, None);
    one_key("range-time", time, CanonicalType::Time, Value::Time(36_000_123_456_700), Value::Time(86_399_999_999_900));
    let at = |seconds, nanos| Value::Timestamp(TimestampValue::Finite(seconds, nanos));
    let stamp = |name, kind, size, lower, upper| {
        one_key(name, Made("k", kind, size, false, None), CanonicalType::Timestamp, lower, upper);
    };
    let last = 253_402_300_799;
    stamp("range-datetime2", "datetime2", size(8, 27, 7), at(1_706_695_200, 123_456_700), at(last, 999_999_900));
    stamp("range-datetime", "datetime", NONE, at(1_636_465_949, 187_000_000), at(last, 997_000_000));
    stamp("range-smalldatetime", "smalldatetime", NONE, at(1_706_695_200, 0), at(3_453_321_540, 0));
}

#[test]
fn ranges_of_bytes_and_uuids() {
    let bytes = |list: &[u8]| Value::Binary(list.to_vec());
    let binary = Made("k", "binary", size(2, 0, 0), false, None);
    one_key("range-binary", binary, CanonicalType::Binary, bytes(&[0, 255]), bytes(&[1, 0]));
    let version = Made("k", "timestamp", size(8, 0, 0), false, None);
    one_key(
        "range-rowversion",
        version,
        CanonicalType::Binary,
        bytes(&[0, 0, 0, 0, 0, 0, 7, 0xd1]),
        bytes(&[0, 0, 0, 0, 0, 0, 7, 0xd9]),
    );
    let mut low = [0; 16];
    low[15] = 1;
    let mut high = [0; 16];
    high[0] = 1;
    let uuid = Made("k", "uniqueidentifier", NONE, false, None);
    one_key("range-uuid", uuid, CanonicalType::Uuid, Value::Uuid(low), Value::Uuid(high));
}

#[test]
fn ranges_of_texts() {
    let text = |value: &str| Value::Text(value.to_owned());
    let latin = Some("SQL_Latin1_General_CP1_CI_AS");
    let one = |name, kind, length, collation, lower, upper| {
        let made = Made("k", kind, size(length, 0, 0), false, collation);
        one_key(name, made, CanonicalType::Text, text(lower), text(upper));
    };
    one("range-nvarchar", "nvarchar", 40, latin, "it's", "z");
    one("range-nvarchar-bin2", "nvarchar", 40, Some("Latin1_General_BIN2"), "it's", "z");
    one("range-nvarchar-control", "nvarchar", 40, latin, "a\0b", "a\\\nb");
    one("range-varchar", "varchar", 20, latin, "a", "z");
    one("range-varchar-max", "varchar", -1, latin, "a", "z");
    one("range-char", "char", 6, latin, "AB", "z");
    one("range-nchar", "nchar", 12, latin, "AB", "z");
    one("range-text", "text", 16, latin, "a", "z");
    one("range-ntext", "ntext", 16, latin, "a", "z");
}

#[test]
fn texts_are_sorted_in_utf8_where_the_server_can() {
    for (name, kind, length) in
        [("utf8-nvarchar", "nvarchar", 40), ("utf8-varchar-max", "varchar", -1), ("utf8-char", "char", 6)]
    {
        let made = Made("k", kind, size(length, 0, 0), false, Some("Latin1_General_CI_AS"));
        let mut relation = relation(&[made], None);
        relation.abilities.utf8 = true;
        let projection = projection(vec![projected(&relation, "k", CanonicalType::Text)], Vec::new());
        let bound = |text: &str| Some(encode_key(&[CanonicalType::Text], &[Value::Text(text.to_owned())]).unwrap());
        let range = read(bound("it's"), bound("\u{1f600}"), true);
        golden(&format!("range-{name}"), &select(&relation, &projection, &range).unwrap());
    }
}

#[test]
fn reads_of_whole_tables() {
    let whole = |name: &str, kind: &'static str, canonical: CanonicalType| {
        let relation = relation(&[Made("k", kind, size(20, 0, 0), true, None)], None);
        let projection = projection(vec![projected(&relation, "k", canonical)], Vec::new());
        golden(name, &select(&relation, &projection, &read(None, None, true)).unwrap());
    };
    whole("read-varbinary", "varbinary", CanonicalType::Binary);
    whole("read-float", "float", CanonicalType::Float);
    whole("read-real", "real", CanonicalType::Float);
    let columns = [
        Made("id", "int", NONE, false, None),
        Made("it's]odd", "nvarchar", size(40, 0, 0), true, None),
        Made("m", "money", NONE, true, None),
        Made("x", "xml", NONE, true, None),
        Made("h", "hierarchyid", NONE, true, None),
        Made("txt", "text", NONE, true, Some("SQL_Latin1_General_CP1_CI_AS")),
        Made("ntxt", "ntext", NONE, true, None),
        Made("img", "image", NONE, true, None),
        Made("o", "datetimeoffset", size(10, 34, 7), true, None),
    ];
    let relation = relation(&columns, Some("amount > 5"));
    let canonical = [
        CanonicalType::Number,
        CanonicalType::Text,
        CanonicalType::Number,
        CanonicalType::Text,
        CanonicalType::Binary,
        CanonicalType::Text,
        CanonicalType::Text,
        CanonicalType::Binary,
        CanonicalType::OffsetInstant,
    ];
    let row: Vec<Projected> =
        columns.iter().zip(canonical).map(|(column, canonical)| projected(&relation, column.0, canonical)).collect();
    let all = projection(row[..1].to_vec(), row.clone());
    golden("read-unordered", &select(&relation, &all, &read(None, None, false)).unwrap());
    golden("read-ordered", &select(&relation, &all, &read(None, None, true)).unwrap());
    let bound = |text: &str| Some(encode_key(&[CanonicalType::Number], &[number(text)]).unwrap());
    golden("range-int", &select(&relation, &all, &read(bound("-5"), bound("20"), true)).unwrap());
    golden("range-none", &select(&relation, &all, &read(bound("3000000000"), None, true)).unwrap());
    let mut stored = row[1].clone();
    stored.target.canonical = CanonicalType::Binary;
    stored.target.conversion = Conversion::Parse;
    golden(
        "read-stored-bytes",
        &select(&relation, &projection(row[..1].to_vec(), vec![stored.clone()]), &read(None, None, true)).unwrap(),
    );
    // Another server gives other bytes, which would hide differences.
    let mut other = relation.clone();
    other.abilities.utf16_bytes = false;
    let refused = select(&other, &projection(row[..1].to_vec(), vec![stored]), &read(None, None, true));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
    let key = projection(row[..1].to_vec(), Vec::new());
    golden("splits-small", &splits::sample_sql(&relation, &key, 16).unwrap().unwrap());
    let mut large = relation;
    large.source.filter = None;
    large.schema.rows_estimate = Some(10_000_000);
    golden("splits-sample", &splits::sample_sql(&large, &key, 16).unwrap().unwrap());
}

#[test]
fn composite_and_nullable_keys() {
    let columns = [Made("a", "int", NONE, true, None), Made("b", "date", NONE, true, None)];
    let relation = relation(&columns, None);
    let types = [CanonicalType::Number, CanonicalType::Date];
    let keys = vec![projected(&relation, "a", types[0].clone()), projected(&relation, "b", types[1].clone())];
    let one = projection(keys[..1].to_vec(), Vec::new());
    let both = projection(keys, Vec::new());
    let first = |text: &str| Some(encode_key(&types[..1], &[number(text)]).unwrap());
    golden("range-nullable", &select(&relation, &one, &read(None, first("20"), true)).unwrap());
    let bound = |a: Value, b: Value| Some(encode_key(&types, &[a, b]).unwrap());
    let day = |month, day| Value::Date(DateValue::Day(2024, month, day));
    let lower = bound(number("1"), day(1, 31));
    golden("range-composite", &select(&relation, &both, &read(lower, bound(number("7"), day(3, 1)), true)).unwrap());
    let null = bound(Value::Null, day(1, 1));
    golden("range-composite-null", &select(&relation, &both, &read(null.clone(), None, true)).unwrap());
    golden("range-composite-below-null", &select(&relation, &both, &read(None, null, true)).unwrap());
}

fn index(clustered: bool, columns: &[i64], included: &[i64]) -> Index {
    Index {
        name: "ix".to_owned(),
        clustered,
        keys: columns.iter().map(|column| IndexKey { column: *column, descending: false }).collect(),
        included: included.to_vec(),
        partitioned_by: None,
    }
}

/// The best order for key `k` (column 1) and a row of column `v` (column 2).
fn best(made: Made, canonical: CanonicalType, indexes: Vec<Index>, genuine: bool) -> (ReadOrder, String) {
    let mut relation = relation(&[made, Made("v", "int", NONE, true, None)], None);
    relation.indexes = indexes;
    relation.abilities.genuine = genuine;
    let row = vec![projected(&relation, "v", CanonicalType::Number)];
    let projection = projection(vec![projected(&relation, "k", canonical)], row);
    let support = order::support(&relation, &projection, None).unwrap();
    (support.best, support.reason)
}

#[test]
fn an_index_serves_where_it_is_in_canonical_order() {
    let int = || Made("k", "int", NONE, false, None);
    let best_int = |index: Index, genuine| best(int(), CanonicalType::Number, vec![index], genuine).0;
    assert_eq!(best_int(index(true, &[1], &[]), true), ReadOrder::ServerRanges);
    // Beside the rows: only if it has all that is read. Another server calls every index so.
    assert_eq!(best_int(index(false, &[1], &[]), true), ReadOrder::ServerOnce);
    assert_eq!(best_int(index(false, &[1], &[2]), true), ReadOrder::ServerRanges);
    assert_eq!(best_int(index(false, &[1], &[]), false), ReadOrder::ServerRanges);
    assert_eq!(best_int(index(true, &[2, 1], &[]), true), ReadOrder::ServerOnce);
    let mut descending = index(true, &[1], &[]);
    descending.keys[0].descending = true;
    assert_eq!(best_int(descending, true), ReadOrder::ServerOnce);
    let mut partitioned = index(true, &[1], &[]);
    partitioned.partitioned_by = Some(2);
    assert_eq!(best_int(partitioned.clone(), true), ReadOrder::ServerOnce);
    partitioned.partitioned_by = Some(1);
    assert_eq!(best_int(partitioned, true), ReadOrder::ServerRanges);
    assert_eq!(best(int(), CanonicalType::Number, Vec::new(), true).0, ReadOrder::ServerOnce);
}

#[test]
fn o04_a_uuid_is_never_read_by_its_index() {
    let uuid = Made("k", "uniqueidentifier", NONE, false, None);
    let (order, reason) = best(uuid, CanonicalType::Uuid, vec![index(true, &[1], &[])], true);
    assert_eq!(order, ReadOrder::ServerOnce);
    assert!(reason.contains("groups of bytes"), "{reason}");
}

#[test]
fn text_is_read_by_an_index_of_code_points_alone() {
    let text = |kind, collation| {
        let made = Made("k", kind, size(40, 0, 0), false, Some(collation));
        best(made, CanonicalType::Text, vec![index(true, &[1], &[])], true)
    };
    assert_eq!(text("nvarchar", "Latin1_General_BIN2").0, ReadOrder::ServerRanges);
    assert_eq!(text("nvarchar", "Japanese_Unicode_BIN2").0, ReadOrder::ServerRanges);
    let (order, reason) = text("nvarchar", "SQL_Latin1_General_CP1_CI_AS");
    assert_eq!(order, ReadOrder::ServerOnce);
    assert!(reason.contains("SQL_Latin1_General_CP1_CI_AS"), "{reason}");
    assert_eq!(text("varchar", "Latin1_General_BIN2").0, ReadOrder::ServerOnce);
    assert_eq!(text("nchar", "Latin1_General_BIN2").0, ReadOrder::ServerOnce);
}

#[test]
fn what_the_server_cannot_order_is_sorted_locally() {
    let offset = Made("k", "datetimeoffset", size(10, 34, 7), false, None);
    assert_eq!(best(offset, CanonicalType::OffsetInstant, vec![index(true, &[1], &[])], true).0, ReadOrder::Local);
    let float = Made("k", "float", NONE, false, None);
    assert_eq!(best(float, CanonicalType::Float, vec![index(true, &[1], &[])], true).0, ReadOrder::ServerOnce);
    let bytes = Made("k", "varbinary", size(20, 0, 0), false, None);
    assert_eq!(best(bytes, CanonicalType::Binary, vec![index(true, &[1], &[])], true).0, ReadOrder::ServerOnce);
}

#[test]
fn one_reader_reads_once() {
    let mut relation = relation(&[Made("k", "int", NONE, false, None)], None);
    relation.indexes = vec![index(true, &[1], &[])];
    let projection = projection(vec![projected(&relation, "k", CanonicalType::Number)], Vec::new());
    let support = order::support(&relation, &projection, Some("snapshots differ")).unwrap();
    assert_eq!(support.best, ReadOrder::ServerOnce);
    assert!(support.reason.contains("snapshots differ"), "{}", support.reason);
}
