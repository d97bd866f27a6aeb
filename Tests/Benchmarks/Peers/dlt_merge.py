"""Merges the records into SQLite by their key, with a dlt pipeline. It creates its own tables, and deletes no users.

usage: dlt_merge.py users PAYLOAD DATABASE
"""
import os
import sys

os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["RUNTIME__LOG_LEVEL"] = "CRITICAL"
import dlt
import orjson

workload, payload, path = sys.argv[1:]
with open(payload, "rb") as file:
    records = orjson.loads(file.read())


@dlt.resource(
    name=workload, primary_key="id", write_disposition={"disposition": "merge", "strategy": "delete-insert"})
def pages():
    yield records


pipeline = dlt.pipeline(
    pipeline_name="benchmark", destination=dlt.destinations.sqlalchemy(f"sqlite:///{path}"), dataset_name="main",
    pipelines_dir=os.path.join(os.path.dirname(path), "dlt"))
pipeline.run(pages())
