//! From a request to a plan: freezes both tables, pairs their columns, decides orders, ranges and memory.

use super::{
    Control,
    limits::{BATCH_BYTES_MAX, MemoryPlan},
};
use crate::{
    connector::{FrozenTable, OrderSupport, Read, registry::connector_for},
    encode::ENCODING_VERSION,
    model::{
        ComparisonPlan, ComparisonRequest, Error, ErrorKind, KeyRange, PlanFacts, PlannedRanges, Progress, Projection,
        ReadOrder, Result, Side, Sides, SortChoice, TableSchema,
    },
    output::read_ranges,
    plan::{CutRule, Mapping, map_columns, range_count},
};
use std::sync::Arc;

/// Most reads whose text is kept for `plan`; the others differ by their bounds alone.
const READS_SHOWN_MAX: usize = 3;

/// A comparison that is ready to run.
pub(super) struct Prepared {
    pub(super) facts: PlanFacts,
    pub(super) tables: Sides<Arc<dyn FrozenTable>>,
    pub(super) memory: MemoryPlan,
    /// How the one range of the plan is cut while it is compared; `None`: not at all.
    pub(super) cut_rule: Option<CutRule>,
}

pub(super) async fn prepare(request: ComparisonRequest, control: &Control) -> Result<Prepared> {
    let workers = match request.workers {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    let tables = freeze(&request, workers).await?;
    let schemas = Sides::new(tables.source.schema().clone(), tables.sink.schema().clone());
    let mapping = map_columns(&request, &schemas)?;
    let support = tokio::try_join!(order_of(&tables, &mapping, Side::Source), order_of(&tables, &mapping, Side::Sink))?;
    let keyless = mapping.key.is_empty();
    let mut order = Sides::new(
        choose_order(request.sort, &support.0, keyless).map_err(|error| error.on(Side::Source))?,
        choose_order(request.sort, &support.1, keyless).map_err(|error| error.on(Side::Sink))?,
    );
    let mut reasons = Sides::new(support.0.reason, support.1.reason);
    align_orders(&mut order, &mut reasons);
    let ranges = ranges_of(&request, &schemas, &tables, &mapping).await?;
    let once = order.source != ReadOrder::ServerRanges;
    let may_cut = once && !keyless && request.ranges_from.is_none() && ranges.as_slice().len() == 1;
    let parts = range_count(&request, &schemas.source, keyless);
    let cut_rule = CutRule::new(&request, parts).filter(|_| may_cut);
    if cut_rule.is_some() {
        reasons.source.push_str("; its keys cannot be sampled, so ranges are cut as its rows arrive");
    }
    let read_bytes = Sides::new(
        tables.source.read_bytes_max(&mapping.projection.source),
        tables.sink.read_bytes_max(&mapping.projection.sink),
    );
    let wanted = if once { 1 } else { workers.min(ranges.as_slice().len()) };
    let memory = MemoryPlan::new(request.memory_bytes, wanted, order, read_bytes)?;
    let reads = Sides::new(
        explain(&*tables.source, &mapping.projection.source, order.source, &ranges),
        explain(&*tables.sink, &mapping.projection.sink, order.sink, &ranges),
    );
    let expected = schemas.source.rows_estimate.unwrap_or(0) + schemas.sink.rows_estimate.unwrap_or(0);
    Progress::add(&control.progress.rows_expected, expected);
    Progress::add(&control.progress.ranges_total, ranges.as_slice().len() as u64);
    let plan = ComparisonPlan {
        encoding_version: ENCODING_VERSION,
        key: mapping.key,
        key_origin: mapping.key_origin,
        key_unique: mapping.key_unique,
        row: mapping.row,
        excluded: mapping.excluded,
        projection: mapping.projection,
        order,
        ranges,
    };
    let positions = Sides::new(tables.source.position().clone(), tables.sink.position().clone());
    let facts = PlanFacts {
        request,
        plan: Arc::new(plan),
        schemas,
        positions,
        order_reasons: reasons,
        reads,
        workers: memory.workers,
        memory: memory.shares.clone(),
    };
    Ok(Prepared { facts, tables, memory, cut_rule })
}

async fn freeze(request: &ComparisonRequest, workers: usize) -> Result<Sides<Arc<dyn FrozenTable>>> {
    let connectors = Sides::new(
        connector_for(&request.sides.source.locator).map_err(|error| error.on(Side::Source))?,
        connector_for(&request.sides.sink.locator).map_err(|error| error.on(Side::Sink))?,
    );
    let source = async {
        connectors.source.freeze(&request.sides.source, workers).await.map_err(|error| error.on(Side::Source))
    };
    let sink =
        async { connectors.sink.freeze(&request.sides.sink, workers).await.map_err(|error| error.on(Side::Sink)) };
    let (source, sink) = tokio::try_join!(source, sink)?;
    Ok(Sides::new(Arc::from(source), Arc::from(sink)))
}

async fn order_of(tables: &Sides<Arc<dyn FrozenTable>>, mapping: &Mapping, side: Side) -> Result<OrderSupport> {
    tables.get(side).order(mapping.projection.get(side)).await.map_err(|error| error.on(side))
}

/// Who sorts a side, from what the user asked for and what the store can do.
fn choose_order(choice: SortChoice, support: &OrderSupport, keyless: bool) -> Result<ReadOrder> {
    if keyless {
        // Rows are compared in row-byte order, which no store knows.
        return if choice == SortChoice::Server {
            Err(Error::new(
                ErrorKind::Config,
                "planning the order: a table without a key cannot be sorted by the store",
            )
            .hint("name a key with --key, or drop --sort server"))
        } else {
            Ok(ReadOrder::Local)
        };
    }
    match choice {
        SortChoice::Auto => Ok(support.best),
        SortChoice::Local => Ok(ReadOrder::Local),
        SortChoice::Server if !support.can_order => Err(Error::new(
            ErrorKind::Unsupported,
            format!("planning the order: the store cannot give canonical key order ({})", support.reason),
        )
        .hint("use --sort local or --sort auto")),
        SortChoice::Server => Ok(match support.best {
            ReadOrder::Local => ReadOrder::ServerOnce,
            best => best,
        }),
    }
}

/// A side that is read once sets the pace: the other one is then read once too.
fn align_orders(order: &mut Sides<ReadOrder>, reasons: &mut Sides<String>) {
    for side in Side::BOTH {
        if *order.get(side.other()) != ReadOrder::ServerRanges && *order.get(side) == ReadOrder::ServerRanges {
            *order.get_mut(side) = ReadOrder::ServerOnce;
            let reason = reasons.get_mut(side);
            *reason = format!("{reason}; read once, since the {} is", side.other());
        }
    }
}

async fn ranges_of(
    request: &ComparisonRequest,
    schemas: &Sides<TableSchema>,
    tables: &Sides<Arc<dyn FrozenTable>>,
    mapping: &Mapping,
) -> Result<PlannedRanges> {
    let key_types: Vec<_> = mapping.key.iter().map(|pair| pair.canonical.clone()).collect();
    if let Some(folder) = &request.ranges_from {
        return PlannedRanges::from_ranges(read_ranges(folder, &key_types, &mapping.row)?);
    }
    if mapping.key.is_empty() {
        return Ok(PlannedRanges::from_cuts(Vec::new()));
    }
    let parts = range_count(request, &schemas.source, mapping.key.is_empty());
    for side in Side::BOTH {
        let projection = mapping.projection.get(side);
        let cuts = tables.get(side).splits(projection, parts).await.map_err(|error| error.on(side))?;
        if !cuts.is_empty() {
            return Ok(PlannedRanges::from_cuts(cuts));
        }
    }
    Ok(PlannedRanges::from_cuts(Vec::new()))
}

fn explain(
    table: &dyn FrozenTable,
    projection: &Arc<Projection>,
    order: ReadOrder,
    ranges: &PlannedRanges,
) -> Vec<String> {
    let read = |range: &KeyRange, ascending| Read { range: range.clone(), ascending, batch_bytes_max: BATCH_BYTES_MAX };
    match order {
        ReadOrder::ServerRanges => ranges
            .as_slice()
            .iter()
            .take(READS_SHOWN_MAX)
            .map(|range| table.explain(projection, &read(range, true)))
            .collect(),
        ReadOrder::ServerOnce => vec![table.explain(projection, &read(&KeyRange::all(), true))],
        ReadOrder::Local => vec![table.explain(projection, &read(&KeyRange::all(), false))],
    }
}
