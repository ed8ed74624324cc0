//! Cells that carry a class of their own, whatever their column declares.

use super::{
    RowWriter, decode_key, float,
    layout::{Field, Kind},
    number, render,
    value::{STRAY, STRAY_BINARY, STRAY_NUMBER, STRAY_TEXT, counted, mismatch, write_value},
};
use crate::model::{CanonicalType, Error, ErrorKind, Result, Value};

/// A cell of a store whose cells have types of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A whole number.
    Integer(i64),
    /// A float.
    Real(f64),
    /// Text, not yet known to be UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Binary(&'a [u8]),
}

impl Cell<'_> {
    /// The class, for messages.
    fn class(self) -> &'static str {
        match self {
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a float",
            Self::Text(_) => "text",
            Self::Binary(_) => "bytes",
        }
    }
}

impl RowWriter<'_> {
    /// A cell. One that is not of the field's canonical type becomes a stray value if the field is dynamic; a field that
    /// is cast takes what the cast makes of it.
    ///
    /// # Errors
    /// `Value`, with column and key, for text that is not UTF-8, for a cell that the field's cast does not take, and for
    /// a stray value in a key.
    #[inline]
    pub fn put_cell(&mut self, cell: Cell<'_>) -> Result<()> {
        let kind = self.layout.fields.get(self.next).map(|field| field.kind);
        match (kind, cell) {
            (Some(Kind::Number | Kind::Render), Cell::Integer(value)) => self.put_i64(value),
            (Some(Kind::Number | Kind::Float | Kind::Render), Cell::Real(value)) => self.put_f64(value),
            (Some(Kind::Text | Kind::Render | Kind::Parse), Cell::Text(bytes)) => self.put_cell_text(bytes),
            (Some(Kind::Binary | Kind::Render), Cell::Binary(bytes)) => self.put_binary(bytes),
            (Some(Kind::Float), Cell::Integer(value)) => match float::from_decimal(&number::from_i128(value.into())) {
                Ok(float) => self.put_f64(float),
                Err(_) => self.put_stray(cell),
            },
            (Some(Kind::Parse), _) => {
                let key = self.key_text();
                self.put(|field, out| cast(field, out, cell)).map_err(|error| at_key(error, key))
            }
            _ => self.put_stray(cell),
        }
    }

    fn put_cell_text(&mut self, bytes: &[u8]) -> Result<()> {
        // The key is lost with the row, and is decoded only for a text that fails.
        let plain = std::str::from_utf8(bytes).is_ok();
        let parsed = self.layout.fields.get(self.next).is_some_and(|field| field.kind == Kind::Parse);
        if plain && !parsed {
            return self.put_text_bytes(bytes);
        }
        let key = self.key_text();
        self.put_text_bytes(bytes).map_err(|error| at_key(error, key))
    }

    /// The key of the open row as text, if it is whole.
    fn key_text(&self) -> Option<String> {
        let fields = &self.layout.fields[..self.layout.key_count];
        if self.next < self.layout.key_count || fields.is_empty() {
            return None;
        }
        let key = self.batch.data.get(self.start + 4..self.row_at)?;
        let types: Vec<CanonicalType> = fields.iter().map(|field| field.target.canonical.clone()).collect();
        let values = decode_key(&types, key).ok()?;
        let parts: Vec<String> = types
            .iter()
            .zip(&values)
            .map(|(canonical, value)| render(canonical, value).unwrap_or_else(|| "NULL".to_owned()))
            .collect();
        Some(if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(", ")) })
    }

    #[cold]
    fn put_stray(&mut self, cell: Cell<'_>) -> Result<()> {
        if let Cell::Text(bytes) = cell
            && std::str::from_utf8(bytes).is_err()
        {
            return self.put_cell_text(bytes);
        }
        let field = self.take_field()?;
        if !field.target.dynamic {
            return Err(self.failed(field, mismatch(cell.class(), &field.target.canonical)));
        }
        if field.is_key {
            return Err(self.failed(field, mixed_key(field, cell)));
        }
        let out = &mut self.batch.data;
        out.push(STRAY);
        let written = counted(out, |out| match cell {
            Cell::Integer(value) => {
                out.push(STRAY_NUMBER);
                number::write_i64(out, value);
                Ok(())
            }
            Cell::Real(value) => {
                out.push(STRAY_NUMBER);
                float::write_number(out, value)
            }
            Cell::Text(bytes) => {
                out.push(STRAY_TEXT);
                out.extend_from_slice(bytes);
                Ok(())
            }
            Cell::Binary(bytes) => {
                out.push(STRAY_BINARY);
                out.extend_from_slice(bytes);
                Ok(())
            }
        });
        written.map_err(|error| self.failed(field, error))
    }
}

fn at_key(error: Error, key: Option<String>) -> Error {
    match key {
        Some(key) => error.at_key(key),
        None => error,
    }
}

fn mixed_key(field: &Field, cell: Cell<'_>) -> Error {
    let (canonical, class) = (&field.target.canonical, cell.class());
    Error::new(
        ErrorKind::Value,
        format!(
            "encoding a key: a key column of mixed storage classes is refused: expected {canonical}, found {class}"
        ),
    )
    .hint(match (canonical, cell) {
        (CanonicalType::Number | CanonicalType::Float, Cell::Text(_)) => format!(
            "parse its text with `--cast {0}={canonical}`, compare it as text with `--cast {0}=text`, or choose another \
             key by `-k`",
            field.name
        ),
        _ => format!("compare it as text with `--cast {}=text`, or choose another key by `-k`", field.name),
    })
}

/// What a cast that reads text makes of a cell that is not text.
fn cast(field: &Field, out: &mut Vec<u8>, cell: Cell<'_>) -> Result<()> {
    use CanonicalType as C;
    let canonical = &field.target.canonical;
    let value = match (canonical, cell) {
        (C::Number | C::Float | C::Boolean, Cell::Integer(value)) => Value::Number(number::from_i128(value.into())),
        // A store that keeps text which looks like a number as a number has kept its digits.
        (_, Cell::Integer(value)) => return field.write_parsed(out, &value.to_string()),
        (C::Number | C::Float, Cell::Real(value)) => Value::Float(float::fold(value)),
        (C::Boolean, Cell::Real(value)) => Value::Number(float::to_decimal(value)?),
        (C::Binary | C::Uuid, Cell::Binary(bytes)) => Value::Binary(bytes.to_vec()),
        _ => {
            return Err(Error::new(
                ErrorKind::Value,
                format!("casting a cell to {canonical}: expected text, found {}", cell.class()),
            ));
        }
    };
    write_value(out, canonical, &value)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "cell_tests.rs"]
mod tests;
