//! Canonical key order on the server: which columns can be sorted there, how, and whether an index serves.

use super::{
    relation::{Index, Relation, stored_bytes},
    types::{Characters, UNITS_MAX, Wire},
};
use crate::{
    connector::OrderSupport,
    model::{CanonicalType, Conversion, Error, ErrorKind, Projected, Projection, ReadOrder, Result},
};

/// The collation that compares UTF-16 units; every server has it. Characters beyond U+FFFF come too early.
const CODE_POINTS: &str = "Latin1_General_BIN2";
/// The collation that compares UTF-8.
pub(super) const UTF8: &str = "Latin1_General_100_BIN2_UTF8";
/// Most bytes of a varchar that is not `max`.
const BYTES_MAX: u16 = 8000;
/// Most bytes of UTF-8 for a unit of UTF-16.
const BYTES_OF_UNIT: u16 = 3;

/// How a key column is sorted on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sorting {
    /// By itself, in an order that an index can have.
    Native,
    /// By itself, in an order whose bounds the server cannot be given exactly.
    Whole,
    /// Bytes of any length: compared as if padded with zeros, so the length decides where they are equal.
    Bytes,
    /// Text by its UTF-16 units, by a conversion that no index has.
    CodePoints,
    /// Text by its UTF-8, by a conversion that no index has.
    Utf8,
    /// A uuid by its text.
    UuidText,
}

/// How to sort `projected`, or why the server cannot.
pub(super) fn sorting(relation: &Relation, projected: &Projected) -> Result<Result<Sorting, String>> {
    let facts = relation.facts(projected)?;
    let target = &projected.target;
    let no = |why: &str| Ok(Err(format!("key column {} {why}", projected.name)));
    if stored_bytes(&facts.wire, projected) {
        return no("is compared by its stored bytes");
    }
    if target.conversion == Conversion::Parse {
        return no("is parsed from text");
    }
    let text = matches!(facts.wire, Wire::Text(_));
    if target.conversion == Conversion::Render || projected.as_text && !text {
        return no("is rendered as text");
    }
    if !target.key_fold.is_none() {
        return no("is folded");
    }
    if target.zone.is_some() {
        return no("is shifted by a zone");
    }
    Ok(Ok(match (&facts.wire, &target.canonical) {
        (Wire::Integer(..) | Wire::Decimal(_) | Wire::Money(_), CanonicalType::Number)
        | (Wire::Bit, CanonicalType::Boolean | CanonicalType::Number)
        | (Wire::Date, CanonicalType::Date)
        | (Wire::Time(_), CanonicalType::Time)
        | (Wire::DateTime | Wire::SmallDateTime | Wire::DateTime2(_), CanonicalType::Timestamp)
        | (Wire::Binary(Some(_), _) | Wire::RowVersion, CanonicalType::Binary) => Sorting::Native,
        (Wire::Real | Wire::Float, CanonicalType::Float) | (Wire::AnyDateTime, CanonicalType::Timestamp) => {
            Sorting::Whole
        }
        (Wire::Binary(None, false), CanonicalType::Binary) => Sorting::Bytes,
        (Wire::Uuid, CanonicalType::Uuid) => Sorting::UuidText,
        (Wire::Text(characters), CanonicalType::Text) => {
            if characters.fixed && !target.strip_pad {
                return no("keeps its pad blanks");
            }
            // Of a code page, a binary collation compares bytes, which are no code points.
            if characters.national && facts.code_points && !characters.fixed && !characters.large_object {
                Sorting::Native
            } else if relation.abilities.utf8 {
                Sorting::Utf8
            } else {
                Sorting::CodePoints
            }
        }
        _ => return no(&format!("is a {} that the server does not have in canonical order", target.canonical)),
    }))
}

/// The expression that a key column is sorted and compared by.
pub(super) fn expression(relation: &Relation, projected: &Projected, sorting: Sorting) -> Result<String> {
    let column = Relation::expression(&projected.name);
    Ok(match (sorting, &relation.facts(projected)?.wire) {
        (Sorting::CodePoints, Wire::Text(characters)) => {
            format!("({} COLLATE {CODE_POINTS})", national(&column, characters))
        }
        (Sorting::Utf8, Wire::Text(characters)) => {
            let units = characters.units.filter(|units| *units <= BYTES_MAX / BYTES_OF_UNIT);
            let length = units.map_or_else(|| "max".to_owned(), |units| (units * BYTES_OF_UNIT).to_string());
            format!("CONVERT(varchar({length}), {} COLLATE {UTF8})", national(&column, characters))
        }
        (Sorting::UuidText, _) => format!("(CONVERT(char(36), {column}) COLLATE {CODE_POINTS})"),
        _ => column,
    })
}

/// Text as UTF-16, without the blanks that pad it.
fn national(column: &str, characters: &Characters) -> String {
    let bare = if characters.fixed { format!("RTRIM({column})") } else { column.to_owned() };
    if characters.national && !characters.large_object {
        return bare;
    }
    match characters.units.filter(|units| *units <= UNITS_MAX) {
        Some(units) => format!("CONVERT(nvarchar({units}), {bare})"),
        None => format!("CONVERT(nvarchar(max), {bare})"),
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

/// The ORDER BY clause. NULL comes first on SQL Server in any case.
pub(super) fn clause(relation: &Relation, projection: &Projection) -> Result<String> {
    let mut terms = Vec::new();
    for (projected, sorting) in projection.key.iter().zip(sortings(relation, projection)?) {
        let expression = expression(relation, projected, sorting)?;
        // A column may not be named twice.
        if terms.contains(&expression) {
            continue;
        }
        terms.push(expression);
        // Values that compare as equal although they differ in length: zeros at the end, or blanks, which every
        // collation ignores there.
        let padded = match (sorting, &relation.facts(projected)?.wire) {
            (Sorting::Bytes, _) => true,
            (Sorting::CodePoints | Sorting::Utf8, Wire::Text(characters)) => {
                !characters.fixed && !characters.large_object
            }
            _ => false,
        };
        if padded {
            terms.push(format!("DATALENGTH({})", Relation::expression(&projected.name)));
        }
    }
    if terms.is_empty() {
        return Err(
            Error::new(ErrorKind::Unsupported, "ordering on the server: the table has no key").hint("use --sort local")
        );
    }
    Ok(format!(" ORDER BY {}", terms.join(", ")))
}

/// What order the server can give. `one_reader` says why one connection alone can read, if so.
pub(super) fn support(relation: &Relation, projection: &Projection, one_reader: Option<&str>) -> Result<OrderSupport> {
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
    let once = |reason: String| OrderSupport { best: ReadOrder::ServerOnce, can_order: true, reason };
    for (projected, sorting) in projection.key.iter().zip(&sortings) {
        if let Some(why) = no_index(relation, projected, *sorting)? {
            return Ok(once(format!("key column {} {why}, so the server sorts the whole table once", projected.name)));
        }
    }
    for index in &relation.indexes {
        if serves(relation, projection, index)? {
            let reason = format!("index {} is in canonical key order", index.name);
            return Ok(match one_reader {
                None => OrderSupport { best: ReadOrder::ServerRanges, can_order: true, reason },
                Some(why) => once(format!("{reason}; read once, since {why}")),
            });
        }
    }
    Ok(once("no index that covers the columns has the key in canonical key order".to_owned()))
}

/// Why no index can have the canonical order of this column.
fn no_index(relation: &Relation, projected: &Projected, sorting: Sorting) -> Result<Option<String>> {
    let collation = relation.schema.columns.get(projected.index).and_then(|column| column.collation.as_deref());
    Ok(match sorting {
        Sorting::Native => None,
        Sorting::Whole => Some("has bounds that no literal gives exactly".to_owned()),
        Sorting::Bytes => Some("is compared by the server as if padded with zeros".to_owned()),
        Sorting::UuidText => Some("is sorted by the server by groups of bytes from the end".to_owned()),
        Sorting::CodePoints | Sorting::Utf8 => Some(match (&relation.facts(projected)?.wire, collation) {
            (Wire::Text(characters), Some(collation)) if characters.national || !collation.contains("_BIN2") => {
                format!("has the collation {collation}, which is not the order of code points")
            }
            (_, Some(collation)) => {
                format!("has the collation {collation}, which is the order of a code page")
            }
            (_, None) => "has a collation that is not known".to_owned(),
        }),
    })
}

fn serves(relation: &Relation, projection: &Projection, index: &Index) -> Result<bool> {
    if index.keys.len() < projection.key.len() {
        return Ok(false);
    }
    for (projected, key) in projection.key.iter().zip(&index.keys) {
        if key.descending || key.column != relation.facts(projected)?.id {
            return Ok(false);
        }
    }
    // Partitions have their own order each, unless the leading column also says the partition.
    if index.partitioned_by.is_some_and(|column| index.keys.first().is_none_or(|key| key.column != column)) {
        return Ok(false);
    }
    // An index beside the rows costs a look-up a row, or is passed over for a scan of the table a range. Another
    // server calls all of its indexes nonclustered.
    if index.clustered || !relation.abilities.genuine {
        return Ok(true);
    }
    for projected in projection.columns() {
        let id = relation.facts(projected)?.id;
        if !index.included.contains(&id) && !index.keys.iter().any(|key| key.column == id) {
            return Ok(false);
        }
    }
    Ok(true)
}
