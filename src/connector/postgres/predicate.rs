//! Range predicates: canonical key bounds as SQL that is true for exactly the rows of the range, NULLs included.

use super::{
    order::{self, Sorting},
    relation::Relation,
    types::Wire,
};
use crate::{
    encode::decode_key,
    model::{CanonicalType, DateValue, Decimal, Error, ErrorKind, KeyRange, Projection, Result, TimestampValue, Value},
};
use std::fmt::Write as _;

/// One part of a bound, as the column can be compared with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// NULL, which sorts first.
    Null,
    /// A value that the column can hold.
    Exact(String),
    /// A value that the column cannot hold: the literal is the smallest one above it that it can.
    Above(String),
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

const FALSE: &str = "false";
const TRUE: &str = "true";

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
            Part::Exact(literal) => format!("{} > {literal}", self.expression),
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
            Part::Highest => TRUE.to_owned(),
        }
    }

    fn equal(&self) -> String {
        match &self.part {
            Part::Null => self.is_null(),
            Part::Exact(literal) => format!("{} = {literal}", self.expression),
            Part::Above(_) | Part::Highest | Part::Lowest => FALSE.to_owned(),
        }
    }
}

/// The key is at or above the bound (`lower`), or below it.
pub(super) fn bound(parts: &[Compared], lower: bool) -> String {
    // A row comparison is NULL, and so false, where a part that decides is NULL: NULL sorts first, so that is right for
    // a lower bound and wrong for an upper one.
    let plain = parts.iter().all(|part| (lower || !part.nullable) && matches!(part.part, Part::Exact(_)));
    if plain {
        let columns: Vec<&str> = parts.iter().map(|part| part.expression.as_str()).collect();
        let literals: Vec<&str> = parts
            .iter()
            .filter_map(|part| if let Part::Exact(literal) = &part.part { Some(literal.as_str()) } else { None })
            .collect();
        let operator = if lower { ">=" } else { "<" };
        return if parts.len() == 1 {
            format!("{} {operator} {}", columns.join(""), literals.join(""))
        } else {
            format!("({}) {operator} ({})", columns.join(", "), literals.join(", "))
        };
    }
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
    let (lower, mut upper) = (side(&range.lower)?, side(&range.upper)?);
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
    Ok((!parts.is_empty()).then(|| parts.join(" AND ")))
}

/// A query that proves that a range predicate loses no row.
///
/// Where the catalog says NOT NULL, range predicates and `ORDER BY` are written without NULLs, since these would cost the
/// index. The catalog may be wrong (constraints that were never validated, edited catalogs, damage), and a row whose
/// key holds NULL would then be in no range and never be read. `EXISTS (... k IS NULL)` proves nothing: servers since
/// `PostgreSQL` 17 answer it from the catalog. But NULL has a place in an index in any case, the end. So the last value
/// is asked for, which costs one descent of the index that the range is read by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    /// The column that must not hold NULL.
    pub(super) column: String,
    /// Returns no row, or one whose only field is NULL if the column holds NULL.
    pub(super) sql: String,
}

/// What must be asked before `range` is read. All ranges of a run together cover every place where NULL could hide.
pub(super) fn guards(relation: &Relation, projection: &Projection, range: &KeyRange) -> Result<Vec<Guard>> {
    let Some(upper) = &range.upper else { return Ok(Vec::new()) };
    let parts = compared(relation, projection, upper)?;
    let columns: Vec<&str> = projection.key.iter().map(|projected| projected.name.as_str()).collect();
    Ok(guards_of(&parts, &columns, &relation.source.from, range.lower.is_none()))
}

/// A comparison with the bound is NULL where a column is NULL and all columns before it equal the bound: that is where
/// to look. The leading column has no columns before it, so that once a run (the `first` range) is enough.
fn guards_of(parts: &[Compared], columns: &[&str], from: &str, first: bool) -> Vec<Guard> {
    let mut guards = Vec::new();
    let mut prefix: Vec<String> = Vec::new();
    for (part, column) in parts.iter().zip(columns) {
        if !part.nullable && (first || !prefix.is_empty()) {
            let condition = if prefix.is_empty() { String::new() } else { format!(" WHERE {}", prefix.join(" AND ")) };
            let expression = &part.expression;
            let sql = format!("SELECT ({expression})::text FROM {from}{condition} ORDER BY {expression} DESC LIMIT 1");
            guards.push(Guard { column: (*column).to_owned(), sql });
        }
        let equal = part.equal();
        if equal == FALSE {
            break;
        }
        prefix.push(equal);
    }
    guards
}

fn compared(relation: &Relation, projection: &Projection, key: &[u8]) -> Result<Vec<Compared>> {
    let types: Vec<CanonicalType> = projection.key.iter().map(|part| part.target.canonical.clone()).collect();
    let values = decode_key(&types, key)?;
    if values.len() != projection.key.len() {
        return Err(Error::internal("a bound has another number of parts than the key"));
    }
    let sortings = order::sortings(relation, projection)?;
    let mut list = Vec::with_capacity(values.len());
    for ((projected, sorting), value) in projection.key.iter().zip(sortings).zip(&values) {
        let wire = &relation.facts(projected)?.wire;
        let mut expression = order::expression(relation, projected, sorting);
        // No operator compares these with what a bound may be.
        match wire {
            Wire::Oid => expression.push_str("::bigint"),
            Wire::Money(_) => expression.push_str("::numeric"),
            _ => {}
        }
        let part = part(wire, sorting, value).map_err(|error| error.in_column(projected.name.as_str()))?;
        list.push(Compared { expression, nullable: relation.nullable(projected), part });
    }
    Ok(list)
}

fn unfit() -> Error {
    Error::new(ErrorKind::Unsupported, "reading a range: the server has no literal for a bound of this key")
        .hint("use --sort local on this side")
}

/// A bound's value as the column can be compared with it.
pub(super) fn part(wire: &Wire, sorting: Sorting, value: &Value) -> Result<Part> {
    let exact = |text: &str, cast: &str| Ok(Part::Exact(format!("'{text}'::{cast}")));
    match (wire, value) {
        (_, Value::Null) => Ok(Part::Null),
        (
            Wire::Int2 | Wire::Int4 | Wire::Int8 | Wire::Oid | Wire::Numeric(_) | Wire::Money(_),
            Value::Number(number),
        ) => number_part(wire, number),
        (Wire::Float4 | Wire::Float8, Value::Float(float)) => {
            let text = if float.is_nan() {
                "NaN".to_owned()
            } else if float.is_infinite() {
                if *float > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
            } else {
                format!("{float:e}")
            };
            exact(&text, "float8")
        }
        (Wire::Bool, Value::Bool(flag)) => Ok(Part::Exact(flag.to_string())),
        (Wire::Date, Value::Date(date)) => match date {
            DateValue::NegativeInfinity => exact("-infinity", "date"),
            DateValue::PositiveInfinity => exact("infinity", "date"),
            DateValue::Day(year, month, day) if *month > 0 && *day > 0 && (-4712..=5_874_897).contains(year) => {
                exact(&day_text(i64::from(*year), *month, *day, ""), "date")
            }
            DateValue::Day(..) => Err(unfit()),
        },
        (Wire::Time(_), Value::Time(nanos)) => Ok(time_part(*nanos)),
        (Wire::Timestamp(_), Value::Timestamp(moment)) => timestamp_part(*moment, "timestamp", ""),
        (Wire::TimestampTz(_), Value::Instant(moment)) => timestamp_part(*moment, "timestamptz", "+00"),
        (Wire::Uuid, Value::Uuid(bytes)) => exact(&hex(bytes, ""), "uuid"),
        (Wire::Bytea, Value::Binary(bytes)) => exact(&format!("\\x{}", hex(bytes, "")), "bytea"),
        (Wire::Bits(_), Value::Bits(count, bytes)) => exact(&bit_text(*count, bytes), "varbit"),
        (Wire::Mac, Value::Mac(bytes)) => exact(&hex(bytes, ":"), "macaddr"),
        (Wire::Mac8, Value::Mac(bytes)) => exact(&hex(bytes, ":"), "macaddr8"),
        (Wire::Text(_) | Wire::BpChar | Wire::Enum, Value::Text(text)) => Ok(text_part(wire, sorting, text)),
        _ => Err(Error::internal("a bound is not of the type of its key column")),
    }
}

fn number_part(wire: &Wire, number: &Decimal) -> Result<Part> {
    let text = match number {
        Decimal::NaN => "NaN".to_owned(),
        // Types without infinities (before PostgreSQL 14 all of them) have no literal for one either.
        Decimal::PositiveInfinity if !matches!(wire, Wire::Numeric(_)) => return Ok(Part::Highest),
        Decimal::NegativeInfinity if !matches!(wire, Wire::Numeric(_)) => return Ok(Part::Lowest),
        Decimal::PositiveInfinity => "Infinity".to_owned(),
        Decimal::NegativeInfinity => "-Infinity".to_owned(),
        Decimal::Finite { negative, exponent, digits } => {
            if let (Wire::Int2 | Wire::Int4 | Wire::Int8 | Wire::Oid, Some(integer)) = (wire, integer(number)) {
                return Ok(Part::Exact(format!("'{integer}'::bigint")));
            }
            let exponent = i64::from(*exponent) * 2;
            let last = i64::try_from(digits.len()).map_err(|_| unfit())? * 2 - exponent;
            // The server's own limits on digits before and after the point; beyond them a literal would be rounded.
            if exponent > 131_072 || last > 16_383 {
                return Err(unfit());
            }
            let mut text = if *negative { "-0.0".to_owned() } else { "0.0".to_owned() };
            for pair in digits {
                let _ = write!(text, "{pair:02}");
            }
            let _ = write!(text, "e{}", exponent + 1);
            text
        }
    };
    Ok(Part::Exact(format!("'{text}'::numeric")))
}

/// The number as a bigint, if it is one.
fn integer(number: &Decimal) -> Option<i64> {
    let Decimal::Finite { negative, exponent, digits } = number else { return None };
    let places = usize::try_from(*exponent).ok()?;
    if places > 10 || digits.len() > places {
        return None;
    }
    let mut value = 0_i128;
    for place in 0..places {
        value = value * 100 + i128::from(digits.get(place).copied().unwrap_or(0));
    }
    i64::try_from(if *negative { -value } else { value }).ok()
}

/// Text of a day; years before 1 are counted back from 1 BC.
fn day_text(year: i64, month: u8, day: u8, rest: &str) -> String {
    if year > 0 {
        format!("{year:04}-{month:02}-{day:02}{rest}")
    } else {
        format!("{:04}-{month:02}-{day:02}{rest} BC", 1 - year)
    }
}

fn time_part(nanos: i64) -> Part {
    const DAY: i64 = 86_400_000_000_000;
    if nanos < 0 {
        return Part::Lowest;
    }
    if nanos > DAY {
        return Part::Highest;
    }
    let micros = nanos / 1000 + i64::from(nanos % 1000 > 0);
    let seconds = micros / 1_000_000;
    let text =
        format!("'{:02}:{:02}:{:02}.{:06}'::time", seconds / 3600, seconds / 60 % 60, seconds % 60, micros % 1_000_000);
    if nanos % 1000 == 0 { Part::Exact(text) } else { Part::Above(text) }
}

fn timestamp_part(moment: TimestampValue, cast: &str, zone: &str) -> Result<Part> {
    // 4714-11-24 00:00:00 BC and 294277-01-01 00:00:00, the ends of the type.
    const FIRST: i64 = -210_866_803_200;
    const END: i64 = 9_224_318_016_000;
    let (seconds, nanos) = match moment {
        TimestampValue::NegativeInfinity => return Ok(Part::Exact(format!("'-infinity'::{cast}"))),
        TimestampValue::PositiveInfinity => return Ok(Part::Exact(format!("'infinity'::{cast}"))),
        TimestampValue::Partial(..) => return Err(unfit()),
        TimestampValue::Finite(seconds, nanos) => (seconds, nanos),
    };
    let micros = i64::from(nanos / 1000) + i64::from(nanos % 1000 > 0);
    let carried = seconds.saturating_add(micros / 1_000_000);
    if !(FIRST..END).contains(&carried) {
        return Err(unfit());
    }
    let DateValue::Day(year, month, day) = crate::encode::date_from_days(carried.div_euclid(86_400))? else {
        return Err(unfit());
    };
    let of_day = carried.rem_euclid(86_400);
    let clock =
        format!(" {:02}:{:02}:{:02}.{:06}{zone}", of_day / 3600, of_day / 60 % 60, of_day % 60, micros % 1_000_000);
    let text = format!("'{}'::{cast}", day_text(year.into(), month, day, &clock));
    Ok(if nanos % 1000 == 0 { Part::Exact(text) } else { Part::Above(text) })
}

fn text_part(wire: &Wire, sorting: Sorting, text: &str) -> Part {
    let collate = match sorting {
        Sorting::Bytes { collate: false } => "",
        _ => " COLLATE \"C\"",
    };
    // A bare literal would take the column's type for char(n), but `name` cuts what is longer than it can hold.
    let cast = if *wire == Wire::BpChar { "bpchar" } else { "text" };
    let literal = |text: &str| format!("{}::{cast}{collate}", super::sql::literal(text));
    // No text of the server holds a zero byte: what follows `a\0...` first is `a\x01`.
    if let Some(zero) = text.find('\0') {
        return Part::Above(literal(&format!("{}\u{1}", &text[..zero])));
    }
    // char(n) is compared without blanks at the end, and has none in canonical form.
    if *wire == Wire::BpChar && text.ends_with(' ') {
        return Part::Above(literal(&format!("{text}\u{1}")));
    }
    Part::Exact(literal(text))
}

fn hex(bytes: &[u8], between: &str) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(between)
}

fn bit_text(count: u32, bytes: &[u8]) -> String {
    (0..count as usize)
        .map(|bit| if bytes.get(bit / 8).is_some_and(|byte| byte >> (7 - bit % 8) & 1 == 1) { '1' } else { '0' })
        .collect()
}

#[cfg(test)]
#[path = "predicate_tests.rs"]
mod tests;
