"""Writes the payloads of a workload and size record by record. The payloads are reproducible.

usage: generate.py users|documents|regions|packages SIZE FOLDER

base.json       the first import
delta.json      1 % of the records changed, 1 % deleted, 1 % new
setup.json      rows to store before (the tags of users), or no rows
thousand-N.json 1,000 records of the base, half of them changed
single-N.json   one record with ten nested rows: each time the record and two rows change, and one is replaced
parent-N.json   a hundred children of one row: each time ten change, and two are replaced
about.json      the entities and keys for the calls
"""
import json
import os
import sys
from random import Random

from workloads import WORKLOADS

VARIANTS = 9


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, separators=(",", ":"))


class RecordFile:
    """A JSON array that is written incrementally."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")
        self.before = "["

    def append(self, record):
        self.file.write(self.before + json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        self.before = ","

    def close(self):
        self.file.write("[]" if self.before == "[" else "]")
        self.file.close()


def main():
    name, size, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    workload = WORKLOADS[name](size)
    random = Random(f"{name} delta")
    base, delta = RecordFile(f"{folder}/base.json"), RecordFile(f"{folder}/delta.json")
    sample, every = [], max(1, workload.records // 1000)
    for index, record in enumerate(workload.base()):
        base.append(record)
        if index % every == 0 and len(sample) < 1000:
            sample.append(json.loads(json.dumps(record)))
        changed = workload.changed(record, random)
        if changed is not None:
            delta.append(changed)
    for record in workload.new():
        delta.append(record)
    base.close()
    delta.close()
    write(f"{folder}/setup.json", workload.setup())
    for variant in range(VARIANTS):
        write(f"{folder}/thousand-{variant}.json", [
            workload.touched(record, variant) if index % 2 else record for index, record in enumerate(sample)])
        write(f"{folder}/single-{variant}.json", workload.single(variant))
        write(f"{folder}/parent-{variant}.json", workload.children(variant))
    write(f"{folder}/about.json", {"variants": VARIANTS, **workload.about})


if __name__ == "__main__":
    main()
