//! Whole numbers in text beside floats: one that the float does not hold is never equal to its neighbour.

use crate::harness::{Desk, Postgres};

#[test]
fn a_whole_number_that_a_float_does_not_hold_differs_from_its_neighbour() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    // 2^24, 2^24 + 1, and a shortest text, which has an exponent.
    let text = desk.file("t.csv", "id,v\n1,16777216\n2,16777217\n3,1.2345679e8\n4,0.1\n");
    desk.python(
        "v = pa.array([16777216.0, 16777216.0, 123456792.0, 0.1], pa.float32())
pq.write_table(pa.table({'id': [1, 2, 3, 4], 'v': v}), 'narrow.parquet')
v = pa.array([9007199254740992.0], pa.float64())
pq.write_table(pa.table({'id': [1], 'v': v}), 'wide.parquet')",
    );
    postgres.sql(
        "CREATE TABLE r (id bigint PRIMARY KEY, v real);
         INSERT INTO r VALUES (1, 16777216), (2, 16777216), (3, 123456792), (4, 0.1)",
    );
    desk.diff(&[&text, &desk.arg("narrow.parquet"), "-k", "id"]).assert_counts(0, 0, 1);
    desk.diff(&[&text, &postgres.table("r"), "-k", "id"]).assert_counts(0, 0, 1);
    let exact = desk.file("exact.csv", "id,v\n1,9007199254740992\n");
    desk.diff(&[&exact, &desk.arg("wide.parquet"), "-k", "id"]).assert_counts(0, 0, 0);
    // 2^53 + 1: no double holds it.
    let beyond = desk.file("beyond.csv", "id,v\n1,9007199254740993\n");
    desk.diff(&[&beyond, &desk.arg("wide.parquet"), "-k", "id"]).assert_refused(&["source", "whole number"]);
}
