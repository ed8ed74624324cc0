//! Days and clocks of SQL Server as exact integers.

/// Seconds of a day.
pub(super) const DAY_SECONDS: i64 = 86_400;
/// Nanoseconds of a day.
pub(super) const DAY_NANOS: i64 = DAY_SECONDS * 1_000_000_000;
/// Nanoseconds of a minute.
pub(super) const MINUTE_NANOS: i64 = 60 * 1_000_000_000;
/// 0001-01-01, in days since 1970-01-01.
pub(super) const YEAR_ONE: i64 = -719_162;
/// 1900-01-01, in days since 1970-01-01.
pub(super) const YEAR_1900: i64 = -25_567;
/// Parts of a day that `datetime` counts: three-hundredths of a second.
pub(super) const DAY_TICKS: u32 = 86_400 * 300;

/// Nanoseconds of the day that `datetime` shows for a number of three-hundredths: three digits, rounded, so that they
/// end in 0, 3 or 7. What is shown is the value; a conversion to a finer type depends on the server's settings.
pub(super) fn shown(ticks: u32) -> i64 {
    (i64::from(ticks) * 10 + 1) / 3 * 1_000_000
}

/// The least time of day that `datetime` shows at or above `nanos`; the end of the day if there is none.
pub(super) fn shown_at_or_above(nanos: i64) -> i64 {
    let below = u32::try_from(nanos.max(0) / 1_000_000 * 3 / 10).unwrap_or(DAY_TICKS).saturating_sub(1);
    (below..DAY_TICKS).map(shown).find(|shown| *shown >= nanos).unwrap_or(DAY_NANOS)
}

/// Year, month and day of days since 1970-01-01, in the proleptic Gregorian calendar (as in Hinnant,
/// "chrono-compatible low-level date algorithms"); within years 0 to 10000.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Days since 1970-01-01; the reverse of [`civil`].
pub(super) fn days_of(year: i32, month: u8, day: u8) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

/// Days of a month, 1 to 12.
pub(super) fn days_of_month(year: i32, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        assert_eq!((days_of(1, 1, 1), days_of(1900, 1, 1), days_of(1970, 1, 1)), (YEAR_ONE, YEAR_1900, 0));
        assert_eq!(days_of(9999, 12, 31), 2_932_896);
        assert_eq!(civil(2_932_896), (9999, 12, 31));
        assert_eq!(civil(YEAR_ONE), (1, 1, 1));
        assert_eq!(civil(days_of(2024, 2, 29)), (2024, 2, 29));
        assert_eq!((days_of_month(1900, 2), days_of_month(2000, 2), days_of_month(2023, 4)), (28, 29, 30));
    }

    #[test]
    fn o28_datetime_is_what_it_shows() {
        // 13:52:29.18666...
        assert_eq!(shown(14_984_756) % 1_000_000_000, 187_000_000);
        assert_eq!((shown(0), shown(1), shown(2), shown(3)), (0, 3_000_000, 7_000_000, 10_000_000));
        assert_eq!(shown(DAY_TICKS - 1), 86_399_997_000_000);
        assert_eq!(shown_at_or_above(4_000_000), 7_000_000);
        assert_eq!(shown_at_or_above(7_000_000), 7_000_000);
        assert_eq!(shown_at_or_above(7_000_001), 10_000_000);
        assert_eq!(shown_at_or_above(86_399_997_000_001), DAY_NANOS);
        assert_eq!(shown_at_or_above(0), 0);
    }
}
