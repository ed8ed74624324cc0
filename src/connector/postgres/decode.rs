//! Fields of a binary COPY: from wire bytes to the writer's typed calls.

use super::{decode_nested::value, types::Wire};
use crate::{
    encode::RowWriter,
    model::{DateValue, Decimal, Error, ErrorKind, Result, TimestampValue},
};

/// Days from 1970-01-01 to 2000-01-01, where `PostgreSQL` starts to count.
pub(super) const EPOCH_DAYS: i64 = 10_957;
/// Seconds from 1970-01-01 to 2000-01-01.
const EPOCH_SECONDS: i64 = EPOCH_DAYS * 86_400;
const NUMERIC_NEGATIVE: u16 = 0x4000;
const NUMERIC_NAN: u16 = 0xC000;
const NUMERIC_POSITIVE_INFINITY: u16 = 0xD000;
const NUMERIC_NEGATIVE_INFINITY: u16 = 0xF000;

/// A value whose bytes are not of its type.
pub(super) fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::Value, format!("decoding a value: the bytes from the server are no {what}"))
}

/// The bytes as an array of exactly `N`.
pub(super) fn fixed<const N: usize>(bytes: &[u8], what: &str) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| malformed(what))
}

/// A `numeric` on the wire.
pub(super) enum Numeric<'a> {
    Special(Decimal),
    Finite { negative: bool, weight: i32, groups: &'a [u8] },
}

/// Takes a `numeric` apart.
pub(super) fn numeric(bytes: &[u8]) -> Result<Numeric<'_>> {
    let bad = || malformed("numeric");
    let (header, groups) = bytes.split_first_chunk::<8>().ok_or_else(bad)?;
    let count = usize::from(u16::from_be_bytes([header[0], header[1]]));
    let weight = i32::from(i16::from_be_bytes([header[2], header[3]]));
    let sign = u16::from_be_bytes([header[4], header[5]]);
    if groups.len() != count * 2 {
        return Err(bad());
    }
    match sign {
        0 | NUMERIC_NEGATIVE => {
            if groups.chunks_exact(2).any(|group| u16::from_be_bytes([group[0], group[1]]) > 9999) {
                return Err(bad());
            }
            Ok(Numeric::Finite { negative: sign == NUMERIC_NEGATIVE, weight, groups })
        }
        NUMERIC_NAN => Ok(Numeric::Special(Decimal::NaN)),
        NUMERIC_POSITIVE_INFINITY => Ok(Numeric::Special(Decimal::PositiveInfinity)),
        NUMERIC_NEGATIVE_INFINITY => Ok(Numeric::Special(Decimal::NegativeInfinity)),
        _ => Err(bad()),
    }
}

/// A `date` on the wire: its infinities, or days since 1970-01-01.
pub(super) fn date(bytes: &[u8]) -> Result<Result<i64, DateValue>> {
    Ok(match i32::from_be_bytes(fixed(bytes, "date")?) {
        i32::MAX => Err(DateValue::PositiveInfinity),
        i32::MIN => Err(DateValue::NegativeInfinity),
        days => Ok(i64::from(days) + EPOCH_DAYS),
    })
}

/// A `timestamp` or `timestamptz` on the wire.
pub(super) fn timestamp(bytes: &[u8]) -> Result<TimestampValue> {
    Ok(match i64::from_be_bytes(fixed(bytes, "timestamp")?) {
        i64::MAX => TimestampValue::PositiveInfinity,
        i64::MIN => TimestampValue::NegativeInfinity,
        micros => {
            let nanos = u32::try_from(micros.rem_euclid(1_000_000)).map_err(|_| malformed("timestamp"))? * 1000;
            TimestampValue::Finite(micros.div_euclid(1_000_000) + EPOCH_SECONDS, nanos)
        }
    })
}

/// A `time` on the wire, in nanoseconds.
pub(super) fn time(bytes: &[u8]) -> Result<i64> {
    i64::from_be_bytes(fixed(bytes, "time")?).checked_mul(1000).ok_or_else(|| malformed("time"))
}

/// A `timetz` on the wire: nanoseconds, and the offset (which the wire counts to the west).
pub(super) fn time_tz(bytes: &[u8]) -> Result<(i64, i32)> {
    let bytes: [u8; 12] = fixed(bytes, "time with zone")?;
    let nanos = time(&bytes[..8])?;
    let west = i32::from_be_bytes(fixed(&bytes[8..], "time with zone")?);
    Ok((nanos, west.checked_neg().ok_or_else(|| malformed("time with zone"))?))
}

/// An `interval` on the wire: months, days, microseconds.
pub(super) fn interval(bytes: &[u8]) -> Result<(i32, i32, i64)> {
    let bytes: [u8; 16] = fixed(bytes, "interval")?;
    Ok((
        i32::from_be_bytes(fixed(&bytes[12..], "interval")?),
        i32::from_be_bytes(fixed(&bytes[8..12], "interval")?),
        i64::from_be_bytes(fixed(&bytes[..8], "interval")?),
    ))
}

/// A bit string on the wire: number of bits, and bytes.
pub(super) fn bits(bytes: &[u8]) -> Result<(u32, &[u8])> {
    let bad = || malformed("bit string");
    let (count, rest) = bytes.split_first_chunk::<4>().ok_or_else(bad)?;
    let count = u32::from_be_bytes(*count);
    if count > i32::MAX.unsigned_abs() || rest.len() != (count as usize).div_ceil(8) {
        return Err(bad());
    }
    Ok((count, rest))
}

/// The text of a `"char"`: nothing for a zero byte.
pub(super) fn byte_text(bytes: &[u8]) -> Result<&str> {
    match fixed::<1>(bytes, "\"char\"")?[0] {
        0 => Ok(""),
        1..=0x7F => std::str::from_utf8(bytes).map_err(|_| malformed("\"char\"")),
        _ => Err(Error::new(ErrorKind::Value, "decoding a \"char\": its byte is not ASCII and so no text")
            .hint("leave the column out with --exclude")),
    }
}

/// The document of a `jsonb`, whose first byte is the version 1.
pub(super) fn jsonb(bytes: &[u8]) -> Result<&str> {
    match bytes.split_first() {
        Some((1, text)) => text_of(text, "jsonb"),
        _ => Err(malformed("jsonb of version 1")),
    }
}

/// The bytes as UTF-8.
pub(super) fn text_of<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| malformed(what))
}

/// A boolean on the wire.
pub(super) fn boolean(bytes: &[u8]) -> Result<bool> {
    match bytes {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(malformed("boolean")),
    }
}

/// Writes one field that is not NULL.
#[inline]
pub(super) fn put(writer: &mut RowWriter<'_>, wire: &Wire, bytes: &[u8]) -> Result<()> {
    match wire {
        Wire::Int4 => writer.put_i64(i32::from_be_bytes(fixed(bytes, "int4")?).into()),
        Wire::Int8 => writer.put_i64(i64::from_be_bytes(fixed(bytes, "int8")?)),
        Wire::Text(_) | Wire::BpChar | Wire::Enum | Wire::Xml | Wire::ServerText => writer.put_text_bytes(bytes),
        Wire::Numeric(_) => match numeric(bytes)? {
            Numeric::Special(value) => writer.put_decimal(&value),
            Numeric::Finite { negative, weight, groups } => {
                let groups = groups.chunks_exact(2).map(|group| u16::from_be_bytes([group[0], group[1]]));
                writer.put_groups(negative, weight, groups)
            }
        },
        Wire::Bool => writer.put_bool(boolean(bytes)?),
        Wire::Int2 => writer.put_i64(i16::from_be_bytes(fixed(bytes, "int2")?).into()),
        Wire::Oid => writer.put_i64(u32::from_be_bytes(fixed(bytes, "oid")?).into()),
        Wire::Float4 => writer.put_f64(f32::from_be_bytes(fixed(bytes, "float4")?).into()),
        Wire::Float8 => writer.put_f64(f64::from_be_bytes(fixed(bytes, "float8")?)),
        Wire::Byte => writer.put_text(byte_text(bytes)?),
        Wire::Bytea => writer.put_binary(bytes),
        Wire::Date => match date(bytes)? {
            Ok(days) => writer.put_days(days),
            Err(infinity) => writer.put_date(infinity),
        },
        Wire::Time(_) => writer.put_time(time(bytes)?),
        Wire::TimeTz => {
            let (nanos, offset) = time_tz(bytes)?;
            writer.put_time_tz(nanos, offset)
        }
        Wire::Timestamp(_) => writer.put_timestamp(timestamp(bytes)?),
        Wire::TimestampTz(_) => writer.put_instant(timestamp(bytes)?),
        Wire::Interval => {
            let (months, days, micros) = interval(bytes)?;
            writer.put_interval(months, days, micros)
        }
        Wire::Uuid => writer.put_uuid(fixed(bytes, "uuid")?),
        Wire::Json => writer.put_json(text_of(bytes, "json")?),
        Wire::Jsonb => writer.put_json(jsonb(bytes)?),
        Wire::Bits(_) => {
            let (count, bits) = bits(bytes)?;
            writer.put_bits(count, bits)
        }
        Wire::Money(scale) => writer.put_scaled(i64::from_be_bytes(fixed(bytes, "money")?).into(), *scale),
        Wire::Inet
        | Wire::Mac
        | Wire::Mac8
        | Wire::Geometric(_)
        | Wire::Composite(_)
        | Wire::Array(..)
        | Wire::Range(_)
        | Wire::Multirange(_)
        | Wire::Hstore => writer.put_value(&value(wire, bytes)?),
        Wire::Unsupported(reason) => Err(Error::new(ErrorKind::Unsupported, reason.clone())),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_keep_their_infinities() {
        assert_eq!(date(&i32::MAX.to_be_bytes()).unwrap(), Err(DateValue::PositiveInfinity));
        assert_eq!(date(&i32::MIN.to_be_bytes()).unwrap(), Err(DateValue::NegativeInfinity));
        assert_eq!(date(&(-1_i32).to_be_bytes()).unwrap(), Ok(10_956));
        assert_eq!(timestamp(&i64::MAX.to_be_bytes()).unwrap(), TimestampValue::PositiveInfinity);
        assert_eq!(timestamp(&i64::MIN.to_be_bytes()).unwrap(), TimestampValue::NegativeInfinity);
        assert_eq!(timestamp(&(-1_i64).to_be_bytes()).unwrap(), TimestampValue::Finite(946_684_799, 999_999_000));
    }

    #[test]
    fn zones_count_to_the_east() {
        let mut bytes = 36_000_000_000_i64.to_be_bytes().to_vec();
        bytes.extend((-7200_i32).to_be_bytes());
        assert_eq!(time_tz(&bytes).unwrap(), (36_000_000_000_000, 7200));
        assert_eq!(time(&86_400_000_000_i64.to_be_bytes()).unwrap(), 86_400_000_000_000);
    }

    #[test]
    fn bytes_of_the_wrong_kind_are_errors() {
        assert_eq!(byte_text(&[0]).unwrap(), "");
        assert_eq!(byte_text(b"x").unwrap(), "x");
        assert_eq!(byte_text(&[0x80]).unwrap_err().kind(), ErrorKind::Value);
        assert!(boolean(&[2]).is_err());
        assert!(jsonb(&[2, b'1']).is_err());
        assert!(bits(&[0, 0, 0, 9, 1]).is_err());
        assert_eq!(bits(&[0, 0, 0, 9, 1, 128]).unwrap(), (9, [1, 128].as_slice()));
        assert!(interval(&[0; 15]).is_err());
    }
}
