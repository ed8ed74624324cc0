//! Single values: exact arithmetic of the temporal types, nested values, wide decimals.

use super::column::{Column, Data, TextKind};
use crate::{
    encode::{date_from_days, parse},
    model::{CanonicalType, Decimal, Error, ErrorKind, LogicalType, Result, TimestampValue, Value},
};
use arrow_array::{Array, ArrayRef, cast::AsArray};
use arrow_schema::DataType;

const DAY_MILLIS: i64 = 86_400_000;
const SECOND_NANOS: i64 = 1_000_000_000;

/// A nested column: where the elements of each row lie, and the columns that hold them.
pub(super) enum Nested {
    /// (first element, one after the last) of each row, elements.
    List(Vec<(usize, usize)>, Box<Column>),
    /// Fields, sorted by name.
    Struct(Vec<Column>),
    /// (first entry, one after the last) of each row, keys, values.
    Map(Vec<(usize, usize)>, Box<Column>, Box<Column>),
}

fn inexact(what: &str) -> Error {
    Error::new(ErrorKind::Value, what.to_owned())
}

fn place(offset: impl TryInto<usize>) -> Result<usize> {
    offset.try_into().map_err(|_| Error::internal("a negative offset in an Arrow list"))
}

fn spans<O: Copy + TryInto<usize>>(offsets: &[O]) -> Result<Vec<(usize, usize)>> {
    offsets.windows(2).map(|pair| Ok((place(pair[0])?, place(pair[1])?))).collect()
}

fn view_spans<O: Copy + TryInto<usize>>(offsets: &[O], sizes: &[O]) -> Result<Vec<(usize, usize)>> {
    let pairs = offsets.iter().zip(sizes);
    pairs.map(|(from, size)| place(*from).and_then(|from| Ok((from, from + place(*size)?)))).collect()
}

impl Nested {
    /// The accessor of a nested array; `None` if it is not one.
    pub(super) fn new(array: &ArrayRef, logical: &LogicalType) -> Result<Option<Self>> {
        let list = |spans: Vec<(usize, usize)>, values: &ArrayRef| {
            let LogicalType::List(element) = logical else { return Err(Error::internal("a list of another type")) };
            Ok(Some(Self::List(spans, Box::new(Column::new(values, element)?))))
        };
        match array.data_type() {
            DataType::List(_) => list(spans(array.as_list::<i32>().value_offsets())?, array.as_list::<i32>().values()),
            DataType::LargeList(_) => {
                list(spans(array.as_list::<i64>().value_offsets())?, array.as_list::<i64>().values())
            }
            DataType::ListView(_) => {
                let view = array.as_list_view::<i32>();
                list(view_spans(view.offsets(), view.sizes())?, view.values())
            }
            DataType::LargeListView(_) => {
                let view = array.as_list_view::<i64>();
                list(view_spans(view.offsets(), view.sizes())?, view.values())
            }
            DataType::FixedSizeList(_, size) => {
                let size = place(*size)?;
                let spans = (0..array.len()).map(|row| (row * size, (row + 1) * size)).collect();
                list(spans, array.as_fixed_size_list().values())
            }
            DataType::Struct(fields) => {
                let LogicalType::Struct(members) = logical else {
                    return Err(Error::internal("a struct of another type"));
                };
                let mut order: Vec<usize> = (0..fields.len()).collect();
                order.sort_by(|one, other| fields[*one].name().cmp(fields[*other].name()));
                let columns = order.into_iter().map(|at| Column::new(array.as_struct().column(at), &members[at].1));
                Ok(Some(Self::Struct(columns.collect::<Result<_>>()?)))
            }
            DataType::Map(..) => {
                let LogicalType::Map(key, value) = logical else {
                    return Err(Error::internal("a map of another type"));
                };
                let map = array.as_map();
                let keys = Box::new(Column::new(map.keys(), key)?);
                let values = Box::new(Column::new(map.values(), value)?);
                Ok(Some(Self::Map(spans(map.value_offsets())?, keys, values)))
            }
            _ => Ok(None),
        }
    }

    fn value(&self, row: usize) -> Result<Value> {
        match self {
            Self::List(spans, elements) => {
                let (from, to) = spans[row];
                let values = (from..to).map(|at| elements.value(at)).collect::<Result<Vec<_>>>()?;
                let length = u32::try_from(values.len()).map_err(|_| inexact("a list has more than 2^32 elements"))?;
                let dimensions = if length == 0 { Vec::new() } else { vec![(length, 1)] };
                Ok(Value::List(dimensions, values))
            }
            Self::Struct(fields) => {
                Ok(Value::Struct(fields.iter().map(|field| field.value(row)).collect::<Result<_>>()?))
            }
            Self::Map(spans, keys, values) => {
                let (from, to) = spans[row];
                let entries = (from..to).map(|at| Ok((keys.value(at)?, values.value(at)?)));
                Ok(Value::Map(entries.collect::<Result<_>>()?))
            }
        }
    }
}

/// Whole days in `millis`.
pub(super) fn whole_days(millis: i64) -> Result<i64> {
    if millis % DAY_MILLIS == 0 {
        Ok(millis / DAY_MILLIS)
    } else {
        Err(inexact("reading a date: expected whole days, found a time of day beside them"))
    }
}

/// `value` units in nanoseconds.
pub(super) fn nanos_of(value: i64, unit_nanos: i64) -> Result<i64> {
    value.checked_mul(unit_nanos).ok_or_else(|| inexact("reading a time: it is beyond 292 years"))
}

/// A count of units as seconds and nanoseconds.
#[inline]
pub(super) fn timestamp(value: i64, units_per_second: i64) -> TimestampValue {
    let fraction = value.rem_euclid(units_per_second) * (SECOND_NANOS / units_per_second);
    TimestampValue::Finite(value.div_euclid(units_per_second), u32::try_from(fraction).unwrap_or_default())
}

/// An INT96 from its whole seconds (truncated towards midnight of its day) and its nanoseconds modulo 2^64. Together
/// they are exact for every day that 32 bits count.
pub(super) fn int96(seconds: i64, nanos_wrapped: i64) -> Result<TimestampValue> {
    let rest = nanos_wrapped.wrapping_sub(seconds.wrapping_mul(SECOND_NANOS));
    if rest.unsigned_abs() >= SECOND_NANOS.unsigned_abs() {
        return Err(inexact("reading an INT96 timestamp: its two halves disagree"));
    }
    let whole =
        seconds.checked_add(rest.div_euclid(SECOND_NANOS)).ok_or_else(|| inexact("an INT96 is out of range"))?;
    Ok(TimestampValue::Finite(whole, u32::try_from(rest.rem_euclid(SECOND_NANOS)).unwrap_or_default()))
}

/// 16 bytes of a UUID.
pub(super) fn uuid(bytes: &[u8]) -> Result<[u8; 16]> {
    bytes.try_into().map_err(|_| Error::internal("a UUID is not 16 bytes long"))
}

/// (months, days, microseconds) of the interval types; `None` for others.
pub(super) fn interval(data: &Data, row: usize) -> Result<Option<(i32, i32, i64)>> {
    Ok(Some(match data {
        Data::Months(a) => (a.value(row), 0, 0),
        Data::DayTime(a) => {
            let value = a.value(row);
            (0, value.days, i64::from(value.milliseconds) * 1000)
        }
        Data::MonthDayNano(a) => {
            let value = a.value(row);
            if value.nanoseconds % 1000 != 0 {
                return Err(inexact("reading an interval: expected whole microseconds, found nanoseconds"));
            }
            (value.months, value.days, value.nanoseconds / 1000)
        }
        Data::ParquetInterval(day_time, months) => {
            let (value, months) = (day_time.value(row), months.value(row));
            if months < 0 || value.days < 0 {
                return Err(inexact("reading an interval: its months or days are beyond 2147483647"));
            }
            (months, value.days, i64::from(value.milliseconds.cast_unsigned()) * 1000)
        }
        _ => return Ok(None),
    }))
}

/// A decimal from the text of its mantissa (digits with an optional minus) and its scale.
pub(super) fn decimal(mantissa: &str, scale: i32) -> Result<Decimal> {
    let (negative, digits) = mantissa.strip_prefix('-').map_or((false, mantissa), |digits| (true, digits));
    let digits = digits.trim_start_matches('0').as_bytes();
    let bad = || Error::internal("the digits of a decimal are out of range");
    let mut point = i32::try_from(digits.len()).ok().and_then(|count| count.checked_sub(scale)).ok_or_else(bad)?;
    let mut single: Vec<u8> = digits.iter().map(|digit| digit.wrapping_sub(b'0')).collect();
    if point.rem_euclid(2) == 1 {
        single.insert(0, 0);
        point = point.checked_add(1).ok_or_else(bad)?;
    }
    if single.len() % 2 == 1 {
        single.push(0);
    }
    let mut pairs: Vec<u8> = single.chunks_exact(2).map(|pair| pair[0] * 10 + pair[1]).collect();
    while pairs.last() == Some(&0) {
        pairs.pop();
    }
    if pairs.is_empty() {
        return Ok(Decimal::Finite { negative: false, exponent: 0, digits: pairs });
    }
    Ok(Decimal::Finite { negative, exponent: point / 2, digits: pairs })
}

fn number(mantissa: &impl ToString, scale: i32) -> Result<Value> {
    decimal(&mantissa.to_string(), scale).map(Value::Number)
}

fn float(value: f64) -> Value {
    Value::Float(if value.is_nan() { f64::NAN } else { value + 0.0 })
}

fn text(value: &str, kind: TextKind) -> Result<Value> {
    match kind {
        TextKind::Text => Ok(Value::Text(value.to_owned())),
        TextKind::Json => parse(&CanonicalType::Json, value),
    }
}

/// The value of a row that is not NULL.
pub(super) fn value(data: &Data, row: usize) -> Result<Value> {
    match data {
        Data::Constant(text) => Ok(Value::Text(text.to_string())),
        Data::Null => Ok(Value::Null),
        Data::Bool(a) => Ok(Value::Bool(a.value(row))),
        Data::I8(a) => number(&a.value(row), 0),
        Data::I16(a) => number(&a.value(row), 0),
        Data::I32(a) => number(&a.value(row), 0),
        Data::I64(a) => number(&a.value(row), 0),
        Data::U8(a) => number(&a.value(row), 0),
        Data::U16(a) => number(&a.value(row), 0),
        Data::U32(a) => number(&a.value(row), 0),
        Data::U64(a) => number(&a.value(row), 0),
        Data::F16(a) => Ok(float(f64::from(a.value(row)))),
        Data::F32(a) => Ok(float(f64::from(a.value(row)))),
        Data::F64(a) => Ok(float(a.value(row))),
        Data::D32(a, scale) => number(&a.value(row), *scale),
        Data::D64(a, scale) => number(&a.value(row), *scale),
        Data::D128(a, scale) => number(&a.value(row), *scale),
        Data::D256(a, scale) => number(&a.value(row), *scale),
        Data::Utf8(a, kind) => text(a.value(row), *kind),
        Data::LargeUtf8(a, kind) => text(a.value(row), *kind),
        Data::Utf8View(a, kind) => text(a.value(row), *kind),
        Data::Binary(a) => Ok(Value::Binary(a.value(row).to_vec())),
        Data::LargeBinary(a) => Ok(Value::Binary(a.value(row).to_vec())),
        Data::BinaryView(a) => Ok(Value::Binary(a.value(row).to_vec())),
        Data::Label(a) => std::str::from_utf8(a.value(row))
            .map(|label| Value::Text(label.to_owned()))
            .map_err(|error| inexact("reading an enum: its label is not UTF-8").caused_by(error)),
        Data::Fixed(a) => Ok(Value::Binary(a.value(row).to_vec())),
        Data::Uuid(a) => Ok(Value::Uuid(uuid(a.value(row))?)),
        Data::Dictionary(keys, values) => values.value(keys[row]),
        Data::Nested(nested) => nested.value(row),
        _ => temporal(data, row),
    }
}

fn temporal(data: &Data, row: usize) -> Result<Value> {
    let moment_of = |value, moment| if moment { Value::Instant(value) } else { Value::Timestamp(value) };
    match data {
        Data::Date32(a) => date_from_days(i64::from(a.value(row))).map(Value::Date),
        Data::Date64(a) => date_from_days(whole_days(a.value(row))?).map(Value::Date),
        Data::Time32(a, nanos) => nanos_of(i64::from(a.value(row)), *nanos).map(Value::Time),
        Data::Time64(a, nanos) => nanos_of(a.value(row), *nanos).map(Value::Time),
        Data::Timestamp(a, units, moment) => Ok(moment_of(timestamp(a.value(row), *units), *moment)),
        Data::Int96(seconds, nanos, moment) => Ok(moment_of(int96(seconds.value(row), nanos.value(row))?, *moment)),
        _ => match interval(data, row)? {
            Some((months, days, micros)) => Ok(Value::Interval(months, days, micros)),
            None => Err(Error::internal("a column has no accessor")),
        },
    }
}
