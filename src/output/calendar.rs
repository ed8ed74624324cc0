//! Moments in UTC as text.

use crate::encode::civil_from_days;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment in UTC, split: year, month, day, hour, minute, second. Moments before 1970 count as its first.
fn split(moment: SystemTime) -> (i32, u8, u8, u64, u64, u64) {
    let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (year, month, day) = i64::try_from(seconds / 86_400).ok().and_then(civil_from_days).unwrap_or((1970, 1, 1));
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
    fn moments_are_written_in_utc() {
        let moment = UNIX_EPOCH + Duration::from_secs(1_796_079_314);
        assert_eq!(compact_utc(moment), "20261130T225514Z");
        assert_eq!(iso_utc(moment), "2026-11-30T22:55:14Z");
    }
}
