"""A GraphQL server with films in memory, which counts what takes effect.

It supports `Idempotency-Key`: a second call under one key gets the first response and has no effect. Its mode
is `up`, `down` (503), `slow` or `unanswering` (performs a mutation, and closes the connection). Each effect is
recorded as operation, variables, mark and key.
"""

import contextlib
import http.server
import json
import pathlib
import sys
import threading
import time

from graphql import GraphQLError, build_schema, graphql_sync

HERE = pathlib.Path(__file__).resolve().parent
SLOW_SECONDS = 1.5

SEED = {
    "Maker": [
        {"id": "m1", "name": "Agnès Varda"},
        {"id": "m2", "name": "Chantal Akerman"},
        {"id": "m3", "name": "Ousmane Sembène"},
    ],
    "Film": [
        {"id": "f1", "title": "Cléo from 5 to 7", "year": 1962, "stars": None, "runtime": 90, "maker": "m1"},
        {"id": "f2", "title": "Vagabond", "year": 1985, "stars": 4, "runtime": None, "maker": "m1"},
        {"id": "f3", "title": "Jeanne Dielman", "year": 1975, "stars": 5, "runtime": None, "maker": "m2"},
        {"id": "f4", "title": "Black Girl", "year": 1966, "stars": None, "runtime": None, "maker": "m3"},
        {"id": "f5", "title": "Moolaadé", "year": 2004, "stars": 3, "runtime": None, "maker": "m3"},
        {"id": "f6", "title": "News from Home", "year": 1977, "stars": None, "runtime": None, "maker": "m2"},
    ],
    "Review": [],
}


class Upstream:
    """The server, its data by type and id, and the record of effects."""

    def __init__(self):
        self.schema = build_schema((HERE / "project/schema.graphql").read_text())
        self.lock = threading.RLock()
        self.data = {kind: {row["id"]: dict(row) for row in rows} for kind, rows in SEED.items()}
        self.effects = []
        self.responses = {}
        self.mode, self.times = "up", None
        self.numbers = {"Film": 100, "Review": 0}
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                server.handle(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                # Larder can be killed, and closes connections, at any time.
                if not isinstance(sys.exc_info()[1], OSError):
                    super().handle_error(request, client_address)

        self.http = Server(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def switch(self, mode, times=None):
        """Sets the mode, for the next `times` requests that it concerns if given."""
        with self.lock:
            self.mode, self.times = mode, times

    def _mode_for(self, is_mutation):
        with self.lock:
            mode = self.mode
            if mode == "unanswering" and not is_mutation:
                return "up"
            if mode != "up" and self.times is not None:
                self.times -= 1
                if self.times <= 0:
                    self.mode, self.times = "up", None
            return mode

    # Serving

    def handle(self, request):
        body = json.loads(request.rfile.read(int(request.headers.get("Content-Length", 0))) or b"{}")
        is_mutation = body.get("query", "").lstrip().startswith("mutation")
        mode = self._mode_for(is_mutation)
        key = request.headers.get("Idempotency-Key")
        if mode == "down":
            return respond(request, 503, {"errors": [{"message": "down"}]})
        if mode == "slow":
            time.sleep(SLOW_SECONDS)
        response = self.perform(body, key, is_mutation)
        if mode == "unanswering":
            request.close_connection = True
            return request.connection.close()
        return respond(request, 200, response)

    def perform(self, body, key, is_mutation):
        with self.lock:
            if is_mutation and key in self.responses:
                return self.responses[key]
            effects = []
            result = graphql_sync(
                self.schema, body["query"], Root(self, effects),
                operation_name=body.get("operationName"), variable_values=body.get("variables"))
            response = result.formatted
            if effects:
                self.effects.append({
                    "operation": body.get("operationName"), "variables": body["variables"],
                    "mark": body["variables"].get("mark"), "key": key})
            if is_mutation and key:
                self.responses[key] = response
            return response

    def write(self, changes):
        """Changes data beside all mutations: `{"Film": {"f1": {…}, "f2": null}}`."""
        with self.lock:
            for kind, rows in changes.items():
                for key, fields in rows.items():
                    if fields is None:
                        self.data[kind].pop(key, None)
                    else:
                        self.data[kind].setdefault(key, blank(kind, key)).update(fields)

    def rows(self, kind):
        """All entities of a type as Larder shows them, by id."""
        with self.lock:
            return {key: {"__typename": kind, **row} for key, row in self.data[kind].items()}


def blank(kind, key):
    fields = {
        "Film": {"title": "", "year": 0, "stars": None, "runtime": None, "maker": None},
        "Maker": {"name": ""}, "Review": {"text": "", "film": None}}
    return {"id": key, **fields[kind]}


class Row(dict):
    """One entity, with its fields as GraphQL asks for them."""

    def __init__(self, upstream, kind, row):
        super().__init__(row)
        for name, target in (("maker", "Maker"), ("film", "Film")):
            if self.get(name) is not None:
                found = upstream.data[target].get(self[name])
                self[name] = found and Row(upstream, target, found)


class Root:
    """The root fields of queries and mutations."""

    def __init__(self, upstream, effects):
        self.upstream, self.performed = upstream, effects

    def _one(self, kind, key):
        row = self.upstream.data[kind].get(key)
        return row and Row(self.upstream, kind, row)

    def _all(self, kind):
        return [self._one(kind, key) for key in sorted(self.upstream.data[kind])]

    def film(self, info, id):
        return self._one("Film", id)

    def films(self, info):
        return self._all("Film")

    def maker(self, info, id):
        return self._one("Maker", id)

    def makers(self, info):
        return self._all("Maker")

    def reviews(self, info):
        return self._all("Review")

    def _new(self, kind, prefix, fields):
        self.upstream.numbers[kind] += 1
        key = f"{prefix}{self.upstream.numbers[kind]}"
        self.upstream.data[kind][key] = {"id": key, **fields}
        self.performed.append(key)
        return self._one(kind, key)

    def _known(self, id):
        if id not in self.upstream.data["Film"]:
            raise GraphQLError(f"there is no film {id}", extensions={"code": "NOT_FOUND"})
        return self.upstream.data["Film"][id]

    def rateFilm(self, info, id, stars, mark=None):
        if not 1 <= stars <= 5:
            raise GraphQLError("stars must be 1 to 5", extensions={"code": "BAD_USER_INPUT"})
        self._known(id)["stars"] = stars
        self.performed.append(id)
        return self._one("Film", id)

    def updateFilm(self, info, id, title=None, year=None, makerId=None, mark=None):
        given = {"title": title, "year": year, "maker": makerId}
        self._known(id).update({name: value for name, value in given.items() if value is not None})
        self.performed.append(id)
        return self._one("Film", id)

    def createFilm(self, info, title, year, makerId=None, mark=None):
        if not title:
            raise GraphQLError("a film has a title", extensions={"code": "BAD_USER_INPUT"})
        return self._new("Film", "f", {"title": title, "year": year, "stars": None, "runtime": None,
                                      "maker": makerId})

    def deleteFilm(self, info, id, mark=None):
        if self.upstream.data["Film"].pop(id, None) is None:
            return None
        for review in self.upstream.data["Review"].values():
            if review["film"] == id:
                review["film"] = None
        self.performed.append(id)
        return id

    def addReview(self, info, filmId, text, mark=None):
        self._known(filmId)
        return self._new("Review", "r", {"text": text, "film": filmId})


def respond(request, status, value):
    body = json.dumps(value).encode()
    # Larder can be killed meanwhile.
    with contextlib.suppress(OSError):
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
