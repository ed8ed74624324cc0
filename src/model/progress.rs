//! Counters that a run moves and a progress display reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of a run. Every number only grows. For display alone: no decision rests on it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rows read from the source.
    pub source_rows: AtomicU64,
    /// Rows read from the sink.
    pub sink_rows: AtomicU64,
    /// Ranges done.
    pub ranges_done: AtomicU64,
    /// Ranges planned.
    pub ranges_total: AtomicU64,
    /// Rows expected on both sides together, by estimate; 0 if unknown.
    pub rows_expected: AtomicU64,
    /// Differences found.
    pub differences: AtomicU64,
}

impl Progress {
    /// Reads a counter.
    #[must_use]
    pub fn read(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}
