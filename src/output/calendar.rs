//! Days and civil dates of the proleptic Gregorian calendar; whole numbers only.
//!
//! Source of both directions: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (eras of 400 years that
//! begin in March).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Days since 1970-01-01 of a day. `None` for a zero or partial date.
pub(super) fn days_from_civil(year: i32, month: u8, day: u8) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (month, day) = (i64::from(month), i64::from(day));
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468)
}

/// Year, month and day of a number of days since 1970-01-01.
pub(super) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// A moment in UTC, split: year, month, day, hour, minute, second. Moments before 1970 count as its first.
fn split(moment: SystemTime) -> (i64, i64, i64, u64, u64, u64) {
    let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (year, month, day) = civil_from_days(i64::try_from(seconds / 86_400).unwrap_or(0));
    let rest = seconds % 86_400;
    (year, month, day, rest / 3600, rest / 60 % 60, rest % 60)
}

/// `20261130T225514Z`
pub(super) fn compact_utc(moment: SystemTime) -> String {
    let (year, month, day, hour, minute, second) = split(moment);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// `2026-11-30T22:55:14Z`
pub(super) fn iso_utc(moment: SystemTime) -> String {
    let (year, month, day, hour, minute, second) = split(moment);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
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
            ((-4712, 1, 1), -2_440_550),
            ((5_874_897, 12, 31), 2_145_042_905),
        ] {
            assert_eq!(days_from_civil(date.0, date.1, date.2), Some(days), "{date:?}");
            assert_eq!(civil_from_days(days), (i64::from(date.0), i64::from(date.1), i64::from(date.2)));
        }
        assert_eq!(days_from_civil(0, 0, 0), None);
        assert_eq!(days_from_civil(2020, 5, 0), None);
    }

    #[test]
    fn moments_are_written_in_utc() {
        let moment = UNIX_EPOCH + Duration::from_secs(1_796_079_314);
        assert_eq!(compact_utc(moment), "20261130T225514Z");
        assert_eq!(iso_utc(moment), "2026-11-30T22:55:14Z");
    }
}
