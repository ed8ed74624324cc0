"""The differences of two Parquet files by DuckDB, as one full outer join: duckdb_join.py SOURCE SINK OUT.

Writes the kind, the key and both rows of each difference to OUT, which is what tieout writes, and prints the counts as
JSON. Two threads, as the machine of the targets has.
"""

import json
import sys

import duckdb


def main(source, sink, out):
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    columns = [row[0] for row in connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [source]).fetchall()]
    compared = [f'"{name}"' for name in columns if name != "id"]
    changed = " OR ".join(f"a.{name} IS DISTINCT FROM b.{name}" for name in compared)
    both = ", ".join(f"a.{name} AS \"source_{name[1:-1]}\", b.{name} AS \"sink_{name[1:-1]}\"" for name in compared)
    query = f"""
        SELECT CASE WHEN b.id IS NULL THEN 'missing' WHEN a.id IS NULL THEN 'extra' ELSE 'changed' END AS kind,
               coalesce(a.id, b.id) AS id, {both}
        FROM read_parquet({literal(source)}) a FULL OUTER JOIN read_parquet({literal(sink)}) b ON a.id = b.id
        WHERE a.id IS NULL OR b.id IS NULL OR {changed}
        ORDER BY 2"""
    connection.execute(f"COPY ({query}) TO {literal(out)} (FORMAT parquet, COMPRESSION zstd)")
    counts = dict.fromkeys(("missing", "extra", "changed"), 0)
    counts.update(connection.execute(f"SELECT kind, count(*) FROM read_parquet({literal(out)}) GROUP BY 1").fetchall())
    print(json.dumps(counts))


def literal(text):
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: duckdb_join.py SOURCE SINK OUT")
    main(*sys.argv[1:])
