//! The arguments, and what they say of a comparison.

use crate::{
    config::{OptionSetting, PartialRequest, PartialSide, parse_bytes, parse_duration},
    model::{Error, Sides, SortChoice},
};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use std::{
    env,
    io::{IsTerminal, stdout},
    path::PathBuf,
    time::Duration,
};

const EXIT_CODES: &str = "Exit codes:
  0    equal: everything was compared
  1    different
  2    error, or wrong usage
  3    incomplete: no difference was found, but not everything was compared
  130  interrupted";

const DIFF_EXAMPLES: &str = "Examples:
  tieout diff 'postgres://ann@db1/shop#public.orders' 'postgres://ann@db2/shop#public.orders'
  tieout diff 'postgres://ann@db1/shop#orders' 'postgres://ann@db2/shop#orders' -w 'year = 2026'
  tieout diff 'mysql://ann@db3/shop#orders' 'postgres://ann@db1/shop#orders'
  tieout diff 'postgres:///shop#orders' 'export/orders-*.parquet' -k order_id
  tieout diff 'postgres:///shop#orders' orders.csv -k order_id --null NULL --delimiter ';'
  tieout diff 'postgres:///shop#orders' 'sqlite:shop.db#orders' --cast day=date
  tieout diff a.parquet b.parquet -k id --option amount.abs_tol=0.01 --exclude loaded_at
  tieout diff --config orders.toml --format json | jq .verdict

Passwords come from PGPASSWORD or a .pgpass file, MYSQL_PWD or .my.cnf, rather than from the command line.

Exit codes: 0 equal, 1 different, 2 error or wrong usage, 3 incomplete, 130 interrupted.";

const PLAN_EXAMPLES: &str = "Examples:
  tieout plan 'postgres:///shop#orders' orders.parquet -k order_id
  tieout plan --config orders.toml --format json

Takes the arguments of `tieout diff`. Exit codes: 0 planned, 2 error or wrong usage, 130 interrupted.";

const DEMO_EXAMPLES: &str = "Examples:
  tieout demo
  tieout demo --dir /tmp/try-tieout

Exit codes: 0 if exactly the known differences were found, 2 otherwise.";

const COMPLETIONS_EXAMPLES: &str = "Examples:
  tieout completions bash > ~/.local/share/bash-completion/completions/tieout
  tieout completions fish > ~/.config/fish/completions/tieout.fish";

const MAN_EXAMPLES: &str = "Examples:
  tieout man | man -l -
  tieout man --dir ~/.local/share/man/man1";

/// Does the sink hold exactly what the source holds?
///
/// Compares two tables row by row and value by value, whatever stores they are in, and writes every difference to a
/// Parquet file.
#[derive(Debug, Parser)]
#[command(name = "tieout", version, propagate_version = true, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Arguments of every command.
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// Arguments of every command.
#[derive(Clone, Copy, Debug, Args)]
pub struct GlobalArgs {
    /// Colour of texts; `auto` heeds `NO_COLOR`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Say more on stderr (-vv, -vvv: still more)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare two tables
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Box<CompareArgs>),
    /// Say how two tables would be compared; reads no rows
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(Box<CompareArgs>),
    /// Make two small tables with known differences and compare them
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Write a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual page
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

/// Arguments of `demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Folder that receives the tables and the run
    #[arg(long, default_value = "./tieout-demo", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Show no progress (also `TIEOUT_NO_PROGRESS=1`)
    #[arg(long)]
    pub no_progress: bool,
}

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Folder that receives a page for every command, instead of the main page on stdout
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// When texts are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Form of the result on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Text,
    /// One JSON document
    Json,
}

/// Where rows are brought in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SortName {
    /// In the store where an index serves the order or the file is in order, else here
    Auto,
    /// In the store
    Server,
    /// Here, within the memory of the run
    Local,
}

/// Arguments of `diff` and `plan`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub struct CompareArgs {
    /// The table that is the truth: `postgres://user@host/db#schema.table`, `mysql://user@host/db#table`, `mssql://user@host/db#schema.table`, `sqlite:path#table`, a file, a glob or an object-store URL
    #[arg(help_heading = "Tables", display_order = 0)]
    pub source: Option<String>,
    /// The table that should hold what the source holds
    #[arg(help_heading = "Tables", display_order = 1)]
    pub sink: Option<String>,
    /// Key column, by its name in the source; repeat for a composite key [default: the key of the store]
    #[arg(short, long, value_name = "COLUMN")]
    pub key: Vec<String>,
    /// Compare only this column; repeat for more [default: all]
    #[arg(short, long = "column", value_name = "COLUMN")]
    pub columns: Vec<String>,
    /// Leave a column out; repeat for more
    #[arg(long, value_name = "COLUMN")]
    pub exclude: Vec<String>,
    /// Compare only rows for which this SQL predicate is true, on both sides
    #[arg(short = 'w', long = "where", value_name = "PREDICATE", conflicts_with_all = ["source_where", "sink_where"])]
    pub filter: Option<String>,
    /// The same, for the source alone
    #[arg(long, value_name = "PREDICATE")]
    pub source_where: Option<String>,
    /// The same, for the sink alone
    #[arg(long, value_name = "PREDICATE")]
    pub sink_where: Option<String>,
    /// Query that stands for the source's table
    #[arg(long, value_name = "SQL")]
    pub source_query: Option<String>,
    /// Query that stands for the sink's table
    #[arg(long, value_name = "SQL")]
    pub sink_query: Option<String>,
    /// Pair columns of different names; repeat for more
    #[arg(long, value_name = "SOURCE=SINK", value_parser = pair)]
    pub map: Vec<(String, String)>,
    /// Compare a column as another type; repeat for more
    #[arg(long = "cast", value_name = "COLUMN=TYPE", value_parser = pair)]
    pub casts: Vec<(String, String)>,
    /// Loosen the comparison of a column: `abs_tol`, `rel_tol`, `ulps`, trim=end, unicode=nfc, case=fold,
    /// precision=s|ms|us, rounding=truncate|`half_up`, zone=ZONE, null=TEXT; repeat for more
    #[arg(long = "option", value_name = "COLUMN.NAME=VALUE", value_parser = option)]
    pub options: Vec<OptionSetting>,
    /// Config file; what the command line says wins
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// What is said of CSV.
    #[command(flatten)]
    pub csv: CsvArgs,
    /// What is said of the run.
    #[command(flatten)]
    pub run: RunArgs,
}

/// How CSV files of both sides are read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "CSV (both sides; per side in the config file)")]
pub struct CsvArgs {
    /// Field delimiter, one ASCII character [default: ,]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Unquoted field that is NULL [default: the empty field]
    #[arg(long, value_name = "TEXT")]
    pub null: Option<String>,
    /// The first record is a row, not the names of the columns
    #[arg(long)]
    pub no_header: bool,
}

/// How the run goes about it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Where rows are brought in order [default: auto]
    #[arg(long, value_name = "WHERE")]
    pub sort: Option<SortName>,
    /// Take the ranges of an earlier run, so that digests can be compared
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, conflicts_with = "ranges")]
    pub ranges_from: Option<PathBuf>,
    /// Number of ranges to aim at [default: from the size of the source]
    #[arg(long, value_name = "NUMBER")]
    pub ranges: Option<usize>,
    /// Folder that receives the run's folder [default: ./tieout-runs]
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    /// Ranges compared at once, 1 to 256 [default: the number of cores]
    #[arg(short = 'j', long, value_name = "NUMBER")]
    pub workers: Option<usize>,
    /// Memory that the run may use, at least 64MiB [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// Age of the snapshots at which the run ends with what it covered, such as 30m or 2h [default: none]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_snapshot_age: Option<Duration>,
    /// Form of the result on stdout
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Show no progress (also `TIEOUT_NO_PROGRESS=1`)
    #[arg(long)]
    pub no_progress: bool,
}

impl CompareArgs {
    /// What the arguments say of the comparison.
    #[must_use]
    pub fn request(&self) -> PartialRequest {
        let side = |locator: &Option<String>, filter: &Option<String>, query: &Option<String>| PartialSide {
            locator: locator.clone(),
            filter: filter.clone().or_else(|| self.filter.clone()),
            query: query.clone(),
            header: self.csv.no_header.then_some(false),
            delimiter: self.csv.delimiter,
            null: self.csv.null.clone(),
        };
        PartialRequest {
            sides: Sides::new(
                side(&self.source, &self.source_where, &self.source_query),
                side(&self.sink, &self.sink_where, &self.sink_query),
            ),
            key: self.key.clone(),
            columns: self.columns.clone(),
            exclude: self.exclude.clone(),
            map: self.map.clone(),
            casts: self.casts.clone(),
            options: self.options.clone(),
            sort: self.run.sort.map(|sort| match sort {
                SortName::Auto => SortChoice::Auto,
                SortName::Server => SortChoice::Server,
                SortName::Local => SortChoice::Local,
            }),
            ranges_from: self.run.ranges_from.clone(),
            output: self.run.output.clone(),
            workers: self.run.workers,
            memory_bytes: self.run.memory,
            ranges: self.run.ranges,
            snapshot_age_max: self.run.max_snapshot_age,
        }
    }
}

/// Whether texts on stdout may be coloured.
pub(super) fn colour(choice: ColorChoice) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((first, second)) if !first.is_empty() && !second.is_empty() => Ok((first.to_owned(), second.to_owned())),
        _ => Err("expected two names with an equals sign between them".to_owned()),
    }
}

fn option(text: &str) -> Result<OptionSetting, String> {
    OptionSetting::parse(text).map_err(|error| with_hint(&error))
}

fn size(text: &str) -> Result<u64, String> {
    parse_bytes(text).map_err(|error| with_hint(&error))
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| with_hint(&error))
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character, or \\t".to_owned()),
    }
}

fn with_hint(error: &Error) -> String {
    match error.hint_text() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
