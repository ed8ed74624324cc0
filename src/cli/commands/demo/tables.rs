//! The tables of the demo: generated, the same at every run.

use crate::model::{Counts, Error, ErrorKind, Result, Sides};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Orders in the source.
const ORDERS: i64 = 1_000;
/// Orders that the sink lacks.
const MISSING: [i64; 3] = [17, 503, 1_000];
/// Orders that the sink alone has.
const EXTRA: [i64; 2] = [1_001, 1_002];
/// First microsecond of 2026 in UTC.
const YEAR_START_MICROS: i64 = 1_767_225_600_000_000;
/// First day of 2026, counted from 1970-01-01.
const YEAR_START_DAYS: i32 = 20_454;

/// What a comparison must find.
pub(super) const EXPECTED: Counts = Counts { matched: 993, missing: 3, extra: 2, changed: 4, excused: 0 };

struct Order {
    id: i64,
    customer: String,
    note: Option<String>,
    amount_cents: i128,
    weight: f64,
    paid: bool,
    ordered_on: i32,
    updated_at: i64,
}

impl Order {
    fn new(id: i64) -> Self {
        let names = ["Ada", "Bela", "Chidi", "Dora", "Emre", "Fumiko", "Gita"];
        let index = usize::try_from(id.rem_euclid(7)).unwrap_or_default();
        let day = i32::try_from(id.rem_euclid(365)).unwrap_or_default();
        let name = names.get(index).copied().unwrap_or_default();
        Self {
            id,
            customer: format!("{name} {}", id.rem_euclid(100)),
            note: (id.rem_euclid(5) != 0).then(|| format!("order number {id}")),
            amount_cents: i128::from(id.rem_euclid(9_973)) * 137 + 99,
            weight: f64::from(day) / 8.0,
            paid: id.rem_euclid(3) == 0,
            ordered_on: YEAR_START_DAYS + day,
            updated_at: YEAR_START_MICROS + id * 3_600_123_456,
        }
    }

    /// The order as the sink has it: four of them carry mistakes that transfers really make.
    fn in_sink(id: i64) -> Self {
        let mut order = Self::new(id);
        match id {
            42 => order.amount_cents += 1,
            256 => order.note = Some(format!("order number {id} ")),
            505 => order.note = Some(String::new()),
            777 => order.updated_at -= order.updated_at.rem_euclid(1_000),
            _ => {}
        }
        order
    }
}

/// Writes `source.parquet` and `sink.parquet` into `dir`, over what an earlier demo left.
///
/// # Errors
/// `Output` if a file cannot be written.
pub(super) fn write(dir: &Path) -> Result<Sides<PathBuf>> {
    let refuse = |error: Box<dyn std::error::Error + Send + Sync>| {
        Error::new(ErrorKind::Output, format!("writing the demo's tables into {}", dir.display())).caused_by(error)
    };
    fs::create_dir_all(dir).map_err(|error| refuse(error.into()))?;
    let paths = Sides::new(dir.join("source.parquet"), dir.join("sink.parquet"));
    let source: Vec<_> = (1..=ORDERS).map(Order::new).collect();
    let sink: Vec<_> = (1..=ORDERS).filter(|id| !MISSING.contains(id)).chain(EXTRA).map(Order::in_sink).collect();
    write_file(&paths.source, &source).map_err(refuse)?;
    write_file(&paths.sink, &sink).map_err(refuse)?;
    Ok(paths)
}

fn write_file(path: &Path, orders: &[Order]) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let batch = batch(orders)?;
    let mut writer = ArrowWriter::try_new(fs::File::create(path)?, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

fn batch(orders: &[Order]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let amounts = Decimal128Array::from_iter_values(orders.iter().map(|order| order.amount_cents));
    let updated = TimestampMicrosecondArray::from_iter_values(orders.iter().map(|order| order.updated_at));
    let columns: [(&str, ArrayRef); 8] = [
        ("order_id", Arc::new(Int64Array::from_iter_values(orders.iter().map(|order| order.id)))),
        ("customer", Arc::new(StringArray::from_iter_values(orders.iter().map(|order| &order.customer)))),
        ("note", Arc::new(orders.iter().map(|order| order.note.as_deref()).collect::<StringArray>())),
        ("amount", Arc::new(amounts.with_precision_and_scale(12, 2)?)),
        ("weight", Arc::new(Float64Array::from_iter_values(orders.iter().map(|order| order.weight)))),
        ("paid", Arc::new(orders.iter().map(|order| Some(order.paid)).collect::<BooleanArray>())),
        ("ordered_on", Arc::new(Date32Array::from_iter_values(orders.iter().map(|order| order.ordered_on)))),
        ("updated_at", Arc::new(updated.with_timezone("UTC"))),
    ];
    RecordBatch::try_from_iter(columns)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at once")]
    use super::*;

    #[test]
    fn the_tables_hold_the_known_differences() {
        let dir = tempfile::tempdir().unwrap();
        let first = write(dir.path()).unwrap();
        let bytes = fs::read(&first.source).unwrap();
        write(dir.path()).unwrap();
        assert_eq!(fs::read(&first.source).unwrap(), bytes);
        let changed: Vec<i64> = (1..=ORDERS)
            .filter(|id| !MISSING.contains(id))
            .filter(|id| batch(&[Order::new(*id)]).unwrap() != batch(&[Order::in_sink(*id)]).unwrap())
            .collect();
        assert_eq!(changed, [42, 256, 505, 777]);
    }
}
