//! Values of a bound as literals that the server takes for exactly that value, whatever the language of the session.
//!
//! A bound that a column cannot hold (more digits, out of its span) is moved here to the next value that it can hold:
//! the server would round it.

use super::{
    name,
    order::{Sorting, UTF8},
    predicate::Part,
    time::{self, DAY_NANOS, DAY_SECONDS},
    types::Wire,
};
use crate::model::{DateValue, Decimal, Error, ErrorKind, Result, TimestampValue, Value};

/// Digits of the widest decimal.
const PRECISION_MAX: i64 = 38;

fn unfit() -> Error {
    Error::new(ErrorKind::Unsupported, "reading a range: the server has no exact literal for a bound of this key")
        .hint("use --sort local on this side")
}

/// A bound's value as the column can be compared with it.
pub(super) fn part(wire: &Wire, sorting: Sorting, value: &Value) -> Result<Part> {
    match (wire, value) {
        (_, Value::Null) => Ok(Part::Null),
        (_, _) if matches!(sorting, Sorting::Whole | Sorting::Bytes) => Err(unfit()),
        (Wire::Bit, Value::Bool(flag)) => Ok(Part::Exact(bit(i128::from(*flag)))),
        (Wire::Bit | Wire::Integer(..) | Wire::Decimal(_) | Wire::Money(_), Value::Number(number)) => {
            number_part(wire, number)
        }
        (Wire::Date, Value::Date(date)) => Ok(date_part(*date)),
        (Wire::Time(digits), Value::Time(nanos)) => Ok(time_part(*digits, *nanos)),
        (Wire::DateTime | Wire::SmallDateTime | Wire::DateTime2(_), Value::Timestamp(moment)) => {
            Ok(timestamp_part(wire, *moment))
        }
        (Wire::Uuid, Value::Uuid(bytes)) => Ok(Part::Exact(format!(
            // By way of the type, so that the server spells it as it spells the column.
            "CONVERT(char(36), CONVERT(uniqueidentifier, '{}'))",
            uuid_text(*bytes)
        ))),
        (Wire::Binary(Some(length), _), Value::Binary(bytes)) => Ok(binary_part(usize::from(*length), bytes)),
        (Wire::RowVersion, Value::Binary(bytes)) => Ok(binary_part(8, bytes)),
        (Wire::Text(_), Value::Text(text)) => Ok(text_part(text, sorting)),
        _ => Err(Error::internal("a bound is not of the type of its key column")),
    }
}

/// The smallest multiple of `10^-scale` at or above the number, as that many of them, and whether it is the number;
/// `None` if it is out of the span of every decimal: then only its sign matters.
fn ceiling(negative: bool, exponent: i32, digits: &[u8], scale: i64) -> Option<(i128, bool)> {
    let kept = i64::from(exponent) * 2 + scale;
    if kept > PRECISION_MAX + 2 {
        return (digits.is_empty()).then_some((0, true));
    }
    let digit = |place: i64| -> u8 {
        let pair = usize::try_from(place / 2).ok().and_then(|index| digits.get(index)).copied().unwrap_or(0);
        if place % 2 == 0 { pair / 10 } else { pair % 10 }
    };
    let mut magnitude = 0_i128;
    for place in 0..kept.max(0) {
        magnitude = magnitude.checked_mul(10)?.checked_add(i128::from(digit(place)))?;
    }
    let places = i64::try_from(digits.len()).ok()? * 2;
    let exact = (kept.max(0)..places).all(|place| digit(place) == 0);
    Some((if negative { -magnitude } else { magnitude + i128::from(!exact) }, exact))
}

fn number_part(wire: &Wire, number: &Decimal) -> Result<Part> {
    let (scale, least, most) = match wire {
        Wire::Bit => (0, 0, 1),
        Wire::Integer(8, _) => (0, 0, 255),
        Wire::Integer(16, _) => (0, i128::from(i16::MIN), i128::from(i16::MAX)),
        Wire::Integer(32, _) => (0, i128::from(i32::MIN), i128::from(i32::MAX)),
        Wire::Integer(..) => (0, i128::from(i64::MIN), i128::from(i64::MAX)),
        Wire::Money(true) => (4, i128::from(i64::MIN), i128::from(i64::MAX)),
        Wire::Money(false) => (4, i128::from(i32::MIN), i128::from(i32::MAX)),
        Wire::Decimal(Some((precision, scale))) => {
            let most = 10_i128.checked_pow(u32::from(*precision)).ok_or_else(unfit)? - 1;
            (i64::from(*scale), -most, most)
        }
        _ => return Err(unfit()),
    };
    let (negative, exponent, digits) = match number {
        Decimal::NegativeInfinity => return Ok(Part::Lowest),
        Decimal::NaN | Decimal::PositiveInfinity => return Ok(Part::Highest),
        Decimal::Finite { negative, exponent, digits } => (*negative, *exponent, digits),
    };
    let Some((units, exact)) = ceiling(negative, exponent, digits, scale) else {
        return Ok(if negative { Part::Lowest } else { Part::Highest });
    };
    if units < least {
        return Ok(Part::Lowest);
    }
    if units > most {
        return Ok(Part::Highest);
    }
    let literal = match wire {
        Wire::Bit => bit(units),
        Wire::Integer(..) if i32::try_from(units).is_ok() => units.to_string(),
        Wire::Integer(..) => format!("CONVERT(bigint, {units})"),
        Wire::Money(large) => format!(
            "CONVERT({}, CONVERT(decimal(19,4), '{}'))",
            if *large { "money" } else { "smallmoney" },
            fixed(units, 4)
        ),
        Wire::Decimal(Some((precision, scale))) => {
            format!("CONVERT(decimal({precision},{scale}), '{}')", fixed(units, usize::from(*scale)))
        }
        _ => return Err(unfit()),
    };
    Ok(if exact { Part::Exact(literal) } else { Part::Above(literal) })
}

fn bit(value: i128) -> String {
    format!("CONVERT(bit, {value})")
}

/// Decimal text of `units` of `10^-scale`.
fn fixed(units: i128, scale: usize) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", units.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// The first day at or after a date that may have zeros for month or day, and whether it is that date.
fn day(year: i32, month: u8, day: u8) -> (i32, u8, u8, bool) {
    match (month, day) {
        (0, _) => (year, 1, 1, false),
        (_, 0) => (year, month, 1, false),
        _ if day > time::days_of_month(year, month) => {
            if month >= 12 {
                (year.saturating_add(1), 1, 1, false)
            } else {
                (year, month + 1, 1, false)
            }
        }
        _ => (year, month, day, true),
    }
}

fn date_part(date: DateValue) -> Part {
    let (year, month, day, exact) = match date {
        DateValue::NegativeInfinity => return Part::Lowest,
        DateValue::PositiveInfinity => return Part::Highest,
        DateValue::Day(year, month, number) => day(year, month, number),
    };
    if year < 1 {
        return Part::Lowest;
    }
    if year > 9999 {
        return Part::Highest;
    }
    let literal = format!("CONVERT(date, '{year:04}-{month:02}-{day:02}')");
    if exact { Part::Exact(literal) } else { Part::Above(literal) }
}

/// `nanos` at or above which the next multiple of the unit of `digits` lies.
fn unit(digits: u8) -> i64 {
    10_i64.pow(9 - u32::from(digits.min(9)))
}

/// The clock of a time of day, with as many digits as asked for.
fn clock(nanos: i64, digits: u8) -> String {
    let seconds = nanos / 1_000_000_000;
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if digits == 0 {
        return whole;
    }
    let fraction = format!("{:09}", nanos % 1_000_000_000);
    format!("{whole}.{}", &fraction[..usize::from(digits.min(9))])
}

fn time_part(digits: u8, nanos: i64) -> Part {
    if nanos < 0 {
        return Part::Lowest;
    }
    let unit = unit(digits);
    let above = nanos.div_euclid(unit).saturating_add(i64::from(nanos % unit > 0)).saturating_mul(unit);
    if above >= DAY_NANOS {
        return Part::Highest;
    }
    let literal = format!("CONVERT(time({digits}), '{}')", clock(above, digits));
    if above == nanos { Part::Exact(literal) } else { Part::Above(literal) }
}

/// The first and last day of a type, as (year, month, day).
type Span = ((i32, u8, u8), (i32, u8, u8));

fn timestamp_part(wire: &Wire, moment: TimestampValue) -> Part {
    let (mut days, nanos, mut exact) = match moment {
        TimestampValue::NegativeInfinity => return Part::Lowest,
        TimestampValue::PositiveInfinity => return Part::Highest,
        TimestampValue::Finite(seconds, nanos) => {
            let of_day = seconds.rem_euclid(DAY_SECONDS) * 1_000_000_000 + i64::from(nanos);
            (seconds.div_euclid(DAY_SECONDS), of_day, true)
        }
        TimestampValue::Partial(year, month, number, nanos) => {
            let (year, month, number, exact) = day(year, month, number);
            let nanos = if exact { i64::try_from(nanos).unwrap_or(0) } else { 0 };
            (time::days_of(year, month, number), nanos, exact)
        }
    };
    let (above, span): (i64, Span) = match wire {
        Wire::DateTime => (time::shown_at_or_above(nanos), ((1753, 1, 1), (9999, 12, 31))),
        Wire::SmallDateTime => {
            let minutes = nanos / time::MINUTE_NANOS + i64::from(nanos % time::MINUTE_NANOS > 0);
            (minutes * time::MINUTE_NANOS, ((1900, 1, 1), (2079, 6, 6)))
        }
        Wire::DateTime2(digits) => {
            let unit = unit(*digits);
            ((nanos / unit + i64::from(nanos % unit > 0)) * unit, ((1, 1, 1), (9999, 12, 31)))
        }
        // Not sorted by the server.
        _ => return Part::Highest,
    };
    exact = exact && above == nanos;
    let of_day = above % DAY_NANOS;
    days = days.saturating_add(above / DAY_NANOS);
    if days < time::days_of(span.0.0, span.0.1, span.0.2) {
        return Part::Lowest;
    }
    if days > time::days_of(span.1.0, span.1.1, span.1.2) {
        return Part::Highest;
    }
    let (year, month, number) = time::civil(days);
    let date = format!("{year:04}-{month:02}-{number:02}");
    let literal = match wire {
        Wire::DateTime => format!("CONVERT(datetime, '{date}T{}', 126)", clock(of_day, 3)),
        Wire::SmallDateTime => format!("CONVERT(smalldatetime, '{date}T{}', 126)", clock(of_day, 0)),
        Wire::DateTime2(digits) => format!("CONVERT(datetime2({digits}), '{date}T{}')", clock(of_day, *digits)),
        _ => return Part::Highest,
    };
    if exact { Part::Exact(literal) } else { Part::Above(literal) }
}

/// Bytes beside a column whose values all have `length` bytes. A shorter bound is its prefix with zeros, or lies just
/// below; a longer one lies between its prefix and the value after that.
fn binary_part(length: usize, bytes: &[u8]) -> Part {
    let hex = |bytes: &[u8]| format!("0x{}", hex(bytes));
    let mut value = bytes.to_vec();
    if bytes.len() <= length {
        value.resize(length, 0);
        return if bytes.len() == length { Part::Exact(hex(&value)) } else { Part::Above(hex(&value)) };
    }
    value.truncate(length);
    for place in (0..length).rev() {
        if let Some(next) = value[place].checked_add(1) {
            value[place] = next;
            return Part::Above(hex(&value));
        }
        value[place] = 0;
    }
    Part::Highest
}

/// Two digits for each byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// The usual spelling of a uuid.
fn uuid_text(bytes: [u8; 16]) -> String {
    [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]].map(hex).join("-")
}

/// Text as a literal. A zero character is spelt as a function; a backslash at the end of a line would continue it.
/// Every collation compares as if the shorter text went on with blanks, and UTF-16 has characters beyond U+FFFF before
/// some others. Keys for which that matters are not in canonical order on the server, which the reader notices; but a
/// bound may come from the other side, and parts all other keys as its canonical order does.
fn text_part(text: &str, sorting: Sorting) -> Part {
    let literal = |text: &str| match sorting {
        // Of the type of the expression, since a comparison with nvarchar would be one of UTF-16.
        Sorting::Utf8 => format!("CONVERT(varchar(max), {} COLLATE {UTF8})", name::literal(text)),
        _ => name::literal(text),
    };
    let odd = |letter: char| letter < ' ' || letter > '\u{FFFF}' && sorting != Sorting::Utf8;
    let Some((place, letter)) = text.char_indices().find(|(_, letter)| odd(*letter)) else {
        // What is longer than the text without its blanks, and does not end in blanks, is above the text too.
        let bare = text.trim_end_matches(' ');
        return if bare == text { Part::Exact(literal(text)) } else { Part::After(literal(bare)) };
    };
    let front = &text[..place];
    if letter < ' ' {
        // The front alone is below, everything else that begins with it above.
        return Part::After(literal(front));
    }
    // All that begins with the front is below: the bound is the first text after that.
    let mut next: Vec<char> = front.chars().collect();
    while let Some(last) = next.pop() {
        let above = if last == '\u{D7FF}' { Some('\u{E000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(above) = above.filter(|above| *above <= '\u{FFFF}') {
            next.push(above);
            return Part::Above(literal(&next.into_iter().collect::<String>()));
        }
    }
    Part::Highest
}

#[cfg(test)]
#[path = "literal_tests.rs"]
mod tests;
