//! The merge itself: walks both sides in (key, row) order.
//!
//! Equal records cancel. What is left over of a key is missing or extra with its number of occurrences, and changed when
//! exactly one row is left on each side.

use super::{
    ColumnComparer, DifferenceSink, Feed, MergeSpec, RangeBounds, SideDigests,
    cursor::{Cursor, Tally},
};
use crate::{
    encode::RowLayout,
    model::{Counts, Difference, DifferenceKind, Digest, RangeOutcome, Result, Side, SideTally, Sides},
};
use std::sync::Arc;

/// Compares one range: reads both feeds to their ends.
///
/// Memory: two batches a side, the rows of one key up to `group_bytes_max` a side, and of each feed that gives rows the
/// last ones, for which their guard answers.
///
/// # Errors
/// `Order` if a feed breaks its order or its bounds; whatever the feeds, the sorter or the sink report.
pub fn merge_range<'a>(
    spec: &'a MergeSpec,
    bounds: &RangeBounds,
    feeds: Sides<&'a mut dyn Feed>,
    differences: &mut dyn DifferenceSink,
) -> Result<RangeOutcome> {
    let mut merge = RunningMerge::new(spec, bounds.clone(), feeds);
    Ok(merge.run(bounds.number, u64::MAX, differences)?.0)
}

/// A merge of two feeds that is cut into ranges while it runs.
///
/// Where it is cut depends on the rows of the source alone, not on how they were batched, nor on the sink.
pub struct RunningMerge<'a> {
    spec: &'a MergeSpec,
    source: Cursor<'a>,
    sink: Cursor<'a>,
}

impl<'a> RunningMerge<'a> {
    /// A merge that stands at the start of both feeds, whose keys lie within `bounds`.
    #[must_use]
    pub fn new(spec: &'a MergeSpec, bounds: RangeBounds, feeds: Sides<&'a mut dyn Feed>) -> Self {
        let Sides { source, sink } = feeds;
        let alike = layout_of_both(spec, &*source, &*sink);
        let mut merge = Self {
            spec,
            source: Cursor::new(Side::Source, spec, bounds.clone(), source),
            sink: Cursor::new(Side::Sink, spec, bounds, sink),
        };
        if let Some(layouts) = alike {
            merge.source.read_native(layouts.source);
            merge.sink.read_native(layouts.sink);
        }
        merge
    }

    /// Compares the next range, `number`: it ends before the first key of the source that follows `source_rows` or more
    /// rows of the source, which is returned, or with both feeds (`None`).
    ///
    /// # Errors
    /// As of [`merge_range`]; the merge cannot go on after one.
    pub fn run(
        &mut self,
        number: usize,
        source_rows: u64,
        differences: &mut dyn DifferenceSink,
    ) -> Result<(RangeOutcome, Option<Vec<u8>>)> {
        self.source.enter(number);
        self.sink.enter(number);
        let mut merge = Merge {
            source: &mut self.source,
            sink: &mut self.sink,
            source_rows,
            upper: None,
            digests: SideDigests::new(),
            findings: Findings {
                keyless: self.spec.is_keyless(),
                comparer: ColumnComparer::new(self.spec),
                counts: Counts::default(),
                differences,
                key: Vec::new(),
                left: Sides::default(),
                can_pair: true,
            },
        };
        merge.run()?;
        let upper = merge.upper.take();
        let digests = merge.digests.finish();
        let counts = merge.findings.counts;
        let (changed_by_column, excused_by_column) = merge.findings.comparer.finish();
        let sides = Sides {
            source: side_tally(self.source.tally, digests.source),
            sink: side_tally(self.sink.tally, digests.sink),
        };
        Ok((RangeOutcome { range: number, sides, counts, changed_by_column, excused_by_column }, upper))
    }
}

/// The layouts of the sides, if rows of equal values are the same records on both: then columns can tell that they are
/// equal. Sides that were sorted here, or have no key, come as records.
fn layout_of_both(spec: &MergeSpec, source: &dyn Feed, sink: &dyn Feed) -> Option<Sides<Arc<RowLayout>>> {
    if spec.is_keyless() || spec.rows_sorted.source || spec.rows_sorted.sink {
        return None;
    }
    let (source, sink) = (source.layout()?, sink.layout()?);
    source.writes_as(sink).then(|| Sides::new(Arc::clone(source), Arc::clone(sink)))
}

fn side_tally(tally: Tally, digest: Digest) -> SideTally {
    let Tally { rows, duplicate_keys, surplus_rows, null_key_rows } = tally;
    SideTally { rows, duplicate_keys, surplus_rows, null_key_rows, digest }
}

/// One range of a [`RunningMerge`].
struct Merge<'m, 'a> {
    source: &'m mut Cursor<'a>,
    sink: &'m mut Cursor<'a>,
    /// Rows of the source after which the range ends with the key.
    source_rows: u64,
    /// The first key of the next range, once it is known.
    upper: Option<Vec<u8>>,
    digests: SideDigests,
    findings: Findings<'m>,
}

impl Merge<'_, '_> {
    fn run(&mut self) -> Result<()> {
        loop {
            let source_ready = self.source.ready()?;
            if self.upper.is_none() && source_ready && self.skip_equal_columns()? {
                continue;
            }
            let ready = (source_ready, self.sink.ready()?);
            if self.source.tally.rows >= self.source_rows && self.source.at_new_key() {
                self.upper = self.source.current().map(|record| record.key.to_vec());
            }
            if let Some(upper) = &self.upper {
                // All that may be left of this range are rows of the sink.
                if self.sink.current().is_none_or(|record| record.key >= upper.as_slice()) {
                    return Ok(());
                }
                self.walk_key()?;
                continue;
            }
            match ready {
                (true, true) => {
                    if !self.skip_equal()? {
                        self.walk_key()?;
                    }
                }
                (false, false) => return Ok(()),
                _ => self.walk_key()?,
            }
        }
    }

    /// Passes over rows that have the same values in all columns; whether there were any. Those of the sink are never
    /// encoded: they are the records of the source.
    ///
    /// The last row whose columns are equal stays, since the key of the row after it on the sink is not known: rows of one
    /// key are digested in the order of their bytes, so none may be taken before the next key is seen.
    fn skip_equal_columns(&mut self) -> Result<bool> {
        let at = self.source.at();
        if !self.sink.look_ahead()? {
            return Ok(false);
        }
        let room = usize::try_from(self.source_rows.saturating_sub(self.source.tally.rows)).unwrap_or(usize::MAX);
        let batch = self.source.batch();
        let waiting = self.sink.waiting();
        if waiting.is_some_and(|waiting| waiting.bytes != batch.record(at).bytes) {
            return Ok(false);
        }
        let waits = usize::from(waiting.is_some());
        let from = at + waits;
        let Some((columns, row)) = self.source.columns_of(from) else { return Ok(false) };
        let Some((ahead, rows)) = self.sink.ahead() else { return Ok(false) };
        if from >= batch.len() || !self.sink.may_follow(batch.record(from).key) {
            return Ok(false);
        }
        let most = (batch.len() - from).min(rows.len()).min(room.saturating_sub(waits).saturating_add(1));
        let equal = columns.equal_rows(row, ahead, rows.start, most).min(most);
        let passed = equal.saturating_sub(1);
        let taken = waits + passed;
        if equal == 0 || taken == 0 || taken > room {
            return Ok(false);
        }
        self.digests.update_both(batch.slice(at, at + taken));
        self.findings.counts.matched += taken as u64;
        self.sink.pass(passed, batch.record(at + taken - 1));
        // The keys of the sink are the same.
        self.sink.tally.null_key_rows += self.source.advance_to(at + taken)?;
        Ok(true)
    }

    /// Passes over records that are the same on both sides, and digests them as one slice; whether there were any.
    fn skip_equal(&mut self) -> Result<bool> {
        let (source, sink) = (self.source.batch(), self.sink.batch());
        let (from, other) = (self.source.at(), self.sink.at());
        let room = self.source_rows.saturating_sub(self.source.tally.rows);
        let most = (source.len() - from).min(sink.len() - other).min(usize::try_from(room).unwrap_or(usize::MAX));
        let mut equal = 0;
        while equal < most && source.record(from + equal).bytes == sink.record(other + equal).bytes {
            equal += 1;
        }
        if equal > 0 {
            self.digests.update_both(source.slice(from, from + equal));
            self.findings.counts.matched += equal as u64;
            let null_key_rows = self.source.advance_to(from + equal)?;
            self.sink.take(other + equal, null_key_rows);
        }
        Ok(equal > 0)
    }

    /// Walks the rest of the smallest key on both sides.
    fn walk_key(&mut self) -> Result<()> {
        let key = match (self.source.current(), self.sink.current()) {
            (Some(source), Some(sink)) => source.key.min(sink.key),
            (Some(one), None) | (None, Some(one)) => one.key,
            (None, None) => return Ok(()),
        };
        self.findings.start(key);
        loop {
            self.source.ready()?;
            self.sink.ready()?;
            let source = self.source.current().filter(|record| record.key == self.findings.key);
            let sink = self.sink.current().filter(|record| record.key == self.findings.key);
            let side = match (source, sink) {
                (None, None) => break,
                (Some(source), Some(sink)) => match source.row.cmp(sink.row) {
                    std::cmp::Ordering::Less => Side::Source,
                    std::cmp::Ordering::Greater => Side::Sink,
                    std::cmp::Ordering::Equal => {
                        self.digests.update_both(source.bytes);
                        self.findings.counts.matched += 1;
                        self.source.advance_to(self.source.at() + 1)?;
                        self.sink.advance_to(self.sink.at() + 1)?;
                        continue;
                    }
                },
                (Some(_), None) => Side::Source,
                (None, Some(_)) => Side::Sink,
            };
            let cursor = if side == Side::Source { &mut *self.source } else { &mut *self.sink };
            if let Some(record) = cursor.current() {
                self.digests.update(side, record.bytes);
                self.findings.leave_over(side, record.row)?;
            }
            cursor.advance_to(cursor.at() + 1)?;
        }
        self.findings.finish_key()
    }
}

/// A row that found no partner, and how many equal ones there are.
#[derive(Debug, Default)]
struct LeftOver {
    row: Vec<u8>,
    occurrences: u64,
}

/// What was found of the current key, and of the range so far.
struct Findings<'a> {
    keyless: bool,
    comparer: ColumnComparer<'a>,
    counts: Counts,
    differences: &'a mut dyn DifferenceSink,
    key: Vec<u8>,
    left: Sides<LeftOver>,
    can_pair: bool,
}

impl Findings<'_> {
    fn start(&mut self, key: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.left.source.occurrences = 0;
        self.left.sink.occurrences = 0;
        self.can_pair = !self.keyless;
    }

    /// Takes a row without a partner. Rows of a side come in row-byte order, so equal ones are adjacent.
    fn leave_over(&mut self, side: Side, row: &[u8]) -> Result<()> {
        let left = self.left.get_mut(side);
        if left.occurrences > 0 {
            self.can_pair = false;
            if left.row == row {
                left.occurrences += 1;
                return Ok(());
            }
            self.flush(side)?;
        }
        let left = self.left.get_mut(side);
        left.row.clear();
        left.row.extend_from_slice(row);
        left.occurrences = 1;
        Ok(())
    }

    fn flush(&mut self, side: Side) -> Result<()> {
        let left = self.left.get_mut(side);
        let occurrences = std::mem::take(&mut left.occurrences);
        if occurrences == 0 {
            return Ok(());
        }
        let row = Some(left.row.as_slice());
        let (kind, source, sink) = match side {
            Side::Source => (DifferenceKind::Missing, row, None),
            Side::Sink => (DifferenceKind::Extra, None, row),
        };
        match side {
            Side::Source => self.counts.missing += occurrences,
            Side::Sink => self.counts.extra += occurrences,
        }
        self.differences.write(&Difference { kind, key: &self.key, source, sink, changed: &[], occurrences })
    }

    fn finish_key(&mut self) -> Result<()> {
        let one_each = self.left.source.occurrences == 1 && self.left.sink.occurrences == 1;
        if !(self.can_pair && one_each) {
            self.flush(Side::Source)?;
            return self.flush(Side::Sink);
        }
        let changed = self.comparer.compare(&self.left.source.row, &self.left.sink.row)?;
        if changed.is_empty() {
            self.counts.matched += 1;
            self.counts.excused += 1;
            return Ok(());
        }
        self.counts.changed += 1;
        self.differences.write(&Difference {
            kind: DifferenceKind::Changed,
            key: &self.key,
            source: Some(&self.left.source.row),
            sink: Some(&self.left.sink.row),
            changed,
            occurrences: 1,
        })
    }
}
