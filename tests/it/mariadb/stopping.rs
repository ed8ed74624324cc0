//! Runs that do not come to their end: signals, streams that the server cuts (case O-46).

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use super::Maria;
use crate::harness::{Desk, Outcome, program};
use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tieout_testkit::mariadb::client;

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

fn end(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Connections of the program to this database; those that sleep within a query.
const CONNECTED: &str =
    "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()";
const ASLEEP: &str = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID() \
     AND STATE = 'User sleep'";

#[track_caller]
fn await_count(maria: &Maria, sql: &str, within: Duration, wanted: impl Fn(u64) -> bool) {
    let started = Instant::now();
    loop {
        let count: u64 = maria.ask(sql).parse().unwrap();
        if wanted(count) {
            return;
        }
        assert!(started.elapsed() < within, "{count} after {within:?}: {sql}");
    }
}

const SOON: Duration = Duration::from_secs(20);
/// Time for a server to act on a request: less than it takes to notice by itself that a client is gone.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Two tables of 30 000 rows, equal.
fn large(maria: &Maria) -> (String, String) {
    maria.sql(
        "CREATE TABLE s (id int PRIMARY KEY, v int, pad char(200)); \
         INSERT INTO s SELECT seq, seq, REPEAT('x', 200) FROM seq_1_to_30000; CREATE TABLE k LIKE s; \
         INSERT INTO k SELECT * FROM s",
    );
    (maria.table("s"), maria.table("k"))
}

/// Lets two thirds of the rows of [`large`] pass, then sleeps where nothing but a request would end it.
const SLOW: &str = "id < 20000 OR SLEEP(60) = 7";

#[test]
fn an_interrupt_ends_the_run_and_its_queries() {
    let maria = Maria::new();
    let (source, sink) = large(&maria);
    for (name, args) in [
        ("-INT", ["--sort", "server", "--ranges", "1"]),
        ("-TERM", ["--sort", "local", "--ranges", "1"]),
        ("-INT", ["--ranges", "4", "-j", "2"]),
    ] {
        let desk = Desk::new();
        let child = start(&desk, &[&[source.as_str(), sink.as_str(), "-w", SLOW], args.as_slice()].concat());
        await_count(&maria, ASLEEP, SOON, |count| count >= 1);
        let started = Instant::now();
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
        let outcome = end(child);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        await_count(&maria, CONNECTED, AT_ONCE, |count| count == 0);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (130, ""), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("internal"), "{}", outcome.stderr);
    }
}

#[test]
fn an_interrupt_while_freezing_ends_the_run() {
    let maria = Maria::new();
    let (source, sink) = large(&maria);
    let mut locker = client(&maria.url())
        .unwrap()
        .args(["-e", "LOCK TABLES s WRITE; SELECT SLEEP(60)"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    await_count(&maria, ASLEEP, SOON, |count| count == 1);
    let desk = Desk::new();
    let child = start(&desk, &[&source, &sink]);
    let waits = CONNECTED.to_owned() + " AND STATE LIKE 'Waiting for table metadata lock'";
    await_count(&maria, &waits, SOON, |count| count == 1);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = end(child);
    await_count(&maria, &waits, AT_ONCE, |count| count == 0);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (130, ""), "{}", outcome.stderr);
    assert!(!desk.path("runs").exists());
    locker.kill().unwrap();
    locker.wait().unwrap();
}

#[test]
fn o46_a_stream_cut_by_the_server_is_an_error() {
    let maria = Maria::new();
    let (source, sink) = large(&maria);
    for (verb, text) in [("KILL QUERY", "1317"), ("KILL", "")] {
        for (side, flag, sort) in [("source", "--source-where", "server"), ("sink", "--sink-where", "local")] {
            let desk = Desk::new();
            // Half of the rows are on their way when the server falls asleep.
            let child =
                start(&desk, &[&source, &sink, flag, "id < 15000 OR SLEEP(60) = 7", "--sort", sort, "--ranges", "1"]);
            await_count(&maria, ASLEEP, SOON, |count| count == 1);
            let id = maria.ask(&ASLEEP.replace("COUNT(*)", "ID"));
            maria.sql(&format!("{verb} {id}"));
            let outcome = end(child);
            outcome.assert_refused(&[side, "reading rows", text]);
            await_count(&maria, CONNECTED, SOON, |count| count == 0);
        }
    }
}

#[test]
fn o46_a_slow_reader_is_no_reason_to_cut() {
    let maria = Maria::alone(&["--log-bin=binlog", "--net-write-timeout=1", "--net-buffer-length=1024"]);
    let desk = Desk::new();
    maria.sql(
        "CREATE TABLE s (id int PRIMARY KEY, pad varchar(4000)); \
         INSERT INTO s SELECT seq, REPEAT('x', 4000) FROM seq_1_to_20000; CREATE TABLE k (id int PRIMARY KEY, pad varchar(4000)); \
         INSERT INTO k SELECT * FROM s",
    );
    // The sink has its rows ready while the source's come one by one: the sink's server waits for its reader.
    let slow = "id > 3 OR SLEEP(1) = 0";
    let outcome =
        desk.diff(&[&maria.table("s"), &maria.table("k"), "--source-where", slow, "--ranges", "1", "--sort", "server"]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["rows"]["sink"], 20_000);
}

#[test]
fn o46_a_query_that_fails_in_the_middle_is_an_error() {
    let (desk, maria) = (Desk::new(), Maria::new());
    let (source, sink) = large(&maria);
    let failing = "id < 15000 OR (SELECT id FROM s AS o WHERE o.id > s.id - 3 AND o.id <= s.id) > 0";
    for sort in ["server", "local"] {
        let outcome = desk.diff(&[&source, &sink, "--source-where", failing, "--sort", sort, "--ranges", "1"]);
        outcome.assert_refused(&["source", "reading rows", "1242"]);
    }
}
