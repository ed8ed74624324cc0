//! Casts: what `--cast COLUMN=TYPE` makes of each side of a column pair.
//!
//! A cast never loses anything: a target that cannot hold every value of a side is refused.

use super::types::{Refusal, is_text, own_type, type_word};
use crate::model::{CanonicalType, Conversion, LogicalType};

/// Names of targets; the first of each row is the one that messages list.
const TARGETS: &[(&[&str], CanonicalType)] = &[
    (&["text", "varchar", "string"], CanonicalType::Text),
    (&["number", "int", "integer", "bigint", "smallint", "decimal", "numeric"], CanonicalType::Number),
    (&["float", "double", "real"], CanonicalType::Float),
    (&["boolean", "bool"], CanonicalType::Boolean),
    (&["binary", "bytea", "blob"], CanonicalType::Binary),
    (&["bits", "bit", "varbit"], CanonicalType::Bits),
    (&["date"], CanonicalType::Date),
    (&["time"], CanonicalType::Time),
    (&["timetz"], CanonicalType::TimeTz),
    (&["timestamp", "datetime"], CanonicalType::Timestamp),
    (&["timestamptz", "instant"], CanonicalType::Instant),
    (&["datetimeoffset"], CanonicalType::OffsetInstant),
    (&["interval"], CanonicalType::Interval),
    (&["uuid"], CanonicalType::Uuid),
    (&["json", "jsonb"], CanonicalType::Json),
    (&["inet", "cidr"], CanonicalType::Inet),
    (&["mac", "macaddr"], CanonicalType::Mac),
    (&["mac8", "macaddr8"], CanonicalType::Mac8),
];

/// What a cast makes of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SideCast {
    /// How the writer gets to the target.
    pub conversion: Conversion,
    /// Whether the column is wanted as text. The store is asked for it only where its type is not one that is read; all
    /// others are rendered as canonical text, so that equal values of two stores have one text. Text that arrives is
    /// taken as it is.
    pub as_text: bool,
}

const DIRECT: SideCast = SideCast { conversion: Conversion::Direct, as_text: false };
const PARSE: SideCast = SideCast { conversion: Conversion::Parse, as_text: false };
const SERVER_TEXT: SideCast = SideCast { conversion: Conversion::Render, as_text: true };
const PARSED_SERVER_TEXT: SideCast = SideCast { conversion: Conversion::Parse, as_text: true };

/// The canonical type that a target of `--cast` names, in any case.
///
/// # Errors
/// A refusal that lists the names, if there is no such target.
pub(super) fn cast_target(name: &str) -> Result<CanonicalType, Refusal> {
    let wanted = name.trim().to_lowercase();
    TARGETS
        .iter()
        .find(|(names, _)| names.contains(&wanted.as_str()))
        .map(|(_, canonical)| canonical.clone())
        .ok_or_else(|| Refusal::new(format!("unknown type {name}")).or(format!("the types are {}", listed())))
}

fn listed() -> String {
    let names: Vec<&str> = TARGETS.iter().filter_map(|(names, _)| names.first().copied()).collect();
    names.join(", ")
}

/// What it takes to read a column of type `logical` as `target`.
///
/// # Errors
/// A refusal that says what is possible, where values would be lost or nothing is defined.
pub(super) fn cast_side(logical: &LogicalType, target: &CanonicalType) -> Result<SideCast, Refusal> {
    use CanonicalType as C;
    use LogicalType as L;
    match (logical, target) {
        (L::Null, _) | (L::Untyped, C::Text) => Ok(DIRECT),
        (side, C::Text) if is_text(side) => Ok(DIRECT),
        (_, C::Text) => Ok(SERVER_TEXT),
        // Cells of the target's own class are taken as they are, text is parsed.
        (L::Dynamic(_), _) => Ok(PARSE),
        (side, _) if is_text(side) => Ok(PARSE),
        // Untyped text that was named by a cast stands for the target whatever the file's own kinds of values are.
        (L::Untyped | L::Unsupported(_), _) => Ok(PARSED_SERVER_TEXT),
        (L::Boolean | L::Float { .. }, C::Number)
        | (L::Date, C::Timestamp)
        | (L::OffsetInstant { .. }, C::Instant)
        | (L::Binary, C::Uuid) => Ok(DIRECT),
        (side, target) if own_type(side).as_ref() == Ok(target) => Ok(DIRECT),
        (side, target) => Err(refuse(side, target)),
    }
}

fn refuse(side: &LogicalType, target: &CanonicalType) -> Refusal {
    use CanonicalType as C;
    use LogicalType as L;
    let reason = format!("{} cannot be cast to {target} without losing or guessing", type_word(side));
    let possible: &[&str] = match side {
        L::Boolean => &["boolean", "number", "text"],
        L::Integer { .. } | L::Decimal { .. } => &["number", "text"],
        L::Float { .. } => &["float", "number", "text"],
        L::Date => &["date", "timestamp", "text"],
        L::OffsetInstant { .. } => &["datetimeoffset", "timestamptz", "text"],
        L::Binary => &["binary", "uuid", "text"],
        L::Timestamp { .. } if *target == C::Instant => {
            return Refusal::new(reason)
                .or("name its zone instead of a cast, such as `--option COLUMN.zone=Europe/Paris`");
        }
        _ => &["text", "the type of the column"],
    };
    Refusal::new(reason).or(format!("possible is {}", possible.join(", ")))
}
