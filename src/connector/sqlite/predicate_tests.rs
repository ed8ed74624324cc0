//! Bounds as the library compares them.

use super::*;
use crate::encode::parse;

fn number(text: &str) -> Value {
    parse(&CanonicalType::Number, text).unwrap()
}

fn check(text: &str, expected: &Part) {
    assert_eq!(part(Sorting::Native, &number(text)).unwrap(), *expected, "{text}");
}

fn integer(value: i64) -> SqlValue {
    SqlValue::Integer(value)
}

fn real(value: f64) -> SqlValue {
    SqlValue::Real(value)
}

#[test]
fn whole_numbers_are_exact() {
    check("0", &Part::Exact(integer(0)));
    check("-17", &Part::Exact(integer(-17)));
    check("9223372036854775807", &Part::Exact(integer(i64::MAX)));
    check("-9223372036854775808", &Part::Exact(integer(i64::MIN)));
    check("1e18", &Part::Exact(integer(1_000_000_000_000_000_000)));
}

#[test]
fn fractions_are_floats_that_no_cell_lies_below() {
    check("0.5", &Part::Exact(real(0.5)));
    check("-2.25", &Part::Exact(real(-2.25)));
    // The nearest float is above 0.1, and below 0.3.
    check("0.1", &Part::Above(real(0.1)));
    check("0.3", &Part::Above(real(0.3_f64.next_up())));
    check("-0.1", &Part::Above(real((-0.1_f64).next_up())));
    check("-0.3", &Part::Above(real(-0.3)));
}

#[test]
fn beyond_2_to_the_53_floats_are_whole_and_integers_lie_between_them() {
    check("9007199254740993.5", &Part::Above(integer(9_007_199_254_740_994)));
    check("-9007199254740993.5", &Part::Above(integer(-9_007_199_254_740_993)));
    check("1152921504606846976.001", &Part::Above(integer(1_152_921_504_606_846_977)));
}

#[test]
fn beyond_64_bits_are_floats() {
    check("9223372036854775808", &Part::Exact(real(9_223_372_036_854_775_808.0)));
    check("9223372036854775809", &Part::Above(real(9_223_372_036_854_775_808_f64.next_up())));
    check("9223372036854775807.5", &Part::Above(real(9_223_372_036_854_775_808.0)));
    check("-9223372036854775808.5", &Part::Above(integer(i64::MIN)));
    check("-9223372036854775809", &Part::Above(real(-9_223_372_036_854_775_808.0)));
    check("1e400", &Part::Above(real(f64::INFINITY)));
    check("-1e400", &Part::Above(real(f64::MIN)));
    check("Infinity", &Part::Exact(real(f64::INFINITY)));
    check("-Infinity", &Part::Exact(real(f64::NEG_INFINITY)));
    check("NaN", &Part::Highest);
    check("1e-400", &Part::Above(real(f64::from_bits(1))));
}

fn parts(list: &[(&str, Nulls, Part)]) -> Vec<Compared> {
    list.iter()
        .enumerate()
        .map(|(index, (name, nulls, part))| Compared {
            expression: (*name).to_owned(),
            column: (*name).to_owned(),
            nulls: *nulls,
            part: part.clone(),
            place: format!("?{}", index + 1),
        })
        .collect()
}

/// Every row of `rows` is in exactly one of the two sides of each bound, the right one.
fn check_bounds(nulls: Nulls, rows: &[[Option<i64>; 2]]) {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t (a INTEGER, b INTEGER)").unwrap();
    for [a, b] in rows {
        connection.execute("INSERT INTO t VALUES (?1, ?2)", [a, b]).unwrap();
    }
    for [a, b] in rows {
        let part = |value: &Option<i64>| value.map_or(Part::Null, |value| Part::Exact(integer(value)));
        let compared = parts(&[("a", nulls, part(a)), ("b", nulls, part(b))]);
        for lower in [true, false] {
            let sql = format!("SELECT a, b, coalesce({}, 0) FROM t", bound(&compared, lower));
            // Placeholders of NULL parts are not there.
            let (first, second) = (a.unwrap_or(0).to_string(), b.unwrap_or(0).to_string());
            let sql = sql.replace("?1", &first).replace("?2", &second);
            let mut statement = connection.prepare(&sql).unwrap();
            let mut found = statement.query([]).unwrap();
            while let Some(row) = found.next().unwrap() {
                let key: [Option<i64>; 2] = [row.get(0).unwrap(), row.get(1).unwrap()];
                assert_eq!(row.get::<_, bool>(2).unwrap(), (key >= [*a, *b]) == lower, "{key:?} {a:?} {b:?} {sql}");
            }
        }
    }
}

#[test]
fn bounds_part_the_rows() {
    let with_null: Vec<[Option<i64>; 2]> =
        [None, Some(1), Some(2)].into_iter().flat_map(|a| [None, Some(1), Some(2)].map(|b| [a, b])).collect();
    check_bounds(Nulls::Declared, &with_null);
    check_bounds(Nulls::Denied, &with_null);
    let without: Vec<[Option<i64>; 2]> =
        [1, 2, 3].into_iter().flat_map(|a| [1, 2, 3].map(|b| [Some(a), Some(b)])).collect();
    check_bounds(Nulls::Ruled, &without);
}

#[test]
fn a_leading_column_serves_an_index() {
    let exact = |value| Part::Exact(integer(value));
    let two = parts(&[("a", Nulls::Ruled, exact(1)), ("b", Nulls::Declared, exact(2))]);
    assert_eq!(bound(&two, true), "(a >= ?1 AND (a > ?1 OR (a = ?1 AND b >= ?2)))");
    assert_eq!(bound(&two, false), "(a <= ?1 AND (a < ?1 OR (a = ?1 AND (b < ?2 OR b IS NULL))))");
    let one = parts(&[("a", Nulls::Ruled, exact(1))]);
    assert_eq!(bound(&one, true), "a >= ?1");
    assert_eq!(bound(&one, false), "a < ?1");
    let high = parts(&[("a", Nulls::Declared, Part::Highest)]);
    assert_eq!((bound(&high, true), bound(&high, false)), ("0".to_owned(), "1".to_owned()));
}
