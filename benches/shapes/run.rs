//! How a bench is run: measured, or once and small as a smoke test.

use super::{Shape, Table};
use criterion::{Bencher, BenchmarkId, Criterion, Throughput};
use std::env;
use tieout::{encode::EncodedBatch, model::Result};

/// Rows of a table that is measured: 3 to 40 MB of records, beyond the caches of a core, and still quick to make.
const ROWS: usize = 100_000;
/// Rows of a table in a smoke test: enough for the smallest sort to spill.
const ROWS_SMOKE: usize = 5_000;
/// Measurements of each case; the cases run for milliseconds, so that few are needed.
const SAMPLES: usize = 20;

/// Calls `bench` with a table of each shape and its records: to be measured under `cargo bench`, else small ones.
pub fn for_each_shape(bench: fn(&mut Criterion, &Table, &EncodedBatch)) -> Result<()> {
    let asked = |flag| env::args().any(|argument| argument == flag);
    let rows = if asked("--bench") && !asked("--test") { ROWS } else { ROWS_SMOKE };
    let mut criterion = Criterion::default().sample_size(SAMPLES).configure_from_args();
    for shape in Shape::ALL {
        let (table, mut records) = (Table::new(shape, rows)?, EncodedBatch::new());
        table.encode(&mut records)?;
        bench(&mut criterion, &table, &records);
    }
    criterion.final_summary();
    Ok(())
}

/// Measures `routine` as `stage/shape/size` by rows and bytes of `records`.
pub fn case(
    criterion: &mut Criterion,
    stage: &str,
    table: &Table,
    records: &EncodedBatch,
    routine: impl FnMut(&mut Bencher<'_>),
) {
    let (elements, bytes) = (records.len() as u64, records.bytes() as u64);
    let mut group = criterion.benchmark_group(stage);
    group.throughput(Throughput::ElementsAndBytes { elements, bytes });
    group.bench_function(BenchmarkId::new(table.shape.name(), elements), routine);
    group.finish();
}
