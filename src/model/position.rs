//! Where a side is frozen.

use std::fmt;

/// How well a [`Position`] names what the frozen table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// It names exactly the rows that were read.
    Exact,
    /// Two readings around the snapshot agree or enclose it.
    Bracketed,
    /// Nothing is known of it.
    Unknown,
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Bracketed => "bracketed",
            Self::Unknown => "unknown",
        })
    }
}

/// Where a side is frozen, how that was found out and how exact it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Kind of position, such as `pg-lsn` or `file`.
    pub kind: String,
    /// The position itself, printable.
    pub value: String,
    /// How exact it is.
    pub exactness: Exactness,
    /// How it was obtained, for people.
    pub obtained: String,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.kind, self.value, self.exactness)
    }
}
