//! What the tests share: writing small files, and reading a table into decoded values.

use super::super::{FilesConnector, arrow::canonical_of};
use crate::{
    connector::{Connector, FrozenTable, Read},
    encode::{EncodedBatch, RowLayout, RowWriter, decode_key, decode_row},
    model::{
        CanonicalType, Conversion, Decimal, FieldTarget, FileOptions, KeyRange, LogicalType, Projected, Projection,
        Result, Side, SideRequest, TextFold, Value,
    },
};
use ::parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
use arrow_array::{ArrayRef, RecordBatch};
use futures::StreamExt;
use std::{fs::File, path::Path, sync::Arc};

/// Small, so that tests see several batches.
pub(super) const BATCH_BYTES: usize = 4096;

pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(future)
}

pub(super) fn write(path: &Path, columns: Vec<(&str, ArrayRef)>, group_rows: usize) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(64)
        .set_write_batch_size(64)
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

pub(super) fn request(locator: impl Into<String>) -> SideRequest {
    SideRequest { locator: locator.into(), file: FileOptions::default(), ..SideRequest::default() }
}

pub(super) async fn freeze(locator: impl Into<String>) -> Result<Box<dyn FrozenTable>> {
    FilesConnector::new().freeze(&request(locator), 1).await
}

/// Key columns by name; all columns make the row, each as `wanted` says or as it is by itself.
pub(super) fn projection(table: &dyn FrozenTable, key: &[&str], wanted: &[(&str, CanonicalType)]) -> Arc<Projection> {
    let columns = &table.schema().columns;
    let projected = |index: usize| {
        let column = &columns[index];
        let chosen = wanted.iter().find(|(name, _)| *name == column.name).map(|(_, canonical)| canonical.clone());
        let parsed =
            column.logical == LogicalType::Untyped && chosen.as_ref().is_some_and(|c| *c != CanonicalType::Text);
        Projected {
            name: column.name.clone(),
            index,
            as_text: false,
            nullable: column.nullable,
            target: FieldTarget {
                canonical: chosen.unwrap_or_else(|| canonical_of(&column.logical).unwrap()),
                conversion: if parsed { Conversion::Parse } else { Conversion::Direct },
                strip_pad: false,
                zone: None,
                key_fold: TextFold::default(),
                parse_float_bits: 64,
                dynamic: false,
            },
        }
    };
    let place = |name: &&str| columns.iter().position(|column| column.name == *name).unwrap();
    let key = key.iter().map(place).map(projected).collect();
    Arc::new(Projection { side: Side::Source, key, row: (0..columns.len()).map(projected).collect() })
}

pub(super) async fn encoded(
    table: &dyn FrozenTable,
    projection: &Arc<Projection>,
    range: KeyRange,
    ascending: bool,
) -> Result<EncodedBatch> {
    let read = Read { range, ascending, batch_bytes_max: BATCH_BYTES };
    let layout = RowLayout::new(projection)?;
    let mut batch = EncodedBatch::new();
    let mut stream = table.stream(projection, &read);
    while let Some(rows) = stream.next().await {
        let rows = rows?;
        let before = batch.len();
        rows.encode(&mut RowWriter::new(&layout, &mut batch))?;
        assert_eq!(batch.len() - before, rows.rows());
    }
    Ok(batch)
}

/// All rows, decoded.
pub(super) async fn rows(table: &dyn FrozenTable, projection: &Arc<Projection>) -> Result<Vec<Vec<Value>>> {
    let types: Vec<_> = projection.row.iter().map(|column| column.target.canonical.clone()).collect();
    let batch = encoded(table, projection, KeyRange::all(), false).await?;
    (0..batch.len()).map(|row| decode_row(&types, batch.record(row).row)).collect()
}

/// Keys of a range in the order of the store, decoded.
pub(super) async fn keys(
    table: &dyn FrozenTable,
    projection: &Arc<Projection>,
    range: KeyRange,
) -> Result<Vec<Vec<Value>>> {
    let types: Vec<_> = projection.key.iter().map(|column| column.target.canonical.clone()).collect();
    let batch = encoded(table, projection, range, true).await?;
    (0..batch.len()).map(|row| decode_key(&types, batch.record(row).key)).collect()
}

/// A small whole number.
pub(super) fn whole(number: i64) -> Value {
    crate::encode::parse(&CanonicalType::Number, &number.to_string()).unwrap()
}

/// A number from its text.
pub(super) fn number(text: &str) -> Value {
    crate::encode::parse(&CanonicalType::Number, text).unwrap()
}

/// A number from base-100 digits, independent of any parser.
pub(super) fn digits(negative: bool, exponent: i32, digits: &[u8]) -> Value {
    Value::Number(Decimal::Finite { negative, exponent, digits: digits.to_vec() })
}

pub(super) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}
