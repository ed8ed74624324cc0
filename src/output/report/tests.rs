//! Tests of the summary.

use super::*;
use crate::output::fixture;
use std::path::Path;

#[test]
fn a_different_run_says_so_first() {
    let text = summary(&fixture::facts(Path::new("/out")), Path::new("/out/run"), Colour::Off);
    let expected = "\
DIFFERENT  2 differences

  source      public.orders, 15 rows
              frozen at pg-lsn 0/10 (bracketed)
  sink        orders.parquet, 14 rows
              frozen at pg-lsn 0/20 (bracketed)
  key         id (primary key)
  left out    sink loaded_at
  coverage    complete, 2 ranges

  matched     13
  missing      1  in the source, not in the sink
  extra        0
  changed      1  same key, other values
               1  in name

";
    assert_eq!(text.get(..expected.len()), Some(expected), "{text}");
    assert!(text.contains("  look        duckdb -c \"SELECT * FROM '/out/run/differences/*.parquet' LIMIT 20\"\n"));
    assert!(text.ends_with("  took        2.0 s, 15 rows/s of both sides\n"), "{text}");
    assert!(!text.contains("secret"));
}

#[test]
fn equal_and_incomplete_say_what_was_proven() {
    let mut facts = fixture::facts(Path::new("/out"));
    facts.outcomes.truncate(1);
    facts.verdict = Verdict::Incomplete("range 1 was not read".to_owned());
    let text = summary(&facts, Path::new("/out/run"), Colour::Off);
    assert!(
        text.starts_with("INCOMPLETE  no difference found, but not everything was compared: range 1 was not read\n"),
        "{text}"
    );
    assert!(text.contains("NOT COMPLETE, 1 of 2 ranges"), "{text}");

    let mut facts = fixture::facts(Path::new("/out"));
    let mut second = facts.outcomes[0].clone();
    second.range = 1;
    second.sides.source.duplicate_keys = 1;
    second.sides.source.surplus_rows = 3;
    second.sides.source.null_key_rows = 1;
    second.sides.sink.null_key_rows = 1200;
    facts.outcomes[1] = second;
    facts.verdict = Verdict::Equal;
    let text = summary(&facts, Path::new("/out/run"), Colour::On);
    assert!(
        text.starts_with(
            "\u{1b}[1;32mEQUAL\u{1b}[0m  all 20 rows are on both sides with exactly the same values in 2 columns\n"
        ),
        "{text}"
    );
    assert!(text.contains("source: 1 key occurs more than once (3 surplus rows); compared as multisets"), "{text}");
    assert!(text.contains("  null keys   source: 1 row with NULL in the key; NULL pairs with NULL\n"), "{text}");
    assert!(text.contains("  null keys   sink: 1,200 rows with NULL in the key; NULL pairs with NULL\n"), "{text}");
    assert!(text.contains("(both sides)"), "{text}");
}
