//! What the output writes a column pair as: the tightest exact form that both declarations allow.

use crate::model::{CanonicalType, LogicalType, OutputHint};

/// Largest precision of an Arrow decimal.
const PRECISION_MAX: u32 = 76;

/// Decides the output form of a pair from the declared types of its sides. `Plain` whenever a side declares nothing.
pub(super) fn output_hint(canonical: &CanonicalType, source: &LogicalType, sink: &LogicalType) -> OutputHint {
    let (source, sink) = (hinted(source), hinted(sink));
    let (one, other) = match (silent(source), silent(sink)) {
        (true, true) => return OutputHint::Plain,
        (true, false) => (sink, sink),
        (false, true) => (source, source),
        (false, false) => (source, sink),
    };
    match canonical {
        CanonicalType::Number => number_hint(one, other),
        CanonicalType::Time
        | CanonicalType::TimeTz
        | CanonicalType::Timestamp
        | CanonicalType::Instant
        | CanonicalType::OffsetInstant => match (time_digits(one), time_digits(other)) {
            (Some(one), Some(other)) => OutputHint::Digits(if one.max(other) <= 6 { 6 } else { 9 }),
            _ => OutputHint::Plain,
        },
        _ => OutputHint::Plain,
    }
}

/// What a column without a fixed type is hinted at: whole numbers are worth a column of whole numbers, whose rare
/// fractions stand beside it; other hints say too little of what is stored.
fn hinted(logical: &LogicalType) -> &LogicalType {
    match logical {
        LogicalType::Dynamic(hint) if matches!(**hint, LogicalType::Integer { .. }) => hint,
        other => other,
    }
}

/// Whether the type says nothing of its values.
fn silent(logical: &LogicalType) -> bool {
    matches!(logical, LogicalType::Untyped | LogicalType::Null | LogicalType::Dynamic(_))
}

fn number_hint(one: &LogicalType, other: &LogicalType) -> OutputHint {
    if fits_int64(one) && fits_int64(other) {
        return OutputHint::Int64;
    }
    let (Some((one_whole, one_scale)), Some((other_whole, other_scale))) = (digits(one), digits(other)) else {
        return OutputHint::Plain;
    };
    let scale = one_scale.max(other_scale);
    let precision = one_whole.max(other_whole).saturating_add(scale).max(1);
    if precision > PRECISION_MAX {
        return OutputHint::Plain;
    }
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision), Ok(scale)) => OutputHint::Decimal(precision, scale),
        _ => OutputHint::Plain,
    }
}

fn fits_int64(logical: &LogicalType) -> bool {
    match logical {
        LogicalType::Boolean => true,
        LogicalType::Integer { bits, signed } => *signed || *bits < 64,
        _ => false,
    }
}

/// (digits before the point, digits after it) that a declaration allows.
fn digits(logical: &LogicalType) -> Option<(u32, u32)> {
    match logical {
        LogicalType::Boolean => Some((1, 0)),
        LogicalType::Integer { bits, signed } => Some((
            match (bits, signed) {
                (..=8, _) => 3,
                (9..=16, _) => 5,
                (17..=32, _) => 10,
                (_, true) => 19,
                (_, false) => 20,
            },
            0,
        )),
        LogicalType::Decimal { declared: Some((precision, scale)) } => {
            if let Ok(scale) = u32::try_from(*scale) {
                // A scale beyond the precision means zeros after the point: no digit before it.
                Some((precision.saturating_sub(scale), scale))
            } else {
                Some((precision.saturating_add(scale.unsigned_abs()), 0))
            }
        }
        _ => None,
    }
}

/// Digits after the second that a declaration allows.
fn time_digits(logical: &LogicalType) -> Option<u8> {
    match logical {
        LogicalType::Time { digits }
        | LogicalType::Timestamp { digits }
        | LogicalType::Instant { digits }
        | LogicalType::OffsetInstant { digits } => Some(*digits),
        // A date that is cast to a timestamp is its midnight.
        LogicalType::Date => Some(0),
        _ => None,
    }
}
