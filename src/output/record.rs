//! The record of a run: `run.json`, which depends on the data and the question alone, and `timing.json`, which holds
//! what depends on time and machine.

use super::{
    RunFolder,
    calendar::iso_utc,
    document::{
        ColumnRecord, CountsRecord, CoverageRecord, DigestRecord, DuplicatesRecord, FileRecord, JournalCounts,
        JournalLine, OutputRecord, Pair, PlanRecord, PositionRecord, RangeTiming, ReadTiming, RequestRecord, RunRecord,
        SideRequestRecord, Timing,
    },
    keys::digest,
    ranges::RANGES,
};
use crate::model::{
    ColumnOptions, ColumnPair, Counts, Digest, Error, PlannedRanges, RangeOutcome, ReadOrder, Result, Rounding,
    RunFacts, Side, SideRequest, SideTally, Sides, SortChoice, TimePrecision, Verdict,
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Version of the documents that this build writes.
pub const SCHEMA_VERSION: u32 = 1;
/// Name of the record in the folder of a run.
pub(super) const RECORD: &str = "run.json";
/// Name of the timings in the folder of a run.
const TIMING: &str = "timing.json";
/// Name of the digest algorithm in every document.
const ALGORITHM: &str = "blake2b-256";

impl JournalLine {
    pub(super) fn new(outcome: &RangeOutcome, parts: &[PathBuf]) -> Self {
        let Counts { matched, missing, extra, changed, excused } = outcome.counts;
        Self {
            schema_version: SCHEMA_VERSION,
            range: count(outcome.range),
            rows: Pair::of(&outcome.sides, |tally| tally.rows),
            digest: Pair::of(&outcome.sides, |tally| tally.digest.to_string()),
            duplicates: Pair::of(&outcome.sides, duplicates),
            null_key_rows: Pair::of(&outcome.sides, |tally| tally.null_key_rows),
            counts: JournalCounts { matched, missing, extra, changed, excused },
            changed_by_column: outcome.changed_by_column.clone(),
            excused_by_column: outcome.excused_by_column.clone(),
            parts: parts.iter().map(|part| file_name(part)).collect(),
        }
    }
}

fn duplicates(tally: &SideTally) -> DuplicatesRecord {
    DuplicatesRecord { keys: tally.duplicate_keys, surplus: tally.surplus_rows }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// What a run found in all, summed over its finished ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) counts: Counts,
    pub(super) rows: Sides<u64>,
    pub(super) duplicates: Sides<(u64, u64)>,
    pub(super) null_key_rows: Sides<u64>,
    pub(super) changed: Vec<u64>,
    pub(super) excused: Vec<u64>,
    pub(super) done: usize,
    pub(super) total: usize,
}

impl Totals {
    pub(super) fn of(facts: &RunFacts) -> Self {
        let columns = facts.plan.plan.row.len();
        let mut totals = Self {
            changed: vec![0; columns],
            excused: vec![0; columns],
            done: facts.outcomes.len(),
            total: facts.plan.plan.ranges.as_slice().len(),
            ..Self::default()
        };
        for outcome in &facts.outcomes {
            totals.counts.add(&outcome.counts);
            for side in Side::BOTH {
                let tally = outcome.sides.get(side);
                *totals.rows.get_mut(side) += tally.rows;
                let duplicates = totals.duplicates.get_mut(side);
                duplicates.0 += tally.duplicate_keys;
                duplicates.1 += tally.surplus_rows;
                *totals.null_key_rows.get_mut(side) += tally.null_key_rows;
            }
            let add = |totals: &mut Vec<u64>, more: &[u64]| {
                totals.iter_mut().zip(more).for_each(|(total, more)| *total += more);
            };
            add(&mut totals.changed, &outcome.changed_by_column);
            add(&mut totals.excused, &outcome.excused_by_column);
        }
        totals
    }

    pub(super) fn is_complete(&self) -> bool {
        self.done == self.total
    }
}

/// Digest of a table, `docs/encoding.md` section 8. `None` unless `outcomes` has exactly one outcome for each range,
/// ascending.
#[must_use]
pub fn table_digest(ranges: &PlannedRanges, outcomes: &[RangeOutcome], side: Side) -> Option<Digest> {
    let ranges = ranges.as_slice();
    if ranges.len() != outcomes.len() || outcomes.iter().enumerate().any(|(index, outcome)| outcome.range != index) {
        return None;
    }
    let mut bytes = b"tieout-table-v1\0".to_vec();
    for (range, outcome) in ranges.iter().zip(outcomes) {
        for bound in [&range.lower, &range.upper] {
            match bound {
                None => bytes.push(0),
                Some(key) => {
                    bytes.push(1);
                    bytes.extend_from_slice(&u32::try_from(key.len()).ok()?.to_be_bytes());
                    bytes.extend_from_slice(key);
                }
            }
        }
        let tally = outcome.sides.get(side);
        bytes.extend_from_slice(&tally.rows.to_be_bytes());
        bytes.extend_from_slice(&tally.digest.0);
    }
    Some(digest(&bytes))
}

/// Digest of the encoding's version, the names in the source and the canonical types of key and row, and the cuts.
pub(super) fn fingerprint(plan: &crate::model::ComparisonPlan) -> String {
    let mut bytes = b"tieout-plan-v1\0".to_vec();
    bytes.extend_from_slice(&plan.encoding_version.to_be_bytes());
    let mut add = |item: &[u8]| {
        bytes.extend_from_slice(&count(item.len()).to_be_bytes());
        bytes.extend_from_slice(item);
    };
    for pairs in [&plan.key, &plan.row] {
        add(&count(pairs.len()).to_be_bytes());
        for pair in pairs {
            add(pair.name.source.as_bytes());
            add(pair.canonical.to_string().as_bytes());
        }
    }
    for range in plan.ranges.as_slice() {
        if let Some(lower) = &range.lower {
            add(lower);
        }
    }
    digest(&bytes).to_string()
}

/// The options that deviate from the exact profile, by the names of the command line.
pub(super) fn options(options: &ColumnOptions) -> BTreeMap<String, String> {
    let fold = options.fold;
    let precision = options.precision.map(|precision| match precision {
        TimePrecision::Seconds => "s",
        TimePrecision::Milliseconds => "ms",
        TimePrecision::Microseconds => "us",
    });
    let rounding = match options.rounding {
        Rounding::Truncate => "truncate",
        Rounding::HalfUp => "half_up",
    };
    [
        ("abs_tol", options.abs_tol.clone()),
        ("rel_tol", options.rel_tol.clone()),
        ("ulps", options.ulps.map(|ulps| ulps.to_string())),
        ("trim", fold.trim_end.then(|| "end".to_owned())),
        ("case", fold.fold_case.then(|| "fold".to_owned())),
        ("unicode", fold.nfc.then(|| "nfc".to_owned())),
        ("precision", precision.map(str::to_owned)),
        ("rounding", precision.map(|_| rounding.to_owned())),
        ("zone", options.zone.clone()),
        ("null", options.null.clone()),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| (name.to_owned(), value)))
    .collect()
}

/// The word for a read order.
pub(super) const fn order_name(order: ReadOrder) -> &'static str {
    match order {
        ReadOrder::ServerRanges => "server-ranges",
        ReadOrder::ServerOnce => "server-once",
        ReadOrder::Local => "local",
    }
}

fn column(pair: &ColumnPair, changed: Option<u64>, excused: Option<u64>) -> ColumnRecord {
    ColumnRecord {
        source: pair.name.source.clone(),
        sink: pair.name.sink.clone(),
        native: Pair::of(&pair.native, Clone::clone),
        canonical: pair.canonical.to_string(),
        changed,
        excused,
        options: options(&pair.options),
    }
}

impl RequestRecord {
    fn of(facts: &RunFacts) -> Self {
        let request = &facts.plan.request;
        Self {
            sides: Pair::of(&request.sides, |side: &SideRequest| SideRequestRecord {
                filter: side.filter.clone(),
                query: side.query.clone(),
                file: FileRecord {
                    header: side.file.header,
                    delimiter: char::from(side.file.delimiter).to_string(),
                    null: side.file.null.clone(),
                },
            }),
            key: request.key.clone(),
            columns: request.columns.clone(),
            exclude: request.exclude.clone(),
            map: request.map.clone(),
            casts: request.casts.clone(),
            options: request.options.iter().map(|(name, value)| (name.clone(), options(value))).collect(),
            sort: match request.sort {
                SortChoice::Auto => "auto",
                SortChoice::Server => "server",
                SortChoice::Local => "local",
            }
            .to_owned(),
            ranges: count(request.ranges),
            ranges_from: request.ranges_from.as_ref().map(|path| path.display().to_string()),
        }
    }
}

impl PlanRecord {
    fn of(facts: &RunFacts) -> Self {
        let plan = &facts.plan.plan;
        Self {
            encoding_version: plan.encoding_version,
            fingerprint: fingerprint(plan),
            key_origin: plan.key_origin.clone(),
            key_unique: Pair::of(&plan.key_unique, |unique| *unique),
            order: Pair::of(&plan.order, |order| order_name(*order).to_owned()),
            ranges: count(plan.ranges.as_slice().len()),
            excluded: Pair::of(&plan.excluded, Clone::clone),
        }
    }
}

impl RunRecord {
    /// The record of a finished run; `parts` are the files of the differences, in key order.
    #[must_use]
    pub fn from_facts(facts: &RunFacts, parts: &[PathBuf]) -> Self {
        let plan = &facts.plan.plan;
        let totals = Totals::of(facts);
        let Counts { matched, missing, extra, changed, excused } = totals.counts;
        let digest = |side| table_digest(&plan.ranges, &facts.outcomes, side).map(|digest| digest.to_string());
        let per_column = totals.changed.iter().zip(&totals.excused);
        Self {
            schema_version: SCHEMA_VERSION,
            run_id: facts.run_id.clone(),
            tieout_version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: facts.verdict.as_str().to_owned(),
            reason: match &facts.verdict {
                Verdict::Incomplete(reason) => Some(reason.clone()),
                Verdict::Equal | Verdict::Different => None,
            },
            counts: CountsRecord {
                matched,
                missing,
                extra,
                changed,
                duplicate: totals.duplicates.source.0 + totals.duplicates.sink.0,
                in_flight: 0,
                excused,
            },
            rows: Pair::of(&totals.rows, |rows| *rows),
            duplicates: Pair::of(&totals.duplicates, |(keys, surplus)| DuplicatesRecord {
                keys: *keys,
                surplus: *surplus,
            }),
            null_key_rows: Pair::of(&totals.null_key_rows, |rows| *rows),
            digest: DigestRecord {
                algorithm: ALGORITHM.to_owned(),
                source: digest(Side::Source),
                sink: digest(Side::Sink),
            },
            coverage: CoverageRecord {
                ranges_done: count(totals.done),
                ranges_total: count(totals.total),
                complete: totals.is_complete(),
            },
            tables: Pair::of(&facts.plan.schemas, |schema| schema.display.clone()),
            positions: Pair::of(&facts.plan.positions, |position| PositionRecord::from(position)),
            key: plan.key.iter().map(|pair| column(pair, None, None)).collect(),
            columns: plan
                .row
                .iter()
                .zip(per_column)
                .map(|(pair, (changed, excused))| column(pair, Some(*changed), Some(*excused)))
                .collect(),
            plan: PlanRecord::of(facts),
            request: RequestRecord::of(facts),
            output: OutputRecord {
                folder: facts.plan.request.output.join(&facts.run_id).display().to_string(),
                record: RECORD.to_owned(),
                timing: TIMING.to_owned(),
                ranges: RANGES.to_owned(),
                differences: parts.iter().map(|part| format!("differences/{}", file_name(part))).collect(),
            },
        }
    }

    /// The document, indented, with a line end.
    ///
    /// # Errors
    /// `Internal` if it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        json(self)
    }
}

impl Timing {
    /// The timings of a finished run.
    #[must_use]
    pub fn from_facts(facts: &RunFacts) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            run_id: facts.run_id.clone(),
            started: iso_utc(facts.started),
            elapsed_seconds: facts.elapsed.as_secs_f64(),
            workers: count(facts.plan.workers),
            memory_bytes: facts.plan.memory_bytes(),
            reads: facts.reads.as_ref().map(|reads| {
                Pair::of(reads, |read| ReadTiming {
                    start_seconds: read.span.start.as_secs_f64(),
                    seconds: read.span.elapsed.as_secs_f64(),
                    spilled_bytes: read.spilled_bytes,
                })
            }),
            ranges: facts
                .outcomes
                .iter()
                .zip(&facts.spans)
                .map(|(outcome, span)| RangeTiming {
                    range: count(outcome.range),
                    start_seconds: span.start.as_secs_f64(),
                    seconds: span.elapsed.as_secs_f64(),
                })
                .collect(),
        }
    }
}

fn json<T: Serialize>(document: &T) -> Result<String> {
    let mut text = serde_json::to_string_pretty(document)
        .map_err(|cause| Error::internal("writing a document as json").caused_by(cause))?;
    text.push('\n');
    Ok(text)
}

/// Refuses a record whose numbers contradict each other or its verdict: the last guard against a wrong answer.
fn check(record: &RunRecord) -> Result<()> {
    let CountsRecord { matched, missing, extra, changed, excused, .. } = record.counts;
    let wrong = |what: &str| Err(Error::internal(format!("writing the record: expected {what}, found otherwise")));
    let sum = |parts: [u64; 3]| parts.into_iter().try_fold(0_u64, u64::checked_add);
    if sum([matched, missing, changed]) != Some(record.rows.source) {
        return wrong("every row of the source to be matched, missing or changed");
    }
    if sum([matched, extra, changed]) != Some(record.rows.sink) {
        return wrong("every row of the sink to be matched, extra or changed");
    }
    let differs = missing > 0 || extra > 0 || changed > 0;
    let digests_agree = record.digest.source == record.digest.sink;
    match record.verdict.as_str() {
        "equal" if differs => wrong("no difference under the verdict equal"),
        "equal" if !record.coverage.complete => wrong("every range to be compared under the verdict equal"),
        "equal" if excused == 0 && !digests_agree => wrong("equal digests under the verdict equal without options"),
        "different" if !differs => wrong("a difference under the verdict different"),
        "different" if record.coverage.complete && digests_agree => wrong("digests that differ where rows differ"),
        "incomplete" if differs => wrong("no difference under the verdict incomplete"),
        _ => Ok(()),
    }
}

/// Writes `timing.json`, then `run.json`, into the folder. After that the folder can be finished.
///
/// # Errors
/// `Output` if a file cannot be written; `Internal` if counts, digests, coverage and verdict contradict each other.
pub fn write_record(folder: &RunFolder, record: &RunRecord, timing: &Timing) -> Result<()> {
    check(record)?;
    folder.write_file(TIMING, json(timing)?.as_bytes())?;
    folder.write_file(RECORD, json(record)?.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests;
