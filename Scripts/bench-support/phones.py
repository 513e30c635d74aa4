"""Devices that enqueue mutations, and the upstream that gets them."""

import json
import time

from connection import Connection, request
from process import BenchError

ADMIN_TOKEN = "b" * 40
# No limit of the queue affects a measurement.
SETTINGS = f"""admin: {{token: {ADMIN_TOKEN}}}
queue: {{items: 100000, probe: 1s}}
"""
ARRAY_MAX = 100
POLL_SECONDS = 0.02


def register(port, count):
    """The tokens of this many new devices."""
    fields = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    message = request("POST", "/v1/devices", fields, b'{"platform":"other"}')
    with Connection(port) as connection:
        answers = [_good(connection.exchange(message), 201) for _ in range(count)]
    return [json.loads(answer.body)["deviceToken"] for answer in answers]


def rating(number):
    film = f"f{number % 2000 + 1}"
    return {
        "operation": "BenchRate",
        "mode": "steady",
        "variables": {"id": film, "stars": number % 5 + 1},
    }


def enqueue(connection, token, count, key="k"):
    """Enqueues ratings, in arrays of the maximum length."""
    for first in range(0, count, ARRAY_MAX):
        ratings = [rating(number) for number in range(first, min(first + ARRAY_MAX, count))]
        fields = {"Device-Token": token, "Idempotency-Key": f"{key}-{first}"}
        body = json.dumps(ratings).encode()
        _good(connection.exchange(request("POST", "/v1/mutations", fields, body)), 202)


def command(connection, token, word):
    fields = {"Device-Token": token}
    _good(connection.exchange(request("POST", f"/v1/queue/{word}", fields)), 200)


def pending(connection, token):
    answer = _good(connection.get("/v1/queue", Device_Token=token), 200)
    return json.loads(answer.body)["pending"]


class Upstream:
    """The demo's counters and switches."""

    def __init__(self, port):
        self._connection = Connection(port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.__exit__()

    def set(self, **switches):
        body = json.dumps(switches).encode()
        _good(self._connection.exchange(request("POST", "/__demo", {}, body)), 200)

    def executed(self):
        answer = _good(self._connection.get("/__demo"), 200)
        return json.loads(answer.body)["operations"].get("BenchRate", {}).get("executed", 0)

    def wait_for(self, count, seconds_max):
        """The seconds from the first to the last of this many, and the number that arrived between."""
        first = None
        deadline = time.perf_counter() + seconds_max
        while time.perf_counter() < deadline:
            done, now = self.executed(), time.perf_counter()
            if done and first is None:
                first = (now, done)
            if done >= count:
                return now - first[0], done - first[1]
            time.sleep(POLL_SECONDS)
        raise BenchError(f"{self.executed()} of {count} were sent in {seconds_max} s")


def _good(answer, status):
    if answer.status != status:
        raise BenchError(f"{answer.status} instead of {status}: {answer.body[:300]}")
    return answer
