//! Locators: `sqlite:path#table`, `sqlite:///absolute/path#table`.

use crate::model::{Error, ErrorKind, Result};
use percent_encoding::percent_decode_str;
use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

/// The start of every locator.
const SCHEME: &str = "sqlite:";

/// A database file and a table in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The file, relative to the working directory or absolute.
    pub(super) path: PathBuf,
    /// The table; `None` if a query stands for it.
    pub(super) table: Option<String>,
}

impl Target {
    /// The table as a person would write it.
    pub(super) fn display(&self) -> String {
        let path = self.path.display();
        match &self.table {
            Some(table) => format!("{path}#{table}"),
            None => format!("{path} (query)"),
        }
    }

    /// The path as it is given to the library, which would take `file:...` for a URL and `:memory:` for no file.
    pub(super) fn open_path(&self) -> PathBuf {
        if self.path.is_absolute() { self.path.clone() } else { Path::new(".").join(&self.path) }
    }
}

fn wrong(problem: &str) -> Error {
    Error::new(ErrorKind::Config, format!("reading the locator of an SQLite table: {problem}")).hint(
        "write sqlite:path/to/file.db#table or sqlite:///absolute/path.db#table; percent-encode # ? and % in a path",
    )
}

/// Reads a locator. Percent escapes are resolved in the path and in the fragment.
///
/// # Errors
/// `Config`.
pub(super) fn parse(locator: &str, has_query: bool) -> Result<Target> {
    let rest = locator.strip_prefix(SCHEME).ok_or_else(|| wrong("expected the scheme sqlite"))?;
    let (path, fragment) = match rest.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (rest, None),
    };
    let path = match path.strip_prefix("//") {
        None => path,
        Some(after) => match after.find('/') {
            Some(0) => after,
            Some(end) if after[..end].eq_ignore_ascii_case("localhost") => &after[end..],
            _ => return Err(wrong("expected no host, found one")),
        },
    };
    if path.contains('?') {
        return Err(wrong("expected no parameters, found a question mark"));
    }
    let path: Vec<u8> = percent_decode_str(path).collect();
    if path.is_empty() {
        return Err(wrong("expected the path of a database file"));
    }
    if path.contains(&0) {
        return Err(wrong("expected a path without NUL"));
    }
    let path = PathBuf::from(OsString::from_vec(path));
    let table = match fragment {
        _ if has_query => None,
        None | Some("") => {
            return Err(wrong("expected the table after a #, or a query")
                .hint("write sqlite:path#table, or give --source-query or --sink-query"));
        }
        Some(fragment) => {
            let decoded = percent_decode_str(fragment).decode_utf8();
            Some(table_of(&decoded.map_err(|_| wrong("the table is not UTF-8"))?)?)
        }
    };
    Ok(Target { path, table })
}

/// The table of `table` or `main.table`; each part may stand in double quotes.
fn table_of(fragment: &str) -> Result<String> {
    let mut parts = Vec::new();
    let mut rest = fragment;
    loop {
        let part;
        (part, rest) = take_part(rest)?;
        parts.push(part);
        match rest.strip_prefix('.') {
            Some(more) => rest = more,
            None if rest.is_empty() => break,
            None => return Err(wrong("expected a point between the schema and the table")),
        }
    }
    match parts.as_slice() {
        [table] => Ok(table.clone()),
        [schema, table] if schema.eq_ignore_ascii_case("main") => Ok(table.clone()),
        [_, _] => Err(wrong("expected the schema main: a file holds no other")
            .hint("a name with a point in it stands in double quotes, such as sqlite:file.db#\"a.b\"")),
        _ => Err(wrong("expected table or main.table")),
    }
}

/// The first part of a dotted name, unquoted, and what follows it.
fn take_part(text: &str) -> Result<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find('.').unwrap_or(text.len());
        if end == 0 {
            return Err(wrong("a part of the table's name is empty"));
        }
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let mut name = String::new();
    let mut rest = quoted;
    loop {
        let end = rest.find('"').ok_or_else(|| wrong("a double quote is not closed"))?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None if name.is_empty() => return Err(wrong("a part of the table's name is empty")),
            None => return Ok((name, rest)),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn check(locator: &str, path: &str, table: &str) {
        let found = parse(locator, false).unwrap();
        assert_eq!(found, Target { path: PathBuf::from(path), table: Some(table.to_owned()) }, "{locator}");
    }

    #[test]
    fn paths_and_tables() {
        check("sqlite:shop.db#orders", "shop.db", "orders");
        check("sqlite:data/my shop.db#main.orders", "data/my shop.db", "orders");
        check("sqlite:/abs/shop.db#MAIN.\"a.b\"", "/abs/shop.db", "a.b");
        check("sqlite:///abs/shop.db#orders", "/abs/shop.db", "orders");
        check("sqlite://localhost/abs/shop.db#orders", "/abs/shop.db", "orders");
        check("sqlite:a%23b%3F%25.db#t%20x", "a#b?%.db", "t x");
        check("sqlite:a.db#\"a\"\"b\"", "a.db", "a\"b");
        check("sqlite:file:a.db#t", "file:a.db", "t");
        let query = parse("sqlite:a.db", true).unwrap();
        assert_eq!((query.table, query.path), (None, PathBuf::from("a.db")));
    }

    #[test]
    fn wrong_locators_are_refused() {
        for bad in [
            "sqlite:#t",
            "sqlite:a.db",
            "sqlite:a.db#",
            "sqlite:a.db#temp.t",
            "sqlite:a.db#a.b.c",
            "sqlite:a.db#\"t",
            "sqlite:a.db#\"\"",
            "sqlite:a.db#main.",
            "sqlite:a.db#\"a\"b",
            "sqlite://host/a.db#t",
            "sqlite:a.db?mode=rw#t",
            "sqlite:a%00.db#t",
        ] {
            assert_eq!(parse(bad, false).unwrap_err().kind(), ErrorKind::Config, "{bad}");
        }
    }

    #[test]
    fn a_relative_path_is_never_a_url() {
        let path = parse("sqlite:file:a.db#t", false).unwrap().open_path();
        assert_eq!(path, PathBuf::from("./file:a.db"));
    }
}
