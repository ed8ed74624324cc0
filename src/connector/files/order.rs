//! Proof of order: the keys of a whole table are read once; what remains is a sparse index of them.

use crate::{
    connector::{NativeBatch, OrderSupport},
    encode::{EncodedBatch, RowLayout, RowWriter, decode_key, render},
    model::{CanonicalType, Conversion, Error, ErrorKind, Projected, Projection, ReadOrder, Result},
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

/// What a table without a key can give.
pub(super) fn support_without_key() -> OrderSupport {
    let reason = "without a key, rows are in the order of their bytes".to_owned();
    OrderSupport { best: ReadOrder::Local, can_order: false, reason }
}

impl KeyOrder {
    /// What the table can give; `in_order` is how it is read if its keys ascend.
    pub(super) fn support(&self, in_order: ReadOrder) -> OrderSupport {
        let (best, reason) = match self {
            Self::Ascending(index) => {
                let reason =
                    format!("the files are in key order (proven by reading the keys of {} rows)", index.rows());
                (in_order, reason)
            }
            Self::Disorder { file, first, second } => {
                (ReadOrder::Local, format!("the files are not in key order: {second} follows {first} in {file}"))
            }
        };
        OrderSupport { best, can_order: true, reason }
    }
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

    /// Passes over rows that need no entry, at most `rows_max`; returns how many.
    fn skip(&mut self, rows_max: u64) -> u64 {
        let rows = self.rows.next_multiple_of(self.stride) - self.rows;
        let rows = rows.min(rows_max);
        self.rows += rows;
        rows
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
        let mut previous = self.previous.as_slice();
        for row in 0..self.batch.len() {
            let key = self.batch.record(row).key;
            if self.index.rows > 0 && key < previous {
                return Ok(Some((key_text(self.projection, previous), key_text(self.projection, key))));
            }
            previous = key;
            self.index.push(key);
        }
        if let Some(last) = self.batch.len().checked_sub(1) {
            self.previous.clear();
            self.previous.extend_from_slice(self.batch.record(last).key);
        }
        Ok(None)
    }

    /// Takes the next keys of a table whose only key part is a whole number; `false`, and nothing taken, if that is not
    /// how the key is encoded or if the keys are out of order: then [`Self::take`] says which.
    ///
    /// # Errors
    /// Those of the encoder.
    pub(super) fn take_whole(&mut self, keys: &[i64]) -> Result<bool> {
        let [part] = self.projection.key.as_slice() else { return Ok(false) };
        let is_plain = part.target.canonical == CanonicalType::Number && part.target.conversion == Conversion::Direct;
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(is_plain) };
        if !is_plain || !keys.is_sorted() {
            return Ok(false);
        }
        let layout = &self.layout;
        let encode = |key: i64, batch: &mut EncodedBatch| -> Result<()> {
            batch.clear();
            let mut writer = RowWriter::new(layout, batch);
            writer.begin_row();
            writer.put_i64(key)?;
            writer.end_row()
        };
        encode(*first, &mut self.batch)?;
        if self.index.rows > 0 && self.batch.record(0).key < self.previous.as_slice() {
            return Ok(false);
        }
        let mut at = 0;
        while at < keys.len() {
            let skipped = self.index.skip((keys.len() - at) as u64);
            at += usize::try_from(skipped).map_err(|_| Error::internal("more keys than were given"))?;
            if let Some(key) = keys.get(at) {
                encode(*key, &mut self.batch)?;
                self.index.push(self.batch.record(0).key);
                at += 1;
            }
        }
        encode(*last, &mut self.batch)?;
        self.previous.clear();
        self.previous.extend_from_slice(self.batch.record(0).key);
        Ok(true)
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::model::{FieldTarget, Side, TextFold};

    struct Numbers(Vec<i64>);

    impl NativeBatch for Numbers {
        fn bytes(&self) -> usize {
            0
        }

        fn rows(&self) -> usize {
            self.0.len()
        }

        fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
            self.0.iter().try_for_each(|value| {
                writer.begin_row();
                writer.put_i64(*value)?;
                writer.end_row()
            })
        }
    }

    fn keys() -> Projection {
        let target = FieldTarget {
            canonical: CanonicalType::Number,
            conversion: Conversion::Direct,
            strip_pad: false,
            zone: None,
            key_fold: TextFold::default(),
            parse_float_bits: 64,
            dynamic: false,
        };
        let key = Projected { name: "id".to_owned(), index: 0, as_text: false, nullable: false, target };
        Projection { side: Side::Source, key: vec![key], row: Vec::new() }
    }

    #[test]
    fn whole_numbers_make_the_same_index_as_their_bytes() {
        let keys = keys();
        for stride in [1, 3, 64] {
            let (mut by_bytes, mut by_value) =
                (OrderCheck::new(&keys, stride).unwrap(), OrderCheck::new(&keys, stride).unwrap());
            for part in [vec![-300, -300, -1], vec![0], vec![], (0..500).collect(), vec![i64::MAX]] {
                assert!(by_value.take_whole(&part).unwrap());
                assert_eq!(by_bytes.take(&Numbers(part)).unwrap(), None);
            }
            let (by_bytes, by_value) = (by_bytes.finish(), by_value.finish());
            assert_eq!(by_value.rows(), 505);
            assert_eq!((by_bytes.rows, by_bytes.keys, by_bytes.bytes), (by_value.rows, by_value.keys, by_value.bytes));
        }
    }

    #[test]
    fn whole_numbers_out_of_order_are_left_to_the_bytes() {
        let keys = keys();
        for broken in [vec![4], vec![6, 9, 8], vec![5, 4]] {
            let mut check = OrderCheck::new(&keys, 2).unwrap();
            assert!(check.take_whole(&[1, 5]).unwrap());
            assert!(!check.take_whole(&broken).unwrap());
            assert!(check.take(&Numbers(broken)).unwrap().is_some());
        }
        let mut text = keys;
        text.key[0].target.canonical = CanonicalType::Text;
        assert!(!OrderCheck::new(&text, 2).unwrap().take_whole(&[1, 5]).unwrap());
    }
}
