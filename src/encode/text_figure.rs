//! Text of figures of the plane, as `PostgreSQL` writes them.

use super::{float, text::invalid, value::figure_floats};
use crate::model::{CanonicalType, GeometricKind, Result, Value};

pub(super) fn render(kind: GeometricKind, closed: bool, floats: &[f64]) -> String {
    let numbers: Vec<String> = floats.iter().map(|value| float::render(*value)).collect();
    let points: Vec<String> = numbers.chunks(2).map(|point| format!("({})", point.join(","))).collect();
    let points = points.join(",");
    match kind {
        GeometricKind::Point | GeometricKind::Box => points,
        GeometricKind::Line => format!("{{{}}}", numbers.join(",")),
        GeometricKind::Path if !closed => format!("[{points}]"),
        GeometricKind::Segment => format!("[{points}]"),
        GeometricKind::Path | GeometricKind::Polygon => format!("({points})"),
        GeometricKind::Circle => match numbers.as_slice() {
            [x, y, radius] => format!("<({x},{y}),{radius}>"),
            _ => format!("<{}>", numbers.join(",")),
        },
    }
}

/// Parses a figure: its punctuation must be exactly that of the canonical text, its numbers may have any spelling.
pub(super) fn parse(canonical: &CanonicalType, kind: GeometricKind, text: &str) -> Result<Value> {
    let is_mark = |character: char| "()[]{}<>,".contains(character);
    let numbers = text.split(is_mark).filter(|number| !number.is_empty());
    let floats: Vec<f64> = numbers.map(float::parse).collect::<Result<_>>()?;
    let closed = kind != GeometricKind::Path || text.starts_with('(');
    let fits = figure_floats(kind).map_or(floats.len().is_multiple_of(2), |number| number == floats.len());
    if fits && skeleton(text) == skeleton(&render(kind, closed, &floats)) {
        return Ok(Value::Geometric(closed, floats));
    }
    Err(invalid(canonical, "its brackets and commas are not those of such a figure"))
}

/// The punctuation alone, with a mark for each number.
fn skeleton(text: &str) -> String {
    let mut marks = String::new();
    for character in text.chars() {
        if "()[]{}<>,".contains(character) {
            marks.push(character);
        } else if !marks.ends_with('#') {
            marks.push('#');
        }
    }
    marks
}
