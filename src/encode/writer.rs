//! The one writer: typed calls in, canonical bytes out.

use super::{
    EncodedBatch,
    batch::length,
    cursor::{close_counted, write_varint},
    float, json,
    layout::{Field, Kind, RowLayout},
    number, temporal, text,
    value::{check_bits, close_key_form, mismatch, truth, uuid_bytes, write_interval, write_key_part, write_row_field},
};
use crate::model::{CanonicalType, DateValue, Decimal, Error, ErrorKind, JsonValue, Result, TimestampValue, Value};

/// Largest size of a batch in bytes: places in it are 32 bits wide.
const BATCH_BYTES_MAX: usize = u32::MAX as usize;

/// Writes rows into an [`EncodedBatch`]: `begin_row`, one call a field in the order of the projection (key parts, then
/// row fields), `end_row`.
///
/// A call fails with kind `Value` for a value that the field's type cannot hold exactly (the error names the column),
/// and with `Internal` for a call that does not fit the field's type at all. After a failed call the row is void: it
/// never becomes part of the batch, whether the writer goes on with `begin_row` or is dropped.
#[derive(Debug)]
pub struct RowWriter<'a> {
    pub(super) layout: &'a RowLayout,
    pub(super) batch: &'a mut EncodedBatch,
    state: RowState,
    /// Where the open record starts; the end of the batch if none is open.
    pub(super) start: usize,
    /// Where the length of the row part stands.
    pub(super) row_at: usize,
    /// Index of the next field.
    pub(super) next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowState {
    Closed,
    Open,
    Failed,
}

impl<'a> RowWriter<'a> {
    /// A writer that appends to `batch`.
    pub fn new(layout: &'a RowLayout, batch: &'a mut EncodedBatch) -> Self {
        let start = batch.data.len();
        Self { layout, batch, state: RowState::Closed, start, row_at: start, next: 0 }
    }

    /// Starts a row; a row that was not ended is dropped.
    #[inline]
    pub fn begin_row(&mut self) {
        self.batch.data.truncate(self.start);
        self.batch.data.extend_from_slice(&[0; 4]);
        self.state = RowState::Open;
        self.next = 0;
        if self.layout.key_count == 0 {
            self.close_key();
        }
    }

    /// Writes the length of the key and keeps room for the length of the row.
    #[inline]
    fn close_key(&mut self) {
        let data = &mut self.batch.data;
        let key = length(data.len() - self.start - 4);
        data[self.start..self.start + 4].copy_from_slice(&key.to_be_bytes());
        self.row_at = data.len();
        data.extend_from_slice(&[0; 4]);
    }

    /// Ends the row.
    ///
    /// # Errors
    /// `Internal` if the number of fields is wrong or a field failed; `Limit` if the batch passes 4 GiB. The row is
    /// then dropped.
    #[inline]
    pub fn end_row(&mut self) -> Result<()> {
        let data = &mut self.batch.data;
        if self.state != RowState::Open || self.next != self.layout.fields.len() || data.len() > BATCH_BYTES_MAX {
            return Err(self.refuse_row());
        }
        let row = length(data.len() - self.row_at - 4);
        data[self.row_at..self.row_at + 4].copy_from_slice(&row.to_be_bytes());
        self.batch.starts.push(length(self.start));
        self.start = data.len();
        self.state = RowState::Closed;
        Ok(())
    }

    #[cold]
    fn refuse_row(&mut self) -> Error {
        let (found, size) = (self.next, self.batch.data.len());
        let state = self.state;
        self.batch.data.truncate(self.start);
        self.state = RowState::Closed;
        if state == RowState::Open && size > BATCH_BYTES_MAX {
            return Error::new(ErrorKind::Limit, "encoding a row: the batch passes 4 GiB")
                .hint("a single row this large is not supported");
        }
        match state {
            RowState::Open => {
                let expected = self.layout.fields.len();
                Error::internal(format!("encoding a row: expected {expected} fields, found {found}"))
            }
            RowState::Closed => Error::internal("encoding a row: it was ended before it was begun"),
            RowState::Failed => Error::internal("encoding a row: it was ended after a field had failed"),
        }
    }

    /// Size of the batch in bytes so far, the open row included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.batch.data.len()
    }

    /// Takes the next field.
    #[inline]
    pub(super) fn take_field(&mut self) -> Result<&'a Field> {
        let layout = self.layout;
        match layout.fields.get(self.next) {
            Some(field) if self.state == RowState::Open => {
                self.next += 1;
                Ok(field)
            }
            _ => Err(self.refuse_field()),
        }
    }

    #[cold]
    fn refuse_field(&mut self) -> Error {
        let message = match self.state {
            RowState::Open => format!("encoding a row: more than {} fields", self.layout.fields.len()),
            RowState::Closed => "encoding a row: a field stands outside of a row".to_owned(),
            RowState::Failed => "encoding a row: a field follows one that failed".to_owned(),
        };
        if self.state == RowState::Open {
            self.state = RowState::Failed;
        }
        Error::internal(message)
    }

    #[cold]
    pub(super) fn failed(&mut self, field: &Field, error: Error) -> Error {
        self.state = RowState::Failed;
        self.batch.data.truncate(self.start);
        error.in_column(&field.name)
    }

    /// Writes one field: presence, what `write` appends as value form, and its length or key form.
    #[inline]
    pub(super) fn put(&mut self, write: impl FnOnce(&Field, &mut Vec<u8>) -> Result<()>) -> Result<()> {
        let field = self.take_field()?;
        let out = &mut self.batch.data;
        if field.is_key {
            out.push(1);
        } else {
            // Presence, and room for a length below 128.
            out.extend_from_slice(&[1, 0]);
        }
        let at = out.len();
        if let Err(error) = write(field, out) {
            return Err(self.failed(field, error));
        }
        if field.is_key {
            close_key_form(out, at, &field.target.canonical);
            if self.next == self.layout.key_count {
                self.close_key();
            }
        } else {
            close_counted(out, at);
        }
        Ok(())
    }

    /// NULL.
    #[inline]
    pub fn put_null(&mut self) -> Result<()> {
        let field = self.take_field()?;
        self.batch.data.push(0);
        if field.is_key && self.next == self.layout.key_count {
            self.close_key();
        }
        Ok(())
    }

    /// A boolean.
    #[inline]
    pub fn put_bool(&mut self, value: bool) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Boolean => {
                out.push(u8::from(value));
                Ok(())
            }
            Kind::Number => {
                number::write_u64(out, false, u64::from(value));
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::Boolean, &Value::Bool(value)),
        })
    }

    /// A whole number.
    #[inline]
    pub fn put_i64(&mut self, value: i64) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Number => {
                number::write_i64(out, value);
                Ok(())
            }
            _ => put_whole(field, out, i128::from(value)),
        })
    }

    /// A whole number without sign.
    #[inline]
    pub fn put_u64(&mut self, value: u64) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Number => {
                number::write_u64(out, false, value);
                Ok(())
            }
            _ => put_whole(field, out, i128::from(value)),
        })
    }

    /// `mantissa * 10^-scale`.
    #[inline]
    pub fn put_scaled(&mut self, mantissa: i128, scale: i32) -> Result<()> {
        self.put(|field, out| {
            if field.kind == Kind::Number {
                return number::write_scaled(out, mantissa, scale);
            }
            let mut form = Vec::new();
            number::write_scaled(&mut form, mantissa, scale)?;
            put_number_form(field, out, &form)
        })
    }

    /// A finite number in base 10000 as `PostgreSQL` sends it: `groups[0] * 10000^weight + ...`; leading and trailing
    /// zero groups allowed.
    #[inline]
    pub fn put_groups(
        &mut self,
        negative: bool,
        weight: i32,
        groups: impl ExactSizeIterator<Item = u16> + Clone,
    ) -> Result<()> {
        self.put(|field, out| {
            if field.kind == Kind::Number {
                return number::write_groups(out, negative, weight, groups);
            }
            let mut form = Vec::new();
            number::write_groups(&mut form, negative, weight, groups)?;
            put_number_form(field, out, &form)
        })
    }

    /// Any number (NaN, infinities, wide decimals).
    pub fn put_decimal(&mut self, value: &Decimal) -> Result<()> {
        self.put(|field, out| put_number(field, out, value))
    }

    /// A float.
    #[inline]
    pub fn put_f64(&mut self, value: f64) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Float => {
                out.extend_from_slice(&float::form(value));
                Ok(())
            }
            Kind::Number => float::write_number(out, value),
            _ => field.render_or_refuse(out, &CanonicalType::Float, &Value::Float(float::fold(value))),
        })
    }

    /// Text (enum labels, XML and text to be parsed as well).
    #[inline]
    pub fn put_text(&mut self, value: &str) -> Result<()> {
        if let Some(field) = self.layout.fields.get(self.next)
            && field.kind == Kind::Text
            && !field.is_key
            && self.state == RowState::Open
        {
            // The length is known first, so that the text moves once.
            let value = if field.target.strip_pad { value.trim_end_matches(' ') } else { value };
            self.next += 1;
            let out = &mut self.batch.data;
            out.reserve(value.len() + 6);
            out.push(1);
            write_varint(out, value.len());
            out.extend_from_slice(value.as_bytes());
            return Ok(());
        }
        self.put(|field, out| put_other_text(field, out, value))
    }

    /// Text whose bytes are not yet known to be UTF-8; an error of kind `Value` if they are not.
    #[inline]
    pub fn put_text_bytes(&mut self, value: &[u8]) -> Result<()> {
        match std::str::from_utf8(value) {
            Ok(text) => self.put_text(text),
            Err(error) => {
                let field = self.take_field()?;
                let place = error.valid_up_to();
                let error = Error::new(
                    ErrorKind::Value,
                    format!("encoding text: expected UTF-8, found other bytes at byte {place}"),
                )
                .hint("compare the column as binary, or mend the text in the store");
                Err(self.failed(field, error))
            }
        }
    }

    /// Bytes.
    pub fn put_binary(&mut self, value: &[u8]) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Binary => {
                out.extend_from_slice(value);
                Ok(())
            }
            Kind::Uuid => {
                out.extend_from_slice(uuid_bytes(value)?);
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::Binary, &Value::Binary(value.to_vec())),
        })
    }

    /// Bits: their number, and the bits with the first one highest.
    pub fn put_bits(&mut self, bits: u32, bytes: &[u8]) -> Result<()> {
        self.put(|field, out| {
            check_bits(bits, bytes)?;
            if field.kind == Kind::Bits {
                out.extend_from_slice(&bits.to_be_bytes());
                out.extend_from_slice(bytes);
                return Ok(());
            }
            field.render_or_refuse(out, &CanonicalType::Bits, &Value::Bits(bits, bytes.to_vec()))
        })
    }

    /// A day as days since 1970-01-01.
    #[inline]
    pub fn put_days(&mut self, days: i64) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Date => {
                out.extend_from_slice(&temporal::days_form(days)?);
                Ok(())
            }
            _ => put_date(field, out, temporal::date_from_days(days)?),
        })
    }

    /// A day, zero date or infinity.
    pub fn put_date(&mut self, value: DateValue) -> Result<()> {
        self.put(|field, out| put_date(field, out, value))
    }

    /// Time of day in nanoseconds.
    pub fn put_time(&mut self, nanos: i64) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Time => {
                out.extend_from_slice(&number::flip_i64(nanos));
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::Time, &Value::Time(nanos)),
        })
    }

    /// Time of day in nanoseconds, offset in seconds (east positive).
    pub fn put_time_tz(&mut self, nanos: i64, offset: i32) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::TimeTz => {
                out.extend_from_slice(&number::flip_i64(nanos));
                out.extend_from_slice(&number::flip_i32(offset));
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::TimeTz, &Value::TimeTz(nanos, offset)),
        })
    }

    /// Calendar time without a zone.
    #[inline]
    pub fn put_timestamp(&mut self, value: TimestampValue) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Timestamp => temporal::write_timestamp(out, value),
            Kind::Instant => {
                out.extend_from_slice(&temporal::moment_form(field.in_zone(value)?)?);
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::Timestamp, &Value::Timestamp(value)),
        })
    }

    /// A moment.
    #[inline]
    pub fn put_instant(&mut self, value: TimestampValue) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Instant => {
                out.extend_from_slice(&temporal::moment_form(value)?);
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::Instant, &Value::Instant(value)),
        })
    }

    /// A moment and its offset in seconds (east positive).
    pub fn put_offset_instant(&mut self, value: TimestampValue, offset: i32) -> Result<()> {
        self.put(|field, out| {
            let native = Value::OffsetInstant(value, offset);
            field.put_value(out, &CanonicalType::OffsetInstant, &native)
        })
    }

    /// Months, days, microseconds.
    pub fn put_interval(&mut self, months: i32, days: i32, micros: i64) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Interval => {
                write_interval(out, months, days, micros);
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::Interval, &Value::Interval(months, days, micros)),
        })
    }

    /// A UUID.
    #[inline]
    pub fn put_uuid(&mut self, value: [u8; 16]) -> Result<()> {
        self.put(|field, out| match field.kind {
            Kind::Uuid => {
                out.extend_from_slice(&value);
                Ok(())
            }
            _ => field.render_or_refuse(out, &CanonicalType::Uuid, &Value::Uuid(value)),
        })
    }

    /// A JSON document as text.
    pub fn put_json(&mut self, text: &str) -> Result<()> {
        self.put(|field, out| {
            let document: JsonValue = json::parse(text, json::Duplicates::LastWins)?;
            if field.kind == Kind::Json {
                return json::write(out, &document, 0);
            }
            field.render_or_refuse(out, &CanonicalType::Json, &Value::Json(document))
        })
    }

    /// Any value (nested types, network and hardware addresses, figures, ranges).
    pub fn put_value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Null => self.put_null(),
            Value::Text(text) => self.put_text(text),
            Value::Date(date) => self.put_date(*date),
            Value::Timestamp(timestamp) => self.put_timestamp(*timestamp),
            _ => self.put(|field, out| match text::native(value) {
                Some(native) => field.put_value(out, &native, value),
                None => field.put_value(out, &field.target.canonical, value),
            }),
        }
    }
}

impl Drop for RowWriter<'_> {
    fn drop(&mut self) {
        self.batch.data.truncate(self.start);
    }
}

fn put_other_text(field: &Field, out: &mut Vec<u8>, value: &str) -> Result<()> {
    let value = if field.target.strip_pad { value.trim_end_matches(' ') } else { value };
    match field.kind {
        Kind::Text | Kind::Render => {
            field.push_text(out, value);
            Ok(())
        }
        Kind::Parse => field.write_parsed(out, value),
        _ => Err(mismatch("text", &field.target.canonical)),
    }
}

fn put_whole(field: &Field, out: &mut Vec<u8>, value: i128) -> Result<()> {
    put_number(field, out, &number::from_i128(value))
}

fn put_number_form(field: &Field, out: &mut Vec<u8>, form: &[u8]) -> Result<()> {
    put_number(field, out, &number::read(&mut super::cursor::Cursor::new(form))?)
}

fn put_number(field: &Field, out: &mut Vec<u8>, value: &Decimal) -> Result<()> {
    match field.kind {
        Kind::Number => number::write_decimal(out, value),
        Kind::Boolean => {
            out.push(u8::from(truth(value)?));
            Ok(())
        }
        Kind::Float => {
            out.extend_from_slice(&float::form(float::from_decimal(value)?));
            Ok(())
        }
        _ => field.render_or_refuse(out, &CanonicalType::Number, &Value::Number(value.clone())),
    }
}

fn put_date(field: &Field, out: &mut Vec<u8>, value: DateValue) -> Result<()> {
    match field.kind {
        Kind::Date => {
            out.extend_from_slice(&temporal::date_form(value)?);
            Ok(())
        }
        Kind::Timestamp => temporal::write_timestamp(out, temporal::midnight(value)?),
        _ => field.render_or_refuse(out, &CanonicalType::Date, &Value::Date(value)),
    }
}

/// Encodes a key from decoded values (range bounds).
///
/// # Errors
/// `Internal` if the values are not of those types, `Value` for one that its type cannot hold.
pub fn encode_key(types: &[CanonicalType], values: &[Value]) -> Result<Vec<u8>> {
    encode(types, values, write_key_part)
}

/// Encodes a row from decoded values.
///
/// # Errors
/// `Internal` if the values are not of those types, `Value` for one that its type cannot hold.
pub fn encode_row(types: &[CanonicalType], values: &[Value]) -> Result<Vec<u8>> {
    encode(types, values, write_row_field)
}

fn encode(
    types: &[CanonicalType],
    values: &[Value],
    write: impl Fn(&mut Vec<u8>, &CanonicalType, &Value) -> Result<()>,
) -> Result<Vec<u8>> {
    if types.len() != values.len() {
        return Err(Error::internal(format!("encoding: expected {} values, found {}", types.len(), values.len())));
    }
    let mut out = Vec::new();
    for (canonical, value) in types.iter().zip(values) {
        write(&mut out, canonical, value)?;
    }
    Ok(out)
}
