//! Split points from the keys: all of them of a small table, else those of rows that are evenly spaced by their number.

use super::relation::Relation;
use crate::{
    connector::RowStream,
    encode::{EncodedBatch, RowLayout, RowWriter},
    model::{Projection, Result},
};
use futures::TryStreamExt;

/// A table of at most this many rows is read whole.
const SMALL_ROWS: u64 = 20_000;
/// Probes for each range: enough for ranges that differ by a tenth or so.
const PROBES_PER_PART: u64 = 200;
/// Probes at most; each is one descent of the table.
const PROBES_MAX: u64 = 50_000;
/// Keys that are kept of a table whose rows have no number.
const KEPT_MAX: usize = 1 << 16;
/// Batches of the sample.
pub(super) const SAMPLE_BATCH_BYTES: usize = 256 * 1024;

/// How keys are sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sampling {
    /// Not at all: views and queries may cost as much as a read.
    None,
    /// All keys are read.
    Whole,
    /// The keys of some rows, by this query.
    Probes(String),
}

/// Decides how the keys are sampled. Depends on the table alone.
pub(super) fn plan(relation: &Relation, key: &Projection, parts: usize) -> Result<Sampling> {
    if relation.rowid.is_none() && relation.indexes.is_empty() {
        return Ok(Sampling::None);
    }
    let (Some(rowid), Some((low, high))) = (&relation.rowid, relation.rowids) else { return Ok(Sampling::Whole) };
    let span = high.abs_diff(low);
    let wanted = (parts as u64).saturating_mul(PROBES_PER_PART).min(PROBES_MAX);
    if relation.rows.unwrap_or(span) <= wanted.max(SMALL_ROWS) {
        return Ok(Sampling::Whole);
    }
    // Whole steps from the lowest number on: the last probe may fall short of the highest one by a step.
    let step = (span / wanted).max(1);
    let from = &relation.from;
    Ok(Sampling::Probes(format!(
        "WITH RECURSIVE probe(place, number) AS (SELECT 0, {low} UNION ALL \
         SELECT place + 1, number + {step} FROM probe WHERE place < {}) \
         SELECT DISTINCT {} FROM probe CROSS JOIN {from} ON {} = (SELECT min({rowid}) FROM {from} WHERE {rowid} >= number)",
        wanted - 1,
        relation.select_list(key)?,
        format_args!("{}.{rowid}", relation.qualifier),
    )))
}

/// Evenly spaced keys: at most `parts - 1`, ascending, distinct.
pub(super) async fn cuts(rows: RowStream, key: &Projection, parts: usize) -> Result<Vec<Vec<u8>>> {
    let layout = RowLayout::new(key)?;
    let mut batch = EncodedBatch::new();
    let mut keys: Vec<Vec<u8>> = Vec::new();
    // Of many keys every second one is kept, then every fourth, and so on.
    let (mut seen, mut stride) = (0_usize, 1_usize);
    futures::pin_mut!(rows);
    while let Some(native) = rows.try_next().await? {
        batch.clear();
        native.encode(&mut RowWriter::new(&layout, &mut batch))?;
        for index in 0..batch.len() {
            if seen.is_multiple_of(stride) {
                keys.push(batch.record(index).key.to_vec());
            }
            seen += 1;
            if keys.len() >= KEPT_MAX {
                stride *= 2;
                let mut place = 0_usize;
                keys.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
            }
        }
    }
    keys.sort_unstable();
    Ok(evenly(&keys, parts))
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

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn cuts_are_even_and_distinct() {
        let keys: Vec<Vec<u8>> = (0..8).map(|key| vec![key]).collect();
        assert_eq!(evenly(&keys, 4), [[2], [4], [6]]);
        assert_eq!(evenly(&keys, 1), Vec::<Vec<u8>>::new());
        assert_eq!(evenly(&[], 4), Vec::<Vec<u8>>::new());
        assert_eq!(evenly(&[vec![1], vec![1], vec![1], vec![2]], 4), [[2]]);
    }
}
