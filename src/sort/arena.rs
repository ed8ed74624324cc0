//! Rows in memory: one buffer of records and an index that is sorted in their place.

use super::{compare, parts, prefix};
use crate::encode::Record;

/// First size, in bytes; small sorts are many.
const HELD_BYTES_MIN: usize = 64 << 10;

#[derive(Clone, Copy, Debug)]
struct Entry {
    prefix: u64,
    start: usize,
}

const ENTRY_BYTES: usize = size_of::<Entry>();

/// Records within a number of bytes. What is counted is the capacity of the two buffers. They grow in place where the
/// allocator can move pages (large blocks of the C library on Linux), else a growth holds one of them twice for a moment.
#[derive(Debug)]
pub(super) struct Arena {
    bytes: Vec<u8>,
    index: Vec<Entry>,
    memory_bytes: usize,
}

impl Arena {
    pub(super) fn new(memory_bytes: usize) -> Self {
        Self { bytes: Vec::new(), index: Vec::new(), memory_bytes }
    }

    /// Appends a record. `false` if the arena is full.
    #[inline]
    pub(super) fn push(&mut self, record: &Record<'_>) -> bool {
        let fits =
            record.bytes.len() <= self.bytes.capacity() - self.bytes.len() && self.index.len() < self.index.capacity();
        if !fits && !self.grow(record.bytes.len()) {
            return false;
        }
        self.index.push(Entry { prefix: prefix(record.key, record.row), start: self.bytes.len() });
        self.bytes.extend_from_slice(record.bytes);
        true
    }

    /// Makes room for a record of `record_bytes`; shares the memory between the buffers by the average record so far.
    fn grow(&mut self, record_bytes: usize) -> bool {
        let need_rows = self.index.len() + 1;
        let need_bytes = self.bytes.len() + record_bytes;
        let need = need_bytes + need_rows * ENTRY_BYTES;
        let settled = self.held_bytes() > self.memory_bytes / 8 * 7;
        if need > self.memory_bytes || (settled && !self.is_empty() && need > self.memory_bytes / 8 * 7) {
            return false;
        }
        let target = (need * 2).max(HELD_BYTES_MIN).min(self.memory_bytes);
        let rows_fair = target / (need_bytes / need_rows + ENTRY_BYTES);
        let rows = rows_fair.max(need_rows).min((target - need_bytes) / ENTRY_BYTES);
        let bytes = target - rows * ENTRY_BYTES;
        self.index.shrink_to(rows);
        self.bytes.shrink_to(bytes);
        self.index.reserve_exact(rows - self.index.len());
        self.bytes.reserve_exact(bytes - self.bytes.len());
        true
    }

    /// Sorts the index.
    pub(super) fn sort(&mut self) {
        let skip = self.common_key_bytes();
        let bytes = &self.bytes;
        if skip > 0 {
            // Words that start where the keys part decide far more often. A key that ends there sorts before the others,
            // and among its rows by row, which is what a word without a key says.
            for entry in &mut self.index {
                let (key, row) = parts(at(bytes, entry.start));
                entry.prefix = prefix(key.get(skip..).unwrap_or(&[]), row);
            }
        }
        self.index.sort_unstable_by(|one, other| {
            one.prefix.cmp(&other.prefix).then_with(|| compare(at(bytes, one.start), at(bytes, other.start)))
        });
    }

    /// How many bytes all keys start with in common.
    fn common_key_bytes(&self) -> usize {
        let Some(first) = self.index.first() else {
            return 0;
        };
        let mut common = parts(at(&self.bytes, first.start)).0;
        for entry in &self.index {
            let key = parts(at(&self.bytes, entry.start)).0;
            if !key.starts_with(common) {
                let same = common.iter().zip(key).take_while(|(one, other)| one == other).count();
                common = &common[..same];
            }
        }
        common.len()
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The record at a place of the index.
    pub(super) fn record(&self, index: usize) -> &[u8] {
        at(&self.bytes, self.index[index].start)
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.capacity() + self.index.capacity() * ENTRY_BYTES
    }

    /// Removes all records and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.index.clear();
    }

    /// Gives the memory of an empty arena back.
    pub(super) fn free(&mut self) {
        self.bytes.shrink_to_fit();
        self.index.shrink_to_fit();
    }
}

/// The record that starts at `start`; its lengths were checked when it came in.
#[inline]
fn at(bytes: &[u8], start: usize) -> &[u8] {
    record_at(&bytes[start..]).unwrap_or(&[])
}

/// The first record of `bytes`; `None` if there is no whole one.
#[inline]
pub(super) fn record_at(bytes: &[u8]) -> Option<&[u8]> {
    let key_bytes = u32::from_be_bytes(*bytes.first_chunk::<4>()?) as usize;
    let row_bytes = u32::from_be_bytes(*bytes.get(4 + key_bytes..)?.first_chunk::<4>()?) as usize;
    bytes.get(..8 + key_bytes + row_bytes)
}
