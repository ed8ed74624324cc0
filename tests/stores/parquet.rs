//! Parquet files, in key order and not.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    contract::contract,
    store::{Store, Wanted},
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
use std::{fs::File, path::Path, sync::Arc};
use tempfile::TempDir;
use tieout::model::ReadOrder;
use tieout_testkit::contract::{Cell, Column, Kind, Table, keyed};

/// Rows of a row group: few, so that ranges have some to leave out.
const ROW_GROUP_ROWS: usize = 16;

/// A folder of files that are written in key order.
pub(crate) struct Parquet(TempDir);

impl Parquet {
    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Boolean => DataType::Boolean,
        Kind::Integer(16) => DataType::Int16,
        Kind::Integer(32) => DataType::Int32,
        Kind::Integer(_) => DataType::Int64,
        Kind::Decimal(precision, scale) => DataType::Decimal128(precision, i8::try_from(scale).unwrap()),
        Kind::Real => DataType::Float32,
        Kind::Double => DataType::Float64,
        Kind::Text | Kind::Char(_) => DataType::Utf8,
        Kind::Binary => DataType::Binary,
        Kind::Date => DataType::Date32,
        Kind::Time => DataType::Time64(TimeUnit::Microsecond),
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Kind::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Kind::Uuid => DataType::FixedSizeBinary(16),
    }
}

/// Values of a column, by the one variant that its cells have.
macro_rules! values {
    ($cells:expr, $variant:ident($value:ident) => $result:expr) => {
        $cells.iter().map(|cell| match cell {
            Cell::$variant($value) => Some($result),
            Cell::Null => None,
            other => panic!("{other:?} in a column of another kind"),
        })
    };
}

fn array(kind: Kind, cells: &[&Cell]) -> ArrayRef {
    match kind {
        Kind::Boolean => Arc::new(values!(cells, Bool(value) => *value).collect::<BooleanArray>()),
        Kind::Integer(16) => {
            Arc::new(values!(cells, Int(value) => i16::try_from(*value).unwrap()).collect::<Int16Array>())
        }
        Kind::Integer(32) => {
            Arc::new(values!(cells, Int(value) => i32::try_from(*value).unwrap()).collect::<Int32Array>())
        }
        Kind::Integer(_) => Arc::new(values!(cells, Int(value) => *value).collect::<Int64Array>()),
        Kind::Decimal(precision, scale) => {
            let values = cells.iter().map(|cell| match cell {
                Cell::Decimal(mantissa, _) => Some(*mantissa),
                _ => None,
            });
            let values: Decimal128Array = values.collect();
            Arc::new(values.with_precision_and_scale(precision, i8::try_from(scale).unwrap()).unwrap())
        }
        Kind::Real => Arc::new(values!(cells, Real(value) => *value).collect::<Float32Array>()),
        Kind::Double => Arc::new(values!(cells, Double(value) => *value).collect::<Float64Array>()),
        Kind::Text | Kind::Char(_) => Arc::new(values!(cells, Text(text) => text.as_str()).collect::<StringArray>()),
        Kind::Binary => Arc::new(values!(cells, Bytes(bytes) => bytes.as_slice()).collect::<BinaryArray>()),
        Kind::Date => Arc::new(values!(cells, Date(days) => *days).collect::<Date32Array>()),
        Kind::Time => Arc::new(values!(cells, Time(micros) => *micros).collect::<Time64MicrosecondArray>()),
        Kind::Timestamp => {
            Arc::new(values!(cells, Timestamp(micros) => *micros).collect::<TimestampMicrosecondArray>())
        }
        Kind::Instant => {
            let values = values!(cells, Instant(micros) => *micros).collect::<TimestampMicrosecondArray>();
            Arc::new(values.with_timezone("UTC"))
        }
        Kind::Uuid => {
            let values = values!(cells, Uuid(bytes) => *bytes);
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 16).unwrap())
        }
    }
}

fn field(column: &Column) -> Field {
    let field = Field::new(&column.name, data_type(column.kind), column.nullable);
    if column.kind == Kind::Uuid {
        let name = [("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())];
        return field.with_metadata(name.into());
    }
    field
}

/// Writes rows in the order given.
pub(crate) fn write(path: &Path, table: &Table, rows: &[Vec<Cell>]) {
    let schema = Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = table.columns.iter().enumerate().map(|(at, column)| {
        let cells: Vec<&Cell> = rows.iter().map(|row| &row[at]).collect();
        array(column.kind, &cells)
    });
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect()).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(ROW_GROUP_ROWS)).build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A name for the file of a table: its letters and digits.
pub(crate) fn file_name(table: &Table, extension: &str) -> String {
    let letters: String = table.name.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{letters}.{extension}")
}

impl Store for Parquet {
    async fn start() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn create(&self, table: &Table) -> String {
        let path = self.0.path().join(file_name(table, "parquet"));
        write(&path, table, &table.sorted());
        path.to_str().unwrap().to_owned()
    }

    fn order(&self, table: &Table) -> ReadOrder {
        if table.key == 0 { ReadOrder::Local } else { ReadOrder::ServerRanges }
    }

    fn has_constraints(&self) -> bool {
        false
    }
}

contract!(Parquet: columns, single_keys, composite_keys, no_key, empty_tables, names);

#[tokio::test]
async fn rows_out_of_order_are_sorted_here() {
    let (store, table) = (Parquet::start().await, keyed("t", &[Kind::Integer(32)], true, 60, 1));
    let path = store.folder().join("t.parquet");
    write(&path, &table, &table.rows);
    let opened = Wanted::new(&store, &table, path.to_str().unwrap().to_owned()).open().await;
    assert_eq!(opened.table.order(&opened.projection).await.unwrap().best, ReadOrder::Local);
    let values: Vec<_> = opened.read_all().await.iter().map(|record| opened.values(record)).collect();
    assert_eq!(values, opened.expected(&table));
}

/// A file has no snapshot: what can be promised is that a change is noticed.
#[tokio::test]
async fn a_file_that_changes_is_an_error() {
    let (store, table) = (Parquet::start().await, keyed("t", &[Kind::Integer(32)], true, 60, 1));
    let locator = store.create(&table).await;
    let opened = Wanted::new(&store, &table, locator.clone()).open().await;
    assert_eq!(opened.read_all().await.len(), table.rows.len());
    let mut other = table.clone();
    other.rows.truncate(20);
    write(Path::new(&locator), &other, &other.sorted());
    assert!(opened.try_read(tieout::model::KeyRange::all(), true).await.is_err());
}

#[tokio::test]
async fn a_file_that_is_cut_is_an_error() {
    let (store, table) = (Parquet::start().await, keyed("t", &[Kind::Text], true, 200, 1));
    let locator = store.create(&table).await;
    let bytes = std::fs::read(&locator).unwrap();
    for length in [0, 4, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&locator, &bytes[..length]).unwrap();
        let opened = Wanted::new(&store, &table, locator.clone()).try_open().await;
        assert!(opened.is_err(), "{length} bytes of {}", bytes.len());
    }
}
