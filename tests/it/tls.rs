//! Case O-45: TLS that is asked for is done and checked, never less.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    connect::{assert_planned, run_with, server_with_a_table},
    harness::{Desk, Outcome},
};
use std::fs;
use tieout_testkit::postgres::PostgresServer;

/// Plans with the server as the source: `host` is the name to check, whatever it is, the connection goes to 127.0.0.1.
fn plan(desk: &Desk, server: &PostgresServer, host: &str, parameters: &str) -> Outcome {
    let locator = format!("postgres://postgres@{host}:{}/postgres?hostaddr=127.0.0.1&{parameters}#s", server.port());
    run_with(desk, "plan", &[], &[&locator, "k.csv"])
}

#[test]
fn o45_tls_asked_for_is_checked() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    let stranger = desk.arg("stranger.pem");
    fs::copy(server.enable_tls().unwrap(), &stranger).unwrap();
    // A new authority: the first one is a stranger now.
    let authority = server.enable_tls().unwrap().display().to_string();
    for mode in ["verify-full", "verify-ca"] {
        plan(&desk, &server, "localhost", &format!("sslmode={mode}")).assert_refused(&["source", "root certificate"]);
    }
    for mode in ["verify-full", "verify-ca", "require"] {
        plan(&desk, &server, "localhost", &format!("sslmode={mode}&sslrootcert={stranger}")).assert_refused(&[
            "source",
            "certificate",
            "sslrootcert",
        ]);
        for host in ["localhost", "127.0.0.1"] {
            assert_planned(&plan(&desk, &server, host, &format!("sslmode={mode}&sslrootcert={authority}")));
        }
    }
    let wrong = "other.invalid";
    plan(&desk, &server, wrong, &format!("sslmode=verify-full&sslrootcert={authority}")).assert_refused(&[
        "source",
        "certificate",
        "name",
    ]);
    for mode in ["verify-ca", "require"] {
        assert_planned(&plan(&desk, &server, wrong, &format!("sslmode={mode}&sslrootcert={authority}")));
    }
    for mode in ["require", "prefer", "allow", "disable"] {
        assert_planned(&plan(&desk, &server, wrong, &format!("sslmode={mode}")));
    }
    assert_planned(&plan(&desk, &server, wrong, ""));
    // A root certificate where libpq looks for one of its own accord.
    fs::create_dir(desk.path(".postgresql")).unwrap();
    fs::copy(&stranger, desk.path(".postgresql/root.crt")).unwrap();
    plan(&desk, &server, "localhost", "sslmode=require").assert_refused(&["source", "certificate"]);
    fs::copy(&authority, desk.path(".postgresql/root.crt")).unwrap();
    assert_planned(&plan(&desk, &server, "localhost", "sslmode=verify-full"));
    plan(&desk, &server, wrong, "sslmode=verify-full").assert_refused(&["source", "certificate", "name"]);
}

#[test]
fn o45_a_server_that_insists_on_tls() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    // Without TLS on the server: what insists fails, what does not goes without.
    for mode in ["require", "verify-ca", "verify-full"] {
        let parameters = format!("sslmode={mode}&sslrootcert={}", desk.arg("root.pem"));
        fs::copy(desk.path("k.csv"), desk.path("root.pem")).unwrap();
        plan(&desk, &server, "localhost", &parameters).assert_refused(&["source"]);
    }
    plan(&desk, &server, "localhost", "sslmode=require").assert_refused(&["source", "TLS"]);
    for mode in ["prefer", "allow", "disable"] {
        assert_planned(&plan(&desk, &server, "localhost", &format!("sslmode={mode}")));
    }
    server.execute("CREATE ROLE guarded LOGIN").unwrap();
    let authority = server.enable_tls().unwrap();
    server.require_tls("guarded").unwrap();
    let locator = |mode: &str| format!("postgres://guarded@127.0.0.1:{}/postgres?sslmode={mode}#s", server.port());
    for mode in ["allow", "prefer", "require"] {
        assert_planned(&run_with(&desk, "plan", &[], &[&locator(mode), "k.csv"]));
    }
    run_with(&desk, "plan", &[], &[&locator("disable"), "k.csv"]).assert_refused(&["source", "pg_hba.conf"]);
    // Rows come over TLS as well, and so do the connections of several workers.
    server.execute("INSERT INTO s SELECT i, i FROM generate_series(2, 5000) i").unwrap();
    let secure = format!("{}&sslrootcert={}", locator("verify-full").trim_end_matches("#s"), authority.display());
    let args = [&format!("{secure}#s"), "k.csv", "-k", "id", "-j", "3", "--ranges", "6"];
    run_with(&desk, "diff", &[], &args.map(AsRef::as_ref)).assert_counts(4999, 0, 0);
}

#[test]
fn o45_unknown_modes_are_errors() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    let valid = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "sslmode"];
    for mode in ["verify_full", "Require", "on", "true", ""] {
        plan(&desk, &server, "127.0.0.1", &format!("sslmode={mode}")).assert_refused(&valid);
    }
    let locator = format!("{}#s", server.url("postgres"));
    run_with(&desk, "plan", &[("PGSSLMODE", "verify")], &[&locator, "k.csv"]).assert_refused(&valid);
    run_with(&desk, "plan", &[("PGSSLMODE", "require")], &[&locator, "k.csv"]).assert_refused(&["TLS"]);
    assert_planned(&run_with(&desk, "plan", &[("PGSSLMODE", "prefer")], &[&locator, "k.csv"]));
}

#[test]
fn o45_a_certificate_signed_by_itself() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    let stranger = desk.arg("stranger.pem");
    fs::copy(server.enable_tls_self_signed("db.invalid").unwrap(), &stranger).unwrap();
    // The same name with another key.
    let own = server.enable_tls_self_signed("db.invalid").unwrap().display().to_string();
    for mode in ["verify-full", "verify-ca", "require"] {
        plan(&desk, &server, "db.invalid", &format!("sslmode={mode}&sslrootcert={stranger}"))
            .assert_refused(&["source", "certificate"]);
        assert_planned(&plan(&desk, &server, "db.invalid", &format!("sslmode={mode}&sslrootcert={own}")));
    }
    plan(&desk, &server, "db.invalid", "sslmode=verify-full").assert_refused(&["source", "root certificate"]);
    plan(&desk, &server, "localhost", &format!("sslmode=verify-full&sslrootcert={own}")).assert_refused(&[
        "source",
        "certificate",
        "name",
    ]);
    assert_planned(&plan(&desk, &server, "localhost", &format!("sslmode=verify-ca&sslrootcert={own}")));
    assert_planned(&plan(&desk, &server, "localhost", "sslmode=require"));
}
