"""Larder in front of an upstream that emits events; see item_upstream.py."""

import json
import os
import shutil
import sys
import time

import servers
from connection import Connection, request
from process import BenchError

HOOK_SECRET = "a-secret-of-the-benchmark"
HOOKS = f"""hooks:
  in:
    items:
      format: hasura
      secret: {HOOK_SECRET}
      tables: {{item: {{type: Item}}}}
"""
SECONDS_MAX = 60
POLL_SECONDS = 0.002


class Items:
    """A folder with operations on items, and their upstream."""

    def __init__(self, bench, name):
        self.bench = bench
        self.folder = os.path.join(bench.folder, name)
        source = os.path.join(servers.SUPPORT, "items")
        os.makedirs(os.path.join(self.folder, "operations"))
        shutil.copy(os.path.join(source, "schema.graphql"), self.folder)
        shutil.copy(
            os.path.join(source, "operations.graphql"), os.path.join(self.folder, "operations")
        )
        self.upstream_port = servers.free_port()
        program = os.path.join(servers.SUPPORT, "item_upstream.py")
        self.upstream = bench.start(
            [sys.executable, program, str(self.upstream_port)], f"{name}-upstream.log"
        )
        servers.wait_until_ready(self.upstream, self.upstream_port, "/state")
        self._next = 1

    def ready_larder(self, data="data", more_settings="", more_upstream="", environment=None, port=None):
        """Starts Larder over a data folder of this name."""
        port = port or servers.free_port()
        settings = os.path.join(self.folder, f"larder-{data}.yaml")
        text = servers.SETTINGS.substitute(
            port=port, upstream_port=self.upstream_port, more_upstream=more_upstream
        ).replace("  forward: [authorization]\n", "")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(text.replace("./data", f"./{data}") + more_settings)
        process = self.bench.start(
            [self.bench.larder, "serve", "--config", settings], f"larder-{data}.log", environment
        )
        process.port = port
        servers.wait_until_ready(process, port, "/readyz")
        return process

    def emit(self, count, ids=1000, rate=None):
        """Sends events to every subscription. Returns the number of the last and the seconds taken."""
        first, self._next = self._next, self._next + count
        asked = {"count": count, "first": first, "ids": ids}
        if rate:
            asked["rate"] = rate
        with Connection(self.upstream_port) as connection:
            connection.socket.settimeout(SECONDS_MAX * 3)
            answer = connection.exchange(
                request("POST", "/emit", body=json.dumps(asked).encode())
            )
        return first + count - 1, json.loads(answer.body)["seconds"]

    @property
    def last(self):
        """The number of the last event."""
        return self._next - 1

    def state(self):
        with Connection(self.upstream_port) as connection:
            return json.loads(connection.get("/state").body)

    def wait_for(self, subscriptions):
        """Waits until upstream has this many subscriptions."""
        wait(lambda: self.state()["subscriptions"] == subscriptions, "upstream's subscriptions")


def wait(holds, name):
    deadline = time.monotonic() + SECONDS_MAX
    while not holds():
        if time.monotonic() > deadline:
            raise BenchError(f"{name}: not within {SECONDS_MAX} s")
        time.sleep(POLL_SECONDS)


def version(larder, number, ids=1000):
    """The stored version of the item that an event of this number changes; 0 if there is none."""
    with Connection(larder.port) as connection:
        answer = connection.get(f"/v1/entities/Item/i{number % ids}")
    return json.loads(answer.body)["version"] if answer.status == 200 else 0
