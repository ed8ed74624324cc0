//! Logins, settings of the environment, TLS.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use super::Maria;
use crate::harness::{Desk, Outcome, program};
use tieout_testkit::mariadb::MariadbServer;

/// Runs the program with variables set.
fn with_env(desk: &Desk, env: &[(&str, &str)], args: &[&str]) -> Outcome {
    let mut command = program();
    command.args(["diff", "--format", "json", "--no-progress", "-o", &desk.arg("runs")]).args(args);
    command.current_dir(desk.path(""));
    for (name, value) in env {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn o44_passwords_with_special_characters() {
    let maria = Maria::alone(&["--log-bin=binlog"]);
    maria.sql("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)");
    let (address, name) = (maria.address(), maria.name().to_owned());
    // Has its own password, an empty one.
    let root = maria.table("t").replace("root@", "root:@");
    for (at, (password, encoded)) in [
        ("@Pass:w/rd#1", "%40Pass%3Aw%2Frd%231"),
        ("p%40", "p%2540"),
        ("a b+c", "a%20b+c"),
        ("\u{fc}\u{20ac}", "%C3%BC%E2%82%AC"),
        ("'\"\\", "%27%22%5C"),
    ]
    .into_iter()
    .enumerate()
    {
        let desk = Desk::new();
        let user = format!("u{at}");
        let quoted = password.replace('\\', "\\\\").replace('\'', "''");
        maria.sql(&format!("CREATE USER {user}@'%' IDENTIFIED BY '{quoted}'; GRANT ALL ON {name}.* TO {user}@'%'"));
        let url = format!("mysql://{user}:{encoded}@{address}/{name}#t");
        desk.diff(&[&url, &maria.table("t")]).assert_counts(0, 0, 0);
        let bare = format!("mysql://{user}@{address}/{name}#t");
        with_env(&desk, &[("MYSQL_PWD", password)], &[&bare, &root]).assert_counts(0, 0, 0);
        let option = password.replace('\\', "\\\\");
        let option = if option.contains('#') { format!("\"{option}\"") } else { option };
        desk.file(".my.cnf", format!("[client]\nuser={user}\npassword={option}\n"));
        let home = desk.arg("");
        let nobody = format!("mysql://{address}/{name}#t");
        let outcome = with_env(&desk, &[("HOME", &home)], &[&nobody, &root]);
        assert_eq!(outcome.code, 0, "{password}: {}", outcome.stderr);
        let wrong = format!("mysql://{user}:{encoded}x@{address}/{name}#t");
        let outcome = desk.diff(&[&wrong, &maria.table("t")]);
        outcome.assert_refused(&["source", "1045"]);
        assert!(!outcome.stderr.contains(password) && !outcome.stderr.contains(encoded), "{}", outcome.stderr);
    }
    // The anonymous account and passwords without a binary log's position: one reader, no failure.
    let desk = Desk::new();
    let url = format!("mysql://u0:%40Pass%3Aw%2Frd%231@{address}/{name}#t");
    let text = desk.run("plan", &[&url, &url]).document().to_string();
    assert!(text.contains("BINLOG MONITOR"), "{text}");
}

#[test]
fn a_socket_and_wrong_places() {
    let server = MariadbServer::start().unwrap();
    server.execute("CREATE DATABASE d; CREATE TABLE d.t (id int PRIMARY KEY)").unwrap();
    let desk = Desk::new();
    let socket = format!("mysql://root@/d?socket={}#t", server.socket().display());
    desk.diff(&[&socket, &format!("{}#t", server.url("d"))]).assert_counts(0, 0, 0);
    desk.diff(&[&format!("{}#t", server.url("nowhere")), &socket]).assert_refused(&["source", "1049"]);
    desk.diff(&[&format!("{}#none", server.url("d")), &socket])
        .assert_refused(&["none does not exist", "near names: t"]);
    desk.diff(&["mysql://root@127.0.0.1:1/d#t", &socket]).assert_refused(&["source", "connecting to 127.0.0.1:1"]);
}

#[test]
fn o45_tls_is_checked_or_refused() {
    let desk = Desk::new();
    let (server, authority) = MariadbServer::start_with_tls(&desk.path(""), "localhost").unwrap();
    server
        .execute("CREATE DATABASE d; CREATE TABLE d.t (id int PRIMARY KEY); CREATE USER s@'%' REQUIRE SSL; GRANT ALL ON d.* TO s@'%'")
        .unwrap();
    let plain = format!("{}#t", server.url("d"));
    let port = server.port();
    let with = |host: &str, query: &str| format!("mysql://s@{host}:{port}/d?{query}#t");
    let ca = format!("ssl-ca={}", authority.display());
    // The certificate is that of `localhost`.
    for (host, query, good) in [
        ("localhost", "ssl-mode=preferred".to_owned(), true),
        ("localhost", "ssl-mode=required".to_owned(), true),
        ("localhost", "ssl-mode=disabled".to_owned(), false),
        ("localhost", "ssl-mode=verify-ca".to_owned(), false),
        ("localhost", "ssl-mode=verify-identity".to_owned(), false),
        ("localhost", format!("ssl-mode=verify-identity&{ca}"), true),
        ("127.0.0.1", format!("ssl-mode=verify-ca&{ca}"), true),
        ("127.0.0.1", format!("ssl-mode=verify-identity&{ca}"), false),
        ("127.0.0.1", format!("ssl-mode=required&{ca}"), true),
        ("localhost", "ssl-mode=verify-full".to_owned(), false),
    ] {
        let outcome = desk.diff(&[&with(host, &query), &plain]);
        assert_eq!(outcome.code, if good { 0 } else { 2 }, "{host} {query}\n{}", outcome.stderr);
    }
    // A server without TLS is not good enough where TLS is asked for.
    let bare = Maria::new();
    bare.sql("CREATE TABLE t (id int PRIMARY KEY)");
    for mode in ["required", "verify-ca", "verify-identity"] {
        let url = format!("{}?ssl-mode={mode}&{ca}#t", bare.url());
        desk.diff(&[&url, &bare.table("t")]).assert_refused(&["the server offers no TLS"]);
    }
}
