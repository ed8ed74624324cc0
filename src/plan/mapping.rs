//! From a request and two schemas to column pairs, canonical types, a key and what each side must deliver.

use super::{
    casts::{SideCast, cast_side, cast_target},
    columns::{Paired, PairedColumns, known, pair_columns},
    hints::output_hint,
    key::{choose_key, is_unique},
    names::{NameMatch, suggest},
    options::{Role, check_options, takes_zone},
    problems::Problems,
    types::{Refusal, pair_types},
};
use crate::model::{
    CanonicalType, Column, ColumnOptions, ColumnPair, ComparisonRequest, Conversion, FieldTarget, LogicalType,
    OutputHint, Projected, Projection, Result, Side, Sides, TableSchema, TextFold,
};
use std::sync::Arc;

/// The part of a plan that follows from the request and the schemas alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// Key columns in key order; empty: rows are compared as a multiset.
    pub key: Vec<ColumnPair>,
    /// Where the key came from, for people.
    pub key_origin: String,
    /// Whether each store guarantees that the key is unique.
    pub key_unique: Sides<bool>,
    /// Fields of the row, in the order of the source. A key column stands here only if an option folds it: then the
    /// key holds its folded value, and the row its exact one, compared under its options.
    pub row: Vec<ColumnPair>,
    /// Columns that the user left out.
    pub excluded: Sides<Vec<String>>,
    /// What each connector must deliver.
    pub projection: Sides<Arc<Projection>>,
}

/// How a pair becomes comparable.
#[derive(Clone, Debug)]
struct Meeting {
    canonical: CanonicalType,
    sides: Sides<SideCast>,
    zone: Sides<Option<String>>,
    /// Whether a cell may be a stray value.
    strays: bool,
}

/// Pairs the columns of both sides by name and decides what each pair is compared as, and what the key is.
///
/// # Errors
/// One error of kind `Config` or `Schema` with everything that is wrong: unknown, ambiguous, repeated or one-sided
/// columns, types that do not meet, casts that would lose values, options that do not fit, keys that do not agree.
pub fn map_columns(request: &ComparisonRequest, schemas: &Sides<TableSchema>) -> Result<Mapping> {
    let mut problems = Problems::default();
    let paired = pair_columns(request, schemas, &mut problems);
    let planner = Planner::new(request, schemas, &paired, &mut problems);
    let chosen = choose_key(request, schemas, &paired, &mut problems);

    let mut key = Vec::new();
    let mut row = Vec::new();
    let mut projection = Sides::new(Side::Source, Side::Sink).map(|side| Projection { side, key: vec![], row: vec![] });
    for &at in &chosen.pairs {
        if let Some(planned) = planner.plan(at, Role::Key, &mut problems) {
            for side in Side::BOTH {
                projection.get_mut(side).key.push(planned.projected.get(side).clone());
            }
            key.push(planned.pair);
        }
    }
    for (at, pair) in paired.pairs.iter().enumerate() {
        let is_key = chosen.pairs.contains(&at);
        let folded = !planner.options[at].fold.is_none();
        if if is_key { !folded } else { !pair.selected } {
            continue;
        }
        // What is wrong with a key column has been noted once already.
        let mut noted = Problems::default();
        let noted = if is_key { &mut noted } else { &mut problems };
        if let Some(planned) = planner.plan(at, Role::Row, noted) {
            for side in Side::BOTH {
                projection.get_mut(side).row.push(planned.projected.get(side).clone());
            }
            row.push(planned.pair);
        }
    }
    if key.is_empty() && row.is_empty() {
        problems.schema("no column is left to compare", None);
    }
    problems.finish()?;
    let key_unique = Sides::new(Side::Source, Side::Sink).map(|side| {
        let kept = projection.get(side).key.iter().all(keeps_values_apart);
        kept && is_unique(schemas.get(side), side, &paired, &chosen.pairs)
    });
    let excluded = Sides::new(Side::Source, Side::Sink).map(|side| {
        let columns = &schemas.get(side).columns;
        paired.excluded.get(side).iter().map(|&index| columns[index].name.clone()).collect()
    });
    Ok(Mapping { key, key_origin: chosen.origin, key_unique, row, excluded, projection: projection.map(Arc::new) })
}

/// Whether values that the store holds apart stay apart: a cast may read `1` and `01` as one number, and a zone may
/// give two calendar times one moment, so that what the store guarantees says nothing of the key that is compared.
/// Folding is declared to keep keys apart; where it does not, that is an error and not a duplicate.
fn keeps_values_apart(column: &Projected) -> bool {
    column.target.conversion == Conversion::Direct && !column.as_text && column.target.zone.is_none()
}

struct Planned {
    pair: ColumnPair,
    projected: Sides<Projected>,
}

/// What the request says of each pair.
struct Planner<'a> {
    schemas: &'a Sides<TableSchema>,
    paired: &'a PairedColumns,
    options: Vec<ColumnOptions>,
    casts: Vec<Option<CanonicalType>>,
}

impl<'a> Planner<'a> {
    fn new(
        request: &ComparisonRequest,
        schemas: &'a Sides<TableSchema>,
        paired: &'a PairedColumns,
        problems: &mut Problems,
    ) -> Self {
        let names = NameMatch::of(schemas);
        let mut options = vec![ColumnOptions::default(); paired.pairs.len()];
        let mut seen = vec![false; paired.pairs.len()];
        for (name, given) in &request.options {
            match paired.by_name(schemas, names, name) {
                Some(at) if seen[at] => problems.config(
                    format!("options of column {name}: the column has options under another name too"),
                    Some("write all of them under its name in the source".to_owned()),
                ),
                Some(at) => {
                    seen[at] = true;
                    options[at] = given.clone();
                }
                None => problems.config(
                    format!("options of column {name}: no such column is compared"),
                    suggest(name, known(schemas)),
                ),
            }
        }
        let mut casts = vec![None; paired.pairs.len()];
        for (name, wanted) in &request.casts {
            let target = match cast_target(wanted) {
                Ok(target) => Some(target),
                Err(refusal) => {
                    problems.config(format!("--cast {name}={wanted}: {}", refusal.reason), refusal.hint);
                    None
                }
            };
            match paired.by_name(schemas, names, name) {
                Some(at) if casts[at].is_some() => {
                    problems.config(format!("--cast {name}={wanted}: the column is cast twice"), None);
                }
                Some(at) => casts[at] = target,
                None => problems.config(
                    format!("--cast {name}={wanted}: no such column is compared"),
                    suggest(name, known(schemas)),
                ),
            }
        }
        Self { schemas, paired, options, casts }
    }

    fn columns(&self, pair: &Paired) -> Sides<&'a Column> {
        Sides::new(&self.schemas.source.columns[pair.index.source], &self.schemas.sink.columns[pair.index.sink])
    }

    /// Plans one pair; notes what is wrong with it.
    fn plan(&self, at: usize, role: Role, problems: &mut Problems) -> Option<Planned> {
        let pair = &self.paired.pairs[at];
        let columns = self.columns(pair);
        let name = &columns.source.name;
        let options = &self.options[at];
        let meeting = match self.meet(at, columns) {
            Ok(meeting) => meeting,
            Err(refusal) => {
                let message = format!(
                    "column {name}: {} (source {}, sink {})",
                    refusal.reason, columns.source.native, columns.sink.native
                );
                problems.schema(message, refusal.hint.map(|hint| hint.replace("COLUMN", name)));
                return None;
            }
        };
        check_options(name, options, &meeting.canonical, role, problems);
        let key_fold = if role == Role::Key { options.fold } else { TextFold::default() };
        let projected = Sides::new(Side::Source, Side::Sink).map(|side| {
            let column = *columns.get(side);
            let cast = *meeting.sides.get(side);
            Projected {
                name: column.name.clone(),
                index: *pair.index.get(side),
                as_text: cast.as_text,
                nullable: column.nullable,
                target: FieldTarget {
                    canonical: meeting.canonical.clone(),
                    conversion: cast.conversion,
                    // Untyped text beside a char column is its pad and all: that is how COPY writes it.
                    strip_pad: column.logical == LogicalType::Char
                        || (column.logical == LogicalType::Untyped
                            && columns.get(side.other()).logical == LogicalType::Char),
                    zone: meeting.zone.get(side).clone(),
                    key_fold,
                    parse_float_bits: match columns.get(side.other()).logical {
                        LogicalType::Float { bits } => bits,
                        _ => 64,
                    },
                    dynamic: matches!(column.logical, LogicalType::Dynamic(_)),
                },
            }
        });
        let pair = ColumnPair {
            name: columns.map(|column| column.name.clone()),
            native: columns.map(|column| column.native.clone()),
            // A key holds no stray values.
            output: if meeting.strays && role == Role::Row {
                OutputHint::Text
            } else {
                output_hint(&meeting.canonical, &columns.source.logical, &columns.sink.logical)
            },
            canonical: meeting.canonical,
            options: options.clone(),
        };
        Some(Planned { pair, projected })
    }

    /// Decides what a pair is compared as and how each side gets there.
    fn meet(&self, at: usize, columns: Sides<&Column>) -> Result<Meeting, Refusal> {
        let logical = columns.map(|column| &column.logical);
        let zone = self.options[at].zone.as_ref();
        if let Some(target) = &self.casts[at] {
            if zone.is_some() {
                return Err(Refusal::new("a zone cannot be combined with a cast").or("drop one of the two"));
            }
            let sides = Sides::new(cast_side(logical.source, target)?, cast_side(logical.sink, target)?);
            return Ok(Meeting { canonical: target.clone(), sides, zone: Sides::default(), strays: false });
        }
        let direct = SideCast { conversion: Conversion::Direct, as_text: false };
        if let Some(zone) = zone {
            if !takes_zone(logical.source, logical.sink) {
                let reason = "a zone is for a zoneless timestamp that is paired with an instant";
                return Err(Refusal::new(reason).or("drop `--option COLUMN.zone`"));
            }
            let zone = logical.map(|logical| matches!(logical, LogicalType::Timestamp { .. }).then(|| zone.clone()));
            return Ok(Meeting {
                canonical: CanonicalType::Instant,
                sides: Sides::new(direct, direct),
                zone,
                strays: false,
            });
        }
        let canonical = pair_types(logical.source, logical.sink)?;
        let sides = logical.map(|logical| {
            let parses = *logical == LogicalType::Untyped && canonical != CanonicalType::Text;
            SideCast { conversion: if parses { Conversion::Parse } else { Conversion::Direct }, as_text: false }
        });
        let strays = Side::BOTH.iter().any(|side| matches!(logical.get(*side), LogicalType::Dynamic(_)));
        Ok(Meeting { canonical, sides, zone: Sides::default(), strays })
    }
}
