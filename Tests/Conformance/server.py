"""The real `larder serve`, which can be killed and started again on the same data and port."""

import http.client
import json
import pathlib
import random
import shutil
import socket
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
ADMIN = "an-admin-token-for-the-conformance-suite"
START_SECONDS = 30
PORTS_TRIED_MAX = 5
REQUEST_SECONDS = 30

class Server:
    """One Larder in a folder of its own."""

    def __init__(self, binary, folder, upstream_port, settings):
        self.binary, self.folder, self.upstream_port = binary, folder, upstream_port
        self.settings = dict(settings)
        self.process = None
        shutil.copytree(HERE / "project", folder / "project")
        self.port = 0
        self.start()

    def start(self, settings=None):
        """Starts it, on another port if the former is not free."""
        self.settings.update(settings or {})
        for attempt in range(PORTS_TRIED_MAX):
            if attempt or not self.port or not is_free(self.port):
                self.port = steady_port()
            if self._starts():
                return
            if "cannot listen" not in self._tail():
                break
        raise RuntimeError(f"larder did not start:\n{self._tail()}")

    def _tail(self):
        return (self.folder / "larder.log").read_text()[-3000:]

    def _starts(self):
        sets = [f"--set={name}={value}" for name, value in self.settings.items()]
        self.log = (self.folder / "larder.log").open("a")
        self.process = subprocess.Popen(
            [self.binary, "serve", f"--set=listen=127.0.0.1:{self.port}",
             f"--set=upstream.url=http://127.0.0.1:{self.upstream_port}/", *sets],
            cwd=self.folder / "project", stdout=self.log, stderr=self.log,
            env={"LARDER_ADMIN_TOKEN": ADMIN, "LANG": "C.UTF-8"})
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return True
            except OSError:
                time.sleep(0.02)
        return False

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
            self.log.close()

    def ask(self, method, target, body=None, headers=None):
        """(status, headers by lower-case name, body) of a request past the proxy."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_SECONDS)
        fields = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            fields.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, target, body, fields)
            response = connection.getresponse()
            return response.status, {n.lower(): v for n, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def admin(self, method, target, body=None):
        return self.ask(method, target, body, {"Authorization": f"Bearer {ADMIN}"})


def is_free(port):
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def steady_port():
    """A free port that the system gives to no connection, so that it can be listened on again later."""
    while True:
        port = random.randrange(12000, 32000)
        if is_free(port):
            return port
