//! What a frozen table is to the reader: where rows come from, its columns and its indexes.

use super::{sql, types::Affinity};
use crate::model::{Error, Projected, Projection, Result, TableSchema};

/// How the database stores text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    /// UTF-8.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
}

/// A column, beside its place in the schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnFacts {
    pub(super) affinity: Affinity,
    /// Whether it is the number of the row itself, which is never NULL.
    pub(super) is_rowid: bool,
}

/// A column of an [`Index`].
#[derive(Clone, Debug)]
pub(super) struct IndexColumn {
    /// Its name; `None` for an expression.
    pub(super) name: Option<String>,
    pub(super) descending: bool,
    /// Whether text is in byte order.
    pub(super) binary: bool,
}

/// An index over all rows.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) name: String,
    pub(super) columns: Vec<IndexColumn>,
}

/// A described table.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) schema: TableSchema,
    /// The FROM item.
    pub(super) from: String,
    /// What columns are qualified with, so that a name can mean nothing else.
    pub(super) qualifier: String,
    /// The condition that rows must satisfy.
    pub(super) filter: Option<String>,
    pub(super) columns: Vec<ColumnFacts>,
    pub(super) indexes: Vec<Index>,
    /// The name by which the number of a row can be asked for, if rows have one.
    pub(super) rowid: Option<String>,
    /// Smallest and largest number of a row.
    pub(super) rowids: Option<(i64, i64)>,
    /// The number of rows, where it was counted.
    pub(super) rows: Option<u64>,
    pub(super) text: TextForm,
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
        format!("{}.{}", self.qualifier, sql::name(column))
    }

    /// Whether the column is said to hold NULL.
    pub(super) fn nullable(&self, projected: &Projected) -> bool {
        self.schema.columns.get(projected.index).is_none_or(|column| column.nullable)
    }

    /// The select list of a projection. The library turns UTF-16 into UTF-8 without a word on what is not UTF-16, so
    /// that such text is asked for as its bytes, and each value follows the word whether it is text.
    pub(super) fn select_list(&self, projection: &Projection) -> Result<String> {
        let mut items = Vec::new();
        for projected in projection.columns() {
            self.facts(projected)?;
            let column = self.expression(&projected.name);
            items.push(if self.text == TextForm::Utf8 {
                column
            } else {
                format!("typeof({column}) = 'text', iif(typeof({column}) = 'text', CAST({column} AS BLOB), {column})")
            });
        }
        Ok(items.join(", "))
    }

    /// The condition of the filter and of a range, or nothing.
    pub(super) fn condition(&self, range: Option<String>) -> String {
        let filter = self.filter.as_ref().map(|filter| format!("({filter}\n)"));
        let parts: Vec<String> = filter.into_iter().chain(range).collect();
        if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
    }
}
