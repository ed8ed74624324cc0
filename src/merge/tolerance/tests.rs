//! Tests of the tolerances, as tables.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::model::TextFold;

fn number(text: &str) -> Value {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let magnitude = parse_magnitude(text).unwrap();
    let exponent = i32::try_from(magnitude.exponent).unwrap();
    Value::Number(Decimal::Finite { negative, exponent, digits: magnitude.digits })
}

fn tolerances(abs_tol: &str, rel_tol: &str) -> ColumnOptions {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ColumnOptions { abs_tol: some(abs_tol), rel_tol: some(rel_tol), ..ColumnOptions::default() }
}

fn check(canonical: &CanonicalType, options: &ColumnOptions, source: &Value, sink: &Value, expected: bool) {
    assert_eq!(excuses(canonical, options, source, sink).unwrap(), expected, "{source:?} {sink:?} {options:?}");
    assert_eq!(excuses(canonical, options, sink, source).unwrap(), expected, "{sink:?} {source:?} {options:?}");
}

#[test]
fn decimals_parse_to_base_100() {
    let check = |text: &str, exponent, digits: &[u8]| {
        assert_eq!(parse_magnitude(text), Some(Magnitude { exponent, digits: digits.to_vec() }), "{text}");
    };
    check("0", 0, &[]);
    check("1", 1, &[1]);
    check("5.50", 1, &[5, 50]);
    check("0.005", -1, &[50]);
    check("1000000", 4, &[1]);
    check("1e-3", -1, &[10]);
    check("12.345e1", 2, &[1, 23, 45]);
    check(".5", 0, &[50]);
    for text in ["", ".", "-1", "1x", "NaN", "1e", "1e9999999", "1.2.3"] {
        assert_eq!(parse_magnitude(text), None, "{text}");
    }
}

#[test]
fn numbers_within_a_tolerance() {
    for (abs_tol, rel_tol, source, sink, expected) in [
        ("1", "", "100000000000000000000", "100000000000000000001", true),
        ("1", "", "100000000000000000000", "100000000000000000001.0000000001", false),
        ("0.01", "", "1.50", "1.51", true),
        ("0.01", "", "1.50", "1.5100001", false),
        ("0.01", "", "-0.005", "0.005", true),
        ("0.01", "", "-0.005", "0.0051", false),
        ("0.01", "", "-1.50", "1.50", false),
        ("1", "", "99.5", "100.5", true),
        ("1", "", "-99.5", "-100.6", false),
        ("0", "", "1", "1.0000001", false),
        ("", "0.01", "100", "99", true),
        ("", "0.01", "100", "98.9999", false),
        ("", "0.01", "-100", "-99", true),
        ("", "1e-9", "1000000000", "1000000001", true),
        ("", "1e-9", "999999998", "999999999", false),
        ("", "0.5", "0", "0.0001", false),
        ("", "1", "0", "5", true),
        ("0.1", "0.0001", "0", "0.1", true),
        ("0.1", "0.01", "100", "101", true),
        ("0.1", "0.001", "100", "101", false),
        ("", "", "1", "2", false),
    ] {
        check(&CanonicalType::Number, &tolerances(abs_tol, rel_tol), &number(source), &number(sink), expected);
    }
}

#[test]
fn what_is_not_finite_is_within_no_tolerance() {
    let options = ColumnOptions { ulps: Some(u64::MAX), ..tolerances("1e1000", "1") };
    let one = number("1");
    for value in [Decimal::NaN, Decimal::PositiveInfinity, Decimal::NegativeInfinity] {
        check(&CanonicalType::Number, &options, &Value::Number(value.clone()), &one, false);
        check(&CanonicalType::Number, &options, &Value::Number(value.clone()), &Value::Number(value), true);
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        check(&CanonicalType::Float, &options, &Value::Float(value), &Value::Float(f64::MAX), false);
        check(&CanonicalType::Float, &options, &Value::Float(value), &Value::Float(value), true);
    }
    check(&CanonicalType::Float, &options, &Value::Float(f64::INFINITY), &Value::Float(f64::NEG_INFINITY), false);
    check(&CanonicalType::Number, &options, &Value::Null, &one, false);
}

#[test]
fn a_tolerance_that_is_no_number_is_refused() {
    let error = excuses(&CanonicalType::Number, &tolerances("-1", ""), &number("1"), &number("2")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[test]
fn a_difference_without_end_is_refused() {
    let far = |exponent| Value::Number(Decimal::Finite { negative: false, exponent, digits: vec![1] });
    let result = excuses(&CanonicalType::Number, &tolerances("1", ""), &far(2_000_000_000), &far(-2_000_000_000));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn floats_have_their_exact_value() {
    let check = |value: f64, text: &str| assert_eq!(Value::Number(exact_decimal(value)), number(text), "{text}");
    check(0.0, "0");
    check(-1.0, "-1");
    check(0.5, "0.5");
    check(100.0, "100");
    check(-12345.75, "-12345.75");
    check(0.1, "0.1000000000000000055511151231257827021181583404541015625");
    check(9_007_199_254_740_993.0, "9007199254740992");
    check(1e23, "99999999999999991611392");
    check(2_f64.powi(100), "1267650600228229401496703205376");
    check(2_f64.powi(-30), "0.000000000931322574615478515625");
}

#[test]
fn floats_within_ulps_or_a_tolerance() {
    let next = f64::from_bits(0.1_f64.to_bits() + 1);
    let least = f64::from_bits(1);
    for (ulps, abs_tol, source, sink, expected) in [
        (Some(1), "", 0.1, next, true),
        (Some(0), "", 0.1, next, false),
        (Some(1), "", 0.1, f64::from_bits(0.1_f64.to_bits() + 2), false),
        (Some(1), "", -least, 0.0, true),
        (Some(1), "", -least, least, false),
        (Some(2), "", -least, least, true),
        (Some(u64::MAX), "", f64::MIN, f64::MAX, true),
        (None, "0.0000000000000001", 0.1, next, true),
        (None, "0.00000000000000001", 0.1, next, false),
        (None, "0.2", 0.1, 0.3, true),
        (None, "0.1", 0.3, 0.4, false),
        (None, "1e-320", -least, least, true),
        (None, "", 0.1, next, false),
    ] {
        let options = ColumnOptions { ulps, ..tolerances(abs_tol, "") };
        check(&CanonicalType::Float, &options, &Value::Float(source), &Value::Float(sink), expected);
    }
}

#[test]
fn texts_that_fold_together() {
    let text = |text: &str| Value::Text(text.to_owned());
    let none = TextFold::default();
    let trim = TextFold { trim_end: true, ..none };
    let case = TextFold { fold_case: true, ..none };
    let nfc = TextFold { nfc: true, ..none };
    for (fold, source, sink, expected) in [
        (trim, "a ", "a", true),
        (trim, " a", "a", false),
        (trim, "a\t", "a", false),
        (none, "a ", "a", false),
        (case, "Strasse", "STRASSE", true),
        (case, "stra\u{df}e", "STRASSE", false),
        (case, "a ", "A", false),
        (nfc, "e\u{301}", "\u{e9}", true),
        (nfc, "e", "\u{e9}", false),
        (case, "e\u{301}", "\u{c9}", false),
    ] {
        let options = ColumnOptions { fold, ..ColumnOptions::default() };
        check(&CanonicalType::Text, &options, &text(source), &text(sink), expected);
    }
}

#[test]
fn the_null_token_is_null() {
    let text = |text: &str| Value::Text(text.to_owned());
    let options = ColumnOptions { null: Some("NA".to_owned()), ..ColumnOptions::default() };
    check(&CanonicalType::Text, &options, &Value::Null, &text("NA"), true);
    check(&CanonicalType::Text, &options, &Value::Null, &text("na"), false);
    check(&CanonicalType::Text, &options, &Value::Null, &text(""), false);
    check(&CanonicalType::Text, &ColumnOptions::default(), &Value::Null, &text("NA"), false);
}

#[test]
fn times_that_are_cut() {
    let timestamp = |seconds, nanos| Value::Timestamp(TimestampValue::Finite(seconds, nanos));
    let offset = |seconds, nanos, east| Value::OffsetInstant(TimestampValue::Finite(seconds, nanos), east);
    let partial = |month, nanos| Value::Timestamp(TimestampValue::Partial(2000, month, 0, nanos));
    let (ms, s) = (TimePrecision::Milliseconds, TimePrecision::Seconds);
    let (truncate, half_up) = (Rounding::Truncate, Rounding::HalfUp);
    let infinity = Value::Timestamp(TimestampValue::PositiveInfinity);
    for (precision, rounding, source, sink, expected) in [
        (ms, truncate, timestamp(10, 123_456_000), timestamp(10, 123_000_000), true),
        (ms, truncate, timestamp(10, 123_456_000), timestamp(10, 124_000_000), false),
        (ms, half_up, timestamp(10, 123_500_000), timestamp(10, 124_000_000), true),
        (ms, half_up, timestamp(10, 123_499_999), timestamp(10, 124_000_000), false),
        (s, truncate, timestamp(-1, 500_000_000), timestamp(-1, 0), true),
        (s, truncate, timestamp(-1, 500_000_000), timestamp(0, 0), false),
        (s, half_up, timestamp(-1, 500_000_000), timestamp(0, 0), true),
        (s, half_up, timestamp(59, 999_999_999), timestamp(60, 0), true),
        (TimePrecision::Microseconds, truncate, timestamp(1, 1_999), timestamp(1, 1_000), true),
        (ms, truncate, infinity.clone(), timestamp(1, 0), false),
        (ms, truncate, Value::Time(1_999_999), Value::Time(1_000_000), true),
        (ms, truncate, Value::TimeTz(1_999_999, 3600), Value::TimeTz(1_000_000, 3600), true),
        (ms, truncate, Value::TimeTz(1_000_000, 3600), Value::TimeTz(1_000_000, 0), false),
        (ms, truncate, offset(1, 1_999_999, 7200), offset(1, 1_000_000, 7200), true),
        (ms, truncate, offset(1, 1_000_000, 7200), offset(1, 1_000_000, 0), false),
        (ms, truncate, partial(4, 1_999_999), partial(4, 1_000_000), false),
        (ms, truncate, Value::Null, timestamp(0, 0), false),
    ] {
        let options = ColumnOptions { precision: Some(precision), rounding, ..ColumnOptions::default() };
        check(&CanonicalType::Timestamp, &options, &source, &sink, expected);
    }
    check(&CanonicalType::Timestamp, &ColumnOptions::default(), &timestamp(0, 1), &timestamp(0, 2), false);
}
