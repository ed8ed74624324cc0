//! Tests of literals.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::super::types::Characters;
use super::*;

#[expect(clippy::needless_pass_by_value, reason = "values are made where they are compared")]
fn native(wire: &Wire, value: Value) -> Part {
    part(wire, Sorting::Native, &value).unwrap()
}

fn exact(text: &str) -> Part {
    Part::Exact(text.to_owned())
}

fn above(text: &str) -> Part {
    Part::Above(text.to_owned())
}

/// `0.d1d2... * 100^exponent` with base-100 digits.
fn number(negative: bool, exponent: i32, digits: &[u8]) -> Value {
    Value::Number(Decimal::Finite { negative, exponent, digits: digits.to_vec() })
}

#[test]
fn integers() {
    let int = Wire::Integer(32, true);
    assert_eq!(native(&int, number(true, 1, &[5])), exact("-5"));
    assert_eq!(native(&int, number(false, 0, &[])), exact("0"));
    // 5.5, -5.5
    assert_eq!(native(&int, number(false, 1, &[5, 50])), above("6"));
    assert_eq!(native(&int, number(true, 1, &[5, 50])), above("-5"));
    // 3,000,000,000
    let large = number(false, 5, &[30]);
    assert_eq!(native(&int, large.clone()), Part::Highest);
    assert_eq!(native(&Wire::Integer(64, true), large), exact("CONVERT(bigint, 3000000000)"));
    assert_eq!(native(&Wire::Integer(8, false), number(true, 1, &[1])), Part::Lowest);
    assert_eq!(native(&Wire::Integer(8, false), number(false, 2, &[2, 55])), exact("255"));
    assert_eq!(native(&Wire::Integer(64, true), number(false, 30, &[1])), Part::Highest);
    assert_eq!(native(&Wire::Integer(64, true), number(true, 30, &[1])), Part::Lowest);
    assert_eq!(native(&int, Value::Number(Decimal::NaN)), Part::Highest);
    assert_eq!(native(&int, Value::Number(Decimal::NegativeInfinity)), Part::Lowest);
    assert_eq!(native(&int, Value::Null), Part::Null);
}

#[test]
fn decimals_and_money() {
    let decimal = Wire::Decimal(Some((10, 4)));
    // -0.0123, 0.01235, -0.01235
    assert_eq!(native(&decimal, number(true, 0, &[1, 23])), exact("CONVERT(decimal(10,4), '-0.0123')"));
    assert_eq!(native(&decimal, number(false, 0, &[1, 23, 50])), above("CONVERT(decimal(10,4), '0.0124')"));
    assert_eq!(native(&decimal, number(true, 0, &[1, 23, 50])), above("CONVERT(decimal(10,4), '-0.0123')"));
    // The last value, 999999.9999, and what lies between it and nothing.
    assert_eq!(
        native(&decimal, number(false, 3, &[99, 99, 99, 99, 99])),
        exact("CONVERT(decimal(10,4), '999999.9999')")
    );
    assert_eq!(native(&decimal, number(false, 3, &[99, 99, 99, 99, 99, 1])), Part::Highest);
    let wide = Wire::Decimal(Some((38, 0)));
    assert_eq!(
        native(&wide, number(false, 19, &[99; 19])),
        exact(&format!("CONVERT(decimal(38,0), '{}')", "9".repeat(38)))
    );
    assert_eq!(
        native(&Wire::Money(true), number(true, 10, &[9, 22, 33, 72, 3, 68, 54, 77, 58, 8])),
        // -92233720368547758.08 lies below the least money only from -922337203685477.5808 on.
        Part::Lowest
    );
    assert_eq!(
        native(&Wire::Money(false), number(false, 1, &[1, 23, 45])),
        exact("CONVERT(smallmoney, CONVERT(decimal(19,4), '1.2345'))")
    );
    assert_eq!(native(&Wire::Bit, number(false, 0, &[50])), above("CONVERT(bit, 1)"));
    assert_eq!(native(&Wire::Bit, Value::Bool(false)), exact("CONVERT(bit, 0)"));
}

#[test]
fn dates_and_times() {
    assert_eq!(native(&Wire::Date, Value::Date(DateValue::Day(2024, 2, 29))), exact("CONVERT(date, '2024-02-29')"));
    assert_eq!(native(&Wire::Date, Value::Date(DateValue::Day(2024, 0, 15))), above("CONVERT(date, '2024-01-01')"));
    assert_eq!(native(&Wire::Date, Value::Date(DateValue::Day(2023, 2, 30))), above("CONVERT(date, '2023-03-01')"));
    assert_eq!(native(&Wire::Date, Value::Date(DateValue::Day(0, 0, 0))), Part::Lowest);
    assert_eq!(native(&Wire::Date, Value::Date(DateValue::Day(10_000, 1, 1))), Part::Highest);
    assert_eq!(native(&Wire::Time(7), Value::Time(1)), above("CONVERT(time(7), '00:00:00.0000001')"));
    assert_eq!(native(&Wire::Time(0), Value::Time(1_000_000_000)), exact("CONVERT(time(0), '00:00:01')"));
    assert_eq!(native(&Wire::Time(3), Value::Time(DAY_NANOS - 1)), Part::Highest);
    assert_eq!(native(&Wire::Time(7), Value::Time(DAY_NANOS)), Part::Highest);
}

#[test]
fn timestamps() {
    let at = |seconds, nanos| Value::Timestamp(TimestampValue::Finite(seconds, nanos));
    let precise = |digits| Wire::DateTime2(digits);
    assert_eq!(native(&precise(7), at(-1, 999_999_900)), exact("CONVERT(datetime2(7), '1969-12-31T23:59:59.9999999')"));
    assert_eq!(native(&precise(7), at(-1, 999_999_901)), above("CONVERT(datetime2(7), '1970-01-01T00:00:00.0000000')"));
    assert_eq!(native(&precise(0), at(0, 1)), above("CONVERT(datetime2(0), '1970-01-01T00:00:01')"));
    // 9999-12-31 23:59:59.99999995 has nothing above it.
    assert_eq!(native(&precise(7), at(253_402_300_799, 999_999_950)), Part::Highest);
    assert_eq!(native(&precise(7), at(-62_135_596_801, 0)), Part::Lowest);
    assert_eq!(native(&precise(3), Value::Timestamp(TimestampValue::NegativeInfinity)), Part::Lowest);
    assert_eq!(
        native(&precise(3), Value::Timestamp(TimestampValue::Partial(2024, 3, 0, 5))),
        above("CONVERT(datetime2(3), '2024-03-01T00:00:00.000')")
    );
}

#[test]
fn o28_bounds_of_datetime_are_what_it_shows() {
    let at = |nanos| Value::Timestamp(TimestampValue::Finite(1_636_465_949, nanos));
    let datetime = |text: &str| format!("CONVERT(datetime, '2021-11-09T13:52:29.{text}', 126)");
    assert_eq!(native(&Wire::DateTime, at(187_000_000)), exact(&datetime("187")));
    assert_eq!(native(&Wire::DateTime, at(186_666_700)), above(&datetime("187")));
    assert_eq!(native(&Wire::DateTime, at(187_000_001)), above(&datetime("190")));
    assert_eq!(native(&Wire::DateTime, Value::Timestamp(TimestampValue::Finite(-6_847_804_801, 0))), Part::Lowest);
    let last = |nanos| native(&Wire::DateTime, Value::Timestamp(TimestampValue::Finite(253_402_300_799, nanos)));
    assert_eq!(last(997_000_000), exact("CONVERT(datetime, '9999-12-31T23:59:59.997', 126)"));
    assert_eq!(last(998_000_000), Part::Highest);
    let minute = |seconds| native(&Wire::SmallDateTime, Value::Timestamp(TimestampValue::Finite(seconds, 0)));
    assert_eq!(minute(61), above("CONVERT(smalldatetime, '1970-01-01T00:02:00', 126)"));
    assert_eq!(minute(60), exact("CONVERT(smalldatetime, '1970-01-01T00:01:00', 126)"));
}

#[test]
fn bytes_beside_a_fixed_length() {
    let binary = |bytes: &[u8]| native(&Wire::Binary(Some(2), false), Value::Binary(bytes.to_vec()));
    assert_eq!(binary(&[1, 2]), exact("0x0102"));
    assert_eq!(binary(&[1]), above("0x0100"));
    assert_eq!(binary(&[1, 2, 0]), above("0x0103"));
    assert_eq!(binary(&[1, 255, 0]), above("0x0200"));
    assert_eq!(binary(&[255, 255, 0]), Part::Highest);
    assert_eq!(native(&Wire::RowVersion, Value::Binary(vec![0, 0, 0, 0, 0, 0, 7, 0xd1])), exact("0x00000000000007d1"));
    // Values of any length compare as if padded, so a bound has no exact form.
    assert!(part(&Wire::Binary(None, false), Sorting::Bytes, &Value::Binary(vec![1])).is_err());
    assert!(part(&Wire::Float, Sorting::Whole, &Value::Float(1.0)).is_err());
}

#[test]
fn texts_and_uuids() {
    let characters = Characters { national: true, fixed: false, large_object: false, units: Some(20) };
    let text = |value: &str| native(&Wire::Text(characters.clone()), Value::Text(value.to_owned()));
    assert_eq!(text("it's"), exact("N'it''s'"));
    assert_eq!(text(""), exact("N''"));
    let uuid = [0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaf];
    assert_eq!(
        part(&Wire::Uuid, Sorting::UuidText, &Value::Uuid(uuid)).unwrap(),
        exact("CONVERT(char(36), CONVERT(uniqueidentifier, '01000000-0000-0000-0000-0000000000af'))")
    );
}

#[test]
fn text_that_the_server_sorts_otherwise() {
    let text = Wire::Text(Characters { national: true, fixed: false, large_object: false, units: Some(20) });
    let of = |value: &str| part(&text, Sorting::Native, &Value::Text(value.to_owned())).unwrap();
    let after = |text: &str| Part::After(text.to_owned());
    assert_eq!(of("a b"), exact("N'a b'"));
    // Blanks at the end, characters below the blank.
    assert_eq!(of("a  "), after("N'a'"));
    assert_eq!(of(" "), after("N''"));
    assert_eq!(of("a\tb"), after("N'a'"));
    assert_eq!(of("a \0b"), after("N'a '"));
    // Beyond U+FFFF in UTF-16: everything that begins alike is below.
    assert_eq!(of("ab\u{1F600}c"), above("N'ac'"));
    assert_eq!(of("a\u{FFFF}\u{1F600}"), above("N'b'"));
    assert_eq!(of("\u{D7FF}\u{1F600}"), above("N'\u{E000}'"));
    assert_eq!(of("\u{1F600}"), Part::Highest);
    assert_eq!(
        part(&text, Sorting::Utf8, &Value::Text("\u{1F600}".to_owned())).unwrap(),
        exact("CONVERT(varchar(max), N'\u{1F600}' COLLATE Latin1_General_100_BIN2_UTF8)")
    );
}
