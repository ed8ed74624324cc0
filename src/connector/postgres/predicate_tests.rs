//! Tests of range predicates.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn compared_of(expression: &str, nullable: bool, part: Part) -> Compared {
    Compared { expression: expression.to_owned(), nullable, part }
}

fn exact(text: &str) -> Part {
    Part::Exact(text.to_owned())
}

#[test]
fn plain_bounds_compare_rows() {
    let one = [compared_of("a", false, exact("1"))];
    assert_eq!(bound(&one, true), "a >= 1");
    assert_eq!(bound(&one, false), "a < 1");
    let two = [compared_of("a", false, exact("1")), compared_of("b", false, exact("2"))];
    assert_eq!(bound(&two, true), "(a, b) >= (1, 2)");
    assert_eq!(bound(&two, false), "(a, b) < (1, 2)");
}

#[test]
fn bounds_of_nullable_columns_are_spelt_out() {
    let one = [compared_of("a", true, exact("1"))];
    assert_eq!(bound(&one, true), "a >= 1");
    assert_eq!(bound(&one, false), "(a < 1 OR a IS NULL)");
    let null = [compared_of("a", true, Part::Null)];
    assert_eq!(bound(&null, true), "true");
    assert_eq!(bound(&null, false), "false");
    let two = [compared_of("a", false, exact("1")), compared_of("b", true, Part::Null)];
    assert_eq!(bound(&two, true), "a >= 1");
    assert_eq!(bound(&two, false), "(a <= 1 AND a < 1)");
    let two = [compared_of("a", false, exact("1")), compared_of("b", true, exact("2"))];
    assert_eq!(bound(&two, true), "(a, b) >= (1, 2)");
    assert_eq!(bound(&two, false), "(a <= 1 AND (a < 1 OR (a = 1 AND (b < 2 OR b IS NULL))))");
    let two = [compared_of("a", true, Part::Null), compared_of("b", false, exact("2"))];
    assert_eq!(bound(&two, true), "(a IS NOT NULL OR (a IS NULL AND b >= 2))");
    assert_eq!(bound(&two, false), "(a IS NULL AND b < 2)");
}

#[test]
fn guards_look_where_null_would_fall_out_of_every_range() {
    let guard = |column: &str, sql: &str| Guard { column: column.to_owned(), sql: sql.to_owned() };
    let two = [compared_of("a", false, exact("1")), compared_of("b", false, exact("2"))];
    let last_a = guard("a", "SELECT (a)::text FROM t ORDER BY a DESC LIMIT 1");
    let last_b = guard("b", "SELECT (b)::text FROM t WHERE a = 1 ORDER BY b DESC LIMIT 1");
    assert_eq!(guards_of(&two, &["a", "b"], "t", true), [last_a.clone(), last_b.clone()]);
    assert_eq!(guards_of(&two, &["a", "b"], "t", false), [last_b]);
    // Predicates of nullable columns speak of NULL themselves; where a bound lies between values, nothing equals it.
    let nullable = [compared_of("a", true, Part::Null), compared_of("b", false, exact("2"))];
    let beside_null = guard("b", "SELECT (b)::text FROM t WHERE a IS NULL ORDER BY b DESC LIMIT 1");
    assert_eq!(guards_of(&nullable, &["a", "b"], "t", true), [beside_null]);
    let above = [compared_of("a", false, Part::Above("1".to_owned())), compared_of("b", false, exact("2"))];
    assert_eq!(guards_of(&above, &["a", "b"], "t", true), [last_a]);
}

#[test]
fn bounds_that_a_column_cannot_hold() {
    let above = [compared_of("a", false, Part::Above("1".to_owned()))];
    assert_eq!((bound(&above, true), bound(&above, false)), ("a >= 1".to_owned(), "a < 1".to_owned()));
    let highest = [compared_of("a", true, Part::Highest)];
    assert_eq!((bound(&highest, true), bound(&highest, false)), ("false".to_owned(), "true".to_owned()));
}

fn number(negative: bool, exponent: i32, digits: &[u8]) -> Value {
    Value::Number(Decimal::Finite { negative, exponent, digits: digits.to_vec() })
}

#[test]
fn literals() {
    let native = |wire: &Wire, value: Value| part(wire, Sorting::Native, &value).unwrap();
    assert_eq!(native(&Wire::Int4, number(true, 1, &[5])), exact("'-5'::bigint"));
    assert_eq!(native(&Wire::Int8, number(false, 4, &[1])), exact("'1000000'::bigint"));
    assert_eq!(native(&Wire::Int8, number(false, 1, &[5, 50])), exact("'0.00550e3'::numeric"));
    assert_eq!(native(&Wire::Numeric(None), number(false, -1, &[50])), exact("'0.050e-1'::numeric"));
    assert_eq!(native(&Wire::Float8, Value::Float(0.1)), exact("'1e-1'::float8"));
    assert_eq!(native(&Wire::Date, Value::Date(DateValue::Day(0, 2, 29))), exact("'0001-02-29 BC'::date"));
    assert!(part(&Wire::Date, Sorting::Native, &Value::Date(DateValue::Day(2024, 0, 15))).is_err());
    let moment = |seconds, nanos| Value::Instant(TimestampValue::Finite(seconds, nanos));
    assert_eq!(
        native(&Wire::TimestampTz(6), moment(-1, 999_999_000)),
        exact("'1969-12-31 23:59:59.999999+00'::timestamptz")
    );
    assert_eq!(
        native(&Wire::TimestampTz(6), moment(-1, 999_999_001)),
        Part::Above("'1970-01-01 00:00:00.000000+00'::timestamptz".to_owned())
    );
    assert_eq!(native(&Wire::Time(6), Value::Time(86_400_000_000_000)), exact("'24:00:00.000000'::time"));
    assert_eq!(native(&Wire::Bits(false), Value::Bits(3, vec![0b1010_0000])), exact("'101'::varbit"));
    assert_eq!(native(&Wire::Bytea, Value::Binary(vec![0, 255])), exact("'\\x00ff'::bytea"));
}

#[test]
fn texts() {
    let wire = Wire::Text(super::super::types::TextKind::Plain);
    let bytes = Sorting::Bytes { collate: true };
    assert_eq!(text_part(&wire, bytes, "it's"), exact("'it''s'::text COLLATE \"C\""));
    assert_eq!(text_part(&wire, bytes, "a\0b"), Part::Above("'a\u{1}'::text COLLATE \"C\"".to_owned()));
    assert_eq!(text_part(&Wire::BpChar, bytes, "AB "), Part::Above("'AB \u{1}'::bpchar COLLATE \"C\"".to_owned()));
    assert_eq!(text_part(&wire, Sorting::Bytes { collate: false }, "x"), exact("'x'::text"));
}
