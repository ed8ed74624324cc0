//! Keys as text, for people.

use crate::{
    encode::{decode_key, render},
    model::{CanonicalType, Digest},
};
use std::fmt::Write as _;

/// A key as text: `7`, or `(7, blue)` for several parts. Keys may appear in errors and reports; row values may not.
///
/// Falls back to the key bytes in hexadecimal where they are not a key of those types (`x'...'`).
#[must_use]
pub fn key_text(types: &[CanonicalType], key: &[u8]) -> String {
    let Ok(values) = decode_key(types, key) else { return hexadecimal(key) };
    if values.len() != types.len() {
        return hexadecimal(key);
    }
    let parts: Vec<String> = types
        .iter()
        .zip(&values)
        .map(|(canonical, value)| render(canonical, value).unwrap_or_else(|| "NULL".to_owned()))
        .collect();
    match parts.as_slice() {
        [one] => one.clone(),
        parts => format!("({})", parts.join(", ")),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2 + 3);
    text.push_str("x'");
    for byte in bytes {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
    text
}

/// The digest `blake2b-256` (32 bytes, RFC 7693) of `bytes`.
pub(super) fn digest(bytes: &[u8]) -> Digest {
    use blake2::{Blake2b, Digest as _, digest::consts::U32};
    Digest(Blake2b::<U32>::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_key_are_shown_as_they_are() {
        assert_eq!(key_text(&[CanonicalType::Boolean], &[7, 7]), "x'0707'");
    }

    #[test]
    fn the_digest_is_blake2b_256() {
        assert_eq!(digest(b"").to_string(), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    }
}
