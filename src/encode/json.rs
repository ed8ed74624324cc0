//! JSON: a strict parser (RFC 8259) that keeps numbers exact, the canonical bytes, and the canonical text.

use super::{
    cursor::{Cursor, write_varint},
    number,
};
use crate::model::{Decimal, Error, ErrorKind, JsonValue, Result};
use std::fmt::Write;

/// Deepest nesting of arrays and objects. Bounds the stack that one document can use, at a few hundred bytes a level;
/// stores that bound the depth themselves allow 100 (`MySQL`) or 128 (SQL Server).
pub(super) const JSON_DEPTH_MAX: usize = 512;

/// What happens when an object has two members of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// The last member counts.
    LastWins,
    /// An error.
    Refuse,
}

/// Parses a document.
///
/// # Errors
/// `Value` if the text is not JSON, holds a lone surrogate escape or an exponent beyond 32 bits; `Limit` if it nests
/// too deeply.
pub(super) fn parse(text: &str, duplicates: Duplicates) -> Result<JsonValue> {
    let mut parser = Parser { text, at: 0, duplicates };
    let value = parser.value(0)?;
    parser.blanks();
    if parser.at == text.len() { Ok(value) } else { Err(invalid("text after the document")) }
}

fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::Value, format!("parsing JSON: {what}"))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    duplicates: Duplicates,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: JsonValue) -> Result<JsonValue> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(invalid("unknown word"))
    }

    fn value(&mut self, depth: usize) -> Result<JsonValue> {
        if depth > JSON_DEPTH_MAX {
            let message = format!("parsing JSON: it nests more than {JSON_DEPTH_MAX} levels deep");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        self.blanks();
        match self.peek() {
            Some(b'n') => self.word("null", JsonValue::Null),
            Some(b't') => self.word("true", JsonValue::Bool(true)),
            Some(b'f') => self.word("false", JsonValue::Bool(false)),
            Some(b'"') => self.string().map(JsonValue::Text),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(invalid("expected a value")),
            None => Err(invalid("the text ends too early")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<JsonValue> {
        self.at += 1;
        let mut elements = Vec::new();
        self.blanks();
        if self.eat(b']') {
            return Ok(JsonValue::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.blanks();
            if self.eat(b']') {
                return Ok(JsonValue::Array(elements));
            }
            if !self.eat(b',') {
                return Err(invalid("expected a comma or the end of the array"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<JsonValue> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.eat(b'}') {
            return Ok(JsonValue::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(invalid("expected the name of a member"));
            }
            let name = self.string()?;
            self.blanks();
            if !self.eat(b':') {
                return Err(invalid("expected a colon"));
            }
            members.push((name, self.value(depth + 1)?));
            self.blanks();
            if self.eat(b'}') {
                break;
            }
            if !self.eat(b',') {
                return Err(invalid("expected a comma or the end of the object"));
            }
        }
        let count = members.len();
        let members = sort_members(members);
        if self.duplicates == Duplicates::Refuse && members.len() < count {
            return Err(invalid("a name occurs twice"));
        }
        Ok(JsonValue::Object(members))
    }

    fn number(&mut self) -> Result<JsonValue> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        number::parse(&self.text[start..self.at]).map(JsonValue::Number)
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(invalid("expected a digit")) }
    }

    fn string(&mut self) -> Result<String> {
        self.at += 1;
        let mut value = String::new();
        loop {
            let bytes = &self.text.as_bytes()[self.at..];
            let plain = bytes
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F))
                .ok_or_else(|| invalid("the text ends within a string"))?;
            value.push_str(&self.text[self.at..self.at + plain]);
            let stop = bytes[plain];
            self.at += plain + 1;
            match stop {
                b'"' => return Ok(value),
                b'\\' => value.push(self.escape()?),
                _ => return Err(invalid("a control character within a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let letter = self.peek().ok_or_else(|| invalid("the text ends within an escape"))?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(invalid("unknown escape")),
        })
    }

    fn unicode(&mut self) -> Result<char> {
        let lone = || invalid("an escaped half of a surrogate pair stands alone");
        let first = self.unit()?;
        if !(0xD800..0xE000).contains(&first) {
            return char::from_u32(first).ok_or_else(lone);
        }
        if first >= 0xDC00 || !(self.eat(b'\\') && self.eat(b'u')) {
            return Err(lone());
        }
        let second = self.unit()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(lone());
        }
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or_else(lone)
    }

    fn unit(&mut self) -> Result<u32> {
        let bytes = self.text.as_bytes().get(self.at..self.at + 4);
        let bytes = bytes.ok_or_else(|| invalid("the text ends within an escape"))?;
        self.at += 4;
        bytes.iter().try_fold(0, |unit, byte| {
            let digit = char::from(*byte).to_digit(16).ok_or_else(|| invalid("expected four hexadecimal digits"))?;
            Ok(unit * 16 + digit)
        })
    }
}

/// Sorts members by name and keeps the last one of each name.
pub(super) fn sort_members(members: Vec<(String, JsonValue)>) -> Vec<(String, JsonValue)> {
    let mut numbered: Vec<_> = members.into_iter().enumerate().collect();
    numbered.sort_by(|(place_a, (name_a, _)), (place_b, (name_b, _))| (name_a, place_b).cmp(&(name_b, place_a)));
    numbered.dedup_by(|later, earlier| later.1.0 == earlier.1.0);
    numbered.into_iter().map(|(_, member)| member).collect()
}

/// Appends the canonical bytes.
///
/// # Errors
/// `Limit` for a document that nests too deeply.
pub(super) fn write(out: &mut Vec<u8>, value: &JsonValue, depth: usize) -> Result<()> {
    if depth > JSON_DEPTH_MAX {
        return Err(Error::new(ErrorKind::Limit, format!("encoding JSON: more than {JSON_DEPTH_MAX} levels deep")));
    }
    match value {
        JsonValue::Null => out.push(0),
        JsonValue::Bool(value) => out.push(1 + u8::from(*value)),
        JsonValue::Number(value) => {
            if !matches!(value, Decimal::Finite { .. }) {
                return Err(Error::new(ErrorKind::Value, "encoding JSON: a number is not finite"));
            }
            out.push(3);
            number::write_decimal(out, value)?;
        }
        JsonValue::Text(text) => {
            out.push(4);
            write_string(out, text);
        }
        JsonValue::Array(elements) => {
            out.push(5);
            write_varint(out, elements.len());
            for element in elements {
                write(out, element, depth + 1)?;
            }
        }
        JsonValue::Object(members) => {
            let sorted = members.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !sorted {
                let members = sort_members(members.clone());
                return write(out, &JsonValue::Object(members), depth);
            }
            out.push(6);
            write_varint(out, members.len());
            for (name, value) in members {
                write_string(out, name);
                write(out, value, depth + 1)?;
            }
        }
    }
    Ok(())
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    write_varint(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// Reads a document.
pub(super) fn read(cursor: &mut Cursor<'_>, depth: usize) -> Result<JsonValue> {
    if depth > JSON_DEPTH_MAX {
        return Err(Error::internal("decoding JSON: it nests too deeply"));
    }
    Ok(match cursor.byte()? {
        0 => JsonValue::Null,
        1 => JsonValue::Bool(false),
        2 => JsonValue::Bool(true),
        3 => match number::read(cursor)? {
            finite @ Decimal::Finite { .. } => JsonValue::Number(finite),
            _ => return Err(Error::internal("decoding JSON: a number is not finite")),
        },
        4 => JsonValue::Text(read_string(cursor)?),
        5 => {
            let count = cursor.varint()?;
            let mut elements = Vec::new();
            for _ in 0..count {
                elements.push(read(cursor, depth + 1)?);
            }
            JsonValue::Array(elements)
        }
        6 => {
            let count = cursor.varint()?;
            let mut members: Vec<(String, JsonValue)> = Vec::new();
            for _ in 0..count {
                let name = read_string(cursor)?;
                if members.last().is_some_and(|(last, _)| *last >= name) {
                    return Err(Error::internal("decoding JSON: the members are not sorted"));
                }
                members.push((name, read(cursor, depth + 1)?));
            }
            JsonValue::Object(members)
        }
        other => return Err(Error::internal(format!("decoding JSON: unknown tag {other}"))),
    })
}

fn read_string(cursor: &mut Cursor<'_>) -> Result<String> {
    let bytes = cursor.counted()?;
    String::from_utf8(bytes.to_vec()).map_err(|_| Error::internal("decoding JSON: a string is not UTF-8"))
}

/// Appends the canonical text: no blanks, members sorted, numbers plain.
pub(super) fn render(out: &mut String, value: &JsonValue) {
    match value {
        JsonValue::Null => out.push_str("null"),
        JsonValue::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        JsonValue::Number(value) => out.push_str(&number::render(value)),
        JsonValue::Text(text) => quote(out, text),
        JsonValue::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                render(out, element);
            }
            out.push(']');
        }
        JsonValue::Object(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                quote(out, name);
                out.push(':');
                render(out, value);
            }
            out.push('}');
        }
    }
}

/// Appends `text` as a JSON string.
pub(super) fn quote(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control @ '\0'..='\u{1F}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
