//! The batch that a side reads, as the store gave it: of the source to know what its records were made from, of the
//! sink to encode no more of it than the merge must see.

use super::{Feed, NativeRows};
use crate::{
    encode::{EncodedBatch, NativeColumns, RowLayout, RowWriter},
    model::{Result, Side},
};
use std::{ops::Range, sync::Arc};

/// Rows of the sink that are encoded at first where its columns were not those of the source: a difference and what
/// stands around it. As long as no columns are equal the number is doubled, so that sides that differ everywhere are
/// encoded in whole batches.
const PIECE_ROWS_MIN: usize = 8;

/// Rows of a feed that are not, or not only, seen as records.
pub(super) struct Native {
    side: Side,
    layout: Arc<RowLayout>,
    rows: Option<NativeRows>,
    /// First row of `rows` that was neither encoded nor passed over.
    at: usize,
    /// Rows that are encoded next.
    piece: usize,
    /// The same for all time: the source is encoded by whole batches.
    is_lazy: bool,
}

impl Native {
    pub(super) fn new(side: Side, layout: Arc<RowLayout>) -> Self {
        Self { side, layout, rows: None, at: 0, piece: PIECE_ROWS_MIN, is_lazy: side == Side::Sink }
    }

    /// The rows in hand as columns.
    pub(super) fn columns(&self) -> Option<&dyn NativeColumns> {
        self.rows.as_ref()?.batch.columns()
    }

    /// Those of the rows in hand that were neither encoded nor passed over.
    pub(super) fn left(&self) -> Range<usize> {
        self.at..self.rows.as_ref().map_or(self.at, |rows| rows.batch.rows())
    }

    /// Takes the next batch of `feed` if nothing is left of the one in hand; whether there are rows.
    pub(super) fn pull(&mut self, feed: &mut dyn Feed) -> Result<bool> {
        while self.left().is_empty() {
            // Memory goes back before the feed waits for more.
            self.rows = None;
            self.at = 0;
            self.rows = feed.pull()?;
            if self.rows.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends the next rows to `into`; whether there were any.
    pub(super) fn read(&mut self, feed: &mut dyn Feed, into: &mut EncodedBatch) -> Result<bool> {
        if !self.pull(feed)? {
            return Ok(false);
        }
        let left = self.left().len();
        let Some(rows) = &self.rows else { return Ok(false) };
        let mut writer = RowWriter::new(&self.layout, into);
        if let Some(columns) = rows.batch.columns() {
            let count = if self.is_lazy { self.piece.min(left) } else { left };
            let encoded = columns.encode_rows(self.at..self.at + count, &mut writer);
            encoded.map_err(|error| error.on(self.side))?;
            self.at += count;
            self.piece = self.piece.saturating_mul(2);
        } else {
            rows.batch.encode(&mut writer).map_err(|error| error.on(self.side))?;
            drop(writer);
            self.rows = None;
        }
        Ok(true)
    }

    /// Passes over `rows` rows that are not encoded.
    pub(super) fn pass(&mut self, rows: usize) {
        self.at += rows;
        if rows >= self.piece {
            self.piece = PIECE_ROWS_MIN;
        }
    }
}
