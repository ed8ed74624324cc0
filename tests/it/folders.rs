//! Folders and globs: no file is passed over in silence, and what folders are called counts.

use crate::harness::{Desk, Postgres};

#[test]
fn a_file_of_unknown_format_is_refused_not_passed_over() {
    let desk = Desk::new();
    let one = desk.file("one.csv", "id\n1\n");
    desk.python(
        "import os, bz2
for name in ['packed', 'plain', 'readme', 'side']:
    os.mkdir(name); open(name + '/a.csv', 'w').write('id\\n1\\n')
open('packed/b.csv.bz2', 'wb').write(bz2.compress(b'id\\n2\\n'))
open('plain/part-00001', 'w').write('id\\n2\\n')
open('readme/README.md', 'w').write('hello')
for name in ['_SUCCESS', '.a.csv.crc', 'a.csv.crc', 'a.csv.md5']: open('side/' + name, 'w').write('x')",
    );
    for locator in ["packed", "packed/*", "packed/*#csv", "packed/b.csv.bz2"] {
        desk.diff(&[&one, &desk.arg(locator), "-k", "id"]).assert_refused(&["sink", "b.csv.bz2", "not supported"]);
    }
    for locator in ["plain", "plain/*"] {
        desk.diff(&[&one, &desk.arg(locator), "-k", "id"]).assert_refused(&["sink", "part-00001", "#csv"]);
    }
    desk.diff(&[&one, &desk.arg("readme"), "-k", "id"]).assert_refused(&["sink", "README.md", "glob"]);
    desk.diff(&[&one, &desk.arg("plain#csv"), "-k", "id"]).assert_counts(0, 1, 0);
    desk.diff(&[&one, &desk.arg("readme/*.csv"), "-k", "id"]).assert_counts(0, 0, 0);
    let side = desk.diff(&[&one, &desk.arg("side"), "-k", "id"]);
    side.assert_counts(0, 0, 0);
    let position = side.document()["positions"]["sink"]["value"].to_string();
    assert!(position.contains("4 side files"), "{position}");
    desk.diff(&[&one, &desk.arg("side/*"), "-k", "id"]).assert_refused(&["sink", "_SUCCESS"]);
}

#[test]
fn nothing_that_could_be_data_is_left_out_in_silence() {
    let desk = Desk::new();
    let one = desk.file("one.csv", "id\n1\n");
    desk.python(
        "import os
for name in ['under/_b.csv', 'dot/.b.csv', 'old/_old/b.csv', 'git/.git/b.csv', 'unfinished/_temporary/0/part-0']:
    top = name.split('/')[0]; os.makedirs(os.path.dirname(name), exist_ok=True)
    open(top + '/a.csv', 'w').write('id\\n1\\n'); open(name, 'w').write('id\\n2\\n')",
    );
    let folders = [("under", "_b.csv"), ("dot", ".b.csv"), ("old", "_old/b.csv"), ("git", ".git/b.csv")];
    for (folder, name) in folders {
        desk.diff(&[&one, &desk.arg(folder), "-k", "id"]).assert_refused(&["sink", name, "named like data"]);
    }
    desk.diff(&[&one, &desk.arg("unfinished"), "-k", "id"]).assert_refused(&["sink", "_temporary", "not finished"]);
    desk.diff(&[&one, &desk.arg("unfinished#csv"), "-k", "id"]).assert_refused(&["sink", "_temporary", "not finished"]);
    // Wildcards take what begins with an underscore, and only a spelt dot takes one.
    for pattern in ["under/*.csv", "under/**", "old/**/*.csv"] {
        desk.diff(&[&one, &desk.arg(pattern), "-k", "id"]).assert_counts(0, 1, 0);
    }
    for (pattern, name) in [("dot/*.csv", ".b.csv"), ("git/**/*.csv", ".git/b.csv"), ("dot/?b.csv", ".b.csv")] {
        desk.diff(&[&one, &desk.arg(pattern), "-k", "id"]).assert_refused(&["sink", name, "named like data"]);
    }
    desk.diff(&[&one, &desk.arg("dot/.*.csv"), "-k", "id"]).assert_counts(1, 1, 0);
    desk.diff(&[&one, &desk.arg("git/*.csv"), "-k", "id"]).assert_counts(0, 0, 0);
}

#[test]
fn a_glob_that_matches_a_folder_is_refused() {
    let desk = Desk::new();
    let one = desk.file("one.csv", "id\n1\n");
    desk.python(
        "import os
os.makedirs('t/b.csv'); open('t/a.csv', 'w').write('id\\n1\\n'); open('t/b.csv/part.csv', 'w').write('id\\n2\\n')",
    );
    desk.diff(&[&one, &desk.arg("t/*.csv"), "-k", "id"]).assert_refused(&["sink", "folder b.csv"]);
    desk.diff(&[&one, &desk.arg("t/**/*.csv"), "-k", "id"]).assert_counts(0, 1, 0);
}

const PARTITIONED: &str = "import os
t = pa.table({'id': [1, 2, 3, 4], 'v': ['a', 'b', 'c', 'd'], 'day': pa.array([1, 1, 2, None], pa.int32()), 'who': ['x/y', 'z', 'z', 'z']})
pq.write_to_dataset(t, 'parts', partition_cols=['day', 'who'])
pq.write_table(t, 'whole.parquet')
wrong = t.set_column(2, 'day', pa.array([1, 2, 2, None], pa.int32()))
pq.write_table(wrong, 'wrong.parquet')
pq.write_to_dataset(t.select(['id', 'v', 'day']), 'days', partition_cols=['day'])
";

#[test]
fn partition_folders_are_columns_of_parquet_files() {
    let desk = Desk::new();
    desk.python(PARTITIONED);
    let parts = desk.arg("parts");
    desk.diff(&[&desk.arg("whole.parquet"), &parts, "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&parts, &desk.arg("wrong.parquet"), "-k", "id"]).assert_counts(0, 0, 1);
    desk.diff(&[&parts, &desk.arg("parts/**/*.parquet"), "-k", "id"]).assert_counts(0, 0, 0);
    // A key that folders alone make, beside one of the files.
    desk.diff(&[&desk.arg("whole.parquet"), &parts, "-k", "who", "-k", "id"]).assert_counts(0, 0, 0);
    // One partition by a glob below its folder has no such column.
    let only = desk.diff(&[&desk.arg("whole.parquet"), &desk.arg("days/day=2/*.parquet"), "-k", "id"]);
    only.assert_refused(&["day", "who"]);
}

#[test]
fn partition_folders_meet_typed_columns_of_a_database() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    desk.python(PARTITIONED);
    postgres.sql(
        "CREATE TABLE s (id bigint PRIMARY KEY, v text, day int, who text);
         INSERT INTO s VALUES (1,'a',1,'x/y'), (2,'b',1,'z'), (3,'c',3,'z'), (4,'d',NULL,'z')",
    );
    desk.diff(&[&postgres.table("s"), &desk.arg("parts")]).assert_counts(0, 0, 1);
}

#[test]
fn partition_folders_are_columns_of_text_files() {
    let desk = Desk::new();
    desk.python(
        "import os
for day, ids in [('1', [1, 2]), ('2', [3]), ('__HIVE_DEFAULT_PARTITION__', [4])]:
    for kind in ['csv', 'json']: os.makedirs(f'{kind}/day={day}')
    open(f'csv/day={day}/a.csv', 'w').write('id\\n' + ''.join(f'{i}\\n' for i in ids))
    open(f'json/day={day}/a.jsonl', 'w').write(''.join('{\"id\":%d}\\n' % i for i in ids))
pq.write_table(pa.table({'id': [1, 2, 3, 4], 'day': pa.array([1, 2, 2, None], pa.int32())}), 'p.parquet')",
    );
    for folder in ["csv", "json"] {
        desk.diff(&[&desk.arg("p.parquet"), &desk.arg(folder), "-k", "id"]).assert_counts(0, 0, 1);
    }
    desk.diff(&[&desk.arg("csv"), &desk.arg("json"), "-k", "id", "--cast", "id=int"]).assert_counts(0, 0, 0);
}

#[test]
fn partitions_that_contradict_the_files_or_each_other_are_refused() {
    let desk = Desk::new();
    desk.python(
        "import os
for name in ['own/day=1', 'mixed/day=1', 'mixed/hour=2', 'some/day=1']: os.makedirs(name)
t = pa.table({'id': [1]})
pq.write_table(t, 'one.parquet')
pq.write_table(pa.table({'id': [1], 'day': ['1']}), 'own/day=1/a.parquet')
for name in ['mixed/day=1/a', 'mixed/hour=2/b', 'some/a', 'some/day=1/b']: pq.write_table(t, name + '.parquet')",
    );
    let one = desk.arg("one.parquet");
    desk.diff(&[&one, &desk.arg("own"), "-k", "id"]).assert_refused(&["sink", "column day"]);
    desk.diff(&[&one, &desk.arg("mixed"), "-k", "id"]).assert_refused(&["sink", "day", "hour"]);
    desk.diff(&[&one, &desk.arg("some"), "-k", "id"]).assert_refused(&["sink", "partitions", "day"]);
}

#[test]
fn tables_whose_log_names_their_files_are_refused() {
    let desk = Desk::new();
    desk.python(
        "import os
t = pa.table({'id': [1]})
pq.write_table(t, 'one.parquet')
for name, log in [('delta', '_delta_log/00000.json'), ('hudi', '.hoodie/hoodie.properties'), ('stream', '_spark_metadata/0'), ('ice', 'metadata/v1.metadata.json')]:
    os.makedirs(f'all/{name}/data'); os.makedirs(os.path.dirname(f'all/{name}/{log}'))
    open(f'all/{name}/{log}', 'w').write('{}'); pq.write_table(t, f'all/{name}/data/a.parquet')",
    );
    let one = desk.arg("one.parquet");
    for (folder, kind) in [
        ("all/delta", "Delta"),
        ("all/hudi", "Hudi"),
        ("all/stream", "Spark"),
        ("all/ice", "Iceberg"),
        ("all", "its log"),
    ] {
        desk.diff(&[&one, &desk.arg(folder), "-k", "id"]).assert_refused(&["sink", kind, "its log decides"]);
    }
    desk.diff(&[&one, &desk.arg("all/delta/data/*.parquet"), "-k", "id"]).assert_counts(0, 0, 0);
}

#[test]
fn a_flipped_bit_in_a_page_with_a_checksum_is_an_error() {
    let desk = Desk::new();
    desk.python(
        "t = pa.table({'id': pa.array(range(1000), pa.int64()), 'v': pa.array([7777777777 + i for i in range(1000)], pa.int64())})
for name, checksum in [('checked', True), ('plain', False)]:
    pq.write_table(t, name + '.parquet', compression='none', use_dictionary=False, write_page_checksum=checksum, write_statistics=False)
    b = bytearray(open(name + '.parquet', 'rb').read())
    b[b.index((7777777777 + 500).to_bytes(8, 'little'))] ^= 1
    open(name + '-bent.parquet', 'wb').write(b)",
    );
    let good = desk.arg("checked.parquet");
    desk.diff(&[&good, &good, "-k", "id"]).assert_counts(0, 0, 0);
    desk.diff(&[&good, &desk.arg("checked-bent.parquet"), "-k", "id"])
        .assert_refused(&["sink", "checked-bent.parquet"]);
    // Without a checksum the byte is a value like any other.
    desk.diff(&[&good, &desk.arg("plain-bent.parquet"), "-k", "id"]).assert_counts(0, 0, 1);
}
