//! Pieces of SQL: names, literals, and the check that a condition of the user stays within its parentheses.

use crate::model::{Error, ErrorKind, Result};
use postgres_protocol::escape::{escape_identifier, escape_literal};

/// A name in double quotes.
pub(super) fn name(text: &str) -> String {
    escape_identifier(text)
}

/// A string literal.
pub(super) fn literal(text: &str) -> String {
    // The leading blank that the escape function puts before E'...' does no harm.
    escape_literal(text)
}

/// Words that every connection would answer for itself.
const MOVING_WORDS: &[&str] = &["current_timestamp", "current_date", "current_time", "localtimestamp", "localtime"];
/// The same for functions.
const MOVING_FUNCTIONS: &[&str] = &[
    "now",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "timeofday",
    "random",
    "random_normal",
    "gen_random_uuid",
];

/// The word at the start of `rest`, if it is one whose value differs between connections or calls. `after` is the byte
/// before it: behind a point, it is a column unless it is called.
fn moving(word: &str, rest: &str, after: Option<u8>) -> Option<&'static str> {
    let is = |list: &[&'static str]| list.iter().find(|moving| moving.eq_ignore_ascii_case(word)).copied();
    if after != Some(b'.')
        && let Some(found) = is(MOVING_WORDS)
    {
        return Some(found);
    }
    is(MOVING_FUNCTIONS).filter(|_| rest[word.len()..].trim_start().starts_with('('))
}

/// Checks that SQL of the user is one piece: no unquoted semicolon, no parenthesis that closes what it did not open;
/// and that it means the same on each connection: no clock, no chance.
///
/// # Errors
/// `Config`.
pub(super) fn check_fragment(what: &str, sql: &str) -> Result<()> {
    let wrong = |problem: &str| Err(Error::new(ErrorKind::Config, format!("reading the {what}: {problem}")));
    let bytes = sql.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
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
            b'\'' | b'"' => match quoted(bytes, at) {
                Some(end) => end,
                None => return wrong("a quote is not closed"),
            },
            b'-' if rest.starts_with("--") => rest.find('\n').map_or(sql.len(), |end| at + end),
            b'/' if rest.starts_with("/*") => match comment(bytes, at) {
                Some(end) => end,
                None => return wrong("a comment is not closed"),
            },
            b'$' if !at.checked_sub(1).is_some_and(|before| is_name(bytes[before])) => match dollar_tag(rest) {
                None => at + 1,
                Some(tag) => match rest[tag.len()..].find(tag) {
                    Some(end) => at + end + 2 * tag.len(),
                    None => return wrong("a dollar quote is not closed"),
                },
            },
            _ if is_name(byte) => {
                let end = bytes[at..].iter().position(|byte| !is_name(*byte)).map_or(sql.len(), |length| at + length);
                let before = at.checked_sub(1).map(|before| bytes[before]);
                if let Some(word) = moving(&sql[at..end], rest, before) {
                    let problem = format!("{word} differs between the connections that share the work");
                    return wrong(&problem).map_err(|error| error.hint("write the value out as a literal"));
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

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The end of a quoted piece that starts at `at`. Backslashes escape in `E'...'` alone.
fn quoted(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let before = |back: usize| at.checked_sub(back).map(|index| bytes[index]);
    let escapes = quote == b'\'' && matches!(before(1), Some(b'e' | b'E')) && !before(2).is_some_and(is_name);
    let mut end = at + 1;
    loop {
        match *bytes.get(end)? {
            b'\\' if escapes => end += 2,
            byte if byte == quote && bytes.get(end + 1) == Some(&quote) => end += 2,
            byte if byte == quote => return Some(end + 1),
            _ => end += 1,
        }
    }
}

/// The end of a comment, which may hold others.
fn comment(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut end) = (0_usize, at);
    loop {
        match bytes.get(end..end + 2)? {
            b"/*" => {
                depth += 1;
                end += 2;
            }
            b"*/" => {
                depth -= 1;
                end += 2;
                if depth == 0 {
                    return Some(end);
                }
            }
            _ => end += 1,
        }
    }
}

/// The `$tag$` at the start of `rest`.
fn dollar_tag(rest: &str) -> Option<&str> {
    let end = rest[1..].find('$')? + 1;
    let tag = &rest[1..end];
    let valid = tag.bytes().all(|byte| is_name(byte) && byte != b'$')
        && !tag.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    valid.then(|| &rest[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_literals_are_quoted() {
        assert_eq!(name("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\b").trim_start(), "E'a\\\\b'");
    }

    #[test]
    fn fragments_stay_within_their_parentheses() {
        for good in [
            "a = 1",
            "a = ';' and (b)",
            "a = E'\\';' or \"x;)\" > 1",
            "a = $q$ ; ) $q$",
            "a -- ; )\n = 1",
            "/* ; /* ) */ */ true",
            "a = 'it''s;'",
        ] {
            assert!(check_fragment("filter", good).is_ok(), "{good}");
        }
        for good in
            ["now = 1", "a = 'now()'", "t.current_date > 1", "renow(a)", "\"random\"(1)", "nowhere", "-- now()\n a"]
        {
            assert!(check_fragment("filter", good).is_ok(), "{good}");
        }
        for bad in
            ["a < now()", "a < pg_catalog.NOW ()", "a<Current_Date", "LOCALTIME > a", "random()<0.1", "a=1 or now()>b"]
        {
            assert!(check_fragment("filter", bad).is_err(), "{bad}");
        }
        for bad in ["a; drop", "a) or (b", "(a", "a = 'x", "/* a", "$x$ a", "a = '\\'; x"] {
            assert!(check_fragment("filter", bad).is_err(), "{bad}");
        }
    }
}
