//! Cases O-23 to O-29: dates and times.

use crate::harness::{Desk, Postgres, two_tables};

#[test]
fn o23_date_and_sub_second_precision() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, d date, t timestamp);
         INSERT INTO s VALUES (1,'2024-03-28',NULL),(2,NULL,'2024-03-28 01:02:03.123456'),(3,NULL,'2024-03-28 01:02:03.123'),(4,NULL,'2024-03-28 01:02:03.123457')",
    );
    desk.python(
        "t = lambda ns: 1711587723 * 10**9 + ns
pq.write_table(pa.table({'id': pa.array([1,2,3,4], pa.int32()), 'd': pa.array([datetime.date(2024,3,28), None, None, None], pa.date32()),
'm': pa.array([None, t(123000000), t(123000000), t(123456789)], pa.timestamp('ns'))}).rename_columns(['id','d','t']), 'k.parquet')",
    );
    desk.diff(&[&postgres.table("s"), &desk.arg("k.parquet")]).assert_counts(0, 0, 2);
    desk.diff(&[&postgres.table("s"), &desk.arg("k.parquet"), "--option", "t.precision=ms"]).assert_counts(0, 0, 0);
    // DATE against TIMESTAMP needs a mapping, even at midnight.
    postgres.sql("CREATE TABLE k2 (id int PRIMARY KEY, d timestamp, t timestamp); INSERT INTO k2 SELECT id, d::timestamp, t FROM s");
    desk.diff(&[&postgres.table("s"), &postgres.table("k2")]).assert_refused(&["date", "--cast"]);
    desk.diff(&[&postgres.table("s"), &postgres.table("k2"), "--cast", "d=timestamp"]).assert_counts(0, 0, 0);
}

#[test]
fn o24_infinity_and_dates_far_away() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    let row = "(1,'infinity','infinity','infinity','[-infinity,infinity)','{infinity}'),
               (2,'2024-01-02','2024-01-02 03:04:05','2024-01-02 03:04:05+00','[2024-01-02 00:00+00,2024-01-03 00:00+00)','{\"2024-01-02 03:04:05+00\"}'),
               (3,'-infinity','-infinity','-infinity','empty','{}'),
               (4,'5874897-12-31','294276-12-31 23:59:59.999998','4713-01-01 00:00:00+00 BC','(,)',NULL)";
    two_tables(
        &postgres,
        "id int PRIMARY KEY, d date, t timestamp, z timestamptz, r tstzrange, a timestamptz[]",
        row,
        row,
    );
    desk.diff(&[&postgres.table("s"), &postgres.table("k")]).assert_counts(0, 0, 0);
    postgres.sql("UPDATE k SET t = '294276-12-31 23:59:59.999999' WHERE id = 1");
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 1);
    // What no Arrow type holds stands in the diff file as text.
    let row = desk.python(&format!(
        "r = duckdb.sql(\"SELECT changed_columns, source.t, beyond_type FROM '{}/differences/*.parquet'\").fetchall()[0]; print(r[0], r[1], [x['value'] for x in r[2] if x['side'] == 'source' and x['column'] == 't'])",
        outcome.folder().display()
    ));
    assert_eq!(row, "['t'] None ['infinity']\n");
}

#[test]
fn o25_far_dates_never_pass_through_nanoseconds() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, t timestamp); INSERT INTO s VALUES
         (1,'1000-01-01'),(2,'2000-01-01'),(3,'3000-01-01'),(4,'8900-12-31'),(5,'9999-12-31 02:00:00')",
    );
    desk.python(
        "t = pa.table({'id': pa.array([1,2,3,4,5], pa.int32()), 't': pa.array([datetime.datetime(1000,1,1), datetime.datetime(2000,1,1), datetime.datetime(3000,1,1), datetime.datetime(8900,12,31), datetime.datetime(9999,12,31,2)], pa.timestamp('us'))})
pq.write_table(t, 'us.parquet')
pq.write_table(t, 'int96.parquet', use_deprecated_int96_timestamps=True)",
    );
    for file in ["us.parquet", "int96.parquet"] {
        desk.diff(&[&postgres.table("s"), &desk.arg(file)]).assert_counts(0, 0, 0);
    }
    postgres.sql("UPDATE s SET t = '3000-01-01 00:00:00.000001' WHERE id = 3");
    for file in ["us.parquet", "int96.parquet"] {
        desk.diff(&[&postgres.table("s"), &desk.arg(file)]).assert_counts(0, 0, 1);
    }
}

#[test]
fn o29_the_end_of_the_day_is_not_its_start() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, t time",
        "(1,'24:00:00'),(2,'00:00:00')",
        "(1,'00:00:00'),(2,'00:00:00')",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 1);
    let row = desk.python(&format!(
        "r = duckdb.sql(\"SELECT source.t, beyond_type FROM '{}/differences/*.parquet'\").fetchall()[0]; print(r[0], r[1][0]['value'])",
        outcome.folder().display()
    ));
    assert_eq!(row, "None 24:00:00\n");
    desk.python(
        "pq.write_table(pa.table({'id': pa.array([1, 2], pa.int32()), 't': pa.array([datetime.time(0), datetime.time(0)], pa.time64('us'))}), 'k.parquet')",
    );
    desk.diff(&[&postgres.table("s"), &desk.arg("k.parquet")]).assert_counts(0, 0, 1);
}

#[test]
fn zones_meet_only_under_a_named_zone() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, t timestamptz); INSERT INTO s VALUES (1,'2024-07-01 10:00+02'),(2,'2024-11-03 05:30Z');
         CREATE TABLE k (id int PRIMARY KEY, t timestamp); INSERT INTO k VALUES (1,'2024-07-01 10:00'),(2,'2024-11-03 06:30')",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    desk.diff(&[&source, &sink]).assert_refused(&["zone"]);
    desk.diff(&[&source, &sink, "--option", "t.zone=Europe/Paris"]).assert_counts(0, 0, 0);
    // 01:30 happens twice that day in New York: no single moment, so an error.
    postgres.sql("UPDATE k SET t = '2024-11-03 01:30' WHERE id = 2");
    desk.diff(&[&source, &sink, "--option", "t.zone=America/New_York"]).assert_refused(&["t"]);
}
