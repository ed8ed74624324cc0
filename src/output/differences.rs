//! The differences of a run: Parquet parts, written while the ranges stream, in bounded memory.

use super::{
    cells::{Cells, Held, field},
    folder::UNFINISHED,
    keys::digest,
    output_error,
};
use crate::{
    encode::{decode_key, fields},
    model::{CanonicalType, ColumnPair, ComparisonPlan, Difference, Error, ErrorKind, Result},
};
use arrow_array::{
    ArrayRef, ListArray, RecordBatch, StructArray,
    builder::{FixedSizeBinaryBuilder, StringBuilder, UInt32Builder, UInt64Builder},
};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Canonical bytes that are gathered before they go to the Parquet writer; one row at least.
const BATCH_BYTES: usize = 1 << 20;
/// Rows that are gathered at most, so that narrow rows do not gather for long.
const BATCH_ROWS: usize = 8192;
/// Memory of a row group at which it is written out. A writer holds about this and [`BATCH_BYTES`], unless a single
/// row is larger, whatever the width of the rows.
const ROW_GROUP_BYTES: usize = 4 << 20;
/// Size of a page of a column: smaller than usual, since every column holds one of data and one of its dictionary.
const PAGE_BYTES: usize = 256 << 10;
/// Memory of one writer in bytes, at most: the gathered columns, whose buffers grow by doubling, a row group with the
/// batch that fills it, and the compressor's state (measured, with thirty leaf columns). Each row beyond 256 KiB that
/// is being written adds several times its size.
pub const WRITER_BYTES: u64 = 20 << 20;
/// Size of a part at which the next one begins: small enough to copy and to read in parallel.
const PART_BYTES: usize = 256 << 20;
/// Parts of one range, as four digits of a name hold.
const PARTS_MAX: usize = 10_000;
/// Ranges, as six digits of a name hold.
const RANGES_MAX: usize = 1_000_000;
/// Largest key or row of a difference in canonical bytes: its text may be eight times as large (bit strings, escaped
/// JSON), and a column of a batch holds at most 2 GiB.
const ROW_BYTES_MAX: usize = 192 << 20;

/// Shape of the differences of a plan; made once and shared by all writers.
#[derive(Debug)]
pub struct DifferenceSchema {
    schema: Arc<Schema>,
    key: Vec<ColumnPair>,
    key_types: Vec<CanonicalType>,
    row: Vec<ColumnPair>,
    key_fields: Fields,
    row_fields: Fields,
}

impl DifferenceSchema {
    /// The shape for `plan`: `kind`, `range`, `changed_columns`, `occurrences`, the structs `key`, `source` and
    /// `sink`, the digests of both rows, and `beyond_type`. A struct without columns is left out, since Parquet has
    /// none.
    #[must_use]
    pub fn new(plan: &ComparisonPlan) -> Self {
        let key_fields: Fields = plan.key.iter().map(field).collect();
        let row_fields: Fields = plan.row.iter().map(field).collect();
        let mut columns = vec![
            Field::new("kind", DataType::Utf8, false),
            Field::new("range", DataType::UInt32, false),
            Field::new("changed_columns", DataType::List(item(DataType::Utf8)), false),
            Field::new("occurrences", DataType::UInt64, false),
        ];
        if !key_fields.is_empty() {
            columns.push(Field::new("key", DataType::Struct(key_fields.clone()), false));
        }
        if !row_fields.is_empty() {
            columns.push(Field::new("source", DataType::Struct(row_fields.clone()), true));
            columns.push(Field::new("sink", DataType::Struct(row_fields.clone()), true));
        }
        columns.push(Field::new("source_digest", DataType::FixedSizeBinary(32), true));
        columns.push(Field::new("sink_digest", DataType::FixedSizeBinary(32), true));
        columns.push(Field::new("beyond_type", DataType::List(item(DataType::Struct(beyond_fields()))), false));
        Self {
            schema: Arc::new(Schema::new(columns)),
            key: plan.key.clone(),
            key_types: plan.key_types(),
            row: plan.row.clone(),
            key_fields,
            row_fields,
        }
    }

    /// The Arrow schema of every part.
    #[must_use]
    pub fn arrow(&self) -> &Arc<Schema> {
        &self.schema
    }
}

fn item(kind: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", kind, false))
}

fn beyond_fields() -> Fields {
    ["side", "column", "value"].into_iter().map(|name| Field::new(name, DataType::Utf8, false)).collect()
}

/// Writes the differences of one range.
///
/// Parts are named `part-<range>-<sequence>.parquet`, so that names sort as keys do. They carry another name until
/// [`DifferenceWriter::finish`], so that a range that fails leaves nothing that looks finished and can be repeated.
pub struct DifferenceWriter {
    folder: PathBuf,
    schema: Arc<DifferenceSchema>,
    range: usize,
    part_bytes: usize,
    rows: Rows,
    open: Option<Part>,
    closed: Vec<PathBuf>,
    /// Whether a difference is lost, so that the range can no longer be finished.
    failed: bool,
}

struct Part {
    path: PathBuf,
    /// The same file, to sync it once the writer has closed.
    file: File,
    writer: ArrowWriter<File>,
}

impl DifferenceWriter {
    /// A writer for the range of this number into `folder` (the one of the differences). Makes no file before the
    /// first difference.
    #[must_use]
    pub fn new(folder: &Path, schema: Arc<DifferenceSchema>, range: usize) -> Self {
        let rows = Rows::new(&schema, range);
        Self {
            folder: folder.to_path_buf(),
            schema,
            range,
            part_bytes: PART_BYTES,
            rows,
            open: None,
            closed: Vec::new(),
            failed: false,
        }
    }

    /// Writes one difference; differences come in key order.
    ///
    /// # Errors
    /// `Output` if the file cannot be written, `Limit` for a row of more than 192 MiB or too many parts, `Internal`
    /// if the bytes do not fit the plan.
    pub fn write(&mut self, difference: &Difference<'_>) -> Result<()> {
        let result = self.write_row(difference);
        self.failed |= result.is_err();
        result
    }

    fn write_row(&mut self, difference: &Difference<'_>) -> Result<()> {
        let sizes = [difference.key, difference.source.unwrap_or_default(), difference.sink.unwrap_or_default()]
            .map(<[u8]>::len);
        let bytes: usize = sizes.iter().sum();
        if let Some(size) = sizes.into_iter().find(|size| *size > ROW_BYTES_MAX) {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("writing differences: expected at most {ROW_BYTES_MAX} bytes in a key or a row, found {size}"),
            )
            .hint("leave the large column out with --exclude")
            .at_key(super::key_text(&self.schema.key_types, difference.key))
            .in_range(self.range));
        }
        if self.rows.count > 0 && self.rows.bytes + bytes > BATCH_BYTES {
            self.flush()?;
        }
        self.rows.push(&self.schema, difference).map_err(|error| error.in_range(self.range))?;
        self.rows.bytes += bytes;
        if self.rows.bytes >= BATCH_BYTES || self.rows.count >= BATCH_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    /// Closes the parts, safely on disk under their final names, and returns them in key order; none if there was no
    /// difference.
    ///
    /// # Errors
    /// `Output` if that fails, `Internal` if a call of [`DifferenceWriter::write`] has failed.
    pub fn finish(mut self) -> Result<Vec<PathBuf>> {
        if self.failed {
            return Err(Error::internal("finishing a range: expected every difference to be written, found one lost")
                .in_range(self.range));
        }
        self.flush()?;
        self.close()?;
        let mut parts = Vec::with_capacity(self.closed.len());
        for unfinished in std::mem::take(&mut self.closed) {
            let path = unfinished.with_extension("parquet");
            fs::rename(&unfinished, &path).map_err(|cause| output_error("naming the part", &path, cause))?;
            parts.push(path);
        }
        Ok(parts)
    }

    /// Writes the one part of a run without differences: no row, the full schema.
    ///
    /// # Errors
    /// `Output` if that fails.
    pub fn write_empty(folder: &Path, schema: Arc<DifferenceSchema>) -> Result<PathBuf> {
        let mut writer = Self::new(folder, schema, 0);
        let part = writer.open_part()?;
        writer.open = Some(part);
        writer.finish()?.pop().ok_or_else(|| Error::internal("writing the empty part: expected a file, found none"))
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows.count == 0 {
            return Ok(());
        }
        let batch = self.rows.finish(&self.schema)?;
        let mut part = match self.open.take() {
            Some(part) => part,
            None => self.open_part()?,
        };
        let failed = |path: &Path, cause| output_error("writing differences to", path, cause);
        part.writer.write(&batch).map_err(|cause| failed(&part.path, cause))?;
        if part.writer.memory_size() >= ROW_GROUP_BYTES {
            part.writer.flush().map_err(|cause| failed(&part.path, cause))?;
        }
        let full = part.writer.bytes_written() >= self.part_bytes;
        self.open = Some(part);
        if full { self.close() } else { Ok(()) }
    }

    fn open_part(&self) -> Result<Part> {
        let sequence = self.closed.len();
        if self.range >= RANGES_MAX || sequence >= PARTS_MAX {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "writing differences: expected at most {RANGES_MAX} ranges of {PARTS_MAX} parts, found range {} and part {sequence}",
                    self.range
                ),
            ));
        }
        let path = self.folder.join(format!("part-{:06}-{sequence:04}.{UNFINISHED}", self.range));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_page_size_limit(PAGE_BYTES)
            .set_data_page_size_limit(PAGE_BYTES)
            .set_created_by(concat!("tieout ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let file = File::create(&path).map_err(|cause| output_error("making the part", &path, cause))?;
        let handle = file.try_clone().map_err(|cause| output_error("making the part", &path, cause))?;
        let writer = ArrowWriter::try_new(handle, Arc::clone(&self.schema.schema), Some(properties))
            .map_err(|cause| output_error("making the part", &path, cause))?;
        Ok(Part { path, file, writer })
    }

    fn close(&mut self) -> Result<()> {
        let Some(Part { path, file, writer }) = self.open.take() else { return Ok(()) };
        self.closed.push(path.clone());
        writer.close().map_err(|cause| output_error("writing differences to", &path, cause))?;
        file.sync_all().map_err(|cause| output_error("writing differences to", &path, cause))
    }
}

impl Drop for DifferenceWriter {
    fn drop(&mut self) {
        let open = self.open.take().map(|part| part.path);
        for path in self.closed.drain(..).chain(open) {
            // A best effort: what stays carries a name that no reader takes for a part, and goes when the run ends.
            let _ = fs::remove_file(path);
        }
    }
}

/// Differences on their way to a record batch.
struct Rows {
    range: u32,
    count: usize,
    bytes: usize,
    kind: StringBuilder,
    number: UInt32Builder,
    changed_offsets: Vec<i32>,
    changed: StringBuilder,
    occurrences: UInt64Builder,
    key: Vec<Cells>,
    source: SideRows,
    sink: SideRows,
    beyond: Beyond,
}

struct SideRows {
    name: &'static str,
    cells: Vec<Cells>,
    present: BooleanBufferBuilder,
    digest: FixedSizeBinaryBuilder,
}

struct Beyond {
    offsets: Vec<i32>,
    side: StringBuilder,
    column: StringBuilder,
    value: StringBuilder,
}

impl Beyond {
    fn push(&mut self, side: &str, column: &str, held: Held) {
        if let Held::Beyond(text) = held {
            self.side.append_value(side);
            self.column.append_value(column);
            self.value.append_value(text);
        }
    }
}

impl SideRows {
    fn new(name: &'static str, row: &[ColumnPair]) -> Self {
        Self {
            name,
            cells: row.iter().map(Cells::new).collect(),
            present: BooleanBufferBuilder::new(0),
            digest: FixedSizeBinaryBuilder::new(32),
        }
    }

    fn push(&mut self, pairs: &[ColumnPair], row: Option<&[u8]>, beyond: &mut Beyond) -> Result<()> {
        self.present.append(row.is_some());
        let Some(row) = row else {
            self.cells.iter_mut().for_each(Cells::append_null);
            self.digest.append_null();
            return Ok(());
        };
        let mut found = fields(row);
        for (cells, pair) in self.cells.iter_mut().zip(pairs) {
            let bytes = found
                .next()
                .ok_or_else(|| Error::internal("writing differences: expected a field for each column, found fewer"))?;
            let held = cells.append_field(bytes).map_err(|error| error.in_column(&pair.name.source))?;
            beyond.push(self.name, &pair.name.source, held);
        }
        if found.next().is_some() {
            return Err(Error::internal("writing differences: expected a field for each column, found more"));
        }
        self.digest
            .append_value(digest(row).0)
            .map_err(|cause| Error::internal("writing differences: expected a digest of 32 bytes").caused_by(cause))
    }

    fn finish(&mut self, fields: &Fields) -> Result<(Option<ArrayRef>, ArrayRef)> {
        let present = NullBuffer::new(self.present.finish());
        let columns = self.cells.iter_mut().map(Cells::finish).collect();
        Ok((structure(fields, columns, Some(present))?, Arc::new(self.digest.finish())))
    }
}

impl Rows {
    fn new(schema: &DifferenceSchema, range: usize) -> Self {
        Self {
            // Larger numbers are refused when the part is opened.
            range: u32::try_from(range).unwrap_or(u32::MAX),
            count: 0,
            bytes: 0,
            kind: StringBuilder::new(),
            number: UInt32Builder::new(),
            changed_offsets: vec![0],
            changed: StringBuilder::new(),
            occurrences: UInt64Builder::new(),
            key: schema.key.iter().map(Cells::new).collect(),
            source: SideRows::new("source", &schema.row),
            sink: SideRows::new("sink", &schema.row),
            beyond: Beyond {
                offsets: vec![0],
                side: StringBuilder::new(),
                column: StringBuilder::new(),
                value: StringBuilder::new(),
            },
        }
    }

    fn push(&mut self, schema: &DifferenceSchema, difference: &Difference<'_>) -> Result<()> {
        self.kind.append_value(difference.kind.as_str());
        self.number.append_value(self.range);
        self.occurrences.append_value(difference.occurrences);
        for index in difference.changed {
            let pair = usize::try_from(*index).ok().and_then(|index| schema.row.get(index)).ok_or_else(|| {
                Error::internal(format!(
                    "writing differences: expected a changed column below {}, found {index}",
                    schema.row.len()
                ))
            })?;
            self.changed.append_value(&pair.name.source);
        }
        self.changed_offsets.push(offset(&self.changed));
        self.push_key(schema, difference.key)?;
        self.source.push(&schema.row, difference.source, &mut self.beyond)?;
        self.sink.push(&schema.row, difference.sink, &mut self.beyond)?;
        self.beyond.offsets.push(offset(&self.beyond.side));
        self.count += 1;
        Ok(())
    }

    fn push_key(&mut self, schema: &DifferenceSchema, key: &[u8]) -> Result<()> {
        if schema.key.is_empty() {
            return Ok(());
        }
        let values = decode_key(&schema.key_types, key)?;
        if values.len() != schema.key.len() {
            return Err(Error::internal(format!(
                "writing differences: expected {} key parts, found {}",
                schema.key.len(),
                values.len()
            )));
        }
        for ((cells, pair), value) in self.key.iter_mut().zip(&schema.key).zip(&values) {
            let held = cells.append_value(value).map_err(|error| error.in_column(&pair.name.source))?;
            self.beyond.push("key", &pair.name.source, held);
        }
        Ok(())
    }

    fn finish(&mut self, schema: &DifferenceSchema) -> Result<RecordBatch> {
        let changed = list(item(DataType::Utf8), &mut self.changed_offsets, Arc::new(self.changed.finish()))?;
        let beyond = structure(
            &beyond_fields(),
            vec![
                Arc::new(self.beyond.side.finish()),
                Arc::new(self.beyond.column.finish()),
                Arc::new(self.beyond.value.finish()),
            ],
            None,
        )?
        .ok_or_else(|| Error::internal("writing differences: expected columns for values beyond their type"))?;
        let beyond = list(item(DataType::Struct(beyond_fields())), &mut self.beyond.offsets, beyond)?;
        let (source, source_digest) = self.source.finish(&schema.row_fields)?;
        let (sink, sink_digest) = self.sink.finish(&schema.row_fields)?;
        let key = structure(&schema.key_fields, self.key.iter_mut().map(Cells::finish).collect(), None)?;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.kind.finish()),
            Arc::new(self.number.finish()),
            changed,
            Arc::new(self.occurrences.finish()),
        ];
        columns.extend([key, source, sink].into_iter().flatten());
        columns.extend([source_digest, sink_digest, beyond]);
        self.count = 0;
        self.bytes = 0;
        RecordBatch::try_new(Arc::clone(&schema.schema), columns).map_err(batch_error)
    }
}

/// Number of texts so far, as the end of a list. Batches hold far fewer than 2^31; a saturated one is refused by Arrow.
fn offset(builder: &StringBuilder) -> i32 {
    i32::try_from(arrow_array::builder::ArrayBuilder::len(builder)).unwrap_or(i32::MAX)
}

fn list(item: Arc<Field>, offsets: &mut Vec<i32>, values: ArrayRef) -> Result<ArrayRef> {
    let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, vec![0])));
    Ok(Arc::new(ListArray::try_new(item, offsets, values, None).map_err(batch_error)?))
}

/// A struct column, or none if it has no fields.
fn structure(fields: &Fields, columns: Vec<ArrayRef>, present: Option<NullBuffer>) -> Result<Option<ArrayRef>> {
    if fields.is_empty() {
        return Ok(None);
    }
    let array = StructArray::try_new(fields.clone(), columns, present).map_err(batch_error)?;
    Ok(Some(Arc::new(array)))
}

fn batch_error(cause: arrow_schema::ArrowError) -> Error {
    Error::internal("writing differences: expected columns that fit the schema").caused_by(cause)
}

#[cfg(test)]
mod tests;
