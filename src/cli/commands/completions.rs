//! `tieout completions`.

use super::super::{Cli, Exit, printer::Printer};
use crate::model::Result;
use clap::CommandFactory;
use clap_complete::Shell;

/// Prints the completion script of a shell.
pub(in crate::cli) fn run(shell: Shell, printer: &Printer) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tieout", &mut script);
    printer.result(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Equal)
}
