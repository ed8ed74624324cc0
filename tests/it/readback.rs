//! Run folders, read back by pyarrow and DuckDB, and their digests recomputed from `docs/encoding.md` alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail loudly")]

use crate::harness::{Desk, Outcome, Postgres, program, two_tables};
use std::{fmt::Write as _, fs, path::Path, process::Command};

/// Python that reads the folder `run` of a run.
///
/// `cells(column)` gives what a struct column holds, member by member; days and clocks as the numbers that are stored.
/// `key` and `field` write the canonical form of an integer or a text.
const READER: &str = r#"
import glob, hashlib, json, os, pathlib
table = pq.read_table(run + '/differences')
record = json.load(open(run + '/run.json'))
ranges = pq.read_table(run + '/ranges.parquet').to_pylist()
con = duckdb.connect()
con.execute("SET TimeZone = 'UTC'")
con.execute(f"CREATE VIEW d AS SELECT * FROM '{run}/differences/*.parquet'")

def stored(array):
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return array.to_pylist()

def cells(name):
    column = table.column(name).combine_chunks()
    return {f.name: stored(column.field(i)) for i, f in enumerate(column.type)}

def same(found, expected):
    assert found == expected, f'\nfound    {found!r:.2000}\nexpected {expected!r:.2000}'

def number(n):
    if n == 0:
        return b'\x80'
    digits, size = [], abs(n)
    while size:
        digits.insert(0, size % 100)
        size //= 100
    e = len(digits)
    while digits[-1] == 0:
        digits.pop()
    form = bytes([0xA1 + e]) + bytes(d + 1 for d in digits) + b'\0'
    return form if n > 0 else bytes(b ^ 0xFF for b in form)

def key(*values):
    out = b''
    for v in values:
        if v is None: out += b'\0'
        elif isinstance(v, int): out += b'\1' + number(v)
        else: out += b'\1' + v.encode().replace(b'\0', b'\0\xff') + b'\0\0'
    return out

def field(v):
    if v is None: return b'\0'
    form = number(v) if isinstance(v, int) else v.encode()
    assert len(form) < 128
    return b'\1' + bytes([len(form)]) + form

def blake(data):
    return hashlib.blake2b(data, digest_size=32).digest()

def record_bytes(k, row):
    return len(k).to_bytes(4, 'big') + k + len(row).to_bytes(4, 'big') + row

def table_digest(side):
    out = b'tieout-table-v1\0'
    for r in ranges:
        for bound in (r['lower'], r['upper']):
            out += b'\0' if bound is None else b'\1' + len(bound).to_bytes(4, 'big') + bound
        out += r[side + '_rows'].to_bytes(8, 'big') + r[side + '_digest']
    return blake(out).hex()

def check_ranges():
    same([r['range'] for r in ranges], list(range(len(ranges))))
    assert ranges[0]['lower'] is None and ranges[-1]['upper'] is None
    for a, b in zip(ranges, ranges[1:]):
        same(a['upper'], b['lower'])
    bounds = [r['lower'] for r in ranges[1:]]
    same(bounds, sorted(set(bounds)))
    assert all(r['done'] for r in ranges)
    for name in ('matched', 'missing', 'extra', 'changed', 'excused'):
        same(sum(r[name] for r in ranges), record['counts'][name])
    for side in ('source', 'sink'):
        same(sum(r[side + '_rows'] for r in ranges), record['rows'][side])
        same(sum(r[side + '_duplicate_keys'] for r in ranges), record['duplicates'][side]['keys'])
        same(sum(r[side + '_surplus_rows'] for r in ranges), record['duplicates'][side]['surplus'])
        same(sum(r[side + '_null_key_rows'] for r in ranges), record['null_key_rows'][side])
        same(table_digest(side), record['digest'][side])
    same(record['coverage'], {'ranges_done': len(ranges), 'ranges_total': len(ranges), 'complete': True})
    for kind in ('missing', 'extra', 'changed'):
        found = con.execute('SELECT coalesce(sum(occurrences), 0) FROM d WHERE kind = ?', [kind]).fetchall()[0][0]
        same(int(found), record['counts'][kind])
    files = sorted(os.path.basename(p) for p in glob.glob(run + '/differences/*'))
    same(sorted(os.path.basename(p) for p in record['output']['differences']), files)
"#;

/// Runs Python over the folder of a run; it fails the test by an exception.
#[track_caller]
fn read_back(desk: &Desk, outcome: &Outcome, script: &str) {
    desk.python(&format!("run = {:?}\n{READER}\ncheck_ranges()\n{script}", outcome.folder().to_str().unwrap()));
}

#[test]
fn every_arrow_type_is_read_back_exactly() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, b bool, i bigint, m numeric(12,2), w numeric, d float8, r real, t text, x bytea, dt date,
         tm time, ts timestamp, tz timestamptz, u uuid, j jsonb, arr int[], iv interval, ip inet, bits varbit, rg int4range",
        r#"(1, true, 9223372036854775807, 1234567890.12, 0.100000000000000000000000000000000000000001, 0.1, 0.1,
            E'\u00e4"''\\', '\x00ff', '0044-03-15 BC', '23:59:59.999999', '1969-12-31 23:59:59.999999',
            '2024-07-01 12:00:00.5+02', '00112233-4455-6677-8899-aabbccddeeff', '{"b": [1.50, null, true], "a": "x"}',
            '{1,NULL,3}', '1 mon 2 days 03:00:00.000004', '10.0.0.1/8', '101', '[1,5)'),
           (5, true, 1, 1, 1, 1, 1, 'same', '', '2024-01-01', '1:00', '2024-01-01', '2024-01-01', NULL, '1', '{}', '1 s', '::1', '1', '[1,2]')"#,
        r"(1, false, -9223372036854775808, -0.01, -5, -0.25, 0.5, '', '', '2024-02-29', '00:00', '2024-02-29',
           '1969-12-31 23:59:59.999999+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '[]', '{}', '-1 day', '::1', '', 'empty'),
          (5, true, 1, 1, 1, 1, 1, 'same', '', '2024-01-01', '1:00', '2024-01-01', '2024-01-01', NULL, '1', '{}', '1 s', '::1', '1', '[1,2]')",
    );
    postgres.sql("INSERT INTO s (id) VALUES (2); INSERT INTO k (id) VALUES (3)");
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(1, 1, 1);
    read_back(
        &desk,
        &outcome,
        r#"
names = ['b', 'i', 'm', 'w', 'd', 'r', 't', 'x', 'dt', 'tm', 'ts', 'tz', 'u', 'j', 'arr', 'iv', 'ip', 'bits', 'rg']
types = [pa.bool_(), pa.int64(), pa.decimal128(12, 2), pa.string(), pa.float64(), pa.float64(), pa.string(), pa.binary(),
         pa.date32(), pa.time64('us'), pa.timestamp('us'), pa.timestamp('us', tz='UTC'), pa.uuid()] + [pa.string()] * 6
for side in ('source', 'sink'):
    same([(f.name, f.type) for f in table.schema.field(side).type], list(zip(names, types)))
same(table.schema.field('key').type, pa.struct([('id', pa.int64())]))
same(table.column('kind').to_pylist(), ['changed', 'missing', 'extra'])
same(cells('key'), {'id': [1, 2, 3]})
same(table.column('occurrences').to_pylist(), [1, 1, 1])
same(table.column('changed_columns').to_pylist(), [names, [], []])
same(table.column('beyond_type').to_pylist(), [[], [], []])
# A row of NULLs is there; the row that is missing is not.
same(table.column('source').combine_chunks().is_null().to_pylist(), [False, False, True])
same(table.column('sink').combine_chunks().is_null().to_pylist(), [False, True, False])
import uuid
source = [True, 9223372036854775807, D('1234567890.12'), '0.100000000000000000000000000000000000000001', 0.1,
  0.100000001490116119384765625, '\u00e4"\'\\', b'\0\xff', -735160, 86399999999, -1, 1719828000500000,
  uuid.UUID('00112233-4455-6677-8899-aabbccddeeff'), '{"a":"x","b":[1.5,null,true]}', '[1,null,3]',
  '1 mon 2 days 03:00:00.000004', '10.0.0.1/8', '101', '[1,5)']
sink = [False, -9223372036854775808, D('-0.01'), '-5', -0.25, 0.5, '', b'', 19782, 0, 1709164800000000, -1,
  uuid.UUID('ffffffff-ffff-ffff-ffff-ffffffffffff'), '[]', '[]', '-1 days', '::1/128', '', 'empty']
same(cells('source'), {n: [v, None, None] for n, v in zip(names, source)})
same(cells('sink'), {n: [v, None, None] for n, v in zip(names, sink)})
# DuckDB: the same values.
same(con.execute('SELECT typeof(source) FROM d').fetchall()[0][0],
  'STRUCT(b BOOLEAN, i BIGINT, m DECIMAL(12,2), w VARCHAR, d DOUBLE, r DOUBLE, t VARCHAR, x BLOB, dt DATE, tm TIME, '
  'ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE, u UUID, j VARCHAR, arr VARCHAR, iv VARCHAR, ip VARCHAR, bits VARCHAR, rg VARCHAR)')
same(con.execute('SELECT kind, key.id, source IS NULL, sink IS NULL FROM d').fetchall(),
  [('changed', 1, False, False), ('missing', 2, False, True), ('extra', 3, True, False)])
same(con.execute('SELECT source.b, source.i, source.m, source.w, source.d, source.r, source.t, source.x, source.j FROM d').fetchall()[0],
  tuple(source[:8]) + (source[13],))
same(con.execute('SELECT source.dt::varchar, source.tm::varchar, source.ts::varchar, source.tz::varchar, source.u::varchar FROM d').fetchall()[0],
  ('0044-03-15 (BC)', '23:59:59.999999', '1969-12-31 23:59:59.999999', '2024-07-01 10:00:00.5+00', '00112233-4455-6677-8899-aabbccddeeff'))
same(con.execute('SELECT sink.i, sink.m, sink.d, sink.dt::varchar, sink.tm::varchar, sink.ts::varchar, sink.tz::varchar FROM d').fetchall()[0],
  (-9223372036854775808, D('-0.01'), -0.25, '2024-02-29', '00:00:00', '2024-02-29 00:00:00', '1969-12-31 23:59:59.999999+00'))
"#,
    );
}

#[test]
fn nanoseconds_and_wide_decimals_are_read_back_exactly() {
    let desk = Desk::new();
    desk.python(
        "def write(name, ts, tz, tm, d38, d40):
    pq.write_table(pa.table({'id': pa.array([1], pa.int32()), 'ts': pa.array([ts], pa.timestamp('ns')), 'tz': pa.array([tz], pa.timestamp('ns', tz='UTC')),
      'tm': pa.array([tm], pa.time64('ns')), 'd38': pa.array([D(d38)], pa.decimal128(38, 10)), 'd40': pa.array([D(d40)], pa.decimal256(40, 2))}), name, version='2.6')
with decimal.localcontext() as c:
    c.prec = 76
    write('s.parquet', 1, -1, 86399999999999, '1234567890123456789012345678.0123456789', '12345678901234567890123456789012345678.05')
    write('k.parquet', 0, 0, 1, '-0.0000000001', '0')",
    );
    let outcome = desk.diff(&[&desk.arg("s.parquet"), &desk.arg("k.parquet"), "-k", "id"]);
    outcome.assert_counts(0, 0, 1);
    read_back(
        &desk,
        &outcome,
        "
same([f.type for f in table.schema.field('source').type],
  [pa.timestamp('ns'), pa.timestamp('ns', tz='UTC'), pa.time64('ns'), pa.decimal128(38, 10), pa.string()])
same(cells('source'), {'ts': [1], 'tz': [-1], 'tm': [86399999999999], 'd38': [D('1234567890123456789012345678.0123456789')],
  'd40': ['12345678901234567890123456789012345678.05']})
same(cells('sink'), {'ts': [0], 'tz': [0], 'tm': [1], 'd38': [D('-0.0000000001')], 'd40': ['0']})
same(con.execute('SELECT source.ts::varchar, source.d38::varchar, source.d40 FROM d').fetchall(),
  [('1970-01-01 00:00:00.000000001', '1234567890123456789012345678.0123456789', '12345678901234567890123456789012345678.05')])",
    );
}

#[test]
fn values_beyond_their_type_are_null_and_named() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "day date PRIMARY KEY, m numeric(12,2), d float8, tm time, ts timestamp, tz timestamptz",
        "('infinity', 'NaN', 'NaN', '24:00', '-infinity', 'infinity')",
        "('infinity', NULL, 1, NULL, 'infinity', '-infinity'), ('-infinity', NULL, NULL, NULL, NULL, NULL)",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 1, 1);
    read_back(
        &desk,
        &outcome,
        "
item = lambda side, column, value: {'side': side, 'column': column, 'value': value}
same(table.column('kind').to_pylist(), ['extra', 'changed'])
same(table.column('beyond_type').to_pylist(), [
  [item('key', 'day', '-infinity')],
  [item('key', 'day', 'infinity'), item('source', 'm', 'NaN'), item('source', 'tm', '24:00:00'),
   item('source', 'ts', '-infinity'), item('source', 'tz', 'infinity'), item('sink', 'ts', 'infinity'), item('sink', 'tz', '-infinity')]])
same(cells('key'), {'day': [None, None]})
source = cells('source')
assert math.isnan(source.pop('d')[1])
same(source, {'m': [None, None], 'tm': [None, None], 'ts': [None, None], 'tz': [None, None]})
same(table.column('changed_columns').to_pylist(), [[], ['m', 'd', 'tm', 'ts', 'tz']])
same(con.execute('SELECT beyond_type[1].value, len(beyond_type) FROM d').fetchall(), [('-infinity', 1), ('infinity', 7)])",
    );
}

#[test]
fn twenty_thousand_differences_are_all_there_once_and_in_order() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    // Ids -10000..9999: every one is a difference of one kind, beside 100 rows that match.
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, v int, t text); CREATE TABLE k (LIKE s INCLUDING ALL);
         INSERT INTO s SELECT i, i, 'row ' || i FROM generate_series(-10000, 9999) i WHERE i % 4 <> 0 OR i < 0 ORDER BY random();
         INSERT INTO k SELECT i, i + 1, 'row ' || i FROM generate_series(-10000, 9999) i WHERE i >= -5000 ORDER BY random();
         INSERT INTO s SELECT i, i, NULL FROM generate_series(20001, 20100) i; INSERT INTO k SELECT * FROM s WHERE id > 20000;
         ANALYZE s; ANALYZE k",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k"), "--ranges", "7"]);
    outcome.assert_counts(5000, 2500, 12500);
    read_back(
        &desk,
        &outcome,
        r"
same([r['lower_text'] for r in ranges].count(None), 1)
assert len(ranges) > 1
ids = []
for path in sorted(glob.glob(run + '/differences/*.parquet')):
    ids += pq.read_table(path, columns=['key']).column('key').combine_chunks().field('id').to_pylist()
same(ids, list(range(-10000, 10000)))
same(con.execute('SELECT kind, count(*), min(key.id), max(key.id), count(DISTINCT key.id) FROM d GROUP BY 1 ORDER BY 1').fetchall(),
  [('changed', 12500, -5000, 9999, 12500), ('extra', 2500, 0, 9996, 2500), ('missing', 5000, -10000, -5001, 5000)])
same(con.execute('SELECT count(*) FROM d WHERE source.v IS DISTINCT FROM CASE WHEN source IS NOT NULL THEN key.id END OR sink.v IS DISTINCT FROM CASE WHEN sink IS NOT NULL THEN key.id + 1 END').fetchall(), [(0,)])
# Each difference stands in the range that holds its key.
for at, id in zip(table.column('range').to_pylist(), cells('key')['id']):
    r = ranges[at]
    assert (r['lower'] is None or r['lower'] <= key(id)) and (r['upper'] is None or key(id) < r['upper']), (at, id)
# Digests of rows, of ranges and of tables from the page alone.
def of(id, v): return field(v) + field('row %d' % id)
for kind, id, source, sink in zip(table.column('kind').to_pylist(), cells('key')['id'], table.column('source_digest').to_pylist(), table.column('sink_digest').to_pylist()):
    same(source, None if kind == 'extra' else blake(of(id, id)))
    same(sink, None if kind == 'missing' else blake(of(id, id + 1)))
both = [(i, field(i) + field(None)) for i in range(20001, 20101)]
sides = {'source': [(i, of(i, i)) for i in range(-10000, 10000) if i % 4 or i < 0] + both,
         'sink': [(i, of(i, i + 1)) for i in range(-5000, 10000)] + both}
for side, rows in sides.items():
    rows = [(key(i), row) for i, row in rows]
    for r in ranges:
        inside = [(k, row) for k, row in rows if (r['lower'] is None or r['lower'] <= k) and (r['upper'] is None or k < r['upper'])]
        same(r[side + '_rows'], len(inside))
        same(r[side + '_digest'], blake(b''.join(record_bytes(k, row) for k, row in inside)))
",
    );
}

#[test]
fn text_keys_are_in_the_order_of_their_bytes_and_duplicates_keep_their_number() {
    let desk = Desk::new();
    let rows: Vec<String> = (0..3000_u32)
        .map(|i| format!("{},{},v", ["b", "\u{e4}", "B", "a\u{1d11e}", "~"][(i % 5) as usize], i * 7919 % 3000))
        .collect();
    let mut source = rows.clone();
    source.reverse();
    source.extend(["z,1,w".to_owned(), "z,1,w".to_owned(), "z,1,u".to_owned()]);
    let source = desk.file("s.csv", format!("a,n,v\n{}\n", source.join("\n")));
    let sink = desk.file("k.csv", "a,n,v\nz,1,w\nz,1,x\nz,1,x\n");
    let outcome = desk.diff(&[&source, &sink, "-k", "a", "-k", "n", "--cast", "n=int"]);
    outcome.assert_counts(3002, 2, 0);
    read_back(
        &desk,
        &outcome,
        "
# Two files without types say nothing of the width of a number: it is text.
found = list(zip(cells('key')['a'], map(int, cells('key')['n']), table.column('kind').to_pylist(), table.column('occurrences').to_pylist(), [v or w for v, w in zip(cells('source')['v'], cells('sink')['v'])]))
expected = [(['b', '\\u00e4', 'B', 'a\\U0001d11e', '~'][i % 5], i * 7919 % 3000, 'missing', 1, 'v') for i in range(3000)]
expected.sort(key=lambda row: key(row[0], row[1]))
# B, a, b, then z, then the two others.
same(found[:1800], expected[:1800])
same([row[0] for row in found[1800:1803]], ['z', 'z', 'z'])
same(found[1803:], expected[1800:])
same(sorted(found), sorted(expected + [('z', 1, 'missing', 1, 'w'), ('z', 1, 'missing', 1, 'u'), ('z', 1, 'extra', 2, 'x')]))
same([key(row[0], row[1]) for row in found], sorted(key(row[0], row[1]) for row in found))
same(record['duplicates'], {'source': {'keys': 1, 'surplus': 2}, 'sink': {'keys': 1, 'surplus': 2}})
same(record['counts']['matched'], 1)",
    );
}

#[test]
fn a_run_without_differences_has_one_empty_part_with_the_full_schema() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, n numeric(5,2), t text",
        "(1,1,'a'),(2,NULL,NULL)",
        "(1,1,'a'),(2,NULL,NULL)",
    );
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.table("k")]);
    outcome.assert_counts(0, 0, 0);
    read_back(
        &desk,
        &outcome,
        "
same(table.num_rows, 0)
same(len(glob.glob(run + '/differences/*')), 1)
row = pa.struct([('n', pa.decimal128(5, 2)), ('t', pa.string())])
same({f.name: f.type for f in table.schema if f.name not in ('changed_columns', 'beyond_type')}, {'kind': pa.string(), 'range': pa.uint32(),
  'occurrences': pa.uint64(), 'key': pa.struct([('id', pa.int64())]), 'source': row, 'sink': row,
  'source_digest': pa.binary(32), 'sink_digest': pa.binary(32)})
same(table.schema.field('changed_columns').type.value_type, pa.string())
same([f.name for f in table.schema.field('beyond_type').type.value_type], ['side', 'column', 'value'])
same(con.execute('SELECT kind, key.id, source.n, sink.t FROM d').fetchall(), [])
same(record['digest']['source'], record['digest']['sink'])",
    );
}

#[test]
fn records_and_plans_are_valid_under_their_schemas() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    two_tables(
        &postgres,
        "id int PRIMARY KEY, n numeric(9,2), ts timestamp(3), t char(4)",
        "(1,1.00,'2024-01-01','a'),(2,2,NULL,NULL)",
        "(1,1.01,'2024-01-01','A'),(3,2,NULL,NULL)",
    );
    let (source, sink) = (postgres.table("s"), postgres.table("k"));
    let csv = desk.file("k.csv", "id,n,ts,t\n1,1,2024-01-01 00:00:00,a\n");
    let options = ["--option", "n.abs_tol=0.01", "--option", "t.case=fold", "--option", "ts.precision=s"];
    let mut documents = Vec::new();
    let plain: &[&str] = &[&source, &sink];
    let excused: &[&str] = &[plain, &options[..], &["-w", "id = 1"][..]].concat();
    let keyless: &[&str] = &[&csv, &csv];
    let mixed: &[&str] =
        &[&source, &csv, "-c", "n", "-c", "t", "--exclude", "ts", "--sort", "local", "--cast", "n=text"];
    let keys_only: &[&str] = &[&source, &sink, "-k", "id", "--exclude", "n", "--exclude", "ts", "--exclude", "t"];
    for (args, verdict) in
        [(plain, "different"), (excused, "equal"), (keyless, "equal"), (mixed, "different"), (keys_only, "different")]
    {
        let outcome = desk.diff(args);
        assert_eq!(outcome.document()["verdict"], verdict, "{}{}", outcome.stdout, outcome.stderr);
        let record = outcome.folder().join("run.json");
        let written: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
        assert_eq!(written, outcome.document(), "run.json and stdout");
        let planned = desk.run("plan", args);
        assert_eq!(planned.code, 0, "{}", planned.stderr);
        assert_eq!(planned.document()["fingerprint"], outcome.document()["plan"]["fingerprint"]);
        documents.push((record, "run.schema.json"));
        documents.push((desk.path(&format!("plan-{}.json", documents.len())), "plan.schema.json"));
        fs::write(&documents.last().unwrap().0, planned.stdout).unwrap();
    }
    let mut script = "import json, jsonschema\n".to_owned();
    for (document, schema) in documents {
        let schema = format!("{}/docs/{schema}", env!("CARGO_MANIFEST_DIR"));
        writeln!(script, "schema = json.load(open({schema:?})); jsonschema.Draft202012Validator.check_schema(schema)")
            .unwrap();
        let document = document.to_str().unwrap();
        writeln!(script, "jsonschema.Draft202012Validator(schema).validate(json.load(open({document:?})))").unwrap();
    }
    desk.python(&script);
}

#[test]
fn two_runs_on_the_same_data_write_the_same_bytes() {
    let desk = Desk::new();
    desk.python(
        "pq.write_table(pa.table({'id': pa.array(range(5000), pa.int32()), 'v': [str(i) for i in range(5000)]}), 's.parquet', row_group_size=500)
pq.write_table(pa.table({'id': pa.array(range(5000), pa.int32()), 'v': [str(i - i % 7 // 6) for i in range(5000)]}), 'k.parquet', row_group_size=700)",
    );
    let (source, sink) = (desk.arg("s.parquet"), desk.arg("k.parquet"));
    let runs = ["1", "2"].map(|workers| desk.diff(&[&source, &sink, "-k", "id", "-j", workers]));
    let content = runs.each_ref().map(|outcome| {
        outcome.assert_counts(0, 0, 714);
        let folder = outcome.folder();
        let run_id = outcome.document()["run_id"].as_str().unwrap().to_owned();
        let record = fs::read_to_string(folder.join("run.json")).unwrap().replace(&run_id, "RUN");
        let mut parts: Vec<_> =
            fs::read_dir(folder.join("differences")).unwrap().map(|entry| entry.unwrap().path()).collect();
        parts.sort();
        let names: Vec<_> = parts.iter().map(|part| part.file_name().unwrap().to_owned()).collect();
        let parts: Vec<_> = parts.iter().map(|part| fs::read(part).unwrap()).collect();
        (record, fs::read(folder.join("ranges.parquet")).unwrap(), names, parts)
    });
    assert_eq!(content[0].0, content[1].0);
    assert!(content[0] == content[1], "ranges or differences are other bytes");
    assert_ne!(runs[0].document()["run_id"], runs[1].document()["run_id"]);
}

/// Names in the output folder of the desk.
fn runs_of(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_run_that_breaks_leaves_a_partial_folder_alone() {
    let (desk, postgres) = (Desk::new(), Postgres::new());
    postgres.sql(
        "CREATE TABLE s (id int PRIMARY KEY, v int); INSERT INTO s SELECT i, 0 FROM generate_series(1, 20000) i; ANALYZE s",
    );
    let query = "SELECT id, 0 / (id - 15000) AS v FROM s";
    let outcome = desk.diff(&[&postgres.table("s"), &postgres.url(), "-k", "id", "--sink-query", query]);
    outcome.assert_refused(&["sink", "SQLSTATE 22012"]);
    let broken =
        desk.diff(&[&postgres.table("s"), &postgres.url(), "-k", "id", "--sink-query", query, "--sort", "local"]);
    broken.assert_refused(&["sink", "SQLSTATE 22012"]);
    desk.python(
        "pq.write_table(pa.table({'id': pa.array(range(20000), pa.int32()), 'v': [str(i) for i in range(20000)]}), 's.parquet', row_group_size=5000, compression='none', use_dictionary=False)
at = pq.ParquetFile('s.parquet').metadata.row_group(2).column(1).data_page_offset
b = bytearray(open('s.parquet', 'rb').read()); b[at:at + 40] = bytes([0xEE]) * 40
open('k.parquet', 'wb').write(b)",
    );
    let bent = desk.diff(&[&desk.arg("s.parquet"), &desk.arg("k.parquet"), "-k", "id"]);
    bent.assert_refused(&["sink", "k.parquet"]);
    let runs = runs_of(&desk.path("runs"));
    assert_eq!(runs.len(), 3, "{runs:?}");
    for run in runs {
        assert!(run.ends_with(".partial"), "{run} looks whole");
        assert!(!desk.path("runs").join(&run).join("run.json").exists(), "{run} has a record");
    }
}

/// Runs the program under a limit on the size of a file, so that writing beyond it fails as on a full disk.
fn run_limited(desk: &Desk, kilobytes: u32, output: &str, args: &[&str]) -> (i32, String) {
    let tieout = program();
    let mut command = Command::new("bash");
    for (name, value) in tieout.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // An ignored SIGXFSZ makes the write fail instead of ending the process; the program inherits it.
    let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$@\"");
    let output = command
        .args(["-c", &script, "limited"])
        .arg(tieout.get_program())
        .args(["diff", "--no-progress", "-o", output])
        .args(args)
        .current_dir(desk.path(""))
        .output()
        .unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_full_disk_is_an_error_and_no_whole_folder() {
    let desk = Desk::new();
    desk.python(
        "import hashlib
pq.write_table(pa.table({'id': pa.array(range(3000), pa.int32()), 'v': [hashlib.sha256(b'%d' % i).hexdigest() for i in range(3000)]}), 's.parquet')
pq.write_table(pa.table({'id': pa.array([0], pa.int32()), 'v': ['']}), 'k.parquet')",
    );
    let (source, sink) = (desk.arg("s.parquet"), desk.arg("k.parquet"));
    // Below a kilobyte nothing fits, at 16 the record does and the differences do not, at 4096 everything does.
    let mut codes = Vec::new();
    for kilobytes in [0, 1, 2, 4, 16, 4096] {
        let output = desk.arg(&format!("runs-{kilobytes}"));
        let (code, stderr) = run_limited(&desk, kilobytes, &output, &[&source, &sink, "-k", "id"]);
        codes.push(code);
        let runs = runs_of(Path::new(&output));
        if code == 2 {
            assert!(stderr.contains("writing") && stderr.contains(&output), "{kilobytes}: {stderr}");
            assert!(runs.iter().all(|run| run.ends_with(".partial")), "{kilobytes}: {runs:?}");
        } else {
            assert_eq!((runs.len(), runs.iter().any(|run| run.ends_with(".partial"))), (1, false), "{runs:?}");
        }
    }
    assert_eq!(codes, [2, 2, 2, 2, 2, 1]);
    // Equal tables: here the record is what does not fit.
    let (code, stderr) = run_limited(&desk, 1, &desk.arg("equal"), &[&source, &source, "-k", "id"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(runs_of(&desk.path("equal")).iter().all(|run| run.ends_with(".partial")));
}
