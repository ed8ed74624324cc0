//! What rows a side consists of: privileges, policies, views, partitions, queries, filters, names, session settings.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    connect::server_with_a_table,
    harness::{Desk, Postgres},
};
use serde_json::Value;

#[test]
fn a_login_without_rights_gets_an_error() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    server
        .execute(
            "CREATE ROLE reader LOGIN; CREATE TABLE closed (id int PRIMARY KEY, v int);
             INSERT INTO closed SELECT i, i FROM generate_series(1, 10) i;
             CREATE TABLE half (id int PRIMARY KEY, v int); GRANT SELECT (id) ON half TO reader;
             CREATE SCHEMA away; CREATE TABLE away.t (id int PRIMARY KEY, v int); GRANT SELECT ON away.t TO reader;
             CREATE VIEW through AS SELECT * FROM closed; GRANT SELECT ON through TO reader;",
        )
        .unwrap();
    let reader = |table: &str| format!("{}#{table}", server.url_as("reader", "postgres"));
    let owner = |table: &str| format!("{}#{table}", server.url("postgres"));
    let hint = "grant SELECT on the table";
    desk.diff(&[&reader("closed"), &owner("closed")]).assert_refused(&["source", "permission denied", "closed", hint]);
    desk.diff(&[&owner("closed"), &reader("closed")]).assert_refused(&["sink", "permission denied", "closed", hint]);
    desk.diff(&[&reader("half"), &owner("half")]).assert_refused(&["source", "permission denied", "half", hint]);
    desk.diff(&[&reader("away.t"), &owner("away.t")]).assert_refused(&["source", "permission denied", "away", hint]);
    let query = "SELECT * FROM closed";
    desk.diff(&[&reader("x"), &owner("closed"), "--source-query", query, "-k", "id"]).assert_refused(&[
        "source",
        "permission denied",
        hint,
    ]);
    // A view that shows them is a right to see them.
    desk.diff(&[&reader("through"), &owner("closed"), "-k", "id"]).assert_counts(0, 0, 0);
}

#[test]
fn row_level_security_is_an_error_not_a_filter() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    server
        .execute(
            "CREATE ROLE reader LOGIN; CREATE ROLE seer LOGIN BYPASSRLS; CREATE ROLE owner LOGIN;
             CREATE TABLE kept (id int PRIMARY KEY, v int); INSERT INTO kept SELECT i, i FROM generate_series(1, 10) i;
             ALTER TABLE kept OWNER TO owner; ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
             CREATE POLICY few ON kept USING (id < 5); GRANT SELECT ON kept TO reader, seer;
             CREATE TABLE open AS TABLE kept; GRANT SELECT ON open TO public;",
        )
        .unwrap();
    let table = |user: &str, table: &str| format!("{}#{table}", server.url_as(user, "postgres"));
    let open = table("reader", "open");
    desk.diff(&[&table("reader", "kept"), &open, "-k", "id"]).assert_refused(&[
        "source",
        "row-level security",
        "BYPASSRLS",
    ]);
    desk.diff(&[&open, &table("reader", "kept"), "-k", "id"]).assert_refused(&["sink", "row-level security"]);
    let query = "SELECT * FROM kept";
    desk.diff(&[&table("reader", "x"), &open, "--source-query", query, "-k", "id"])
        .assert_refused(&["source", "row-level security"]);
    for user in ["seer", "owner"] {
        desk.diff(&[&table(user, "kept"), &open, "-k", "id"]).assert_counts(0, 0, 0);
    }
    server.execute("ALTER TABLE kept FORCE ROW LEVEL SECURITY").unwrap();
    desk.diff(&[&table("owner", "kept"), &open, "-k", "id"]).assert_refused(&["source", "row-level security"]);
}

/// Rows read of (source, sink).
fn rows(document: &Value) -> (u64, u64) {
    (document["rows"]["source"].as_u64().unwrap(), document["rows"]["sink"].as_u64().unwrap())
}

#[test]
fn views_partitions_and_children() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT i, i * 2 FROM generate_series(1, 100) i;
         CREATE VIEW even AS SELECT * FROM t WHERE id % 2 = 0;
         CREATE MATERIALIZED VIEW seen AS SELECT * FROM t;
         CREATE TABLE parts (id int PRIMARY KEY, v int) PARTITION BY RANGE (id);
         CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (51);
         CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (51) TO (1000);
         INSERT INTO parts SELECT * FROM t;
         CREATE TABLE hashed (id int PRIMARY KEY, v int) PARTITION BY HASH (id);
         CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
         CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
         INSERT INTO hashed SELECT * FROM t;
         CREATE TABLE parent (id int PRIMARY KEY, v int);
         CREATE TABLE child (note text) INHERITS (parent);
         INSERT INTO parent SELECT * FROM t WHERE id <= 70; INSERT INTO child SELECT id, v, 'x' FROM t WHERE id > 70;
         DELETE FROM t WHERE id = 10; DELETE FROM parts WHERE id IN (40, 60); UPDATE hashed SET v = 0 WHERE id = 99;",
    );
    let table = |name: &str| postgres.table(name);
    for sort in ["auto", "server", "local"] {
        let diff = |source: &str, sink: &str| {
            desk.diff(&[&table(source), &table(sink), "-k", "id", "--sort", sort, "--ranges", "3"])
        };
        // Live rows: 2, 4, .. 100 without 10.
        let outcome = diff("even", "seen");
        outcome.assert_counts(0, 51, 0);
        assert_eq!(rows(&outcome.document()), (49, 100));
        let outcome = diff("parts", "seen");
        outcome.assert_counts(0, 2, 0);
        assert_eq!(rows(&outcome.document()), (98, 100));
        diff("hashed", "seen").assert_counts(0, 0, 1);
        diff("parts_2", "parts").assert_counts(0, 49, 0);
        let outcome = diff("parent", "seen");
        outcome.assert_counts(0, 0, 0);
        assert_eq!(rows(&outcome.document()), (100, 100));
    }
    // The primary key of a parent does not bind its children: the key of one may occur in the other.
    postgres.sql("INSERT INTO child VALUES (70, 140, 'again')");
    for sort in ["auto", "server", "local"] {
        let outcome = desk.diff(&[&table("parent"), &table("seen"), "-k", "id", "--sort", sort]);
        outcome.assert_counts(1, 0, 0);
        assert_eq!(outcome.document()["duplicates"]["source"]["keys"], 1);
    }
}

#[test]
fn queries_and_filters_per_side() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, v int); INSERT INTO s SELECT i, i FROM generate_series(1, 100) i;
         CREATE TABLE k AS SELECT * FROM s WHERE id NOT IN (5, 50); ALTER TABLE k ADD PRIMARY KEY (id);",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    let diff = |args: &[&str]| desk.diff(&[&[source.as_str(), sink.as_str(), "-k", "id"], args].concat());
    let outcome = diff(&["-w", "id <= 10"]);
    outcome.assert_counts(1, 0, 0);
    assert_eq!(rows(&outcome.document()), (10, 9));
    let outcome = diff(&["--source-where", "id > 90"]);
    outcome.assert_counts(0, 88, 0);
    assert_eq!(rows(&outcome.document()), (10, 98));
    diff(&["--sink-where", "id > 90"]).assert_counts(90, 0, 0);
    diff(&["-w", "id <= 60 OR id > 99 -- no more"]).assert_counts(2, 0, 0);
    // A filter that is NULL for a row leaves it out.
    diff(&["-w", "CASE WHEN id = 5 THEN NULL ELSE true END"]).assert_counts(1, 0, 0);
    diff(&["--source-query", "SELECT id, v FROM s WHERE id < 11"]).assert_counts(1, 89, 0);
    diff(&["--source-query", "SELECT id, v + 1 AS v FROM s WHERE id < 11", "-w", "id < 4"]).assert_counts(0, 0, 3);
    let url = postgres.url();
    let both = [
        "--source-query",
        "SELECT 1 AS a, 2 AS b",
        "--sink-query",
        "VALUES (1, 2), (3, 4)",
        "--map",
        "a=column1",
        "--map",
        "b=column2",
        "-k",
        "a",
    ];
    desk.diff(&[&[url.as_str(), url.as_str()], both.as_slice()].concat()).assert_counts(0, 1, 0);
    for (flag, text, says) in [
        ("-w", "true; DELETE FROM s", "semicolon"),
        ("--source-where", "id > 1;", "semicolon"),
        ("--sink-query", "SELECT * FROM k; DROP TABLE k", "semicolon"),
        ("-w", "id < 5) OR (true", "parenthesis"),
        ("--source-query", "SELECT * FROM s) AS x, (SELECT 1", "parenthesis"),
        ("-w", "v = 'x", "quote"),
        ("-w", "nosuch > 1", "nosuch"),
        ("--source-query", "WITH gone AS (DELETE FROM s RETURNING *) SELECT * FROM gone", "source"),
        ("--source-query", "SELECT 1 AS id, 2 AS id", "twice"),
    ] {
        diff(&[flag, text]).assert_refused(&[says]);
    }
    diff(&[]).assert_counts(2, 0, 0);
    // Neither may a function write.
    postgres.sql("CREATE FUNCTION wipe() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN DELETE FROM s; RETURN true; END'");
    diff(&["--source-where", "wipe()"]).assert_refused(&["source", "read-only"]);
    diff(&[]).assert_counts(2, 0, 0);
}

#[test]
fn names_are_quoted() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let columns = "\"k ey\" int PRIMARY KEY, \"v\"\"a.l\" text, \"Gr\u{f6}\u{df}e\" int, \"select\" int, \"it's; --\" int, v int, \"V\" int";
    postgres.sql(&format!(
        "CREATE SCHEMA \"sc.h \u{fc} \"\"x\"\"\";
         CREATE TABLE \"sc.h \u{fc} \"\"x\"\"\".\"Ta.b 'q' 100%\" ({columns});
         CREATE TABLE k ({columns});
         INSERT INTO k SELECT i, 'x', i, i, i, i, i FROM generate_series(1, 100) i;
         INSERT INTO \"sc.h \u{fc} \"\"x\"\"\".\"Ta.b 'q' 100%\" TABLE k;
         UPDATE k SET \"V\" = 0 WHERE \"k ey\" = 7; UPDATE k SET \"v\"\"a.l\" = NULL WHERE \"k ey\" = 8;
         CREATE TABLE \"K\" (id int PRIMARY KEY); INSERT INTO \"K\" VALUES (1);",
    ));
    let source = postgres.table("\"sc.h \u{fc} \"\"x\"\"\".\"Ta.b 'q' 100%25\"");
    for sort in ["auto", "server", "local"] {
        let outcome = desk.diff(&[&source, &postgres.table("k"), "--sort", sort, "--ranges", "3"]);
        outcome.assert_counts(0, 0, 2);
        let changed = desk.python(&format!(
            "for r in duckdb.sql(\"SELECT key['k ey'], list_sort(changed_columns) FROM '{}/differences/*.parquet' ORDER BY 1\").fetchall(): print(*r)",
            outcome.folder().display()
        ));
        assert_eq!(changed, "7 ['V']\n8 ['v\"a.l']\n");
    }
    desk.diff(&[&source, &postgres.table("k"), "-w", "\"k ey\" <> 7"]).assert_counts(0, 0, 1);
    // A name as it is written comes first; its lower-case form serves where there is no such table.
    desk.diff(&[&postgres.table("K"), &desk.file("one.csv", "id\n1\n")]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("\"K\""), &desk.arg("one.csv")]).assert_counts(0, 0, 0);
    postgres.sql("CREATE TABLE small (id int PRIMARY KEY); INSERT INTO small VALUES (1)");
    desk.diff(&[&postgres.table("SMALL"), &desk.arg("one.csv")]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("\"SMALL\""), &desk.arg("one.csv")]).assert_refused(&["SMALL", "small"]);
    postgres.sql("CREATE SCHEMA other; CREATE TABLE other.hidden (id int)");
    desk.diff(&[&postgres.table("hidden"), &desk.arg("one.csv")]).assert_refused(&["hidden", "other.hidden"]);
}

#[test]
fn settings_of_role_and_database_change_no_digest() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, a timestamptz, b timestamp, c date, d float8, e float4, f bytea, g interval,
                         h text, i numeric, j float8[], l timestamptz[], m jsonb, n time, o bytea[], p xml);
         INSERT INTO s SELECT i, '2024-03-04 05:06:07.123456+00', '2024-03-04 05:06:07', '2024-03-04', 1::float8 / 3,
                1::float4 / 3, '\\x00ff41', '1 mon -3 days 04:05:06.7', U&'\\00fc\\20ac', 1.10, ARRAY[1::float8 / 3, 1e300],
                ARRAY['2024-03-04 05:06:07+00'::timestamptz], '{\"a\": 1.10}', '05:06:07', ARRAY['\\x00ff'::bytea], NULL
         FROM generate_series(1, 30) i;
         CREATE TABLE k (LIKE s INCLUDING ALL); INSERT INTO k TABLE s;",
    );
    // Exclude what has no canonical type; the rest must be there.
    let args = [&postgres.table("s"), &postgres.table("k"), "--exclude", "p"].map(str::to_owned);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let texts = ["a", "b", "c", "d", "e", "f", "g", "n"].map(|column| format!("{column}=text"));
    let mut cast = args.clone();
    for text in &texts {
        cast.extend(["--cast", text]);
    }
    let digests = |args: &[&str]| {
        let outcome = desk.diff(args);
        outcome.assert_counts(0, 0, 0);
        let document = outcome.document();
        (document["digest"]["source"].as_str().unwrap().to_owned(), document["plan"]["fingerprint"].clone())
    };
    let (before, before_cast) = (digests(&args), digests(&cast));
    assert_ne!(before.0, before_cast.0);
    postgres.sql(
        "DO $$ DECLARE setting text; BEGIN
           FOREACH setting IN ARRAY ARRAY['TimeZone = ''America/New_York''', 'DateStyle = ''German, DMY''',
             'extra_float_digits = -10', 'bytea_output = ''escape''', 'IntervalStyle = ''sql_standard''',
             'client_encoding = ''LATIN1''', 'statement_timeout = ''400ms''', 'standard_conforming_strings = off',
             'idle_in_transaction_session_timeout = ''400ms''', 'idle_session_timeout = ''400ms''', 'lock_timeout = 0',
             'default_transaction_isolation = ''read committed''', 'xmloption = ''document''', 'row_security = on']
           LOOP EXECUTE format('ALTER DATABASE %I SET %s', current_database(), setting); END LOOP;
         END $$;",
    );
    assert_eq!(digests(&args), before);
    assert_eq!(digests(&cast), before_cast);
    // Longer than the timeouts, in one statement and between statements.
    let mut slow = args.clone();
    slow.extend(["--source-where", "pg_sleep(0.03) IS NOT NULL"]);
    assert_eq!(digests(&slow).0, before.0);
}

#[test]
fn sort_choices_give_one_digest() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int, name text COLLATE \"en-x-icu\", v text, PRIMARY KEY (name, id));
         INSERT INTO s SELECT i, chr(65 + i % 26) || chr(97 + i * 7 % 26) || i % 40, md5(i::text) FROM generate_series(1, 3000) i;
         CREATE TABLE k AS TABLE s; CREATE UNIQUE INDEX ON k (name COLLATE \"C\", id);
         CREATE TABLE by_id AS TABLE s; ALTER TABLE by_id ADD PRIMARY KEY (id);",
    );
    for (table, key) in
        [("k", vec!["-k", "name", "-k", "id"]), ("s", vec!["-k", "name", "-k", "id"]), ("by_id", vec!["-k", "id"])]
    {
        let locator = postgres.table(table);
        let run = |extra: &[&str]| {
            let outcome = desk.diff(&[&[locator.as_str(), locator.as_str()], key.as_slice(), extra].concat());
            outcome.assert_counts(0, 0, 0);
            outcome
        };
        let first = run(&["--ranges", "4"]);
        let folder = first.folder().display().to_string();
        let first = first.document();
        assert_eq!(rows(&first), (3000, 3000));
        for sort in ["auto", "server", "local"] {
            let again = run(&["--sort", sort, "--ranges-from", &folder]).document();
            for name in ["digest", "rows", "counts"] {
                assert_eq!(again[name], first[name], "{table} {sort} {name}");
            }
            assert_eq!(again["plan"]["fingerprint"], first["plan"]["fingerprint"], "{table} {sort}");
            assert_eq!(again["coverage"], first["coverage"], "{table} {sort}");
        }
        assert_eq!(first["digest"]["source"], first["digest"]["sink"]);
    }
}
