//! The standard table in SQLite, which has neither decimals nor dates nor UUIDs: they are stored as text.

use crate::{
    Result,
    table::{Side, standard_rows},
    write::{amount_text, day_text, moment_text, uuid_text},
};
use rusqlite::{Connection, params};
use std::path::Path;

/// The columns with their declared types, in order; the first is the key.
const COLUMNS: &str = "id INTEGER PRIMARY KEY, quantity INTEGER NOT NULL, name TEXT NOT NULL, note TEXT, \
    amount TEXT NOT NULL, status INTEGER NOT NULL, score REAL NOT NULL, created_at TEXT NOT NULL, day TEXT NOT NULL, \
    code TEXT NOT NULL, reference TEXT NOT NULL, active BOOLEAN NOT NULL";

/// The casts under which the table meets that of any other store.
pub const STANDARD_CASTS: [&str; 5] =
    ["amount=number", "created_at=timestamptz", "day=date", "reference=uuid", "active=boolean"];

/// Makes the table in the database at `path`, which is made if it is not there, and loads it.
pub fn load_sqlite(path: &Path, table: &str, seed: u64, rows: u64, side: Side) -> Result<()> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(&format!("CREATE TABLE {table} ({COLUMNS})"))?;
    {
        let mut insert =
            transaction.prepare(&format!("INSERT INTO {table} VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)"))?;
        for row in standard_rows(seed, rows, side) {
            insert.execute(params![
                row.id,
                row.quantity,
                row.name,
                row.note,
                amount_text(row.amount_cents),
                row.status,
                row.score,
                moment_text(row.created_at),
                day_text(i64::from(row.day)),
                row.code,
                uuid_text(row.reference),
                row.active,
            ])?;
        }
    }
    transaction.commit()?;
    Ok(())
}
