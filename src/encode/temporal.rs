//! Dates, times and timestamps: calendar arithmetic in whole numbers, the forms, and reading them back.

use super::{
    cursor::Cursor,
    number::{flip_i32, flip_i64},
};
use crate::model::{DateValue, Error, ErrorKind, Result, TimestampValue};

/// Seconds of a day.
pub(super) const DAY_SECONDS: i64 = 86_400;
/// Nanoseconds of a second.
pub(super) const SECOND_NANOS: u32 = 1_000_000_000;
/// Nanoseconds of a day.
pub(super) const DAY_NANOS: u64 = 86_400 * 1_000_000_000;
/// Stands where the nanoseconds of a second stand, above all of them: a date with month or day 0 follows.
const PARTIAL: u32 = 0x4000_0000;
/// Days of 400 Gregorian years.
const ERA_DAYS: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_SHIFT: i64 = 719_468;

/// Days since 1970-01-01 of a day that exists (month 1 to 12, day 1 to 31).
///
/// Source: years that begin in March, in eras of 400 years, as in H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms".
pub(crate) fn days_from_civil(year: i32, month: u8, day: u8) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * shifted + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_SHIFT
}

/// Year, month and day of days since 1970-01-01; `None` if the year does not fit 32 bits.
///
/// Source: as [`days_from_civil`].
#[inline]
pub(crate) fn civil_from_days(days: i64) -> Option<(i32, u8, u8)> {
    let days = days.checked_add(EPOCH_SHIFT)?;
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = u32::try_from(days.rem_euclid(ERA_DAYS)).ok()?;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + i64::from(year_of_era) + i64::from(month <= 2);
    Some((i32::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?))
}

/// Number of days of a month (1 to 12).
pub(super) fn month_days(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Whether month or day is 0, within the bounds of such dates.
pub(super) fn is_partial(month: u8, day: u8) -> bool {
    month <= 12 && day <= 31 && (month == 0 || day == 0)
}

fn exists(year: i32, month: u8, day: u8) -> bool {
    (1..=12).contains(&month) && day >= 1 && day <= month_days(year, month)
}

/// Checks that a day exists or is a partial date.
///
/// # Errors
/// `Value` if not.
pub(super) fn check_day(year: i32, month: u8, day: u8) -> Result<()> {
    // The smallest year with month and day 0 has the bytes of -infinity.
    if exists(year, month, day) || (is_partial(month, day) && year != i32::MIN) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Value, "encoding a date: there is no such day in the calendar"))
}

#[inline]
fn day_form(year: i32, month: u8, day: u8) -> [u8; 6] {
    let [first, second, third, fourth] = flip_i32(year);
    [first, second, third, fourth, month, day]
}

/// The six bytes of days since 1970-01-01.
///
/// # Errors
/// `Value` if the year does not fit 32 bits.
#[inline]
pub(super) fn days_form(days: i64) -> Result<[u8; 6]> {
    let (year, month, day) = civil_from_days(days).ok_or_else(far_date)?;
    Ok(day_form(year, month, day))
}

/// A date from days since 1970-01-01.
///
/// # Errors
/// `Value` if the year does not fit 32 bits.
pub(crate) fn date_from_days(days: i64) -> Result<DateValue> {
    let (year, month, day) = civil_from_days(days).ok_or_else(far_date)?;
    Ok(DateValue::Day(year, month, day))
}

fn far_date() -> Error {
    Error::new(ErrorKind::Value, "encoding a date: its year does not fit 32 bits")
}

/// The six bytes of a date.
///
/// # Errors
/// `Value` for a day that is not in the calendar.
pub(super) fn date_form(value: DateValue) -> Result<[u8; 6]> {
    match value {
        DateValue::NegativeInfinity => Ok([0; 6]),
        DateValue::PositiveInfinity => Ok([0xFF; 6]),
        DateValue::Day(year, month, day) => {
            check_day(year, month, day)?;
            Ok(day_form(year, month, day))
        }
    }
}

/// Reads a date.
pub(super) fn read_date(cursor: &mut Cursor<'_>) -> Result<DateValue> {
    let bytes = cursor.array::<6>()?;
    if bytes == [0; 6] {
        return Ok(DateValue::NegativeInfinity);
    }
    if bytes == [0xFF; 6] {
        return Ok(DateValue::PositiveInfinity);
    }
    let mut inner = Cursor::new(&bytes);
    let (year, month, day) = (inner.i32()?, inner.byte()?, inner.byte()?);
    check_day(year, month, day).map_err(|_| Error::internal("decoding a date: there is no such day"))?;
    Ok(DateValue::Day(year, month, day))
}

/// A date as the timestamp of its first moment.
pub(super) fn midnight(value: DateValue) -> Result<TimestampValue> {
    Ok(match value {
        DateValue::NegativeInfinity => TimestampValue::NegativeInfinity,
        DateValue::PositiveInfinity => TimestampValue::PositiveInfinity,
        DateValue::Day(year, month, day) => {
            check_day(year, month, day)?;
            if is_partial(month, day) {
                TimestampValue::Partial(year, month, day, 0)
            } else {
                TimestampValue::Finite(days_from_civil(year, month, day) * DAY_SECONDS, 0)
            }
        }
    })
}

/// Appends a timestamp, 12 or 22 bytes.
///
/// # Errors
/// `Value` for what is not in the calendar.
#[inline]
pub(super) fn write_timestamp(out: &mut Vec<u8>, value: TimestampValue) -> Result<()> {
    if let TimestampValue::Partial(year, month, day, nanos) = value {
        if !is_partial(month, day) || nanos >= DAY_NANOS {
            return Err(Error::new(ErrorKind::Value, "encoding a timestamp: there is no such moment in the calendar"));
        }
        let days = days_from_civil(year, month.max(1), 1);
        out.extend_from_slice(&flip_i64(days * DAY_SECONDS - 1));
        out.extend_from_slice(&PARTIAL.to_be_bytes());
        out.extend_from_slice(&[month, day]);
        out.extend_from_slice(&nanos.to_be_bytes());
        return Ok(());
    }
    out.extend_from_slice(&moment_form(value)?);
    Ok(())
}

/// The twelve bytes of a timestamp without zero parts; the only ones an instant has.
///
/// # Errors
/// `Value` for a partial date, nanoseconds beyond a second, or the one second whose bytes are those of -infinity.
#[inline]
pub(super) fn moment_form(value: TimestampValue) -> Result<[u8; 12]> {
    match value {
        TimestampValue::NegativeInfinity => Ok([0; 12]),
        TimestampValue::PositiveInfinity => Ok([0xFF; 12]),
        TimestampValue::Finite(seconds, nanos) if nanos < SECOND_NANOS && seconds != i64::MIN => {
            let mut form = [0; 12];
            form[..8].copy_from_slice(&flip_i64(seconds));
            form[8..].copy_from_slice(&nanos.to_be_bytes());
            Ok(form)
        }
        TimestampValue::Finite(..) => {
            Err(Error::new(ErrorKind::Value, "encoding a timestamp: it is out of the range of the encoding"))
        }
        TimestampValue::Partial(..) => {
            Err(Error::new(ErrorKind::Value, "encoding an instant: a date with month or day 0 is not a moment"))
        }
    }
}

/// Reads a timestamp, 12 or 22 bytes.
pub(super) fn read_timestamp(cursor: &mut Cursor<'_>) -> Result<TimestampValue> {
    let malformed = || Error::internal("decoding a timestamp: malformed bytes");
    let bytes = cursor.array::<12>()?;
    if bytes == [0; 12] {
        return Ok(TimestampValue::NegativeInfinity);
    }
    if bytes == [0xFF; 12] {
        return Ok(TimestampValue::PositiveInfinity);
    }
    let mut inner = Cursor::new(&bytes);
    let (seconds, nanos) = (inner.i64()?, inner.u32()?);
    if nanos < SECOND_NANOS && seconds != i64::MIN {
        return Ok(TimestampValue::Finite(seconds, nanos));
    }
    let first = seconds.checked_add(1).ok_or_else(malformed)?;
    if nanos != PARTIAL || first.rem_euclid(DAY_SECONDS) != 0 {
        return Err(malformed());
    }
    let (month, day) = (cursor.byte()?, cursor.byte()?);
    let nanos = u64::from_be_bytes(cursor.array()?);
    let (year, first_month, first_day) = civil_from_days(first / DAY_SECONDS).ok_or_else(malformed)?;
    let fits = is_partial(month, day) && (month.max(1), 1) == (first_month, first_day);
    if !fits || nanos >= DAY_NANOS {
        return Err(malformed());
    }
    Ok(TimestampValue::Partial(year, month, day, nanos))
}

/// Reads an instant, 12 bytes.
pub(super) fn read_instant(cursor: &mut Cursor<'_>) -> Result<TimestampValue> {
    match read_timestamp(cursor)? {
        TimestampValue::Partial(..) => Err(Error::internal("decoding an instant: it has month or day 0")),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_agree() {
        for (date, days) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2026, 11, 30), 20_787),
            ((0, 1, 1), -719_528),
            ((-1, 12, 31), -719_529),
            ((-4712, 1, 1), -2_440_550),
            ((5_874_897, 12, 31), 2_145_042_905),
        ] {
            assert_eq!(days_from_civil(date.0, date.1, date.2), days, "{date:?}");
            assert_eq!(civil_from_days(days), Some(date));
        }
        assert_eq!(civil_from_days(i64::MAX), None);
    }
}
