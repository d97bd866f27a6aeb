"""Imports a payload with sqlite-utils. The tables must exist. Deletions use SQL, which sqlite-utils does not offer.

usage: sqlite_utils_upsert.py users|documents|regions PAYLOAD DATABASE    (the database has its tables)
"""
import json
import sys

import sqlite_utils

from rows import KEPT, rows_of

workload, payload, path = sys.argv[1:]
with open(payload, "rb") as file:
    records = json.load(file)
database = sqlite_utils.Database(path)
connection = database.conn
connection.executescript(
    "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;")
kept = {}
with connection:
    # In one transaction, deferred foreign keys allow rows and their owners in any order.
    connection.execute("BEGIN IMMEDIATE")
    for table, columns, rows in rows_of(workload, records):
        rows = list(rows)
        named = (dict(zip(columns, row)) for row in rows)
        if columns[0] == "id":
            database[table].upsert_all(named, pk="id")
            if table not in KEPT:
                kept[table] = {row[0] for row in rows}
            continue
        database[table].insert_all(named, pk=columns, ignore=True)
        links = set(rows)
        stored = connection.execute(f"SELECT * FROM {table}").fetchall()
        connection.executemany(
            f"DELETE FROM {table} WHERE {columns[0]} = ? AND {columns[1]} = ?", [x for x in stored if x not in links])
    for table, keys in reversed(kept.items()):
        gone = [row for row in connection.execute(f"SELECT id FROM {table}") if row[0] not in keys]
        connection.executemany(f"DELETE FROM {table} WHERE id = ?", gone)
connection.close()
