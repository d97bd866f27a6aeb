"""Measures processes in turn: import into an empty store, the same again, and a delta. Compares the rows."""
import sys

import building
import stores
from measuring import medians, run


def measure(workload, data, tools, scenarios, runs, syncdb):
    about = building.about(data)
    used = stores.Stores(workload, syncdb, about, data)
    found = {scenario: {tool.name: [] for tool in tools} for scenario in scenarios}
    check(workload, about, data, tools, used, scenarios)
    for index in range(runs):
        for tool in tools:
            times = once(workload, about, data, tool, used, scenarios)
            for scenario, taken in times.items():
                found[scenario][tool.name].append(taken)
            print(f"  run {index + 1} {tool.name:14s} " + "  ".join(
                f"{scenario} {taken[0]:.3f} s {taken[2]:.0f} MB" for scenario, taken in times.items()), flush=True)
    used.remove()
    payload = {"bytes": (data / "base.json").stat().st_size}
    titles = {tool.name: tool.title for tool in tools}
    return {scenario: {"runs": by_tool, "payload": payload, "titles": titles,
                       "medians": {name: medians(taken) for name, taken in by_tool.items()}}
            for scenario, by_tool in found.items()}


def once(workload, about, data, tool, used, scenarios):
    """Runs the scenarios of a tool once. Runs without an import begin with the store of the check."""
    times = {}
    store = used.path(tool.name)
    base, delta = data / "base.json", data / "delta.json"
    if "import" in scenarios:
        used.copy(f"empty {tool.store}", tool.name)
        times["import"] = run(tool.command(workload, about, base, store))
    else:
        used.copy(f"{tool.name} imported", tool.name)
    if "noop" in scenarios:
        times["noop"] = run(tool.command(workload, about, base, store))
    if "delta" in scenarios:
        times["delta"] = run(tool.command(workload, about, delta, store))
    return times


def check(workload, about, data, tools, used, scenarios):
    """Runs each tool once, which also warms up, and compares its rows with those of Sync."""
    expected = {}
    for tool in tools:
        store = used.path(tool.name)
        used.copy(f"empty {tool.store}", tool.name)
        for scenario, payload in (("import", "base.json"), ("noop", "base.json"), ("delta", "delta.json")):
            if scenario not in ("import", *scenarios):
                continue
            before = stores.file_hash(store) if tool.name.startswith("sync") and scenario == "noop" else None
            run(tool.command(workload, about, data / payload, store))
            if before and stores.file_hash(store) != before:
                sys.exit(f"error: {tool.name} wrote to the store where there was nothing to do")
            compare(tool, scenario, store, expected)
            if scenario == "import":
                used.copy(tool.name, f"{tool.name} imported")
    rows = sum(count for count, _ in expected["import"].values())
    print(f"  the same {rows:,} rows in all stores", flush=True)


def compare(tool, scenario, store, expected):
    if tool.store == "none":
        if scenario == "delta":
            return
        stored = stores.dlt_counts(store)
        same = {table: expected[scenario][table][0] for table in stored} if scenario in expected else stored
    else:
        stored = stores.contents(store)
        same = expected.setdefault(scenario, stored)
    if stored != same:
        sys.exit(f"error: after {scenario}, {tool.name} has\n{stores.described(stored)}\n"
                 f"instead of\n{stores.described(same)}")
