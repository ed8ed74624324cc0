//! Case O-44: passwords with special characters, in every place that a password may come from.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Outcome, program};
use std::{fmt::Write as _, fs, os::unix::fs::PermissionsExt, path::Path};
use tieout_testkit::postgres::PostgresServer;

/// (user, password, the password in a URL, the password in a password file)
const LOGINS: [(&str, &str, &str, &str); 5] = [
    ("p0", "@Pass:w/rd#1", "%40Pass%3Aw%2Frd%231", "@Pass\\:w/rd#1"),
    ("p1", "p%40", "p%2540", "p%40"),
    ("p2", "a b+c", "a%20b+c", "a b+c"),
    ("p3", "\u{fc}\u{20ac}", "%C3%BC%E2%82%AC", "\u{fc}\u{20ac}"),
    ("p4", "'\"\\", "%27%22%5C", "'\"\\\\"),
];

/// A run with a home folder of its own, so that nothing of the caller's home is read, and these variables.
pub(crate) fn run_with(desk: &Desk, command: &str, environment: &[(&str, &str)], args: &[&str]) -> Outcome {
    let output = program()
        .args([command, "--format", "json", "--no-progress", "-o", &desk.arg("runs")])
        .args(args)
        .env("HOME", desk.path(""))
        .envs(environment.iter().copied())
        .current_dir(desk.path(""))
        .output()
        .unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Asserts that the program could connect and plan.
#[track_caller]
pub(crate) fn assert_planned(outcome: &Outcome) {
    assert_eq!(outcome.code, 0, "{}\n{}", outcome.stdout, outcome.stderr);
}

/// A server with a table `s (id, v)` of one row that everybody may read, and the same row in `k.csv`.
pub(crate) fn server_with_a_table(desk: &Desk) -> PostgresServer {
    let server = PostgresServer::start().unwrap();
    server
        .execute("CREATE TABLE s (id int PRIMARY KEY, v int); INSERT INTO s VALUES (1, 1); GRANT SELECT ON s TO public")
        .unwrap();
    desk.file("k.csv", "id,v\n1,1\n");
    server
}

/// A server whose users `p0` to `p4` must give their passwords.
fn server_with_passwords(desk: &Desk) -> PostgresServer {
    let server = server_with_a_table(desk);
    let mut sql = "SET password_encryption = 'scram-sha-256'; SET standard_conforming_strings = on;".to_owned();
    for (user, password, _, _) in LOGINS {
        write!(sql, "CREATE ROLE {user} LOGIN PASSWORD '{}';", password.replace('\'', "''")).unwrap();
    }
    server.execute(&sql).unwrap();
    server.first_rules("host all p0,p1,p2,p3,p4 127.0.0.1/32 scram-sha-256\n").unwrap();
    server
}

#[test]
fn o44_password_with_special_characters() {
    let desk = Desk::new();
    let server = server_with_passwords(&desk);
    let port = server.port();
    for (user, password, encoded, escaped) in LOGINS {
        let bare = format!("postgres://{user}@127.0.0.1:{port}/postgres#s");
        let url = format!("postgres://{user}:{encoded}@127.0.0.1:{port}/postgres#s");
        assert_planned(&run_with(&desk, "plan", &[], &[&url, "k.csv"]));
        assert_planned(&run_with(&desk, "plan", &[("PGPASSWORD", password)], &[&bare, "k.csv"]));
        let passfile = desk.file("pass", format!("# comment\n127.0.0.1:{port}:*:{user}:{escaped}\n"));
        fs::set_permissions(&passfile, fs::Permissions::from_mode(0o600)).unwrap();
        assert_planned(&run_with(&desk, "plan", &[("PGPASSFILE", &passfile)], &[&bare, "k.csv"]));
        let services = desk.file(
            "services",
            format!("[live]\nhost=127.0.0.1\nport={port}\nuser={user}\ndbname=postgres\npassword={password}\n"),
        );
        let environment = [("PGSERVICEFILE", services.as_str())];
        assert_planned(&run_with(&desk, "plan", &environment, &["postgres://?service=live#s", "k.csv"]));
    }
    // Without any, none of the servers' users gets in: the runs above did need their passwords.
    run_with(&desk, "plan", &[], &[&format!("postgres://p0@127.0.0.1:{port}/postgres#s"), "k.csv"])
        .assert_refused(&["source"]);
    // The forms are not mixed up: a raw password is not decoded, an encoded one is.
    let bare = format!("postgres://p1@127.0.0.1:{port}/postgres#s");
    run_with(&desk, "plan", &[("PGPASSWORD", "p%2540")], &[&bare, "k.csv"]).assert_refused(&["source", "password"]);
    run_with(&desk, "plan", &[], &[&format!("postgres://p1:p%40@127.0.0.1:{port}/postgres#s"), "k.csv"])
        .assert_refused(&["source", "password"]);
}

#[test]
fn o44_a_password_appears_nowhere() {
    let desk = Desk::new();
    let server = server_with_passwords(&desk);
    let port = server.port();
    for (user, password, encoded, _) in LOGINS {
        let url = format!("postgres://{user}:{encoded}@127.0.0.1:{port}/postgres#s");
        let outcome = run_with(&desk, "diff", &[], &[&url, "k.csv", "-k", "id", "-vvv"]);
        outcome.assert_counts(0, 0, 0);
        assert_hidden(&outcome, &[password, encoded]);
        let words: Vec<&str> = [password, encoded].into_iter().filter(|word| word.len() > 3).collect();
        assert_hidden_in_files(&outcome.folder(), &words);
        // The password of another user is wrong.
        let other = if user == "p0" { "p1" } else { "p0" };
        let wrong = format!("postgres://{other}:{encoded}@127.0.0.1:{port}/postgres#s");
        let outcome = run_with(&desk, "diff", &[], &[&wrong, "k.csv", "-k", "id", "-vvv"]);
        outcome.assert_refused(&["source", "password authentication failed"]);
        assert_hidden(&outcome, &[password, encoded]);
        let bare = format!("postgres://{other}@127.0.0.1:{port}/postgres#s");
        let outcome = run_with(&desk, "diff", &[("PGPASSWORD", password)], &[&bare, "k.csv", "-k", "id", "-vvv"]);
        outcome.assert_refused(&["source", "password authentication failed"]);
        assert_hidden(&outcome, &[password]);
    }
    // One that was not encoded breaks the locator; the error must blame that, and show no part of it.
    for password in ["@Pass:w/rd#1", "12/secr", "12#secr", "secr%zzet", "secr?x=y", "secr]et:"] {
        let locator = format!("postgres://p0:{password}@127.0.0.1:{port}/postgres#s");
        let outcome = run_with(&desk, "diff", &[], &[&locator, "k.csv", "-k", "id", "-vvv"]);
        assert_eq!(outcome.code, 2, "{password}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
        assert_hidden(&outcome, &["Pass", "w/rd", "rd#1", "secr", "12/", "x=y", "zzet"]);
    }
}

#[track_caller]
fn assert_hidden(outcome: &Outcome, secrets: &[&str]) {
    for secret in secrets {
        assert!(!outcome.stdout.contains(secret), "{secret} on stdout: {}", outcome.stdout);
        assert!(!outcome.stderr.contains(secret), "{secret} on stderr: {}", outcome.stderr);
    }
}

#[track_caller]
fn assert_hidden_in_files(folder: &Path, secrets: &[&str]) {
    let mut files = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = fs::read(&path).unwrap();
            for secret in secrets {
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "{secret} in {}", path.display());
            }
        }
    }
    assert!(files >= 3, "expected the files of a run, found {files}");
}
