//! From the driver's errors to ours: by number, class and message, without query text or row values.

use crate::model::{Error, ErrorKind};
use tiberius::error::{Error as Driver, TokenError};

/// Number that a T-SQL server over `PostgreSQL` gives most of its errors.
const OTHER_SERVER: u32 = 33_557_097;

/// Turns an error of the driver into ours. `doing` says what was being done, in words that fit before a colon.
pub(super) fn failure(doing: &str, error: &Driver) -> Error {
    match error {
        Driver::Server(token) => server(doing, token),
        // The text of a column cannot be decoded: nothing more can be read from this connection.
        Driver::Utf16 | Driver::Utf8 => undecodable(doing),
        Driver::Encoding(message) if message.contains("invalid sequence") => undecodable(doing),
        Driver::Protocol(message) if message.contains("invalid UTF-16") => undecodable(doing),
        Driver::Encoding(_) => Error::new(ErrorKind::Unsupported, format!("{doing}: a column has a code page that is not known"))
            .hint("compare such a column by its stored bytes with `--cast COLUMN=binary`, or convert it to nvarchar in a query"),
        Driver::Io { kind, message } => {
            Error::new(ErrorKind::Connect, format!("{doing}: the connection broke: {message} ({kind:?})"))
        }
        Driver::Tls(message) => Error::new(ErrorKind::Connect, format!("{doing}: TLS failed: {message}")).hint(
            "name the authority that signed the server's certificate with ca-file=FILE, and the host as the \
             certificate has it with host-name-in-certificate; trust-server-certificate=yes checks nothing",
        ),
        Driver::Routing { host, port } => {
            Error::new(ErrorKind::Connect, format!("{doing}: the server sends clients on to {host}:{port}"))
                .hint("name that host and port in the locator")
        }
        // Texts of the driver about what it received name types and lengths only.
        Driver::Protocol(message) => {
            Error::new(ErrorKind::Read, format!("{doing}: the server's answer is malformed: {message}"))
        }
        other => Error::new(ErrorKind::Read, format!("{doing}: {}", word(other))),
    }
}

/// A word for an error of the driver whose text might hold values.
fn word(error: &Driver) -> &'static str {
    match error {
        Driver::Conversion(_) => "the driver cannot convert a value",
        Driver::ParseInt(_) => "the driver cannot read a number",
        _ => "the driver failed",
    }
}

fn undecodable(doing: &str) -> Error {
    Error::new(
        ErrorKind::Value,
        format!("{doing}: expected text, found characters that are no Unicode (a lone surrogate, or a byte that the code page lacks)"),
    )
    .hint("compare such a column by its stored bytes with `--cast COLUMN=binary`, or mend the text in the store")
}

/// Whether the server's error says that a catalogue table, a column or a function is missing.
pub(super) fn is_missing(error: &Driver) -> bool {
    let Driver::Server(token) = error else { return false };
    matches!(token.code(), 195 | 207 | 208 | 4121 | OTHER_SERVER)
        || token.class() == 16 && says_missing(token.message())
}

fn says_missing(message: &str) -> bool {
    let message = message.to_lowercase();
    ["does not exist", "not supported", "invalid object name", "invalid column name", "is not a recognized"]
        .iter()
        .any(|part| message.contains(part))
}

/// Whether it is an answer of the server after which the connection can still be used.
pub(super) fn is_refusal(error: &Driver) -> bool {
    matches!(error, Driver::Server(token) if token.class() < 20)
}

fn server(doing: &str, token: &TokenError) -> Error {
    let (kind, hint) = classify(token);
    let number = token.code();
    // Messages of failed conversions and constraints quote values, those of syntax errors the query.
    let quotes = matches!(number, 102 | 105 | 156 | 241..=248 | 8114 | 8115 | 8134 | 8152 | 9420 | 2628 | OTHER_SERVER)
        || token.class() == 16 && kind == ErrorKind::Read;
    let message = if quotes { general(token) } else { token.message().trim_end_matches('.').to_owned() };
    let error = Error::new(kind, format!("{doing}: {message} (error {number}, class {})", token.class()));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// What can be said of an error whose message may hold values or the query.
fn general(token: &TokenError) -> String {
    match token.code() {
        102 | 105 | 156 => "the server finds a syntax error".to_owned(),
        _ if snapshot_conflict(token) => "the server cannot serve the snapshot any more".to_owned(),
        _ if says_missing(token.message()) => "the server misses an object, a column or a feature".to_owned(),
        _ => "the server could not compute a value".to_owned(),
    }
}

fn snapshot_conflict(token: &TokenError) -> bool {
    let message = token.message().to_lowercase();
    message.contains("snapshot") || message.contains("could not serialize")
}

fn classify(token: &TokenError) -> (ErrorKind, Option<&'static str>) {
    match token.code() {
        18_456 | 18_452 | 18_470 => (ErrorKind::Config, Some("check user, password and the kind of authentication")),
        4_060 | 911 => (ErrorKind::Config, Some("name an existing database that this login may open")),
        229 | 230 | 916 | 300 | 297 => (ErrorKind::Permission, Some("grant SELECT on the table to this login")),
        208 | 207 | 4_121 | 195 | 209 => {
            (ErrorKind::Schema, Some("check the table, the filter and the query of this side"))
        }
        102 | 105 | 156 => (ErrorKind::Config, Some("check the filter and the query of this side")),
        3_952 => (
            ErrorKind::Unsupported,
            Some(
                "allow it with ALTER DATABASE [name] SET ALLOW_SNAPSHOT_ISOLATION ON, compare a database snapshot, or \
                 read without a frozen state with isolation=read-committed",
            ),
        ),
        3_951 | 3_953 | 3_954 | 3_956 | 3_957 | 3_958 | 3_960 | 3_961 | 3_966 | 3_967 => (
            ErrorKind::PositionLost,
            Some(
                "the table's structure changed or its row versions are gone (tempdb full, index rebuilt, table altered) \
                 while it was read: run the comparison again, or compare a database snapshot",
            ),
        ),
        1_205 => {
            (ErrorKind::Read, Some("the server chose this read as the victim of a deadlock: run the comparison again"))
        }
        1_222 => (ErrorKind::Read, Some("another transaction holds a lock on the table; try again when it is done")),
        601 => {
            (ErrorKind::Read, Some("rows moved while they were read without a frozen state: use isolation=snapshot"))
        }
        40_197 | 40_501 | 40_613 | 49_918..=49_920 | 10_928 | 10_929 => {
            (ErrorKind::Connect, Some("the service is busy or moves the database; try again, with fewer workers (-j)"))
        }
        _ if token.class() >= 20 => (ErrorKind::Connect, None),
        _ if snapshot_conflict(token) => (ErrorKind::PositionLost, Some("run the comparison again")),
        _ if says_missing(token.message()) => (ErrorKind::Schema, None),
        _ if token.class() == 14 => (ErrorKind::Permission, None),
        _ => (ErrorKind::Read, None),
    }
}
