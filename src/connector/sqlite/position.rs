//! The frozen position: one read transaction, and what can be said of the file.

use super::{failure::failure, locator::Target};
use crate::model::{Exactness, Position, Result};
use rusqlite::Connection;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

const DOING: &str = "freezing the database";

/// Size and time of change of a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileFacts {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// Looks at a file without opening it, which would put the library's locks at risk.
fn facts(path: &Path) -> io::Result<Option<FileFacts>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(FileFacts { bytes: found.len(), modified: found.modified().ok() })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn text(facts: Option<FileFacts>) -> String {
    let Some(facts) = facts else { return "empty".to_owned() };
    let modified = facts
        .modified
        .and_then(|modified| modified.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map_or_else(|| "unknown".to_owned(), |since| format!("{}.{:09}", since.as_secs(), since.subsec_nanos()));
    format!("{} bytes modified {modified}", facts.bytes)
}

/// Begins the read transaction that all reads belong to, and says where it stands.
///
/// # Errors
/// `Connect` if the database is locked or no database.
pub(super) fn freeze(connection: &Connection, target: &Target) -> Result<Position> {
    let path = target.open_path();
    let mut wal_path = path.clone().into_os_string();
    wal_path.push("-wal");
    let wal_path = PathBuf::from(wal_path);
    // An empty log is as good as none: the first reader makes one.
    let log = || facts(&wal_path).ok().flatten().filter(|facts| facts.bytes > 0);
    let look = || (facts(&path).ok().flatten(), log());
    let failed = |error: rusqlite::Error| failure(DOING, &error);
    let before = look();
    connection.execute_batch("BEGIN").map_err(failed)?;
    // BEGIN alone takes no snapshot; the first read does.
    let schema_version: i64 = connection
        .query_row("SELECT schema_version FROM pragma_schema_version", [], |row| row.get(0))
        .map_err(failed)?;
    connection.query_row("SELECT count(*) FROM main.sqlite_schema", [], |row| row.get::<_, i64>(0)).map_err(failed)?;
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(failed)?;
    let after = look();
    let path = target.path.display();
    let (file, wal) = after;
    if mode.eq_ignore_ascii_case("wal") {
        let agree = before == after;
        return Ok(Position {
            kind: "sqlite".to_owned(),
            value: format!("{path} {}, wal {}, schema version {schema_version}", text(file), text(wal)),
            exactness: if agree { Exactness::Bracketed } else { Exactness::Unknown },
            obtained: "size and time of the file and of its write-ahead log, looked at before and after the read \
                       transaction took its snapshot"
                .to_owned(),
        });
    }
    Ok(Position {
        kind: "sqlite".to_owned(),
        value: format!("{path} {}, schema version {schema_version}", text(file)),
        exactness: Exactness::Exact,
        obtained: "size and time of the file under the read lock, which keeps every writer from changing it until the \
                   end of the run"
            .to_owned(),
    })
}
