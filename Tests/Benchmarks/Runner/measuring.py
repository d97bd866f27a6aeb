"""Runs a process and measures it."""
import os
import subprocess
import sys
import time
from statistics import median


def run(command):
    """Returns the wall clock time in seconds, the processor time in seconds, and the peak memory in MB."""
    command = [str(part) for part in command]
    os.sync()
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"error: {' '.join(command)}: {errors[-2000:].decode(errors='replace')}")
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return [wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit]


def medians(runs):
    return [median(run[i] for run in runs) for i in range(3)]
