//! Cases O-44, O-45 and O-50: passwords, TLS, exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    harness::{Desk, Outcome, Postgres, program, tieout, two_tables},
    sqlite::{sqlite, table as sqlite_table},
};
use serde_json::json;

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
    assert_eq!(tieout(&["diff", "--no-such-flag"], &desk.path("")).code, 2);
    assert_eq!(tieout(&["--help"], &desk.path("")).code, 0);
}

#[test]
fn o50g_duplicates_and_null_keys_are_no_trouble_and_are_shown() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let rows = "(NULL,NULL,1),(NULL,'b',2),(NULL,'b',2),(1,'a',3),(1,'a',3),(1,NULL,4),(2,'',5),(3,'c',6)";
    two_tables(&postgres, "a int, b text, v int", rows, rows);
    sqlite(&desk, "k.db", &format!("CREATE TABLE k (a int, b text, v int); INSERT INTO k VALUES {rows}"));
    let source = postgres.table("s");
    let sinks = [postgres.table("k"), sqlite_table(&desk, "k.db", "k")];
    let null_rows = |outcome: &Outcome| outcome.document()["null_key_rows"].clone();
    for sink in &sinks {
        for (sort, ranges) in [("auto", "4"), ("server", "1"), ("local", "4")] {
            let flags = ["-k", "a", "-k", "b", "--sort", sort, "--ranges", ranges];
            let outcome = desk.diff(&[&[source.as_str(), sink], flags.as_slice()].concat());
            outcome.assert_counts(0, 0, 0);
            assert_eq!(null_rows(&outcome), json!({ "source": 4, "sink": 4 }));
            assert_eq!(outcome.document()["duplicates"]["source"], json!({ "keys": 2, "surplus": 2 }));
            let sums = format!(
                "print(duckdb.sql(\"SELECT sum(source_null_key_rows), sum(sink_null_key_rows) FROM '{}/ranges.parquet'\").fetchall())",
                outcome.folder().display()
            );
            assert_eq!(desk.python(&sums), "[(4, 4)]\n");
        }
        // One part of the key alone, and none: rows without a key hold no NULL in it.
        assert_eq!(null_rows(&desk.diff(&[&source, sink, "-k", "b"])), json!({ "source": 2, "sink": 2 }));
        assert_eq!(null_rows(&desk.diff(&[&source, sink])), json!({ "source": 0, "sink": 0 }));
    }
    let runs = desk.arg("runs");
    let text = tieout(&["diff", &source, &sinks[0], "-k", "a", "-o", &runs], &desk.path(""));
    assert_eq!(text.code, 0, "{}", text.stderr);
    for line in [
        "  duplicates  source: 2 keys occur more than once (4 surplus rows); compared as multisets\n",
        "  null keys   source: 3 rows with NULL in the key; NULL pairs with NULL\n",
        "  null keys   sink: 3 rows with NULL in the key; NULL pairs with NULL\n",
    ] {
        assert!(text.stdout.contains(line), "{line}{}", text.stdout);
    }
    // Many rows of one run of equal ones, read in order.
    desk.python(
        "rows = [(None, f'{i:03}') if i < 500 else (i // 4, None if i % 4 == 0 else str(i % 4)) for i in range(3000)]
pq.write_table(pa.table({'a': pa.array([a for a, b in rows], pa.int32()), 'b': [b for a, b in rows], 'v': range(3000)}), 'p.parquet')",
    );
    let file = desk.arg("p.parquet");
    for flags in [["--sort", "server"], ["--ranges", "5"]] {
        let outcome = desk.diff(&[&[file.as_str(), &file, "-k", "a", "-k", "b"], flags.as_slice()].concat());
        outcome.assert_counts(0, 0, 0);
        assert_eq!(null_rows(&outcome), json!({ "source": 1125, "sink": 1125 }));
    }
    // They are counted where they are, also where they differ.
    postgres.sql("DELETE FROM k WHERE b IS NULL AND a = 1; UPDATE k SET v = 9 WHERE a IS NULL AND b IS NULL");
    let outcome = desk.diff(&[&source, &sinks[0], "-k", "a", "-k", "b"]);
    outcome.assert_counts(1, 0, 1);
    assert_eq!(null_rows(&outcome), json!({ "source": 4, "sink": 3 }));
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
