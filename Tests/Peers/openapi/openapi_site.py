"""Larder in front of the bookshop, with local types, a bucket, a user and a device."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
BOOKSHOP = HERE.parent / "bookshop"
ADMIN = "an-admin-token-for-the-checks-of-the-document"
START_SECONDS_MAX = 40
END_SECONDS_MAX = 15


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Site:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.processes = []
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        for name in ("larder.yaml", "local.graphql"):
            shutil.copy(HERE / name, self.folder)
        shutil.copytree(HERE / "operations", self.folder / "operations", dirs_exist_ok=True)
        shutil.copy(BOOKSHOP / "schema.graphql", self.folder)
        upstream = free_port()
        self.start(
            [pathlib.Path(sys.executable).parent / "uvicorn", "app:app", "--host", "127.0.0.1", "--port",
             str(upstream), "--no-access-log"],
            "upstream", BOOKSHOP, PYTHONPATH=str(HERE.parent), PYTHONDONTWRITEBYTECODE="1",
        )
        self.start(
            [self.binary, "serve", "--set", f"listen=127.0.0.1:{self.port}", "--set", "log.level=warning"],
            "larder", self.folder, LARDER_ADMIN_TOKEN=ADMIN,
            LARDER_UPSTREAM_URL=f"http://127.0.0.1:{upstream}/",
        )
        # With data, so that requests find some.
        self.until(lambda: self.ask("/api/books?first=20")["data"]["books"])
        self.ask("/v1/files/covers/0", method="PUT", body=b"cover", token=ADMIN)
        self.device = self.ask("/v1/devices", {"platform": "test"})["deviceToken"]
        credentials = {"email": "reader@example.com", "password": "a long password of a reader"}
        self.user = self.ask("/v1/auth/sign-up", credentials)["accessToken"]
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, command, name, folder, **environment):
        with (self.folder / f"{name}.log").open("w") as log:
            self.processes.append(
                subprocess.Popen(
                    [str(part) for part in command], cwd=folder, env=os.environ | environment,
                    stdout=log, stderr=subprocess.STDOUT,
                )
            )

    def until(self, condition):
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                if condition():
                    return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise AssertionError("the service is not ready") from error
            time.sleep(0.1)

    def ask(self, path, json_body=None, method=None, body=None, token=None, **headers):
        """The JSON of a successful response."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if json_body is not None:
            body = json.dumps(json_body).encode()
            fields["Content-Type"] = "application/json"
        if token:
            fields["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(
            self.url + path, data=body, method=method or ("POST" if body else "GET"), headers=fields
        )
        with urllib.request.urlopen(request, timeout=START_SECONDS_MAX) as response:
            text = response.read()
            return json.loads(text) if text else None

    def document(self, is_full=False):
        """The path of a copy of the document."""
        path = self.folder / ("openapi-full.json" if is_full else "openapi.json")
        if not path.exists():
            path.write_text(json.dumps(self.ask("/openapi.json?full" if is_full else "/openapi.json")))
        return path
