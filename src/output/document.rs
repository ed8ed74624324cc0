//! The documents of a run as types: the shape of `run.json`, `timing.json` and a line of the journal.
//!
//! Plain data for serde; how they are filled is in `record`. Numbers are exact integers, but for seconds.

use crate::model::{Position, Sides};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value for each side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair<T> {
    /// The value of the source.
    pub source: T,
    /// The value of the sink.
    pub sink: T,
}

impl<T> Pair<T> {
    /// Takes a value for each side from `function`.
    pub(super) fn of<S>(sides: &Sides<S>, mut function: impl FnMut(&S) -> T) -> Self {
        Self { source: function(&sides.source), sink: function(&sides.sink) }
    }
}

/// The record of a run, as it stands in `run.json`. `docs/run-record.md` explains every field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Version of the document's shape.
    pub schema_version: u32,
    /// Name of the run.
    pub run_id: String,
    /// Version of tieout.
    pub tieout_version: String,
    /// `equal`, `different` or `incomplete`.
    pub verdict: String,
    /// Why it is incomplete; else null.
    pub reason: Option<String>,
    /// Rows by what was found of them.
    pub counts: CountsRecord,
    /// Rows read.
    pub rows: Pair<u64>,
    /// Keys that occur more than once, per side.
    pub duplicates: Pair<DuplicatesRecord>,
    /// Rows whose key holds a NULL, per side.
    pub null_key_rows: Pair<u64>,
    /// Digests of the tables.
    pub digest: DigestRecord,
    /// How much of the tables was compared.
    pub coverage: CoverageRecord,
    /// What was compared.
    pub tables: Pair<String>,
    /// Where the tables were frozen.
    pub positions: Pair<PositionRecord>,
    /// Key columns, in key order; empty: rows were compared as a multiset.
    pub key: Vec<ColumnRecord>,
    /// Compared columns that are not key columns, in plan order.
    pub columns: Vec<ColumnRecord>,
    /// What was planned.
    pub plan: PlanRecord,
    /// What was asked.
    pub request: RequestRecord,
    /// Where the results are.
    pub output: OutputRecord,
}

/// Numbers of rows by what was found of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountsRecord {
    /// Pairs of equal rows, those included that are equal because of an option.
    pub matched: u64,
    /// Rows of the source without a partner.
    pub missing: u64,
    /// Rows of the sink without a partner.
    pub extra: u64,
    /// Pairs of one key with other values.
    pub changed: u64,
    /// Keys that occur more than once, both sides together; not differences in themselves.
    pub duplicate: u64,
    /// Keys whose difference may be due to replication that is under way.
    pub in_flight: u64,
    /// Pairs that are equal only because of an option; they are in `matched` too.
    pub excused: u64,
}

/// Duplicate keys of one side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuplicatesRecord {
    /// Keys that occur more than once.
    pub keys: u64,
    /// Rows beyond the first of each such key.
    pub surplus: u64,
}

/// Digests of both tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestRecord {
    /// The algorithm.
    pub algorithm: String,
    /// Hexadecimal; null if not every range was read.
    pub source: Option<String>,
    /// Hexadecimal; null if not every range was read.
    pub sink: Option<String>,
}

/// How much was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoverageRecord {
    /// Ranges that were compared to their end.
    pub ranges_done: u64,
    /// Ranges of the plan.
    pub ranges_total: u64,
    /// Whether these are all.
    pub complete: bool,
}

/// Where a table was frozen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRecord {
    /// Kind of position.
    pub kind: String,
    /// The position.
    pub value: String,
    /// `exact`, `bracketed` or `unknown`.
    pub exactness: String,
    /// How it was obtained.
    pub obtained: String,
}

impl From<&Position> for PositionRecord {
    fn from(position: &Position) -> Self {
        Self {
            kind: position.kind.clone(),
            value: position.value.clone(),
            exactness: position.exactness.to_string(),
            obtained: position.obtained.clone(),
        }
    }
}

/// A pair of columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnRecord {
    /// Name in the source.
    pub source: String,
    /// Name in the sink.
    pub sink: String,
    /// Native type per side.
    pub native: Pair<String>,
    /// What both were compared as.
    pub canonical: String,
    /// Changed pairs that differ in this column; null for key columns.
    pub changed: Option<u64>,
    /// Values that are equal only because of an option; null for key columns.
    pub excused: Option<u64>,
    /// Options in force, by name; empty: exact.
    pub options: BTreeMap<String, String>,
}

/// What was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRecord {
    /// Version of the encoding.
    pub encoding_version: u32,
    /// Digest of all that digests of tables depend on besides rows; tables compare by digest where it is the same.
    pub fingerprint: String,
    /// Where the key came from.
    pub key_origin: String,
    /// Whether the store guarantees that the key is unique.
    pub key_unique: Pair<bool>,
    /// Who brought the rows in order: `server-ranges`, `server-once` or `local`.
    pub order: Pair<String>,
    /// Number of ranges.
    pub ranges: u64,
    /// Columns that were not compared.
    pub excluded: Pair<Vec<String>>,
}

/// What was asked. Locators are not repeated, since they may hold secrets: `tables` names what was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestRecord {
    /// What was asked of each side.
    pub sides: Pair<SideRequestRecord>,
    /// Key columns; empty: the key of the store.
    pub key: Vec<String>,
    /// Compared columns; empty: all.
    pub columns: Vec<String>,
    /// Columns left out.
    pub exclude: Vec<String>,
    /// (source column, sink column) pairs.
    pub map: Vec<(String, String)>,
    /// (column, type) casts.
    pub casts: Vec<(String, String)>,
    /// Options per column.
    pub options: BTreeMap<String, BTreeMap<String, String>>,
    /// `auto`, `server` or `local`.
    pub sort: String,
    /// Number of ranges asked for; 0: from the size of the table.
    pub ranges: u64,
    /// Run whose ranges were taken.
    pub ranges_from: Option<String>,
}

/// What was asked of one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideRequestRecord {
    /// Predicate on the rows.
    pub filter: Option<String>,
    /// Query that stands for the table.
    pub query: Option<String>,
    /// How CSV files are read; says nothing of other stores.
    pub file: FileRecord,
}

/// How files without types of their own were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Whether the first record names the columns.
    pub header: bool,
    /// The field delimiter.
    pub delimiter: String,
    /// The unquoted field that is NULL.
    pub null: String,
}

/// Where the results are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputRecord {
    /// The folder of the run.
    pub folder: String,
    /// The record, in the folder.
    pub record: String,
    /// The timings, in the folder.
    pub timing: String,
    /// The ranges, in the folder.
    pub ranges: String,
    /// The parts of the differences, in the folder, in key order.
    pub differences: Vec<String>,
}

/// What depends on time and machine, as it stands in `timing.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Version of the document's shape.
    pub schema_version: u32,
    /// Name of the run.
    pub run_id: String,
    /// When it started, in UTC.
    pub started: String,
    /// How long it took.
    pub elapsed_seconds: f64,
    /// Ranges compared at once.
    pub workers: u64,
    /// Computed peak of memory in bytes.
    pub memory_bytes: u64,
    /// When each side was read, where both are read once and cut into ranges as they arrive; else null.
    pub reads: Option<Pair<ReadTiming>>,
    /// When each finished range was compared, ascending by number.
    pub ranges: Vec<RangeTiming>,
}

/// When a side was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadTiming {
    /// Seconds from the start of the run to the start of the read.
    pub start_seconds: f64,
    /// Seconds from there to the last row.
    pub seconds: f64,
    /// Bytes that the sort of its rows wrote to disk.
    pub spilled_bytes: u64,
}

/// When a range was compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeTiming {
    /// Number of the range.
    pub range: u64,
    /// Seconds from the start of the run to the start of the range.
    pub start_seconds: f64,
    /// Seconds from there to its end.
    pub seconds: f64,
}

/// One line of the journal of a partial folder: a range that is finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalLine {
    /// Version of the document's shape.
    pub schema_version: u32,
    /// Number of the range.
    pub range: u64,
    /// Rows read.
    pub rows: Pair<u64>,
    /// Digest of the range, hexadecimal.
    pub digest: Pair<String>,
    /// Duplicate keys.
    pub duplicates: Pair<DuplicatesRecord>,
    /// Rows whose key holds a NULL.
    pub null_key_rows: Pair<u64>,
    /// matched, missing, extra, changed and excused pairs.
    pub counts: JournalCounts,
    /// Changed pairs per column, in plan order.
    pub changed_by_column: Vec<u64>,
    /// Excused values per column, in plan order.
    pub excused_by_column: Vec<u64>,
    /// File names of the parts of its differences, in key order.
    pub parts: Vec<String>,
}

/// Counts of one range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalCounts {
    /// Pairs of equal rows.
    pub matched: u64,
    /// Rows of the source without a partner.
    pub missing: u64,
    /// Rows of the sink without a partner.
    pub extra: u64,
    /// Pairs of one key with other values.
    pub changed: u64,
    /// Pairs that are equal only because of an option.
    pub excused: u64,
}
