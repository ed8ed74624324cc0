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
    /// Whether TABLESAMPLE works on it.
    pub(super) can_sample: bool,
    /// Pages on disk, as last counted.
    pub(super) pages: Option<u64>,
}

/// A column, beside its place in the schema.
#[derive(Clone, Debug)]
pub(super) struct ColumnFacts {
    pub(super) wire: Wire,
    /// Number of the column in the table.
    pub(super) attnum: i16,
    /// Effective collation.
    pub(super) collation: u32,
    /// Whether that collation is byte order.
    pub(super) is_c: bool,
}

/// A valid btree index on plain columns, without a condition.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) name: String,
    pub(super) columns: Vec<IndexColumn>,
}

/// A column of an [`Index`].
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexColumn {
    /// Number of the column; 0 is an expression.
    pub(super) attnum: i16,
    pub(super) collation: u32,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
    /// Whether it sorts by the type's default operators.
    pub(super) default_operators: bool,
}

/// A described table.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) schema: TableSchema,
    pub(super) source: RowSource,
    pub(super) columns: Vec<ColumnFacts>,
    pub(super) indexes: Vec<Index>,
    /// Whether the database stores UTF-8.
    pub(super) utf8: bool,
}

impl Relation {
    /// Facts of a projected column.
    pub(super) fn facts(&self, projected: &Projected) -> Result<&ColumnFacts> {
        self.columns
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

    /// Whether the server renders the column: where it must be text, and its type is not one that is read. All other
    /// types are rendered here, as those of every store are: the server writes 1.5 and 1.50 for equal numbers.
    pub(super) fn server_text(&self, projected: &Projected) -> Result<bool> {
        let wire = &self.facts(projected)?.wire;
        Ok(*wire == Wire::ServerText || projected.as_text && wire.obstacle().is_some())
    }

    /// The select list of a projection.
    pub(super) fn select_list(&self, projection: &Projection) -> Result<String> {
        let mut items = Vec::new();
        for projected in projection.columns() {
            let cast = if self.server_text(projected)? { "::text" } else { "" };
            items.push(format!("{}{cast}", self.expression(&projected.name)));
        }
        Ok(items.join(", "))
    }

    /// The condition of the filter and of a range, or nothing.
    pub(super) fn condition(&self, range: Option<String>) -> String {
        let filter = self.source.filter.as_ref().map(|filter| format!("({filter}\n)"));
        let parts: Vec<String> = filter.into_iter().chain(range).collect();
        if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
    }
}
