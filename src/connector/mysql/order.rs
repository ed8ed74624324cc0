//! Canonical key order on the server: which columns can be sorted there, how, and whether an index serves.

use super::{
    relation::{Index, Relation},
    types::{TextKind, Wire},
};
use crate::{
    connector::OrderSupport,
    model::{CanonicalType, Conversion, Error, ErrorKind, Projected, Projection, ReadOrder, Result},
};

/// How a key column is sorted on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sorting {
    /// By itself, so that an index serves.
    Native,
    /// By itself, compared through an expression that no index serves.
    Plain,
    /// Text that its collation sorts by bytes already.
    ByteText,
    /// Text by the bytes of its UTF-8 form.
    Utf8,
    /// MariaDB's uuid by its sixteen bytes; its own order starts in the middle.
    Uuid,
    /// Labels of bytes, which are sorted by their numbers otherwise.
    Labels,
}

/// How to sort `projected`, or why the server cannot.
pub(super) fn sorting(relation: &Relation, projected: &Projected) -> Result<Result<Sorting, String>> {
    let wire = relation.wire(projected)?;
    let target = &projected.target;
    let no = |why: &str| Ok(Err(format!("key column {} {why}", projected.name)));
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
    if projected.as_text && !matches!(wire, Wire::Text(_)) {
        return no("is cast to text");
    }
    let sorting = match (wire, &target.canonical) {
        (Wire::Int { .. } | Wire::Decimal { .. }, CanonicalType::Number)
        | (Wire::Double, CanonicalType::Float)
        | (Wire::Date, CanonicalType::Date)
        | (Wire::DateTime(_), CanonicalType::Timestamp)
        | (Wire::Timestamp(_), CanonicalType::Instant)
        | (Wire::Time(_), CanonicalType::Time)
        | (Wire::Binary { blob: false, labels: false }, CanonicalType::Binary | CanonicalType::Uuid) => Sorting::Native,
        (Wire::Binary { labels: true, .. }, CanonicalType::Binary) => Sorting::Labels,
        (Wire::Year, CanonicalType::Number)
        | (Wire::Float, CanonicalType::Float)
        | (Wire::Bit(_), CanonicalType::Bits) => Sorting::Plain,
        (Wire::Uuid, CanonicalType::Uuid) => Sorting::Uuid,
        (Wire::Text(text), CanonicalType::Text) => match text.kind {
            TextKind::Text => return no("is text of unbounded length"),
            // A partner that is padded strips blanks here too: their order is not that of the stored text then.
            TextKind::Varchar | TextKind::Set | TextKind::Enum if target.strip_pad => {
                return no("is stripped of pad blanks");
            }
            _ if text.is_byte_ordered() => Sorting::ByteText,
            _ => Sorting::Utf8,
        },
        (Wire::Binary { blob: true, .. }, _) => return no("is a blob of unbounded length"),
        _ => return no(&format!("is a {} that the server does not have in canonical order", target.canonical)),
    };
    Ok(Ok(sorting))
}

/// The expression that a key column is sorted and compared by.
pub(super) fn expression(relation: &Relation, projected: &Projected, sorting: Sorting) -> Result<String> {
    let column = relation.expression(&projected.name);
    Ok(match (sorting, relation.wire(projected)?) {
        // Compared as they are, a constant would be bent to the column's type: rounded to 32 bits, or completed to a
        // year of four digits.
        (Sorting::Plain, Wire::Float) => format!("({column} + 0e0)"),
        (Sorting::Plain, _) => format!("({column} + 0)"),
        (Sorting::Native | Sorting::ByteText, _) => column,
        (Sorting::Utf8, _) => format!("CAST(CONVERT({column} USING utf8mb4) AS BINARY)"),
        (Sorting::Uuid, _) => format!("CAST({column} AS BINARY(16))"),
        (Sorting::Labels, _) => format!("CAST({column} AS BINARY)"),
    })
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

/// The ORDER BY clause. The server has NULL first, as canonical order has.
pub(super) fn clause(relation: &Relation, projection: &Projection) -> Result<String> {
    directed(relation, projection, "")
}

/// The same the other way round.
pub(super) fn descending_clause(relation: &Relation, projection: &Projection) -> Result<String> {
    directed(relation, projection, " DESC")
}

fn directed(relation: &Relation, projection: &Projection, direction: &str) -> Result<String> {
    let sortings = sortings(relation, projection)?;
    if sortings.is_empty() {
        return Err(
            Error::new(ErrorKind::Unsupported, "ordering on the server: the table has no key").hint("use --sort local")
        );
    }
    let terms = projection.key.iter().zip(sortings).map(|(projected, sorting)| {
        expression(relation, projected, sorting).map(|expression| format!("{expression}{direction}"))
    });
    Ok(format!(" ORDER BY {}", terms.collect::<Result<Vec<_>>>()?.join(", ")))
}

/// The index that has the key in canonical order; `None` without one.
pub(super) fn index<'a>(relation: &'a Relation, projection: &Projection) -> Result<Option<&'a Index>> {
    for projected in &projection.key {
        if !matches!(sorting(relation, projected)?, Ok(Sorting::Native | Sorting::ByteText)) {
            return Ok(None);
        }
    }
    let wanted: Vec<usize> = projection.key.iter().map(|projected| projected.index).collect();
    Ok(relation.indexes.iter().find(|index| !wanted.is_empty() && index.columns.starts_with(&wanted)))
}

/// What order the server can give.
pub(super) fn support(relation: &Relation, projection: &Projection) -> Result<OrderSupport> {
    let local = |reason: String| OrderSupport { best: ReadOrder::Local, can_order: false, reason };
    if projection.key.is_empty() {
        return Ok(local("there is no key".to_owned()));
    }
    let mut cast = None;
    for projected in &projection.key {
        match sorting(relation, projected)? {
            Ok(Sorting::Native | Sorting::ByteText) => {}
            Ok(_) => cast = cast.or(Some(projected.name.clone())),
            Err(why) => return Ok(local(why)),
        }
    }
    let once = |reason: String| OrderSupport { best: ReadOrder::ServerOnce, can_order: true, reason };
    if let Some(column) = cast {
        return Ok(once(format!("key column {column} is sorted by an expression that no index has")));
    }
    let Some(index) = index(relation, projection)? else {
        return Ok(once("no index has the key columns in canonical key order".to_owned()));
    };
    Ok(match &relation.single {
        Some(why) => once(format!("index {} is in canonical key order; read once, since {why}", index.name)),
        None => OrderSupport {
            best: ReadOrder::ServerRanges,
            can_order: true,
            reason: format!("index {} is in canonical key order", index.name),
        },
    })
}
