//! SQL Server, by the test TDS server behind a script of its catalogue.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

pub(crate) mod cases;
mod scripted;

use crate::harness::{Desk, Outcome, Postgres, program, two_tables};
use scripted::{Col, Script, col, id, utf16};
use std::{
    process::{Command, Stdio},
    sync::{Arc, atomic::AtomicI64},
    time::{Duration, Instant},
};
use tieout_testkit::tds::{
    FaultPlan, RowEncoding, TdsOptions, TdsServer, TlsMode,
    backend::{Cell, SqlError, TdsType},
};

fn serve(script: Script) -> TdsServer {
    serve_with(script, TdsOptions::default())
}

fn serve_with(script: Script, options: TdsOptions) -> TdsServer {
    TdsServer::start(script, options).unwrap()
}

fn locator(server: &TdsServer, more: &str) -> String {
    format!("mssql://u:p%40ss@127.0.0.1:{}/Sales?encrypt=no{more}#dbo.orders", server.port())
}

/// Compares the script's table with a CSV file.
fn against_csv(desk: &Desk, server: &TdsServer, csv: &str, more: &[&str]) -> Outcome {
    let file = desk.file("k.csv", csv);
    let source = locator(server, "");
    let mut args = vec![source.as_str(), file.as_str(), "-k", "id"];
    args.extend(more);
    desk.diff(&args)
}

fn numbered(values: Vec<Cell>) -> Vec<Vec<Cell>> {
    (1..).zip(values).map(|(id, value)| vec![Cell::Int(id), value]).collect()
}

#[test]
fn rows_are_compared() {
    let columns = vec![id(), col("v", "nvarchar", TdsType::NVarChar(Some(20)))];
    let script = Script::new(columns, numbered(vec![utf16("a"), Cell::Null, utf16("\u{1f600}"), utf16("d")]));
    for row_encoding in [RowEncoding::Row, RowEncoding::NbcRow, RowEncoding::Mixed] {
        for split_every in [None, Some(7)] {
            let options = TdsOptions { row_encoding, split_every, ..TdsOptions::default() };
            let server = serve_with(script.clone(), options);
            let desk = Desk::new();
            against_csv(&desk, &server, "id,v\n1,a\n2,\n3,\u{1f600}\n4,d\n", &[]).assert_counts(0, 0, 0);
            against_csv(&desk, &server, "id,v\n1,a\n3,x\n4,d\n5,e\n", &[]).assert_counts(1, 1, 1);
            assert_eq!(server.failures(), Vec::<String>::new());
        }
    }
}

#[test]
fn o22_negative_decimals_below_one() {
    let cell = |mantissa| Cell::Decimal { mantissa };
    let columns = vec![id(), col("n", "decimal", TdsType::Decimal { precision: 10, scale: 4 })];
    let server = serve(Script::new(columns, numbered(vec![cell(-123_000), cell(-170_800), cell(-123)])));
    let desk = Desk::new();
    against_csv(&desk, &server, "id,n\n1,-12.3\n2,-17.08\n3,-0.0123\n", &[]).assert_counts(0, 0, 0);
    against_csv(&desk, &server, "id,n\n1,-12.3\n2,-17.8\n3,-0.0123\n", &[]).assert_counts(0, 0, 1);
}

#[test]
fn o28_datetime_is_its_shown_value() {
    let datetime = vec![id(), col("d", "datetime", TdsType::DateTime)];
    let server = serve(Script::new(datetime, numbered(vec![Cell::DateTime { days: 44_507, ticks: 14_984_756 }])));
    let desk = Desk::new();
    against_csv(&desk, &server, "id,d\n1,2021-11-09 13:52:29.187\n", &[]).assert_counts(0, 0, 0);
    against_csv(&desk, &server, "id,d\n1,2021-11-09 13:52:29.186667\n", &[]).assert_counts(0, 0, 1);
    // Against datetime2(7), whatever the server's compatibility level.
    let precise = |time| {
        let columns = vec![id(), col("d", "datetime2", TdsType::DateTime2(7))];
        serve(Script::new(columns, numbered(vec![Cell::DateTime2 { days: 738_102, time }])))
    };
    let second = 13 * 3600 + 52 * 60 + 29;
    for (fraction, changed) in [(1_866_667, 1), (1_870_000, 0)] {
        let sink = precise(second * 10_000_000 + fraction);
        let (source, sink_locator) = (locator(&server, ""), locator(&sink, ""));
        desk.diff(&[&source, &sink_locator]).assert_counts(0, 0, changed);
    }
}

#[test]
fn o04_uuids_are_ordered_by_their_text() {
    let uuid = |first: u8, middle: u8, last: u8| {
        let mut bytes = [0; 16];
        (bytes[0], bytes[8], bytes[15]) = (first, middle, last);
        bytes
    };
    let (a, b, c) = (uuid(1, 0, 0), uuid(0, 0, 1), uuid(0, 1, 0));
    let columns = vec![Col { nullable: false, ..col("id", "uniqueidentifier", TdsType::UniqueIdentifier) }];
    let rows = |list: &[[u8; 16]]| list.iter().map(|bytes| vec![Cell::Guid(*bytes)]).collect::<Vec<_>>();
    let postgres = Postgres::new();
    two_tables(&postgres, "id uuid primary key", "", "");
    postgres.sql(
        "INSERT INTO k VALUES ('01000000-0000-0000-0000-000000000000'), ('00000000-0000-0000-0000-000000000001'), \
         ('00000000-0000-0000-0100-000000000000')",
    );
    let desk = Desk::new();
    let (server, sink) = (serve(Script::new(columns.clone(), rows(&[b, c, a]))), postgres.table("k"));
    desk.diff(&[&locator(&server, ""), &sink]).assert_counts(0, 0, 0);
    assert!(server.queries().iter().any(|sql| sql.contains("ORDER BY (CONVERT(char(36), t.[id]) COLLATE")));
    postgres.sql("DELETE FROM k WHERE id = '00000000-0000-0000-0100-000000000000'");
    desk.diff(&[&locator(&server, ""), &sink]).assert_counts(1, 0, 0);
    // A server that sorts by groups from the end all the same is found out.
    let wrong = serve(Script::new(columns, rows(&[a, c, b])));
    desk.diff(&[&locator(&wrong, ""), &sink]).assert_refused(&["order", "--sort local"]);
    desk.diff(&[&locator(&wrong, ""), &sink, "--sort", "local"]).assert_counts(1, 0, 0);
}

#[test]
fn a_collation_that_sorts_otherwise_is_named() {
    let columns = vec![Col { nullable: false, ..col("id", "nvarchar", TdsType::NVarChar(Some(20))) }];
    // As if the server sorted without regard to case.
    let rows = ["a", "B", "c"].map(|key| vec![utf16(key)]).to_vec();
    let server = serve(Script::new(columns, rows));
    let desk = Desk::new();
    against_csv(&desk, &server, "id\nB\na\nc\n", &[]).assert_refused(&[
        "expected a key after (a)",
        "id has the collation SQL_Latin1_General_CP1_CI_AS",
        "--sort local",
    ]);
    against_csv(&desk, &server, "id\nB\na\nc\n", &["--sort", "local"]).assert_counts(0, 0, 0);
}

/// A row with the extremes of every type, and one of NULL.
fn every_type() -> Script {
    let bytes = |list: &[u8]| Cell::Bytes(list.to_vec());
    let columns = vec![
        id(),
        col("b", "bit", TdsType::Bit),
        col("ti", "tinyint", TdsType::TinyInt),
        col("si", "smallint", TdsType::SmallInt),
        col("bi", "bigint", TdsType::BigInt),
        col("de", "decimal", TdsType::Decimal { precision: 38, scale: 10 }),
        col("mo", "money", TdsType::Money),
        col("sm", "smallmoney", TdsType::SmallMoney),
        col("re", "real", TdsType::Real),
        col("fl", "float", TdsType::Float),
        col("da", "date", TdsType::Date),
        col("tm", "time", TdsType::Time(6)),
        col("dt", "datetime", TdsType::DateTime),
        col("sd", "smalldatetime", TdsType::SmallDateTime),
        col("d2", "datetime2", TdsType::DateTime2(6)),
        col("dz", "datetimeoffset", TdsType::DateTimeOffset(6)),
        col("ch", "char", TdsType::Char(6)),
        col("vc", "varchar", TdsType::VarChar(Some(20))),
        col("nc", "nchar", TdsType::NChar(6)),
        col("nv", "nvarchar", TdsType::NVarChar(None)),
        col("bn", "binary", TdsType::Binary(2)),
        col("vb", "varbinary", TdsType::VarBinary(None)),
        col("rv", "timestamp", TdsType::Binary(8)),
        col("uu", "uniqueidentifier", TdsType::UniqueIdentifier),
        col("xm", "xml", TdsType::Xml),
    ];
    let mut uuid = [0; 16];
    (uuid[0], uuid[15]) = (1, 0xaf);
    let row = vec![
        Cell::Int(1),
        Cell::Bit(true),
        Cell::Int(255),
        Cell::Int(-32_768),
        Cell::Int(i64::MIN),
        Cell::Decimal { mantissa: -99_999_999_999_999_999_999_999_999_999_999_999_999 },
        Cell::Money(i64::MIN),
        Cell::Money(i64::from(i32::MAX)),
        Cell::F32(0.1),
        Cell::F64(5e-324),
        Cell::Date(3_652_058),
        Cell::Time(86_399_999_999),
        Cell::DateTime { days: -53_690, ticks: 1 },
        Cell::SmallDateTime { days: 65_535, minutes: 1439 },
        Cell::DateTime2 { days: 0, time: 1 },
        // 2024-01-31 00:30 +05:30 is 19:00 of the day before.
        Cell::DateTimeOffset { days: 738_914, time: 68_400_000_000, offset_minutes: 330 },
        bytes(b"AB    "),
        bytes(&[0x80, b' ']),
        utf16("AB    "),
        utf16("\u{1f600}\u{ffff}"),
        bytes(&[0, 255]),
        bytes(&[]),
        bytes(&[0, 0, 0, 0, 0, 0, 7, 0xd1]),
        Cell::Guid(uuid),
        utf16("<a b=\"1\"/>"),
    ];
    let empty = std::iter::once(Cell::Int(2)).chain(std::iter::repeat_n(Cell::Null, row.len() - 1)).collect();
    Script::new(columns, vec![row, empty])
}

/// The same in PostgreSQL.
fn every_type_in_postgres() -> Postgres {
    let postgres = Postgres::new();
    two_tables(
        &postgres,
        "id int primary key, b bool, ti smallint, si smallint, bi bigint, de numeric, mo numeric, sm numeric, re real, \
         fl double precision, da date, tm time, dt timestamp, sd timestamp, d2 timestamp, dz timestamptz, ch char(6), \
         vc text, nc varchar, nv text, bn bytea, vb bytea, rv bytea, uu uuid, xm text",
        "",
        "",
    );
    postgres.sql(
        "INSERT INTO k VALUES (1, true, 255, -32768, -9223372036854775808, -9999999999999999999999999999.9999999999, \
         -922337203685477.5808, 214748.3647, 0.1, 5e-324, '9999-12-31', '23:59:59.999999', '1753-01-01 00:00:00.003', \
         '2079-06-06 23:59', '0001-01-01 00:00:00.000001', '2024-01-30 19:00:00+00', 'AB', E'\\u20ac ', 'AB', \
         E'\\U0001f600\\uffff', '\\x00ff', '', '\\x00000000000007d1', '01000000-0000-0000-0000-0000000000af', \
         '<a b=\"1\"/>')",
    );
    postgres.sql("INSERT INTO k (id) VALUES (2)");
    postgres
}

#[test]
fn every_type_meets_its_partner_in_postgres() {
    let (server, postgres) = (serve(every_type()), every_type_in_postgres());
    let desk = Desk::new();
    let (source, sink) = (locator(&server, ""), postgres.table("k"));
    desk.diff(&[&source, &sink]).assert_counts(0, 0, 0);
    for (column, value) in [
        ("bi", "-9223372036854775807"),
        ("de", "-9999999999999999999999999999.9999999998"),
        ("mo", "-922337203685477.5807"),
        ("re", "0.10000001"),
        ("fl", "1e-323"),
        ("d2", "'0001-01-01 00:00:00'"),
        ("dz", "'2024-01-30 19:00:01+00'"),
        ("vc", "E'\\u20ac'"),
        ("vb", "'\\x00'"),
    ] {
        postgres.sql(&format!("CREATE TABLE c AS SELECT * FROM k; UPDATE c SET {column} = {value} WHERE id = 1"));
        let changed = desk.diff(&[&source, &postgres.table("c"), "-k", "id"]);
        changed.assert_counts(0, 0, 1);
        postgres.sql("DROP TABLE c");
    }
}

#[test]
fn undecodable_text_is_an_error_and_compared_by_its_bytes() {
    let columns = vec![id(), col("v", "nvarchar", TdsType::NVarChar(Some(20)))];
    let lone = |unit| Cell::Utf16(vec![0x61, unit]);
    let source = serve(Script::new(columns.clone(), numbered(vec![utf16("a"), lone(0xd800)])));
    let same = serve(Script::new(columns.clone(), numbered(vec![utf16("a"), lone(0xd800)])));
    let other = serve(Script::new(columns.clone(), numbered(vec![utf16("a"), lone(0xd801)])));
    let desk = Desk::new();
    let (s, k, o) = (locator(&source, ""), locator(&same, ""), locator(&other, ""));
    desk.diff(&[&s, &k]).assert_refused(&["--cast", "binary"]);
    desk.diff(&[&s, &k, "--cast", "v=binary"]).assert_counts(0, 0, 0);
    desk.diff(&[&s, &o, "--cast", "v=binary"]).assert_counts(0, 0, 1);
    let mut elsewhere = Script::new(columns, numbered(vec![utf16("a")]));
    elsewhere.other_bytes = true;
    let elsewhere = serve(elsewhere);
    desk.diff(&[&locator(&elsewhere, ""), &k, "--cast", "v=binary"]).assert_refused(&["UTF-16"]);
}

fn small() -> Script {
    let columns = vec![id(), col("v", "nvarchar", TdsType::NVarChar(Some(20)))];
    Script::new(columns, numbered((0..2000).map(|row| utf16(&format!("value {row}"))).collect()))
}

/// The small script as CSV.
fn small_csv() -> String {
    (0..2000).fold("id,v\n".to_owned(), |text, row| format!("{text}{},value {row}\n", row + 1))
}

#[test]
fn a_cut_or_an_error_is_never_a_shorter_table() {
    let desk = Desk::new();
    let only = Some("t.[v]".to_owned());
    let failed = SqlError { number: 823, state: 1, class: 16, message: "secret value 17".to_owned(), line: 1 };
    for faults in [
        FaultPlan { only: only.clone(), cut_after_rows: Some(700), ..FaultPlan::default() },
        FaultPlan { only: only.clone(), cut_after_bytes: Some(20_000), ..FaultPlan::default() },
        FaultPlan { only: only.clone(), error_after_rows: Some((700, failed)), ..FaultPlan::default() },
    ] {
        let server = serve_with(small(), TdsOptions { faults, ..TdsOptions::default() });
        let outcome = against_csv(&desk, &server, &small_csv(), &[]);
        outcome.assert_refused(&["dbo.orders", "reading rows"]);
        assert!(!outcome.stderr.contains("secret"), "{}", outcome.stderr);
    }
}

#[test]
fn a_read_that_is_given_up_is_cancelled() {
    let faults = FaultPlan { only: Some("t.[v]".to_owned()), stall: Some(500), ..FaultPlan::default() };
    let server = serve_with(small(), TdsOptions { faults, ..TdsOptions::default() });
    let desk = Desk::new();
    let file = desk.file("k.csv", small_csv());
    let runs = desk.arg("runs");
    let child = program()
        .args(["diff", "--format", "json", "--no-progress", "-o", &runs, &locator(&server, ""), &file, "-k", "id"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    // The sample of the keys is read to its end, then the read that stalls.
    while server.rows() < 2500 {
        assert!(started.elapsed() < Duration::from_secs(20), "{} rows", server.rows());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(server.attentions(), 1);
}

#[test]
fn one_transaction_reads_where_nothing_proves_two_equal() {
    let server = serve(small());
    let desk = Desk::new();
    let outcome = against_csv(&desk, &server, &small_csv(), &["-j", "4"]);
    outcome.assert_counts(0, 0, 0);
    let position = outcome.document()["positions"]["source"].clone();
    assert_eq!(
        (position["kind"].as_str(), position["exactness"].as_str()),
        (Some("mssql-snapshot"), Some("bracketed"))
    );
    let begun = server.queries().iter().filter(|sql| sql.contains("LEVEL SNAPSHOT")).count();
    assert_eq!(begun, 1);
}

#[test]
fn change_tracking_proves_several_transactions_equal() {
    let desk = Desk::new();
    let run = |moves: i64| {
        let mut script = small();
        script.tracking = Arc::new(AtomicI64::new(41));
        script.moves = moves;
        let (server, sink) = (serve(script.clone()), serve(small()));
        let (s, k) = (locator(&server, ""), locator(&sink, "&isolation=read-committed"));
        let plan = desk.run("plan", &[&s, &k, "-j", "2"]);
        assert_eq!(plan.code, 0, "{}", plan.stderr);
        let begun = server.queries().iter().filter(|sql| sql.contains("LEVEL SNAPSHOT")).count();
        (plan.document()["positions"]["source"].clone(), begun, plan.stdout.contains("changed each time"))
    };
    let (position, begun, _) = run(0);
    assert_eq!((position["kind"].as_str(), position["value"].as_str()), (Some("mssql-change-version"), Some("41")));
    assert_eq!(begun, 3);
    // Somebody writes all the time: three tries, then one transaction.
    let (position, begun, told) = run(1);
    assert_eq!((begun, told), (3 * 3 + 1, true));
    assert!(position["value"].as_str().unwrap().contains(".."), "{position}");
}

#[test]
fn ranges_are_read_apart_by_several_transactions() {
    let mut script = small();
    script.tracking = Arc::new(AtomicI64::new(41));
    let (source, sink) = (serve(script.clone()), serve(script));
    let desk = Desk::new();
    let (s, k) = (locator(&source, ""), locator(&sink, ""));
    let outcome = desk.diff(&[&s, &k, "-j", "3", "--ranges", "8"]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["rows"]["source"], 2000);
    for server in [&source, &sink] {
        let reads: Vec<String> = server.queries().into_iter().filter(|sql| sql.contains("t.[v]")).collect();
        assert_eq!(reads.len(), 8, "{reads:?}");
        let begun = server.queries().iter().filter(|sql| sql.contains("LEVEL SNAPSHOT")).count();
        assert_eq!(begun, 4);
        assert_eq!(server.open_connections(), 0);
    }
}

#[test]
fn one_connection_a_side_never_waits_for_the_other() {
    let (source, sink) = (serve(small()), serve(small()));
    let desk = Desk::new();
    let (s, k) = (locator(&source, ""), locator(&sink, ""));
    for (workers, reads) in [("4", 1), ("1", 8)] {
        let before = source.queries().iter().filter(|sql| sql.contains("t.[v]")).count();
        let outcome = desk.diff(&[&s, &k, "-j", workers, "--ranges", "8"]);
        outcome.assert_counts(0, 0, 0);
        assert_eq!(outcome.document()["plan"]["ranges"], 8);
        assert_eq!(source.queries().iter().filter(|sql| sql.contains("t.[v]")).count() - before, reads);
    }
}

#[test]
fn snapshots_that_are_off_are_explained() {
    let mut script = small();
    script.allows_snapshot = false;
    let server = serve(script.clone());
    let desk = Desk::new();
    against_csv(&desk, &server, &small_csv(), &[]).assert_refused(&[
        "SNAPSHOT",
        "ALTER DATABASE [Sales] SET ALLOW_SNAPSHOT_ISOLATION ON",
        "read-committed",
    ]);
    let file = desk.file("k.csv", small_csv());
    let unfrozen = desk.diff(&[&locator(&server, "&isolation=read-committed"), &file, "-k", "id"]);
    unfrozen.assert_counts(0, 0, 0);
    assert_eq!(unfrozen.document()["positions"]["source"]["exactness"], "unknown");
    let refused = desk.diff(&[&locator(&server, "&isolation=database-snapshot"), &file, "-k", "id"]);
    refused.assert_refused(&["neither a snapshot nor read-only"]);
    script.read_only = true;
    let still = serve(script);
    let outcome = desk.diff(&[&locator(&still, ""), &file, "-k", "id"]);
    outcome.assert_counts(0, 0, 0);
    assert_eq!(outcome.document()["positions"]["source"]["exactness"], "exact");
}

#[test]
fn a_transaction_that_is_lost_is_noticed() {
    let mut script = small();
    script.loses_transaction = true;
    let server = serve(script);
    against_csv(&Desk::new(), &server, &small_csv(), &[]).assert_refused(&["its transaction has ended"]);
}

#[test]
fn what_a_login_does_not_see_is_refused() {
    let desk = Desk::new();
    let mut script = small();
    script.has_policy = true;
    let server = serve(script);
    against_csv(&desk, &server, &small_csv(), &[]).assert_refused(&["row security policy", "row-security=filtered"]);
    let file = desk.file("k.csv", small_csv());
    let seen = desk.diff(&[&locator(&server, "&row-security=filtered"), &file, "-k", "id"]);
    seen.assert_counts(0, 0, 0);
    assert!(seen.stdout.contains("only rows that the policy shows"), "{}", seen.stdout);
    let mut script = small();
    script.columns[1].masked = true;
    let server = serve(script.clone());
    against_csv(&desk, &server, &small_csv(), &[]).assert_refused(&["masked", "UNMASK"]);
    script.unmask = true;
    let server = serve(script);
    against_csv(&desk, &server, &small_csv(), &[]).assert_counts(0, 0, 0);
}

#[test]
fn names_and_synonyms() {
    let desk = Desk::new();
    let file = desk.file("k.csv", small_csv());
    let table = |server: &TdsServer, name: &str| locator(server, "").replace("dbo.orders", name);
    let mut script = small();
    script.synonym = Some("[Sales].[dbo].[orders]");
    let server = serve(script.clone());
    desk.diff(&[&table(&server, "alias"), &file, "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&table(&server, "dbo.ordrs"), &file, "-k", "id"])
        .assert_refused(&["dbo.ordrs does not exist", "dbo.orders"]);
    script.synonym = Some("[far].[Sales].[dbo].[orders]");
    let server = serve(script);
    desk.diff(&[&table(&server, "alias"), &file, "-k", "id"]).assert_refused(&["another server"]);
}

#[test]
fn queries_and_filters() {
    let server = serve(small());
    let desk = Desk::new();
    against_csv(&desk, &server, &small_csv(), &["--source-query", "SELECT id, v FROM dbo.orders"])
        .assert_counts(0, 0, 0);
    assert!(
        server.queries().iter().any(|sql| sql.contains("FROM (SELECT id, v FROM dbo.orders\n) AS t ORDER BY t.[id]"))
    );
    against_csv(&desk, &server, &small_csv(), &["--source-where", "v <> 'x'"]).assert_counts(0, 0, 0);
    assert!(server.queries().iter().any(|sql| sql.contains("WHERE (v <> 'x'\n) ORDER BY t.[id]")));
    against_csv(&desk, &server, &small_csv(), &["--source-where", "v < getdate()"]).assert_refused(&["getdate"]);
    against_csv(&desk, &server, &small_csv(), &["--source-where", "1 = 1) OR (1 = 1"]).assert_refused(&["parenthesis"]);
}

#[test]
fn another_server_that_speaks_the_language() {
    let mut script = small();
    script.version = "Babelfish for PostgreSQL with SQL Server Compatibility - 12.0.2000.8";
    let server = serve(script);
    against_csv(&Desk::new(), &server, &small_csv(), &[]).assert_counts(0, 0, 0);
    assert!(server.queries().iter().all(|sql| !sql.contains("TABLESAMPLE")));
}

#[test]
fn tls_is_asked_for_and_checked() {
    let desk = Desk::new();
    let file = desk.file("k.csv", small_csv());
    let diff = |server: &TdsServer, more: &str| {
        let source = locator(server, "").replace("encrypt=no", more);
        desk.diff(&[&source, &file, "-k", "id"])
    };
    let server = |tls| serve_with(small(), TdsOptions { tls, ..TdsOptions::default() });
    let required = server(TlsMode::Required);
    let ca = desk.file("ca.pem", required.authority().unwrap());
    diff(&required, &format!("ca-file={ca}")).assert_counts(0, 0, 0);
    diff(&required, "encrypt=yes").assert_refused(&["certificate", "ca-file"]);
    diff(&required, "trust-server-certificate=yes").assert_counts(0, 0, 0);
    diff(&required, &format!("ca-file={ca}&host-name-in-certificate=other.example")).assert_refused(&["certificate"]);
    let strict = server(TlsMode::Strict);
    let ca = desk.file("ca2.pem", strict.authority().unwrap());
    diff(&strict, &format!("encrypt=strict&ca-file={ca}")).assert_counts(0, 0, 0);
    let plain = server(TlsMode::Off);
    diff(&plain, "encrypt=yes").assert_refused(&["127.0.0.1"]);
    assert_eq!(plain.logins().len(), 0);
}

#[test]
fn o44_logins_and_their_secrets() {
    let desk = Desk::new();
    let file = desk.file("k.csv", small_csv());
    let server = serve_with(small(), TdsOptions { tls: TlsMode::Required, ..TdsOptions::default() });
    let ca = desk.file("ca.pem", server.authority().unwrap());
    let run = |locator: &str, env: &[(&str, &str)]| {
        let runs = desk.arg("runs");
        let mut command = program();
        command.args(["diff", "--format", "json", "--no-progress", "-o", &runs, locator, &file, "-k", "id"]);
        command.envs(env.iter().copied());
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let base = |login: &str| {
        format!("mssql://{login}127.0.0.1:{}/Sales?ca-file={ca}&application-intent=readonly#dbo.orders", server.port())
    };
    assert_eq!(run(&base(""), &[("TIEOUT_MSSQL_TOKEN", "a token")]).0, 0);
    assert_eq!(server.logins().last().and_then(|login| login.token.clone()).as_deref(), Some("a token"));
    assert_eq!(run(&base("u@"), &[("SQLCMDPASSWORD", "p@ss")]).0, 0);
    let login = server.logins().last().cloned().unwrap();
    assert_eq!(
        (login.application.as_str(), login.database.as_str(), login.read_only_intent),
        ("tieout", "Sales", true)
    );
    let (code, told) = run(&base("u:hush-hush@"), &[]);
    assert!(code == 2 && told.contains("check user") && !told.contains("hush-hush"), "{told}");
    // A token in clear would be a gift.
    let (code, told) = run(&base("").replace("?ca", "?encrypt=no&ca"), &[("TIEOUT_MSSQL_TOKEN", "a token")]);
    assert!(code == 2 && told.contains("encrypted") && !told.contains("a token\""), "{told}");
}

#[test]
fn a_routed_login_is_followed() {
    let target = serve(small());
    let route = Some(("127.0.0.1".to_owned(), target.port()));
    let gateway = serve_with(small(), TdsOptions { route, ..TdsOptions::default() });
    against_csv(&Desk::new(), &gateway, &small_csv(), &[]).assert_counts(0, 0, 0);
    assert!(gateway.queries().is_empty() && !target.queries().is_empty());
}
