//! PostgreSQL tables whose rows lie elsewhere: no snapshot covers them, and the run says so.

use crate::harness::{Desk, Postgres};

#[test]
fn views_and_partitions_over_foreign_tables_are_not_called_frozen() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE EXTENSION file_fdw;
         CREATE SERVER away FOREIGN DATA WRAPPER file_fdw;
         CREATE FOREIGN TABLE remote (id bigint) SERVER away OPTIONS (program 'echo 1', format 'csv');
         CREATE VIEW direct AS SELECT * FROM remote;
         CREATE VIEW nested AS SELECT * FROM direct WHERE id < 10;
         CREATE FUNCTION fetched() RETURNS SETOF bigint LANGUAGE sql STABLE AS 'SELECT id FROM remote';
         CREATE VIEW called AS SELECT f AS id FROM fetched() f;
         CREATE TABLE parted (id bigint) PARTITION BY RANGE (id);
         CREATE TABLE near PARTITION OF parted FOR VALUES FROM (2) TO (9);
         CREATE FOREIGN TABLE far PARTITION OF parted FOR VALUES FROM (0) TO (2)
             SERVER away OPTIONS (program 'echo 1', format 'csv');
         CREATE VIEW over_parted AS SELECT * FROM parted;
         CREATE VIEW pruned AS SELECT * FROM parted WHERE id > extract(day FROM current_date) + 100;
         CREATE TABLE own (id bigint); INSERT INTO own VALUES (1);
         CREATE VIEW plain AS SELECT * FROM own;
         CREATE MATERIALIZED VIEW stored AS SELECT * FROM remote;
         CREATE VIEW over_stored AS SELECT * FROM stored",
    );
    let exactness = |table: &str| {
        let run = desk.diff(&[&postgres.table(table), &postgres.table("own"), "-k", "id"]);
        run.document()["positions"]["source"]["exactness"].as_str().unwrap_or_default().to_owned()
    };
    for table in ["remote", "direct", "nested", "called", "parted", "over_parted", "pruned"] {
        assert_eq!(exactness(table), "unknown", "{table}");
    }
    for table in ["own", "plain", "stored", "over_stored"] {
        assert_eq!(exactness(table), "bracketed", "{table}");
    }
}
