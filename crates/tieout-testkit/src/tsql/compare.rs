//! How two values compare: exact numbers exactly, text by its collation, bytes as if padded with zeros.

use super::collation::{Coll, padded};
use super::failure::{Answer, error, unknown};
use super::types::{Label, Ty};
use crate::tds::backend::{Cell, TdsType};
use std::cmp::Ordering;

/// A rule of comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Compare {
    /// Exact numbers of two scales.
    Exact(u8, u8),
    Float,
    Wide(&'static Coll),
    Narrow(&'static Coll),
    Bytes,
    /// By byte groups from the end, as SQL Server does; else from the left.
    Guid {
        groups: bool,
    },
    /// Parts in the order in which the cell has them.
    Moment,
    /// Times of two scales.
    Scaled(u8, u8),
}

/// The rule of two types, which have been brought to one kind before.
pub(super) fn rule(a: &Ty, b: &Ty, groups: bool) -> Answer<Compare> {
    if let (Some(a), Some(b)) = (a.exact_scale(), b.exact_scale()) {
        return Ok(Compare::Exact(a, b));
    }
    if a.is_text() && b.is_text() {
        let collation = collation_of(a, b)?;
        return match (a.is_wide(), b.is_wide()) {
            (true, true) => Ok(Compare::Wide(collation)),
            (false, false) => Ok(Compare::Narrow(collation)),
            _ => Err(unknown("a comparison of nvarchar with varchar that was not converted")),
        };
    }
    if a.is_bytes() && b.is_bytes() {
        return Ok(Compare::Bytes);
    }
    match (&a.kind, &b.kind) {
        (TdsType::Real | TdsType::Float, TdsType::Real | TdsType::Float) => Ok(Compare::Float),
        (TdsType::UniqueIdentifier, TdsType::UniqueIdentifier) => Ok(Compare::Guid { groups }),
        (TdsType::Date, TdsType::Date)
        | (TdsType::DateTime, TdsType::DateTime)
        | (TdsType::SmallDateTime, TdsType::SmallDateTime) => Ok(Compare::Moment),
        (TdsType::Time(a), TdsType::Time(b))
        | (TdsType::DateTime2(a), TdsType::DateTime2(b))
        | (TdsType::DateTimeOffset(a), TdsType::DateTimeOffset(b)) => Ok(Compare::Scaled(*a, *b)),
        _ if a.is_long() || b.is_long() || a.kind == TdsType::Xml => Err(error(
            306,
            "The text, ntext, image and xml data types cannot be compared or sorted, except when using IS NULL or LIKE operator.",
        )),
        _ => Err(error(402, format!("The data types {:?} and {:?} are incompatible in the operator.", a.kind, b.kind))),
    }
}

/// The collation of two texts (collation precedence).
pub(super) fn collation_of(a: &Ty, b: &Ty) -> Answer<&'static Coll> {
    match a.label.cmp(&b.label) {
        Ordering::Greater => Ok(a.collation),
        Ordering::Less => Ok(b.collation),
        Ordering::Equal if a.collation == b.collation || a.label == Label::Default => Ok(a.collation),
        Ordering::Equal => Err(error(
            468,
            format!(
                "Cannot resolve the collation conflict between \"{}\" and \"{}\".",
                a.collation.name, b.collation.name
            ),
        )),
    }
}

/// GUIDs: the last six bytes first, then the two before, then the three leading groups from the third to the first; the
/// stored bytes of those run backwards, so that each is compared in stored order (`SqlGuid.CompareTo`).
const GROUPS: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0];

impl Compare {
    /// Compares two values, NULL first.
    pub(super) fn ordered(self, a: &Cell, b: &Cell) -> Answer<Ordering> {
        match (a, b) {
            (Cell::Null, Cell::Null) => Ok(Ordering::Equal),
            (Cell::Null, _) => Ok(Ordering::Less),
            (_, Cell::Null) => Ok(Ordering::Greater),
            _ => self.values(a, b),
        }
    }

    /// Compares two values that are there.
    pub(super) fn values(self, a: &Cell, b: &Cell) -> Answer<Ordering> {
        let scaled = |a: u64, x: u8, b: u64, y: u8| {
            let most = x.max(y);
            (u128::from(a) * 10_u128.pow(u32::from(most - x))).cmp(&(u128::from(b) * 10_u128.pow(u32::from(most - y))))
        };
        Ok(match (self, a, b) {
            (Self::Exact(0, 0), Cell::Int(a), Cell::Int(b)) => a.cmp(b),
            (Self::Exact(x, y), _, _) => match (number(a), number(b)) {
                (Some(a), Some(b)) => decimals(a, x, b, y),
                _ => return Err(mismatch()),
            },
            (Self::Float, _, _) => {
                let (a, b) = (float(a)?, float(b)?);
                a.partial_cmp(&b).ok_or_else(|| unknown("not a number, which float cannot hold"))?
            }
            (Self::Wide(collation), Cell::Utf16(a), Cell::Utf16(b)) => collation.wide(a, b)?,
            (Self::Narrow(collation), Cell::Bytes(a), Cell::Bytes(b)) => collation.narrow(a, b)?,
            (Self::Bytes, Cell::Bytes(a), Cell::Bytes(b)) => padded(a, b, 0),
            (Self::Guid { groups: true }, Cell::Guid(a), Cell::Guid(b)) => {
                GROUPS.iter().map(|at| a[*at]).cmp(GROUPS.iter().map(|at| b[*at]))
            }
            (Self::Guid { groups: false }, Cell::Guid(a), Cell::Guid(b)) => a.cmp(b),
            (Self::Moment, Cell::Date(a), Cell::Date(b)) => a.cmp(b),
            (Self::Moment, Cell::DateTime { days, ticks }, Cell::DateTime { days: other, ticks: later }) => {
                (days, ticks).cmp(&(other, later))
            }
            (
                Self::Moment,
                Cell::SmallDateTime { days: a, minutes: x },
                Cell::SmallDateTime { days: b, minutes: y },
            ) => (a, x).cmp(&(b, y)),
            (Self::Scaled(x, y), Cell::Time(a), Cell::Time(b)) => scaled(*a, x, *b, y),
            (Self::Scaled(x, y), Cell::DateTime2 { days, time }, Cell::DateTime2 { days: other, time: later }) => {
                days.cmp(other).then_with(|| scaled(*time, x, *later, y))
            }
            // By the instant: the offset counts for nothing.
            (
                Self::Scaled(x, y),
                Cell::DateTimeOffset { days, time, .. },
                Cell::DateTimeOffset { days: other, time: later, .. },
            ) => days.cmp(other).then_with(|| scaled(*time, x, *later, y)),
            _ => return Err(mismatch()),
        })
    }
}

fn mismatch() -> crate::tds::backend::SqlError {
    unknown("a value that is not of its column's type")
}

fn number(cell: &Cell) -> Option<i128> {
    match cell {
        Cell::Bit(bit) => Some(i128::from(*bit)),
        Cell::Int(value) | Cell::Money(value) => Some(i128::from(*value)),
        Cell::Decimal { mantissa } => Some(*mantissa),
        _ => None,
    }
}

fn float(cell: &Cell) -> Answer<f64> {
    match cell {
        Cell::F32(value) => Ok(f64::from(*value)),
        Cell::F64(value) => Ok(*value),
        _ => Err(mismatch()),
    }
}

/// Compares `a * 10^-x` with `b * 10^-y` without overflow.
fn decimals(a: i128, x: u8, b: i128, y: u8) -> Ordering {
    if x < y {
        return decimals(b, y, a, x).reverse();
    }
    // The whole part of `a` in units of `b`, then what is left.
    let unit = 10_i128.pow(u32::from(x - y));
    let (whole, rest) = (a.div_euclid(unit), a.rem_euclid(unit));
    whole.cmp(&b).then(rest.cmp(&0))
}
