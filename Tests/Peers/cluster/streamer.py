"""A client that keeps a replica by streams, each on another node and continued with the id of the last event."""

import contextlib
import http.client
import json
import time

from clients import PAUSE_SECONDS, TYPES, Walker

QUIET_SECONDS = 0.6
LISTEN_SECONDS = (0.2, 2.0)


class Streamer(Walker):
    """Its replica is a client's: changes apply when the commit that they belong to is whole."""

    def step(self):
        self.listen(self.chance.uniform(*LISTEN_SECONDS))
        time.sleep(PAUSE_SECONDS)

    def listen(self, seconds):
        """One stream for some seconds, or until it ends or is silent."""
        node = self.node()
        number = self.recorder.begin("changes", self.name, node.name, walker=self.name, own=[],
                                     isContinued=self.since is not None)
        before = self.since
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=QUIET_SECONDS)
        fields = {**self.headers, **({"Last-Event-ID": self.since} if self.since else {})}
        try:
            connection.request("GET", f"/v1/changes/stream?{TYPES}", headers=fields)
            response = connection.getresponse()
            status = response.status
            if status == 200:
                with contextlib.suppress(TimeoutError):
                    self.take(response, time.monotonic() + seconds)
        except (OSError, http.client.HTTPException):
            status = None
        finally:
            connection.close()
        # What was not whole comes again after the last id.
        self.waiting = {}
        result = {}
        if status is not None and status >= 400:
            result = {"code": None, "retryAfter": response.headers.get("Retry-After")}
            time.sleep(PAUSE_SECONDS)
        is_complete = status == 200 and self.since is not None and before is not None
        self.recorder.end(number, status, isComplete=is_complete, values=dict(self.replica) if is_complete else {},
                          **result)

    def take(self, response, until):
        """Reads events (the event stream format of HTML) and applies whole commits."""
        fields = {}
        while time.monotonic() < until:
            line = response.readline()
            if not line:
                return
            name, _, value = line.decode().rstrip("\r\n").partition(": ")
            if name:
                fields[name] = value
                continue
            self.event(fields)
            fields = {}

    def event(self, fields):
        if fields.get("event") == "reset":
            self.since, self.replica, self.waiting = None, {}, {}
            return
        if fields.get("event") == "change":
            change = json.loads(fields["data"])
            self.waiting[change["id"]] = change["data"].get("value") if change["op"] == "put" else None
        if "id" in fields:
            self.apply()
            self.since = fields["id"]
