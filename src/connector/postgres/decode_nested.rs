//! Values that have parts: arrays, composites, ranges, addresses, figures.

use super::{
    decode::{
        Numeric, bits, boolean, byte_text, date, fixed, interval, jsonb, malformed, numeric, text_of, time, time_tz,
        timestamp,
    },
    types::Wire,
};
use crate::{
    encode::{date_from_days, parse},
    model::{CanonicalType, Decimal, Error, ErrorKind, GeometricKind, RangeValue, Result, Value},
};

/// The server's own limit on array dimensions.
const DIMENSIONS_MAX: usize = 6;

/// A cursor over wire bytes that never reads past their end.
struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.bytes.split_at_checked(count).ok_or_else(|| malformed(self.what))?;
        self.bytes = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        fixed(self.take(N)?, self.what)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn int(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    fn count(&mut self) -> Result<usize> {
        usize::try_from(self.int()?).map_err(|_| malformed(self.what))
    }

    fn oid(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn float(&mut self) -> Result<f64> {
        Ok(fold(f64::from_be_bytes(self.array()?)))
    }

    /// Bytes after their length; `None` for the length -1.
    fn field(&mut self) -> Result<Option<&'a [u8]>> {
        match self.int()? {
            -1 => Ok(None),
            length => self.take(usize::try_from(length).map_err(|_| malformed(self.what))?).map(Some),
        }
    }

    fn end(&self) -> Result<()> {
        if self.bytes.is_empty() { Ok(()) } else { Err(malformed(self.what)) }
    }
}

/// One NaN, no negative zero.
fn fold(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

/// `mantissa * 10^-scale` as a normalised number.
fn scaled(mantissa: i64, scale: i32) -> Decimal {
    let mut digits: Vec<u8> = mantissa.unsigned_abs().to_string().bytes().map(|byte| byte - b'0').collect();
    if mantissa == 0 {
        return Decimal::Finite { negative: false, exponent: 0, digits: Vec::new() };
    }
    // The number is digits * 10^-scale: bring the power to an even one, then the length too.
    if scale.rem_euclid(2) == 1 {
        digits.push(0);
    }
    let scale = scale + scale.rem_euclid(2);
    if digits.len() % 2 == 1 {
        digits.insert(0, 0);
    }
    let pairs: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] * 10 + pair[1]).collect();
    normalised(mantissa < 0, i32::try_from(pairs.len()).unwrap_or(i32::MAX) - scale / 2, &pairs)
}

/// `0.pairs * 100^exponent` without zeros at either end.
fn normalised(negative: bool, exponent: i32, pairs: &[u8]) -> Decimal {
    let Some(first) = pairs.iter().position(|pair| *pair != 0) else {
        return Decimal::Finite { negative: false, exponent: 0, digits: Vec::new() };
    };
    let last = pairs.iter().rposition(|pair| *pair != 0).unwrap_or(first);
    Decimal::Finite {
        negative,
        // A numeric has at most 65535 groups, so this fits.
        exponent: exponent - i32::try_from(first).unwrap_or(i32::MAX),
        digits: pairs[first..=last].to_vec(),
    }
}

fn decimal(bytes: &[u8]) -> Result<Decimal> {
    Ok(match numeric(bytes)? {
        Numeric::Special(value) => value,
        Numeric::Finite { negative, weight, groups } => {
            let mut pairs = Vec::with_capacity(groups.len());
            for group in groups.chunks_exact(2) {
                let group = u16::from_be_bytes([group[0], group[1]]);
                let pair = |number: u16| u8::try_from(number).map_err(|_| malformed("numeric"));
                pairs.push(pair(group / 100)?);
                pairs.push(pair(group % 100)?);
            }
            normalised(negative, (weight + 1) * 2, &pairs)
        }
    })
}

/// Decodes a value that is not NULL.
pub(super) fn value(wire: &Wire, bytes: &[u8]) -> Result<Value> {
    Ok(match wire {
        Wire::Bool => Value::Bool(boolean(bytes)?),
        Wire::Int2 => Value::Number(scaled(i16::from_be_bytes(fixed(bytes, "int2")?).into(), 0)),
        Wire::Int4 => Value::Number(scaled(i32::from_be_bytes(fixed(bytes, "int4")?).into(), 0)),
        Wire::Int8 => Value::Number(scaled(i64::from_be_bytes(fixed(bytes, "int8")?), 0)),
        Wire::Oid => Value::Number(scaled(u32::from_be_bytes(fixed(bytes, "oid")?).into(), 0)),
        Wire::Money(scale) => Value::Number(scaled(i64::from_be_bytes(fixed(bytes, "money")?), *scale)),
        Wire::Numeric(_) => Value::Number(decimal(bytes)?),
        Wire::Float4 => Value::Float(fold(f32::from_be_bytes(fixed(bytes, "float4")?).into())),
        Wire::Float8 => Value::Float(fold(f64::from_be_bytes(fixed(bytes, "float8")?))),
        Wire::Text(_) | Wire::Enum | Wire::Xml | Wire::ServerText => Value::Text(text_of(bytes, "text")?.to_owned()),
        // Pad blanks are no part of the value; the writer strips them of columns, here of parts.
        Wire::BpChar => Value::Text(text_of(bytes, "text")?.trim_end_matches(' ').to_owned()),
        Wire::Byte => Value::Text(byte_text(bytes)?.to_owned()),
        Wire::Bytea => Value::Binary(bytes.to_vec()),
        Wire::Date => Value::Date(date(bytes)?.map_or_else(Ok, date_from_days)?),
        Wire::Time(_) => Value::Time(time(bytes)?),
        Wire::TimeTz => time_tz(bytes).map(|(nanos, offset)| Value::TimeTz(nanos, offset))?,
        Wire::Timestamp(_) => Value::Timestamp(timestamp(bytes)?),
        Wire::TimestampTz(_) => Value::Instant(timestamp(bytes)?),
        Wire::Interval => interval(bytes).map(|(months, days, micros)| Value::Interval(months, days, micros))?,
        Wire::Uuid => Value::Uuid(fixed(bytes, "uuid")?),
        Wire::Json => parse(&CanonicalType::Json, text_of(bytes, "json")?)?,
        Wire::Jsonb => parse(&CanonicalType::Json, jsonb(bytes)?)?,
        Wire::Bits(_) => bits(bytes).map(|(count, bits)| Value::Bits(count, bits.to_vec()))?,
        Wire::Inet => inet(bytes)?,
        Wire::Mac => Value::Mac(fixed::<6>(bytes, "macaddr")?.to_vec()),
        Wire::Mac8 => Value::Mac(fixed::<8>(bytes, "macaddr8")?.to_vec()),
        Wire::Geometric(kind) => figure(*kind, bytes)?,
        Wire::Composite(fields) => composite(fields, bytes)?,
        Wire::Array(oid, element) => array(*oid, element, bytes)?,
        Wire::Range(bound) => Value::Range(range(bound, bytes)?),
        Wire::Multirange(bound) => multirange(bound, bytes)?,
        Wire::Hstore => hstore(bytes)?,
        Wire::Unsupported(reason) => return Err(Error::new(ErrorKind::Unsupported, reason.clone())),
    })
}

fn inet(bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, "network address");
    let family = reader.byte()?;
    let prefix = reader.byte()?;
    let _is_cidr = reader.byte()?;
    let length = usize::from(reader.byte()?);
    let address = reader.take(length)?;
    reader.end()?;
    match (family, length) {
        (2, 4) if prefix <= 32 => {}
        (3, 16) if prefix <= 128 => {}
        _ => return Err(malformed("network address")),
    }
    Ok(Value::Inet(address.to_vec(), prefix))
}

fn figure(kind: GeometricKind, bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, "figure");
    let mut closed = true;
    let count = match kind {
        GeometricKind::Point => 2,
        GeometricKind::Line | GeometricKind::Circle => 3,
        GeometricKind::Segment | GeometricKind::Box => 4,
        GeometricKind::Path => {
            closed = match reader.byte()? {
                0 => false,
                1 => true,
                _ => return Err(malformed("path")),
            };
            reader.count()?.checked_mul(2).ok_or_else(|| malformed("path"))?
        }
        GeometricKind::Polygon => reader.count()?.checked_mul(2).ok_or_else(|| malformed("polygon"))?,
    };
    if count.checked_mul(8) != Some(reader.bytes.len()) {
        return Err(malformed("figure"));
    }
    let floats = (0..count).map(|_| reader.float()).collect::<Result<_>>()?;
    Ok(Value::Geometric(closed, floats))
}

fn nullable(wire: &Wire, bytes: Option<&[u8]>) -> Result<Value> {
    bytes.map_or(Ok(Value::Null), |bytes| value(wire, bytes))
}

fn composite(fields: &[(String, u32, Wire)], bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, "composite value");
    if reader.count()? != fields.len() {
        return Err(malformed("composite value with the declared fields"));
    }
    let mut named = Vec::with_capacity(fields.len());
    for (name, oid, wire) in fields {
        if reader.oid()? != *oid {
            return Err(malformed("composite value with fields of the declared types"));
        }
        named.push((name, nullable(wire, reader.field()?)?));
    }
    reader.end()?;
    named.sort_by(|first, second| first.0.as_bytes().cmp(second.0.as_bytes()));
    Ok(Value::Struct(named.into_iter().map(|(_, value)| value).collect()))
}

fn array(oid: u32, element: &Wire, bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, "array");
    let dimensions = reader.count()?;
    let _has_null = reader.int()?;
    if dimensions > DIMENSIONS_MAX || reader.oid()? != oid {
        return Err(malformed("array of the declared type"));
    }
    let mut shape = Vec::with_capacity(dimensions);
    let mut count = usize::from(dimensions > 0);
    for _ in 0..dimensions {
        let length = reader.count()?;
        count = count.checked_mul(length).ok_or_else(|| malformed("array"))?;
        shape.push((u32::try_from(length).map_err(|_| malformed("array"))?, reader.int()?));
    }
    // Each element takes four bytes at least, which bounds what is reserved.
    if count > reader.bytes.len() / 4 {
        return Err(malformed("array"));
    }
    let mut elements = Vec::with_capacity(count);
    for _ in 0..count {
        elements.push(nullable(element, reader.field()?)?);
    }
    reader.end()?;
    Ok(Value::List(shape, elements))
}

fn range(bound: &Wire, bytes: &[u8]) -> Result<RangeValue> {
    const EMPTY: u8 = 0x01;
    const LOWER_INCLUDED: u8 = 0x02;
    const UPPER_INCLUDED: u8 = 0x04;
    const LOWER_OPEN: u8 = 0x08;
    const UPPER_OPEN: u8 = 0x10;
    let mut reader = Reader::new(bytes, "range");
    let flags = reader.byte()?;
    if flags & EMPTY != 0 {
        reader.end()?;
        return Ok(RangeValue::Empty);
    }
    let mut side = |open: u8, included: u8| -> Result<_> {
        if flags & open != 0 {
            return Ok(None);
        }
        let bytes = reader.field()?.ok_or_else(|| malformed("range"))?;
        Ok(Some((Box::new(value(bound, bytes)?), flags & included != 0)))
    };
    let lower = side(LOWER_OPEN, LOWER_INCLUDED)?;
    let upper = side(UPPER_OPEN, UPPER_INCLUDED)?;
    reader.end()?;
    Ok(RangeValue::Bounds { lower, upper })
}

fn multirange(bound: &Wire, bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, "multirange");
    let count = reader.count()?;
    if count > reader.bytes.len() / 4 {
        return Err(malformed("multirange"));
    }
    let mut ranges = Vec::with_capacity(count);
    for _ in 0..count {
        let bytes = reader.field()?.ok_or_else(|| malformed("multirange"))?;
        ranges.push(range(bound, bytes)?);
    }
    reader.end()?;
    Ok(Value::Multirange(ranges))
}

fn hstore(bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, "hstore");
    let count = reader.count()?;
    if count > reader.bytes.len() / 8 {
        return Err(malformed("hstore"));
    }
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let key = reader.field()?.ok_or_else(|| malformed("hstore"))?;
        let value = match reader.field()? {
            None => Value::Null,
            Some(bytes) => Value::Text(text_of(bytes, "hstore")?.to_owned()),
        };
        entries.push((Value::Text(text_of(key, "hstore")?.to_owned()), value));
    }
    reader.end()?;
    Ok(Value::Map(entries))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn finite(negative: bool, exponent: i32, digits: &[u8]) -> Decimal {
        Decimal::Finite { negative, exponent, digits: digits.to_vec() }
    }

    #[test]
    fn scaled_numbers() {
        assert_eq!(scaled(0, 2), finite(false, 0, &[]));
        assert_eq!(scaled(5, 0), finite(false, 1, &[5]));
        assert_eq!(scaled(550, 2), finite(false, 1, &[5, 50]));
        assert_eq!(scaled(5, 3), finite(false, -1, &[50]));
        assert_eq!(scaled(-1_000_000, 0), finite(true, 4, &[1]));
        assert_eq!(scaled(123, 1), finite(false, 1, &[12, 30]));
        assert_eq!(scaled(5, -1), finite(false, 1, &[50]));
    }

    #[test]
    fn numerics_in_groups() {
        // 12345.67
        let bytes = [0, 3, 0, 1, 0, 0, 0, 2, 0, 1, 0x09, 0x29, 0x1A, 0x2C];
        assert_eq!(decimal(&bytes).unwrap(), finite(false, 3, &[1, 23, 45, 67]));
        assert_eq!(decimal(&[0, 0, 0, 0, 0xC0, 0, 0, 0]).unwrap(), Decimal::NaN);
        assert!(decimal(&[0, 1, 0, 0, 0, 0, 0, 0]).is_err());
        assert!(decimal(&[0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10]).is_err());
    }

    #[test]
    fn cut_values_are_errors_not_panics() {
        // {NULL, 7} of int4
        let bytes =
            [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 23, 0, 0, 0, 2, 0, 0, 0, 1, 255, 255, 255, 255, 0, 0, 0, 4, 0, 0, 0, 7];
        let wire = Wire::Array(23, Box::new(Wire::Int4));
        let expected = Value::List(vec![(2, 1)], vec![Value::Null, Value::Number(finite(false, 1, &[7]))]);
        assert_eq!(value(&wire, &bytes).unwrap(), expected);
        for end in 0..bytes.len() {
            assert!(value(&wire, &bytes[..end]).is_err(), "{end}");
        }
    }
}
