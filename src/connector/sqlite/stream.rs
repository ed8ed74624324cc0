//! Streams of rows, batch by batch, and rows as cells.

use super::{
    relation::TextForm,
    worker::{Query, Worker},
};
use crate::{
    connector::{NativeBatch, RowStream},
    encode::{Cell, RowWriter},
    model::{Error, ErrorKind, Result},
};
use futures::{StreamExt, stream};
use rusqlite::{Row, types::ValueRef};
use std::sync::Arc;

/// Classes of cells in a batch.
const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BINARY: u8 = 4;

/// Rows: for each cell its class, then 8 bytes of a number, or the length and the bytes of text or binary.
pub(super) struct CellBatch {
    data: Vec<u8>,
    rows: usize,
    columns: Arc<[String]>,
    text: TextForm,
}

impl CellBatch {
    /// A batch that begins with `first`: one row, or nothing.
    pub(super) fn new(columns: Arc<[String]>, text: TextForm, first: Vec<u8>) -> Self {
        Self { rows: usize::from(!first.is_empty()), data: first, columns, text }
    }

    /// Bytes of the rows.
    pub(super) fn len(&self) -> usize {
        self.data.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a row as the library gives it.
    pub(super) fn push(&mut self, row: &Row<'_>) -> Result<()> {
        for index in 0..self.columns.len() {
            let failed = |_| Error::internal("reading rows: a column is not there");
            if self.text == TextForm::Utf8 {
                push_cell(&mut self.data, row.get_ref(index).map_err(failed)?, false)?;
            } else {
                let is_text = row.get_ref(2 * index).map_err(failed)? == ValueRef::Integer(1);
                push_cell(&mut self.data, row.get_ref(2 * index + 1).map_err(failed)?, is_text)?;
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Takes the last row off, which begins at `at`.
    pub(super) fn pop_from(&mut self, at: usize) -> Vec<u8> {
        self.rows -= 1;
        self.data.split_off(at)
    }

    /// Gives back the memory that is not used.
    pub(super) fn finish(mut self) -> Self {
        self.data.shrink_to_fit();
        self
    }

    fn put(&self, writer: &mut RowWriter<'_>, cells: &mut Cells<'_>) -> Result<()> {
        let class = cells.take(1)?[0];
        match class {
            NULL => writer.put_null(),
            INTEGER => writer.put_cell(Cell::Integer(i64::from_be_bytes(cells.array()?))),
            REAL => writer.put_cell(Cell::Real(f64::from_be_bytes(cells.array()?))),
            TEXT => {
                let bytes = cells.counted()?;
                match self.text {
                    TextForm::Utf8 => writer.put_cell(Cell::Text(bytes)),
                    // What is not UTF-16 is handed on as bytes that are no UTF-8 either, so that column and key are
                    // named as for any other text.
                    TextForm::Utf16Le | TextForm::Utf16Be => match utf16(bytes, self.text) {
                        Some(text) => writer.put_cell(Cell::Text(text.as_bytes())),
                        None => writer.put_cell(Cell::Text(&[0xFF])),
                    },
                }
            }
            _ => writer.put_cell(Cell::Binary(cells.counted()?)),
        }
    }
}

fn push_cell(data: &mut Vec<u8>, value: ValueRef<'_>, is_text: bool) -> Result<()> {
    let counted = |data: &mut Vec<u8>, class: u8, bytes: &[u8]| {
        let length = u32::try_from(bytes.len())
            .map_err(|_| Error::new(ErrorKind::Limit, "reading rows: a value has more than 4 GiB"))?;
        data.push(class);
        data.extend_from_slice(&length.to_be_bytes());
        data.extend_from_slice(bytes);
        Ok(())
    };
    match value {
        ValueRef::Null => data.push(NULL),
        ValueRef::Integer(value) => {
            data.push(INTEGER);
            data.extend_from_slice(&value.to_be_bytes());
        }
        ValueRef::Real(value) => {
            data.push(REAL);
            data.extend_from_slice(&value.to_be_bytes());
        }
        ValueRef::Text(bytes) => counted(data, TEXT, bytes)?,
        ValueRef::Blob(bytes) => counted(data, if is_text { TEXT } else { BINARY }, bytes)?,
    }
    Ok(())
}

/// UTF-16, strictly.
fn utf16(bytes: &[u8], form: TextForm) -> Option<String> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let units = bytes.chunks_exact(2).map(|pair| match form {
        TextForm::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_be_bytes([pair[1], pair[0]]),
    });
    char::decode_utf16(units).collect::<Result<String, _>>().ok()
}

/// The cells that are still to be written.
struct Cells<'a>(&'a [u8]);

impl<'a> Cells<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(cut)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| cut())
    }

    fn counted(&mut self) -> Result<&'a [u8]> {
        let length = u32::from_be_bytes(self.array()?);
        self.take(length as usize)
    }
}

fn cut() -> Error {
    Error::internal("a batch of cells does not hold whole rows")
}

impl NativeBatch for CellBatch {
    fn bytes(&self) -> usize {
        self.data.capacity()
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
        let mut cells = Cells(&self.data);
        for _ in 0..self.rows {
            writer.begin_row();
            for column in &*self.columns {
                self.put(writer, &mut cells).map_err(|error| error.in_column(column.as_str()))?;
            }
            writer.end_row()?;
        }
        if cells.0.is_empty() { Ok(()) } else { Err(cut()) }
    }
}

/// A stream's statement; ends with it.
struct Ticket {
    worker: Arc<Worker>,
    number: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.worker.close(self.number);
    }
}

/// Starts nothing yet: the statement begins when the stream is first polled.
pub(super) fn rows(worker: Arc<Worker>, query: Query, batch_bytes_max: usize) -> RowStream {
    let ticket = Ticket { number: worker.ticket(), worker };
    stream::try_unfold((ticket, Some(Box::new(query))), move |(ticket, query)| async move {
        let batch = ticket.worker.step(ticket.number, query, batch_bytes_max).await?;
        Ok(batch.map(|batch| (Box::new(batch) as Box<dyn NativeBatch>, (ticket, None))))
    })
    .boxed()
}
