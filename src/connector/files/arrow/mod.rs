//! The adapter from Arrow to canonical bytes: one accessor a column, made once a batch, then typed calls row by row.
//!
//! No value passes through a lossy type, and primitive and text values cost no allocation.

mod column;
mod equal;
mod logical;
mod value;

pub(crate) use column::Column;
pub(crate) use logical::{canonical_of, logical_of};

use crate::{
    connector::{NativeBatch, NativeColumns},
    encode::{RowWriter, render},
    model::{CanonicalType, Result},
};
use std::{any::Any, ops::Range};

/// A column of a batch with what is needed to write it.
pub(crate) struct BatchColumn {
    /// The name, for errors.
    pub(crate) name: String,
    /// The values.
    pub(crate) data: Column,
    /// Set if the values are to be rendered as canonical text of this type (`--cast column=text`).
    pub(crate) as_text: Option<CanonicalType>,
}

/// Rows of Arrow columns.
pub(crate) struct ArrowBatch {
    /// Number of rows.
    pub(crate) rows: usize,
    /// Bytes of memory held.
    pub(crate) bytes: usize,
    /// Columns in the order of the projection.
    pub(crate) columns: Vec<BatchColumn>,
    /// Rows that are written: first, and one after the last.
    pub(crate) span: (usize, usize),
}

impl BatchColumn {
    fn put(&self, row: usize, writer: &mut RowWriter<'_>) -> Result<()> {
        match &self.as_text {
            None => self.data.put(row, writer),
            Some(canonical) => match render(canonical, &self.data.value(row)?) {
                Some(text) => writer.put_text(&text),
                None => writer.put_null(),
            },
        }
    }
}

impl ArrowBatch {
    /// The values of the only column, if it holds whole numbers without NULL that are encoded as they are: then their own
    /// order is the canonical one.
    pub(crate) fn whole_numbers(&self) -> Option<Vec<i64>> {
        match self.columns.as_slice() {
            [column] if column.as_text.is_none() => column.data.whole_numbers(self.span.0..self.span.1),
            _ => None,
        }
    }
}

impl NativeBatch for ArrowBatch {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn rows(&self) -> usize {
        self.span.1 - self.span.0
    }

    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
        self.encode_rows(0..self.rows(), writer)
    }

    fn columns(&self) -> Option<&dyn NativeColumns> {
        Some(self)
    }
}

impl NativeColumns for ArrowBatch {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn encode_rows(&self, rows: Range<usize>, writer: &mut RowWriter<'_>) -> Result<()> {
        debug_assert!(self.span.1 <= self.rows, "a span lies within its batch");
        for row in self.span.0 + rows.start..(self.span.0 + rows.end).min(self.span.1) {
            writer.begin_row();
            for column in &self.columns {
                column.put(row, writer).map_err(|error| error.in_column(&column.name))?;
            }
            writer.end_row()?;
        }
        Ok(())
    }

    fn equal_rows(&self, from: usize, other: &dyn NativeColumns, other_from: usize, most: usize) -> usize {
        match other.as_any().downcast_ref::<Self>() {
            Some(other) => equal::equal_rows(self, from, other, other_from, most),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests;
