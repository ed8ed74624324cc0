//! The one error type: an opaque box that says what went wrong, where, and what to do.

use super::Side;
use std::{error::Error as StdError, fmt};

/// Result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of obstacle an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong or contradicts itself.
    Config,
    /// A store could not be reached, or the connection broke.
    Connect,
    /// The store does not let this user do what is needed.
    Permission,
    /// Tables, columns or keys do not fit the request.
    Schema,
    /// A type or a feature that is not supported.
    Unsupported,
    /// A frozen position is gone.
    PositionLost,
    /// A stream is not in canonical key order, or leaves the bounds of its range.
    Order,
    /// A value cannot be represented exactly.
    Value,
    /// The store refused or failed while rows were read.
    Read,
    /// An output could not be written.
    Output,
    /// A named limit was reached.
    Limit,
    /// The run was cancelled.
    Cancelled,
    /// A bug in tieout.
    Internal,
}

impl ErrorKind {
    /// Whether the same work may succeed if it is tried again.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Connect)
    }
}

/// Where an [`Error`] happened; filled in as the error unwinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The side.
    pub side: Option<Side>,
    /// The table or file, as a person would write it.
    pub table: Option<String>,
    /// The column.
    pub column: Option<String>,
    /// The number of the range.
    pub range: Option<usize>,
    /// The key of the row, as text.
    pub key: Option<String>,
}

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    place: Place,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// An obstacle. The message says what was being done, what was expected and what was found, in lower case and without
/// a final stop; a hint says what to do. Keys may appear in it; row values, query texts and secrets do not.
#[derive(Debug)]
pub struct Error(Box<Inner>);

impl Error {
    /// Makes an error of `kind` with `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None, place: Place::default(), source: None }))
    }

    /// An error of kind `Internal`, for a state that should be impossible.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds what the user can do; the last hint given wins.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Fills in the side, where it is not known yet.
    #[must_use]
    pub fn on(mut self, side: Side) -> Self {
        self.0.place.side.get_or_insert(side);
        self
    }

    /// Fills in the table, where it is not known yet.
    #[must_use]
    pub fn in_table(mut self, table: impl Into<String>) -> Self {
        self.0.place.table.get_or_insert_with(|| table.into());
        self
    }

    /// Fills in the column, where it is not known yet.
    #[must_use]
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.0.place.column.get_or_insert_with(|| column.into());
        self
    }

    /// Fills in the range, where it is not known yet.
    #[must_use]
    pub fn in_range(mut self, range: usize) -> Self {
        self.0.place.range.get_or_insert(range);
        self
    }

    /// Fills in the key, where it is not known yet.
    #[must_use]
    pub fn at_key(mut self, key: impl Into<String>) -> Self {
        self.0.place.key.get_or_insert_with(|| key.into());
        self
    }

    /// What kind of obstacle this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it happened.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.0.place;
        if let Some(side) = place.side {
            write!(f, "{side}")?;
            if let Some(table) = &place.table {
                write!(f, " {table}")?;
            }
            f.write_str(": ")?;
        } else if let Some(table) = &place.table {
            write!(f, "{table}: ")?;
        }
        if let Some(column) = &place.column {
            write!(f, "column {column}: ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(key) = &place.key {
            write!(f, " (key {key})")?;
        }
        if let Some(range) = place.range {
            write!(f, " (range {range})")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
