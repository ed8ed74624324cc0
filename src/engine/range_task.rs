//! `run_range`, the unit of work: one key range of both sides, from streams to an outcome that is safe in the outputs.

use super::{
    limits::BATCH_BYTES_MAX,
    producer::{StreamFeed, cancelled},
};
use crate::{
    connector::{FrozenTable, Read},
    encode::RowLayout,
    merge::{DifferenceSink, Feed, MergeSpec, RangeBounds, RunningMerge, merge_range},
    model::{
        ComparisonPlan, Difference, Error, ErrorKind, KeyRange, Progress, RangeOutcome, Result, Side, Sides, Span,
    },
    output::{DifferenceSchema, DifferenceWriter, RunFolder},
};
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// What all ranges of a run share.
pub(super) struct RunContext {
    pub(super) plan: Arc<ComparisonPlan>,
    pub(super) tables: Sides<Arc<dyn FrozenTable>>,
    pub(super) layouts: Sides<Arc<RowLayout>>,
    pub(super) spec: MergeSpec,
    pub(super) folder: RunFolder,
    pub(super) schema: Arc<DifferenceSchema>,
    pub(super) queue_bytes: u64,
    pub(super) progress: Arc<Progress>,
    pub(super) cancel: CancellationToken,
    pub(super) runtime: Handle,
    /// When the run started.
    pub(super) clock: Instant,
    /// Set before the run is stopped because of the age of its snapshots.
    pub(super) too_old: Arc<AtomicBool>,
}

impl RunContext {
    /// Whether the run ends with what it covered instead of with this error, because its snapshots are too old.
    pub(super) fn ends_early(&self, error: &Error) -> bool {
        error.kind() == ErrorKind::Cancelled && self.too_old.load(Ordering::SeqCst)
    }

    /// The time since `start`, which was read off the run's clock.
    pub(super) fn span_since(&self, start: Instant) -> Span {
        Span { start: start.saturating_duration_since(self.clock), elapsed: start.elapsed() }
    }

    /// Starts a read of one side.
    pub(super) fn feed(&self, side: Side, range: &KeyRange, ascending: bool) -> StreamFeed {
        let read = Read { range: range.clone(), ascending, batch_bytes_max: BATCH_BYTES_MAX };
        // Streams may start work on the runtime when they are made.
        let entered = self.runtime.enter();
        let stream = self.tables.get(side).stream(self.plan.projection.get(side), &read);
        drop(entered);
        StreamFeed::start(
            &self.runtime,
            stream,
            side,
            Arc::clone(self.layouts.get(side)),
            self.queue_bytes,
            Arc::clone(&self.progress),
            self.cancel.clone(),
        )
    }
}

/// A range that is done, and what it left.
pub(super) struct FinishedRange {
    pub(super) outcome: RangeOutcome,
    pub(super) parts: Vec<PathBuf>,
    pub(super) span: Span,
}

/// Compares one range by reads of its own.
pub(super) fn run_range(context: &RunContext, number: usize) -> Result<FinishedRange> {
    if context.cancel.is_cancelled() {
        return Err(cancelled());
    }
    let range = &context.plan.ranges.as_slice()[number];
    let mut source = context.feed(Side::Source, range, true);
    let mut sink = context.feed(Side::Sink, range, true);
    compare_range(context, number, Sides { source: &mut source, sink: &mut sink })
}

/// Compares one range from given feeds and makes its outcome safe.
pub(super) fn compare_range<'a>(
    context: &'a RunContext,
    number: usize,
    feeds: Sides<&'a mut dyn Feed>,
) -> Result<FinishedRange> {
    let bounds = RangeBounds { number, range: context.plan.ranges.as_slice()[number].clone() };
    let merged = record_range(context, number, |differences| {
        Ok((merge_range(&context.spec, &bounds, feeds, differences)?, None))
    });
    Ok(merged?.0)
}

/// Compares the next range of a merge that is cut as it runs; also the key at which it was cut, if it was.
pub(super) fn compare_next(
    context: &RunContext,
    number: usize,
    merge: &mut RunningMerge<'_>,
    source_rows: u64,
) -> Result<(FinishedRange, Option<Vec<u8>>)> {
    record_range(context, number, |differences| merge.run(number, source_rows, differences))
}

/// Compares a range and makes its outcome safe in the outputs.
fn record_range(
    context: &RunContext,
    number: usize,
    compare: impl FnOnce(&mut dyn DifferenceSink) -> Result<(RangeOutcome, Option<Vec<u8>>)>,
) -> Result<(FinishedRange, Option<Vec<u8>>)> {
    let started = Instant::now();
    let writer = DifferenceWriter::new(&context.folder.differences(), Arc::clone(&context.schema), number);
    let mut sink = CountingSink { writer, progress: &context.progress };
    let (outcome, cut) = compare(&mut sink).map_err(|error| error.in_range(number))?;
    let parts = sink.writer.finish()?;
    context.folder.journal_range(&outcome, &parts)?;
    Progress::add(&context.progress.ranges_done, 1);
    Ok((FinishedRange { outcome, parts, span: context.span_since(started) }, cut))
}

struct CountingSink<'a> {
    writer: DifferenceWriter,
    progress: &'a Progress,
}

impl DifferenceSink for CountingSink<'_> {
    fn write(&mut self, difference: &Difference<'_>) -> Result<()> {
        Progress::add(&self.progress.differences, difference.occurrences);
        self.writer.write(difference)
    }
}
