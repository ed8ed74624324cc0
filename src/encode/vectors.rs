//! The golden vectors of `fixtures/encoding/` against the encoder and the decoder.

use super::{decode_field, decode_key, decode_row, encode_key, encode_row, fields, key_holds_null, parse, render};
use crate::model::{CanonicalType, GeometricKind, Result, StructField, Value};
use blake2::{Blake2b, Digest, digest::consts::U32};
use std::{env, fmt::Write, fs};

/// The switch that writes what the encoder gives into the vectors, for a new encoding version or new vectors.
const UPDATE: &str = "TIEOUT_UPDATE_VECTORS";
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/encoding/vectors.json");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02X}").unwrap();
        text
    })
}

/// Parses what `Display` of a canonical type writes.
pub(super) fn parse_type(text: &str) -> CanonicalType {
    let (canonical, rest) = take_type(text);
    assert_eq!(rest, "", "{text}");
    canonical
}

fn take_type(text: &str) -> (CanonicalType, &str) {
    let end = text.find(['<', '>', ',']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let simple = match name {
        "boolean" => CanonicalType::Boolean,
        "number" => CanonicalType::Number,
        "float" => CanonicalType::Float,
        "text" => CanonicalType::Text,
        "binary" => CanonicalType::Binary,
        "bits" => CanonicalType::Bits,
        "date" => CanonicalType::Date,
        "time" => CanonicalType::Time,
        "time with zone" => CanonicalType::TimeTz,
        "timestamp" => CanonicalType::Timestamp,
        "instant" => CanonicalType::Instant,
        "offset instant" => CanonicalType::OffsetInstant,
        "interval" => CanonicalType::Interval,
        "uuid" => CanonicalType::Uuid,
        "json" => CanonicalType::Json,
        "inet" => CanonicalType::Inet,
        "mac address" => CanonicalType::Mac,
        "mac address (8 bytes)" => CanonicalType::Mac8,
        "point" => CanonicalType::Geometric(GeometricKind::Point),
        "line" => CanonicalType::Geometric(GeometricKind::Line),
        "lseg" => CanonicalType::Geometric(GeometricKind::Segment),
        "box" => CanonicalType::Geometric(GeometricKind::Box),
        "path" => CanonicalType::Geometric(GeometricKind::Path),
        "polygon" => CanonicalType::Geometric(GeometricKind::Polygon),
        "circle" => CanonicalType::Geometric(GeometricKind::Circle),
        _ => return take_nested(name, &rest[1..]),
    };
    (simple, rest)
}

fn take_nested<'a>(name: &str, rest: &'a str) -> (CanonicalType, &'a str) {
    if name == "struct" {
        let (mut fields, mut rest) = (Vec::new(), rest);
        while !rest.starts_with('>') {
            let (name, after) = rest.trim_start_matches(", ").split_once(": ").unwrap();
            let (canonical, after) = take_type(after);
            fields.push(StructField { name: name.to_owned(), canonical });
            rest = after;
        }
        return (CanonicalType::Struct(fields), &rest[1..]);
    }
    let (first, rest) = take_type(rest);
    let first = Box::new(first);
    match name {
        "list" => (CanonicalType::List(first), &rest[1..]),
        "range" => (CanonicalType::Range(first), &rest[1..]),
        "multirange" => (CanonicalType::Multirange(first), &rest[1..]),
        _ => {
            assert_eq!(name, "map");
            let (second, rest) = take_type(rest.strip_prefix(", ").unwrap());
            (CanonicalType::Map(first, Box::new(second)), &rest[1..])
        }
    }
}

fn encode(canonical: &CanonicalType, value: &Value) -> Result<(Option<Vec<u8>>, Vec<u8>)> {
    let (types, values) = (std::slice::from_ref(canonical), std::slice::from_ref(value));
    let row = encode_row(types, values)?;
    Ok((fields(&row).next().unwrap().value().map(<[u8]>::to_vec), encode_key(types, values)?))
}

#[test]
fn golden_vectors() {
    let mut vectors: serde_json::Value = serde_json::from_str(&fs::read_to_string(PATH).unwrap()).unwrap();
    let update = env::var(UPDATE).is_ok_and(|value| value == "1");
    let mut wrong = String::new();
    for vector in vectors.as_array_mut().unwrap() {
        if vector["stray"].is_string() {
            stray(vector, update, &mut wrong);
            continue;
        }
        let canonical = parse_type(vector["type"].as_str().unwrap());
        assert_eq!(canonical.to_string(), vector["type"].as_str().unwrap());
        let text = vector["value"].as_str().map(str::to_owned);
        let text = text.as_deref();
        let value = match text {
            Some(text) => match parse(&canonical, text) {
                Ok(value) => value,
                Err(error) => {
                    writeln!(wrong, "{canonical} {text:?}: {error}").unwrap();
                    continue;
                }
            },
            None => Value::Null,
        };
        let (value_form, key_form) = encode(&canonical, &value).unwrap();
        let digest = value_form.as_ref().map(|form| hex(&Blake2b::<U32>::digest(form)).to_lowercase());
        let expected =
            [("value_hex", value_form.as_deref().map(hex)), ("key_hex", Some(hex(&key_form))), ("digest", digest)];
        for (name, expected) in expected {
            if update {
                vector[name] = expected.into();
            } else if vector[name].as_str() != expected.as_deref() {
                writeln!(wrong, "{canonical} {text:?} {name}: {:?}, got {expected:?}", vector[name]).unwrap();
            }
        }
        let decoded = decode_field(&canonical, value_form.as_deref()).unwrap();
        assert_same(&decoded, &value, text);
        let same_twice = [key_form.as_slice(), &key_form].concat();
        let then_null = [key_form.as_slice(), &[0]].concat();
        let types = [canonical.clone(), canonical.clone()];
        assert_eq!(key_holds_null(&types[1..], &key_form).unwrap(), text.is_none(), "{canonical} {text:?}");
        assert_eq!(key_holds_null(&types, &same_twice).unwrap(), text.is_none(), "{canonical} {text:?}");
        assert!(key_holds_null(&types, &then_null).unwrap(), "{canonical} {text:?}");
        let decoded = decode_key(std::slice::from_ref(&canonical), &key_form).unwrap();
        assert_same(&decoded[0], &value, text);
        if render(&canonical, &decoded[0]).as_deref() != text {
            writeln!(wrong, "{canonical} {text:?}: text is {:?}", render(&canonical, &decoded[0])).unwrap();
        }
    }
    if update {
        fs::write(PATH, serde_json::to_string_pretty(&vectors).unwrap() + "\n").unwrap();
    }
    assert_eq!(wrong, "");
}

/// A field that holds a value of another class than its own.
fn stray(vector: &mut serde_json::Value, update: bool, wrong: &mut String) {
    let word = |name: &str| vector[name].as_str().unwrap().to_owned();
    let (canonical, class, text) = (parse_type(&word("type")), parse_type(&word("stray")), word("value"));
    let value = Value::Stray(Box::new(parse(&class, &text).unwrap()));
    let row = encode_row(std::slice::from_ref(&canonical), std::slice::from_ref(&value)).unwrap();
    if update {
        vector["field_hex"] = hex(&row).into();
    } else if vector["field_hex"].as_str() != Some(&hex(&row)) {
        writeln!(wrong, "{canonical} stray {class} {text:?}: {:?}, got {}", vector["field_hex"], hex(&row)).unwrap();
    }
    assert_eq!(decode_row(std::slice::from_ref(&canonical), &row).unwrap(), std::slice::from_ref(&value));
    assert_eq!(render(&canonical, &value).as_deref(), Some(text.as_str()));
}

/// Equality in which NaN equals itself.
fn assert_same(found: &Value, expected: &Value, text: Option<&str>) {
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{text:?}");
}
