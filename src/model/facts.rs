//! What the engine knows of a planned and of a finished run; what outputs are made from.

use super::{ComparisonPlan, ComparisonRequest, Position, RangeOutcome, Sides, TableSchema, Verdict};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

/// A named share of a run's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryShare {
    /// What it is for.
    pub name: String,
    /// Bytes, at most.
    pub bytes: u64,
}

/// Everything that is known before rows are read.
#[derive(Clone, Debug)]
pub struct PlanFacts {
    /// What was asked. Locators may hold secrets: outputs take the tables' names from `schemas`.
    pub request: ComparisonRequest,
    /// The plan.
    pub plan: Arc<ComparisonPlan>,
    /// The tables.
    pub schemas: Sides<TableSchema>,
    /// Where they are frozen.
    pub positions: Sides<Position>,
    /// Why each side is read as it is.
    pub order_reasons: Sides<String>,
    /// What the first reads of each side do (SQL, or files), one text a read.
    pub reads: Sides<Vec<String>>,
    /// Ranges compared at once.
    pub workers: usize,
    /// The peak of memory, share by share.
    pub memory: Vec<MemoryShare>,
}

impl PlanFacts {
    /// The computed peak of memory in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory.iter().map(|share| share.bytes).sum()
    }
}

/// A stretch of a run's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// From the start of the run.
    pub start: Duration,
    /// How long it took.
    pub elapsed: Duration,
}

/// The one read of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideRead {
    /// From its start to its last row.
    pub span: Span,
    /// Bytes that the sort of its rows wrote to disk; 0 if it is not sorted here, or fits in memory.
    pub spilled_bytes: u64,
}

/// Everything that is known at the end of a run.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// Name of the run and of its folder.
    pub run_id: String,
    /// What was planned.
    pub plan: PlanFacts,
    /// Finished ranges, ascending by number. Coverage is complete when all planned ranges are here.
    pub outcomes: Vec<RangeOutcome>,
    /// When each finished range was compared, in the order of `outcomes`.
    pub spans: Vec<Span>,
    /// The read of each side, if both were read once.
    pub reads: Option<Sides<SideRead>>,
    /// The answer.
    pub verdict: Verdict,
    /// When the run started.
    pub started: SystemTime,
    /// How long it took.
    pub elapsed: Duration,
}
