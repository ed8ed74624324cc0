//! Properties of the encoding, and the writer's typed calls.

use super::{
    EncodedBatch, RowLayout, RowWriter, decode_field, decode_key, decode_row, encode_key, encode_row, fields, number,
    parse, render, vectors::parse_type,
};
use crate::model::{
    CanonicalType, Conversion, DateValue, Decimal, ErrorKind, FieldTarget, Projected, Projection, Result, Side,
    TextFold, TimestampValue, Value,
};
use proptest::prelude::*;
use std::cmp::Ordering;

fn target(canonical: CanonicalType, conversion: Conversion) -> FieldTarget {
    FieldTarget {
        canonical,
        conversion,
        strip_pad: false,
        zone: None,
        key_fold: TextFold::default(),
        parse_float_bits: 64,
        dynamic: false,
    }
}

fn projected(target: FieldTarget) -> Projected {
    Projected { name: "c".to_owned(), index: 0, as_text: false, nullable: true, target }
}

/// The value form that one call writes into a row of one field.
fn put(target: FieldTarget, call: impl FnOnce(&mut RowWriter<'_>) -> Result<()>) -> Result<Option<Vec<u8>>> {
    let projection = Projection { side: Side::Source, key: Vec::new(), row: vec![projected(target)] };
    let layout = RowLayout::new(&projection)?;
    let mut batch = EncodedBatch::new();
    let mut writer = RowWriter::new(&layout, &mut batch);
    writer.begin_row();
    let result = call(&mut writer).and_then(|()| writer.end_row());
    drop(writer);
    if let Err(error) = result {
        assert_eq!((batch.len(), batch.bytes()), (0, 0));
        return Err(error);
    }
    Ok(fields(batch.record(0).row).next().unwrap().value().map(<[u8]>::to_vec))
}

fn direct(canonical: CanonicalType, call: impl FnOnce(&mut RowWriter<'_>) -> Result<()>) -> Vec<u8> {
    put(target(canonical, Conversion::Direct), call).unwrap().unwrap()
}

fn value_form(canonical: &CanonicalType, value: &Value) -> Vec<u8> {
    let row = encode_row(std::slice::from_ref(canonical), std::slice::from_ref(value)).unwrap();
    fields(&row).next().unwrap().value().unwrap().to_vec()
}

fn key_form(canonical: &CanonicalType, value: &Value) -> Vec<u8> {
    encode_key(std::slice::from_ref(canonical), std::slice::from_ref(value)).unwrap()
}

fn kind(result: Result<Option<Vec<u8>>>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn numbers_of_the_specification() {
    for (text, bytes) in [
        ("0", vec![0x80]),
        ("1", vec![0xA2, 0x02, 0x00]),
        ("-1", vec![0x5D, 0xFD, 0xFF]),
        ("5.50", vec![0xA2, 0x06, 0x33, 0x00]),
        ("0.005", vec![0xA0, 0x33, 0x00]),
        ("1000000", vec![0xA5, 0x02, 0x00]),
        ("5E-1", vec![0xA1, 0x33, 0x00]),
    ] {
        let value = parse(&CanonicalType::Number, text).unwrap();
        assert_eq!(value_form(&CanonicalType::Number, &value), bytes, "{text}");
    }
    assert_eq!(direct(CanonicalType::Number, |writer| writer.put_f64(0.5)), [0xA1, 0x33, 0x00]);
    assert_eq!(direct(CanonicalType::Number, |writer| writer.put_f64(-0.0)), [0x80]);
    assert_eq!(direct(CanonicalType::Number, |writer| writer.put_bool(true)), [0xA2, 0x02, 0x00]);
    let tenth = parse(&CanonicalType::Number, "0.1000000000000000055511151231257827021181583404541015625").unwrap();
    assert_eq!(direct(CanonicalType::Number, |writer| writer.put_f64(0.1)), value_form(&CanonicalType::Number, &tenth));
}

#[test]
fn widest_number_of_postgresql() {
    let text = format!("{}.{}", "9".repeat(131_072), "9".repeat(16_383));
    let value = parse(&CanonicalType::Number, &text).unwrap();
    let bytes = value_form(&CanonicalType::Number, &value);
    assert_eq!(bytes.len(), 5 + 65_536 + 8_192 + 1);
    assert_eq!(bytes[..6], [0xDE, 0x80, 0x01, 0x00, 0x00, 0x64]);
    assert_eq!(
        render(&CanonicalType::Number, &decode_field(&CanonicalType::Number, Some(&bytes)).unwrap()),
        Some(text)
    );
}

#[test]
fn calls_that_do_not_fit() {
    let number = || target(CanonicalType::Number, Conversion::Direct);
    assert_eq!(kind(put(number(), |writer| writer.put_text("1"))), ErrorKind::Internal);
    let boolean = || target(CanonicalType::Boolean, Conversion::Direct);
    assert_eq!(kind(put(boolean(), |writer| writer.put_i64(2))), ErrorKind::Value);
    let float = || target(CanonicalType::Float, Conversion::Direct);
    assert_eq!(kind(put(float(), |writer| writer.put_i64((1 << 53) + 1))), ErrorKind::Value);
    assert_eq!(put(float(), |writer| writer.put_i64(1 << 53)).unwrap().unwrap(), [0xC3, 0x40, 0, 0, 0, 0, 0, 0]);
    let uuid = || target(CanonicalType::Uuid, Conversion::Direct);
    assert_eq!(kind(put(uuid(), |writer| writer.put_binary(&[1]))), ErrorKind::Value);
    let instant = || target(CanonicalType::Instant, Conversion::Direct);
    let epoch = TimestampValue::Finite(0, 0);
    assert_eq!(kind(put(instant(), |writer| writer.put_timestamp(epoch))), ErrorKind::Internal);
    let text = target(CanonicalType::Text, Conversion::Direct);
    let error = put(text, |writer| writer.put_text_bytes(&[0xFF])).unwrap_err();
    assert_eq!((error.kind(), error.place().column.as_deref()), (ErrorKind::Value, Some("c")));
    assert_eq!(kind(put(number(), |writer| writer.put_i64(1).and_then(|()| writer.put_i64(2)))), ErrorKind::Internal);
    assert_eq!(kind(put(number(), |_| Ok(()))), ErrorKind::Internal);
    // A failure that the caller overlooks does not bring half a row into the batch.
    let overlooked = put(boolean(), |writer| {
        let _ = writer.put_i64(2);
        Ok(())
    });
    assert_eq!(kind(overlooked), ErrorKind::Internal);
}

#[test]
fn zones_and_conversions() {
    let mut berlin = target(CanonicalType::Instant, Conversion::Direct);
    berlin.zone = Some("Europe/Berlin".to_owned());
    let at = |text: &str| {
        let Value::Timestamp(value) = parse(&CanonicalType::Timestamp, text).unwrap() else { unreachable!() };
        put(berlin.clone(), |writer| writer.put_timestamp(value))
    };
    let utc = parse(&CanonicalType::Instant, "2024-07-01 10:00:00.5Z").unwrap();
    assert_eq!(at("2024-07-01 12:00:00.5").unwrap().unwrap(), value_form(&CanonicalType::Instant, &utc));
    assert_eq!(kind(at("2024-03-31 02:30:00")), ErrorKind::Value);
    assert_eq!(kind(at("2024-10-27 02:30:00")), ErrorKind::Value);
    berlin.zone = Some("Nowhere/None".to_owned());
    let noon = TimestampValue::Finite(43_200, 0);
    assert_eq!(kind(put(berlin, |writer| writer.put_timestamp(noon))), ErrorKind::Config);

    let mut char_column = target(CanonicalType::Text, Conversion::Direct);
    char_column.strip_pad = true;
    assert_eq!(put(char_column, |writer| writer.put_text("AB  ")).unwrap().unwrap(), b"AB");
    let rendered = |call: fn(&mut RowWriter<'_>) -> Result<()>| {
        let form = put(target(CanonicalType::Text, Conversion::Render), call).unwrap().unwrap();
        String::from_utf8(form).unwrap()
    };
    assert_eq!(rendered(|writer| writer.put_scaled(-1_050, 2)), "-10.5");
    assert_eq!(rendered(|writer| writer.put_days(19_782)), "2024-02-29");
    assert_eq!(
        rendered(|writer| writer.put_instant(TimestampValue::Finite(0, 120_000_000))),
        "1970-01-01 00:00:00.12+00"
    );
    let parsed = put(target(CanonicalType::Number, Conversion::Parse), |writer| writer.put_text("1.50"));
    assert_eq!(parsed.unwrap().unwrap(), [0xA2, 0x02, 0x33, 0x00]);
    let spaced = put(target(CanonicalType::Number, Conversion::Parse), |writer| writer.put_text(" 1"));
    assert_eq!(kind(spaced), ErrorKind::Value);
    let date = direct(CanonicalType::Timestamp, |writer| writer.put_days(1));
    assert_eq!(date, [0x80, 0, 0, 0, 0, 0x01, 0x51, 0x80, 0, 0, 0, 0]);
}

#[test]
fn records_with_keys() {
    let projection = Projection {
        side: Side::Sink,
        key: vec![
            projected(target(CanonicalType::Number, Conversion::Direct)),
            projected(target(CanonicalType::Text, Conversion::Direct)),
        ],
        row: vec![projected(target(CanonicalType::Text, Conversion::Direct))],
    };
    let layout = RowLayout::new(&projection).unwrap();
    let mut batch = EncodedBatch::new();
    let mut writer = RowWriter::new(&layout, &mut batch);
    for text in ["a\0b", ""] {
        writer.begin_row();
        writer.put_i64(7).unwrap();
        writer.put_text(text).unwrap();
        writer.put_text(&"y".repeat(200)).unwrap();
        writer.end_row().unwrap();
    }
    writer.begin_row();
    writer.put_i64(8).unwrap();
    drop(writer);
    assert_eq!(batch.len(), 2);
    assert_eq!(batch.offset(2), batch.bytes());
    let record = batch.record(0);
    assert_eq!(record.key, [1, 0xA2, 8, 0, 1, b'a', 0, 0xFF, b'b', 0, 0]);
    assert_eq!(record.row[..3], [1, 0xC8, 0x01]);
    assert_eq!(record.row.len(), 203);
    assert_eq!(batch.record(1).key, [1, 0xA2, 8, 0, 1, 0, 0]);
    let types = [CanonicalType::Number, CanonicalType::Text];
    assert_eq!(decode_key(&types, record.key).unwrap()[1], Value::Text("a\0b".to_owned()));
}

#[test]
fn text_that_is_refused() {
    for (canonical, text) in [
        ("number", ""),
        ("number", "1e"),
        ("number", "."),
        ("number", "1e99999999999"),
        ("number", "0x1"),
        ("float", "1e400"),
        ("float", "1e-400"),
        ("float", "0.10000000000000000001"),
        ("date", "2023-02-29"),
        ("date", "2024-13-01"),
        ("date", "24-01-01"),
        ("date", " 2024-01-01"),
        ("time", "12:60:00"),
        ("time", "12:00:00.0000000001"),
        ("timestamp", "2024-01-01"),
        ("timestamp", "2024-01-01 00:00:00+00"),
        ("instant", "2024-01-01 00:00:00"),
        ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1"),
        ("binary", "00"),
        ("bits", "012"),
        ("json", "\"\\ud800\""),
        ("json", "01"),
        ("json", "[1,]"),
        ("json", "1 2"),
        ("json", "1e99999999999"),
        ("inet", "10.0.0.1/33"),
        ("interval", "1 day 1 year"),
        ("interval", "P"),
        ("boolean", "yes"),
        ("list<number>", "[[1],[2,3]]"),
        ("list<number>", "{1,2"),
        ("point", "(1,2"),
        ("range<number>", "[1,2"),
    ] {
        let error = parse(&parse_type(canonical), text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value, "{canonical} {text:?}: {error}");
    }
    let deep = "[".repeat(600);
    assert_eq!(parse(&CanonicalType::Json, &deep).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn spellings_that_meet() {
    for (canonical, first, second) in [
        ("number", "1.50", "+15e-1"),
        ("number", "-0", "0.000"),
        ("boolean", "T", "1"),
        ("instant", "2024-01-01T02:00:00+0200", "2024-01-01 00:00:00Z"),
        ("timestamp", "2024-01-01T00:00:00.100", "2024-01-01 00:00:00.1"),
        ("uuid", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("json", "{\"b\": 1.0, \"a\": 1, \"b\": 2}", "{\"a\":1.00,\"b\":2}"),
        ("json", "\"\\ud83d\\ude00\\u00e9\"", "\"\u{1F600}\u{e9}\""),
        ("interval", "P1Y2M3DT4H5M6.5S", "1 year 2 mons 3 days 04:05:06.5"),
        ("list<text>", "{a,NULL,\"NULL\"}", "[\"a\",null,\"NULL\"]"),
        ("list<number>", "{{1,2},{3,4}}", "[[1,2],[3,4]]"),
        ("inet", "::1", "::1/128"),
        ("date", "0000-01-01", "0001-01-01 BC"),
    ] {
        let canonical = parse_type(canonical);
        assert_eq!(parse(&canonical, first).unwrap(), parse(&canonical, second).unwrap(), "{first}");
    }
}

const TYPES: [&str; 26] = [
    "boolean",
    "number",
    "float",
    "text",
    "binary",
    "bits",
    "date",
    "time",
    "time with zone",
    "timestamp",
    "instant",
    "offset instant",
    "interval",
    "uuid",
    "json",
    "inet",
    "mac address",
    "mac address (8 bytes)",
    "path",
    "polygon",
    "list<number>",
    "struct<a: number, b: text>",
    "map<text, number>",
    "range<date>",
    "multirange<number>",
    "list<list<json>>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40), index in 0..TYPES.len()) {
        let canonical = parse_type(TYPES[index]);
        if let Ok(value) = decode_field(&canonical, Some(&bytes)) {
            // What the strict decoder takes is canonical.
            prop_assert_eq!(value_form(&canonical, &value), bytes.clone());
        }
        let types = [canonical];
        let _ = (decode_row(&types, &bytes), decode_key(&types, &bytes));
    }

    #[test]
    fn whole_numbers(value in any::<i64>(), shift in 0_u32..63) {
        let value = value >> shift;
        let mut fast = Vec::new();
        number::write_i64(&mut fast, value);
        let slow = value_form(&CanonicalType::Number, &parse(&CanonicalType::Number, &value.to_string()).unwrap());
        prop_assert_eq!(&fast, &slow);
        let wide = value_form(&CanonicalType::Number, &Value::Number(number::from_i128(value.into())));
        prop_assert_eq!(&fast, &wide);
    }

    #[test]
    fn scaled_numbers(mantissa in any::<i128>(), shift in 0_u32..127, scale in -30_i32..60) {
        let mantissa = mantissa >> shift;
        let mut scaled = Vec::new();
        number::write_scaled(&mut scaled, mantissa, scale).unwrap();
        let text = format!("{mantissa}E{}", -scale);
        let parsed = parse(&CanonicalType::Number, &text).unwrap();
        prop_assert_eq!(&scaled, &value_form(&CanonicalType::Number, &parsed));
        let rendered = render(&CanonicalType::Number, &parsed).unwrap();
        prop_assert_eq!(parse(&CanonicalType::Number, &rendered).unwrap(), parsed);
    }

    #[test]
    fn groups(groups in proptest::collection::vec(0_u16..10_000, 0..12), weight in -40_i32..40, negative: bool) {
        let mut form = Vec::new();
        number::write_groups(&mut form, negative, weight, groups.iter().copied()).unwrap();
        let digits: Vec<String> = groups.iter().map(|group| format!("{group:04}")).collect();
        let sign = if negative { "-" } else { "" };
        let text = format!("{sign}0.{}0E{}", digits.concat(), (weight + 1) * 4);
        prop_assert_eq!(form, value_form(&CanonicalType::Number, &parse(&CanonicalType::Number, &text).unwrap()));
    }

    #[test]
    fn number_order(first in any::<i64>(), second in any::<i64>(), powers in (0_u32..40, 0_u32..40), scales in (0..9_i32, 0..9_i32)) {
        let form = |value: i64, power: u32, scale: i32| {
            let mut out = Vec::new();
            number::write_scaled(&mut out, i128::from(value >> power), scale).unwrap();
            (i128::from(value >> power) * 10_i128.pow(u32::try_from(9 - scale).unwrap()), out)
        };
        let (first, second) = (form(first, powers.0, scales.0), form(second, powers.1, scales.1));
        prop_assert_eq!(first.0.cmp(&second.0), first.1.cmp(&second.1));
    }

    #[test]
    fn floats(first_bits in any::<u64>(), second_bits in any::<u64>()) {
        let (first, second) = (f64::from_bits(first_bits), f64::from_bits(second_bits));
        let rank = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
        let order = rank(first).partial_cmp(&rank(second)).unwrap().then(first.is_nan().cmp(&second.is_nan()));
        let form = |value| direct(CanonicalType::Float, |writer| writer.put_f64(value));
        prop_assert_eq!(form(first).cmp(&form(second)), order);
        let number = |value| direct(CanonicalType::Number, |writer| writer.put_f64(value));
        prop_assert_eq!(number(first).cmp(&number(second)), order);
        let Value::Number(exact) = decode_field(&CanonicalType::Number, Some(&number(first))).unwrap() else { unreachable!() };
        let back = direct(CanonicalType::Float, |writer| writer.put_decimal(&exact));
        prop_assert_eq!(back, form(first));
    }

    #[test]
    fn composite_text_keys(first in ("[a\0\u{1}]{0,4}", "[a\0]{0,3}"), second in ("[a\0\u{1}]{0,4}", "[a\0]{0,3}")) {
        let types = [CanonicalType::Text, CanonicalType::Binary];
        let key = |(text, binary): &(String, String)| {
            encode_key(&types, &[Value::Text(text.clone()), Value::Binary(binary.clone().into_bytes())]).unwrap()
        };
        let order = first.0.as_bytes().cmp(second.0.as_bytes()).then(first.1.as_bytes().cmp(second.1.as_bytes()));
        prop_assert_eq!(key(&first).cmp(&key(&second)), order);
        prop_assert!(order == Ordering::Equal || !key(&second).starts_with(&key(&first)));
        prop_assert_eq!(decode_key(&types, &key(&first)).unwrap()[0].clone(), Value::Text(first.0));
    }

    #[test]
    fn days(first in -800_000_i64..3_000_000, second in -800_000_i64..3_000_000) {
        let form = |days| direct(CanonicalType::Date, |writer| writer.put_days(days));
        prop_assert_eq!(first.cmp(&second), form(first).cmp(&form(second)));
        let value = decode_field(&CanonicalType::Date, Some(&form(first))).unwrap();
        let text = render(&CanonicalType::Date, &value).unwrap();
        prop_assert_eq!(parse(&CanonicalType::Date, &text).unwrap(), value.clone());
        let Value::Date(date @ DateValue::Day(..)) = value else { unreachable!() };
        let timestamp = direct(CanonicalType::Timestamp, |writer| writer.put_date(date));
        prop_assert_eq!(timestamp, direct(CanonicalType::Timestamp, |writer| writer.put_timestamp(TimestampValue::Finite(first * 86_400, 0))));
    }

    #[test]
    fn stored_fields_sort(first in any::<(i32, i32, i64)>(), second in any::<(i32, i32, i64)>()) {
        let interval = |(months, days, micros): (i32, i32, i64)| {
            key_form(&CanonicalType::Interval, &Value::Interval(months, days, micros))
        };
        prop_assert_eq!(first.cmp(&second), interval(first).cmp(&interval(second)));
        let value = Value::Interval(first.0, first.1, first.2);
        let text = render(&CanonicalType::Interval, &value).unwrap();
        prop_assert_eq!(parse(&CanonicalType::Interval, &text).unwrap(), value);
    }

    #[test]
    fn bit_strings_sort(first in "[01]{0,20}", second in "[01]{0,20}") {
        let key = |text: &str| key_form(&CanonicalType::Bits, &parse(&CanonicalType::Bits, text).unwrap());
        prop_assert_eq!(first.cmp(&second), key(&first).cmp(&key(&second)));
    }
}

#[test]
fn wide_decimals_in_a_value_are_normalised() {
    let loose = Decimal::Finite { negative: true, exponent: 2, digits: vec![0, 5, 0] };
    let form = direct(CanonicalType::Number, |writer| writer.put_decimal(&loose));
    assert_eq!(form, value_form(&CanonicalType::Number, &parse(&CanonicalType::Number, "-5").unwrap()));
}
