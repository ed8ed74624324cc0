//! What a review of the MySQL connector found.

use super::Maria;
use crate::harness::{Desk, Postgres};

/// Some sets give U+FFFD, not a question mark, for what Unicode lacks: two texts would become one.
#[test]
fn characters_that_become_a_replacement_are_an_error() {
    let (desk, maria, postgres) = (Desk::new(), Maria::new(), Postgres::new());
    for (set, one, other) in [("tis620", "dbdc", "fca0"), ("big5", "a1fe", "a240")] {
        maria.sql(&format!(
            "CREATE TABLE a_{set} (id int PRIMARY KEY, v varchar(9) CHARACTER SET {set}); CREATE TABLE b_{set} LIKE a_{set};
             INSERT INTO a_{set} VALUES (1, x'{one}'); INSERT INTO b_{set} VALUES (1, x'{other}');
             CREATE TABLE j_{set} (id int PRIMARY KEY, v text CHARACTER SET {set} CHECK (json_valid(v)));
             INSERT INTO j_{set} VALUES (1, x'22{one}22');
             CREATE TABLE k_{set} (v varchar(9) CHARACTER SET {set} COLLATE {set}_bin PRIMARY KEY); INSERT INTO k_{set} VALUES (x'{one}')"
        ));
        for (source, sink) in [("a", "b"), ("j", "j"), ("k", "k"), ("a", "a")] {
            let [source, sink] = [source, sink].map(|table| maria.table(&format!("{table}_{set}")));
            for sort in ["auto", "local"] {
                desk.diff(&[&source, &sink, "--sort", sort]).assert_refused(&["a character that Unicode lacks"]);
            }
        }
        let bytes = ["--source-query", "--sink-query"]
            .map(|name| (name, format!("SELECT id, CAST(v AS BINARY) AS v FROM a_{set}")));
        let table = maria.table(&format!("a_{set}"));
        desk.diff(&[&table, &table, "-k", "id", bytes[0].0, &bytes[0].1, bytes[1].0, &bytes[1].1])
            .assert_counts(0, 0, 0);
    }
    // Where U+FFFD is a character of the set, it is one.
    maria.sql(
        "CREATE TABLE u (id int PRIMARY KEY, v varchar(9) CHARACTER SET utf16); INSERT INTO u VALUES (1, x'fffd');
         CREATE TABLE g (id int PRIMARY KEY, v varchar(9) CHARACTER SET utf8mb4); INSERT INTO g VALUES (1, x'efbfbd')",
    );
    postgres.sql("CREATE TABLE p (id int PRIMARY KEY, v text); INSERT INTO p VALUES (1, U&'\\FFFD')");
    for table in ["u", "g"] {
        desk.diff(&[&maria.table(table), &postgres.table("p")]).assert_counts(0, 0, 0);
    }
}

/// What a filter or a view reads besides the table is not part of the snapshot, or is answered anew by each read.
#[test]
fn filters_and_views_that_do_not_hold_still_are_refused() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql(
        "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT seq, seq FROM seq_1_to_100;
         CREATE TABLE mi (id int PRIMARY KEY, v int) ENGINE=MyISAM; INSERT INTO mi VALUES (1, 1);
         CREATE FUNCTION fn(x int) RETURNS int READS SQL DATA RETURN x % (1 + FLOOR(RAND() * 2));
         CREATE SEQUENCE sq1;
         CREATE VIEW chance AS SELECT * FROM t WHERE RAND() < 0.5; CREATE VIEW clock AS SELECT id, NOW(6) AS n FROM t;
         CREATE VIEW mine AS SELECT * FROM t WHERE CONNECTION_ID() % 2 = 0; CREATE VIEW over_it AS SELECT * FROM chance;
         CREATE VIEW still AS SELECT * FROM t; CREATE TABLE other (id int PRIMARY KEY, mi int); INSERT INTO other VALUES (7, 7)",
    );
    let table = maria.table("t");
    for (filter, told) in [
        ("fn(id) = 0", "is a routine"),
        ("id IN (SELECT id FROM mi)", "MyISAM has no snapshots"),
        ("id IN (SELECT id FROM chance)", "rand"),
        ("id IN (SELECT id FROM performance_schema.threads)", "performance_schema"),
        ("LASTVAL(sq1) = 1", "lastval"),
        ("PREVIOUS VALUE FOR sq1 = 1", "previous"),
        ("GET_LOCK('x', 1) = 1", "get_lock"),
    ] {
        let outcome = desk.diff(&[&table, &table, "-w", filter]);
        assert_eq!(outcome.code, 2, "{filter}: {}", outcome.stdout);
        assert!(outcome.stderr.to_lowercase().contains(&told.to_lowercase()), "{filter}: {}", outcome.stderr);
    }
    for (view, word) in
        [("chance", "rand"), ("clock", "current_timestamp"), ("mine", "connection_id"), ("over_it", "rand")]
    {
        desk.diff(&[&maria.table(view), &maria.table(view), "-k", "id"])
            .assert_refused(&[word, "each read answers anew"]);
    }
    // Columns may be called as such a table is, and other tables with snapshots may be read.
    let other = maria.table("other");
    desk.diff(&[&other, &other, "-w", "mi = 7"]).assert_counts(0, 0, 0);
    desk.diff(&[&table, &table, "-w", "id IN (SELECT id FROM other)"]).assert_counts(0, 0, 0);
    desk.diff(&[&maria.table("still"), &table, "-k", "id"]).assert_counts(0, 0, 0);
}

#[test]
fn names_with_commas_and_indexes_that_are_ignored() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql(
        "CREATE TABLE `a, b` (`c, d` int, e int, v int, PRIMARY KEY (`c, d`, e)); INSERT INTO `a, b` SELECT seq, seq, seq FROM seq_1_to_40000;
         ANALYZE TABLE `a, b`;
         CREATE TABLE ig (id int PRIMARY KEY, k int NOT NULL, v int, UNIQUE KEY i (k)); INSERT INTO ig SELECT seq, seq, seq FROM seq_1_to_1000;
         ALTER TABLE ig ALTER INDEX i IGNORED",
    );
    let commas = maria.table("%22a%2C%20b%22");
    desk.diff(&[&commas, &commas]).assert_counts(0, 0, 0);
    let ignored = maria.table("ig");
    desk.diff(&[&ignored, &ignored, "-k", "k", "--ranges", "4"]).assert_counts(0, 0, 0);
}

/// The server sorts labels by their numbers, of whatever character set they are.
#[test]
fn labels_of_bytes_are_sorted_by_their_bytes() {
    let (desk, maria) = (Desk::new(), Maria::new());
    maria.sql(
        "CREATE TABLE e (k enum('b','a') CHARACTER SET binary PRIMARY KEY); INSERT INTO e VALUES ('a'), ('b');
         CREATE TABLE s (k set('b','a') CHARACTER SET binary PRIMARY KEY); INSERT INTO s VALUES ('a'), ('b'), ('a,b')",
    );
    for table in ["e", "s"] {
        let table = maria.table(table);
        for ranges in ["1", "3"] {
            desk.diff(&[&table, &table, "--ranges", ranges]).assert_counts(0, 0, 0);
        }
    }
}

/// A row beyond what one sort may hold needs no sort.
#[test]
fn large_rows_under_a_key_of_their_own() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, t text); INSERT INTO s VALUES (1, repeat('x', 12000000)), (2, 'a'), (3, repeat('y', 9000000));
         CREATE TABLE k AS TABLE s; ALTER TABLE k ADD PRIMARY KEY (id)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    postgres.sql("UPDATE k SET t = t || 'z' WHERE id = 3");
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 1);
}
