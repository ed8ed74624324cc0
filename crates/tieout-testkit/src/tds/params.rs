//! Parameters of a call as a client writes them ([MS-TDS] 2.2.6.6, `ParameterData`): `TYPE_INFO` and a value.

use super::backend::{Cell, TdsType};
use super::types::byte;
use super::wire::{Reader, swap_guid, units};
use crate::Result;

/// The length of a PLP value that is NULL, and of one whose length is not told.
const PLP_NULL: u64 = u64::MAX;

/// Reads a parameter's type and value.
pub fn read_typed(reader: &mut Reader<'_>) -> Result<(TdsType, Cell)> {
    let code = reader.u8()?;
    match code {
        byte::NULL => Ok((TdsType::Int, Cell::Null)),
        byte::BIT
        | byte::INT1
        | byte::INT2
        | byte::INT4
        | byte::INT8
        | byte::FLOAT4
        | byte::FLOAT8
        | byte::MONEY
        | byte::MONEY4
        | byte::DATETIME
        | byte::DATETIME4 => {
            let (nullable, width) = nullable_form(code);
            let kind = sized(nullable, width)?;
            let cell = scalar(&kind, reader, width)?;
            Ok((kind, cell))
        }
        byte::BIT_N | byte::INT_N | byte::FLOAT_N | byte::MONEY_N | byte::DATETIME_N | byte::GUID => {
            let kind = sized(code, usize::from(reader.u8()?))?;
            short_scalar(kind, reader)
        }
        byte::DECIMAL_N | byte::NUMERIC_N => {
            let [_, precision, scale] = reader.array()?;
            let decimal = code == byte::DECIMAL_N;
            let kind =
                if decimal { TdsType::Decimal { precision, scale } } else { TdsType::Numeric { precision, scale } };
            short_scalar(kind, reader)
        }
        byte::DATE_N => short_scalar(TdsType::Date, reader),
        byte::TIME_N => {
            let scale = reader.u8()?;
            short_scalar(TdsType::Time(scale), reader)
        }
        byte::DATETIME2_N => {
            let scale = reader.u8()?;
            short_scalar(TdsType::DateTime2(scale), reader)
        }
        byte::DATETIMEOFFSET_N => {
            let scale = reader.u8()?;
            short_scalar(TdsType::DateTimeOffset(scale), reader)
        }
        byte::BIG_CHAR | byte::BIG_VARCHAR | byte::NCHAR | byte::NVARCHAR | byte::BIG_BINARY | byte::BIG_VARBINARY => {
            variable(code, reader)
        }
        byte::TEXT | byte::NTEXT | byte::IMAGE => long(code, reader),
        byte::XML => {
            if reader.u8()? != 0 {
                return Err("an xml parameter with a schema".into());
            }
            let cell = plp(reader)?.map_or(Cell::Null, |bytes| Cell::Utf16(units(&bytes)));
            Ok((TdsType::Xml, cell))
        }
        other => Err(format!("a parameter of the type 0x{other:02X}, which this server does not read").into()),
    }
}

/// The nullable type that a fixed one is a case of, and its width.
fn nullable_form(code: u8) -> (u8, usize) {
    match code {
        byte::BIT => (byte::BIT_N, 1),
        byte::INT1 => (byte::INT_N, 1),
        byte::INT2 => (byte::INT_N, 2),
        byte::INT4 => (byte::INT_N, 4),
        byte::FLOAT4 => (byte::FLOAT_N, 4),
        byte::FLOAT8 => (byte::FLOAT_N, 8),
        byte::MONEY => (byte::MONEY_N, 8),
        byte::MONEY4 => (byte::MONEY_N, 4),
        byte::DATETIME => (byte::DATETIME_N, 8),
        byte::DATETIME4 => (byte::DATETIME_N, 4),
        _ => (byte::INT_N, 8),
    }
}

/// A type whose byte is shared by several widths.
fn sized(code: u8, width: usize) -> Result<TdsType> {
    Ok(match (code, width) {
        (byte::BIT_N, 1) => TdsType::Bit,
        (byte::INT_N, 1) => TdsType::TinyInt,
        (byte::INT_N, 2) => TdsType::SmallInt,
        (byte::INT_N, 4) => TdsType::Int,
        (byte::INT_N, 8) => TdsType::BigInt,
        (byte::FLOAT_N, 4) => TdsType::Real,
        (byte::FLOAT_N, 8) => TdsType::Float,
        (byte::MONEY_N, 4) => TdsType::SmallMoney,
        (byte::MONEY_N, 8) => TdsType::Money,
        (byte::DATETIME_N, 4) => TdsType::SmallDateTime,
        (byte::DATETIME_N, 8) => TdsType::DateTime,
        (byte::GUID, 16) => TdsType::UniqueIdentifier,
        _ => return Err(format!("a parameter of the type 0x{code:02X} with {width} bytes").into()),
    })
}

/// A value after a BYTE of its length, 0 for NULL.
fn short_scalar(kind: TdsType, reader: &mut Reader<'_>) -> Result<(TdsType, Cell)> {
    let width = usize::from(reader.u8()?);
    let cell = if width == 0 { Cell::Null } else { scalar(&kind, reader, width)? };
    Ok((kind, cell))
}

/// A value of `width` bytes.
fn scalar(kind: &TdsType, reader: &mut Reader<'_>, width: usize) -> Result<Cell> {
    let mut value = Reader::new(reader.take(width)?);
    let cell = match kind {
        TdsType::Bit => Cell::Bit(value.u8()? != 0),
        TdsType::TinyInt => Cell::Int(i64::from(value.u8()?)),
        TdsType::SmallInt => Cell::Int(i64::from(i16::from_le_bytes(value.array()?))),
        TdsType::Int => Cell::Int(i64::from(i32::from_le_bytes(value.array()?))),
        TdsType::BigInt => Cell::Int(i64::from_le_bytes(value.array()?)),
        TdsType::Real => Cell::F32(f32::from_le_bytes(value.array()?)),
        TdsType::Float => Cell::F64(f64::from_le_bytes(value.array()?)),
        TdsType::SmallMoney => Cell::Money(i64::from(i32::from_le_bytes(value.array()?))),
        TdsType::Money => {
            let (high, low) = (i32::from_le_bytes(value.array()?), value.u32()?);
            Cell::Money(i64::from(high) << 32 | i64::from(low))
        }
        TdsType::Decimal { .. } | TdsType::Numeric { .. } => {
            let positive = value.u8()? != 0;
            let mut whole = [0; 16];
            let magnitude = value.take(width - 1)?;
            whole.get_mut(..width - 1).ok_or("a decimal of more than 17 bytes")?.copy_from_slice(magnitude);
            let magnitude = i128::try_from(u128::from_le_bytes(whole))?;
            Cell::Decimal { mantissa: if positive { magnitude } else { -magnitude } }
        }
        TdsType::Date => Cell::Date(u32::try_from(value.uint(3)?)?),
        TdsType::Time(_) => Cell::Time(value.uint(width)?),
        TdsType::DateTime2(_) => {
            let time = value.uint(width.checked_sub(3).ok_or("a datetime2 without its date")?)?;
            Cell::DateTime2 { days: u32::try_from(value.uint(3)?)?, time }
        }
        TdsType::DateTimeOffset(_) => {
            let time = value.uint(width.checked_sub(5).ok_or("a datetimeoffset without its date")?)?;
            let days = u32::try_from(value.uint(3)?)?;
            Cell::DateTimeOffset { days, time, offset_minutes: i16::from_le_bytes(value.array()?) }
        }
        TdsType::DateTime => Cell::DateTime { days: i32::from_le_bytes(value.array()?), ticks: value.u32()? },
        TdsType::SmallDateTime => Cell::SmallDateTime { days: value.u16()?, minutes: value.u16()? },
        TdsType::UniqueIdentifier => Cell::Guid(swap_guid(value.array()?)),
        other => return Err(format!("a parameter of type {other:?} is no scalar").into()),
    };
    if value.is_empty() { Ok(cell) } else { Err(format!("a parameter of type {kind:?} has {width} bytes").into()) }
}

/// Text or bytes with a USHORT length, or in chunks when the type is unlimited.
fn variable(code: u8, reader: &mut Reader<'_>) -> Result<(TdsType, Cell)> {
    let length = reader.u16()?;
    let wide = matches!(code, byte::NCHAR | byte::NVARCHAR);
    if !matches!(code, byte::BIG_BINARY | byte::BIG_VARBINARY) {
        reader.take(5)?;
    }
    let unlimited = length == u16::MAX;
    let bound = (!unlimited).then_some(if wide { length / 2 } else { length });
    let kind = match code {
        byte::BIG_CHAR => TdsType::Char(length),
        byte::BIG_VARCHAR => TdsType::VarChar(bound),
        byte::NCHAR => TdsType::NChar(length / 2),
        byte::NVARCHAR => TdsType::NVarChar(bound),
        byte::BIG_BINARY => TdsType::Binary(length),
        _ => TdsType::VarBinary(bound),
    };
    let bytes = if unlimited {
        plp(reader)?
    } else {
        match reader.u16()? {
            u16::MAX => None,
            length => Some(reader.take(usize::from(length))?.to_vec()),
        }
    };
    Ok((kind, text_or_bytes(wide, bytes)))
}

/// `text`, `ntext` and `image`: a LONG length, -1 for NULL.
fn long(code: u8, reader: &mut Reader<'_>) -> Result<(TdsType, Cell)> {
    reader.u32()?;
    let kind = match code {
        byte::TEXT => TdsType::Text,
        byte::NTEXT => TdsType::NText,
        _ => TdsType::Image,
    };
    if code != byte::IMAGE {
        reader.take(5)?;
    }
    let bytes = match reader.u32()? {
        u32::MAX => None,
        length => Some(reader.take(usize::try_from(length)?)?.to_vec()),
    };
    Ok((kind, text_or_bytes(code == byte::NTEXT, bytes)))
}

fn text_or_bytes(wide: bool, bytes: Option<Vec<u8>>) -> Cell {
    match bytes {
        None => Cell::Null,
        Some(bytes) if wide => Cell::Utf16(units(&bytes)),
        Some(bytes) => Cell::Bytes(bytes),
    }
}

/// A value in chunks; `None` is NULL.
fn plp(reader: &mut Reader<'_>) -> Result<Option<Vec<u8>>> {
    if reader.u64()? == PLP_NULL {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    loop {
        let length = reader.len32()?;
        if length == 0 {
            return Ok(Some(bytes));
        }
        bytes.extend(reader.take(length)?);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failure here is the test's")]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (TdsType, Cell) {
        read_typed(&mut Reader::new(bytes)).unwrap()
    }

    #[test]
    fn scalars_and_their_nulls() {
        assert_eq!(read(&[0x26, 4, 4, 0xFE, 0xFF, 0xFF, 0xFF]), (TdsType::Int, Cell::Int(-2)));
        assert_eq!(read(&[0x26, 8, 0]), (TdsType::BigInt, Cell::Null));
        assert_eq!(
            read(&[0x6C, 17, 38, 2, 5, 0, 2, 1, 0, 0]),
            (TdsType::Numeric { precision: 38, scale: 2 }, Cell::Decimal { mantissa: -258 })
        );
        assert_eq!(
            read(&[0x2B, 7, 10, 1, 0, 0, 0, 0, 2, 0, 0, 60, 0]),
            (TdsType::DateTimeOffset(7), Cell::DateTimeOffset { days: 2, time: 1, offset_minutes: 60 })
        );
        assert!(read_typed(&mut Reader::new(&[0x26, 3, 3, 0, 0, 0])).is_err());
    }

    #[test]
    fn texts_short_and_in_chunks() {
        let short = [0xE7, 8, 0, 9, 4, 0xD0, 0, 0x34, 2, 0, 0x41, 0];
        assert_eq!(read(&short), (TdsType::NVarChar(Some(4)), Cell::Utf16(vec![0x41])));
        let mut chunks = vec![0xA5, 0xFF, 0xFF];
        chunks.extend(0xFFFF_FFFF_FFFF_FFFE_u64.to_le_bytes());
        chunks.extend([1, 0, 0, 0, 7, 2, 0, 0, 0, 8, 9, 0, 0, 0, 0]);
        assert_eq!(read(&chunks), (TdsType::VarBinary(None), Cell::Bytes(vec![7, 8, 9])));
    }
}
