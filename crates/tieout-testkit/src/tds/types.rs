//! Column types and their values as a server writes them ([MS-TDS] 2.2.5.4 and 2.2.5.5).

use super::backend::{Cell, Collation, ColumnInfo, TdsType};
use super::wire::{put_b_varchar, put_units, put_us_varchar, swap_guid};
use crate::Result;

/// The type bytes of [MS-TDS] 2.2.5.4.
pub mod byte {
    pub(crate) const NULL: u8 = 0x1F;
    pub(crate) const IMAGE: u8 = 0x22;
    pub(crate) const TEXT: u8 = 0x23;
    pub(crate) const GUID: u8 = 0x24;
    pub(crate) const INT_N: u8 = 0x26;
    pub(crate) const DATE_N: u8 = 0x28;
    pub(crate) const TIME_N: u8 = 0x29;
    pub(crate) const DATETIME2_N: u8 = 0x2A;
    pub(crate) const DATETIMEOFFSET_N: u8 = 0x2B;
    pub(crate) const INT1: u8 = 0x30;
    pub(crate) const BIT: u8 = 0x32;
    pub(crate) const INT2: u8 = 0x34;
    pub(crate) const INT4: u8 = 0x38;
    pub(crate) const DATETIME4: u8 = 0x3A;
    pub(crate) const FLOAT4: u8 = 0x3B;
    pub(crate) const MONEY: u8 = 0x3C;
    pub(crate) const DATETIME: u8 = 0x3D;
    pub(crate) const FLOAT8: u8 = 0x3E;
    pub(crate) const VARIANT: u8 = 0x62;
    pub(crate) const NTEXT: u8 = 0x63;
    pub(crate) const BIT_N: u8 = 0x68;
    pub(crate) const DECIMAL_N: u8 = 0x6A;
    pub(crate) const NUMERIC_N: u8 = 0x6C;
    pub(crate) const FLOAT_N: u8 = 0x6D;
    pub(crate) const MONEY_N: u8 = 0x6E;
    pub(crate) const DATETIME_N: u8 = 0x6F;
    pub(crate) const MONEY4: u8 = 0x7A;
    pub(crate) const INT8: u8 = 0x7F;
    pub(crate) const BIG_VARBINARY: u8 = 0xA5;
    pub(crate) const BIG_VARCHAR: u8 = 0xA7;
    pub(crate) const BIG_BINARY: u8 = 0xAD;
    pub(crate) const BIG_CHAR: u8 = 0xAF;
    pub(crate) const NVARCHAR: u8 = 0xE7;
    pub(crate) const NCHAR: u8 = 0xEF;
    pub(crate) const UDT: u8 = 0xF0;
    pub(crate) const XML: u8 = 0xF1;
}

/// Where values of unlimited length are cut ([MS-TDS] 2.2.5.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plp {
    /// The most bytes in one chunk; `None` sends each value as one.
    pub chunk: Option<usize>,
    /// Sends the length as unknown instead of saying it first.
    pub unknown_length: bool,
}

/// The length in a PLP value that stands for an unknown one.
const UNKNOWN_LENGTH: u64 = 0xFFFF_FFFF_FFFF_FFFE;

/// The most bytes that a `sql_variant` may have.
const VARIANT_LIMIT: u32 = 8009;

/// The text pointer before each `text`, `ntext` and `image`; clients only skip it.
const TEXT_POINTER: &[u8; 16] = b"dummy textptr\0\0\0";

/// Whether the type's values have no length of their own: a fixed type, which has no NULL.
#[must_use]
pub fn fixed_byte(column: &ColumnInfo) -> Option<u8> {
    if column.nullable {
        return None;
    }
    Some(match column.kind {
        TdsType::Bit => byte::BIT,
        TdsType::TinyInt => byte::INT1,
        TdsType::SmallInt => byte::INT2,
        TdsType::Int => byte::INT4,
        TdsType::BigInt => byte::INT8,
        TdsType::Real => byte::FLOAT4,
        TdsType::Float => byte::FLOAT8,
        TdsType::Money => byte::MONEY,
        TdsType::SmallMoney => byte::MONEY4,
        TdsType::DateTime => byte::DATETIME,
        TdsType::SmallDateTime => byte::DATETIME4,
        _ => return None,
    })
}

/// Appends `TYPE_INFO` and, for the old long types, the table's name.
pub fn put_type_info(out: &mut Vec<u8>, column: &ColumnInfo, default: Collation) -> Result<()> {
    if let Some(fixed) = fixed_byte(column) {
        out.push(fixed);
        return Ok(());
    }
    let collation = column.collation.unwrap_or(default).bytes;
    let limited = |out: &mut Vec<u8>, kind: u8, bytes: Option<u32>| -> Result<()> {
        out.push(kind);
        let bytes = bytes.map_or(Ok(u16::MAX), u16::try_from)?;
        out.extend(bytes.to_le_bytes());
        Ok(())
    };
    match &column.kind {
        TdsType::Bit => out.extend([byte::BIT_N, 1]),
        TdsType::TinyInt => out.extend([byte::INT_N, 1]),
        TdsType::SmallInt => out.extend([byte::INT_N, 2]),
        TdsType::Int => out.extend([byte::INT_N, 4]),
        TdsType::BigInt => out.extend([byte::INT_N, 8]),
        TdsType::Real => out.extend([byte::FLOAT_N, 4]),
        TdsType::Float => out.extend([byte::FLOAT_N, 8]),
        TdsType::Money => out.extend([byte::MONEY_N, 8]),
        TdsType::SmallMoney => out.extend([byte::MONEY_N, 4]),
        TdsType::Decimal { precision, scale } => {
            out.extend([byte::DECIMAL_N, decimal_bytes(*precision) + 1, *precision, *scale]);
        }
        TdsType::Numeric { precision, scale } => {
            out.extend([byte::NUMERIC_N, decimal_bytes(*precision) + 1, *precision, *scale]);
        }
        TdsType::Date => out.push(byte::DATE_N),
        TdsType::Time(scale) => out.extend([byte::TIME_N, *scale]),
        TdsType::DateTime2(scale) => out.extend([byte::DATETIME2_N, *scale]),
        TdsType::DateTimeOffset(scale) => out.extend([byte::DATETIMEOFFSET_N, *scale]),
        TdsType::DateTime => out.extend([byte::DATETIME_N, 8]),
        TdsType::SmallDateTime => out.extend([byte::DATETIME_N, 4]),
        TdsType::Char(n) => limited(out, byte::BIG_CHAR, Some(u32::from(*n)))?,
        TdsType::VarChar(n) => limited(out, byte::BIG_VARCHAR, n.map(u32::from))?,
        TdsType::NChar(n) => limited(out, byte::NCHAR, Some(u32::from(*n) * 2))?,
        TdsType::NVarChar(n) => limited(out, byte::NVARCHAR, n.map(|n| u32::from(n) * 2))?,
        TdsType::Binary(n) => limited(out, byte::BIG_BINARY, Some(u32::from(*n)))?,
        TdsType::VarBinary(n) => limited(out, byte::BIG_VARBINARY, n.map(u32::from))?,
        TdsType::Text => put_long(out, byte::TEXT, i32::MAX.unsigned_abs()),
        TdsType::NText => put_long(out, byte::NTEXT, i32::MAX.unsigned_abs() - 1),
        TdsType::Image => put_long(out, byte::IMAGE, i32::MAX.unsigned_abs()),
        TdsType::Variant => put_long(out, byte::VARIANT, VARIANT_LIMIT),
        TdsType::UniqueIdentifier => out.extend([byte::GUID, 16]),
        TdsType::Xml => out.extend([byte::XML, 0]),
        TdsType::Udt { type_name } => {
            out.extend([byte::UDT, 0xFF, 0xFF]);
            put_b_varchar(out, "master")?;
            put_b_varchar(out, "sys")?;
            put_b_varchar(out, type_name)?;
            put_us_varchar(out, "Microsoft.SqlServer.Types, Version=16.0.0.0")?;
        }
    }
    let with_collation = matches!(
        column.kind,
        TdsType::Char(_)
            | TdsType::VarChar(_)
            | TdsType::NChar(_)
            | TdsType::NVarChar(_)
            | TdsType::Text
            | TdsType::NText
    );
    if with_collation {
        out.extend(collation);
    }
    if matches!(column.kind, TdsType::Text | TdsType::NText | TdsType::Image) {
        // TableName: one part.
        out.push(1);
        put_us_varchar(out, "t")?;
    }
    Ok(())
}

fn put_long(out: &mut Vec<u8>, kind: u8, length: u32) {
    out.push(kind);
    out.extend(length.to_le_bytes());
}

/// The bytes of a decimal's magnitude by its precision ([MS-TDS] 2.2.5.5.1.6).
#[must_use]
pub fn decimal_bytes(precision: u8) -> u8 {
    match precision {
        0..=9 => 4,
        10..=19 => 8,
        20..=28 => 12,
        _ => 16,
    }
}

/// The bytes of a time by its scale ([MS-TDS] 2.2.5.5.1.8).
#[must_use]
pub fn time_bytes(scale: u8) -> u8 {
    match scale {
        0..=2 => 3,
        3 | 4 => 4,
        _ => 5,
    }
}

/// Appends a value of `column`; the backend's mistakes (a value of another type, NULL in a fixed type) are errors.
pub fn put_value(out: &mut Vec<u8>, column: &ColumnInfo, cell: &Cell, plp: Plp) -> Result<()> {
    if *cell == Cell::Null {
        return put_null(out, column);
    }
    match (&column.kind, cell) {
        (TdsType::VarChar(None) | TdsType::VarBinary(None) | TdsType::Udt { .. }, Cell::Bytes(bytes)) => {
            return put_plp(out, bytes, plp);
        }
        (TdsType::NVarChar(None) | TdsType::Xml, Cell::Utf16(units)) => return put_plp(out, &wide(units), plp),
        (TdsType::Text | TdsType::Image, Cell::Bytes(bytes)) => return put_pointed(out, bytes),
        (TdsType::NText, Cell::Utf16(units)) => return put_pointed(out, &wide(units)),
        (
            TdsType::Char(n) | TdsType::Binary(n) | TdsType::VarChar(Some(n)) | TdsType::VarBinary(Some(n)),
            Cell::Bytes(bytes),
        ) => {
            return put_short(out, bytes, u32::from(*n));
        }
        (TdsType::NChar(n) | TdsType::NVarChar(Some(n)), Cell::Utf16(units)) => {
            return put_short(out, &wide(units), u32::from(*n) * 2);
        }
        (TdsType::Variant, cell) => return put_variant(out, cell),
        _ => {}
    }
    let start = out.len();
    if fixed_byte(column).is_none() {
        out.push(0);
    }
    let body = out.len();
    put_scalar(out, &column.kind, cell)?;
    if body > start {
        out[start] = u8::try_from(out.len() - body)?;
    }
    Ok(())
}

/// Appends NULL: each group of types has its own.
fn put_null(out: &mut Vec<u8>, column: &ColumnInfo) -> Result<()> {
    match &column.kind {
        TdsType::VarChar(None)
        | TdsType::VarBinary(None)
        | TdsType::NVarChar(None)
        | TdsType::Xml
        | TdsType::Udt { .. } => {
            out.extend([0xFF; 8]);
        }
        TdsType::Char(_)
        | TdsType::VarChar(_)
        | TdsType::NChar(_)
        | TdsType::NVarChar(_)
        | TdsType::Binary(_)
        | TdsType::VarBinary(_) => out.extend([0xFF; 2]),
        TdsType::Variant => out.extend([0; 4]),
        _ if fixed_byte(column).is_some() => return Err("a NULL for a column that says it has none".into()),
        _ => out.push(0),
    }
    Ok(())
}

/// Appends the bytes of a value that is no text and no binary.
fn put_scalar(out: &mut Vec<u8>, kind: &TdsType, cell: &Cell) -> Result<()> {
    match (kind, cell) {
        (TdsType::Bit, Cell::Bit(value)) => out.push(u8::from(*value)),
        (TdsType::TinyInt, Cell::Int(value)) => out.push(u8::try_from(*value)?),
        (TdsType::SmallInt, Cell::Int(value)) => out.extend(i16::try_from(*value)?.to_le_bytes()),
        (TdsType::Int, Cell::Int(value)) | (TdsType::SmallMoney, Cell::Money(value)) => {
            out.extend(i32::try_from(*value)?.to_le_bytes());
        }
        (TdsType::BigInt, Cell::Int(value)) => out.extend(value.to_le_bytes()),
        (TdsType::Real, Cell::F32(value)) => out.extend(value.to_le_bytes()),
        (TdsType::Float, Cell::F64(value)) => out.extend(value.to_le_bytes()),
        (TdsType::Money, Cell::Money(value)) => {
            // The upper half comes first.
            let bytes = value.to_le_bytes();
            out.extend(&bytes[4..]);
            out.extend(&bytes[..4]);
        }
        (TdsType::Decimal { precision, .. } | TdsType::Numeric { precision, .. }, Cell::Decimal { mantissa }) => {
            if mantissa.unsigned_abs() >= 10_u128.pow(u32::from(*precision).min(38)) {
                return Err(format!("a decimal has more digits than its column's {precision}").into());
            }
            out.push(u8::from(*mantissa >= 0));
            out.extend(&mantissa.unsigned_abs().to_le_bytes()[..usize::from(decimal_bytes(*precision))]);
        }
        (TdsType::Date, Cell::Date(days)) => put_days(out, *days)?,
        (TdsType::Time(scale), Cell::Time(ticks)) => put_time(out, *scale, *ticks)?,
        (TdsType::DateTime, Cell::DateTime { days, ticks }) => {
            out.extend(days.to_le_bytes());
            out.extend(ticks.to_le_bytes());
        }
        (TdsType::SmallDateTime, Cell::SmallDateTime { days, minutes }) => {
            out.extend(days.to_le_bytes());
            out.extend(minutes.to_le_bytes());
        }
        (TdsType::DateTime2(scale), Cell::DateTime2 { days, time }) => {
            put_time(out, *scale, *time)?;
            put_days(out, *days)?;
        }
        (TdsType::DateTimeOffset(scale), Cell::DateTimeOffset { days, time, offset_minutes }) => {
            put_time(out, *scale, *time)?;
            put_days(out, *days)?;
            out.extend(offset_minutes.to_le_bytes());
        }
        (TdsType::UniqueIdentifier, Cell::Guid(guid)) => out.extend(swap_guid(*guid)),
        _ => return Err(format!("a value of another type for a column of type {kind:?}").into()),
    }
    Ok(())
}

/// Appends days since year 1 in 3 bytes.
fn put_days(out: &mut Vec<u8>, days: u32) -> Result<()> {
    let [a, b, c, rest] = days.to_le_bytes();
    if rest != 0 {
        return Err("a date does not fit 3 bytes".into());
    }
    out.extend([a, b, c]);
    Ok(())
}

/// Appends a time of `scale` digits. 24:00:00 and beyond is sent as given: some servers do so.
fn put_time(out: &mut Vec<u8>, scale: u8, ticks: u64) -> Result<()> {
    let width = usize::from(time_bytes(scale));
    let bytes = ticks.to_le_bytes();
    if bytes[width..].iter().any(|byte| *byte != 0) {
        return Err("a time does not fit its scale".into());
    }
    out.extend(&bytes[..width]);
    Ok(())
}

/// The bytes of UTF-16 units.
fn wide(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(units.len() * 2);
    put_units(&mut bytes, units.iter().copied());
    bytes
}

/// Appends bytes after a USHORT of their length.
fn put_short(out: &mut Vec<u8>, bytes: &[u8], limit: u32) -> Result<()> {
    let length = u16::try_from(bytes.len())?;
    if u32::from(length) > limit {
        return Err(format!("a value of {length} bytes for a column of {limit}").into());
    }
    out.extend(length.to_le_bytes());
    out.extend(bytes);
    Ok(())
}

/// Appends the text pointer, its timestamp, the length and the bytes.
fn put_pointed(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    out.push(16);
    out.extend(TEXT_POINTER);
    out.extend([0; 8]);
    out.extend(u32::try_from(bytes.len())?.to_le_bytes());
    out.extend(bytes);
    Ok(())
}

/// Appends a value of unlimited length in chunks.
fn put_plp(out: &mut Vec<u8>, bytes: &[u8], plp: Plp) -> Result<()> {
    let length = if plp.unknown_length { UNKNOWN_LENGTH } else { u64::try_from(bytes.len())? };
    out.extend(length.to_le_bytes());
    for chunk in bytes.chunks(plp.chunk.unwrap_or(usize::MAX).max(1)) {
        out.extend(u32::try_from(chunk.len())?.to_le_bytes());
        out.extend(chunk);
    }
    out.extend([0; 4]);
    Ok(())
}

/// Appends a `sql_variant` ([MS-TDS] 2.2.5.5.4): its length, base type, properties and value.
fn put_variant(out: &mut Vec<u8>, cell: &Cell) -> Result<()> {
    let mut body = Vec::new();
    let scale = 7;
    let (kind, base, properties): (TdsType, u8, Vec<u8>) = match cell {
        Cell::Bit(_) => (TdsType::Bit, byte::BIT, Vec::new()),
        Cell::Int(_) => (TdsType::BigInt, byte::INT8, Vec::new()),
        Cell::F32(_) => (TdsType::Real, byte::FLOAT4, Vec::new()),
        Cell::F64(_) => (TdsType::Float, byte::FLOAT8, Vec::new()),
        Cell::Money(_) => (TdsType::Money, byte::MONEY, Vec::new()),
        Cell::DateTime { .. } => (TdsType::DateTime, byte::DATETIME, Vec::new()),
        Cell::SmallDateTime { .. } => (TdsType::SmallDateTime, byte::DATETIME4, Vec::new()),
        Cell::Date(_) => (TdsType::Date, byte::DATE_N, Vec::new()),
        Cell::Guid(_) => (TdsType::UniqueIdentifier, byte::GUID, Vec::new()),
        Cell::Time(_) => (TdsType::Time(scale), byte::TIME_N, vec![scale]),
        Cell::DateTime2 { .. } => (TdsType::DateTime2(scale), byte::DATETIME2_N, vec![scale]),
        Cell::DateTimeOffset { .. } => (TdsType::DateTimeOffset(scale), byte::DATETIMEOFFSET_N, vec![scale]),
        Cell::Decimal { .. } => (TdsType::Decimal { precision: 38, scale: 0 }, byte::DECIMAL_N, vec![38, 0]),
        Cell::Utf16(_) => {
            let mut properties = super::wire::LATIN1_CI_AS.bytes.to_vec();
            properties.extend(8000_u16.to_le_bytes());
            (TdsType::NVarChar(Some(4000)), byte::NVARCHAR, properties)
        }
        Cell::Bytes(_) => (TdsType::VarBinary(Some(8000)), byte::BIG_VARBINARY, 8000_u16.to_le_bytes().to_vec()),
        Cell::Null => return Err("a NULL variant has no base type".into()),
    };
    body.push(base);
    body.push(u8::try_from(properties.len())?);
    body.extend(properties);
    match cell {
        Cell::Utf16(units) => body.extend(wide(units)),
        Cell::Bytes(bytes) => body.extend(bytes),
        _ => put_scalar(&mut body, &kind, cell)?,
    }
    out.extend(u32::try_from(body.len())?.to_le_bytes());
    out.extend(body);
    Ok(())
}

#[cfg(test)]
mod tests;
