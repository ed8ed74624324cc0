//! Floats: the ordered 8 bytes, and the exact way between binary floats and decimals.

use super::number;
use crate::model::{Decimal, Error, ErrorKind, Result};
use std::str::FromStr;

const QUIET_NAN: u64 = 0x7FF8_0000_0000_0000;
const SIGN: u64 = 1 << 63;

/// Folds the NaNs into one and -0.0 into 0.0.
#[inline]
pub(super) fn fold(value: f64) -> f64 {
    if value.is_nan() {
        f64::from_bits(QUIET_NAN)
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

/// The 8 bytes that sort as the floats do.
#[inline]
pub(super) fn form(value: f64) -> [u8; 8] {
    let bits = fold(value).to_bits();
    let flipped = if bits & SIGN == 0 { bits ^ SIGN } else { !bits };
    flipped.to_be_bytes()
}

/// The float of 8 bytes.
///
/// # Errors
/// `Internal` if the float is not folded.
pub(super) fn read(bytes: [u8; 8]) -> Result<f64> {
    let word = u64::from_be_bytes(bytes);
    let bits = if word & SIGN == 0 { !word } else { word ^ SIGN };
    let value = f64::from_bits(bits);
    if fold(value).to_bits() == bits {
        return Ok(value);
    }
    Err(Error::internal("decoding a float: it is not folded"))
}

/// 10^8: four base-100 digits a limb, and a product with a 32-bit factor stays within 64 bits.
const LIMB: u64 = 100_000_000;

/// Appends the exact value of a float as a number.
pub(super) fn write_number(out: &mut Vec<u8>, value: f64) -> Result<()> {
    let Some((negative, mantissa, power)) = parts(value) else {
        return number::write_decimal(out, &special(value));
    };
    if power >= 0 && u32::try_from(power).is_ok_and(|power| power <= mantissa.leading_zeros()) {
        number::write_u64(out, negative, mantissa << power);
        return Ok(());
    }
    let (digits, exponent) = expand(mantissa, power);
    number::write_digits(out, negative, exponent, digits.into_iter())
}

/// The exact value of a float.
pub(super) fn to_decimal(value: f64) -> Result<Decimal> {
    let Some((negative, mantissa, power)) = parts(value) else { return Ok(special(value)) };
    let (digits, exponent) = expand(mantissa, power);
    number::normalise(negative, exponent, &digits)
}

fn special(value: f64) -> Decimal {
    if value.is_nan() {
        Decimal::NaN
    } else if value == f64::INFINITY {
        Decimal::PositiveInfinity
    } else if value == f64::NEG_INFINITY {
        Decimal::NegativeInfinity
    } else {
        number::zero()
    }
}

/// (sign, mantissa, power of two) with an odd mantissa; `None` for zero and what is not finite.
fn parts(value: f64) -> Option<(bool, u64, i32)> {
    if !value.is_finite() || value == 0.0 {
        return None;
    }
    let bits = value.to_bits();
    let field = i32::try_from((bits >> 52) & 0x7FF).ok()?;
    let fraction = bits & ((1 << 52) - 1);
    // Subnormals have no hidden bit and share the exponent of the smallest normal numbers.
    let (mantissa, power) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    let shift = mantissa.trailing_zeros();
    Some((bits & SIGN != 0, mantissa >> shift, power + i32::try_from(shift).ok()?))
}

/// Base-100 digits and exponent of `mantissa * 2^power`, exactly.
fn expand(mantissa: u64, power: i32) -> (Vec<u8>, i64) {
    let mut limbs = Vec::new();
    let mut rest = mantissa;
    while rest > 0 {
        limbs.push(rest % LIMB);
        rest /= LIMB;
    }
    let steps = power.unsigned_abs();
    let mut scale = 0_i64;
    if power >= 0 {
        multiply_repeatedly(&mut limbs, 2, 20, steps);
    } else {
        // m / 2^k is m * 5^k / 10^k.
        multiply_repeatedly(&mut limbs, 5, 10, steps);
        scale = i64::from(steps);
        if steps % 2 == 1 {
            multiply(&mut limbs, 10);
            scale += 1;
        }
    }
    let mut digits = Vec::with_capacity(limbs.len() * 4);
    for limb in limbs.iter().rev() {
        for unit in [1_000_000, 10_000, 100, 1] {
            digits.push(u8::try_from(limb / unit % 100).unwrap_or(0));
        }
    }
    let exponent = i64::try_from(digits.len()).unwrap_or(0) - scale / 2;
    (digits, exponent)
}

fn multiply_repeatedly(limbs: &mut Vec<u64>, base: u64, stride: u32, mut steps: u32) {
    while steps > 0 {
        let now = steps.min(stride);
        multiply(limbs, base.pow(now));
        steps -= now;
    }
}

fn multiply(limbs: &mut Vec<u64>, factor: u64) {
    let mut carry = 0;
    for limb in limbs.iter_mut() {
        let product = *limb * factor + carry;
        *limb = product % LIMB;
        carry = product / LIMB;
    }
    while carry > 0 {
        limbs.push(carry % LIMB);
        carry /= LIMB;
    }
}

/// The float that has exactly this value.
///
/// # Errors
/// `Value` if there is none.
pub(super) fn from_decimal(value: &Decimal) -> Result<f64> {
    let candidate = nearest(value)?;
    if to_decimal(candidate)? == *value {
        return Ok(fold(candidate));
    }
    Err(Error::new(ErrorKind::Value, "encoding a number as float: no binary float has exactly this value"))
}

/// The float nearest to a number; the parser of the standard library rounds correctly at any length.
pub(super) fn nearest(value: &Decimal) -> Result<f64> {
    nearest_of(value)
}

/// The float of type `F` nearest to a number.
fn nearest_of<F: FromStr + From<f32>>(value: &Decimal) -> Result<F> {
    match value {
        Decimal::NaN => Ok(f32::NAN.into()),
        Decimal::PositiveInfinity => Ok(f32::INFINITY.into()),
        Decimal::NegativeInfinity => Ok(f32::NEG_INFINITY.into()),
        Decimal::Finite { negative, exponent, digits } => {
            let mut text = String::with_capacity(digits.len() * 2 + 16);
            text.push_str(if *negative { "-0." } else { "0." });
            for digit in digits {
                text.push(char::from(b'0' + digit / 10));
                text.push(char::from(b'0' + digit % 10));
            }
            text.push_str("0e");
            text.push_str(&(i64::from(*exponent) * 2).to_string());
            text.parse().map_err(|_| Error::internal("converting a number to float: not understood"))
        }
    }
}

/// The float of 16 bits nearest to a double. Rounding twice is as good as once here: no text of at most
/// [`significant_max`] digits is so near to the middle of two such floats that its double is the middle, and longer
/// texts must be exact.
fn nearest_half(value: f64) -> f64 {
    /// The largest float of 16 bits, and half a step: what lies at or above it is rounded to infinity.
    const OVERFLOW: f64 = 65_520.0;
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    if value.abs() >= OVERFLOW {
        return f64::INFINITY.copysign(value);
    }
    // Powers of two, so that dividing and multiplying are exact. Below 2^-14 all steps are 2^-24.
    let power = i32::try_from((value.to_bits() >> 52) & 0x7FF).unwrap_or(0) - 1023;
    let step = f64::from(power.max(-14) - 10).exp2();
    (value / step).round_ties_even() * step
}

/// Most significant digits that the shortest text of a float of this width needs.
const fn significant_max(bits: u8) -> usize {
    match bits {
        16 => 5,
        32 => 9,
        _ => 17,
    }
}

/// Parses a double: its shortest text (at most 17 significant digits), or its exact value.
///
/// # Errors
/// `Value` if the text is not a number, lies beyond the floats, or has digits that a float cannot hold.
pub(super) fn parse(text: &str) -> Result<f64> {
    parse_bits(text, 64)
}

/// Parses a float of 16, 32 or 64 bits and widens it: its shortest text (at most 5, 9 or 17 significant digits), the
/// shortest text of the double that it is widened to, or its exact value.
///
/// Text of a whole number, without fraction and exponent, may come from an integer, which a float that rounded it does
/// not equal: where a narrow float does not hold it, the double that does is returned, which no narrow float equals.
///
/// # Errors
/// `Value` if the text is not a number, lies beyond the floats, has digits that such a float cannot hold, or is a whole
/// number that no double holds.
pub(super) fn parse_bits(text: &str, bits: u8) -> Result<f64> {
    let decimal = number::parse(text)?;
    let double = nearest(&decimal)?;
    let value = match bits {
        16 => nearest_half(double),
        32 => nearest_of::<f32>(&decimal)?.into(),
        _ => double,
    };
    if let Decimal::Finite { digits, .. } = &decimal {
        let beyond = value.is_infinite() || (value == 0.0 && !digits.is_empty());
        if beyond {
            let message = format!("parsing text as float: it lies beyond the range of floats of {bits} bits");
            return Err(Error::new(ErrorKind::Value, message));
        }
        if !text.contains(['.', 'e', 'E']) {
            return whole(&decimal, double);
        }
        let number = significant(digits);
        let shortest = number <= significant_max(bits);
        #[expect(clippy::float_cmp, reason = "the same float is meant")]
        let widened = number <= significant_max(64) && double == value;
        if !shortest && !widened && to_decimal(value)? != decimal {
            let message = format!("parsing text as float: it has more digits than a float of {bits} bits holds");
            return Err(Error::new(ErrorKind::Value, message));
        }
    }
    Ok(fold(value))
}

/// The double that is exactly a whole number; where a narrower float is that, too, it is the same value.
fn whole(decimal: &Decimal, double: f64) -> Result<f64> {
    // All whole numbers up to 2^53 are doubles; the nearest double of any beyond is at least 2^53.
    const HELD: f64 = 9_007_199_254_740_992.0;
    if double.abs() < HELD || to_decimal(double)? == *decimal {
        return Ok(fold(double));
    }
    let message = "parsing text as float: it is a whole number that no float of 64 bits holds exactly";
    Err(Error::new(ErrorKind::Value, message))
}

fn significant(digits: &[u8]) -> usize {
    let lead = usize::from(digits.first().is_some_and(|digit| *digit < 10));
    let tail = usize::from(digits.last().is_some_and(|digit| digit % 10 == 0));
    digits.len() * 2 - lead.min(digits.len()) - tail
}

/// The shortest text that reads back as the same float.
pub(super) fn render(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value == f64::INFINITY {
        "Infinity".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-Infinity".to_owned()
    } else if value != 0.0 && !(1e-5..1e17).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::float_cmp, reason = "a failed step is a failed test, and floats are exact")]
mod tests {
    use super::*;

    #[test]
    fn text_of_narrow_floats_is_read_at_their_width() {
        assert_eq!(parse_bits("0.1", 64).unwrap(), 0.1);
        assert_eq!(parse_bits("0.1", 32).unwrap(), 0.100_000_001_490_116_12);
        assert_eq!(parse_bits("16777216", 32).unwrap(), 16_777_216.0);
        assert_eq!(parse_bits("16777217", 32).unwrap(), 16_777_217.0);
        assert_eq!(parse_bits("-9007199254740992", 32).unwrap(), -9_007_199_254_740_992.0);
        assert_eq!(parse_bits("1.2345679e8", 32).unwrap(), 123_456_792.0);
        assert_eq!(parse_bits("9007199254740994", 64).unwrap(), 9_007_199_254_740_994.0);
        for bits in [32, 64] {
            for text in ["9007199254740993", "-9007199254740993", "20000000000000010"] {
                assert_eq!(parse_bits(text, bits).unwrap_err().kind(), ErrorKind::Value, "{text}");
            }
        }
        assert_eq!(parse_bits("3.4028235e38", 32).unwrap(), f64::from(f32::MAX));
        assert_eq!(parse_bits("1e-45", 32).unwrap(), f64::from(f32::from_bits(1)));
        // The text of the double that it is widened to, and its exact value.
        assert_eq!(parse_bits("0.10000000149011612", 32).unwrap(), 0.100_000_001_490_116_12);
        assert_eq!(parse_bits("0.100000001490116119384765625", 32).unwrap(), 0.100_000_001_490_116_12);
        for text in ["0.1000000015", "0.10000000149011613", "1e39", "1e-46"] {
            assert_eq!(parse_bits(text, 32).unwrap_err().kind(), ErrorKind::Value, "{text}");
        }
    }

    #[test]
    fn text_of_half_floats() {
        assert_eq!(parse_bits("0.1", 16).unwrap(), 0.099_975_585_937_5);
        assert_eq!(parse_bits("65504", 16).unwrap(), 65_504.0);
        assert_eq!(parse_bits("6e-8", 16).unwrap(), 2.0_f64.powi(-24));
        assert_eq!(parse_bits("2049", 16).unwrap(), 2049.0);
        assert_eq!(parse_bits("-2051", 16).unwrap(), -2051.0);
        assert_eq!(parse_bits("-Infinity", 16).unwrap(), f64::NEG_INFINITY);
        for text in ["0.100001", "65520", "2e-8"] {
            assert_eq!(parse_bits(text, 16).unwrap_err().kind(), ErrorKind::Value, "{text}");
        }
    }
}
