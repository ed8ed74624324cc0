//! Cases that hold for any two stores, between MariaDB, SQLite, PostgreSQL, SQL Server and files.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    harness::{Desk, Postgres, diff_and_peak},
    mariadb::Maria,
    sqlite::{sqlite, table as sqlite_table},
    sqlserver::cases::Played,
};
use tieout_testkit::tds::backend::Cell;

/// One database of each kind, which take the same statements.
struct Stores {
    desk: Desk,
    maria: Maria,
    postgres: Postgres,
    sqlserver: Played,
}

impl Stores {
    fn new() -> Self {
        Self { desk: Desk::new(), maria: Maria::new(), postgres: Postgres::new(), sqlserver: Played::new() }
    }

    #[track_caller]
    fn sql(&self, statements: &str) {
        self.generate(statements);
        self.sqlserver.sql(statements);
    }

    /// Runs statements that make rows of other rows, in the stores that have such.
    #[track_caller]
    fn generate(&self, statements: &str) {
        self.maria.sql(statements);
        self.postgres.sql(statements);
        sqlite(&self.desk, "t.db", statements);
    }

    /// Locators of a table in each.
    fn tables(&self, name: &str) -> [String; 4] {
        let sqlite = sqlite_table(&self.desk, "t.db", name);
        [self.maria.table(name), sqlite, self.postgres.table(name), self.sqlserver.table(name)]
    }
}

#[test]
fn o33_content_slides_over_no_column_border() {
    let stores = Stores::new();
    stores.sql(
        "CREATE TABLE s (id int PRIMARY KEY, a varchar(9), b varchar(9)); CREATE TABLE k (id int PRIMARY KEY, a varchar(9), b varchar(9));
         INSERT INTO s VALUES (1,'x0','y'),(2,'p#0','q'),(3,'a|','b'); INSERT INTO k VALUES (1,'x','0y'),(2,'p','0#q'),(3,'a','|b')",
    );
    for source in stores.tables("s") {
        for sink in stores.tables("k") {
            let outcome = stores.desk.diff(&[&source, &sink]);
            outcome.assert_counts(0, 0, 3);
            let found = "SELECT key.id, changed_columns FROM d ORDER BY 1";
            assert_eq!(stores.desk.differences(&outcome, found), "1 ['a', 'b']\n2 ['a', 'b']\n3 ['a', 'b']\n");
        }
    }
}

#[test]
fn o39_differences_that_cancel_in_a_checksum() {
    let stores = Stores::new();
    stores.sql(
        "CREATE TABLE s (id1 int, id2 int, v int, PRIMARY KEY (id1, id2)); CREATE TABLE k (id1 int, id2 int, v int, PRIMARY KEY (id1, id2));
         INSERT INTO s VALUES (1,1,5),(2,1,5); INSERT INTO k VALUES (1,1,7),(2,1,7);
         CREATE TABLE s2 (a int, b varchar(9)); CREATE TABLE k2 (a int, b varchar(9));
         INSERT INTO s2 VALUES (1,'x'),(1,'x'); INSERT INTO k2 VALUES (2,'y'),(2,'y')",
    );
    for (source, source2) in stores.tables("s").iter().zip(stores.tables("s2")) {
        for (sink, sink2) in stores.tables("k").iter().zip(stores.tables("k2")) {
            let outcome = stores.desk.diff(&[source, sink]);
            outcome.assert_counts(0, 0, 2);
            assert_ne!(outcome.document()["digest"]["source"], outcome.document()["digest"]["sink"]);
            stores.desk.diff(&[&source2, &sink2]).assert_counts(2, 2, 0);
        }
    }
}

#[test]
fn o48_binary_keys_are_reported_byte_for_byte() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    // The three keys of the case, filled up to 16 bytes for binary(16), among a hundred others.
    let keys: Vec<String> = ["00275cff0a", "0000", "fffe"]
        .into_iter()
        .map(str::to_owned)
        .chain((0..100_u32).map(|at| format!("{:08x}", at.wrapping_mul(0x9e37_79b9) | 0x0001_0001)))
        .collect();
    let rows = |literal: &dyn Fn(&str) -> String| -> String {
        let rows: Vec<String> = keys.iter().enumerate().map(|(v, key)| format!("({}, {v})", literal(key))).collect();
        rows.join(", ")
    };
    let filled = |key: &str| format!("{key:0<32}");
    maria.sql(&format!(
        "CREATE TABLE t (k binary(16) PRIMARY KEY, v int); INSERT INTO t VALUES {}",
        rows(&|key| format!("x'{key}'"))
    ));
    postgres.sql(&format!(
        "CREATE TABLE t (k bytea PRIMARY KEY, v int); INSERT INTO t VALUES {};
         CREATE TABLE s (k bytea PRIMARY KEY, v int); INSERT INTO s VALUES {};
         CREATE TABLE k AS TABLE s; ALTER TABLE k ADD PRIMARY KEY (k)",
        rows(&|key| format!("'\\x{}'", filled(key))),
        rows(&|key| format!("'\\x{key}'")),
    ));
    let wide = [maria.table("t"), postgres.table("t")];
    let narrow = [postgres.table("s"), postgres.table("k")];
    for sides in [&wide, &narrow] {
        desk.diff(&[&sides[0], &sides[1], "--ranges", "8"]).assert_counts(0, 0, 0);
    }
    // One row on each half, and a key of each side that the other has not.
    for table in ["t", "k"] {
        postgres.sql(&format!("UPDATE {table} SET v = 999 WHERE v IN (0, 2); DELETE FROM {table} WHERE v = 1"));
        postgres.sql(&format!("INSERT INTO {table} VALUES ('\\x5c00ff0d0a270000000000000000ff00', 7)"));
    }
    for (sides, fill) in [(&wide, true), (&narrow, false)] {
        let hex = |key: &str| if fill { filled(key) } else { key.to_owned() }.to_uppercase();
        let expected = format!(
            "missing {}\nchanged {}\nextra 5C00FF0D0A270000000000000000FF00\nchanged {}\n",
            hex("0000"),
            hex("00275cff0a"),
            hex("fffe")
        );
        let mut parts = Vec::new();
        for flags in [["--ranges", "8"], ["--ranges", "8"], ["--sort", "local"]] {
            let outcome = desk.diff(&[&sides[0], &sides[1], flags[0], flags[1]]);
            outcome.assert_counts(1, 1, 2);
            assert_eq!(desk.differences(&outcome, "SELECT kind, hex(key.k) FROM d ORDER BY key.k"), expected);
            assert_eq!(desk.differences(&outcome, "SELECT DISTINCT typeof(key.k) FROM d"), "BLOB\n");
            let names = outcome.document()["output"]["differences"].clone();
            let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
            parts.push(names.map(|name| std::fs::read(outcome.folder().join(name)).unwrap()).collect::<Vec<_>>());
        }
        // The same question has the same bytes for an answer.
        assert_eq!(parts[0], parts[1]);
    }
}

#[test]
fn o49_memory_does_not_grow_with_rows_and_differences() {
    const SIZES: [(&str, u64); 2] = [("few", 10_000), ("many", 100_000)];
    let stores = Stores::new();
    stores.sql("CREATE TABLE ten (d int); INSERT INTO ten VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)");
    for (name, rows) in SIZES {
        let number = "a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d";
        for (side, value) in [("s", "i"), ("k", "-2 - i")] {
            let sign = if side == "s" { 1 } else { -1 };
            let make = move |i: u64| vec![Cell::Int(i.cast_signed()), Cell::Int(sign * (i.cast_signed() + 1) - 1)];
            stores.sqlserver.made(&format!("{name}_{side}"), &[("id", "int"), ("v", "int")], rows, make);
            stores.generate(&format!(
                "CREATE TABLE {name}_{side} (id int PRIMARY KEY, v int); INSERT INTO {name}_{side} SELECT i, {value} FROM \
                 (SELECT {number} AS i FROM ten a, ten b, ten c, ten e, ten f) AS n WHERE i < {rows}"
            ));
        }
    }
    for store in 0..4 {
        let peaks = SIZES.map(|(name, rows)| {
            let (source, sink) = (stores.tables(&format!("{name}_s")), stores.tables(&format!("{name}_k")));
            let (outcome, peak) = diff_and_peak(&stores.desk, &[&source[store], &sink[store], "--memory", "96MiB"]);
            outcome.assert_counts(0, 0, rows);
            assert!(peak < 96, "{peak} MiB, {}", source[store]);
            peak
        });
        // Ten times the rows, every one of them a difference.
        assert!(peaks[1] < peaks[0] + 14, "{peaks:?} MiB");
    }
}

#[test]
fn o49_memory_holds_for_wide_rows() {
    const ROWS: u64 = 200;
    let stores = Stores::new();
    // 900 kB a row: together more than the run may hold.
    stores.maria.sql(&format!(
        "CREATE TABLE w (id int PRIMARY KEY, t mediumtext); INSERT INTO w SELECT seq, REPEAT(CHAR(65 + seq % 26), 900000) FROM seq_1_to_{ROWS}"
    ));
    stores.postgres.sql(&format!(
        "CREATE TABLE w (id int PRIMARY KEY, t text);
         INSERT INTO w SELECT i, repeat(chr(65 + i % 26), 900000) FROM generate_series(1, {ROWS}) i"
    ));
    let connection = sqlite(&stores.desk, "t.db", "CREATE TABLE w (id integer PRIMARY KEY, t text)");
    connection.execute_batch("BEGIN").unwrap();
    for id in 1..=ROWS {
        let text = char::from(65 + u8::try_from(id % 26).unwrap()).to_string().repeat(900_000);
        connection.execute("INSERT INTO w VALUES (?1, ?2)", (id.cast_signed(), text)).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    let letters = |i: u64| vec![u16::from(65 + u8::try_from((i + 1) % 26).unwrap_or(0)); 900_000];
    let make = move |i: u64| vec![Cell::Int(i.cast_signed() + 1), Cell::Utf16(letters(i))];
    stores.sqlserver.made("w", &[("id", "int"), ("t", "nvarchar(max)")], ROWS, make);
    let [maria, sqlite, postgres, sqlserver] = stores.tables("w");
    for (source, sink, sort) in [
        (&maria, &postgres, "server"),
        (&sqlite, &maria, "auto"),
        (&postgres, &sqlite, "local"),
        (&sqlserver, &postgres, "auto"),
    ] {
        let args = [source.as_str(), sink, "--memory", "160MiB", "--sort", sort];
        let (outcome, peak) = diff_and_peak(&stores.desk, &args);
        outcome.assert_counts(0, 0, 0);
        assert_eq!(outcome.document()["counts"]["matched"], ROWS);
        assert!(peak < 160, "{peak} MiB, {sort}, {source}");
    }
}
