//! One side of a merge: proves order and bounds of a stream, counts duplicates and NULL keys, and shows records in (key, row) order.
//!
//! A stream ascends by key alone; the rows of one key come in any order. So the last key of what was read is held back
//! until the next key is seen, and a group of rows that outgrows its bound is sorted on disk.

use super::{Feed, MergeSpec, RangeBounds, native::Native};
use crate::{
    encode::{EncodedBatch, NativeColumns, Record, RowLayout, key_holds_null},
    model::{Error, ErrorKind, Result, Side},
    sort::{SortedRecords, Sorter},
};
use std::{ops::Range, sync::Arc};

/// Bytes of sorted records that are taken from a group on disk at a time.
const GROUP_BATCH_BYTES: usize = 256 * 1024;

/// Rows of one side, and what is odd about their keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) rows: u64,
    pub(super) duplicate_keys: u64,
    pub(super) surplus_rows: u64,
    pub(super) null_key_rows: u64,
}

/// A stream of one side of one range, in (key, row) order.
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other, not states")]
pub(super) struct Cursor<'a> {
    side: Side,
    spec: &'a MergeSpec,
    bounds: RangeBounds,
    feed: &'a mut dyn Feed,
    rows_sorted: bool,
    /// Records that may be taken.
    batch: EncodedBatch,
    at: usize,
    /// Records read after `batch`: the start of a group whose end is not known yet.
    held: EncodedBatch,
    /// Key and (for tables without a key) row of the last record that was read.
    previous: Option<EncodedBatch>,
    /// Key and (for tables without a key) row of the last record of the batch that was taken before this one.
    taken: EncodedBatch,
    in_duplicate: bool,
    has_duplicates: bool,
    group: Option<SortedRecords>,
    ended: bool,
    /// Set if rows are read as the store gave them.
    native: Option<Native>,
    /// The record of `batch` that was made from the first row of `native`, if those after it were made from those after
    /// that and no two of them, nor the one before them, have one key.
    origin: Option<usize>,
    /// Whether a key came twice in what was read for `batch` and `held`.
    repeats: bool,
    /// Of the records that were taken since the last [`Self::enter`].
    pub(super) tally: Tally,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(side: Side, spec: &'a MergeSpec, bounds: RangeBounds, feed: &'a mut dyn Feed) -> Self {
        Self {
            side,
            spec,
            bounds,
            feed,
            rows_sorted: *spec.rows_sorted.get(side),
            batch: EncodedBatch::new(),
            at: 0,
            held: EncodedBatch::new(),
            previous: None,
            taken: EncodedBatch::new(),
            in_duplicate: false,
            has_duplicates: false,
            group: None,
            ended: false,
            native: None,
            origin: None,
            repeats: false,
            tally: Tally::default(),
        }
    }

    /// The records in hand and the index of the current one, after reading on if there was none.
    pub(super) fn ready(&mut self) -> Result<bool> {
        while self.at >= self.batch.len() {
            if let Some(last) = self.batch.len().checked_sub(1) {
                let last = self.batch.record(last);
                self.taken.clear();
                self.taken.push(last.key, if self.spec.is_keyless() { last.row } else { &[] });
            }
            self.batch.clear();
            self.at = 0;
            if !self.load()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Has rows read as the store gives them, which `layout` encodes; before the first read.
    pub(super) fn read_native(&mut self, layout: Arc<RowLayout>) {
        self.native = Some(Native::new(self.side, layout));
    }

    /// The rows that the records of `batch` from index `at` on were made from, and the first of them. Each of those records
    /// is the only one of its key.
    pub(super) fn columns_of(&self, at: usize) -> Option<(&dyn NativeColumns, usize)> {
        let row = at.checked_sub(self.origin?)?;
        Some((self.native.as_ref()?.columns()?, row))
    }

    /// Goes to rows that may be passed over without being encoded, reading on if need be; whether there are any. Before
    /// them at most one record was read and not taken, [`Self::waiting`].
    pub(super) fn look_ahead(&mut self) -> Result<bool> {
        let idle = self.at >= self.batch.len() && self.held.len() <= 1 && self.group.is_none() && !self.ended;
        match &mut self.native {
            Some(native) if idle => native.pull(self.feed),
            _ => Ok(false),
        }
    }

    /// The rows of [`Self::look_ahead`].
    pub(super) fn ahead(&self) -> Option<(&dyn NativeColumns, Range<usize>)> {
        let native = self.native.as_ref()?;
        Some((native.columns()?, native.left()))
    }

    /// The record that was read, and not taken, before the rows of [`Self::look_ahead`].
    pub(super) fn waiting(&self) -> Option<Record<'_>> {
        (!self.held.is_empty()).then(|| self.held.record(0))
    }

    /// Whether rows whose first key is `key` may follow what was read, as the rows of another key.
    pub(super) fn may_follow(&self, key: &[u8]) -> bool {
        self.previous.as_ref().is_none_or(|previous| previous.record(0).key < key)
    }

    /// Takes what [`Self::waiting`] shows, and `rows` rows after it, which are not encoded. The last of all that was taken
    /// is as `last`, and it, as each of them, is the only one of its key on this side. Those with a NULL in the key are left
    /// to be counted by the caller.
    pub(super) fn pass(&mut self, rows: usize, last: Record<'_>) {
        self.tally.rows += (self.held.len() + rows) as u64;
        self.in_duplicate = false;
        self.batch.clear();
        self.at = 0;
        self.held.clear();
        self.taken.clear();
        self.taken.push(last.key, &[]);
        if rows > 0 {
            self.remember(last);
        }
        if let Some(native) = &mut self.native {
            native.pass(rows);
        }
    }

    pub(super) fn batch(&self) -> &EncodedBatch {
        &self.batch
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn current(&self) -> Option<Record<'_>> {
        (self.at < self.batch.len()).then(|| self.batch.record(self.at))
    }

    /// Starts a range: its number, and nothing taken yet.
    pub(super) fn enter(&mut self, number: usize) {
        self.bounds.number = number;
        self.tally = Tally::default();
    }

    /// The record that was taken last.
    fn before(&self, at: usize) -> Option<Record<'_>> {
        match at.checked_sub(1) {
            Some(before) => Some(self.batch.record(before)),
            None => (!self.taken.is_empty()).then(|| self.taken.record(0)),
        }
    }

    /// Whether the current record is the first of its key.
    pub(super) fn at_new_key(&self) -> bool {
        self.current().is_some_and(|record| self.before(self.at).is_none_or(|before| before.key != record.key))
    }

    /// Takes the records before `at`, and counts them; how many of their keys hold a NULL.
    ///
    /// # Errors
    /// `Internal` if a key is not of its types.
    pub(super) fn advance_to(&mut self, at: usize) -> Result<u64> {
        let mut null_key_rows = 0;
        for index in self.at..at {
            null_key_rows += u64::from(key_holds_null(&self.spec.key_types, self.batch.record(index).key)?);
        }
        self.take(at, null_key_rows);
        Ok(null_key_rows)
    }

    /// The same, where it is known that `null_key_rows` of the keys hold a NULL.
    pub(super) fn take(&mut self, at: usize, null_key_rows: u64) {
        self.tally.rows += (at - self.at) as u64;
        self.tally.null_key_rows += null_key_rows;
        if self.has_duplicates {
            (self.at..at).for_each(|index| self.count_duplicate(index));
        }
        self.at = at;
    }

    fn count_duplicate(&mut self, index: usize) {
        let record = self.batch.record(index);
        let keyless = self.spec.is_keyless();
        let repeats =
            self.before(index).is_some_and(|before| before.key == record.key && (!keyless || before.row == record.row));
        if !repeats {
            self.in_duplicate = false;
            return;
        }
        self.tally.surplus_rows += 1;
        if !self.in_duplicate {
            self.tally.duplicate_keys += 1;
            self.in_duplicate = true;
        }
    }

    /// Fills `batch`; false at the end.
    fn load(&mut self) -> Result<bool> {
        self.origin = None;
        self.repeats = false;
        if let Some(group) = &mut self.group {
            if group.next_batch(&mut self.batch, GROUP_BATCH_BYTES)? {
                return Ok(true);
            }
            self.group = None;
        }
        loop {
            if self.ended {
                std::mem::swap(&mut self.batch, &mut self.held);
                self.held.clear();
                self.sort_groups();
                return Ok(!self.batch.is_empty());
            }
            let checked = self.held.len();
            if self.read()? {
                self.check(checked)?;
            } else {
                self.ended = true;
                continue;
            }
            if self.held.is_empty() {
                continue;
            }
            if self.rows_sorted {
                std::mem::swap(&mut self.batch, &mut self.held);
                return Ok(true);
            }
            let tail = self.last_group_start(checked);
            if tail > 0 {
                self.hold_back(tail);
                self.sort_groups();
                self.origin = (!self.repeats).then_some(checked);
                return Ok(true);
            }
            // One row needs no sort, however large it is.
            if self.held.len() > 1 && self.held.bytes() as u64 > self.spec.group_bytes_max {
                self.sort_on_disk()?;
                return self.load();
            }
        }
    }

    /// Appends the next records to `held`; whether there were any.
    fn read(&mut self) -> Result<bool> {
        match &mut self.native {
            Some(native) => native.read(self.feed, &mut self.held),
            None => self.feed.next(&mut self.held),
        }
    }

    /// Index of the first record of the last key in `held`; records before `from` were looked at before.
    fn last_group_start(&self, from: usize) -> usize {
        let last = self.held.len() - 1;
        let key = self.held.record(last).key;
        let mut start = last;
        while start > 0 && self.held.record(start - 1).key == key {
            start -= 1;
            if start == from && self.held.record(0).key == key {
                return 0;
            }
        }
        start
    }

    /// Moves the records before `tail` to `batch`, keeps the others.
    fn hold_back(&mut self, tail: usize) {
        std::mem::swap(&mut self.batch, &mut self.held);
        self.held.clear();
        for index in tail..self.batch.len() {
            self.held.push_record(self.batch.record(index).bytes);
        }
        self.batch.truncate(tail);
    }

    /// Brings the rows of each key of `batch` into row-byte order.
    fn sort_groups(&mut self) {
        if self.rows_sorted || !self.has_duplicates {
            return;
        }
        let is_sorted = (1..self.batch.len()).all(|index| {
            let (before, after) = (self.batch.record(index - 1), self.batch.record(index));
            before.key != after.key || before.row <= after.row
        });
        if is_sorted {
            return;
        }
        let mut order: Vec<usize> = (0..self.batch.len()).collect();
        order.sort_by(|one, other| {
            let (one, other) = (self.batch.record(*one), self.batch.record(*other));
            one.key.cmp(other.key).then_with(|| one.row.cmp(other.row))
        });
        let mut sorted = EncodedBatch::new();
        for index in order {
            sorted.push_record(self.batch.record(index).bytes);
        }
        self.batch = sorted;
    }

    /// Sorts the group that fills `held`, and the rest of it, on disk; what follows it stays in `held`.
    fn sort_on_disk(&mut self) -> Result<()> {
        let mut sorter = Sorter::new(self.spec.sorter.clone())?;
        let key = self.held.record(0).key.to_vec();
        sorter.push(&self.held)?;
        self.held.clear();
        let mut part = EncodedBatch::new();
        while self.held.is_empty() {
            if !self.read()? {
                self.ended = true;
                break;
            }
            self.check(0)?;
            let end = (0..self.held.len()).find(|index| self.held.record(*index).key != key);
            let end = end.unwrap_or(self.held.len());
            part.clear();
            (0..end).for_each(|index| part.push_record(self.held.record(index).bytes));
            sorter.push(&part)?;
            part.clear();
            (end..self.held.len()).for_each(|index| part.push_record(self.held.record(index).bytes));
            std::mem::swap(&mut part, &mut self.held);
        }
        self.group = Some(sorter.finish()?);
        // What follows the group may itself hold several keys: it is shown when the group is done, as if just read.
        Ok(())
    }

    /// Proves order and bounds of the records of `held` from index `from` on.
    fn check(&mut self, from: usize) -> Result<()> {
        let count = self.held.len();
        if from == count {
            return Ok(());
        }
        for index in from..count {
            let record = self.held.record(index);
            let before = match index.checked_sub(1) {
                Some(before) if index > from => Some(self.held.record(before)),
                _ => self.previous.as_ref().map(|previous| previous.record(0)),
            };
            let Some(before) = before else { continue };
            match before.key.cmp(record.key) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Greater => return Err(self.order_error(before.key, record.key)),
                std::cmp::Ordering::Equal => {
                    self.has_duplicates = true;
                    self.repeats = true;
                    self.check_folded(&before, &record)?;
                }
            }
        }
        self.check_bounds(self.held.record(from).key)?;
        self.check_bounds(self.held.record(count - 1).key)?;
        let read = std::mem::take(&mut self.held);
        self.remember(read.record(count - 1));
        self.held = read;
        Ok(())
    }

    /// Keeps of the last record that was read what the order proof needs of it.
    fn remember(&mut self, last: Record<'_>) {
        let needs_row = self.spec.is_keyless() || !self.spec.folded_fields.is_empty();
        let previous = self.previous.get_or_insert_with(EncodedBatch::new);
        previous.clear();
        previous.push(last.key, if needs_row { last.row } else { &[] });
    }

    fn check_bounds(&self, key: &[u8]) -> Result<()> {
        if self.bounds.range.contains(key) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Order,
            "reading a range: a key came that lies outside of the bounds that were asked for",
        )
        .hint("the store compares this key in another way than it sorts it (a collation, trailing blanks, a type that the predicate converts); try --sort local")
        .on(self.side)
        .in_range(self.bounds.number)
        .at_key(self.spec.key_text(key)))
    }

    fn order_error(&self, before: &[u8], key: &[u8]) -> Error {
        Error::new(
            ErrorKind::Order,
            format!("reading in key order: expected a key after {}, found a smaller one", self.spec.key_text(before)),
        )
        .hint("the store sorts this key in another order (a collation, an index that is damaged, a file that is not sorted as declared); try --sort local")
        .on(self.side)
        .in_range(self.bounds.number)
        .at_key(self.spec.key_text(key))
    }

    /// Two rows of one folded key must have the same exact key.
    fn check_folded(&self, before: &Record<'_>, record: &Record<'_>) -> Result<()> {
        for field in &self.spec.folded_fields {
            let exact = |row| crate::encode::fields(row).nth(*field);
            if exact(before.row) != exact(record.row) {
                return Err(Error::new(
                    ErrorKind::Value,
                    "folding a key: two different keys of this side become one, so rows cannot be told apart",
                )
                .hint("remove the trim, case or unicode option of the key column, or mend the data")
                .on(self.side)
                .in_range(self.bounds.number)
                .at_key(self.spec.key_text(record.key)));
            }
        }
        Ok(())
    }
}
