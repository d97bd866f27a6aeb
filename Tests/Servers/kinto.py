#!/usr/bin/env python3
"""Starts a Kinto server in memory on loopback, and prints its port: `port 12345`.

The first run installs Kinto from PyPI into .build/servers, and exits with 3 if PyPI cannot be reached. The server ends when
standard input is closed, so that it does not outlive the process that started it.
"""
import os
import subprocess
import sys
import threading
from pathlib import Path

from port import free_port

FOLDER = Path(__file__).resolve().parent.parent.parent / ".build/servers"
PACKAGES = ["kinto==26.5.0", "waitress"]

CONFIGURATION = """
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = %(http_port)s
threads = 8
[app:main]
use = egg:kinto
kinto.includes = kinto.plugins.flush kinto.plugins.default_bucket
kinto.flush_endpoint_enabled = true
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = 0123456789abcdef
kinto.default_bucket_hmac_secret = fedcba9876543210
multiauth.policies = basicauth
kinto.bucket_create_principals = system.Authenticated
kinto.paginate_by = 1000
{settings}
[loggers]
keys = root
[handlers]
keys = console
[formatters]
keys = generic
[logger_root]
level = ERROR
handlers = console
[handler_console]
class = StreamHandler
args = (sys.stderr,)
formatter = generic
[formatter_generic]
format = %(message)s
"""


def install() -> Path:
    site = FOLDER / "kinto"
    if not (site / "done").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--root-user-action=ignore", "--target", str(site), "--upgrade", *PACKAGES]
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            print("Kinto cannot be had from PyPI", file=sys.stderr)
            sys.exit(3)
        (site / "done").touch()
    return site


def end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    site = install()
    if "--install" in sys.argv:
        return
    sys.path.insert(0, str(site))
    port = free_port()
    configuration = FOLDER / f"kinto-{port}.ini"
    # Further settings: kinto.py kinto.readonly=true
    settings = "\n".join(argument.replace("=", " = ", 1) for argument in sys.argv[1:])
    configuration.write_text(CONFIGURATION.replace("{settings}", settings))
    print(f"port {port}", flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    threading.Thread(target=end_with_input, daemon=True).start()
    from kinto.__main__ import main as kinto

    sys.exit(kinto(["start", "--ini", str(configuration), "--port", str(port)]))


if __name__ == "__main__":
    main()
