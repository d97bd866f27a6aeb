#!/usr/bin/env python3
"""A stub of a web service on loopback, whose answers come from a file. It prints its port: `port 12345`.

    answers.py FILE

    {"GET /tasks": {"body": [{"id": 1}]}, "POST /tasks": [{"status": 503, "headers": {"Retry-After": "1"}}, {"body": {"id": 2}}]}

The server reads the file again for each request. A list contains successive answers, and the last one is repeated. Requests
that are not in the file are answered with 404. {"stalls": true} never answers. Each request adds a line to FILE.log, and its
header Authorization adds one to FILE.authorizations. The server ends when standard input is closed.
"""
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

counts: dict[str, int] = {}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        line = f"{self.command} {self.path}"
        with lock:
            with open(sys.argv[1] + ".log", "a") as log:
                log.write(line + (" " + body.decode() if body else "") + "\n")
            with open(sys.argv[1] + ".authorizations", "a") as log:
                log.write(self.headers.get("Authorization", "") + "\n")
            with open(sys.argv[1]) as file:
                answers = json.load(file)
            known = next((name for name in (line, line.split("?")[0]) if name in answers), None)
            count = counts[line] = counts.get(line, 0) + 1
        answer = answers[known] if known else {"status": 404, "body": {"message": "there is nothing"}}
        if isinstance(answer, list):
            answer = answer[min(count, len(answer)) - 1]
        if answer.get("stalls"):
            threading.Event().wait()
        content = json.dumps(answer["body"]).encode() if "body" in answer else b""
        self.send_response(answer.get("status", 200))
        for name, value in answer.get("headers", {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *arguments) -> None:
        pass


def end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"port {server.server_address[1]}", flush=True)
    threading.Thread(target=end_with_input, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
