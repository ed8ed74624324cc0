//! Little memory, and many rows under one key.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Outcome, Postgres};
use serde_json::Value;

/// Bytes that the sorts of a run wrote to disk: source, sink.
fn spilled(outcome: &Outcome) -> (u64, u64) {
    let timing = std::fs::read(outcome.folder().join("timing.json")).unwrap();
    let timing: Value = serde_json::from_slice(&timing).unwrap();
    let side = |side: &str| timing["reads"][side]["spilled_bytes"].as_u64().unwrap();
    (side("source"), side("sink"))
}

#[test]
fn a_sort_that_does_not_fit_in_memory_says_the_same() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s AS SELECT i::int8 * 7919 % 300007 AS k, repeat('x', 60) || i AS v FROM generate_series(1, 300000) i;
         CREATE TABLE t AS SELECT k, CASE WHEN k % 100000 = 5 THEN 'y' ELSE v END AS v FROM s WHERE k <> 77",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("t"));
    let run = |memory| desk.diff(&[&source, &sink, "-k", "k", "--sort", "local", "--memory", memory]);
    let (small, large) = (run("116MiB"), run("1GiB"));
    small.assert_counts(1, 0, 4);
    large.assert_counts(1, 0, 4);
    let (source_bytes, sink_bytes) = spilled(&small);
    assert!(source_bytes > 0 && sink_bytes > 0, "a small sort goes through the disk");
    assert_eq!(spilled(&large), (0, 0), "a large one does not");
    assert_eq!(small.document()["plan"]["fingerprint"], large.document()["plan"]["fingerprint"]);
    assert_eq!(small.document()["digest"], large.document()["digest"]);
    // What a sort wrote is gone with the run.
    let left: Vec<_> = std::fs::read_dir(small.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
    // Too little is refused before anything is read.
    let refused = run("64MiB");
    refused.assert_refused(&["memory", "needs", "64 MiB", "--memory"]);
}

#[test]
fn one_key_with_many_equal_rows() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s AS SELECT 7 AS k, repeat('x', 20) AS v FROM generate_series(1, 200000) i;
         CREATE TABLE t AS SELECT k, v FROM s LIMIT 199998; INSERT INTO t VALUES (7, 'other')",
    );
    for sort in ["server", "local"] {
        let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("t"), "-k", "k", "--sort", sort]);
        // Two copies are left in the source, one other row in the sink: no pair.
        outcome.assert_counts(2, 1, 0);
        let duplicates = &outcome.document()["duplicates"];
        assert_eq!((&duplicates["source"]["keys"], &duplicates["source"]["surplus"]), (&1.into(), &199_999.into()));
        assert_eq!((&duplicates["sink"]["keys"], &duplicates["sink"]["surplus"]), (&1.into(), &199_998.into()));
    }
}

#[test]
fn one_key_with_many_rows_that_all_differ() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s AS SELECT 7 AS k, 'row ' || i AS v FROM generate_series(1, 200000) i;
         CREATE TABLE t AS SELECT 7 AS k, 'row ' || i AS v FROM generate_series(200001, 2, -1) i",
    );
    for sort in ["server", "local"] {
        let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("t"), "-k", "k", "--sort", sort]);
        // 'row 1' is left in the source, 'row 200001' in the sink: a pair.
        outcome.assert_counts(0, 0, 1);
        assert_eq!(outcome.document()["counts"]["matched"], 199_999);
    }
}

#[test]
fn many_rows_that_all_differ() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s AS SELECT i AS k, i AS v FROM generate_series(1, 200000) i;
         CREATE TABLE t AS SELECT i AS k, -i AS v FROM generate_series(1, 200000) i;
         ALTER TABLE s ADD PRIMARY KEY (k); ALTER TABLE t ADD PRIMARY KEY (k)",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("t")]);
    outcome.assert_counts(0, 0, 200_000);
    let found = crate::ranges::difference_rows(&outcome.folder());
    assert_eq!(found, 200_000);
}
