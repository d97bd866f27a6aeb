"""The paths of the repository."""
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent
ROOT = BENCHMARKS.parent.parent
BUILD = ROOT / ".build" / "benchmarks"
DATA, RESULTS, WORK, VENV = BUILD / "data", BUILD / "results", BUILD / "work", BUILD / "venv"
PAGE = ROOT / "Docs" / "Benchmarks.md"


def program(name, configuration):
    """Returns the path of a built program."""
    return (ROOT / ".build" if name == "syncdb" else BUILD) / configuration / name
