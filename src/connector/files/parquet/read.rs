//! Reads of row spans: one row group at a time, the needed columns alone, batches of about the asked size.

use super::{
    Inner,
    arrow::{ArrowBatch, BatchColumn, Column, canonical_of},
    file::{ParquetFile, parquet_error},
};
use crate::model::{Error, LogicalType, Projection, Result};
use arrow_array::RecordBatch;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
        },
    },
    basic::Compression,
    file::metadata::{ColumnChunkMetaData, RowGroupMetaData},
};
use std::{ops::Range, sync::atomic::Ordering};

/// Rows of a batch at most: beyond it larger batches no longer decode faster.
const BATCH_ROWS_MAX: usize = 16_384;

/// Bytes of a data page once decompressed: the format's recommendation, which writers keep to within a batch of values.
const PAGE_BYTES: u64 = 1 << 20;

/// Times that a row group is opened anew because its batches come out too large. Buffers that batches share (dictionaries)
/// make every batch look large, and would otherwise have it opened for each row.
const REOPENS_MAX: usize = 4;

/// Rows of one row group.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// Number of the file.
    pub(super) file: usize,
    /// Number of the row group in the file.
    pub(super) row_group: usize,
    /// First row in the row group.
    pub(super) from: u64,
    /// One after the last row.
    pub(super) to: u64,
}

/// What of a projection a file must deliver.
struct Wanted {
    /// Root columns, sorted.
    roots: Vec<usize>,
    /// Root columns whose second half is needed, sorted.
    second: Vec<usize>,
}

impl Wanted {
    fn new(file: &ParquetFile, projection: &Projection) -> Result<Self> {
        let mut roots = Vec::new();
        for column in projection.columns() {
            match file.roots.get(column.index) {
                Some(root) => roots.push(*root),
                None if file.partition(column.index).is_some() => {}
                None => return Err(Error::internal("a projected column is not in the file")),
            }
        }
        roots.sort_unstable();
        roots.dedup();
        let second = roots.iter().copied().filter(|root| file.paired[*root]).collect();
        Ok(Self { roots, second })
    }
}

fn count(rows: u64) -> Result<usize> {
    usize::try_from(rows).map_err(|_| Error::internal("a row group has too many rows for this machine"))
}

fn unsigned(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

/// Column chunks of root columns.
fn chunks<'a>(
    file: &'a ParquetFile,
    group: &'a RowGroupMetaData,
    roots: &'a [usize],
) -> impl Iterator<Item = &'a ColumnChunkMetaData> {
    let schema = file.metadata.parquet_schema();
    let leaves = (0..group.num_columns()).filter(move |leaf| roots.contains(&schema.get_column_root_idx(*leaf)));
    leaves.map(|leaf| group.column(leaf))
}

/// Rows of which a batch is about `bytes_max` large, by what the metadata says.
fn batch_rows(file: &ParquetFile, group: &RowGroupMetaData, roots: &[usize], bytes_max: usize) -> usize {
    let bytes: u64 = chunks(file, group, roots)
        .map(|chunk| {
            let values = unsigned(chunk.num_values()).saturating_mul(8);
            let text = chunk.unencoded_byte_array_data_bytes().map_or(0, unsigned);
            unsigned(chunk.uncompressed_size()).max(text).max(values)
        })
        .sum();
    let rows = unsigned(group.num_rows()).max(1);
    let per_row = (bytes / rows).max(1);
    usize::try_from(bytes_max as u64 / per_row).unwrap_or(usize::MAX).clamp(1, BATCH_ROWS_MAX)
}

impl Inner {
    /// Reads the rows of `span` in order and hands them to `take` until it says `false`.
    ///
    /// # Errors
    /// `PositionLost`, `Read`, and those of `take`.
    pub(super) fn read_span(
        &self,
        span: &Span,
        projection: &Projection,
        bytes_max: usize,
        take: &mut dyn FnMut(ArrowBatch) -> Result<bool>,
    ) -> Result<()> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let file = &self.files[span.file];
        let wanted = Wanted::new(file, projection)?;
        let group = file.metadata.metadata().row_group(span.row_group);
        let mut rows = batch_rows(file, group, &wanted.roots, bytes_max);
        let ranges: Vec<Range<u64>> = chunks(file, group, &wanted.roots)
            .map(ColumnChunkMetaData::byte_range)
            .map(|(start, length)| start..start.saturating_add(length))
            .collect();
        let source = file.file.ranges()?.holding(&file.file.name, &ranges)?;
        let (mut from, mut reopens) = (span.from, 0);
        // Metadata may say far too little (a dictionary of long texts): then the reader is opened anew for fewer rows.
        while from < span.to {
            let here = Span { from, ..span.clone() };
            let mut first = open(file, &file.metadata, &source, &here, &wanted.roots, rows)?;
            let mut second = match &file.second {
                Some(metadata) if !wanted.second.is_empty() => {
                    Some(open(file, metadata, &source, &here, &wanted.second, rows)?)
                }
                _ => None,
            };
            loop {
                let Some(batch) = next(file, &mut first)? else {
                    if from == span.to {
                        return Ok(());
                    }
                    let message = format!("reading {}: a row group ended early", file.file.name);
                    return Err(Error::new(crate::model::ErrorKind::Read, message));
                };
                let other = match &mut second {
                    Some(reader) => next(file, reader)?,
                    None => None,
                };
                from += batch.num_rows() as u64;
                let bytes = batch.get_array_memory_size();
                let too_large = bytes > bytes_max.saturating_mul(2) && batch.num_rows() > 1;
                let actual = batch.num_rows();
                for batch in self.cut(file, projection, &wanted, &batch, other.as_ref(), bytes_max)? {
                    if !take(batch)? {
                        return Ok(());
                    }
                }
                if too_large && reopens < REOPENS_MAX {
                    reopens += 1;
                    rows = (actual / (bytes / bytes_max.max(1)).max(2)).max(1);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Cuts a batch that came out too large.
    fn cut(
        &self,
        file: &ParquetFile,
        projection: &Projection,
        wanted: &Wanted,
        batch: &RecordBatch,
        second: Option<&RecordBatch>,
        bytes_max: usize,
    ) -> Result<Vec<ArrowBatch>> {
        let rows = batch.num_rows();
        let bytes = batch.get_array_memory_size();
        let parts = (bytes / bytes_max.max(1)).clamp(1, rows.max(1));
        let step = rows.div_ceil(parts).max(1);
        let mut cuts = Vec::with_capacity(parts);
        for from in (0..rows).step_by(step) {
            let to = (from + step).min(rows);
            let mut columns = Vec::new();
            for column in projection.columns() {
                columns.push(self.column(file, wanted, column, batch, second)?);
            }
            // Parts share the memory of the whole: each answers for its share.
            cuts.push(ArrowBatch { rows, bytes: bytes * (to - from) / rows, columns, span: (from, to) });
        }
        Ok(cuts)
    }

    fn column(
        &self,
        file: &ParquetFile,
        wanted: &Wanted,
        column: &crate::model::Projected,
        batch: &RecordBatch,
        second: Option<&RecordBatch>,
    ) -> Result<BatchColumn> {
        let lost = || Error::internal("a projected column was not read");
        if let Some(value) = file.partition(column.index) {
            let data = Column::constant(value.clone());
            return Ok(BatchColumn { name: column.name.clone(), data, as_text: None });
        }
        let root = *file.roots.get(column.index).ok_or_else(lost)?;
        let logical = &self.schema.columns.get(column.index).ok_or_else(lost)?.logical;
        let at = wanted.roots.binary_search(&root).map_err(|_| lost())?;
        let array = batch.columns().get(at).ok_or_else(lost)?;
        let data = if file.paired[root] {
            let at = wanted.second.binary_search(&root).map_err(|_| lost())?;
            let other = second.and_then(|batch| batch.columns().get(at)).ok_or_else(lost)?;
            Column::paired(array, other)
        } else {
            Column::new(array, logical)
        };
        let is_text = matches!(logical, LogicalType::Text | LogicalType::Enum | LogicalType::Untyped);
        let as_text = if column.as_text && !is_text { Some(canonical_of(logical).ok_or_else(lost)?) } else { None };
        Ok(BatchColumn { name: column.name.clone(), data: data.map_err(|e| e.in_column(&column.name))?, as_text })
    }

    /// Bytes that one read of `projection` holds outside of batches, at most.
    pub(super) fn read_bytes_max(&self, projection: &Projection) -> u64 {
        let mut largest = 0;
        for file in &self.files {
            let Ok(wanted) = Wanted::new(file, projection) else { continue };
            for group in file.metadata.metadata().row_groups() {
                let of = |roots: &[usize]| -> u64 {
                    let fetched = |chunk: &ColumnChunkMetaData| {
                        if file.file.is_object() { unsigned(chunk.compressed_size()) } else { 0 }
                    };
                    chunks(file, group, roots).map(|chunk| fetched(chunk).saturating_add(page_bytes(chunk))).sum()
                };
                // Paired columns are read twice at once.
                largest = largest.max(of(&wanted.roots).saturating_add(of(&wanted.second)));
            }
        }
        largest.saturating_add(super::order::INDEX_BYTES_MAX as u64)
    }
}

/// Bytes that the reader of a column chunk holds: its dictionary, one page, and that page before it was decompressed.
///
/// Metadata do not tell how large pages are; what all pages take together bounds them, and what the dictionary takes in
/// the file is known from where the first data page lies.
fn page_bytes(chunk: &ColumnChunkMetaData) -> u64 {
    let (plain, packed) = (unsigned(chunk.uncompressed_size()), unsigned(chunk.compressed_size()));
    let is_packed = chunk.compression() != Compression::UNCOMPRESSED;
    let whole = plain.saturating_add(if is_packed { packed } else { 0 });
    // Scales bytes in the file to bytes once decompressed, rounded up.
    let scaled = |bytes: u64| {
        let product = u128::from(bytes) * u128::from(plain.max(packed));
        u64::try_from(product.div_ceil(u128::from(packed.max(1)))).unwrap_or(u64::MAX)
    };
    let dictionary = chunk.dictionary_page_offset().map_or(0, |start| {
        let length = unsigned(chunk.data_page_offset().saturating_sub(start));
        scaled(length).max(length)
    });
    let page = PAGE_BYTES.saturating_mul(if is_packed { 2 } else { 1 });
    dictionary.saturating_add(page).min(whole)
}

fn open(
    file: &ParquetFile,
    metadata: &ArrowReaderMetadata,
    source: &super::super::source::RangeReader,
    span: &Span,
    roots: &[usize],
    batch_rows: usize,
) -> Result<ParquetRecordBatchReader> {
    let total = file.rows(span.row_group)?;
    let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source.clone(), metadata.clone())
        .with_row_groups(vec![span.row_group])
        .with_projection(ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied()))
        .with_batch_size(batch_rows);
    if span.from > 0 || span.to < total {
        builder = builder.with_row_selection(RowSelection::from(vec![
            RowSelector::skip(count(span.from)?),
            RowSelector::select(count(span.to - span.from)?),
            RowSelector::skip(count(total - span.to)?),
        ]));
    }
    builder.build().map_err(|error| parquet_error(&file.file, error))
}

fn next(file: &ParquetFile, reader: &mut ParquetRecordBatchReader) -> Result<Option<RecordBatch>> {
    reader.next().transpose().map_err(|error| parquet_error(&file.file, error.into()))
}
