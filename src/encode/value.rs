//! Value forms of decoded values, nested types among them, and what one type may become of another.

use super::{
    cursor::{close_counted, close_escaped},
    float, json, number, temporal,
};
use crate::model::{CanonicalType, Decimal, Error, ErrorKind, GeometricKind, RangeValue, Result, StructField, Value};

/// Appends the value form of `value` as `canonical`. The value may be of a type that fits exactly (a boolean as a
/// number, a date as a timestamp).
///
/// # Errors
/// `Value` for what does not fit, `Internal` for a type that cannot become `canonical`, NULL among them.
pub(super) fn write_value(out: &mut Vec<u8>, canonical: &CanonicalType, value: &Value) -> Result<()> {
    match (canonical, value) {
        (CanonicalType::Boolean, Value::Bool(value)) => out.push(u8::from(*value)),
        (CanonicalType::Boolean, Value::Number(value)) => out.push(u8::from(truth(value)?)),
        (CanonicalType::Number, Value::Number(value)) => number::write_decimal(out, value)?,
        (CanonicalType::Number, Value::Bool(value)) => number::write_u64(out, false, u64::from(*value)),
        (CanonicalType::Number, Value::Float(value)) => float::write_number(out, *value)?,
        (CanonicalType::Float, Value::Float(value)) => out.extend_from_slice(&float::form(*value)),
        (CanonicalType::Float, Value::Number(value)) => {
            out.extend_from_slice(&float::form(float::from_decimal(value)?));
        }
        (CanonicalType::Text, Value::Text(text)) => out.extend_from_slice(text.as_bytes()),
        (CanonicalType::Binary, Value::Binary(bytes)) => out.extend_from_slice(bytes),
        (CanonicalType::Uuid, Value::Binary(bytes)) => out.extend_from_slice(uuid_bytes(bytes)?),
        (CanonicalType::Bits, Value::Bits(bits, bytes)) => {
            check_bits(*bits, bytes)?;
            out.extend_from_slice(&bits.to_be_bytes());
            out.extend_from_slice(bytes);
        }
        (CanonicalType::Date, Value::Date(value)) => out.extend_from_slice(&temporal::date_form(*value)?),
        (CanonicalType::Timestamp, Value::Date(value)) => {
            temporal::write_timestamp(out, temporal::midnight(*value)?)?;
        }
        (CanonicalType::Time, Value::Time(nanos)) => out.extend_from_slice(&number::flip_i64(*nanos)),
        (CanonicalType::TimeTz, Value::TimeTz(nanos, offset)) => {
            out.extend_from_slice(&number::flip_i64(*nanos));
            out.extend_from_slice(&number::flip_i32(*offset));
        }
        (CanonicalType::Timestamp, Value::Timestamp(value)) => temporal::write_timestamp(out, *value)?,
        (CanonicalType::Instant, Value::Instant(value) | Value::OffsetInstant(value, _)) => {
            out.extend_from_slice(&temporal::moment_form(*value)?);
        }
        (CanonicalType::OffsetInstant, Value::OffsetInstant(value, offset)) => {
            out.extend_from_slice(&temporal::moment_form(*value)?);
            out.extend_from_slice(&number::flip_i32(*offset));
        }
        (CanonicalType::Interval, Value::Interval(months, days, micros)) => {
            write_interval(out, *months, *days, *micros);
        }
        (CanonicalType::Uuid, Value::Uuid(bytes)) => out.extend_from_slice(bytes),
        (CanonicalType::Json, Value::Json(value)) => json::write(out, value, 0)?,
        (CanonicalType::Inet, Value::Inet(address, prefix)) => write_inet(out, address, *prefix)?,
        (CanonicalType::Mac, Value::Mac(bytes)) if bytes.len() == 6 => out.extend_from_slice(bytes),
        (CanonicalType::Mac8, Value::Mac(bytes)) if bytes.len() == 8 => out.extend_from_slice(bytes),
        (CanonicalType::Geometric(kind), Value::Geometric(closed, floats)) => {
            write_geometric(out, *kind, *closed, floats)?;
        }
        (CanonicalType::List(element), Value::List(dimensions, values)) => {
            write_list(out, element, dimensions, values)?;
        }
        (CanonicalType::Struct(fields), Value::Struct(values)) => write_struct(out, fields, values)?,
        (CanonicalType::Map(key, value), Value::Map(entries)) => write_map(out, key, value, entries)?,
        (CanonicalType::Range(bound), Value::Range(range)) => write_range(out, bound, range)?,
        (CanonicalType::Multirange(bound), Value::Multirange(ranges)) => {
            out.extend_from_slice(&count(ranges.len())?.to_be_bytes());
            for range in ranges {
                counted(out, |out| write_range(out, bound, range))?;
            }
        }
        _ => return Err(mismatch(kind_of(value), canonical)),
    }
    Ok(())
}

/// The error for a value that cannot become `canonical`.
#[cold]
pub(super) fn mismatch(found: &str, canonical: &CanonicalType) -> Error {
    Error::internal(format!("encoding a value: expected {canonical}, found {found}"))
}

/// What a value is, for messages.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::Float(_) => "float",
        Value::Text(_) => "text",
        Value::Binary(_) => "binary",
        Value::Bits(..) => "bits",
        Value::Date(_) => "date",
        Value::Time(_) => "time",
        Value::TimeTz(..) => "time with zone",
        Value::Timestamp(_) => "timestamp",
        Value::Instant(_) => "instant",
        Value::OffsetInstant(..) => "offset instant",
        Value::Interval(..) => "interval",
        Value::Uuid(_) => "uuid",
        Value::Json(_) => "json",
        Value::Inet(..) => "inet",
        Value::Mac(_) => "mac address",
        Value::Geometric(..) => "geometric",
        Value::List(..) => "list",
        Value::Struct(_) => "struct",
        Value::Map(_) => "map",
        Value::Range(_) => "range",
        Value::Multirange(_) => "multirange",
        Value::Stray(_) => "stray value",
    }
}

/// A number as a boolean.
///
/// # Errors
/// `Value` for numbers other than 0 and 1.
pub(super) fn truth(value: &Decimal) -> Result<bool> {
    match value {
        Decimal::Finite { digits, .. } if digits.is_empty() => Ok(false),
        Decimal::Finite { negative: false, exponent: 1, digits } if digits.as_slice() == [1] => Ok(true),
        _ => Err(Error::new(ErrorKind::Value, "encoding a number as boolean: expected 0 or 1")),
    }
}

/// The sixteen bytes of a UUID.
///
/// # Errors
/// `Value` for another number of bytes.
pub(super) fn uuid_bytes(bytes: &[u8]) -> Result<&[u8; 16]> {
    bytes.try_into().map_err(|_| {
        Error::new(ErrorKind::Value, format!("encoding binary as uuid: expected 16 bytes, found {}", bytes.len()))
    })
}

/// Checks that the bytes hold the bits and that what fills the last byte is zero.
pub(super) fn check_bits(bits: u32, bytes: &[u8]) -> Result<()> {
    let filled = match bits % 8 {
        0 => true,
        used => bytes.last().is_none_or(|last| last & (0xFF >> used) == 0),
    };
    if bytes.len() == bits.div_ceil(8) as usize && filled {
        return Ok(());
    }
    Err(Error::internal("encoding bits: the bytes do not fit the number of bits"))
}

pub(super) fn write_interval(out: &mut Vec<u8>, months: i32, days: i32, micros: i64) {
    out.extend_from_slice(&number::flip_i32(months));
    out.extend_from_slice(&number::flip_i32(days));
    out.extend_from_slice(&number::flip_i64(micros));
}

fn write_inet(out: &mut Vec<u8>, address: &[u8], prefix: u8) -> Result<()> {
    let version = match address.len() {
        4 if prefix <= 32 => 4,
        16 if prefix <= 128 => 6,
        _ => return Err(Error::internal("encoding inet: the address and the prefix length do not fit")),
    };
    out.push(version);
    out.extend_from_slice(address);
    out.push(prefix);
    Ok(())
}

/// Number of floats of a figure; `None` where it varies.
pub(super) fn figure_floats(kind: GeometricKind) -> Option<usize> {
    match kind {
        GeometricKind::Point => Some(2),
        GeometricKind::Line | GeometricKind::Circle => Some(3),
        GeometricKind::Segment | GeometricKind::Box => Some(4),
        GeometricKind::Path | GeometricKind::Polygon => None,
    }
}

fn write_geometric(out: &mut Vec<u8>, kind: GeometricKind, closed: bool, floats: &[f64]) -> Result<()> {
    match figure_floats(kind) {
        Some(number) if number != floats.len() => {
            return Err(Error::internal("encoding a figure: wrong number of floats"));
        }
        Some(_) => {}
        None => {
            if !floats.len().is_multiple_of(2) {
                return Err(Error::internal("encoding a figure: odd number of floats"));
            }
            if kind == GeometricKind::Path {
                out.push(u8::from(closed));
            }
            out.extend_from_slice(&count(floats.len() / 2)?.to_be_bytes());
        }
    }
    for value in floats {
        out.extend_from_slice(&float::form(*value));
    }
    Ok(())
}

/// A number of elements as it stands in the encoding.
fn count(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::new(ErrorKind::Limit, "encoding a value: more than 2^32 elements"))
}

/// Appends a varint length and what `write` appends.
pub(super) fn counted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    out.push(0);
    let at = out.len();
    write(out)?;
    close_counted(out, at);
    Ok(())
}

/// Appends a field: presence, length, value form.
pub(super) fn write_field(out: &mut Vec<u8>, canonical: &CanonicalType, value: &Value) -> Result<()> {
    if matches!(value, Value::Null) {
        out.push(0);
        return Ok(());
    }
    out.push(1);
    counted(out, |out| write_value(out, canonical, value))
}

/// Appends a field of a row, which may hold a stray value.
pub(super) fn write_row_field(out: &mut Vec<u8>, canonical: &CanonicalType, value: &Value) -> Result<()> {
    let Value::Stray(stray) = value else { return write_field(out, canonical, value) };
    let Some((tag, native)) = stray_class(stray) else {
        return Err(Error::internal(format!("encoding a stray value: found a {}", kind_of(stray))));
    };
    if fits(canonical, stray) {
        return Err(Error::internal(format!("encoding a stray value: it is a {canonical} like its column")));
    }
    out.push(STRAY);
    counted(out, |out| {
        out.push(tag);
        write_value(out, &native, stray)
    })
}

/// Presence of a stray value.
pub(super) const STRAY: u8 = 2;
/// Class of a stray number.
pub(super) const STRAY_NUMBER: u8 = 1;
/// Class of a stray text.
pub(super) const STRAY_TEXT: u8 = 2;
/// Class of stray bytes.
pub(super) const STRAY_BINARY: u8 = 3;

/// The class of a value that can be a stray one, and the type that it is encoded as.
fn stray_class(value: &Value) -> Option<(u8, CanonicalType)> {
    match value {
        Value::Number(_) => Some((STRAY_NUMBER, CanonicalType::Number)),
        Value::Text(_) => Some((STRAY_TEXT, CanonicalType::Text)),
        Value::Binary(_) => Some((STRAY_BINARY, CanonicalType::Binary)),
        _ => None,
    }
}

/// Whether a number, text or binary is a value of `canonical` itself, and so no stray one.
pub(super) fn fits(canonical: &CanonicalType, value: &Value) -> bool {
    match (canonical, value) {
        (CanonicalType::Number, Value::Number(_))
        | (CanonicalType::Text, Value::Text(_))
        | (CanonicalType::Binary, Value::Binary(_)) => true,
        (CanonicalType::Float, Value::Number(number)) => float::from_decimal(number).is_ok(),
        _ => false,
    }
}

fn write_list(out: &mut Vec<u8>, element: &CanonicalType, dimensions: &[(u32, i32)], values: &[Value]) -> Result<()> {
    let size = dimensions.iter().try_fold(1_usize, |size, (length, _)| size.checked_mul(*length as usize));
    let empty = dimensions.is_empty() || size == Some(0);
    if size != Some(values.len()) && !(empty && values.is_empty()) {
        return Err(Error::internal("encoding a list: the dimensions do not fit the number of elements"));
    }
    if empty {
        if !values.is_empty() {
            return Err(Error::internal("encoding a list: elements without a dimension"));
        }
        out.push(0);
        return Ok(());
    }
    let number = u8::try_from(dimensions.len())
        .map_err(|_| Error::new(ErrorKind::Limit, "encoding a list: more than 255 dimensions"))?;
    out.push(number);
    for (length, lower) in dimensions {
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&number::flip_i32(*lower));
    }
    values.iter().try_for_each(|value| write_field(out, element, value))
}

fn write_struct(out: &mut Vec<u8>, fields: &[StructField], values: &[Value]) -> Result<()> {
    if fields.len() != values.len() {
        return Err(Error::internal(format!(
            "encoding a struct: expected {} fields, found {}",
            fields.len(),
            values.len()
        )));
    }
    fields.iter().zip(values).try_for_each(|(field, value)| write_field(out, &field.canonical, value))
}

fn write_map(
    out: &mut Vec<u8>,
    key_type: &CanonicalType,
    value_type: &CanonicalType,
    entries: &[(Value, Value)],
) -> Result<()> {
    let mut encoded = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let (mut key_bytes, mut value_bytes) = (Vec::new(), Vec::new());
        write_field(&mut key_bytes, key_type, key)?;
        write_field(&mut value_bytes, value_type, value)?;
        encoded.push((key_bytes, value_bytes));
    }
    encoded.sort_unstable();
    if encoded.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::new(ErrorKind::Value, "encoding a map: a key occurs twice"));
    }
    out.extend_from_slice(&count(encoded.len())?.to_be_bytes());
    for (key, value) in encoded {
        out.extend_from_slice(&key);
        out.extend_from_slice(&value);
    }
    Ok(())
}

/// Flags of a range's first byte.
pub(super) const RANGE_EMPTY: u8 = 0x00;
/// Stands in every range that is not empty.
pub(super) const RANGE_BOUNDS: u8 = 0x01;
/// No lower bound.
pub(super) const RANGE_NO_LOWER: u8 = 0x02;
/// No upper bound.
pub(super) const RANGE_NO_UPPER: u8 = 0x04;
/// The lower bound belongs to the range.
pub(super) const RANGE_LOWER_IN: u8 = 0x08;
/// The upper bound belongs to the range.
pub(super) const RANGE_UPPER_IN: u8 = 0x10;

fn write_range(out: &mut Vec<u8>, bound: &CanonicalType, range: &RangeValue) -> Result<()> {
    let RangeValue::Bounds { lower, upper } = range else {
        out.push(RANGE_EMPTY);
        return Ok(());
    };
    let flag = |bound: &Option<(Box<Value>, bool)>, none, included| match bound {
        None => none,
        Some((_, true)) => included,
        Some((_, false)) => 0,
    };
    let flags = flag(lower, RANGE_NO_LOWER, RANGE_LOWER_IN) | flag(upper, RANGE_NO_UPPER, RANGE_UPPER_IN);
    out.push(RANGE_BOUNDS | flags);
    for (value, _) in [lower, upper].into_iter().flatten() {
        counted(out, |out| write_value(out, bound, value))?;
    }
    Ok(())
}

/// Appends a key part: presence and key form.
pub(super) fn write_key_part(out: &mut Vec<u8>, canonical: &CanonicalType, value: &Value) -> Result<()> {
    if matches!(value, Value::Null) {
        out.push(0);
        return Ok(());
    }
    out.push(1);
    let at = out.len();
    write_value(out, canonical, value)?;
    close_key_form(out, at, canonical);
    Ok(())
}

/// Turns the value form at `out[at..]` into the key form.
pub(super) fn close_key_form(out: &mut Vec<u8>, at: usize, canonical: &CanonicalType) {
    if matches!(canonical, CanonicalType::Bits) {
        let number: Vec<u8> = out.drain(at..at + 4).collect();
        close_escaped(out, at);
        out.extend_from_slice(&number);
    } else if is_escaped(canonical) {
        close_escaped(out, at);
    }
}

/// Whether the key form is the escaped value form.
pub(super) fn is_escaped(canonical: &CanonicalType) -> bool {
    match canonical {
        CanonicalType::Boolean
        | CanonicalType::Number
        | CanonicalType::Float
        | CanonicalType::Bits
        | CanonicalType::Date
        | CanonicalType::Time
        | CanonicalType::TimeTz
        | CanonicalType::Timestamp
        | CanonicalType::Instant
        | CanonicalType::OffsetInstant
        | CanonicalType::Interval
        | CanonicalType::Uuid
        | CanonicalType::Mac
        | CanonicalType::Mac8 => false,
        CanonicalType::Text
        | CanonicalType::Binary
        | CanonicalType::Json
        | CanonicalType::Inet
        | CanonicalType::Geometric(_)
        | CanonicalType::List(_)
        | CanonicalType::Struct(_)
        | CanonicalType::Map(..)
        | CanonicalType::Range(_)
        | CanonicalType::Multirange(_) => true,
    }
}
