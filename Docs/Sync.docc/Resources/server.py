"""A REST service with two lists, in memory: python3 server.py [PORT]"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

projects = [{"id": 1, "name": "Garden"}, {"id": 2, "name": "Kitchen"}]
todos = [
    {"id": 11, "title": "Sow beans", "done": False, "project_id": 1},
    {"id": 12, "title": "Mend the fence", "done": False, "project_id": 1},
    {"id": 21, "title": "Paint the door", "done": True, "project_id": 2},
]
lists = {
    "projects": {str(project["id"]): project for project in projects},
    "todos": {str(todo["id"]): todo for todo in todos},
}


def respond(method, path, body):
    """Returns the status and the JSON of a response. A path is /todos or /todos/11."""
    name, _, key = path.strip("/").partition("/")
    records = lists.get(name)
    if records is None or (key and key not in records):
        return 404, {"message": f"{path} does not exist"}
    if method == "POST":
        number = max(map(int, records), default=0) + 1
        records[str(number)] = body | {"id": number}
        return 201, records[str(number)]
    if method == "DELETE":
        del records[key]
        return 204, None
    if method == "PATCH":
        records[key].update(body)
    return 200, records[key] if key else list(records.values())


class Handler(BaseHTTPRequestHandler):
    def handle_request(self):
        size = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(size)) if size else None
        status, result = respond(self.command, self.path, body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if status != 204:
            self.wfile.write(json.dumps(result).encode() + b"\n")

    do_GET = do_POST = do_PATCH = do_DELETE = handle_request


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Handler)
print(f"Serving http://127.0.0.1:{server.server_port} until Control-C", flush=True)
server.serve_forever()
