//! Which column of the source meets which column of the sink: by name, never by position.

use super::{
    names::{Found, NameMatch, find, folds_to, suggest},
    problems::Problems,
};
use crate::model::{ComparisonRequest, Side, Sides, TableSchema};

/// Columns that belong together, by their indices in the schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paired {
    /// Index in each schema.
    pub index: Sides<usize>,
    /// Whether it takes part in the row (`-c`).
    pub selected: bool,
}

/// What became of the columns of both sides.
#[derive(Clone, Debug, Default)]
pub(super) struct PairedColumns {
    /// Pairs in the order of the source.
    pub pairs: Vec<Paired>,
    /// Columns of each side that `--exclude` took out, in the order of the store.
    pub excluded: Sides<Vec<usize>>,
}

impl PairedColumns {
    /// The pair that `name` means: a name of the source, else of the sink; exact, else differing in case alone.
    pub fn by_name(&self, schemas: &Sides<TableSchema>, names: NameMatch, name: &str) -> Option<usize> {
        let of = |pair: &Paired, side: Side| schemas.get(side).columns[*pair.index.get(side)].name.clone();
        let place = |test: &dyn Fn(&str) -> bool| {
            Side::BOTH.into_iter().find_map(|side| {
                let mut hits = (0..self.pairs.len()).filter(|&at| test(&of(&self.pairs[at], side)));
                match (hits.next(), hits.next()) {
                    (Some(at), None) => Some(at),
                    _ => None,
                }
            })
        };
        let exact = place(&|other| other == name);
        if exact.is_some() || names == NameMatch::Exact { exact } else { place(&|other| folds_to(other, name)) }
    }
}

/// All column names of both sides, for suggestions.
pub(super) fn known(schemas: &Sides<TableSchema>) -> impl Iterator<Item = &str> {
    schemas.source.columns.iter().chain(&schemas.sink.columns).map(|column| column.name.as_str())
}

/// Pairs the columns of both sides as the request says; what cannot be paired is noted in `problems`.
pub(super) fn pair_columns(
    request: &ComparisonRequest,
    schemas: &Sides<TableSchema>,
    problems: &mut Problems,
) -> PairedColumns {
    let mut pairing = Pairing::new(request, schemas);
    pairing.refuse_repeated_names(problems);
    pairing.exclude(problems);
    pairing.name(problems);
    pairing.map(problems);
    pairing.match_exact();
    if pairing.names == NameMatch::Folded {
        pairing.match_folded(problems);
    }
    pairing.refuse_single(problems);
    pairing.finish()
}

/// What is known of one column while columns are being paired.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other, not states")]
struct State {
    excluded: bool,
    /// Named by `-c` or `-k`, so that it must take part even if it is hidden.
    named: bool,
    /// Named by `-c`.
    selected: bool,
    /// Hidden from the plan because it is hidden in the store.
    hidden: bool,
    partner: Option<usize>,
    /// A problem of this column has been noted.
    refused: bool,
}

impl State {
    /// Whether the column still looks for a partner.
    fn is_free(&self) -> bool {
        !self.excluded && self.partner.is_none() && !self.refused && (!self.hidden || self.named)
    }
}

struct Pairing<'a> {
    request: &'a ComparisonRequest,
    schemas: &'a Sides<TableSchema>,
    names: NameMatch,
    states: Sides<Vec<State>>,
}

impl<'a> Pairing<'a> {
    fn new(request: &'a ComparisonRequest, schemas: &'a Sides<TableSchema>) -> Self {
        let states = schemas.as_ref().map(|schema| {
            schema.columns.iter().map(|column| State { hidden: column.hidden, ..State::default() }).collect()
        });
        Self { request, schemas, names: NameMatch::of(schemas), states }
    }

    fn column(&self, side: Side, index: usize) -> &'a str {
        &self.schemas.get(side).columns[index].name
    }

    fn refuse_repeated_names(&mut self, problems: &mut Problems) {
        for side in Side::BOTH {
            let columns = &self.schemas.get(side).columns;
            let mut refused = Vec::new();
            for (index, column) in columns.iter().enumerate() {
                let first = columns.iter().position(|other| other.name == column.name);
                if first != Some(index) {
                    self.states.get_mut(side)[index].refused = true;
                    if !refused.contains(&column.name.as_str()) {
                        refused.push(column.name.as_str());
                        let message = format!("column {} occurs more than once in the {side}", column.name);
                        problems.schema(message, Some("give its columns distinct names".to_owned()));
                    }
                }
            }
        }
    }

    /// Finds `name` on both sides; notes a problem if it is ambiguous or on neither.
    fn find_both(&self, name: &str, flag: &str, problems: &mut Problems) -> Sides<Option<usize>> {
        let found = self.schemas.as_ref().map(|schema| find(schema, name, self.names));
        // A column of exactly this name settles what is meant; one that folds is then its partner, if it is unique.
        if found.source.index().is_none() && found.sink.index().is_none() {
            let mut candidates = Vec::new();
            for side in Side::BOTH {
                if let Found::Ambiguous(names) = found.get(side) {
                    candidates.push(format!("{} in the {side}", names.join(", ")));
                }
            }
            if candidates.is_empty() {
                problems.config(
                    format!("{flag} {name}: there is no such column on either side"),
                    suggest(name, known(self.schemas)),
                );
            } else {
                problems.config(
                    format!("{flag} {name}: it could be {}", candidates.join(" or ")),
                    Some("write the name exactly".to_owned()),
                );
            }
        }
        let mut index = found.as_ref().map(Found::index);
        for side in Side::BOTH {
            // A folded name whose exact twin stands on the other side is that twin's partner, not what was meant.
            if let (Found::Folded(folded), Found::Exact(_)) = (found.get(side), found.get(side.other())) {
                // So does a name that several columns of the other side fold to: which of them it belongs to is open.
                let twin = self.column(side, *folded);
                let others = &self.schemas.get(side.other()).columns;
                let is_shared = others.iter().filter(|column| folds_to(&column.name, twin)).count() > 1;
                if is_shared || others.iter().any(|column| column.name == twin) {
                    *index.get_mut(side) = None;
                }
            }
        }
        index
    }

    fn exclude(&mut self, problems: &mut Problems) {
        for name in &self.request.exclude {
            let found = self.find_both(name, "--exclude", problems);
            for side in Side::BOTH {
                if let Some(index) = *found.get(side) {
                    self.states.get_mut(side)[index].excluded = true;
                }
            }
        }
    }

    /// Marks the columns that `-c` and `-k` name.
    fn name(&mut self, problems: &mut Problems) {
        for name in &self.request.columns {
            let found = self.find_both(name, "-c", problems);
            let mut excluded = false;
            for side in Side::BOTH {
                if let Some(index) = *found.get(side) {
                    let state = &mut self.states.get_mut(side)[index];
                    state.named = true;
                    // A name of the source means that column; the sink's names count for mapped columns.
                    state.selected = side == Side::Source || found.source.is_none();
                    excluded |= state.excluded;
                }
            }
            if excluded {
                problems.config(format!("column {name} is named by -c and by --exclude"), Some("drop one".to_owned()));
            }
        }
        for name in &self.request.key {
            for side in Side::BOTH {
                if let Some(index) = find(self.schemas.get(side), name, self.names).index() {
                    self.states.get_mut(side)[index].named = true;
                }
            }
        }
    }

    fn map(&mut self, problems: &mut Problems) {
        for (source, sink) in &self.request.map {
            let flag = format!("--map {source}={sink}");
            let place = |side: Side, name: &str, problems: &mut Problems| {
                let schema = self.schemas.get(side);
                match find(schema, name, self.names) {
                    Found::Exact(index) | Found::Folded(index) => {
                        let state = &self.states.get(side)[index];
                        if state.excluded {
                            problems.config(format!("{flag}: column {name} of the {side} is excluded"), None);
                        }
                        if state.partner.is_some() {
                            problems.config(format!("{flag}: column {name} of the {side} is mapped twice"), None);
                            return None;
                        }
                        Some(index)
                    }
                    Found::Ambiguous(names) => {
                        problems.config(
                            format!("{flag}: {name} could be {} in the {side}", names.join(", ")),
                            Some("write the name exactly".to_owned()),
                        );
                        None
                    }
                    Found::Unknown => {
                        problems.config(
                            format!("{flag}: the {side} has no column {name}"),
                            suggest(name, schema.columns.iter().map(|column| column.name.as_str())),
                        );
                        None
                    }
                }
            };
            let found = Sides::new(place(Side::Source, source, problems), place(Side::Sink, sink, problems));
            match found {
                Sides { source: Some(source), sink: Some(sink) } => self.join(source, sink),
                found => {
                    // The half that was found is settled by the problem that has just been noted.
                    for side in Side::BOTH {
                        if let Some(index) = *found.get(side) {
                            self.states.get_mut(side)[index].refused = true;
                        }
                    }
                }
            }
        }
    }

    fn join(&mut self, source: usize, sink: usize) {
        self.states.source[source].partner = Some(sink);
        self.states.sink[sink].partner = Some(source);
    }

    fn free(&self, side: Side) -> Vec<usize> {
        let states = self.states.get(side);
        (0..states.len()).filter(|&index| states[index].is_free()).collect()
    }

    fn match_exact(&mut self) {
        let sinks = self.free(Side::Sink);
        for source in self.free(Side::Source) {
            let name = self.column(Side::Source, source);
            if let Some(&sink) = sinks.iter().find(|&&sink| self.column(Side::Sink, sink) == name) {
                self.join(source, sink);
            }
        }
    }

    fn match_folded(&mut self, problems: &mut Problems) {
        for source in self.free(Side::Source) {
            if !self.states.source[source].is_free() {
                continue;
            }
            let name = self.column(Side::Source, source);
            let same = |side: Side| -> Vec<usize> {
                self.free(side).into_iter().filter(|&index| folds_to(self.column(side, index), name)).collect()
            };
            let (sources, sinks) = (same(Side::Source), same(Side::Sink));
            match (sources.as_slice(), sinks.as_slice()) {
                (_, []) => {}
                ([source], [sink]) => self.join(*source, *sink),
                _ => {
                    let list = |side: Side, all: &[usize]| -> String {
                        all.iter().map(|&index| self.column(side, index)).collect::<Vec<_>>().join(", ")
                    };
                    problems.schema(
                        format!(
                            "columns that differ in case alone cannot be paired: {} in the source, {} in the sink",
                            list(Side::Source, &sources),
                            list(Side::Sink, &sinks)
                        ),
                        Some("pair each by `--map SOURCE=SINK`".to_owned()),
                    );
                    for index in sources {
                        self.states.source[index].refused = true;
                    }
                    for index in sinks {
                        self.states.sink[index].refused = true;
                    }
                }
            }
        }
    }

    /// Refuses what has no partner; with `-c`, only what it names.
    fn refuse_single(&self, problems: &mut Problems) {
        for side in Side::BOTH {
            let single: Vec<&str> = self
                .free(side)
                .into_iter()
                .filter(|&index| self.request.columns.is_empty() || self.states.get(side)[index].selected)
                .map(|index| self.column(side, index))
                .collect();
            if single.is_empty() {
                continue;
            }
            let other = side.other();
            let hidden: Vec<&str> = single
                .iter()
                .copied()
                .filter(|name| {
                    find(self.schemas.get(other), name, self.names)
                        .index()
                        .is_some_and(|index| self.states.get(other)[index].hidden)
                })
                .collect();
            let excludes: Vec<String> = single.iter().map(|name| format!("--exclude {name}")).collect();
            let mut hint = format!("leave out by `{}`, or pair by `--map SOURCE=SINK`", excludes.join(" "));
            if !hidden.is_empty() {
                hint = format!("{hint}; hidden in the {other}, to be named by `--map`: {}", hidden.join(", "));
            }
            problems.schema(format!("only in the {side}: {}", single.join(", ")), Some(hint));
        }
    }

    fn finish(self) -> PairedColumns {
        let excluded = self
            .states
            .as_ref()
            .map(|states| -> Vec<usize> { (0..states.len()).filter(|&index| states[index].excluded).collect() });
        let mut pairs = Vec::new();
        for (source, state) in self.states.source.iter().enumerate() {
            if let Some(sink) = state.partner {
                let selected = self.request.columns.is_empty() || state.selected || self.states.sink[sink].selected;
                pairs.push(Paired { index: Sides::new(source, sink), selected });
            }
        }
        PairedColumns { pairs, excluded }
    }
}
