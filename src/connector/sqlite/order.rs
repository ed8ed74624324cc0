//! Canonical key order in the database: which columns can be sorted there, how, and whether an index serves.

use super::{
    relation::{Index, Relation, TextForm},
    types::Affinity,
};
use crate::{
    connector::OrderSupport,
    model::{CanonicalType, Conversion, Error, ErrorKind, Projected, Projection, ReadOrder, Result},
};

/// How a key column is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sorting {
    /// By itself: numbers and bytes.
    Native,
    /// Text in byte order.
    Bytes,
}

/// How to sort `projected`, or why the database cannot.
///
/// The affinity matters for range predicates: it decides what becomes of a bound before it is compared.
pub(super) fn sorting(relation: &Relation, projected: &Projected) -> Result<Result<Sorting, String>> {
    let facts = relation.facts(projected)?;
    let target = &projected.target;
    let no = |why: &str| Ok(Err(format!("key column {} {why}", projected.name)));
    match target.conversion {
        Conversion::Parse => return no("is parsed from text"),
        Conversion::Render => return no("is rendered as text"),
        Conversion::Direct => {}
    }
    if !target.key_fold.is_none() {
        return no("is folded");
    }
    if target.zone.is_some() {
        return no("is shifted by a zone");
    }
    match (&target.canonical, facts.affinity) {
        (CanonicalType::Number, Affinity::Integer | Affinity::Numeric | Affinity::None)
        | (CanonicalType::Float, Affinity::Real | Affinity::Integer | Affinity::Numeric | Affinity::None)
        | (CanonicalType::Binary, Affinity::None) => Ok(Ok(Sorting::Native)),
        (CanonicalType::Text, Affinity::Text | Affinity::None) if relation.text == TextForm::Utf8 => {
            Ok(Ok(Sorting::Bytes))
        }
        (CanonicalType::Text, Affinity::Text | Affinity::None) => {
            no("is text in a database that stores UTF-16, which sorts in another order")
        }
        (canonical, _) => no(&format!("is compared as {canonical}, which its declared type does not sort as")),
    }
}

/// The expression that a key column is sorted and compared by.
pub(super) fn expression(relation: &Relation, projected: &Projected, sorting: Sorting) -> String {
    let column = relation.expression(&projected.name);
    match sorting {
        Sorting::Native => column,
        // An index in byte order serves it as well as a column without the clause.
        Sorting::Bytes => format!("{column} COLLATE BINARY"),
    }
}

/// The sortings of all key columns, or an error that says why the database cannot sort.
pub(super) fn sortings(relation: &Relation, projection: &Projection) -> Result<Vec<Sorting>> {
    projection
        .key
        .iter()
        .map(|projected| {
            sorting(relation, projected)?.map_err(|why| {
                Error::new(ErrorKind::Unsupported, format!("ordering in the database: {why}")).hint("use --sort local")
            })
        })
        .collect()
}

/// The ORDER BY clause. NULL comes first by itself.
pub(super) fn clause(relation: &Relation, projection: &Projection) -> Result<String> {
    let sortings = sortings(relation, projection)?;
    if sortings.is_empty() {
        return Err(Error::new(ErrorKind::Unsupported, "ordering in the database: the table has no key")
            .hint("use --sort local"));
    }
    let terms: Vec<String> = projection
        .key
        .iter()
        .zip(sortings)
        .map(|(projected, sorting)| expression(relation, projected, sorting))
        .collect();
    Ok(format!(" ORDER BY {}", terms.join(", ")))
}

/// What order the database can give.
pub(super) fn support(relation: &Relation, projection: &Projection) -> Result<OrderSupport> {
    let local = |reason: String| OrderSupport { best: ReadOrder::Local, can_order: false, reason };
    if projection.key.is_empty() {
        return Ok(local("there is no key".to_owned()));
    }
    let mut sortings = Vec::new();
    for projected in &projection.key {
        match sorting(relation, projected)? {
            Ok(sorting) => sortings.push(sorting),
            Err(why) => return Ok(local(why)),
        }
    }
    let ranges = |reason: String| OrderSupport { best: ReadOrder::ServerRanges, can_order: true, reason };
    if let [projected] = projection.key.as_slice()
        && relation.facts(projected)?.is_rowid
    {
        return Ok(ranges("the table itself is in canonical key order".to_owned()));
    }
    if let Some(index) = relation.indexes.iter().find(|index| serves(projection, &sortings, index)) {
        return Ok(ranges(format!("index {} is in canonical key order", index.name)));
    }
    let reason = "no index over all rows has the key columns in canonical key order".to_owned();
    Ok(OrderSupport { best: ReadOrder::ServerOnce, can_order: true, reason })
}

fn serves(projection: &Projection, sortings: &[Sorting], index: &Index) -> bool {
    index.columns.len() >= projection.key.len()
        && projection.key.iter().zip(sortings).zip(&index.columns).all(|((projected, sorting), column)| {
            column.name.as_deref() == Some(projected.name.as_str())
                && !column.descending
                && (*sorting != Sorting::Bytes || column.binary)
        })
}
