//! What a run leaves behind: its folder, the differences, the ranges, the record, and texts for people.
//!
//! Everything here is made from canonical bytes and from what the engine hands over. Nothing here compares, connects to a
//! store, prints, or reads a clock. `docs/run-record.md` documents every file and field.

mod calendar;
mod cells;
mod differences;
pub mod document;
mod explain;
#[cfg(test)]
mod fixture;
mod folder;
mod keys;
mod ranges;
mod record;
mod report;

pub use differences::{DifferenceSchema, DifferenceWriter, WRITER_BYTES};
pub use document::{RunRecord, Timing};
pub use explain::{plan_document, plan_text};
pub use folder::RunFolder;
pub use keys::key_text;
pub use ranges::{read_ranges, write_ranges};
pub use record::{SCHEMA_VERSION, table_digest, write_record};
pub use report::{Colour, summary};

use crate::model::{Error, ErrorKind};
use std::path::Path;

/// An error of kind `Output` about the file or folder at `path`.
fn output_error(doing: &str, path: &Path, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let cause = cause.into();
    let error = Error::new(ErrorKind::Output, format!("{doing} {}: {cause}", path.display()));
    let full = cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::StorageFull);
    let error = error.caused_by(cause);
    if full { error.hint("free space on the device, or choose another folder with --output") } else { error }
}
