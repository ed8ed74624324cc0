//! The commands as a user meets them: help, summaries, plans, the demo, config files and the options of columns.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Postgres, program, tieout, two_tables};
use serde_json::json;
use std::fmt::Write as _;

/// Replaces what depends on time, place and bytes of a folder.
fn settings(desk: &Desk) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(&desk.arg("").replace('.', "\\."), "DESK/");
    settings.add_filter(r"\d{8}T\d{6}Z-[0-9a-f]{8}", "RUN");
    settings.add_filter(r"[0-9a-f]{64}", "DIGEST");
    settings.add_filter(r"size \d+ modified \S+ tag \S+", "SIZE-AND-TIME");
    settings.add_filter(r"took        .*", "took        TIME");
    settings
}

#[test]
fn help_of_every_command() {
    let desk = Desk::new();
    settings(&desk).bind(|| {
        for command in ["", "diff", "plan", "demo", "completions", "man"] {
            let args: Vec<&str> = [command, "-h"].into_iter().filter(|arg| !arg.is_empty()).collect();
            let outcome = tieout(&args, &desk.path(""));
            assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
            insta::assert_snapshot!(
                format!("help_{}", if command.is_empty() { "tieout" } else { command }),
                outcome.stdout
            );
        }
    });
}

#[test]
fn summaries() {
    let desk = Desk::new();
    let rows = |rows: &[&str]| format!("id,name,amount\n{}\n", rows.join("\n"));
    let source = desk.file("s.csv", rows(&["1,Ann,1.00", "2,Bob,2.00", "3,Cy,3.00"]));
    let other = desk.file("k.csv", rows(&["1,ann,1.00", "2,Bob,2.01", "4,Di,4.00", "4,Di,4.00"]));
    let near = desk.file("n.csv", rows(&["1,ann,1.00", "2,Bob,2.01", "3,Cy,3.00"]));
    let diff = |args: &[&str], code: i32| {
        let outcome = tieout(&[&["diff", "--no-progress"], args].concat(), &desk.path(""));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (code, ""), "{}", outcome.stdout);
        outcome.stdout
    };
    let options = ["--cast", "amount=number", "--option", "amount.abs_tol=0.01", "--option", "name.case=fold"];
    settings(&desk).bind(|| {
        insta::assert_snapshot!("summary_equal", diff(&[&source, &source, "-k", "id"], 0));
        insta::assert_snapshot!("summary_different", diff(&[&source, &other, "-k", "id", "--exclude", "amount"], 1));
        insta::assert_snapshot!("summary_keyless", diff(&[&source, &other], 1));
        insta::assert_snapshot!(
            "summary_excused",
            diff(&[&[source.as_str(), &near, "-k", "id"], &options[..]].concat(), 0)
        );
    });
}

#[test]
fn a_plan_says_everything_and_reads_no_row() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, total numeric(9,2), at timestamptz",
        "(1,1,now()),(2,2,now())",
        "(1,1,now())",
    );
    let secret = |locator: String| locator.replacen("postgres@", "postgres:open-sesame@", 1);
    let (source, sink) = (secret(postgres.table("s")), secret(postgres.table("k")));
    assert!(source.contains("open-sesame"));
    let text = tieout(&["plan", "--memory", "256MiB", &source, &sink, "--option", "total.abs_tol=1"], &desk.path(""));
    assert_eq!(text.code, 0, "{}", text.stderr);
    for expected in [
        "id integer id integer number key",
        "total numeric(9,2) total numeric(9,2) number abs_tol=1",
        "timestamp with time zone instant",
        "s_pkey",
        "by the store, each range a read of its own",
        "COPY (SELECT",
        "ORDER BY",
        "[start, ",
        "program and runtime",
    ] {
        let words: Vec<&str> = text.stdout.split_whitespace().collect();
        assert!(words.join(" ").contains(expected), "{expected:?} is not in\n{}", text.stdout);
    }
    for memory in [128_u64, 256, 1024] {
        let plan = desk.run("plan", &[&source, &sink, "--memory", &format!("{memory}MiB")]);
        assert_eq!(plan.code, 0, "{}", plan.stderr);
        let document = plan.document();
        let shares = document["memory"]["shares"].as_array().unwrap();
        let sum: u64 = shares.iter().map(|share| share["bytes"].as_u64().unwrap()).sum();
        assert_eq!(document["memory"]["total_bytes"], sum);
        assert!(sum <= memory << 20, "{memory} MiB, planned {sum}");
        let columns = document["columns"].as_array().unwrap();
        let names: Vec<_> =
            columns.iter().map(|column| (column["source"].as_str(), column["canonical"].as_str())).collect();
        assert_eq!(names, [(Some("total"), Some("number")), (Some("at"), Some("instant"))]);
        assert_eq!(document["order"]["source"]["by"], "server-ranges");
        for part in [&plan.stdout, &plan.stderr, &text.stdout, &text.stderr] {
            assert!(!part.contains("sesame"), "the password is shown: {part}");
        }
    }
    // A plan leaves nothing behind, and does not read what cannot be read.
    assert!(!desk.path("runs").exists() && !desk.path("tieout-runs").exists());
    let args = [&postgres.url(), &postgres.url(), "-k", "id", "--sink-query", "SELECT id, 0 AS v FROM k"];
    let broken = [&args[..], &["--source-query", "SELECT id, 0 / (id - id) AS v FROM s"]].concat();
    assert_eq!(desk.run("plan", &broken).code, 0);
    desk.diff(&broken).assert_refused(&["source"]);
    let missing = desk.diff(&[&secret(postgres.table("absent")), &sink]);
    missing.assert_refused(&["absent"]);
    assert!(!missing.stderr.contains("sesame"), "{}", missing.stderr);
    let run = desk.diff(&[&source, &sink, "-vvv"]);
    assert_eq!(run.code, 1);
    let record = std::fs::read_to_string(run.folder().join("run.json")).unwrap();
    for part in [&run.stdout, &run.stderr, &record] {
        assert!(!part.contains("sesame"), "the password is shown: {part}");
    }
}

#[test]
fn the_demo_finds_its_known_differences() {
    let desk = Desk::new();
    let demo = tieout(&["demo", "--no-progress"], &desk.path(""));
    assert_eq!((demo.code, demo.stderr.as_str()), (0, ""));
    assert!(demo.stdout.contains("expected: 3 missing, 2 extra, 4 changed"), "{}", demo.stdout);
    assert!(demo.stdout.contains("exactly the expected differences were found"), "{}", demo.stdout);
    let found = desk.python(
        "print(*duckdb.sql(\"SELECT kind, count(*) FROM 'tieout-demo/runs/*/differences/*.parquet' GROUP BY 1 ORDER BY 1\").fetchall())",
    );
    assert_eq!(found, "('changed', 4) ('extra', 2) ('missing', 3)\n");
    // Again in the same folder.
    assert_eq!(tieout(&["demo", "--no-progress"], &desk.path("")).code, 0);
    desk.file("plain", "x");
    let blocked = tieout(&["demo", "--dir", "plain/below"], &desk.path(""));
    assert_eq!(blocked.code, 2, "{}", blocked.stdout);
}

#[test]
fn completions_and_manual_pages_list_the_flags() {
    let desk = Desk::new();
    for (shell, flag) in [("bash", "--ranges-from"), ("zsh", "--ranges-from"), ("fish", "-l ranges-from")] {
        let script = tieout(&["completions", shell], &desk.path(""));
        assert_eq!((script.code, script.stderr.as_str()), (0, ""));
        for expected in [flag, "source-query", "no-progress", "completions"] {
            assert!(script.stdout.contains(expected), "{shell} does not know {expected}");
        }
    }
    let main = tieout(&["man"], &desk.path(""));
    assert_eq!(main.code, 0);
    for expected in [".TH tieout 1", "\\-\\-color", "\\-\\-verbose", "tieout\\-diff(1)", "Exit codes"] {
        assert!(main.stdout.contains(expected), "{expected:?} is not in\n{}", main.stdout);
    }
    assert_eq!(tieout(&["man", "--dir", "pages"], &desk.path("")).code, 0);
    let page = std::fs::read_to_string(desk.path("pages/tieout-diff.1")).unwrap();
    for expected in ["\\-\\-ranges\\-from", "\\-\\-source\\-query", "\\-\\-memory", "\\-\\-option"] {
        assert!(page.contains(expected), "{expected:?} is not in the page of diff");
    }
}

const CONFIG: &str = r#"
key = ["id"]
columns = ["n", "at", "name", "v"]
exclude = ["junk"]
output = "runs-of-file"
memory = "200MiB"
workers = 3
sort = "local"
ranges = 5

[source]
locator = "${TIEOUT_TEST_DATA}/s.csv"
csv = { delimiter = ";", header = true }

[sink]
locator = "k.csv"
csv = { null = "NULL" }

[map]
name = "Full Name"

[cast]
n = "number"
id = "number"

[option.n]
abs_tol = "0.01"

[option.v]
case = "fold"

[csv]
delimiter = "|"
null = "-"
"#;

#[test]
fn a_config_file_says_everything_and_the_command_line_wins() {
    let desk = Desk::new();
    desk.file("s.csv", "id;n;at;name;v;junk\n1;1.00;-;Ann;x;1\n2;2;-;Bob;y;1\n");
    desk.file("k.csv", "id|n|at|Full Name|v|junk\n1|1.01|NULL|Ann|X|2\n2|2|NULL|Bob|y|3\n");
    desk.file("all.toml", CONFIG);
    let run = |args: &[&str]| {
        let mut command = program();
        command.args(["diff", "--format", "json", "--no-progress", "--config", "all.toml"]).args(args);
        command.env("TIEOUT_TEST_DATA", desk.path("")).current_dir(desk.path(""));
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        (output.status.code().unwrap(), document, String::from_utf8(output.stderr).unwrap())
    };
    let (code, document, stderr) = run(&[]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(document["counts"]["matched"], 2);
    assert_eq!(document["counts"]["excused"], 1);
    let request = &document["request"];
    assert_eq!(request["key"], json!(["id"]));
    assert_eq!(request["columns"], json!(["n", "at", "name", "v"]));
    assert_eq!(request["exclude"], json!(["junk"]));
    assert_eq!(request["sort"], "local");
    assert_eq!(request["ranges"], 5);
    assert_eq!(request["options"], json!({ "n": { "abs_tol": "0.01" }, "v": { "case": "fold" } }));
    assert_eq!(request["sides"]["source"]["file"], json!({ "header": true, "delimiter": ";", "null": "-" }));
    assert_eq!(request["sides"]["sink"]["file"], json!({ "header": true, "delimiter": "|", "null": "NULL" }));
    assert_eq!(document["plan"]["order"], json!({ "source": "local", "sink": "local" }));
    assert!(document["output"]["folder"].as_str().unwrap().starts_with("runs-of-file/"));
    let pairs: Vec<_> =
        document["columns"].as_array().unwrap().iter().map(|c| (c["source"].clone(), c["sink"].clone())).collect();
    assert!(pairs.contains(&(json!("name"), json!("Full Name"))), "{pairs:?}");

    let (code, document, _) =
        run(&["--option", "n.abs_tol=0.001", "-c", "n", "-c", "v", "-o", "runs-of-line", "--sort", "auto"]);
    assert_eq!(code, 1);
    assert_eq!(document["counts"]["changed"], 1);
    assert_eq!(document["request"]["columns"], json!(["n", "v"]));
    assert_eq!(document["request"]["options"], json!({ "n": { "abs_tol": "0.001" }, "v": { "case": "fold" } }));
    assert_eq!(document["request"]["sort"], "auto");
    assert!(document["output"]["folder"].as_str().unwrap().starts_with("runs-of-line/"));
    // The ranges of a run, named on the command line, stand against the number of the file.
    let earlier = document["output"]["folder"].as_str().unwrap().to_owned();
    let (code, _, stderr) = run(&["--ranges-from", &earlier]);
    assert_eq!(code, 2);
    assert!(stderr.contains("the columns of that run"), "{stderr}");
    let (code, document, stderr) = run(&["--ranges-from", &earlier, "-c", "n", "-c", "v"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(document["request"]["ranges"], 0);

    let plain = |file: &str, content: &str| {
        desk.file(file, content);
        tieout(&["diff", "s.csv", "k.csv", "--config", file], &desk.path(""))
    };
    plain("all.toml", CONFIG).assert_refused(&["line 12", "locator", "TIEOUT_TEST_DATA is not set"]);
    plain("unknown.toml", "key = [\"id\"]\n\nworker = 2\n").assert_refused(&["unknown.toml", "line 3", "worker"]);
    plain("nested.toml", "[source]\nlocatr = \"open-sesame\"\n").assert_refused(&["line 2", "locatr"]);
    plain("option.toml", "[option.n]\nabs_tol = 0.01\n").assert_refused(&["line 2", "abs_tol", "quotes"]);
    plain("sort.toml", "sort = \"sometimes\"\n").assert_refused(&["line 1", "sort"]);
    tieout(&["diff", "s.csv", "k.csv", "--config", "absent.toml"], &desk.path("")).assert_refused(&["absent.toml"]);
}

/// Column, its type, its options, two values that are equal only because of them, and two that still differ.
type OptionCase =
    (&'static str, &'static str, &'static [(&'static str, &'static str)], [&'static str; 2], [&'static str; 2]);

const OPTIONS: &[OptionCase] = &[
    ("absolute", "numeric", &[("abs_tol", "0.01")], ["1.00", "1.01"], ["1.00", "1.0100001"]),
    ("relative", "numeric", &[("rel_tol", "0.01")], ["100", "101"], ["100", "101.02"]),
    ("units", "float8", &[("ulps", "1")], ["0.3", "0.30000000000000004"], ["0.3", "0.3000000000000001"]),
    ("blanks", "text", &[("trim", "end")], ["'a'", "'a  '"], ["'a'", "' a'"]),
    ("composed", "text", &[("unicode", "nfc")], [r"E'e\u0301'", r"E'\u00e9'"], ["'e'", r"E'\u00e9'"]),
    ("letters", "text", &[("case", "fold")], [r"E'aB\u00c9'", r"E'Ab\u00e9'"], ["'a'", "'b'"]),
    (
        "cut",
        "timestamp",
        &[("precision", "ms")],
        ["'2024-01-01 00:00:00.0011'", "'2024-01-01 00:00:00.0019'"],
        ["'2024-01-01 00:00:00.0019'", "'2024-01-01 00:00:00.0020'"],
    ),
    (
        "rounded",
        "time",
        &[("precision", "s"), ("rounding", "half_up")],
        ["'10:00:00.5'", "'10:00:01.49'"],
        ["'10:00:00.49'", "'10:00:00.5'"],
    ),
    ("token", "text", &[("null", "N/A")], ["NULL", "'N/A'"], ["NULL", "'n/a'"]),
];

#[test]
fn every_option_excuses_what_it_says_and_no_more() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let columns: Vec<String> = OPTIONS.iter().map(|(name, kind, ..)| format!("{name} {kind}")).collect();
    let row = |side: usize| {
        let near: Vec<&str> = OPTIONS.iter().map(|(.., near, _)| near[side]).collect();
        let far: Vec<&str> = OPTIONS.iter().map(|(.., far)| far[side]).collect();
        let same: Vec<&str> = OPTIONS.iter().map(|(.., near, _)| near[0]).collect();
        format!("(1,{}),(2,{}),(3,{})", near.join(","), far.join(","), same.join(","))
    };
    two_tables(&postgres, &format!("id int PRIMARY KEY, {}", columns.join(", ")), &row(0), &row(1));
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    let per_column = |outcome: &crate::harness::Outcome, member: &str| -> Vec<u64> {
        outcome.document()["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column[member].as_u64().unwrap())
            .collect()
    };
    let exact = desk.diff(&[&source, &sink]);
    exact.assert_counts(0, 0, 2);
    assert_eq!(per_column(&exact, "changed"), [2; 9]);
    assert_eq!(exact.document()["counts"]["excused"], 0);

    let mut flags = Vec::new();
    let mut file = String::new();
    for (column, _, options, ..) in OPTIONS {
        writeln!(file, "[option.{column}]").unwrap();
        for (name, value) in *options {
            flags.extend(["--option".to_owned(), format!("{column}.{name}={value}")]);
            writeln!(file, "{name} = \"{value}\"").unwrap();
        }
    }
    let config = desk.file("options.toml", file);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    for options in [&flags[..], &["--config", &config]] {
        let loose = desk.diff(&[&[source.as_str(), &sink], options].concat());
        loose.assert_counts(0, 0, 1);
        assert_eq!(loose.document()["counts"]["matched"], 2);
        assert_eq!(loose.document()["counts"]["excused"], 1);
        assert_eq!(per_column(&loose, "excused"), [1; 9]);
        assert_eq!(per_column(&loose, "changed"), [1; 9]);
        assert_eq!(loose.document()["digest"], exact.document()["digest"], "digests are of the exact values");
    }
    let equal = [&["diff", "--no-progress", source.as_str(), &sink, "-w", "id <> 2"], &flags[..]].concat();
    let summary = tieout(&equal, &desk.path(""));
    assert_eq!(summary.code, 0, "{}", summary.stdout);
    for text in
        ["EQUAL", "1 of them only because of options", "digests are of the exact values", "ulps=1: 1 value equal"]
    {
        assert!(summary.stdout.contains(text), "{text:?} is not in\n{}", summary.stdout);
    }
}

#[test]
fn a_zone_is_needed_between_a_timestamp_and_an_instant() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, at timestamp); INSERT INTO s VALUES (1, '2024-07-01 12:00'), (2, '2024-01-01 12:00');
         CREATE TABLE k (id int PRIMARY KEY, at timestamptz); INSERT INTO k VALUES (1, '2024-07-01 10:00Z'), (2, '2024-01-01 10:00Z')",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    desk.diff(&[&source, &sink]).assert_refused(&["at", "zone"]);
    let config = desk.file("zone.toml", "[option.at]\nzone = \"Europe/Berlin\"\n");
    for option in [["--option", "at.zone=Europe/Berlin"], ["--config", &config]] {
        let outcome = desk.diff(&[&[source.as_str(), &sink], &option[..]].concat());
        outcome.assert_counts(0, 0, 1);
        assert_eq!(outcome.document()["counts"]["matched"], 1);
        assert_eq!(outcome.document()["counts"]["excused"], 0);
    }
    desk.diff(&[&source, &sink, "--option", "at.zone=Mars/Olympus"]).assert_refused(&["Mars/Olympus"]);
}

#[test]
fn columns_are_chosen_left_out_paired_and_cast() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, a int, b int, code text); INSERT INTO s VALUES (1, 1, 1, '7');
         CREATE TABLE k (id int PRIMARY KEY, a int, c int, code int); INSERT INTO k VALUES (1, 1, 2, 7)",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    desk.diff(&[&source, &sink]).assert_refused(&["only in the source: b", "only in the sink: c", "code"]);
    let cast = ["--cast", "code=number"];
    let run = |args: &[&str]| desk.diff(&[&[source.as_str(), &sink], args, &cast].concat());
    run(&["--map", "b=c"]).assert_counts(0, 0, 1);
    run(&["--exclude", "b", "--exclude", "c"]).assert_counts(0, 0, 0);
    desk.diff(&[&source, &sink, "-c", "a"]).assert_counts(0, 0, 0);
    run(&["--exclude", "nothing"]).assert_refused(&["nothing"]);
    run(&["-c", "nothing"]).assert_refused(&["nothing"]);
    run(&["--map", "b=nothing"]).assert_refused(&["nothing"]);
    desk.diff(&[&source, &sink, "-c", "code", "--cast", "code=nothing"]).assert_refused(&["nothing"]);
    postgres.sql("UPDATE k SET code = 8");
    desk.diff(&[&source, &sink, "-c", "code", "--cast", "code=number"]).assert_counts(0, 0, 1);
}

#[test]
fn stdout_holds_the_result_alone_and_colour_only_where_it_may() {
    let desk = Desk::new();
    let file = desk.file("s.csv", "id,v\n1,a\n");
    let json = tieout(&["diff", &file, &file, "-k", "id", "--format", "json"], &desk.path(""));
    assert_eq!(json.document()["verdict"], "equal");
    assert!(json.stdout.ends_with("}\n"));
    // On a terminal: progress goes to stderr, colour to stdout unless NO_COLOR says otherwise.
    let script = format!(
        r"
import os, pty, subprocess
def run(no_color, *more):
    out, out_end = pty.openpty()
    env = {{k: v for k, v in os.environ.items() if k != 'NO_COLOR' and not k.startswith('TIEOUT_')}} | {{'TERM': 'xterm'}} | no_color
    done = subprocess.run([{:?}, 'diff', {file:?}, {file:?}, '-k', 'id', '--no-progress', *more], stdout=out_end, stderr=subprocess.PIPE, env=env)
    os.close(out_end)
    text = b''
    try:
        while piece := os.read(out, 65536): text += piece
    except OSError:
        pass
    assert (done.returncode, done.stderr) == (0, b''), done
    return b'\x1b[' in text
print(run({{}}), run({{'NO_COLOR': '1'}}), run({{'NO_COLOR': ''}}), run({{'NO_COLOR': '1'}}, '--color', 'always'), run({{}}, '--color', 'never'))
err, err_end = pty.openpty()
done = subprocess.run([{:?}, 'diff', {file:?}, {file:?}, '-k', 'id', '--format', 'json'], stdout=subprocess.PIPE, stderr=err_end)
import json
assert json.loads(done.stdout)['verdict'] == 'equal'
",
        env!("CARGO_BIN_EXE_tieout"),
        env!("CARGO_BIN_EXE_tieout"),
    );
    assert_eq!(desk.python(&script), "True False True True False\n");
}
