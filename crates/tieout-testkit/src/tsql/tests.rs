//! What SQL Server is documented to do. The answers are literals of the documentation or follow from it by hand.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;
use crate::tds::backend::{Param, TdsType};

fn text(text: &str) -> Cell {
    Cell::Utf16(text.encode_utf16().collect())
}

fn with(statements: &str) -> Tsql {
    let tsql = Tsql::new(Flavour::SqlServer);
    tsql.execute(statements).unwrap();
    tsql
}

/// The first column of a query.
fn column(tsql: &Tsql, sql: &str) -> Vec<Cell> {
    tsql.execute(sql).unwrap().into_iter().map(|mut row| row.remove(0)).collect()
}

fn texts(tsql: &Tsql, sql: &str) -> Vec<String> {
    let cells = column(tsql, sql);
    let shown = |cell: &Cell| match cell {
        Cell::Utf16(units) => String::from_utf16(units).unwrap(),
        other => format!("{other:?}"),
    };
    cells.iter().map(shown).collect()
}

fn failure(tsql: &Tsql, sql: &str) -> i32 {
    tsql.execute(sql).unwrap_err().number
}

#[test]
fn guids_are_ordered_by_groups_from_the_end() {
    let rows = "('A0000000-0000-0000-0000-000000000001'), ('00000000-0000-0000-0000-020000000000'), \
                ('00000000-0000-0001-0000-000000000000'), ('00000000-0000-0000-0100-000000000000'), \
                ('00000001-0000-0000-0000-000000000000'), ('01000000-0000-0000-0000-000000000000'), \
                ('00000000-0001-0000-0000-000000000000')";
    let create = format!("CREATE TABLE t (g uniqueidentifier PRIMARY KEY); INSERT INTO t VALUES {rows}");
    let by_guid = texts(&with(&create), "SELECT CONVERT(nvarchar(36), g) FROM t ORDER BY g");
    let expected = [
        "01000000-0000-0000-0000-000000000000",
        "00000001-0000-0000-0000-000000000000",
        "00000000-0001-0000-0000-000000000000",
        "00000000-0000-0001-0000-000000000000",
        "00000000-0000-0000-0100-000000000000",
        "A0000000-0000-0000-0000-000000000001",
        "00000000-0000-0000-0000-020000000000",
    ];
    // Within a leading group, the stored bytes run backwards: 0x01000000 is smaller than 0x00000001 there.
    assert_eq!(by_guid, expected);
    let other = Tsql::new(Flavour::PostgresBacked);
    other.execute(&create).unwrap();
    let from_the_left = texts(&other, "SELECT CONVERT(nvarchar(36), g) FROM t ORDER BY g");
    assert_eq!(from_the_left[0], "00000000-0000-0000-0000-020000000000");
    assert_eq!(from_the_left[6], "A0000000-0000-0000-0000-000000000001");
}

#[test]
fn texts_are_padded_with_blanks_and_compared_by_their_collation() {
    let tsql = with(
        "CREATE TABLE t (b nvarchar(9) COLLATE Latin1_General_BIN2, c nvarchar(9) COLLATE Latin1_General_CI_AS); \
         INSERT INTO t VALUES (N'B', N'B'), (N'a', N'a'), (N'\u{FF5E}', N'c'), (N'\u{1F600}', N'd')",
    );
    assert_eq!(texts(&tsql, "SELECT b FROM t ORDER BY b"), ["B", "a", "\u{1F600}", "\u{FF5E}"]);
    assert_eq!(texts(&tsql, "SELECT b FROM t ORDER BY c"), ["a", "B", "\u{FF5E}", "\u{1F600}"]);
    let utf8 = "SELECT b FROM t ORDER BY CONVERT(varchar(40), b COLLATE Latin1_General_100_BIN2_UTF8)";
    assert_eq!(texts(&tsql, utf8), ["B", "a", "\u{FF5E}", "\u{1F600}"]);
    assert_eq!(texts(&tsql, "SELECT b FROM t WHERE b = N'a   '"), ["a"]);
    assert_eq!(texts(&tsql, "SELECT b FROM t WHERE c = N'A'"), ["a"]);
    let none: [&str; 0] = [];
    assert_eq!(texts(&tsql, "SELECT b FROM t WHERE b = N'A'"), none);
    // A tab is below the blank that the shorter text goes on with.
    assert_eq!(
        column(&tsql, "SELECT COUNT(*) FROM t WHERE N'a' COLLATE Latin1_General_BIN2 > N'a' + NCHAR(9)"),
        [Cell::Int(4)]
    );
    assert_eq!(failure(&tsql, "SELECT b FROM t WHERE b = c"), 468);
    assert_eq!(
        failure(&tsql, "CREATE TABLE u (k nvarchar(5) PRIMARY KEY); INSERT INTO u VALUES (N'a'), (N'a ')"),
        2627
    );
}

#[test]
fn bytes_are_padded_with_zeros() {
    let tsql = with("CREATE TABLE t (b varbinary(9)); INSERT INTO t VALUES (0x01), (0x0100), (0x00), (0x)");
    assert_eq!(column(&tsql, "SELECT COUNT(*) FROM t WHERE b = 0x0100"), [Cell::Int(2)]);
    let sorted = column(&tsql, "SELECT b FROM t ORDER BY b, DATALENGTH(b)");
    assert_eq!(sorted, [vec![], vec![0], vec![1], vec![1, 0]].map(Cell::Bytes));
}

#[test]
fn null_comes_first_and_is_not_true() {
    let tsql = with("CREATE TABLE t (a int, b int NOT NULL); INSERT INTO t VALUES (2, 1), (NULL, 2), (1, 3)");
    assert_eq!(column(&tsql, "SELECT a FROM t ORDER BY a"), [Cell::Null, Cell::Int(1), Cell::Int(2)]);
    assert_eq!(column(&tsql, "SELECT b FROM t WHERE NOT (a = 1)"), [Cell::Int(1)]);
    assert_eq!(
        column(&tsql, "SELECT b FROM t WHERE a IS NULL OR a >= 2 ORDER BY b DESC"),
        [Cell::Int(2), Cell::Int(1)]
    );
    assert_eq!(failure(&tsql, "INSERT INTO t VALUES (1, NULL)"), 515);
}

#[test]
fn conversions() {
    let tsql = Tsql::new(Flavour::SqlServer);
    let value = |expression: &str| column(&tsql, &format!("SELECT {expression}")).remove(0);
    assert_eq!(
        value("CONVERT(datetime, '2021-11-09T13:52:29.187', 126)"),
        Cell::DateTime { days: 44507, ticks: 14_984_756 }
    );
    assert_eq!(
        value("CONVERT(smalldatetime, '2024-01-31T10:00:29.999', 126)"),
        Cell::SmallDateTime { days: 45320, minutes: 601 }
    );
    assert_eq!(
        value("CONVERT(decimal(19,4), CONVERT(money, CONVERT(decimal(19,4), '-1.2345')))"),
        Cell::Decimal { mantissa: -12345 }
    );
    assert_eq!(
        value("CONVERT(char(36), CONVERT(uniqueidentifier, '0000000a-0000-0000-0000-0000000000af'))"),
        Cell::Bytes(b"0000000A-0000-0000-0000-0000000000AF".to_vec())
    );
    assert_eq!(value("CONVERT(varbinary(8), NCHAR(8364) + NCHAR(960))"), Cell::Bytes(vec![0xAC, 0x20, 0xC0, 0x03]));
    assert_eq!(value("CONVERT(bigint, -9223372036854775808)"), Cell::Int(i64::MIN));
    // Without a length, thirty characters.
    assert_eq!(
        value("CONVERT(nvarchar, N'12345678901234567890123456789012345')"),
        text("123456789012345678901234567890")
    );
    // A line that ends in a backslash goes on.
    assert_eq!(value("N'a\\\nb'"), text("ab"));
    assert_eq!(value("NULL + 1"), Cell::Null);
    assert_eq!(failure(&tsql, "SELECT CONVERT(date, '2023-02-29')"), 241);
    assert_eq!(failure(&tsql, "SELECT CONVERT(tinyint, 256)"), 8115);
    assert_eq!(failure(&tsql, "SELECT CONVERT(decimal(3,1), '123.4')"), 8115);
}

#[test]
fn truncation_is_an_error_except_of_blanks() {
    let tsql = with("CREATE TABLE t (a nvarchar(2), b char(2)); INSERT INTO t VALUES (N'ab  ', 'x')");
    assert_eq!(tsql.execute("SELECT a, b FROM t").unwrap(), [vec![text("ab"), Cell::Bytes(b"x ".to_vec())]]);
    assert_eq!(failure(&tsql, "INSERT INTO t VALUES (N'abc', 'x')"), 2628);
}

/// A session that stays, as a connection's does.
fn session(tsql: &Tsql) -> Box<dyn Session> {
    Box::new(session::Connected::new(Arc::clone(&tsql.shared)))
}

fn count(session: &mut dyn Session, sql: &str) -> Cell {
    let params = [Param { name: "@P1".to_owned(), kind: TdsType::Int, value: Cell::Int(1) }];
    match session.execute(sql, &params).unwrap().pop() {
        Some(Reply::Rows(mut result)) => result.rows.next().unwrap().unwrap().remove(0),
        _ => Cell::Null,
    }
}

#[test]
fn a_snapshot_is_fixed_by_its_first_read() {
    let tsql = with("CREATE TABLE t (a int); INSERT INTO t VALUES (1)");
    let (mut one, mut other) = (session(&tsql), session(&tsql));
    for session in [&mut one, &mut other] {
        session.execute("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION", &[]).unwrap();
    }
    let all = "SELECT COUNT(*) FROM t WHERE a >= @P1";
    assert_eq!(count(one.as_mut(), all), Cell::Int(1));
    tsql.execute("INSERT INTO t VALUES (2)").unwrap();
    // The other one has begun before the insert, but reads after it.
    assert_eq!(count(other.as_mut(), all), Cell::Int(2));
    tsql.execute("DELETE FROM t WHERE a = 1").unwrap();
    assert_eq!((count(one.as_mut(), all), count(other.as_mut(), all)), (Cell::Int(1), Cell::Int(2)));
    // The catalogue is not part of it.
    tsql.execute("CREATE TABLE u (a int)").unwrap();
    assert_eq!(count(one.as_mut(), "SELECT COUNT(*) FROM sys.objects"), Cell::Int(2));
    // A table that was changed by DDL meanwhile cannot be read; the error ends the transaction.
    tsql.execute("CREATE INDEX i ON t (a)").unwrap();
    assert_eq!(one.execute("SELECT a FROM t", &[]).unwrap_err().number, 3961);
    assert_eq!(count(one.as_mut(), "SELECT @@TRANCOUNT"), Cell::Int(0));
    other.execute("COMMIT", &[]).unwrap();
    assert_eq!(count(other.as_mut(), all), Cell::Int(1));
}

#[test]
fn snapshots_that_are_not_allowed_fail_at_the_first_read() {
    let tsql = with("CREATE TABLE t (a int)");
    tsql.alter(|database| {
        database.allows_snapshot = false;
        Ok(())
    })
    .unwrap();
    let mut session = session(&tsql);
    session.execute("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION", &[]).unwrap();
    assert_eq!(count(session.as_mut(), "SELECT COUNT(*) FROM sys.objects"), Cell::Int(1));
    assert_eq!(session.execute("SELECT a FROM t", &[]).unwrap_err().number, 3952);
}

#[test]
fn change_tracking_counts_commits() {
    let tsql = with("CREATE TABLE t (a int)");
    let versions =
        "SELECT CHANGE_TRACKING_CURRENT_VERSION(), CHANGE_TRACKING_MIN_VALID_VERSION(OBJECT_ID(N'[dbo].[t]'))";
    assert_eq!(tsql.execute(versions).unwrap(), [vec![Cell::Null, Cell::Null]]);
    tsql.alter(|database| {
        database.tracks_changes = true;
        database.table_mut("t")?.tracked_since = Some(0);
        Ok(())
    })
    .unwrap();
    let before = tsql.execute(versions).unwrap();
    tsql.execute("INSERT INTO t VALUES (1)").unwrap();
    assert_ne!(tsql.execute(versions).unwrap(), before);
    let other = Tsql::new(Flavour::PostgresBacked);
    assert!(other.execute("SELECT CHANGE_TRACKING_CURRENT_VERSION()").is_err());
}

#[test]
fn what_is_not_known_is_refused() {
    let tsql = with("CREATE TABLE t (a int PRIMARY KEY, b nvarchar(5), f float)");
    let refused = [
        "SELECT a FROM t GROUP BY a",
        "SELECT DISTINCT a FROM t",
        "SELECT TOP (1) PERCENT a FROM t",
        "SELECT a FROM t UNION SELECT a FROM t",
        "SELECT a FROM t ORDER BY 1",
        "SELECT a FROM t WITH (NOLOCK)",
        "SELECT a FROM t WHERE b LIKE N'x%'",
        "SELECT SUM(a) FROM t",
        "SELECT a FROM t LEFT JOIN t AS u ON u.a = t.a",
        "SELECT a FROM t, t AS u",
        "SELECT a FROM t WHERE a",
        "SELECT a FROM t WHERE f + 1 = 2",
        "SELECT a FROM t WHERE b COLLATE Klingon_BIN2 = N'x'",
        "SELECT a FROM sys.dm_exec_sessions",
        "SELECT is_published FROM sys.objects",
        "SELECT zzz FROM t",
        "SELECT t.a FROM t AS u",
        "SELECT a FROM (SELECT a, a FROM t) AS x",
        "SELECT x FROM (SELECT COUNT(*) FROM t) AS x",
        "SELECT a FROM missing",
        "SELECT a FROM other.dbo.t",
        "SET DEADLOCK_PRIORITY LOW",
        "SET XACT_ABORT OFF",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "EXEC sp_who",
        "MERGE t USING t AS u ON 1 = 1 WHEN MATCHED THEN DELETE",
        "DROP DATABASE test",
        "SELECT a FROM t FOR XML AUTO",
        "SELECT @a",
        "SELECT -a FROM t",
        "SELECT NEWID()",
        "SELECT CONVERT(varchar(10), CONVERT(float, 1))",
        "SELECT CONVERT(klingon, 1)",
        "SELEC a",
    ];
    for sql in refused {
        assert!(tsql.execute(sql).is_err(), "{sql}");
    }
    // Over PostgreSQL, one number says nearly all.
    let other = Tsql::new(Flavour::PostgresBacked);
    assert_eq!(other.execute("SELECT a FROM missing").unwrap_err().number, 33_557_097);
    assert!(other.execute("SELECT N'a' COLLATE Latin1_General_100_BIN2_UTF8").is_err());
    assert!(other.execute("SELECT COUNT(*) FROM sys.security_policies").is_err());
}

#[test]
fn masks_policies_and_synonyms() {
    let tsql =
        with("CREATE TABLE t (a int PRIMARY KEY, s nvarchar(9)); INSERT INTO t VALUES (1, N'secret'), (2, NULL)");
    tsql.add_synonym("other", "[test].[dbo].[t]").unwrap();
    tsql.alter(|database| {
        database.unmask = false;
        let table = database.table_mut("t")?;
        table.columns[1].masked = true;
        table.policy = Some(("hide".to_owned(), "a > 1".to_owned()));
        Ok(())
    })
    .unwrap();
    assert_eq!(tsql.execute("SELECT * FROM other").unwrap(), [vec![Cell::Int(2), Cell::Null]]);
    tsql.alter(|database| {
        database.table_mut("t")?.policy = None;
        Ok(())
    })
    .unwrap();
    assert_eq!(column(&tsql, "SELECT s FROM t WHERE a = 1"), [text("xxxx")]);
}

#[test]
fn rows_are_made_as_they_are_read() {
    let tsql = Tsql::new(Flavour::SqlServer);
    tsql.add_standard("big", 1, 1_000_000_000_000, crate::table::Side::Source).unwrap();
    let mut session = session(&tsql);
    let sql = "SELECT id, name FROM big WHERE id >= 10 ORDER BY id";
    let reply = session.execute(sql, &[]).unwrap().pop();
    let Some(Reply::Rows(mut result)) = reply else { return assert!(reply.is_some(), "no rows") };
    let ids: Vec<Cell> = result.rows.by_ref().take(3).map(|row| row.unwrap().remove(0)).collect();
    assert_eq!(ids, [10, 12, 14].map(Cell::Int));
    // Without an end, since all but 14 rows remain.
    assert!(tsql.execute("SELECT TOP (3) id FROM big").unwrap().len() == 3);
}
