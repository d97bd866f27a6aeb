"""Writes Docs/Benchmarks.md and its plot."""
import plot
import targets

TITLES = {
    "users": "Users: nine values, a company, 0 to 4 notes, 0 to 5 tag ids",
    "documents": "Documents: UUID keys in random order, six values, an author",
    "regions": "Regions: six entities nested five levels deep (the size is the number of rows of all six)",
    "packages": "Packages: a composite key of name and version, five values, a publisher; beside them the same rows with one key",
}
HEAD = """# Benchmarks

`Tests/Benchmarks/run.py` measures and writes this page. `make bench` is the short run, `make bench-full` the long one.

**Every line does the same job**: it makes the rows of a SQLite store match a JSON file, deletions included, with foreign keys and indexes
enabled. All stores have the tables that Sync creates (dlt creates its own). The run fails unless all stores end with the same rows: after
every step it compares the count and a hash of all values of each table (for dlt only the counts; it deletes no users). Times are those of
whole processes that run in turn, with reading the file; medians. *Import*: into an empty store. *Nothing to do*: the same file again. *One
percent*: one percent of the records changed, one percent removed, one percent added. A peak is in MB of 2²⁰ bytes, a payload in MB of 10⁶.
[Performance.md](Performance.md) explains the figures, and has those that were measured again since.
"""


def write(found, page):
    if not found:
        return
    figure = page.with_name("benchmarks.svg")
    lines = [HEAD, *circumstances(found), ""]
    figure.write_text(plot.svg(found))
    lines += [f"![Seconds by number of users, for each program]({figure.name})", ""]
    lines += list(target_table(found))
    for workload in TITLES:
        lines += list(workload_section(workload, [r for r in found if r["workload"] == workload]))
    lines += list(alone_sections(found))
    page.write_text("\n".join(lines).rstrip() + "\n")


def circumstances(found):
    """Yields the machine and versions of the results: each once, and several if the runs differ."""
    entries = [(r, s, e) for r in found for s, e in r["scenarios"].items()]
    latest = max((e["circumstances"] for _, _, e in entries), key=lambda c: c["date"])
    commits = sorted({f"{e['circumstances']['commit']} ({e['circumstances']['date']})" for _, _, e in entries})
    is_linked = "Linux" in latest["machine"] and latest["configuration"] == "release"
    linked = ", Swift's library linked statically" if is_linked else ""
    yield f"- {latest['machine']}; {latest['swift']}, {latest['configuration']} build{linked}; GRDB {latest['grdb']}"
    yield (f"- Python {latest['python']} with SQLite {latest['python_sqlite']}; {', '.join(latest['peers'])}")
    yield f"- Sync {', '.join(commits)}; runs per line: {', '.join(sorted({str(e['runs']) for _, _, e in entries}))}"
    start = latest["start"]
    yield (f"- Of every `syncdb` time, {start[0] * 1000:.0f} ms and {start[2]:.0f} MB are the start of the process "
           "(`syncdb --help`)")


def target_table(found):
    rows = list(targets.rows(found))
    if rows:
        yield from ["## Targets", "", "| | target | reached | |", "|---|---|---|---|"]
        for what, wanted, reached, enough in rows:
            yield f"| {what} | {wanted} | {reached} | {'yes' if enough else '**no**'} |"
        yield ""


def workload_section(workload, found):
    found = [(r["size"], targets.values(r)) for r in found]
    found = [(size, f) for size, f in found if any(s in f for s in targets.SCENARIOS)]
    if not found:
        return
    yield from [f"## {TITLES[workload]}", ""]
    for size, measured in found:
        yield from size_table(size, measured)


def size_table(size, measured):
    present = [s for s in targets.SCENARIOS if s in measured]
    first = measured[present[0]]
    yield f"**{size:,}**, {first['payload']['bytes'] / 1e6:.1f} MB. Wall s / processor s / peak MB, and times Sync's wall time:"
    yield ""
    yield "| | " + " | ".join(targets.SCENARIOS[s] for s in present) + " |"
    yield "|---|" + "---|" * len(present)
    for name, title in first["titles"].items():
        yield f"| {title} | " + " | ".join(cell(measured[s]["medians"], name) for s in present) + " |"
    yield ""


def cell(medians, name):
    if name not in medians:
        return ""
    wall, cpu, rss = medians[name]
    text = f"{wall:.3g} / {cpu:.3g} / {rss:.0f}"
    if name == "sync" or "sync" not in medians:
        return text
    return f"{text} · {wall / medians['sync'][0]:.1f} ×"


def alone_sections(found):
    yield from table(
        found, "export", "Export",
        "`syncdb export` of all rows with their nested rows, to a file.", "| | MB | wall s | peak MB |",
        lambda title, m: [f"| {title} | {m['bytes'] / 1e6:.1f} | {m['medians'][0]:.3g} | {m['medians'][2]:.0f} |"])
    yield from table(
        found, "calls", "Small payloads into a big store",
        "Milliseconds of a whole `syncdb import` process, and of `Sync.changes` with an open stack. The payloads are a "
        "thousand records with nested rows, half of them changed, without deletions; one record with ten nested rows; "
        "the 100 children of a parent.",
        "| | 1,000 records: process | call | one record: process | call | 100 children: process | call |",
        lambda title, m: [f"| {title} | " + " | ".join(
            f"{m[k]['medians'][0] * 1000:.1f} | {m[k]['call']:.2f}" for k in ("thousand", "single", "parent")) + " |"])
    yield from table(
        found, "readers", "Reading meanwhile",
        "Two tasks each read a row by its key about once a millisecond while the same process syncs.",
        "| | sync s | reads | median ms | p99 ms | slowest ms |",
        lambda title, m: [
            f"| {title}, {r['scenario']} | {r['syncSeconds']:.2f} | {r['reads']:,} | {r['medianMilliseconds']:.2f} | "
            f"{r['p99Milliseconds']:.2f} | {r['maximumMilliseconds']:.2f} |" for r in m])
    yield from table(
        found, "pieces", "Pieces", "Medians, in one process. The time of a value includes the time of its key.",
        "| | | |", lambda title, m: [f"| {title}: {p['name']} | {p['value']:.3g} | {p['unit']} |" for p in m])


def table(found, scenario, title, text, head, rows):
    present = [(f"{r['size']:,} {r['workload']}", targets.values(r)[scenario]) for r in found
               if scenario in r["scenarios"]]
    if present:
        yield from [f"## {title}", "", text, "", head, "|" + "---|" * (head.count("|") - 1)]
        for name, measured in present:
            yield from rows(name, measured)
        yield ""
