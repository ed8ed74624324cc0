//! Runs a comparison: the only module that knows all stages.
//!
//! Reads run on the tokio runtime, encoding and merging on threads of their own, so that a read never waits for a hash.

pub mod limits;
mod once;
mod prepare;
mod producer;
mod range_task;
mod sorted;
mod tasks;

use crate::{
    connector::FrozenTable,
    encode::RowLayout,
    merge::MergeSpec,
    model::{
        ComparisonPlan, ComparisonRequest, Counts, Error, ErrorKind, PlanFacts, PlannedRanges, Progress, ReadOrder,
        Result, RunFacts, SideRead, Sides, Verdict,
    },
    output::{
        Colour, DifferenceSchema, DifferenceWriter, RunFolder, RunRecord, Timing, plan_document, plan_text, summary,
        write_ranges, write_record,
    },
    plan::CutRule,
    sort::SorterOptions,
};
use limits::MemoryPlan;
use once::run_once;
use prepare::{Prepared, prepare};
use range_task::{FinishedRange, RunContext, run_range};
use std::{
    path::PathBuf,
    sync::{Arc, atomic::Ordering, mpsc},
    time::{Duration, Instant, SystemTime},
};
use tasks::Task;
use tokio_util::sync::CancellationToken;

pub use tasks::settle;

/// What a caller holds of a run while it goes on.
#[derive(Clone, Debug)]
pub struct Control {
    /// Moves as rows are read.
    pub progress: Arc<Progress>,
    /// Stops the run; server queries are cancelled.
    pub cancel: CancellationToken,
    /// Whether texts for people may hold colour codes.
    pub colour: bool,
}

/// A finished run.
#[derive(Debug)]
pub struct RunResult {
    /// Everything known of it.
    pub facts: RunFacts,
    /// Its folder.
    pub folder: PathBuf,
    /// The content of `run.json`.
    pub document: serde_json::Value,
    /// A summary for people.
    pub summary: String,
}

/// A finished plan.
#[derive(Debug)]
pub struct PlanResult {
    /// Everything known of it.
    pub facts: PlanFacts,
    /// The plan as a JSON document.
    pub document: serde_json::Value,
    /// The plan for people.
    pub text: String,
}

/// Plans a comparison and reads no rows.
///
/// # Errors
/// Whatever stands between the request and a plan; see [`crate::model::ErrorKind`].
pub async fn plan(request: ComparisonRequest, control: Control) -> Result<PlanResult> {
    let prepared = cancellable(&control.cancel, prepare(request, &control)).await?;
    let facts = prepared.facts;
    Ok(PlanResult { document: plan_document(&facts), text: plan_text(&facts), facts })
}

/// Compares two tables and leaves a run folder.
///
/// # Errors
/// Any obstacle ends the run: the folder then keeps its `.partial` name. Differences are not errors.
pub async fn compare(request: ComparisonRequest, control: Control) -> Result<RunResult> {
    let started = SystemTime::now();
    let clock = Instant::now();
    let prepared = cancellable(&control.cancel, prepare(request, &control)).await?;
    let run_id = RunFolder::name(started, nonce());
    let folder = RunFolder::create(&prepared.facts.request.output, &run_id)?;
    let Prepared { facts: mut plan_facts, tables, memory, cut_rule } = prepared;
    let context = Arc::new(context(&plan_facts, tables, &memory, folder, &control, clock)?);
    let _watch = plan_facts.request.snapshot_age_max.map(|age| watch_age(&context, age, control.cancel.clone()));
    let compared = run_ranges(&context, memory.workers, sorter(&context, memory.sort_bytes), cut_rule)
        .await
        .map_err(|error| name_collations(error, &plan_facts))?;
    let finished = compared.finished;
    plan_facts.plan = Arc::new(ComparisonPlan { ranges: compared.ranges, ..(*plan_facts.plan).clone() });
    let context = Arc::into_inner(context).ok_or_else(|| Error::internal("a range still runs after the last one"))?;
    let verdict = verdict(&finished, plan_facts.plan.ranges.as_slice().len(), plan_facts.request.snapshot_age_max);
    let mut parts: Vec<PathBuf> = finished.iter().flat_map(|range| range.parts.iter().cloned()).collect();
    if parts.is_empty() {
        parts.push(DifferenceWriter::write_empty(&context.folder.differences(), Arc::clone(&context.schema))?);
    }
    let facts = RunFacts {
        run_id,
        plan: plan_facts,
        spans: finished.iter().map(|range| range.span).collect(),
        reads: compared.reads,
        outcomes: finished.into_iter().map(|range| range.outcome).collect(),
        verdict,
        started,
        elapsed: clock.elapsed(),
    };
    write_ranges(&context.folder.path().join("ranges.parquet"), &facts)?;
    let record = RunRecord::from_facts(&facts, &parts);
    write_record(&context.folder, &record, &Timing::from_facts(&facts))?;
    let folder = context.folder.finish()?;
    let document = serde_json::to_value(&record)
        .map_err(|error| Error::internal("writing the record as JSON").caused_by(error))?;
    let colour = if control.colour { Colour::On } else { Colour::Off };
    let summary = summary(&facts, &folder, colour);
    Ok(RunResult { facts, folder, document, summary })
}

/// Tells which collations the key columns have in the store, where its order is not the expected one.
fn name_collations(error: Error, facts: &PlanFacts) -> Error {
    let Some(side) = error.place().side.filter(|_| error.kind() == ErrorKind::Order) else { return error };
    let columns = &facts.schemas.get(side).columns;
    let key = &facts.plan.projection.get(side).key;
    let collation = |index: usize| columns.get(index).and_then(|column| column.collation.as_deref());
    let named: Vec<String> = key
        .iter()
        .filter_map(|part| Some(format!("{} has the collation {}", part.name, collation(part.index)?)))
        .collect();
    match error.hint_text() {
        Some(hint) if !named.is_empty() => {
            let hint = format!("{hint}; {}", named.join(", "));
            error.hint(hint)
        }
        _ => error,
    }
}

async fn cancellable<T>(cancel: &CancellationToken, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(producer::cancelled()),
        result = work => result,
    }
}

/// A number that tells two runs of one second apart.
fn nonce() -> u32 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    u32::try_from(RandomState::new().build_hasher().finish() >> 32).unwrap_or(0)
}

fn context(
    facts: &PlanFacts,
    tables: Sides<Arc<dyn FrozenTable>>,
    memory: &MemoryPlan,
    folder: RunFolder,
    control: &Control,
    clock: Instant,
) -> Result<RunContext> {
    let plan = Arc::clone(&facts.plan);
    let rows_sorted = Sides::new(plan.order.source == ReadOrder::Local, plan.order.sink == ReadOrder::Local);
    let group_sorter = sorter_in(folder.path().to_owned(), limits::GROUP_SORT_BYTES);
    let layouts = Sides::new(
        Arc::new(RowLayout::new(&plan.projection.source)?),
        Arc::new(RowLayout::new(&plan.projection.sink)?),
    );
    Ok(RunContext {
        spec: MergeSpec::new(&plan, rows_sorted, limits::GROUP_BYTES_MAX, group_sorter),
        schema: Arc::new(DifferenceSchema::new(&plan)),
        layouts,
        tables,
        folder,
        queue_bytes: memory.queue_bytes,
        progress: Arc::clone(&control.progress),
        // A child: an error of one range stops the others and leaves the caller's token alone.
        cancel: control.cancel.child_token(),
        runtime: tokio::runtime::Handle::current(),
        clock,
        too_old: Arc::default(),
        plan,
    })
}

fn sorter(context: &RunContext, sort_bytes: u64) -> SorterOptions {
    sorter_in(context.folder.path().to_owned(), sort_bytes)
}

fn sorter_in(spill_folder: PathBuf, memory_bytes: u64) -> SorterOptions {
    SorterOptions { memory_bytes, spill_folder, disk_bytes_max: None }
}

/// What was compared.
struct Compared {
    /// Ascending by number, none left out.
    finished: Vec<FinishedRange>,
    /// The ranges: those of the plan, or, where it left that to the rows, those that were cut.
    ranges: PlannedRanges,
    /// The reads of sides that were read once.
    reads: Option<Sides<SideRead>>,
}

/// Runs all ranges; returns what was compared, or the first obstacle.
async fn run_ranges(
    context: &Arc<RunContext>,
    workers: usize,
    sorter: SorterOptions,
    cut_rule: Option<CutRule>,
) -> Result<Compared> {
    let in_ranges = context.plan.order.source == ReadOrder::ServerRanges;
    let shared = Arc::clone(context);
    // The runtime's blocking threads wait for the CPU threads; they do no work themselves.
    let compared = tokio::task::spawn_blocking(move || {
        if in_ranges {
            let ranges = shared.plan.ranges.clone();
            let finished = run_apart(&shared, workers, ranges.as_slice().len())?;
            Ok(Compared { finished, ranges, reads: None })
        } else {
            run_once(&shared, &sorter, cut_rule)
        }
    })
    .await
    .map_err(|error| Error::internal("a worker broke off").caused_by(error))?;
    let mut compared: Compared = compared?;
    compared.finished.sort_by_key(|range| range.outcome.range);
    let numbers = compared.finished.iter().map(|range| range.outcome.range);
    let complete = numbers.eq(0..compared.ranges.as_slice().len());
    if complete || context.too_old.load(Ordering::SeqCst) {
        Ok(compared)
    } else {
        Err(Error::internal("a range is missing from the results"))
    }
}

/// Every range by reads of its own, `workers` at once.
fn run_apart(context: &Arc<RunContext>, workers: usize, ranges: usize) -> Result<Vec<FinishedRange>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(workers)
        .thread_name(|index| format!("range-{index}"))
        .build()
        .map_err(|error| Error::internal("starting the workers").caused_by(error))?;
    // One message a range; ranges are bounded by the plan.
    let (sender, receiver) = mpsc::channel();
    pool.scope_fifo(|scope| {
        for number in 0..ranges {
            let sender = sender.clone();
            scope.spawn_fifo(move |_| {
                let result = run_range(context, number);
                if result.is_err() {
                    context.cancel.cancel();
                }
                // The receiver lives until all ranges are done.
                drop(sender.send(result));
            });
        }
    });
    drop(sender);
    first_obstacle(context, receiver.into_iter().collect())
}

/// Tells the cause from the ranges that were only stopped because of it.
fn first_obstacle(context: &RunContext, results: Vec<Result<FinishedRange>>) -> Result<Vec<FinishedRange>> {
    let mut finished = Vec::with_capacity(results.len());
    let mut obstacle: Option<Error> = None;
    for result in results {
        match result {
            Ok(range) => finished.push(range),
            Err(error) => {
                let is_cause = error.kind() != ErrorKind::Cancelled;
                if obstacle.as_ref().is_none_or(|known| is_cause && known.kind() == ErrorKind::Cancelled) {
                    obstacle = Some(error);
                }
            }
        }
    }
    obstacle.filter(|error| !context.ends_early(error)).map_or(Ok(finished), Err)
}

/// Stops the run when its snapshots, which are younger than the run, may be `age` old. A caller who stops it first is
/// heard first.
fn watch_age(context: &RunContext, age: Duration, caller: CancellationToken) -> Task<()> {
    let (too_old, cancel) = (Arc::clone(&context.too_old), context.cancel.clone());
    let left = age.saturating_sub(context.clock.elapsed());
    tasks::start(&context.runtime, async move {
        tokio::time::sleep(left).await;
        if !caller.is_cancelled() {
            too_old.store(true, Ordering::SeqCst);
            cancel.cancel();
        }
    })
}

fn verdict(finished: &[FinishedRange], planned: usize, age: Option<Duration>) -> Verdict {
    let mut counts = Counts::default();
    for range in finished {
        counts.add(&range.outcome.counts);
    }
    if counts.differences() > 0 {
        Verdict::Different
    } else if finished.len() < planned {
        let why = age.map_or_else(String::new, |age| {
            format!(" before the snapshots were {} old (--max-snapshot-age)", humantime::format_duration(age))
        });
        Verdict::Incomplete(format!("{} of {planned} ranges were compared{why}", finished.len()))
    } else {
        Verdict::Equal
    }
}
