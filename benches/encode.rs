//! Encoding: typed calls in, canonical records out.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

mod shapes;

use criterion::Criterion;
use shapes::Table;
use tieout::{encode::EncodedBatch, model::Result};

fn main() -> Result<()> {
    shapes::for_each_shape(encode)
}

fn encode(criterion: &mut Criterion, table: &Table, records: &EncodedBatch) {
    let mut batch = EncodedBatch::new();
    shapes::case(criterion, "encode", table, records, |bencher| {
        bencher.iter(|| {
            batch.clear();
            table.encode(&mut batch).unwrap();
            assert_eq!(batch.len(), records.len());
        });
    });
    // A filter on the command line may have passed over the case.
    assert!(batch.is_empty() || batch.slice(0, batch.len()) == records.slice(0, records.len()));
}
