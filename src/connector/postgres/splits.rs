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
/// Sampled pages at least: rows of one page often have neighbouring keys, so pages count rather than rows.
const PAGES_MIN: u64 = 400;
/// Sampled rows at most; bounds time and memory.
const SAMPLE_ROWS_MAX: u64 = 200_000;
/// A table of at most this many rows is read whole.
const SMALL_ROWS: u64 = 20_000;
/// Batches of the sample.
pub(super) const SAMPLE_BATCH_BYTES: usize = 256 * 1024;

/// The query that samples keys; `None` where sampling does not work.
pub(super) fn sample_sql(relation: &Relation, key: &Projection, parts: usize) -> Result<Option<String>> {
    if key.key.is_empty() || parts < 2 || !relation.source.can_sample {
        return Ok(None);
    }
    let pages = relation.source.pages.unwrap_or(0);
    // Where nothing was counted yet: rows of about a hundred bytes.
    let rows = relation.schema.rows_estimate.unwrap_or(pages.saturating_mul(80)).max(1);
    let wanted = (parts as u64).saturating_mul(ROWS_PER_PART).min(SAMPLE_ROWS_MAX);
    let sample = if rows <= wanted.max(SMALL_ROWS) {
        String::new()
    } else {
        // In millionths of the table, so that no float stands in SQL.
        let share = |part: u64, whole: u64| part.saturating_mul(1_000_000) / whole.max(1) + 1;
        let millionths = share(wanted, rows).max(share(PAGES_MIN, pages)).min(share(SAMPLE_ROWS_MAX, rows));
        if millionths >= 1_000_000 {
            String::new()
        } else {
            format!(" TABLESAMPLE SYSTEM ({}.{:04}) REPEATABLE (1)", millionths / 10_000, millionths % 10_000)
        }
    };
    Ok(Some(format!(
        "COPY (SELECT {} FROM {}{sample}{} LIMIT {}) TO STDOUT (FORMAT binary)",
        relation.select_list(key)?,
        relation.source.from,
        relation.condition(None),
        SAMPLE_ROWS_MAX * 2,
    )))
}

/// Evenly spaced keys of the sample: at most `parts - 1`, ascending, distinct.
pub(super) async fn cuts(rows: RowStream, key: &Projection, parts: usize) -> Result<Vec<Vec<u8>>> {
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
