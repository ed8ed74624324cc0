//! Text of dates, times, timestamps and intervals: ISO 8601 with the additions of `PostgreSQL` (BC, infinity).

use super::temporal::{self, DAY_NANOS, DAY_SECONDS, SECOND_NANOS};
use crate::model::{DateValue, Error, ErrorKind, Result, TimestampValue};
use std::fmt::Write;

const INFINITY: &str = "infinity";
const NEGATIVE_INFINITY: &str = "-infinity";
/// Largest offset in seconds that text may have: a day. Stores allow less than 16 hours.
const OFFSET_SECONDS_MAX: i64 = 86_400;

fn invalid(kind: &str, what: &str) -> Error {
    Error::new(ErrorKind::Value, format!("parsing text as {kind}: {what}"))
}

pub(super) fn render_date(value: DateValue) -> String {
    match value {
        DateValue::NegativeInfinity => NEGATIVE_INFINITY.to_owned(),
        DateValue::PositiveInfinity => INFINITY.to_owned(),
        DateValue::Day(year, month, day) => {
            let (text, era) = render_day(year, month, day);
            format!("{text}{era}")
        }
    }
}

/// The day and what follows the time: years before 1 are counted BC, but for the zero dates of `MySQL`.
fn render_day(year: i32, month: u8, day: u8) -> (String, &'static str) {
    let year = i64::from(year);
    if year > 0 || (year == 0 && temporal::is_partial(month, day)) {
        (format!("{year:04}-{month:02}-{day:02}"), "")
    } else {
        (format!("{:04}-{month:02}-{day:02}", 1 - year), " BC")
    }
}

pub(super) fn render_time(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", render_clock(nanos.unsigned_abs(), 9))
}

/// Hours, minutes, seconds and the fraction without zeros at its end; `count` in units of `10^-digits` seconds.
fn render_clock(count: u64, digits: u32) -> String {
    let unit = 10_u64.pow(digits);
    let (seconds, fraction) = (count / unit, count % unit);
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction > 0 {
        let fraction = format!("{fraction:0width$}", width = digits as usize);
        text.push('.');
        text.push_str(fraction.trim_end_matches('0'));
    }
    text
}

pub(super) fn render_offset(offset: i32) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let seconds = offset.unsigned_abs();
    let mut text = format!("{sign}{:02}", seconds / 3600);
    if !seconds.is_multiple_of(3600) {
        let _ = write!(text, ":{:02}", seconds / 60 % 60);
    }
    if !seconds.is_multiple_of(60) {
        let _ = write!(text, ":{:02}", seconds % 60);
    }
    text
}

/// A timestamp; with an offset it is a moment, shown as clocks at that offset show it.
pub(super) fn render_timestamp(value: TimestampValue, offset: Option<i32>) -> String {
    let suffix = offset.map(render_offset).unwrap_or_default();
    match value {
        TimestampValue::NegativeInfinity if offset.unwrap_or(0) == 0 => NEGATIVE_INFINITY.to_owned(),
        TimestampValue::PositiveInfinity if offset.unwrap_or(0) == 0 => INFINITY.to_owned(),
        TimestampValue::NegativeInfinity => format!("{NEGATIVE_INFINITY} {suffix}"),
        TimestampValue::PositiveInfinity => format!("{INFINITY} {suffix}"),
        TimestampValue::Partial(year, month, day, nanos) => {
            let (text, era) = render_day(year, month, day);
            format!("{text} {}{suffix}{era}", render_clock(nanos, 9))
        }
        TimestampValue::Finite(seconds, nanos) => {
            let local = seconds.saturating_add(i64::from(offset.unwrap_or(0)));
            let second = u64::try_from(local.rem_euclid(DAY_SECONDS)).unwrap_or(0);
            let clock = render_clock(second * u64::from(SECOND_NANOS) + u64::from(nanos), 9);
            match temporal::civil_from_days(local.div_euclid(DAY_SECONDS)) {
                Some((year, month, day)) => {
                    let (text, era) = render_day(year, month, day);
                    format!("{text} {clock}{suffix}{era}")
                }
                None => format!("{seconds} seconds {nanos} nanoseconds since 1970{suffix}"),
            }
        }
    }
}

pub(super) fn render_interval(months: i32, days: i32, micros: i64) -> String {
    let mut text = String::new();
    let mut negative = false;
    for (number, name) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if number != 0 {
            let plus = if negative && number > 0 { "+" } else { "" };
            let plural = if number == 1 { "" } else { "s" };
            let _ = write!(text, "{plus}{number} {name}{plural} ");
            negative = number < 0;
        }
    }
    if micros != 0 || text.is_empty() {
        let sign = match micros {
            ..0 => "-",
            0 => "",
            _ if negative => "+",
            _ => "",
        };
        text.push_str(sign);
        text.push_str(&render_clock(micros.unsigned_abs(), 6));
    }
    text.trim_end().to_owned()
}

/// The text that is still to be read.
struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    fn eat(&mut self, prefix: &str) -> bool {
        match self.0.strip_prefix(prefix) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn digits(&mut self) -> &'a str {
        let end = self.0.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits
    }

    fn two(&mut self) -> Option<u8> {
        let bytes = self.0.as_bytes();
        if bytes.len() < 2 || !bytes[0].is_ascii_digit() || !bytes[1].is_ascii_digit() {
            return None;
        }
        self.0 = &self.0[2..];
        Some((bytes[0] - b'0') * 10 + bytes[1] - b'0')
    }

    /// `YYYY-MM-DD`, the year with four digits or more.
    fn day(&mut self) -> Option<(i64, u8, u8)> {
        let year = self.digits();
        if year.len() < 4 || year.len() > 10 || !self.eat("-") {
            return None;
        }
        let month = self.two()?;
        if !self.eat("-") {
            return None;
        }
        Some((year.parse().ok()?, month, self.two()?))
    }

    /// `HH:MM:SS[.fraction]` or `HH:MM` in nanoseconds; hours of two digits, up to 24:00:00.
    fn clock(&mut self, kind: &str) -> Result<u64> {
        let wrong = || invalid(kind, "expected HH:MM:SS");
        let hour = self.two().ok_or_else(wrong)?;
        if !self.eat(":") {
            return Err(wrong());
        }
        let minute = self.two().ok_or_else(wrong)?;
        let (mut second, mut nanos) = (0, 0);
        if self.eat(":") {
            second = self.two().ok_or_else(wrong)?;
            if self.eat(".") {
                nanos = fraction(self.digits(), 9, kind)?;
            }
        }
        let seconds = u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second);
        let total = seconds * u64::from(SECOND_NANOS) + nanos;
        if minute > 59 || second > 59 || total > DAY_NANOS {
            return Err(invalid(kind, "there is no such time of day"));
        }
        Ok(total)
    }

    /// `Z`, `+HH`, `+HH:MM`, `+HHMM`, `+HH:MM:SS` or `+HHMMSS` in seconds.
    fn offset(&mut self) -> Option<i32> {
        if self.eat("Z") || self.eat("z") {
            return Some(0);
        }
        let sign = if self.eat("+") {
            1
        } else if self.eat("-") {
            -1
        } else {
            return None;
        };
        let mut seconds = i64::from(self.two()?) * 3600;
        for unit in [60, 1] {
            let colon = self.eat(":");
            match self.two() {
                Some(part) if part < 60 => seconds += i64::from(part) * unit,
                None if !colon => break,
                _ => return None,
            }
        }
        if seconds > OFFSET_SECONDS_MAX { None } else { i32::try_from(seconds * sign).ok() }
    }
}

/// Digits after the point in units of `10^-places`; more places are fine as long as they are zero.
fn fraction(digits: &str, places: usize, kind: &str) -> Result<u64> {
    if digits.is_empty() {
        return Err(invalid(kind, "expected digits after the point"));
    }
    let (kept, cut) = digits.split_at(digits.len().min(places));
    if cut.bytes().any(|digit| digit != b'0') {
        return Err(invalid(kind, &format!("it has more than {places} digits after the point")));
    }
    format!("{kept:0<places$}").parse().map_err(|_| invalid(kind, "expected digits after the point"))
}

fn infinity(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        INFINITY | "+infinity" => Some(true),
        NEGATIVE_INFINITY => Some(false),
        _ => None,
    }
}

/// Takes ` BC` or ` AD` off the end.
fn split_era(text: &str) -> (&str, bool) {
    match text.strip_suffix(" BC") {
        Some(rest) => (rest, true),
        None => (text.strip_suffix(" AD").unwrap_or(text), false),
    }
}

fn astronomical(year: i64, before: bool, kind: &str) -> Result<i32> {
    if before && year == 0 {
        return Err(invalid(kind, "there is no year 0 BC"));
    }
    i32::try_from(if before { 1 - year } else { year }).map_err(|_| invalid(kind, "the year does not fit 32 bits"))
}

pub(super) fn parse_date(text: &str) -> Result<DateValue> {
    const KIND: &str = "date";
    match infinity(text) {
        Some(true) => return Ok(DateValue::PositiveInfinity),
        Some(false) => return Ok(DateValue::NegativeInfinity),
        None => {}
    }
    let (body, before) = split_era(text);
    let mut scanner = Scanner(body);
    let (year, month, day) = scanner.day().ok_or_else(|| invalid(KIND, "expected YYYY-MM-DD"))?;
    if !scanner.0.is_empty() {
        return Err(invalid(KIND, "text after the day"));
    }
    let year = astronomical(year, before, KIND)?;
    temporal::check_day(year, month, day).map_err(|_| invalid(KIND, "there is no such day in the calendar"))?;
    Ok(DateValue::Day(year, month, day))
}

pub(super) fn parse_time(text: &str) -> Result<i64> {
    const KIND: &str = "time";
    let mut scanner = Scanner(text);
    let negative = scanner.eat("-");
    // Times of more than a day and negative ones exist in MySQL.
    let digits = scanner.0.bytes().take_while(u8::is_ascii_digit).count();
    let nanos = if digits > 2 || negative || scanner.0.as_bytes().first().is_some_and(|byte| *byte > b'2') {
        long_clock(&mut scanner, 9, KIND)?
    } else {
        let mut whole = Scanner(scanner.0);
        match whole.clock(KIND) {
            Ok(nanos) => {
                scanner.0 = whole.0;
                i64::try_from(nanos).map_err(|_| invalid(KIND, "it is out of range"))?
            }
            Err(_) => long_clock(&mut scanner, 9, KIND)?,
        }
    };
    if !scanner.0.is_empty() {
        return Err(invalid(KIND, "text after the time"));
    }
    Ok(if negative { -nanos } else { nanos })
}

/// `H...:MM[:SS[.fraction]]` with any number of hours, in units of `10^-places` seconds.
fn long_clock(scanner: &mut Scanner<'_>, places: u32, kind: &str) -> Result<i64> {
    let wrong = || invalid(kind, "expected HH:MM:SS");
    let hours: i64 = scanner.digits().parse().map_err(|_| wrong())?;
    let minutes = if scanner.eat(":") { scanner.two().ok_or_else(wrong)? } else { return Err(wrong()) };
    let (mut seconds, mut part) = (0, 0);
    if scanner.eat(":") {
        seconds = scanner.two().ok_or_else(wrong)?;
        if scanner.eat(".") {
            part = fraction(scanner.digits(), places as usize, kind)?;
        }
    }
    if minutes > 59 || seconds > 59 {
        return Err(invalid(kind, "there is no such time"));
    }
    let total = i128::from(hours) * 3600 + i128::from(minutes) * 60 + i128::from(seconds);
    let total = total * 10_i128.pow(places) + i128::from(part);
    i64::try_from(total).map_err(|_| invalid(kind, "it is out of range"))
}

pub(super) fn parse_time_tz(text: &str) -> Result<(i64, i32)> {
    const KIND: &str = "time with zone";
    let mut scanner = Scanner(text);
    let nanos = scanner.clock(KIND)?;
    let offset = scanner.offset().ok_or_else(|| invalid(KIND, "expected an offset such as +02:00"))?;
    if !scanner.0.is_empty() {
        return Err(invalid(KIND, "text after the offset"));
    }
    Ok((i64::try_from(nanos).map_err(|_| invalid(KIND, "it is out of range"))?, offset))
}

/// Day and clock; a day alone is not a timestamp.
fn day_and_clock(scanner: &mut Scanner<'_>, before: bool, kind: &str) -> Result<TimestampValue> {
    let (year, month, day) = scanner.day().ok_or_else(|| invalid(kind, "expected YYYY-MM-DD HH:MM:SS"))?;
    if !scanner.eat(" ") && !scanner.eat("T") {
        return Err(invalid(kind, "expected YYYY-MM-DD HH:MM:SS"));
    }
    let nanos = scanner.clock(kind)?;
    let year = astronomical(year, before, kind)?;
    temporal::check_day(year, month, day).map_err(|_| invalid(kind, "there is no such day in the calendar"))?;
    if temporal::is_partial(month, day) {
        if nanos >= DAY_NANOS {
            return Err(invalid(kind, "there is no such time of day"));
        }
        return Ok(TimestampValue::Partial(year, month, day, nanos));
    }
    let unit = u64::from(SECOND_NANOS);
    let (Ok(second), Ok(nanos)) = (i64::try_from(nanos / unit), u32::try_from(nanos % unit)) else {
        return Err(invalid(kind, "there is no such time of day"));
    };
    Ok(TimestampValue::Finite(temporal::days_from_civil(year, month, day) * DAY_SECONDS + second, nanos))
}

pub(super) fn parse_timestamp(text: &str) -> Result<TimestampValue> {
    const KIND: &str = "timestamp";
    match infinity(text) {
        Some(true) => return Ok(TimestampValue::PositiveInfinity),
        Some(false) => return Ok(TimestampValue::NegativeInfinity),
        None => {}
    }
    let (body, before) = split_era(text);
    let mut scanner = Scanner(body);
    let value = day_and_clock(&mut scanner, before, KIND)?;
    if !scanner.0.is_empty() {
        return Err(invalid(KIND, "text after the time, such as an offset"));
    }
    Ok(value)
}

/// A moment and its offset.
pub(super) fn parse_instant(text: &str) -> Result<(TimestampValue, i32)> {
    const KIND: &str = "instant";
    let wrong = || invalid(KIND, "expected an offset such as +00 or Z after the time");
    let (word, suffix) = text.split_once(' ').unwrap_or((text, "+00"));
    if let Some(positive) = infinity(word) {
        let mut scanner = Scanner(suffix);
        let offset = scanner.offset().filter(|_| scanner.0.is_empty()).ok_or_else(wrong)?;
        let value = if positive { TimestampValue::PositiveInfinity } else { TimestampValue::NegativeInfinity };
        return Ok((value, offset));
    }
    let (body, before) = split_era(text);
    let mut scanner = Scanner(body);
    let local = day_and_clock(&mut scanner, before, KIND)?;
    let offset = scanner.offset().ok_or_else(wrong)?;
    if !scanner.0.is_empty() {
        return Err(invalid(KIND, "text after the offset"));
    }
    match local {
        TimestampValue::Finite(seconds, nanos) => {
            Ok((TimestampValue::Finite(seconds - i64::from(offset), nanos), offset))
        }
        _ => Err(invalid(KIND, "a date with month or day 0 is not a moment")),
    }
}

const INTERVAL: &str = "interval";

pub(super) fn parse_interval(text: &str) -> Result<(i32, i32, i64)> {
    let (months, days, micros) = match text.strip_prefix('P') {
        Some(body) => iso_interval(body)?,
        None => verbose_interval(text)?,
    };
    let far = |_| invalid(INTERVAL, "it is out of range");
    Ok((i32::try_from(months).map_err(far)?, i32::try_from(days).map_err(far)?, i64::try_from(micros).map_err(far)?))
}

fn verbose_interval(text: &str) -> Result<(i128, i128, i128)> {
    let wrong = || invalid(INTERVAL, "expected such as 1 year 2 mons 3 days 04:05:06");
    let (mut months, mut days, mut micros) = (0_i128, 0_i128, 0_i128);
    let mut words = text.split(' ').peekable();
    let mut rank = 0;
    while let Some(word) = words.next() {
        let (negative, digits) = match word.as_bytes() {
            [b'-', ..] => (true, &word[1..]),
            [b'+', ..] => (false, &word[1..]),
            _ => (false, word),
        };
        let sign = if negative { -1 } else { 1 };
        let level = if digits.contains(':') {
            let mut scanner = Scanner(digits);
            micros = interval_clock(&mut scanner)? * sign;
            if !scanner.0.is_empty() {
                return Err(wrong());
            }
            4
        } else {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong());
            }
            let number = sign * i128::from(digits.parse::<i64>().map_err(|_| wrong())?);
            match words.next().ok_or_else(wrong)? {
                "year" | "years" => {
                    months += number * 12;
                    1
                }
                "mon" | "mons" | "month" | "months" => {
                    months += number;
                    2
                }
                "day" | "days" => {
                    days += number;
                    3
                }
                _ => return Err(wrong()),
            }
        };
        // Each part once, in falling order of size.
        if level <= rank {
            return Err(wrong());
        }
        rank = level;
    }
    Ok((months, days, micros))
}

fn interval_clock(scanner: &mut Scanner<'_>) -> Result<i128> {
    let wrong = || invalid(INTERVAL, "expected HH:MM:SS");
    let hours: i64 = scanner.digits().parse().map_err(|_| wrong())?;
    let minutes = if scanner.eat(":") { scanner.two().ok_or_else(wrong)? } else { return Err(wrong()) };
    let seconds = if scanner.eat(":") { scanner.two().ok_or_else(wrong)? } else { return Err(wrong()) };
    let part = if scanner.eat(".") { fraction(scanner.digits(), 6, INTERVAL)? } else { 0 };
    if minutes > 59 || seconds > 59 {
        return Err(wrong());
    }
    let total = i128::from(hours) * 3600 + i128::from(minutes) * 60 + i128::from(seconds);
    Ok(total * 1_000_000 + i128::from(part))
}

fn iso_interval(body: &str) -> Result<(i128, i128, i128)> {
    let wrong = || invalid(INTERVAL, "expected an ISO 8601 duration such as P1Y2M3DT4H5M6S");
    let (mut months, mut days, mut micros) = (0_i128, 0_i128, 0_i128);
    let mut scanner = Scanner(body);
    let (mut in_time, mut rank, mut parts) = (false, 0, 0);
    while !scanner.0.is_empty() {
        if !in_time && scanner.eat("T") {
            in_time = true;
            parts = 0;
            continue;
        }
        let negative = scanner.eat("-");
        let sign = if negative { -1 } else { 1 };
        scanner.eat("+");
        let whole = i128::from(scanner.digits().parse::<i64>().map_err(|_| wrong())?);
        let part = if scanner.eat(".") { Some(fraction(scanner.digits(), 6, INTERVAL)?) } else { None };
        let unit = scanner.0.bytes().next().ok_or_else(wrong)?;
        let level = match (in_time, unit, part) {
            (false, b'Y', None) => {
                months += sign * whole * 12;
                1
            }
            (false, b'M', None) => {
                months += sign * whole;
                2
            }
            (false, b'W', None) => {
                days += sign * whole * 7;
                3
            }
            (false, b'D', None) => {
                days += sign * whole;
                4
            }
            (true, b'H', None) => {
                micros += sign * whole * 3_600_000_000;
                5
            }
            (true, b'M', None) => {
                micros += sign * whole * 60_000_000;
                6
            }
            (true, b'S', part) => {
                micros += sign * (whole * 1_000_000 + i128::from(part.unwrap_or(0)));
                7
            }
            _ => return Err(wrong()),
        };
        if level <= rank {
            return Err(wrong());
        }
        rank = level;
        parts += 1;
        scanner.0 = &scanner.0[1..];
    }
    if parts == 0 { Err(wrong()) } else { Ok((months, days, micros)) }
}
