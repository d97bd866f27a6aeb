"""Initial stores, their copies, and their contents."""
import hashlib
import json
import shutil
import sqlite3
from contextlib import closing

import measuring
import places


class Stores:
    """Folders of stores, one for each tool. The store is named `store.sqlite`."""

    def __init__(self, workload, syncdb, about, data):
        self.folder = places.WORK / workload
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.make_empty(workload, syncdb, about, data)

    def path(self, name):
        return self.folder / name / "store.sqlite"

    def make_empty(self, workload, syncdb, about, data):
        """Creates a store with `syncdb`, one for each other model of the workload, and one with only its tables for the
        tools that need tables."""
        (self.folder / "empty sync").mkdir()
        measuring.run([
            syncdb, "import", data / "setup.json", "--entity", about["setup_entity"], "--quiet", "--model",
            places.BENCHMARKS / "Models" / f"{workload}.json", "--database", self.path("empty sync")])
        for model in (places.BENCHMARKS / "Models").glob(f"{workload}-*.json"):
            other = "empty " + model.stem.removeprefix(f"{workload}-").replace("-", " ")
            (self.folder / other).mkdir()
            measuring.run([
                syncdb, "import", data / "setup.json", "--entity", about["setup_entity"], "--quiet", "--model", model,
                "--database", self.path(other)])
        self.copy("empty sync", "empty tables")
        (self.folder / "empty none").mkdir()
        with closing(sqlite3.connect(self.path("empty tables"), isolation_level=None)) as database:
            ours = database.execute(
                "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger') AND "
                "(name LIKE 'sync\\_%' ESCAPE '\\' OR type != 'table') ORDER BY type DESC").fetchall()
            for kind, name in ours:
                database.execute(f'DROP {kind} "{name}"')
            database.execute("VACUUM")

    def copy(self, name, to):
        shutil.rmtree(self.folder / to, ignore_errors=True)
        shutil.copytree(self.folder / name, self.folder / to)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def contents(path):
    """Returns the number of rows of each table and a hash of their values, independent of their order."""
    with closing(sqlite3.connect(path)) as database:
        tables = [name for name, in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sync\\_%' ESCAPE '\\' "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")]
        return {table: table_contents(database, table) for table in tables}


def table_contents(database, table):
    columns = sorted(
        name for name, in database.execute("SELECT name FROM pragma_table_info(?)", [table])
        if not name.startswith("sync_"))
    count = total = 0
    for row in database.execute(f'SELECT {", ".join(columns)} FROM "{table}"'):
        count += 1
        total += int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=16).digest(), "big")
    return [count, f"{total % 2**128:032x}"]


def dlt_counts(path):
    """Returns the counts that can be compared for the tables of dlt."""
    tables = {"User": "users", "Note": "users__notes", "Tag_users": "users__tags_ids"}
    with closing(sqlite3.connect(path)) as database:
        return {ours: database.execute(f"SELECT count(*) FROM {theirs}").fetchone()[0]
                for ours, theirs in tables.items()}


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def described(value):
    return json.dumps(value, indent=2)
