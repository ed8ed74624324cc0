//! Every text that is sent to SQL Server is T-SQL, and none needs what only SQL Server itself has, where it is sent to
//! every server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use sqlparser::{dialect::MsSqlDialect, parser::Parser};
use std::{fs, path::Path};

/// Texts whose refusal is an answer: sent where the server may lack what they name.
const MAY_BE_REFUSED: &[&str] = &[
    "change-version",
    "clock",
    "column-flags",
    "database",
    "masked",
    "permissions",
    "permissions-query",
    "probe-utf16",
    "probe-utf8",
    // Sent where the server has said that it has the collation.
    "range-utf8-char",
    "range-utf8-nvarchar",
    "range-utf8-varchar-max",
    "row-security",
    "row-security-any",
    "pins",
    "splits-sample",
];

/// What a T-SQL server over PostgreSQL refuses.
const REFUSED_ELSEWHERE: &[&str] = &[
    "_UTF8",
    "CHANGE_TRACKING",
    "SYSTEM_TIME",
    "CHECKSUM",
    "APPROX_COUNT",
    "sys.dm_",
    "PERCENT",
    "FORMAT(",
    "HASHBYTES",
    "TABLESAMPLE",
    "security_policies",
    "masked_columns",
];

fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/sqlserver");
    let mut texts: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    texts.sort();
    texts
}

#[test]
fn every_text_is_t_sql() {
    let texts = texts();
    assert!(texts.len() > 50, "only {} texts", texts.len());
    for (name, text) in texts {
        let parsed = Parser::parse_sql(&MsSqlDialect {}, &text);
        let statements = parsed.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert!(!statements.is_empty(), "{name}");
    }
}

#[test]
fn what_every_server_gets_needs_no_feature_of_one() {
    for (name, text) in texts() {
        if MAY_BE_REFUSED.contains(&name.as_str()) {
            continue;
        }
        for word in REFUSED_ELSEWHERE {
            assert!(!text.contains(word), "{name} uses {word}");
        }
    }
}
