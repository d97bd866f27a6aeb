"""The command line."""
import argparse
from pathlib import Path

import alone
import building
import comparing
import page
import places
import results
import tools
from workloads import WORKLOADS

SCENARIOS = ["import", "noop", "delta", "export", "calls", "readers", "pieces"]

# The size does not matter for the parts of a sync, but small payloads are read too fast to measure.
PIECES = 10_000


def main():
    arguments = parsed()
    if not arguments.report:
        if not arguments.no_build:
            building.build(arguments.configuration, needs_syncdb=arguments.builds_syncdb)
        available = building.available_tools(arguments)
        for workload in arguments.workloads:
            for size in arguments.sizes:
                measure(workload, size, available, arguments)
    if arguments.write:
        page.write(results.load_all(arguments.results), arguments.page)
        print(f"wrote {arguments.page}")


def measure(workload, size, available, arguments):
    wanted = [s for s in arguments.scenarios if s != "pieces" or size == PIECES]
    if arguments.resume:
        wanted = [s for s in wanted if not results.has(arguments.results, workload, size, s)]
    if not wanted:
        return print(f"{workload} {size:,}: nothing to measure", flush=True)
    print(f"{workload} {size:,}: {', '.join(wanted)}", flush=True)
    data = building.payloads(workload, size)

    def save(found):
        results.save(arguments.results, workload, size, found, arguments)

    whole = [s for s in wanted if s in ("import", "noop", "delta")]
    if whole:
        used = [t for t in available if t.takes(workload, size, arguments.no_limits)]
        save(comparing.measure(workload, data, used, whole, arguments.runs, arguments.syncdb))
    alone.measure(workload, data, [s for s in wanted if s not in whole], arguments, save)


def numbers(text):
    return [int(part.replace("_", "")) for part in text.split(",")]


def names(allowed):
    def parse(text):
        chosen = text.split(",")
        wrong = [name for name in chosen if name not in allowed]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]!r}: one of {', '.join(allowed)}")
        return chosen
    return parse


def parsed():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=names(list(WORKLOADS)), default=["users"])
    parser.add_argument("--sizes", type=numbers, default=[10_000], metavar="N,…")
    parser.add_argument("--scenarios", type=names(SCENARIOS), default=SCENARIOS, metavar=",".join(SCENARIOS))
    parser.add_argument("--tools", type=names(tools.NAMES), default=tools.NAMES, metavar=",".join(tools.NAMES))
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=FLAGS",
                        help="measure 'syncdb import' with these further flags too")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-limits", action="store_true", help="also run slow tools at large sizes")
    parser.add_argument("--no-python-peers", action="store_true", help="leave out what comes from PyPI")
    parser.add_argument("--resume", action="store_true", help="leave out what has been measured before")
    parser.add_argument("--report", action="store_true", help="measure nothing, only write the page anew")
    parser.add_argument("--no-report", dest="write", action="store_false", help="do not write the page")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--configuration", choices=["debug", "release"], default="release")
    parser.add_argument("--syncdb", type=Path, default=None, metavar="FILE", help="another build of it")
    parser.add_argument("--results", type=Path, default=places.RESULTS, metavar="FOLDER")
    parser.add_argument("--page", type=Path, default=places.PAGE, help="the plot is put beside it")
    arguments = parser.parse_args()
    arguments.builds_syncdb = arguments.syncdb is None
    arguments.syncdb = arguments.syncdb or places.program("syncdb", arguments.configuration)
    return arguments
