#!/usr/bin/env python3
"""Measures syncdb and its peers side by side, and writes Docs/Benchmarks.md. See README.md."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Runner"))
from command import main

main()
