//! From canonical bytes back to values.

use super::{
    cursor::{Cursor, pass_escaped, read_escaped},
    float, json, number, temporal,
    value::{
        RANGE_BOUNDS, RANGE_EMPTY, RANGE_LOWER_IN, RANGE_NO_LOWER, RANGE_NO_UPPER, RANGE_UPPER_IN, STRAY, STRAY_BINARY,
        STRAY_NUMBER, STRAY_TEXT, check_bits, figure_floats, fits, is_escaped,
    },
};
use crate::model::{CanonicalType, Error, GeometricKind, RangeValue, Result, Value};

/// A field of a row, as it stands there. Two fields are the same when their forms are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldForm<'a> {
    /// NULL.
    Null,
    /// The value form.
    Value(&'a [u8]),
    /// Class and value form of a stray value.
    Stray(&'a [u8]),
}

impl<'a> FieldForm<'a> {
    /// The value form of a value of the field's type.
    #[must_use]
    pub const fn value(self) -> Option<&'a [u8]> {
        match self {
            Self::Value(bytes) => Some(bytes),
            Self::Null | Self::Stray(_) => None,
        }
    }
}

/// The fields of a row, without decoding them.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

/// The fields of `row`, in order. Ends early where the bytes are not a row.
#[must_use]
pub fn fields(row: &[u8]) -> Fields<'_> {
    Fields { rest: row }
}

impl<'a> Iterator for Fields<'a> {
    type Item = FieldForm<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (presence, mut rest) = self.rest.split_first()?;
        if *presence == 0 {
            self.rest = rest;
            return Some(FieldForm::Null);
        }
        let mut length = 0_usize;
        for shift in (0..35).step_by(7) {
            let (byte, tail) = rest.split_first()?;
            rest = tail;
            length |= usize::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let (value, tail) = rest.split_at_checked(length)?;
        self.rest = tail;
        Some(if *presence == STRAY { FieldForm::Stray(value) } else { FieldForm::Value(value) })
    }
}

/// Decodes a field of a row.
///
/// # Errors
/// `Internal` if the bytes are not of that type, or are a stray value that is of the type itself.
pub fn decode_form(canonical: &CanonicalType, form: FieldForm<'_>) -> Result<Value> {
    let bytes = match form {
        FieldForm::Null => return Ok(Value::Null),
        FieldForm::Value(bytes) => return decode_field(canonical, Some(bytes)),
        FieldForm::Stray(bytes) => bytes,
    };
    let malformed = |what: &str| Error::internal(format!("decoding a stray value: {what}"));
    let (class, bytes) = bytes.split_first().ok_or_else(|| malformed("it has no class"))?;
    let native = match *class {
        STRAY_NUMBER => CanonicalType::Number,
        STRAY_TEXT => CanonicalType::Text,
        STRAY_BINARY => CanonicalType::Binary,
        _ => return Err(malformed("its class is unknown")),
    };
    let value = decode_field(&native, Some(bytes))?;
    if fits(canonical, &value) {
        return Err(malformed("it is of the type of its field"));
    }
    Ok(Value::Stray(Box::new(value)))
}

/// Decodes the value form of one field.
///
/// # Errors
/// `Internal` if the bytes are not of that type.
pub fn decode_field(canonical: &CanonicalType, bytes: Option<&[u8]>) -> Result<Value> {
    let Some(bytes) = bytes else { return Ok(Value::Null) };
    let mut cursor = Cursor::new(bytes);
    let value = read_value(canonical, &mut cursor)?;
    cursor.finish()?;
    Ok(value)
}

/// Decodes a row.
///
/// # Errors
/// `Internal` if the bytes are not of those types.
pub fn decode_row(types: &[CanonicalType], row: &[u8]) -> Result<Vec<Value>> {
    let mut cursor = Cursor::new(row);
    let values = types.iter().map(|canonical| decode_form(canonical, cursor.form()?)).collect::<Result<_>>()?;
    cursor.finish()?;
    Ok(values)
}

/// Decodes a key.
///
/// # Errors
/// `Internal` if the bytes are not of those types.
pub fn decode_key(types: &[CanonicalType], key: &[u8]) -> Result<Vec<Value>> {
    let mut cursor = Cursor::new(key);
    let values = types.iter().map(|canonical| read_key_part(canonical, &mut cursor)).collect::<Result<_>>()?;
    cursor.finish()?;
    Ok(values)
}

fn read_key_part(canonical: &CanonicalType, cursor: &mut Cursor<'_>) -> Result<Value> {
    if !cursor.presence()? {
        return Ok(Value::Null);
    }
    if matches!(canonical, CanonicalType::Bits) {
        let bytes = read_escaped(cursor)?;
        return bits(cursor.u32()?, &bytes);
    }
    if is_escaped(canonical) {
        return decode_field(canonical, Some(&read_escaped(cursor)?));
    }
    read_value(canonical, cursor)
}

/// Whether a part of `key` is NULL.
///
/// # Errors
/// `Internal` if the bytes before the last part are not of those types.
pub fn key_holds_null(types: &[CanonicalType], key: &[u8]) -> Result<bool> {
    let Some((_, passed)) = types.split_last() else { return Ok(false) };
    let mut cursor = Cursor::new(key);
    for canonical in passed {
        if !cursor.presence()? {
            return Ok(true);
        }
        skip_key_value(canonical, &mut cursor)?;
    }
    Ok(!cursor.presence()?)
}

/// Passes over the key form of a value: as [`read_key_part`], without its cost.
fn skip_key_value(canonical: &CanonicalType, cursor: &mut Cursor<'_>) -> Result<()> {
    match canonical {
        CanonicalType::Number => number::skip(cursor),
        CanonicalType::Bits => pass_escaped(cursor, |_| ()).and_then(|()| cursor.u32().map(drop)),
        _ if is_escaped(canonical) => pass_escaped(cursor, |_| ()),
        _ => read_value(canonical, cursor).map(drop),
    }
}

fn read_field(canonical: &CanonicalType, cursor: &mut Cursor<'_>) -> Result<Value> {
    decode_field(canonical, cursor.field()?)
}

/// Reads a value from the front; types without a length of their own take all the rest.
fn read_value(canonical: &CanonicalType, cursor: &mut Cursor<'_>) -> Result<Value> {
    Ok(match canonical {
        CanonicalType::Boolean => match cursor.byte()? {
            0 => Value::Bool(false),
            1 => Value::Bool(true),
            other => return Err(Error::internal(format!("decoding a boolean: found byte {other}"))),
        },
        CanonicalType::Number => Value::Number(number::read(cursor)?),
        CanonicalType::Float => Value::Float(float::read(cursor.array()?)?),
        CanonicalType::Text => {
            let bytes = cursor.take(cursor.rest().len())?;
            let text = String::from_utf8(bytes.to_vec());
            Value::Text(text.map_err(|_| Error::internal("decoding text: it is not UTF-8"))?)
        }
        CanonicalType::Binary => Value::Binary(cursor.take(cursor.rest().len())?.to_vec()),
        CanonicalType::Bits => {
            let number = cursor.u32()?;
            bits(number, cursor.take(cursor.rest().len())?)?
        }
        CanonicalType::Date => Value::Date(temporal::read_date(cursor)?),
        CanonicalType::Time => Value::Time(cursor.i64()?),
        CanonicalType::TimeTz => Value::TimeTz(cursor.i64()?, cursor.i32()?),
        CanonicalType::Timestamp => Value::Timestamp(temporal::read_timestamp(cursor)?),
        CanonicalType::Instant => Value::Instant(temporal::read_instant(cursor)?),
        CanonicalType::OffsetInstant => Value::OffsetInstant(temporal::read_instant(cursor)?, cursor.i32()?),
        CanonicalType::Interval => Value::Interval(cursor.i32()?, cursor.i32()?, cursor.i64()?),
        CanonicalType::Uuid => Value::Uuid(cursor.array()?),
        CanonicalType::Json => Value::Json(json::read(cursor, 0)?),
        CanonicalType::Inet => read_inet(cursor)?,
        CanonicalType::Mac => Value::Mac(cursor.take(6)?.to_vec()),
        CanonicalType::Mac8 => Value::Mac(cursor.take(8)?.to_vec()),
        CanonicalType::Geometric(kind) => read_geometric(*kind, cursor)?,
        CanonicalType::List(element) => read_list(element, cursor)?,
        CanonicalType::Struct(fields) => {
            let values = fields.iter().map(|field| read_field(&field.canonical, cursor));
            Value::Struct(values.collect::<Result<_>>()?)
        }
        CanonicalType::Map(key, value) => read_map(key, value, cursor)?,
        CanonicalType::Range(bound) => Value::Range(read_range(bound, cursor)?),
        CanonicalType::Multirange(bound) => {
            let number = cursor.u32()?;
            let mut ranges = Vec::new();
            for _ in 0..number {
                let mut inner = Cursor::new(cursor.counted()?);
                ranges.push(read_range(bound, &mut inner)?);
                inner.finish()?;
            }
            Value::Multirange(ranges)
        }
    })
}

fn bits(number: u32, bytes: &[u8]) -> Result<Value> {
    check_bits(number, bytes)?;
    Ok(Value::Bits(number, bytes.to_vec()))
}

fn read_inet(cursor: &mut Cursor<'_>) -> Result<Value> {
    let (length, prefix_max) = match cursor.byte()? {
        4 => (4, 32),
        6 => (16, 128),
        other => return Err(Error::internal(format!("decoding inet: unknown version {other}"))),
    };
    let address = cursor.take(length)?.to_vec();
    let prefix = cursor.byte()?;
    if prefix > prefix_max {
        return Err(Error::internal("decoding inet: the prefix is longer than the address"));
    }
    Ok(Value::Inet(address, prefix))
}

fn read_geometric(kind: GeometricKind, cursor: &mut Cursor<'_>) -> Result<Value> {
    let mut closed = true;
    let number = if let Some(number) = figure_floats(kind) {
        number
    } else {
        if kind == GeometricKind::Path {
            closed = cursor.presence()?;
        }
        cursor.u32()? as usize * 2
    };
    let mut floats = Vec::new();
    for _ in 0..number {
        floats.push(float::read(cursor.array()?)?);
    }
    Ok(Value::Geometric(closed, floats))
}

fn read_list(element: &CanonicalType, cursor: &mut Cursor<'_>) -> Result<Value> {
    let number = cursor.byte()?;
    let mut dimensions = Vec::new();
    let mut size = usize::from(number > 0);
    for _ in 0..number {
        let (length, lower) = (cursor.u32()?, cursor.i32()?);
        size = size.checked_mul(length as usize).ok_or_else(|| Error::internal("decoding a list: it is too large"))?;
        dimensions.push((length, lower));
    }
    if number > 0 && size == 0 {
        return Err(Error::internal("decoding a list: it is empty and has dimensions"));
    }
    let mut values = Vec::new();
    for _ in 0..size {
        values.push(read_field(element, cursor)?);
    }
    Ok(Value::List(dimensions, values))
}

fn read_map(key: &CanonicalType, value: &CanonicalType, cursor: &mut Cursor<'_>) -> Result<Value> {
    let number = cursor.u32()?;
    let mut entries = Vec::new();
    let mut last: Option<&[u8]> = None;
    for _ in 0..number {
        let before = cursor.rest();
        let key = read_field(key, cursor)?;
        let key_bytes = &before[..before.len() - cursor.rest().len()];
        if last.is_some_and(|last| last >= key_bytes) {
            return Err(Error::internal("decoding a map: the keys are not sorted"));
        }
        last = Some(key_bytes);
        entries.push((key, read_field(value, cursor)?));
    }
    Ok(Value::Map(entries))
}

fn read_range(bound: &CanonicalType, cursor: &mut Cursor<'_>) -> Result<RangeValue> {
    let flags = cursor.byte()?;
    if flags == RANGE_EMPTY {
        return Ok(RangeValue::Empty);
    }
    let both = |first, second| flags & first != 0 && flags & second != 0;
    if flags & RANGE_BOUNDS == 0
        || flags > 0x1F
        || both(RANGE_NO_LOWER, RANGE_LOWER_IN)
        || both(RANGE_NO_UPPER, RANGE_UPPER_IN)
    {
        return Err(Error::internal(format!("decoding a range: impossible flags {flags:02X}")));
    }
    let mut read_bound = |none: u8, included: u8| -> Result<Option<(Box<Value>, bool)>> {
        if flags & none != 0 {
            return Ok(None);
        }
        let value = decode_field(bound, Some(cursor.counted()?))?;
        Ok(Some((Box::new(value), flags & included != 0)))
    };
    let lower = read_bound(RANGE_NO_LOWER, RANGE_LOWER_IN)?;
    let upper = read_bound(RANGE_NO_UPPER, RANGE_UPPER_IN)?;
    Ok(RangeValue::Bounds { lower, upper })
}
