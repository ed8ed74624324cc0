//! CSV records, split with the difference between quoted and unquoted fields kept.
//!
//! RFC 4180 with the NULL rule of `PostgreSQL`'s COPY CSV: an unquoted field that is the null token (the empty one, unless
//! declared) is NULL, a quoted one never is. Nothing is guessed: a quote within an unquoted field, text after a closing
//! quote, a lone carriage return and an open quote at the end are errors.

use super::text::{RawRecord, Token};
use crate::model::{Error, ErrorKind, Result};
use std::io::Read;

/// Bytes of one record at most: a quote that is never closed must not swallow the memory.
pub(super) const RECORD_BYTES_MAX: usize = 64 << 20;

/// Bytes read from the file at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Splits a stream into records.
pub(super) struct Splitter<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    ended: bool,
    delimiter: u8,
    null: Vec<u8>,
    special: [bool; 256],
    records: u64,
    name: String,
}

impl<R: Read> Splitter<R> {
    /// A splitter of `input`, the file `name`. A byte order mark at the start is dropped.
    ///
    /// # Errors
    /// `Config` for a delimiter that cannot be one, and those of reading.
    pub(super) fn new(input: R, name: &str, delimiter: u8, null: &str) -> Result<Self> {
        if matches!(delimiter, b'"' | b'\r' | b'\n' | 0) || !delimiter.is_ascii() {
            return Err(Error::new(
                ErrorKind::Config,
                "reading CSV: the delimiter must be one ASCII character, no quote and no line end",
            ));
        }
        let mut special = [false; 256];
        for byte in [delimiter, b'"', b'\r', b'\n'] {
            special[usize::from(byte)] = true;
        }
        let mut splitter = Self {
            input,
            buffer: vec![0; BUFFER_BYTES],
            at: 0,
            end: 0,
            ended: false,
            delimiter,
            null: null.as_bytes().to_vec(),
            special,
            records: 0,
            name: name.to_owned(),
        };
        while splitter.end < 3 && !splitter.ended {
            splitter.read_more()?;
        }
        if splitter.buffer[..splitter.end].starts_with(b"\xEF\xBB\xBF") {
            splitter.at = 3;
        }
        Ok(splitter)
    }

    /// Number of the record that was read last; the first is 1, a header included.
    pub(super) const fn record_number(&self) -> u64 {
        self.records
    }

    /// An error about the present record.
    pub(super) fn error(&self, what: &str) -> Error {
        Error::new(ErrorKind::Value, format!("reading {}: record {}: {what}", self.name, self.records))
    }

    fn read_more(&mut self) -> Result<()> {
        let count = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other.map_err(|error| super::source::io_error(&self.name, error))?,
            }
        };
        self.end += count;
        self.ended = count == 0;
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.end {
            if !self.ended {
                (self.at, self.end) = (0, 0);
                self.read_more()?;
            }
            if self.ended {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer[self.at]))
    }

    /// Reads the next record into `record`, which it clears; `false` at the end.
    ///
    /// # Errors
    /// `Value` for what is not CSV, `Limit` for a record that is too large, and those of reading.
    pub(super) fn next(&mut self, record: &mut RawRecord) -> Result<bool> {
        record.clear();
        if self.peek()?.is_none() {
            return Ok(false);
        }
        self.records += 1;
        while self.field(record)? {}
        Ok(true)
    }

    /// Reads a field; whether another one follows in the record.
    fn field(&mut self, record: &mut RawRecord) -> Result<bool> {
        let start = record.bytes.len();
        let quoted = self.peek()? == Some(b'"');
        if quoted {
            self.at += 1;
            self.quoted(record)?;
        } else {
            self.run(record, |special, byte| special[usize::from(byte)])?;
        }
        let more = match self.peek()? {
            None => false,
            Some(b'\n') => {
                self.at += 1;
                false
            }
            Some(b'\r') => {
                self.at += 1;
                if self.peek()? != Some(b'\n') {
                    return Err(self.error("expected a line feed after a carriage return outside of quotes"));
                }
                self.at += 1;
                false
            }
            Some(byte) if byte == self.delimiter => {
                self.at += 1;
                true
            }
            Some(_) if quoted => return Err(self.error("expected a delimiter or a line end after a closing quote")),
            Some(_) => {
                return Err(self
                    .error("found a quote within an unquoted field")
                    .hint("quote the whole field and double the quote"));
            }
        };
        let token = if quoted {
            Token::Text
        } else if record.bytes[start..] == self.null[..] {
            record.bytes.truncate(start);
            Token::Null
        } else {
            Token::Text
        };
        record.end_field(token)?;
        Ok(more)
    }

    fn quoted(&mut self, record: &mut RawRecord) -> Result<()> {
        loop {
            self.run(record, |_, byte| byte == b'"')?;
            if self.peek()?.is_none() {
                return Err(self.error("a quote is not closed before the end of the file"));
            }
            self.at += 1;
            if self.peek()? != Some(b'"') {
                return Ok(());
            }
            record.bytes.push(b'"');
            self.at += 1;
        }
    }

    /// Copies bytes up to the next one that stops.
    fn run(&mut self, record: &mut RawRecord, stops: impl Fn(&[bool; 256], u8) -> bool) -> Result<()> {
        while self.peek()?.is_some() {
            let rest = &self.buffer[self.at..self.end];
            let length = rest.iter().position(|byte| stops(&self.special, *byte)).unwrap_or(rest.len());
            if record.bytes.len() + length > RECORD_BYTES_MAX {
                let message =
                    format!("reading {}: record {} is larger than {RECORD_BYTES_MAX} bytes", self.name, self.records);
                return Err(Error::new(ErrorKind::Limit, message).hint("look for a quote that is not closed"));
            }
            record.bytes.extend_from_slice(&rest[..length]);
            self.at += length;
            if self.at < self.end {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives one byte at a time, so that every cut between reads is met.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn split(text: &[u8]) -> Result<Vec<Vec<Option<String>>>> {
        let mut splitter = Splitter::new(Drip(text), "t.csv", b',', "")?;
        let (mut record, mut records) = (RawRecord::default(), Vec::new());
        while splitter.next(&mut record)? {
            let field = |at| record.field(at).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
            records.push((0..record.len()).map(field).collect());
        }
        Ok(records)
    }

    #[expect(clippy::unnecessary_wraps, reason = "a field that is not NULL")]
    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn null_and_empty_differ() {
        let text = b"\xEF\xBB\xBF1,,x\n2,\"\",x\r\n3,NULL,x\n4,\"a\"\"b\",\"l\nm\"";
        let expected = vec![
            vec![some("1"), None, some("x")],
            vec![some("2"), some(""), some("x")],
            vec![some("3"), some("NULL"), some("x")],
            vec![some("4"), some("a\"b"), some("l\nm")],
        ];
        assert_eq!(split(text).unwrap(), expected);
    }

    #[test]
    fn what_is_not_csv_is_refused() {
        for text in ["a\"b\n", "\"a\"b\n", "\"a", "a\rb\n"] {
            assert_eq!(split(text.as_bytes()).unwrap_err().kind(), ErrorKind::Value, "{text:?}");
        }
    }

    #[test]
    fn a_trailing_delimiter_is_a_field() {
        assert_eq!(split(b"a,\n").unwrap(), vec![vec![some("a"), None]]);
        assert_eq!(split(b"a,").unwrap(), vec![vec![some("a"), None]]);
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(rows in proptest::collection::vec(
            proptest::collection::vec(proptest::option::of("[ab,\"\r\n ]{0,4}"), 1..4), 0..5)) {
            let mut text = String::new();
            for row in &rows {
                let fields: Vec<String> = row.iter().map(|field| match field {
                    None => String::new(),
                    Some(value) => format!("\"{}\"", value.replace('"', "\"\"")),
                }).collect();
                text.push_str(&fields.join(","));
                text.push('\n');
            }
            prop_assert_eq!(split(text.as_bytes()).unwrap(), rows);
        }
    }
}
