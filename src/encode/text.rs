//! Canonical text of values, and strict parsing of text as a canonical type.

use crate::model::{CanonicalType, Error, Result, Value};

/// The canonical text of a value; for people and for values that no Arrow type holds. `None` for NULL.
#[must_use]
pub fn render(_canonical: &CanonicalType, _value: &Value) -> Option<String> {
    None
}

/// Parses text strictly as `canonical`; nothing is rounded, trimmed or guessed.
///
/// # Errors
/// `Value` if the text is not a value of that type. The message does not repeat the text.
pub fn parse(_canonical: &CanonicalType, _text: &str) -> Result<Value> {
    Err(Error::internal("not built yet"))
}
