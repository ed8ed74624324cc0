//! Canonical text of values, and strict parsing of text as a canonical type.

use super::{float, json, number, text_nested, text_temporal as temporal};
use crate::model::{CanonicalType, Error, ErrorKind, Result, Value};
use core::net::{Ipv4Addr, Ipv6Addr};
use std::fmt::Write;

/// The canonical text of a value; for people and for values that no Arrow type holds. `None` for NULL.
#[must_use]
pub fn render(canonical: &CanonicalType, value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => if *value { "true" } else { "false" }.to_owned(),
        Value::Number(value) => number::render(value),
        Value::Float(value) => float::render(*value),
        Value::Text(text) => text.clone(),
        Value::Binary(bytes) => format!("\\x{}", hex(bytes)),
        Value::Bits(bits, bytes) => {
            let bit = |index: u32| bytes.get(index as usize / 8).is_some_and(|byte| byte & (0x80 >> (index % 8)) != 0);
            (0..*bits).map(|index| if bit(index) { '1' } else { '0' }).collect()
        }
        Value::Date(value) => temporal::render_date(*value),
        Value::Time(nanos) => temporal::render_time(*nanos),
        Value::TimeTz(nanos, offset) => {
            format!("{}{}", temporal::render_time(*nanos), temporal::render_offset(*offset))
        }
        Value::Timestamp(value) => temporal::render_timestamp(*value, None),
        Value::Instant(value) => temporal::render_timestamp(*value, Some(0)),
        Value::OffsetInstant(value, offset) => temporal::render_timestamp(*value, Some(*offset)),
        Value::Interval(months, days, micros) => temporal::render_interval(*months, *days, *micros),
        Value::Uuid(bytes) => {
            let text = hex(bytes);
            format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
        }
        Value::Json(value) => {
            let mut out = String::new();
            json::render(&mut out, value);
            out
        }
        Value::Inet(address, prefix) => render_inet(address, *prefix),
        Value::Mac(bytes) => {
            let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            pairs.join(":")
        }
        Value::Geometric(..)
        | Value::List(..)
        | Value::Struct(_)
        | Value::Map(_)
        | Value::Range(_)
        | Value::Multirange(_) => return text_nested::render(canonical, value),
        Value::Stray(inner) => return render(canonical, inner),
    })
}

/// The type that a scalar value is of by itself; `None` for nested ones.
pub(super) fn native(value: &Value) -> Option<CanonicalType> {
    Some(match value {
        Value::Bool(_) => CanonicalType::Boolean,
        Value::Number(_) => CanonicalType::Number,
        Value::Float(_) => CanonicalType::Float,
        Value::Text(_) => CanonicalType::Text,
        Value::Binary(_) => CanonicalType::Binary,
        Value::Bits(..) => CanonicalType::Bits,
        Value::Date(_) => CanonicalType::Date,
        Value::Time(_) => CanonicalType::Time,
        Value::TimeTz(..) => CanonicalType::TimeTz,
        Value::Timestamp(_) => CanonicalType::Timestamp,
        Value::Instant(_) => CanonicalType::Instant,
        Value::OffsetInstant(..) => CanonicalType::OffsetInstant,
        Value::Interval(..) => CanonicalType::Interval,
        Value::Uuid(_) => CanonicalType::Uuid,
        Value::Json(_) => CanonicalType::Json,
        Value::Inet(..) => CanonicalType::Inet,
        Value::Mac(bytes) if bytes.len() == 6 => CanonicalType::Mac,
        Value::Mac(_) => CanonicalType::Mac8,
        _ => return None,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn render_inet(address: &[u8], prefix: u8) -> String {
    if let Ok(octets) = <[u8; 4]>::try_from(address) {
        return format!("{}/{prefix}", Ipv4Addr::from(octets));
    }
    match <[u8; 16]>::try_from(address) {
        Ok(octets) => format!("{}/{prefix}", Ipv6Addr::from(octets)),
        Err(_) => format!("\\x{}/{prefix}", hex(address)),
    }
}

/// Parses text strictly as `canonical`; nothing is rounded, trimmed or guessed.
///
/// # Errors
/// `Value` if the text is not a value of that type. The message does not repeat the text.
pub fn parse(canonical: &CanonicalType, text: &str) -> Result<Value> {
    Ok(match canonical {
        CanonicalType::Boolean => Value::Bool(parse_bool(text)?),
        CanonicalType::Number => Value::Number(number::parse(text)?),
        CanonicalType::Float => Value::Float(float::parse(text)?),
        CanonicalType::Text => Value::Text(text.to_owned()),
        CanonicalType::Binary => {
            let digits = text.strip_prefix("\\x").ok_or_else(|| invalid(canonical, "expected \\x in front"))?;
            Value::Binary(unhex(digits).ok_or_else(|| invalid(canonical, "expected pairs of hexadecimal digits"))?)
        }
        CanonicalType::Bits => parse_bits(text)?,
        CanonicalType::Date => Value::Date(temporal::parse_date(text)?),
        CanonicalType::Time => Value::Time(temporal::parse_time(text)?),
        CanonicalType::TimeTz => {
            let (nanos, offset) = temporal::parse_time_tz(text)?;
            Value::TimeTz(nanos, offset)
        }
        CanonicalType::Timestamp => Value::Timestamp(temporal::parse_timestamp(text)?),
        CanonicalType::Instant => Value::Instant(temporal::parse_instant(text)?.0),
        CanonicalType::OffsetInstant => {
            let (moment, offset) = temporal::parse_instant(text)?;
            Value::OffsetInstant(moment, offset)
        }
        CanonicalType::Interval => {
            let (months, days, micros) = temporal::parse_interval(text)?;
            Value::Interval(months, days, micros)
        }
        CanonicalType::Uuid => Value::Uuid(parse_uuid(text)?),
        CanonicalType::Json => Value::Json(json::parse(text, json::Duplicates::LastWins)?),
        CanonicalType::Inet => parse_inet(text)?,
        CanonicalType::Mac => Value::Mac(parse_mac(canonical, text, 6)?),
        CanonicalType::Mac8 => Value::Mac(parse_mac(canonical, text, 8)?),
        CanonicalType::Geometric(_)
        | CanonicalType::List(_)
        | CanonicalType::Struct(_)
        | CanonicalType::Map(..)
        | CanonicalType::Range(_)
        | CanonicalType::Multirange(_) => text_nested::parse(canonical, text)?,
    })
}

/// The error for text that is not of a type.
pub(super) fn invalid(canonical: &CanonicalType, what: &str) -> Error {
    Error::new(ErrorKind::Value, format!("parsing text as {canonical}: {what}"))
}

fn parse_bool(text: &str) -> Result<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => Ok(true),
        "false" | "f" | "0" => Ok(false),
        _ => Err(invalid(&CanonicalType::Boolean, "expected true or false")),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

fn parse_bits(text: &str) -> Result<Value> {
    let number = u32::try_from(text.len()).map_err(|_| invalid(&CanonicalType::Bits, "it is too long"))?;
    let mut bytes = vec![0_u8; text.len().div_ceil(8)];
    for (index, bit) in text.bytes().enumerate() {
        match bit {
            b'0' => {}
            b'1' => bytes[index / 8] |= 0x80 >> (index % 8),
            _ => return Err(invalid(&CanonicalType::Bits, "expected 0 and 1 alone")),
        }
    }
    Ok(Value::Bits(number, bytes))
}

fn parse_uuid(text: &str) -> Result<[u8; 16]> {
    let wrong = || invalid(&CanonicalType::Uuid, "expected 32 hexadecimal digits, with or without hyphens or braces");
    let body = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(wrong)?,
        None => text,
    };
    let bytes = body.as_bytes();
    let plain = match bytes.len() {
        32 => body.to_owned(),
        36 if [8, 13, 18, 23].iter().all(|at| bytes[*at] == b'-') => body.replace('-', ""),
        _ => return Err(wrong()),
    };
    unhex(&plain).and_then(|bytes| bytes.try_into().ok()).ok_or_else(wrong)
}

fn parse_inet(text: &str) -> Result<Value> {
    let wrong = || invalid(&CanonicalType::Inet, "expected an address and a prefix length");
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let (bytes, most) = if let Ok(address) = address.parse::<Ipv4Addr>() {
        (address.octets().to_vec(), 32)
    } else {
        (address.parse::<Ipv6Addr>().map_err(|_| wrong())?.octets().to_vec(), 128)
    };
    let prefix = match prefix {
        None => most,
        Some(digits) if !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse::<u8>().map_err(|_| wrong())?
        }
        Some(_) => return Err(wrong()),
    };
    if prefix > most { Err(wrong()) } else { Ok(Value::Inet(bytes, prefix)) }
}

fn parse_mac(canonical: &CanonicalType, text: &str, length: usize) -> Result<Vec<u8>> {
    let wrong = || invalid(canonical, "expected pairs of hexadecimal digits, apart by colons or hyphens");
    let separator = text.bytes().find(|byte| matches!(byte, b':' | b'-'));
    let plain = match separator {
        None => text.to_owned(),
        Some(separator) => {
            let pairs: Vec<&str> = text.split(char::from(separator)).collect();
            if pairs.iter().any(|pair| pair.len() != 2) {
                return Err(wrong());
            }
            pairs.concat()
        }
    };
    unhex(&plain).filter(|bytes| bytes.len() == length).ok_or_else(wrong)
}
