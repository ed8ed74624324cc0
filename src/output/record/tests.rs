//! Tests of the record, the ranges and the folder together.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::{
    model::{ErrorKind, KeyRange},
    output::{fixture, read_ranges, write_ranges},
};
use serde_json::Value;

fn record() -> RunRecord {
    RunRecord::from_facts(
        &fixture::facts(Path::new("/out")),
        &[PathBuf::from("/out/x.partial/differences/part-000001-0000.parquet")],
    )
}

#[test]
fn the_record_sums_its_ranges() {
    let record = record();
    assert_eq!(record.verdict, "different");
    assert_eq!(record.reason, None);
    assert_eq!(
        (record.counts.matched, record.counts.missing, record.counts.extra, record.counts.changed),
        (13, 1, 0, 1)
    );
    assert_eq!(record.rows, Pair { source: 15, sink: 14 });
    assert_eq!(record.columns[0].changed, Some(1));
    assert_eq!(record.coverage, CoverageRecord { ranges_done: 2, ranges_total: 2, complete: true });
    assert_eq!(record.output.differences, ["differences/part-000001-0000.parquet"]);
    assert_eq!(record.output.folder, "/out/20261130T225514Z-1a2b3c4d");
    assert!(record.digest.source.is_some() && record.digest.source != record.digest.sink);
}

#[test]
fn rows_with_null_keys_are_summed_for_each_side() {
    let mut facts = fixture::facts(Path::new("/out"));
    for (outcome, rows) in facts.outcomes.iter_mut().zip([(1, 10), (2, 20)]) {
        (outcome.sides.source.null_key_rows, outcome.sides.sink.null_key_rows) = rows;
    }
    assert_eq!(RunRecord::from_facts(&facts, &[]).null_key_rows, Pair { source: 3, sink: 30 });
    assert_eq!(JournalLine::new(&facts.outcomes[1], &[]).null_key_rows, Pair { source: 2, sink: 20 });
}

#[test]
fn no_secret_of_a_locator_is_written() {
    let text = record().to_json().unwrap();
    assert!(!text.contains("secret"));
    assert!(text.contains("public.orders"));
}

#[test]
fn the_document_reads_back_and_refuses_unknown_members() {
    let text = record().to_json().unwrap();
    assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record());
    assert!(serde_json::from_str::<RunRecord>(&text.replacen('{', "{\"more\": 1,", 1)).is_err());
}

/// Walks the schema: each object has exactly the required members.
fn fits(schema: &Value, document: &Value, at: &str) {
    if let (Some(required), Some(members)) = (schema["required"].as_array(), document.as_object()) {
        for name in required {
            assert!(members.contains_key(name.as_str().unwrap()), "{at}: {name} is missing");
        }
        for (name, value) in members {
            let schema = &schema["properties"][name];
            assert!(!schema.is_null(), "{at}: {name} is not in the schema");
            fits(schema, value, &format!("{at}.{name}"));
        }
    }
    if let Some(items) = document.as_array() {
        for item in items {
            fits(&schema["items"], item, at);
        }
    }
}

#[test]
fn documents_fit_their_schemas() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/run.schema.json")).unwrap();
    fits(&schema, &serde_json::to_value(record()).unwrap(), "run");
    let schema: Value = serde_json::from_str(include_str!("../../../docs/plan.schema.json")).unwrap();
    let facts = fixture::facts(Path::new("/out")).plan;
    fits(&schema, &crate::output::plan_document(&facts), "plan");
}

#[test]
fn time_changes_no_byte_of_the_record() {
    let mut later = fixture::facts(Path::new("/out"));
    later.started += std::time::Duration::from_hours(1);
    later.elapsed *= 7;
    later.spans.reverse();
    later.plan.workers = 9;
    let parts = [PathBuf::from("differences/part-000001-0000.parquet")];
    assert_eq!(RunRecord::from_facts(&later, &parts).to_json().unwrap(), record().to_json().unwrap());
}

#[test]
fn a_table_digest_needs_every_range_once() {
    let ranges = PlannedRanges::from_cuts(vec![fixture::key(7)]);
    let outcomes = fixture::outcomes();
    // blake2b-256 of the bytes of docs/encoding.md section 8, by Python's hashlib.
    let expected = "27d8f02a25a3508a5b04229dd2c4802e902bb44d2297722c8f1c29107ef59544";
    assert_eq!(table_digest(&ranges, &outcomes, Side::Source).unwrap().to_string(), expected);
    assert_ne!(table_digest(&ranges, &outcomes, Side::Sink).unwrap().to_string(), expected);
    assert_eq!(table_digest(&ranges, &outcomes[..1], Side::Source), None);
    let twice = [outcomes[0].clone(), outcomes[0].clone()];
    assert_eq!(table_digest(&ranges, &twice, Side::Source), None);
}

#[test]
fn a_record_that_contradicts_itself_is_refused() {
    assert!(check(&record()).is_ok());
    let mut equal = record();
    "equal".clone_into(&mut equal.verdict);
    let mut lost = record();
    lost.rows.source += 1;
    let mut same = record();
    same.digest.sink = same.digest.source.clone();
    let mut nothing = record();
    nothing.counts = CountsRecord { matched: 14, missing: 0, changed: 0, ..nothing.counts };
    nothing.rows = Pair { source: 14, sink: 14 };
    let mut partial = nothing.clone();
    "equal".clone_into(&mut partial.verdict);
    partial.digest.sink = partial.digest.source.clone();
    assert!(check(&partial).is_ok());
    partial.coverage.complete = false;
    for wrong in [equal, lost, same, nothing, partial] {
        assert_eq!(check(&wrong).unwrap_err().kind(), ErrorKind::Internal);
    }
}

#[test]
fn a_folder_is_whole_only_with_its_record() {
    let out = tempfile::tempdir().unwrap();
    let mut facts = fixture::facts(out.path());
    let folder = RunFolder::create(out.path(), &facts.run_id).unwrap();
    assert_eq!(RunFolder::create(out.path(), &facts.run_id).unwrap_err().kind(), ErrorKind::Output);
    folder.journal_range(&facts.outcomes[0], &[]).unwrap();
    folder.journal_range(&facts.outcomes[1], &[PathBuf::from("a/part-000001-0000.parquet")]).unwrap();
    let journal = std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
    let lines: Vec<JournalLine> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[0].range, lines[1].range, lines[1].counts.missing), (0, 1, 1));
    assert_eq!(lines[1].parts, ["part-000001-0000.parquet"]);
    std::fs::write(folder.differences().join("part-000002-0000.tmp"), b"half").unwrap();
    write_ranges(&folder.path().join("ranges.parquet"), &facts).unwrap();
    write_record(&folder, &RunRecord::from_facts(&facts, &[]), &Timing::from_facts(&facts)).unwrap();
    let whole = folder.finish().unwrap();
    assert_eq!(whole, out.path().join(&facts.run_id));
    let mut names: Vec<_> = std::fs::read_dir(&whole).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["differences", "ranges.parquet", "run.json", "timing.json"]);
    assert_eq!(std::fs::read_dir(whole.join("differences")).unwrap().count(), 0);

    let types = [crate::model::CanonicalType::Number];
    let row = facts.plan.plan.row.clone();
    let key = fixture::key(7);
    assert_eq!(
        read_ranges(&whole, &types, &row).unwrap(),
        [KeyRange { lower: None, upper: Some(key.clone()) }, KeyRange { lower: Some(key), upper: None }]
    );
    let other = read_ranges(&whole, &[crate::model::CanonicalType::Text], &row).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Config);
    let other = read_ranges(&whole, &types, &[]).unwrap_err();
    assert!(other.to_string().contains("tieout.row"), "{other}");

    facts.run_id = "unfinished".to_owned();
    drop(RunFolder::create(out.path(), &facts.run_id).unwrap());
    assert!(out.path().join("unfinished.partial").is_dir() && !out.path().join("unfinished").exists());
    let folder = RunFolder::create(out.path(), "bare").unwrap();
    assert_eq!(folder.finish().unwrap_err().kind(), ErrorKind::Internal);
    assert!(out.path().join("bare.partial").is_dir());
    assert_eq!(RunFolder::create(out.path(), "../up").unwrap_err().kind(), ErrorKind::Config);
}

#[test]
fn names_of_runs_sort_by_time() {
    let started = fixture::facts(Path::new("/out")).started;
    assert_eq!(RunFolder::name(started, 0x1a2b_3c4d), "20261130T225514Z-1a2b3c4d");
    assert_eq!(RunFolder::name(started, 7), "20261130T225514Z-00000007");
}
