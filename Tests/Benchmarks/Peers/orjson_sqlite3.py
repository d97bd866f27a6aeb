"""Imports a payload as careful handwritten Python does: orjson, executemany, and an upsert that skips equal rows.

usage: orjson_sqlite3.py users|documents|regions PAYLOAD DATABASE    (the database has its tables)
"""
import sqlite3
import sys

import orjson

from rows import KEPT, rows_of

workload, payload, path = sys.argv[1:]


def upsert(table, columns):
    values = columns[1:]
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in values)} "
        f"WHERE {' OR '.join(f'{c} IS NOT excluded.{c}' for c in values)}")


with open(payload, "rb") as file:
    records = orjson.loads(file.read())
database = sqlite3.connect(path, isolation_level=None)
database.executescript(
    "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;")
database.execute("BEGIN IMMEDIATE")
kept = {}
links = None
for table, columns, rows in rows_of(workload, records):
    if columns[0] != "id":
        links = set(rows)
        database.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", links)
        stored = database.execute(f"SELECT * FROM {table}").fetchall()
        database.executemany(
            f"DELETE FROM {table} WHERE {columns[0]} = ? AND {columns[1]} = ?", [x for x in stored if x not in links])
        continue
    rows = list(rows)
    database.executemany(upsert(table, columns), rows)
    if table not in KEPT:
        kept[table] = {row[0] for row in rows}
for table, keys in reversed(kept.items()):
    gone = [row for row in database.execute(f"SELECT id FROM {table}") if row[0] not in keys]
    database.executemany(f"DELETE FROM {table} WHERE id = ?", gone)
database.execute("COMMIT")
database.close()
