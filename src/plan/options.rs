//! Options of columns: which fit which canonical type, and which a key may carry.

use super::problems::Problems;
use crate::model::{CanonicalType, ColumnOptions, LogicalType, Rounding};

/// Where a column stands in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A part of the key.
    Key,
    /// A field of the row.
    Row,
}

/// Notes every option of `column` that does not fit its type or its role.
pub(super) fn check_options(
    column: &str,
    options: &ColumnOptions,
    canonical: &CanonicalType,
    role: Role,
    problems: &mut Problems,
) {
    use CanonicalType as C;
    let number = matches!(canonical, C::Number | C::Float);
    let time = matches!(canonical, C::Time | C::TimeTz | C::Timestamp | C::Instant | C::OffsetInstant);
    let float = *canonical == C::Float;
    let text = *canonical == C::Text;
    let rounds = options.rounding != Rounding::default();
    let set: [(&str, bool, bool, &str); 7] = [
        ("abs_tol", options.abs_tol.is_some(), number, "numbers and floats"),
        ("rel_tol", options.rel_tol.is_some(), number, "numbers and floats"),
        ("ulps", options.ulps.is_some(), float, "floats"),
        ("trim, case or unicode", !options.fold.is_none(), text, "text"),
        ("null", options.null.is_some(), text, "text"),
        ("precision", options.precision.is_some(), time, "times, timestamps and instants"),
        ("rounding", rounds, time, "times, timestamps and instants"),
    ];
    for (name, is_set, fits, what) in set {
        if !is_set {
            continue;
        }
        if !fits {
            problems.config(
                format!("option {name} of column {column}: it is for {what}, the column is compared as {canonical}"),
                None,
            );
        } else if role == Role::Key && !name.starts_with("trim") {
            problems.config(
                format!("option {name} of column {column}: a key column is compared exactly, or folded as text"),
                Some(format!("drop the option, or choose a key without `{column}` by `-k`")),
            );
        }
    }
    if rounds && options.precision.is_none() {
        problems.config(
            format!("option rounding of column {column}: there is no precision to round to"),
            Some(format!("add `--option {column}.precision=ms`")),
        );
    }
    for (name, tolerance) in [("abs_tol", &options.abs_tol), ("rel_tol", &options.rel_tol)] {
        if tolerance.as_deref().is_some_and(|text| !is_decimal(text)) {
            problems.config(
                format!("option {name} of column {column}: expected a decimal that is not negative, such as 0.01"),
                None,
            );
        }
    }
}

/// Whether a zone may be named for a pair: exactly one side is a zoneless timestamp, and the other a moment.
pub(super) fn takes_zone(source: &LogicalType, sink: &LogicalType) -> bool {
    let zoneless = |logical: &LogicalType| matches!(logical, LogicalType::Timestamp { .. });
    let moment =
        |logical: &LogicalType| matches!(logical, LogicalType::Instant { .. } | LogicalType::OffsetInstant { .. });
    (zoneless(source) && moment(sink)) || (moment(source) && zoneless(sink))
}

/// Whether `text` is a decimal without sign: digits with at most one point, and perhaps an exponent.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    // Three digits reach beyond the range of a double and keep the arithmetic of a tolerance small.
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        (1..=3).contains(&digits.len()) && all_digits(digits)
    });
    !(whole.is_empty() && fraction.is_empty()) && all_digits(whole) && all_digits(fraction) && exponent_fits
}

#[cfg(test)]
mod tests {
    use super::is_decimal;

    #[test]
    fn tolerances_are_plain_decimals() {
        let check = |text, expected| assert_eq!(is_decimal(text), expected, "{text}");
        check("0.01", true);
        check("5", true);
        check(".5", true);
        check("1e-9", true);
        check("", false);
        check(".", false);
        check("-1", false);
        check("1e", false);
        check("1e9999", false);
        check("NaN", false);
        check("1,5", false);
    }
}
