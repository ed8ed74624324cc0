//! Text of figures, lists, structs, maps and ranges.

use super::text::invalid;
use crate::model::{CanonicalType, Error, ErrorKind, Result, Value};

pub(super) fn render(_canonical: &CanonicalType, _value: &Value) -> Option<String> {
    None
}

pub(super) fn parse(canonical: &CanonicalType, _text: &str) -> Result<Value> {
    let _ = invalid;
    Err(Error::new(ErrorKind::Unsupported, format!("parsing text as {canonical} is not supported")))
}
