//! Cells of every class in columns of every type.

use super::*;
use crate::{
    encode::{EncodedBatch, FieldForm, RowLayout, decode_row, encode_row, fields, parse},
    model::{Conversion, FieldTarget, Projected, Projection, Side, TextFold},
};
use proptest::prelude::*;

fn projected(canonical: CanonicalType, conversion: Conversion, dynamic: bool) -> Projected {
    let target = FieldTarget {
        canonical,
        conversion,
        strip_pad: false,
        zone: None,
        key_fold: TextFold::default(),
        parse_float_bits: 64,
        dynamic,
    };
    Projected { name: "c".to_owned(), index: 0, as_text: false, nullable: true, target }
}

/// The row of one field that a cell becomes, behind a key that holds the number 7.
fn put(column: Projected, cell: Cell<'_>) -> Result<Vec<u8>> {
    let key = vec![projected(CanonicalType::Number, Conversion::Direct, true)];
    let layout = RowLayout::new(&Projection { side: Side::Source, key, row: vec![column] })?;
    let mut batch = EncodedBatch::new();
    let mut writer = RowWriter::new(&layout, &mut batch);
    writer.begin_row();
    writer.put_cell(Cell::Integer(7))?;
    writer.put_cell(cell)?;
    writer.end_row()?;
    drop(writer);
    Ok(batch.record(0).row.to_vec())
}

fn direct(canonical: CanonicalType, cell: Cell<'_>) -> Vec<u8> {
    put(projected(canonical, Conversion::Direct, true), cell).unwrap()
}

#[test]
fn the_examples_of_the_specification() {
    assert_eq!(direct(CanonicalType::Number, Cell::Text(b"abc")), [2, 4, 2, b'a', b'b', b'c']);
    assert_eq!(direct(CanonicalType::Text, Cell::Integer(12)), [2, 4, 1, 0xA2, 0x0D, 0]);
    assert_eq!(
        direct(CanonicalType::Float, Cell::Integer(9_007_199_254_740_993)),
        [2, 11, 1, 0xA9, 0x5B, 0x08, 0x14, 0x5D, 0x37, 0x4B, 0x0A, 0x5E, 0]
    );
    assert_eq!(direct(CanonicalType::Binary, Cell::Text(b"")), [2, 1, 2]);
}

#[test]
fn cells_that_fit_are_values() {
    let value = |canonical: &CanonicalType, text: &str| {
        encode_row(std::slice::from_ref(canonical), &[parse(canonical, text).unwrap()]).unwrap()
    };
    let check = |canonical: CanonicalType, cell: Cell<'_>, text: &str| {
        assert_eq!(direct(canonical.clone(), cell), value(&canonical, text), "{cell:?}");
    };
    check(CanonicalType::Number, Cell::Integer(i64::MIN), "-9223372036854775808");
    check(CanonicalType::Number, Cell::Real(0.5), "0.5");
    check(CanonicalType::Number, Cell::Real(f64::INFINITY), "Infinity");
    check(CanonicalType::Float, Cell::Integer(1 << 60), "1152921504606846976");
    check(CanonicalType::Float, Cell::Real(-0.0), "0");
    check(CanonicalType::Text, Cell::Text(b"a\0b"), "a\0b");
    check(CanonicalType::Binary, Cell::Binary(b"\0\xff"), "\\x00ff");
    // Text longer than one byte of length.
    let long = "x".repeat(300);
    let mut expected = vec![2, 0xAD, 0x02, 2];
    expected.extend_from_slice(long.as_bytes());
    assert_eq!(direct(CanonicalType::Number, Cell::Text(long.as_bytes())), expected);
}

#[test]
fn casts_take_cells_of_their_own_class_and_parse_text() {
    let cast = |canonical: CanonicalType, cell: Cell<'_>| put(projected(canonical, Conversion::Parse, true), cell);
    let check = |canonical: CanonicalType, cell: Cell<'_>, text: &str| {
        let value = parse(&canonical, text).unwrap();
        let expected = encode_row(std::slice::from_ref(&canonical), &[value]).unwrap();
        assert_eq!(cast(canonical, cell).unwrap(), expected, "{cell:?}");
    };
    check(CanonicalType::Number, Cell::Text(b"1.50"), "1.5");
    check(CanonicalType::Number, Cell::Integer(12), "12");
    check(CanonicalType::Number, Cell::Real(2.5), "2.5");
    check(CanonicalType::Float, Cell::Integer(3), "3");
    check(CanonicalType::Boolean, Cell::Integer(1), "true");
    check(CanonicalType::Boolean, Cell::Real(0.0), "false");
    check(CanonicalType::Json, Cell::Integer(12), "12");
    check(CanonicalType::Date, Cell::Text(b"2024-01-02"), "2024-01-02");
    check(CanonicalType::Binary, Cell::Binary(b"a"), "\\x61");
    check(CanonicalType::Uuid, Cell::Binary(&[0x0F; 16]), "0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f");
    for (canonical, cell) in [
        (CanonicalType::Number, Cell::Text(b"abc")),
        (CanonicalType::Number, Cell::Binary(b"1")),
        (CanonicalType::Boolean, Cell::Integer(2)),
        (CanonicalType::Boolean, Cell::Real(0.5)),
        (CanonicalType::Float, Cell::Integer(9_007_199_254_740_993)),
        (CanonicalType::Date, Cell::Integer(20_240_102)),
        (CanonicalType::Date, Cell::Real(2.5)),
        (CanonicalType::Date, Cell::Text(b"\xff")),
        (CanonicalType::Json, Cell::Real(1.5)),
        (CanonicalType::Uuid, Cell::Binary(b"short")),
    ] {
        let error = cast(canonical.clone(), cell).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value, "{canonical} {cell:?}: {error}");
        assert_eq!((error.place().key.as_deref(), error.place().column.as_deref()), (Some("7"), Some("c")), "{error}");
    }
    let text = |cell| put(projected(CanonicalType::Text, Conversion::Render, true), cell).unwrap();
    let rendered = |text: &str| encode_row(&[CanonicalType::Text], &[Value::Text(text.to_owned())]).unwrap();
    assert_eq!(text(Cell::Integer(-5)), rendered("-5"));
    assert_eq!(text(Cell::Text(b"-5")), rendered("-5"));
    assert_eq!(text(Cell::Binary(b"\x01")), rendered("\\x01"));
}

#[test]
fn keys_have_one_class() {
    for (canonical, cell) in [
        (CanonicalType::Number, Cell::Text(b"1")),
        (CanonicalType::Text, Cell::Integer(1)),
        (CanonicalType::Text, Cell::Binary(b"a")),
        (CanonicalType::Float, Cell::Integer(i64::MAX)),
    ] {
        let key = vec![projected(canonical.clone(), Conversion::Direct, true)];
        let layout = RowLayout::new(&Projection { side: Side::Source, key, row: Vec::new() }).unwrap();
        let mut batch = EncodedBatch::new();
        let mut writer = RowWriter::new(&layout, &mut batch);
        writer.begin_row();
        let error = writer.put_cell(cell).unwrap_err();
        drop(writer);
        assert_eq!(error.kind(), ErrorKind::Value, "{canonical} {cell:?}: {error}");
        assert!(error.hint_text().unwrap().contains("--cast c=text"), "{error}");
        assert_eq!((batch.len(), batch.bytes()), (0, 0));
    }
}

#[test]
fn only_dynamic_fields_hold_stray_values() {
    let fixed = projected(CanonicalType::Number, Conversion::Direct, false);
    assert_eq!(put(fixed, Cell::Text(b"a")).unwrap_err().kind(), ErrorKind::Internal);
    let invalid = put(projected(CanonicalType::Number, Conversion::Direct, true), Cell::Text(b"\xff")).unwrap_err();
    assert_eq!((invalid.kind(), invalid.place().key.as_deref()), (ErrorKind::Value, Some("7")));
}

#[test]
fn malformed_stray_values_are_refused() {
    for (canonical, row) in [
        (CanonicalType::Number, &[2, 4, 1, 0xA2, 0x0D, 0][..]),
        (CanonicalType::Float, &[2, 4, 1, 0xA2, 0x0D, 0]),
        (CanonicalType::Text, &[2, 2, 2, b'a']),
        (CanonicalType::Binary, &[2, 2, 3, b'a']),
        (CanonicalType::Text, &[2, 1, 4]),
        (CanonicalType::Text, &[2, 0]),
        (CanonicalType::Number, &[2, 2, 2, 0xFF]),
        (CanonicalType::Number, &[3, 1, 0x80]),
    ] {
        assert!(decode_row(std::slice::from_ref(&canonical), row).is_err(), "{canonical} {row:?}");
    }
    let list = CanonicalType::List(Box::new(CanonicalType::Number));
    let stray = Value::Stray(Box::new(Value::Text("a".to_owned())));
    let inside = Value::List(vec![(1, 1)], vec![stray.clone()]);
    assert!(encode_row(std::slice::from_ref(&list), &[inside]).is_err());
    assert!(encode_row(&[CanonicalType::Text], std::slice::from_ref(&stray)).is_err());
    assert!(encode_row(&[CanonicalType::Number], &[Value::Stray(Box::new(stray))]).is_err());
}

/// A cell with its bytes.
#[derive(Clone, Debug)]
enum Owned {
    Integer(i64),
    Real(f64),
    Text(String),
    Binary(Vec<u8>),
}

impl Owned {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Integer(value) => Cell::Integer(*value),
            Self::Real(value) => Cell::Real(*value),
            Self::Text(text) => Cell::Text(text.as_bytes()),
            Self::Binary(bytes) => Cell::Binary(bytes),
        }
    }

    /// Whether both are the same value of one class. A double of a size below 2^63 that is whole is an integer.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one == other,
            (Self::Real(one), Self::Real(other)) => one.to_bits() == other.to_bits(),
            (Self::Integer(whole), Self::Real(real)) | (Self::Real(real), Self::Integer(whole)) => {
                real.fract() == 0.0 && real.abs() < 1e30 && format!("{real:.0}") == whole.to_string()
            }
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Binary(one), Self::Binary(other)) => one == other,
            _ => false,
        }
    }
}

fn cells() -> impl Strategy<Value = Owned> {
    prop_oneof![
        (-3_i64..4).prop_map(Owned::Integer),
        any::<i64>().prop_map(Owned::Integer),
        (9_007_199_254_740_990_i64..9_007_199_254_740_999).prop_map(Owned::Integer),
        (1_i32..7).prop_map(|half| Owned::Real(f64::from(half) / 2.0)),
        prop_oneof![Just(9_007_199_254_740_992.0), Just(9_007_199_254_740_994.0), Just(f64::INFINITY)]
            .prop_map(Owned::Real),
        any::<f64>().prop_filter("no NaN in cells", |value| !value.is_nan() && *value != 0.0).prop_map(Owned::Real),
        "[01a]{0,2}".prop_map(Owned::Text),
        "\\PC{0,200}".prop_map(Owned::Text),
        proptest::collection::vec(48_u8..50, 0..3).prop_map(Owned::Binary),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn fields_are_equal_when_the_cells_are(one in cells(), other in cells(), index in 0..4_usize) {
        let types = [CanonicalType::Number, CanonicalType::Float, CanonicalType::Text, CanonicalType::Binary];
        let canonical = types[index].clone();
        let (first, second) = (direct(canonical.clone(), one.cell()), direct(canonical.clone(), other.cell()));
        prop_assert_eq!(first == second, one.same(&other), "{:?} {:?}", one, other);
        let forms = (fields(&first).next().unwrap(), fields(&second).next().unwrap());
        prop_assert_eq!(forms.0 == forms.1, first == second);
        prop_assert!(forms.0 != FieldForm::Null);
        let canonical = std::slice::from_ref(&canonical);
        let decoded = decode_row(canonical, &first).unwrap();
        prop_assert_eq!(encode_row(canonical, &decoded).unwrap(), first);
    }
}
