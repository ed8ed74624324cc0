//! From Arrow types to store-neutral types.

use crate::model::{CanonicalType, LogicalType, StructField};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit, extension::EXTENSION_TYPE_NAME_KEY};

/// The store-neutral type of a field, its canonical extension type (`arrow.uuid`, `arrow.json`) honoured.
pub(crate) fn logical_of(field: &Field) -> LogicalType {
    match (field.metadata().get(EXTENSION_TYPE_NAME_KEY).map(String::as_str), field.data_type()) {
        (Some("arrow.uuid"), DataType::FixedSizeBinary(16)) => LogicalType::Uuid,
        (Some("arrow.json"), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => LogicalType::Json,
        (Some("arrow.bool8"), DataType::Int8) => LogicalType::Integer { bits: 8, signed: true },
        (_, data_type) => of_type(data_type),
    }
}

const fn digits_of(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

fn unsupported(why: &str) -> LogicalType {
    LogicalType::Unsupported(why.to_owned())
}

fn of_type(data_type: &DataType) -> LogicalType {
    use DataType as D;
    let integer = |bits, signed| LogicalType::Integer { bits, signed };
    match data_type {
        D::Null => LogicalType::Null,
        D::Boolean => LogicalType::Boolean,
        D::Int8 => integer(8, true),
        D::Int16 => integer(16, true),
        D::Int32 => integer(32, true),
        D::Int64 => integer(64, true),
        D::UInt8 => integer(8, false),
        D::UInt16 => integer(16, false),
        D::UInt32 => integer(32, false),
        D::UInt64 => integer(64, false),
        D::Float16 => LogicalType::Float { bits: 16 },
        D::Float32 => LogicalType::Float { bits: 32 },
        D::Float64 => LogicalType::Float { bits: 64 },
        D::Decimal32(precision, scale)
        | D::Decimal64(precision, scale)
        | D::Decimal128(precision, scale)
        | D::Decimal256(precision, scale) => {
            LogicalType::Decimal { declared: Some((u32::from(*precision), i32::from(*scale))) }
        }
        D::Utf8 | D::LargeUtf8 | D::Utf8View => LogicalType::Text,
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => LogicalType::Binary,
        D::Date32 | D::Date64 => LogicalType::Date,
        D::Time32(unit) | D::Time64(unit) => LogicalType::Time { digits: digits_of(*unit) },
        D::Timestamp(unit, None) => LogicalType::Timestamp { digits: digits_of(*unit) },
        D::Timestamp(unit, Some(_)) => LogicalType::Instant { digits: digits_of(*unit) },
        D::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime | IntervalUnit::MonthDayNano) => {
            LogicalType::Interval
        }
        D::Duration(_) => unsupported("a duration has no canonical type; write it as an integer of its unit"),
        D::Dictionary(_, value) => of_type(value),
        D::List(element)
        | D::LargeList(element)
        | D::FixedSizeList(element, _)
        | D::ListView(element)
        | D::LargeListView(element) => nested(logical_of(element), |element| LogicalType::List(Box::new(element))),
        D::Struct(fields) => of_struct(fields),
        D::Map(entries, _) => match entries.data_type() {
            D::Struct(fields) if fields.len() == 2 => nested(logical_of(&fields[0]), |key| {
                nested(logical_of(&fields[1]), |value| LogicalType::Map(Box::new(key), Box::new(value)))
            }),
            _ => unsupported("the map has no key and value"),
        },
        D::Union(..) => unsupported("unions are not supported; write the value as text or as a struct"),
        D::RunEndEncoded(..) => unsupported("run-end encoded columns are not supported; write plain values"),
    }
}

fn nested(inner: LogicalType, outer: impl FnOnce(LogicalType) -> LogicalType) -> LogicalType {
    match inner {
        LogicalType::Unsupported(why) => LogicalType::Unsupported(why),
        inner => outer(inner),
    }
}

fn of_struct(fields: &arrow_schema::Fields) -> LogicalType {
    let mut members = Vec::with_capacity(fields.len());
    for field in fields {
        match logical_of(field) {
            LogicalType::Unsupported(why) => return LogicalType::Unsupported(why),
            _ if members.iter().any(|(name, _)| name == field.name()) => {
                return unsupported("the struct has two fields of one name");
            }
            logical => members.push((field.name().clone(), logical)),
        }
    }
    LogicalType::Struct(members)
}

/// The canonical type that values of a type have by themselves. `None` where a partner decides or nothing fits.
pub(crate) fn canonical_of(logical: &LogicalType) -> Option<CanonicalType> {
    Some(match logical {
        LogicalType::Boolean => CanonicalType::Boolean,
        LogicalType::Integer { .. } | LogicalType::Decimal { .. } => CanonicalType::Number,
        LogicalType::Float { .. } => CanonicalType::Float,
        LogicalType::Text | LogicalType::Enum | LogicalType::Untyped | LogicalType::Null => CanonicalType::Text,
        LogicalType::Binary => CanonicalType::Binary,
        LogicalType::Date => CanonicalType::Date,
        LogicalType::Time { .. } => CanonicalType::Time,
        LogicalType::Timestamp { .. } => CanonicalType::Timestamp,
        LogicalType::Instant { .. } => CanonicalType::Instant,
        LogicalType::Interval => CanonicalType::Interval,
        LogicalType::Uuid => CanonicalType::Uuid,
        LogicalType::Json => CanonicalType::Json,
        LogicalType::List(element) => CanonicalType::List(Box::new(canonical_of(element)?)),
        LogicalType::Map(key, value) => {
            CanonicalType::Map(Box::new(canonical_of(key)?), Box::new(canonical_of(value)?))
        }
        LogicalType::Struct(fields) => {
            let mut members = Vec::with_capacity(fields.len());
            for (name, logical) in fields {
                members.push(StructField { name: name.clone(), canonical: canonical_of(logical)? });
            }
            members.sort_by(|one, other| one.name.cmp(&other.name));
            CanonicalType::Struct(members)
        }
        _ => return None,
    })
}
