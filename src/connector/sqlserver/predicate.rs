//! Range predicates: canonical key bounds as SQL that is true for exactly the rows of the range, NULLs included.

use super::{
    literal::part,
    order::{self, Sorting},
    relation::Relation,
};
use crate::{
    encode::decode_key,
    model::{CanonicalType, Error, KeyRange, Projection, Result},
};

/// One part of a bound, as the column can be compared with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// NULL, which sorts first.
    Null,
    /// A value that the column can hold.
    Exact(String),
    /// A value that the column cannot hold: the literal is the smallest one above it that it can.
    Above(String),
    /// A value that the column cannot hold, or not in order: just above this literal and all that compares as equal to it.
    After(String),
    /// Above all values of the column.
    Highest,
    /// Above NULL and below all values of the column.
    Lowest,
}

/// A key column: its expression, whether NULL may occur, and the part of the bound.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) expression: String,
    pub(super) nullable: bool,
    pub(super) part: Part,
}

/// The language has no truth values of its own.
const FALSE: &str = "1 = 0";
const TRUE: &str = "1 = 1";

impl Compared {
    fn not_null(&self) -> String {
        if self.nullable { format!("{} IS NOT NULL", self.expression) } else { TRUE.to_owned() }
    }

    fn is_null(&self) -> String {
        if self.nullable { format!("{} IS NULL", self.expression) } else { FALSE.to_owned() }
    }

    /// The column is above the part.
    fn above(&self) -> String {
        match &self.part {
            Part::Null | Part::Lowest => self.not_null(),
            Part::Exact(literal) | Part::After(literal) => format!("{} > {literal}", self.expression),
            Part::Above(literal) => format!("{} >= {literal}", self.expression),
            Part::Highest => FALSE.to_owned(),
        }
    }

    /// The column is below the part.
    fn below(&self) -> String {
        match &self.part {
            Part::Null => FALSE.to_owned(),
            Part::Lowest => self.is_null(),
            Part::Exact(literal) | Part::Above(literal) if self.nullable => {
                format!("({0} < {literal} OR {0} IS NULL)", self.expression)
            }
            Part::Exact(literal) | Part::Above(literal) => format!("{} < {literal}", self.expression),
            Part::After(literal) if self.nullable => {
                format!("({0} <= {literal} OR {0} IS NULL)", self.expression)
            }
            Part::After(literal) => format!("{} <= {literal}", self.expression),
            Part::Highest => TRUE.to_owned(),
        }
    }

    fn equal(&self) -> String {
        match &self.part {
            Part::Null => self.is_null(),
            Part::Exact(literal) => format!("{} = {literal}", self.expression),
            Part::Above(_) | Part::After(_) | Part::Highest | Part::Lowest => FALSE.to_owned(),
        }
    }
}

/// The key is at or above the bound (`lower`), or below it. The language compares no rows, so all is spelt out.
pub(super) fn bound(parts: &[Compared], lower: bool) -> String {
    // From the last part to the first: beyond, or equal and the rest holds.
    let mut sql = if lower { TRUE.to_owned() } else { FALSE.to_owned() };
    for part in parts.iter().rev() {
        let beyond = if lower { part.above() } else { part.below() };
        let equal = part.equal();
        if sql == TRUE && lower {
            // All that is left is to be at or above this part.
            match &part.part {
                Part::Null => continue,
                Part::Exact(literal) => {
                    sql = format!("{} >= {literal}", part.expression);
                    continue;
                }
                _ => {}
            }
        }
        let tail = match (equal.as_str(), sql.as_str()) {
            (FALSE, _) | (_, FALSE) => None,
            (_, TRUE) => Some(equal),
            _ => Some(format!("({equal} AND {sql})")),
        };
        sql = match (beyond.as_str(), tail) {
            (TRUE, _) => TRUE.to_owned(),
            (_, None) => beyond,
            (FALSE, Some(tail)) => tail,
            (_, Some(tail)) => format!("({beyond} OR {tail})"),
        };
    }
    // Redundant, but an index can serve it.
    match parts.first() {
        Some(first) if parts.len() > 1 => match (&first.part, lower) {
            (Part::Exact(literal), true) => and(&format!("{} >= {literal}", first.expression), &sql),
            (Part::Exact(literal), false) if !first.nullable => {
                and(&format!("{} <= {literal}", first.expression), &sql)
            }
            _ => sql,
        },
        _ => sql,
    }
}

fn and(first: &str, second: &str) -> String {
    if first == second { first.to_owned() } else { format!("({first} AND {second})") }
}

/// The predicate of `range`; `None` for the whole key space.
pub(super) fn range(relation: &Relation, projection: &Projection, range: &KeyRange) -> Result<Option<String>> {
    let side = |key: &Option<Vec<u8>>| key.as_ref().map(|key| compared(relation, projection, key)).transpose();
    Ok(between(side(&range.lower)?, side(&range.upper)?))
}

/// The predicate of a range with these bounds.
pub(super) fn between(lower: Option<Vec<Compared>>, mut upper: Option<Vec<Compared>>) -> Option<String> {
    // Where the lower bound has left no NULL in the leading column, the upper one need not let it in: so an index
    // serves both.
    if let (Some(first), Some(last)) =
        (lower.as_ref().and_then(|parts| parts.first()), upper.as_mut().and_then(|parts| parts.first_mut()))
        && first.part != Part::Null
    {
        last.nullable = false;
    }
    let sides = [lower.map(|parts| bound(&parts, true)), upper.map(|parts| bound(&parts, false))];
    let parts: Vec<String> = sides.into_iter().flatten().filter(|side| side != TRUE).collect();
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

fn compared(relation: &Relation, projection: &Projection, key: &[u8]) -> Result<Vec<Compared>> {
    let types: Vec<CanonicalType> = projection.key.iter().map(|part| part.target.canonical.clone()).collect();
    let values = decode_key(&types, key)?;
    if values.len() != projection.key.len() {
        return Err(Error::internal("a bound has another number of parts than the key"));
    }
    let sortings: Vec<Sorting> = order::sortings(relation, projection)?;
    let mut list = Vec::with_capacity(values.len());
    for ((projected, sorting), value) in projection.key.iter().zip(sortings).zip(&values) {
        let wire = &relation.facts(projected)?.wire;
        let expression = order::expression(relation, projected, sorting)?;
        let part = part(wire, sorting, value).map_err(|error| error.in_column(projected.name.as_str()))?;
        list.push(Compared { expression, nullable: relation.nullable(projected), part });
    }
    Ok(list)
}

#[cfg(test)]
#[path = "predicate_tests.rs"]
mod tests;
