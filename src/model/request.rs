//! What was asked for: validated, nothing resolved yet.

use super::{ColumnOptions, Sides, SortChoice};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// One side of a [`ComparisonRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideRequest {
    /// `postgres://...#schema.table`, a path, a glob, or an object-store URL. May hold a secret.
    pub locator: String,
    /// SQL predicate that rows must satisfy, in the store's own language.
    pub filter: Option<String>,
    /// A query that stands for the table.
    pub query: Option<String>,
    /// How files are read.
    pub file: FileOptions,
}

/// How files without types of their own are read.
#[derive(Clone, Debug, PartialEq)]
pub struct FileOptions {
    /// Whether the first CSV record names the columns.
    pub header: bool,
    /// The field delimiter of CSV.
    pub delimiter: u8,
    /// The unquoted CSV field that is NULL.
    pub null: String,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { header: true, delimiter: b',', null: String::new() }
    }
}

/// A comparison as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRequest {
    /// The two tables.
    pub sides: Sides<SideRequest>,
    /// Key columns, by their names in the source; empty: take the key of the store.
    pub key: Vec<String>,
    /// Compared columns, by their names in the source; empty: all.
    pub columns: Vec<String>,
    /// Columns of either side that are left out.
    pub exclude: Vec<String>,
    /// (source column, sink column) pairs for names that differ.
    pub map: Vec<(String, String)>,
    /// (column, type) casts.
    pub casts: Vec<(String, String)>,
    /// Options per column, by its name in the source.
    pub options: BTreeMap<String, ColumnOptions>,
    /// Where rows are brought in order.
    pub sort: SortChoice,
    /// Folder of an earlier run whose ranges are taken.
    pub ranges_from: Option<PathBuf>,
    /// Folder that receives the run's folder.
    pub output: PathBuf,
    /// Number of ranges compared at once; 0: as many as cores.
    pub workers: usize,
    /// Memory that the run may use, in bytes.
    pub memory_bytes: u64,
    /// Target number of ranges; 0: from the size of the table.
    pub ranges: usize,
    /// How old the snapshots may become before the run ends with what it covered; `None`: any age.
    pub snapshot_age_max: Option<Duration>,
}
