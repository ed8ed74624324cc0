//! The one writer: typed calls in, canonical bytes out.

use super::{EncodedBatch, batch::length};
use crate::model::{CanonicalType, DateValue, Decimal, Error, Projection, Result, TimestampValue, Value};

/// What the fields of a side's rows are and how they are written; made once from a [`Projection`].
#[derive(Debug)]
pub struct RowLayout {}

impl RowLayout {
    /// Prepares the writer for `projection`.
    ///
    /// # Errors
    /// `Config` for a zone that is not known.
    pub fn new(_projection: &Projection) -> Result<Self> {
        Ok(Self {})
    }
}

/// Writes rows into an [`EncodedBatch`]: `begin_row`, one call a field in the order of the projection (key parts, then
/// row fields), `end_row`.
#[derive(Debug)]
pub struct RowWriter<'a> {
    _layout: &'a RowLayout,
    _batch: &'a mut EncodedBatch,
}

fn todo_error<T>() -> Result<T> {
    let _ = length(0);
    Err(Error::internal("the writer is not built yet"))
}

impl<'a> RowWriter<'a> {
    /// A writer that appends to `batch`.
    pub fn new(layout: &'a RowLayout, batch: &'a mut EncodedBatch) -> Self {
        Self { _layout: layout, _batch: batch }
    }

    /// Starts a row.
    pub fn begin_row(&mut self) {}

    /// Ends the row. `Internal` if the number of fields is wrong.
    pub fn end_row(&mut self) -> Result<()> {
        todo_error()
    }

    /// Size of the batch in bytes so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        0
    }

    /// NULL.
    pub fn put_null(&mut self) -> Result<()> {
        todo_error()
    }
    /// A boolean.
    pub fn put_bool(&mut self, _value: bool) -> Result<()> {
        todo_error()
    }
    /// A whole number.
    pub fn put_i64(&mut self, _value: i64) -> Result<()> {
        todo_error()
    }
    /// A whole number without sign.
    pub fn put_u64(&mut self, _value: u64) -> Result<()> {
        todo_error()
    }
    /// `mantissa * 10^-scale`.
    pub fn put_scaled(&mut self, _mantissa: i128, _scale: i32) -> Result<()> {
        todo_error()
    }
    /// A finite number in base 10000 as PostgreSQL sends it: `groups[0] * 10000^weight + ...`; leading and trailing zero groups allowed.
    pub fn put_groups(
        &mut self,
        _negative: bool,
        _weight: i32,
        _groups: impl ExactSizeIterator<Item = u16> + Clone,
    ) -> Result<()> {
        todo_error()
    }
    /// Any number (NaN, infinities, wide decimals).
    pub fn put_decimal(&mut self, _value: &Decimal) -> Result<()> {
        todo_error()
    }
    /// A float.
    pub fn put_f64(&mut self, _value: f64) -> Result<()> {
        todo_error()
    }
    /// Text (enum labels, XML and text to be parsed as well).
    pub fn put_text(&mut self, _value: &str) -> Result<()> {
        todo_error()
    }
    /// Text whose bytes are not yet known to be UTF-8; an error of kind `Value` if they are not.
    pub fn put_text_bytes(&mut self, _value: &[u8]) -> Result<()> {
        todo_error()
    }
    /// Bytes.
    pub fn put_binary(&mut self, _value: &[u8]) -> Result<()> {
        todo_error()
    }
    /// Bits: their number, and the bits with the first one highest.
    pub fn put_bits(&mut self, _bits: u32, _bytes: &[u8]) -> Result<()> {
        todo_error()
    }
    /// A day as days since 1970-01-01.
    pub fn put_days(&mut self, _days: i64) -> Result<()> {
        todo_error()
    }
    /// A day, zero date or infinity.
    pub fn put_date(&mut self, _value: DateValue) -> Result<()> {
        todo_error()
    }
    /// Time of day in nanoseconds.
    pub fn put_time(&mut self, _nanos: i64) -> Result<()> {
        todo_error()
    }
    /// Time of day in nanoseconds, offset in seconds (east positive).
    pub fn put_time_tz(&mut self, _nanos: i64, _offset: i32) -> Result<()> {
        todo_error()
    }
    /// Calendar time without a zone.
    pub fn put_timestamp(&mut self, _value: TimestampValue) -> Result<()> {
        todo_error()
    }
    /// A moment.
    pub fn put_instant(&mut self, _value: TimestampValue) -> Result<()> {
        todo_error()
    }
    /// A moment and its offset in seconds (east positive).
    pub fn put_offset_instant(&mut self, _value: TimestampValue, _offset: i32) -> Result<()> {
        todo_error()
    }
    /// Months, days, microseconds.
    pub fn put_interval(&mut self, _months: i32, _days: i32, _micros: i64) -> Result<()> {
        todo_error()
    }
    /// A UUID.
    pub fn put_uuid(&mut self, _value: [u8; 16]) -> Result<()> {
        todo_error()
    }
    /// A JSON document as text.
    pub fn put_json(&mut self, _text: &str) -> Result<()> {
        todo_error()
    }
    /// Any value (nested types, network and hardware addresses, figures, ranges).
    pub fn put_value(&mut self, _value: &Value) -> Result<()> {
        todo_error()
    }
}

/// Encodes a key from decoded values (range bounds).
pub fn encode_key(_types: &[CanonicalType], _values: &[Value]) -> Result<Vec<u8>> {
    todo_error()
}

/// Encodes a row from decoded values.
pub fn encode_row(_types: &[CanonicalType], _values: &[Value]) -> Result<Vec<u8>> {
    todo_error()
}
