//! Values of every Arrow type, read one by one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Column, logical_of};
use crate::model::{DateValue, Decimal, LogicalType, TimestampValue, Value};
use arrow_array::{
    ArrayRef, Date32Array, Date64Array, Decimal256Array, DictionaryArray, Float32Array, Int32Array, ListArray,
    StringArray, StructArray, TimestampNanosecondArray, UInt64Array,
    builder::{Int32Builder, MapBuilder, StringBuilder},
    types::Int8Type,
};
use arrow_buffer::i256;
use arrow_schema::Field;
use std::sync::Arc;

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn values(array: ArrayRef) -> Vec<Value> {
    let array = &array;
    let logical = logical_of(&Field::new("v", array.data_type().clone(), true));
    let column = Column::new(array, &logical).unwrap();
    (0..arrow_array::Array::len(array)).map(|row| column.value(row).unwrap()).collect()
}

fn digits(negative: bool, exponent: i32, digits: &[u8]) -> Value {
    Value::Number(Decimal::Finite { negative, exponent, digits: digits.to_vec() })
}

#[test]
fn numbers_are_exact() {
    let expected = digits(false, 10, &[18, 44, 67, 44, 7, 37, 9, 55, 16, 15]);
    assert_eq!(values(Arc::new(UInt64Array::from(vec![u64::MAX]))), vec![expected]);
    let wide = Decimal256Array::from(vec![i256::from_string("-1000000000000000000000000000000000000000005").unwrap()]);
    let wide = wide.with_precision_and_scale(60, 1).unwrap();
    let mut expected = vec![10];
    expected.extend([0; 20]);
    expected.push(50);
    assert_eq!(values(Arc::new(wide)), vec![digits(true, 21, &expected)]);
    assert_eq!(values(Arc::new(Float32Array::from(vec![-0.0_f32]))), vec![Value::Float(0.0)]);
}

#[test]
fn days_and_moments_are_exact() {
    let days = Date32Array::from(vec![0, -719_528, 2_932_896, -719_163]);
    let expected = [(1970, 1, 1), (0, 1, 1), (9999, 12, 31), (0, 12, 31)];
    assert_eq!(values(Arc::new(days)), expected.map(|(y, m, d)| Value::Date(DateValue::Day(y, m, d))).to_vec());
    let array: ArrayRef = Arc::new(Date64Array::from(vec![1]));
    assert!(Column::new(&array, &LogicalType::Date).unwrap().value(0).is_err(), "a time of day is not dropped");
    let moments = TimestampNanosecondArray::from(vec![-1]).with_timezone("+02:00");
    let expected = Value::Instant(TimestampValue::Finite(-1, 999_999_999));
    assert_eq!(values(Arc::new(moments)), vec![expected]);
}

#[test]
fn dictionaries_give_their_values_and_both_kinds_of_null() {
    let labels: DictionaryArray<Int8Type> = [Some("b"), None, Some("a")].into_iter().collect();
    let expected = vec![Value::Text("b".into()), Value::Null, Value::Text("a".into())];
    assert_eq!(values(Arc::new(labels)), expected);
    let sparse = StringArray::from(vec![None, Some("x")]);
    let keys = arrow_array::Int8Array::from(vec![0, 1]);
    let nulls_in_values = DictionaryArray::try_new(keys, Arc::new(sparse)).unwrap();
    assert_eq!(values(Arc::new(nulls_in_values)), vec![Value::Null, Value::Text("x".into())]);
}

#[test]
fn nested_values_are_whole() {
    let list = ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(vec![
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
    ]);
    let expected = vec![
        Value::List(vec![(2, 1)], vec![digits(false, 1, &[1]), Value::Null]),
        Value::Null,
        Value::List(vec![], vec![]),
    ];
    assert_eq!(values(Arc::new(list.clone())), expected);
    assert_eq!(values(Arc::new(list.slice(2, 1))), expected[2..]);
    let fields = StructArray::from(vec![
        (
            Arc::new(Field::new("b", arrow_schema::DataType::Int32, true)),
            Arc::new(Int32Array::from(vec![1])) as ArrayRef,
        ),
        (
            Arc::new(Field::new("a", arrow_schema::DataType::Utf8, true)),
            Arc::new(StringArray::from(vec!["x"])) as ArrayRef,
        ),
    ]);
    assert_eq!(values(Arc::new(fields)), vec![Value::Struct(vec![Value::Text("x".into()), digits(false, 1, &[1])])]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.keys().append_value("k");
    map.values().append_value(5);
    map.append(true).unwrap();
    let expected = Value::Map(vec![(Value::Text("k".into()), digits(false, 1, &[5]))]);
    assert_eq!(values(Arc::new(map.finish())), vec![expected]);
}
