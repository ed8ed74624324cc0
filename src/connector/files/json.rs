//! JSON lines: one object a line. Names and kinds of the members come from one scan of all files at freeze time.
//!
//! | values of a column | type |
//! |---|---|
//! | strings | untyped: takes the type of its partner by parsing |
//! | whole numbers | decimal, exact |
//! | numbers with a fraction or an exponent | untyped: parsed as number or float, as the partner is |
//! | true, false | boolean |
//! | objects, arrays, or several of these kinds | JSON |
//! | nothing but null | null |
//!
//! A null and an absent member are NULL. The kind of a value is never forgotten: a string is not a number.

use super::{
    csv::RECORD_BYTES_MAX,
    source::io_error,
    text::{RawRecord, Token},
};
use crate::model::{Error, ErrorKind, LogicalType, Result};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{
    collections::HashMap,
    fmt,
    io::{BufRead, BufReader, Read},
};

/// Distinct member names at most: each is a column.
const COLUMNS_MAX: usize = 10_000;

/// Bytes read from the file at once.
const BUFFER_BYTES: usize = 256 << 10;

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}

fn token_of(raw: &str) -> Token {
    match raw.as_bytes().first() {
        Some(b'"') => Token::JsonString,
        Some(b't' | b'f') => Token::JsonBoolean,
        Some(b'{' | b'[') => Token::JsonNested,
        Some(b'n') => Token::Null,
        _ => Token::JsonNumber,
    }
}

/// Lines of one file.
struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    name: String,
}

impl<R: Read> LineReader<R> {
    fn new(input: R, name: &str) -> Self {
        let input = BufReader::with_capacity(BUFFER_BYTES, input);
        Self { input, line: Vec::new(), number: 0, name: name.to_owned() }
    }

    /// Reads up to the next line that is not blank; `false` at the end.
    fn next(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let mut limited = (&mut self.input).take(RECORD_BYTES_MAX as u64 + 1);
            let count = limited.read_until(b'\n', &mut self.line).map_err(|error| io_error(&self.name, error))?;
            if count == 0 {
                return Ok(false);
            }
            self.number += 1;
            if count > RECORD_BYTES_MAX {
                let message =
                    format!("reading {}: line {} is larger than {RECORD_BYTES_MAX} bytes", self.name, self.number);
                return Err(Error::new(ErrorKind::Limit, message));
            }
            if self.number == 1 && self.line.starts_with(b"\xEF\xBB\xBF") {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    fn error(&self, what: &str) -> Error {
        Error::new(ErrorKind::Value, format!("reading {}: line {}: {what}", self.name, self.number))
    }

    fn members(&self) -> Result<Members<'_>> {
        let members: Members<'_> = serde_json::from_slice(&self.line).map_err(|_| {
            // The message of the parser could repeat values.
            self.error("expected one JSON object")
                .hint("JSON lines have one object on each line, and no array around them")
        })?;
        Ok(members)
    }
}

/// Records of a file: one field a column of the table.
pub(super) struct Lines<R> {
    input: LineReader<R>,
    places: HashMap<String, usize>,
    slots: Vec<Option<(usize, usize, Token)>>,
}

impl<R: Read> Lines<R> {
    /// The records of `input`, the file `name`, with the members `names` as fields.
    pub(super) fn new(input: R, name: &str, names: Vec<String>) -> Self {
        let slots = vec![None; names.len()];
        let places = names.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
        Self { input: LineReader::new(input, name), places, slots }
    }

    /// Number of the line read last.
    pub(super) const fn line_number(&self) -> u64 {
        self.input.number
    }

    /// Reads the next record into `record`, which it clears; `false` at the end.
    ///
    /// # Errors
    /// `Value` for what is not one object, or has a name twice; `PositionLost` for a name that the first scan did not
    /// see; `Limit` for a line that is too long; those of reading.
    pub(super) fn next(&mut self, record: &mut RawRecord) -> Result<bool> {
        record.clear();
        if !self.input.next()? {
            return Ok(false);
        }
        self.slots.fill(None);
        let members = self.input.members()?;
        for (at, (name, _)) in members.0.iter().enumerate() {
            let place = self.places.get(name).ok_or_else(|| {
                Error::new(ErrorKind::PositionLost, format!("reading {}: the file changed", self.input.name))
            })?;
            if self.slots[*place].replace((at, 0, Token::Null)).is_some() {
                return Err(self.input.error("a member name occurs twice").in_column(name));
            }
        }
        for slot in &self.slots {
            let raw = slot.and_then(|(at, _, _)| members.0.get(at)).map(|(_, raw)| raw.get());
            let token = raw.map_or(Token::Null, token_of);
            if token != Token::Null {
                record.bytes.extend_from_slice(raw.unwrap_or_default().as_bytes());
            }
            record.end_field(token)?;
        }
        Ok(true)
    }
}

#[derive(Debug, Default, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a set of kinds")]
struct Kinds {
    string: bool,
    whole: bool,
    fraction: bool,
    boolean: bool,
    nested: bool,
}

/// Names and kinds of the members of all files.
#[derive(Debug, Default)]
pub(super) struct Survey {
    places: HashMap<String, usize>,
    columns: Vec<(String, Kinds)>,
}

impl Survey {
    /// Scans a file.
    ///
    /// # Errors
    /// As of [`Lines::next`].
    pub(super) fn read(&mut self, name: &str, input: impl Read) -> Result<()> {
        let mut lines = LineReader::new(input, name);
        while lines.next()? {
            for (member, raw) in lines.members()?.0 {
                let next = self.columns.len();
                let place = *self.places.entry(member).or_insert_with_key(|member| {
                    self.columns.push((member.clone(), Kinds::default()));
                    next
                });
                if place >= COLUMNS_MAX {
                    let message = format!("reading {name}: expected at most {COLUMNS_MAX} member names, found more");
                    return Err(Error::new(ErrorKind::Limit, message));
                }
                let kinds = &mut self.columns[place].1;
                match token_of(raw.get()) {
                    Token::JsonString => kinds.string = true,
                    Token::JsonBoolean => kinds.boolean = true,
                    Token::JsonNested => kinds.nested = true,
                    Token::JsonNumber if raw.get().contains(['.', 'e', 'E']) => kinds.fraction = true,
                    Token::JsonNumber => kinds.whole = true,
                    Token::Null | Token::Text => {}
                }
            }
        }
        Ok(())
    }

    /// The columns in the order of their first occurrence: name, native type, type.
    pub(super) fn columns(self) -> Vec<(String, &'static str, LogicalType)> {
        let typed = |(name, kinds): (String, Kinds)| {
            let (native, logical) = match kinds {
                Kinds { string: false, whole: false, fraction: false, boolean: false, nested: false } => {
                    ("json null", LogicalType::Null)
                }
                Kinds { string: true, whole: false, fraction: false, boolean: false, nested: false } => {
                    ("json string", LogicalType::Untyped)
                }
                Kinds { string: false, fraction: true, boolean: false, nested: false, .. } => {
                    ("json number", LogicalType::Untyped)
                }
                Kinds { string: false, whole: true, boolean: false, nested: false, .. } => {
                    ("json integer", LogicalType::Decimal { declared: None })
                }
                Kinds { string: false, whole: false, boolean: true, nested: false, .. } => {
                    ("json boolean", LogicalType::Boolean)
                }
                _ => ("json", LogicalType::Json),
            };
            (name, native, logical)
        };
        self.columns.into_iter().map(typed).collect()
    }
}
