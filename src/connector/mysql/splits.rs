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

/// Probes for each range and round, each two descents of the index.
const PROBES_PER_PART: usize = 4;
/// Probes of a round at most; bounds time.
const PROBES_MAX: usize = 1024;
/// Rounds of probes: the first one sees the large gaps, the others look into what lies between them.
const ROUNDS: usize = 3;
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
    let descending = order::descending_clause(relation, key)?;
    let first = keys(read(format!("{select}{order} LIMIT 1")), key).await?;
    let last = keys(read(format!("{select}{descending} LIMIT 1")), key).await?;
    let (Some(first), Some(last)) = (first.first(), last.first()) else { return Ok(Vec::new()) };
    let types: Vec<CanonicalType> = key.key.iter().map(|part| part.target.canonical.clone()).collect();
    let leading_value =
        |key: &[u8]| -> Result<Value> { Ok(decode_key(&types, key)?.into_iter().next().unwrap_or(Value::Null)) };
    let (low, high) = (leading_value(first)?, leading_value(last)?);
    let (Some(axis), Some(leading)) = (Axis::of(&low, &high), key.key.first()) else { return Ok(Vec::new()) };
    let sorting = order::sortings(relation, key)?;
    let Some(sorting) = sorting.first() else { return Ok(Vec::new()) };
    let expression = order::expression(relation, leading, *sorting)?;
    let wire = relation.wire(leading)?;
    let mut found = vec![first.clone(), last.clone()];
    let mut probed: Vec<i128> = Vec::new();
    for _ in 0..ROUNDS {
        let places = found.iter().map(|key| Ok(axis.place(&leading_value(key)?))).collect::<Result<Vec<_>>>()?;
        let places: Vec<i128> = places.into_iter().flatten().collect();
        let next = probes(&places, &probed, parts.saturating_mul(PROBES_PER_PART).min(PROBES_MAX));
        let mut asked = Vec::new();
        for place in next {
            probed.push(place);
            let Some(value) = axis.value(place) else { continue };
            if let Part::Exact(literal) | Part::Above(literal) =
                literal::part(wire, *sorting, relation.timestamp_max, &value)?
            {
                asked.push(format!("({select} WHERE {expression} >= {literal}{order} LIMIT 1)"));
                asked.push(format!("({select} WHERE {expression} < {literal}{descending} LIMIT 1)"));
            }
        }
        if asked.is_empty() {
            break;
        }
        for some in asked.chunks(PROBES_AT_ONCE) {
            found.extend(keys(read(some.join(" UNION ALL ")), key).await?);
        }
        found.sort_unstable();
        found.dedup();
        probed.sort_unstable();
    }
    Ok(evenly(&found, parts))
}

/// Where to look next: half of `count` at even steps over all spans that may hold keys, half in equal shares to each of
/// them. Between two keys that were found there is nothing if a probe fell there, since it finds both its neighbours.
fn probes(places: &[i128], probed: &[i128], count: usize) -> Vec<i128> {
    let spans: Vec<(i128, i128)> = places
        .windows(2)
        .filter_map(|pair| match *pair {
            [low, high] if high.saturating_sub(low) > 1 => {
                let after = probed.partition_point(|probe| *probe <= low);
                let empty = probed.get(after).is_some_and(|probe| *probe <= high);
                (!empty).then_some((low, high))
            }
            _ => None,
        })
        .collect();
    let total = spans.iter().fold(0_i128, |total, (low, high)| total.saturating_add(high.saturating_sub(*low))).max(1);
    let count = count as i128;
    let each = count / 2 / (spans.len() as i128).max(1);
    let mut next = Vec::new();
    for (low, high) in spans {
        let length = high - low;
        let share = length.saturating_mul(count) / 2 / total;
        let wanted = (each + share).clamp(1, count);
        next.extend(
            (1..=wanted).map(|step| low + (length / (wanted + 1)) * step + length % (wanted + 1) * step / (wanted + 1)),
        );
    }
    next.sort_unstable();
    next.dedup();
    next
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

/// The values of a column as whole numbers, to step evenly between them.
enum Axis {
    Number,
    Date,
    Timestamp,
    Instant,
    /// The eight bytes behind those that both ends share.
    Binary(Vec<u8>),
    Uuid(Vec<u8>),
}

impl Axis {
    /// The axis from `low` to `high`; `None` for types without an arithmetic.
    fn of(low: &Value, high: &Value) -> Option<Self> {
        let shared = |low: &[u8], high: &[u8]| {
            let count = low.iter().zip(high).take_while(|(one, other)| one == other).count();
            low[..count].to_vec()
        };
        Some(match (low, high) {
            (Value::Number(_), Value::Number(_)) => Self::Number,
            (Value::Date(_), Value::Date(_)) => Self::Date,
            (Value::Timestamp(_), Value::Timestamp(_)) => Self::Timestamp,
            (Value::Instant(_), Value::Instant(_)) => Self::Instant,
            (Value::Binary(low), Value::Binary(high)) => Self::Binary(shared(low, high)),
            (Value::Uuid(low), Value::Uuid(high)) => Self::Uuid(shared(low, high)),
            _ => return None,
        })
    }

    /// Where a value lies.
    fn place(&self, value: &Value) -> Option<i128> {
        let tail = |shared: &[u8], bytes: &[u8]| {
            let mut eight = [0_u8; 8];
            eight.iter_mut().zip(bytes.get(shared.len()..)?).for_each(|(target, byte)| *target = *byte);
            Some(i128::from(u64::from_be_bytes(eight)))
        };
        match (self, value) {
            (Self::Number, Value::Number(number)) => whole(number),
            // Twelve months of thirty-one days.
            (Self::Date, Value::Date(DateValue::Day(year, month, day))) => {
                Some(i128::from(*year) * 372 + i128::from(month.max(&1) - 1) * 31 + i128::from(day.max(&1) - 1))
            }
            (Self::Timestamp, Value::Timestamp(TimestampValue::Finite(seconds, _)))
            | (Self::Instant, Value::Instant(TimestampValue::Finite(seconds, _))) => Some(i128::from(*seconds)),
            (Self::Binary(shared), Value::Binary(bytes)) => tail(shared, bytes),
            (Self::Uuid(shared), Value::Uuid(bytes)) => tail(shared, bytes),
            _ => None,
        }
    }

    /// The value at a place.
    fn value(&self, place: i128) -> Option<Value> {
        let bytes =
            |shared: &[u8]| -> Option<Vec<u8>> { Some([shared, &u64::try_from(place).ok()?.to_be_bytes()].concat()) };
        Some(match self {
            Self::Number => Value::Number(number(place)),
            Self::Date => {
                let month = u8::try_from(place.rem_euclid(372) / 31 + 1).ok()?;
                // Every month has twenty-eight days.
                let day = u8::try_from(place.rem_euclid(372) % 31 + 1).ok()?.min(28);
                Value::Date(DateValue::Day(i32::try_from(place.div_euclid(372)).ok()?, month, day))
            }
            Self::Timestamp => Value::Timestamp(TimestampValue::Finite(i64::try_from(place).ok()?, 0)),
            Self::Instant => Value::Instant(TimestampValue::Finite(i64::try_from(place).ok()?, 0)),
            Self::Binary(shared) => Value::Binary(bytes(shared)?),
            Self::Uuid(shared) => {
                let mut uuid = [0; 16];
                uuid.iter_mut().zip(bytes(shared)?).for_each(|(target, byte)| *target = byte);
                Value::Uuid(uuid)
            }
        })
    }
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
    fn values_have_places() {
        let low = Value::Binary(vec![7, 0]);
        let high = Value::Binary(vec![7, 128]);
        let axis = Axis::of(&low, &high);
        let place = axis.as_ref().and_then(|axis| axis.place(&high));
        assert_eq!(place, Some(128 << 56));
        let middle = axis.and_then(|axis| axis.value(64 << 56));
        assert_eq!(middle, Some(Value::Binary(vec![7, 64, 0, 0, 0, 0, 0, 0, 0])));
        for value in [-100, 0, 18_446_744_073_709_551_615] {
            assert_eq!(Axis::Number.value(value).and_then(|found| Axis::Number.place(&found)), Some(value));
        }
        let day = Value::Date(DateValue::Day(2024, 2, 28));
        assert_eq!(Axis::Date.place(&day).and_then(|place| Axis::Date.value(place)), Some(day));
    }

    #[test]
    fn probes_leave_out_what_is_empty() {
        assert_eq!(probes(&[0, 100], &[], 4), [20, 40, 60, 80]);
        // Nothing lies between 10 and 90, where a probe at 50 found both.
        let next = probes(&[0, 10, 90, 100], &[50], 4);
        assert!(!next.is_empty() && next.iter().all(|probe| *probe <= 10 || *probe > 90), "{next:?}");
        assert_eq!(probes(&[5, 6, 7], &[], 8), Vec::<i128>::new());
    }
}
