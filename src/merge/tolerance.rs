//! Declared tolerances: whether two values that differ exactly count as equal under the options of their column.
//!
//! Exact arithmetic only. An option that does not apply to the type of the column excuses nothing, and neither does any
//! option inside of a composed value (list, struct, map, range): those are compared exactly.

use crate::{
    encode::fold_text,
    model::{
        CanonicalType, ColumnOptions, Decimal, Error, ErrorKind, Result, Rounding, TimePrecision, TimestampValue, Value,
    },
};
use std::cmp::Ordering;

#[cfg(test)]
mod tests;

/// Widest exact difference, in base-100 digits: holds every number of every store; past it an alignment would take
/// memory without end.
const DIGITS_MAX: i64 = 1 << 20;

/// Whether `source` and `sink`, both of type `canonical`, count as equal under `options`. One option that excuses the
/// difference suffices; values that are the same are always excused.
///
/// - `null`: NULL and a text that is exactly the token.
/// - `trim`, `case`, `unicode`: texts whose folded spellings are the same, see [`fold_text`].
/// - `abs_tol`: `|a - b| <= abs_tol`; `rel_tol`: `|a - b| <= rel_tol * max(|a|, |b|)`; numbers and floats, a float being
///   its exact binary value. NaN and the infinities are within no tolerance.
/// - `ulps`: floats at most that many binary64 values apart; not for NaN and the infinities.
/// - `precision`, `rounding`: times, timestamps and instants that are the same after both are cut; offsets must be the
///   same exactly, infinities and dates with month or day 0 too.
///
/// # Errors
/// `Config` if a tolerance is not a decimal number of at least zero; `Limit` if a difference has more than 2 million
/// digits.
pub fn excuses(canonical: &CanonicalType, options: &ColumnOptions, source: &Value, sink: &Value) -> Result<bool> {
    if source == sink {
        return Ok(true);
    }
    match (source, sink) {
        (Value::Null, Value::Text(text)) | (Value::Text(text), Value::Null) => {
            Ok(*canonical == CanonicalType::Text && options.null.as_deref() == Some(text.as_str()))
        }
        (Value::Text(source), Value::Text(sink)) => {
            Ok(!options.fold.is_none() && fold_text(options.fold, source) == fold_text(options.fold, sink))
        }
        (Value::Number(source), Value::Number(sink)) => numbers(options, source, sink),
        (Value::Float(source), Value::Float(sink)) => floats(options, *source, *sink),
        _ => Ok(options.precision.is_some_and(|precision| times(precision, options.rounding, source, sink))),
    }
}

fn numbers(options: &ColumnOptions, source: &Decimal, sink: &Decimal) -> Result<bool> {
    let abs_tol = options.abs_tol.as_deref().map(|text| tolerance("abs_tol", text)).transpose()?;
    let rel_tol = options.rel_tol.as_deref().map(|text| tolerance("rel_tol", text)).transpose()?;
    let (Some(source), Some(sink)) = (Exact::of(source), Exact::of(sink)) else {
        return Ok(false);
    };
    if abs_tol.is_none() && rel_tol.is_none() {
        return Ok(false);
    }
    let difference = source.difference(&sink)?;
    if abs_tol.is_some_and(|bound| difference.compare(&bound).is_le()) {
        return Ok(true);
    }
    let Some(rel_tol) = rel_tol else {
        return Ok(false);
    };
    let larger = if source.magnitude.compare(&sink.magnitude).is_lt() { sink } else { source };
    Ok(difference.compare(&rel_tol.times(&larger.magnitude)).is_le())
}

fn floats(options: &ColumnOptions, source: f64, sink: f64) -> Result<bool> {
    if !source.is_finite() || !sink.is_finite() {
        return Ok(source.is_nan() && sink.is_nan());
    }
    if options.ulps.is_some_and(|ulps| ordinal(source).abs_diff(ordinal(sink)) <= ulps) {
        return Ok(true);
    }
    if options.abs_tol.is_none() && options.rel_tol.is_none() {
        return Ok(false);
    }
    numbers(options, &exact_decimal(source), &exact_decimal(sink))
}

/// The place of a finite float among all of them; both zeros are at 0.
fn ordinal(value: f64) -> i64 {
    let magnitude = (value.to_bits() & !(1 << 63)).cast_signed();
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

/// The exact binary value of a finite float.
fn exact_decimal(value: f64) -> Decimal {
    /// Value of a limb: four base-100 digits.
    const LIMB: u64 = 100_000_000;
    let bits = value.to_bits();
    let biased = i32::try_from(bits >> 52 & 0x7FF).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    let mut mantissa = if biased == 0 { fraction } else { fraction | 1 << 52 };
    let mut power = biased.max(1) - 1075;
    if mantissa == 0 {
        return Decimal::Finite { negative: false, exponent: 0, digits: Vec::new() };
    }
    let even = mantissa.trailing_zeros();
    mantissa >>= even;
    power += even.cast_signed();
    // Limbs of mantissa * 2^power, or, for a negative power, of mantissa * 5^-power, which is 10^-power times too large.
    let mut limbs = vec![mantissa % LIMB, mantissa / LIMB % LIMB];
    let (base, step): (u64, u32) = if power < 0 { (5, 11) } else { (2, 26) };
    let mut left = power.unsigned_abs();
    while left > 0 {
        let count = left.min(step);
        let mut carry = 0;
        for limb in &mut limbs {
            carry += *limb * base.pow(count);
            *limb = carry % LIMB;
            carry /= LIMB;
        }
        if carry > 0 {
            limbs.push(carry);
        }
        left -= count;
    }
    let places = limbs.iter().rev().flat_map(|limb| decimal_places(*limb));
    let whole = i64::try_from(limbs.len() * 8).unwrap_or(i64::MAX);
    let exact = Magnitude::from_places(&places.collect::<Vec<u8>>(), whole + i64::from(power.min(0)));
    let exponent = i32::try_from(exact.exponent).unwrap_or(i32::MAX);
    Decimal::Finite { negative: value < 0.0, exponent, digits: exact.digits }
}

/// The eight decimal digits of a limb, most significant first.
fn decimal_places(limb: u64) -> [u8; 8] {
    let mut places = [0; 8];
    let mut rest = limb;
    for place in places.iter_mut().rev() {
        *place = u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    places
}

/// A finite number.
struct Exact {
    negative: bool,
    magnitude: Magnitude,
}

/// A number that is not negative: `0.d1d2d3... * 100^exponent`, base-100 digits, the first and the last not 0; zero has
/// no digits.
#[derive(Debug, PartialEq)]
struct Magnitude {
    exponent: i64,
    digits: Vec<u8>,
}

impl Exact {
    fn of(value: &Decimal) -> Option<Self> {
        let Decimal::Finite { negative, exponent, digits } = value else {
            return None;
        };
        let magnitude = Magnitude::new(i64::from(*exponent), digits.clone());
        Some(Self { negative: *negative, magnitude })
    }

    /// The magnitude of the difference.
    fn difference(&self, other: &Self) -> Result<Magnitude> {
        let (large, small) = match self.magnitude.compare(&other.magnitude) {
            Ordering::Less => (&other.magnitude, &self.magnitude),
            _ => (&self.magnitude, &other.magnitude),
        };
        if small.digits.is_empty() {
            return Ok(Magnitude::new(large.exponent, large.digits.clone()));
        }
        let end = large.end().min(small.end());
        let width = large.exponent - end;
        if width > DIGITS_MAX {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("the exact difference of two numbers has {width} base-100 digits, the limit is {DIGITS_MAX}"),
            )
            .hint("compare the column without a tolerance"));
        }
        // One more place in front for the carry of a sum.
        let start = large.exponent + 1;
        let mut sum = vec![0_i32; usize::try_from(width + 1).unwrap_or(0)];
        large.add_to(&mut sum, start, 1);
        small.add_to(&mut sum, start, if self.negative == other.negative { -1 } else { 1 });
        let mut carry = 0;
        for place in sum.iter_mut().rev() {
            carry += *place;
            *place = carry.rem_euclid(100);
            carry = carry.div_euclid(100);
        }
        let digits = sum.into_iter().map(|place| u8::try_from(place).unwrap_or(0)).collect();
        Ok(Magnitude::new(start, digits))
    }
}

impl Magnitude {
    /// Takes zeros off both ends.
    fn new(exponent: i64, mut digits: Vec<u8>) -> Self {
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let exponent = if digits.is_empty() { 0 } else { exponent - i64::try_from(zeros).unwrap_or(0) };
        Self { exponent, digits }
    }

    /// From decimal digits, of which `whole` stand before the point (may be negative).
    fn from_places(places: &[u8], whole: i64) -> Self {
        let odd = whole.rem_euclid(2) == 1;
        let mut aligned = Vec::with_capacity(places.len() + 2);
        aligned.extend(odd.then_some(0));
        aligned.extend_from_slice(places);
        if aligned.len() % 2 == 1 {
            aligned.push(0);
        }
        let digits = aligned.chunks_exact(2).map(|pair| pair[0] * 10 + pair[1]).collect();
        Self::new((whole + i64::from(odd)).div_euclid(2), digits)
    }

    /// Exponent of the place after the last digit.
    fn end(&self) -> i64 {
        self.exponent - i64::try_from(self.digits.len()).unwrap_or(i64::MAX)
    }

    fn add_to(&self, sum: &mut [i32], start: i64, sign: i32) {
        let first = usize::try_from(start - self.exponent).unwrap_or(usize::MAX);
        for (place, digit) in sum.iter_mut().skip(first).zip(&self.digits) {
            *place += sign * i32::from(*digit);
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits)),
        }
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = vec![0_u64; self.digits.len() + other.digits.len()];
        for (shift, one) in self.digits.iter().enumerate() {
            for (place, digit) in product[shift + 1..].iter_mut().zip(&other.digits) {
                *place += u64::from(*one) * u64::from(*digit);
            }
        }
        let mut carry = 0;
        for place in product.iter_mut().rev() {
            carry += *place;
            *place = carry % 100;
            carry /= 100;
        }
        let digits = product.into_iter().map(|place| u8::try_from(place).unwrap_or(0)).collect();
        Self::new(self.exponent + other.exponent, digits)
    }
}

/// Parses a tolerance: decimal digits with an optional point and an optional exponent.
fn tolerance(option: &str, text: &str) -> Result<Magnitude> {
    parse_magnitude(text).ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("{option} is {text:?}, expected a decimal number of at least zero"))
            .hint(format!("write it as {option} = \"0.001\" or \"1e-3\""))
    })
}

fn parse_magnitude(text: &str) -> Option<Magnitude> {
    /// Largest exponent of a tolerance; no store has numbers beyond it.
    const EXPONENT_MAX: i64 = 1_000_000;
    let text = text.trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let places: Option<Vec<u8>> =
        whole.bytes().chain(fraction.bytes()).map(|byte| byte.is_ascii_digit().then(|| byte - b'0')).collect();
    let places = places.filter(|places| !places.is_empty() && exponent.abs() <= EXPONENT_MAX)?;
    Some(Magnitude::from_places(&places, i64::try_from(whole.len()).ok()? + exponent))
}

fn times(precision: TimePrecision, rounding: Rounding, source: &Value, sink: &Value) -> bool {
    let cut = |nanoseconds: i128| cut(precision, rounding, nanoseconds);
    let same = |source: &TimestampValue, sink: &TimestampValue| match (source, sink) {
        (TimestampValue::Finite(source, source_nanos), TimestampValue::Finite(sink, sink_nanos)) => {
            cut(nanoseconds(*source, *source_nanos)) == cut(nanoseconds(*sink, *sink_nanos))
        }
        _ => source == sink,
    };
    match (source, sink) {
        (Value::Time(source), Value::Time(sink)) => cut(i128::from(*source)) == cut(i128::from(*sink)),
        (Value::TimeTz(source, source_offset), Value::TimeTz(sink, sink_offset)) => {
            source_offset == sink_offset && cut(i128::from(*source)) == cut(i128::from(*sink))
        }
        (Value::Timestamp(source), Value::Timestamp(sink)) | (Value::Instant(source), Value::Instant(sink)) => {
            same(source, sink)
        }
        (Value::OffsetInstant(source, source_offset), Value::OffsetInstant(sink, sink_offset)) => {
            source_offset == sink_offset && same(source, sink)
        }
        _ => false,
    }
}

fn nanoseconds(seconds: i64, nanoseconds: u32) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

/// The number of the unit that `nanoseconds` is cut to.
fn cut(precision: TimePrecision, rounding: Rounding, nanoseconds: i128) -> i128 {
    let unit = match precision {
        TimePrecision::Seconds => 1_000_000_000,
        TimePrecision::Milliseconds => 1_000_000,
        TimePrecision::Microseconds => 1_000,
    };
    match rounding {
        Rounding::Truncate => nanoseconds.div_euclid(unit),
        Rounding::HalfUp => (nanoseconds + unit / 2).div_euclid(unit),
    }
}
