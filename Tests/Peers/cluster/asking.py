"""Requests on connections of their own, and waiting."""

import contextlib
import http.client
import json
import time

REQUEST_SECONDS_MAX = 20
WAIT_SECONDS_MAX = 30
POLL_SECONDS = 0.05


def eventually(condition, what, seconds=WAIT_SECONDS_MAX):
    """Waits until the condition holds and returns its value; a request that fails counts as not yet."""
    deadline = time.monotonic() + seconds
    while True:
        value = None
        with contextlib.suppress(OSError, http.client.HTTPException):
            value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(POLL_SECONDS)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def cursor(self):
        return self.headers.get("sync-cursor")

    @property
    def cache(self):
        return self.headers.get("cache-status", "")

    def __str__(self):
        return f"{self.status} {self.headers} {self.body[:500]}"


def ask(port, method, target, body=None, headers=None, seconds=REQUEST_SECONDS_MAX):
    """A request on a connection of its own. Raises OSError or HTTPException if there is no whole response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    fields = dict(headers or {})
    if body is not None:
        body = json.dumps(body).encode()
        fields.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, target, body, fields)
        return Answer(connection.getresponse())
    finally:
        connection.close()
