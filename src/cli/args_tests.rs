//! Every flag, as data.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at once")]

use super::*;
use crate::model::ComparisonRequest;
use clap::CommandFactory;
use std::path::Path;

fn request(arguments: &[&str]) -> ComparisonRequest {
    let all = ["tieout", "diff", "a.csv", "b.csv"].iter().chain(arguments);
    let Command::Diff(args) = Cli::try_parse_from(all).unwrap().command else { panic!("not a diff") };
    args.request().finish().unwrap()
}

#[test]
fn the_definition_holds_together() {
    Cli::command().debug_assert();
}

type Check = fn(&ComparisonRequest) -> bool;

#[test]
fn every_flag_reaches_the_request() {
    let table: &[(&[&str], Check)] = &[
        (&[], |r| r.sides.source.locator == "a.csv" && r.sides.sink.locator == "b.csv"),
        (&[], |r| r.output == Path::new("./tieout-runs") && r.workers == 0 && r.memory_bytes == 268_435_456),
        (&["-k", "a,b", "--key", "c"], |r| r.key == ["a,b", "c"]),
        (&["-c", "a", "--column", "b"], |r| r.columns == ["a", "b"]),
        (&["--exclude", "a"], |r| r.exclude == ["a"]),
        (&["-w", "x > 1"], |r| {
            r.sides.source.filter.as_deref() == Some("x > 1") && r.sides.sink.filter.as_deref() == Some("x > 1")
        }),
        (&["--source-where", "p", "--sink-where", "q"], |r| {
            r.sides.source.filter.as_deref() == Some("p") && r.sides.sink.filter.as_deref() == Some("q")
        }),
        (&["--source-query", "p", "--sink-query", "q"], |r| {
            r.sides.source.query.as_deref() == Some("p") && r.sides.sink.query.as_deref() == Some("q")
        }),
        (&["--map", "a=A"], |r| r.map == [("a".to_owned(), "A".to_owned())]),
        (&["--cast", "a=numeric(12,2)"], |r| r.casts == [("a".to_owned(), "numeric(12,2)".to_owned())]),
        (&["--option", "a.abs_tol=0.01"], |r| r.options["a"].abs_tol.as_deref() == Some("0.01")),
        (&["--sort", "server"], |r| r.sort == SortChoice::Server),
        (&["--ranges-from", "runs/x"], |r| r.ranges_from.as_deref() == Some(Path::new("runs/x"))),
        (&["--ranges", "9"], |r| r.ranges == 9),
        (&["-o", "out"], |r| r.output == Path::new("out")),
        (&["-j", "5"], |r| r.workers == 5),
        (&["--memory", "1GiB"], |r| r.memory_bytes == 1_073_741_824),
        (&["--delimiter", ";", "--null", "\\N", "--no-header"], |r| {
            let file = &r.sides.sink.file;
            file == &r.sides.source.file && file.delimiter == b';' && file.null == "\\N" && !file.header
        }),
        (&["--delimiter", "\\t"], |r| r.sides.source.file.delimiter == b'\t'),
    ];
    for (arguments, check) in table {
        assert!(check(&request(arguments)), "{arguments:?}");
    }
}

#[test]
fn wrong_usage_is_refused() {
    for arguments in [
        &["tieout"][..],
        &["tieout", "diff", "a", "b", "c"],
        &["tieout", "diff", "a", "b", "--nope"],
        &["tieout", "diff", "a", "b", "-w", "x", "--sink-where", "y"],
        &["tieout", "diff", "a", "b", "--map", "x"],
        &["tieout", "diff", "a", "b", "--memory", "1.5GiB"],
        &["tieout", "diff", "a", "b", "--option", "a.nope=1"],
        &["tieout", "diff", "a", "b", "--delimiter", "ab"],
        &["tieout", "diff", "a", "b", "--sort", "maybe"],
    ] {
        assert!(Cli::try_parse_from(arguments).is_err(), "{arguments:?}");
    }
}
