//! Proof of order: the keys of a whole table are read once; what remains is a sparse index of them.

use crate::{
    connector::NativeBatch,
    encode::{EncodedBatch, RowLayout, RowWriter, decode_key, render},
    model::{Error, ErrorKind, Projected, Projection, Result},
};
use std::sync::{Arc, Mutex};

/// Rows from one entry of the index to the next, at first: few enough that a table of a thousand rows can still be cut
/// into ranges. It doubles as the table grows.
pub(super) const STRIDE_ROWS: u64 = 64;

/// Bytes that the keys of an index may hold; beyond it every second entry is dropped and the stride doubles.
pub(super) const INDEX_BYTES_MAX: usize = 8 << 20;

/// The order of a table's keys.
#[derive(Debug)]
pub(super) enum KeyOrder {
    /// Canonical ascending order.
    Ascending(KeyIndex),
    /// Not in order.
    Disorder {
        /// The file of the second key.
        file: String,
        /// A key, as text.
        first: String,
        /// A smaller key that follows it, as text.
        second: String,
    },
}

/// Every stride-th key of a table in order.
#[derive(Debug)]
pub(super) struct KeyIndex {
    stride: u64,
    keys: Vec<Vec<u8>>,
    bytes: usize,
    rows: u64,
}

impl KeyIndex {
    fn new(stride: u64) -> Self {
        Self { stride, keys: Vec::new(), bytes: 0, rows: 0 }
    }

    fn push(&mut self, key: &[u8]) {
        if self.rows.is_multiple_of(self.stride) {
            self.keys.push(key.to_vec());
            self.bytes += key.len() + size_of::<Vec<u8>>();
            if self.bytes > INDEX_BYTES_MAX && self.keys.len() > 1 {
                let mut at = 0_usize;
                self.keys.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.stride *= 2;
                self.bytes = self.keys.iter().map(|key| key.len() + size_of::<Vec<u8>>()).sum();
            }
        }
        self.rows += 1;
    }

    /// Number of rows of the table.
    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows `(from, to)` within which the first row with a key of at least `key` lies; it is `to` if none of them
    /// has such a key.
    pub(super) fn stretch(&self, key: &[u8]) -> (u64, u64) {
        let below = self.keys.partition_point(|entry| entry.as_slice() < key) as u64;
        match below.checked_sub(1) {
            None => (0, 0),
            Some(entry) => ((entry * self.stride) + 1, ((entry + 1) * self.stride).min(self.rows)),
        }
    }

    /// Keys that cut the rows into about `parts` equal ranges.
    pub(super) fn splits(&self, parts: usize) -> Vec<Vec<u8>> {
        let mut cuts: Vec<Vec<u8>> = (1..parts)
            .filter_map(|part| self.keys.get(self.keys.len() * part / parts))
            .filter(|key| Some(*key) != self.keys.first())
            .cloned()
            .collect();
        cuts.dedup();
        cuts
    }
}

/// Keys out of a sample that cut it into about `parts` equal ranges.
pub(super) fn splits_of_sample(mut keys: Vec<Vec<u8>>, parts: usize) -> Vec<Vec<u8>> {
    keys.sort_unstable();
    let cuts = (1..parts).filter_map(|part| keys.get(keys.len() * part / parts));
    let mut cuts: Vec<Vec<u8>> = cuts.filter(|key| Some(*key) != keys.first()).cloned().collect();
    cuts.dedup();
    cuts
}

/// The projection of the key alone.
pub(super) fn key_projection(projection: &Projection) -> Projection {
    Projection { side: projection.side, key: projection.key.clone(), row: Vec::new() }
}

/// Checks keys as they come and builds the index.
pub(super) struct OrderCheck<'a> {
    projection: &'a Projection,
    layout: RowLayout,
    batch: EncodedBatch,
    previous: Vec<u8>,
    index: KeyIndex,
}

impl<'a> OrderCheck<'a> {
    /// A check of the rows of `projection`, which has key columns alone.
    ///
    /// # Errors
    /// Those of the layout.
    pub(super) fn new(projection: &'a Projection, stride: u64) -> Result<Self> {
        let layout = RowLayout::new(projection)?;
        let index = KeyIndex::new(stride);
        Ok(Self { projection, layout, batch: EncodedBatch::new(), previous: Vec::new(), index })
    }

    /// Takes the next rows; the two keys as text if they are out of order.
    ///
    /// # Errors
    /// Those of the encoder.
    pub(super) fn take(&mut self, rows: &dyn NativeBatch) -> Result<Option<(String, String)>> {
        self.batch.clear();
        rows.encode(&mut RowWriter::new(&self.layout, &mut self.batch))?;
        for row in 0..self.batch.len() {
            let key = self.batch.record(row).key;
            if self.index.rows > 0 && key < self.previous.as_slice() {
                return Ok(Some((key_text(self.projection, &self.previous), key_text(self.projection, key))));
            }
            self.previous.clear();
            self.previous.extend_from_slice(key);
            self.index.push(key);
        }
        Ok(None)
    }

    /// The index of everything taken.
    pub(super) fn finish(self) -> KeyIndex {
        self.index
    }
}

/// A key as text for people.
pub(super) fn key_text(projection: &Projection, key: &[u8]) -> String {
    let types: Vec<_> = projection.key.iter().map(|part| part.target.canonical.clone()).collect();
    match decode_key(&types, key) {
        Ok(values) => {
            let texts = types
                .iter()
                .zip(&values)
                .map(|(canonical, value)| render(canonical, value).unwrap_or_else(|| "NULL".to_owned()));
            texts.collect::<Vec<_>>().join(", ")
        }
        Err(_) => format!("{} bytes that are no key", key.len()),
    }
}

/// The error for a table that should be in order and is not.
pub(super) fn disorder_error(file: &str, first: &str, second: &str) -> Error {
    let message = format!("reading {file} in key order: expected ascending keys, found {second} after {first}");
    Error::new(ErrorKind::Order, message).hint("let tieout sort it: --sort local")
}

/// Orders that were found out, by key columns.
#[derive(Debug, Default)]
pub(super) struct OrderCache(Mutex<Vec<(Vec<Projected>, Arc<KeyOrder>)>>);

impl OrderCache {
    /// The order of `key`, found out by `scan` where it is not known. Blocks while another thread finds it out.
    ///
    /// # Errors
    /// Those of `scan`.
    pub(super) fn get(&self, key: &[Projected], scan: impl FnOnce() -> Result<KeyOrder>) -> Result<Arc<KeyOrder>> {
        let mut known = self.0.lock().map_err(|_| Error::internal("a scan of keys broke"))?;
        if let Some((_, order)) = known.iter().find(|(columns, _)| columns == key) {
            return Ok(Arc::clone(order));
        }
        let order = Arc::new(scan()?);
        known.push((key.to_vec(), Arc::clone(&order)));
        Ok(order)
    }

    /// The order of `key` if it is known and nobody is finding one out.
    pub(super) fn peek(&self, key: &[Projected]) -> Option<Arc<KeyOrder>> {
        let known = self.0.try_lock().ok()?;
        known.iter().find(|(columns, _)| columns == key).map(|(_, order)| Arc::clone(order))
    }
}
