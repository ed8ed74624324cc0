//! Cases O-15 to O-20: numbers.

use crate::harness::{Desk, Postgres, two_tables};

#[test]
fn o15_same_decimal_in_another_scale_or_spelling() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, n numeric); INSERT INTO s VALUES (1,1.5),(2,1.5000000000000),(3,0.71),(4,-0.71),
         (5,18.00000),(6,150000000000000),(7,1.500000000000000000000001)",
    );
    let sink = desk.file("k.csv", "id,n\n1,1.50\n2,1.5\n3,.71\n4,-.71\n5,18\n6,1.5E14\n7,1.5\n");
    let outcome = desk.diff(&[&postgres.table("s"), &sink]);
    outcome.assert_counts(0, 0, 1);
    assert_eq!(outcome.document()["counts"]["matched"], 6);
}

#[test]
fn o16_numeric_nan_and_infinity() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, n numeric",
        "(1,'NaN'),(2,'NaN'),(3,'Infinity'),(4,'NaN')",
        "(1,0),(2,'NaN'),(3,'-Infinity'),(4,NULL)",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 3);
    let ids = desk.python(&format!(
        "print([r[0] for r in duckdb.sql(\"SELECT key.id FROM '{}/differences/*.parquet' ORDER BY 1\").fetchall()])",
        outcome.folder().display()
    ));
    assert_eq!(ids, "[1, 3, 4]\n");
}

#[test]
fn o17_very_wide_numeric() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, n numeric);
         INSERT INTO s VALUES (1, 1e29), (2, 115792089237316195423570985008687907853269984665640564039457584007913129639935),
           (3, repeat('9', 131072)::numeric), (4, 1e-16383);
         CREATE TABLE k AS SELECT * FROM s; ALTER TABLE k ADD PRIMARY KEY (id)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    postgres.sql("UPDATE k SET n = (repeat('9', 131071) || '8')::numeric WHERE id = 3");
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 1);
}

#[test]
fn o18_odd_declared_scale() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, a numeric(2,-3), b numeric(3,5), c numeric(39,0)",
        "(1, 12345, 0.00123, 123456789012345678901234567890123456789)",
        "(1, 12345, 0.00123, 123456789012345678901234567890123456789)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    desk.python(
        "pq.write_table(pa.table({'id': pa.array([1], pa.int32()), 'a': pa.array([D(12000)], pa.decimal128(5, 0)),
'b': pa.array([D('0.00123')], pa.decimal128(5, 5)), 'c': pa.array([D('123456789012345678901234567890123456789')], pa.decimal256(39, 0))}), 'k.parquet')",
    );
    desk.diff(&[&postgres.table("s"), &desk.arg("k.parquet")]).assert_counts(0, 0, 0);
    postgres.sql("UPDATE k SET a = 13000");
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 1);
    let row = desk.python(&format!(
        "print(*duckdb.sql(\"SELECT changed_columns, source.a, sink.a FROM '{}/differences/*.parquet'\").fetchall()[0])",
        outcome.folder().display()
    ));
    assert_eq!(row, "['a'] 12000 13000\n");
}

#[test]
fn o19_float_is_never_rounded() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, f real, d double precision",
        "(1,0,0),(2,0,0),(3,0,0.36640625),(4,0,0.36640625)",
        "(1,0,0),(2,5,0),(3,0,0.36640625),(4,0,0.36640625000000004)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 2);
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k"), "--option", "d.ulps=1"]);
    outcome.assert_counts(0, 0, 1);
    assert_eq!(outcome.document()["counts"]["matched"], 3);
}

#[test]
fn o20_negative_zero() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, d float8, n numeric, e float8",
        "(1,'-0',-0.00,-0.19)",
        "(1,'0',0.00,-0.19)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    postgres.sql(
        "CREATE TABLE s2 (d float8 PRIMARY KEY, v int); INSERT INTO s2 VALUES ('-0', 1), (-0.19, 2);
         CREATE TABLE k2 (d float8 PRIMARY KEY, v int); INSERT INTO k2 VALUES ('0', 1), (-0.19, 2)",
    );
    desk.diff(&[&postgres.table("s2"), &postgres.table("k2")]).assert_counts(0, 0, 0);
    desk.python("pq.write_table(pa.table({'d': [-0.19, -0.0], 'v': pa.array([2, 1], pa.int32())}), 'k.parquet')");
    desk.diff(&[&postgres.table("k2"), &desk.arg("k.parquet")]).assert_counts(0, 0, 0);
    desk.diff(&[&desk.arg("k.parquet"), &postgres.table("s2")]).assert_counts(0, 0, 0);
}

#[test]
fn o21_boolean_and_small_integers() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, b smallint); INSERT INTO s VALUES (1,0),(2,1),(3,2),(4,-1);
         CREATE TABLE k (id int PRIMARY KEY, b boolean); INSERT INTO k VALUES (1,false),(2,true),(3,true),(4,true)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 2);
}

#[test]
fn float_and_decimal_compare_by_the_exact_binary_value() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, v float8); INSERT INTO s VALUES (1,0.5),(2,0.1),(3,'NaN'),(4,1e22);
         CREATE TABLE k (id int PRIMARY KEY, v numeric); INSERT INTO k VALUES (1,0.5),(2,0.1),(3,'NaN'),(4,1e22)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 1);
    desk.diff(&[&postgres.table("s"), &postgres.table("k"), "--option", "v.abs_tol=1e-15"]).assert_counts(0, 0, 0);
}
