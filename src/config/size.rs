//! Sizes in bytes, as people write them.

use crate::model::{Error, ErrorKind, Result};

/// Units and their number of bytes.
const UNITS: [(&str, u64); 8] = [
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

/// Reads a whole number of bytes such as `268435456`, `256MiB` or `1 GB`. Exact: no fractions, no rounding.
///
/// # Errors
/// `Config` for anything else, or a number beyond 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64> {
    let refuse = |why: &str| {
        Error::new(ErrorKind::Config, format!("size {text:?}: {why}"))
            .hint("write a whole number of bytes, or one with KiB, MiB, GiB, KB, MB or GB, such as 256MiB")
    };
    let trimmed = text.trim();
    let digits_end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(digits_end);
    if digits.is_empty() {
        return Err(refuse("expected a whole number"));
    }
    let unit = unit.trim_start();
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) else {
        return Err(refuse("the unit is not known"));
    };
    let number: u64 = digits.parse().map_err(|_| refuse("the number is too large"))?;
    number.checked_mul(*factor).ok_or_else(|| refuse("the number is too large"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at once")]
    use super::parse_bytes;

    #[test]
    fn sizes_are_exact() {
        for (text, bytes) in [
            ("0", 0),
            ("268435456", 268_435_456),
            ("256MiB", 268_435_456),
            ("256 mib", 268_435_456),
            ("1GiB", 1_073_741_824),
            ("1GB", 1_000_000_000),
            ("3KB", 3_000),
            ("7b", 7),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_bytes(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "MiB", "1.5GiB", "-1", "1 parsec", "18446744073709551616", "17179869184GiB", "1M", "+5"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
