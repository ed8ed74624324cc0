//! Parquet: one or more files of one schema, as one table whose rows are numbered in path and file order.

mod file;
mod read;

pub(super) use file::documented;

use super::{
    FileSet, Sender, append_partitions, arrow, blocking, fed_stream,
    order::{self, KeyIndex, KeyOrder, OrderCache, OrderCheck},
    position_of,
};
use crate::{
    connector::{FrozenTable, OrderSupport, Read, RowStream},
    encode::{EncodedBatch, RowLayout, RowWriter},
    model::{Column, Error, ErrorKind, KeyRange, NameCase, Position, Projection, ReadOrder, Result, TableSchema},
};
use file::ParquetFile;
use futures::future::BoxFuture;
use read::Span;
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    sync::{Arc, atomic::AtomicU64},
};

/// Bytes of keys that are decoded at once while order is proven or a bound is looked up.
const KEY_BATCH_BYTES: usize = 1 << 20;

/// Places at which the keys of a table without order are sampled, and rows read at each: enough for even ranges, and a
/// small part of any table that is worth cutting.
const SAMPLE_PLACES: u64 = 256;
const SAMPLE_ROWS: u64 = 32;

/// A frozen Parquet table.
pub(super) struct ParquetTable {
    inner: Arc<Inner>,
}

struct Inner {
    display: String,
    position: Position,
    schema: TableSchema,
    files: Vec<ParquetFile>,
    /// All row groups in row order, each with the number of its first row.
    groups: Vec<Group>,
    rows: u64,
    orders: OrderCache,
    stride: u64,
    /// Row groups opened so far; shows that pruning prunes.
    opened: AtomicU64,
}

struct Group {
    first_row: u64,
    rows: u64,
    file: usize,
    /// Number of the row group in the file.
    number: usize,
}

/// Freezes the files. Blocks.
///
/// # Errors
/// `Schema` if the files do not agree, and those of reading.
pub(super) fn freeze(set: FileSet) -> Result<ParquetTable> {
    freeze_with(set, order::STRIDE_ROWS)
}

/// As [`freeze`], with the stride of the key index given.
///
/// # Errors
/// As of [`freeze`].
pub(super) fn freeze_with(set: FileSet, stride: u64) -> Result<ParquetTable> {
    let position = position_of(&set);
    let mut files = Vec::with_capacity(set.files.len());
    let mut columns: Vec<Column> = Vec::new();
    let mut groups = Vec::new();
    let (mut rows, mut bytes) = (0_u64, 0_u64);
    for file in set.files.iter().cloned() {
        bytes = bytes.saturating_add(file.stamp.size);
        let (mut opened, described) = ParquetFile::open(file)?;
        if files.is_empty() {
            opened.roots = (0..described.len()).collect();
            columns = described;
        } else {
            opened.roots = agree(&mut columns, &described, &files[0], &opened)?;
        }
        for row_group in 0..opened.row_groups() {
            let count = opened.rows(row_group)?;
            groups.push(Group { first_row: rows, rows: count, file: files.len(), number: row_group });
            rows = rows.checked_add(count).ok_or_else(|| Error::internal("more than 2^64 rows"))?;
        }
        files.push(opened);
    }
    append_partitions(&set, &mut columns)?;
    let schema = TableSchema {
        display: set.display.clone(),
        columns,
        keys: Vec::new(),
        name_case: NameCase::Sensitive,
        rows_estimate: Some(rows),
        bytes_estimate: Some(bytes),
    };
    let (orders, opened) = (OrderCache::default(), AtomicU64::new(0));
    let inner = Inner { display: set.display, position, schema, files, groups, rows, orders, stride, opened };
    Ok(ParquetTable { inner: Arc::new(inner) })
}

/// Checks that `described` are the columns of the first file, by name, and gives their places.
fn agree(columns: &mut [Column], described: &[Column], first: &ParquetFile, other: &ParquetFile) -> Result<Vec<usize>> {
    let refuse = |name: &str, what: String| {
        let message = format!("files of one table must agree: {} and {}: {what}", first.file.name, other.file.name);
        Error::new(ErrorKind::Schema, message).in_column(name)
    };
    if let Some(column) = described.iter().find(|column| columns.iter().all(|known| known.name != column.name)) {
        return Err(refuse(&column.name, "the first has no such column".to_owned()));
    }
    let mut roots = Vec::with_capacity(columns.len());
    for known in columns {
        let Some(root) = described.iter().position(|column| column.name == known.name) else {
            return Err(refuse(&known.name, "the second has no such column".to_owned()));
        };
        let column = &described[root];
        if column.logical != known.logical {
            return Err(refuse(&known.name, format!("expected {}, found {}", known.native, column.native)));
        }
        known.nullable |= column.nullable;
        roots.push(root);
    }
    Ok(roots)
}

/// A row, and one after the last.
type Rows = (u64, u64);

impl Inner {
    fn order(&self, projection: &Projection) -> Result<Arc<KeyOrder>> {
        self.orders.get(&projection.key, || self.scan_keys(projection))
    }

    fn scan_keys(&self, projection: &Projection) -> Result<KeyOrder> {
        let keys = order::key_projection(projection);
        let mut check = OrderCheck::new(&keys, self.stride)?;
        let mut disorder = None;
        for span in self.spans(0, self.rows) {
            self.read_span(&span, &keys, KEY_BATCH_BYTES, &mut |batch| {
                let taken = match batch.whole_numbers() {
                    Some(keys) => check.take_whole(&keys)?,
                    None => false,
                };
                disorder = if taken { None } else { check.take(&batch)? };
                Ok(disorder.is_none())
            })?;
            if let Some((first, second)) = disorder {
                return Ok(KeyOrder::Disorder { file: self.files[span.file].file.name.clone(), first, second });
            }
        }
        for file in &self.files {
            file.file.check()?;
        }
        Ok(KeyOrder::Ascending(check.finish()))
    }

    /// The rows `from..to`, cut at row groups.
    fn spans(&self, from: u64, to: u64) -> Vec<Span> {
        if from >= to {
            return Vec::new();
        }
        let after = |group: &Group| group.first_row + group.rows;
        let start = self.groups.partition_point(|group| after(group) <= from);
        let groups = self.groups[start..].iter().take_while(|group| group.first_row < to);
        groups
            .filter(|group| group.rows > 0)
            .map(|group| Span {
                file: group.file,
                row_group: group.number,
                from: from.saturating_sub(group.first_row),
                to: (to - group.first_row).min(group.rows),
            })
            .collect()
    }

    /// The number of the first row whose key is at least `key`.
    fn lower_bound(&self, index: &KeyIndex, projection: &Projection, key: &[u8]) -> Result<u64> {
        let (from, to) = index.stretch(key);
        let keys = order::key_projection(projection);
        let layout = RowLayout::new(&keys)?;
        let mut encoded = EncodedBatch::new();
        let (mut row, mut done) = (from, false);
        for span in self.spans(from, to) {
            self.read_span(&span, &keys, KEY_BATCH_BYTES, &mut |batch| {
                encoded.clear();
                crate::connector::NativeBatch::encode(&batch, &mut RowWriter::new(&layout, &mut encoded))?;
                for at in 0..encoded.len() {
                    if encoded.record(at).key >= key {
                        done = true;
                        return Ok(false);
                    }
                    row += 1;
                }
                Ok(true)
            })?;
            if done {
                break;
            }
        }
        Ok(row)
    }

    /// Keys from places that are evenly spread over the rows; the same for the same files.
    fn sample(&self, projection: &Projection) -> Result<Vec<Vec<u8>>> {
        let keys = order::key_projection(projection);
        let layout = RowLayout::new(&keys)?;
        let mut encoded = EncodedBatch::new();
        let mut sample = Vec::new();
        let places = (self.rows / SAMPLE_ROWS).clamp(1, SAMPLE_PLACES);
        let step = self.rows / places;
        for place in 0..places {
            let from = place * step;
            for span in self.spans(from, (from + SAMPLE_ROWS).min(self.rows)) {
                self.read_span(&span, &keys, KEY_BATCH_BYTES, &mut |batch| {
                    encoded.clear();
                    crate::connector::NativeBatch::encode(&batch, &mut RowWriter::new(&layout, &mut encoded))?;
                    sample.extend((0..encoded.len()).map(|row| encoded.record(row).key.to_vec()));
                    Ok(true)
                })?;
            }
        }
        Ok(sample)
    }

    /// The rows of a key range (first, and one after the last), and rows that were read to find that out.
    fn rows_of(&self, projection: &Projection, range: &KeyRange) -> Result<(Rows, Vec<Rows>)> {
        match &*self.order(projection)? {
            KeyOrder::Disorder { file, first, second } => Err(order::disorder_error(file, first, second)),
            KeyOrder::Ascending(index) => {
                let bound = |key: &Vec<u8>| self.lower_bound(index, projection, key);
                let from = range.lower.as_ref().map_or(Ok(0), bound)?;
                let to = range.upper.as_ref().map_or(Ok(self.rows), bound)?.max(from);
                let mut seen: Vec<_> =
                    [&range.lower, &range.upper].into_iter().flatten().map(|key| index.stretch(key)).collect();
                // That no row lies between two neighbours is known from both.
                seen.push((from.saturating_sub(1), to.saturating_add(1).min(self.rows)));
                Ok(((from, to), seen))
            }
        }
    }

    /// Checks that the files that hold `rows` are unchanged; all files if those are all rows, or there is none.
    fn check(&self, rows: &[(u64, u64)]) -> Result<()> {
        let all = rows.iter().any(|(from, to)| *from == 0 && *to == self.rows);
        let spans = rows.iter().flat_map(|(from, to)| self.spans(*from, *to));
        let touched: BTreeSet<usize> =
            if all { (0..self.files.len()).collect() } else { spans.map(|s| s.file).collect() };
        touched.into_iter().try_for_each(|file| self.files[file].file.check())
    }

    fn deliver(&self, projection: &Projection, read: &Read, sender: &Sender) -> Result<()> {
        let ((from, to), seen) = if read.ascending {
            if projection.key.is_empty() && self.rows > 0 {
                return Err(Error::new(ErrorKind::Order, "reading files without a key: rows cannot be had in order"));
            }
            self.rows_of(projection, &read.range)?
        } else if read.range == KeyRange::all() {
            ((0, self.rows), vec![(0, self.rows)])
        } else {
            return Err(Error::internal("an unordered read of a range was asked for"));
        };
        for span in self.spans(from, to) {
            let mut listening = true;
            self.read_span(&span, projection, read.batch_bytes_max, &mut |batch| {
                listening = sender.send(Box::new(batch));
                Ok(listening)
            })?;
            if !listening {
                return Ok(());
            }
        }
        self.check(&seen)
    }
}

impl FrozenTable for ParquetTable {
    fn position(&self) -> &Position {
        &self.inner.position
    }

    fn schema(&self) -> &TableSchema {
        &self.inner.schema
    }

    fn order<'a>(&'a self, projection: &'a Arc<Projection>) -> BoxFuture<'a, Result<OrderSupport>> {
        Box::pin(async move {
            if projection.key.is_empty() {
                return Ok(order::support_without_key());
            }
            let (inner, wanted) = (Arc::clone(&self.inner), Arc::clone(projection));
            let order = blocking(move |_| inner.order(&wanted)).await.map_err(|e| e.in_table(&self.inner.display))?;
            Ok(order.support(ReadOrder::ServerRanges))
        })
    }

    fn stream(&self, projection: &Arc<Projection>, read: &Read) -> RowStream {
        let (inner, projection, read) = (Arc::clone(&self.inner), Arc::clone(projection), read.clone());
        fed_stream(self.inner.display.clone(), move |sender| inner.deliver(&projection, &read, sender))
    }

    fn splits<'a>(&'a self, projection: &'a Arc<Projection>, parts: usize) -> BoxFuture<'a, Result<Vec<Vec<u8>>>> {
        Box::pin(async move {
            if projection.key.is_empty() || parts < 2 {
                return Ok(Vec::new());
            }
            let (inner, wanted) = (Arc::clone(&self.inner), Arc::clone(projection));
            let cuts = blocking(move |_| {
                Ok(match &*inner.order(&wanted)? {
                    KeyOrder::Ascending(index) => index.splits(parts),
                    KeyOrder::Disorder { .. } => order::splits_of_sample(inner.sample(&wanted)?, parts),
                })
            });
            cuts.await.map_err(|error| error.in_table(&self.inner.display))
        })
    }

    fn explain(&self, projection: &Arc<Projection>, read: &Read) -> String {
        let inner = &self.inner;
        let columns: Vec<&str> = projection.columns().map(|column| column.name.as_str()).collect();
        let index = inner.orders.peek(&projection.key).filter(|_| read.ascending);
        let (from, to) = match index.as_deref() {
            Some(KeyOrder::Ascending(index)) => {
                let from = read.range.lower.as_ref().map_or(0, |key| index.stretch(key).0);
                (from, read.range.upper.as_ref().map_or(inner.rows, |key| index.stretch(key).1))
            }
            _ => (0, inner.rows),
        };
        let spans = inner.spans(from, to);
        let mut text = format!("parquet {}: columns {}", inner.display, columns.join(", "));
        for (file, frozen) in inner.files.iter().enumerate() {
            let of_file: Vec<&Span> = spans.iter().filter(|span| span.file == file).collect();
            if let (Some(first), Some(last)) = (of_file.first(), of_file.last()) {
                let _ = write!(
                    text,
                    "\n{}: row groups {} to {} of {}, from row {} of the first to row {} of the last",
                    frozen.file.name,
                    first.row_group,
                    last.row_group,
                    frozen.row_groups(),
                    first.from,
                    last.to
                );
            }
        }
        text
    }

    fn read_bytes_max(&self, projection: &Arc<Projection>) -> u64 {
        self.inner.read_bytes_max(projection)
    }
}

#[cfg(test)]
impl ParquetTable {
    /// Row groups opened so far.
    pub(super) fn row_groups_opened(&self) -> u64 {
        self.inner.opened.load(std::sync::atomic::Ordering::Relaxed)
    }
}
