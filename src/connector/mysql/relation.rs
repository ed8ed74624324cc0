//! What a frozen table is to the reader: where rows come from, its columns and its indexes.

use super::{sql, types::Wire};
use crate::model::{Error, Projected, Projection, Result, TableSchema};

/// Where rows come from.
#[derive(Clone, Debug)]
pub(super) struct RowSource {
    /// The FROM item.
    pub(super) from: String,
    /// What columns are qualified with, so that ORDER BY can never mean a result column.
    pub(super) qualifier: String,
    /// The condition that rows must satisfy.
    pub(super) filter: Option<String>,
    /// Whether it is a table, so that an index may be named.
    pub(super) is_table: bool,
}

/// A unique or plain btree index on whole columns, ascending.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) name: String,
    /// Places of its columns in the schema, in the order of the index.
    pub(super) columns: Vec<usize>,
}

/// A described table.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) schema: TableSchema,
    pub(super) source: RowSource,
    /// One for each column of the schema.
    pub(super) wires: Vec<Wire>,
    pub(super) indexes: Vec<Index>,
    /// Why reads cannot share the snapshot among connections, where they cannot.
    pub(super) single: Option<String>,
    /// The last second that a `timestamp` of this server can hold, counted from 1970.
    pub(super) timestamp_max: i64,
}

impl Relation {
    /// How a projected column comes.
    pub(super) fn wire(&self, projected: &Projected) -> Result<&Wire> {
        self.wires
            .get(projected.index)
            .ok_or_else(|| Error::internal("a projection names a column that the table does not have"))
    }

    /// The column in an expression.
    pub(super) fn expression(&self, column: &str) -> String {
        format!("{}.{}", self.source.qualifier, sql::name(column))
    }

    /// Whether the column may hold NULL.
    pub(super) fn nullable(&self, projected: &Projected) -> bool {
        projected.nullable || self.schema.columns.get(projected.index).is_none_or(|column| column.nullable)
    }

    /// The select list of a projection: its columns, and behind them, for each column whose conversion may lose a
    /// character, whether it lost none.
    pub(super) fn select_list(&self, projection: &Projection) -> Result<String> {
        let mut items = Vec::new();
        let mut checks = Vec::new();
        for projected in projection.columns() {
            let column = self.expression(&projected.name);
            match self.wire(projected)? {
                Wire::Unsupported(_) if projected.as_text => {
                    items.push(format!("CONVERT(CAST({column} AS CHAR) USING utf8mb4)"));
                }
                wire => {
                    if let Some(charset) = wire.lossy_charset() {
                        checks.push(format!(
                            "CAST(CONVERT(CONVERT({column} USING utf8mb4) USING {charset}) AS BINARY) = \
                             CAST(CONVERT({column} USING {charset}) AS BINARY)"
                        ));
                    }
                    items.push(column);
                }
            }
        }
        items.extend(checks);
        Ok(items.join(", "))
    }

    /// The FROM item, with an index that must be used.
    pub(super) fn from(&self, index: Option<&Index>) -> String {
        match index {
            Some(index) if self.source.is_table => {
                format!("{} FORCE INDEX ({})", self.source.from, sql::name(&index.name))
            }
            _ => self.source.from.clone(),
        }
    }

    /// The condition of the filter and of a range, or nothing.
    pub(super) fn condition(&self, range: Option<String>) -> String {
        let filter = self.source.filter.as_ref().map(|filter| format!("({filter}\n)"));
        let parts: Vec<String> = filter.into_iter().chain(range).collect();
        if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
    }
}
