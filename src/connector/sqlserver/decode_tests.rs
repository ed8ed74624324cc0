//! Tests of decoding: every kind of value of the driver, and what is no value.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;
use crate::{
    encode::{EncodedBatch, RowLayout, decode_row, encode_row, parse},
    model::{CanonicalType, Conversion, FieldTarget, Projection, Side, TextFold, Value},
};
use tiberius::time::{Date, DateTimeOffset};
use tiberius::{Uuid, numeric::Numeric};

fn projected(canonical: CanonicalType, conversion: Conversion) -> Projected {
    let target = FieldTarget {
        canonical,
        conversion,
        strip_pad: false,
        zone: None,
        key_fold: TextFold::default(),
        parse_float_bits: 64,
        dynamic: false,
    };
    Projected { name: "c".to_owned(), index: 0, as_text: false, nullable: true, target }
}

fn read_as(
    canonical: CanonicalType,
    reading: Reading,
    conversion: Conversion,
    cell: &ColumnData<'static>,
) -> Result<Value> {
    let column = projected(canonical.clone(), conversion);
    let projection = Projection { side: Side::Source, key: Vec::new(), row: vec![column] };
    let layout = RowLayout::new(&projection)?;
    let mut batch = EncodedBatch::new();
    let mut writer = RowWriter::new(&layout, &mut batch);
    writer.begin_row();
    put(&mut writer, &Field { name: "c".to_owned(), reading }, cell)?;
    writer.end_row()?;
    drop(writer);
    Ok(decode_row(&[canonical], batch.record(0).row)?.remove(0))
}

#[expect(clippy::needless_pass_by_value, reason = "cells are made where they are read")]
fn read(canonical: CanonicalType, cell: ColumnData<'static>) -> Result<Value> {
    read_as(canonical, Reading::Plain, Conversion::Direct, &cell)
}

/// The value that canonical text stands for.
fn value(canonical: &CanonicalType, text: &str) -> Value {
    parse(canonical, text).unwrap()
}

#[test]
fn numbers() {
    let number = |text: &str| value(&CanonicalType::Number, text);
    for (cell, text) in [
        (ColumnData::U8(Some(255)), "255"),
        (ColumnData::I16(Some(i16::MIN)), "-32768"),
        (ColumnData::I32(Some(i32::MIN)), "-2147483648"),
        (ColumnData::I64(Some(i64::MIN)), "-9223372036854775808"),
    ] {
        assert_eq!(read(CanonicalType::Number, cell).unwrap(), number(text));
    }
    assert_eq!(read(CanonicalType::Boolean, ColumnData::Bit(Some(true))).unwrap(), Value::Bool(true));
    assert_eq!(read(CanonicalType::Number, ColumnData::Bit(Some(true))).unwrap(), number("1"));
    assert_eq!(read(CanonicalType::Float, ColumnData::F32(Some(0.1))).unwrap(), Value::Float(0.100_000_001_490_116_12));
    assert_eq!(read(CanonicalType::Float, ColumnData::F64(Some(0.1))).unwrap(), Value::Float(0.1));
}

#[test]
fn o22_negative_decimals_below_one() {
    for (mantissa, text) in [
        (-123_000, "-12.3"),
        (-170_800, "-17.08"),
        (-123, "-0.0123"),
        (-5, "-0.0005"),
        (0, "0"),
        (99_999_999_999_999_999_999_999_999_999_999_999_999, "9999999999999999999999999999999999.9999"),
    ] {
        let cell = ColumnData::Numeric(Some(Numeric::new_with_scale(mantissa, 4)));
        assert_eq!(read(CanonicalType::Number, cell).unwrap(), value(&CanonicalType::Number, text), "{text}");
    }
}

fn timestamp(text: &str) -> Value {
    value(&CanonicalType::Timestamp, text)
}

#[test]
fn o28_datetime_is_its_shown_value() {
    let datetime = |days, ticks| read(CanonicalType::Timestamp, ColumnData::DateTime(Some(DateTime::new(days, ticks))));
    // 2021-11-09 is day 44507 since 1900.
    assert_eq!(datetime(44_507, 14_984_756).unwrap(), timestamp("2021-11-09 13:52:29.187"));
    assert_eq!(datetime(-53_690, 0).unwrap(), timestamp("1753-01-01 00:00:00"));
    assert_eq!(datetime(2_958_463, time::DAY_TICKS - 1).unwrap(), timestamp("9999-12-31 23:59:59.997"));
    assert_eq!(datetime(0, time::DAY_TICKS).unwrap_err().kind(), ErrorKind::Value);
    let small = ColumnData::SmallDateTime(Some(SmallDateTime::new(65_535, 1439)));
    assert_eq!(read(CanonicalType::Timestamp, small).unwrap(), timestamp("2079-06-06 23:59:00"));
    let late = ColumnData::SmallDateTime(Some(SmallDateTime::new(0, 1440)));
    assert_eq!(read(CanonicalType::Timestamp, late).unwrap_err().kind(), ErrorKind::Value);
}

#[test]
fn finer_times() {
    let date = |days| ColumnData::Date(Some(Date::new(days)));
    assert_eq!(read(CanonicalType::Date, date(0)).unwrap(), value(&CanonicalType::Date, "0001-01-01"));
    assert_eq!(read(CanonicalType::Date, date(DAYS_MAX)).unwrap(), value(&CanonicalType::Date, "9999-12-31"));
    assert_eq!(read(CanonicalType::Date, date(DAYS_MAX + 1)).unwrap_err().kind(), ErrorKind::Value);
    let clock = |increments, scale| ColumnData::Time(Some(Time::new(increments, scale)));
    assert_eq!(read(CanonicalType::Time, clock(863_999_999_999, 7)).unwrap(), Value::Time(86_399_999_999_900));
    assert_eq!(read(CanonicalType::Time, clock(1, 0)).unwrap(), Value::Time(1_000_000_000));
    // A value of its own, never midnight.
    assert_eq!(read(CanonicalType::Time, clock(864_000_000_000, 7)).unwrap(), Value::Time(86_400_000_000_000));
    assert_eq!(read(CanonicalType::Time, clock(864_000_000_001, 7)).unwrap_err().kind(), ErrorKind::Value);
    let precise = |days, increments, scale| DateTime2::new(Date::new(days), Time::new(increments, scale));
    let datetime2 = |inner| read(CanonicalType::Timestamp, ColumnData::DateTime2(Some(inner)));
    assert_eq!(datetime2(precise(738_000, 1_866_667, 7)).unwrap(), timestamp("2021-07-30 00:00:00.1866667"));
    assert_eq!(datetime2(precise(738_000, 187, 3)).unwrap(), timestamp("2021-07-30 00:00:00.187"));
    assert_eq!(datetime2(precise(738_000, 864_000_000_000, 7)).unwrap_err().kind(), ErrorKind::Value);
    let offset = |minutes| ColumnData::DateTimeOffset(Some(DateTimeOffset::new(precise(738_000, 0, 7), minutes)));
    assert_eq!(
        read(CanonicalType::OffsetInstant, offset(-330)).unwrap(),
        Value::OffsetInstant(TimestampValue::Finite((738_000 - 719_162) * 86_400, 0), -19_800)
    );
    assert_eq!(
        read(CanonicalType::Instant, offset(60)).unwrap(),
        Value::Instant(TimestampValue::Finite((738_000 - 719_162) * 86_400, 0))
    );
    assert_eq!(read(CanonicalType::Instant, offset(900)).unwrap_err().kind(), ErrorKind::Value);
}

#[test]
fn o04_uuids_are_in_the_order_of_their_text() {
    let uuid = |text: &str| ColumnData::Guid(Some(Uuid::parse_str(text).unwrap()));
    let key = |text: &str| read(CanonicalType::Uuid, uuid(text)).unwrap();
    let (a, b, c) = (
        key("01000000-0000-0000-0000-000000000000"),
        key("00000000-0000-0000-0000-000000000001"),
        key("00000000-0000-0000-0100-000000000000"),
    );
    let bytes = |value: &Value| encode_row(&[CanonicalType::Uuid], std::slice::from_ref(value)).unwrap();
    assert!(bytes(&b) < bytes(&c) && bytes(&c) < bytes(&a));
}

#[test]
fn texts_and_bytes() {
    let text = || ColumnData::String(Some("a \u{1f600}".into()));
    assert_eq!(read(CanonicalType::Text, text()).unwrap(), Value::Text("a \u{1f600}".to_owned()));
    let bytes = || ColumnData::Binary(Some(vec![0, 255].into()));
    assert_eq!(read(CanonicalType::Binary, bytes()).unwrap(), Value::Binary(vec![0, 255]));
    // `--cast COLUMN=binary` of a text column: its stored bytes.
    let stored = |cell| read_as(CanonicalType::Binary, Reading::BytesAsText, Conversion::Parse, &cell);
    assert_eq!(stored(bytes()).unwrap(), Value::Binary(vec![0, 255]));
    assert_eq!(stored(ColumnData::Binary(Some(Vec::new().into()))).unwrap(), Value::Binary(Vec::new()));
    assert_eq!(stored(ColumnData::Binary(None)).unwrap(), Value::Null);
    assert_eq!(stored(text()).unwrap_err().kind(), ErrorKind::Value);
}

#[test]
fn null_of_every_type() {
    for cell in [
        ColumnData::U8(None),
        ColumnData::I16(None),
        ColumnData::I32(None),
        ColumnData::I64(None),
        ColumnData::F32(None),
        ColumnData::F64(None),
        ColumnData::Bit(None),
        ColumnData::String(None),
        ColumnData::Guid(None),
        ColumnData::Binary(None),
        ColumnData::Numeric(None),
        ColumnData::Xml(None),
        ColumnData::DateTime(None),
        ColumnData::SmallDateTime(None),
        ColumnData::Time(None),
        ColumnData::Date(None),
        ColumnData::DateTime2(None),
        ColumnData::DateTimeOffset(None),
    ] {
        assert_eq!(read(CanonicalType::Text, cell).unwrap(), Value::Null);
    }
}
