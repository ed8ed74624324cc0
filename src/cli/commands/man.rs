//! `tieout man`.

use super::super::{Cli, Exit, ManArgs, printer::Printer};
use crate::model::{Error, ErrorKind, Result};
use clap::CommandFactory;
use std::fs;

/// Prints the main page, or writes every page into a folder.
pub(in crate::cli) fn run(args: &ManArgs, printer: &Printer) -> Result<Exit> {
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command())
            .render(&mut page)
            .map_err(|error| Error::new(ErrorKind::Output, "writing the manual page").caused_by(error))?;
        printer.result(&String::from_utf8_lossy(&page))?;
        return Ok(Exit::Equal);
    };
    fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::command(), dir)).map_err(|error| {
        Error::new(ErrorKind::Output, format!("writing manual pages into {}", dir.display())).caused_by(error)
    })?;
    printer.note(&format!("wrote the manual pages into {}", dir.display()));
    Ok(Exit::Equal)
}
