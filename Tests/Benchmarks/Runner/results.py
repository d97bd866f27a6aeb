"""Stores results as files, one for each workload and size, so that tables can be written without measuring again."""
import json
import os
import platform
import sqlite3
import subprocess
from datetime import date

import measuring
import places
from workloads import WORKLOADS


def file(folder, workload, size):
    return folder / f"{workload}-{size}.json"


def load(folder, workload, size):
    path = file(folder, workload, size)
    return json.loads(path.read_text()) if path.exists() else {"workload": workload, "size": size, "scenarios": {}}


def load_all(folder):
    found = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    return sorted(found, key=lambda r: (list(WORKLOADS).index(r["workload"]), r["size"]))


def has(folder, workload, size, scenario):
    return scenario in load(folder, workload, size)["scenarios"]


def save(folder, workload, size, found, arguments):
    """Saves the results, and preserves earlier results of scenarios that were not measured now."""
    whole = load(folder, workload, size)
    circumstances = described(arguments)
    for scenario, value in found.items():
        whole["scenarios"][scenario] = {"circumstances": circumstances, "runs": arguments.runs, "measured": value}
    folder.mkdir(parents=True, exist_ok=True)
    file(folder, workload, size).write_text(json.dumps(whole, indent=1) + "\n")


def described(arguments):
    start = measuring.medians([measuring.run([arguments.syncdb, "--help"]) for _ in range(5)])
    return {
        "date": date.today().isoformat(), "commit": output(["git", "describe", "--always", "--dirty"]),
        "machine": machine(), "swift": output(["swift", "--version"]).split("(")[0].strip(),
        "python": platform.python_version(), "python_sqlite": sqlite3.sqlite_version,
        "peers": (places.BENCHMARKS / "Peers" / "requirements.txt").read_text().split(),
        "grdb": grdb_version(arguments.configuration), "configuration": arguments.configuration, "start": start}


def output(command):
    done = subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def grdb_version(configuration):
    package = places.ROOT if configuration == "debug" else places.BENCHMARKS
    pins = json.loads((package / "Package.resolved").read_text())["pins"]
    return next((pin["state"]["version"] for pin in pins if pin["identity"] == "grdb.swift"), "?")


def machine():
    name = platform.processor() or platform.machine()
    memory = ""
    try:
        with open("/proc/cpuinfo") as info:
            name = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), name)
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
    except OSError:
        pass
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors ({name}){memory}"
