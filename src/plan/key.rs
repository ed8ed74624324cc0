//! Which columns identify a row.

use super::{
    columns::{PairedColumns, known},
    names::{NameMatch, find, suggest},
    problems::Problems,
};
use crate::model::{ComparisonRequest, KeyCandidate, Side, Sides, TableSchema};

/// The chosen key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChosenKey {
    /// Places in the paired columns, in key order; empty: no key.
    pub pairs: Vec<usize>,
    /// Where it came from, for people.
    pub origin: String,
}

/// Chooses the key: what the user names, else what both stores guarantee, else what one store guarantees where the
/// other guarantees nothing, else none (rows are compared as a multiset).
pub(super) fn choose_key(
    request: &ComparisonRequest,
    schemas: &Sides<TableSchema>,
    paired: &PairedColumns,
    problems: &mut Problems,
) -> ChosenKey {
    if request.key.is_empty() {
        guaranteed_key(schemas, paired, problems)
    } else {
        named_key(request, schemas, paired, problems)
    }
}

/// Whether a side guarantees that the columns at `pairs` are unique: they hold all columns of one of its keys.
pub(super) fn is_unique(schema: &TableSchema, side: Side, paired: &PairedColumns, pairs: &[usize]) -> bool {
    let chosen: Vec<&str> =
        pairs.iter().map(|&at| schema.columns[*paired.pairs[at].index.get(side)].name.as_str()).collect();
    let holds = |key: &KeyCandidate| {
        !key.columns.is_empty() && key.columns.iter().all(|column| chosen.contains(&column.as_str()))
    };
    schema.keys.iter().any(holds)
}

fn named_key(
    request: &ComparisonRequest,
    schemas: &Sides<TableSchema>,
    paired: &PairedColumns,
    problems: &mut Problems,
) -> ChosenKey {
    let names = NameMatch::of(schemas);
    let mut pairs = Vec::with_capacity(request.key.len());
    for name in &request.key {
        let excluded = Side::BOTH.into_iter().any(|side| {
            find(schemas.get(side), name, names).index().is_some_and(|index| paired.excluded.get(side).contains(&index))
        });
        if excluded {
            problems.config(format!("key column {name} is excluded"), Some("drop one of the two".to_owned()));
            continue;
        }
        match paired.by_name(schemas, names, name) {
            Some(at) if pairs.contains(&at) => {
                problems.config(format!("key column {name} is named twice"), None);
            }
            Some(at) => pairs.push(at),
            None if Side::BOTH.into_iter().any(|side| find(schemas.get(side), name, names).index().is_some()) => {
                problems.schema(
                    format!("key column {name} has no partner on the other side"),
                    Some("pair it by `--map SOURCE=SINK`".to_owned()),
                );
            }
            None => {
                problems.config(format!("key column {name}: there is no such column"), suggest(name, known(schemas)));
            }
        }
    }
    ChosenKey { pairs, origin: "named by -k".to_owned() }
}

/// The places of a candidate's columns in the paired columns, if all of them are paired.
fn places(key: &KeyCandidate, side: Side, schemas: &Sides<TableSchema>, paired: &PairedColumns) -> Option<Vec<usize>> {
    let schema = schemas.get(side);
    if key.columns.is_empty() {
        return None;
    }
    key.columns
        .iter()
        .map(|name| paired.pairs.iter().position(|pair| schema.columns[*pair.index.get(side)].name == *name))
        .collect()
}

fn guaranteed_key(schemas: &Sides<TableSchema>, paired: &PairedColumns, problems: &mut Problems) -> ChosenKey {
    let keys = Sides::new(&schemas.source.keys, &schemas.sink.keys);
    match (keys.source.is_empty(), keys.sink.is_empty()) {
        (true, true) => ChosenKey {
            pairs: Vec::new(),
            origin: "none: neither side guarantees a key, so rows are compared as a multiset".to_owned(),
        },
        (false, false) => common_key(schemas, paired, problems),
        (source_has_none, _) => {
            let side = if source_has_none { Side::Sink } else { Side::Source };
            for key in *keys.get(side) {
                if let Some(pairs) = places(key, side, schemas, paired) {
                    let origin = format!("{} of the {side}; the {} guarantees none", key.origin, side.other());
                    return ChosenKey { pairs, origin };
                }
            }
            refuse(schemas, problems);
            ChosenKey::default()
        }
    }
}

fn common_key(schemas: &Sides<TableSchema>, paired: &PairedColumns, problems: &mut Problems) -> ChosenKey {
    for key in &schemas.source.keys {
        let Some(pairs) = places(key, Side::Source, schemas, paired) else { continue };
        let agrees = |other: &&KeyCandidate| {
            places(other, Side::Sink, schemas, paired)
                .is_some_and(|others| others.len() == pairs.len() && others.iter().all(|at| pairs.contains(at)))
        };
        if let Some(other) = schemas.sink.keys.iter().find(agrees) {
            let origin = if key.origin == other.origin {
                format!("{} of both sides", key.origin)
            } else {
                format!("{} of the source, {} of the sink", key.origin, other.origin)
            };
            return ChosenKey { pairs, origin };
        }
    }
    refuse(schemas, problems);
    ChosenKey::default()
}

/// Notes that no guaranteed key can be used on both sides, with all of them.
fn refuse(schemas: &Sides<TableSchema>, problems: &mut Problems) {
    let list = |schema: &TableSchema| -> String {
        if schema.keys.is_empty() {
            return "none".to_owned();
        }
        let keys: Vec<String> =
            schema.keys.iter().map(|key| format!("({}) {}", key.columns.join(", "), key.origin)).collect();
        keys.join("; ")
    };
    problems.schema(
        format!(
            "no key is usable on both sides: the source has {}, the sink has {}",
            list(&schemas.source),
            list(&schemas.sink)
        ),
        Some("name the key columns by `-k COLUMN`".to_owned()),
    );
}
