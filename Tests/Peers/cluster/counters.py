"""A GraphQL server with counters, as a process of its own, which records what takes effect.

  counters.py PORT

It supports `Idempotency-Key`: a second call under one key gets the first response and has no effect.
`POST /switch?to=up|down|slow|unanswering` sets its mode: 503, a delay, or each mutation performed and its connection
closed without a response. `GET /effects` returns every effect of a mutation, in order; `GET /calls` the number of
calls by operation.
"""

import contextlib
import http.client
import http.server
import json
import pathlib
import subprocess
import sys
import threading
import time
from urllib.parse import parse_qs, urlsplit

from graphql import GraphQLError, build_schema, execute, parse, validate

from ports import steady_port

HERE = pathlib.Path(__file__).resolve().parent
COUNTERS = 32
SLOW_SECONDS = 0.4
START_SECONDS_MAX = 20


class Counters:
    """The data and the record of effects."""

    def __init__(self):
        self.schema = build_schema((HERE / "project/schema.graphql").read_text())
        self.lock = threading.Lock()
        self.values = {f"c{number}": 0 for number in range(COUNTERS)}
        self.notes = []
        self.effects, self.responses, self.calls = [], {}, {}
        self.mode = "up"
        self.documents = {}

    def document(self, text):
        """A parsed and valid document. Larder sends few different ones."""
        if text not in self.documents:
            parsed = parse(text)
            if errors := validate(self.schema, parsed):
                raise errors[0]
            self.documents[text] = parsed
        return self.documents[text]

    def perform(self, body, key):
        with self.lock:
            name = body.get("operationName")
            self.calls[name] = self.calls.get(name, 0) + 1
            is_mutation = body["query"].lstrip().startswith("mutation")
            if is_mutation and key in self.responses:
                return self.responses[key]
            root = Root(self, key)
            try:
                result = execute(
                    self.schema, self.document(body["query"]), root, operation_name=name,
                    variable_values=body.get("variables"))
                response = result.formatted
            except GraphQLError as error:
                response = {"errors": [error.formatted]}
            self.effects += root.effects
            if is_mutation and key:
                self.responses[key] = response
            return response


class Root:
    """The root fields of queries and mutations."""

    def __init__(self, counters, key):
        self.counters, self.key, self.effects = counters, key, []

    def counter(self, info, id):
        if id not in self.counters.values:
            return None
        value = self.counters.values[id]
        return {"id": id, "value": value, "twin": {"id": f"{id}t", "value": value}}

    def notes(self, info):
        return [{**note, "counter": self.counter(info, note["counter"])} for note in self.counters.notes]

    def setCounter(self, info, id, value, mark):
        if id not in self.counters.values:
            raise GraphQLError(f"there is no counter {id}", extensions={"code": "NOT_FOUND"})
        self.counters.values[id] = value
        self.effects.append({"mark": mark, "key": self.key, "counter": id, "value": value})
        return self.counter(info, id)

    def addNote(self, info, counterId, text, mark):
        note = {"id": f"n{len(self.counters.notes) + 1}", "text": text, "counter": counterId}
        self.counters.notes.append(note)
        self.effects.append({"mark": mark, "key": self.key, "counter": counterId, "value": None})
        return {**note, "counter": self.counter(info, counterId)}


# The field has the name of the store that resolvers read.
def resolve_counters(root, info):
    return [root.counter(info, id) for id in root.counters.values]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    store = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        if parts.path == "/switch":
            self.store.mode = parse_qs(parts.query)["to"][0]
            return self.respond(200, {})
        mode, body = self.store.mode, json.loads(body)
        if mode == "down":
            return self.respond(503, {"errors": [{"message": "down"}]})
        if mode == "slow":
            time.sleep(SLOW_SECONDS)
        response = self.store.perform(body, self.headers.get("Idempotency-Key"))
        if mode == "unanswering" and body["query"].lstrip().startswith("mutation"):
            self.close_connection = True
            return None
        return self.respond(200, response)

    def do_GET(self):
        with self.store.lock:
            shown = self.store.effects if self.path == "/effects" else self.store.calls
            text = json.dumps(shown)
        return self.respond(200, json.loads(text))

    def respond(self, status, value):
        body = json.dumps(value).encode()
        # Nodes are killed at any time.
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Upstream:
    """The process, seen from the tests."""

    def __init__(self, folder):
        self.port = steady_port()
        with (folder / "upstream.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-B", HERE / "counters.py", str(self.port)], stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                self._ask("GET", "/calls")
                return
            except OSError:
                assert self.process.poll() is None, (folder / "upstream.log").read_text()
                assert time.monotonic() < deadline, "upstream does not listen"
                time.sleep(0.02)

    def _ask(self, method, target):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def switch(self, mode):
        self._ask("POST", f"/switch?to={mode}")

    def effects(self):
        return self._ask("GET", "/effects")

    def calls(self):
        return self._ask("GET", "/calls")

    def close(self):
        self.process.kill()
        self.process.wait()


def main():
    Handler.store = Counters()
    Handler.store.schema.query_type.fields["counters"].resolve = resolve_counters
    Listener(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main()
