"""Measures Sync without peers: exports, small calls into a large store, concurrent readers, and its parts."""
import json
import subprocess
import sys

import building
import places
import stores
from measuring import medians, run


def measure(workload, data, scenarios, arguments, save):
    if not scenarios:
        return
    bench = Bench(workload, data, arguments)
    for scenario in scenarios:
        save({scenario: getattr(bench, scenario)()})
    bench.used.remove()


class Bench:
    def __init__(self, workload, data, arguments):
        self.workload, self.data, self.runs, self.syncdb = workload, data, arguments.runs, arguments.syncdb
        self.about = building.about(data)
        self.model = places.BENCHMARKS / "Models" / f"{workload}.json"
        self.benchmarks = places.program("sync-benchmarks", arguments.configuration)
        self.used = stores.Stores(workload, self.syncdb, self.about, data)
        self.used.copy("empty sync", "imported")
        run([self.syncdb, "import", data / "base.json", "--entity", self.about["entity"], "--quiet",
             "--database", self.used.path("imported")])

    def store(self):
        """Returns a store with the rows of the base."""
        self.used.copy("imported", "work")
        return self.used.path("work")

    def output(self, *arguments):
        done = subprocess.run([str(a) for a in (self.benchmarks, *arguments)], stdout=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"error: sync-benchmarks {arguments[0]} failed")
        return json.loads(done.stdout)

    def export(self):
        store, file = self.used.path("imported"), self.used.folder / "export.json"
        command = [self.syncdb, "export", self.about["entity"], "--database", store, "--output", file]
        runs = [run(command) for _ in range(self.runs)]
        taken = medians(runs)
        print(f"  export {taken[0]:.3f} s {taken[2]:.0f} MB", flush=True)
        return {"runs": runs, "medians": taken, "bytes": file.stat().st_size}

    def calls(self):
        return {kind: self.call(kind) for kind in ("thousand", "single", "parent")}

    def call(self, kind):
        """Measures a call as processes, and in a process with an open store. The first call of each warms up."""
        entity = self.about["children" if kind == "parent" else kind]
        payloads = [self.data / f"{kind}-{i}.json" for i in range(self.about["variants"])]
        owner = ["--parent", self.about["parent"], "--max-delete", "100%"] if kind == "parent" else ["--delta"]
        store = self.store()
        self.make_owner(kind, store)
        runs = [run([self.syncdb, "import", payload, "--entity", entity, "--database", store, "--quiet", *owner])
                for payload in payloads][1:]
        store = self.store()
        self.make_owner(kind, store)
        parent = self.about["parent"] if kind == "parent" else "-"
        milliseconds = self.output("calls", store, entity, parent, *payloads)
        taken = medians(runs)
        inside = sorted(milliseconds)[len(milliseconds) // 2]
        print(f"  {kind:8s} {taken[0] * 1000:.1f} ms as a process, {inside:.2f} ms as a call", flush=True)
        return {"runs": runs, "medians": taken, "call": inside, "calls": milliseconds}

    def make_owner(self, kind, store):
        if kind == "parent":
            run([self.syncdb, "import", self.data / "single-0.json", "--entity", self.about["single"], "--delta",
                 "--database", store, "--quiet"])

    def readers(self):
        self.used.copy("empty sync", "work")
        reports = self.output("readers", self.used.path("work"), self.about["entity"],
                              *(self.data / name for name in ("base.json", "base.json", "delta.json")))
        for scenario, report in zip(("idle", "import", "noop", "delta"), reports):
            report["scenario"] = scenario
            print(f"  readers, {scenario}: {report['reads']} reads, median {report['medianMilliseconds']:.2f} ms, "
                  f"p99 {report['p99Milliseconds']:.2f} ms, at most {report['maximumMilliseconds']:.2f} ms", flush=True)
        return reports

    def pieces(self):
        before = [self.about["setup_entity"], self.data / "setup.json"] if "setup_entity" in self.about else []
        measured = self.output("pieces", self.model, self.about["entity"], self.data / "base.json", *before)
        for piece in measured:
            print(f"  {piece['name']}: {piece['value']:.3g} {piece['unit']}", flush=True)
        return measured
