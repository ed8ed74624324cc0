//! Opening a database file: read-only, never created, settings pinned.

use super::{failure::failure, locator::Target};
use crate::model::{Error, ErrorKind, Result};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use std::{io, time::Duration};

/// How long a lock of another connection is waited for: longer than a commit takes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Pages that the connection keeps, in KiB.
const CACHE_KIB: i64 = 2048;

/// Bytes that reading takes outside of batches: the pages, as much again for a sort on the way, and a page or two of a
/// statement.
pub(super) const READ_BYTES_MAX: u64 = 3 * 2048 * 1024;

const DOING: &str = "opening the database";

/// Opens the file of `target`.
///
/// # Errors
/// `Connect` if it is not there, no file, or no database; `Permission`.
pub(super) fn open(target: &Target) -> Result<Connection> {
    check_file(target)?;
    // The connection is used by one thread alone.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(target.open_path(), flags).map_err(|error| failure(DOING, &error))?;
    pin(&connection).map_err(|error| failure(DOING, &error))?;
    Ok(connection)
}

/// Looks at the file by its name alone: closing a handle of it would release the locks that the library holds for this
/// process.
fn check_file(target: &Target) -> Result<()> {
    let failed = |kind, what: &str| Err(Error::new(kind, format!("{DOING}: {what}")).hint("check the path"));
    match std::fs::metadata(target.open_path()) {
        Ok(facts) if facts.is_dir() => failed(ErrorKind::Connect, "expected a file, found a directory"),
        Ok(facts) if !facts.is_file() => failed(ErrorKind::Connect, "expected a regular file"),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            failed(ErrorKind::Connect, "there is no such file, and none is created")
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            failed(ErrorKind::Permission, "access is denied")
        }
        Err(error) => {
            Err(Error::new(ErrorKind::Connect, format!("{DOING}: the file cannot be looked at")).caused_by(error))
        }
    }
}

fn pin(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A name that is not there must be an error, not a string.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(&format!(
        "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;
         PRAGMA cache_size = -{CACHE_KIB};"
    ))
}
