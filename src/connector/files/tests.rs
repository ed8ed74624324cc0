//! The connector as the engine drives it: freeze, order, streams, splits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod harness;
mod layouts;
mod parquet_tables;
mod text_tables;
