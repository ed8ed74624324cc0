//! Values: what equals what across stores.

use super::Maria;
use crate::{
    harness::{Desk, Postgres},
    sqlite::{sqlite, table as sqlite_table},
};
use serde_json::json;

#[test]
fn o15_decimals_by_value() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, n numeric); INSERT INTO t VALUES (1,1.5),(2,1.5000000000000),(3,0.71),\
         (4,-0.71),(5,18.00000),(6,150000000000000),(7,1.500000000000000000000001)",
    );
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, n decimal(65,30)); INSERT INTO t VALUES (1,1.50),(2,1.5),(3,.71),(4,-.71),\
         (5,18),(6,150000000000000),(7,1.5);
         CREATE TABLE w (id int PRIMARY KEY, n varchar(30)); INSERT INTO w VALUES (1,'1.50'),(2,'1.5'),(3,'.71'),\
         (4,'-.71'),(5,'18'),(6,'1.5E14'),(7,'1.5')",
    );
    for (sink, flags) in [(maria.table("t"), &[][..]), (maria.table("w"), &["--cast", "n=number"])] {
        let outcome = desk.diff(&[&[postgres.table("t").as_str(), &sink], flags].concat());
        outcome.assert_counts(0, 0, 1);
        assert_eq!(desk.differences(&outcome, "SELECT key.id FROM d"), "7\n");
    }
    let file = desk.file("k.csv", "id,n\n1,1.50\n2,1.5\n3,.71\n4,-.71\n5,18\n6,1.5E14\n7,1.5\n");
    let outcome = desk.diff(&[&maria.table("t"), &file, "-k", "id"]);
    outcome.assert_counts(0, 0, 0);
}

#[test]
fn o19_floats_by_their_bits() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    let make = "(id int PRIMARY KEY, f float, d double)";
    let source = "(1,0,0),(2,0,0),(3,0,0.36640625),(4,0,0.36640625),(5,0.1,0.1)";
    let sink = "(1,0,0),(2,5,0),(3,0,0.36640625),(4,0,0.36640625000000004),(5,0.1,0.1)";
    maria.sql(&format!(
        "CREATE TABLE s {make}; INSERT INTO s VALUES {source}; CREATE TABLE k {make}; INSERT INTO k VALUES {sink}"
    ));
    postgres.sql(&format!("CREATE TABLE k (id int PRIMARY KEY, f real, d float8); INSERT INTO k VALUES {sink}"));
    for sink in [maria.table("k"), postgres.table("k")] {
        let outcome = desk.diff(&[&maria.table("s"), &sink]);
        outcome.assert_counts(0, 0, 2);
        let found = "SELECT key.id, changed_columns FROM d ORDER BY 1";
        assert_eq!(desk.differences(&outcome, found), "2 ['f']\n4 ['d']\n");
    }
    desk.diff(&[&postgres.table("k"), &maria.table("k")]).assert_counts(0, 0, 0);
}

#[test]
fn o20_negative_zero_as_a_double_key() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (d double PRIMARY KEY); INSERT INTO t VALUES (-0.0e0), (-1), (1)");
    postgres.sql("CREATE TABLE t (d float8 PRIMARY KEY); INSERT INTO t VALUES ('-0'), (-1), (1)");
    desk.diff(&[&maria.table("t"), &postgres.table("t"), "--ranges", "3"]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("t"), &maria.table("t"), "--ranges", "3"]).assert_counts(0, 0, 0);
}

#[test]
fn o21_tinyint_1_is_no_boolean() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (id int PRIMARY KEY, b tinyint(1)); INSERT INTO t VALUES (1,0),(2,1),(3,2),(4,-1)");
    postgres.sql(
        "CREATE TABLE n (id int PRIMARY KEY, b smallint); INSERT INTO n VALUES (1,0),(2,1),(3,2),(4,-1);
         CREATE TABLE b (id int PRIMARY KEY, b boolean); INSERT INTO b VALUES (1,false),(2,true),(3,true),(4,true)",
    );
    desk.diff(&[&maria.table("t"), &postgres.table("n")]).assert_counts(0, 0, 0);
    let outcome = desk.diff(&[&maria.table("t"), &postgres.table("b")]);
    outcome.assert_counts(0, 0, 2);
    assert_eq!(desk.differences(&outcome, "SELECT key.id FROM d ORDER BY 1"), "3\n4\n");
}

#[test]
fn o23_dates_and_fractions_of_a_second() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, d date, t timestamp); INSERT INTO t VALUES (1,'2024-03-28',NULL),\
         (2,NULL,'2024-01-01 00:00:00.123456'),(3,NULL,'2024-01-01 00:00:00.123000')",
    );
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, d date, t datetime(3)); INSERT INTO t VALUES (1,'2024-03-28',NULL),\
         (2,NULL,'2024-01-01 00:00:00.123'),(3,NULL,'2024-01-01 00:00:00.123')",
    );
    let outcome = desk.diff(&[&postgres.table("t"), &maria.table("t")]);
    outcome.assert_counts(0, 0, 1);
    assert_eq!(desk.differences(&outcome, "SELECT key.id, changed_columns FROM d"), "2 ['t']\n");
    desk.python(
        "pq.write_table(pa.table({'id': [1, 2, 3], 'd': pa.array([datetime.date(2024, 3, 28), None, None], pa.date32()),\n\
         't': pa.array([None, 1704067200123456789, 1704067200123000000], pa.timestamp('ns'))}), 'k.parquet')",
    );
    desk.diff(&[&maria.table("t"), &desk.arg("k.parquet"), "-k", "id"]).assert_counts(0, 0, 1);
}

/// The clock of New York around the end of its summer time in 2024, for a server without a table of zones.
const NEW_YORK: &str = "INSERT INTO mysql.time_zone VALUES (1, 'N'); \
     INSERT INTO mysql.time_zone_name VALUES ('America/New_York', 1); \
     INSERT INTO mysql.time_zone_transition_type VALUES (1, 0, -14400, 1, 'EDT'), (1, 1, -18000, 0, 'EST'); \
     INSERT INTO mysql.time_zone_transition VALUES (1, 1710054000, 0), (1, 1730613600, 1);";

#[test]
fn o26_the_repeated_hour_under_any_zone() {
    let maria = Maria::alone(&["--log-bin=binlog"]);
    let (desk, postgres) = (Desk::new(), Postgres::new());
    maria.sql(NEW_YORK);
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, t timestamp NULL, z datetime);
         INSERT INTO t VALUES (1,'2024-11-03 05:30:00','2024-11-03 01:30:00'),(2,'2024-11-03 05:30:00','2024-11-03 01:30:00')",
    );
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, t timestamptz, z timestamp);
         INSERT INTO t VALUES (1,'2024-11-03 05:30Z','2024-11-03 01:30'),(2,'2024-11-03 06:30Z','2024-11-03 01:30')",
    );
    // There both moments are half past one.
    assert_eq!(
        maria.ask("SET time_zone = 'America/New_York'; SELECT FROM_UNIXTIME(1730611800), FROM_UNIXTIME(1730615400)"),
        "2024-11-03 01:30:00\t2024-11-03 01:30:00"
    );
    let both = [maria.table("t"), postgres.table("t")];
    let mut found = Vec::new();
    for zone in ["America/New_York", "UTC", "Asia/Tokyo"] {
        let of_maria = zone.replace("UTC", "+00:00").replace("Asia/Tokyo", "+09:00");
        maria.sql(&format!("SET GLOBAL time_zone = '{of_maria}'"));
        postgres.sql(&format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), '{zone}'); END $$"
        ));
        for filter in [&[][..], &["--where", "t >= '2024-11-03 05:00:00+00'"]] {
            let outcome = desk.diff(&[&[both[0].as_str(), &both[1]], filter].concat());
            outcome.assert_counts(0, 0, 1);
            assert_eq!(outcome.document()["counts"]["matched"], 1);
            let parts = outcome.document()["output"]["differences"].clone();
            let part = outcome.folder().join(parts[0].as_str().unwrap_or_default());
            found.push((outcome.document()["digest"].clone(), parts, std::fs::read(part).ok()));
        }
    }
    assert!(found.iter().all(|one| one.2.is_some() && one == &found[0]), "{found:?}");
}

#[test]
fn o27_zero_dates() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    let rows = "(1,'0000-00-00 00:00:00','0000-00-00'),(2,'1970-01-01 00:00:00','1970-01-01'),(3,NULL,NULL),\
                (4,'2024-00-15','2024-00-15')";
    for table in ["s", "k"] {
        maria.sql(&format!(
            "CREATE TABLE {table} (id int PRIMARY KEY, dt datetime, d date); INSERT INTO {table} VALUES {rows}"
        ));
    }
    postgres.sql(
        "CREATE TABLE k (id int PRIMARY KEY, dt timestamp, d date); INSERT INTO k VALUES (1,'1970-01-01','1970-01-01'),\
         (2,'1970-01-01','1970-01-01'),(3,NULL,NULL),(4,'2024-01-15','2024-01-15')",
    );
    desk.python(
        "day = datetime.date(1970, 1, 1), datetime.date(1970, 1, 1), None, datetime.date(2024, 1, 15)
pq.write_table(pa.table({'id': pa.array([1, 2, 3, 4], pa.int32()), 'dt': pa.array(day, pa.date32()).cast(pa.timestamp('us')), 'd': pa.array(day, pa.date32())}), 'k.parquet')",
    );
    for sink in [postgres.table("k"), desk.arg("k.parquet")] {
        let outcome = desk.diff(&[&maria.table("s"), &sink]);
        outcome.assert_counts(0, 0, 2);
        let found = "SELECT key.id, changed_columns FROM d ORDER BY 1";
        assert_eq!(desk.differences(&outcome, found), "1 ['dt', 'd']\n4 ['dt', 'd']\n");
    }
    desk.diff(&[&maria.table("s"), &maria.table("k")]).assert_counts(0, 0, 0);
    maria.sql("UPDATE k SET d = '2024-00-16' WHERE id = 4");
    desk.diff(&[&maria.table("s"), &maria.table("k")]).assert_counts(0, 0, 1);
}

#[test]
fn o27_zero_and_partial_dates_as_keys() {
    let (desk, maria) = (Desk::new(), Maria::new());
    let days =
        "('0000-00-00'),('0000-01-00'),('2023-12-31'),('2024-00-00'),('2024-00-15'),('2024-01-00'),('2024-01-01')";
    for table in ["s", "k"] {
        maria.sql(&format!(
            "CREATE TABLE {table}d (k date PRIMARY KEY); INSERT INTO {table}d VALUES {days};
             CREATE TABLE {table}t (k datetime PRIMARY KEY); INSERT INTO {table}t VALUES {days}"
        ));
    }
    for kind in ["d", "t"] {
        let both = [maria.table(&format!("s{kind}")), maria.table(&format!("k{kind}"))];
        for sort in ["server", "local"] {
            desk.diff(&[&both[0], &both[1], "--ranges", "8", "--sort", sort]).assert_counts(0, 0, 0);
        }
        maria.sql(&format!("DELETE FROM k{kind} WHERE k = '2024-00-15'"));
        desk.diff(&[&both[0], &both[1], "--ranges", "8"]).assert_counts(1, 0, 0);
    }
}

#[test]
fn o27_a_zero_timestamp_is_no_moment() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql("CREATE TABLE t (id int PRIMARY KEY, t timestamp NULL); INSERT INTO t VALUES (1, '0000-00-00 00:00:00')");
    desk.diff(&[&maria.table("t"), &maria.table("t")]).assert_refused(&["column t", "month or day 0"]);
    desk.diff(&[&maria.table("t"), &maria.table("t"), "--cast", "t=text"]).assert_counts(0, 0, 0);
}

#[test]
fn o31_blanks_tabs_and_newlines_at_the_end() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (id int PRIMARY KEY, v varchar(9)); INSERT INTO t VALUES (1,'abc\\n'),(2,'abc\\t'),(3,'abc '),(4,'abc')");
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, v varchar(9)); INSERT INTO t VALUES (1,E'abc\\n'),(2,E'abc\\t'),(3,'abc '),(4,'abc');
         CREATE TABLE k (id int PRIMARY KEY, v varchar(9)); INSERT INTO k VALUES (1,'abc'),(2,'abc'),(3,'abc'),(4,'abc')",
    );
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("t"), &postgres.table("k")]).assert_counts(0, 0, 3);
    let file = desk.file("k.csv", "id,v\n1,\"abc\n\"\n2,\"abc\t\"\n3,\"abc \"\n4,abc\n");
    desk.diff(&[&maria.table("t"), &file, "-k", "id"]).assert_counts(0, 0, 0);
}

#[test]
fn o37_json_by_document() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, j jsonb);
         INSERT INTO t VALUES (1, '{\"it is\":true,\"that\":[1,2],\"is\":\"in\"}'), (2, '1.0'), (3, '[1,2]'), \
         (4, '{\"a\":2}'), (5, '\"\u{e9}\"'), (6, '12345678901234567890')",
    );
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, j json);
         INSERT INTO t VALUES (1, '{\"is\":\"in\",\"it is\":true,\"that\":[1,2]}'), (2, '1.00'), (3, '[2,1]'), \
         (4, '{\"a\":1,\"a\":2}'), (5, '\"\\\\u00e9\"'), (6, '12345678901234567891')",
    );
    let outcome = desk.diff(&[&postgres.table("t"), &maria.table("t")]);
    outcome.assert_counts(0, 0, 2);
    assert_eq!(desk.differences(&outcome, "SELECT key.id FROM d ORDER BY 1"), "3\n6\n");
    // A text that is stored as it was written is compared as a document too.
    postgres.sql(
        r#"CREATE TABLE w (id int PRIMARY KEY, j json); INSERT INTO w SELECT id, j::text::json FROM t WHERE id <> 4;
           INSERT INTO w VALUES (4, '{"a":1,"a":2}')"#,
    );
    desk.diff(&[&postgres.table("w"), &maria.table("t")]).assert_counts(0, 0, 2);
    // Text without the check is text.
    maria.sql("CREATE TABLE w (id int PRIMARY KEY, j longtext); INSERT INTO w SELECT * FROM t");
    desk.diff(&[&postgres.table("t"), &maria.table("w")]).assert_refused(&["j", "--cast j=json"]);
    desk.diff(&[&postgres.table("t"), &maria.table("w"), "--cast", "j=json"]).assert_counts(0, 0, 2);
}

#[test]
fn o40_names_of_any_kind() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE `Emp` (`order` int PRIMARY KEY, `select` text, `\u{dc}nit` text, `a\"b` text, `c``d` text, `e.f` text);
         INSERT INTO `Emp` VALUES (1, 'a', 'b', 'c', 'd', 'e');
         CREATE TABLE `emp` (`order` int PRIMARY KEY, `select` text); INSERT INTO emp VALUES (7, 'other');
         CREATE TABLE `od``d.t` (`order` int PRIMARY KEY, `select` text); INSERT INTO `od``d.t` VALUES (7, 'other')",
    );
    postgres.sql(
        "CREATE TABLE \"Emp\" (\"order\" int PRIMARY KEY, \"select\" text, \"\u{dc}nit\" text, \"a\"\"b\" text, \"c`d\" text, \"e.f\" text);
         INSERT INTO \"Emp\" VALUES (1, 'a', 'b', 'c', 'd', 'e');
         CREATE TABLE emp (\"order\" int PRIMARY KEY, \"select\" text); INSERT INTO emp VALUES (7, 'other')",
    );
    desk.diff(&[&maria.table("Emp"), &postgres.table("\"Emp\"")]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("emp"), &postgres.table("emp")]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("`od``d.t`"), &postgres.table("emp")]).assert_counts(0, 0, 0);
    let qualified = format!("{}.`Emp`", maria.name());
    desk.diff(&[&maria.table(&qualified), &postgres.table("\"Emp\"")]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("EMP"), &postgres.table("emp")]).assert_refused(&[
        "source",
        "EMP does not exist",
        "near names",
    ]);
}

#[test]
fn o42_generated_and_invisible_columns() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a * 2) STORED, \
         w int GENERATED ALWAYS AS (a * 3) VIRTUAL, h int INVISIBLE DEFAULT 5, KEY (w));
         INSERT INTO t (id, a) VALUES (1, 1), (2, NULL)",
    );
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, a int, g int, w int); INSERT INTO t VALUES (1,1,2,3),(2,NULL,NULL,NULL)",
    );
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 0, 0);
    postgres.sql("UPDATE t SET g = 5 WHERE id = 1");
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 0, 1);
    postgres.sql("UPDATE t SET g = 2 WHERE id = 1; ALTER TABLE t ADD h int DEFAULT 6");
    desk.diff(&[&maria.table("t"), &postgres.table("t"), "-c", "h"]).assert_counts(0, 0, 2);
}

#[test]
fn a_system_versioned_table_as_of_now() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, v int) WITH SYSTEM VERSIONING; INSERT INTO t VALUES (1, 1), (2, 2);
         UPDATE t SET v = 3 WHERE id = 2; DELETE FROM t WHERE id = 1",
    );
    postgres.sql("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (2, 3)");
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 0, 0);
}

#[test]
fn o43_empty_tables() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (id int PRIMARY KEY, v text)");
    postgres.sql("CREATE TABLE e (id int PRIMARY KEY, v text); CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1),(2),(3)");
    desk.diff(&[&maria.table("t"), &postgres.table("e")]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 3, 0);
    desk.diff(&[&postgres.table("t"), &maria.table("t")]).assert_counts(3, 0, 0);
    maria.sql("CREATE TABLE e LIKE t");
    sqlite(&desk, "e.db", "CREATE TABLE e (id int PRIMARY KEY, v text)");
    desk.python(
        "pq.write_table(pa.table({'id': pa.array([], pa.int32()), 'v': pa.array([], pa.string())}), 'e.parquet')
pq.ParquetWriter('none.parquet', pa.schema([('id', pa.int32()), ('v', pa.string())])).close()",
    );
    let full = postgres.table("t");
    for empty in [
        maria.table("e"),
        sqlite_table(&desk, "e.db", "e"),
        desk.file("e.csv", "id,v\n"),
        desk.arg("e.parquet"),
        desk.arg("none.parquet"),
    ] {
        for sides in [[&maria.table("t"), &empty], [&empty, &maria.table("t")]] {
            let outcome = desk.diff(&[sides[0], sides[1], "-k", "id"]);
            outcome.assert_counts(0, 0, 0);
            assert_eq!(outcome.document()["rows"], json!({ "source": 0, "sink": 0 }));
            let found = "SELECT count(*), count(kind), count(key.id), count(source.v) FROM d";
            assert_eq!(desk.differences(&outcome, found), "0 0 0 0\n");
        }
        desk.diff(&[&empty, &full, "-k", "id"]).assert_counts(0, 3, 0);
        desk.diff(&[&full, &empty, "-k", "id"]).assert_counts(3, 0, 0);
    }
    // Rows on MariaDB's side, none on the others'.
    maria.sql("INSERT INTO e VALUES (1, NULL), (2, 'x'), (3, NULL)");
    for empty in [postgres.table("e"), sqlite_table(&desk, "e.db", "e"), desk.arg("none.parquet")] {
        desk.diff(&[&maria.table("e"), &empty, "-k", "id"]).assert_counts(3, 0, 0);
        desk.diff(&[&empty, &maria.table("e"), "-k", "id"]).assert_counts(0, 3, 0);
    }
}

#[test]
fn o55_columns_whose_types_do_not_meet() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, a text, d date, u uuid, only_s int NOT NULL);
         INSERT INTO t VALUES (1, 5, '12', '2024-01-02', '00112233-4455-1677-8899-aabbccddeeff', 1)",
    );
    // That a column may be NULL on one side alone is no difference.
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, n int, a int, d varchar(10), u bytea, only_k int);
         INSERT INTO t VALUES (1, 5, 12, '2024-01-02', '\\x00112233445516778899aabbccddeeff', 1)",
    );
    let both = [maria.table("t"), postgres.table("t")];
    desk.diff(&[&both[0], &both[1]]).assert_refused(&["column a", "column d", "column u", "only_s", "only_k"]);
    desk.diff(&[
        &both[0],
        &both[1],
        "--cast",
        "a=number",
        "--cast",
        "d=date",
        "--cast",
        "u=uuid",
        "--exclude",
        "only_s",
        "--exclude",
        "only_k",
    ])
    .assert_counts(0, 0, 0);
}

#[test]
fn o56_character_sets() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, l varchar(20) CHARACTER SET latin1, u varchar(20) CHARACTER SET utf8mb4, \
         x varchar(20) CHARACTER SET utf8mb4, g varchar(20) CHARACTER SET gbk, k varchar(20) CHARACTER SET ucs2, \
         c varchar(20) CHARACTER SET cp1251, z varchar(20) CHARACTER SET sjis);
         INSERT INTO t VALUES (1, '\u{e9} \u{df} \u{20ac}', '\u{442}\u{435}\u{441}\u{442} \u{1f600}', '?', '\u{4e2d}?', '\u{5d0}?', '\u{442}?', '\u{3042}?')",
    );
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, l text, u text, x text, g text, k text, c text, z text);
         INSERT INTO t VALUES (1, '\u{e9} \u{df} \u{20ac}', '\u{442}\u{435}\u{441}\u{442} \u{1f600}', '?', '\u{4e2d}?', '\u{5d0}?', '\u{442}?', '\u{3042}?')",
    );
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 0, 0);
    postgres.sql("UPDATE t SET u = '?'");
    desk.diff(&[&maria.table("t"), &postgres.table("t")]).assert_counts(0, 0, 1);
}

#[test]
fn o56_what_unicode_lacks_is_an_error_and_no_question_mark() {
    let (desk, maria) = (Desk::new(), Maria::new());
    // 0x98 is no character of cp1251; the server stores the byte and would send a question mark.
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, c varchar(9) CHARACTER SET cp1251);
         INSERT INTO t VALUES (1, 'ok'), (2, CONVERT(x'6198' USING cp1251));
         CREATE TABLE k (id int PRIMARY KEY, c varchar(9)); INSERT INTO k VALUES (1, 'ok'), (2, 'a?')",
    );
    assert_eq!(maria.ask("SELECT HEX(c) FROM t WHERE id = 2"), "6198");
    desk.diff(&[&maria.table("t"), &maria.table("k")]).assert_refused(&["column c", "character that Unicode lacks"]);
    let query = format!("SELECT id, c FROM {}.t", maria.name());
    desk.diff(&[&maria.url(), &maria.table("k"), "--source-query", &query, "-k", "id"])
        .assert_refused(&["column c", "character that Unicode lacks"]);
}
