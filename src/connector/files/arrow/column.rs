//! Accessors: one variant a type, so that a value is one match and one typed call.

use super::value::{self, Nested};
use crate::{
    encode::RowWriter,
    model::{Error, ErrorKind, LogicalType, Result, TimestampValue, Value},
};
use arrow_array::{Array, ArrayRef, cast::AsArray, types as t};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

/// What text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Text,
    Json,
}

pub(super) enum Data {
    Null,
    /// The same text in every row.
    Constant(std::sync::Arc<str>),
    Bool(arrow_array::BooleanArray),
    I8(arrow_array::Int8Array),
    I16(arrow_array::Int16Array),
    I32(arrow_array::Int32Array),
    I64(arrow_array::Int64Array),
    U8(arrow_array::UInt8Array),
    U16(arrow_array::UInt16Array),
    U32(arrow_array::UInt32Array),
    U64(arrow_array::UInt64Array),
    F16(arrow_array::Float16Array),
    F32(arrow_array::Float32Array),
    F64(arrow_array::Float64Array),
    D32(arrow_array::Decimal32Array, i32),
    D64(arrow_array::Decimal64Array, i32),
    D128(arrow_array::Decimal128Array, i32),
    D256(arrow_array::Decimal256Array, i32),
    Utf8(arrow_array::StringArray, TextKind),
    LargeUtf8(arrow_array::LargeStringArray, TextKind),
    Utf8View(arrow_array::StringViewArray, TextKind),
    Binary(arrow_array::BinaryArray),
    LargeBinary(arrow_array::LargeBinaryArray),
    BinaryView(arrow_array::BinaryViewArray),
    /// Text that the file does not promise to be UTF-8 (labels of enums).
    Label(arrow_array::BinaryArray),
    Fixed(arrow_array::FixedSizeBinaryArray),
    Uuid(arrow_array::FixedSizeBinaryArray),
    Date32(arrow_array::Date32Array),
    Date64(arrow_array::Date64Array),
    /// Values and nanoseconds a unit.
    Time32(arrow_array::PrimitiveArray<t::Int32Type>, i64),
    Time64(arrow_array::Int64Array, i64),
    /// Values, units a second, whether it is a moment.
    Timestamp(arrow_array::Int64Array, i64, bool),
    /// INT96: whole seconds, nanoseconds modulo 2^64, whether it is a moment.
    Int96(arrow_array::Int64Array, arrow_array::Int64Array, bool),
    Months(arrow_array::IntervalYearMonthArray),
    DayTime(arrow_array::IntervalDayTimeArray),
    MonthDayNano(arrow_array::IntervalMonthDayNanoArray),
    /// The Parquet INTERVAL: days and milliseconds, months; all three without sign.
    ParquetInterval(arrow_array::IntervalDayTimeArray, arrow_array::IntervalYearMonthArray),
    /// Indices of values, values.
    Dictionary(Vec<usize>, Box<Column>),
    Nested(Nested),
}

/// A column of a batch.
pub(crate) struct Column {
    pub(super) nulls: Option<NullBuffer>,
    pub(super) data: Data,
}

fn unfit(array: &ArrayRef) -> Error {
    Error::new(ErrorKind::Unsupported, format!("reading a column of Arrow type {}: not supported", array.data_type()))
}

const fn units_per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn as_i64(array: &ArrayRef) -> Result<arrow_array::Int64Array> {
    let data = array.to_data();
    if data.buffers().is_empty() || !matches!(array.data_type(), DataType::Timestamp(..) | DataType::Time64(_)) {
        return Err(unfit(array));
    }
    let builder = data.into_builder().data_type(DataType::Int64);
    builder.build().map(arrow_array::Int64Array::from).map_err(|error| Error::internal(error.to_string()))
}

fn as_i32(array: &ArrayRef) -> Result<arrow_array::Int32Array> {
    let builder = array.to_data().into_builder().data_type(DataType::Int32);
    builder.build().map(arrow_array::Int32Array::from).map_err(|error| Error::internal(error.to_string()))
}

impl Column {
    /// The values of `rows`, if they are signed whole numbers and none is NULL.
    pub(super) fn whole_numbers(&self, rows: std::ops::Range<usize>) -> Option<Vec<i64>> {
        if self.nulls.is_some() {
            return None;
        }
        match &self.data {
            Data::I32(values) => Some(values.values().get(rows)?.iter().map(|value| i64::from(*value)).collect()),
            Data::I64(values) => values.values().get(rows).map(<[i64]>::to_vec),
            _ => None,
        }
    }

    /// An accessor of `array`, whose store-neutral type is `logical`.
    ///
    /// # Errors
    /// `Unsupported` for a type without accessor.
    pub(crate) fn new(array: &ArrayRef, logical: &LogicalType) -> Result<Self> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        Ok(Self { nulls, data: data_of(array, logical)? })
    }

    /// An accessor of a column that the file has as two halves (INT96, INTERVAL), from the readings of both.
    ///
    /// # Errors
    /// `Internal` if the halves do not fit.
    pub(crate) fn paired(first: &ArrayRef, second: &ArrayRef) -> Result<Self> {
        if first.len() != second.len() || first.nulls() != second.nulls() {
            return Err(Error::internal("two readings of one column disagree"));
        }
        let nulls = first.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        let data = match (first.data_type(), second.data_type()) {
            (DataType::Timestamp(TimeUnit::Second, zone), DataType::Timestamp(TimeUnit::Nanosecond, _)) => {
                Data::Int96(as_i64(first)?, as_i64(second)?, zone.is_some())
            }
            (DataType::Interval(IntervalUnit::DayTime), DataType::Interval(IntervalUnit::YearMonth)) => {
                Data::ParquetInterval(first.as_primitive().clone(), second.as_primitive().clone())
            }
            _ => return Err(Error::internal("two readings of one column have other types than asked for")),
        };
        Ok(Self { nulls, data })
    }

    /// The same text, or NULL, in every row.
    pub(crate) fn constant(text: Option<std::sync::Arc<str>>) -> Self {
        Self { nulls: None, data: text.map_or(Data::Null, Data::Constant) }
    }

    /// Whether the value is NULL.
    pub(super) fn is_null(&self, row: usize) -> bool {
        if matches!(self.data, Data::Null) || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return true;
        }
        matches!(&self.data, Data::Dictionary(keys, values) if values.is_null(keys[row]))
    }

    /// Writes the value of `row`.
    ///
    /// # Errors
    /// `Value` if it cannot be represented exactly, and those of the writer.
    #[inline]
    pub(crate) fn put(&self, row: usize, w: &mut RowWriter<'_>) -> Result<()> {
        if let Some(nulls) = &self.nulls
            && nulls.is_null(row)
        {
            return w.put_null();
        }
        match &self.data {
            Data::Null => w.put_null(),
            Data::Constant(text) => w.put_text(text),
            Data::Bool(a) => w.put_bool(a.value(row)),
            Data::I8(a) => w.put_i64(i64::from(a.value(row))),
            Data::I16(a) => w.put_i64(i64::from(a.value(row))),
            Data::I32(a) => w.put_i64(i64::from(a.value(row))),
            Data::I64(a) => w.put_i64(a.value(row)),
            Data::U8(a) => w.put_i64(i64::from(a.value(row))),
            Data::U16(a) => w.put_i64(i64::from(a.value(row))),
            Data::U32(a) => w.put_i64(i64::from(a.value(row))),
            Data::U64(a) => w.put_u64(a.value(row)),
            Data::F16(a) => w.put_f64(f64::from(a.value(row))),
            Data::F32(a) => w.put_f64(f64::from(a.value(row))),
            Data::F64(a) => w.put_f64(a.value(row)),
            Data::D32(a, scale) => w.put_scaled(i128::from(a.value(row)), *scale),
            Data::D64(a, scale) => w.put_scaled(i128::from(a.value(row)), *scale),
            Data::D128(a, scale) => w.put_scaled(a.value(row), *scale),
            Data::D256(a, scale) => match a.value(row).to_i128() {
                Some(mantissa) => w.put_scaled(mantissa, *scale),
                None => w.put_decimal(&value::decimal(&a.value(row).to_string(), *scale)?),
            },
            Data::Utf8(a, TextKind::Text) => w.put_text(a.value(row)),
            Data::LargeUtf8(a, TextKind::Text) => w.put_text(a.value(row)),
            Data::Utf8View(a, TextKind::Text) => w.put_text(a.value(row)),
            Data::Utf8(a, TextKind::Json) => w.put_json(a.value(row)),
            Data::LargeUtf8(a, TextKind::Json) => w.put_json(a.value(row)),
            Data::Utf8View(a, TextKind::Json) => w.put_json(a.value(row)),
            Data::Binary(a) => w.put_binary(a.value(row)),
            Data::LargeBinary(a) => w.put_binary(a.value(row)),
            Data::BinaryView(a) => w.put_binary(a.value(row)),
            Data::Label(a) => w.put_text_bytes(a.value(row)),
            Data::Fixed(a) => w.put_binary(a.value(row)),
            Data::Uuid(a) => w.put_uuid(value::uuid(a.value(row))?),
            Data::Dictionary(keys, values) => values.put(keys[row], w),
            Data::Nested(_) => w.put_value(&self.value(row)?),
            _ => self.put_temporal(row, w),
        }
    }

    fn put_temporal(&self, row: usize, w: &mut RowWriter<'_>) -> Result<()> {
        match &self.data {
            Data::Date32(a) => w.put_days(i64::from(a.value(row))),
            Data::Date64(a) => w.put_days(value::whole_days(a.value(row))?),
            Data::Time32(a, nanos) => w.put_time(value::nanos_of(i64::from(a.value(row)), *nanos)?),
            Data::Time64(a, nanos) => w.put_time(value::nanos_of(a.value(row), *nanos)?),
            Data::Timestamp(a, units, moment) => put_moment(w, value::timestamp(a.value(row), *units), *moment),
            Data::Int96(seconds, nanos, moment) => {
                put_moment(w, value::int96(seconds.value(row), nanos.value(row))?, *moment)
            }
            _ => match value::interval(&self.data, row)? {
                Some((months, days, micros)) => w.put_interval(months, days, micros),
                None => Err(Error::internal("a column has no accessor")),
            },
        }
    }

    /// The value of `row`; not for the hot path.
    ///
    /// # Errors
    /// `Value` if it cannot be represented exactly.
    pub(crate) fn value(&self, row: usize) -> Result<Value> {
        if self.is_null(row) { Ok(Value::Null) } else { value::value(&self.data, row) }
    }
}

fn put_moment(w: &mut RowWriter<'_>, value: TimestampValue, moment: bool) -> Result<()> {
    if moment { w.put_instant(value) } else { w.put_timestamp(value) }
}

fn data_of(array: &ArrayRef, logical: &LogicalType) -> Result<Data> {
    use DataType as D;
    let text = if matches!(logical, LogicalType::Json) { TextKind::Json } else { TextKind::Text };
    Ok(match array.data_type() {
        D::Null => Data::Null,
        D::Boolean => Data::Bool(array.as_boolean().clone()),
        D::Int8 => Data::I8(array.as_primitive().clone()),
        D::Int16 => Data::I16(array.as_primitive().clone()),
        D::Int32 => Data::I32(array.as_primitive().clone()),
        D::Int64 => Data::I64(array.as_primitive().clone()),
        D::UInt8 => Data::U8(array.as_primitive().clone()),
        D::UInt16 => Data::U16(array.as_primitive().clone()),
        D::UInt32 => Data::U32(array.as_primitive().clone()),
        D::UInt64 => Data::U64(array.as_primitive().clone()),
        D::Float16 => Data::F16(array.as_primitive().clone()),
        D::Float32 => Data::F32(array.as_primitive().clone()),
        D::Float64 => Data::F64(array.as_primitive().clone()),
        D::Decimal32(_, scale) => Data::D32(array.as_primitive().clone(), i32::from(*scale)),
        D::Decimal64(_, scale) => Data::D64(array.as_primitive().clone(), i32::from(*scale)),
        D::Decimal128(_, scale) => Data::D128(array.as_primitive().clone(), i32::from(*scale)),
        D::Decimal256(_, scale) => Data::D256(array.as_primitive().clone(), i32::from(*scale)),
        D::Utf8 => Data::Utf8(array.as_string().clone(), text),
        D::LargeUtf8 => Data::LargeUtf8(array.as_string().clone(), text),
        D::Utf8View => Data::Utf8View(array.as_string_view().clone(), text),
        D::Binary if matches!(logical, LogicalType::Enum) => Data::Label(array.as_binary().clone()),
        D::Binary => Data::Binary(array.as_binary().clone()),
        D::LargeBinary => Data::LargeBinary(array.as_binary().clone()),
        D::BinaryView => Data::BinaryView(array.as_binary_view().clone()),
        D::FixedSizeBinary(16) if matches!(logical, LogicalType::Uuid) => {
            Data::Uuid(array.as_fixed_size_binary().clone())
        }
        D::FixedSizeBinary(_) => Data::Fixed(array.as_fixed_size_binary().clone()),
        D::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            if dictionary.values().is_empty() {
                return Ok(Data::Null);
            }
            let values = Column::new(dictionary.values(), logical)?;
            Data::Dictionary(dictionary.normalized_keys(), Box::new(values))
        }
        _ => return temporal_or_nested(array, logical),
    })
}

fn temporal_or_nested(array: &ArrayRef, logical: &LogicalType) -> Result<Data> {
    use DataType as D;
    Ok(match array.data_type() {
        D::Date32 => Data::Date32(array.as_primitive().clone()),
        D::Date64 => Data::Date64(array.as_primitive().clone()),
        D::Time32(unit) => Data::Time32(as_i32(array)?, 1_000_000_000 / units_per_second(*unit)),
        D::Time64(unit) => Data::Time64(as_i64(array)?, 1_000_000_000 / units_per_second(*unit)),
        D::Timestamp(unit, zone) => Data::Timestamp(as_i64(array)?, units_per_second(*unit), zone.is_some()),
        D::Interval(IntervalUnit::YearMonth) => Data::Months(array.as_primitive().clone()),
        D::Interval(IntervalUnit::DayTime) => Data::DayTime(array.as_primitive().clone()),
        D::Interval(IntervalUnit::MonthDayNano) => Data::MonthDayNano(array.as_primitive().clone()),
        _ => Data::Nested(Nested::new(array, logical)?.ok_or_else(|| unfit(array))?),
    })
}
