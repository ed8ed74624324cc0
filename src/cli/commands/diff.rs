//! `tieout diff`.

use super::super::{CompareArgs, Exit, Format, printer::Printer};
use crate::{engine, model::Result};

/// Compares, prints the result, and gives the exit of the verdict.
pub(in crate::cli) async fn run(args: Box<CompareArgs>, printer: &Printer) -> Result<Exit> {
    let request = super::request(&args)?;
    let (result, interrupted) =
        super::watched(printer, args.run.no_progress, |control| engine::compare(request, control)).await?;
    match args.run.format {
        Format::Text => printer.result(&result.summary)?,
        Format::Json => printer.document(&result.document)?,
    }
    Ok(Exit::of_run(&result.facts, interrupted))
}
