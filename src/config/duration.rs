//! Durations, as people write them.

use crate::model::{Error, ErrorKind, Result};
use std::time::Duration;

/// Reads a duration such as `90s`, `30m` or `1h 30m`.
///
/// # Errors
/// `Config` for anything else.
pub fn parse_duration(text: &str) -> Result<Duration> {
    humantime::parse_duration(text.trim()).map_err(|cause| {
        Error::new(ErrorKind::Config, format!("duration {text:?}: {cause}"))
            .hint("write a number and its unit, such as 90s, 30m or 2h")
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at once")]
    use super::parse_duration;
    use std::time::Duration;

    #[test]
    fn durations_have_units() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), (" 1h 30m ", 5400), ("2days", 172_800)] {
            assert_eq!(parse_duration(text).unwrap(), Duration::from_secs(seconds), "{text}");
        }
        for text in ["", "90", "s", "-1s", "1 parsec"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
