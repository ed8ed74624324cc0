//! Pieces of SQL: names, literals, and the check that a condition of the user stays within its parentheses.

use crate::model::{Error, ErrorKind, Result};
use std::fmt::Write as _;

/// A name in backticks.
pub(super) fn name(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}

/// Bytes as a hexadecimal literal: no character set, escape or mode of the session can change it.
pub(super) fn bytes(value: &[u8]) -> String {
    let mut text = String::with_capacity(value.len() * 2 + 3);
    text.push_str("x'");
    for byte in value {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
    text
}

/// Text as a literal of the character set of the session.
pub(super) fn text(value: &str) -> String {
    format!("_utf8mb4 {}", bytes(value.as_bytes()))
}

/// Words that every connection would answer for itself.
const MOVING_WORDS: &[&str] = &[
    "current_timestamp",
    "current_date",
    "current_time",
    "localtimestamp",
    "localtime",
    "utc_date",
    "utc_time",
    "utc_timestamp",
];
/// The same for functions.
const MOVING_FUNCTIONS: &[&str] = &[
    "now",
    "sysdate",
    "curdate",
    "curtime",
    "rand",
    "random_bytes",
    "uuid",
    "uuid_short",
    "sys_guid",
    "unix_timestamp",
    "connection_id",
    "last_insert_id",
    "found_rows",
    "row_count",
    "lastval",
    "nextval",
    "setval",
    "get_lock",
    "release_lock",
    "release_all_locks",
    "is_free_lock",
    "is_used_lock",
    "load_file",
];

/// The word at `at` that every connection, or every read, would answer for itself.
fn moving(tokens: &[Token], at: usize) -> Option<&str> {
    let Some(Token::Word(found)) = tokens.get(at) else { return None };
    let column = at > 0 && tokens[at - 1] == Token::Sign('.');
    let called = tokens.get(at + 1) == Some(&Token::Sign('('));
    let is_any = |list: &[&str]| list.iter().any(|moving| moving.eq_ignore_ascii_case(found));
    let word = |index: usize, wanted: &str| matches!(tokens.get(index), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted));
    // With an argument, it only converts.
    let converts = word(at, "unix_timestamp") && called && tokens.get(at + 2) != Some(&Token::Sign(')'));
    let sequence = (word(at, "next") || word(at, "previous")) && word(at + 1, "value") && word(at + 2, "for");
    let moves = !converts && ((!column && is_any(MOVING_WORDS)) || (called && is_any(MOVING_FUNCTIONS)));
    (moves || sequence).then_some(found.as_str())
}

/// The first word of a text that every connection, or every read, would answer for itself.
pub(super) fn first_moving(tokens: &[Token]) -> Option<&str> {
    (0..tokens.len()).find_map(|at| moving(tokens, at))
}

/// A lexical piece of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A bare word, or a number.
    Word(String),
    /// A name in backticks, without them. What stands in double quotes is a string in our sessions.
    Quoted(String),
    /// A string.
    Text,
    /// Any other character.
    Sign(char),
}

/// Cuts SQL into pieces; comments and blanks are left out.
///
/// # Errors
/// What is wrong with it, in words: a quote or a comment that is not closed, a comment that the server would execute.
pub(super) fn tokens(sql: &str) -> Result<Vec<Token>, String> {
    let mut list = Vec::new();
    let mut chars = sql.char_indices().peekable();
    while let Some((at, sign)) = chars.next() {
        let rest = &sql[at..];
        let skip_to = match sign {
            '\'' | '"' => {
                list.push(Token::Text);
                Some(at + text_end(rest, sign).ok_or("a quote is not closed")?)
            }
            '`' => {
                let (name, length) = quoted_name(rest).ok_or("a quote is not closed")?;
                list.push(Token::Quoted(name));
                Some(at + length)
            }
            '#' => Some(at + rest.find('\n').unwrap_or(rest.len())),
            '-' if rest.starts_with("--") && rest[2..].chars().next().is_none_or(char::is_whitespace) => {
                Some(at + rest.find('\n').unwrap_or(rest.len()))
            }
            '/' if rest.starts_with("/*!") || rest.starts_with("/*M!") => {
                return Err("a comment that the server executes is not supported".to_owned());
            }
            '/' if rest.starts_with("/*") => Some(at + 2 + rest[2..].find("*/").ok_or("a comment is not closed")? + 2),
            _ if is_name(sign) => {
                let end = rest.find(|other| !is_name(other)).unwrap_or(rest.len());
                list.push(Token::Word(rest[..end].to_owned()));
                Some(at + end)
            }
            _ if sign.is_whitespace() => None,
            _ => {
                list.push(Token::Sign(sign));
                None
            }
        };
        if let Some(end) = skip_to {
            while chars.peek().is_some_and(|(next, _)| *next < end) {
                chars.next();
            }
        }
    }
    Ok(list)
}

fn is_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '$' || !sign.is_ascii()
}

/// The length of the string that `rest` starts with. Backslashes escape: sessions are pinned to an empty SQL mode.
fn text_end(rest: &str, quote: char) -> Option<usize> {
    let bytes = rest.as_bytes();
    let quote = u8::try_from(quote).ok()?;
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The name in backticks that `rest` starts with, and its length.
fn quoted_name(rest: &str) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut at = 1;
    loop {
        let end = at + rest[at..].find('`')?;
        name.push_str(&rest[at..end]);
        if rest[end + 1..].starts_with('`') {
            name.push('`');
            at = end + 2;
        } else {
            return Some((name, end + 1));
        }
    }
}

/// Checks that SQL of the user is one piece (no unquoted semicolon, no parenthesis that closes what it did not open),
/// that it means the same on each connection (no clock, no chance, no variable), and that it reads as of the snapshot
/// (no locking read).
///
/// # Errors
/// `Config`.
pub(super) fn check_fragment(what: &str, sql: &str) -> Result<()> {
    let wrong = |problem: &str| Error::new(ErrorKind::Config, format!("reading the {what}: {problem}"));
    let tokens = tokens(sql).map_err(|problem| wrong(&problem))?;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let word = |index: usize, wanted: &str| matches!(tokens.get(index), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted));
        match token {
            Token::Sign(';') => return Err(wrong("expected no semicolon outside of quotes")),
            Token::Sign('?') => return Err(wrong("expected no question mark outside of quotes")),
            Token::Sign('@') => {
                return Err(wrong("a variable differs between the connections that share the work")
                    .hint("write the value out as a literal"));
            }
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => {
                depth = depth.checked_sub(1).ok_or_else(|| wrong("a closing parenthesis was never opened"))?;
            }
            Token::Word(_) => {
                if let Some(found) = moving(&tokens, at) {
                    let problem = format!("{found} differs between the connections that share the work");
                    return Err(wrong(&problem).hint("write the value out as a literal"));
                }
                let locks = (word(at, "for") && (word(at + 1, "update") || word(at + 1, "share")))
                    || (word(at, "lock") && word(at + 1, "in") && word(at + 2, "share"));
                if locks {
                    return Err(wrong("a locking read does not see the snapshot").hint("drop the locking clause"));
                }
                if word(at, "into") && (word(at + 1, "outfile") || word(at + 1, "dumpfile")) {
                    return Err(wrong("rows cannot be written to a file"));
                }
            }
            _ => {}
        }
    }
    if depth == 0 { Ok(()) } else { Err(wrong("a parenthesis is not closed")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_literals_are_quoted() {
        assert_eq!(name("a`b\"c"), "`a``b\"c`");
        assert_eq!(bytes(b"it's \\"), "x'6974277320' '5c'".replace("' '", ""));
        assert_eq!(text(""), "_utf8mb4 x''");
    }

    #[test]
    fn fragments_stay_within_their_parentheses() {
        for good in [
            "a = 1",
            "a = ';' and (b)",
            "a = '\\';' or `x;)` > 1",
            "a = \"it''s;\"",
            "a -- ; )\n = 1",
            "a # ; )\n = 1",
            "/* ; ) */ true",
            "a--1 = 2",
            "now = 1",
            "a = 'now()'",
            "t.current_date > 1",
            "`rand` > 1 and renow(a)",
            "unix_timestamp(a) > 5",
        ] {
            assert!(check_fragment("filter", good).is_ok(), "{good}");
        }
        for bad in [
            "a; drop",
            "a) or (b",
            "(a",
            "a = 'x",
            "`a",
            "/* a",
            "a = '\\'",
            "a < now()",
            "a < NOW ()",
            "a<Current_Date",
            "rand()<0.1",
            "a > unix_timestamp()",
            "a = @x",
            "a = @@port",
            "/*! a */ true",
            "/*M!100000 a */ true",
            "a = ?",
            "select 1 for update",
            "select 1 lock in share mode",
        ] {
            assert!(check_fragment("filter", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tokens_tell_names_from_text() {
        let found = tokens("select `a``b`.c1 from \"x\"").unwrap_or_default();
        assert_eq!(
            found,
            [
                Token::Word("select".into()),
                Token::Quoted("a`b".into()),
                Token::Sign('.'),
                Token::Word("c1".into()),
                Token::Word("from".into()),
                Token::Text,
            ]
        );
    }
}
