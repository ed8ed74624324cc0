//! Arrow columns from canonical values: exact, or a NULL cell whose value is told apart.

use crate::{
    encode::{FieldForm, days_from_civil, decode_form, render},
    model::{CanonicalType, ColumnPair, DateValue, Decimal, Error, OutputHint, Result, TimestampValue, Value},
};
use arrow_array::{
    ArrayRef,
    builder::{
        ArrayBuilder, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, FixedSizeBinaryBuilder,
        Float64Builder, Int64Builder, StringBuilder, Time64MicrosecondBuilder, Time64NanosecondBuilder,
        TimestampMicrosecondBuilder, TimestampNanosecondBuilder,
    },
};
use arrow_schema::{DataType, Field, TimeUnit, extension::Uuid};

/// Nanoseconds of a day.
const DAY_NANOS: i64 = 86_400_000_000_000;
/// Widest precision that is written as a decimal. Parquet and Arrow know wider ones, but `DuckDB` reads those as doubles
/// and so would show digits that no table holds; they are written as text.
const DECIMAL_DIGITS_MAX: u8 = 38;

/// The Arrow type of a column, and whether it is a UUID.
fn arrow_type(pair: &ColumnPair) -> DataType {
    let unit = match pair.output {
        OutputHint::Digits(digits) if digits > 6 => TimeUnit::Nanosecond,
        _ => TimeUnit::Microsecond,
    };
    match (&pair.canonical, pair.output) {
        (_, OutputHint::Text) => DataType::Utf8,
        (CanonicalType::Boolean, _) => DataType::Boolean,
        (CanonicalType::Number, OutputHint::Int64) => DataType::Int64,
        (CanonicalType::Number, OutputHint::Decimal(precision, scale)) if decimal_fits(precision, scale) => {
            DataType::Decimal128(precision, scale)
        }
        (CanonicalType::Float, _) => DataType::Float64,
        (CanonicalType::Binary, _) => DataType::Binary,
        (CanonicalType::Date, _) => DataType::Date32,
        (CanonicalType::Time, _) => DataType::Time64(unit),
        (CanonicalType::Timestamp, _) => DataType::Timestamp(unit, None),
        (CanonicalType::Instant, _) => DataType::Timestamp(unit, Some("UTC".into())),
        (CanonicalType::Uuid, _) => DataType::FixedSizeBinary(16),
        _ => DataType::Utf8,
    }
}

/// Whether readers know such a decimal; any other is written as text.
fn decimal_fits(precision: u8, scale: i8) -> bool {
    (1..=DECIMAL_DIGITS_MAX).contains(&precision) && u8::try_from(scale).is_ok_and(|scale| scale <= precision)
}

/// The Arrow field of a column: nullable, under its name in the source.
pub(super) fn field(pair: &ColumnPair) -> Field {
    let mut field = Field::new(&pair.name.source, arrow_type(pair), true);
    if pair.canonical == CanonicalType::Uuid && pair.output != OutputHint::Text {
        // Fails only for another storage type than the one of `arrow_type`; the column is then plain bytes.
        let _ = field.try_with_extension_type(Uuid);
    }
    field
}

/// What became of a value.
pub(super) enum Held {
    /// The cell holds it exactly.
    Exact,
    /// The Arrow type cannot hold it: the cell is NULL, and this is its canonical text. Or it is a stray value, whose
    /// text stands in the cell too.
    Beyond(String),
}

/// Builds one column.
pub(super) struct Cells {
    canonical: CanonicalType,
    builder: Builder,
}

enum Builder {
    Boolean(BooleanBuilder),
    Int64(Int64Builder),
    Decimal128(Decimal128Builder, u8, i8),
    Float(Float64Builder),
    Text(StringBuilder),
    Rendered(StringBuilder),
    Binary(BinaryBuilder),
    Date(Date32Builder),
    TimeMicros(Time64MicrosecondBuilder),
    TimeNanos(Time64NanosecondBuilder),
    Micros(TimestampMicrosecondBuilder),
    Nanos(TimestampNanosecondBuilder),
    Uuid(FixedSizeBinaryBuilder),
}

macro_rules! each {
    ($on:expr, $builder:ident => $do:expr) => {
        match $on {
            Builder::Boolean($builder) => $do,
            Builder::Int64($builder) => $do,
            Builder::Decimal128($builder, ..) => $do,
            Builder::Float($builder) => $do,
            Builder::Text($builder) | Builder::Rendered($builder) => $do,
            Builder::Binary($builder) => $do,
            Builder::Date($builder) => $do,
            Builder::TimeMicros($builder) => $do,
            Builder::TimeNanos($builder) => $do,
            Builder::Micros($builder) => $do,
            Builder::Nanos($builder) => $do,
            Builder::Uuid($builder) => $do,
        }
    };
}

impl Cells {
    /// An empty column for `pair`.
    pub(super) fn new(pair: &ColumnPair) -> Self {
        let kind = arrow_type(pair);
        let builder = match &kind {
            DataType::Boolean => Builder::Boolean(BooleanBuilder::new()),
            DataType::Int64 => Builder::Int64(Int64Builder::new()),
            DataType::Decimal128(precision, scale) => {
                Builder::Decimal128(Decimal128Builder::new().with_data_type(kind.clone()), *precision, *scale)
            }
            DataType::Float64 => Builder::Float(Float64Builder::new()),
            DataType::Binary => Builder::Binary(BinaryBuilder::new()),
            DataType::Date32 => Builder::Date(Date32Builder::new()),
            DataType::Time64(TimeUnit::Nanosecond) => Builder::TimeNanos(Time64NanosecondBuilder::new()),
            DataType::Time64(_) => Builder::TimeMicros(Time64MicrosecondBuilder::new()),
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                Builder::Nanos(TimestampNanosecondBuilder::new().with_timezone_opt(zone.clone()))
            }
            DataType::Timestamp(_, zone) => {
                Builder::Micros(TimestampMicrosecondBuilder::new().with_timezone_opt(zone.clone()))
            }
            DataType::FixedSizeBinary(_) => Builder::Uuid(FixedSizeBinaryBuilder::new(16)),
            _ if pair.canonical == CanonicalType::Text => Builder::Text(StringBuilder::new()),
            _ => Builder::Rendered(StringBuilder::new()),
        };
        Self { canonical: pair.canonical.clone(), builder }
    }

    /// Appends NULL.
    pub(super) fn append_null(&mut self) {
        each!(&mut self.builder, builder => builder.append_null());
    }

    /// Appends a field of a row.
    ///
    /// # Errors
    /// `Internal` if the bytes are not of the column's type.
    pub(super) fn append_field(&mut self, form: FieldForm<'_>) -> Result<Held> {
        let FieldForm::Value(field) = form else {
            let value = decode_form(&self.canonical, form)?;
            return self.append_value(&value);
        };
        // Families whose value form is the cell itself need no decoded value.
        match &mut self.builder {
            Builder::Text(builder) => {
                let text = std::str::from_utf8(field).map_err(|_| {
                    Error::internal("writing differences: expected canonical text, found bytes that are not UTF-8")
                })?;
                builder.append_value(text);
                Ok(Held::Exact)
            }
            Builder::Binary(builder) => {
                builder.append_value(field);
                Ok(Held::Exact)
            }
            Builder::Uuid(builder) => {
                builder.append_value(field).map_err(|cause| {
                    Error::internal("writing differences: expected the 16 bytes of a uuid").caused_by(cause)
                })?;
                Ok(Held::Exact)
            }
            _ => {
                let value = decode_form(&self.canonical, form)?;
                self.append_value(&value)
            }
        }
    }

    /// Appends a decoded value.
    ///
    /// # Errors
    /// `Internal` if the value is not of the column's type.
    pub(super) fn append_value(&mut self, value: &Value) -> Result<Held> {
        if *value == Value::Null {
            self.append_null();
            return Ok(Held::Exact);
        }
        if matches!(value, Value::Stray(_)) {
            let text = self.text(value)?;
            match &mut self.builder {
                Builder::Text(builder) | Builder::Rendered(builder) => builder.append_value(&text),
                _ => self.append_null(),
            }
            return Ok(Held::Beyond(text));
        }
        if self.put(value)? {
            return Ok(Held::Exact);
        }
        let text = self.text(value)?;
        self.append_null();
        Ok(Held::Beyond(text))
    }

    fn text(&self, value: &Value) -> Result<String> {
        render(&self.canonical, value).ok_or_else(|| {
            Error::internal(format!("writing differences: expected the text of a {}, found none", self.canonical))
        })
    }

    /// Appends the value if the column can hold it exactly, and says whether it did.
    fn put(&mut self, value: &Value) -> Result<bool> {
        if matches!(self.builder, Builder::Rendered(_)) {
            let text = self.text(value)?;
            if let Builder::Rendered(builder) = &mut self.builder {
                builder.append_value(text);
            }
            return Ok(true);
        }
        let held = match (&mut self.builder, value) {
            (Builder::Boolean(builder), Value::Bool(value)) => put(Some(*value), |value| builder.append_value(value)),
            (Builder::Float(builder), Value::Float(value)) => put(Some(*value), |value| builder.append_value(value)),
            (Builder::Text(builder), Value::Text(value)) => put(Some(value), |value| builder.append_value(value)),
            (Builder::Binary(builder), Value::Binary(value)) => put(Some(value), |value| builder.append_value(value)),
            (Builder::Uuid(builder), Value::Uuid(value)) => builder.append_value(value).is_ok(),
            (Builder::Int64(builder), Value::Number(value)) => {
                let whole = mantissa(value, 19, 0);
                put(whole.and_then(|whole| i64::try_from(whole).ok()), |value| builder.append_value(value))
            }
            (Builder::Decimal128(builder, precision, scale), Value::Number(value)) => {
                let found = mantissa(value, *precision, *scale);
                put(found, |value| builder.append_value(value))
            }
            (Builder::Date(builder), Value::Date(value)) => put(date(*value), |value| builder.append_value(value)),
            (Builder::TimeMicros(builder), Value::Time(nanos)) => {
                let found = ((0..DAY_NANOS).contains(nanos) && nanos % 1000 == 0).then_some(nanos / 1000);
                put(found, |value| builder.append_value(value))
            }
            (Builder::TimeNanos(builder), Value::Time(nanos)) => {
                put((0..DAY_NANOS).contains(nanos).then_some(*nanos), |value| builder.append_value(value))
            }
            (Builder::Micros(builder), Value::Timestamp(value) | Value::Instant(value)) => {
                put(scaled(*value, 1_000_000), |value| builder.append_value(value))
            }
            (Builder::Nanos(builder), Value::Timestamp(value) | Value::Instant(value)) => {
                put(scaled(*value, 1_000_000_000), |value| builder.append_value(value))
            }
            _ => {
                return Err(Error::internal(format!(
                    "writing differences: expected a value of type {}, found one of another type",
                    self.canonical
                )));
            }
        };
        Ok(held)
    }

    /// The column so far; the builder is empty again.
    pub(super) fn finish(&mut self) -> ArrayRef {
        each!(&mut self.builder, builder => ArrayBuilder::finish(builder))
    }
}

fn put<T>(value: Option<T>, append: impl FnOnce(T)) -> bool {
    value.map(append).is_some()
}

fn date(value: DateValue) -> Option<i32> {
    match value {
        // Readers take the outermost numbers for infinity or for NULL, here and in `scaled`.
        // Zero and partial dates are no days.
        DateValue::Day(_, 0, _)
        | DateValue::Day(_, _, 0)
        | DateValue::NegativeInfinity
        | DateValue::PositiveInfinity => None,
        DateValue::Day(year, month, day) => i32::try_from(days_from_civil(year, month, day))
            .ok()
            .filter(|days| days.unsigned_abs() < i32::MAX.unsigned_abs()),
    }
}

/// A moment in units of `1 / per_second` seconds, if it has no finer digits and fits.
fn scaled(value: TimestampValue, per_second: i64) -> Option<i64> {
    let TimestampValue::Finite(seconds, nanos) = value else { return None };
    let unit_nanos = 1_000_000_000 / per_second;
    let nanos = i64::from(nanos);
    if nanos % unit_nanos != 0 {
        return None;
    }
    let units = i128::from(seconds) * i128::from(per_second) + i128::from(nanos / unit_nanos);
    i64::try_from(units).ok().filter(|units| units.unsigned_abs() < i64::MAX.unsigned_abs())
}

/// `value * 10^scale` if that is whole and has at most `precision` digits (at most 38).
fn mantissa(value: &Decimal, precision: u8, scale: i8) -> Option<i128> {
    let Decimal::Finite { negative, exponent, digits } = value else { return None };
    let (Some(first), Some(last)) = (digits.first(), digits.last()) else { return Some(0) };
    // The value is a whole number of `length` decimal digits, the last of which is not 0, times 10^power.
    let drop_last = last % 10 == 0;
    let length = i64::try_from(digits.len()).ok()?.checked_mul(2)? - i64::from(drop_last);
    let power = i64::from(*exponent) * 2 - length + i64::from(scale);
    let significant = length - i64::from(*first < 10);
    if power < 0 || significant.checked_add(power)? > i64::from(precision) {
        return None;
    }
    let mut total = 0_i128;
    for (index, digit) in digits.iter().enumerate() {
        let (factor, digit) = if drop_last && index + 1 == digits.len() { (10, digit / 10) } else { (100, *digit) };
        total = total.checked_mul(factor)?.checked_add(i128::from(digit))?;
    }
    for _ in 0..power {
        total = total.checked_mul(10)?;
    }
    Some(if *negative { -total } else { total })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(negative: bool, exponent: i32, digits: &[u8]) -> Decimal {
        Decimal::Finite { negative, exponent, digits: digits.to_vec() }
    }

    fn check(value: &Decimal, precision: u8, scale: i8, expected: Option<i128>) {
        assert_eq!(mantissa(value, precision, scale), expected, "{value:?} {precision} {scale}");
    }

    #[test]
    fn decimals_become_exact_mantissas_or_nothing() {
        check(&number(false, 0, &[]), 1, 0, Some(0));
        check(&number(false, 1, &[5, 50]), 12, 2, Some(550));
        check(&number(true, 1, &[5, 50]), 12, 1, Some(-55));
        check(&number(false, 1, &[5, 50]), 12, 0, None);
        check(&number(false, -1, &[50]), 12, 3, Some(5));
        check(&number(false, -1, &[50]), 12, 2, None);
        check(&number(false, 4, &[1]), 7, 0, Some(1_000_000));
        check(&number(false, 4, &[1]), 6, 0, None);
        check(&number(false, 1, &[99]), 2, 0, Some(99));
        check(&number(false, 1, &[99]), 1, 0, None);
        check(&number(true, 10, &[9, 22, 33, 72, 3, 68, 54, 77, 58, 8]), 19, 0, Some(-9_223_372_036_854_775_808));
        check(&Decimal::NaN, 38, 0, None);
        check(&Decimal::PositiveInfinity, 38, 0, None);
        check(&number(false, i32::MAX, &[1]), 38, 0, None);
        check(&number(false, 19, &[99; 19]), 38, 0, Some(99_999_999_999_999_999_999_999_999_999_999_999_999));
        check(&number(false, 1, &[1; 20]), 38, 38, None);
        check(&number(true, 0, &[99; 19]), 38, 38, Some(-99_999_999_999_999_999_999_999_999_999_999_999_999));
    }

    #[test]
    fn moments_keep_their_digits_or_are_beyond() {
        assert_eq!(scaled(TimestampValue::Finite(-1, 999_999_000), 1_000_000), Some(-1));
        assert_eq!(scaled(TimestampValue::Finite(0, 1), 1_000_000), None);
        assert_eq!(scaled(TimestampValue::Finite(0, 1), 1_000_000_000), Some(1));
        assert_eq!(scaled(TimestampValue::Finite(10_000_000_000, 0), 1_000_000_000), None);
        assert_eq!(scaled(TimestampValue::Finite(9_223_372_036_854, 775_806_000), 1_000_000), Some(i64::MAX - 1));
        assert_eq!(scaled(TimestampValue::Finite(9_223_372_036_854, 775_807_000), 1_000_000), None);
        assert_eq!(scaled(TimestampValue::PositiveInfinity, 1_000_000), None);
        assert_eq!(scaled(TimestampValue::Partial(2020, 5, 0, 0), 1_000_000), None);
        assert_eq!(date(DateValue::Day(0, 0, 0)), None);
        assert_eq!(date(DateValue::Day(2026, 11, 30)), Some(20_787));
    }
}
