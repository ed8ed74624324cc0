//! Sides that are read once: each is encoded, and sorted where the store does not, on a thread of its own, and the two
//! are merged as they arrive.
//!
//! The ranges are those of the plan, or are cut while the merge runs: at keys that follow from the rows of the source.

use super::{
    Compared,
    producer::StreamFeed,
    range_task::{RunContext, compare_next, compare_range},
    sorted::{CutFeed, SortedFeed},
};
use crate::{
    encode::EncodedBatch,
    merge::{Feed, RangeBounds, RunningMerge},
    model::{Error, KeyRange, PlannedRanges, Progress, ReadOrder, Result, Side, SideRead, Sides},
    plan::CutRule,
    sort::SorterOptions,
};
use crossbeam_channel::{Receiver, Sender};
use std::{
    thread::{Scope, ScopedJoinHandle},
    time::Instant,
};

/// Encoded batches that wait between a side's thread and the merge.
const ENCODED_QUEUE_BATCHES: usize = 2;

type Pumped = Result<Option<EncodedBatch>>;

/// Compares both sides by one read each.
pub(super) fn run_once(context: &RunContext, sorter: &SorterOptions, cut_rule: Option<CutRule>) -> Result<Compared> {
    std::thread::scope(|scope| {
        // Both reads are under way before either is waited for.
        let source = Reading::start(context, Side::Source);
        let sink = Reading::start(context, Side::Sink);
        let source = Reader::start(scope, source, sorter);
        let sink = Reader::start(scope, sink, sorter);
        let (mut source_feed, mut sink_feed) = (source.feed, sink.feed);
        let feeds = Sides::<&mut dyn Feed> { source: &mut source_feed, sink: &mut sink_feed };
        let result = match cut_rule {
            None => in_planned_ranges(context, feeds),
            // A thread that stops without a word has an error to tell, which comes through its feed.
            Some(rule) => in_cut_ranges(context, feeds, rule, source.rows.recv().ok().flatten()),
        };
        let (finished, ranges) = result.inspect_err(|_| context.cancel.cancel())?;
        // A thread that is ahead of a merge that ended early waits for nobody then.
        drop((source_feed, sink_feed));
        let reads = Sides::new(read_of(source.thread)?, read_of(sink.thread)?);
        Ok(Compared { finished, ranges, reads: Some(reads) })
    })
}

type Ranges = (Vec<super::FinishedRange>, PlannedRanges);

fn in_planned_ranges(context: &RunContext, feeds: Sides<&mut dyn Feed>) -> Result<Ranges> {
    let Sides { source, sink } = feeds;
    let (mut source, mut sink) = (CutFeed::new(source), CutFeed::new(sink));
    let mut finished = Vec::new();
    for (number, range) in context.plan.ranges.as_slice().iter().enumerate() {
        source.enter(range);
        sink.enter(range);
        match compare_range(context, number, Sides { source: &mut source, sink: &mut sink }) {
            Ok(range) => finished.push(range),
            Err(error) if context.ends_early(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok((finished, context.plan.ranges.clone()))
}

fn in_cut_ranges<'a>(
    context: &'a RunContext,
    feeds: Sides<&'a mut dyn Feed>,
    rule: CutRule,
    total: Option<u64>,
) -> Result<Ranges> {
    let bounds = RangeBounds { number: 0, range: KeyRange::all() };
    let mut merge = RunningMerge::new(&context.spec, bounds, feeds);
    let (mut finished, mut cuts) = (Vec::new(), Vec::new());
    let mut seen = 0;
    loop {
        let next = compare_next(context, finished.len(), &mut merge, rule.rows_of_next(seen, total));
        let (range, cut) = match next {
            Ok(next) => next,
            // What was not compared is a range of its own.
            Err(error) if context.ends_early(&error) => break,
            Err(error) => return Err(error),
        };
        seen += range.outcome.sides.source.rows;
        finished.push(range);
        let Some(cut) = cut else { break };
        cuts.push(cut);
        Progress::add(&context.progress.ranges_total, 1);
    }
    Ok((finished, PlannedRanges::from_cuts(cuts)))
}

/// The thread of one side.
struct Reader<'scope> {
    feed: PumpFeed,
    /// Says, before the first rows come, how many there are, if that is known.
    rows: Receiver<Option<u64>>,
    thread: ScopedJoinHandle<'scope, SideRead>,
}

impl<'scope> Reader<'scope> {
    fn start(scope: &'scope Scope<'scope, '_>, reading: Reading<'scope>, sorter: &SorterOptions) -> Self {
        let (sender, receiver) = crossbeam_channel::bounded(ENCODED_QUEUE_BATCHES);
        let (rows_sender, rows) = crossbeam_channel::bounded(1);
        let sorter = sorter.clone();
        let thread = scope.spawn(move || reading.run(sorter, &sender, &rows_sender));
        Self { feed: PumpFeed { receiver, ended: false }, rows, thread }
    }
}

/// A read that is under way.
struct Reading<'a> {
    context: &'a RunContext,
    side: Side,
    feed: StreamFeed,
    started: Instant,
}

impl<'a> Reading<'a> {
    /// Starts the read of a whole side.
    fn start(context: &'a RunContext, side: Side) -> Self {
        let started = Instant::now();
        let in_order = *context.plan.order.get(side) != ReadOrder::Local;
        Self { context, side, feed: context.feed(side, &KeyRange::all(), in_order), started }
    }

    /// Hands the rows on, sorted if need be.
    fn run(self, sorter: SorterOptions, sender: &Sender<Pumped>, rows: &Sender<Option<u64>>) -> SideRead {
        let Self { context, side, mut feed, started } = self;
        let in_order = *context.plan.order.get(side) != ReadOrder::Local;
        // Whoever does not listen to the number of rows does not need it.
        let tell = |number| {
            let _heard = rows.send(number);
        };
        if in_order {
            tell(None);
            pump(&mut feed, sender);
            return SideRead { span: context.span_since(started), spilled_bytes: 0 };
        }
        let outcome = SortedFeed::sort(&mut feed, sorter);
        drop(feed);
        let span = context.span_since(started);
        match outcome {
            Ok(mut rows_in_order) => {
                tell(Some(rows_in_order.rows()));
                let spilled_bytes = rows_in_order.spilled_bytes();
                pump(&mut rows_in_order, sender);
                SideRead { span, spilled_bytes }
            }
            Err(error) => {
                tell(None);
                // A merge that is gone has met an error of its own.
                drop(sender.send(Err(error.on(side))));
                SideRead { span, spilled_bytes: 0 }
            }
        }
    }
}

fn read_of(thread: ScopedJoinHandle<'_, SideRead>) -> Result<SideRead> {
    thread.join().map_err(|_| Error::internal("reading: the thread of a side broke"))
}

/// Moves a feed's batches to another thread, then its end or its error.
fn pump(feed: &mut dyn Feed, sender: &Sender<Pumped>) {
    loop {
        let mut batch = EncodedBatch::new();
        let message = feed.next(&mut batch).map(|any| any.then_some(batch));
        let last = !matches!(message, Ok(Some(_)));
        if sender.send(message).is_err() || last {
            return;
        }
    }
}

struct PumpFeed {
    receiver: Receiver<Pumped>,
    ended: bool,
}

impl Feed for PumpFeed {
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        match self.receiver.recv() {
            Ok(Ok(Some(batch))) => {
                into.append(batch);
                Ok(true)
            }
            Ok(Ok(None)) => {
                self.ended = true;
                Ok(false)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::internal("reading: an encoding thread stopped without an end or an error")),
        }
    }
}
