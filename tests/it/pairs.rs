//! Pairs of types across stores: equal data is equal, and a changed cell is found in its column.

#![expect(clippy::format_collect, reason = "a few lines a test, read best as they are")]

use crate::harness::{Desk, Postgres};
use std::fmt::Write as _;

/// A column of the source: name, SQL type, its value in every row, and another value that must show. `"NULL"` is NULL.
type Cell = (&'static str, &'static str, &'static str, &'static str);

fn literal(text: &str) -> String {
    if text == "NULL" { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

/// Makes `table` with one row of `values` for each cell (ids from 1), and one of NULLs (id 0).
#[track_caller]
fn make(postgres: &Postgres, table: &str, cells: &[Cell]) {
    let columns: String = cells.iter().map(|(name, sql, ..)| format!(", \"{name}\" {sql}")).collect();
    let values: String = cells.iter().map(|(_, sql, value, _)| format!(", {}::{sql}", literal(value))).collect();
    postgres.sql(&format!(
        "CREATE TABLE {table} (id int PRIMARY KEY{columns}); INSERT INTO {table} VALUES (0);
         INSERT INTO {table} SELECT i{values} FROM generate_series(1, {}) AS i",
        cells.len()
    ));
}

/// Compares `s` with `sink`: equal as it is; then, with one cell of each column changed, each column is named once.
#[track_caller]
fn equal_then_each_changed(desk: &Desk, postgres: &Postgres, cells: &[Cell], sink: &str, flags: &[&str]) {
    let source = postgres.table("s");
    let mut args = vec![source.as_str(), sink, "-k", "id"];
    args.extend(flags);
    let outcome = desk.diff(&args);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["counts"]["matched"], cells.len() + 1);
    let updates = cells.iter().enumerate().map(|(index, (name, sql, _, changed))| {
        format!("UPDATE s SET \"{name}\" = {}::{sql} WHERE id = {};", literal(changed), index + 1)
    });
    postgres.sql(&updates.collect::<String>());
    let outcome = desk.diff(&args);
    let found = desk.python(&format!(
        "for r in duckdb.sql(\"SELECT key.id, changed_columns FROM '{}/differences/*.parquet' ORDER BY key.id::int\").fetchall(): print(r[0], *r[1])",
        outcome.folder().display()
    ));
    let expected: String =
        cells.iter().enumerate().map(|(index, cell)| format!("{} {}\n", index + 1, cell.0)).collect();
    assert_eq!(found, expected);
    outcome.assert_counts(0, 0, cells.len() as u64);
}

/// A cell, and the Arrow type and value that pyarrow writes for it.
type ArrowCell = (Cell, &'static str, &'static str);

#[rustfmt::skip]
const ARROW: &[ArrowCell] = &[
    (("i8", "smallint", "-128", "-127"), "pa.int8()", "-128"),
    (("i16", "smallint", "-32768", "-32767"), "pa.int16()", "-32768"),
    (("i32", "int", "2147483647", "2147483646"), "pa.int32()", "2147483647"),
    (("i64", "bigint", "-9223372036854775808", "-9223372036854775807"), "pa.int64()", "-2**63"),
    (("u8", "int", "255", "-1"), "pa.uint8()", "255"),
    (("u16", "int", "65535", "-1"), "pa.uint16()", "65535"),
    (("u32", "bigint", "4294967295", "-1"), "pa.uint32()", "2**32 - 1"),
    (("oid", "oid", "4294967295", "4294967294"), "pa.uint32()", "2**32 - 1"),
    (("u64", "numeric(20)", "18446744073709551615", "18446744073709551614"), "pa.uint64()", "2**64 - 1"),
    (("d32", "numeric", "12345.67", "12345.68"), "pa.decimal32(7, 2)", "D('12345.67')"),
    (("d64", "numeric", "-1234567890123.456", "-1234567890123.457"), "pa.decimal64(16, 3)", "D('-1234567890123.456')"),
    (("d128", "numeric(38,10)", "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456788"), "pa.decimal128(38, 10)", "D('1234567890123456789012345678.0123456789')"),
    (("d256", "numeric", "-999999999999999999999999999999999999.0000000000000000000000000000000000000001", "-999999999999999999999999999999999999.0000000000000000000000000000000000000002"), "pa.decimal256(76, 40)", "D('-999999999999999999999999999999999999.0000000000000000000000000000000000000001')"),
    (("cents", "money", "-1234.50", "-1234.51"), "pa.decimal128(12, 2)", "D('-1234.50')"),
    (("f16", "real", "0.0999755859375", "0.1"), "pa.float16()", "0.0999755859375"),
    (("f32", "real", "0.1", "0.10000001"), "pa.float32()", "0.1"),
    (("f64", "double precision", "0.1", "0.10000000000000002"), "pa.float64()", "0.1"),
    (("f32nan", "real", "NaN", "0"), "pa.float32()", "float('nan')"),
    (("f64inf", "double precision", "-Infinity", "Infinity"), "pa.float64()", "float('-inf')"),
    (("f64zero", "double precision", "-0", "5e-324"), "pa.float64()", "0.0"),
    (("f64dec", "numeric", "0.1000000000000000055511151231257827021181583404541015625", "0.1"), "pa.float64()", "0.1"),
    (("flag", "boolean", "true", "false"), "pa.bool_()", "True"),
    (("utf8", "text", "\u{E9}\u{1F600} ", "\u{E9}\u{1F600}"), "pa.string()", "'\\u00e9\\U0001F600 '"),
    (("large_utf8", "varchar(9)", "", "NULL"), "pa.large_string()", "''"),
    (("utf8_view", "text", "abcdefghijklmnopq", "abcdefghijklmnopQ"), "pa.string_view()", "'abcdefghijklmnopq'"),
    (("padded", "char(6)", "AB", "ABC"), "pa.string()", "'AB'"),
    (("label", "mood", "sad", "ok"), "pa.dictionary(pa.int8(), pa.string())", "'sad'"),
    (("dict", "text", "x", "X"), "pa.dictionary(pa.int32(), pa.large_string())", "'x'"),
    (("dictn", "int", "7", "8"), "pa.dictionary(pa.int8(), pa.int32())", "7"),
    (("bin", "bytea", "\\x00ff", "\\x00ff00"), "pa.binary()", "b'\\x00\\xff'"),
    (("large_bin", "bytea", "", "NULL"), "pa.large_binary()", "b''"),
    (("fixed_bin", "bytea", "\\x616263", "\\x616264"), "pa.binary(3)", "b'abc'"),
    (("date32", "date", "0001-01-01", "0001-12-31 BC"), "pa.date32()", "datetime.date(1, 1, 1)"),
    (("date64", "date", "9999-12-31", "infinity"), "pa.date64()", "datetime.date(9999, 12, 31)"),
    (("t32s", "time", "23:59:59", "23:59:59.000001"), "pa.time32('s')", "datetime.time(23, 59, 59)"),
    (("t32ms", "time(3)", "23:59:59.999", "23:59:59.998"), "pa.time32('ms')", "datetime.time(23, 59, 59, 999000)"),
    (("t64us", "time", "00:00:00.000001", "00:00:00.000002"), "pa.time64('us')", "datetime.time(0, 0, 0, 1)"),
    (("t64ns", "time", "00:00:00.000001", "24:00:00"), "pa.time64('ns')", "1000"),
    (("ts_s", "timestamp", "1969-12-31 23:59:59", "1969-12-31 23:59:59.000001"), "pa.timestamp('s')", "-1"),
    (("ts_ms", "timestamp(3)", "1969-12-31 23:59:59.999", "1969-12-31 23:59:59.998"), "pa.timestamp('ms')", "-1"),
    (("ts_us", "timestamp", "2262-04-11 23:47:16.854776", "infinity"), "pa.timestamp('us')", "9223372036854776"),
    (("ts_ns", "timestamp", "1970-01-01 00:00:00.000001", "1970-01-01"), "pa.timestamp('ns')", "1000"),
    (("tz_s", "timestamptz", "1970-01-01 00:00+00", "1970-01-01 00:00+01"), "pa.timestamp('s', 'UTC')", "0"),
    (("tz_ms", "timestamptz", "1970-01-01 02:00:00.001+02", "1970-01-01 00:00:00.001001+00"), "pa.timestamp('ms', 'Europe/Paris')", "1"),
    (("tz_us", "timestamptz", "1969-12-31 23:59:59.999999+00", "-infinity"), "pa.timestamp('us', '+05:30')", "-1"),
    (("tz_ns", "timestamptz", "1969-12-31 23:59:59.999999+00", "1970-01-01 00:00+00"), "pa.timestamp('ns', 'UTC')", "-1000"),
    (("nothing", "text", "NULL", ""), "pa.null()", "None"),
    (("nothingn", "int", "NULL", "0"), "pa.null()", "None"),
    (("ints", "int[]", "{1,NULL}", "{1,0}"), "pa.list_(pa.int32())", "[1, None]"),
    (("bigs", "bigint[]", "{}", "NULL"), "pa.large_list(pa.int64())", "[]"),
    (("texts", "text[]", "{a,\"NULL\"}", "{a,NULL}"), "pa.list_(pa.string())", "['a', 'NULL']"),
    (("decs", "numeric[]", "{1.5}", "{1.5,1.5}"), "pa.list_(pa.decimal128(9, 4))", "[D('1.5000')]"),
    (("fixed", "int[]", "{1,2}", "[0:1]={1,2}"), "pa.list_(pa.int32(), 2)", "[1, 2]"),
    (("point2", "xy", "(1,a)", "(1,)"), "pa.struct([('a', pa.string()), ('z', pa.int32())])", "{'a': 'a', 'z': 1}"),
    (("points", "xy[]", "{\"(1,a)\",NULL}", "{\"(1,a)\",\"(,)\"}"), "pa.list_(pa.struct([('a', pa.string()), ('z', pa.int32())]))", "[{'a': 'a', 'z': 1}, None]"),
    (("entries", "hstore", "a=>1, b=>NULL", "a=>1, b=>\"NULL\""), "pa.map_(pa.string(), pa.string())", "[('b', None), ('a', '1')]"),
    (("uuid", "uuid", "00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefe"), "pa.uuid()", "bytes.fromhex('00112233445566778899aabbccddeeff')"),
    (("doc", "jsonb", "{\"a\":[1.50,null],\"b\":\"\u{E9}\"}", "{\"a\":[1.51,null],\"b\":\"\u{E9}\"}"), "pa.json_()", "'{\"b\": \"\\\\u00e9\", \"a\": [1.5, null]}'"),
    (("docj", "json", "[]", "null"), "pa.json_()", "' [ ] '"),
];

const TYPES: &str =
    "CREATE EXTENSION hstore; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE xy AS (z int, a text);";

#[test]
fn every_type_that_parquet_and_postgresql_share() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(TYPES);
    let cells: Vec<Cell> = ARROW.iter().map(|(cell, ..)| *cell).collect();
    make(&postgres, "s", &cells);
    let mut script = format!("n = {}\ncolumns = {{'id': pa.array(range(n + 1), pa.int32())}}\n", cells.len());
    for ((name, ..), arrow, value) in ARROW {
        // pyarrow makes no half floats of Python's numbers by itself, and no JSON of text.
        let made = match *arrow {
            "pa.float16()" => format!("pa.array([None] + [{value}] * n, pa.float32()).cast({arrow})"),
            "pa.json_()" => format!("pa.array([None] + [{value}] * n, pa.string()).cast({arrow})"),
            _ => format!("pa.array([None] + [{value}] * n, {arrow})"),
        };
        writeln!(script, "columns['{name}'] = {made}").unwrap_or_default();
    }
    script.push_str("pq.write_table(pa.table(columns), 'k.parquet', row_group_size=7)\n");
    desk.python(&script);
    equal_then_each_changed(&desk, &postgres, &cells, &desk.arg("k.parquet"), &[]);
}

/// A cell, its text in a CSV file, and its value in a JSON line.
type TextCell = (Cell, &'static str, &'static str);

#[rustfmt::skip]
const TEXTS: &[TextCell] = &[
    (("i2", "smallint", "-5", "-6"), "-5", "-5"),
    (("i8", "bigint", "9223372036854775807", "9223372036854775806"), "9223372036854775807", "9223372036854775807"),
    (("num", "numeric", "123456789012345678901234567890.10", "123456789012345678901234567890.11"), "1234567890123456789012345678901E-1", "123456789012345678901234567890.100"),
    (("nan", "numeric", "NaN", "0"), "NaN", "\"NaN\""),
    (("cash", "money", "1234.50", "1234.49"), "1234.5", "1234.50"),
    (("f4", "real", "0.5", "0.50000006"), "0.5", "5e-1"),
    (("f8", "double precision", "0.1", "0.10000000000000002"), "0.1", "0.1"),
    (("inf", "double precision", "-Infinity", "Infinity"), "-Infinity", "\"-Infinity\""),
    (("flag", "boolean", "true", "false"), "true", "true"),
    (("txt", "text", "a,\"b\" \n", "a,\"b\"\n"), "\"a,\"\"b\"\" \n\"", "\"a,\\\"b\\\" \\n\""),
    (("empty", "text", "", "NULL"), "\"\"", "\"\""),
    (("pad", "char(5)", "AB", "ABC"), "AB", "\"AB\""),
    (("name", "name", "n", "m"), "n", "\"n\""),
    (("label", "mood", "sad", "ok"), "sad", "\"sad\""),
    (("mark", "xml", "<a/>", "<a></a>"), "<a/>", "\"<a/>\""),
    (("bytes", "bytea", "\\x00ff", "\\x00fe"), "\\x00ff", "\"\\\\x00ff\""),
    (("b3", "bit(3)", "101", "100"), "101", "\"101\""),
    (("vb", "varbit", "0", "00"), "0", "\"0\""),
    (("d", "date", "2024-02-29", "2024-03-01"), "2024-02-29", "\"2024-02-29\""),
    (("dinf", "date", "infinity", "-infinity"), "infinity", "\"infinity\""),
    (("t", "time", "24:00:00", "00:00:00"), "24:00:00", "\"24:00:00\""),
    (("ttz", "timetz", "10:00:00.5+05:30", "04:30:00.5+00"), "10:00:00.5+05:30", "\"10:00:00.500+05:30\""),
    (("ts", "timestamp", "2024-01-02 03:04:05.12", "2024-01-02 03:04:05.120001"), "2024-01-02 03:04:05.120", "\"2024-01-02T03:04:05.12\""),
    (("tz", "timestamptz", "2024-01-02 03:04:05+00", "2024-01-02 03:04:05.000001+00"), "2024-01-02 05:04:05+02", "\"2024-01-02T03:04:05Z\""),
    (("iv", "interval", "1 year 2 mons -3 days 04:05:06.7", "14 mons -3 days 04:05:06.700001"), "1 year 2 mons -3 days +04:05:06.7", "\"1 year 2 mons -3 days +04:05:06.7\""),
    (("u", "uuid", "00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefe"), "00112233-4455-6677-8899-AABBCCDDEEFF", "\"00112233-4455-6677-8899-aabbccddeeff\""),
    (("doc", "jsonb", "{\"a\": 1.0, \"b\": [true, null]}", "{\"a\": 1.0, \"b\": [true, 0]}"), "\"{\"\"b\"\":[true,null],\"\"a\"\":1}\"", "{\"b\": [true, null], \"a\": 1}"),
    (("ip", "inet", "10.0.0.1/8", "10.0.0.1"), "10.0.0.1/8", "\"10.0.0.1/8\""),
    (("ip6", "cidr", "2001:db8::/32", "2001:db8::/33"), "2001:db8::/32", "\"2001:db8::/32\""),
    (("mc", "macaddr", "08:00:2b:01:02:03", "08:00:2b:01:02:04"), "08:00:2b:01:02:03", "\"08:00:2b:01:02:03\""),
    (("m8", "macaddr8", "08:00:2b:01:02:03:04:05", "08:00:2b:01:02:03:04:06"), "08:00:2b:01:02:03:04:05", "\"08:00:2b:01:02:03:04:05\""),
    (("pt", "point", "(1,-0.5)", "(1,-0.25)"), "\"(1,-0.5)\"", "\"(1,-0.5)\""),
    (("ln", "line", "{1,2,3}", "{1,2,4}"), "\"{1,2,3}\"", "\"{1,2,3}\""),
    (("sg", "lseg", "[(0,0),(1,1)]", "[(1,1),(0,0)]"), "\"[(0,0),(1,1)]\"", "\"[(0,0),(1,1)]\""),
    (("bx", "box", "(1,1),(0,0)", "(1,2),(0,0)"), "\"(1,1),(0,0)\"", "\"(1,1),(0,0)\""),
    (("pa", "path", "((0,0),(1,1))", "[(0,0),(1,1)]"), "\"((0,0),(1,1))\"", "\"((0,0),(1,1))\""),
    (("pg", "polygon", "((0,0),(1,1),(1,0))", "((1,1),(1,0),(0,0))"), "\"((0,0),(1,1),(1,0))\"", "\"((0,0),(1,1),(1,0))\""),
    (("ci", "circle", "<(1,2),3>", "<(1,2),4>"), "\"<(1,2),3>\"", "\"<(1,2),3>\""),
];

#[test]
fn every_type_that_csv_carries() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(TYPES);
    let cells: Vec<Cell> = TEXTS.iter().map(|(cell, ..)| *cell).collect();
    make(&postgres, "s", &cells);
    let names: Vec<&str> = cells.iter().map(|cell| cell.0).collect();
    let values: Vec<&str> = TEXTS.iter().map(|(_, csv, _)| *csv).collect();
    let rows: String = (1..=cells.len()).map(|id| format!("{id},{}\n", values.join(","))).collect();
    let file = format!("id,{}\n0{}\n{rows}", names.join(","), ",".repeat(names.len()));
    equal_then_each_changed(&desk, &postgres, &cells, &desk.file("k.csv", file), &[]);
}

#[test]
fn every_type_that_json_lines_carry() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(TYPES);
    let cells: Vec<Cell> = TEXTS.iter().map(|(cell, ..)| *cell).collect();
    make(&postgres, "s", &cells);
    let members: Vec<String> = TEXTS.iter().map(|((name, ..), _, json)| format!("\"{name}\": {json}")).collect();
    let rows: String = (1..=cells.len()).map(|id| format!("{{\"id\": {id}, {}}}\n", members.join(", "))).collect();
    let file = desk.file("k.jsonl", format!("{{\"id\": 0}}\n{rows}"));
    // A string of JSON is no number, unless the user says that it stands for one.
    desk.diff(&[&postgres.table("s"), &file, "-k", "id"]).assert_refused(&[
        "sink",
        "column nan",
        "found a string",
        "--cast nan=number",
    ]);
    let flags = ["--cast", "nan=number", "--cast", "inf=float"];
    equal_then_each_changed(&desk, &postgres, &cells, &file, &flags);
}

#[test]
fn a_type_that_is_not_known_is_refused_and_compared_as_text() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql("CREATE TYPE place AS (at pg_lsn, n int)");
    let cells: &[Cell] = &[
        ("lsn", "pg_lsn", "16/B374D848", "16/B374D849"),
        ("class", "regclass", "pg_class", "pg_type"),
        ("tx", "xid", "7", "8"),
        ("snap", "txid_snapshot", "10:20:10,14,15", "10:20:10,14"),
        ("lsns", "pg_lsn[]", "{0/1}", "{0/2}"),
        ("spot", "place", "(0/1,2)", "(0/1,3)"),
        ("query", "tsquery[]", "{\"'a'\"}", "{\"'b'\"}"),
    ];
    make(&postgres, "s", cells);
    make(&postgres, "k", cells);
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    for (name, ..) in cells {
        let cast = format!("--cast {name}=text");
        desk.diff(&[&source, &sink, "-c", name]).assert_refused(&[name, &cast]);
    }
    desk.diff(&[&source, &sink]).assert_refused(&["pg_lsn", "regclass", "xid", "--cast lsn=text", "--cast snap=text"]);
    let casts: Vec<String> = cells.iter().map(|(name, ..)| format!("{name}=text")).collect();
    let flags: Vec<&str> = casts.iter().flat_map(|cast| ["--cast", cast.as_str()]).collect();
    equal_then_each_changed(&desk, &postgres, cells, &sink, &flags);
    // Text of a file does not make it known.
    postgres.sql("DELETE FROM s WHERE id <> 1; UPDATE s SET lsn = '16/B374D848'");
    let file = desk.file("k.csv", "id,lsn\n1,16/B374D848\n");
    let one = [source.as_str(), file.as_str(), "-k", "id", "-c", "lsn", "--cast", "lsn=text"];
    desk.diff(&one[..6]).assert_refused(&["lsn", "--cast lsn=text"]);
    desk.diff(&one).assert_counts(0, 0, 0);
    postgres.sql("UPDATE s SET lsn = '16/B374D849'");
    desk.diff(&one).assert_counts(0, 0, 1);
}

#[test]
fn a_cast_to_text_does_not_depend_on_settings_of_the_database() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let cells: &[Cell] = &[
        ("tz", "timestamptz", "2024-01-02 03:04:05+00", "2024-01-02 03:04:06+00"),
        ("d", "date", "2024-01-02", "2024-02-01"),
        ("iv", "interval", "1 mon 2 days", "1 mon 3 days"),
        ("f8", "float8", "0.30000000000000004", "0.3"),
        ("b", "bytea", "\\x61ff", "\\x61fe"),
    ];
    make(&postgres, "s", cells);
    let name = postgres.url().rsplit('/').next().unwrap_or_default().to_owned();
    postgres.sql(&format!(
        "ALTER DATABASE {name} SET timezone = 'Asia/Kathmandu'; ALTER DATABASE {name} SET datestyle = 'SQL, DMY';
         ALTER DATABASE {name} SET intervalstyle = 'iso_8601'; ALTER DATABASE {name} SET extra_float_digits = 0;
         ALTER DATABASE {name} SET bytea_output = 'escape'"
    ));
    let row = "2024-01-02 03:04:05+00,2024-01-02,1 mon 2 days,0.30000000000000004,\\x61ff\n";
    let rows: String = (1..=cells.len()).map(|id| format!("{id},{row}")).collect();
    let sink = desk.file("k.csv", format!("id,tz,d,iv,f8,b\n0,,,,,\n{rows}"));
    let flags = ["--cast", "tz=text", "--cast", "d=text", "--cast", "iv=text", "--cast", "f8=text", "--cast", "b=text"];
    equal_then_each_changed(&desk, &postgres, cells, &sink, &flags);
}

#[test]
fn nested_types_equal_and_changed() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE DOMAIN small AS int CHECK (VALUE < 1000); CREATE DOMAIN pair_list AS int[];
         CREATE TYPE inside AS (gone text, z int, a text);
         ALTER TYPE inside DROP ATTRIBUTE gone;
         CREATE TYPE outside AS (i inside, dead int, l inside[], n small);
         ALTER TYPE outside DROP ATTRIBUTE dead;
         ALTER TYPE outside ADD ATTRIBUTE late numeric;
         CREATE TYPE inside2 AS (a varchar(10), z bigint);
         CREATE TYPE outside2 AS (late numeric(9,2), l inside2[], n int, i inside2)",
    );
    // The sink's composites have their fields in another order, and none was dropped.
    #[rustfmt::skip]
    let both: &[(Cell, &str, &str)] = &[
        (("dropped", "inside", "(1,a)", "(1,b)"), "inside2", "(a,1)"),
        (("hole", "inside", "(1,)", "(1,\"\")"), "inside2", "(,1)"),
        (("nest", "outside", "(\"(1,a)\",\"{\"\"(2,b)\"\"}\",5,1.5)", "(\"(1,a)\",\"{\"\"(2,c)\"\"}\",5,1.5)"), "outside2", "(1.50,\"{\"\"(b,2)\"\"}\",5,\"(a,1)\")"),
        (("deep", "outside", "(\"(,)\",{},,)", "(,{},,)"), "outside2", "(,{},,\"(,)\")"),
        (("many", "inside[]", "{\"(1,a)\",NULL}", "{\"(1,a)\"}"), "inside2[]", "{\"(a,1)\",NULL}"),
        (("smalls", "small[]", "{1,NULL}", "{NULL,1}"), "int[]", "{1,NULL}"),
        (("plist", "pair_list", "{1,2}", "{2,1}"), "bigint[]", "{1,2}"),
        (("shape", "int[]", "{{1,2},{3,4}}", "{1,2,3,4}"), "int[]", "{{1,2},{3,4}}"),
        (("order", "int[]", "{{1,2,3},{4,5,6}}", "{{1,2},{3,4},{5,6}}"), "int[]", "{{1,2,3},{4,5,6}}"),
        (("lower", "int[]", "[2:3]={1,2}", "{1,2}"), "int[]", "[2:3]={1,2}"),
        (("lowers", "text[]", "[-1:0][5:5]={{a},{b}}", "[-1:0][4:4]={{a},{b}}"), "varchar(5)[]", "[-1:0][5:5]={{a},{b}}"),
        (("void", "int[]", "{}", "{NULL}"), "int[]", "{}"),
        (("mr", "int4multirange", "{[1,3),[5,9)}", "{[1,3),[5,8)}"), "int8multirange", "{[5,8],[1,2]}"),
        (("mrn", "nummultirange", "{[1.0,2.0)}", "{[1.0,2.0]}"), "nummultirange", "{[1,2)}"),
        (("mre", "datemultirange", "{}", "{(,)}"), "datemultirange", "{}"),
        (("rg", "int4range", "[1,4)", "[1,)"), "int8range", "[1,3]"),
        (("rge", "tstzrange", "empty", "(,)"), "tstzrange", "[2024-01-01 00:00+00,2024-01-01 00:00+00)"),
        (("rgs", "int4range[]", "{empty,\"[1,2)\"}", "{\"[1,2)\",empty}"), "int4range[]", "{empty,\"[1,1]\"}"),
    ];
    let source: Vec<Cell> = both.iter().map(|(cell, ..)| *cell).collect();
    let sink: Vec<Cell> = both.iter().map(|((name, ..), sql, value)| (*name, *sql, *value, "NULL")).collect();
    make(&postgres, "s", &source);
    make(&postgres, "k", &sink);
    equal_then_each_changed(&desk, &postgres, &source, &postgres.table("k"), &[]);
}
