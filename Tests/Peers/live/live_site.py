"""Larder in front of a GraphQL server on uvicorn that can be killed and started again in mid-stream."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from peer_checks import ask, eventually  # noqa: E402,F401

HERE = pathlib.Path(__file__).resolve().parent
START_SECONDS_MAX = 40
END_SECONDS_MAX = 15
WAIT_SECONDS_MAX = 40
HOOK_SECRET = "a-secret-of-the-tests"

SETTINGS = """\
listen: 127.0.0.1:{port}
data: ./data
operations: ./operations
schema: ./schema.graphql
upstream:
  url: http://127.0.0.1:{upstream}/
  timeout: 5s
{more_upstream}log: {{level: warning}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """The GraphQL server: always at the same port, with the same items."""

    def __init__(self, folder, app, protocol):
        self.folder, self.app, self.protocol = folder, app, protocol
        self.port = free_port()
        self.process = None
        # Whether the next start refuses all credentials.
        self.refuses = False

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        environment = os.environ | {
            "ITEMS_FILE": str(self.folder / "items.jsonl"), "PROTOCOL": self.protocol,
            "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1",
            "REFUSES": "1" if self.refuses else "0",
        }
        with open(self.folder / "upstream.log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-m", "uvicorn", f"{self.app}:app", "--host", "127.0.0.1",
                    "--port", str(self.port), "--no-access-log",
                ],
                env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder,
            )
        _wait_for(self.process, self.port, "/state", self.folder / "upstream.log")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def state(self):
        return ask(self.url, "GET", "/state").json

    def listeners(self):
        return self.state()["open"]

    def set(self, identifier, name):
        """Changes an item past Larder. Returns it."""
        body = {
            "query": "mutation($id: ID!, $name: String!) "
            "{ setItem(id: $id, name: $name) { id name version } }",
            "variables": {"id": identifier, "name": name},
        }
        return ask(self.url, "POST", "/", body).json["data"]["setItem"]

    def items(self):
        answer = ask(self.url, "POST", "/", {"query": "{ items { id name version } }"}).json
        return {item["id"]: item for item in answer["data"]["items"]}


class Site:
    """A server, Larder in front of it, and their ends."""

    def __init__(self, binary, folder, app, protocol, more_upstream="", more_settings=""):
        self.binary, self.folder = binary, folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copytree(HERE / "operations", folder / "operations")
        shutil.copy(HERE / "schema.graphql", folder)
        self.server = Server(folder, app, protocol)
        self.port = free_port()
        if protocol == "sse":
            more_upstream += "  subscriptions: sse\n"
        (folder / "larder.yaml").write_text(
            SETTINGS.format(
                port=self.port, upstream=self.server.port, more_upstream=more_upstream
            ) + more_settings
        )
        self.process = None

    def __enter__(self):
        self.server.start()
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.server.kill()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def socket_url(self):
        return f"ws://127.0.0.1:{self.port}/v1/graphql"

    def start(self):
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("LARDER_")
        }
        with open(self.folder / "larder.log", "ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--config", self.folder / "larder.yaml"],
                env=environment, stdout=log, stderr=subprocess.STDOUT,
            )
        _wait_for(self.process, self.port, "/readyz", self.folder / "larder.log")

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def get(self, target, **headers):
        return ask(self.url, "GET", target, **headers)

    def stored(self, identifier):
        """The stored item; None if there is none."""
        answer = self.get(f"/v1/entities/Item/{identifier}")
        return answer.json if answer.status == 200 else None

    def all_stored(self):
        """Name and version of every stored item, by id."""
        items = self.get("/v1/entities/Item?limit=1000").json["items"]
        return {item["id"]: (item["name"], item["version"]) for item in items}


def _wait_for(process, port, path, log):
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-3000:]
        with contextlib.suppress(OSError, http.client.HTTPException):
            if ask(f"http://127.0.0.1:{port}", "GET", path).status == 200:
                return
        time.sleep(0.02)
    raise AssertionError(f"port {port} is not ready: {log.read_text()[-3000:]}")


def holds(condition, about, seconds=WAIT_SECONDS_MAX):
    """Waits until the condition is true."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"{about}: not within {seconds} s"
        time.sleep(0.02)


class EventStream:
    """A stream of server-sent events, read by a thread of its own."""

    def __init__(self, port, target):
        self.events = []
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.connection.request("GET", target, headers={"Accept": "text/event-stream"})
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()
        self.is_over = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        name, data = "message", []
        with contextlib.suppress(OSError, ValueError, AttributeError, http.client.HTTPException):
            for line in self.response:
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    name = text.removeprefix("event: ")
                elif text.startswith("data: "):
                    data.append(text.removeprefix("data: "))
                elif not text and data:
                    self.events.append((name, json.loads("\n".join(data))))
                    name, data = "message", []
        self.is_over = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(END_SECONDS_MAX)
        # The response has the socket's last descriptor.
        self.response.close()
        self.connection.close()

    def named(self, name):
        return [data for event, data in list(self.events) if event == name]

    def versions(self):
        return [data["data"]["itemChanged"]["version"] for data in self.named("next")]
