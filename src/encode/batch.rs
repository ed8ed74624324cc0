//! Encoded rows: one buffer of records, as the digest wants it, and the place of each.

/// Rows in canonical bytes.
///
/// Shape: one contiguous buffer of records (u32 key length, key, u32 row length, row), so that a run of records is fed
/// to the digest as one slice. At most 4 GiB, which the caller keeps by cutting batches far smaller.
#[derive(Debug, Default)]
pub struct EncodedBatch {
    pub(super) data: Vec<u8>,
    pub(super) starts: Vec<u32>,
}

/// One record of an [`EncodedBatch`].
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The whole record, lengths included.
    pub bytes: &'a [u8],
    /// Key bytes.
    pub key: &'a [u8],
    /// Row bytes.
    pub row: &'a [u8],
}

impl<'a> Record<'a> {
    /// Takes a record apart. `None` if the lengths do not fit the bytes.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (key_len, rest) = bytes.split_first_chunk::<4>()?;
        let (key, rest) = rest.split_at_checked(u32::from_be_bytes(*key_len) as usize)?;
        let (row_len, row) = rest.split_first_chunk::<4>()?;
        (u32::from_be_bytes(*row_len) as usize == row.len()).then_some(Self { bytes, key, row })
    }
}

impl EncodedBatch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Size of the records in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.data.clear();
        self.starts.clear();
    }

    /// Takes the rows of `other` after its own.
    pub fn append(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        (0..other.len()).for_each(|index| self.push_record(other.record(index).bytes));
    }

    /// Keeps the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        let end = self.offset(rows);
        self.data.truncate(end);
        self.starts.truncate(rows);
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.data.capacity() + self.starts.capacity() * size_of::<u32>()
    }

    /// Where record `index` starts in [`Self::slice`]; `index` may be the number of rows.
    #[must_use]
    pub fn offset(&self, index: usize) -> usize {
        self.starts.get(index).map_or(self.data.len(), |start| *start as usize)
    }

    /// The bytes of the records `from..to`.
    #[must_use]
    pub fn slice(&self, from: usize, to: usize) -> &[u8] {
        &self.data[self.offset(from)..self.offset(to)]
    }

    /// Record `index`. Panics if there is none.
    #[must_use]
    #[inline]
    pub fn record(&self, index: usize) -> Record<'_> {
        let bytes = self.slice(index, index + 1);
        let key_len = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        Record { bytes, key: &bytes[4..4 + key_len], row: &bytes[key_len + 8..] }
    }

    /// Appends a record.
    pub fn push(&mut self, key: &[u8], row: &[u8]) {
        self.starts.push(length(self.data.len()));
        self.data.extend_from_slice(&length(key.len()).to_be_bytes());
        self.data.extend_from_slice(key);
        self.data.extend_from_slice(&length(row.len()).to_be_bytes());
        self.data.extend_from_slice(row);
    }

    /// Appends a whole record, lengths included.
    pub fn push_record(&mut self, record: &[u8]) {
        self.starts.push(length(self.data.len()));
        self.data.extend_from_slice(record);
    }
}

/// A length as it stands in a record. Saturates, and a saturated length no longer parses: callers keep rows and batches
/// far below 4 GiB.
pub(super) fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
