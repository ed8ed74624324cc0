//! Names of T-SQL: brackets, string literals, and the names of tables in a locator.

use crate::model::{Error, ErrorKind, Result};

/// A table as the locator names it; parts as the catalogue has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableName {
    pub(super) schema: Option<String>,
    pub(super) table: String,
}

impl TableName {
    /// The name in brackets.
    pub(super) fn quoted(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", bracketed(schema), bracketed(&self.table)),
            None => bracketed(&self.table),
        }
    }
}

/// A name in brackets.
pub(super) fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// A literal of characters of any script.
pub(super) fn literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

/// The parts of a name in which each may stand in brackets or double quotes; `None` if it is malformed.
pub(super) fn parts(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let close = match rest.chars().next() {
            Some('"') => Some('"'),
            Some('[') => Some(']'),
            _ => None,
        };
        let name = if let Some(close) = close {
            let (name, after) = quoted(&rest[1..], close)?;
            rest = after;
            name
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            let name = rest[..end].to_owned();
            rest = &rest[end..];
            name
        };
        parts.push(name);
        match rest.strip_prefix('.') {
            Some(more) => rest = more,
            None if rest.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

/// A quoted part up to its `close`, which stands twice where it is meant, and what follows.
fn quoted(text: &str, close: char) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (head, tail) = rest.split_once(close)?;
        name.push_str(head);
        match tail.strip_prefix(close) {
            Some(more) => {
                name.push(close);
                rest = more;
            }
            None => return Some((name, tail)),
        }
    }
}

/// Reads `table` or `schema.table`.
pub(super) fn parse_table(text: &str) -> Result<TableName> {
    let wrong = || {
        Error::new(ErrorKind::Config, "reading the locator: expected #table or #schema.table")
            .hint("put parts with dots in double quotes or brackets; another database is named before the #")
    };
    let mut list = parts(text).ok_or_else(wrong)?;
    if list.iter().any(String::is_empty) {
        return Err(wrong());
    }
    match (list.pop(), list.pop(), list.pop()) {
        (Some(table), schema, None) => Ok(TableName { schema, table }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_quoted() {
        let table = |text: &str| parse_table(text).unwrap().quoted();
        assert_eq!(table("orders"), "[orders]");
        assert_eq!(table("dbo.orders"), "[dbo].[orders]");
        assert_eq!(table("\"a.b\".[it's]]odd]"), "[a.b].[it's]]odd]");
        assert_eq!(table("\"say \"\"hi\"\"\""), "[say \"hi\"]");
        for bad in ["", "a.", ".a", "a.b.c", "[a", "[a]b", "\"a"] {
            assert!(parse_table(bad).is_err(), "{bad}");
        }
        assert_eq!(literal("it's"), "N'it''s'");
    }
}
