//! Rows that are text: the batch that CSV and JSON lines share.

use crate::{
    connector::NativeBatch,
    encode::RowWriter,
    model::{CanonicalType, Conversion, Error, ErrorKind, LogicalType, Projected, Projection, Result},
};

/// What a field of a text record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// NULL, or absent.
    Null,
    /// Text without a type (CSV).
    Text,
    /// A JSON string, as written: quotes and escapes included.
    JsonString,
    /// A JSON number, as written.
    JsonNumber,
    /// true or false.
    JsonBoolean,
    /// A JSON object or array, as written.
    JsonNested,
}

/// One record: the bytes of its fields, one after another.
#[derive(Debug, Default)]
pub(super) struct RawRecord {
    /// Bytes of the fields.
    pub(super) bytes: Vec<u8>,
    fields: Vec<(u32, Token)>,
}

impl RawRecord {
    /// Forgets everything but the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    /// Ends a field whose bytes were appended.
    ///
    /// # Errors
    /// `Limit` beyond 4 GiB, which the limit of a record excludes.
    pub(super) fn end_field(&mut self, token: Token) -> Result<()> {
        let end = u32::try_from(self.bytes.len()).map_err(|_| Error::new(ErrorKind::Limit, "a record is too large"))?;
        self.fields.push((end, token));
        Ok(())
    }

    /// Number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The token and bytes of a field.
    pub(super) fn raw(&self, at: usize) -> Option<(Token, &[u8])> {
        let (end, token) = *self.fields.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.fields[before].0);
        Some((token, self.bytes.get(start as usize..end as usize)?))
    }

    /// The bytes of a field; `None` if it is NULL.
    #[cfg(test)]
    pub(super) fn field(&self, at: usize) -> Option<&[u8]> {
        self.raw(at).and_then(|(token, bytes)| (token != Token::Null).then_some(bytes))
    }
}

/// How a projected column of text is written.
#[derive(Clone, Debug)]
pub(super) struct TextColumn {
    name: String,
    /// Place of the field in a record.
    pub(super) field: usize,
    canonical: CanonicalType,
    logical: LogicalType,
    parsed: bool,
    as_text: bool,
}

impl TextColumn {
    /// The columns of a projection; field numbers are indices of the schema.
    pub(super) fn of(projection: &Projection, logical: impl Fn(usize) -> LogicalType) -> Vec<Self> {
        let column = |column: &Projected| Self {
            name: column.name.clone(),
            field: column.index,
            canonical: column.target.canonical.clone(),
            logical: if column.as_text { LogicalType::Untyped } else { logical(column.index) },
            parsed: column.target.conversion == Conversion::Parse,
            as_text: column.as_text,
        };
        projection.columns().map(column).collect()
    }
}

/// Records with the projected fields alone.
#[derive(Debug)]
pub(super) struct TextBatch {
    columns: std::sync::Arc<[TextColumn]>,
    bytes: Vec<u8>,
    fields: Vec<(u32, Token)>,
    rows: usize,
    /// Rows that are written: first, and one after the last.
    span: Option<(usize, usize)>,
    /// Number of the first record in its file.
    first_record: u64,
    file: std::sync::Arc<str>,
}

impl TextBatch {
    /// An empty batch of records of `file`, the first of which has the number `first_record`.
    pub(super) fn new(
        columns: &std::sync::Arc<[TextColumn]>,
        file: &std::sync::Arc<str>,
        first_record: u64,
        bytes: usize,
    ) -> Self {
        Self {
            columns: std::sync::Arc::clone(columns),
            bytes: Vec::with_capacity(bytes.min(1 << 20)),
            fields: Vec::new(),
            rows: 0,
            span: None,
            first_record,
            file: std::sync::Arc::clone(file),
        }
    }

    /// Appends the projected fields of a record.
    ///
    /// # Errors
    /// `Internal` if a field is not there.
    pub(super) fn push(&mut self, record: &RawRecord) -> Result<()> {
        for column in self.columns.iter() {
            let (token, bytes) =
                record.raw(column.field).ok_or_else(|| Error::internal("a projected field is absent"))?;
            self.bytes.extend_from_slice(bytes);
            let end = u32::try_from(self.bytes.len()).map_err(|_| Error::internal("a batch of text is too large"))?;
            self.fields.push((end, token));
        }
        self.rows += 1;
        Ok(())
    }

    /// Bytes in use.
    pub(super) fn used(&self) -> usize {
        self.bytes.len() + self.fields.len() * size_of::<(u32, Token)>()
    }

    /// Bytes that a record would add.
    pub(super) fn cost(&self, record: &RawRecord) -> usize {
        let bytes = |column: &TextColumn| record.raw(column.field).map_or(0, |(_, bytes)| bytes.len());
        self.columns.iter().map(|column| bytes(column) + size_of::<(u32, Token)>()).sum()
    }

    /// Limits the batch to the rows `from..to`.
    pub(super) fn keep(&mut self, from: usize, to: usize) {
        self.span = Some((from, to));
    }

    /// Writes the first `columns` columns of all rows.
    ///
    /// # Errors
    /// As of encoding.
    pub(super) fn encode_first(&self, columns: usize, writer: &mut RowWriter<'_>) -> Result<()> {
        self.write((0, self.rows), columns, writer)
    }

    fn write(&self, (from, to): (usize, usize), columns: usize, writer: &mut RowWriter<'_>) -> Result<()> {
        for row in from..to {
            let first = row * self.columns.len();
            let mut start = first.checked_sub(1).map_or(0, |before| self.fields[before].0 as usize);
            let fields = &self.fields[first..first + self.columns.len()];
            writer.begin_row();
            for (column, (end, token)) in self.columns.iter().zip(fields).take(columns) {
                let end = *end as usize;
                let bytes = self.bytes.get(start..end).unwrap_or_default();
                Self::put(column, *token, bytes, writer).map_err(|error| self.place(row, column, error))?;
                start = end;
            }
            writer.end_row()?;
        }
        Ok(())
    }

    fn place(&self, row: usize, column: &TextColumn, error: Error) -> Error {
        let number = self.first_record + row as u64;
        let named = error.in_column(&column.name);
        if named.kind() == ErrorKind::Value && named.hint_text().is_none() {
            return named.hint(format!("see record {number} of {}", self.file));
        }
        named
    }

    fn put(column: &TextColumn, token: Token, bytes: &[u8], w: &mut RowWriter<'_>) -> Result<()> {
        let text = || {
            std::str::from_utf8(bytes).map_err(|error| {
                Error::new(ErrorKind::Value, "reading text: expected UTF-8, found other bytes").caused_by(error)
            })
        };
        match token {
            Token::Null => w.put_null(),
            Token::Text => w.put_text_bytes(bytes),
            _ if matches!(column.logical, LogicalType::Json) => w.put_json(text()?),
            Token::JsonBoolean if matches!(column.logical, LogicalType::Boolean) => w.put_bool(bytes == b"true"),
            _ if column.parsed && matches!(column.canonical, CanonicalType::Json) => w.put_text(text()?),
            Token::JsonString => {
                // Only a cast makes a string stand for something that JSON has by itself.
                let own =
                    matches!(column.canonical, CanonicalType::Number | CanonicalType::Float | CanonicalType::Boolean);
                if own && !column.as_text {
                    return Err(mismatch("a string", &column.canonical.to_string(), column));
                }
                let string: std::borrow::Cow<'_, str> = serde_json::from_slice(bytes).map_err(|error| {
                    Error::new(ErrorKind::Value, "reading a JSON string: its escapes are not valid").caused_by(error)
                })?;
                w.put_text(&string)
            }
            Token::JsonNumber | Token::JsonBoolean | Token::JsonNested if column.as_text => w.put_text(text()?),
            Token::JsonNumber => match column.canonical {
                CanonicalType::Number | CanonicalType::Float => match &column.logical {
                    LogicalType::Decimal { .. } if !column.parsed => {
                        match crate::encode::parse(&CanonicalType::Number, text()?)? {
                            crate::model::Value::Number(number) => w.put_decimal(&number),
                            _ => Err(Error::internal("a parsed number is none")),
                        }
                    }
                    _ => w.put_text(text()?),
                },
                _ => Err(mismatch("a number", "number", column)),
            },
            Token::JsonBoolean => match column.canonical {
                CanonicalType::Boolean => w.put_text(text()?),
                _ => Err(mismatch("true or false", "boolean", column)),
            },
            Token::JsonNested => Err(mismatch("an object or array", "json", column)),
        }
    }
}

/// The error for a value of another kind than its column; `cast` is the type that would fit.
fn mismatch(found: &str, cast: &str, column: &TextColumn) -> Error {
    Error::new(ErrorKind::Value, format!("reading JSON: expected {}, found {found}", column.canonical))
        .hint(format!("name the type to compare as: --cast {}={cast}", column.name))
}

impl NativeBatch for TextBatch {
    fn bytes(&self) -> usize {
        self.bytes.capacity() + self.fields.capacity() * size_of::<(u32, Token)>()
    }

    fn rows(&self) -> usize {
        self.span.map_or(self.rows, |(from, to)| to - from)
    }

    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
        self.write(self.span.unwrap_or((0, self.rows)), self.columns.len(), writer)
    }
}
