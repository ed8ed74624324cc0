//! What is frozen: snapshots while writers go on, several readers, engines and views.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use super::Maria;
use crate::harness::{Desk, Postgres, program};
use std::{
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};
use tieout_testkit::mariadb::query;

/// A table of 20 000 rows whose values sum up to nothing.
const BANK: &str = "CREATE TABLE t (id int PRIMARY KEY, v bigint, pad varchar(50)); \
     INSERT INTO t SELECT seq, 0, REPEAT('x', 50) FROM seq_1_to_20000";

/// Moves value between rows that lie far apart, until told to stop: in every committed state the sum is 0.
fn write_until(url: &str, stop: &AtomicBool) -> u32 {
    // Many commits a connection, as fast as the server takes them: snapshots that are merely taken at once differ then.
    let mut script = String::new();
    for round in 0..500 {
        // Between any two ranges.
        let (one, other) = (round * 1237 % 20_000 + 1, round * 4513 % 19_990 + 7);
        let moves = [("v = v - 1", one), ("v = v + 1", other)];
        let moves = moves.map(|(change, id)| format!("UPDATE t SET {change} WHERE id = {id};"));
        script.extend(["START TRANSACTION; ", &moves.concat(), " COMMIT;\n"]);
        if round % 10 == 0 {
            script += "UPDATE t SET id = 500000 WHERE id = 5000; UPDATE t SET id = 5000 WHERE id = 500000;\n";
        }
    }
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        query(url, &script).unwrap();
        rounds += 1;
    }
    rounds
}

#[test]
fn o57_both_sides_of_one_table_while_a_writer_goes_on() {
    let (desk, maria) = (Desk::new(), Maria::alone(&["--log-bin=binlog"]));
    maria.sql(BANK);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_until(&maria.url(), &stop));
        // The lock lets all readers share one position while the writer commits; each side has a state of its own, but
        // no row is seen twice or never.
        let locked = format!("{}?lock=yes#t", maria.url());
        for locator in [maria.table("t"), locked] {
            for _ in 0..3 {
                let outcome = desk.diff(&[&locator, &locator, "--ranges", "16", "-j", "4"]);
                assert!(outcome.code < 2, "{}", outcome.stderr);
                let document = outcome.document();
                for side in ["source", "sink"] {
                    assert_eq!(document["rows"][side], 20_000, "{}", outcome.stdout);
                }
                assert_eq!(document["counts"]["duplicate"], 0);
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() > 0);
    });
    desk.diff(&[&maria.table("t"), &maria.table("t"), "--ranges", "16", "-j", "4"]).assert_counts(0, 0, 0);
}

#[test]
fn o57_readers_of_one_run_share_a_state() {
    let (desk, maria) = (Desk::new(), Maria::alone(&["--log-bin=binlog"]));
    maria.sql(BANK);
    let locked = format!("{}?lock=yes#t", maria.url());
    let stop = AtomicBool::new(false);
    let files = thread::scope(|scope| {
        let writer = scope.spawn(|| write_until(&maria.url(), &stop));
        // Every row differs from an empty sink, so the differences hold the state that was read.
        maria.sql("CREATE TABLE empty LIKE t");
        let sink = maria.table("empty");
        let files: Vec<String> = [maria.table("t"), locked]
            .iter()
            .flat_map(|locator| [locator; 2])
            .map(|locator| {
                let outcome = desk.diff(&[locator, &sink, "--ranges", "16", "-j", "4"]);
                outcome.assert_counts(20_000, 0, 0);
                outcome.folder().join("differences/*.parquet").display().to_string()
            })
            .collect();
        stop.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() > 0);
        files
    });
    for file in files {
        let sum = desk.python(&format!(
            "print(duckdb.sql(\"SELECT sum(source.v)::bigint, sum(abs(source.v))::bigint > 0 FROM '{file}'\").fetchall()[0])"
        ));
        assert!(sum.starts_with("(0,"), "{sum}");
    }
}

#[test]
fn o57_differences_of_two_stores_are_true_of_their_snapshots() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT seq, seq FROM seq_1_to_20000");
    postgres
        .sql("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT i, i FROM generate_series(1, 20000) i");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // Moves one key to the far end and back, and puts rows into the sink well after the source.
        let writer = scope.spawn(|| {
            let mut round = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                let (there, back) =
                    ("UPDATE t SET id = 900005 WHERE id = 5;", "UPDATE t SET id = 5 WHERE id = 900005;");
                // It rests now in the one place, now in the other.
                let (one, other) = if round.is_multiple_of(2) { (there, back) } else { (back, there) };
                let moves = format!("{one} {other}").repeat(300);
                let (new, before) = (1_000_000 + round, 1_000_000 + round.saturating_sub(1));
                query(&maria.url(), &format!("INSERT INTO t VALUES ({new}, 0); {moves} {one}")).unwrap();
                if round > 0 {
                    postgres.sql(&format!("INSERT INTO t VALUES ({before}, 0)"));
                }
                round += 1;
            }
            round
        });
        let both = [maria.table("t"), postgres.table("t")];
        let mut lagging = 0;
        for turn in 0..4 {
            let sides = if turn % 2 == 0 { [&both[0], &both[1]] } else { [&both[1], &both[0]] };
            let outcome = desk.diff(&[sides[0], sides[1], "--ranges", "16", "-j", "4"]);
            assert!(outcome.code < 2, "{}", outcome.stderr);
            let document = outcome.document();
            assert_eq!(document["counts"]["duplicate"], 0);
            assert_eq!(document["counts"]["changed"], 0);
            // The rows that nobody touches match; the moved one is in one of its places, never in both or none.
            let (maria_only, postgres_only) = if turn % 2 == 0 { ("missing", "extra") } else { ("extra", "missing") };
            let found = desk.differences(&outcome, "SELECT kind, key.id FROM d WHERE key.id < 1000000 ORDER BY 2");
            let moved = format!("{postgres_only} 5\n{maria_only} 900005\n");
            assert!(found.is_empty() || found == moved, "{found}");
            assert!(document["counts"]["matched"].as_u64().unwrap() >= 19_999);
            let late = desk
                .differences(&outcome, "SELECT kind, count(*) FROM d WHERE key.id >= 1000000 GROUP BY 1 ORDER BY 1");
            lagging += late.lines().count();
            for side in ["source", "sink"] {
                let position = &document["positions"][side];
                assert!(position["value"].as_str().is_some_and(|value| !value.is_empty()), "{position}");
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() > 0);
        assert!(lagging > 0, "the writer was never seen");
    });
}

#[test]
fn readers_share_the_position_that_the_run_names() {
    let (desk, maria) = (Desk::new(), Maria::alone(&["--log-bin=binlog"]));
    maria.sql(BANK);
    let outcome = desk.run("plan", &[&maria.table("t"), &maria.table("t"), "-j", "4"]);
    let text = outcome.document().to_string();
    assert!(text.contains("mysql-binlog") && text.contains("binlog.000001:"), "{text}");
    assert!(text.contains("consistent snapshots of 5 connections"), "{text}");
    let position = maria.ask("SHOW MASTER STATUS");
    let mut fields = position.split('\t');
    let wanted = format!("{}:{}", fields.next().unwrap(), fields.next().unwrap());
    assert!(text.contains(&wanted), "{wanted}: {text}");
}

#[test]
fn without_a_binary_log_there_is_one_reader_unless_it_may_lock() {
    let (desk, maria) = (Desk::new(), Maria::alone(&[]));
    maria.sql(BANK);
    let plain = desk.run("plan", &[&maria.table("t"), &maria.table("t"), "-j", "4"]).document().to_string();
    assert!(plain.contains("the server keeps no binary log") && plain.contains("lock=yes"), "{plain}");
    assert!(plain.contains("consistent snapshots of 1 connections"), "{plain}");
    desk.diff(&[&maria.table("t"), &maria.table("t"), "-j", "4"]).assert_counts(0, 0, 0);
    let locked = format!("{}?lock=yes#t", maria.url());
    let text = desk.run("plan", &[&locked, &locked, "-j", "4"]).document().to_string();
    assert!(text.contains("consistent snapshots of 5 connections, taken under FLUSH TABLES WITH READ LOCK"), "{text}");
    desk.diff(&[&locked, &locked, "-j", "4", "--ranges", "16"]).assert_counts(0, 0, 0);
    // The lock is gone.
    maria.sql("INSERT INTO t VALUES (0, 0, '')");
}

#[test]
fn engines_without_snapshots_are_refused() {
    let (desk, maria) = (Desk::new(), Maria::new());
    for engine in ["MyISAM", "Aria", "MEMORY"] {
        maria.sql(&format!(
            "CREATE TABLE t_{engine} (id int PRIMARY KEY) ENGINE = {engine}; INSERT INTO t_{engine} VALUES (1)"
        ));
        let table = format!("t_{engine}");
        desk.diff(&[&maria.table(&table), &maria.table(&table)])
            .assert_refused(&[&format!("the engine {engine} has no snapshots"), "not-frozen=allow"]);
        let allowed = format!("{}?not-frozen=allow#{table}", maria.url());
        let outcome = desk.diff(&[&allowed, &allowed]);
        outcome.assert_counts(0, 0, 0);
        let text = outcome.document()["positions"].to_string();
        assert!(text.contains("unknown") && text.contains("not frozen"), "{text}");
    }
}

#[test]
fn views_and_queries_are_as_frozen_as_their_tables() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql(
        "CREATE TABLE a (id int PRIMARY KEY, v int); INSERT INTO a VALUES (1, 10), (2, 20), (3, NULL);
         CREATE TABLE b (id int PRIMARY KEY, w int); INSERT INTO b VALUES (1, 5);
         CREATE VIEW joined AS SELECT a.id, a.v, b.w FROM a LEFT JOIN b ON a.id = b.id;
         CREATE VIEW nested AS SELECT id, v FROM joined WHERE v > 0;
         CREATE TABLE loose (id int PRIMARY KEY) ENGINE = MyISAM; INSERT INTO loose VALUES (1);
         CREATE VIEW hidden AS SELECT a.id FROM a JOIN loose USING (id);
         CREATE VIEW deeper AS SELECT id FROM hidden",
    );
    postgres.sql(
        "CREATE TABLE joined (id int PRIMARY KEY, v int, w int); INSERT INTO joined VALUES (1,10,5),(2,20,NULL),(3,NULL,NULL);
         CREATE TABLE nested (id int PRIMARY KEY, v int); INSERT INTO nested VALUES (1,10),(2,20)",
    );
    let outcome = desk.diff(&[&maria.table("joined"), &postgres.table("joined"), "-k", "id"]);
    outcome.assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("joined"), &postgres.table("joined"), "-k", "w", "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("nested"), &postgres.table("nested"), "-k", "id"]).assert_counts(0, 0, 0);
    for view in ["hidden", "deeper"] {
        desk.diff(&[&maria.table(view), &maria.table(view), "-k", "id"]).assert_refused(&["loose", "MyISAM"]);
    }
    // A view may read what its user may not see, and so not judge.
    let user = format!("u_{}", maria.name());
    maria.sql(&format!("CREATE USER {user}@'%'; GRANT SELECT, SHOW VIEW ON {0}.joined TO {user}@'%'", maria.name()));
    let locator = maria.table("joined").replace("root@", &format!("{user}@"));
    desk.diff(&[&locator, &postgres.table("joined"), "-k", "id"]).assert_refused(&["source", "may not see"]);
    maria.sql(&format!("DROP USER {user}@'%'"));
    let query = "SELECT id, v FROM a WHERE v > 0";
    desk.diff(&[&maria.url(), &postgres.table("nested"), "--source-query", query, "-k", "id"]).assert_counts(0, 0, 0);
    let query = "SELECT a.id FROM a JOIN loose ON loose.id = a.id";
    desk.diff(&[&maria.url(), &maria.url(), "--source-query", query, "--sink-query", query, "-k", "id"])
        .assert_refused(&["loose", "MyISAM"]);
    for bad in ["SELECT id, v FROM a FOR UPDATE", "SELECT id, NOW() AS v FROM a", "SELECT 1; SELECT 2"] {
        desk.diff(&[&maria.url(), &postgres.table("nested"), "--source-query", bad, "-k", "id"])
            .assert_refused(&["source", "reading the query"]);
    }
}

#[test]
fn filters_hold_on_both_sides() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    maria.sql("CREATE TABLE t (id int PRIMARY KEY, v varchar(9)); INSERT INTO t VALUES (1,'a'),(2,'b;)'),(3,'c')");
    postgres.sql("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (2,'b;)')");
    desk.diff(&[&maria.table("t"), &postgres.table("t"), "--source-where", "v = 'b;)' -- only"]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("t"), &postgres.table("t"), "--source-where", "nothing = 1"])
        .assert_refused(&["source", "1054"]);
    desk.diff(&[&maria.table("t"), &postgres.table("t"), "--source-where", "id = = 1"])
        .assert_refused(&["source", "syntax error"]);
}

#[test]
fn a_table_that_is_read_is_not_altered_or_emptied() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT seq, seq FROM seq_1_to_3000");
    let mut child = program()
        .args([
            "diff",
            "--format",
            "json",
            "--no-progress",
            "-o",
            &desk.arg("runs"),
            &maria.table("t"),
            &maria.table("t"),
        ])
        .args(["--source-where", "id < 1000 OR SLEEP(0.002) = 0", "--sort", "server", "--ranges", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let asleep = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE '%SLEEP(0.002)%' AND STATE = 'User sleep'";
    for _ in 0..2000 {
        if maria.ask(asleep) != "0" {
            break;
        }
    }
    for change in ["TRUNCATE TABLE t", "ALTER TABLE t ADD w int", "DROP TABLE t"] {
        let error = query(&maria.url(), &format!("SET lock_wait_timeout = 1; {change}")).err().unwrap().to_string();
        assert!(error.contains("1205"), "{error}");
    }
    let output = child.wait().unwrap();
    assert_eq!(output.code(), Some(0));
}
