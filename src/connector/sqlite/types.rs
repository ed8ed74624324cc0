//! Declared types: their affinity, and what they hint at.
//!
//! Source: the rules of "Determination Of Column Affinity" in the SQLite documentation (datatype3.html).

use crate::model::LogicalType;

/// What the library does with a value that is stored in a column, or compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affinity {
    /// Text that looks like a number becomes one.
    Integer,
    /// Numbers become text.
    Text,
    /// Nothing changes.
    None,
    /// As integer, and whole numbers become floats.
    Real,
    /// As integer.
    Numeric,
}

/// The affinity of a declared type; `strict` is whether the table is STRICT, where ANY means any.
pub(super) fn affinity(declared: &str, strict: bool) -> Affinity {
    let upper = declared.to_ascii_uppercase();
    let has = |part: &str| upper.contains(part);
    if strict && upper.trim() == "ANY" {
        Affinity::None
    } else if has("INT") {
        Affinity::Integer
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        Affinity::Text
    } else if has("BLOB") || upper.trim().is_empty() {
        Affinity::None
    } else if has("REAL") || has("FLOA") || has("DOUB") {
        Affinity::Real
    } else {
        Affinity::Numeric
    }
}

/// The logical type of a column: dynamic, with the declared type as a hint.
pub(super) fn logical(declared: &str, strict: bool) -> LogicalType {
    let hint = match affinity(declared, strict) {
        Affinity::Integer => LogicalType::Integer { bits: 64, signed: true },
        Affinity::Real => LogicalType::Float { bits: 64 },
        Affinity::Numeric => LogicalType::Decimal { declared: precision(declared) },
        Affinity::None if declared.to_ascii_uppercase().contains("BLOB") => LogicalType::Binary,
        Affinity::Text | Affinity::None => LogicalType::Text,
    };
    LogicalType::Dynamic(Box::new(hint))
}

/// Declared types and the hint that each is, for the reference page.
pub(super) fn documented() -> Vec<(String, LogicalType)> {
    let natives = ["INTEGER", "REAL", "NUMERIC", "DECIMAL(12,2)", "BOOLEAN", "TEXT", "VARCHAR(n)", "BLOB"];
    let declared = natives.into_iter().map(|native| (native.to_owned(), logical(native, false)));
    declared.chain([("(no type)".to_owned(), logical("", false))]).collect()
}

/// (precision, scale) of a type such as `numeric(12,2)`.
fn precision(declared: &str) -> Option<(u32, i32)> {
    let (_, inner) = declared.split_once('(')?;
    let (inner, _) = inner.split_once(')')?;
    let (precision, scale) = inner.split_once(',').unwrap_or((inner, "0"));
    Some((precision.trim().parse().ok()?, scale.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinities_follow_the_manual() {
        let check = |declared: &str, expected| assert_eq!(affinity(declared, false), expected, "{declared}");
        check("INT", Affinity::Integer);
        check("unsigned big int", Affinity::Integer);
        check("CHARINT", Affinity::Integer);
        check("VARCHAR(255)", Affinity::Text);
        check("CLOB", Affinity::Text);
        check("BLOB", Affinity::None);
        check("", Affinity::None);
        check("DOUBLE PRECISION", Affinity::Real);
        check("FLOATING POINT", Affinity::Integer);
        check("FLOAT", Affinity::Real);
        check("DECIMAL(10,5)", Affinity::Numeric);
        check("STRING", Affinity::Numeric);
        check("BOOLEAN", Affinity::Numeric);
        check("DATETIME", Affinity::Numeric);
        check("ANY", Affinity::Numeric);
        assert_eq!(affinity("ANY", true), Affinity::None);
    }

    #[test]
    fn declared_types_are_hints() {
        let check = |declared: &str, expected: LogicalType| {
            assert_eq!(logical(declared, false), LogicalType::Dynamic(Box::new(expected)), "{declared}");
        };
        check("numeric(12,2)", LogicalType::Decimal { declared: Some((12, 2)) });
        check("NUMERIC( 12 , 2 )", LogicalType::Decimal { declared: Some((12, 2)) });
        check("decimal(5)", LogicalType::Decimal { declared: Some((5, 0)) });
        check("date", LogicalType::Decimal { declared: None });
        check("blob", LogicalType::Binary);
        check("", LogicalType::Text);
        check("integer", LogicalType::Integer { bits: 64, signed: true });
    }
}
