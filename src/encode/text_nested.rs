//! Text of figures, lists, structs, maps and ranges.
//!
//! Lists, structs and maps are JSON in which booleans and numbers stand bare, NULL is `null`, and every other scalar is
//! a string of its canonical text. Figures, ranges and multiranges are written as `PostgreSQL` writes them.

use super::{
    json::{self, Duplicates},
    number,
    text::{self, invalid},
    text_array, text_figure,
};
use crate::model::{CanonicalType, Decimal, JsonValue, RangeValue, Result, StructField, Value};

/// The text of a nested value; `None` if type and value do not fit.
pub(super) fn render(canonical: &CanonicalType, value: &Value) -> Option<String> {
    match (canonical, value) {
        (CanonicalType::Geometric(kind), Value::Geometric(closed, floats)) => {
            Some(text_figure::render(*kind, *closed, floats))
        }
        (CanonicalType::Range(bound), Value::Range(range)) => render_range(bound, range),
        (CanonicalType::Multirange(bound), Value::Multirange(ranges)) => {
            let ranges: Option<Vec<String>> = ranges.iter().map(|range| render_range(bound, range)).collect();
            Some(format!("{{{}}}", ranges?.join(",")))
        }
        (CanonicalType::List(_) | CanonicalType::Struct(_) | CanonicalType::Map(..), _) => {
            let mut out = String::new();
            write_json(&mut out, canonical, value)?;
            Some(out)
        }
        _ => None,
    }
}

fn write_json(out: &mut String, canonical: &CanonicalType, value: &Value) -> Option<()> {
    match (canonical, value) {
        (_, Value::Null) => out.push_str("null"),
        (CanonicalType::Boolean, Value::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
        (CanonicalType::Number, Value::Number(value @ Decimal::Finite { .. })) => {
            out.push_str(&number::render(value));
        }
        (CanonicalType::List(element), Value::List(dimensions, values)) => {
            write_list(out, element, dimensions, values)?;
        }
        (CanonicalType::Struct(fields), Value::Struct(values)) => {
            if fields.len() != values.len() {
                return None;
            }
            for (index, (field, value)) in fields.iter().zip(values).enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                json::quote(out, &field.name);
                out.push(':');
                write_json(out, &field.canonical, value)?;
            }
            out.push_str(if fields.is_empty() { "{}" } else { "}" });
        }
        (CanonicalType::Map(key_type, value_type), Value::Map(entries)) => {
            for (index, (key, value)) in entries.iter().enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                match text::render(key_type, key) {
                    Some(key) => json::quote(out, &key),
                    None => out.push_str("null"),
                }
                out.push(':');
                write_json(out, value_type, value)?;
            }
            out.push_str(if entries.is_empty() { "{}" } else { "}" });
        }
        _ => json::quote(out, &text::render(canonical, value)?),
    }
    Some(())
}

fn write_list(out: &mut String, element: &CanonicalType, dimensions: &[(u32, i32)], values: &[Value]) -> Option<()> {
    // Bounds are written where they are not 1, and where brackets of elements would hide the number of dimensions.
    if dimensions.iter().any(|(_, lower)| *lower != 1) || (dimensions.len() > 1 && is_bracketed(element)) {
        let bounds = dimensions
            .iter()
            .map(|(length, lower)| format!("[{lower}:{}]", i64::from(*lower) + i64::from(*length) - 1));
        let prefix: String = bounds.collect();
        let mut body = String::new();
        write_dimension(&mut body, element, dimensions, values)?;
        out.push_str(&prefix);
        out.push('=');
        out.push_str(&body);
        return Some(());
    }
    write_dimension(out, element, dimensions, values)
}

/// Whether elements are written in brackets of their own.
fn is_bracketed(element: &CanonicalType) -> bool {
    matches!(element, CanonicalType::List(_))
}

fn write_dimension(
    out: &mut String,
    element: &CanonicalType,
    dimensions: &[(u32, i32)],
    values: &[Value],
) -> Option<()> {
    out.push('[');
    let inner = dimensions.get(1..).unwrap_or(&[]);
    let stride = if inner.is_empty() { 1 } else { values.len() / (dimensions[0].0 as usize).max(1) };
    for (index, part) in values.chunks(stride.max(1)).enumerate() {
        if index > 0 {
            out.push(',');
        }
        if inner.is_empty() {
            write_json(out, element, part.first()?)?;
        } else {
            write_dimension(out, element, inner, part)?;
        }
    }
    out.push(']');
    Some(())
}

fn render_range(bound: &CanonicalType, range: &RangeValue) -> Option<String> {
    let RangeValue::Bounds { lower, upper } = range else { return Some("empty".to_owned()) };
    let mut out = String::new();
    out.push(if lower.as_ref().is_some_and(|(_, included)| *included) { '[' } else { '(' });
    if let Some((value, _)) = lower {
        text_array::quote_bound(&mut out, &text::render(bound, value)?);
    }
    out.push(',');
    if let Some((value, _)) = upper {
        text_array::quote_bound(&mut out, &text::render(bound, value)?);
    }
    out.push(if upper.as_ref().is_some_and(|(_, included)| *included) { ']' } else { ')' });
    Some(out)
}

/// Parses the text of a nested value.
///
/// # Errors
/// `Value` if it is not of that type.
pub(super) fn parse(canonical: &CanonicalType, text: &str) -> Result<Value> {
    match canonical {
        CanonicalType::Geometric(kind) => text_figure::parse(canonical, *kind, text),
        CanonicalType::Range(bound) => {
            let (range, rest) = text_array::parse_range(canonical, bound, text)?;
            if rest.is_empty() { Ok(Value::Range(range)) } else { Err(invalid(canonical, "text after the range")) }
        }
        CanonicalType::Multirange(bound) => text_array::parse_multirange(canonical, bound, text),
        CanonicalType::List(element) => parse_list(canonical, element, text),
        _ => from_json(canonical, &json::parse(text, Duplicates::Refuse)?),
    }
}

fn parse_list(canonical: &CanonicalType, element: &CanonicalType, text: &str) -> Result<Value> {
    let (bounds, body) = text_array::split_bounds(canonical, text)?;
    let (lengths, values) = if body.starts_with('{') {
        text_array::parse_braces(canonical, element, body)?
    } else {
        let document = json::parse(body, Duplicates::Refuse)?;
        let levels = bounds.as_ref().map_or_else(|| array_levels(element, &document), Vec::len);
        let (mut lengths, mut values) = (Vec::new(), Vec::new());
        flatten(canonical, element, &document, levels, 0, &mut lengths, &mut values)?;
        (lengths, values)
    };
    list(canonical, bounds, &lengths, values)
}

/// Dimensions of a list in JSON: how deep its first elements nest, unless the elements are arrays themselves.
fn array_levels(element: &CanonicalType, document: &JsonValue) -> usize {
    let mut levels = 1;
    let mut inner = document;
    while !is_bracketed(element)
        && let JsonValue::Array(elements) = inner
        && let Some(first @ JsonValue::Array(_)) = elements.first()
    {
        levels += 1;
        inner = first;
    }
    levels
}

fn flatten(
    canonical: &CanonicalType,
    element: &CanonicalType,
    document: &JsonValue,
    levels: usize,
    depth: usize,
    lengths: &mut Vec<usize>,
    values: &mut Vec<Value>,
) -> Result<()> {
    let JsonValue::Array(elements) = document else { return Err(invalid(canonical, "expected an array")) };
    if lengths.len() == depth {
        lengths.push(elements.len());
    } else if lengths[depth] != elements.len() {
        return Err(invalid(canonical, "arrays of one dimension differ in length"));
    }
    for inner in elements {
        if depth + 1 < levels {
            flatten(canonical, element, inner, levels, depth + 1, lengths, values)?;
        } else {
            values.push(from_json(element, inner)?);
        }
    }
    Ok(())
}

/// A list from the lengths of its dimensions, checked against bounds that were written in front of it.
fn list(
    canonical: &CanonicalType,
    bounds: Option<Vec<(u32, i32)>>,
    lengths: &[usize],
    values: Vec<Value>,
) -> Result<Value> {
    if values.is_empty() {
        return Ok(Value::List(Vec::new(), values));
    }
    let lengths = lengths.iter().map(|length| u32::try_from(*length));
    let lengths: Vec<u32> = lengths.collect::<Result<_, _>>().map_err(|_| invalid(canonical, "it is too long"))?;
    let dimensions = match bounds {
        None => lengths.into_iter().map(|length| (length, 1)).collect(),
        Some(bounds) => {
            if bounds.iter().map(|(length, _)| *length).ne(lengths.iter().copied()) {
                return Err(invalid(canonical, "the bounds do not fit the number of elements"));
            }
            bounds
        }
    };
    Ok(Value::List(dimensions, values))
}

fn from_json(canonical: &CanonicalType, document: &JsonValue) -> Result<Value> {
    match (canonical, document) {
        (_, JsonValue::Null) => Ok(Value::Null),
        (CanonicalType::Struct(fields), JsonValue::Object(members)) => struct_from_json(canonical, fields, members),
        (CanonicalType::Map(key_type, value_type), JsonValue::Object(members)) => {
            let entry =
                |(name, value): &(String, JsonValue)| Ok((text::parse(key_type, name)?, from_json(value_type, value)?));
            Ok(Value::Map(members.iter().map(entry).collect::<Result<_>>()?))
        }
        (CanonicalType::List(element), JsonValue::Array(_)) => {
            let levels = array_levels(element, document);
            let (mut lengths, mut values) = (Vec::new(), Vec::new());
            flatten(canonical, element, document, levels, 0, &mut lengths, &mut values)?;
            list(canonical, None, &lengths, values)
        }
        (CanonicalType::Struct(_) | CanonicalType::Map(..), _) => Err(invalid(canonical, "expected an object")),
        (_, JsonValue::Text(value)) => text::parse(canonical, value),
        (CanonicalType::Json, document) => Ok(Value::Json(document.clone())),
        (CanonicalType::Boolean, JsonValue::Bool(value)) => Ok(Value::Bool(*value)),
        (CanonicalType::Number, JsonValue::Number(value)) => Ok(Value::Number(value.clone())),
        (CanonicalType::Float, JsonValue::Number(value)) => text::parse(canonical, &number::render(value)),
        _ => Err(invalid(canonical, "unexpected kind of JSON value")),
    }
}

fn struct_from_json(
    canonical: &CanonicalType,
    fields: &[StructField],
    members: &[(String, JsonValue)],
) -> Result<Value> {
    if fields.len() != members.len() {
        return Err(invalid(canonical, "expected exactly the fields of the type"));
    }
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        let member = members.iter().find(|(name, _)| *name == field.name);
        let (_, member) = member.ok_or_else(|| invalid(canonical, "a field of the type is not there"))?;
        values.push(from_json(&field.canonical, member)?);
    }
    Ok(Value::Struct(values))
}
