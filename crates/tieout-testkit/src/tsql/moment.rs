//! Dates and times as text, in the ISO 8601 forms alone (styles 23, 121, 126, 127), whatever the session's language.

use super::failure::{Answer, error};

/// Days from 0001-01-01 to 1900-01-01.
pub(super) const TO_1900: i64 = 693_595;
/// Days from 0001-01-01 to 9999-12-31.
const LAST_DAY: i64 = 3_652_058;

/// What a text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    /// Days since 0001-01-01.
    pub(super) days: Option<i64>,
    /// Since midnight, in 100 ns.
    pub(super) time: i64,
    /// Digits after the second.
    pub(super) digits: usize,
    /// Minutes east of UTC.
    pub(super) offset: Option<i64>,
}

fn refused() -> crate::tds::backend::SqlError {
    error(241, "Conversion failed when converting date and/or time from character string.")
}

/// Days since 0001-01-01 of a date of the proleptic Gregorian calendar.
pub(super) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = usize::try_from(month - 1).ok().filter(|before| *before < 12)?;
    if !(1..=9999).contains(&year) || day < 1 || day > lengths[before] {
        return None;
    }
    let y = year - 1;
    Some(y * 365 + y / 4 - y / 100 + y / 400 + lengths[..before].iter().sum::<i64>() + day - 1)
}

/// Year, month and day.
pub(super) fn civil(count: i64) -> (i64, i64, i64) {
    let mut year = count / 366 + 1;
    while days(year + 1, 1, 1).is_some_and(|first| first <= count) {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days(year, month + 1, 1).is_some_and(|first| first <= count) {
        month += 1;
    }
    (year, month, count - days(year, month, 1).unwrap_or(0) + 1)
}

/// Reads `2024-01-31`, `10:00:00.1234567`, both with a blank or `T` between, and `Z` or `+02:00` behind.
pub(super) fn parse(text: &str) -> Answer<Moment> {
    let text = text.trim();
    let mut moment = Moment::default();
    let number = |digits: &str| {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refused());
        }
        digits.parse::<i64>().map_err(|_| refused())
    };
    let (date, rest) = match text.find(['T', ' ']) {
        Some(at) => (Some(&text[..at]), Some(text[at + 1..].trim())),
        None if text.contains(':') => (None, Some(text)),
        None => (Some(text), None),
    };
    if let Some(date) = date {
        let parts: Vec<&str> = date.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return Err(refused()) };
        if (year.len(), month.len(), day.len()) != (4, 2, 2) {
            return Err(refused());
        }
        moment.days = Some(days(number(year)?, number(month)?, number(day)?).ok_or_else(refused)?);
    }
    let Some(rest) = rest else { return Ok(moment) };
    let clock = if let Some(clock) = rest.strip_suffix('Z') {
        moment.offset = Some(0);
        clock
    } else if let Some(at) = rest.find(['+', '-']) {
        let (hours, minutes) = rest[at + 1..].split_once(':').ok_or_else(refused)?;
        let minutes = number(hours)? * 60 + number(minutes)?;
        moment.offset = Some(if rest.as_bytes()[at] == b'-' { -minutes } else { minutes });
        rest[..at].trim_end()
    } else {
        rest
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let parts: Vec<&str> = clock.split(':').collect();
    let (hours, minutes, seconds) = match parts.as_slice() {
        [hours, minutes] => (number(hours)?, number(minutes)?, 0),
        [hours, minutes, seconds] => (number(hours)?, number(minutes)?, number(seconds)?),
        _ => return Err(refused()),
    };
    if hours > 23 || minutes > 59 || seconds > 59 || fraction.len() > 7 {
        return Err(refused());
    }
    moment.digits = fraction.len();
    let fraction = if fraction.is_empty() { 0 } else { number(&format!("{fraction:0<7}"))? };
    moment.time = ((hours * 60 + minutes) * 60 + seconds) * 10_000_000 + fraction;
    Ok(moment)
}

/// Rounds 100 ns to a scale, half up.
pub(super) fn rounded(time: i64, scale: u8) -> i64 {
    let unit = 10_i64.pow(u32::from(7 - scale.min(7)));
    (time + unit / 2) / unit
}

/// Days checked against the calendar's end.
pub(super) fn in_calendar(days: i64) -> Answer<u32> {
    u32::try_from(days)
        .ok()
        .filter(|days| i64::from(*days) <= LAST_DAY)
        .ok_or_else(|| error(242, "The conversion resulted in an out-of-range value."))
}
