//! Native types: what the catalogue says of a column, what it is read as, and how it is selected.

use crate::model::LogicalType;
use tiberius::ColumnType;

/// Most UTF-16 units of an nvarchar that is not `max`.
pub(super) const UNITS_MAX: u16 = 4000;

/// Collations whose `char`, `varchar` and `text` are of code page 1252, by the start of their names: the driver reads
/// the code page off the locale alone, takes UTF-8 for 1252, and has code pages of its own for some others.
const LATIN_COLLATIONS: [&str; 2] = ["sql_latin1_general_cp1_", "latin1_general_"];

/// Whether the driver reads text of this collation as the server means it.
pub(super) fn driver_reads(collation: Option<&str>) -> bool {
    let Some(name) = collation.map(str::to_ascii_lowercase) else { return false };
    LATIN_COLLATIONS.iter().any(|start| name.starts_with(start)) && !name.contains("utf8")
}

/// Characters of a text column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Characters {
    /// Whether they are stored as UTF-16 (`nchar`, `nvarchar`, `ntext`).
    pub(super) national: bool,
    /// Whether values are padded with blanks (`char`, `nchar`).
    pub(super) fixed: bool,
    /// `text` or `ntext`.
    pub(super) large_object: bool,
    /// Most units of storage: bytes of a code page, or UTF-16 units; `None` is `max`.
    pub(super) units: Option<u16>,
}

/// What a column holds, as it comes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Bit,
    /// Whole numbers: bits and whether negative ones exist.
    Integer(u8, bool),
    /// Precision and scale where they are known.
    Decimal(Option<(u8, u8)>),
    /// `money` (true) and `smallmoney`; read as `decimal(19,4)`, since the driver makes floats of them.
    Money(bool),
    Real,
    Float,
    Date,
    /// Digits after the second.
    Time(u8),
    DateTime,
    SmallDateTime,
    /// `datetime` or `smalldatetime`: a query's result does not tell.
    AnyDateTime,
    /// Digits after the second.
    DateTime2(u8),
    /// Digits after the second.
    DateTimeOffset(u8),
    Text(Characters),
    /// `binary(n)` if a length is given, else values of any length; whether it is `image`.
    Binary(Option<u16>, bool),
    RowVersion,
    Uuid,
    Xml,
    /// `hierarchyid`, `geography`, `geometry`: read as their stored bytes.
    Clr,
    /// Not read; the text says why and what would help.
    Unsupported(String),
}

/// A type of `sys.types`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeRow {
    pub(super) name: String,
    pub(super) system_id: i64,
    pub(super) user_id: i64,
    pub(super) user_defined: bool,
    pub(super) assembly: bool,
}

/// What `sys.columns` says of the size of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes; -1 is `max`.
    pub(super) max_length: i64,
    pub(super) precision: u8,
    pub(super) scale: u8,
}

/// The type a column is declared with, and the system type below it: numbers of types differ between servers, names
/// do not.
pub(super) fn resolve(types: &[TypeRow], user_id: i64, system_id: i64) -> (Option<&TypeRow>, Option<&TypeRow>) {
    let declared = types.iter().find(|row| row.user_id == user_id);
    let base = match declared {
        Some(row) if !row.user_defined && row.name != "sysname" => Some(row),
        // A CLR type of the user has no system type below it.
        Some(row) if row.user_defined && row.assembly => None,
        _ => types
            .iter()
            .find(|row| row.system_id == system_id && !row.user_defined && !row.assembly && row.name != "sysname"),
    };
    (declared, base)
}

fn unsupported(reason: &str) -> Wire {
    Wire::Unsupported(reason.to_owned())
}

/// Why `sql_variant` is not read.
const VARIANT: &str = "sql_variant holds values of any type; convert it to one type in a --source-query or --sink-query, \
                       such as CONVERT(decimal(38,10), COLUMN)";

impl Wire {
    /// The type of this name, as a column of this size has it.
    pub(super) fn new(name: &str, size: Size) -> Self {
        let units = |bytes: i64| match size.max_length {
            -1 => None,
            length => u16::try_from(length / bytes).ok(),
        };
        let text = |national: bool, fixed: bool, large_object: bool| {
            let units = if large_object { None } else { units(if national { 2 } else { 1 }) };
            Self::Text(Characters { national, fixed, large_object, units })
        };
        match name {
            "bit" => Self::Bit,
            "tinyint" => Self::Integer(8, false),
            "smallint" => Self::Integer(16, true),
            "int" => Self::Integer(32, true),
            "bigint" => Self::Integer(64, true),
            "decimal" | "numeric" => Self::Decimal(Some((size.precision, size.scale))),
            "money" => Self::Money(true),
            "smallmoney" => Self::Money(false),
            "real" => Self::Real,
            "float" => Self::Float,
            "date" => Self::Date,
            "time" => Self::Time(size.scale),
            "datetime" => Self::DateTime,
            "smalldatetime" => Self::SmallDateTime,
            "datetime2" => Self::DateTime2(size.scale),
            "datetimeoffset" => Self::DateTimeOffset(size.scale),
            "char" => text(false, true, false),
            "varchar" => text(false, false, false),
            "nchar" => text(true, true, false),
            "nvarchar" | "sysname" => text(true, false, false),
            "text" => text(false, false, true),
            "ntext" => text(true, false, true),
            "binary" => Self::Binary(units(1), false),
            "varbinary" => Self::Binary(None, false),
            "image" => Self::Binary(None, true),
            "timestamp" | "rowversion" => Self::RowVersion,
            "uniqueidentifier" => Self::Uuid,
            "xml" => Self::Xml,
            "hierarchyid" | "geography" | "geometry" => Self::Clr,
            "sql_variant" => unsupported(VARIANT),
            "json" => unsupported("json of SQL Server is not read yet; convert it to nvarchar(max) in a query"),
            "vector" => unsupported("vector is not read; convert it to nvarchar(max) in a query"),
            _ => Self::Unsupported(format!(
                "type {name} is not known; convert it to a type that is, in a --source-query or --sink-query"
            )),
        }
    }

    /// The type of a query's column, as far as the result tells.
    pub(super) fn of_result(column: ColumnType) -> Self {
        let text =
            |national, fixed, large_object| Self::Text(Characters { national, fixed, large_object, units: None });
        match column {
            ColumnType::Bit | ColumnType::Bitn => Self::Bit,
            ColumnType::Int1 => Self::Integer(8, false),
            ColumnType::Int2 => Self::Integer(16, true),
            ColumnType::Int4 => Self::Integer(32, true),
            ColumnType::Int8 | ColumnType::Intn => Self::Integer(64, true),
            ColumnType::Float4 => Self::Real,
            ColumnType::Float8 | ColumnType::Floatn => Self::Float,
            ColumnType::Money => Self::Money(true),
            ColumnType::Money4 => Self::Money(false),
            ColumnType::Decimaln | ColumnType::Numericn => Self::Decimal(None),
            ColumnType::Datetime => Self::DateTime,
            ColumnType::Datetime4 => Self::SmallDateTime,
            ColumnType::Datetimen => Self::AnyDateTime,
            ColumnType::Daten => Self::Date,
            ColumnType::Timen => Self::Time(7),
            ColumnType::Datetime2 => Self::DateTime2(7),
            ColumnType::DatetimeOffsetn => Self::DateTimeOffset(7),
            ColumnType::Guid => Self::Uuid,
            // The length of binary(n) is not told, and rowversion comes as one.
            ColumnType::BigVarBin | ColumnType::BigBinary => Self::Binary(None, false),
            ColumnType::Image => Self::Binary(None, true),
            ColumnType::BigVarChar => text(false, false, false),
            ColumnType::BigChar => text(false, true, false),
            ColumnType::NVarchar => text(true, false, false),
            ColumnType::NChar => text(true, true, false),
            ColumnType::Text => text(false, false, true),
            ColumnType::NText => text(true, false, true),
            ColumnType::Xml => Self::Xml,
            ColumnType::Udt => Self::Clr,
            ColumnType::SSVariant => unsupported(VARIANT),
            ColumnType::Null => unsupported("the result does not tell its type; convert it to one"),
        }
    }

    /// The store-neutral type.
    pub(super) fn logical(&self) -> LogicalType {
        match self {
            Self::Bit => LogicalType::Boolean,
            Self::Integer(bits, signed) => LogicalType::Integer { bits: *bits, signed: *signed },
            Self::Decimal(declared) => LogicalType::Decimal {
                declared: declared.map(|(precision, scale)| (u32::from(precision), i32::from(scale))),
            },
            Self::Money(true) => LogicalType::Decimal { declared: Some((19, 4)) },
            Self::Money(false) => LogicalType::Decimal { declared: Some((10, 4)) },
            Self::Real => LogicalType::Float { bits: 32 },
            Self::Float => LogicalType::Float { bits: 64 },
            Self::Date => LogicalType::Date,
            Self::Time(digits) => LogicalType::Time { digits: *digits },
            Self::DateTime | Self::AnyDateTime => LogicalType::Timestamp { digits: 3 },
            Self::SmallDateTime => LogicalType::Timestamp { digits: 0 },
            Self::DateTime2(digits) => LogicalType::Timestamp { digits: *digits },
            Self::DateTimeOffset(digits) => LogicalType::OffsetInstant { digits: *digits },
            Self::Text(characters) if characters.fixed => LogicalType::Char,
            Self::Text(_) => LogicalType::Text,
            Self::Binary(..) | Self::RowVersion | Self::Clr => LogicalType::Binary,
            Self::Uuid => LogicalType::Uuid,
            Self::Xml => LogicalType::Xml,
            Self::Unsupported(reason) => LogicalType::Unsupported(reason.clone()),
        }
    }

    /// The column in a select list: unchanged, unless the driver or the wire would lose something. Text of a code page is
    /// converted by the server, unless the driver is known to read it as the server means it (`driver_reads`).
    pub(super) fn selected(&self, column: &str, driver_reads: bool) -> String {
        match self {
            Self::Text(Characters { national: false, units, .. }) if !driver_reads => {
                // A byte of storage is one UTF-16 unit at most.
                match units.filter(|units| *units <= UNITS_MAX) {
                    Some(units) => format!("CONVERT(nvarchar({units}), {column})"),
                    None => format!("CONVERT(nvarchar(max), {column})"),
                }
            }
            Self::Money(_) => format!("CONVERT(decimal(19,4), {column})"),
            Self::Xml => format!("CONVERT(nvarchar(max), {column})"),
            Self::Clr | Self::Binary(_, true) => format!("CONVERT(varbinary(max), {column})"),
            Self::Text(Characters { large_object: true, national, .. }) => {
                format!("CONVERT({}(max), {column})", if *national { "nvarchar" } else { "varchar" })
            }
            _ => column.to_owned(),
        }
    }
}

/// The declared type as a person would write it.
pub(super) fn native(name: &str, size: Size) -> String {
    let length = |bytes: i64| match size.max_length {
        -1 => "max".to_owned(),
        length => (length / bytes).to_string(),
    };
    match name {
        "decimal" | "numeric" => format!("{name}({},{})", size.precision, size.scale),
        "time" | "datetime2" | "datetimeoffset" => format!("{name}({})", size.scale),
        "char" | "varchar" | "binary" | "varbinary" => format!("{name}({})", length(1)),
        "nchar" | "nvarchar" => format!("{name}({})", length(2)),
        // The name that the type has besides misleads: it holds no time.
        "timestamp" => "rowversion".to_owned(),
        _ => name.to_owned(),
    }
}

/// The type of a query's column as a person would write it.
pub(super) fn native_of_result(column: ColumnType) -> String {
    match column {
        ColumnType::Intn => "int".to_owned(),
        other => format!("{other:?}").to_lowercase().trim_start_matches("big").trim_end_matches('n').to_owned(),
    }
}

/// The native types, as the manual spells them, and what they are read as; for the reference page.
pub(super) fn documented() -> Vec<(String, LogicalType)> {
    [
        ("bit", "bit"),
        ("tinyint", "tinyint"),
        ("smallint", "smallint"),
        ("int", "int"),
        ("bigint", "bigint"),
        ("decimal(p,s)", "decimal"),
        ("numeric(p,s)", "numeric"),
        ("money", "money"),
        ("smallmoney", "smallmoney"),
        ("real", "real"),
        ("float", "float"),
        ("date", "date"),
        ("time(n)", "time"),
        ("datetime", "datetime"),
        ("smalldatetime", "smalldatetime"),
        ("datetime2(n)", "datetime2"),
        ("datetimeoffset(n)", "datetimeoffset"),
        ("char(n)", "char"),
        ("varchar(n)", "varchar"),
        ("text", "text"),
        ("nchar(n)", "nchar"),
        ("nvarchar(n)", "nvarchar"),
        ("ntext", "ntext"),
        ("binary(n)", "binary"),
        ("varbinary(n)", "varbinary"),
        ("image", "image"),
        ("rowversion", "timestamp"),
        ("uniqueidentifier", "uniqueidentifier"),
        ("xml", "xml"),
        ("hierarchyid", "hierarchyid"),
        ("geography", "geography"),
        ("geometry", "geometry"),
        ("sql_variant", "sql_variant"),
    ]
    .into_iter()
    .map(|(shown, name)| (shown.to_owned(), Wire::new(name, Size { max_length: 8, precision: 18, scale: 7 }).logical()))
    .collect()
}

#[cfg(test)]
#[path = "types_tests.rs"]
mod tests;
