"""Where things are."""
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent
ROOT = BENCHMARKS.parent.parent
BUILD = ROOT / ".build" / "benchmarks"
DATA, RESULTS, WORK, VENV = BUILD / "data", BUILD / "results", BUILD / "work", BUILD / "venv"
PAGE = ROOT / "Docs" / "Benchmarks.md"


def scratch(configuration):
    """Where the benchmarks are built; without optimisation beside the apps of the README, which have the library too."""
    return BUILD if configuration == "release" else ROOT / ".build" / "apps"


def program(name, configuration):
    """What `swift build` made of the package itself, or of the benchmarks."""
    return (ROOT / ".build" if name == "syncdb" else scratch(configuration)) / configuration / name
