//! Values of the driver as calls of the writer: exact integers, never its own texts or its calendar types.

use super::{
    literal::hex,
    relation::stored_bytes,
    time::{self, DAY_NANOS, DAY_SECONDS},
    types::Wire,
};
use crate::{
    encode::RowWriter,
    model::{Error, ErrorKind, Projected, Result, TimestampValue},
};
use tiberius::{
    ColumnData,
    time::{DateTime, DateTime2, SmallDateTime, Time},
};

/// Offsets of `datetimeoffset` are at most 14 hours.
const OFFSET_MINUTES_MAX: i16 = 14 * 60;
/// The last day, 9999-12-31, since 0001-01-01.
const DAYS_MAX: u32 = 3_652_058;

/// How a column of a read becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// By the type of what arrives.
    Plain,
    /// Bytes of text, handed over as the text of a binary value, which the plan has parsed.
    BytesAsText,
}

/// A column of a read.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) reading: Reading,
}

impl Field {
    /// How `projected` of this type is read.
    pub(super) fn new(wire: &Wire, projected: &Projected) -> Self {
        let reading = if stored_bytes(wire, projected) { Reading::BytesAsText } else { Reading::Plain };
        Self { name: projected.name.clone(), reading }
    }
}

/// Memory that a value holds beyond its own place.
pub(super) fn bytes_of(value: &ColumnData<'static>) -> usize {
    let beyond = match value {
        ColumnData::String(Some(text)) => text.len(),
        ColumnData::Binary(Some(bytes)) => bytes.len(),
        ColumnData::Xml(Some(xml)) => xml.to_string().len(),
        _ => 0,
    };
    size_of::<ColumnData<'static>>() + beyond
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Value, format!("reading a value: {what}"))
}

/// Nanoseconds since midnight; 24:00:00 is let through by whoever knows what to do with it.
fn nanos(time: Time) -> Result<i64> {
    let scale = u32::from(time.scale());
    if scale > 7 {
        return Err(wrong("a time has more than 7 digits after the second"));
    }
    let nanos = i64::try_from(time.increments())
        .ok()
        .and_then(|increments| increments.checked_mul(10_i64.pow(9 - scale)))
        .filter(|nanos| *nanos <= DAY_NANOS);
    nanos.ok_or_else(|| wrong("a time is later than the end of its day"))
}

/// Nanoseconds of a time of day within a date.
fn clock(time: Time) -> Result<i64> {
    // Of a day with a date it would be the next day, if it meant anything: no server should send it.
    let nanos = nanos(time)?;
    if nanos < DAY_NANOS {
        Ok(nanos)
    } else {
        Err(wrong("a timestamp has the time 24:00:00, which is no value of its type"))
    }
}

/// A moment from days since 1970-01-01 and nanoseconds of the day.
fn moment(days: i64, nanos: i64) -> Result<TimestampValue> {
    let seconds = days * DAY_SECONDS + nanos.div_euclid(1_000_000_000);
    let rest = u32::try_from(nanos.rem_euclid(1_000_000_000)).map_err(|_| wrong("a time is negative"))?;
    Ok(TimestampValue::Finite(seconds, rest))
}

/// Days since 1970-01-01 of days since 0001-01-01.
fn from_year_one(days: u32) -> Result<i64> {
    if days > DAYS_MAX {
        return Err(wrong("a date lies after the year 9999"));
    }
    Ok(i64::from(days) + time::YEAR_ONE)
}

/// A `datetime`, as it is shown.
fn shown(value: DateTime) -> Result<TimestampValue> {
    if value.seconds_fragments() >= time::DAY_TICKS {
        return Err(wrong("a datetime is later than the end of its day"));
    }
    moment(i64::from(value.days()) + time::YEAR_1900, time::shown(value.seconds_fragments()))
}

/// A `smalldatetime`.
fn whole_minutes(value: SmallDateTime) -> Result<TimestampValue> {
    let minutes = i64::from(value.seconds_fragments());
    if minutes >= DAY_SECONDS / 60 {
        return Err(wrong("a smalldatetime is later than the end of its day"));
    }
    moment(i64::from(value.days()) + time::YEAR_1900, minutes * time::MINUTE_NANOS)
}

/// A `datetime2`.
fn precise(value: DateTime2) -> Result<TimestampValue> {
    moment(from_year_one(value.date().days())?, clock(value.time())?)
}

/// Writes one value.
pub(super) fn put(writer: &mut RowWriter<'_>, field: &Field, value: &ColumnData<'static>) -> Result<()> {
    if field.reading == Reading::BytesAsText {
        return match value {
            ColumnData::Binary(Some(bytes)) => writer.put_text(&format!("\\x{}", hex(bytes))),
            ColumnData::Binary(None) => writer.put_null(),
            _ => Err(wrong("expected bytes")),
        };
    }
    match value {
        ColumnData::U8(Some(value)) => writer.put_u64(u64::from(*value)),
        ColumnData::I16(Some(value)) => writer.put_i64(i64::from(*value)),
        ColumnData::I32(Some(value)) => writer.put_i64(i64::from(*value)),
        ColumnData::I64(Some(value)) => writer.put_i64(*value),
        ColumnData::F32(Some(value)) => writer.put_f64(f64::from(*value)),
        ColumnData::F64(Some(value)) => writer.put_f64(*value),
        ColumnData::Bit(Some(value)) => writer.put_bool(*value),
        ColumnData::String(Some(text)) => writer.put_text(text),
        ColumnData::Xml(Some(xml)) => writer.put_text(&xml.to_string()),
        // The driver has put the groups of bytes in the order of the text.
        ColumnData::Guid(Some(uuid)) => writer.put_uuid(*uuid.as_bytes()),
        ColumnData::Binary(Some(bytes)) => writer.put_binary(bytes),
        // From mantissa and scale: the driver's text loses the sign of -0.5 and the zeros of 0.05.
        ColumnData::Numeric(Some(value)) => writer.put_scaled(value.value(), i32::from(value.scale())),
        ColumnData::Date(Some(date)) => writer.put_days(from_year_one(date.days())?),
        // 24:00:00 is no time of SQL Server, but another server rounds up to it: a value of its own, never midnight.
        ColumnData::Time(Some(time)) => writer.put_time(nanos(*time)?),
        ColumnData::DateTime(Some(value)) => writer.put_timestamp(shown(*value)?),
        ColumnData::SmallDateTime(Some(value)) => writer.put_timestamp(whole_minutes(*value)?),
        ColumnData::DateTime2(Some(value)) => writer.put_timestamp(precise(*value)?),
        ColumnData::DateTimeOffset(Some(value)) => {
            let minutes = value.offset();
            if !(-OFFSET_MINUTES_MAX..=OFFSET_MINUTES_MAX).contains(&minutes) {
                return Err(wrong("an offset is larger than 14 hours"));
            }
            // Date and time on the wire are those of UTC.
            writer.put_offset_instant(precise(value.datetime2())?, i32::from(minutes) * 60)
        }
        ColumnData::U8(None)
        | ColumnData::I16(None)
        | ColumnData::I32(None)
        | ColumnData::I64(None)
        | ColumnData::F32(None)
        | ColumnData::F64(None)
        | ColumnData::Bit(None)
        | ColumnData::String(None)
        | ColumnData::Guid(None)
        | ColumnData::Binary(None)
        | ColumnData::Numeric(None)
        | ColumnData::Xml(None)
        | ColumnData::DateTime(None)
        | ColumnData::SmallDateTime(None)
        | ColumnData::Time(None)
        | ColumnData::Date(None)
        | ColumnData::DateTime2(None)
        | ColumnData::DateTimeOffset(None) => writer.put_null(),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
