//! The standard table, whose rows are made as they are read.

use super::table::{Column, Database};
use super::{Answer, Tsql};
use crate::table::{Row, Side, standard_row, standard_rows};
use crate::tds::backend::Cell;

/// Its columns, as a table of SQL Server has them.
const COLUMNS: [(&str, &str, bool); 12] = [
    ("id", "bigint", false),
    ("quantity", "int", false),
    ("name", "nvarchar(100)", false),
    ("note", "nvarchar(100)", true),
    ("amount", "decimal(12,2)", false),
    ("status", "int", false),
    ("score", "float", false),
    ("created_at", "datetimeoffset(6)", false),
    ("day", "date", false),
    ("code", "nvarchar(20)", false),
    ("reference", "uniqueidentifier", false),
    ("active", "bit", false),
];

/// Days from 0001-01-01 to 1970-01-01.
const TO_1970: i64 = 719_162;
/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

fn cells(row: &Row) -> Vec<Cell> {
    let text = |text: &str| Cell::Utf16(text.encode_utf16().collect());
    let day = |days: i64| u32::try_from(TO_1970 + days).unwrap_or(0);
    vec![
        Cell::Int(row.id),
        Cell::Int(i64::from(row.quantity)),
        text(&row.name),
        row.note.as_deref().map_or(Cell::Null, text),
        Cell::Decimal { mantissa: i128::from(row.amount_cents) },
        Cell::Int(i64::from(row.status)),
        Cell::F64(row.score),
        Cell::DateTimeOffset {
            days: day(row.created_at.div_euclid(DAY)),
            time: row.created_at.rem_euclid(DAY).cast_unsigned(),
            offset_minutes: 0,
        },
        Cell::Date(day(i64::from(row.day))),
        text(&row.code),
        Cell::Guid(row.reference),
        Cell::Bit(row.active),
    ]
}

impl Tsql {
    /// Adds the standard table, with its changes tracked. Rows of the source are made as they are read.
    ///
    /// # Errors
    /// When there is an object of that name.
    pub fn add_standard(&self, table: &str, seed: u64, rows: u64, side: Side) -> Answer<()> {
        self.alter(|database: &mut Database| {
            let columns = COLUMNS.iter().map(|(name, kind, nullable)| Column::new(name, kind, None, *nullable));
            let columns = columns.collect::<Answer<_>>()?;
            let make = move |place: u64| cells(&standard_row(seed, place.cast_signed() * 2 + 2));
            database.add_made(table, columns, 0, rows, make)?;
            if side == Side::Sink {
                database.set_rows(table, standard_rows(seed, rows, side).map(|row| cells(&row)).collect())?;
            }
            database.tracks_changes = true;
            database.table_mut(table)?.tracked_since = Some(0);
            Ok(())
        })
    }
}
