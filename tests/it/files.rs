//! Cases O-51 to O-53: Parquet and CSV.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Postgres};

#[test]
fn o51_negative_decimals_in_all_physical_layouts() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, a numeric(9,2), b numeric(18,2), c numeric(38,2));
         INSERT INTO s VALUES (1,-12345.67,-12345.67,-12345.67),(2,-0.01,-0.01,-0.01),(3,0.01,0.01,0.01)",
    );
    desk.python(
        "v = [D('-12345.67'), D('-0.01'), D('0.01')]
t = pa.table({'id': pa.array([1,2,3], pa.int32()), 'a': pa.array(v, pa.decimal128(9,2)), 'b': pa.array(v, pa.decimal128(18,2)), 'c': pa.array(v, pa.decimal128(38,2))})
pq.write_table(t, 'fixed.parquet')
pq.write_table(t, 'ints.parquet', store_decimal_as_integer=True)",
    );
    for file in ["fixed.parquet", "ints.parquet"] {
        let outcome = desk.diff(&[&postgres.table("s"), &desk.arg(file)]);
        outcome.assert_counts(0, 0, 0);
        assert_eq!(outcome.document()["counts"]["matched"], 3);
    }
    tieout_testkit::write::byte_array_decimals(&desk.path("bytes.parquet")).unwrap();
    desk.diff(&[&postgres.table("s"), &desk.arg("bytes.parquet"), "-c", "a"]).assert_counts(0, 0, 0);
}

#[test]
fn o52_unsigned_integers() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, a smallint, b int, c bigint, d numeric);
         CREATE TABLE wrong (id int PRIMARY KEY, a smallint, b int, c bigint, d numeric);
         INSERT INTO s VALUES (1, 200, 40000, 3000000000, 18446744073709551615);
         INSERT INTO wrong VALUES (1, -56, -25536, -1294967296, -1)",
    );
    desk.python(
        "t = pa.table({'id': pa.array([1], pa.int32()), 'a': pa.array([200], pa.uint8()), 'b': pa.array([40000], pa.uint16()), 'c': pa.array([3000000000], pa.uint32()), 'd': pa.array([18446744073709551615], pa.uint64())})
pq.write_table(t, 'v1.parquet', version='1.0')
pq.write_table(t, 'v2.parquet', version='2.6')",
    );
    for file in ["v1.parquet", "v2.parquet"] {
        desk.diff(&[&postgres.table("s"), &desk.arg(file)]).assert_counts(0, 0, 0);
        let outcome = desk.diff(&[&postgres.table("wrong"), &desk.arg(file)]);
        outcome.assert_counts(0, 0, 1);
        let changed = desk.python(&format!(
            "print(duckdb.sql(\"SELECT changed_columns FROM '{}/differences/*.parquet'\").fetchall()[0][0])",
            outcome.folder().display()
        ));
        assert_eq!(changed, "['a', 'b', 'c', 'd']\n");
    }
}

#[test]
fn o53_csv_null_against_empty_string() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, t text, u text);
         INSERT INTO s VALUES (1,NULL,'x'),(2,'','x'),(3,'NULL','x'),(4,'a\"b','x')",
    );
    let sink = desk.file("k.csv", "\u{FEFF}id,t,u\n1,,x\n2,\"\",x\n3,NULL,x\n4,\"a\"\"b\",x\n");
    desk.diff(&[&postgres.table("s"), &sink]).assert_counts(0, 0, 0);
    desk.diff(&[&postgres.table("s"), &sink, "--null", "NULL"]).assert_counts(0, 0, 2);
}

#[test]
fn csv_against_csv_json_lines_and_parquet() {
    let desk = Desk::new();
    let csv = desk.file("s.csv", "id,name,amount\n1,Ann,10.50\n2,Bob,\n3,\"Cy, Jr\",7\n");
    let json = desk.file(
        "k.jsonl",
        "{\"id\": 3, \"name\": \"Cy, Jr\", \"amount\": 7.00}\n{\"id\": 1, \"name\": \"Ann\", \"amount\": 10.5}\n{\"name\": \"Bob\", \"id\": 2, \"amount\": null}\n",
    );
    desk.python(
        "pq.write_table(pa.table({'id': pa.array([1,2,3], pa.int64()), 'name': ['Ann','Bob','Cy, Jr'], 'amount': pa.array([D('10.50'), None, D('7.00')], pa.decimal128(10,2))}), 'p.parquet')",
    );
    let parquet = desk.arg("p.parquet");
    for pair in [[&csv, &parquet], [&parquet, &csv], [&json, &parquet], [&parquet, &json]] {
        desk.diff(&[pair[0], pair[1], "-k", "id"]).assert_counts(0, 0, 0);
    }
    desk.diff(&[&csv, &csv, "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&csv, &json, "-k", "id", "--cast", "id=int", "--cast", "amount=decimal"]).assert_counts(0, 0, 0);
}

#[test]
fn a_cut_or_ragged_file_is_an_error() {
    let desk = Desk::new();
    let good = desk.file("s.csv", "id,v\n1,a\n2,b\n");
    let ragged = desk.file("k.csv", "id,v\n1,a\n2\n");
    desk.diff(&[&good, &ragged, "-k", "id"]).assert_refused(&["sink", "k.csv"]);
    let open = desk.file("q.csv", "id,v\n1,a\n2,\"b\n");
    desk.diff(&[&good, &open, "-k", "id"]).assert_refused(&["sink", "q.csv"]);
    let bytes = desk.file("u.csv", b"id,v\n1,a\n2,\xFF\n");
    desk.diff(&[&good, &bytes, "-k", "id"]).assert_refused(&["sink"]);
    desk.python(
        "pq.write_table(pa.table({'id': list(range(10000)), 'v': [str(i) for i in range(10000)]}), 'p.parquet')
b = open('p.parquet', 'rb').read()
open('cut.parquet', 'wb').write(b[:len(b) // 2])
b = bytearray(b); n = len(b) // 3; b[n:n+64] = bytes(64)
open('bent.parquet', 'wb').write(b)",
    );
    let whole = desk.arg("p.parquet");
    desk.diff(&[&whole, &desk.arg("cut.parquet"), "-k", "id"]).assert_refused(&["sink", "cut.parquet"]);
    desk.diff(&[&whole, &desk.arg("bent.parquet"), "-k", "id"]).assert_refused(&["sink"]);
}

#[test]
fn directories_and_globs_are_one_table() {
    let desk = Desk::new();
    desk.python(
        "import os
os.mkdir('parts')
for i in range(4): pq.write_table(pa.table({'id': list(range(i * 100, i * 100 + 100)), 'v': [str(x) for x in range(100)]}), f'parts/p{i}.parquet')
pq.write_table(pa.table({'id': list(range(400)), 'v': [str(x % 100) for x in range(400)]}), 'one.parquet')",
    );
    let one = desk.arg("one.parquet");
    desk.diff(&[&one, &desk.arg("parts"), "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&one, &desk.arg("parts/*.parquet"), "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&one, &desk.arg("parts/p[0-2].parquet"), "-k", "id"]).assert_counts(100, 0, 0);
    desk.diff(&[&one, &desk.arg("none/*.parquet"), "-k", "id"]).assert_refused(&["none"]);
}
