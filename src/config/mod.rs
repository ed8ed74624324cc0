//! From what was written (a file, a command line) to a [`ComparisonRequest`]: pure, no I/O.

mod duration;
mod file;
mod options;
mod size;

pub use duration::parse_duration;
pub use file::parse;
pub use options::{OPTION_NAMES, OptionSetting};
pub use size::parse_bytes;

use crate::model::{
    ColumnOptions, ComparisonRequest, Error, ErrorKind, FileOptions, Result, Side, SideRequest, Sides, SortChoice,
};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// Memory of a run where nothing else is said.
pub const MEMORY_BYTES_DEFAULT: u64 = 256 << 20;
/// Least memory of a run: below it not even one batch of each side and the sort's buffers fit.
pub const MEMORY_BYTES_MIN: u64 = 64 << 20;
/// Most ranges compared at once: each holds a connection a side, and servers seldom allow more.
pub const WORKERS_MAX: usize = 256;
/// Most ranges of a run: each is a record in memory and in the run's folder.
pub const RANGES_MAX: usize = 1_000_000;
/// Folder of runs where nothing else is said.
pub const OUTPUT_DEFAULT: &str = "./tieout-runs";

/// What was said of one side; `None` where nothing was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartialSide {
    /// Where the table is. May hold a secret.
    pub locator: Option<String>,
    /// Predicate.
    pub filter: Option<String>,
    /// Query that stands for the table.
    pub query: Option<String>,
    /// Whether the first CSV record names the columns.
    pub header: Option<bool>,
    /// Field delimiter of CSV.
    pub delimiter: Option<u8>,
    /// CSV field that is NULL.
    pub null: Option<String>,
}

/// What was said of a comparison by one place; `None` or empty where nothing was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartialRequest {
    /// The two tables.
    pub sides: Sides<PartialSide>,
    /// Key columns.
    pub key: Vec<String>,
    /// Compared columns.
    pub columns: Vec<String>,
    /// Columns left out.
    pub exclude: Vec<String>,
    /// (source column, sink column) pairs.
    pub map: Vec<(String, String)>,
    /// (column, type) casts.
    pub casts: Vec<(String, String)>,
    /// Options per column, in the order in which they were said; the last of a name counts.
    pub options: Vec<OptionSetting>,
    /// Where rows are brought in order.
    pub sort: Option<SortChoice>,
    /// Earlier run whose ranges are taken.
    pub ranges_from: Option<PathBuf>,
    /// Folder of runs.
    pub output: Option<PathBuf>,
    /// Ranges compared at once.
    pub workers: Option<usize>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Target number of ranges.
    pub ranges: Option<usize>,
    /// How old the snapshots may become.
    pub snapshot_age_max: Option<Duration>,
}

impl PartialSide {
    fn over(self, below: Self) -> Self {
        // A source named anew does not take the query of the old one: it would silently replace the named table.
        let query = if self.locator.is_some() { self.query } else { self.query.or(below.query) };
        Self {
            locator: self.locator.or(below.locator),
            filter: self.filter.or(below.filter),
            query,
            header: self.header.or(below.header),
            delimiter: self.delimiter.or(below.delimiter),
            null: self.null.or(below.null),
        }
    }

    fn finish(self, side: Side) -> Result<SideRequest> {
        let Some(locator) = self.locator.filter(|text| !text.trim().is_empty()) else {
            return Err(Error::new(ErrorKind::Config, format!("no {side} was given"))
                .hint(format!("name it on the command line or as `locator` under [{side}] of the config file")));
        };
        let defaults = FileOptions::default();
        Ok(SideRequest {
            locator,
            filter: self.filter,
            query: self.query,
            file: FileOptions {
                header: self.header.unwrap_or(defaults.header),
                delimiter: self.delimiter.unwrap_or(defaults.delimiter),
                null: self.null.unwrap_or(defaults.null),
            },
        })
    }
}

fn list_over<T>(above: Vec<T>, below: Vec<T>) -> Vec<T> {
    if above.is_empty() { below } else { above }
}

/// Pairs are overridden one by one, by their first member.
fn pairs_over(above: Vec<(String, String)>, below: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut all: Vec<_> = below.into_iter().filter(|(name, _)| !above.iter().any(|(other, _)| other == name)).collect();
    all.extend(above);
    all
}

impl PartialRequest {
    /// Lays `self` over `below`: what `self` says wins. Lists replace lists; maps, casts and options are overridden
    /// entry by entry.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let mut options = below.options;
        options.extend(self.options);
        // They exclude each other: what is said above of the one silences the other below.
        let ranges_said = self.ranges.is_some() || self.ranges_from.is_some();
        let (ranges, ranges_from) =
            if ranges_said { (self.ranges, self.ranges_from) } else { (below.ranges, below.ranges_from) };
        Self {
            sides: Sides::new(self.sides.source.over(below.sides.source), self.sides.sink.over(below.sides.sink)),
            key: list_over(self.key, below.key),
            columns: list_over(self.columns, below.columns),
            exclude: list_over(self.exclude, below.exclude),
            map: pairs_over(self.map, below.map),
            casts: pairs_over(self.casts, below.casts),
            options,
            sort: self.sort.or(below.sort),
            ranges_from,
            output: self.output.or(below.output),
            workers: self.workers.or(below.workers),
            memory_bytes: self.memory_bytes.or(below.memory_bytes),
            ranges,
            snapshot_age_max: self.snapshot_age_max.or(below.snapshot_age_max),
        }
    }

    /// Fills in the defaults and checks what can be checked without the stores.
    ///
    /// # Errors
    /// `Config` for a side without a locator, a limit that is out of bounds, a name that is given twice, or an option
    /// that needs another one.
    pub fn finish(self) -> Result<ComparisonRequest> {
        let memory_bytes = self.memory_bytes.unwrap_or(MEMORY_BYTES_DEFAULT);
        if memory_bytes < MEMORY_BYTES_MIN {
            return Err(Error::new(
                ErrorKind::Config,
                format!("memory must be at least {MEMORY_BYTES_MIN} bytes (64MiB), found {memory_bytes}"),
            ));
        }
        check_bound("workers", self.workers, WORKERS_MAX)?;
        check_bound("ranges", self.ranges, RANGES_MAX)?;
        if self.ranges.is_some() && self.ranges_from.is_some() {
            return Err(Error::new(ErrorKind::Config, "ranges and ranges_from exclude each other, found both"));
        }
        if self.snapshot_age_max.is_some_and(|age| age.is_zero()) {
            return Err(Error::new(ErrorKind::Config, "max_snapshot_age must be longer than nothing, found 0"));
        }
        check_unique("key", self.key.iter())?;
        check_unique("column", self.columns.iter())?;
        check_unique("map (source column)", self.map.iter().map(|(source, _)| source))?;
        check_unique("map (sink column)", self.map.iter().map(|(_, sink)| sink))?;
        check_unique("cast", self.casts.iter().map(|(column, _)| column))?;
        Ok(ComparisonRequest {
            sides: Sides::new(self.sides.source.finish(Side::Source)?, self.sides.sink.finish(Side::Sink)?),
            options: build_options(&self.options)?,
            key: self.key,
            columns: self.columns,
            exclude: self.exclude,
            map: self.map,
            casts: self.casts,
            sort: self.sort.unwrap_or_default(),
            ranges_from: self.ranges_from,
            output: self.output.unwrap_or_else(|| PathBuf::from(OUTPUT_DEFAULT)),
            workers: self.workers.unwrap_or(0),
            memory_bytes,
            ranges: self.ranges.unwrap_or(0),
            snapshot_age_max: self.snapshot_age_max,
        })
    }
}

fn build_options(settings: &[OptionSetting]) -> Result<BTreeMap<String, ColumnOptions>> {
    let mut options = BTreeMap::<String, ColumnOptions>::new();
    for setting in settings {
        setting.apply(options.entry(setting.column.clone()).or_default())?;
    }
    for setting in settings.iter().filter(|setting| setting.name == "rounding") {
        if options.get(&setting.column).is_some_and(|column| column.precision.is_none()) {
            return Err(Error::new(ErrorKind::Config, "option rounding needs option precision, which is not set")
                .in_column(setting.column.clone()));
        }
    }
    Ok(options)
}

fn check_bound(name: &str, value: Option<usize>, max: usize) -> Result<()> {
    match value {
        Some(0) => Err(Error::new(ErrorKind::Config, format!("{name} must be from 1 to {max}, found 0"))
            .hint(format!("leave {name} out to let tieout choose"))),
        Some(value) if value > max => {
            Err(Error::new(ErrorKind::Config, format!("{name} must be from 1 to {max}, found {value}")))
        }
        _ => Ok(()),
    }
}

fn check_unique<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if name.is_empty() {
            return Err(Error::new(ErrorKind::Config, format!("{what}: a column name is empty")));
        }
        if !seen.insert(name) {
            return Err(Error::new(ErrorKind::Config, format!("{what}: column {name} is given twice")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
