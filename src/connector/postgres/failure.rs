//! From the driver's errors to ours: by SQLSTATE, without query text or row values.

use crate::model::{Error, ErrorKind};
use std::error::Error as _;

/// What was being done, in words that fit before a colon.
pub(super) type Doing<'a> = &'a str;

/// Turns an error of the driver into ours.
///
/// The server's message is kept for classes whose messages name objects and settings only; its DETAIL, which may hold
/// row values, never is.
pub(super) fn failure(doing: Doing<'_>, error: &tokio_postgres::Error) -> Error {
    let Some(server) = error.as_db_error() else {
        // The driver's own texts name no values; the cause is an I/O or TLS error.
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        let text = error.to_string();
        // The driver repeats the cause in its text for some errors.
        let text = if text.contains(&cause) { text } else { format!("{text}: {cause}") };
        let made = Error::new(ErrorKind::Connect, format!("{doing}: {text}"));
        return if cause.contains("certificate") {
            made.hint("name the authority that signed the server's certificate with sslrootcert=FILE, and the host as the certificate has it")
        } else if cause.contains("does not support TLS") {
            made.hint("the server offers no TLS; only sslmode=prefer, allow or disable go without")
        } else {
            made
        };
    };
    let code = server.code().code();
    let (kind, hint) = classify(code);
    // These classes quote the offending value in their messages (P0 is what functions raise), a syntax error the query.
    let message = if ["22", "23", "P0"].iter().any(|class| code.starts_with(class)) {
        "the server could not compute a value".to_owned()
    } else if code == "42601" {
        "the server finds a syntax error".to_owned()
    } else {
        server.message().to_owned()
    };
    let error = Error::new(kind, format!("{doing}: {message} (SQLSTATE {code})"));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn classify(code: &str) -> (ErrorKind, Option<&'static str>) {
    match code {
        "42501" => (
            ErrorKind::Permission,
            Some(
                "grant SELECT on the table; where row security applies, use a role that sees every row (BYPASSRLS), \
                 since rows that a policy hides would count as missing",
            ),
        ),
        "3D000" => (ErrorKind::Config, Some("name an existing database in the locator")),
        "42P01" | "42703" | "3F000" | "42883" | "42P10" | "42702" => (ErrorKind::Schema, None),
        "57014" => (ErrorKind::Read, Some("the query was cancelled on the server; look for who cancels it")),
        "55P03" => (ErrorKind::Read, Some("another transaction holds a lock on the table; try again when it is done")),
        "25P03" => (ErrorKind::PositionLost, Some("raise idle_in_transaction_session_timeout for this role")),
        "72000" => (ErrorKind::PositionLost, Some("the snapshot is too old: raise old_snapshot_threshold")),
        "40001" | "40P01" => (
            ErrorKind::Read,
            Some(
                "on a standby, recovery cancelled the read: set hot_standby_feedback = on or raise \
                 max_standby_streaming_delay",
            ),
        ),
        "53300" | "57P03" => {
            (ErrorKind::Connect, Some("the server takes no more connections now; run with fewer workers (-j)"))
        }
        "57P01" | "57P02" => (ErrorKind::Connect, Some("the server ended the connection")),
        "22P02" | "42601" | "42804" => (ErrorKind::Config, Some("check the filter and the query of this side")),
        _ if code.starts_with("28") => (ErrorKind::Config, Some("check user, password, .pgpass and pg_hba.conf")),
        _ if code.starts_with("08") => (ErrorKind::Connect, None),
        "42809" => (ErrorKind::Unsupported, None),
        _ if code.starts_with("0A") => (ErrorKind::Unsupported, None),
        _ => (ErrorKind::Read, None),
    }
}
