//! Types by name, and the numbers by which the catalogue knows them.

use super::collation::{self, Coll};
use super::failure::{Answer, error};
use crate::tds::backend::TdsType;

/// How strongly an expression holds its collation (collation precedence): of two, the stronger one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// A literal or a parameter.
    Default,
    /// A column.
    Implicit,
    /// A COLLATE clause.
    Explicit,
}

/// The type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ty {
    pub(super) kind: TdsType,
    /// Of characters.
    pub(super) collation: &'static Coll,
    pub(super) label: Label,
}

impl Ty {
    /// A type with the server's collation.
    pub(super) fn of(kind: TdsType) -> Self {
        Self { kind, collation: collation::DEFAULT, label: Label::Default }
    }

    pub(super) fn is_wide(&self) -> bool {
        matches!(self.kind, TdsType::NChar(_) | TdsType::NVarChar(_) | TdsType::NText | TdsType::Xml)
    }

    pub(super) fn is_narrow(&self) -> bool {
        matches!(self.kind, TdsType::Char(_) | TdsType::VarChar(_) | TdsType::Text)
    }

    /// `char`, `varchar`, `nchar`, `nvarchar`; of the old long ones none.
    pub(super) fn is_text(&self) -> bool {
        !self.is_long() && self.kind != TdsType::Xml && (self.is_wide() || self.is_narrow())
    }

    pub(super) fn is_long(&self) -> bool {
        matches!(self.kind, TdsType::Text | TdsType::NText | TdsType::Image)
    }

    pub(super) fn is_bytes(&self) -> bool {
        matches!(self.kind, TdsType::Binary(_) | TdsType::VarBinary(_))
    }

    /// The scale of an exact number; `None` for every other type.
    pub(super) fn exact_scale(&self) -> Option<u8> {
        match self.kind {
            TdsType::Bit | TdsType::TinyInt | TdsType::SmallInt | TdsType::Int | TdsType::BigInt => Some(0),
            TdsType::Money | TdsType::SmallMoney => Some(4),
            TdsType::Decimal { scale, .. } | TdsType::Numeric { scale, .. } => Some(scale),
            _ => None,
        }
    }

    /// Place in the list of data type precedence; a larger number wins.
    pub(super) fn precedence(&self) -> u8 {
        match self.kind {
            TdsType::Binary(_) => 1,
            TdsType::VarBinary(_) => 2,
            TdsType::Char(_) => 3,
            TdsType::VarChar(_) => 4,
            TdsType::NChar(_) => 5,
            TdsType::NVarChar(_) => 6,
            TdsType::UniqueIdentifier => 7,
            TdsType::Image => 8,
            TdsType::Text => 9,
            TdsType::NText => 10,
            TdsType::Bit => 11,
            TdsType::TinyInt => 12,
            TdsType::SmallInt => 13,
            TdsType::Int => 14,
            TdsType::BigInt => 15,
            TdsType::SmallMoney => 16,
            TdsType::Money => 17,
            TdsType::Decimal { .. } | TdsType::Numeric { .. } => 18,
            TdsType::Real => 19,
            TdsType::Float => 20,
            TdsType::Time(_) => 21,
            TdsType::Date => 22,
            TdsType::SmallDateTime => 23,
            TdsType::DateTime => 24,
            TdsType::DateTime2(_) => 25,
            TdsType::DateTimeOffset(_) => 26,
            TdsType::Xml => 27,
            TdsType::Variant => 28,
            TdsType::Udt { .. } => 29,
        }
    }
}

/// A type of the catalogue: name, system type number, bytes; numbers of sys.types as documented.
pub(super) const SYSTEM_TYPES: &[(&str, i64)] = &[
    ("image", 34),
    ("text", 35),
    ("uniqueidentifier", 36),
    ("date", 40),
    ("time", 41),
    ("datetime2", 42),
    ("datetimeoffset", 43),
    ("tinyint", 48),
    ("smallint", 52),
    ("int", 56),
    ("smalldatetime", 58),
    ("real", 59),
    ("money", 60),
    ("datetime", 61),
    ("float", 62),
    ("sql_variant", 98),
    ("ntext", 99),
    ("bit", 104),
    ("decimal", 106),
    ("numeric", 108),
    ("smallmoney", 122),
    ("bigint", 127),
    ("varbinary", 165),
    ("varchar", 167),
    ("binary", 173),
    ("char", 175),
    ("timestamp", 189),
    ("nvarchar", 231),
    ("nchar", 239),
    ("xml", 241),
];

/// Types of the catalogue that are made from others: name, system number, user number, whether of the CLR.
pub(super) const OTHER_TYPES: &[(&str, i64, i64, bool)] = &[
    ("hierarchyid", 240, 128, true),
    ("geometry", 240, 129, true),
    ("geography", 240, 130, true),
    ("sysname", 231, 256, false),
];

/// A type as it is written: its plain name, and what it is on the wire.
pub(super) fn parse(text: &str) -> Answer<(String, TdsType)> {
    let text = text.trim().to_ascii_lowercase();
    let (name, rest) = text.split_once('(').map_or((text.as_str(), None), |(name, rest)| (name, Some(rest)));
    let name = name.trim().trim_matches(['[', ']']).trim();
    let arguments: Vec<&str> =
        rest.map(|rest| rest.trim_end().trim_end_matches(')').split(',').map(str::trim).collect()).unwrap_or_default();
    let refused = || error(243, format!("Type {text} is not a defined system type."));
    let number = |place: usize, default: u16| match arguments.get(place) {
        None => Ok(default),
        Some(digits) => digits.parse::<u16>().map_err(|_| refused()),
    };
    let limited = |most: u16, default: u16| match number(0, default)? {
        length if length >= 1 && length <= most => Ok(length),
        _ => Err(refused()),
    };
    let unlimited = |most: u16| if arguments == ["max"] { Ok(None) } else { limited(most, 1).map(Some) };
    let small = |place: usize, default: u8, most: u8| match u8::try_from(number(place, u16::from(default))?) {
        Ok(value) if value <= most => Ok(value),
        _ => Err(refused()),
    };
    let (name, kind) = match name {
        "bit" => ("bit", TdsType::Bit),
        "tinyint" => ("tinyint", TdsType::TinyInt),
        "smallint" => ("smallint", TdsType::SmallInt),
        "int" | "integer" => ("int", TdsType::Int),
        "bigint" => ("bigint", TdsType::BigInt),
        "real" => ("real", TdsType::Real),
        "float" => match small(0, 53, 53)? {
            0..=24 => ("real", TdsType::Real),
            _ => ("float", TdsType::Float),
        },
        "money" => ("money", TdsType::Money),
        "smallmoney" => ("smallmoney", TdsType::SmallMoney),
        "decimal" | "dec" | "numeric" => {
            let precision = small(0, 18, 38)?;
            let scale = small(1, 0, precision)?;
            match name {
                "numeric" => ("numeric", TdsType::Numeric { precision, scale }),
                _ => ("decimal", TdsType::Decimal { precision, scale }),
            }
        }
        "date" => ("date", TdsType::Date),
        "time" => ("time", TdsType::Time(small(0, 7, 7)?)),
        "datetime" => ("datetime", TdsType::DateTime),
        "smalldatetime" => ("smalldatetime", TdsType::SmallDateTime),
        "datetime2" => ("datetime2", TdsType::DateTime2(small(0, 7, 7)?)),
        "datetimeoffset" => ("datetimeoffset", TdsType::DateTimeOffset(small(0, 7, 7)?)),
        "char" => ("char", TdsType::Char(limited(8000, 1)?)),
        "varchar" => ("varchar", TdsType::VarChar(unlimited(8000)?)),
        "nchar" => ("nchar", TdsType::NChar(limited(4000, 1)?)),
        "nvarchar" => ("nvarchar", TdsType::NVarChar(unlimited(4000)?)),
        "sysname" => ("sysname", TdsType::NVarChar(Some(128))),
        "text" => ("text", TdsType::Text),
        "ntext" => ("ntext", TdsType::NText),
        "image" => ("image", TdsType::Image),
        "binary" => ("binary", TdsType::Binary(limited(8000, 1)?)),
        "varbinary" => ("varbinary", TdsType::VarBinary(unlimited(8000)?)),
        "rowversion" | "timestamp" => ("timestamp", TdsType::Binary(8)),
        "uniqueidentifier" => ("uniqueidentifier", TdsType::UniqueIdentifier),
        "xml" => ("xml", TdsType::Xml),
        "sql_variant" => ("sql_variant", TdsType::Variant),
        "hierarchyid" | "geometry" | "geography" => (name, TdsType::Udt { type_name: name.to_owned() }),
        _ => return Err(refused()),
    };
    Ok((name.to_owned(), kind))
}

/// `max_length`, `precision` and `scale` of sys.columns.
pub(super) fn size(kind: &TdsType) -> (i64, i64, i64) {
    let fraction = |scale: u8, base: i64| i64::from(scale.saturating_sub(1) / 2) + base;
    match kind {
        TdsType::Bit => (1, 1, 0),
        TdsType::TinyInt => (1, 3, 0),
        TdsType::SmallInt => (2, 5, 0),
        TdsType::Int => (4, 10, 0),
        TdsType::BigInt => (8, 19, 0),
        TdsType::Real => (4, 24, 0),
        TdsType::Float => (8, 53, 0),
        TdsType::Money => (8, 19, 4),
        TdsType::SmallMoney => (4, 10, 4),
        TdsType::Decimal { precision, scale } | TdsType::Numeric { precision, scale } => {
            let bytes = match precision {
                0..=9 => 5,
                10..=19 => 9,
                20..=28 => 13,
                _ => 17,
            };
            (bytes, i64::from(*precision), i64::from(*scale))
        }
        TdsType::Date => (3, 10, 0),
        TdsType::Time(scale) => (fraction(*scale, 3).min(5), 8 + point(*scale), i64::from(*scale)),
        TdsType::DateTime => (8, 23, 3),
        TdsType::SmallDateTime => (4, 16, 0),
        TdsType::DateTime2(scale) => (fraction(*scale, 6).min(8), 19 + point(*scale), i64::from(*scale)),
        TdsType::DateTimeOffset(scale) => (fraction(*scale, 8).min(10), 26 + point(*scale), i64::from(*scale)),
        TdsType::Char(n) | TdsType::Binary(n) | TdsType::VarChar(Some(n)) | TdsType::VarBinary(Some(n)) => {
            (i64::from(*n), 0, 0)
        }
        TdsType::NChar(n) | TdsType::NVarChar(Some(n)) => (i64::from(*n) * 2, 0, 0),
        TdsType::Text | TdsType::NText | TdsType::Image | TdsType::UniqueIdentifier => (16, 0, 0),
        TdsType::VarChar(None) | TdsType::NVarChar(None) | TdsType::VarBinary(None) | TdsType::Xml => (-1, 0, 0),
        TdsType::Udt { type_name } => (if type_name == "hierarchyid" { 892 } else { -1 }, 0, 0),
        TdsType::Variant => (8016, 0, 0),
    }
}

/// The point and the digits after it.
fn point(scale: u8) -> i64 {
    if scale == 0 { 0 } else { i64::from(scale) + 1 }
}
