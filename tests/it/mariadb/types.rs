//! The table of types: every type that two stores share, equal and then changed, extremes included.

use super::Maria;
use crate::harness::{Desk, Postgres};

/// Name, MariaDB's type, value, another value (SQL); `PostgreSQL`'s type and value.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const SHARED: &[Row] = &[
    ("ti", "tinyint", "-128", "-127", "smallint", "-128"),
    ("tiu", "tinyint unsigned", "255", "254", "smallint", "255"),
    ("t1", "tinyint(1)", "1", "0", "boolean", "true"),
    ("si", "smallint", "-32768", "32767", "smallint", "-32768"),
    ("siu", "smallint unsigned zerofill", "65535", "5", "int", "65535"),
    ("mi", "mediumint", "-8388608", "8388607", "int", "-8388608"),
    ("miu", "mediumint unsigned", "16777215", "0", "int", "16777215"),
    ("ii", "int", "-2147483648", "2147483647", "int", "-2147483648"),
    ("iu", "int unsigned", "4294967295", "0", "bigint", "4294967295"),
    ("bi", "bigint", "-9223372036854775808", "9223372036854775807", "bigint", "-9223372036854775808"),
    ("bu", "bigint unsigned", "18446744073709551615", "9223372036854775808", "numeric", "18446744073709551615"),
    ("de", "decimal(65,30)", "-99999999999999999999999999999999999.999999999999999999999999999999", "99999999999999999999999999999999999.999999999999999999999999999999", "numeric", "-99999999999999999999999999999999999.999999999999999999999999999999"),
    ("d0", "decimal(10,0)", "0", "-1", "numeric(12,2)", "0.00"),
    ("d5", "decimal(5,5)", "-0.00001", "0.00001", "numeric", "-0.00001"),
    ("d39", "decimal(39,1)", "12345678901234567890123456789012345678.9", "12345678901234567890123456789012345678.8", "numeric", "12345678901234567890123456789012345678.9"),
    ("fl", "float", "3.4028234e38", "1.1754944e-38", "real", "3.4028234e38"),
    ("ft", "float", "0.1", "0.2", "real", "0.1"),
    ("dd", "double", "2.2250738585072014e-308", "1.7976931348623157e308", "float8", "2.2250738585072014e-308"),
    ("dt", "double", "0.1", "0.10000000000000002", "float8", "0.1"),
    ("b1", "bit(1)", "b'1'", "b'0'", "bit(1)", "'1'"),
    ("b10", "bit(10)", "b'1000000001'", "b'1000000000'", "bit(10)", "'1000000001'"),
    ("b64", "bit(64)", "x'8000000000000001'", "x'0000000000000001'", "bit(64)", "x'8000000000000001'"),
    ("ye", "year", "2155", "1901", "int", "2155"),
    ("y0", "year", "0", "2000", "int", "0"),
    ("da", "date", "'0001-01-01'", "'9999-12-31'", "date", "'0001-01-01'"),
    ("dm", "datetime(6)", "'9999-12-31 23:59:59.999999'", "'0001-01-01 00:00:00.000001'", "timestamp", "'9999-12-31 23:59:59.999999'"),
    ("ds", "datetime", "'2024-02-29 12:00:00'", "'2024-02-29 12:00:01'", "timestamp", "'2024-02-29 12:00:00.000'"),
    ("ts", "timestamp(6) NULL", "'2038-01-19 03:14:07.999999'", "'1970-01-01 00:00:01'", "timestamptz", "'2038-01-19 04:14:07.999999+01'"),
    ("tm", "time(6)", "'23:59:59.999999'", "'-00:00:00.000001'", "time", "'23:59:59.999999'"),
    ("t24", "time", "'24:00:00'", "'00:00:00'", "time", "'24:00:00'"),
    ("ch", "char(5)", "'ab '", "'ac'", "char(8)", "'ab'"),
    ("vc", "varchar(20)", "'a \u{1f600}\u{20ac} '", "'a \u{1f600}\u{20ac}'", "text", "'a \u{1f600}\u{20ac} '"),
    ("vl", "varchar(20) CHARACTER SET latin1", "'\u{20ac}\u{e9}'", "'\u{e9}'", "varchar(20)", "'\u{20ac}\u{e9}'"),
    ("em", "varchar(5)", "''", "NULL", "text", "''"),
    ("lt", "longtext", "REPEAT('x\u{e9}', 70000)", "REPEAT('xe', 70000)", "text", "repeat('x\u{e9}', 70000)"),
    ("en", "enum('zeta','a','b,c')", "'b,c'", "'a'", "text", "'b,c'"),
    ("se", "set('q','p','r')", "'r,q'", "'r'", "text", "'q,r'"),
    ("bn", "binary(4)", "x'61000000'", "x'61000001'", "bytea", "'\\x61000000'"),
    ("bp", "binary(4)", "'a'", "'b'", "bytea", "'\\x61000000'"),
    ("vb", "varbinary(4)", "x'6100'", "x'61'", "bytea", "'\\x6100'"),
    ("bl", "longblob", "REPEAT(x'00ff', 70000)", "''", "bytea", "decode(repeat('00ff', 70000), 'hex')"),
    ("js", "json", "'{\"b\": [1.0, null], \"a\": 1e2}'", "'{\"b\": [1.0, 0], \"a\": 100}'", "jsonb", "'{\"a\": 100, \"b\": [1, null]}'"),
    ("uu", "uuid", "'00112233-4455-6677-8899-aabbccddeeff'", "'00112233-4455-6677-8899-aabbccddeefe'", "uuid", "'00112233-4455-6677-8899-AABBCCDDEEFF'"),
    ("i4", "inet4", "'10.0.0.1'", "'10.0.0.2'", "inet", "'10.0.0.1'"),
    ("i6", "inet6", "'2001:db8::1'", "'::1'", "inet", "'2001:db8::1'"),
    ("ge", "point", "ST_GeomFromText('POINT(1 -0.5)')", "ST_GeomFromText('POINT(1 0.5)')", "bytea", "'\\x000000000101000000000000000000f03f000000000000e0bf'"),
    ("gs", "geometry", "ST_GeomFromText('POINT(1 2)', 4326)", "ST_GeomFromText('POINT(1 2)', 1)", "bytea", "'\\xe61000000101000000000000000000f03f0000000000000040'"),
];

/// A table whose row `n` has the n-th value of the list in its column, the others NULL; row 0 has them all.
fn values(rows: &[Row], pick: impl Fn(&Row) -> &'static str) -> String {
    rows.iter().map(pick).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_type_that_postgresql_shares() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    let columns = |kind: usize| -> String {
        let list = SHARED.iter().map(|row| format!("{} {}", row.0, if kind == 0 { row.1 } else { row.4 }));
        list.collect::<Vec<_>>().join(", ")
    };
    let nulls = vec!["NULL"; SHARED.len()].join(", ");
    maria.sql(&format!(
        "CREATE TABLE t (id int PRIMARY KEY, {}); INSERT INTO t VALUES (0, {nulls}), (1, {})",
        columns(0),
        values(SHARED, |row| row.2)
    ));
    postgres.sql(&format!(
        "CREATE TABLE t (id int PRIMARY KEY, {}); INSERT INTO t VALUES (0, {nulls}), (1, {})",
        columns(1),
        values(SHARED, |row| row.5)
    ));
    let both = [maria.table("t"), postgres.table("t")];
    desk.diff(&[&both[0], &both[1]]).assert_counts(0, 0, 0);
    desk.diff(&[&both[1], &both[0], "--sort", "local"]).assert_counts(0, 0, 0);
    // A view and a query give the same values, though the catalog says less of them.
    maria.sql("CREATE VIEW v AS SELECT * FROM t");
    desk.diff(&[&maria.table("v"), &both[1], "-k", "id", "--cast", "js=json"]).assert_counts(0, 0, 0);
    let query = format!("SELECT * FROM {}.t", maria.name());
    let known = ["-k", "id", "--exclude", "js", "--exclude", "uu", "--exclude", "i4", "--exclude", "i6"];
    desk.diff(&[&[maria.url().as_str(), &both[1], "--source-query", &query], known.as_slice()].concat())
        .assert_counts(0, 0, 0);
    // Each column for itself: a change is found there.
    for row in SHARED {
        maria.sql(&format!("UPDATE t SET {0} = {1} WHERE id = 1", row.0, row.3));
        let outcome = desk.diff(&[&both[0], &both[1], "-c", row.0]);
        assert_eq!((outcome.code, outcome.counts()), (1, (0, 0, 1)), "{}: {}", row.0, outcome.stdout);
    }
}

#[test]
fn every_type_against_itself_and_as_text() {
    let (desk, maria) = (Desk::new(), Maria::new());
    let columns: Vec<String> = SHARED.iter().map(|row| format!("{} {}", row.0, row.1)).collect();
    maria.sql(&format!(
        "CREATE TABLE s (id int PRIMARY KEY, {}); INSERT INTO s VALUES (1, {}); CREATE TABLE k LIKE s; \
         INSERT INTO k SELECT * FROM s",
        columns.join(", "),
        values(SHARED, |row| row.2)
    ));
    let both = [maria.table("s"), maria.table("k")];
    desk.diff(&[&both[0], &both[1]]).assert_counts(0, 0, 0);
    let casts: Vec<String> = SHARED.iter().map(|row| format!("{}=text", row.0)).collect();
    let flags: Vec<&str> = casts.iter().flat_map(|cast| ["--cast", cast.as_str()]).collect();
    let args = [&[both[0].as_str(), &both[1]], flags.as_slice()].concat();
    desk.diff(&args).assert_counts(0, 0, 0);
    let count = u64::try_from(SHARED.len()).unwrap_or(0);
    for row in SHARED {
        maria.sql(&format!("UPDATE k SET {} = {}", row.0, row.3));
    }
    let outcome = desk.diff(&args);
    outcome.assert_counts(0, 0, 1);
    let columns = outcome.document()["columns"].clone();
    let changed =
        columns.as_array().map_or(0, |columns| columns.iter().filter(|column| column["changed"] == 1).count() as u64);
    assert_eq!(changed, count, "{columns}");
}

#[test]
fn a_cast_to_text_has_the_text_that_every_store_has() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, n decimal(10,3), d date, m datetime(3), z timestamp NULL, t time, b varbinary(3), \
         u uuid, f double, j json);
         INSERT INTO t VALUES (1, 1.500, '2024-01-02', '2024-01-02 03:04:05.120', '2024-01-02 03:04:05', '12:00:00', \
         x'61ff', '00112233-4455-6677-8899-aabbccddeeff', 0.1, '{\"b\": 1.0, \"a\": 2}')",
    );
    let sink = desk.file(
        "k.csv",
        "id,n,d,m,z,t,b,u,f,j\n1,1.5,2024-01-02,2024-01-02 03:04:05.12,2024-01-02 03:04:05+00,12:00:00,\\x61ff,\
         00112233-4455-6677-8899-aabbccddeeff,0.1,\"{\"\"a\"\":2,\"\"b\"\":1}\"\n",
    );
    let mut args = vec![maria.table("t"), sink, "-k".into(), "id".into()];
    for column in ["n", "d", "m", "z", "t", "b", "u", "f", "j"] {
        args.extend(["--cast".into(), format!("{column}=text")]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    desk.diff(&args).assert_counts(0, 0, 0);
}

#[test]
fn types_in_parquet() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql(
        "CREATE TABLE t (id bigint unsigned PRIMARY KEY, n decimal(38,10), f float, d double, s varchar(30), b binary(4), \
         day date, at datetime(6), z timestamp(6) NULL, t time(6), flag tinyint(1));
         INSERT INTO t VALUES (18446744073709551615, -1234567890123456789012345678.0123456789, 0.1, 0.1, '\u{1f600} ', 'a', \
         '2024-02-29', '2024-02-29 01:02:03.000004', '2024-02-29 01:02:03.000004', '23:59:59.999999', 1), \
         (1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    );
    desk.python(
        "pq.write_table(pa.table({'id': pa.array([1, 18446744073709551615], pa.uint64()),\n\
         'n': pa.array([None, D('-1234567890123456789012345678.0123456789')], pa.decimal128(38, 10)),\n\
         'f': pa.array([None, 0.1], pa.float32()), 'd': pa.array([None, 0.1], pa.float64()),\n\
         's': pa.array([None, '\\U0001f600 ']), 'b': pa.array([None, b'a\\0\\0\\0'], pa.binary()),\n\
         'day': pa.array([None, datetime.date(2024, 2, 29)], pa.date32()),\n\
         'at': pa.array([None, datetime.datetime(2024, 2, 29, 1, 2, 3, 4)], pa.timestamp('us')),\n\
         'z': pa.array([None, datetime.datetime(2024, 2, 29, 1, 2, 3, 4)], pa.timestamp('us', 'UTC')),\n\
         't': pa.array([None, datetime.time(23, 59, 59, 999999)], pa.time64('us')),\n\
         'flag': pa.array([None, True])}), 'k.parquet')",
    );
    let both = [maria.table("t"), desk.arg("k.parquet")];
    desk.diff(&[&both[0], &both[1], "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&both[1], &both[0], "-k", "id"]).assert_counts(0, 0, 0);
    for (column, value) in [
        ("n", "1"),
        ("f", "0.2"),
        ("s", "'\u{1f600}'"),
        ("b", "'b'"),
        ("z", "'2024-02-29 01:02:03.000005'"),
        ("flag", "2"),
    ] {
        maria.sql(&format!("UPDATE t SET {column} = {value} WHERE id > 1"));
        desk.diff(&[&both[0], &both[1], "-k", "id", "-c", column]).assert_counts(0, 0, 1);
    }
}

#[test]
fn times_beyond_a_day_and_below_zero() {
    let (desk, maria) = (Desk::new(), Maria::new());
    for table in ["s", "k"] {
        maria.sql(&format!(
            "CREATE TABLE {table} (k time(6) PRIMARY KEY, v int); INSERT INTO {table} VALUES ('-838:59:59.999999', 1), \
             ('-00:00:00.000001', 2), ('00:00:00', 3), ('24:00:00', 4), ('838:59:59.999999', 5)"
        ));
    }
    let both = [maria.table("s"), maria.table("k")];
    desk.diff(&[&both[0], &both[1], "--ranges", "5"]).assert_counts(0, 0, 0);
    maria.sql("UPDATE k SET v = 9 WHERE k < '00:00:00'; DELETE FROM k WHERE k > '800:00:00'");
    desk.diff(&[&both[0], &both[1], "--ranges", "5"]).assert_counts(1, 0, 2);
}
