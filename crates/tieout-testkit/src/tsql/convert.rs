//! CONVERT and CAST. A conversion that is not written here is refused.

use super::failure::{Answer, error, overflow, unknown};
use super::moment::{self, TO_1900};
use super::types::Ty;
use crate::tds::backend::{Cell, TdsType};
use std::fmt::Write as _;

/// Ticks of a day in 100 ns.
const DAY: i64 = 864_000_000_000;

/// Converts `cell` of type `from` to `to`.
pub(super) fn convert(cell: &Cell, from: &Ty, to: &Ty, style: Option<i64>) -> Answer<Cell> {
    if *cell == Cell::Null {
        return Ok(Cell::Null);
    }
    if from.kind == to.kind && from.collation == to.collation {
        return Ok(cell.clone());
    }
    let wrong = || {
        let message = format!("Explicit conversion from data type {:?} to {:?} is not allowed.", from.kind, to.kind);
        error(529, message)
    };
    if to.is_wide() || to.is_narrow() {
        let units = text_of(cell, from, style)?.ok_or_else(wrong)?;
        return fit_text(units, cell, from, to);
    }
    if to.exact_scale().is_some() {
        let (mantissa, scale) = exact(cell, from)?.ok_or_else(wrong)?;
        return into_exact(mantissa, scale, to);
    }
    match (&to.kind, cell) {
        (TdsType::Real, Cell::F64(value)) => Ok(Cell::F32(narrowed(*value))),
        (TdsType::Float, Cell::F32(value)) => Ok(Cell::F64(f64::from(*value))),
        (TdsType::Float | TdsType::Real, _) => {
            let text = match exact(cell, from)?.ok_or_else(wrong)? {
                (mantissa, 0) => mantissa.to_string(),
                (mantissa, scale) => format!("{mantissa}e-{scale}"),
            };
            let value: f64 = text.parse().map_err(|_| wrong())?;
            Ok(if to.kind == TdsType::Real { Cell::F32(narrowed(value)) } else { Cell::F64(value) })
        }
        (TdsType::UniqueIdentifier, _) if from.is_text() => guid(&string(cell, from)?),
        (TdsType::Binary(_) | TdsType::VarBinary(_) | TdsType::Image | TdsType::Udt { .. }, _) => {
            let bytes = bytes_of(cell, from).ok_or_else(wrong)?;
            Ok(fit_bytes(bytes, to))
        }
        (
            TdsType::Date
            | TdsType::Time(_)
            | TdsType::DateTime
            | TdsType::SmallDateTime
            | TdsType::DateTime2(_)
            | TdsType::DateTimeOffset(_),
            _,
        ) => into_moment(moment_of(cell, from)?.ok_or_else(wrong)?, to),
        _ => Err(wrong()),
    }
}

/// The nearest `real`.
fn narrowed(value: f64) -> f32 {
    // The text of a double is exact, so that this rounds once, to the nearest.
    value.to_string().parse().unwrap_or(f32::NAN)
}

/// Text of any kind.
pub(super) fn string(cell: &Cell, ty: &Ty) -> Answer<String> {
    Ok(match cell {
        Cell::Utf16(units) => String::from_utf16_lossy(units),
        Cell::Bytes(bytes) => String::from_utf16_lossy(&ty.collation.decode(bytes)?),
        _ => return Err(unknown("a text that is none")),
    })
}

fn text_of(cell: &Cell, from: &Ty, style: Option<i64>) -> Answer<Option<Vec<u16>>> {
    let text = match cell {
        Cell::Utf16(units) => return Ok(Some(units.clone())),
        Cell::Bytes(bytes) if from.is_narrow() => return from.collation.decode(bytes).map(Some),
        Cell::Bit(bit) => i32::from(*bit).to_string(),
        Cell::Int(value) => value.to_string(),
        Cell::Decimal { mantissa } => plain(*mantissa, from.exact_scale().unwrap_or(0)),
        Cell::Guid(bytes) => guid_text(bytes),
        Cell::Date(_) | Cell::Time(_) | Cell::DateTime2 { .. } => dated(cell, from, style)?,
        Cell::DateTime { .. } if matches!(style, Some(121 | 126)) => dated(cell, from, style)?,
        _ => return Ok(None),
    };
    Ok(Some(text.encode_utf16().collect()))
}

/// A decimal without exponent, with all digits of its scale.
fn plain(mantissa: i128, scale: u8) -> String {
    let sign = if mantissa < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", mantissa.unsigned_abs(), width = usize::from(scale) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Styles 23 and 121, the default since level 110, and 126 with its `T`.
fn dated(cell: &Cell, from: &Ty, style: Option<i64>) -> Answer<String> {
    let between = match style {
        None | Some(23 | 120 | 121) => ' ',
        Some(126) => 'T',
        Some(style) => return Err(unknown(format_args!("style {style}"))),
    };
    let date = |count: i64| {
        let (year, month, day) = moment::civil(count);
        format!("{year:04}-{month:02}-{day:02}")
    };
    let clock = |time: i64, scale: u8| {
        let seconds = time / 10_000_000;
        let whole = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let fraction = format!("{:07}", time % 10_000_000);
        if scale == 0 { whole } else { format!("{whole}.{}", &fraction[..usize::from(scale)]) }
    };
    let scale = match from.kind {
        TdsType::Time(scale) | TdsType::DateTime2(scale) => scale,
        _ => 3,
    };
    let moment = moment_of(cell, from)?.unwrap_or_default();
    Ok(match cell {
        Cell::Date(_) => date(moment.0),
        Cell::Time(_) => clock(moment.1, scale),
        // Three digits show milliseconds rounded from 1/300 s.
        Cell::DateTime { .. } => {
            format!("{}{between}{}", date(moment.0), clock((moment.1 + 5000) / 10_000 * 10_000, 3))
        }
        _ => format!("{}{between}{}", date(moment.0), clock(moment.1, scale)),
    })
}

fn fit_text(units: Vec<u16>, cell: &Cell, from: &Ty, to: &Ty) -> Answer<Cell> {
    let is_text = from.is_narrow() || from.is_wide();
    let too_long = |fits: bool| match cell {
        _ if fits || is_text => Ok(()),
        Cell::Guid(_) => Err(error(8170, "Insufficient result space to convert uniqueidentifier value to char.")),
        _ => Err(overflow("varchar")),
    };
    match to.kind {
        TdsType::NVarChar(None) | TdsType::NText | TdsType::Xml => Ok(Cell::Utf16(units)),
        TdsType::NChar(most) | TdsType::NVarChar(Some(most)) => {
            let most = usize::from(most);
            too_long(units.len() <= most)?;
            let mut units = units;
            units.truncate(most);
            if matches!(to.kind, TdsType::NChar(_)) {
                units.resize(most, 0x20);
            }
            Ok(Cell::Utf16(units))
        }
        TdsType::Char(most) | TdsType::VarChar(Some(most)) => {
            let mut bytes = to.collation.encode(&units)?;
            too_long(bytes.len() <= usize::from(most))?;
            let mut end = bytes.len().min(usize::from(most));
            // A character of UTF-8 is cut off as a whole.
            while to.collation.wire.code_page == 65001 && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
                end -= 1;
            }
            bytes.truncate(end);
            if matches!(to.kind, TdsType::Char(_)) {
                bytes.resize(usize::from(most), b' ');
            }
            Ok(Cell::Bytes(bytes))
        }
        _ => Ok(Cell::Bytes(to.collation.encode(&units)?)),
    }
}

/// Mantissa and scale of an exact number, or of a text that is one.
pub(super) fn exact(cell: &Cell, from: &Ty) -> Answer<Option<(i128, u8)>> {
    Ok(Some(match cell {
        Cell::Bit(bit) => (i128::from(*bit), 0),
        Cell::Int(value) => (i128::from(*value), 0),
        Cell::Money(value) => (i128::from(*value), 4),
        Cell::Decimal { mantissa } => (*mantissa, from.exact_scale().unwrap_or(0)),
        Cell::Utf16(_) | Cell::Bytes(_) if from.is_text() => digits(&string(cell, from)?)?,
        _ => return Ok(None),
    }))
}

/// A plain number with sign and point, of at most 38 digits.
pub(super) fn digits(text: &str) -> Answer<(i128, u8)> {
    let refused = || error(8114, "Error converting data type nvarchar to numeric.");
    let text = text.trim_matches(' ');
    let (negative, bare) = match text.strip_prefix('-') {
        Some(bare) => (true, bare),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = bare.split_once('.').unwrap_or((bare, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || all.len() > 38 || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused());
    }
    let value: i128 = all.parse().map_err(|_| refused())?;
    Ok((if negative { -value } else { value }, u8::try_from(fraction.len()).map_err(|_| refused())?))
}

/// Numbers lose digits by rounding half away from zero; whole ones by cutting off.
fn into_exact(mantissa: i128, scale: u8, to: &Ty) -> Answer<Cell> {
    let name = || overflow("numeric");
    let target = to.exact_scale().unwrap_or(0);
    let whole = matches!(to.kind, TdsType::TinyInt | TdsType::SmallInt | TdsType::Int | TdsType::BigInt | TdsType::Bit);
    let value = if target >= scale {
        mantissa.checked_mul(10_i128.pow(u32::from(target - scale))).ok_or_else(name)?
    } else {
        let unit = 10_i128.pow(u32::from(scale - target));
        let (kept, rest) = (mantissa / unit, mantissa % unit);
        if !whole && rest.unsigned_abs() * 2 >= unit.unsigned_abs() { kept + rest.signum() } else { kept }
    };
    let within = |low: i64, high: i64| {
        i64::try_from(value).ok().filter(|value| (low..=high).contains(value)).ok_or_else(|| overflow("int"))
    };
    Ok(match to.kind {
        TdsType::Bit => Cell::Bit(mantissa != 0),
        TdsType::TinyInt => Cell::Int(within(0, 255)?),
        TdsType::SmallInt => Cell::Int(within(i64::from(i16::MIN), i64::from(i16::MAX))?),
        TdsType::Int => Cell::Int(within(i64::from(i32::MIN), i64::from(i32::MAX))?),
        TdsType::BigInt => Cell::Int(within(i64::MIN, i64::MAX)?),
        TdsType::Money => Cell::Money(within(i64::MIN, i64::MAX)?),
        TdsType::SmallMoney => Cell::Money(within(i64::from(i32::MIN), i64::from(i32::MAX))?),
        TdsType::Decimal { precision, .. } | TdsType::Numeric { precision, .. } => {
            if value.unsigned_abs() >= 10_u128.pow(u32::from(precision)) {
                return Err(name());
            }
            Cell::Decimal { mantissa: value }
        }
        _ => return Err(name()),
    })
}

/// `6F9619FF-8B86-D011-B42D-00C04FC964FF`.
pub(super) fn guid_text(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02X}");
    }
    text
}

fn guid(text: &str) -> Answer<Cell> {
    let refused = || error(8169, "Conversion failed when converting from a character string to uniqueidentifier.");
    let text = text.strip_prefix('{').unwrap_or(text);
    // What follows the 36 characters is cut off, as documented.
    let text = text.get(..36).ok_or_else(refused)?;
    let bytes = text.as_bytes();
    if [8, 13, 18, 23].iter().any(|at| bytes[*at] != b'-') {
        return Err(refused());
    }
    let value = unhex(&text.replace('-', "")).ok_or_else(refused)?;
    Ok(Cell::Guid(value.try_into().map_err(|_| refused())?))
}

/// Bytes of hexadecimal digits.
pub(super) fn unhex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

fn bytes_of(cell: &Cell, from: &Ty) -> Option<Vec<u8>> {
    match cell {
        Cell::Bytes(bytes) => Some(bytes.clone()),
        Cell::Utf16(units) if from.is_text() => Some(units.iter().flat_map(|unit| unit.to_le_bytes()).collect()),
        // Stored with its first three groups turned around.
        Cell::Guid(g) => Some([&[g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6]], &g[8..]].concat()),
        _ => None,
    }
}

fn fit_bytes(mut bytes: Vec<u8>, to: &Ty) -> Cell {
    match to.kind {
        TdsType::Binary(length) => bytes.resize(usize::from(length), 0),
        TdsType::VarBinary(Some(length)) => bytes.truncate(usize::from(length)),
        _ => {}
    }
    Cell::Bytes(bytes)
}

/// Days since 0001-01-01, 100 ns since midnight (of local time), minutes east of UTC.
type Instant = (i64, i64, i64);

fn moment_of(cell: &Cell, from: &Ty) -> Answer<Option<Instant>> {
    let unit = |scale: u8| 10_i64.pow(u32::from(7 - scale.min(7)));
    let ticks = |time: u64, scale: u8| i64::try_from(time).unwrap_or(0) * unit(scale);
    Ok(Some(match (cell, &from.kind) {
        (Cell::Date(days), _) => (i64::from(*days), 0, 0),
        (Cell::Time(time), TdsType::Time(scale)) => (TO_1900, ticks(*time, *scale), 0),
        (Cell::DateTime { days, ticks }, _) => {
            (TO_1900 + i64::from(*days), (i64::from(*ticks) * 10_000_000 + 150) / 300, 0)
        }
        (Cell::SmallDateTime { days, minutes }, _) => {
            (TO_1900 + i64::from(*days), i64::from(*minutes) * 600_000_000, 0)
        }
        (Cell::DateTime2 { days, time }, TdsType::DateTime2(scale)) => (i64::from(*days), ticks(*time, *scale), 0),
        (Cell::DateTimeOffset { days, time, offset_minutes }, TdsType::DateTimeOffset(scale)) => {
            let offset = i64::from(*offset_minutes);
            let local = i64::from(*days) * DAY + ticks(*time, *scale) + offset * 600_000_000;
            (local.div_euclid(DAY), local.rem_euclid(DAY), offset)
        }
        (Cell::Utf16(_) | Cell::Bytes(_), _) if from.is_text() => {
            let moment = moment::parse(&string(cell, from)?)?;
            (moment.days.unwrap_or(TO_1900), moment.time, moment.offset.unwrap_or(0))
        }
        _ => return Ok(None),
    }))
}

fn into_moment((days, time, offset): Instant, to: &Ty) -> Answer<Cell> {
    // Rounds into the next day where it must; the time alone stays in its day.
    let carried = |scale: u8, days: i64, time: i64| -> (i64, i64) {
        let (ticks, all) = (moment::rounded(time, scale), moment::rounded(DAY, scale));
        if ticks >= all { (days + 1, ticks - all) } else { (days, ticks) }
    };
    let unsigned = |value: i64| u64::try_from(value).unwrap_or(0);
    Ok(match to.kind {
        TdsType::Date => Cell::Date(moment::in_calendar(days)?),
        TdsType::Time(scale) => {
            let last = moment::rounded(DAY, scale) - 1;
            Cell::Time(unsigned(moment::rounded(time, scale).min(last)))
        }
        TdsType::DateTime => {
            // 1/300 s, half up.
            let ticks = (time * 3 + 50_000) / 100_000;
            let (days, ticks) = if ticks >= 25_920_000 { (days + 1, 0) } else { (days, ticks) };
            // 1753 is the first year of the type.
            if days < moment::days(1753, 1, 1).unwrap_or(0) {
                return Err(error(242, "The conversion resulted in an out-of-range value."));
            }
            let days = i64::from(moment::in_calendar(days)?) - TO_1900;
            Cell::DateTime { days: i32::try_from(days).unwrap_or(0), ticks: u32::try_from(ticks).unwrap_or(0) }
        }
        TdsType::SmallDateTime => {
            // 29.998 s and less goes down, 29.999 s and more up.
            let (minute, rest) = (time / 600_000_000, time % 600_000_000);
            let minute = minute + i64::from(rest >= 299_990_000);
            let (days, minute) = if minute == 1440 { (days + 1, 0) } else { (days, minute) };
            let days = u16::try_from(days - TO_1900).map_err(|_| error(242, "The value is out of range."))?;
            Cell::SmallDateTime { days, minutes: u16::try_from(minute).unwrap_or(0) }
        }
        TdsType::DateTime2(scale) => {
            let (days, ticks) = carried(scale, days, time);
            Cell::DateTime2 { days: moment::in_calendar(days)?, time: unsigned(ticks) }
        }
        TdsType::DateTimeOffset(scale) => {
            let (days, ticks) = carried(scale, days, time);
            let all = moment::rounded(DAY, scale);
            let utc = days * all + ticks - offset * (all / 1440);
            Cell::DateTimeOffset {
                days: moment::in_calendar(utc.div_euclid(all))?,
                time: unsigned(utc.rem_euclid(all)),
                offset_minutes: i16::try_from(offset).unwrap_or(0),
            }
        }
        _ => return Err(unknown("this conversion of a date")),
    })
}
