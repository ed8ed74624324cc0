//! What a pair of logical types is compared as, or why not. `docs/type-pairs.md` is this file as a table.

use crate::model::{CanonicalType, LogicalType, StructField};

/// Why two types, or a type and a cast, do not meet; with what would make them meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What does not fit, lower case, without final stop.
    pub reason: String,
    /// What to do. The word `COLUMN` stands for the column's name.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal without a way out.
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), hint: None }
    }

    /// Adds the way out.
    pub(super) fn or(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A word for the type, for messages.
pub(super) fn type_word(logical: &LogicalType) -> &'static str {
    use LogicalType as L;
    match logical {
        L::Boolean => "boolean",
        L::Integer { .. } => "integer",
        L::Decimal { .. } => "decimal",
        L::Float { .. } => "float",
        L::Text => "text",
        L::Char => "char",
        L::Enum => "enum",
        L::Untyped => "untyped text",
        L::Null => "null",
        L::Binary => "binary",
        L::Bits => "bits",
        L::Date => "date",
        L::Time { .. } => "time",
        L::TimeTz => "time with zone",
        L::Timestamp { .. } => "timestamp",
        L::Instant { .. } => "instant",
        L::OffsetInstant { .. } => "offset instant",
        L::Interval => "interval",
        L::Uuid => "uuid",
        L::Json => "json",
        L::Xml => "xml",
        L::Inet => "inet",
        L::Mac => "mac address",
        L::Mac8 => "mac address (8 bytes)",
        L::Geometric(_) => "geometric",
        L::List(_) => "list",
        L::Struct(_) => "struct",
        L::Map(..) => "map",
        L::Range(_) => "range",
        L::Multirange(_) => "multirange",
        L::Dynamic(hint) => match hint.as_ref() {
            L::Integer { .. } => "dynamic integer",
            L::Decimal { .. } => "dynamic decimal",
            L::Float { .. } => "dynamic float",
            L::Binary => "dynamic binary",
            _ => "dynamic text",
        },
        L::Unsupported(_) => "unsupported",
    }
}

/// Decides what a column of type `source` and one of type `sink` are compared as; symmetric.
///
/// A zoneless timestamp and an instant are refused here; naming a zone is an option of the column.
///
/// # Errors
/// A [`Refusal`] where equality of the two types is not defined without a declaration by the user.
pub fn pair_types(source: &LogicalType, sink: &LogicalType) -> Result<CanonicalType, Refusal> {
    use CanonicalType as C;
    use LogicalType as L;
    match (source, sink) {
        (L::Unsupported(reason), _) | (_, L::Unsupported(reason)) => {
            Err(Refusal::new(reason.clone())
                .or("`--cast COLUMN=text` compares its text, `--exclude COLUMN` leaves it out"))
        }
        (L::Dynamic(hint), other) | (other, L::Dynamic(hint)) => pair_dynamic(hint, other),
        (L::Null | L::Untyped, L::Null | L::Untyped) => Ok(C::Text),
        (L::Null, other) | (other, L::Null) => own_type(other),
        (L::Untyped, other) | (other, L::Untyped) => parsed_type(other),
        (L::Boolean, L::Boolean) => Ok(C::Boolean),
        (L::Boolean, L::Integer { .. }) | (L::Integer { .. }, L::Boolean) => Ok(C::Number),
        (L::Float { .. }, L::Float { .. }) => Ok(C::Float),
        (one, other) if is_numeric(one) && is_numeric(other) => Ok(C::Number),
        (one, other) if is_text(one) && is_text(other) => Ok(C::Text),
        (L::Binary, L::Binary) => Ok(C::Binary),
        (L::Bits, L::Bits) => Ok(C::Bits),
        (L::Date, L::Date) => Ok(C::Date),
        (L::Time { .. }, L::Time { .. }) => Ok(C::Time),
        (L::TimeTz, L::TimeTz) => Ok(C::TimeTz),
        (L::Timestamp { .. }, L::Timestamp { .. }) => Ok(C::Timestamp),
        (L::OffsetInstant { .. }, L::OffsetInstant { .. }) => Ok(C::OffsetInstant),
        (L::Instant { .. } | L::OffsetInstant { .. }, L::Instant { .. } | L::OffsetInstant { .. }) => Ok(C::Instant),
        (L::Interval, L::Interval) => Ok(C::Interval),
        (L::Uuid, L::Uuid) => Ok(C::Uuid),
        (L::Json, L::Json) => Ok(C::Json),
        (L::Inet, L::Inet) => Ok(C::Inet),
        (L::Mac, L::Mac) => Ok(C::Mac),
        (L::Mac8, L::Mac8) => Ok(C::Mac8),
        (L::Geometric(one), L::Geometric(other)) if one == other => Ok(C::Geometric(*one)),
        (L::List(one), L::List(other)) => Ok(C::List(Box::new(pair_elements(one, other)?))),
        (L::Range(one), L::Range(other)) => Ok(C::Range(Box::new(pair_elements(one, other)?))),
        (L::Multirange(one), L::Multirange(other)) => Ok(C::Multirange(Box::new(pair_elements(one, other)?))),
        (L::Map(key, value), L::Map(other_key, other_value)) => {
            Ok(C::Map(Box::new(pair_elements(key, other_key)?), Box::new(pair_elements(value, other_value)?)))
        }
        (L::Struct(fields), L::Struct(others)) => pair_fields(fields, others),
        (one, other) => Err(refuse(one, other)),
    }
}

/// What a column whose cells have types of their own is compared as: what its partner is. Cells that are of another
/// type stay values of their own.
fn pair_dynamic(hint: &LogicalType, partner: &LogicalType) -> Result<CanonicalType, Refusal> {
    use CanonicalType as C;
    use LogicalType as L;
    match partner {
        L::Null | L::Untyped => own_type(hint),
        // Cells compare the same under either hint; that of the wider family is taken, whichever side it is on.
        L::Dynamic(other) => {
            let rank = |canonical: &C| match canonical {
                C::Number => 0,
                C::Float => 1,
                C::Text => 2,
                _ => 3,
            };
            let (one, other) = (own_type(hint)?, own_type(other)?);
            Ok(if rank(&one) <= rank(&other) { one } else { other })
        }
        partner if is_text(partner) => Ok(C::Text),
        L::Decimal { declared } if matches!(hint, L::Float { .. }) && declared.is_none_or(|(_, scale)| scale > 0) => {
            Err(Refusal::new("binary floats do not hold the decimals of the other side")
                .or("store or cast the decimals as text; `--cast COLUMN=number` compares the exact binary values"))
        }
        L::Integer { .. } | L::Decimal { .. } => Ok(C::Number),
        L::Float { .. } => Ok(C::Float),
        L::Boolean if matches!(hint, L::Integer { .. } | L::Decimal { .. }) => Ok(C::Number),
        L::Binary => Ok(C::Binary),
        partner => {
            let refusal = Refusal::new(format!(
                "cells without a fixed type and {} are not compared as they are",
                type_word(partner)
            ));
            Err(match cast_name(partner) {
                Some(name) => refusal.or(format!(
                    "`--cast COLUMN={name}` parses the text of the cells, `--cast COLUMN=text` compares text"
                )),
                None => {
                    refusal.or("`--cast COLUMN=text` compares the text of both sides, `--exclude COLUMN` leaves it out")
                }
            })
        }
    }
}

/// What a column is compared as when its partner has the same type.
///
/// # Errors
/// As [`pair_types`].
pub(super) fn own_type(logical: &LogicalType) -> Result<CanonicalType, Refusal> {
    pair_types(logical, logical)
}

/// Whether the connector hands over characters for this type.
pub(super) fn is_text(logical: &LogicalType) -> bool {
    matches!(logical, LogicalType::Text | LogicalType::Char | LogicalType::Enum | LogicalType::Xml)
}

/// Whether the type has values only composed of other values.
fn is_nested(logical: &LogicalType) -> bool {
    use LogicalType as L;
    matches!(logical, L::List(_) | L::Struct(_) | L::Map(..) | L::Range(_) | L::Multirange(_))
}

fn is_numeric(logical: &LogicalType) -> bool {
    matches!(logical, LogicalType::Integer { .. } | LogicalType::Decimal { .. } | LogicalType::Float { .. })
}

/// The type that untyped text takes from its partner.
fn parsed_type(partner: &LogicalType) -> Result<CanonicalType, Refusal> {
    if is_nested(partner) {
        return Err(Refusal::new(format!("untyped text is not parsed as {}", type_word(partner)))
            .or("`--cast COLUMN=text` compares the text of both sides"));
    }
    own_type(partner)
}

/// Elements of nested values meet only as they are: nothing is parsed, padded, widened or moved to a zone inside.
fn pair_elements(source: &LogicalType, sink: &LogicalType) -> Result<CanonicalType, Refusal> {
    let inside = |reason: String| {
        Refusal::new(format!("elements inside of a nested type do not meet: {reason}"))
            .or("`--cast COLUMN=text` compares the text of both sides")
    };
    if matches!(source, LogicalType::Char) || matches!(sink, LogicalType::Char) {
        return Err(inside("pad blanks of char are not stripped there".to_owned()));
    }
    let paired = pair_types(source, sink).map_err(|refusal| inside(refusal.reason))?;
    for element in [source, sink] {
        let fits = matches!(element, LogicalType::Null) || own_type(element).is_ok_and(|own| own == paired);
        if !fits {
            return Err(inside(format!("{} and {}", type_word(source), type_word(sink))));
        }
    }
    Ok(paired)
}

/// Structs meet when they have the same field names, in any order.
fn pair_fields(source: &[(String, LogicalType)], sink: &[(String, LogicalType)]) -> Result<CanonicalType, Refusal> {
    let hint = "`--cast COLUMN=text` compares the text of both sides";
    let lacks = |have: &[(String, LogicalType)], want: &[(String, LogicalType)]| -> Vec<String> {
        want.iter()
            .filter(|(name, _)| !have.iter().any(|(other, _)| other == name))
            .map(|(name, _)| name.clone())
            .collect()
    };
    let in_sink = lacks(sink, source);
    let in_source = lacks(source, sink);
    if !in_sink.is_empty() || !in_source.is_empty() {
        let mut parts = Vec::new();
        if !in_sink.is_empty() {
            parts.push(format!("the sink lacks {}", in_sink.join(", ")));
        }
        if !in_source.is_empty() {
            parts.push(format!("the source lacks {}", in_source.join(", ")));
        }
        return Err(Refusal::new(format!("fields of the struct differ: {}", parts.join("; "))).or(hint));
    }
    let mut fields = Vec::with_capacity(source.len());
    for (name, logical) in source {
        let mut partners = sink.iter().filter(|(other, _)| other == name);
        let (Some((_, partner)), None) = (partners.next(), partners.next()) else {
            return Err(Refusal::new(format!("field {name} of the struct occurs twice")).or(hint));
        };
        fields.push(StructField { name: name.clone(), canonical: pair_elements(logical, partner)? });
    }
    fields.sort_by(|one, other| one.name.as_bytes().cmp(other.name.as_bytes()));
    if fields.len() != sink.len() || fields.windows(2).any(|pair| pair[0].name == pair[1].name) {
        return Err(Refusal::new("a field of the struct occurs twice").or(hint));
    }
    Ok(CanonicalType::Struct(fields))
}

/// The refusal of a pair that has no canonical type, with the declaration that would give it one.
fn refuse(one: &LogicalType, other: &LogicalType) -> Refusal {
    use LogicalType as L;
    let refusal = Refusal::new(format!("{} and {} are not compared as they are", type_word(one), type_word(other)));
    let has = |test: &dyn Fn(&LogicalType) -> bool| test(one) || test(other);
    let text = has(&is_text);
    if has(&|t| matches!(t, L::Timestamp { .. })) && has(&|t| matches!(t, L::Instant { .. } | L::OffsetInstant { .. }))
    {
        return refusal.or("name the zone of the zoneless side, such as `--option COLUMN.zone=Europe/Paris`");
    }
    if has(&|t| matches!(t, L::Date)) && has(&|t| matches!(t, L::Timestamp { .. })) {
        return refusal.or("`--cast COLUMN=timestamp` takes a date as its midnight");
    }
    if has(&|t| matches!(t, L::Uuid)) && (text || has(&|t| matches!(t, L::Binary))) {
        return refusal.or("`--cast COLUMN=uuid` reads both sides as uuid");
    }
    if text {
        let partner = if is_text(one) { other } else { one };
        if let Some(name) = cast_name(partner) {
            return refusal
                .or(format!("`--cast COLUMN={name}` parses the text side, `--cast COLUMN=text` compares text"));
        }
    }
    refusal.or("`--cast COLUMN=text` compares the text of both sides, `--exclude COLUMN` leaves the column out")
}

/// The name of a type for `--cast`, where text can be parsed as it.
fn cast_name(logical: &LogicalType) -> Option<&'static str> {
    use LogicalType as L;
    Some(match logical {
        L::Integer { .. } | L::Decimal { .. } => "number",
        L::Float { .. } => "float",
        L::Boolean => "boolean",
        L::Binary => "binary",
        L::Bits => "bits",
        L::Date => "date",
        L::Time { .. } => "time",
        L::TimeTz => "timetz",
        L::Timestamp { .. } => "timestamp",
        L::Instant { .. } => "timestamptz",
        L::OffsetInstant { .. } => "datetimeoffset",
        L::Interval => "interval",
        L::Uuid => "uuid",
        L::Json => "json",
        L::Inet => "inet",
        L::Mac => "mac",
        L::Mac8 => "mac8",
        _ => return None,
    })
}
