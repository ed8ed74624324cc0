//! Range predicates: canonical key bounds as SQL that is true for exactly the rows of the range, NULLs included.

use super::{
    order::{self, Sorting},
    relation::Relation,
};
use crate::{
    encode::{decode_key, encode_key, render},
    model::{CanonicalType, Decimal, Error, KeyRange, Projection, Result, Value},
};
use rusqlite::types::Value as SqlValue;

/// One part of a bound, as the column can be compared with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// NULL, which sorts first.
    Null,
    /// A value that a cell can be.
    Exact(SqlValue),
    /// A value that no cell can be: this is the smallest one above it that one can.
    Above(SqlValue),
    /// Above all values of the column.
    Highest,
}

/// Where NULL can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nulls {
    /// The column may hold NULL.
    Declared,
    /// The column is said to hold none. A test that the planner cannot answer from what the schema says is cheap behind
    /// other columns.
    Denied,
    /// There is none, or a [`Guard`] has asked for it.
    Ruled,
}

/// A key column and its part of a bound.
#[derive(Clone, Debug)]
struct Compared {
    expression: String,
    /// The column without a collation.
    column: String,
    nulls: Nulls,
    part: Part,
    /// The placeholder of the part's value.
    place: String,
}

const FALSE: &str = "0";
const TRUE: &str = "1";

impl Compared {
    fn not_null(&self) -> String {
        match self.nulls {
            Nulls::Declared => format!("{} IS NOT NULL", self.column),
            Nulls::Denied => format!("typeof({}) <> 'null'", self.column),
            Nulls::Ruled => TRUE.to_owned(),
        }
    }

    fn is_null(&self) -> String {
        match self.nulls {
            Nulls::Declared => format!("{} IS NULL", self.column),
            Nulls::Denied => format!("typeof({}) = 'null'", self.column),
            Nulls::Ruled => FALSE.to_owned(),
        }
    }

    /// The column is above the part.
    fn above(&self) -> String {
        match &self.part {
            Part::Null => self.not_null(),
            Part::Exact(_) => format!("{} > {}", self.expression, self.place),
            Part::Above(_) => format!("{} >= {}", self.expression, self.place),
            Part::Highest => FALSE.to_owned(),
        }
    }

    /// The column is below the part.
    fn below(&self) -> String {
        match &self.part {
            Part::Null => FALSE.to_owned(),
            Part::Exact(_) | Part::Above(_) => {
                either(&format!("{} < {}", self.expression, self.place), &self.is_null())
            }
            Part::Highest => TRUE.to_owned(),
        }
    }

    fn equal(&self) -> String {
        match &self.part {
            Part::Null => self.is_null(),
            Part::Exact(_) => format!("{} = {}", self.expression, self.place),
            Part::Above(_) | Part::Highest => FALSE.to_owned(),
        }
    }
}

fn either(one: &str, other: &str) -> String {
    match (one, other) {
        (TRUE, _) | (_, TRUE) => TRUE.to_owned(),
        (FALSE, some) | (some, FALSE) => some.to_owned(),
        _ => format!("({one} OR {other})"),
    }
}

fn both(one: &str, other: &str) -> String {
    match (one, other) {
        (FALSE, _) | (_, FALSE) => FALSE.to_owned(),
        (TRUE, some) | (some, TRUE) => some.to_owned(),
        _ => format!("({one} AND {other})"),
    }
}

/// The key is at or above the bound (`lower`), or below it.
///
/// Row values are not used: a comparison of them is NULL, and so false, where a part that decides is NULL.
fn bound(parts: &[Compared], lower: bool) -> String {
    // From the last part to the first: beyond, or equal and the rest holds.
    let mut sql = if lower { TRUE.to_owned() } else { FALSE.to_owned() };
    for part in parts.iter().rev() {
        if lower && sql == TRUE {
            // All that is left is to be at or above this part.
            sql = match &part.part {
                Part::Null => TRUE.to_owned(),
                Part::Exact(_) => format!("{} >= {}", part.expression, part.place),
                _ => part.above(),
            };
            continue;
        }
        let beyond = if lower { part.above() } else { part.below() };
        sql = either(&beyond, &both(&part.equal(), &sql));
    }
    // Redundant, but an index can serve it.
    match parts {
        [first, _, ..] => match (&first.part, lower) {
            (Part::Exact(_), true) => both(&format!("{} >= {}", first.expression, first.place), &sql),
            (Part::Exact(_), false) if first.nulls == Nulls::Ruled => {
                both(&format!("{} <= {}", first.expression, first.place), &sql)
            }
            _ => sql,
        },
        _ => sql,
    }
}

/// A predicate and the values of its placeholders.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Predicate {
    /// `None` for the whole key space.
    pub(super) sql: Option<String>,
    pub(super) params: Vec<SqlValue>,
}

/// The predicate of `range`.
pub(super) fn range(relation: &Relation, projection: &Projection, range: &KeyRange) -> Result<Predicate> {
    let mut params = Vec::new();
    let mut sides = Vec::new();
    let mut leading_null = true;
    for (key, lower) in [(&range.lower, true), (&range.upper, false)] {
        let Some(key) = key else { continue };
        let mut parts = compared(relation, projection, key, &mut params)?;
        if let Some(first) = parts.first_mut() {
            // Where the lower bound has left no NULL in the leading column, the upper one need not let it in: so an
            // index serves both.
            if !leading_null {
                first.nulls = Nulls::Ruled;
            }
            leading_null = first.part == Part::Null;
        }
        let side = bound(&parts, lower);
        if side != TRUE {
            sides.push(side);
        }
    }
    Ok(Predicate { sql: (!sides.is_empty()).then(|| sides.join(" AND ")), params })
}

/// A query that proves that a range predicate loses no row: where the schema says NOT NULL, the leading column is
/// compared as if it held none. The schema may be wrong (constraints written over it, damage). NULL stands at the start
/// of an index, so that asking for the first value costs one descent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    /// The column that must not hold NULL.
    pub(super) column: String,
    /// Returns no row, or the storage class of the smallest value.
    pub(super) sql: String,
}

/// What must be asked before `range` is read; once a run is enough, before the first range.
pub(super) fn guard(relation: &Relation, projection: &Projection, range: &KeyRange) -> Result<Option<Guard>> {
    let Some(first) = projection.key.first() else { return Ok(None) };
    if range.lower.is_some() || range.upper.is_none() || relation.nullable(first) || relation.facts(first)?.is_rowid {
        return Ok(None);
    }
    let sortings = order::sortings(relation, projection)?;
    let sorting = sortings.first().copied().unwrap_or(Sorting::Native);
    let expression = order::expression(relation, first, sorting);
    let column = relation.expression(&first.name);
    let sql = format!("SELECT typeof({column}) FROM {} ORDER BY {expression} LIMIT 1", relation.from);
    Ok(Some(Guard { column: first.name.clone(), sql }))
}

fn compared(
    relation: &Relation,
    projection: &Projection,
    key: &[u8],
    params: &mut Vec<SqlValue>,
) -> Result<Vec<Compared>> {
    let types: Vec<CanonicalType> = projection.key.iter().map(|part| part.target.canonical.clone()).collect();
    let values = decode_key(&types, key)?;
    if values.len() != projection.key.len() {
        return Err(Error::internal("a bound has another number of parts than the key"));
    }
    let sortings = order::sortings(relation, projection)?;
    let mut list = Vec::with_capacity(values.len());
    for (index, ((projected, sorting), value)) in projection.key.iter().zip(sortings).zip(&values).enumerate() {
        let part = part(sorting, value).map_err(|error| error.in_column(projected.name.as_str()))?;
        if let Part::Exact(value) | Part::Above(value) = &part {
            params.push(value.clone());
        }
        let nulls = if relation.facts(projected)?.is_rowid {
            Nulls::Ruled
        } else if relation.nullable(projected) {
            Nulls::Declared
        } else if index > 0 {
            Nulls::Denied
        } else {
            Nulls::Ruled
        };
        list.push(Compared {
            expression: order::expression(relation, projected, sorting),
            column: relation.expression(&projected.name),
            nulls,
            part,
            place: format!("?{}", params.len()),
        });
    }
    Ok(list)
}

/// A bound's value as the column can be compared with it.
pub(super) fn part(sorting: Sorting, value: &Value) -> Result<Part> {
    Ok(match (sorting, value) {
        (_, Value::Null) => Part::Null,
        (Sorting::Native, Value::Number(number)) => number_part(number)?,
        // The library has no NaN: it stores NULL.
        (Sorting::Native, Value::Float(float)) if float.is_nan() => Part::Highest,
        (Sorting::Native, Value::Float(float)) => Part::Exact(SqlValue::Real(*float)),
        (Sorting::Native, Value::Binary(bytes)) => Part::Exact(SqlValue::Blob(bytes.clone())),
        (Sorting::Bytes, Value::Text(text)) => Part::Exact(SqlValue::Text(text.clone())),
        _ => return Err(Error::internal("a bound is not of the type of its key column")),
    })
}

/// From here on every float is a whole number.
const WHOLE_FLOATS: u64 = 1 << 53;

/// A number as a column of whole numbers and floats can be compared with it, exactly: both are compared by value.
fn number_part(number: &Decimal) -> Result<Part> {
    let (negative, exponent, digits) = match number {
        Decimal::NaN => return Ok(Part::Highest),
        Decimal::PositiveInfinity => return Ok(Part::Exact(SqlValue::Real(f64::INFINITY))),
        Decimal::NegativeInfinity => return Ok(Part::Exact(SqlValue::Real(f64::NEG_INFINITY))),
        Decimal::Finite { negative, exponent, digits } => (*negative, *exponent, digits),
    };
    if let Some((whole, fraction)) = whole_part(exponent, digits) {
        let signed = if negative { -whole } else { whole };
        if let Ok(signed) = i64::try_from(signed)
            && !fraction
        {
            return Ok(Part::Exact(SqlValue::Integer(signed)));
        }
        // Between two whole numbers, where floats have no fractions: the next one above serves both.
        if whole >= i128::from(WHOLE_FLOATS)
            && let Ok(next) = i64::try_from(signed + i128::from(!negative))
        {
            return Ok(Part::Above(SqlValue::Integer(next)));
        }
    }
    // Small fractions, or beyond all 64-bit numbers: no whole number lies between the value and the next float above it.
    let at_least = float_at_least(number)?;
    let exact = encode(&Value::Float(at_least))? == encode(&Value::Number(number.clone()))?;
    Ok(if exact { Part::Exact(SqlValue::Real(at_least)) } else { Part::Above(SqlValue::Real(at_least)) })
}

/// The digits before the point as a number, if they are few, and whether others follow.
fn whole_part(exponent: i32, digits: &[u8]) -> Option<(i128, bool)> {
    if exponent > 10 {
        return None;
    }
    let places = usize::try_from(exponent).unwrap_or(0);
    let whole =
        (0..places).fold(0_i128, |whole, place| whole * 100 + i128::from(digits.get(place).copied().unwrap_or(0)));
    Some((whole, digits.len() > places))
}

fn encode(value: &Value) -> Result<Vec<u8>> {
    encode_key(&[CanonicalType::Number], std::slice::from_ref(value))
}

/// The smallest float that is not below `number`.
fn float_at_least(number: &Decimal) -> Result<f64> {
    let value = Value::Number(number.clone());
    let text = render(&CanonicalType::Number, &value).unwrap_or_default();
    let nearest: f64 = text.parse().map_err(|_| Error::internal("converting a bound to a float: not understood"))?;
    // The bytes of numbers sort as the numbers do.
    Ok(if encode(&Value::Float(nearest))? < encode(&value)? { nearest.next_up() } else { nearest })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "predicate_tests.rs"]
mod tests;
