//! What a store must offer to have its rows encoded, and compared before they are.

use super::RowWriter;
use crate::model::Result;
use std::{any::Any, ops::Range};

/// Rows as the store gave them, which can write themselves into the canonical encoding.
pub trait NativeBatch: Send {
    /// Bytes of memory held.
    fn bytes(&self) -> usize;

    /// Number of rows.
    fn rows(&self) -> usize;

    /// Writes every row: for each, `begin_row`, one put a projected column, `end_row`.
    ///
    /// Called on a CPU thread; must not block.
    ///
    /// # Errors
    /// `Value` if a value cannot be represented exactly.
    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()>;

    /// The rows as columns, if they can be compared before they are encoded.
    fn columns(&self) -> Option<&dyn NativeColumns> {
        None
    }
}

/// Rows whose values can be compared column by column, before they are encoded. Rows are counted from 0.
pub trait NativeColumns {
    /// Itself, to be told from rows of other kinds.
    fn as_any(&self) -> &dyn Any;

    /// Writes `rows` as [`NativeBatch::encode`] writes all.
    ///
    /// # Errors
    /// As of [`NativeBatch::encode`].
    fn encode_rows(&self, rows: Range<usize>, writer: &mut RowWriter<'_>) -> Result<()>;

    /// How many rows from `from` on, at most `most`, are certain to become the same bytes as those of `other` from
    /// `other_from` on when both are written by one layout. Too small a number costs time; too large a one would hide
    /// differences.
    fn equal_rows(&self, from: usize, other: &dyn NativeColumns, other_from: usize, most: usize) -> usize;
}
