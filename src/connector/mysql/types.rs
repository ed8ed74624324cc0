//! Native types: how each comes over the wire, and what it is to the plan.

use crate::model::LogicalType;

/// How a column comes, and how it is compared on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// Whole numbers of 8, 16, 24, 32 or 64 bits.
    Int { bits: u8, signed: bool },
    /// `year`: 0 and 1901 to 2155.
    Year,
    /// `bit(n)`.
    Bit(u32),
    /// `decimal(precision, scale)`, as text.
    Decimal { precision: u32, scale: u32 },
    /// `float`: 32 bits.
    Float,
    /// `double`.
    Double,
    /// `date`.
    Date,
    /// `datetime(digits)`.
    DateTime(u8),
    /// `timestamp(digits)`, in UTC.
    Timestamp(u8),
    /// `time(digits)`.
    Time(u8),
    /// Characters, converted by the server.
    Text(TextColumn),
    /// Bytes; whether the type is unbounded (a blob), or labels out of a list (`enum` and `set` of the set `binary`).
    Binary { blob: bool, labels: bool },
    /// Figures: the number of the reference system in four bytes, and well-known binary.
    Geometry,
    /// JSON documents, as text of a character set.
    Json { charset: String },
    /// MariaDB's `uuid`, as text.
    Uuid,
    /// MariaDB's `inet4`, as text.
    Inet4,
    /// MariaDB's `inet6`, as text.
    Inet6,
    /// A type that is not read; the text says why and what would help.
    Unsupported(String),
}

/// Which type of characters it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// `char(n)`: the server gives it without pad blanks.
    Char,
    /// `varchar(n)`.
    Varchar,
    /// `text` of any size.
    Text,
    /// A label out of a list.
    Enum,
    /// Labels out of a list, joined by commas in the order of the definition.
    Set,
}

/// A column of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextColumn {
    pub(super) kind: TextKind,
    /// Character set that the column is stored in.
    pub(super) charset: String,
    /// Collation; empty where it is not known.
    pub(super) collation: String,
}

/// Character sets of which the server converts every character to utf8mb4. What another set stores and Unicode lacks
/// would come as a question mark, and is looked for.
const WHOLE_CHARSETS: &[&str] = &["utf8mb4", "utf8mb3", "utf8", "latin1"];
/// The others that can hold every character of Unicode, U+FFFD among them.
const UNICODE_CHARSETS: &[&str] = &["utf16", "utf16le", "utf32", "ucs2", "gb18030"];

/// Collations that compare utf8mb4 by its bytes, a shorter text first: no pad, no weights.
const BYTE_COLLATIONS: &[&str] = &["utf8mb4_nopad_bin", "utf8mb4_0900_bin"];

impl TextColumn {
    /// Whether the column's own order is that of its UTF-8 bytes.
    pub(super) fn is_byte_ordered(&self) -> bool {
        self.kind == TextKind::Varchar && BYTE_COLLATIONS.contains(&self.collation.as_str())
    }
}

/// What the catalog says of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    /// `DATA_TYPE`, such as `int`.
    pub(super) data_type: String,
    /// `COLUMN_TYPE`, such as `int(11) unsigned`.
    pub(super) column_type: String,
    pub(super) charset: Option<String>,
    pub(super) collation: Option<String>,
    pub(super) precision: Option<u64>,
    pub(super) scale: Option<u64>,
    pub(super) digits: Option<u64>,
    /// Whether a check demands that it is JSON (MariaDB's form of the type).
    pub(super) json: bool,
}

/// How a declared column comes.
pub(super) fn wire(declared: &Declared) -> Wire {
    let column_type = declared.column_type.to_lowercase();
    let signed = !column_type.contains("unsigned") && !column_type.contains("zerofill");
    let int = |bits| Wire::Int { bits, signed };
    let digits = u8::try_from(declared.digits.unwrap_or(0)).unwrap_or(6);
    let narrow =
        |number: Option<u64>, otherwise: u32| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(otherwise);
    let text = |kind| match &declared.charset {
        // Characters of the set `binary` are bytes.
        Some(charset) if charset == "binary" => {
            Wire::Binary { blob: kind == TextKind::Text, labels: matches!(kind, TextKind::Enum | TextKind::Set) }
        }
        charset => Wire::Text(TextColumn {
            kind,
            charset: charset.clone().unwrap_or_default(),
            collation: declared.collation.clone().unwrap_or_default(),
        }),
    };
    match declared.data_type.to_lowercase().as_str() {
        "tinyint" => int(8),
        "smallint" => int(16),
        "mediumint" => int(24),
        "int" | "integer" => int(32),
        "bigint" => int(64),
        "year" => Wire::Year,
        "bit" => Wire::Bit(narrow(declared.precision, 64)),
        "decimal" | "numeric" => {
            Wire::Decimal { precision: narrow(declared.precision, 65), scale: narrow(declared.scale, 30) }
        }
        "float" => Wire::Float,
        "double" | "real" => Wire::Double,
        "date" => Wire::Date,
        "datetime" => Wire::DateTime(digits),
        "timestamp" => Wire::Timestamp(digits),
        "time" => Wire::Time(digits),
        // MySQL's own type is stored in utf8mb4, whatever the table.
        "json" => Wire::Json { charset: "utf8mb4".to_owned() },
        "longtext" | "text" | "mediumtext" | "tinytext" if declared.json => {
            Wire::Json { charset: declared.charset.clone().unwrap_or_else(|| "utf8mb4".to_owned()) }
        }
        "char" => text(TextKind::Char),
        "varchar" => text(TextKind::Varchar),
        "tinytext" | "text" | "mediumtext" | "longtext" => text(TextKind::Text),
        "enum" => text(TextKind::Enum),
        "set" => text(TextKind::Set),
        "binary" | "varbinary" => Wire::Binary { blob: false, labels: false },
        "tinyblob" | "blob" | "mediumblob" | "longblob" => Wire::Binary { blob: true, labels: false },
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
        | "geometrycollection" | "geomcollection" => Wire::Geometry,
        "uuid" => Wire::Uuid,
        "inet4" => Wire::Inet4,
        "inet6" => Wire::Inet6,
        other => Wire::Unsupported(format!("the type {other} is not read")),
    }
}

/// The types as the manuals spell them, for the reference page.
pub(super) fn documented() -> Vec<(String, LogicalType)> {
    let of = |native: &str| {
        let data_type = native.split(['(', ' ']).next().unwrap_or_default().to_owned();
        let is_text = matches!(data_type.as_str(), "char" | "varchar" | "text" | "enum" | "set");
        wire(&Declared {
            column_type: native.to_owned(),
            charset: is_text.then(|| "utf8mb4".to_owned()),
            digits: native.contains("(6)").then_some(6),
            json: data_type == "longtext",
            data_type,
            ..Declared::default()
        })
    };
    let natives = [
        "tinyint, tinyint(1)",
        "tinyint unsigned",
        "smallint",
        "smallint unsigned",
        "mediumint",
        "int",
        "int unsigned",
        "bigint",
        "bigint unsigned",
        "year",
        "decimal",
        "float",
        "double",
        "bit(n)",
        "char(n)",
        "varchar(n)",
        "text",
        "enum",
        "set",
        "json",
        "binary(n)",
        "varbinary(n)",
        "blob",
        "date",
        "datetime(6)",
        "timestamp(6)",
        "time(6)",
        "uuid",
        "inet4",
        "inet6",
        "geometry",
    ];
    natives
        .into_iter()
        .map(|native| (native.to_owned(), of(native.trim_end_matches(", tinyint(1)")).logical()))
        .collect()
}

impl Wire {
    /// The character set that the server converts from, where it may lose a character without a word.
    pub(super) fn lossy_charset(&self) -> Option<&str> {
        let (Self::Text(TextColumn { charset, .. }) | Self::Json { charset }) = self else { return None };
        Some(charset.as_str()).filter(|charset| !WHOLE_CHARSETS.contains(charset))
    }

    /// Whether U+FFFD can be a character that was stored, instead of one that was lost.
    pub(super) fn holds_replacements(&self) -> bool {
        self.lossy_charset().is_none_or(|charset| UNICODE_CHARSETS.contains(&charset))
    }

    /// What the plan pairs.
    pub(super) fn logical(&self) -> LogicalType {
        match self {
            Self::Int { bits: 24, signed } => LogicalType::Integer { bits: 32, signed: *signed },
            Self::Int { bits, signed } => LogicalType::Integer { bits: *bits, signed: *signed },
            Self::Year => LogicalType::Integer { bits: 16, signed: false },
            Self::Bit(_) => LogicalType::Bits,
            Self::Decimal { precision, scale } => {
                LogicalType::Decimal { declared: i32::try_from(*scale).ok().map(|scale| (*precision, scale)) }
            }
            Self::Float => LogicalType::Float { bits: 32 },
            Self::Double => LogicalType::Float { bits: 64 },
            Self::Date => LogicalType::Date,
            Self::DateTime(digits) => LogicalType::Timestamp { digits: *digits },
            Self::Timestamp(digits) => LogicalType::Instant { digits: *digits },
            Self::Time(digits) => LogicalType::Time { digits: *digits },
            Self::Text(TextColumn { kind: TextKind::Char, .. }) => LogicalType::Char,
            Self::Text(TextColumn { kind: TextKind::Enum, .. }) => LogicalType::Enum,
            Self::Text(_) => LogicalType::Text,
            Self::Binary { .. } | Self::Geometry => LogicalType::Binary,
            Self::Json { .. } => LogicalType::Json,
            Self::Uuid => LogicalType::Uuid,
            Self::Inet4 | Self::Inet6 => LogicalType::Inet,
            Self::Unsupported(reason) => LogicalType::Unsupported(reason.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types() {
        let of = |data_type: &str, column_type: &str| {
            wire(&Declared {
                data_type: data_type.into(),
                column_type: column_type.into(),
                charset: Some("utf8mb4".into()),
                collation: Some("utf8mb4_nopad_bin".into()),
                precision: Some(10),
                scale: Some(2),
                digits: Some(3),
                json: false,
            })
        };
        assert_eq!(of("tinyint", "tinyint(1)").logical(), LogicalType::Integer { bits: 8, signed: true });
        assert_eq!(of("bigint", "bigint(20) unsigned"), Wire::Int { bits: 64, signed: false });
        assert_eq!(of("int", "int(5) unsigned zerofill"), Wire::Int { bits: 32, signed: false });
        assert_eq!(of("decimal", "decimal(10,2)").logical(), LogicalType::Decimal { declared: Some((10, 2)) });
        assert_eq!(of("timestamp", "timestamp(3)").logical(), LogicalType::Instant { digits: 3 });
        assert_eq!(of("enum", "enum('unsigned')").logical(), LogicalType::Enum);
        assert!(matches!(of("varchar", "varchar(9)"), Wire::Text(text) if text.is_byte_ordered()));
        assert_eq!(of("varchar", "varchar(9)").lossy_charset(), None);
        assert!(matches!(of("char", "char(9)"), Wire::Text(text) if !text.is_byte_ordered()));
        assert!(matches!(of("vector", "vector(3)").logical(), LogicalType::Unsupported(_)));
    }
}
