//! Cases O-40 to O-43 and O-55: schema and identifiers.

use crate::harness::{Desk, Postgres, two_tables};
use std::fmt::Write as _;

#[test]
fn o40_mixed_case_and_reserved_words() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        r#"CREATE SCHEMA pgt;
           CREATE TABLE pgt."Emp" ("order" int PRIMARY KEY, "select" text, "Ünit" text, "a""b" text);
           CREATE TABLE pgt.emp ("order" int PRIMARY KEY, "select" text, "Ünit" text, "a""b" text);
           INSERT INTO pgt."Emp" VALUES (1,'x','y','z'); INSERT INTO pgt.emp VALUES (1,'other','y','z');
           CREATE TABLE copy AS SELECT * FROM pgt."Emp"; ALTER TABLE copy ADD PRIMARY KEY ("order")"#,
    );
    let sink = postgres.table("copy");
    desk.diff(&[&postgres.table("pgt.Emp"), &sink]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table(r#"pgt."Emp""#), &sink]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("pgt.emp"), &sink]).assert_counts(0, 0, 1);
    desk.diff(&[&postgres.table("pgt.EMPS"), &sink]).assert_refused(&["EMPS"]);
}

#[test]
fn o41_many_columns() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    for count in [60, 600, 1600] {
        let mut columns = "c1 int PRIMARY KEY".to_owned();
        (2..=count).for_each(|column| write!(columns, ", c{column} int").unwrap_or_default());
        let row = |last: i32| {
            let values: Vec<String> = (1..count).map(|column| (column % 100).to_string()).collect();
            format!("({}, {last})", values.join(", "))
        };
        postgres.sql("DROP TABLE IF EXISTS s, k");
        two_tables(&postgres, &columns, &row(1), &row(2));
        let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
        outcome.assert_counts(0, 0, 1);
        let named = desk.python(&format!(
            "print(duckdb.sql(\"SELECT changed_columns FROM '{}/differences/*.parquet'\").fetchall()[0][0])",
            outcome.folder().display()
        ));
        assert_eq!(named, format!("['c{count}']\n"));
    }
}

#[test]
fn o41_five_thousand_columns_of_a_file() {
    let desk = Desk::new();
    desk.python(
        "t = pa.table({f'c{i}': pa.array([i], pa.int32()) for i in range(1, 5001)})
pq.write_table(t, 's.parquet')
names = t.column_names
open('k.csv', 'w').write(','.join(names) + '\\n' + ','.join(str(i) if i < 5000 else '7' for i in range(1, 5001)) + '\\n')",
    );
    let outcome = desk.diff(&[&desk.arg("s.parquet"), &desk.arg("k.csv"), "-k", "c1"]);
    outcome.assert_counts(0, 0, 1);
}

#[test]
fn o42_generated_columns_are_compared() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a * 2) STORED);
         CREATE TABLE k (id int PRIMARY KEY, a int, g int);
         INSERT INTO s (id, a) VALUES (1, 2); INSERT INTO k VALUES (1, 2, 4)",
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    postgres.sql("UPDATE k SET g = 5");
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 1);
}

#[test]
fn o43_empty_tables() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(&postgres, "id int PRIMARY KEY, t text", "", "(1,'a'),(2,'b'),(3,'c')");
    postgres.sql("CREATE TABLE e (id int PRIMARY KEY, t text)");
    desk.python(
        "pq.write_table(pa.table({'id': pa.array([], pa.int32()), 't': pa.array([], pa.string())}), 'e.parquet')
pq.ParquetWriter('none.parquet', pa.schema([('id', pa.int32()), ('t', pa.string())])).close()",
    );
    desk.file("e.csv", "id,t\n");
    let empty =
        [postgres.table("s"), postgres.table("e"), desk.arg("e.parquet"), desk.arg("none.parquet"), desk.arg("e.csv")];
    for source in &empty {
        for sink in &empty {
            let outcome = desk.diff(&[source, sink, "-k", "id"]);
            outcome.assert_counts(0, 0, 0);
            let rows = desk.python(&format!(
                "t = pq.read_table('{}/differences'); print(t.num_rows, 'kind' in t.column_names, 'key' in t.column_names)",
                outcome.folder().display()
            ));
            assert_eq!(rows, "0 True True\n");
        }
        desk.diff(&[source, &postgres.table("k"), "-k", "id"]).assert_counts(0, 3, 0);
        desk.diff(&[&postgres.table("k"), source, "-k", "id"]).assert_counts(3, 0, 0);
    }
}

#[test]
fn o55_columns_whose_types_do_not_meet() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, a text, d date, u uuid, only_s int);
         CREATE TABLE k (id int PRIMARY KEY, a int, d varchar(10), u bytea, only_k int);
         INSERT INTO s VALUES (1,'12','2024-01-02','01020304-0506-0708-090a-0b0c0d0e0f10',1);
         INSERT INTO k VALUES (1,12,'2024-01-02','\\x0102030405060708090a0b0c0d0e0f10',1)",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    desk.diff(&[&source, &sink]).assert_refused(&["a", "d", "u", "only_s", "only_k", "--exclude", "--cast"]);
    let casts = ["--cast", "a=int", "--cast", "d=date", "--cast", "u=uuid"];
    let mut args = vec![source.as_str(), sink.as_str()];
    args.extend(casts);
    desk.diff(&args).assert_refused(&["only_s", "only_k"]);
    args.extend(["--exclude", "only_s", "--exclude", "only_k"]);
    desk.diff(&args).assert_counts(0, 0, 0);
    postgres.sql("UPDATE s SET a = 'twelve'");
    desk.diff(&args).assert_refused(&["source", "a"]);
}
