//! `docs/cli.md`, made from the definition of the command line.

use super::Cli;
use clap::CommandFactory;
use std::fmt::Write as _;

/// Width of the help texts in the document.
const WIDTH: usize = 100;

/// The text of `docs/cli.md`.
#[must_use]
pub fn reference() -> String {
    let mut command = Cli::command().term_width(WIDTH);
    command.build();
    let mut out = String::from(
        "# Command line\n\nMade from the program itself: `TIEOUT_UPDATE_DOCS=1 cargo test --lib cli::reference` writes it anew.\n",
    );
    section(&mut out, "tieout", &mut command);
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        let title = format!("tieout {}", sub.get_name());
        section(&mut out, &title, sub);
    }
    out
}

fn section(out: &mut String, title: &str, command: &mut clap::Command) {
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a string cannot fail.
    let _ = write!(out, "\n## {title}\n\n```text\n{}\n```\n", help.join("\n").trim());
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at once")]

    #[test]
    fn the_document_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
        let made = super::reference();
        if std::env::var_os("TIEOUT_UPDATE_DOCS").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(found == made, "docs/cli.md is not current: run this test with TIEOUT_UPDATE_DOCS=1");
    }
}
