//! Pieces of SQL: names, and the check that a condition of the user stays within its parentheses.

use crate::model::{Error, ErrorKind, Result};

/// A name in double quotes.
pub(super) fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Words that have another value at each read.
const MOVING_WORDS: &[&str] = &["current_timestamp", "current_date", "current_time"];
/// Functions that have another value at each call.
const MOVING_FUNCTIONS: &[&str] =
    &["random", "randomblob", "changes", "total_changes", "last_insert_rowid", "load_extension"];
/// Functions that mean the present without an argument, or with `'now'`.
const TIME_FUNCTIONS: &[&str] = &["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"];

/// Checks that SQL of the user is one piece: no unquoted semicolon, no parenthesis that closes what it did not open; and
/// that it means the same in each read: no clock, no chance.
///
/// # Errors
/// `Config`.
pub(super) fn check_fragment(what: &str, sql: &str) -> Result<()> {
    let wrong = |problem: &str| Err(Error::new(ErrorKind::Config, format!("reading the {what}: {problem}")));
    let moving = |word: &str| {
        wrong(&format!("{word} differs between the reads that share the work"))
            .map_err(|error| error.hint("write the value out as a literal"))
    };
    let bytes = sql.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    let (mut now, mut times) = (false, false);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        at = match byte {
            0 => return wrong("expected no NUL"),
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
            b'\'' | b'"' | b'`' | b'[' => {
                let Some(end) = quoted(bytes, at) else { return wrong("a quote is not closed") };
                now |= byte == b'\'' && bytes[at + 1..end - 1].trim_ascii().eq_ignore_ascii_case(b"now");
                end
            }
            b'-' if rest.starts_with(b"--") => memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| at + end),
            b'/' if rest.starts_with(b"/*") => match memchr::memmem::find(&rest[2..], b"*/") {
                Some(end) => at + end + 4,
                None => return wrong("a comment is not closed"),
            },
            b'?' | b'@' | b'$' | b':' if !is_name_before(bytes, at) => {
                return wrong("expected no placeholder, found one");
            }
            _ if is_name(byte) => {
                let end = rest.iter().position(|byte| !is_name(*byte)).map_or(bytes.len(), |length| at + length);
                let word = String::from_utf8_lossy(&bytes[at..end]).to_ascii_lowercase();
                let column = at.checked_sub(1).is_some_and(|before| bytes[before] == b'.');
                let after = bytes[end..].trim_ascii_start();
                if !column && MOVING_WORDS.contains(&word.as_str()) {
                    return moving(&word);
                }
                if after.starts_with(b"(") {
                    let empty = after[1..].trim_ascii_start().starts_with(b")");
                    let time = TIME_FUNCTIONS.contains(&word.as_str());
                    times |= time;
                    if MOVING_FUNCTIONS.contains(&word.as_str()) || (time && empty) {
                        return moving(&word);
                    }
                }
                end
            }
            _ => at + 1,
        };
    }
    if now && times {
        return moving("'now'");
    }
    if depth == 0 { Ok(()) } else { wrong("a parenthesis is not closed") }
}

/// Whether a text has `name` as a word of its own, in any case, in quotes or not. It may mean something else there.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let bytes = text.as_bytes();
    !name.is_empty()
        && memchr::memmem::find_iter(bytes, name.as_bytes())
            .any(|at| !is_name_before(bytes, at) && !bytes.get(at + name.len()).is_some_and(|after| is_name(*after)))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_name_before(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| is_name(bytes[before]))
}

/// The end of a quoted piece that starts at `at`; a doubled quote stands for itself, but not in brackets.
fn quoted(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    if quote == b'[' {
        return memchr::memchr(b']', &bytes[at..]).map(|end| at + end + 1);
    }
    let mut end = at + 1;
    loop {
        end += memchr::memchr(quote, bytes.get(end..)?)? + 1;
        if bytes.get(end) != Some(&quote) {
            return Some(end);
        }
        end += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(name("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn fragments_stay_within_their_parentheses() {
        for good in [
            "a = 1",
            "a = ';' and (b)",
            "[a;)] = 'it''s;' or `b)` = \"c;\"",
            "a -- ; )\n = 1",
            "/* ; ) */ a",
            "date = 1 and t.random = 2",
            "a = 'now'",
            "date(a) > '2026-01-01'",
            "\u{e4} = '\u{1f600}'",
        ] {
            assert!(check_fragment("filter", good).is_ok(), "{good}");
        }
        for bad in [
            "a; drop",
            "a) or (b",
            "(a",
            "a = 'x",
            "a = \"x",
            "[a",
            "/* a",
            "a = ?1",
            "a = :x",
            "random() > 1",
            "a > Current_Timestamp",
            "a > date()",
            "a > datetime( 'NOW', '-1 day')",
        ] {
            assert!(check_fragment("filter", bad).is_err(), "{bad}");
        }
    }
}
