//! `ranges.parquet`: what was compared, range by range. Nothing in it depends on time.

use super::{keys::key_text, output_error};
use crate::model::{CanonicalType, ColumnPair, Error, ErrorKind, KeyRange, RangeOutcome, Result, RunFacts, Side};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, RecordBatch, StringArray, UInt32Array, UInt64Array,
    builder::FixedSizeBinaryBuilder,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::{Compression, ZstdLevel},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use std::{collections::BTreeMap, fs::File, path::Path, sync::Arc};

/// Name of the file in the folder of a run.
pub(super) const RANGES: &str = "ranges.parquet";
/// Metadata key of the encoding's version.
const VERSION_KEY: &str = "tieout.encoding_version";
/// Metadata key of the canonical types of the key, in its order.
const KEY_TYPES_KEY: &str = "tieout.key_types";
/// Metadata key of the columns of the row, in its order: digests are over the fields in that order.
const ROW_KEY: &str = "tieout.row";

/// Writes every planned range, ascending, one row each: bounds, whether it was finished, and what came out of it (NULL
/// if it was not finished).
///
/// # Errors
/// `Output` if the file cannot be written.
pub fn write_ranges(path: &Path, facts: &RunFacts) -> Result<()> {
    let batch = batch(facts)?;
    let plan = &facts.plan.plan;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("tieout ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![
            KeyValue::new(VERSION_KEY.to_owned(), plan.encoding_version.to_string()),
            KeyValue::new(KEY_TYPES_KEY.to_owned(), type_list(&plan.key_types())),
            KeyValue::new(ROW_KEY.to_owned(), row_list(&plan.row)),
        ]))
        .build();
    let failed = |cause: Box<dyn std::error::Error + Send + Sync>| output_error("writing", path, cause);
    let file = File::create(path).map_err(|cause| failed(cause.into()))?;
    let handle = file.try_clone().map_err(|cause| failed(cause.into()))?;
    let mut writer =
        ArrowWriter::try_new(handle, batch.schema(), Some(properties)).map_err(|cause| failed(cause.into()))?;
    writer.write(&batch).map_err(|cause| failed(cause.into()))?;
    writer.close().map_err(|cause| failed(cause.into()))?;
    file.sync_all().map_err(|cause| failed(cause.into()))
}

fn type_list(types: &[CanonicalType]) -> String {
    types.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Names in the source and canonical types of the row's columns.
fn row_list(row: &[ColumnPair]) -> String {
    row.iter().map(|pair| format!("{:?} {}", pair.name.source, pair.canonical)).collect::<Vec<_>>().join("; ")
}

fn batch(facts: &RunFacts) -> Result<RecordBatch> {
    let plan = &facts.plan.plan;
    let types = plan.key_types();
    let ranges = plan.ranges.as_slice();
    let found: BTreeMap<usize, &RangeOutcome> = facts.outcomes.iter().map(|outcome| (outcome.range, outcome)).collect();
    let outcomes: Vec<Option<&RangeOutcome>> = (0..ranges.len()).map(|range| found.get(&range).copied()).collect();
    let numbers = (0..ranges.len())
        .map(u32::try_from)
        .collect::<Result<Vec<u32>, _>>()
        .map_err(|_| Error::new(ErrorKind::Limit, "writing ranges: expected fewer than 2^32 ranges, found more"))?;
    let text = |bound: &Option<Vec<u8>>| bound.as_ref().map(|key| key_text(&types, key));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("range", Arc::new(UInt32Array::from(numbers))),
        ("lower", Arc::new(ranges.iter().map(|range| range.lower.as_deref()).collect::<BinaryArray>())),
        ("upper", Arc::new(ranges.iter().map(|range| range.upper.as_deref()).collect::<BinaryArray>())),
        ("lower_text", Arc::new(ranges.iter().map(|range| text(&range.lower)).collect::<StringArray>())),
        ("upper_text", Arc::new(ranges.iter().map(|range| text(&range.upper)).collect::<StringArray>())),
        ("done", Arc::new(BooleanArray::from(outcomes.iter().map(Option::is_some).collect::<Vec<_>>()))),
        ("source_rows", counter(&outcomes, |outcome| outcome.sides.source.rows)),
        ("sink_rows", counter(&outcomes, |outcome| outcome.sides.sink.rows)),
        ("source_digest", digests(&outcomes, Side::Source)?),
        ("sink_digest", digests(&outcomes, Side::Sink)?),
        ("matched", counter(&outcomes, |outcome| outcome.counts.matched)),
        ("missing", counter(&outcomes, |outcome| outcome.counts.missing)),
        ("extra", counter(&outcomes, |outcome| outcome.counts.extra)),
        ("changed", counter(&outcomes, |outcome| outcome.counts.changed)),
        ("excused", counter(&outcomes, |outcome| outcome.counts.excused)),
    ];
    columns.extend([
        ("source_duplicate_keys", counter(&outcomes, |outcome| outcome.sides.source.duplicate_keys)),
        ("source_surplus_rows", counter(&outcomes, |outcome| outcome.sides.source.surplus_rows)),
        ("sink_duplicate_keys", counter(&outcomes, |outcome| outcome.sides.sink.duplicate_keys)),
        ("sink_surplus_rows", counter(&outcomes, |outcome| outcome.sides.sink.surplus_rows)),
        ("source_null_key_rows", counter(&outcomes, |outcome| outcome.sides.source.null_key_rows)),
        ("sink_null_key_rows", counter(&outcomes, |outcome| outcome.sides.sink.null_key_rows)),
    ]);
    let schema = Schema::new(
        columns
            .iter()
            .map(|(name, array)| {
                let always = matches!(*name, "range" | "done");
                Field::new(*name, array.data_type().clone(), !always)
            })
            .collect::<Vec<_>>(),
    );
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
        .map_err(|cause| Error::internal("writing ranges: expected columns that fit the schema").caused_by(cause))
}

fn counter(outcomes: &[Option<&RangeOutcome>], take: impl Fn(&RangeOutcome) -> u64) -> ArrayRef {
    Arc::new(outcomes.iter().map(|outcome| outcome.map(&take)).collect::<UInt64Array>())
}

fn digests(outcomes: &[Option<&RangeOutcome>], side: Side) -> Result<ArrayRef> {
    let mut builder = FixedSizeBinaryBuilder::new(32);
    for outcome in outcomes {
        match outcome {
            Some(outcome) => builder
                .append_value(outcome.sides.get(side).digest.0)
                .map_err(|cause| Error::internal("writing ranges: expected a digest of 32 bytes").caused_by(cause))?,
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Reads the ranges of an earlier run from its folder, ascending, for a run over a key of `key_types`
/// and the columns `row`.
///
/// Whether they tile the key space is for `PlannedRanges::from_ranges` to say.
///
/// # Errors
/// `Config` if there is no such file, it is not one of ours, or it was made with another encoding version, key or
/// row (the same columns in another order are another row: digests would not compare).
pub fn read_ranges(folder: &Path, key_types: &[CanonicalType], row: &[ColumnPair]) -> Result<Vec<KeyRange>> {
    let path = folder.join(RANGES);
    let failed = |found: String| {
        Error::new(ErrorKind::Config, format!("reading ranges from {}: {found}", path.display()))
            .hint("give the folder of a finished run, as printed at its end")
    };
    let file = File::open(&path).map_err(|cause| failed(cause.to_string()))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|cause| failed(cause.to_string()))?;
    let metadata = builder.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let value = |key: &str| {
        metadata.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.clone()).unwrap_or_default()
    };
    for (key, expected) in [
        (VERSION_KEY, crate::encode::ENCODING_VERSION.to_string()),
        (KEY_TYPES_KEY, type_list(key_types)),
        (ROW_KEY, row_list(row)),
    ] {
        let found = value(key);
        if found != expected {
            return Err(failed(format!("expected {key} {expected:?}, found {found:?}")).hint(
                "digests compare over the same ranges, key and columns alone: ask for the columns of that run in their \
                 order (--column), or leave --ranges-from out",
            ));
        }
    }
    let mut ranges = Vec::new();
    for batch in builder.build().map_err(|cause| failed(cause.to_string()))? {
        let batch = batch.map_err(|cause| failed(cause.to_string()))?;
        let bound = |name: &str| {
            batch
                .column_by_name(name)
                .filter(|column| *column.data_type() == DataType::Binary)
                .and_then(|column| column.as_any().downcast_ref::<BinaryArray>().cloned())
                .ok_or_else(|| failed(format!("expected a binary column {name}")))
        };
        let (lower, upper) = (bound("lower")?, bound("upper")?);
        let take = |array: &BinaryArray, row| array.is_valid(row).then(|| array.value(row).to_vec());
        ranges.extend((0..batch.num_rows()).map(|row| KeyRange { lower: take(&lower, row), upper: take(&upper, row) }));
    }
    Ok(ranges)
}
