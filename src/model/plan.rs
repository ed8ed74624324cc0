//! The comparison plan: which columns, as what, in which order. Both sides obey the same value.

use super::{CanonicalType, PlannedRanges, Side, Sides};
use std::sync::Arc;

/// How an encoder gets from what a connector hands over to the canonical type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// The connector's typed call already fits the canonical type.
    Direct,
    /// The connector hands over text, which is parsed strictly as the canonical type.
    Parse,
    /// The connector hands over its own type, which is rendered as canonical text.
    Render,
}

/// Declared folding of text (`trim`, `case`, `unicode`), applied in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextFold {
    /// Blanks (U+0020) at the end are removed.
    pub trim_end: bool,
    /// Unicode full lower casing of each character on its own; no locale, no final sigma.
    pub fold_case: bool,
    /// Unicode normalisation form C.
    pub nfc: bool,
}

impl TextFold {
    /// Whether nothing is folded.
    #[must_use]
    pub const fn is_none(self) -> bool {
        !self.trim_end && !self.fold_case && !self.nfc
    }
}

/// Unit that a `precision` option cuts timestamps and times to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePrecision {
    /// Whole seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

/// What a `precision` option does with the digits it cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// Towards the past.
    #[default]
    Truncate,
    /// To the nearest, ties to the future.
    HalfUp,
}

/// Declared deviations from the exact profile for one column. Applied only to values whose exact bytes differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnOptions {
    /// Largest absolute difference of numbers that still counts as equal. Exact decimal text.
    pub abs_tol: Option<String>,
    /// Largest difference relative to the larger magnitude. Exact decimal text.
    pub rel_tol: Option<String>,
    /// Largest distance of floats in units in the last place.
    pub ulps: Option<u64>,
    /// Folding of text.
    pub fold: TextFold,
    /// Cut of times and timestamps.
    pub precision: Option<TimePrecision>,
    /// How the cut rounds.
    pub rounding: Rounding,
    /// IANA zone in which a zoneless timestamp is read when its partner is an instant.
    pub zone: Option<String>,
    /// Text that counts as NULL.
    pub null: Option<String>,
}

impl ColumnOptions {
    /// Whether values whose exact bytes differ may still count as equal.
    #[must_use]
    pub fn excuses(&self) -> bool {
        self.abs_tol.is_some()
            || self.rel_tol.is_some()
            || self.ulps.is_some()
            || !self.fold.is_none()
            || self.precision.is_some()
            || self.null.is_some()
    }
}

/// How one column of one side becomes bytes; what the encoder's writer is told.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldTarget {
    /// The canonical type.
    pub canonical: CanonicalType,
    /// How to get there.
    pub conversion: Conversion,
    /// Strip pad blanks (a CHAR column, or untyped text beside one).
    pub strip_pad: bool,
    /// IANA zone for a zoneless timestamp that is paired with an instant.
    pub zone: Option<String>,
    /// Folding that is applied to a key part.
    pub key_fold: TextFold,
    /// Width in bits (16, 32 or 64) of the floats that text parsed as a float stands for: that of the partner's. 0.1
    /// of 32 bits is another value than 0.1 of 64 bits, and the text of both is `0.1`.
    pub parse_float_bits: u8,
    /// Whether each cell is a number, text or bytes of its own. One that does not fit the canonical type is then a
    /// stray value, and not an error.
    pub dynamic: bool,
}

/// A column that a connector must deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// The name on this side.
    pub name: String,
    /// Index into the columns of this side's schema.
    pub index: usize,
    /// Whether the column is wanted as text (`--cast column=text`): canonical text of types that the connector reads,
    /// the store's own text of the others.
    pub as_text: bool,
    /// Whether NULL may occur.
    pub nullable: bool,
    /// How it becomes bytes.
    pub target: FieldTarget,
}

/// What a connector must deliver: first the key columns, then the compared columns, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// Which side this is.
    pub side: Side,
    /// Key parts, in the order of the key; empty for a table without a key.
    pub key: Vec<Projected>,
    /// Fields of the row, in plan order.
    pub row: Vec<Projected>,
}

impl Projection {
    /// All columns in the order in which the writer wants them.
    pub fn columns(&self) -> impl Iterator<Item = &Projected> {
        self.key.iter().chain(&self.row)
    }
}

/// What the output writes a canonical type as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputHint {
    /// The best Arrow type of the canonical type alone (numbers: text).
    Plain,
    /// Whole numbers that fit into 64 signed bits.
    Int64,
    /// Decimals of this precision and scale (precision at most 76).
    Decimal(u8, i8),
    /// Times and timestamps with this many digits (6 or 9).
    Digits(u8),
    /// Text, since a cell may be a value of any type.
    Text,
}

/// A pair of compared columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnPair {
    /// Name on each side.
    pub name: Sides<String>,
    /// Native type on each side, for people.
    pub native: Sides<String>,
    /// What they are compared as.
    pub canonical: CanonicalType,
    /// What the output writes them as.
    pub output: OutputHint,
    /// Declared deviations.
    pub options: ColumnOptions,
}

/// Who brings the rows of a side in canonical key order, and whether the ranges are read apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
    /// The store, and each range is a read of its own (an index, or a file in order).
    ServerRanges,
    /// The store, in one read that is cut into ranges as it arrives.
    ServerOnce,
    /// The rows are read once, unordered, and sorted here.
    Local,
}

/// What the user asked for about sorting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortChoice {
    /// The store where an index serves the order or the file is in order, else here.
    #[default]
    Auto,
    /// The store.
    Server,
    /// Here.
    Local,
}

/// The plan of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonPlan {
    /// Version of the encoding.
    pub encoding_version: u32,
    /// Key columns in key order; empty: rows are compared as a multiset.
    pub key: Vec<ColumnPair>,
    /// Where the key came from, for people.
    pub key_origin: String,
    /// Whether both stores guarantee that the key is unique.
    pub key_unique: Sides<bool>,
    /// Fields of the row, in plan order.
    pub row: Vec<ColumnPair>,
    /// Columns of one side alone that were excluded.
    pub excluded: Sides<Vec<String>>,
    /// What each connector must deliver.
    pub projection: Sides<Arc<Projection>>,
    /// How each side is read.
    pub order: Sides<ReadOrder>,
    /// The ranges.
    pub ranges: PlannedRanges,
}

impl ComparisonPlan {
    /// Canonical types of the key parts, in key order.
    #[must_use]
    pub fn key_types(&self) -> Vec<CanonicalType> {
        self.key.iter().map(|pair| pair.canonical.clone()).collect()
    }

    /// Canonical types of the row's fields, in plan order.
    #[must_use]
    pub fn row_types(&self) -> Vec<CanonicalType> {
        self.row.iter().map(|pair| pair.canonical.clone()).collect()
    }
}
