//! What a frozen table is to the reader: where rows come from, its columns and its indexes.

use super::{name::bracketed, types::Wire};
use crate::model::{CanonicalType, Conversion, Error, ErrorKind, Projected, Projection, Result, TableSchema};

/// What the table is called in a query.
pub(super) const ALIAS: &str = "t";

/// Where rows come from.
#[derive(Clone, Debug)]
pub(super) struct RowSource {
    /// The FROM item, with its alias.
    pub(super) from: String,
    /// The condition that rows must satisfy.
    pub(super) filter: Option<String>,
    /// Whether TABLESAMPLE works on it.
    pub(super) can_sample: bool,
}

/// A column, beside its place in the schema.
#[derive(Clone, Debug)]
pub(super) struct ColumnFacts {
    pub(super) wire: Wire,
    /// Number of the column in the table; 0 in a query.
    pub(super) id: i64,
    /// Whether its collation compares code points (`..._BIN2`).
    pub(super) code_points: bool,
    /// Whether the driver reads its text as the server means it; else the server converts it.
    pub(super) driver_reads: bool,
}

/// An index on the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) name: String,
    /// Whether it holds the rows themselves.
    pub(super) clustered: bool,
    /// Key columns in order.
    pub(super) keys: Vec<IndexKey>,
    /// All columns that can be read from it, besides the keys.
    pub(super) included: Vec<i64>,
    /// The column by which it is partitioned.
    pub(super) partitioned_by: Option<i64>,
}

/// A key column of an [`Index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexKey {
    pub(super) column: i64,
    pub(super) descending: bool,
}

/// What the server can do beyond what every server can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abilities {
    /// Whether it is SQL Server itself, not another server that speaks its language.
    pub(super) genuine: bool,
    /// Whether CONVERT(varbinary, nvarchar) gives UTF-16, as documented.
    pub(super) utf16_bytes: bool,
    /// Whether there is a collation that compares UTF-8 (SQL Server 2019 and later).
    pub(super) utf8: bool,
}

/// A described table.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) schema: TableSchema,
    pub(super) source: RowSource,
    pub(super) columns: Vec<ColumnFacts>,
    pub(super) indexes: Vec<Index>,
    pub(super) abilities: Abilities,
}

/// Whether a text column is wanted as its stored bytes (`--cast COLUMN=binary`).
pub(super) fn stored_bytes(wire: &Wire, projected: &Projected) -> bool {
    let target = &projected.target;
    matches!(wire, Wire::Text(_)) && target.canonical == CanonicalType::Binary && target.conversion == Conversion::Parse
}

impl Relation {
    /// Facts of a projected column.
    pub(super) fn facts(&self, projected: &Projected) -> Result<&ColumnFacts> {
        self.columns
            .get(projected.index)
            .ok_or_else(|| Error::internal("a projection names a column that the table does not have"))
    }

    /// The column in an expression.
    pub(super) fn expression(column: &str) -> String {
        format!("{ALIAS}.{}", bracketed(column))
    }

    /// Whether the column may hold NULL.
    pub(super) fn nullable(&self, projected: &Projected) -> bool {
        projected.nullable || self.schema.columns.get(projected.index).is_none_or(|column| column.nullable)
    }

    /// The select list of a projection.
    pub(super) fn select_list(&self, projection: &Projection) -> Result<String> {
        let mut items = Vec::new();
        for projected in projection.columns() {
            let facts = self.facts(projected)?;
            let wire = &facts.wire;
            let refused =
                |reason: String| Err(Error::new(ErrorKind::Unsupported, reason).in_column(projected.name.as_str()));
            if let Wire::Unsupported(reason) = wire {
                return refused(format!("reading the column: {reason}"));
            }
            let column = Self::expression(&projected.name);
            if !stored_bytes(wire, projected) {
                items.push(wire.selected(&column, facts.driver_reads));
                continue;
            }
            if let Wire::Text(characters) = wire
                && characters.national
                && !self.abilities.utf16_bytes
            {
                return refused(
                    "reading stored bytes: this server does not give nvarchar as its UTF-16 bytes".to_owned(),
                );
            }
            // text and ntext convert to bytes by way of their modern forms alone.
            items.push(format!("CONVERT(varbinary(max), {})", wire.selected(&column, true)));
        }
        if items.is_empty() {
            // A projection of no column still counts rows.
            items.push("1".to_owned());
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
