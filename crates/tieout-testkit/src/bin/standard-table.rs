//! Makes the standard table in a store, or prints the differences that a comparison of the two must find.

use std::path::PathBuf;

use tieout_testkit::table::{STANDARD_SEED, Side, expected};
use tieout_testkit::tds::TdsOptions;
use tieout_testkit::tsql::{Flavour, Tsql};
use tieout_testkit::{Result, mysql, postgres, sqlite, write};

const USAGE: &str = "usage: standard-table --rows N [--seed N] --side source|sink \
    (--postgres URL --table NAME | --mysql URL --table NAME | --sqlite PATH --table NAME | --tds NAME | --parquet PATH | --csv PATH \
    [--booleans FALSE,TRUE])\n       --tds serves the table by the test TDS server, prints its URL, and ends when its input does\n       standard-table --rows N --counts";

#[derive(Default)]
struct Arguments {
    rows: u64,
    seed: Option<u64>,
    side: Option<Side>,
    postgres: Option<String>,
    mysql: Option<String>,
    sqlite: Option<PathBuf>,
    table: Option<String>,
    tds: Option<String>,
    parquet: Option<PathBuf>,
    csv: Option<PathBuf>,
    booleans: Option<String>,
    counts: bool,
}

fn parse() -> Result<Arguments> {
    let mut arguments = Arguments::default();
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        if name == "--counts" {
            arguments.counts = true;
            continue;
        }
        let value = given.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"))?;
        match name.as_str() {
            "--rows" => arguments.rows = value.parse()?,
            "--seed" => arguments.seed = Some(value.parse()?),
            "--side" if value == "source" => arguments.side = Some(Side::Source),
            "--side" if value == "sink" => arguments.side = Some(Side::Sink),
            "--postgres" => arguments.postgres = Some(value),
            "--mysql" => arguments.mysql = Some(value),
            "--sqlite" => arguments.sqlite = Some(value.into()),
            "--booleans" => arguments.booleans = Some(value),
            "--table" => arguments.table = Some(value),
            "--tds" => arguments.tds = Some(value),
            "--parquet" => arguments.parquet = Some(value.into()),
            "--csv" => arguments.csv = Some(value.into()),
            _ => return Err(format!("unexpected {name} {value}\n{USAGE}").into()),
        }
    }
    Ok(arguments)
}

#[expect(clippy::print_stdout, reason = "the counts are this program's result")]
fn print_counts(rows: u64) {
    let counts = expected(rows);
    println!(
        "{{\"missing\": {}, \"extra\": {}, \"changed\": {}, \"matched\": {}}}",
        counts.missing, counts.extra, counts.changed, counts.matched
    );
}

#[expect(clippy::print_stdout, reason = "the URL is this program's result")]
fn serve(table: &str, seed: u64, rows: u64, side: Side) -> Result<()> {
    let tsql = Tsql::new(Flavour::SqlServer);
    tsql.add_standard(table, seed, rows, side)?;
    let server = tsql.serve(TdsOptions::default())?;
    println!("mssql://u:p@127.0.0.1:{}/test?encrypt=no#dbo.{table}", server.port());
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = parse()?;
    let rows = arguments.rows;
    if arguments.counts {
        print_counts(rows);
        return Ok(());
    }
    let seed = arguments.seed.unwrap_or(STANDARD_SEED);
    let side = arguments.side.ok_or(USAGE)?;
    if let (Some(url), Some(table)) = (&arguments.postgres, &arguments.table) {
        let client = postgres::connect(url).await?;
        return write::load_postgres(&client, table, seed, rows, side).await;
    }
    if let (Some(url), Some(table)) = (&arguments.mysql, &arguments.table) {
        return mysql::load_mysql(url, table, seed, rows, side).await;
    }
    if let (Some(path), Some(table)) = (&arguments.sqlite, &arguments.table) {
        return sqlite::load_sqlite(path, table, seed, rows, side);
    }
    if let Some(table) = &arguments.tds {
        return serve(table, seed, rows, side);
    }
    if let Some(path) = &arguments.parquet {
        return write::write_parquet(path, seed, rows, side);
    }
    let path = arguments.csv.as_ref().ok_or(USAGE)?;
    let booleans = arguments.booleans.as_deref().unwrap_or("false,true");
    let booleans = booleans.split_once(',').ok_or(USAGE)?;
    write::write_csv_with(path, seed, rows, side, booleans.into())
}
