//! `tieout plan`.

use super::super::{CompareArgs, Exit, Format, printer::Printer};
use crate::{engine, model::Result};

/// Plans and prints the plan.
pub(in crate::cli) async fn run(args: Box<CompareArgs>, printer: &Printer) -> Result<Exit> {
    let request = super::request(&args)?;
    let (result, interrupted) =
        super::watched(printer, args.run.no_progress, |control| engine::plan(request, control)).await?;
    match args.run.format {
        Format::Text => printer.result(&result.text)?,
        Format::Json => printer.document(&result.document)?,
    }
    Ok(if interrupted { Exit::Interrupted } else { Exit::Equal })
}
