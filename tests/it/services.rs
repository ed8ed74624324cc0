//! Where connection settings come from: locator, service files, environment, sockets; and which of them wins.

use crate::{
    connect::{assert_planned, run_with, server_with_a_table},
    harness::Desk,
};

#[test]
fn services_and_variables_and_their_precedence() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    let port = server.port().to_string();
    let services = desk.file(
        "services",
        format!(
            "# services\n[dead]\nhost=127.0.0.1\nport=1\nuser=postgres\ndbname=postgres\n\n\
             [live]\nhost=127.0.0.1\nport={port}\nuser=postgres\ndbname=postgres\n\n[odd]\nhst=127.0.0.1\n"
        ),
    );
    let file = ("PGSERVICEFILE", services.as_str());
    let planned = |environment: &[(&str, &str)], locator: &str| {
        assert_planned(&run_with(&desk, "plan", environment, &[locator, "k.csv"]));
    };
    let refused = |environment: &[(&str, &str)], locator: &str, texts: &[&str]| {
        run_with(&desk, "plan", environment, &[locator, "k.csv"]).assert_refused(texts);
    };
    planned(&[file], "postgres://?service=live#s");
    planned(&[file, ("PGSERVICE", "live")], "postgres:///#s");
    // The locator's service beats the variable's.
    planned(&[file, ("PGSERVICE", "dead")], "postgres:///?service=live#s");
    refused(&[file, ("PGSERVICE", "live")], "postgres:///?service=dead#s", &["source", ":1"]);
    // The locator beats the service, and the service the variables.
    planned(&[file, ("PGSERVICE", "dead")], &format!("postgres://127.0.0.1:{port}/#s"));
    planned(&[file, ("PGPORT", "1"), ("PGUSER", "nobody")], "postgres://?service=live#s");
    refused(&[file], "postgres://?service=live&port=1#s", &["source", ":1"]);
    refused(&[file], "postgres://?service=none#s", &["source", "`none`"]);
    refused(&[file], "postgres://?service=odd#s", &["source", "`hst`"]);
    refused(&[("PGSERVICE", "live")], "postgres:///#s", &["source", "`live`"]);
    // Its own place in the home folder.
    desk.file(".pg_service.conf", format!("[home]\nhost=127.0.0.1\nport={port}\nuser=postgres\ndbname=postgres\n"));
    planned(&[], "postgres://?service=home#s");
    // Variables alone.
    let variables =
        [("PGHOST", "127.0.0.1"), ("PGPORT", port.as_str()), ("PGUSER", "postgres"), ("PGDATABASE", "postgres")];
    for locator in ["postgres:///#s", "postgres://#s", "postgresql:///#public.s"] {
        planned(&variables, locator);
    }
    refused(&variables, "postgres://127.0.0.1:1#s", &["source", ":1"]);
    refused(&variables, "postgres:///absent#s", &["source", "absent"]);
    refused(&[("PGPORT", "none")], "postgres://127.0.0.1/postgres#s", &["source", "port"]);
}

#[test]
fn sockets() {
    let desk = Desk::new();
    let server = server_with_a_table(&desk);
    let (port, folder) = (server.port(), server.folder().display().to_string());
    let encoded = folder.replace('/', "%2F");
    let run = |environment: &[(&str, &str)], locator: &str| {
        run_with(&desk, "diff", environment, &[locator, "k.csv", "-k", "id"])
    };
    run(&[], &format!("postgres://postgres@{encoded}:{port}/postgres#s")).assert_counts(0, 0, 0);
    run(&[], &format!("postgres://postgres@/postgres?host={folder}&port={port}#s")).assert_counts(0, 0, 0);
    run(&[("PGHOST", &folder), ("PGPORT", &port.to_string())], "postgres://postgres@/postgres#s")
        .assert_counts(0, 0, 0);
    // TLS is not for sockets: as with libpq, a mode that asks for it does not keep them from being used.
    run(&[("PGSSLMODE", "require")], &format!("postgres://postgres@{encoded}:{port}/postgres#s"))
        .assert_counts(0, 0, 0);
    // The first of several hosts that answers.
    run(&[], &format!("postgres://postgres@127.0.0.1:1,{encoded}:{port}/postgres#s")).assert_counts(0, 0, 0);
    run(&[], &format!("postgres://postgres@{encoded}:1/postgres#s")).assert_refused(&["source", &folder]);
}
