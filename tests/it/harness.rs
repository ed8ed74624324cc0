//! What the end-to-end tests share: a fresh database, files made by pyarrow, one run of the program and what it said.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;
use tieout_testkit::postgres::{TestDatabase, test_database};

/// Verdict word, exit code and (missing, extra, changed) of a run.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// The document on stdout (`run.json`, or the plan).
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON document on stdout: {error}\n{}\n{}", self.stdout, self.stderr))
    }

    /// (missing, extra, changed)
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let document = self.document();
        let count = |name: &str| document["counts"][name].as_u64().unwrap();
        (count("missing"), count("extra"), count("changed"))
    }

    /// The finished run's folder.
    pub(crate) fn folder(&self) -> PathBuf {
        PathBuf::from(self.document()["output"]["folder"].as_str().unwrap())
    }

    /// Asserts counts, verdict and exit code together.
    #[track_caller]
    pub(crate) fn assert_counts(&self, missing: u64, extra: u64, changed: u64) {
        let different = missing + extra + changed > 0;
        assert_eq!(self.code, i32::from(different), "exit code\n{}\n{}", self.stdout, self.stderr);
        assert_eq!(self.counts(), (missing, extra, changed), "missing, extra, changed\n{}", self.stdout);
        assert_eq!(self.document()["verdict"], if different { "different" } else { "equal" });
    }

    /// Asserts that the run broke (exit 2), claimed nothing on stdout, and said each of `texts` on stderr.
    #[track_caller]
    pub(crate) fn assert_refused(&self, texts: &[&str]) {
        assert_eq!(self.code, 2, "exit code\n{}\n{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "a run that broke must not print a result");
        for text in texts {
            assert!(self.stderr.contains(text), "expected {text:?} on stderr, found\n{}", self.stderr);
        }
    }
}

/// A folder for files and runs of one test.
pub(crate) struct Desk {
    folder: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Path of a file as an argument of the program.
    pub(crate) fn arg(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns it as an argument.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.arg(name)
    }

    /// Runs Python (pyarrow and duckdb are there) in the folder; panics if it fails; returns its stdout.
    #[track_caller]
    pub(crate) fn python(&self, script: &str) -> String {
        let prelude = "import datetime, decimal, math\nfrom decimal import Decimal as D\nimport pyarrow as pa, pyarrow.parquet as pq, duckdb\n";
        let output =
            python().arg("-c").arg(format!("{prelude}{script}")).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "python failed: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Lines of a query over the differences `d` of a run.
    #[track_caller]
    pub(crate) fn differences(&self, outcome: &Outcome, select: &str) -> String {
        self.python(&format!(
            "d = duckdb.sql(\"SELECT * FROM '{}/differences/*.parquet'\")\nfor r in duckdb.sql(\"{select}\").fetchall(): print(*r)",
            outcome.folder().display()
        ))
    }

    /// Runs `tieout diff --format json` with `args`.
    pub(crate) fn diff(&self, args: &[&str]) -> Outcome {
        self.run("diff", args)
    }

    /// Runs a command of the program with `--format json` and the folder's own output folder.
    pub(crate) fn run(&self, command: &str, args: &[&str]) -> Outcome {
        let mut all = vec![command, "--format", "json", "--no-progress", "-o"];
        let runs = self.arg("runs");
        all.push(&runs);
        all.extend(args);
        tieout(&all, self.folder.path())
    }
}

/// The Python that has pyarrow and duckdb.
pub(crate) fn python() -> Command {
    Command::new(std::env::var("TIEOUT_PYTHON").unwrap_or_else(|_| {
        let home = std::env::var("HOME").unwrap();
        format!("{home}/.cache/tieout/venv/bin/python")
    }))
}

/// Runs the program.
pub(crate) fn tieout(args: &[&str], folder: &Path) -> Outcome {
    let output = program().args(args).current_dir(folder).output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The program, with nothing of the caller's settings that would change its answers.
pub(crate) fn program() -> Command {
    without_settings(Command::new(env!("CARGO_BIN_EXE_tieout")))
}

/// Runs `tieout diff` as [`Desk::diff`] does; what it said, and the most memory that it held at once, in MiB.
#[track_caller]
pub(crate) fn diff_and_peak(desk: &Desk, args: &[&str]) -> (Outcome, u64) {
    let script = "import json, resource, subprocess, sys
run = subprocess.run(sys.argv[1:], capture_output=True, text=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(json.dumps([run.returncode, run.stdout, run.stderr, peak]))";
    let mut command = without_settings(python());
    command.args(["-c", script, env!("CARGO_BIN_EXE_tieout"), "diff", "--format", "json", "--no-progress", "-o"]);
    let output = command.arg(desk.arg("runs")).args(args).current_dir(desk.path("")).output().unwrap();
    let (code, stdout, stderr, peak) = serde_json::from_slice(&output.stdout).unwrap();
    (Outcome { code, stdout, stderr }, peak)
}

fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars() {
        if ["PG", "MYSQL_", "TIEOUT_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.env("NO_COLOR", "1");
    command
}

/// A fresh database of a real PostgreSQL server, dropped at the end of the test.
pub(crate) struct Postgres {
    database: TestDatabase,
}

impl Postgres {
    pub(crate) fn new() -> Self {
        Self { database: test_database().unwrap() }
    }

    /// Runs statements; panics if one fails.
    #[track_caller]
    pub(crate) fn sql(&self, statements: &str) {
        self.database.execute(statements).unwrap_or_else(|error| panic!("sql failed: {error}\n{statements}"));
    }

    /// Locator of a table, as one would type it: `schema.table` or `table`, parts quoted where needed.
    pub(crate) fn table(&self, table: &str) -> String {
        format!("{}#{table}", self.url())
    }

    /// The database's URL without a table.
    pub(crate) fn url(&self) -> String {
        self.database.url().to_owned()
    }
}

/// Makes tables `s` and `k` with `columns` (a CREATE TABLE body) and fills them with rows (a VALUES list each).
#[track_caller]
pub(crate) fn two_tables(postgres: &Postgres, columns: &str, source: &str, sink: &str) {
    postgres.sql(&format!("CREATE TABLE s ({columns}); CREATE TABLE k ({columns});"));
    for (table, rows) in [("s", source), ("k", sink)] {
        if !rows.is_empty() {
            postgres.sql(&format!("INSERT INTO {table} VALUES {rows}"));
        }
    }
}
