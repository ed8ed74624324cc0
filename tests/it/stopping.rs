//! Runs that do not come to their end: signals, a killed process, a stream cut by the server (case O-46).

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    frozen::{ACTIVE, NO_SORTS, await_count, await_count_within},
    harness::{Desk, Outcome, Postgres, program, two_tables},
};
use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tieout_testkit::postgres::{PostgresServer, query};

/// Time for a server to act on a request: less than it takes to notice by itself that a client is gone.
const AT_ONCE: Duration = Duration::from_millis(1500);

/// How a server waits in `pg_sleep` for the program.
const ASLEEP: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tieout' \
     AND datname = current_database() AND wait_event = 'PgSleep'";

fn start(desk: &Desk, args: &[&str]) -> Child {
    program()
        .args(["diff", "--format", "json", "--no-progress", "-o", &desk.arg("runs")])
        .args(args)
        .current_dir(desk.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

fn end(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Asserts that there is one run folder, and that it is partial.
#[track_caller]
fn assert_partial(desk: &Desk) {
    let names: Vec<String> = fs::read_dir(desk.path("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].ends_with(".partial"), "{names:?}");
    assert!(!desk.path("runs").join(&names[0]).join("run.json").exists());
}

/// Two tables of 30 000 rows each, equal.
fn large(postgres: &Postgres) -> (String, String) {
    two_tables(postgres, "id int PRIMARY KEY, v int", "", "");
    postgres.sql("INSERT INTO s SELECT i, i FROM generate_series(1, 30000) i; INSERT INTO k TABLE s; ANALYZE s, k");
    (postgres.table("s"), postgres.table("k"))
}

/// A filter that lets two thirds of the rows of [`large`] pass, and sleeps where nothing but a cancel request would end
/// the sleep within the minute.
const SLOW: &str = "id < 20000 OR pg_sleep(60) IS NULL";

#[test]
fn an_interrupt_ends_the_run_and_its_queries() {
    let postgres = Postgres::new();
    let (source, sink) = large(&postgres);
    let first = Desk::new();
    let cuts = first.diff(&[&source, &sink, "--ranges", "4"]);
    cuts.assert_counts(0, 0, 0);
    assert_eq!(cuts.document()["plan"]["ranges"], 4);
    let cuts = cuts.folder().display().to_string();
    // Reads along an index, one sorted read, an unordered one; and the sample that precedes them all.
    let reads = [
        ("-INT", vec!["--ranges-from", &cuts, "-j", "2"], 2),
        ("-TERM", vec!["--sort", "local", "--ranges", "1"], 2),
        ("-INT", vec!["--ranges", "4"], 1),
    ];
    for (index, (name, args, asleep)) in reads.into_iter().enumerate() {
        let desk = Desk::new();
        let child = start(&desk, &[&[source.as_str(), sink.as_str(), "-w", SLOW], args.as_slice()].concat());
        await_count(&postgres.url(), ASLEEP, |count| count >= asleep);
        let started = Instant::now();
        signal(&child, name);
        let outcome = end(child);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        // The server was told when the process ended; it did not find out later.
        await_count_within(&postgres.url(), ASLEEP, AT_ONCE, |count| count == 0);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (130, ""), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("interrupted"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("internal"), "{}", outcome.stderr);
        if index < 2 {
            assert_partial(&desk);
        } else {
            assert!(!desk.path("runs").exists(), "no row was read yet");
        }
        await_count(&postgres.url(), ACTIVE, |count| count == 0);
    }
}

#[test]
fn an_interrupt_while_freezing_ends_the_run() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let (source, sink) = large(&postgres);
    let mut locker = Command::new("psql")
        .args(["-X", "-q", "-d", &postgres.url(), "-c", "BEGIN; LOCK TABLE s; SELECT pg_sleep(60)"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let held =
        "SELECT count(*) FROM pg_locks WHERE relation = 's'::regclass AND mode = 'AccessExclusiveLock' AND granted";
    await_count(&postgres.url(), held, |count| count == 1);
    let child = start(&desk, &[&source, &sink]);
    await_count(&postgres.url(), ACTIVE, |count| count == 1);
    signal(&child, "-INT");
    let outcome = end(child);
    // Neither does a request for a lock stay in the queue, where it would hold up others.
    let queued = "SELECT count(*) FROM pg_locks WHERE relation = 's'::regclass AND NOT granted";
    await_count_within(&postgres.url(), queued, AT_ONCE, |count| count == 0);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (130, ""), "{}", outcome.stderr);
    assert!(!desk.path("runs").exists());
    locker.kill().unwrap();
    locker.wait().unwrap();
}

#[test]
fn a_killed_process_leaves_a_partial_folder_and_no_queries() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let (source, sink) = large(&postgres);
    let child = start(&desk, &[&source, &sink, "-w", SLOW, "--ranges", "1"]);
    await_count(&postgres.url(), ASLEEP, |count| count >= 2);
    signal(&child, "-KILL");
    let outcome = end(child);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (-1, ""));
    assert_partial(&desk);
    let all =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tieout' AND datname = current_database()";
    await_count(&postgres.url(), all, |count| count == 0);
}

#[test]
fn o46_a_stream_cut_by_the_server_is_an_error() {
    for (side, flag, sort) in [
        ("source", "--source-where", "server"),
        ("sink", "--sink-where", "server"),
        ("source", "--source-where", "local"),
    ] {
        let (desk, postgres) = (Desk::new(), Postgres::new());
        let (source, sink) = large(&postgres);
        postgres.sql(NO_SORTS);
        // Half of the rows are on their way when the server falls asleep.
        let child = start(
            &desk,
            &[&source, &sink, flag, "id < 15000 OR pg_sleep(60) IS NULL", "--sort", sort, "--ranges", "1"],
        );
        await_count(&postgres.url(), ASLEEP, |count| count == 1);
        let kill = format!("SELECT pg_terminate_backend(pid) {}", ASLEEP.strip_prefix("SELECT count(*)").unwrap());
        assert_eq!(query(&postgres.url(), &kill).unwrap(), "t");
        let outcome = end(child);
        outcome.assert_refused(&[side, "57P01"]);
        assert_partial(&desk);
        await_count(&postgres.url(), ACTIVE, |count| count == 0);
    }
}

#[test]
fn o46_a_query_that_fails_in_the_middle_is_an_error() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let (source, sink) = large(&postgres);
    for sort in ["server", "local"] {
        let outcome = desk.diff(&[&source, &sink, "--sink-where", "1 / (id - 15000) IS NOT NULL", "--sort", sort]);
        outcome.assert_refused(&["sink", "22012"]);
    }
    // The role of another cancels it.
    let child = start(&desk, &[&source, &sink, "--source-where", "id < 15000 OR pg_sleep(60) IS NULL"]);
    await_count(&postgres.url(), ASLEEP, |count| count >= 1);
    let cancel = format!("SELECT pg_cancel_backend(pid) {}", ASLEEP.strip_prefix("SELECT count(*)").unwrap());
    query(&postgres.url(), &cancel).unwrap();
    let outcome = end(child);
    outcome.assert_refused(&["source", "57014"]);
}

/// A standby is read at its replay position; a read that its recovery cancels is an error that says what to do, on
/// whichever side it is, and the other side's read ends too.
#[test]
fn o47_reads_of_a_standby_that_recovery_cancels() {
    let (desk, primary) = (Desk::new(), PostgresServer::start().unwrap());
    primary
        .execute(
            "CREATE TABLE t (id int PRIMARY KEY, v text); \
             INSERT INTO t SELECT i, repeat('x', 20) FROM generate_series(1, 30000) i; VACUUM (FREEZE, ANALYZE) t",
        )
        .unwrap();
    let standby = primary.standby(&[("max_standby_streaming_delay", "0"), ("hot_standby_feedback", "off")]).unwrap();
    let caught_up = || {
        let end = query(&primary.url("postgres"), "SELECT pg_current_wal_lsn()").unwrap();
        let replayed = format!("SELECT count(*) WHERE pg_last_wal_replay_lsn() >= '{}'", end.trim());
        let started = Instant::now();
        while query(&standby.url("postgres"), &replayed).unwrap().trim() != "1" {
            assert!(started.elapsed() < Duration::from_secs(30), "the standby lags behind");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    caught_up();
    let [theirs, ours] = [&standby, &primary].map(|server| format!("{}#t", server.url("postgres")));
    let outcome = desk.diff(&[&theirs, &ours, "--ranges", "4"]);
    outcome.assert_counts(0, 0, 0);
    let positions = &outcome.document()["positions"];
    assert_eq!(positions["source"]["exactness"], "bracketed", "{positions:#}");
    // The other side is elsewhere: a snapshot on the primary would keep the rows.
    let lines: Vec<String> = (1..=30_000).map(|id| format!("{id},{}\n", "x".repeat(20))).collect();
    let elsewhere = desk.file("t.csv", format!("id,v\n{}", lines.concat()));
    for (source, sink, side) in [(&theirs, &elsewhere, "source"), (&elsewhere, &theirs, "sink")] {
        let slow = "id < 15000 OR pg_sleep(60) IS NULL";
        let run = start(&desk, &[source, sink, "-k", "id", &format!("--{side}-where"), slow, "--ranges", "1"]);
        await_count_within(&standby.url("postgres"), ASLEEP, Duration::from_secs(30), |count| count > 0);
        // Rows that the snapshot of the standby still sees are removed for good.
        primary.execute("DELETE FROM t WHERE id % 100 = 7; INSERT INTO t SELECT i, repeat('x', 20) FROM generate_series(7, 30000, 100) i; VACUUM t").unwrap();
        let started = Instant::now();
        let outcome = end(run);
        assert!(started.elapsed() < Duration::from_secs(30), "it waited for the other side");
        outcome.assert_refused(&["conflict with recovery", "SQLSTATE 40001", "hot_standby_feedback"]);
        caught_up();
    }
    // Nothing of it is left.
    desk.diff(&[&theirs, &ours]).assert_counts(0, 0, 0);
    desk.diff(&[&elsewhere, &theirs, "-k", "id"]).assert_counts(0, 0, 0);
}
