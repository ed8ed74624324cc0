//! What a connector says of a table: columns with store-neutral types, and keys.

use super::GeometricKind;

/// How a store's unquoted names behave; decides how names of the two sides are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCase {
    /// `A` and `a` are two names.
    Sensitive,
    /// `A` and `a` are one name.
    Insensitive,
}

/// The store-neutral form of a native type: what the plan pairs, and what the connector will hand to the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogicalType {
    /// false, true
    Boolean,
    /// Whole numbers of at most 64 bits.
    Integer {
        /// 8, 16, 32 or 64.
        bits: u8,
        /// Whether negative values exist.
        signed: bool,
    },
    /// Decimals; precision and scale where they are declared.
    Decimal {
        /// (precision, scale) as declared.
        declared: Option<(u32, i32)>,
    },
    /// Binary floats.
    Float {
        /// 16, 32 or 64.
        bits: u8,
    },
    /// Characters.
    Text,
    /// CHAR(n): padded text, read without its pad blanks.
    Char,
    /// A label out of a fixed list; compared as text.
    Enum,
    /// Text from a file that declares no types: takes the type of its partner by parsing.
    Untyped,
    /// A column that holds NULL alone and so pairs with any type.
    Null,
    /// Bytes.
    Binary,
    /// Bit strings.
    Bits,
    /// Days.
    Date,
    /// Time of day.
    Time {
        /// Digits after the second, 0 to 9.
        digits: u8,
    },
    /// Time of day with its offset.
    TimeTz,
    /// Calendar time without a zone.
    Timestamp {
        /// Digits after the second, 0 to 9.
        digits: u8,
    },
    /// A moment.
    Instant {
        /// Digits after the second, 0 to 9.
        digits: u8,
    },
    /// A moment and its offset.
    OffsetInstant {
        /// Digits after the second, 0 to 9.
        digits: u8,
    },
    /// Months, days, microseconds.
    Interval,
    /// UUIDs.
    Uuid,
    /// JSON documents.
    Json,
    /// XML, compared as the text that is stored.
    Xml,
    /// Network addresses.
    Inet,
    /// Hardware addresses of 6 bytes.
    Mac,
    /// Hardware addresses of 8 bytes.
    Mac8,
    /// Figures of the plane.
    Geometric(GeometricKind),
    /// Lists of any number of dimensions.
    List(Box<Self>),
    /// Named fields, in the order of the store.
    Struct(Vec<(String, Self)>),
    /// Unordered entries.
    Map(Box<Self>, Box<Self>),
    /// Ranges.
    Range(Box<Self>),
    /// Sets of ranges.
    Multirange(Box<Self>),
    /// Cells that are each a number, text or bytes of their own, whatever the column declares; the inner type is what
    /// the declaration hints at.
    Dynamic(Box<Self>),
    /// Not supported; the text says why and what would help.
    Unsupported(String),
}

/// A column of a [`TableSchema`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, exactly as the store has it.
    pub name: String,
    /// The native type as the store spells it, such as `numeric(12,2)`.
    pub native: String,
    /// The store-neutral type.
    pub logical: LogicalType,
    /// Whether NULL may occur.
    pub nullable: bool,
    /// Whether the column takes part only when it is named (invisible columns).
    pub hidden: bool,
    /// What the column's order on the server is called (a collation), where it matters.
    pub collation: Option<String>,
}

/// A list of columns that identify a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCandidate {
    /// `primary key`, or the name of the unique index.
    pub origin: String,
    /// Column names in the order of the key definition.
    pub columns: Vec<String>,
}

/// What a frozen table looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// The table or file as a person would write it; no secrets.
    pub display: String,
    /// The columns, in the order of the store.
    pub columns: Vec<Column>,
    /// Keys that the store guarantees (unique, without NULL), the primary key first.
    pub keys: Vec<KeyCandidate>,
    /// How names behave.
    pub name_case: NameCase,
    /// Estimated number of rows, where the store has one.
    pub rows_estimate: Option<u64>,
    /// Estimated size in bytes, where the store has one.
    pub bytes_estimate: Option<u64>,
}

impl TableSchema {
    /// The column of exactly this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// The native types of a store, as its manual spells them, and the store-neutral type of each; for the reference page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeTypes {
    /// The store's name.
    pub store: &'static str,
    /// (native type, store-neutral type)
    pub types: Vec<(String, LogicalType)>,
}
