//! One Parquet file: its metadata, its columns, and the schemas that make every value exact.

use super::{
    super::{naming::PartitionValue, source::FileRef},
    arrow::logical_of,
};
use crate::model::{Column, Error, ErrorKind, LogicalType, Result};
use arrow_schema::{DataType, Field, IntervalUnit, Schema, TimeUnit};
use parquet::{
    arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
    basic::{ConvertedType, LogicalType as ParquetLogical, Type as Physical},
    errors::ParquetError,
    schema::types::{ColumnDescriptor, SchemaDescriptor},
};
use std::sync::Arc;

/// An opened file.
pub(super) struct ParquetFile {
    /// The file.
    pub(super) file: FileRef,
    /// How its rows are read.
    pub(super) metadata: ArrowReaderMetadata,
    /// How the second halves of paired columns are read: INT96 as nanoseconds beside whole seconds, INTERVAL as months
    /// beside days. No single Arrow type holds their values.
    pub(super) second: Option<ArrowReaderMetadata>,
    /// Which root columns are paired, by their place in this file.
    pub(super) paired: Vec<bool>,
    /// Place in this file of each column of the table.
    pub(super) roots: Vec<usize>,
}

/// An error of the Parquet reader as ours.
pub(super) fn parquet_error(file: &FileRef, error: ParquetError) -> Error {
    if let Err(changed) = file.check() {
        return changed;
    }
    let message = format!("reading {}: it is not a valid Parquet file, or a feature of it is not supported", file.name);
    Error::new(ErrorKind::Read, message).caused_by(error)
}

fn is_int96(column: &ColumnDescriptor) -> bool {
    column.physical_type() == Physical::INT96
}

fn is_interval(column: &ColumnDescriptor) -> bool {
    column.converted_type() == ConvertedType::INTERVAL
}

fn with_type(field: &Field, data_type: DataType) -> Arc<Field> {
    Arc::new(field.clone().with_data_type(data_type))
}

impl ParquetFile {
    /// Opens `file` and describes its columns. Blocks.
    ///
    /// # Errors
    /// `Read` for a file that is no Parquet, `PositionLost`, and those of the store.
    pub(super) fn open(file: FileRef) -> Result<(Self, Vec<Column>)> {
        let reader = file.ranges()?;
        let load = |options| ArrowReaderMetadata::load(&reader, options);
        let plain = load(ArrowReaderOptions::new()).map_err(|error| parquet_error(&file, error))?;
        file.check()?;
        let (mut columns, mut paired) = (Vec::new(), Vec::new());
        for (root, field) in plain.schema().fields().iter().enumerate() {
            let leaves = leaves_of(plain.parquet_schema(), root);
            let is_paired = leaves.iter().any(|leaf| is_int96(leaf) || is_interval(leaf));
            paired.push(is_paired);
            columns.push(describe(field, &leaves, is_paired));
        }
        if let Some(column) = columns.iter().enumerate().find_map(|(at, column): (usize, &Column)| {
            columns[..at].iter().any(|other| other.name == column.name).then_some(column)
        }) {
            let message = format!("reading {}: two columns have this name", file.name);
            return Err(Error::new(ErrorKind::Schema, message).in_column(&column.name));
        }
        let (metadata, second) = if paired.contains(&true) {
            let (first, second) = halves(plain.schema(), &paired);
            let again = |schema| {
                let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
                ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options)
                    .map_err(|error| parquet_error(&file, error))
            };
            (again(first)?, Some(again(second)?))
        } else {
            (plain, None)
        };
        Ok((Self { file, metadata, second, paired, roots: Vec::new() }, columns))
    }

    /// The value of column `index` of the table, if a folder's name makes that column.
    pub(super) fn partition(&self, index: usize) -> Option<&PartitionValue> {
        self.file.partitions.get(index.checked_sub(self.roots.len())?)
    }

    /// Number of row groups.
    pub(super) fn row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Number of rows of a row group.
    pub(super) fn rows(&self, row_group: usize) -> Result<u64> {
        u64::try_from(self.metadata.metadata().row_group(row_group).num_rows()).map_err(|_| {
            Error::new(ErrorKind::Read, format!("reading {}: a row group has less than no rows", self.file.name))
        })
    }
}

/// The leaves below root column `root`.
pub(super) fn leaves_of(schema: &SchemaDescriptor, root: usize) -> Vec<&ColumnDescriptor> {
    let leaves = 0..schema.num_columns();
    leaves
        .filter(|leaf| schema.get_column_root_idx(*leaf) == root)
        .map(|leaf| &**schema.columns().get(leaf).unwrap_or(&schema.columns()[0]))
        .collect()
}

fn halves(schema: &Schema, paired: &[bool]) -> (Schema, Schema) {
    let half = |interval: IntervalUnit, unit: TimeUnit| {
        let fields = schema.fields().iter().zip(paired).map(|(field, paired)| match field.data_type() {
            DataType::Timestamp(_, zone) if *paired => with_type(field, DataType::Timestamp(unit, zone.clone())),
            DataType::Interval(_) if *paired => with_type(field, DataType::Interval(interval)),
            _ => Arc::clone(field),
        });
        Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
    };
    (half(IntervalUnit::DayTime, TimeUnit::Second), half(IntervalUnit::YearMonth, TimeUnit::Nanosecond))
}

fn describe(field: &Field, leaves: &[&ColumnDescriptor], paired: bool) -> Column {
    let mut logical = logical_of(field);
    let mut native = field.data_type().to_string();
    if let [leaf] = leaves
        && !field.data_type().is_nested()
    {
        native = native_of(leaf, field);
        logical = match (leaf.logical_type_ref(), leaf.converted_type()) {
            (Some(ParquetLogical::Uuid), _) if leaf.type_length() == 16 => LogicalType::Uuid,
            (Some(ParquetLogical::Json), _) | (None, ConvertedType::JSON) => LogicalType::Json,
            (Some(ParquetLogical::Enum), _) | (None, ConvertedType::ENUM) => LogicalType::Enum,
            _ if is_int96(leaf) && matches!(field.data_type(), DataType::Timestamp(_, Some(_))) => {
                LogicalType::Instant { digits: 9 }
            }
            _ if is_int96(leaf) => LogicalType::Timestamp { digits: 9 },
            _ => logical,
        };
        // The reader gives bytes where nothing says that they are UTF-8; only the accessor of labels checks that.
        let is_bytes = match field.data_type() {
            DataType::Binary => logical == LogicalType::Json,
            DataType::LargeBinary | DataType::BinaryView => {
                matches!(logical, LogicalType::Json | LogicalType::Enum)
            }
            _ => false,
        };
        if is_bytes {
            logical = LogicalType::Binary;
        }
        if matches!(logical, LogicalType::Uuid) && !matches!(field.data_type(), DataType::FixedSizeBinary(16)) {
            logical = LogicalType::Binary;
        }
    } else if paired {
        logical = LogicalType::Unsupported("INT96 and INTERVAL within nested columns are not supported".to_owned());
    }
    Column {
        name: field.name().clone(),
        native,
        logical,
        nullable: field.is_nullable(),
        hidden: false,
        collation: None,
    }
}

fn native_of(leaf: &ColumnDescriptor, field: &Field) -> String {
    match leaf.physical_type() {
        Physical::INT96 => "int96".to_owned(),
        physical => format!("{} ({})", field.data_type(), physical.to_string().to_ascii_lowercase()),
    }
}

/// Column types as the format's manual spells them, for the reference page.
pub(in super::super) fn documented() -> Vec<(String, LogicalType)> {
    let of = |native: &str, data_type: DataType| (native.to_owned(), logical_of(&Field::new("", data_type, true)));
    let element = || Arc::new(Field::new("element", DataType::Int32, true));
    let moment = || Some("UTC".into());
    vec![
        of("BOOLEAN", DataType::Boolean),
        of("INT (8, signed)", DataType::Int8),
        of("INT (16, signed)", DataType::Int16),
        of("INT (32, signed)", DataType::Int32),
        of("INT (64, signed)", DataType::Int64),
        of("INT (8, unsigned)", DataType::UInt8),
        of("INT (16, unsigned)", DataType::UInt16),
        of("INT (32, unsigned)", DataType::UInt32),
        of("INT (64, unsigned)", DataType::UInt64),
        of("DECIMAL(38, s)", DataType::Decimal128(38, 2)),
        of("DECIMAL(76, s)", DataType::Decimal256(76, 2)),
        of("FLOAT16", DataType::Float16),
        of("FLOAT", DataType::Float32),
        of("DOUBLE", DataType::Float64),
        of("STRING", DataType::Utf8),
        ("ENUM".to_owned(), LogicalType::Enum),
        ("JSON".to_owned(), LogicalType::Json),
        ("UUID".to_owned(), LogicalType::Uuid),
        of("BYTE_ARRAY", DataType::Binary),
        of("FIXED_LEN_BYTE_ARRAY(n)", DataType::FixedSizeBinary(4)),
        of("DATE", DataType::Date32),
        of("TIME (ms)", DataType::Time32(TimeUnit::Millisecond)),
        of("TIME (us)", DataType::Time64(TimeUnit::Microsecond)),
        of("TIME (ns)", DataType::Time64(TimeUnit::Nanosecond)),
        of("TIMESTAMP (local)", DataType::Timestamp(TimeUnit::Microsecond, None)),
        of("TIMESTAMP (UTC)", DataType::Timestamp(TimeUnit::Microsecond, moment())),
        ("INT96".to_owned(), LogicalType::Timestamp { digits: 9 }),
        of("INTERVAL", DataType::Interval(IntervalUnit::MonthDayNano)),
        of("UNKNOWN (null)", DataType::Null),
        of("LIST", DataType::List(element())),
        of("STRUCT (f)", DataType::Struct(vec![Field::new("f", DataType::Utf8, true)].into())),
    ]
}
