//! Bounds of a range as literals of the type of their column, so that no comparison converts anything.

use super::{
    order::Sorting,
    predicate::Part,
    sql,
    types::{TextKind, Wire},
};
use crate::model::{DateValue, Decimal, Error, Result, TimestampValue, Value};

/// Nanoseconds of the greatest `time`, 838:59:59.999999.
const TIME_MAX: i64 = 3_020_399_999_999_000;
/// Seconds of 10000-01-01 and of 0000-01-01, counted from 1970.
const YEAR_10000: i64 = 253_402_300_800;
const YEAR_0: i64 = -62_167_219_200;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// A bound's value as the column can be compared with it.
pub(super) fn part(wire: &Wire, sorting: Sorting, timestamp_max: i64, value: &Value) -> Result<Part> {
    Ok(match (wire, value) {
        (_, Value::Null) => Part::Null,
        (Wire::Int { .. } | Wire::Year | Wire::Decimal { .. }, Value::Number(number)) => number_part(wire, number),
        (Wire::Float | Wire::Double, Value::Float(float)) => float_part(*float),
        (Wire::Bit(bits), Value::Bits(count, bytes)) => bits_part(*bits, *count, bytes),
        (Wire::Date, Value::Date(date)) => date_part(*date),
        (Wire::DateTime(digits), Value::Timestamp(moment)) => moment_part(*moment, *digits, YEAR_0, YEAR_10000),
        (Wire::Timestamp(digits), Value::Instant(moment)) => moment_part(*moment, *digits, 1, timestamp_max + 1),
        (Wire::Time(digits), Value::Time(nanos)) => time_part(*nanos, *digits),
        (Wire::Uuid | Wire::Binary { .. }, Value::Uuid(bytes)) => Part::Exact(sql::bytes(bytes)),
        (Wire::Binary { .. }, Value::Binary(bytes)) => Part::Exact(sql::bytes(bytes)),
        (Wire::Text(text), Value::Text(value)) => {
            // CHAR has no blanks at its end: what would follow such a bound is what has more behind the blanks.
            let literal = match sorting {
                Sorting::ByteText => format!("{} COLLATE {}", sql::text(value), text.collation),
                _ => sql::bytes(value.as_bytes()),
            };
            if text.kind == TextKind::Char && value.ends_with(' ') {
                Part::Above(literal)
            } else {
                Part::Exact(literal)
            }
        }
        _ => return Err(Error::internal("a bound is not of the type of its key column")),
    })
}

/// Decimal digits before and after the point.
struct Digits {
    negative: bool,
    whole: String,
    fraction: String,
}

fn digits(negative: bool, exponent: i32, pairs: &[u8]) -> Option<Digits> {
    // Beyond any column, and too long to write out.
    if exponent > 64 {
        return None;
    }
    let mut text: String =
        pairs.iter().flat_map(|pair| [pair / 10, pair % 10]).map(|digit| char::from(b'0' + digit)).collect();
    let places = i64::from(exponent) * 2;
    let whole = if places <= 0 {
        let zeros = usize::try_from(-places).ok()?.min(256);
        text.insert_str(0, &"0".repeat(zeros));
        String::new()
    } else {
        let places = usize::try_from(places).ok()?;
        while text.len() < places {
            text.push('0');
        }
        let fraction = text.split_off(places);
        std::mem::replace(&mut text, fraction)
    };
    let whole = whole.trim_start_matches('0').to_owned();
    Some(Digits { negative, whole, fraction: text.trim_end_matches('0').to_owned() })
}

fn number_part(wire: &Wire, number: &Decimal) -> Part {
    let found = match number {
        Decimal::NaN | Decimal::PositiveInfinity => return Part::Highest,
        Decimal::NegativeInfinity => return Part::Lowest,
        Decimal::Finite { negative, exponent, digits: pairs } => match digits(*negative, *exponent, pairs) {
            Some(found) => found,
            None if *negative => return Part::Lowest,
            None => return Part::Highest,
        },
    };
    let (scale, low, high) = match wire {
        Wire::Decimal { precision, scale } => {
            let places = usize::try_from(precision.saturating_sub(*scale)).unwrap_or(65);
            if found.whole.len() > places {
                return if found.negative { Part::Lowest } else { Part::Highest };
            }
            let limit = nines(*precision);
            (*scale as usize, format!("-{limit}"), limit)
        }
        Wire::Int { bits, signed: true } => {
            let half = 1_i128 << (bits - 1);
            (0, (-half).to_string(), (half - 1).to_string())
        }
        Wire::Int { bits, signed: false } => (0, "0".to_owned(), ((1_i128 << bits) - 1).to_string()),
        _ => (0, "0".to_owned(), "2155".to_owned()),
    };
    // The value in units of the column's last digit, rounded up; what was cut makes it a value in between.
    let mut unit = found.whole.clone();
    let kept = found.fraction.len().min(scale);
    unit.push_str(&found.fraction[..kept]);
    unit.push_str(&"0".repeat(scale - kept));
    let cut = found.fraction.len() > scale;
    let unit = unit.trim_start_matches('0').to_owned();
    let unit = if cut && !found.negative { plus_one(&unit) } else { unit };
    let negative = found.negative && !unit.is_empty();
    let signed = if negative { format!("-{unit}") } else { unit.clone() };
    if compare(&signed, &low).is_lt() {
        return Part::Lowest;
    }
    if compare(&signed, &high).is_gt() {
        return Part::Highest;
    }
    let literal = pointed(negative, &unit, scale);
    if cut { Part::Above(literal) } else { Part::Exact(literal) }
}

/// The greatest number of `precision` digits.
fn nines(precision: u32) -> String {
    "9".repeat(precision as usize)
}

/// Compares whole numbers written without leading zeros; empty is zero.
fn compare(one: &str, other: &str) -> std::cmp::Ordering {
    let parts = |text: &str| match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start_matches('0').to_owned()),
        None => (false, text.trim_start_matches('0').to_owned()),
    };
    let ((one_negative, one), (other_negative, other)) = (parts(one), parts(other));
    let magnitude = one.len().cmp(&other.len()).then_with(|| one.cmp(&other));
    match (one_negative && !one.is_empty(), other_negative && !other.is_empty()) {
        (false, false) => magnitude,
        (true, true) => magnitude.reverse(),
        (true, false) => std::cmp::Ordering::Less,
        (false, true) => std::cmp::Ordering::Greater,
    }
}

fn plus_one(digits: &str) -> String {
    let mut bytes = digits.as_bytes().to_vec();
    for byte in bytes.iter_mut().rev() {
        if *byte == b'9' {
            *byte = b'0';
        } else {
            *byte += 1;
            return String::from_utf8(bytes).unwrap_or_default();
        }
    }
    format!("1{}", "0".repeat(digits.len()))
}

/// Writes units of 10^-scale with their point.
fn pointed(negative: bool, unit: &str, scale: usize) -> String {
    let sign = if negative { "-" } else { "" };
    let padded = format!("{unit:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn float_part(float: f64) -> Part {
    if float.is_nan() || float == f64::INFINITY {
        Part::Highest
    } else if float == f64::NEG_INFINITY {
        Part::Lowest
    } else {
        // An exponent makes it a double to the server.
        Part::Exact(format!("{float:e}"))
    }
}

/// `count` bits as one of the column's numbers of `width` bits. Canonical order is that of the bytes, then of the count.
fn bits_part(width: u32, count: u32, bytes: &[u8]) -> Part {
    let mut padded = [0_u8; 8];
    for (target, byte) in padded.iter_mut().zip(bytes) {
        *target = *byte;
    }
    let shift = 64 - width.clamp(1, 64);
    let number = u64::from_be_bytes(padded);
    let value = number >> shift;
    if count == width {
        return Part::Exact(value.to_string());
    }
    // Shorter ones that agree come before, longer ones after.
    let greatest = u64::MAX >> shift;
    match if count < width { Some(value) } else { value.checked_add(1).filter(|next| *next <= greatest) } {
        Some(next) => Part::Above(next.to_string()),
        None => Part::Highest,
    }
}

fn date_part(date: DateValue) -> Part {
    match date {
        DateValue::NegativeInfinity => Part::Lowest,
        DateValue::PositiveInfinity => Part::Highest,
        DateValue::Day(year, ..) if year < 0 => Part::Lowest,
        DateValue::Day(year, ..) if year > 9999 => Part::Highest,
        DateValue::Day(year, month, day) => Part::Exact(format!("CAST('{year:04}-{month:02}-{day:02}' AS DATE)")),
    }
}

/// Seconds from `first` up to `end` have a literal.
fn moment_part(moment: TimestampValue, digits: u8, first: i64, end: i64) -> Part {
    let step = 10_u32.pow(9 - u32::from(digits.min(6)));
    let (seconds, nanos) = match moment {
        TimestampValue::NegativeInfinity => return Part::Lowest,
        TimestampValue::PositiveInfinity => return Part::Highest,
        TimestampValue::Partial(year, month, day, nanos) => return partial_part(year, month, day, nanos),
        TimestampValue::Finite(seconds, nanos) => (seconds, nanos),
    };
    let cut = nanos % step != 0;
    let up = nanos - nanos % step + if cut { step } else { 0 };
    let seconds = seconds.saturating_add(i64::from(up / 1_000_000_000));
    let micros = up % 1_000_000_000 / 1000;
    if seconds < first {
        return Part::Lowest;
    }
    if seconds >= end {
        return Part::Highest;
    }
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let of_day = seconds.rem_euclid(DAY);
    let literal = format!(
        "CAST('{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{micros:06}' AS DATETIME(6))",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    );
    if cut { Part::Above(literal) } else { Part::Exact(literal) }
}

fn partial_part(year: i32, month: u8, day: u8, nanos: u64) -> Part {
    if year < 0 {
        return Part::Lowest;
    }
    if year > 9999 {
        return Part::Highest;
    }
    let micros = nanos.div_ceil(1000);
    let second = micros / 1_000_000;
    let literal = format!(
        "CAST('{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:06}' AS DATETIME(6))",
        second / 3600,
        second / 60 % 60,
        second % 60,
        micros % 1_000_000
    );
    if nanos.is_multiple_of(1000) { Part::Exact(literal) } else { Part::Above(literal) }
}

/// Year, month and day of days since 1970-01-01.
///
/// Source: years that begin in March, in eras of 400 years, as in H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms".
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

fn time_part(nanos: i64, digits: u8) -> Part {
    let step = 10_i64.pow(9 - u32::from(digits.min(6)));
    let cut = nanos.rem_euclid(step) != 0;
    let up = if cut { nanos.saturating_sub(nanos.rem_euclid(step)).saturating_add(step) } else { nanos };
    if up < -TIME_MAX {
        return Part::Lowest;
    }
    if up > TIME_MAX {
        return Part::Highest;
    }
    let micros = up.unsigned_abs() / 1000;
    let second = micros / 1_000_000;
    let literal = format!(
        "CAST('{}{:02}:{:02}:{:02}.{:06}' AS TIME(6))",
        if up < 0 { "-" } else { "" },
        second / 3600,
        second / 60 % 60,
        second % 60,
        micros % 1_000_000
    );
    if cut { Part::Above(literal) } else { Part::Exact(literal) }
}
