//! `tieout demo`: two small tables with known differences.

mod tables;

use super::super::{DemoArgs, Exit, printer::Printer};
use crate::{
    config::{PartialRequest, PartialSide},
    engine,
    model::{Counts, Error, ErrorKind, Result, Sides},
};
use std::path::Path;

/// Makes the tables, compares them, and checks that exactly the known differences were found.
///
/// # Errors
/// As of a comparison; `Internal` if other differences were found.
pub(in crate::cli) async fn run(args: DemoArgs, printer: &Printer) -> Result<Exit> {
    let files = tables::write(&args.dir)?;
    printer.result(&introduction(&files))?;
    let side = |path: &Path| PartialSide { locator: Some(path.display().to_string()), ..PartialSide::default() };
    let request = PartialRequest {
        sides: Sides::new(side(&files.source), side(&files.sink)),
        key: vec!["order_id".to_owned()],
        output: Some(args.dir.join("runs")),
        ..PartialRequest::default()
    }
    .finish()?;
    let (result, interrupted) =
        super::watched(printer, args.no_progress, |control| engine::compare(request, control)).await?;
    printer.result(&result.summary)?;
    if interrupted {
        return Ok(Exit::Interrupted);
    }
    let mut found = Counts::default();
    for outcome in &result.facts.outcomes {
        found.add(&outcome.counts);
    }
    if found != tables::EXPECTED {
        let message = format!("the demo expected {:?} and found {found:?}", tables::EXPECTED);
        return Err(Error::new(ErrorKind::Internal, message).hint("please report this: the verdict is wrong"));
    }
    printer.result(&conclusion(&result.folder))?;
    Ok(Exit::Equal)
}

fn introduction(files: &Sides<std::path::PathBuf>) -> String {
    let expected = tables::EXPECTED;
    format!(
        "made {} and {}\nexpected: {} missing, {} extra, {} changed\n",
        files.source.display(),
        files.sink.display(),
        expected.missing,
        expected.extra,
        expected.changed
    )
}

fn conclusion(folder: &Path) -> String {
    let parts = folder.join("differences").join("*.parquet");
    let parts = parts.display().to_string().replace('\'', "''");
    let folder = folder.join("differences").display().to_string();
    format!(
        "\nexactly the expected differences were found\n\
         open them with DuckDB:  duckdb -c \"FROM '{parts}'\"\n\
         or in Python:           import pandas; pandas.read_parquet({folder:?})\n\
         compare your own:       tieout diff SOURCE SINK --key COLUMN\n"
    )
}
