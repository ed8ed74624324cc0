//! Cases O-44, O-45 and O-50: passwords, TLS, exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Postgres, program, tieout, two_tables};

#[test]
fn o50_exit_codes() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(&postgres, "id int PRIMARY KEY, v int", "(1,1),(2,2)", "(1,1),(2,2)");
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    assert_eq!(desk.diff(&[&source, &sink]).code, 0);
    postgres.sql("UPDATE k SET v = 3 WHERE id = 2");
    assert_eq!(desk.diff(&[&source, &sink]).code, 1);
    desk.diff(&[&postgres.table("absent"), &sink]).assert_refused(&["absent"]);
    desk.diff(&["postgres://nobody:wrong@127.0.0.1:1/db#t", &sink]).assert_refused(&["source"]);
    desk.diff(&[&desk.arg("absent.parquet"), &sink]).assert_refused(&["absent.parquet"]);
    // The output folder cannot be made below a file.
    let file = desk.file("plain", "x");
    let outcome = tieout(&["diff", &source, &sink, "-o", &format!("{file}/runs")], &desk.path(""));
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    // Only duplicates and NULL keys: data, not trouble.
    postgres.sql("CREATE TABLE d (a int, b int); INSERT INTO d VALUES (1,1),(1,1),(NULL,2)");
    assert_eq!(desk.diff(&[&postgres.table("d"), &postgres.table("d"), "-k", "a"]).code, 0);
    assert_eq!(tieout(&["diff", "--no-such-flag"], &desk.path("")).code, 2);
    assert_eq!(tieout(&["--help"], &desk.path("")).code, 0);
}

#[test]
fn o50_a_closed_stdout_changes_no_exit_code() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(&postgres, "id int PRIMARY KEY, v int", "(1,1)", "(1,2)");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = program()
        .args(["diff", &postgres.table("s"), &postgres.table("k"), "--no-progress", "-o", &desk.arg("runs")])
        .stdout(writer)
        .status();
    assert_eq!(status.ok().and_then(|status| status.code()), Some(1));
}
