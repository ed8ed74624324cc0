//! The texts that are sent besides the reads themselves. `tests/it/golden/sqlserver/` holds each as a file.

use super::name::{bracketed, literal};
use crate::model::{Error, ErrorKind, Result};

/// What decides over rows and values of a session. `TEXTSIZE` cuts long values, `ROWCOUNT` results; a transaction that
/// an error leaves half done must end.
pub(super) const PINS: &[&str] = &[
    "SET NOCOUNT ON",
    "SET ROWCOUNT 0",
    "SET TEXTSIZE 2147483647",
    "SET ANSI_NULLS ON",
    "SET ANSI_PADDING ON",
    "SET ANSI_WARNINGS ON",
    "SET ARITHABORT ON",
    "SET CONCAT_NULL_YIELDS_NULL ON",
    "SET QUOTED_IDENTIFIER ON",
    "SET NUMERIC_ROUNDABORT OFF",
    "SET IMPLICIT_TRANSACTIONS OFF",
    "SET XACT_ABORT ON",
    "SET DATEFORMAT ymd",
    "SET LOCK_TIMEOUT 600000",
];
pub(super) const SERVER: &str = "SELECT @@VERSION";
pub(super) const DATABASE: &str = "SELECT d.name, d.is_read_only, d.source_database_id, d.snapshot_isolation_state \
                                   FROM sys.databases AS d WHERE d.name = DB_NAME()";
pub(super) const TYPES: &str = "SELECT t.name, t.system_type_id, t.user_type_id, t.is_user_defined, t.is_assembly_type \
                                FROM sys.types AS t ORDER BY t.user_type_id";
pub(super) const MASKED: &str = "SELECT COUNT(*) FROM sys.masked_columns";
pub(super) const BEGIN_SNAPSHOT: &str = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION";
pub(super) const READ_COMMITTED: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
pub(super) const TRANSACTION: &str = "SELECT @@TRANCOUNT";
pub(super) const CLOCK: &str = "SELECT SYSUTCDATETIME()";
pub(super) const PROBE_UTF16: &str = "SELECT CONVERT(varbinary(8), NCHAR(8364) + NCHAR(960))";
/// What [`PROBE_UTF16`] gives on a server that stores nvarchar as documented.
pub(super) const UTF16_BYTES: [u8; 4] = [0xac, 0x20, 0xc0, 0x03];
/// Counts the collation by which text is sorted in UTF-8.
pub(super) const PROBE_UTF8: &str =
    "SELECT COUNT(*) FROM sys.fn_helpcollations() AS c WHERE c.name = N'Latin1_General_100_BIN2_UTF8'";
/// Names that an unresolved name is compared with, at most.
pub(super) const NAMES: &str = "SELECT TOP (2000) s.name, o.name FROM sys.objects AS o JOIN sys.schemas AS s \
                                ON s.schema_id = o.schema_id WHERE o.type IN ('U', 'V', 'SN') ORDER BY s.name, o.name";

/// All pins as one batch.
pub(super) fn pins() -> String {
    PINS.join(";\n")
}

/// The object of a quoted name.
pub(super) fn object(quoted: &str) -> String {
    format!(
        "SELECT o.object_id, s.name, o.name, o.type FROM sys.objects AS o JOIN sys.schemas AS s \
         ON s.schema_id = o.schema_id WHERE o.object_id = OBJECT_ID({})",
        literal(quoted)
    )
}

/// What a synonym stands for.
pub(super) fn synonym(object: i64) -> String {
    format!("SELECT base_object_name FROM sys.synonyms WHERE object_id = {object}")
}

/// The columns of a table or view.
pub(super) fn columns(object: i64) -> String {
    format!(
        "SELECT c.column_id, c.name, c.system_type_id, c.user_type_id, c.max_length, c.precision, c.scale, \
         c.collation_name, c.is_nullable, c.is_computed FROM sys.columns AS c WHERE c.object_id = {object} \
         ORDER BY c.column_id"
    )
}

/// What only newer servers say of columns.
pub(super) fn column_flags(object: i64) -> String {
    format!(
        "SELECT c.column_id, c.is_hidden, c.generated_always_type, c.is_masked, c.is_column_set, c.encryption_type \
         FROM sys.columns AS c WHERE c.object_id = {object} ORDER BY c.column_id"
    )
}

/// The columns of the indexes of a table.
pub(super) fn indexes(object: i64) -> String {
    format!(
        "SELECT i.index_id, i.name, i.type, i.is_primary_key, i.is_unique, i.is_disabled, i.has_filter, ic.column_id, \
         ic.key_ordinal, ic.partition_ordinal, ic.is_descending_key, ic.is_included_column FROM sys.indexes AS i \
         JOIN sys.index_columns AS ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id \
         WHERE i.object_id = {object} ORDER BY i.index_id, ic.index_column_id"
    )
}

/// Estimated rows of a table, by index and partition.
pub(super) fn rows(object: i64) -> String {
    format!("SELECT p.index_id, p.rows FROM sys.partitions AS p WHERE p.object_id = {object}")
}

/// Whether the login sees through masks and sees policies; of a table also whether it may read.
pub(super) fn permissions(quoted: Option<&str>) -> String {
    let database = "SELECT HAS_PERMS_BY_NAME(DB_NAME(), N'DATABASE', N'UNMASK'), \
                    HAS_PERMS_BY_NAME(DB_NAME(), N'DATABASE', N'VIEW DEFINITION')";
    match quoted.map(literal) {
        None => database.to_owned(),
        Some(name) => format!(
            "{database}, HAS_PERMS_BY_NAME({name}, N'OBJECT', N'UNMASK'), HAS_PERMS_BY_NAME({name}, N'OBJECT', N'SELECT')"
        ),
    }
}

/// Row security policies that hide rows: of a table, or of any.
pub(super) fn row_security(object: Option<i64>) -> String {
    let of = object.map(|object| format!(" AND r.target_object_id = {object}")).unwrap_or_default();
    format!(
        "SELECT p.name FROM sys.security_policies AS p JOIN sys.security_predicates AS r ON r.object_id = p.object_id \
         WHERE p.is_enabled = 1 AND r.predicate_type = 0{of}"
    )
}

/// The version of change tracking, and the oldest one that is valid for a table (a truncation moves it).
pub(super) fn change_version(object: i64) -> String {
    format!("SELECT CHANGE_TRACKING_CURRENT_VERSION(), CHANGE_TRACKING_MIN_VALID_VERSION({object})")
}

/// A read that fixes the snapshot of a transaction.
pub(super) fn first_read(from: &str) -> String {
    format!("SELECT TOP (1) 1 FROM {from}")
}

/// A read of no rows, which checks the filter.
pub(super) fn probe_filter(from: &str, condition: &str) -> String {
    format!("SELECT TOP (0) 1 FROM {from}{condition}")
}

/// A read of no rows, which tells the columns of a query.
pub(super) fn probe_query(from: &str) -> String {
    format!("SELECT TOP (0) * FROM {from}")
}

/// The quoted name of a table.
pub(super) fn quoted(schema: &str, table: &str) -> String {
    format!("{}.{}", bracketed(schema), bracketed(table))
}

/// Words whose value differs between connections or calls.
const MOVING_WORDS: &[&str] = &["current_timestamp", "@@spid", "@@rowcount"];
/// The same for functions.
const MOVING_FUNCTIONS: &[&str] =
    &["getdate", "getutcdate", "sysdatetime", "sysutcdatetime", "sysdatetimeoffset", "newid", "rand"];

/// Checks that SQL of the user is one piece: no unquoted semicolon, no parenthesis that closes what it did not open;
/// and that it means the same on each connection: no clock, no chance.
///
/// # Errors
/// `Config`.
pub(super) fn check_fragment(what: &str, sql: &str) -> Result<()> {
    let wrong = |problem: &str| Err(Error::new(ErrorKind::Config, format!("reading the {what}: {problem}")));
    let bytes = sql.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        let rest = &sql[at..];
        at = match byte {
            b';' => return wrong("expected no semicolon outside of quotes"),
            b'(' => {
                depth += 1;
                at + 1
            }
            b')' => {
                let Some(less) = depth.checked_sub(1) else {
                    return wrong("a closing parenthesis was never opened");
                };
                depth = less;
                at + 1
            }
            b'\'' | b'"' | b'[' => match quoted_end(bytes, at) {
                Some(end) => end,
                None => return wrong("a quote is not closed"),
            },
            b'-' if rest.starts_with("--") => rest.find('\n').map_or(sql.len(), |end| at + end),
            b'/' if rest.starts_with("/*") => match comment_end(bytes, at) {
                Some(end) => end,
                None => return wrong("a comment is not closed"),
            },
            _ if is_name(byte) => {
                let end = bytes[at..].iter().position(|byte| !is_name(*byte)).map_or(sql.len(), |length| at + length);
                let before = at.checked_sub(1).map(|before| bytes[before]);
                if let Some(word) = moving(&sql[at..end], &sql[end..], before) {
                    return wrong(&format!("{word} differs between the connections that share the work"))
                        .map_err(|error| error.hint("write the value out as a literal"));
                }
                end
            }
            _ => at + 1,
        };
        while !sql.is_char_boundary(at) {
            at += 1;
        }
    }
    if depth == 0 { Ok(()) } else { wrong("a parenthesis is not closed") }
}

/// The word, if its value moves. Behind a point, it is a column unless it is called.
fn moving(word: &str, after: &str, before: Option<u8>) -> Option<&'static str> {
    let is = |list: &[&'static str]| list.iter().find(|moving| moving.eq_ignore_ascii_case(word)).copied();
    if before != Some(b'.')
        && let Some(found) = is(MOVING_WORDS)
    {
        return Some(found);
    }
    is(MOVING_FUNCTIONS).filter(|_| after.trim_start().starts_with('('))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@' | b'#') || byte >= 0x80
}

/// The end of a quoted piece that starts at `at`; its closing mark stands twice where it is meant.
fn quoted_end(bytes: &[u8], at: usize) -> Option<usize> {
    let close = if bytes[at] == b'[' { b']' } else { bytes[at] };
    let mut end = at + 1;
    loop {
        match *bytes.get(end)? {
            byte if byte == close && bytes.get(end + 1) == Some(&close) => end += 2,
            byte if byte == close => return Some(end + 1),
            _ => end += 1,
        }
    }
}

/// The end of a comment, which may hold others.
fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut end) = (0_usize, at);
    loop {
        match bytes.get(end..end + 2)? {
            b"/*" => (depth, end) = (depth + 1, end + 2),
            b"*/" => {
                (depth, end) = (depth - 1, end + 2);
                if depth == 0 {
                    return Some(end);
                }
            }
            _ => end += 1,
        }
    }
}

#[cfg(test)]
#[path = "sql_tests.rs"]
pub(super) mod tests;
