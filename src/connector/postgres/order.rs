//! Canonical key order on the server: which columns can be sorted there, how, and whether an index serves.

use super::{
    relation::{Index, Relation},
    types::{TextKind, Wire},
};
use crate::{
    connector::OrderSupport,
    model::{CanonicalType, Conversion, Error, ErrorKind, Projected, Projection, ReadOrder, Result},
};

/// Oid of the collation "C".
const C_COLLATION: u32 = 950;

/// How a key column is sorted on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sorting {
    /// By itself.
    Native,
    /// Text in byte order; whether the clause is needed.
    Bytes { collate: bool },
    /// By the label of an enum.
    Label,
}

/// How to sort `projected`, or why the server cannot.
pub(super) fn sorting(relation: &Relation, projected: &Projected) -> Result<Result<Sorting, String>> {
    let facts = relation.facts(projected)?;
    let target = &projected.target;
    let no = |why: &str| Ok(Err(format!("key column {} {why}", projected.name)));
    let text = matches!(facts.wire, Wire::Text(TextKind::Plain | TextKind::Name) | Wire::BpChar);
    if target.conversion == Conversion::Parse {
        return no("is parsed from text");
    }
    if target.conversion == Conversion::Render {
        return no("is rendered as text");
    }
    if !target.key_fold.is_none() {
        return no("is folded");
    }
    if target.zone.is_some() {
        return no("is shifted by a zone");
    }
    // char(n)::text drops the pad blanks, so its order is that of the column.
    if projected.as_text && !text {
        return no("is cast to text");
    }
    // The pad of char(n) must be stripped as the server's order ignores it.
    if facts.wire == Wire::BpChar && !target.strip_pad && !projected.as_text {
        return no("keeps its pad blanks");
    }
    let native = match (&facts.wire, &target.canonical) {
        (
            Wire::Int2 | Wire::Int4 | Wire::Int8 | Wire::Oid | Wire::Numeric(_) | Wire::Money(_),
            CanonicalType::Number,
        )
        | (Wire::Float4 | Wire::Float8, CanonicalType::Float)
        | (Wire::Bool, CanonicalType::Boolean)
        | (Wire::Date, CanonicalType::Date)
        | (Wire::Time(_), CanonicalType::Time)
        | (Wire::Timestamp(_), CanonicalType::Timestamp)
        | (Wire::TimestampTz(_), CanonicalType::Instant)
        | (Wire::Uuid, CanonicalType::Uuid)
        | (Wire::Bytea, CanonicalType::Binary)
        | (Wire::Bits(_), CanonicalType::Bits)
        | (Wire::Mac, CanonicalType::Mac)
        | (Wire::Mac8, CanonicalType::Mac8) => true,
        (Wire::Text(TextKind::Plain | TextKind::Name) | Wire::BpChar | Wire::Enum, CanonicalType::Text) => false,
        _ => return no(&format!("is a {} that no index of the server has in canonical order", target.canonical)),
    };
    if native {
        return Ok(Ok(Sorting::Native));
    }
    if !relation.utf8 {
        return no("is text in a database that does not store UTF-8");
    }
    Ok(Ok(match facts.wire {
        Wire::Enum => Sorting::Label,
        _ => Sorting::Bytes { collate: !facts.is_c },
    }))
}

/// The expression that a key column is sorted and compared by.
pub(super) fn expression(relation: &Relation, projected: &Projected, sorting: Sorting) -> String {
    let column = relation.expression(&projected.name);
    match sorting {
        Sorting::Native | Sorting::Bytes { collate: false } => column,
        Sorting::Bytes { collate: true } => format!("{column} COLLATE \"C\""),
        Sorting::Label => format!("{column}::text COLLATE \"C\""),
    }
}

/// The sortings of all key columns, or an error that says why the server cannot sort.
pub(super) fn sortings(relation: &Relation, projection: &Projection) -> Result<Vec<Sorting>> {
    projection
        .key
        .iter()
        .map(|projected| {
            sorting(relation, projected)?.map_err(|why| {
                Error::new(ErrorKind::Unsupported, format!("ordering on the server: {why}")).hint("use --sort local")
            })
        })
        .collect()
}

/// The ORDER BY clause; empty without a key.
pub(super) fn clause(relation: &Relation, projection: &Projection) -> Result<String> {
    let sortings = sortings(relation, projection)?;
    let terms: Vec<String> = projection
        .key
        .iter()
        .zip(sortings)
        .map(|(projected, sorting)| {
            // NULLS FIRST on a column without NULL would cost the index.
            let nulls = if relation.nullable(projected) { " NULLS FIRST" } else { "" };
            format!("{}{nulls}", expression(relation, projected, sorting))
        })
        .collect();
    if terms.is_empty() {
        return Err(
            Error::new(ErrorKind::Unsupported, "ordering on the server: the table has no key").hint("use --sort local")
        );
    }
    Ok(format!(" ORDER BY {}", terms.join(", ")))
}

/// What order the server can give.
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
    for index in &relation.indexes {
        if serves(relation, projection, &sortings, index)? {
            let reason = format!("index {} is in canonical key order", index.name);
            return Ok(OrderSupport { best: ReadOrder::ServerRanges, can_order: true, reason });
        }
    }
    let reason = "no valid btree index has the key columns in canonical key order".to_owned();
    Ok(OrderSupport { best: ReadOrder::ServerOnce, can_order: true, reason })
}

fn serves(relation: &Relation, projection: &Projection, sortings: &[Sorting], index: &Index) -> Result<bool> {
    if index.columns.len() < projection.key.len() {
        return Ok(false);
    }
    for ((projected, sorting), column) in projection.key.iter().zip(sortings).zip(&index.columns) {
        let facts = relation.facts(projected)?;
        let collation = match sorting {
            Sorting::Label => return Ok(false),
            Sorting::Native => None,
            Sorting::Bytes { collate: true } => Some(C_COLLATION),
            Sorting::Bytes { collate: false } => Some(facts.collation),
        };
        // Bounds of these are compared by a cast, which no index serves.
        let cast = matches!(facts.wire, Wire::Oid | Wire::Money(_) | Wire::Bits(_));
        if cast
            || column.attnum != facts.attnum
            || column.descending
            || column.nulls_first != relation.nullable(projected)
            || !column.default_operators
            || collation.is_some_and(|collation| collation != column.collation)
        {
            return Ok(false);
        }
    }
    Ok(true)
}
