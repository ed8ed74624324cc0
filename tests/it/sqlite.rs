//! SQLite: storage classes, keys, ranges, names, and its pairs with other stores.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Outcome, Postgres};
use rusqlite::Connection;
use serde_json::json;
use std::fmt::Write as _;
use tieout_testkit::{
    sqlite::{STANDARD_CASTS, load_sqlite},
    table::{STANDARD_SEED, Side, expected},
    write,
};

/// Runs statements on the database `file` of a desk, which is made if it is not there.
#[track_caller]
pub(crate) fn sqlite(desk: &Desk, file: &str, statements: &str) -> Connection {
    let connection = Connection::open(desk.path(file)).unwrap();
    connection.execute_batch(statements).unwrap_or_else(|error| panic_with(&error, statements));
    connection
}

#[expect(clippy::panic, reason = "a test that cannot be set up must fail loudly")]
fn panic_with(error: &rusqlite::Error, statements: &str) {
    panic!("sql failed: {error}\n{statements}");
}

/// Locator of a table in a database of a desk.
pub(crate) fn table(desk: &Desk, file: &str, table: &str) -> String {
    format!("sqlite:{}#{table}", desk.arg(file))
}

/// Compares tables `s` and `k` of the database `t.db`.
fn diff(desk: &Desk, args: &[&str]) -> Outcome {
    let (source, sink) = (table(desk, "t.db", "s"), table(desk, "t.db", "k"));
    let mut all = vec![source.as_str(), sink.as_str()];
    all.extend(args);
    desk.diff(&all)
}

#[test]
fn o05_key_order_is_not_column_order_in_sqlite() {
    let desk = Desk::new();
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (x int, y int, v text, PRIMARY KEY (y, x));
         CREATE TABLE k (v text, y int, x int, PRIMARY KEY (y, x));
         INSERT INTO s (x, y, v) VALUES (1, 2, 'p'), (2, 1, 'q');
         INSERT INTO k (x, y, v) VALUES (1, 2, 'p'), (3, 0, 'r');",
    );
    let outcome = diff(&desk, &[]);
    outcome.assert_counts(1, 1, 0);
    assert_eq!(desk.differences(&outcome, "SELECT kind, key.y, key.x FROM d ORDER BY 1"), "extra 0 3\nmissing 1 2\n");
}

#[test]
fn o06_composite_keys_do_not_collide_when_glued() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let rows = |first: char, second: char| format!("INSERT INTO t VALUES (1, 11, '{first}'), (11, 1, '{second}')");
    postgres.sql(&format!("CREATE TABLE t (u int, g int, v text, PRIMARY KEY (u, g)); {}", rows('a', 'b')));
    let connection = sqlite(&desk, "t.db", "CREATE TABLE t (u int, g int, v text, PRIMARY KEY (u, g))");
    connection.execute_batch(&rows('a', 'b')).unwrap();
    let (source, sink) = (postgres.table("t"), table(&desk, "t.db", "t"));
    let outcome = desk.diff(&[&source, &sink]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["counts"]["duplicate"], 0);
    connection.execute_batch(&format!("DELETE FROM t; {}", rows('b', 'a'))).unwrap();
    desk.diff(&[&source, &sink]).assert_counts(0, 0, 2);

    postgres.sql("CREATE TABLE d (a text, b text, v int, PRIMARY KEY (a, b)); INSERT INTO d VALUES ('doc-7', '12', 1), ('doc-71', '2', 2)");
    connection
        .execute_batch(
            "CREATE TABLE d (a text, b text, v int, PRIMARY KEY (a, b)); INSERT INTO d VALUES ('doc-7', '12', 1), ('doc-71', '2', 2)",
        )
        .unwrap();
    desk.diff(&[&postgres.table("d"), &table(&desk, "t.db", "d")]).assert_counts(0, 0, 0);
    connection.execute_batch("UPDATE d SET v = 3 - v").unwrap();
    desk.diff(&[&postgres.table("d"), &table(&desk, "t.db", "d")]).assert_counts(0, 0, 2);
}

#[test]
fn o12_null_in_the_key_of_sqlite() {
    let desk = Desk::new();
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (a int, b text, v text); CREATE TABLE k (a int, b text, v text);
         INSERT INTO s VALUES (1, 'A', 'x'), (2, NULL, 'y'), (2, NULL, 'y'), (3, NULL, 'z');
         INSERT INTO k VALUES (1, 'A', 'x'), (2, NULL, 'y'), (3, NULL, 'w');",
    );
    for sort in ["auto", "server", "local"] {
        let outcome = diff(&desk, &["-k", "a", "-k", "b", "--sort", sort]);
        outcome.assert_counts(1, 0, 1);
        // No row is skipped, and the right ones are named.
        assert_eq!(outcome.document()["rows"], json!({ "source": 4, "sink": 3 }));
        assert_eq!(outcome.document()["null_key_rows"], json!({ "source": 3, "sink": 2 }));
        assert_eq!(outcome.document()["duplicates"]["source"], json!({ "keys": 1, "surplus": 1 }));
        let found = "SELECT kind, key.a, key.b, occurrences, source.v, sink.v FROM d ORDER BY 2";
        assert_eq!(desk.differences(&outcome, found), "missing 2 None 1 y None\nchanged 3 None 1 z w\n");
    }
    // An index over the key, so that ranges are read apart.
    sqlite(&desk, "t.db", "CREATE INDEX si ON s (a, b); CREATE INDEX ki ON k (a, b)");
    let outcome = diff(&desk, &["-k", "a", "-k", "b", "--ranges", "4"]);
    outcome.assert_counts(1, 0, 1);
    assert_eq!(outcome.document()["plan"]["order"]["source"], "server-ranges", "{}", outcome.stdout);
}

#[test]
fn o14_numeric_keys_beyond_2_to_the_53() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let keys = ["123456789012345678901234567890", "123456789012345678901234567891", "123456789012345678901234567892"];
    let rows: Vec<String> = keys.iter().map(|key| format!("('{key}', 1)")).collect();
    postgres.sql(&format!(
        "CREATE TABLE a (id numeric(38,0) PRIMARY KEY, v int); INSERT INTO a VALUES {0};
         CREATE TABLE b (id int PRIMARY KEY, v int); INSERT INTO b VALUES (9, 1), (10, 1), (100, 1);",
        rows.join(", ")
    ));
    sqlite(
        &desk,
        "t.db",
        &format!(
            "CREATE TABLE a (id text PRIMARY KEY, v int); INSERT INTO a VALUES {0};
             CREATE TABLE b (id integer PRIMARY KEY, v int); INSERT INTO b VALUES (9, 1), (11, 1), (100, 1);
             CREATE TABLE c (id text PRIMARY KEY, v int); INSERT INTO c VALUES ('9', 1), ('11', 1), ('100', 1);",
            rows.join(", ")
        ),
    );
    let sink = |name: &str| table(&desk, "t.db", name);
    let outcome = desk.diff(&[&postgres.table("a"), &sink("a"), "--cast", "id=number"]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(
        (&outcome.document()["counts"]["matched"], &outcome.document()["counts"]["duplicate"]),
        (&3.into(), &0.into())
    );
    let outcome = desk.diff(&[&postgres.table("b"), &sink("b")]);
    outcome.assert_counts(1, 1, 0);
    assert_eq!(desk.differences(&outcome, "SELECT kind, key.id FROM d ORDER BY 1"), "extra 11\nmissing 10\n");
    desk.diff(&[&postgres.table("b"), &sink("c"), "--cast", "id=number"]).assert_counts(1, 1, 0);
    // Without the cast each key of the sink is of the wrong class.
    desk.diff(&[&postgres.table("b"), &sink("c")]).assert_refused(&[
        "sink",
        "column id",
        "mixed storage classes",
        "--cast id=number",
    ]);
}

#[test]
fn whole_numbers_of_64_bits_and_bounds_beyond_them() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let mut rows = String::from("(-9223372036854775808), (-1), (0), (1), (9223372036854775807)");
    for step in 1..200_i64 {
        write!(rows, ", ({}), ({})", step * 46_000_000_000_000_000 - 3, -step * 46_000_000_000_000_000).unwrap();
    }
    sqlite(&desk, "t.db", &format!("CREATE TABLE k (id integer PRIMARY KEY); INSERT INTO k VALUES {rows}"));
    let decimals = rows.replace(')', ".0)");
    postgres.sql(&format!(
        "CREATE TABLE s (id numeric PRIMARY KEY); INSERT INTO s VALUES {decimals};
         CREATE TABLE f (id numeric PRIMARY KEY); INSERT INTO f SELECT id + 0.5 FROM s;
         INSERT INTO f VALUES (1e30), (-1e30), ('NaN'), (0.1), (9007199254740993.25);"
    ));
    let sink = table(&desk, "t.db", "k");
    let outcome = desk.diff(&[&postgres.table("s"), &sink, "--ranges", "8"]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["coverage"]["ranges_total"], 8, "{}", outcome.stdout);
    // Cuts that no row of the sink can be.
    for ranges in ["8", "100"] {
        desk.diff(&[&postgres.table("f"), &sink, "--ranges", ranges]).assert_counts(408, 403, 0);
    }
}

#[test]
fn o32_null_and_every_sentinel_of_sqlite() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres
        .sql("CREATE TABLE s (id int PRIMARY KEY, s text); INSERT INTO s SELECT i, NULL FROM generate_series(1, 5) i");
    let connection = sqlite(
        &desk,
        "t.db",
        "CREATE TABLE k (id integer PRIMARY KEY, s text);
         INSERT INTO k VALUES (1, 'NULL'), (2, '<null>'), (3, ''), (4, '\\N'), (5, 'DATACOMPY_NULL')",
    );
    desk.diff(&[&postgres.table("s"), &table(&desk, "t.db", "k")]).assert_counts(0, 0, 5);
    connection.execute_batch("UPDATE k SET s = NULL").unwrap();
    desk.diff(&[&postgres.table("s"), &table(&desk, "t.db", "k")]).assert_counts(0, 0, 0);
}

#[test]
fn o34_nul_in_text() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (id integer PRIMARY KEY, t text); INSERT INTO s VALUES (1, CAST(x'610062' AS TEXT));
         CREATE TABLE k (id integer PRIMARY KEY, t text); INSERT INTO k VALUES (1, 'a');
         CREATE TABLE keys (t text PRIMARY KEY, v int); INSERT INTO keys VALUES (CAST(x'610062' AS TEXT), 1), ('a', 2);",
    );
    diff(&desk, &[]).assert_counts(0, 0, 1);
    // PostgreSQL cannot hold the text; what a tool that cuts it would have written differs.
    postgres.sql("CREATE TABLE k (id int PRIMARY KEY, t text); INSERT INTO k VALUES (1, 'a')");
    desk.diff(&[&table(&desk, "t.db", "s"), &postgres.table("k")]).assert_counts(0, 0, 1);
    desk.python("pq.write_table(pa.table({'id': pa.array([1], pa.int64()), 't': ['a\\0b']}), 'k.parquet')");
    desk.diff(&[&table(&desk, "t.db", "s"), &desk.arg("k.parquet"), "-k", "id"]).assert_counts(0, 0, 0);
    desk.python("pq.write_table(pa.table({'t': ['a', 'a\\0b'], 'v': pa.array([2, 1], pa.int64())}), 'keys.parquet')");
    desk.diff(&[&table(&desk, "t.db", "keys"), &desk.arg("keys.parquet"), "--ranges", "2"]).assert_counts(0, 0, 0);
}

#[test]
fn o35_affinity_of_sqlite() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let connection = sqlite(
        &desk,
        "t.db",
        "CREATE TABLE p (id integer primary key, label string, i int, t text);
         INSERT INTO p VALUES (1, '00123', '12.0', '007'), (2, '12e3', 'abc', 12);",
    );
    postgres.sql(
        "CREATE TABLE p (id int PRIMARY KEY, label text, i text, t text);
         INSERT INTO p VALUES (1, '00123', '12.0', '007'), (2, '12e3', 'abc', '12');",
    );
    let (source, sink) = (table(&desk, "t.db", "p"), postgres.table("p"));
    let outcome = desk.diff(&[&source, &sink]);
    outcome.assert_counts(0, 0, 2);
    assert_eq!(
        desk.differences(
            &outcome,
            "SELECT key.id, changed_columns, source.label, sink.label, source.i, sink.i, source.t FROM d ORDER BY 1"
        ),
        "1 ['label', 'i'] 123 00123 12 12.0 007\n2 ['label'] 12000 12e3 abc abc 12\n"
    );
    // A cell equals an identical one of another database, of whatever class.
    connection.execute_batch("CREATE TABLE q (id integer primary key, label text, i text, t blob)").unwrap();
    connection.execute_batch("INSERT INTO q SELECT * FROM p").unwrap();
    let outcome = desk.diff(&[&source, &table(&desk, "t.db", "q")]);
    // TEXT affinity turned the numbers into text: 123, 12000 and 12.
    outcome.assert_counts(0, 0, 2);
    assert_eq!(
        desk.differences(&outcome, "SELECT key.id, changed_columns FROM d ORDER BY 1"),
        "1 ['label', 'i']\n2 ['label']\n"
    );
}

#[test]
fn cells_of_every_class_are_compared_as_what_they_are() {
    let desk = Desk::new();
    let cells = ["NULL", "12", "12.0", "12.5", "'12'", "'12.0'", "x'3132'", "'abc'", "x''", "''", "9e999", "'\u{e4}'"];
    for (one, other) in [("", ""), ("blob", ""), ("", "blob"), ("blob", "blob")] {
        let mut statements = format!(
            "BEGIN; DROP TABLE IF EXISTS s; DROP TABLE IF EXISTS k;
             CREATE TABLE s (id integer primary key, c {one}); CREATE TABLE k (id integer primary key, c {other});"
        );
        for (row, mine) in cells.iter().enumerate() {
            for (column, other) in cells.iter().enumerate() {
                let id = row * 100 + column;
                write!(statements, "INSERT INTO s VALUES ({id}, {mine}); INSERT INTO k VALUES ({id}, {other});")
                    .unwrap();
            }
        }
        statements.push_str("COMMIT");
        sqlite(&desk, "t.db", &statements);
        let outcome = diff(&desk, &[]);
        // 12 and 12.0 are one number; all others are equal to themselves alone.
        outcome.assert_counts(0, 0, 144 - 12 - 2);
        let equal = "SELECT count(*) FROM d WHERE key.id % 100 = key.id // 100 OR key.id IN (102, 201)";
        assert_eq!(desk.differences(&outcome, equal), "0\n");
    }
}

#[test]
fn cells_that_do_not_fit_are_shown_in_the_differences() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (id integer primary key, n int, f real, t text, b blob);
         INSERT INTO s VALUES (1, 'abc', 'x', x'00ff', 'txt'), (2, 7, 0.5, 'same', x'01'), (3, 2.5, 9007199254740993, 'a', 5);",
    );
    postgres.sql(
        "CREATE TABLE k (id int primary key, n int, f float8, t text, b bytea);
         INSERT INTO k VALUES (1, 5, 1.5, 'hi', '\\x02'), (2, 7, 0.5, 'same', '\\x01'), (3, 2, 9007199254740992, 'a', '\\x05');",
    );
    let outcome = desk.diff(&[&table(&desk, "t.db", "s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 2);
    assert_eq!(
        desk.differences(
            &outcome,
            "SELECT changed_columns, source.n, source.f, source.t, source.b, sink.b FROM d ORDER BY key.id"
        ),
        "['n', 'f', 't', 'b'] abc x \\x00ff txt \\x02\n['n', 'b'] 2.5 9007199254740992 a 5 \\x05\n"
    );
    let beyond = "SELECT list_transform(beyond_type, lambda x: concat_ws(' ', x['side'], x['column'], x['value'])) FROM d ORDER BY key.id";
    assert_eq!(
        desk.differences(&outcome, beyond),
        "['source n abc', 'source f x', 'source t \\\\x00ff', 'source b txt']\n['source b 5']\n"
    );
}

#[test]
fn o43_empty_tables_of_sqlite() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let columns = "id int PRIMARY KEY, v text";
    postgres.sql(&format!(
        "CREATE TABLE t ({columns}); CREATE TABLE e ({columns}); INSERT INTO t VALUES (1,'a'),(2,'b'),(3,NULL)"
    ));
    sqlite(
        &desk,
        "t.db",
        &format!(
            "CREATE TABLE t ({columns}); CREATE TABLE e ({columns}); INSERT INTO t VALUES (1,'a'),(2,'b'),(3,NULL)"
        ),
    );
    let (full, empty) = (table(&desk, "t.db", "t"), table(&desk, "t.db", "e"));
    let outcome = desk.diff(&[&empty, &postgres.table("e")]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(desk.differences(&outcome, "SELECT count(*), count(source.v), count(key.id) FROM d"), "0 0 0\n");
    desk.diff(&[&empty, &postgres.table("t")]).assert_counts(0, 3, 0);
    desk.diff(&[&full, &postgres.table("e")]).assert_counts(3, 0, 0);
    desk.diff(&[&empty, &full]).assert_counts(0, 3, 0);
    desk.diff(&[&full, &desk.file("e.csv", "id,v\n"), "-k", "id"]).assert_counts(3, 0, 0);
    desk.diff(&[&full, &desk.file("t.csv", "id,v\n1,a\n2,b\n3,\n"), "-k", "id"]).assert_counts(0, 0, 0);
}

#[test]
fn databases_that_are_not_there_are_never_made() {
    let desk = Desk::new();
    sqlite(&desk, "t.db", "CREATE TABLE t (id integer primary key); CREATE TABLE other (id integer primary key)");
    let good = table(&desk, "t.db", "t");
    let refused = |locator: &str, texts: &[&str]| {
        let mut all = vec!["sink"];
        all.extend(texts);
        desk.diff(&[&good, locator]).assert_refused(&all);
    };
    refused(&table(&desk, "absent.db", "t"), &["no such file", "none is created"]);
    assert!(!desk.path("absent.db").exists());
    std::fs::create_dir(desk.path("folder.db")).unwrap();
    refused(&table(&desk, "folder.db", "t"), &["directory"]);
    desk.file(
        "text.db",
        "this is a text file, and not a short one: it has more bytes than a header of a database, which are a hundred",
    );
    refused(&table(&desk, "text.db", "t"), &["not an SQLite database"]);
    desk.file("empty.db", "");
    refused(&table(&desk, "empty.db", "t"), &["no table or view t", "holds no tables"]);
    refused(&table(&desk, "t.db", "absent"), &["no table or view absent", "other, t"]);
    refused("sqlite::memory:#t", &["no such file"]);
    refused("sqlite:file:absent.db?mode=rwc#t", &["question mark"]);
    refused(&format!("sqlite:{}", desk.arg("t.db")), &["table after a #"]);
}

#[test]
fn names_and_paths() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let create =
        r#"CREATE TABLE "od""d t.x" ("order" int PRIMARY KEY, "select" text, "\"u\u{dc}nit" text, "a""b" text);
        INSERT INTO "od""d t.x" VALUES (1, 's', 'u', 'q'), (2, NULL, 'v', '');"#
            .replace("\\\"u\\u{dc}", "\u{dc}");
    postgres.sql(&create);
    sqlite(&desk, "my #1 50%.db", &create);
    let source = postgres.table("\"od\"\"d t.x\"");
    let path = desk.path("my %231 50%25.db").to_str().unwrap().to_owned();
    for locator in [format!("sqlite:{path}#\"od\"\"d t.x\""), format!("sqlite://{path}#main.\"OD\"\"D%20t.x\"")] {
        desk.diff(&[&source, &locator]).assert_counts(0, 0, 0);
        desk.diff(&[&locator, &source, "-c", "select"]).assert_counts(0, 0, 0);
    }
    // Relative to the working directory; names of columns differ in case alone.
    sqlite(&desk, "t.db", "CREATE TABLE s (Id integer primary key, V text); INSERT INTO s VALUES (1, 'a')");
    desk.diff(&["sqlite:t.db#S", &desk.file("k.csv", "id,v\n1,a\n"), "-k", "id"]).assert_counts(0, 0, 0);
}

#[test]
fn views_queries_filters_and_other_kinds_of_tables() {
    let desk = Desk::new();
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (id integer primary key, v int, w int AS (v * 2) STORED, x int AS (v + 1));
         INSERT INTO s (id, v) SELECT value, value * 10 FROM generate_series(1, 50)"
            .replace("generate_series(1, 50)", "json_each('[1,2,3,4,5,6,7,8,9,10]')")
            .as_str(),
    );
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE k (id int primary key, v int, w int, x int) WITHOUT ROWID; INSERT INTO k SELECT * FROM s;
         CREATE TABLE strict (id int primary key, v int, w any, x int) STRICT; INSERT INTO strict SELECT * FROM s;
         CREATE VIEW few AS SELECT * FROM s WHERE id <= 3;
         CREATE VIRTUAL TABLE words USING fts5(w);
         INSERT INTO words VALUES ('one'), ('two');
         CREATE TABLE plain (w); INSERT INTO plain VALUES ('one'), ('three');",
    );
    let at = |name: &str| table(&desk, "t.db", name);
    for sink in ["k", "strict"] {
        desk.diff(&[&at("s"), &at(sink)]).assert_counts(0, 0, 0);
        desk.diff(&[&at(sink), &at("few"), "-k", "id"]).assert_counts(7, 0, 0);
        desk.diff(&[&at("few"), &at(sink), "-k", "id", "--sink-where", "id < 3"]).assert_counts(1, 0, 0);
        desk.diff(&[&at("s"), &at(sink), "--where", "v % 20 = 0", "--ranges", "3"]).assert_counts(0, 0, 0);
    }
    sqlite(&desk, "t.db", "UPDATE k SET w = 5 WHERE id = 4; UPDATE k SET x = 5 WHERE id = 5");
    desk.diff(&[&at("s"), &at("k")]).assert_counts(0, 0, 2);
    desk.diff(&[&at("words"), &at("plain"), "-k", "w"]).assert_counts(1, 1, 0);
    let query = "SELECT id, v AS v FROM s WHERE id > 8";
    desk.diff(&[&at("x"), &at("strict"), "--source-query", query, "-k", "id", "-c", "v", "--sink-where", "id > 7"])
        .assert_counts(0, 1, 0);
    desk.diff(&[&at("s"), &at("k"), "--where", "id < random()"]).assert_refused(&["random"]);
    desk.diff(&[&at("s"), &at("k"), "--where", "nosuch = 1"]).assert_refused(&["reading the filter", "nosuch"]);
    desk.diff(&[&at("s"), &at("k"), "--where", "\"nosuch\" = 1"]).assert_refused(&["reading the filter", "nosuch"]);
    desk.diff(&[&at("s"), &at("k"), "--source-query", "DELETE FROM s", "-k", "id"])
        .assert_refused(&["source", "query"]);
    desk.diff(&[&at("s"), &at("k"), "--source-query", "SELECT 1; SELECT 2", "-k", "id"]).assert_refused(&["semicolon"]);
}

#[test]
fn keys_of_mixed_classes_are_refused() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let connection = sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (id int primary key, v int); INSERT INTO s VALUES (1, 1), (2, 2), ('abc', 3);
         CREATE TABLE k (id int primary key, v int); INSERT INTO k VALUES (1, 1), (2, 2), (3, 3);",
    );
    for args in [&[][..], &["--ranges", "3"], &["--sort", "local"]] {
        diff(&desk, args).assert_refused(&["source", "column id", "mixed storage classes", "--cast id=text"]);
    }
    diff(&desk, &["--cast", "id=text"]).assert_counts(1, 1, 0);
    connection.execute_batch("DELETE FROM s; INSERT INTO s VALUES (1, 1), (2.5, 2), (3, 3)").unwrap();
    let outcome = diff(&desk, &["--ranges", "3"]);
    outcome.assert_counts(1, 1, 0);
    postgres.sql("CREATE TABLE k (id numeric primary key, v int); INSERT INTO k VALUES (1, 1), (2.5, 2), (3, 3)");
    desk.diff(&[&postgres.table("k"), &table(&desk, "t.db", "s"), "--ranges", "3"]).assert_counts(0, 0, 0);
}

#[test]
fn text_that_is_not_utf8_is_an_error_that_names_the_key() {
    let desk = Desk::new();
    let connection = sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (id integer primary key, t text, n int); CREATE TABLE k (id integer primary key, t text, n int);
         INSERT INTO k VALUES (17, 'a', 1); INSERT INTO s VALUES (17, CAST(x'61ff' AS TEXT), 1);",
    );
    diff(&desk, &[]).assert_refused(&["source", "column t", "UTF-8", "key 17"]);
    connection.execute_batch("UPDATE s SET t = 'a', n = CAST(x'ff' AS TEXT)").unwrap();
    diff(&desk, &[]).assert_refused(&["source", "column n", "UTF-8", "key 17"]);
    connection.execute_batch("UPDATE s SET n = 'nonsense'").unwrap();
    diff(&desk, &["--cast", "n=number"]).assert_refused(&["source", "column n", "number", "key 17"]);
    connection.execute_batch("UPDATE s SET n = x'01'").unwrap();
    diff(&desk, &["--cast", "n=date"]).assert_refused(&["source", "column n", "date", "key 17"]);
}

#[test]
fn databases_of_utf16() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let keys = ["a", "\u{e4}", "\u{e000}", "\u{ff5e}", "\u{1f600}", "b\u{0}c", ""];
    postgres.sql("CREATE TABLE s (k text primary key, v text, n int)");
    for encoding in ["UTF-16le", "UTF-16be"] {
        let file = format!("{encoding}.db");
        let connection = sqlite(
            &desk,
            &file,
            &format!("PRAGMA encoding = '{encoding}'; CREATE TABLE s (k text primary key, v text, n int)"),
        );
        for (index, key) in keys.iter().enumerate() {
            connection.execute("INSERT INTO s VALUES (?1, ?1, ?2)", rusqlite::params![key, index]).unwrap();
            if !key.contains('\0') && encoding == "UTF-16le" {
                postgres.sql(&format!("INSERT INTO s VALUES ('{key}', '{key}', {index})"));
            }
        }
        let at = table(&desk, &file, "s");
        let outcome = desk.diff(&[&at, &postgres.table("s"), "--ranges", "3"]);
        outcome.assert_counts(1, 0, 0);
        assert_eq!(outcome.document()["plan"]["order"]["source"], "local", "{}", outcome.stdout);
        connection.execute("INSERT INTO s VALUES ('z', CAST(x'00d8' AS TEXT), 1)", []).unwrap();
        connection
            .execute("UPDATE s SET v = CAST(x'd800' AS TEXT) WHERE k = 'z' AND ?1", [encoding == "UTF-16be"])
            .unwrap();
        desk.diff(&[&at, &postgres.table("s")]).assert_refused(&["source", "column v", "key z"]);
    }
}

#[test]
fn floats_are_no_decimals() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int primary key, a numeric(12,2), f float8, w numeric(12,0));
         INSERT INTO s VALUES (1, 0.5, 0.1, 3), (2, 0.1, 1e300, 4)",
    );
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE k (id integer primary key, a real, f real, w real); INSERT INTO k VALUES (1, 0.5, 0.1, 3), (2, 0.1, 1e300, 4);
         CREATE TABLE t (id integer primary key, a text, f text, w text); INSERT INTO t VALUES (1, '0.50', '0.1', '3'), (2, '.1', '1e300', '4.0')",
    );
    let (source, sink) = (postgres.table("s"), table(&desk, "t.db", "k"));
    desk.diff(&[&source, &sink]).assert_refused(&["column a", "numeric(12,2)", "REAL", "--cast a=number"]);
    let outcome = desk.diff(&[&source, &sink, "--cast", "a=number"]);
    outcome.assert_counts(0, 0, 1);
    assert_eq!(desk.differences(&outcome, "SELECT key.id, changed_columns FROM d"), "2 ['a']\n");
    // Keys of floats beside whole numbers: by value.
    postgres.sql(
        "CREATE TABLE n (id bigint primary key, v int); INSERT INTO n VALUES (1, 1), (2, 2), (9007199254740993, 3)",
    );
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE n (id real primary key, v int); INSERT INTO n VALUES (1, 1), (2, 2), (9007199254740993, 3)",
    );
    desk.diff(&[&postgres.table("n"), &table(&desk, "t.db", "n")]).assert_counts(1, 1, 0);
    let casts = ["--cast", "a=number", "--cast", "f=float", "--cast", "w=number"];
    desk.diff(&[&[source.as_str(), &table(&desk, "t.db", "t")][..], &casts].concat()).assert_counts(0, 0, 0);
}

#[test]
fn casts_of_cells() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int primary key, d date, ts timestamp, z timestamptz, u uuid, b bool, j jsonb, bin bytea);
         INSERT INTO s VALUES (1, '2024-01-02', '2024-01-02 03:04:05.5', '2024-01-02 03:04:05+02',
           '00112233-4455-6677-8899-aabbccddeeff', true, '12', '\\x00ff'),
          (2, NULL, NULL, NULL, NULL, false, '{\"a\": 1.50}', NULL)",
    );
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE k (id integer primary key, d date, ts datetime, z text, u blob, b boolean, j json, bin blob);
         INSERT INTO k VALUES (1, '2024-01-02', '2024-01-02 03:04:05.500', '2024-01-02 01:04:05Z',
           x'00112233445566778899aabbccddeeff', 1, '12', x'00ff'),
          (2, NULL, NULL, NULL, NULL, 0, '{\"a\": 1.5}', NULL)",
    );
    let (source, sink) = (postgres.table("s"), table(&desk, "t.db", "k"));
    desk.diff(&[&source, &sink]).assert_refused(&[
        "--cast d=date",
        "--cast ts=timestamp",
        "--cast z=timestamptz",
        "--cast u=uuid",
        "--cast j=json",
    ]);
    let casts = ["d=date", "ts=timestamp", "z=timestamptz", "u=uuid", "j=json"];
    let mut args = vec![source.as_str(), sink.as_str()];
    for cast in casts {
        args.extend(["--cast", cast]);
    }
    desk.diff(&args).assert_counts(0, 0, 0);
}

/// Reads 3000 rows of each family of keys in 8 ranges, of which the sink lacks 3, has 4 more, and 3 others.
#[test]
fn every_family_of_keys_in_ranges() {
    let desk = Desk::new();
    let families = [
        ("rowid", "id integer primary key", "i"),
        ("number", "id int primary key", "i * 7 - 9000"),
        ("fraction", "id numeric primary key", "i / 8.0 - 100"),
        ("float", "id real primary key", "i / 8.0 - 100"),
        ("text", "id text primary key", "printf('%05d\u{e4}', i * 3)"),
        ("folded", "id text collate nocase primary key", "printf('k%05d', i)"),
        ("blob", "id blob primary key", "CAST(printf('%05d', i) AS BLOB)"),
        ("untyped", "id primary key", "printf('%05d', i)"),
        ("without", "id text primary key, x int default 0", "printf('%05d', i)"),
        ("descending", "id int, UNIQUE (id DESC)", "i"),
        ("nullable", "id int UNIQUE", "nullif(i, 1)"),
        ("decimals as text", "id text primary key", "printf('%d.5', i)"),
    ];
    for (name, column, value) in families {
        let tail = if name == "without" { " WITHOUT ROWID" } else { "" };
        sqlite(
            &desk,
            "t.db",
            &format!(
                "DROP TABLE IF EXISTS s; DROP TABLE IF EXISTS k;
                 CREATE TABLE s (v int, {0}){tail}; CREATE TABLE k (v int, {0}){tail};
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                 INSERT INTO s (v, id) SELECT i, {value} FROM n;
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3004)
                 INSERT INTO k (v, id) SELECT iif(i IN (40, 1500, 2999), -i, i), {value} FROM n WHERE i NOT IN (2, 700, 3000);",
                column.replace(", UNIQUE", ", w int, UNIQUE")
            ),
        );
        let mut args = vec!["-k", "id", "--ranges", "8"];
        if name == "decimals as text" {
            args.extend(["--cast", "id=number"]);
        }
        let outcome = diff(&desk, &args);
        outcome.assert_counts(3, 4, 3);
        let document = outcome.document();
        let apart = !matches!(name, "folded" | "descending" | "decimals as text");
        assert_eq!(
            document["plan"]["order"]["source"] == "server-ranges",
            apart,
            "{name} {}",
            document["plan"]["order"]
        );
        assert!(document["coverage"]["ranges_total"].as_u64().unwrap() >= 8, "{name}");
        let one = diff(&desk, &[&args[..2], &args[4..], &["--sort", "local", "--ranges", "1"]].concat());
        one.assert_counts(3, 4, 3);
    }
}

#[test]
fn composite_keys_in_ranges() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    for (number, (columns, unique)) in
        [("a text, b int", ""), ("a text not null, b int not null", ", primary key (a, b)")].into_iter().enumerate()
    {
        let nulls = if number == 0 { "nullif(i % 5, 0)" } else { "i % 5" };
        postgres.sql(&format!(
            "DROP TABLE IF EXISTS s; CREATE TABLE s ({columns}, v int{unique});
             INSERT INTO s SELECT 'k' || ({nulls}), i, i FROM generate_series(1, 3000) i WHERE i NOT IN (3, 4)"
        ));
        sqlite(
            &desk,
            "t.db",
            &format!(
                "DROP TABLE IF EXISTS k; CREATE TABLE k ({columns}, v int{unique}); CREATE INDEX ki ON k (a, b);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                 INSERT INTO k SELECT 'k' || ({nulls}), i, iif(i = 2000, 0, i) FROM n WHERE i <> 10"
            ),
        );
        let (server, file) = (postgres.table("s"), table(&desk, "t.db", "k"));
        for ranges in ["1", "8", "200"] {
            let keys = ["-k", "a", "-k", "b", "--ranges", ranges];
            desk.diff(&[&[server.as_str(), &file][..], &keys].concat()).assert_counts(1, 2, 1);
            desk.diff(&[&[file.as_str(), &server][..], &keys].concat()).assert_counts(2, 1, 1);
        }
    }
}

#[test]
fn a_table_without_a_key_is_a_multiset() {
    let desk = Desk::new();
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE s (a, b); CREATE TABLE k (a, b);
         INSERT INTO s VALUES (1, 'x'), (1, 'x'), ('1', 'x'), (NULL, NULL); INSERT INTO k VALUES (1, 'x'), (NULL, NULL), ('1', 'x'), (x'31', 'x');",
    );
    diff(&desk, &[]).assert_counts(1, 1, 0);
    // A primary key that holds NULL guarantees nothing; one that could but does not is a key.
    let connection = sqlite(
        &desk,
        "t.db",
        "DROP TABLE s; DROP TABLE k; CREATE TABLE s (a text primary key, b int); CREATE TABLE k (a text primary key, b int);
         INSERT INTO s VALUES ('p', 1), ('q', 2); INSERT INTO k VALUES ('p', 1), ('q', 3);",
    );
    diff(&desk, &[]).assert_counts(0, 0, 1);
    connection.execute_batch("INSERT INTO s VALUES (NULL, 1), (NULL, 2); INSERT INTO k VALUES (NULL, 1)").unwrap();
    diff(&desk, &["-k", "a"]).assert_counts(1, 0, 1);
}

/// `--cast` arguments of the standard table.
fn casts() -> Vec<&'static str> {
    STANDARD_CASTS.into_iter().flat_map(|cast| ["--cast", cast]).collect()
}

#[test]
fn the_standard_table_meets_that_of_other_stores() {
    const ROWS: u64 = 20_500;
    let (desk, postgres) = (Desk::new(), Postgres::new());
    load_sqlite(&desk.path("t.db"), "s", STANDARD_SEED, ROWS, Side::Source).unwrap();
    load_sqlite(&desk.path("t.db"), "k", STANDARD_SEED, ROWS, Side::Sink).unwrap();
    write::write_csv(&desk.path("s.csv"), STANDARD_SEED, ROWS, Side::Source).unwrap();
    write::write_csv(&desk.path("k.csv"), STANDARD_SEED, ROWS, Side::Sink).unwrap();
    write::write_parquet(&desk.path("s.parquet"), STANDARD_SEED, ROWS, Side::Source).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&postgres.url(), tokio_postgres::NoTls).await.unwrap();
        let driver = tokio::task::spawn(connection);
        write::load_postgres(&client, "s", STANDARD_SEED, ROWS, Side::Source).await.unwrap();
        write::load_postgres(&client, "k", STANDARD_SEED, ROWS, Side::Sink).await.unwrap();
        driver.abort();
    });
    let (source, sink) = (table(&desk, "t.db", "s"), table(&desk, "t.db", "k"));
    let found = expected(ROWS);
    let run = |source: &str, sink: &str, more: &[&str]| {
        let outcome = desk.diff(&[&[source, sink, "-k", "id"][..], &casts(), more].concat());
        outcome.assert_counts(found.missing, found.extra, found.changed);
        outcome.document()["digest"].clone()
    };
    let first = run(&source, &sink, &["--ranges", "8"]);
    let folder = std::fs::read_dir(desk.path("runs")).unwrap().next().unwrap().unwrap().path();
    let cuts = ["--ranges-from", folder.to_str().unwrap()];
    for (one, other) in [
        (source.clone(), postgres.table("k")),
        (postgres.table("s"), sink.clone()),
        (source.clone(), desk.arg("k.csv")),
        (desk.arg("s.parquet"), sink.clone()),
        (desk.arg("s.csv"), sink.clone()),
        (postgres.table("s"), postgres.table("k")),
    ] {
        assert_eq!(run(&one, &other, &cuts), first, "{one} {other}");
    }
}

#[test]
fn views_that_answer_each_read_anew_are_refused() {
    let desk = Desk::new();
    sqlite(
        &desk,
        "t.db",
        "CREATE TABLE t (id integer PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2);
         CREATE VIEW chance AS SELECT * FROM t WHERE random() % 2 = 0; CREATE VIEW \"over it\" AS SELECT * FROM chance;
         CREATE VIEW clock AS SELECT id, datetime('now') AS n FROM t; CREATE VIEW still AS SELECT * FROM t",
    );
    for (view, word) in [("chance", "random"), ("over it", "random"), ("clock", "'now'")] {
        let view = table(&desk, "t.db", view);
        desk.diff(&[&view, &view, "-k", "id"]).assert_refused(&[word, "differs between the reads"]);
    }
    let plain = table(&desk, "t.db", "t");
    let filter = "id IN (SELECT id FROM chance)";
    desk.diff(&[&plain, &plain, "-w", filter]).assert_refused(&["view chance", "random"]);
    let query = "SELECT * FROM chance";
    desk.diff(&[&plain, &plain, "-k", "id", "--source-query", query]).assert_refused(&["view chance"]);
    let still = table(&desk, "t.db", "still");
    desk.diff(&[&still, &plain, "-k", "id"]).assert_counts(0, 0, 0);
}
