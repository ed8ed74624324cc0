//! The two-way sorted merge: proves the order of both streams, digests them and names every difference.
//!
//! Synchronous and pure: records come in through [`Feed`], findings go out through [`DifferenceSink`].

mod columns;
mod cursor;
mod digest;
mod native;
mod tolerance;
mod two_way;

pub use columns::ColumnComparer;
pub use digest::SideDigests;
pub use tolerance::excuses;
pub use two_way::{RunningMerge, merge_range};

use crate::{
    encode::{EncodedBatch, NativeBatch, RowLayout, decode_key, render},
    model::{CanonicalType, ColumnOptions, ComparisonPlan, Difference, KeyRange, Result, Sides},
    sort::SorterOptions,
};
use std::sync::Arc;

/// Records of one side of one range, ascending by key.
pub trait Feed {
    /// Appends the next records to `into` and returns whether there were any; `false` only at the proven end of the
    /// stream. A stream that was cut is an error.
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool>;

    /// How its records are encoded, if it can give rows as they are before: then [`Self::pull`] may be called.
    fn layout(&self) -> Option<&Arc<RowLayout>> {
        None
    }

    /// The next rows, which [`Self::next`] would give as records; `None` only at the proven end of the stream.
    fn pull(&mut self) -> Result<Option<NativeRows>> {
        Ok(None)
    }
}

/// Rows of a feed before they are encoded.
pub struct NativeRows {
    /// The rows.
    pub batch: Box<dyn NativeBatch>,
    /// What is given back once the rows are gone (their share of a budget).
    pub guard: Box<dyn Send>,
}

/// Takes the differences of a range, in key order.
pub trait DifferenceSink {
    /// Takes one difference.
    fn write(&mut self, difference: &Difference<'_>) -> Result<()>;
}

/// What the merge of a range must know; made once a run.
#[derive(Clone, Debug)]
pub struct MergeSpec {
    /// Canonical types of the key parts.
    pub key_types: Vec<CanonicalType>,
    /// Canonical types of the row's fields.
    pub row_types: Vec<CanonicalType>,
    /// Declared deviations of the row's fields.
    pub options: Vec<ColumnOptions>,
    /// Fields of the row that hold the exact value of a folded key column.
    pub folded_fields: Vec<usize>,
    /// Sides whose rows are in row-byte order within each key already (sorted here).
    pub rows_sorted: Sides<bool>,
    /// Bytes of one key's rows that are held in memory before they are sorted on disk.
    pub group_bytes_max: u64,
    /// How a larger group is sorted.
    pub sorter: SorterOptions,
}

impl MergeSpec {
    /// Takes from `plan` what the merge needs.
    #[must_use]
    pub fn new(plan: &ComparisonPlan, rows_sorted: Sides<bool>, group_bytes_max: u64, sorter: SorterOptions) -> Self {
        let folded = plan.key.iter().filter(|pair| !pair.options.fold.is_none());
        let folded_fields =
            folded.filter_map(|pair| plan.row.iter().position(|field| field.name.source == pair.name.source)).collect();
        Self {
            key_types: plan.key_types(),
            row_types: plan.row_types(),
            options: plan.row.iter().map(|pair| pair.options.clone()).collect(),
            folded_fields,
            rows_sorted,
            group_bytes_max,
            sorter,
        }
    }

    /// Whether rows are compared as one multiset.
    #[must_use]
    pub fn is_keyless(&self) -> bool {
        self.key_types.is_empty()
    }

    /// A key as text, for messages.
    #[must_use]
    pub fn key_text(&self, key: &[u8]) -> String {
        key_text(&self.key_types, key)
    }
}

/// A key as text, for messages: its parts in parentheses, or the bytes where they cannot be decoded.
#[must_use]
pub fn key_text(types: &[CanonicalType], key: &[u8]) -> String {
    /// Longest text of a key in a message, in characters; keys may be megabytes.
    const KEY_TEXT_MAX: usize = 200;
    let text = match decode_key(types, key) {
        Ok(values) => {
            let parts = values.iter().zip(types).map(|(value, canonical)| {
                render(canonical, value).map_or_else(|| "NULL".to_owned(), |text| text.escape_debug().to_string())
            });
            format!("({})", parts.collect::<Vec<_>>().join(", "))
        }
        Err(_) => key.iter().fold("bytes ".to_owned(), |text, byte| format!("{text}{byte:02x}")),
    };
    if text.chars().count() > KEY_TEXT_MAX {
        let head: String = text.chars().take(KEY_TEXT_MAX).collect();
        return format!("{head}...");
    }
    text
}

/// What a range is, for messages and checks.
#[derive(Clone, Debug)]
pub struct RangeBounds {
    /// Number of the range.
    pub number: usize,
    /// Its bounds.
    pub range: KeyRange,
}

#[cfg(test)]
mod tests;
