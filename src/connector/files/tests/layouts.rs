//! Physical layouts of Parquet that readers are known to get wrong, written with the low-level writer.

use super::harness::*;
use crate::model::{CanonicalType, TimestampValue, Value};
use ::parquet::{
    data_type::{
        ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type, Int96, Int96Type,
    },
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};
use std::{fs::File, path::Path, sync::Arc};

fn written<T: ::parquet::data_type::DataType>(path: &Path, message: &str, values: &[T::T]) {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

fn column(path: &Path) -> Vec<Value> {
    run(async {
        let table = freeze(path.display().to_string()).await.unwrap();
        let projection = projection(&*table, &[], &[]);
        rows(&*table, &projection).await.unwrap().into_iter().map(|row| row[0].clone()).collect()
    })
}

#[test]
fn decimals_keep_their_sign_in_every_layout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let expected = vec![digits(true, 3, &[1, 23, 45, 67]), digits(true, 0, &[1]), digits(false, 0, &[1])];
    written::<Int32Type>(&path, "message m { required int32 v (DECIMAL(9,2)); }", &[-1_234_567, -1, 1]);
    assert_eq!(column(&path), expected);
    written::<Int64Type>(&path, "message m { required int64 v (DECIMAL(18,2)); }", &[-1_234_567, -1, 1]);
    assert_eq!(column(&path), expected);
    let short = [&[0xED, 0x29, 0x79][..], &[0xFF], &[0x01]].map(|bytes| ByteArray::from(bytes.to_vec()));
    for precision in [9, 18, 38, 60] {
        let message = format!("message m {{ required binary v (DECIMAL({precision},2)); }}");
        written::<ByteArrayType>(&path, &message, &short);
        assert_eq!(column(&path), expected, "precision {precision}");
    }
    let fixed = [&[0xFF, 0xED, 0x29, 0x79][..], &[0xFF; 4], &[0, 0, 0, 1]];
    let fixed = fixed.map(|bytes| FixedLenByteArray::from(bytes.to_vec()));
    written::<FixedLenByteArrayType>(&path, "message m { required fixed_len_byte_array(4) v (DECIMAL(9,2)); }", &fixed);
    assert_eq!(column(&path), expected);
}

#[test]
fn unsigned_integers_stay_unsigned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    written::<Int32Type>(&path, "message m { required int32 v (INTEGER(32,false)); }", &[-1_294_967_296]);
    assert_eq!(column(&path), vec![number("3000000000")]);
    written::<Int32Type>(&path, "message m { required int32 v (INTEGER(8,false)); }", &[200]);
    assert_eq!(column(&path), vec![number("200")]);
    written::<Int64Type>(&path, "message m { required int64 v (UINT_64); }", &[-1]);
    assert_eq!(column(&path), vec![number("18446744073709551615")]);
}

fn int96(julian_day: u32, nanos: u64) -> Int96 {
    let mut value = Int96::new();
    let words = nanos.to_le_bytes();
    let low = u32::from_le_bytes([words[0], words[1], words[2], words[3]]);
    let high = u32::from_le_bytes([words[4], words[5], words[6], words[7]]);
    value.set_data(low, high, julian_day);
    value
}

#[test]
fn far_int96_timestamps_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    // 1000-01-01, 2000-01-01 with nanoseconds, 9999-12-31 02:00:00; day 2440588 is 1970-01-01.
    let epoch = 2_440_588_u32;
    let values =
        [int96(epoch - 354_285, 0), int96(epoch + 10_957, 1_000_000_123), int96(epoch + 2_932_896, 7_200_000_000_000)];
    written::<Int96Type>(&path, "message m { required int96 v; }", &values);
    let expected = [(-30_610_224_000, 0), (946_684_801, 123), (253_402_221_600, 0)];
    let expected: Vec<_> = expected.map(|(s, n)| Value::Timestamp(TimestampValue::Finite(s, n))).into();
    assert_eq!(column(&path), expected);
}

#[test]
fn intervals_keep_months_days_and_milliseconds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let bytes = [14_u32.to_le_bytes(), 3_u32.to_le_bytes(), 3_000_000_000_u32.to_le_bytes()].concat();
    let message = "message m { required fixed_len_byte_array(12) v (INTERVAL); }";
    written::<FixedLenByteArrayType>(&path, message, &[FixedLenByteArray::from(bytes)]);
    assert_eq!(column(&path), vec![Value::Interval(14, 3, 3_000_000_000_000)]);
}

#[test]
fn logical_types_of_bytes_are_honoured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let id: Vec<u8> = (0..16).collect();
    let message = "message m { required fixed_len_byte_array(16) v (UUID); }";
    written::<FixedLenByteArrayType>(&path, message, &[FixedLenByteArray::from(id.clone())]);
    assert_eq!(column(&path), vec![Value::Uuid(id.try_into().unwrap())]);
    let document = [ByteArray::from(b"{\"a\": 1.0}".to_vec())];
    written::<ByteArrayType>(&path, "message m { required binary v (JSON); }", &document);
    let expected = crate::encode::parse(&CanonicalType::Json, "{\"a\":1}").unwrap();
    assert_eq!(column(&path), vec![expected]);
    written::<ByteArrayType>(&path, "message m { required binary v (ENUM); }", &[ByteArray::from(b"red".to_vec())]);
    assert_eq!(column(&path), vec![text("red")]);
}
