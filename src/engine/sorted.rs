//! Feeds for sides that are read once: sorted here or ordered by the store, and shown range by range.

use crate::{
    encode::EncodedBatch,
    merge::Feed,
    model::{KeyRange, Result},
    sort::{SortedRecords, Sorter, SorterOptions},
};

/// Bytes of sorted records that are handed over at a time.
const SORTED_BATCH_BYTES: usize = super::limits::BATCH_BYTES_MAX;

/// Records that were sorted here, in (key, row) order.
pub(super) struct SortedFeed(SortedRecords);

impl SortedFeed {
    /// Reads `feed` to its end and sorts it.
    pub(super) fn sort(feed: &mut dyn Feed, options: SorterOptions) -> Result<Self> {
        let mut sorter = Sorter::new(options)?;
        let mut batch = EncodedBatch::new();
        while feed.next(&mut batch)? {
            sorter.push(&batch)?;
            batch.clear();
        }
        sorter.finish().map(Self)
    }

    /// Number of records.
    pub(super) fn rows(&self) -> u64 {
        self.0.counters().rows
    }

    /// Bytes that the sort wrote to disk.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.0.bytes_spilled()
    }
}

impl Feed for SortedFeed {
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
        if into.is_empty() {
            return self.0.next_batch(into, SORTED_BATCH_BYTES);
        }
        let mut batch = EncodedBatch::new();
        let any = self.0.next_batch(&mut batch, SORTED_BATCH_BYTES)?;
        into.append(batch);
        Ok(any)
    }
}

/// One stream over the whole table, shown range by range.
pub(super) struct CutFeed<'a> {
    feed: &'a mut dyn Feed,
    /// Records that were read but belong to a later range, from `at` on.
    waiting: EncodedBatch,
    at: usize,
    range: KeyRange,
}

impl<'a> CutFeed<'a> {
    pub(super) fn new(feed: &'a mut dyn Feed) -> Self {
        Self { feed, waiting: EncodedBatch::new(), at: 0, range: KeyRange::all() }
    }

    /// Shows the records of `range` next; ranges must be asked for in key order.
    pub(super) fn enter(&mut self, range: &KeyRange) {
        self.range = range.clone();
    }
}

impl Feed for CutFeed<'_> {
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
        if self.at >= self.waiting.len() {
            self.waiting.clear();
            self.at = 0;
            if !self.feed.next(&mut self.waiting)? {
                return Ok(false);
            }
        }
        // A stream that is out of order may hold a later key before an earlier one: the search then ends at the first
        // key of a later range, and the order proof of that range meets the earlier key as a violation of its bounds.
        let mut end = self.at;
        while end < self.waiting.len() && self.range.is_below_upper(self.waiting.record(end).key) {
            end += 1;
        }
        let any = end > self.at;
        (self.at..end).for_each(|index| into.push_record(self.waiting.record(index).bytes));
        self.at = end;
        Ok(any)
    }
}
