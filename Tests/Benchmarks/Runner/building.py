"""Builds the programs, installs the Python peers, generates payloads."""
import json
import shutil
import subprocess
import sys

import places
import tools


# The same settings as in Package.swift.
OPTIONS = ["-warnings-as-errors", "-Wwarning", "DeprecatedDeclaration"] + [
    option
    for feature in ("ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility")
    for option in ("-enable-upcoming-feature", feature)
]


def build(configuration, needs_syncdb):
    print("building", flush=True)
    if needs_syncdb or configuration == "debug":
        swift(["--package-path", places.ROOT, "--product", "syncdb"], configuration)
    if configuration == "debug":
        return compile_with_debug_modules()
    swift(["--package-path", places.BENCHMARKS, "--scratch-path", places.BUILD], configuration)


def compile_with_debug_modules():
    """Compiles the programs with the debug modules of the library. Their times are meaningless."""
    programs = {
        "grdb-peer": "GRDBPeer", "sync-benchmarks": "SyncBenchmarks", "engine-benchmark": "EngineBenchmark",
        "pool-benchmark": "PoolBenchmark",
    }
    for name, folder in programs.items():
        sources = sorted((places.BENCHMARKS / "Sources" / folder).glob("*.swift"))
        program = places.program(name, "debug")
        program.parent.mkdir(parents=True, exist_ok=True)
        command = [places.ROOT / ".ci" / "compile", program, *sources, *OPTIONS]
        if subprocess.run(command).returncode:
            sys.exit(f"error: {name} does not build")


def swift(arguments, configuration):
    command = ["swift", "build", "-c", configuration, "--quiet", *arguments]
    if configuration == "release" and sys.platform == "linux":
        command.append("--static-swift-stdlib")
    if subprocess.run(command, cwd=places.ROOT).returncode:
        sys.exit(f"error: {' '.join(map(str, command))} failed")


def available_tools(arguments):
    """Returns the requested tools that are installed, and prints a message for the others."""
    wanted = [t for t in tools.all_tools(arguments.syncdb, arguments.configuration) if t.name in arguments.tools]
    if "sync" in arguments.tools:
        wanted[1:1] = [tools.variant(arguments.syncdb, text) for text in arguments.variant]
    if not any(t.name in tools.FROM_PYPI for t in wanted):
        return wanted
    if arguments.no_python_peers or not has_python_peers():
        return [t for t in wanted if t.name not in tools.FROM_PYPI]
    return wanted


def has_python_peers():
    requirements = places.BENCHMARKS / "Peers" / "requirements.txt"
    installed = places.VENV / "installed.txt"
    if installed.exists() and installed.read_text() == requirements.read_text():
        return True
    print("installing the Python peers", flush=True)
    shutil.rmtree(places.VENV, ignore_errors=True)
    pip = [places.VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]
    for command in ([sys.executable, "-m", "venv", places.VENV], [*pip, requirements]):
        try:
            done = subprocess.run(command, timeout=600).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            done = False
        if not done:
            print("note: the Python peers are left out; they could not be installed from PyPI", flush=True)
            return False
    shutil.copyfile(requirements, installed)
    return True


def payloads(workload, size):
    """Returns the folder of the generated payloads. It exists only when complete. A newer generator replaces it."""
    folder = places.DATA / f"{workload}-{size}"
    sources = [places.BENCHMARKS / "Runner" / name for name in ("generate.py", "workloads.py")]
    about = folder / "about.json"
    if not about.exists() or any(s.stat().st_mtime > about.stat().st_mtime for s in sources):
        print("  generating payloads", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, sources[0], workload, str(size), folder], check=True)
    return folder


def about(data):
    return json.loads((data / "about.json").read_text())
