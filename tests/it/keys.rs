//! Cases O-01 to O-14: key order and key identity.

use crate::harness::{Desk, Postgres, two_tables};

#[test]
fn o01_text_key_linguistic_against_byte_order() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        r#"CREATE TABLE s (k text COLLATE "en-x-icu" PRIMARY KEY, v int);
           CREATE TABLE k (k text COLLATE "C" PRIMARY KEY, v int);
           INSERT INTO s VALUES ('a',1),('a b',2),('a_c',3),('a-b',4),('ab',5),('aC',6),('b',7),('B',8);
           INSERT INTO k SELECT * FROM s;"#,
    );
    for sort in ["auto", "server", "local"] {
        desk.diff(&[&postgres.table("s"), &postgres.table("k"), "--sort", sort]).assert_counts(0, 0, 0);
    }
    postgres.sql("DELETE FROM k WHERE k = 'a-b'; UPDATE k SET v = 99 WHERE k = 'aC'");
    for sort in ["auto", "server", "local"] {
        let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k"), "--sort", sort]);
        outcome.assert_counts(1, 0, 1);
        let rows = desk.python(&format!(
            "for r in duckdb.sql(\"SELECT kind, key.k FROM '{}/differences/*.parquet' ORDER BY kind\").fetchall(): print(*r)",
            outcome.folder().display()
        ));
        assert_eq!(rows, "changed aC\nmissing a-b\n");
    }
}

#[test]
fn o05_key_order_is_not_column_order() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (x int, y int, v text, PRIMARY KEY (y, x));
         CREATE TABLE k (v text, y int, x int, PRIMARY KEY (y, x));
         INSERT INTO s (x, y, v) VALUES (1, 2, 'p'), (2, 1, 'q');
         INSERT INTO k (x, y, v) VALUES (1, 2, 'p'), (3, 0, 'r');",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(1, 1, 0);
    let rows = desk.python(&format!(
        "for r in duckdb.sql(\"SELECT kind, key.y, key.x FROM '{}/differences/*.parquet' ORDER BY kind\").fetchall(): print(*r)",
        outcome.folder().display()
    ));
    assert_eq!(rows, "extra 0 3\nmissing 1 2\n");
}

#[test]
fn o06_composite_key_that_collides_when_glued() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let columns = "u int, g int, v text, PRIMARY KEY (u, g)";
    two_tables(&postgres, columns, "(1,11,'a'),(11,1,'b')", "(1,11,'a'),(11,1,'b')");
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["counts"]["duplicate"], 0);
    postgres.sql("UPDATE k SET v = CASE u WHEN 1 THEN 'b' ELSE 'a' END");
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 2);
    postgres.sql(
        "CREATE TABLE s2 (u text, g text, v int, PRIMARY KEY (u, g)); INSERT INTO s2 VALUES ('doc-7','12',1),('doc-71','2',2);
         CREATE TABLE k2 (LIKE s2 INCLUDING ALL); INSERT INTO k2 VALUES ('doc-7','12',2),('doc-71','2',1)",
    );
    desk.diff(&[&postgres.table("s2"), &postgres.table("k2")]).assert_counts(0, 0, 2);
}

#[test]
fn o07_enum_in_the_key() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TYPE mood AS ENUM ('zeta','mid','alpha');
         CREATE TABLE s (k mood PRIMARY KEY, v int); CREATE TABLE k (k text PRIMARY KEY, v int);
         INSERT INTO s VALUES ('zeta',1),('mid',2),('alpha',3); INSERT INTO k SELECT k::text, v FROM s",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    postgres.sql("DELETE FROM k WHERE k = 'mid'");
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(1, 0, 0);
}

#[test]
fn o09_astral_characters_in_keys() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (k text PRIMARY KEY, v int);
         INSERT INTO s VALUES (U&'\\E000', 1), (U&'\\FF5E', 2), (U&'\\+01F600', 3)",
    );
    desk.python(
        "pq.write_table(pa.table({'k': ['\\U0001F600', '\\uE000', '\\uFF5E'], 'v': pa.array([3, 1, 2], pa.int32())}), 'k.parquet')",
    );
    let sink = desk.arg("k.parquet");
    desk.diff(&[&postgres.table("s"), &sink]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("s"), &sink, "--sort", "local"]).assert_counts(0, 0, 0);
    // A false claim that the file is in order is an error that names the key, never differences.
    desk.diff(&[&postgres.table("s"), &sink, "--sort", "server"]).assert_refused(&["order", "\u{1F600}"]);
}

#[test]
fn o10_trailing_space_in_a_varchar_key() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql("CREATE TABLE s (k varchar(10) PRIMARY KEY, v int); INSERT INTO s VALUES ('A',1),('A ',2)");
    let sink = desk.file("k.csv", "k,v\n\"A\",1\n");
    desk.diff(&[&postgres.table("s"), &sink]).assert_counts(1, 0, 0);
    // Trimming makes two keys of one side meet: an error, not a guess.
    desk.diff(&[&postgres.table("s"), &sink, "--option", "k.trim=end"]).assert_refused(&["fold", "source"]);
}

#[test]
fn o11_padded_char_key_against_varchar() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id char(6) PRIMARY KEY, v text); INSERT INTO s VALUES ('DVT1', E'Row 1\\t');
         CREATE TABLE k (id varchar(6) PRIMARY KEY, v text); INSERT INTO k VALUES ('DVT1', E'Row 1\\t')",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    desk.python("pq.write_table(pa.table({'id': ['DVT1  '], 'v': ['Row 1\\t']}), 'k.parquet')");
    desk.diff(&[&postgres.table("s"), &desk.arg("k.parquet")]).assert_counts(1, 1, 0);
}

#[test]
fn o12_null_inside_the_key() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "a int, b text, v text",
        "(1,'A','x'),(2,NULL,'y'),(2,NULL,'y'),(3,NULL,'z')",
        "(1,'A','x'),(2,NULL,'y'),(3,NULL,'w')",
    );
    for sort in ["auto", "server", "local"] {
        let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k"), "-k", "a", "-k", "b", "--sort", sort]);
        outcome.assert_counts(1, 0, 1);
        assert_eq!(outcome.document()["rows"]["source"], 4);
        assert_eq!(outcome.document()["rows"]["sink"], 3);
    }
}

#[test]
fn o13_duplicate_keys_keep_their_multiplicity() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let source = desk.file("s.csv", "k,v\n1000,hello\n1000,hello\n7,a\n7,b\n");
    let sink = desk.file("k.csv", "k,v\n1000,hello\n7,b\n7,a\n");
    let outcome = desk.diff(&[&source, &sink, "-k", "k"]);
    outcome.assert_counts(1, 0, 0);
    let duplicates = &outcome.document()["duplicates"];
    assert_eq!(duplicates["source"]["keys"], 2);
    assert_eq!(duplicates["source"]["surplus"], 2);
    assert_eq!(duplicates["sink"]["keys"], 1);
    two_tables(
        &postgres,
        "k int, v text",
        "(1000,'hello'),(1000,'hello'),(7,'a'),(7,'b')",
        "(1000,'hello'),(7,'b'),(7,'a')",
    );
    for sort in ["auto", "server", "local"] {
        desk.diff(&[&postgres.table("s"), &postgres.table("k"), "-k", "k", "--sort", sort]).assert_counts(1, 0, 0);
    }
    // Without a key, rows are a multiset.
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(1, 0, 0);
}

#[test]
fn o14_numeric_keys_beyond_53_bits_and_numeric_order() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id numeric(38,0) PRIMARY KEY); INSERT INTO s VALUES
         (123456789012345678901234567890),(123456789012345678901234567891),(123456789012345678901234567892);
         CREATE TABLE s2 (id int PRIMARY KEY); INSERT INTO s2 VALUES (9),(10),(100)",
    );
    let sink = desk.file(
        "k.csv",
        "id\n123456789012345678901234567890\n123456789012345678901234567891\n123456789012345678901234567892\n",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &sink]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["counts"]["matched"], 3);
    assert_eq!(outcome.document()["counts"]["duplicate"], 0);
    let sink = desk.file("k2.csv", "id\n9\n11\n100\n");
    let outcome = desk.diff(&[&postgres.table("s2"), &sink]);
    outcome.assert_counts(1, 1, 0);
    let rows = desk.python(&format!(
        "for r in duckdb.sql(\"SELECT kind, key.id FROM '{}/differences/*.parquet' ORDER BY kind\").fetchall(): print(*r)",
        outcome.folder().display()
    ));
    assert_eq!(rows, "extra 11\nmissing 10\n");
}
