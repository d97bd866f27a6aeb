"""The compared programs. Each is a process that writes the rows of a payload to a SQLite file."""
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import places


@dataclass
class Tool:
    name: str
    title: str
    # (workload, about, payload, database) → command
    command: Callable
    # The initial store: of Sync, of Sync with another model, the tables of Sync, or none.
    store: str = "tables"
    largest: int = 100_000
    workloads: tuple = ("users", "documents", "regions")

    def takes(self, workload, size, without_limit):
        return workload in self.workloads and (without_limit or size <= self.largest)

    def compares_with_sync(self, scenario):
        """Returns whether the rows can be compared. dlt has other tables, and deletes no rows."""
        return self.store != "none"


def syncdb_import(program, flags=()):
    def command(workload, about, payload, database):
        return [program, "import", payload, "--entity", about["entity"], "--database", database,
                "--max-delete", "100%", "--quiet", *flags]
    return command


def sync(program):
    return Tool("sync", "**`syncdb import`**", syncdb_import(program), store="sync", largest=1_000_000,
                workloads=("users", "documents", "regions", "packages"))


def one_key(program):
    """Returns the tool for the same rows with one key instead of a composite key."""
    return Tool("sync one key", "`syncdb import`, the same rows with one key", syncdb_import(program), store="one key",
                largest=1_000_000, workloads=("packages",))


def variant(program, text):
    """Returns syncdb with further flags, from `NAME=FLAGS`."""
    name, _, flags = text.partition("=")
    return Tool(f"sync {name}", f"`syncdb import`, {name}", syncdb_import(program, flags.split()), store="sync",
                largest=1_000_000, workloads=("users", "documents", "regions", "packages"))


def grdb(program, way, title):
    return Tool(f"grdb-{way}", title, lambda workload, about, payload, database: [
        program, way, workload, payload, database])


def python(script, name, title, **more):
    interpreter = places.VENV / "bin" / "python"
    return Tool(name, title, lambda workload, about, payload, database: [
        interpreter, places.BENCHMARKS / "Peers" / script, workload, payload, database], **more)


def all_tools(syncdb, configuration):
    peer = places.program("grdb-peer", configuration)
    return [
        sync(syncdb),
        one_key(syncdb),
        grdb(peer, "upsert", "GRDB and `Codable`, an upsert per record"),
        grdb(peer, "compare", "GRDB and `Codable`, fetch, compare, write"),
        python("orjson_sqlite3.py", "orjson", "Python, orjson and sqlite3 by hand", largest=1_000_000),
        python("sqlite_utils_upsert.py", "sqlite-utils", "Python, sqlite-utils"),
        python("dlt_merge.py", "dlt", "Python, dlt, merge", store="none", largest=1_000, workloads=("users",)),
    ]


NAMES = ["sync", "sync one key", "grdb-upsert", "grdb-compare", "orjson", "sqlite-utils", "dlt"]
FROM_PYPI = {"orjson", "sqlite-utils", "dlt"}
