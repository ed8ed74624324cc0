//! Keys: order, identity, ranges.

use super::Maria;
use crate::harness::{Desk, Postgres};

#[test]
fn o02_composite_key_with_mixed_collations() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (a varchar(20) COLLATE utf8mb4_general_ci NOT NULL, b varchar(20) COLLATE utf8mb4_bin NOT NULL, \
         v int, PRIMARY KEY (a, b)); INSERT INTO t VALUES ('a','x',1),('B','x',2),('c','x',3),('*','n',4)",
    );
    postgres.sql(
        "CREATE TABLE t (a text, b text, v int, PRIMARY KEY (a, b)); \
         INSERT INTO t VALUES ('a','x',1),('B','x',2),('c','x',3),('*','n',5)",
    );
    for sort in ["auto", "server", "local"] {
        let outcome = desk.diff(&[&maria.table("t"), &postgres.table("t"), "--sort", sort]);
        outcome.assert_counts(0, 0, 1);
        let found = "SELECT key.a, key.b, source.v, sink.v FROM d";
        assert_eq!(desk.differences(&outcome, found), "* n 4 5\n");
        desk.diff(&[&postgres.table("t"), &maria.table("t"), "--sort", sort]).assert_counts(0, 0, 1);
    }
}

#[test]
fn o03_keys_that_equal_but_for_case() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (k varchar(20) COLLATE utf8mb4_general_ci PRIMARY KEY, v int); \
         INSERT INTO t VALUES ('Ana',1),('bob',2)",
    );
    postgres.sql("CREATE TABLE t (k text PRIMARY KEY, v int); INSERT INTO t VALUES ('ana',1),('bob',2)");
    let both = [maria.table("t"), postgres.table("t")];
    let flags = [["--sort", "auto"], ["--sort", "server"], ["--sort", "local"], ["--ranges", "4"]];
    for flags in flags {
        let outcome = desk.diff(&[&both[0], &both[1], flags[0], flags[1]]);
        outcome.assert_counts(1, 1, 0);
        let found = "SELECT kind, key.k FROM d ORDER BY 1";
        assert_eq!(desk.differences(&outcome, found), "extra ana\nmissing Ana\n");
    }
    desk.diff(&[&both[0], &both[1], "--option", "k.case=fold"]).assert_counts(0, 0, 0);
    postgres.sql("INSERT INTO t VALUES ('Ana',1)");
    for flags in flags {
        desk.diff(&[&both[0], &both[1], flags[0], flags[1]]).assert_counts(0, 1, 0);
    }
    // Two keys of one side that fold together are an error, never a guess.
    desk.diff(&[&both[0], &both[1], "--option", "k.case=fold"]).assert_refused(&["sink", "fold", "ana"]);
}

#[test]
fn o07_enum_in_the_key() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (k enum('zeta','mid','alpha') PRIMARY KEY); INSERT INTO t VALUES ('zeta'),('mid'),('alpha')",
    );
    postgres.sql(
        "CREATE TABLE t (k text PRIMARY KEY); INSERT INTO t VALUES ('zeta'),('mid'),('alpha');
         CREATE TYPE letter AS ENUM ('zeta', 'mid', 'alpha');
         CREATE TABLE e (k letter PRIMARY KEY); INSERT INTO e VALUES ('zeta'),('mid'),('alpha')",
    );
    for sort in ["auto", "server", "local"] {
        for table in ["t", "e"] {
            desk.diff(&[&maria.table("t"), &postgres.table(table), "--sort", sort]).assert_counts(0, 0, 0);
        }
    }
    postgres.sql("DELETE FROM t WHERE k = 'mid'; DELETE FROM e WHERE k = 'mid'");
    for table in ["t", "e"] {
        desk.diff(&[&maria.table("t"), &postgres.table(table)]).assert_counts(1, 0, 0);
    }
}

#[test]
fn o08_unsigned_64_bit_key() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    let rows = "(1),(9223372036854775807),(9223372036854775808),(18446744073709551615)";
    maria.sql(&format!("CREATE TABLE t (id bigint unsigned PRIMARY KEY); INSERT INTO t VALUES {rows}"));
    postgres.sql(&format!("CREATE TABLE t (id numeric(20,0) PRIMARY KEY); INSERT INTO t VALUES {rows}"));
    let both = [maria.table("t"), postgres.table("t")];
    desk.diff(&[&both[0], &both[1], "--ranges", "4"]).assert_counts(0, 0, 0);
    desk.diff(&[&both[1], &both[0], "--ranges", "4"]).assert_counts(0, 0, 0);
    postgres.sql("DELETE FROM t WHERE id = 18446744073709551615");
    let outcome = desk.diff(&[&both[0], &both[1], "--ranges", "4"]);
    outcome.assert_counts(1, 0, 0);
    assert_eq!(desk.differences(&outcome, "SELECT key.id FROM d"), "18446744073709551615\n");
}

#[test]
fn o10_blanks_at_the_end_of_a_varchar_key() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (k varchar(5) COLLATE utf8mb4_general_ci PRIMARY KEY); INSERT INTO t VALUES ('A ')");
    postgres.sql("CREATE TABLE t (k varchar(5) PRIMARY KEY); INSERT INTO t VALUES ('A')");
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(1, 1, 0);
    maria.sql("CREATE TABLE n (k varchar(5) COLLATE utf8mb4_nopad_bin PRIMARY KEY); INSERT INTO n VALUES ('A '),('A'),('A\\t')");
    postgres.sql("INSERT INTO t VALUES (E'A '), (E'A\\t')");
    desk.diff(&[&maria.table("n"), &postgres.table("t"), "--ranges", "3"]).assert_counts(0, 0, 0);
    // The same text under a collation that pads sorts the tab before the blank's place.
    maria.sql("CREATE TABLE b (k varchar(5) COLLATE utf8mb4_bin PRIMARY KEY); INSERT INTO b VALUES ('A'),('A\\t')");
    postgres.sql("DELETE FROM t WHERE k = 'A '");
    desk.diff(&[&maria.table("b"), &postgres.table("t")]).assert_counts(0, 0, 0);
}

#[test]
fn o11_padded_char_key() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    postgres.sql("CREATE TABLE t (id char(6) PRIMARY KEY, v text); INSERT INTO t VALUES ('DVT1', E'Row 1\\t')");
    maria.sql(
        "CREATE TABLE t (id varchar(6) PRIMARY KEY, v text); INSERT INTO t VALUES ('DVT1', 'Row 1\\t');
         CREATE TABLE c (id char(6) PRIMARY KEY, v text); INSERT INTO c VALUES ('DVT1  ', 'Row 1\\t');
         CREATE TABLE b (id varchar(6) PRIMARY KEY, v text); INSERT INTO b VALUES ('DVT1  ', 'Row 1\\t')",
    );
    desk.diff(&[&postgres.table("t"), &maria.table("t")]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("t"), &maria.table("c")]).assert_counts(0, 0, 0);
    // Blanks of a varchar are data.
    desk.diff(&[&postgres.table("t"), &maria.table("b")]).assert_counts(1, 1, 0);
}

#[test]
fn o11_a_server_that_pads_char_is_read_as_any_other() {
    let (desk, maria) = (Desk::new(), Maria::alone(&["--log-bin=binlog", "--sql-mode=PAD_CHAR_TO_FULL_LENGTH"]));
    maria.sql(
        "CREATE TABLE c (id char(6) PRIMARY KEY); INSERT INTO c VALUES ('DVT1');
         CREATE TABLE v (id varchar(6) PRIMARY KEY); INSERT INTO v VALUES ('DVT1')",
    );
    desk.diff(&[&maria.table("c"), &maria.table("v")]).assert_counts(0, 0, 0);
}

#[test]
fn o30_binary_key_that_ends_in_zero_bytes() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    let whole = "01020304050607080910111213140100";
    maria.sql(&format!("CREATE TABLE t (u binary(16) PRIMARY KEY, v int); INSERT INTO t VALUES (x'{whole}', 1)"));
    postgres.sql(&format!(
        "CREATE TABLE t (u bytea PRIMARY KEY, v int); INSERT INTO t VALUES ('\\x{whole}', 1);
         CREATE TABLE c (u bytea PRIMARY KEY, v int); INSERT INTO c VALUES ('\\x{}', 1)",
        &whole[..30]
    ));
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("t"), &postgres.table("c")]).assert_counts(1, 1, 0);
    desk.python(&format!(
        "u = bytes.fromhex('{whole}')
for name, cell in (('whole', u), ('cut', u[:15])): pq.write_table(pa.table({{'u': pa.array([cell], pa.binary()), 'v': pa.array([1], pa.int32())}}), f'{{name}}.parquet')"
    ));
    desk.diff(&[&maria.table("t"), &desk.arg("whole.parquet")]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("t"), &desk.arg("cut.parquet")]).assert_counts(1, 1, 0);
    // As a value beside another key.
    for (sink, changed) in [
        (postgres.table("t"), 0),
        (postgres.table("c"), 1),
        (desk.arg("whole.parquet"), 0),
        (desk.arg("cut.parquet"), 1),
    ] {
        desk.diff(&[&maria.table("t"), &sink, "-k", "v"]).assert_counts(0, 0, changed);
    }
}

#[test]
fn o48_binary_keys_in_ranges() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (k varbinary(6) PRIMARY KEY, v int)");
    postgres.sql("CREATE TABLE t (k bytea PRIMARY KEY, v int)");
    for (at, hex) in
        ["", "00", "0000", "00275cff0a", "00275cff0a00", "27", "5c", "5c27", "ff", "fffe"].iter().enumerate()
    {
        maria.sql(&format!("INSERT INTO t VALUES (x'{hex}', {at})"));
        postgres.sql(&format!("INSERT INTO t VALUES ('\\x{hex}', {at})"));
    }
    postgres.sql("UPDATE t SET v = 99 WHERE v IN (1, 8)");
    desk.diff(&[&maria.table("t"), &postgres.table("t"), "--ranges", "8"]).assert_counts(0, 0, 2);
    desk.diff(&[&postgres.table("t"), &maria.table("t"), "--ranges", "8"]).assert_counts(0, 0, 2);
}

/// Key types with values in ascending canonical order, in both dialects; the last one is taken out of the sink.
const FAMILIES: &[(&str, &str, &[&str], &[&str])] = &[
    ("bigint", "bigint", &["-9223372036854775808", "-1", "0", "1", "255", "9223372036854775807"], &[]),
    ("tinyint unsigned", "int", &["0", "1", "127", "128", "255"], &[]),
    ("year", "int", &["0", "1901", "1970", "2000", "2069", "2155"], &[]),
    (
        "decimal(40,10)",
        "numeric",
        &[
            "-123456789012345678901234567890.5",
            "-0.0000000001",
            "0",
            "0.5",
            "1.5",
            "10",
            "999999999999999999999999999999.9999999999",
        ],
        &[],
    ),
    (
        "double",
        "float8",
        &["-1.7976931348623157e308", "-0.1", "0", "5e-324", "0.1", "0.30000000000000004", "1e300"],
        &[],
    ),
    ("float", "real", &["-3.4028235e38", "-0.1", "0", "0.1", "0.5", "16777216"], &[]),
    ("date", "date", &["'0001-01-01'", "'1969-12-31'", "'1970-01-01'", "'2024-02-29'", "'9999-12-31'"], &[]),
    (
        "datetime(6)",
        "timestamp",
        &[
            "'0001-01-01 00:00:00'",
            "'1970-01-01 00:00:00'",
            "'2024-01-01 00:00:00.000001'",
            "'2024-01-01 00:00:00.1'",
            "'9999-12-31 23:59:59.999999'",
        ],
        &[],
    ),
    (
        "timestamp(3) NULL",
        "timestamptz",
        &[
            "'1970-01-01 00:00:01'",
            "'2001-01-01 00:00:00.001'",
            "'2024-11-03 05:30:00'",
            "'2024-11-03 06:30:00'",
            "'2038-01-19 03:14:07.999'",
        ],
        &[
            "'1970-01-01 00:00:01Z'",
            "'2001-01-01 00:00:00.001Z'",
            "'2024-11-03 05:30:00Z'",
            "'2024-11-03 06:30:00Z'",
            "'2038-01-19 03:14:07.999Z'",
        ],
    ),
    ("time(6)", "time", &["'00:00:00'", "'00:00:00.000001'", "'12:00:00'", "'23:59:59.999999'"], &[]),
    (
        "varbinary(20)",
        "bytea",
        &["x'00'", "x'0000'", "x'61'", "x'6100'", "x'ff'"],
        &["'\\x00'", "'\\x0000'", "'\\x61'", "'\\x6100'", "'\\xff'"],
    ),
    (
        "uuid",
        "uuid",
        &[
            "'00000000-0000-1000-8000-000000000001'",
            "'00000001-0000-1000-0000-000000000000'",
            "'01000000-0000-4000-8000-000000000000'",
            "'ff000000-0000-1000-8000-000000000000'",
        ],
        &[],
    ),
    ("varchar(20) COLLATE utf8mb4_general_ci", "text", TEXTS, &[]),
    ("varchar(20) COLLATE utf8mb4_nopad_bin", "text", TEXTS, &[]),
    ("char(20) COLLATE utf8mb4_general_ci", "varchar(20)", TEXTS, &[]),
    (
        "varchar(20) CHARACTER SET ucs2 COLLATE ucs2_bin",
        "text",
        &["''", "'A'", "'a'", "'\u{e9}'", "'\u{5d0}'", "'\u{20ac}'"],
        &[],
    ),
    (
        "varchar(20) CHARACTER SET latin1 COLLATE latin1_bin",
        "text",
        &["''", "'A'", "'a'", "'\u{e9}'", "'\u{20ac}'"],
        &[],
    ),
    ("enum('b','a','','C')", "text", &["''", "'C'", "'a'", "'b'"], &[]),
    ("set('b','a')", "text", &["''", "'a'", "'b'", "'b,a'"], &[]),
    ("bit(10)", "bit(10)", &["b'0000000000'", "b'0000000001'", "b'0111111111'", "b'1000000000'", "b'1111111111'"], &[]),
    (
        "bit(64)",
        "bit(64)",
        &["b'0'", "b'1'", "x'7fffffffffffffff'", "x'8000000000000000'", "x'ffffffffffffffff'"],
        &[
            "0::bigint::bit(64)",
            "1::bigint::bit(64)",
            "x'7fffffffffffffff'",
            "x'8000000000000000'",
            "x'ffffffffffffffff'",
        ],
    ),
];

const TEXTS: &[&str] =
    &["''", "'A'", "'A b'", "'A-b'", "'A_b'", "'Ab'", "'a1'", "'b'", "'\u{e9}a'", "'\u{ff5e}'", "'\u{1f600}'"];

#[test]
fn every_key_family_in_eight_ranges() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    for (at, (native, other, values, others)) in FAMILIES.iter().enumerate() {
        let others = if others.is_empty() { values } else { others };
        let rows = |values: &[&str]| -> String {
            let rows: Vec<String> = values.iter().enumerate().map(|(v, key)| format!("({key}, {v})")).collect();
            rows.join(", ")
        };
        let unique = if native.starts_with("timestamp") { ", UNIQUE (k)" } else { ", PRIMARY KEY (k)" };
        maria
            .sql(&format!("CREATE TABLE t{at} (k {native}, v int{unique}); INSERT INTO t{at} VALUES {}", rows(values)));
        postgres.sql(&format!(
            "CREATE TABLE t{at} (k {other} PRIMARY KEY, v int); INSERT INTO t{at} VALUES {}",
            rows(others)
        ));
        let table = format!("t{at}");
        let (one, two) = (maria.table(&table), postgres.table(&table));
        for sort in ["auto", "local"] {
            for sides in [[&one, &two], [&two, &one]] {
                let outcome = desk.diff(&[sides[0], sides[1], "-k", "k", "--ranges", "8", "--sort", sort]);
                assert_eq!(outcome.code, 0, "{native}, {sort}\n{}\n{}", outcome.stdout, outcome.stderr);
            }
        }
        // One row less and one row that differs are found, whichever side gives the ranges.
        let last = others.len() - 1;
        postgres.sql(&format!("DELETE FROM t{at} WHERE v = {last}; UPDATE t{at} SET v = 99 WHERE v = 1"));
        desk.diff(&[&one, &two, "-k", "k", "--ranges", "8"]).assert_counts(1, 0, 1);
        desk.diff(&[&two, &one, "-k", "k", "--ranges", "8"]).assert_counts(0, 1, 1);
    }
}

#[test]
fn null_and_duplicate_keys_in_ranges() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    let rows = "(NULL,1,'a'),(NULL,1,'a'),(NULL,NULL,'b'),(1,NULL,'c'),(1,1,'d'),(1,1,'e'),(2,NULL,'f'),(2,5,'g')";
    maria.sql(&format!("CREATE TABLE t (a int, b int, v text, KEY (a, b)); INSERT INTO t VALUES {rows}"));
    postgres.sql(&format!("CREATE TABLE t (a int, b int, v text); INSERT INTO t VALUES {rows}"));
    let key = ["-k", "a", "-k", "b"];
    for sort in ["auto", "server", "local"] {
        for ranges in ["1", "4", "8"] {
            let flags = [key.as_slice(), &["--ranges", ranges, "--sort", sort]].concat();
            let both = [maria.table("t"), postgres.table("t")];
            let one = [&[both[0].as_str(), &both[1]], flags.as_slice()].concat();
            desk.diff(&one).assert_counts(0, 0, 0);
        }
    }
    postgres
        .sql("DELETE FROM t WHERE ctid = (SELECT min(ctid) FROM t WHERE v = 'a'); UPDATE t SET v = 'x' WHERE v = 'f'");
    let both = [maria.table("t"), postgres.table("t")];
    desk.diff(&[&[both[0].as_str(), &both[1], "--ranges", "8"], key.as_slice()].concat()).assert_counts(1, 0, 1);
}

#[test]
fn composite_keys_in_many_ranges() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (a int unsigned, b varchar(9) COLLATE utf8mb4_nopad_bin, d date, v int, PRIMARY KEY (a, b, d));
         INSERT INTO t SELECT seq DIV 10, CHAR(65 + seq MOD 5), '2024-01-01' + INTERVAL seq MOD 2 DAY, seq FROM seq_1_to_3000",
    );
    postgres.sql(
        "CREATE TABLE t (a bigint, b text, d date, v int, PRIMARY KEY (d, b, a));
         INSERT INTO t SELECT i / 10, chr(65 + i % 5), DATE '2024-01-01' + i % 2, i FROM generate_series(1, 3000) i",
    );
    let key = ["-k", "a", "-k", "b", "-k", "d"];
    let both = [maria.table("t"), postgres.table("t")];
    let args = [&[both[0].as_str(), &both[1], "--ranges", "16", "-j", "3"], key.as_slice()].concat();
    let outcome = desk.diff(&args);
    outcome.assert_counts(0, 0, 0);
    postgres.sql("DELETE FROM t WHERE v % 1000 = 7; UPDATE t SET v = -v WHERE v % 1000 = 8");
    desk.diff(&args).assert_counts(3, 0, 3);
}

#[test]
fn a_prefix_index_is_no_key_and_a_nullable_one_neither() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql(
        "CREATE TABLE p (a varchar(20) NOT NULL, v int, UNIQUE (a(3))); INSERT INTO p VALUES ('abcd', 1), ('abd', 2);
         CREATE TABLE n (a int, v int, UNIQUE (a)); INSERT INTO n VALUES (NULL, 1), (NULL, 2);
         CREATE TABLE d (a int NOT NULL, v int, UNIQUE (a)); INSERT INTO d VALUES (1, 1), (2, 2)",
    );
    for (table, origin) in [("p", "none"), ("n", "none"), ("d", "a of both sides")] {
        let outcome = desk.run("plan", &[&maria.table(table), &maria.table(table)]);
        let document = outcome.document();
        let text = document.to_string();
        assert!(text.contains(&format!("\"{origin}")), "{table}: {text}");
        desk.diff(&[&maria.table(table), &maria.table(table)]).assert_counts(0, 0, 0);
    }
}

#[test]
fn cuts_of_large_tables_are_even_and_depend_on_the_data_alone() {
    let (desk, maria) = (Desk::new(), Maria::new());
    // Two clusters far apart, in each of several types.
    for (name, native, key) in [
        ("i", "bigint", "seq + (seq > 30000) * 1000000000000"),
        ("u", "bigint unsigned", "seq + IF(seq > 30000, 18446744073709000000, 0)"),
        ("d", "decimal(30,5)", "seq / 7 - 1000"),
        ("t", "datetime(3)", "'2020-01-01' + INTERVAL seq MINUTE"),
        ("b", "binary(16)", "UNHEX(MD5(seq))"),
        ("v", "varbinary(40)", "CONCAT('prefix-', LPAD(seq, 9, '0'))"),
    ] {
        maria.sql(&format!(
            "CREATE TABLE {name} (k {native} PRIMARY KEY, v int); INSERT INTO {name} SELECT {key}, seq FROM seq_1_to_60000; \
             ANALYZE TABLE {name}"
        ));
        let table = maria.table(name);
        let mut digests = Vec::new();
        for workers in ["1", "3"] {
            let outcome = desk.diff(&[&table, &table, "--ranges", "16", "-j", workers]);
            outcome.assert_counts(0, 0, 0);
            let document = outcome.document();
            assert_eq!(document["rows"]["source"], 60_000);
            digests.push(document["digest"]["source"].clone());
            let folder = outcome.folder().display().to_string();
            let rows = desk.python(&format!(
                "print(duckdb.sql(\"SELECT count(*), max(source_rows) FROM '{folder}/ranges.parquet'\").fetchall()[0])"
            ));
            let numbers: Vec<u64> =
                rows.trim_matches(['(', ')', '\n']).split(", ").filter_map(|n| n.parse().ok()).collect();
            assert!(numbers.len() == 2 && numbers[0] >= 10 && numbers[1] < 16_000, "{name}: {rows}");
        }
        assert_eq!(digests[0], digests[1], "{name}");
    }
}
