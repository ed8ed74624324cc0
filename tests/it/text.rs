//! Cases O-31 to O-39: text, binary, JSON, arrays, NULL, and checksums that cancel.

use crate::harness::{Desk, Postgres, two_tables};

#[test]
fn o31_trailing_newline_and_tab_are_data() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql("CREATE TABLE s (id int PRIMARY KEY, t text); INSERT INTO s VALUES (1,E'abc\\n'),(2,E'abc\\t'),(3,'abc '),(4,'abc')");
    let same = desk.file("k1.csv", "id,t\n1,\"abc\n\"\n2,abc\t\n3,abc \n4,abc\n");
    let cut = desk.file("k2.csv", "id,t\n1,abc\n2,abc\n3,abc\n4,abc\n");
    desk.diff(&[&postgres.table("s"), &same]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("s"), &cut]).assert_counts(0, 0, 3);
}

#[test]
fn o32_null_is_no_magic_word() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, s text",
        "(1,NULL),(2,NULL),(3,NULL),(4,NULL),(5,NULL),(6,NULL)",
        "(1,'NULL'),(2,'<null>'),(3,''),(4,'\\N'),(5,'DATACOMPY_NULL'),(6,NULL)",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 5);
    desk.diff(&[&postgres.table("s"), &postgres.table("k"), "--option", "s.null=<null>"]).assert_counts(0, 0, 4);
}

#[test]
fn o33_content_sliding_over_a_column_border() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, a text, b text",
        "(1,'x0','y'),(2,'p#0','q'),(3,'a|','b')",
        "(1,'x','0y'),(2,'p','0#q'),(3,'a','|b')",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 3);
}

#[test]
fn o34_nul_byte_inside_text() {
    let desk = Desk::new();
    desk.python(
        "pq.write_table(pa.table({'id': [1], 't': ['a\\0b']}), 's.parquet')
pq.write_table(pa.table({'id': [1], 't': ['a']}), 'k1.parquet')
pq.write_table(pa.table({'id': [1], 't': ['a\\0b']}), 'k2.parquet')",
    );
    desk.diff(&[&desk.arg("s.parquet"), &desk.arg("k1.parquet"), "-k", "id"]).assert_counts(0, 0, 1);
    desk.diff(&[&desk.arg("s.parquet"), &desk.arg("k2.parquet"), "-k", "id"]).assert_counts(0, 0, 0);
    // In a key as well.
    desk.diff(&[&desk.arg("s.parquet"), &desk.arg("k1.parquet"), "-k", "t"]).assert_counts(1, 1, 0);
    desk.diff(&[&desk.arg("s.parquet"), &desk.arg("k2.parquet"), "-k", "t"]).assert_counts(0, 0, 0);
}

#[test]
fn o37_json_that_is_the_same_document() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        r#"CREATE TABLE s (id int PRIMARY KEY, j jsonb); CREATE TABLE k (id int PRIMARY KEY, j json);
           INSERT INTO s VALUES (1,'{"it is":true,"that":[1,2],"is":"in"}'),(2,'1.0'),(3,'[1,2]'),(4,'{"a":2}'),(5,'"é"'),(6,'12345678901234567890');
           INSERT INTO k VALUES (1,'{"is":"in","it is":true,"that":[1,2]}'),(2,'1.00'),(3,'[2,1]'),(4,'{"a":1,"a":2}'),(5,'"\u00e9"'),(6,'12345678901234567891')"#,
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 2);
    let ids = desk.python(&format!(
        "print([r[0] for r in duckdb.sql(\"SELECT key.id FROM '{}/differences/*.parquet' ORDER BY 1\").fetchall()])",
        outcome.folder().display()
    ));
    assert_eq!(ids, "[3, 6]\n");
}

#[test]
fn o38_null_in_arrays() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, a text[]",
        r#"(1,'{NULL}'),(2,'{a,NULL}'),(3,'{}'),(4,'{"a,b"}'),(5,'{"a\\b"}'),(6,'{{1,2},{3,4}}'),(7,'[0:1]={a,b}')"#,
        r#"(1,'{"NULL"}'),(2,'{a,NULL}'),(3,NULL),(4,'{a,b}'),(5,'{"ab"}'),(6,'{{1,2},{3,4}}'),(7,'{a,b}')"#,
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 5);
    let ids = desk.python(&format!(
        "print([r[0] for r in duckdb.sql(\"SELECT key.id FROM '{}/differences/*.parquet' ORDER BY 1\").fetchall()])",
        outcome.folder().display()
    ));
    assert_eq!(ids, "[1, 3, 4, 5, 7]\n");
}

#[test]
fn o39_differences_that_cancel_in_a_checksum() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(&postgres, "id1 int, id2 int, v int, PRIMARY KEY (id1, id2)", "(1,1,5),(2,1,5)", "(1,1,7),(2,1,7)");
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 2);
    assert_ne!(outcome.document()["digest"]["source"], outcome.document()["digest"]["sink"]);
    postgres.sql("CREATE TABLE s2 (a int, b text); CREATE TABLE k2 (a int, b text); INSERT INTO s2 VALUES (1,'x'),(1,'x'); INSERT INTO k2 VALUES (2,'y'),(2,'y')");
    desk.diff(&[&postgres.table("s2"), &postgres.table("k2")]).assert_counts(2, 2, 0);
}
