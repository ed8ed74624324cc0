//! How a database gets a table of the generator: `CREATE TABLE`, its key or index, and `INSERT`s of many rows.

use tieout_testkit::contract::{Cell, Kind, Table};

/// Rows of one INSERT: fewer statements are quicker, and no server takes a statement of any length.
const ROWS_OF_INSERT: usize = 500;

/// What the dialects of SQL write differently.
pub(crate) struct Dialect {
    /// Quotes a name.
    pub(crate) quote: fn(&str) -> String,
    /// The native type of a kind.
    pub(crate) native: fn(Kind) -> String,
    /// A literal of a value that is not NULL.
    pub(crate) literal: fn(&Cell) -> String,
    /// A key column in `CREATE INDEX`, so that the index is in canonical order.
    pub(crate) index_term: fn(&str) -> String,
    /// What stands after the columns of `CREATE TABLE`.
    pub(crate) suffix: &'static str,
}

impl Dialect {
    /// Statements that make `table` and fill it.
    pub(crate) fn statements(&self, table: &Table) -> Vec<String> {
        let name = (self.quote)(&table.name);
        let mut columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let null = if column.nullable { "NULL" } else { "NOT NULL" };
                format!("{} {} {null}", (self.quote)(&column.name), (self.native)(column.kind))
            })
            .collect();
        let key: Vec<String> = table.key_names().iter().map(|name| (self.quote)(name)).collect();
        if table.unique && table.key > 0 {
            columns.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        let mut all = vec![format!("CREATE TABLE {name} ({}){}", columns.join(", "), self.suffix)];
        if !table.unique && table.key > 0 {
            let terms: Vec<String> = key.iter().map(|name| (self.index_term)(name)).collect();
            let index = (self.quote)(&format!("{} index", table.name));
            all.push(format!("CREATE INDEX {index} ON {name} ({})", terms.join(", ")));
        }
        all.extend(self.inserts(table));
        all
    }

    /// The `INSERT`s alone.
    pub(crate) fn inserts(&self, table: &Table) -> Vec<String> {
        let name = (self.quote)(&table.name);
        let cell = |cell: &Cell| if *cell == Cell::Null { "NULL".to_owned() } else { (self.literal)(cell) };
        let row = |row: &Vec<Cell>| format!("({})", row.iter().map(cell).collect::<Vec<_>>().join(", "));
        let insert = |rows: &[Vec<Cell>]| {
            format!("INSERT INTO {name} VALUES {}", rows.iter().map(row).collect::<Vec<_>>().join(", "))
        };
        table.rows.chunks(ROWS_OF_INSERT).map(insert).collect()
    }
}

/// Text between quotes, which are doubled.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")))
}
