//! The syntax that `PostgreSQL` has for arrays, ranges and multiranges.

use super::text::{self, invalid};
use crate::model::{CanonicalType, RangeValue, Result, Value};

/// Most dimensions of an array: the encoding counts them in one byte.
const DIMENSIONS_MAX: usize = 255;

/// Takes bounds such as `[2:4][0:1]=` off the front: length and lower bound of each dimension.
#[expect(clippy::type_complexity, reason = "a pair of an optional list and the rest of the text")]
pub(super) fn split_bounds<'a>(canonical: &CanonicalType, text: &'a str) -> Result<(Option<Vec<(u32, i32)>>, &'a str)> {
    let is_bound = |part: &str| {
        part.contains(':')
            && part.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b':' | b'[' | b']'))
    };
    let Some((front, body)) = text.split_once('=').filter(|(front, _)| front.starts_with('[') && is_bound(front))
    else {
        return Ok((None, text));
    };
    let wrong = || invalid(canonical, "malformed bounds");
    let inner = front.strip_prefix('[').and_then(|front| front.strip_suffix(']')).ok_or_else(wrong)?;
    let mut bounds = Vec::new();
    for part in inner.split("][") {
        let (lower, upper) = part.split_once(':').ok_or_else(wrong)?;
        let lower: i32 = lower.parse().map_err(|_| wrong())?;
        let upper: i64 = upper.parse().map_err(|_| wrong())?;
        let length = upper.checked_sub(i64::from(lower)).and_then(|span| span.checked_add(1)).ok_or_else(wrong)?;
        bounds.push((u32::try_from(length).map_err(|_| wrong())?, lower));
    }
    Ok((Some(bounds), body))
}

/// Parses `{...}`: lengths of the dimensions and the elements in row-major order.
pub(super) fn parse_braces(
    canonical: &CanonicalType,
    element: &CanonicalType,
    text: &str,
) -> Result<(Vec<usize>, Vec<Value>)> {
    let mut braces = Braces { canonical, element, rest: text, lengths: Vec::new(), values: Vec::new(), leaf: None };
    braces.level(0)?;
    if !braces.rest.is_empty() {
        return Err(invalid(canonical, "text after the array"));
    }
    let lengths = braces.lengths.into_iter().flatten().collect();
    Ok((lengths, braces.values))
}

struct Braces<'a> {
    canonical: &'a CanonicalType,
    element: &'a CanonicalType,
    rest: &'a str,
    /// Length of each dimension; known after its first array has ended.
    lengths: Vec<Option<usize>>,
    values: Vec<Value>,
    /// The depth at which elements stand.
    leaf: Option<usize>,
}

impl Braces<'_> {
    fn eat(&mut self, mark: char) -> bool {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn level(&mut self, depth: usize) -> Result<()> {
        if depth >= DIMENSIONS_MAX || !self.eat('{') {
            return Err(invalid(self.canonical, "expected an array in braces"));
        }
        if self.lengths.len() == depth {
            self.lengths.push(None);
        }
        let mut count = 0;
        if !self.eat('}') {
            loop {
                if self.rest.starts_with('{') {
                    self.level(depth + 1)?;
                } else {
                    if *self.leaf.get_or_insert(depth) != depth {
                        return Err(invalid(self.canonical, "elements stand at different depths"));
                    }
                    self.element()?;
                }
                count += 1;
                if self.eat('}') {
                    break;
                }
                if !self.eat(',') {
                    return Err(invalid(self.canonical, "expected a comma or the end of the array"));
                }
            }
        }
        match self.lengths[depth].replace(count) {
            Some(before) if before != count => Err(invalid(self.canonical, "arrays of one dimension differ in length")),
            _ => Ok(()),
        }
    }

    fn element(&mut self) -> Result<()> {
        let (word, quoted) = word(self.canonical, &mut self.rest, &[',', '}', '{'])?;
        let value = if quoted {
            text::parse(self.element, &word)?
        } else if word.eq_ignore_ascii_case("null") {
            Value::Null
        } else if word.is_empty() {
            return Err(invalid(self.canonical, "an element is empty"));
        } else {
            text::parse(self.element, &word)?
        };
        self.values.push(value);
        Ok(())
    }
}

/// Takes a word, quoted or not, up to one of `ends`; a backslash escapes the next character.
fn word(canonical: &CanonicalType, rest: &mut &str, ends: &[char]) -> Result<(String, bool)> {
    let mut word = String::new();
    let (mut quoted, mut inside) = (false, false);
    let mut characters = rest.char_indices().peekable();
    let mut end = rest.len();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                let (_, escaped) = characters.next().ok_or_else(|| invalid(canonical, "it ends in a backslash"))?;
                word.push(escaped);
                quoted = true;
            }
            '"' if inside && characters.peek().is_some_and(|(_, next)| *next == '"') => {
                characters.next();
                word.push('"');
            }
            '"' => {
                inside = !inside;
                quoted = true;
            }
            other if !inside && ends.contains(&other) => {
                end = at;
                break;
            }
            other => word.push(other),
        }
    }
    if inside {
        return Err(invalid(canonical, "a quote is not closed"));
    }
    *rest = &rest[end..];
    Ok((word, quoted))
}

/// Appends a bound of a range, in quotes where it holds marks of the syntax.
pub(super) fn quote_bound(out: &mut String, bound: &str) {
    let is_plain = |character: char| !character.is_whitespace() && !"()[]{},\"\\".contains(character);
    if !bound.is_empty() && bound.chars().all(is_plain) {
        out.push_str(bound);
        return;
    }
    out.push('"');
    for character in bound.chars() {
        if matches!(character, '"' | '\\') {
            out.push(character);
        }
        out.push(character);
    }
    out.push('"');
}

/// Parses a range from the front and gives back what follows it.
pub(super) fn parse_range<'a>(
    canonical: &CanonicalType,
    bound: &CanonicalType,
    text: &'a str,
) -> Result<(RangeValue, &'a str)> {
    if let Some(rest) = text.strip_prefix("empty") {
        return Ok((RangeValue::Empty, rest));
    }
    let wrong = || invalid(canonical, "expected brackets around two bounds");
    let (lower_included, mut rest) = match text.as_bytes().first() {
        Some(b'[') => (true, &text[1..]),
        Some(b'(') => (false, &text[1..]),
        _ => return Err(wrong()),
    };
    let lower = parse_bound(canonical, bound, &mut rest)?;
    rest = rest.strip_prefix(',').ok_or_else(wrong)?;
    let upper = parse_bound(canonical, bound, &mut rest)?;
    let (upper_included, rest) = match rest.as_bytes().first() {
        Some(b']') => (true, &rest[1..]),
        Some(b')') => (false, &rest[1..]),
        _ => return Err(wrong()),
    };
    let lower = lower.map(|value| (Box::new(value), lower_included));
    let upper = upper.map(|value| (Box::new(value), upper_included));
    Ok((RangeValue::Bounds { lower, upper }, rest))
}

fn parse_bound(canonical: &CanonicalType, bound: &CanonicalType, rest: &mut &str) -> Result<Option<Value>> {
    let (word, quoted) = word(canonical, rest, &[',', ')', ']', '(', '['])?;
    if word.is_empty() && !quoted { Ok(None) } else { text::parse(bound, &word).map(Some) }
}

/// Parses `{range,range}`.
pub(super) fn parse_multirange(canonical: &CanonicalType, bound: &CanonicalType, text: &str) -> Result<Value> {
    let wrong = || invalid(canonical, "expected ranges in braces");
    let mut rest = text.strip_prefix('{').ok_or_else(wrong)?;
    let mut ranges = Vec::new();
    while rest != "}" {
        if !ranges.is_empty() {
            rest = rest.strip_prefix(',').ok_or_else(wrong)?;
        }
        let (range, after) = parse_range(canonical, bound, rest)?;
        ranges.push(range);
        rest = after;
    }
    Ok(Value::Multirange(ranges))
}
