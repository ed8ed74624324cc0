//! Numbers in base 100: integers, scaled integers, base-10000 groups and wide decimals to one form, and back.

use super::cursor::Cursor;
use crate::model::{Decimal, Error, ErrorKind, Result};

const NAN: u8 = 0xFF;
const POSITIVE_INFINITY: u8 = 0xFE;
const NEGATIVE_INFINITY: u8 = 0x01;
const ZERO: u8 = 0x80;
/// Header of exponent 0; the short headers run from exponent -31 to 60.
const HEADER_ORIGIN: i32 = 0xA1;
const HEADER_BELOW: u8 = 0x81;
const HEADER_ABOVE: u8 = 0xDE;
const SHORT_EXPONENT_MIN: i32 = -31;
const SHORT_EXPONENT_MAX: i32 = 60;

/// 10^18: nine base-100 digits, the most that one u64 step of a u128 takes.
const STEP: u128 = 1_000_000_000_000_000_000;

/// Appends a whole number.
#[inline]
pub(super) fn write_i64(out: &mut Vec<u8>, value: i64) {
    write_u64(out, value < 0, value.unsigned_abs());
}

/// Appends a whole number of at most 64 bits and a sign.
#[inline]
pub(super) fn write_u64(out: &mut Vec<u8>, negative: bool, magnitude: u64) {
    write_short(out, negative, magnitude, 0);
}

/// Appends `magnitude * 100^power`, if the exponent has a short header; `power` lies between -20 and 20.
///
/// The whole form of at most twelve bytes is built in one register and stored at once: a copy of a variable length would
/// cost more than the digits.
#[inline]
fn write_short(out: &mut Vec<u8>, negative: bool, mut magnitude: u64, power: i32) {
    if magnitude == 0 {
        out.push(ZERO);
        return;
    }
    let mut exponent = HEADER_ORIGIN + power;
    while magnitude.is_multiple_of(100) {
        magnitude /= 100;
        exponent += 1;
    }
    // From the back, pushed in at the front: the digits, the header. The end byte is the first of the zeros behind them.
    let mut form = 0_u128;
    let mut length = 2;
    while magnitude > 0 {
        form = form >> 8 | u128::from(magnitude % 100 + 1) << 120;
        magnitude /= 100;
        length += 1;
        exponent += 1;
    }
    form = form >> 8 | u128::from(exponent.unsigned_abs()) << 120;
    if negative {
        form = !form;
    }
    let end = out.len() + length;
    out.extend_from_slice(&form.to_be_bytes());
    out.truncate(end);
}

/// Appends `mantissa * 10^-scale`.
///
/// # Errors
/// `Value` if the exponent leaves 32 bits, which no scale of 32 bits can bring about, but is checked all the same.
#[inline]
pub(super) fn write_scaled(out: &mut Vec<u8>, mantissa: i128, scale: i32) -> Result<()> {
    // Money and its like: an even scale and 64 bits. The limits keep the exponent within the short headers.
    if scale % 2 == 0
        && (0..=18).contains(&scale)
        && let Ok(magnitude) = u64::try_from(mantissa.unsigned_abs())
    {
        write_short(out, mantissa < 0, magnitude, -scale / 2);
        return Ok(());
    }
    if mantissa == 0 {
        out.push(ZERO);
        return Ok(());
    }
    let mut magnitude = mantissa.unsigned_abs();
    let mut scale = i64::from(scale);
    // Base-100 digits, filled from the back: 39 decimal digits and one of alignment need at most 21.
    let mut buffer = [0_u8; 32];
    let mut at = buffer.len();
    if scale.rem_euclid(2) == 1 {
        // The last decimal digit stands in the upper half of a base-100 digit of its own.
        at -= 1;
        buffer[at] = low_digit(u64::try_from(magnitude % 10).unwrap_or(0)) * 10;
        magnitude /= 10;
        scale += 1;
    }
    let mut rest = magnitude;
    while let Err(_wide) = u64::try_from(rest) {
        let mut step = u64::try_from(rest % STEP).unwrap_or(0);
        rest /= STEP;
        for _ in 0..9 {
            at -= 1;
            buffer[at] = low_digit(step % 100);
            step /= 100;
        }
    }
    let mut step = u64::try_from(rest).unwrap_or(0);
    while step > 0 {
        at -= 1;
        buffer[at] = low_digit(step % 100);
        step /= 100;
    }
    let digits = &buffer[at..];
    let exponent = i64::try_from(digits.len()).unwrap_or(0) - scale / 2;
    write_digits(out, mantissa < 0, exponent, digits.iter().copied())
}

/// Appends a finite number in base 10000: `groups[0] * 10000^weight + groups[1] * 10000^(weight - 1) + ...`.
///
/// # Errors
/// `Internal` for a group above 9999.
#[inline]
pub(super) fn write_groups(
    out: &mut Vec<u8>,
    negative: bool,
    weight: i32,
    groups: impl Iterator<Item = u16> + Clone,
) -> Result<()> {
    if groups.clone().any(|group| group > 9999) {
        return Err(Error::internal("encoding a number: expected groups of four digits, found a larger one"));
    }
    let exponent = i64::from(weight) * 2 + 2;
    write_digits(
        out,
        negative,
        exponent,
        groups.flat_map(|group| [low_digit(u64::from(group / 100)), low_digit(u64::from(group % 100))]),
    )
}

/// Appends any number.
///
/// # Errors
/// `Internal` for digits above 99.
pub(super) fn write_decimal(out: &mut Vec<u8>, value: &Decimal) -> Result<()> {
    match value {
        Decimal::NaN => out.push(NAN),
        Decimal::PositiveInfinity => out.push(POSITIVE_INFINITY),
        Decimal::NegativeInfinity => out.push(NEGATIVE_INFINITY),
        Decimal::Finite { negative, exponent, digits } => {
            if digits.iter().any(|digit| *digit > 99) {
                return Err(Error::internal("encoding a number: expected base-100 digits, found a larger one"));
            }
            write_digits(out, *negative, i64::from(*exponent), digits.iter().copied())?;
        }
    }
    Ok(())
}

/// Appends `0.d1d2d3... * 100^exponent`; zero digits at both ends are dropped. The digits are 0 to 99 each.
///
/// # Errors
/// `Value` if the exponent leaves 32 bits.
#[inline]
pub(super) fn write_digits(
    out: &mut Vec<u8>,
    negative: bool,
    mut exponent: i64,
    digits: impl Iterator<Item = u8>,
) -> Result<()> {
    let mask = if negative { 0xFF } else { 0 };
    let mut zeros = 0_usize;
    let mut started = false;
    for digit in digits {
        if digit == 0 {
            if started {
                zeros += 1;
            } else {
                exponent -= 1;
            }
            continue;
        }
        if !started {
            started = true;
            write_header(out, mask, exponent)?;
        }
        for _ in 0..zeros {
            out.push(1 ^ mask);
        }
        zeros = 0;
        out.push((digit + 1) ^ mask);
    }
    out.push(if started { mask } else { ZERO });
    Ok(())
}

#[inline]
fn write_header(out: &mut Vec<u8>, mask: u8, exponent: i64) -> Result<()> {
    let exponent = i32::try_from(exponent).map_err(|_| out_of_range())?;
    if (SHORT_EXPONENT_MIN..=SHORT_EXPONENT_MAX).contains(&exponent) {
        let header = u8::try_from(HEADER_ORIGIN + exponent).map_err(|_| out_of_range())?;
        out.push(header ^ mask);
        return Ok(());
    }
    out.push(mask ^ if exponent < 0 { HEADER_BELOW } else { HEADER_ABOVE });
    out.extend(flip_i32(exponent).map(|byte| byte ^ mask));
    Ok(())
}

fn out_of_range() -> Error {
    Error::new(ErrorKind::Value, "encoding a number: its exponent does not fit 32 bits")
}

/// `i32~` of the encoding.
#[inline]
pub(super) fn flip_i32(value: i32) -> [u8; 4] {
    (value ^ i32::MIN).to_be_bytes()
}

/// `i64~` of the encoding.
#[inline]
pub(super) fn flip_i64(value: i64) -> [u8; 8] {
    (value ^ i64::MIN).to_be_bytes()
}

/// A digit that is known to lie below 256.
#[inline]
fn low_digit(value: u64) -> u8 {
    value.to_be_bytes()[7]
}

/// Reads one number from the front of `cursor`; strict, so that equal numbers have one form.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Decimal> {
    let first = cursor.byte()?;
    match first {
        NAN => return Ok(Decimal::NaN),
        POSITIVE_INFINITY => return Ok(Decimal::PositiveInfinity),
        NEGATIVE_INFINITY => return Ok(Decimal::NegativeInfinity),
        ZERO => return Ok(zero()),
        _ => {}
    }
    let negative = first < ZERO;
    let mask = if negative { 0xFF } else { 0 };
    let exponent = match first ^ mask {
        header @ (HEADER_BELOW | HEADER_ABOVE) => {
            let bytes = cursor.array::<4>()?.map(|byte| byte ^ mask);
            let exponent = i32::from_be_bytes(bytes) ^ i32::MIN;
            let long =
                if header == HEADER_BELOW { exponent < SHORT_EXPONENT_MIN } else { exponent > SHORT_EXPONENT_MAX };
            if !long {
                return Err(malformed());
            }
            exponent
        }
        header @ 0x82..=0xDD => i32::from(header) - HEADER_ORIGIN,
        _ => return Err(malformed()),
    };
    let mut digits = Vec::new();
    loop {
        match cursor.byte()? ^ mask {
            0 => break,
            digit @ 1..=100 => digits.push(digit - 1),
            _ => return Err(malformed()),
        }
    }
    match (digits.first(), digits.last()) {
        (Some(1..), Some(1..)) => Ok(Decimal::Finite { negative, exponent, digits }),
        _ => Err(malformed()),
    }
}

/// Passes over a number.
pub(super) fn skip(cursor: &mut Cursor<'_>) -> Result<()> {
    let first = cursor.byte()?;
    if matches!(first, NAN | POSITIVE_INFINITY | NEGATIVE_INFINITY | ZERO) {
        return Ok(());
    }
    let end = if first < ZERO { 0xFF } else { 0 };
    if matches!(first ^ end, HEADER_BELOW | HEADER_ABOVE) {
        cursor.take(4)?;
    }
    // Most numbers have few digits: a search by vectors would cost more than it saves.
    let digits = cursor.rest().iter().position(|byte| *byte == end).ok_or_else(malformed)?;
    cursor.take(digits + 1)?;
    Ok(())
}

fn malformed() -> Error {
    Error::internal("decoding a number: malformed bytes")
}

/// The number 0.
pub(super) fn zero() -> Decimal {
    Decimal::Finite { negative: false, exponent: 0, digits: Vec::new() }
}

/// A normalised number from base-100 digits (0 to 99 each) with zeros at either end.
///
/// # Errors
/// `Value` if the exponent leaves 32 bits.
pub(super) fn normalise(negative: bool, exponent: i64, digits: &[u8]) -> Result<Decimal> {
    let Some(first) = digits.iter().position(|digit| *digit != 0) else { return Ok(zero()) };
    let last = digits.iter().rposition(|digit| *digit != 0).unwrap_or(first);
    let exponent = exponent - i64::try_from(first).unwrap_or(i64::MAX);
    let exponent = i32::try_from(exponent).map_err(|_| out_of_range())?;
    Ok(Decimal::Finite { negative, exponent, digits: digits[first..=last].to_vec() })
}

/// A number from a whole number.
pub(super) fn from_i128(value: i128) -> Decimal {
    let mut digits = Vec::with_capacity(20);
    let mut rest = value.unsigned_abs();
    while rest > 0 {
        digits.push(low_digit(u64::try_from(rest % 100).unwrap_or(0)));
        rest /= 100;
    }
    digits.reverse();
    let exponent = i64::try_from(digits.len()).unwrap_or(0);
    normalise(value < 0, exponent, &digits).unwrap_or_else(|_| zero())
}

/// Most zeros that are written out before the text switches to an exponent: beyond, a short number would become pages.
const PLAIN_ZEROS_MAX: i64 = 400;

/// Plain decimal text; with an exponent where more than 400 zeros would have to be filled in.
pub(super) fn render(value: &Decimal) -> String {
    let (negative, exponent, digits) = match value {
        Decimal::NaN => return "NaN".to_owned(),
        Decimal::PositiveInfinity => return "Infinity".to_owned(),
        Decimal::NegativeInfinity => return "-Infinity".to_owned(),
        Decimal::Finite { negative, exponent, digits } => (*negative, i64::from(*exponent), digits),
    };
    if digits.is_empty() {
        return "0".to_owned();
    }
    let decimal: Vec<u8> = digits.iter().flat_map(|digit| [b'0' + digit / 10, b'0' + digit % 10]).collect();
    let lead = usize::from(decimal[0] == b'0');
    let end = decimal.iter().rposition(|digit| *digit != b'0').map_or(decimal.len(), |at| at + 1);
    let digits: String = decimal[lead..end].iter().map(|digit| char::from(*digit)).collect();
    let point = exponent * 2 - i64::from(lead == 1);
    let sign = if negative { "-" } else { "" };
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    if point - count > PLAIN_ZEROS_MAX || point < -PLAIN_ZEROS_MAX {
        return scientific(sign, &digits, point);
    }
    let zeros = |number: i64| "0".repeat(usize::try_from(number).unwrap_or(0));
    if point <= 0 {
        format!("{sign}0.{}{digits}", zeros(-point))
    } else if point >= count {
        format!("{sign}{digits}{}", zeros(point - count))
    } else {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{sign}{whole}.{fraction}")
    }
}

fn scientific(sign: &str, digits: &str, point: i64) -> String {
    let (first, rest) = digits.split_at(1);
    let separator = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{separator}{rest}E{:+}", point - 1)
}

/// Parses a number: sign, digits with a point, exponent; NaN and infinities in any case.
///
/// # Errors
/// `Value` if the text is not a number or its exponent leaves 32 bits.
pub(super) fn parse(text: &str) -> Result<Decimal> {
    let (negative, body) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    if text.eq_ignore_ascii_case("nan") {
        return Ok(Decimal::NaN);
    }
    if body.eq_ignore_ascii_case("infinity") || body.eq_ignore_ascii_case("inf") {
        return Ok(if negative { Decimal::NegativeInfinity } else { Decimal::PositiveInfinity });
    }
    let (mantissa, power) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], parse_power(&body[at + 1..])?),
        None => (body, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
        return Err(not_a_number());
    }
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(power);
    let odd = point.rem_euclid(2) == 1;
    let mut decimal = Vec::with_capacity(mantissa.len() + 2);
    if odd {
        decimal.push(0);
    }
    decimal.extend(whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0'));
    if decimal.len() % 2 == 1 {
        decimal.push(0);
    }
    let digits: Vec<u8> = decimal.chunks_exact(2).map(|pair| pair[0] * 10 + pair[1]).collect();
    normalise(negative, point.saturating_add(1).div_euclid(2), &digits)
}

fn parse_power(text: &str) -> Result<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(not_a_number());
    }
    // Far beyond the 32 bits that count, far below an overflow of what is added later.
    let cap = i64::MAX / 4;
    let power = digits
        .iter()
        .fold(0_i64, |power, digit| power.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(cap));
    Ok(if negative { -power } else { power })
}

fn not_a_number() -> Error {
    Error::new(ErrorKind::Value, "parsing text as number: it is not a number")
}
