//! The command line: arguments in, exit code out.

mod args;
mod commands;
mod exit;
mod printer;
mod progress_bar;
mod reference;
mod signals;

pub use args::{Cli, ColorChoice, Command, CompareArgs, DemoArgs, Format, GlobalArgs, ManArgs, SortName};
pub use exit::Exit;
pub use reference::reference;

use crate::model::{Error, ErrorKind};
use printer::Printer;
use std::io::{IsTerminal, stderr};

/// Runs the command that `cli` names.
pub async fn run(cli: Cli) -> Exit {
    let printer = Printer::new(args::colour(cli.global.color));
    let outcome = match cli.command {
        Command::Diff(args) => Box::pin(commands::diff::run(args, &printer)).await,
        Command::Plan(args) => Box::pin(commands::plan::run(args, &printer)).await,
        Command::Demo(args) => Box::pin(commands::demo::run(args, &printer)).await,
        Command::Completions { shell } => commands::completions::run(shell, &printer),
        Command::Man(args) => commands::man::run(&args, &printer),
    };
    outcome.unwrap_or_else(|error| {
        printer.error(&error);
        Exit::of_error(&error)
    })
}

/// Sends traces to stderr, as many as `-v` asks for.
pub fn start_logging(cli: &Cli) {
    let level = match cli.global.verbose {
        0 => return,
        1 => "tieout=info",
        2 => "tieout=debug",
        _ => "tieout=trace",
    };
    // An error means that something else receives the traces already.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(level))
        .with_ansi(args::colour(cli.global.color) && stderr().is_terminal())
        .with_writer(stderr)
        .try_init();
}

/// Says that the process could not be set up.
#[must_use]
pub fn cannot_start(error: std::io::Error) -> Exit {
    let error = Error::new(ErrorKind::Internal, "starting the worker threads").caused_by(error);
    Printer::new(false).error(&error);
    Exit::Error
}
