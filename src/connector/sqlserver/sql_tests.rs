//! Tests of the texts: the golden files, and the check of what users write.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;
use std::path::PathBuf;

/// Compares a text with its golden file; writes it where `TIEOUT_UPDATE_DOCS` is set.
#[track_caller]
pub(in crate::connector::sqlserver) fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/golden/sqlserver/{name}.sql"));
    let text = format!("{text}\n");
    if std::env::var_os("TIEOUT_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{}", path.display());
}

#[test]
fn texts_are_those_of_the_golden_files() {
    let orders = quoted("dbo", "orders");
    let from = format!("{orders} AS t");
    for (name, text) in [
        ("pins", pins()),
        ("server", SERVER.to_owned()),
        ("database", DATABASE.to_owned()),
        ("types", TYPES.to_owned()),
        ("masked", MASKED.to_owned()),
        ("begin-snapshot", BEGIN_SNAPSHOT.to_owned()),
        ("read-committed", READ_COMMITTED.to_owned()),
        ("transaction", TRANSACTION.to_owned()),
        ("clock", CLOCK.to_owned()),
        ("probe-utf16", PROBE_UTF16.to_owned()),
        ("probe-utf8", PROBE_UTF8.to_owned()),
        ("near-names", NAMES.to_owned()),
        ("object", object(&quoted("dbo", "it's]odd"))),
        ("synonym", synonym(1234)),
        ("columns", columns(1234)),
        ("column-flags", column_flags(1234)),
        ("indexes", indexes(1234)),
        ("rows", rows(1234)),
        ("permissions", permissions(Some(&orders))),
        ("permissions-query", permissions(None)),
        ("row-security", row_security(Some(1234))),
        ("row-security-any", row_security(None)),
        ("change-version", change_version(1234)),
        ("first-read", first_read(&from)),
        ("probe-filter", probe_filter(&from, " WHERE (amount > 5\n)")),
        ("probe-query", probe_query("(SELECT id, amount FROM dbo.orders\n) AS t")),
    ] {
        golden(name, &text);
    }
}

#[test]
fn fragments_stay_within_their_parentheses() {
    for good in [
        "a = 1",
        "a = ';' and (b)",
        "[x;)] > 1 or \"y;)\" > 1",
        "[a]]b;] = N'it''s;'",
        "a -- ; )\n = 1",
        "/* ; /* ) */ */ a = 1",
        "getdate = 1",
        "a = 'getdate()'",
        "t.current_timestamp > 1",
        "[rand] > 1",
        "rand_id > 1",
    ] {
        assert!(check_fragment("filter", good).is_ok(), "{good}");
    }
    for bad in [
        "a; drop",
        "a) or (b",
        "(a",
        "a = 'x",
        "[a",
        "/* a",
        "a < getdate()",
        "a < dbo.GETDATE ()",
        "a<Current_Timestamp",
        "newid()<a",
        "a = @@SPID",
    ] {
        assert!(check_fragment("filter", bad).is_err(), "{bad}");
    }
}
