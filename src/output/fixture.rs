//! A small run by hand, for the tests of the outputs.

use crate::model::{
    CanonicalType, Column, ColumnOptions, ColumnPair, ComparisonPlan, ComparisonRequest, Counts, Digest, Exactness,
    KeyCandidate, LogicalType, MemoryShare, NameCase, OutputHint, PlanFacts, PlannedRanges, Position, Projection,
    RangeOutcome, ReadOrder, RunFacts, Side, SideRequest, SideTally, Sides, SortChoice, Span, TableSchema, Verdict,
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

/// Key bytes of a number of one base-100 digit.
pub(super) fn key(digit: u8) -> Vec<u8> {
    vec![1, 0xA2, digit + 1, 0]
}

/// Row bytes of fields that are shorter than 128 bytes.
pub(super) fn row(fields: &[Option<&[u8]>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        match field {
            None => bytes.push(0),
            Some(field) => {
                bytes.extend([1, u8::try_from(field.len()).unwrap_or(0x7F)]);
                bytes.extend_from_slice(field);
            }
        }
    }
    bytes
}

pub(super) fn pair(name: &str, canonical: CanonicalType, output: OutputHint) -> ColumnPair {
    ColumnPair {
        name: Sides::new(name.to_owned(), format!("{name}_sink")),
        native: Sides::new("here".to_owned(), "there".to_owned()),
        canonical,
        output,
        options: ColumnOptions::default(),
    }
}

pub(super) fn plan(key: Vec<ColumnPair>, row: Vec<ColumnPair>, cuts: Vec<Vec<u8>>) -> ComparisonPlan {
    let projection = |side| Arc::new(Projection { side, key: Vec::new(), row: Vec::new() });
    ComparisonPlan {
        encoding_version: 1,
        key,
        key_origin: "primary key".to_owned(),
        key_unique: Sides::new(true, false),
        row,
        excluded: Sides::new(Vec::new(), vec!["loaded_at".to_owned()]),
        projection: Sides::new(projection(Side::Source), projection(Side::Sink)),
        order: Sides::new(ReadOrder::ServerRanges, ReadOrder::Local),
        ranges: PlannedRanges::from_cuts(cuts),
    }
}

pub(super) fn plan_facts(out: &Path, plan: ComparisonPlan) -> PlanFacts {
    let side = || SideRequest { locator: "postgres://me:secret@host/db#t".to_owned(), ..SideRequest::default() };
    let schema = |name: &str| TableSchema {
        display: name.to_owned(),
        columns: vec![Column {
            name: "id".to_owned(),
            native: "int8".to_owned(),
            logical: LogicalType::Integer { bits: 64, signed: true },
            nullable: false,
            hidden: false,
            collation: None,
        }],
        keys: vec![KeyCandidate { origin: "primary key".to_owned(), columns: vec!["id".to_owned()] }],
        name_case: NameCase::Sensitive,
        rows_estimate: Some(1000),
        bytes_estimate: None,
    };
    let position = |value: &str| Position {
        kind: "pg-lsn".to_owned(),
        value: value.to_owned(),
        exactness: Exactness::Bracketed,
        obtained: "two readings".to_owned(),
    };
    PlanFacts {
        request: ComparisonRequest {
            sides: Sides::new(side(), side()),
            key: Vec::new(),
            columns: Vec::new(),
            exclude: vec!["loaded_at".to_owned()],
            map: Vec::new(),
            casts: Vec::new(),
            options: BTreeMap::new(),
            sort: SortChoice::Auto,
            ranges_from: None,
            output: out.to_path_buf(),
            workers: 0,
            memory_bytes: 1 << 28,
            ranges: 0,
            snapshot_age_max: None,
        },
        plan: Arc::new(plan),
        schemas: Sides::new(schema("public.orders"), schema("orders.parquet")),
        positions: Sides::new(position("0/10"), position("0/20")),
        order_reasons: Sides::new("the primary key".to_owned(), String::new()),
        reads: Sides::new(vec!["SELECT id\nFROM orders".to_owned()], vec!["orders.parquet".to_owned()]),
        workers: 2,
        memory: vec![MemoryShare { name: "batches".to_owned(), bytes: 1 << 26 }],
    }
}

/// One range of equal rows, one of a missing row and a changed pair.
pub(super) fn outcomes() -> Vec<RangeOutcome> {
    let tally = |rows, digest| SideTally {
        rows,
        duplicate_keys: 0,
        surplus_rows: 0,
        null_key_rows: 0,
        digest: Digest([digest; 32]),
    };
    vec![
        RangeOutcome {
            range: 0,
            sides: Sides::new(tally(10, 1), tally(10, 1)),
            counts: Counts { matched: 10, ..Counts::default() },
            changed_by_column: vec![0],
            excused_by_column: vec![0],
        },
        RangeOutcome {
            range: 1,
            sides: Sides::new(tally(5, 2), tally(4, 3)),
            counts: Counts { matched: 3, missing: 1, changed: 1, ..Counts::default() },
            changed_by_column: vec![1],
            excused_by_column: vec![0],
        },
    ]
}

fn span(start: u64, elapsed: u64) -> Span {
    Span { start: Duration::from_millis(start), elapsed: Duration::from_millis(elapsed) }
}

/// A run of two ranges over a numeric key and one text column.
pub(super) fn facts(out: &Path) -> RunFacts {
    let plan = plan(
        vec![pair("id", CanonicalType::Number, OutputHint::Int64)],
        vec![pair("name", CanonicalType::Text, OutputHint::Plain)],
        vec![key(7)],
    );
    RunFacts {
        run_id: "20261130T225514Z-1a2b3c4d".to_owned(),
        plan: plan_facts(out, plan),
        outcomes: outcomes(),
        spans: vec![span(0, 250), span(125, 500)],
        reads: None,
        verdict: Verdict::Different,
        started: UNIX_EPOCH + Duration::from_secs(1_796_079_314),
        elapsed: Duration::from_secs(2),
    }
}
