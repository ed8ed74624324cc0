//! From the driver's values to the writer's typed calls.

use super::types::Wire;
use crate::{
    encode::RowWriter,
    model::{DateValue, Error, ErrorKind, Result, TimestampValue, Value},
};
use mysql_async::Value as Native;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Digits that fit the mantissa of the fast path.
const MANTISSA_DIGITS_MAX: usize = 38;

fn unexpected(wire: &Wire) -> Error {
    Error::new(ErrorKind::Read, format!("reading rows: the server sent another type than the catalog says ({wire:?})"))
        .hint("the table may have been altered; run the comparison again")
}

/// Writes one value. `server_text`: the server was asked for its text.
pub(super) fn put(writer: &mut RowWriter<'_>, wire: &Wire, server_text: bool, value: &Native) -> Result<()> {
    if server_text {
        return match value {
            Native::NULL => writer.put_null(),
            Native::Bytes(bytes) => writer.put_text_bytes(bytes),
            _ => Err(unexpected(wire)),
        };
    }
    match (wire, value) {
        (_, Native::NULL) => writer.put_null(),
        (Wire::Int { .. } | Wire::Year, Native::Int(value)) => writer.put_i64(*value),
        (Wire::Int { .. } | Wire::Year, Native::UInt(value)) => writer.put_u64(*value),
        (Wire::Bit(count), Native::Bytes(bytes)) => put_bits(writer, wire, *count, bytes),
        (Wire::Decimal { .. }, Native::Bytes(bytes)) => put_decimal(writer, wire, bytes),
        (Wire::Float, Native::Float(value)) => writer.put_f64(f64::from(*value)),
        (Wire::Double, Native::Double(value)) => writer.put_f64(*value),
        (Wire::Date, Native::Date(year, month, day, 0, 0, 0, 0)) => {
            writer.put_date(DateValue::Day(i32::from(*year), *month, *day))
        }
        (Wire::DateTime(_), Native::Date(..)) => writer.put_timestamp(moment(wire, value)?),
        (Wire::Timestamp(_), Native::Date(..)) => writer.put_instant(moment(wire, value)?),
        (Wire::Time(_), Native::Time(negative, days, hours, minutes, seconds, micros)) => {
            let seconds =
                i64::from(*days) * 86_400 + i64::from(*hours) * 3600 + i64::from(*minutes) * 60 + i64::from(*seconds);
            let nanos = seconds * 1_000_000_000 + i64::from(*micros) * 1000;
            writer.put_time(if *negative { -nanos } else { nanos })
        }
        (Wire::Text(_), Native::Bytes(bytes)) => writer.put_text_bytes(bytes),
        (Wire::Binary { .. } | Wire::Geometry, Native::Bytes(bytes)) => writer.put_binary(bytes),
        (Wire::Json { .. }, Native::Bytes(bytes)) => writer.put_json(utf8(bytes)?),
        (Wire::Uuid, Native::Bytes(bytes)) => writer.put_uuid(uuid(bytes).ok_or_else(|| unexpected(wire))?),
        (Wire::Inet4, Native::Bytes(bytes)) => {
            let address: Ipv4Addr = utf8(bytes)?.parse().map_err(|_| unexpected(wire))?;
            writer.put_value(&Value::Inet(address.octets().to_vec(), 32))
        }
        (Wire::Inet6, Native::Bytes(bytes)) => {
            let address: Ipv6Addr = utf8(bytes)?.parse().map_err(|_| unexpected(wire))?;
            writer.put_value(&Value::Inet(address.octets().to_vec(), 128))
        }
        _ => Err(unexpected(wire)),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::Value, "reading a value: expected UTF-8, found other bytes"))
}

/// The bits with the first one highest: the server puts them at the end of its bytes.
fn put_bits(writer: &mut RowWriter<'_>, wire: &Wire, count: u32, bytes: &[u8]) -> Result<()> {
    if !(1..=64).contains(&count) || bytes.len() > 8 {
        return Err(unexpected(wire));
    }
    let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let aligned = (number << (64 - count)).to_be_bytes();
    writer.put_bits(count, &aligned[..count.div_ceil(8) as usize])
}

/// The digits of a decimal as the server writes it: `-123.450`.
fn put_decimal(writer: &mut RowWriter<'_>, wire: &Wire, bytes: &[u8]) -> Result<()> {
    let (negative, magnitude) = match bytes.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, bytes),
    };
    let point = magnitude.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (&magnitude[..at], &magnitude[at + 1..]),
        None => (magnitude, &magnitude[magnitude.len()..]),
    };
    let digits = || whole.iter().chain(fraction);
    if whole.len() + fraction.len() == 0 || !digits().all(u8::is_ascii_digit) {
        return Err(unexpected(wire));
    }
    if whole.len() + fraction.len() <= MANTISSA_DIGITS_MAX {
        let mantissa = digits().fold(0_i128, |number, digit| number * 10 + i128::from(digit - b'0'));
        let scale = i32::try_from(fraction.len()).map_err(|_| unexpected(wire))?;
        return writer.put_scaled(if negative { -mantissa } else { mantissa }, scale);
    }
    // Groups of four digits around the point, as the wider numbers are written.
    let group = |digits: &[u8]| digits.iter().fold(0_u16, |number, digit| number * 10 + u16::from(digit - b'0'));
    let mut groups: Vec<u16> = whole.rchunks(4).rev().map(group).collect();
    let weight = i32::try_from(groups.len()).map_err(|_| unexpected(wire))? - 1;
    // The last group of the fraction is filled up with zeros.
    let scaled = |chunk: &[u8]| (chunk.len()..4).fold(group(chunk), |number, _| number * 10);
    groups.extend(fraction.chunks(4).map(scaled));
    writer.put_groups(negative, weight, groups.iter().copied())
}

/// A moment of the calendar; month or day may be 0.
fn moment(wire: &Wire, value: &Native) -> Result<TimestampValue> {
    let Native::Date(year, month, day, hour, minute, second, micros) = value else { return Err(unexpected(wire)) };
    let of_day = i64::from(*hour) * 3600 + i64::from(*minute) * 60 + i64::from(*second);
    if *month == 0 || *day == 0 {
        let nanos = of_day.unsigned_abs() * 1_000_000_000 + u64::from(*micros) * 1000;
        return Ok(TimestampValue::Partial(i32::from(*year), *month, *day, nanos));
    }
    let days = days(i64::from(*year), i64::from(*month), i64::from(*day)).ok_or_else(|| {
        Error::new(ErrorKind::Value, "reading a timestamp: there is no such day in the calendar")
            .hint("such days are stored under ALLOW_INVALID_DATES; `--cast COLUMN=text` does not help, mend them")
    })?;
    Ok(TimestampValue::Finite(days * 86_400 + of_day, *micros * 1000))
}

/// Days since 1970-01-01 of a day that exists.
///
/// Source: years that begin in March, in eras of 400 years, as in H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms".
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    let shifted_year = year - i64::from(month <= 2);
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468)
}

/// The sixteen bytes of `00112233-4455-6677-8899-aabbccddeeff`.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let mut out = [0_u8; 16];
    let mut digits = text.iter().filter(|byte| **byte != b'-');
    for byte in &mut out {
        let high = char::from(*digits.next()?).to_digit(16)?;
        let low = char::from(*digits.next()?).to_digit(16)?;
        *byte = u8::try_from(high << 4 | low).ok()?;
    }
    digits.next().is_none().then_some(out)
}
