"""The performance targets and their results."""

# Scenario, peer, and the least factor by which Sync must be faster.
RATIOS = [
    ("import", "grdb-upsert", 5.5), ("import", "orjson", 2), ("import", "sqlite-utils", 6),
    ("noop", "grdb-upsert", 20), ("noop", "orjson", 6),
    ("delta", "grdb-upsert", 15), ("delta", "orjson", 4.5),
]
PEERS = {"grdb-upsert": "GRDB and `Codable`", "orjson": "orjson and sqlite3", "sqlite-utils": "sqlite-utils"}
SCENARIOS = {"import": "import", "noop": "nothing to do", "delta": "one percent changed"}


def rows(found):
    """Yields (name, target, result, whether it is reached) of each measurement."""
    users = {r["size"]: values(r) for r in found if r["workload"] == "users"}
    for entry in RATIOS:
        yield from ratio(users, *entry)
    yield from pieces(users)
    yield from calls(found)
    yield from growth(users)
    yield from memory(users)
    yield from parted_keys(found)
    yield from readers(users)


def values(result):
    return {scenario: entry["measured"] for scenario, entry in result["scenarios"].items()}


def largest(users, has):
    return next(((size, users[size]) for size in sorted(users, reverse=True) if has(users[size])), (None, None))


def ratio(users, scenario, peer, wanted):
    size, found = largest(users, lambda f: {peer, "sync"} <= f.get(scenario, {}).get("medians", {}).keys())
    if found:
        medians = found[scenario]["medians"]
        reached, processor = (medians[peer][i] / medians["sync"][i] for i in (0, 1))
        yield (f"{SCENARIOS[scenario]}, against {PEERS[peer]}, {size:,} users", f"{wanted} ×",
               f"{reached:.1f} × ({processor:.1f} × in processor time)", reached >= wanted)


def pieces(users):
    size, found = largest(users, lambda f: "pieces" in f)
    if not found:
        return
    by_name = {piece["name"]: piece["value"] for piece in found["pieces"]}
    speed = by_name["parse and stage bytes"]
    yield "parse and map alone", "500 MB/s", f"{speed:.0f} MB/s", speed >= 500
    native = by_name["no-op of [[String: Any]], of the time of bytes"]
    yield "`[[String: Any]]`, of the time of bytes", "at most 3 ×", f"{native:.1f} ×", native <= 3


def calls(found):
    for workload, title in (("users", "users with nested rows"), ("documents", "documents")):
        sizes = {r["size"]: values(r) for r in found if r["workload"] == workload}
        size, measured = largest(sizes, lambda f: "calls" in f)
        if measured:
            time = measured["calls"]["thousand"]["medians"][0] * 1000
            yield f"1,000 {title} into {size:,}", "25 ms", f"{time:.0f} ms", time <= 25
        for kind, name in (("single", "one record with ten nested rows"), ("parent", "100 rows of one parent")):
            first = min((s for s in sizes if "calls" in sizes[s]), default=None)
            if measured and first != size:
                times = [sizes[s]["calls"][kind]["call"] for s in (first, size)]
                yield (f"{name}, {first:,} → {size:,} {workload}", "at most 1.5 × + 0.2 ms", f"{times[0]:.2f} → {times[1]:.2f} ms",
                       times[1] <= times[0] * 1.5 + 0.2)


def growth(users):
    """Yields the growth of chunked reading (above 64 MB), and of the variant that reads whole files."""
    for scenario in SCENARIOS:
        medians = {s: users[s].get(scenario, {}).get("medians", {}) for s in sorted(users) if s >= 10_000}
        for name, how in (("sync", ""), ("sync read whole", ", read whole")):
            times = {s: m.get(name, m.get("sync"))[0] for s, m in medians.items() if "sync" in m}
            if len(times) < 2 or name not in medians[max(times)]:
                continue
            first, last = min(times), max(times)
            factor = times[last] / times[first] / (last / first)
            yield (f"growth of {SCENARIOS[scenario]}, {first:,} → {last:,} users{how}, of linear", "at most 1.5 ×",
                   f"{factor:.2f} ×", factor <= 1.5)


def parted_keys(found):
    """Yields the time for composite keys relative to the same rows with one key."""
    packages = {r["size"]: values(r) for r in found if r["workload"] == "packages"}
    for scenario in SCENARIOS:
        size, measured = largest(packages, lambda f: "sync one key" in f.get(scenario, {}).get("medians", {}))
        if measured:
            medians = measured[scenario]["medians"]
            times = medians["sync"][0] / medians["sync one key"][0]
            yield (f"{SCENARIOS[scenario]}, {size:,} packages by name and version, of the time with one key",
                   "at most 1.3 ×", f"{times:.2f} ×", times <= 1.3)


def memory(users):
    for scenario in SCENARIOS:
        for size in sorted(s for s in users if s >= 100_000):
            measured = users[size].get(scenario, {})
            for name, how in (("sync", ""), ("sync read whole", ", read whole")):
                if name not in measured.get("medians", {}):
                    continue
                times = measured["medians"][name][2] * 2**20 / measured["payload"]["bytes"]
                yield (f"peak memory of {SCENARIOS[scenario]}, {size:,} users{how}, of the payload", "at most 2.7 ×",
                       f"{times:.2f} ×", times <= 2.7)


def readers(users):
    size, found = largest(users, lambda f: "readers" in f)
    for report in found["readers"] if found else []:
        if report["scenario"] != "idle":
            p99 = report["p99Milliseconds"]
            yield (f"99 of 100 reads during {SCENARIOS[report['scenario']]}, {size:,} users", "under 5 ms",
                   f"{p99:.2f} ms", p99 < 5)
