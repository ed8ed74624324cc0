//! Tables of text files: CSV and JSON lines, read from start to end.

use super::{
    FileSet, Sender, append_partitions, blocking,
    csv::Splitter,
    fed_stream, json,
    naming::{Compression, Format, compression_of},
    order::{self, KeyOrder, OrderCache, OrderCheck},
    position_of,
    source::{FileRef, OBJECT_READ_BYTES},
    text::{RawRecord, TextBatch, TextColumn, Token},
};
use crate::{
    connector::{FrozenTable, NativeBatch, OrderSupport, Read, RowStream},
    encode::{EncodedBatch, RowLayout, RowWriter},
    model::{
        Column, Error, ErrorKind, FileOptions, KeyRange, LogicalType, NameCase, Position, Projection, ReadOrder,
        Result, TableSchema,
    },
};
use futures::future::BoxFuture;
use std::{io, sync::Arc};

/// Bytes of keys that are checked at once.
const KEY_BATCH_BYTES: usize = 1 << 20;

/// Bytes that decompression may hold: the largest window that a zstd decoder accepts by default.
const DECOMPRESSION_BYTES: u64 = 128 << 20;

/// A frozen table of text files.
pub(super) struct TextTable {
    inner: Arc<Inner>,
}

struct Inner {
    display: String,
    position: Position,
    schema: TableSchema,
    files: Vec<FileRef>,
    /// Columns that the files have; those that their folders make follow.
    fields: usize,
    format: Format,
    options: FileOptions,
    orders: OrderCache,
}

/// Records of one file.
enum Records {
    Csv(Splitter<Box<dyn io::Read + Send>>),
    Json(json::Lines<Box<dyn io::Read + Send>>),
}

impl Records {
    fn next(&mut self, record: &mut RawRecord) -> Result<bool> {
        match self {
            Self::Csv(splitter) => splitter.next(record),
            Self::Json(lines) => lines.next(record),
        }
    }

    fn number(&self) -> u64 {
        match self {
            Self::Csv(splitter) => splitter.record_number(),
            Self::Json(lines) => lines.line_number(),
        }
    }
}

fn open(file: &FileRef) -> Result<Box<dyn io::Read + Send>> {
    let raw = file.sequential()?;
    Ok(match compression_of(&file.name) {
        Compression::Plain => raw,
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(raw)),
        Compression::Zstd => {
            Box::new(zstd::stream::read::Decoder::new(raw).map_err(|error| super::source::io_error(&file.name, error))?)
        }
    })
}

/// Freezes the files. Blocks.
///
/// # Errors
/// `Schema` if the files do not agree or have no header, and those of reading.
pub(super) fn freeze(set: FileSet, options: &FileOptions) -> Result<TextTable> {
    let position = position_of(&set);
    let mut options = options.clone();
    if set.tabs && options.delimiter == FileOptions::default().delimiter {
        options.delimiter = b'\t';
    }
    let mut columns = match set.format {
        Format::JsonLines => json_columns(&set.files)?,
        _ => csv_columns(&set.files, &options)?,
    };
    let fields = columns.len();
    append_partitions(&set, &mut columns)?;
    let bytes = set.files.iter().map(|file| file.stamp.size).sum();
    let schema = TableSchema {
        display: set.display.clone(),
        columns,
        keys: Vec::new(),
        name_case: NameCase::Sensitive,
        rows_estimate: None,
        bytes_estimate: Some(bytes),
    };
    let orders = OrderCache::default();
    let FileSet { display, files, format, .. } = set;
    let inner = Inner { display, position, schema, files, fields, format, options, orders };
    Ok(TextTable { inner: Arc::new(inner) })
}

fn column(name: String, native: &str, logical: LogicalType) -> Column {
    Column { name, native: native.to_owned(), logical, nullable: true, hidden: false, collation: None }
}

fn csv_columns(files: &[FileRef], options: &FileOptions) -> Result<Vec<Column>> {
    let mut known: Option<(&FileRef, Vec<String>)> = None;
    for file in files {
        let names = csv_names(file, options)?;
        file.check()?;
        match &known {
            None => known = Some((file, names)),
            Some((first, expected)) if *expected != names => {
                let at = expected.iter().zip(&names).position(|(one, other)| one != other);
                let name = at.and_then(|at| names.get(at)).cloned();
                let message = format!(
                    "files of one table must have the same columns in the same order: {} and {} differ",
                    first.name, file.name
                );
                let error = Error::new(ErrorKind::Schema, message);
                return Err(match name {
                    Some(name) => error.in_column(name),
                    None => error,
                });
            }
            Some(_) => {}
        }
    }
    let names = known.map(|(_, names)| names).unwrap_or_default();
    Ok(names.into_iter().map(|name| column(name, "csv", LogicalType::Untyped)).collect())
}

fn csv_names(file: &FileRef, options: &FileOptions) -> Result<Vec<String>> {
    let mut splitter = Splitter::new(open(file)?, &file.name, options.delimiter, "")?;
    let mut record = RawRecord::default();
    let found = splitter.next(&mut record)?;
    if !options.header {
        return Ok((1..=record.len()).map(|number| format!("c{number}")).collect());
    }
    let refuse = |what: String| Error::new(ErrorKind::Schema, format!("reading the header of {}: {what}", file.name));
    if !found {
        return Err(refuse("the file is empty".to_owned()));
    }
    let mut names: Vec<String> = Vec::with_capacity(record.len());
    for at in 0..record.len() {
        let bytes = record.raw(at).map(|(_, bytes)| bytes).unwrap_or_default();
        let name = std::str::from_utf8(bytes).map_err(|_| refuse(format!("name {} is not UTF-8", at + 1)))?;
        if name.is_empty() {
            return Err(refuse(format!("name {} is empty", at + 1)));
        }
        if names.iter().any(|known| known == name) {
            return Err(refuse(format!("the name {name} occurs twice")));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn json_columns(files: &[FileRef]) -> Result<Vec<Column>> {
    let mut survey = json::Survey::default();
    for file in files {
        survey.read(&file.name, open(file)?)?;
        file.check()?;
    }
    Ok(survey.columns().into_iter().map(|(name, native, logical)| column(name, native, logical)).collect())
}

/// What is done with the rows of a walk.
struct Walk<'a> {
    projection: &'a Projection,
    batch_bytes_max: usize,
}

impl Inner {
    fn records(&self, file: &FileRef) -> Result<Records> {
        let input = open(file)?;
        if self.format == Format::JsonLines {
            let names = self.schema.columns[..self.fields].iter().map(|column| column.name.clone()).collect();
            return Ok(Records::Json(json::Lines::new(input, &file.name, names)));
        }
        let mut splitter = Splitter::new(input, &file.name, self.options.delimiter, &self.options.null)?;
        if self.options.header {
            splitter.next(&mut RawRecord::default())?;
        }
        Ok(Records::Csv(splitter))
    }

    /// Hands all rows to `take`, batch by batch, until it says `false`.
    fn walk(&self, walk: &Walk<'_>, take: &mut dyn FnMut(&FileRef, TextBatch) -> Result<bool>) -> Result<()> {
        let logical = |at: usize| self.schema.columns.get(at).map_or(LogicalType::Untyped, |c| c.logical.clone());
        let columns: Arc<[TextColumn]> = TextColumn::of(walk.projection, logical).into();
        let mut record = RawRecord::default();
        for file in &self.files {
            let name: Arc<str> = Arc::from(file.name.as_str());
            let mut records = self.records(file)?;
            let mut batch = TextBatch::new(&columns, &name, records.number() + 1, walk.batch_bytes_max);
            while records.next(&mut record).map_err(|error| file.check().err().unwrap_or(error))? {
                if record.len() != self.fields {
                    let message = format!(
                        "reading {}: record {}: expected {} fields, found {}",
                        file.name,
                        records.number(),
                        self.fields,
                        record.len()
                    );
                    return Err(Error::new(ErrorKind::Value, message));
                }
                for value in file.partitions.iter() {
                    record.bytes.extend_from_slice(value.as_deref().unwrap_or_default().as_bytes());
                    record.end_field(if value.is_some() { Token::Text } else { Token::Null })?;
                }
                if batch.rows() > 0 && batch.used() + batch.cost(&record) > walk.batch_bytes_max {
                    let next = TextBatch::new(&columns, &name, records.number(), walk.batch_bytes_max);
                    if !take(file, std::mem::replace(&mut batch, next))? {
                        return file.check();
                    }
                }
                batch.push(&record)?;
            }
            let more = batch.rows() == 0 || take(file, batch)?;
            file.check()?;
            if !more {
                return Ok(());
            }
        }
        Ok(())
    }

    fn order(&self, projection: &Projection) -> Result<Arc<KeyOrder>> {
        self.orders.get(&projection.key, || {
            let keys = order::key_projection(projection);
            let mut check = OrderCheck::new(&keys, order::STRIDE_ROWS)?;
            let mut disorder = None;
            self.walk(&Walk { projection: &keys, batch_bytes_max: KEY_BATCH_BYTES }, &mut |file, batch| {
                disorder = check.take(&batch)?.map(|pair| (file.name.clone(), pair));
                Ok(disorder.is_none())
            })?;
            Ok(match disorder {
                Some((file, (first, second))) => KeyOrder::Disorder { file, first, second },
                None => KeyOrder::Ascending(check.finish()),
            })
        })
    }

    fn deliver(&self, projection: &Projection, read: &Read, sender: &Sender) -> Result<()> {
        if read.ascending {
            if projection.key.is_empty() {
                return Err(Error::new(ErrorKind::Order, "reading files without a key: rows cannot be had in order"));
            }
            if let KeyOrder::Disorder { file, first, second } = &*self.order(projection)? {
                return Err(order::disorder_error(file, first, second));
            }
        }
        let everything = read.range == KeyRange::all();
        if !everything && !read.ascending {
            return Err(Error::internal("an unordered read of a range was asked for"));
        }
        let keys = order::key_projection(projection);
        let layout = RowLayout::new(&keys)?;
        let logical = |at: usize| self.schema.columns.get(at).map_or(LogicalType::Untyped, |c| c.logical.clone());
        let key_columns = TextColumn::of(&keys, logical).len();
        let mut encoded = EncodedBatch::new();
        self.walk(&Walk { projection, batch_bytes_max: read.batch_bytes_max }, &mut |_, mut batch| {
            if !everything {
                encoded.clear();
                batch.encode_first(key_columns, &mut RowWriter::new(&layout, &mut encoded))?;
                let inside = |row: usize| read.range.contains(encoded.record(row).key);
                let from = (0..encoded.len()).find(|row| inside(*row)).unwrap_or(encoded.len());
                let to = (from..encoded.len()).find(|row| !inside(*row)).unwrap_or(encoded.len());
                let last = encoded.len().checked_sub(1).map(|row| read.range.is_below_upper(encoded.record(row).key));
                batch.keep(from, to);
                let listening = batch.rows() == 0 || sender.send(Box::new(batch));
                return Ok(listening && last != Some(false));
            }
            Ok(sender.send(Box::new(batch)))
        })
    }
}

impl FrozenTable for TextTable {
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
            Ok(order.support(ReadOrder::ServerOnce))
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
            let order = blocking(move |_| inner.order(&wanted)).await.map_err(|e| e.in_table(&self.inner.display))?;
            Ok(match &*order {
                KeyOrder::Ascending(index) => index.splits(parts),
                KeyOrder::Disorder { .. } => Vec::new(),
            })
        })
    }

    fn explain(&self, projection: &Arc<Projection>, _read: &Read) -> String {
        let inner = &self.inner;
        let columns: Vec<&str> = projection.columns().map(|column| column.name.as_str()).collect();
        let names: Vec<&str> = inner.files.iter().map(|file| file.name.as_str()).collect();
        let format = match inner.format {
            Format::JsonLines => "json lines".to_owned(),
            _ => format!(
                "csv (delimiter {:?}, {}, NULL is the unquoted field {:?})",
                char::from(inner.options.delimiter),
                if inner.options.header { "with header" } else { "without header" },
                inner.options.null
            ),
        };
        format!("{format} {}: columns {}\n{}", inner.display, columns.join(", "), names.join("\n"))
    }

    fn read_bytes_max(&self, _projection: &Arc<Projection>) -> u64 {
        let compressed = self.inner.files.iter().any(|file| compression_of(&file.name) != Compression::Plain);
        2 * OBJECT_READ_BYTES as u64 + if compressed { DECOMPRESSION_BYTES } else { 0 }
    }
}
