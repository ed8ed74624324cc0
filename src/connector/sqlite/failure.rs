//! What the library says, as errors with a kind and what to do.

use crate::model::{Error, ErrorKind};
use rusqlite::{Error as SqliteError, ErrorCode};

/// The error of the library, met while `doing`. Its text holds neither SQL nor values.
pub(super) fn failure(doing: &str, error: &SqliteError) -> Error {
    let code = error.sqlite_error_code();
    let (kind, found, hint) = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            ErrorKind::Connect,
            "the database is locked by another connection",
            "wait until the writer is done, or compare a copy made by VACUUM INTO or the backup command",
        ),
        Some(ErrorCode::NotADatabase) => {
            (ErrorKind::Connect, "the file is not an SQLite database, or it is encrypted", "check the path")
        }
        Some(ErrorCode::CannotOpen) => (
            ErrorKind::Connect,
            "the file cannot be opened",
            "check the rights; a database in WAL mode needs its -wal and -shm files, or a folder in which they can be made",
        ),
        Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
            (ErrorKind::Permission, "access is denied", "check the rights of the file")
        }
        Some(ErrorCode::ReadOnly) => (
            ErrorKind::Permission,
            "the database must first be recovered from its journal, which a reader may not do",
            "open it once with a program that may write, then compare again",
        ),
        Some(ErrorCode::DatabaseCorrupt) => {
            (ErrorKind::Read, "the database is damaged", "see what PRAGMA integrity_check says")
        }
        Some(ErrorCode::OperationInterrupted) => (ErrorKind::Cancelled, "it was interrupted", ""),
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig) => {
            (ErrorKind::Limit, "a row is too large", "leave the large column out with --exclude")
        }
        _ => return other(doing, error),
    };
    let made = Error::new(kind, format!("{doing}: {found}"));
    if hint.is_empty() { made } else { made.hint(hint) }
}

fn other(doing: &str, error: &SqliteError) -> Error {
    match error {
        // Names and tokens alone: the text of the statement is a field of its own.
        SqliteError::SqlInputError { msg, .. } => Error::new(ErrorKind::Schema, format!("{doing}: {msg}")),
        SqliteError::SqliteFailure(code, _) => Error::new(
            ErrorKind::Read,
            format!("{doing}: {} (code {})", rusqlite::ffi::code_to_str(code.extended_code), code.extended_code),
        ),
        _ => Error::new(ErrorKind::Read, format!("{doing}: the driver failed")),
    }
}
