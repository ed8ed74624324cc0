//! The bytes of types and values, as the examples and tables of [MS-TDS] give them.
#![expect(clippy::unwrap_used, reason = "a failure here is the test's")]

use super::super::backend::{Cell, ColumnInfo, TdsType};
use super::super::wire::LATIN1_CI_AS;
use super::{Plp, put_type_info, put_value};

fn column(kind: TdsType, nullable: bool) -> ColumnInfo {
    ColumnInfo { name: "c".into(), kind, nullable, collation: None }
}

fn info(kind: TdsType, nullable: bool) -> Vec<u8> {
    let mut out = Vec::new();
    put_type_info(&mut out, &column(kind, nullable), LATIN1_CI_AS).unwrap();
    out
}

fn value(kind: TdsType, cell: &Cell) -> Vec<u8> {
    let mut out = Vec::new();
    put_value(&mut out, &column(kind, true), cell, Plp::default()).unwrap();
    out
}

#[test]
fn type_info_has_lengths_precision_and_collation() {
    assert_eq!(info(TdsType::Int, false), [0x38]);
    assert_eq!(info(TdsType::Int, true), [0x26, 4]);
    assert_eq!(info(TdsType::Decimal { precision: 38, scale: 10 }, true), [0x6A, 17, 38, 10]);
    assert_eq!(info(TdsType::Numeric { precision: 9, scale: 2 }, true), [0x6C, 5, 9, 2]);
    assert_eq!(info(TdsType::Date, true), [0x28]);
    assert_eq!(info(TdsType::Time(7), true), [0x29, 7]);
    assert_eq!(info(TdsType::NVarChar(Some(10)), true), [0xE7, 20, 0, 9, 4, 0xD0, 0, 0x34]);
    assert_eq!(info(TdsType::VarChar(None), true), [0xA7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34]);
    assert_eq!(info(TdsType::Xml, true), [0xF1, 0]);
}

#[test]
fn numbers() {
    assert_eq!(value(TdsType::Int, &Cell::Int(-2)), [4, 0xFE, 0xFF, 0xFF, 0xFF]);
    assert_eq!(value(TdsType::Money, &Cell::Money(1 << 32)), [8, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        value(TdsType::Decimal { precision: 5, scale: 2 }, &Cell::Decimal { mantissa: -258 }),
        [5, 0, 2, 1, 0, 0]
    );
    assert_eq!(value(TdsType::Int, &Cell::Null), [0]);
    let mut out = Vec::new();
    assert!(put_value(&mut out, &column(TdsType::Int, false), &Cell::Null, Plp::default()).is_err());
    assert!(put_value(&mut out, &column(TdsType::TinyInt, true), &Cell::Int(256), Plp::default()).is_err());
    let digits = TdsType::Decimal { precision: 2, scale: 0 };
    assert!(put_value(&mut out, &column(digits, true), &Cell::Decimal { mantissa: 100 }, Plp::default()).is_err());
}

#[test]
fn times_have_the_width_of_their_scale() {
    assert_eq!(value(TdsType::Time(0), &Cell::Time(86399)), [3, 0x7F, 0x51, 0x01]);
    assert_eq!(value(TdsType::Time(7), &Cell::Time(863_999_999_999)), [5, 0xFF, 0xBF, 0x69, 0x2A, 0xC9]);
    assert_eq!(value(TdsType::Date, &Cell::Date(3_652_058)), [3, 0xDA, 0xB9, 0x37]);
    assert_eq!(
        value(TdsType::DateTimeOffset(0), &Cell::DateTimeOffset { days: 1, time: 2, offset_minutes: -60 }),
        [8, 2, 0, 0, 1, 0, 0, 0xC4, 0xFF]
    );
    assert_eq!(
        value(TdsType::DateTime, &Cell::DateTime { days: -1, ticks: 300 }),
        [8, 0xFF, 0xFF, 0xFF, 0xFF, 0x2C, 1, 0, 0]
    );
}

#[test]
fn long_values_are_chunks() {
    let mut out = Vec::new();
    let plp = Plp { chunk: Some(2), unknown_length: true };
    put_value(&mut out, &column(TdsType::VarBinary(None), true), &Cell::Bytes(vec![1, 2, 3]), plp).unwrap();
    assert_eq!(out, [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 1, 2, 1, 0, 0, 0, 3, 0, 0, 0, 0]);
    assert_eq!(value(TdsType::Xml, &Cell::Utf16(Vec::new())), [0; 12]);
    assert_eq!(value(TdsType::Xml, &Cell::Null), [0xFF; 8]);
    let text = value(TdsType::Text, &Cell::Bytes(b"a".to_vec()));
    assert_eq!((text[0], &text[17..]), (16, [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'a'].as_slice()));
}

#[test]
fn a_variant_says_its_base_type() {
    assert_eq!(value(TdsType::Variant, &Cell::Bit(true)), [3, 0, 0, 0, 0x32, 0, 1]);
    assert_eq!(value(TdsType::Variant, &Cell::Null), [0; 4]);
}
