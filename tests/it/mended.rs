//! Faults that once gave a wrong answer: none may come back.

use crate::harness::{Desk, Postgres, two_tables};

/// Rows that make `--ranges 4` cut: keys 1 to 100 and, in the table `s` alone, one NULL key.
fn null_behind_not_null(postgres: &Postgres) {
    postgres.sql(
        "CREATE TABLE s (k int, v int); CREATE INDEX ON s (k); CREATE TABLE k (LIKE s INCLUDING ALL);
         INSERT INTO s SELECT g, g FROM generate_series(1, 100) g; INSERT INTO k SELECT * FROM s;
         INSERT INTO s VALUES (NULL, 7);
         ALTER TABLE k ALTER k SET NOT NULL;
         UPDATE pg_attribute SET attnotnull = true WHERE attrelid = 's'::regclass AND attname = 'k'",
    );
}

#[test]
fn null_keys_behind_a_false_not_null_are_never_lost() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    null_behind_not_null(&postgres);
    let arguments = [&*postgres.table("s"), &*postgres.table("k"), "-k", "k", "--ranges", "4"];
    desk.diff(&arguments).assert_refused(&["NOT NULL", "--sort local"]);
    let mut local = arguments.to_vec();
    local.extend(["--sort", "local"]);
    desk.diff(&local).assert_counts(1, 0, 0);
}

#[test]
fn null_in_a_later_key_column_behind_a_false_not_null_is_never_lost() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (a int, b int, v int); CREATE INDEX ON s (a, b); CREATE TABLE k (LIKE s INCLUDING ALL);
         INSERT INTO s SELECT 5, g, g FROM generate_series(1, 100) g; INSERT INTO k SELECT * FROM s;
         INSERT INTO s VALUES (5, NULL, 7);
         ALTER TABLE k ALTER a SET NOT NULL, ALTER b SET NOT NULL;
         UPDATE pg_attribute SET attnotnull = true WHERE attrelid = 's'::regclass AND attname IN ('a', 'b')",
    );
    let arguments = [&*postgres.table("s"), &*postgres.table("k"), "-k", "a", "-k", "b", "--ranges", "4"];
    desk.diff(&arguments).assert_refused(&["NOT NULL", "column b"]);
}

#[test]
fn a_constraint_that_was_never_validated_is_no_not_null() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    null_behind_not_null(&postgres);
    // What PostgreSQL 18 makes of `ADD CONSTRAINT ... NOT NULL k NOT VALID`; older servers take it by hand.
    postgres.sql(
        "INSERT INTO pg_constraint SELECT (jsonb_populate_record(c, jsonb_build_object('oid', 4000000000, 'conname', \
         's_k_not_null', 'contype', 'n', 'convalidated', false, 'conrelid', 's'::regclass::oid, 'contypid', 0, \
         'conindid', 0, 'conkey', ARRAY[1], 'connoinherit', false))).* \
         FROM pg_constraint c WHERE contype = 'c' LIMIT 1",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k"), "-k", "k", "--ranges", "4"]);
    outcome.assert_counts(1, 0, 0);
}

#[test]
fn not_null_of_a_parent_says_nothing_of_its_children() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (k int NOT NULL, v int); CREATE TABLE child () INHERITS (s);
         ALTER TABLE child ALTER k DROP NOT NULL; INSERT INTO child VALUES (NULL, 7), (1, 1);
         CREATE TABLE k (k int, v int); INSERT INTO k VALUES (NULL, 7), (1, 1)",
    );
    for sort in ["auto", "server", "local"] {
        desk.diff(&[&postgres.table("s"), &postgres.table("k"), "-k", "k", "--sort", sort]).assert_counts(0, 0, 0);
    }
}

#[test]
fn a_real_column_equals_its_own_text() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let rows = "(1,0.1),(2,-3.4028235e38),(3,1e-45),(4,16777216),(5,0),(6,'NaN'),(7,'-Infinity'),(8,1.1754944e-38)";
    two_tables(&postgres, "id int PRIMARY KEY, f real", rows, "");
    // What COPY (FORMAT csv) writes for these rows.
    let csv = "id,f\n1,0.1\n2,-3.4028235e+38\n3,1e-45\n4,1.6777216e+07\n5,0\n6,NaN\n7,-Infinity\n8,1.1754944e-38\n";
    let copy = desk.file("k.csv", csv);
    desk.diff(&[&postgres.table("s"), &copy]).assert_counts(0, 0, 0);
    desk.diff(&[&copy, &postgres.table("s")]).assert_counts(0, 0, 0);
    let lines = desk.file("k.jsonl", "{\"id\":1,\"f\":0.1}\n{\"id\":2,\"f\":0.25}\n");
    postgres.sql("DELETE FROM s WHERE id > 2");
    desk.diff(&[&postgres.table("s"), &lines]).assert_counts(0, 0, 1);
    postgres.sql("CREATE TABLE t (id int PRIMARY KEY, f text); INSERT INTO t VALUES (1, '0.1'), (2, '-3.4028235e38')");
    desk.diff(&[&postgres.table("s"), &postgres.table("t"), "--cast", "f=float"]).assert_counts(0, 0, 0);
    let long = desk.file("long.csv", "id,f\n1,0.1000000015\n");
    desk.diff(&[&postgres.table("s"), &long]).assert_refused(&["digits", "column f"]);
}

#[test]
fn a_padded_char_column_equals_its_own_text() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(&postgres, "id char(4) PRIMARY KEY, c char(3), v varchar(3)", "('a','x','y '),('b','','z')", "");
    let copy = desk.file("k.csv", "id,c,v\na   ,x  ,\"y \"\nb   ,\"   \",z\n");
    desk.diff(&[&postgres.table("s"), &copy]).assert_counts(0, 0, 0);
    desk.diff(&[&copy, &postgres.table("s"), "--sort", "server"]).assert_counts(0, 0, 0);
    // What is not declared as padded keeps its blanks.
    let trimmed = desk.file("t.csv", "id,c,v\na,x,y\nb,\"\",z\n");
    desk.diff(&[&postgres.table("s"), &trimmed]).assert_counts(0, 0, 1);
}

#[test]
fn keys_fold_as_values_do() {
    let desk = Desk::new();
    // The lower case of U+0130 has two characters.
    let source = desk.file("s.csv", "k,v\n\u{130},1\nA,2\n");
    let sink = desk.file("k.csv", "k,v\ni\u{307},1\na,2\n");
    let fold = ["-k", "k", "--option", "k.case=fold"];
    desk.diff(&[&[&*source, &*sink], &fold[..]].concat()).assert_counts(0, 0, 0);
    let plain = desk.file("plain.csv", "k,v\ni,1\na,2\n");
    desk.diff(&[&[&*source, &*plain], &fold[..]].concat()).assert_counts(1, 1, 0);
}

#[test]
fn filters_that_each_connection_answers_for_itself_are_refused() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(&postgres, "id int PRIMARY KEY, t timestamptz", "(1,'2024-01-01')", "(1,'2024-01-01')");
    let tables = [&*postgres.table("s"), &*postgres.table("k")];
    desk.diff(&[&tables[..], &["-w", "t < now()"]].concat()).assert_refused(&["now", "literal"]);
    desk.diff(&[&tables[..], &["--sink-where", "t < CURRENT_TIMESTAMP"]].concat())
        .assert_refused(&["current_timestamp", "sink"]);
    let query = "SELECT id, t FROM s WHERE random() < 2";
    desk.diff(&[&tables[..], &["--source-query", query, "-k", "id"]].concat()).assert_refused(&["random", "query"]);
    desk.diff(&[&tables[..], &["-w", "t < '2025-01-01'"]].concat()).assert_counts(0, 0, 0);
}

#[test]
fn tables_of_a_query_are_locked_before_the_snapshot() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(&postgres, "id int PRIMARY KEY, v int", "(1,1),(2,2)", "(1,1),(2,2)");
    postgres.sql(
        "CREATE VIEW v AS SELECT a.id, b.v FROM s a JOIN k b USING (id); CREATE MATERIALIZED VIEW m AS SELECT * FROM s",
    );
    let obtained = |query: &str| {
        let outcome = desk.diff(&[&postgres.table("s"), &postgres.url(), "--sink-query", query, "-k", "id"]);
        outcome.assert_counts(0, 0, 0);
        outcome.stdout
    };
    assert!(obtained("SELECT * FROM v").contains("tables of the query locked in ACCESS SHARE MODE first"));
    assert!(obtained("SELECT * FROM m").contains("some tables of the query locked as of the snapshot only"));
}

#[test]
fn a_cast_to_text_compares_canonical_text() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TYPE pair AS (x numeric, y text);
         CREATE TABLE s (id int PRIMARY KEY, n numeric(10,2), a numeric[], r numrange, p pair, d date);
         CREATE TABLE k (id int PRIMARY KEY, n numeric(10,4), a numeric[], r numrange, p pair, d date);
         INSERT INTO s VALUES (1, 1.50, '{1.50,NULL}', '[1.0,2.50)', '(1.0,a)', '2024-01-02'), (2, 7, NULL, NULL, NULL, NULL);
         INSERT INTO k VALUES (1, 1.5, '{1.5,NULL}', '[1,2.5)', '(1,a)', '2024-01-02'), (2, 8, NULL, NULL, NULL, NULL)",
    );
    let casts = ["n=text", "a=text", "r=text", "p=text", "d=text"].map(|cast| ["--cast", cast]).concat();
    let outcome = desk.diff(&[&[&*postgres.table("s"), &*postgres.table("k")], &casts[..]].concat());
    outcome.assert_counts(0, 0, 1);
    let text = desk.file("k.csv", "id,n,d\n1,1.5,2024-01-02\n2,7,\n");
    let few = ["--exclude", "a", "--exclude", "r", "--exclude", "p", "--cast", "n=text", "--cast", "d=text"];
    desk.diff(&[&[&*postgres.table("s"), &*text], &few[..]].concat()).assert_counts(0, 0, 0);
    desk.python("pq.write_table(pa.table({'id': pa.array([1, 2], pa.int32()), 'n': pa.array([D('1.5'), D('7')], pa.decimal128(10, 3)), 'd': [datetime.date(2024, 1, 2), None]}), 'k.parquet')");
    desk.diff(&[&[&*postgres.table("s"), &*desk.arg("k.parquet")], &few[..]].concat()).assert_counts(0, 0, 0);
}
