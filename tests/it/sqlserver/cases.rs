//! Cases of the field, by a server that answers T-SQL from tables in memory by rules of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    harness::{Desk, Postgres, two_tables},
    sqlserver::scripted::utf16,
};
use tieout_testkit::{
    tds::{FaultPlan, TdsOptions, TdsServer, backend::Cell},
    tsql::{Column, Flavour, Tsql},
};

/// A server of its own that plays SQL Server, or another one that speaks its language.
pub(crate) struct Played {
    tsql: Tsql,
    server: TdsServer,
}

impl Played {
    pub(crate) fn new() -> Self {
        Self::of(Flavour::SqlServer)
    }

    fn of(flavour: Flavour) -> Self {
        let tsql = Tsql::new(flavour);
        let server = tsql.serve(TdsOptions::default()).unwrap();
        Self { tsql, server }
    }

    #[track_caller]
    pub(crate) fn sql(&self, statements: &str) {
        self.tsql.execute(statements).unwrap();
    }

    /// A table whose rows are made as they are read, in ascending order of the first column.
    pub(crate) fn made(
        &self,
        table: &str,
        columns: &[(&str, &str)],
        rows: u64,
        make: impl Fn(u64) -> Vec<Cell> + Send + Sync + 'static,
    ) {
        let columns = columns.iter().map(|(name, kind)| Column::new(name, kind, None, false).unwrap()).collect();
        self.tsql.alter(|database| database.add_made(table, columns, 0, rows, make)).unwrap();
    }

    pub(crate) fn table(&self, table: &str) -> String {
        format!("mssql://u:p@127.0.0.1:{}/test?encrypt=no#dbo.{table}", self.server.port())
    }
}

/// Both sort GUIDs otherwise: one by groups from the end, one from the left.
const FLAVOURS: [Flavour; 2] = [Flavour::SqlServer, Flavour::PostgresBacked];

#[test]
fn o04_uuid_keys_on_servers_that_order_them_otherwise() {
    for flavour in FLAVOURS {
        let (desk, server, postgres) = (Desk::new(), Played::of(flavour), Postgres::new());
        let rows = "('01000000-0000-0000-0000-000000000000'), ('00000000-0000-0000-0000-000000000001'), \
                    ('00000000-0000-0000-0100-000000000000')";
        server.sql(&format!("CREATE TABLE t (id uniqueidentifier PRIMARY KEY); INSERT INTO t VALUES {rows}"));
        postgres.sql(&format!("CREATE TABLE k (id uuid PRIMARY KEY); INSERT INTO k VALUES {rows}"));
        for ranges in ["1", "3"] {
            desk.diff(&[&server.table("t"), &postgres.table("k"), "--ranges", ranges]).assert_counts(0, 0, 0);
        }
        postgres.sql("DELETE FROM k WHERE id = '00000000-0000-0000-0100-000000000000'");
        let outcome = desk.diff(&[&server.table("t"), &postgres.table("k")]);
        outcome.assert_counts(1, 0, 0);
        let missing = desk.differences(&outcome, "SELECT kind, key.id FROM d");
        assert_eq!(missing, "missing 00000000-0000-0000-0100-000000000000\n");
    }
}

#[test]
fn o22_negative_decimals_below_one_of_sql_server() {
    for flavour in FLAVOURS {
        let (desk, server, postgres) = (Desk::new(), Played::of(flavour), Postgres::new());
        let rows = "(1, -12.3), (2, -17.08), (3, -0.0123)";
        server.sql(&format!("CREATE TABLE t (id int PRIMARY KEY, n decimal(10,4)); INSERT INTO t VALUES {rows}"));
        two_tables(&postgres, "id int PRIMARY KEY, n decimal(10,4)", rows, "(1, -12.3), (2, -17.8), (3, -0.0123)");
        desk.diff(&[&server.table("t"), &postgres.table("s")]).assert_counts(0, 0, 0);
        let outcome = desk.diff(&[&server.table("t"), &postgres.table("k")]);
        outcome.assert_counts(0, 0, 1);
        assert_eq!(desk.differences(&outcome, "SELECT key.id FROM d"), "2\n");
    }
}

#[test]
fn o28_datetime_of_sql_server_by_its_own_conversions() {
    let (desk, server, postgres) = (Desk::new(), Played::new(), Postgres::new());
    server.sql(
        "CREATE TABLE t (id int PRIMARY KEY, d datetime); INSERT INTO t VALUES (1, '2021-11-09 13:52:29.187'); \
         CREATE TABLE u (id int PRIMARY KEY, d datetime2(7)); INSERT INTO u VALUES (1, '2021-11-09 13:52:29.1866667'); \
         CREATE TABLE w (id int PRIMARY KEY, d datetime2(7)); INSERT INTO w VALUES (1, '2021-11-09 13:52:29.1870000')",
    );
    two_tables(
        &postgres,
        "id int PRIMARY KEY, d timestamp",
        "(1, '2021-11-09 13:52:29.187')",
        "(1, '2021-11-09 13:52:29.186667')",
    );
    desk.diff(&[&server.table("t"), &postgres.table("s")]).assert_counts(0, 0, 0);
    desk.diff(&[&server.table("t"), &postgres.table("k")]).assert_counts(0, 0, 1);
    desk.diff(&[&server.table("t"), &server.table("u")]).assert_counts(0, 0, 1);
    desk.diff(&[&server.table("t"), &server.table("w")]).assert_counts(0, 0, 0);
}

#[test]
fn o43_empty_tables_of_sql_server() {
    let (desk, server, postgres) = (Desk::new(), Played::new(), Postgres::new());
    server.sql(
        "CREATE TABLE none (id int PRIMARY KEY, v nvarchar(9)); \
         CREATE TABLE three (id int PRIMARY KEY, v nvarchar(9)); INSERT INTO three VALUES (1, N'a'), (2, NULL), (3, N'')",
    );
    two_tables(&postgres, "id int PRIMARY KEY, v text", "", "(1, 'a'), (2, NULL), (3, '')");
    desk.diff(&[&server.table("none"), &postgres.table("s")]).assert_counts(0, 0, 0);
    let outcome = desk.diff(&[&server.table("none"), &postgres.table("k")]);
    outcome.assert_counts(0, 3, 0);
    let outcome = desk.diff(&[&server.table("three"), &postgres.table("s")]);
    outcome.assert_counts(3, 0, 0);
    assert_eq!(desk.differences(&outcome, "SELECT count(*), typeof(any_value(key.id)) FROM d"), "3 BIGINT\n");
    desk.diff(&[&server.table("three"), &postgres.table("k")]).assert_counts(0, 0, 0);
}

#[test]
fn o50g_null_keys_and_duplicates_of_sql_server() {
    let (desk, server, postgres) = (Desk::new(), Played::new(), Postgres::new());
    let rows = "(NULL, 1), (NULL, 1), (7, 2), (7, 2), (8, 3)";
    server.sql(&format!("CREATE TABLE t (id int, v int); INSERT INTO t VALUES {rows}"));
    postgres.sql(&format!("CREATE TABLE k (id int, v int); INSERT INTO k VALUES {rows}"));
    let outcome = desk.diff(&[&server.table("t"), &postgres.table("k"), "-k", "id"]);
    outcome.assert_counts(0, 0, 0);
    let counts = &outcome.document()["counts"];
    assert_eq!(counts["matched"], 5, "{counts:#}");
}

/// Blanks at the end, control characters and characters beyond U+FFFF: the server pads texts with blanks and compares
/// UTF-16, so that such keys are found out, never misread, and compared with `--sort local`.
#[test]
fn o10_keys_that_the_server_does_not_have_in_order() {
    let rows = [("a\u{9}", 1), ("a", 2), ("\u{1F600}", 3), ("\u{FF5E}", 4)];
    for flavour in FLAVOURS {
        let (desk, server, postgres) = (Desk::new(), Played::of(flavour), Postgres::new());
        server.sql("CREATE TABLE t (k nvarchar(9) COLLATE Latin1_General_BIN2 PRIMARY KEY, v int)");
        postgres.sql("CREATE TABLE k (k text PRIMARY KEY, v int)");
        let cells = rows.map(|(key, v)| vec![utf16(key), Cell::Int(v)]).to_vec();
        server.tsql.alter(|database| database.set_rows("t", cells)).unwrap();
        for (key, v) in rows {
            postgres.sql(&format!("INSERT INTO k VALUES ('{key}', {v})"));
        }
        desk.diff(&[&server.table("t"), &postgres.table("k")]).assert_refused(&["order", "--sort local"]);
        desk.diff(&[&server.table("t"), &postgres.table("k"), "--sort", "local"]).assert_counts(0, 0, 0);
        // `A ` and `A` are two keys to us, and no two could be in one table there.
        server.sql("CREATE TABLE p (k nvarchar(9) PRIMARY KEY); INSERT INTO p VALUES (N'A ')");
        postgres.sql("CREATE TABLE q (k text PRIMARY KEY); INSERT INTO q VALUES ('A')");
        desk.diff(&[&server.table("p"), &postgres.table("q")]).assert_counts(1, 1, 0);
    }
}

/// A run whose snapshots grow too old ends with what it covered: never equal, never with less than it found.
#[test]
fn snapshots_that_are_too_old_end_a_run_with_what_was_covered() {
    let (desk, server) = (Desk::new(), Played::new());
    for (table, odd) in [("t", 7), ("equal", 7), ("differs", 8)] {
        // Rows of several batches.
        let pad = || Cell::Utf16(vec![120; 4000]);
        let make = move |at: u64| vec![Cell::Int(at.cast_signed()), Cell::Int(if at == 5 { odd } else { 7 }), pad()];
        server.made(table, &[("id", "int"), ("v", "int"), ("pad", "nvarchar(4000)")], 1000, make);
    }
    // Only the last rows never arrive: in a range of their own, or in the one read of the table.
    for (tracked, stall) in [(true, 100), (false, 900)] {
        server
            .tsql
            .alter(|database| {
                database.tracks_changes = tracked;
                ["t", "equal", "differs"].iter().try_for_each(|table| {
                    database.table_mut(table)?.tracked_since = tracked.then_some(0);
                    Ok(())
                })
            })
            .unwrap();
        let text = if tracked { "[t] AS t WHERE t.[id] >= 750 ORDER" } else { "[t] AS t ORDER" };
        let faults = FaultPlan { only: Some(text.to_owned()), stall: Some(stall), ..FaultPlan::default() };
        server.server.set_faults(faults);
        for (sink, code, verdict) in [("equal", 3, "incomplete"), ("differs", 1, "different")] {
            let sides = [server.table("t"), server.table(sink)];
            let args = [sides[0].as_str(), &sides[1], "--ranges", "4", "-j", "2", "--max-snapshot-age", "2s"];
            let outcome = desk.diff(&args);
            assert_eq!(outcome.code, code, "{tracked}: {}", outcome.stderr);
            let document = outcome.document();
            assert_eq!((&document["verdict"], &document["coverage"]["complete"]), (&verdict.into(), &false.into()));
            let found = desk.differences(&outcome, "SELECT kind, key.id FROM d");
            assert_eq!(found, if code == 1 { "changed 5\n" } else { "" });
            let file = outcome.folder().join("ranges.parquet");
            let select = format!("SELECT count(*) FILTER (done), count(*) FROM '{}'", file.display());
            let ranges = desk.python(&format!("import duckdb; print(duckdb.sql(\"{select}\").fetchall())"));
            let expected = if tracked { ["(3, 4)", "(3, 4)"] } else { ["(2, 4)", "(3, 4)"] };
            assert!(expected.iter().any(|range| ranges.contains(range)), "{tracked}: {ranges}");
        }
    }
    server.server.set_faults(FaultPlan::default());
    desk.diff(&[&server.table("t"), &server.table("equal"), "--max-snapshot-age", "10m"]).assert_counts(0, 0, 0);
}

/// Text of a UTF-8 collation, which the driver takes for code page 1252: as values, as a key, and out of a query.
#[test]
fn text_of_utf8_collations_is_read_as_what_it_is() {
    let (desk, server, postgres) = (Desk::new(), Played::new(), Postgres::new());
    let rows = "(1, '\u{e9}\u{20ac}\u{1F600}'), (2, 'plain'), (3, NULL)";
    let national = rows.replace(", '", ", N'");
    server.sql(&format!(
        "CREATE TABLE t (id int PRIMARY KEY, v varchar(20) COLLATE Latin1_General_100_CI_AS_SC_UTF8); INSERT INTO t VALUES {national}; \
         CREATE TABLE c (id int PRIMARY KEY, v char(20) COLLATE Latin1_General_100_BIN2_UTF8); INSERT INTO c VALUES {national}; \
         CREATE TABLE k (v varchar(20) COLLATE Latin1_General_100_BIN2_UTF8 PRIMARY KEY); \
         INSERT INTO k VALUES (N'\u{e9}\u{20ac}\u{1F600}'), (N'plain'), (N'\u{FF5E}')"
    ));
    two_tables(&postgres, "id int PRIMARY KEY, v text", rows, &rows.replace('\u{e9}', "\u{c3}\u{a9}"));
    desk.diff(&[&server.table("t"), &postgres.table("s")]).assert_counts(0, 0, 0);
    desk.diff(&[&server.table("t"), &postgres.table("k")]).assert_counts(0, 0, 1);
    postgres.sql("CREATE TABLE p (id int PRIMARY KEY, v char(20)); INSERT INTO p SELECT * FROM s");
    desk.diff(&[&server.table("c"), &postgres.table("p")]).assert_counts(0, 0, 0);
    postgres.sql(
        "CREATE TABLE q (v text PRIMARY KEY); INSERT INTO q SELECT v FROM s WHERE v IS NOT NULL; \
         INSERT INTO q VALUES (U&'\\FF5E')",
    );
    desk.diff(&[&server.table("k"), &postgres.table("q"), "--ranges", "3"]).assert_counts(0, 0, 0);
    let query = "SELECT id, v FROM dbo.t";
    desk.diff(&[&server.table("t"), &postgres.table("s"), "-k", "id", "--source-query", query]).assert_counts(0, 0, 0);
}

/// Ranges come from the other side, whose keys cut between any of the server's.
#[test]
fn ranges_of_another_store_tile_a_table_of_sql_server() {
    let (desk, server, postgres) = (Desk::new(), Played::new(), Postgres::new());
    server.sql("CREATE TABLE t (k nvarchar(9) COLLATE Latin1_General_BIN2 PRIMARY KEY)");
    let keys: Vec<String> = (0..400).map(|at| format!("k{at:03}")).collect();
    let values = |prefix: &str| keys.iter().map(|key| format!("({prefix}'{key}')")).collect::<Vec<_>>().join(", ");
    server.sql(&format!("INSERT INTO t VALUES {}", values("N")));
    // Cuts such as `k042 ` and `k042` with a tab, which the server cannot hold apart from `k042` in order.
    postgres.sql(&format!(
        "CREATE TABLE k (k text PRIMARY KEY); INSERT INTO k VALUES {}; \
         INSERT INTO k SELECT k || E'\\t' FROM k; INSERT INTO k SELECT k || ' ' FROM k WHERE k NOT LIKE E'%\\t'",
        values("")
    ));
    server
        .tsql
        .alter(|database| {
            database.tracks_changes = true;
            database.table_mut("t")?.tracked_since = Some(0);
            Ok(())
        })
        .unwrap();
    let first = desk.diff(&[&postgres.table("k"), &postgres.table("k"), "--ranges", "64"]);
    first.assert_counts(0, 0, 0);
    let folder = first.folder();
    let run = folder.to_str().unwrap();
    for workers in ["1", "4"] {
        let sides = [server.table("t"), postgres.table("k")];
        desk.diff(&[&sides[0], &sides[1], "--ranges-from", run, "-j", workers]).assert_counts(0, 800, 0);
        desk.diff(&[&sides[1], &sides[0], "--ranges-from", run, "-j", workers]).assert_counts(800, 0, 0);
    }
}
