//! Split points: the leading key column is probed at even steps between its least and its greatest value.

use super::{literal, position::Pool, predicate::Part};
use super::{
    order,
    relation::Relation,
    stream::{Field, rows},
};
use crate::{
    connector::RowStream,
    encode::{EncodedBatch, RowLayout, RowWriter, decode_key},
    model::{CanonicalType, DateValue, Decimal, Projection, Result, TimestampValue, Value},
};
use futures::TryStreamExt;
use std::sync::Arc;

/// Probes for each range: enough to see gaps, each one descent of the index.
const PROBES_PER_PART: usize = 8;
/// Probes at most; bounds time and the length of a statement.
const PROBES_MAX: usize = 2048;
/// Probes in one statement.
const PROBES_AT_ONCE: usize = 64;
/// A table of at most this many rows is read whole.
const SMALL_ROWS: u64 = 20_000;
/// Rows read of a table that is thought to be small.
const SMALL_ROWS_READ: u64 = 200_000;
/// Batches of the sample.
const SAMPLE_BATCH_BYTES: usize = 256 * 1024;

/// Keys that cut the table into about `parts` ranges: at most `parts - 1`, ascending, distinct.
pub(super) async fn cuts(
    relation: &Relation,
    pool: &Arc<Pool>,
    key: &Projection,
    fields: Arc<[Field]>,
    parts: usize,
) -> Result<Vec<Vec<u8>>> {
    let Some(index) = order::index(relation, key)?.filter(|_| parts > 1 && relation.source.is_table) else {
        return Ok(Vec::new());
    };
    let select = format!("SELECT {} FROM {}", relation.select_list(key)?, relation.from(Some(index)));
    let order = order::clause(relation, key)?;
    let read = |sql: String| rows(Arc::clone(pool), sql, Arc::clone(&fields), SAMPLE_BATCH_BYTES);
    if relation.schema.rows_estimate.is_some_and(|rows| rows <= SMALL_ROWS) {
        let sql = format!("{select}{}{order} LIMIT {SMALL_ROWS_READ}", relation.condition(None));
        return Ok(evenly(&keys(read(sql), key).await?, parts));
    }
    // The filter plays no part: it might let nothing pass, and each probe would then read to the end of the table.
    let descending = order.replace(", ", " DESC, ") + " DESC";
    let first = keys(read(format!("{select}{order} LIMIT 1")), key).await?;
    let last = keys(read(format!("{select}{descending} LIMIT 1")), key).await?;
    let (Some(first), Some(last)) = (first.first(), last.first()) else { return Ok(Vec::new()) };
    let types: Vec<CanonicalType> = key.key.iter().map(|part| part.target.canonical.clone()).collect();
    let (low, high) = (decode_key(&types, first)?, decode_key(&types, last)?);
    let (Some(low), Some(high), Some(leading)) = (low.first(), high.first(), key.key.first()) else {
        return Ok(Vec::new());
    };
    let sorting = order::sortings(relation, key)?;
    let Some(sorting) = sorting.first() else { return Ok(Vec::new()) };
    let expression = order::expression(relation, leading, *sorting)?;
    let wire = relation.wire(leading)?;
    let count = parts.saturating_mul(PROBES_PER_PART).min(PROBES_MAX);
    let mut probes = Vec::new();
    for value in between(low, high, count) {
        if let Part::Exact(literal) | Part::Above(literal) =
            literal::part(wire, *sorting, relation.timestamp_max, &value)?
        {
            probes.push(format!("({select} WHERE {expression} >= {literal}{order} LIMIT 1)"));
        }
    }
    let mut found = Vec::new();
    for some in probes.chunks(PROBES_AT_ONCE) {
        found.extend(keys(read(some.join(" UNION ALL ")), key).await?);
    }
    found.sort_unstable();
    Ok(evenly(&found, parts))
}

async fn keys(rows: RowStream, key: &Projection) -> Result<Vec<Vec<u8>>> {
    let layout = RowLayout::new(key)?;
    let mut batch = EncodedBatch::new();
    let mut keys: Vec<Vec<u8>> = Vec::new();
    futures::pin_mut!(rows);
    while let Some(native) = rows.try_next().await? {
        batch.clear();
        native.encode(&mut RowWriter::new(&layout, &mut batch))?;
        keys.extend((0..batch.len()).map(|index| batch.record(index).key.to_vec()));
    }
    keys.sort_unstable();
    Ok(keys)
}

fn evenly(keys: &[Vec<u8>], parts: usize) -> Vec<Vec<u8>> {
    let mut cuts: Vec<Vec<u8>> =
        (1..parts).filter_map(|part| keys.get(part.checked_mul(keys.len())? / parts).cloned()).collect();
    cuts.dedup();
    // A cut at the smallest key would leave the first range empty.
    if cuts.first() == keys.first() {
        cuts.drain(..cuts.len().min(1));
    }
    cuts
}

/// `count` values at even steps from `low` up to `high`; none for types without an arithmetic.
fn between(low: &Value, high: &Value, count: usize) -> Vec<Value> {
    let steps = |low: i128, high: i128, make: &dyn Fn(i128) -> Option<Value>| -> Vec<Value> {
        let span = high.saturating_sub(low);
        let count = count as i128;
        let mut values: Vec<i128> =
            (0..count).map(|step| low + (span / count) * step + span % count * step / count).collect();
        values.dedup();
        values.into_iter().filter_map(make).collect()
    };
    match (low, high) {
        (Value::Number(low), Value::Number(high)) => match (whole(low), whole(high)) {
            (Some(low), Some(high)) => steps(low, high, &|value| Some(Value::Number(number(value)))),
            _ => Vec::new(),
        },
        (Value::Date(DateValue::Day(low, ..)), Value::Date(DateValue::Day(high, ..))) => {
            // Twelve months of thirty-one days: days that do not exist are left out.
            steps(i128::from(*low) * 372, i128::from(*high) * 372 + 371, &|value| {
                let year = i32::try_from(value.div_euclid(372)).ok()?;
                let month = u8::try_from(value.rem_euclid(372) / 31 + 1).ok()?;
                let day = u8::try_from(value.rem_euclid(31) + 1).ok()?;
                (day <= 28).then_some(Value::Date(DateValue::Day(year, month, day)))
            })
        }
        (Value::Timestamp(TimestampValue::Finite(low, _)), Value::Timestamp(TimestampValue::Finite(high, _))) => {
            steps(i128::from(*low), i128::from(*high), &|value| {
                Some(Value::Timestamp(TimestampValue::Finite(i64::try_from(value).ok()?, 0)))
            })
        }
        (Value::Instant(TimestampValue::Finite(low, _)), Value::Instant(TimestampValue::Finite(high, _))) => {
            steps(i128::from(*low), i128::from(*high), &|value| {
                Some(Value::Instant(TimestampValue::Finite(i64::try_from(value).ok()?, 0)))
            })
        }
        (Value::Binary(low), Value::Binary(high)) => byte_steps(low, high, &steps, &Value::Binary),
        (Value::Uuid(low), Value::Uuid(high)) => byte_steps(low, high, &steps, &|bytes| {
            let mut uuid = [0; 16];
            uuid.iter_mut().zip(bytes).for_each(|(target, byte)| *target = byte);
            Value::Uuid(uuid)
        }),
        _ => Vec::new(),
    }
}

type Steps<'a> = dyn Fn(i128, i128, &dyn Fn(i128) -> Option<Value>) -> Vec<Value> + 'a;

/// Steps over the eight bytes behind what both ends have in common.
fn byte_steps(low: &[u8], high: &[u8], steps: &Steps<'_>, make: &dyn Fn(Vec<u8>) -> Value) -> Vec<Value> {
    let shared = low.iter().zip(high).take_while(|(one, other)| one == other).count();
    let tail = |bytes: &[u8]| {
        let mut eight = [0_u8; 8];
        eight.iter_mut().zip(&bytes[shared..]).for_each(|(target, byte)| *target = *byte);
        i128::from(u64::from_be_bytes(eight))
    };
    steps(tail(low), tail(high), &|value| {
        let mut bytes = low[..shared].to_vec();
        bytes.extend(u64::try_from(value).ok()?.to_be_bytes());
        Some(make(bytes))
    })
}

/// The whole part of a number that is small enough to count with.
fn whole(number: &Decimal) -> Option<i128> {
    let Decimal::Finite { negative, exponent, digits } = number else { return None };
    let places = usize::try_from((*exponent).max(0)).ok().filter(|places| *places <= 15)?;
    let value =
        (0..places).fold(0_i128, |value, place| value * 100 + i128::from(digits.get(place).copied().unwrap_or(0)));
    Some(if *negative { -value } else { value })
}

fn number(value: i128) -> Decimal {
    let mut rest = value.unsigned_abs();
    let mut digits = Vec::new();
    while rest > 0 {
        digits.push(u8::try_from(rest % 100).unwrap_or(0));
        rest /= 100;
    }
    digits.reverse();
    let exponent = i32::try_from(digits.len()).unwrap_or(0);
    while digits.last() == Some(&0) {
        digits.pop();
    }
    Decimal::Finite { negative: value < 0, exponent, digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_even_and_distinct() {
        let keys: Vec<Vec<u8>> = (0..8).map(|key| vec![key]).collect();
        assert_eq!(evenly(&keys, 4), [[2], [4], [6]]);
        assert_eq!(evenly(&[vec![1], vec![1], vec![1], vec![2]], 4), [[2]]);
        assert_eq!(evenly(&[], 4), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn values_between_the_ends() {
        let low = Value::Number(number(-100));
        let high = Value::Number(number(18_446_744_073_709_551_615));
        let found = between(&low, &high, 4);
        assert_eq!(found.len(), 4);
        assert_eq!(found[0], low);
        let Value::Number(third) = &found[2] else { return assert!(found.is_empty()) };
        assert_eq!(whole(third), Some(9_223_372_036_854_775_757));
        let found = between(&Value::Binary(vec![7, 0]), &Value::Binary(vec![7, 128]), 2);
        assert_eq!(found[1], Value::Binary(vec![7, 64, 0, 0, 0, 0, 0, 0, 0]));
    }
}
