//! Split points from a sample of the keys.

use super::relation::Relation;
use crate::{
    connector::RowStream,
    encode::{EncodedBatch, RowLayout, RowWriter},
    model::{Projection, Result},
};
use futures::TryStreamExt;

/// Sampled rows for each range: enough for ranges that differ by a tenth or so.
const ROWS_PER_PART: u64 = 200;
/// Sampled rows at least: rows of one page often have neighbouring keys, so there must be pages enough.
const SAMPLE_ROWS_MIN: u64 = 40_000;
/// Sampled rows at most; bounds time and memory.
const SAMPLE_ROWS_MAX: u64 = 200_000;
/// Batches of the sample.
pub(super) const SAMPLE_BATCH_BYTES: usize = 256 * 1024;

/// The query that samples keys; `None` where sampling does not work.
pub(super) fn sample_sql(relation: &Relation, key: &Projection, parts: usize) -> Result<Option<String>> {
    if key.key.is_empty() || parts < 2 || !relation.source.can_sample {
        return Ok(None);
    }
    let Some(rows) = relation.schema.rows_estimate else { return Ok(None) };
    let wanted = (parts as u64).saturating_mul(ROWS_PER_PART).clamp(SAMPLE_ROWS_MIN, SAMPLE_ROWS_MAX);
    // Whole pages, the same ones each time while the table does not change.
    let sample = match rows {
        rows if rows <= wanted => String::new(),
        _ if relation.abilities.genuine => format!(" TABLESAMPLE SYSTEM ({wanted} ROWS) REPEATABLE (1)"),
        _ => return Ok(None),
    };
    Ok(Some(format!(
        // An estimate that is far too small must not fill the memory.
        "SELECT TOP ({}) {} FROM {}{sample}{}",
        SAMPLE_ROWS_MAX * 2,
        relation.select_list(key)?,
        relation.source.from,
        relation.condition(None),
    )))
}

/// Evenly spaced keys of the sample: at most `parts - 1`, ascending, distinct.
pub(super) async fn cuts(mut rows: RowStream, key: &Projection, parts: usize) -> Result<Vec<Vec<u8>>> {
    let layout = RowLayout::new(key)?;
    let mut batch = EncodedBatch::new();
    let mut keys: Vec<Vec<u8>> = Vec::new();
    while let Some(native) = rows.try_next().await? {
        batch.clear();
        native.encode(&mut RowWriter::new(&layout, &mut batch))?;
        keys.extend((0..batch.len()).map(|index| batch.record(index).key.to_vec()));
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
