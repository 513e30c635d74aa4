"""Larder with the film library, or with an API of many items, for the checks of the console."""

import contextlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time

from chromium import Chromium
from console_page import ConsolePage
from live_site import START_SECONDS_MAX, ask, free_port, holds

ADMIN = "admin-token-of-the-console-32-characters"
VIEWER = "viewer-token-of-the-console-32-characters"
END_SECONDS_MAX = 15
# Longer than any screen is wide, without a place to break.
LONG = "unbroken" * 60
SETTINGS = {
    "LARDER_ADMIN_TOKEN": ADMIN,
    "LARDER_ADMIN_VIEWER_TOKEN": VIEWER,
    "LARDER_DEVICES_REGISTER": "open",
    "LARDER_LOG_LEVEL": "info",
}
FILM_SETTINGS = {
    "LARDER_TYPES": "{Film: {index: [year], search: [title, synopsis]}}",
    "LARDER_FILES_BUCKETS": "{pics: {access: public-read}}",
}


class Console:
    """A running Larder, and tabs of one browser on its console."""

    def __init__(self, binary, folder, browser):
        self.binary, self.folder, self.browser = binary, folder, browser
        self.port = free_port()
        self.process = None
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self, *arguments, **settings):
        environment = {n: v for n, v in os.environ.items() if not n.startswith("LARDER_")}
        with open(self.folder / "larder.log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    self.binary, "serve", *arguments, "--set", f"listen=127.0.0.1:{self.port}",
                    "--set", f"data={self.folder}/data",
                ],
                env=environment | SETTINGS | settings, cwd=self.folder, stdout=log, stderr=log,
            )
        holds(self._is_ready, "Larder's start", START_SECONDS_MAX)

    def _is_ready(self):
        assert self.process.poll() is None, (self.folder / "larder.log").read_text()[-2000:]
        with contextlib.suppress(OSError):
            return ask(self.url, "GET", "/readyz").status == 200

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def ask(self, method, target, body=None, **headers):
        return ask(self.url, method, target, body, **headers)

    def admin(self, method, target, body=None, **headers):
        return self.ask(method, target, body, Authorization=f"Bearer {ADMIN}", **headers)

    def device(self, name):
        """The token of a new device."""
        answer = self.ask("POST", "/v1/devices", {"platform": "ios", "name": name})
        assert answer.status == 201, answer
        return answer.json

    def page(self, token=ADMIN, width=1440, is_dark=False):
        page = ConsolePage(self.browser, self.url, width, is_dark)
        if token:
            page.sign_in(token)
        return page


class Films(Console):
    """The example with the film library, which can be made to fail."""

    def __init__(self, binary, folder, browser):
        super().__init__(binary, folder, browser)
        self.demo_port = free_port()

    def start(self):
        super().start("--demo", "--demo-port", str(self.demo_port), **FILM_SETTINGS)

    def fail(self, how):
        """Makes the library fail, "500" for instance; None makes it work again."""
        answer = ask(f"http://127.0.0.1:{self.demo_port}", "POST", "/__demo", {"fail": how or "off"})
        assert answer.status == 200, answer

    def fill(self):
        """Fetches films, and makes a device with a parked and a waiting mutation, a user, and a file."""
        for target in ("/api/films?limit=60", "/api/studios", *(f"/api/films/f{n}" for n in range(1, 9))):
            for _ in range(3):
                assert self.ask("GET", target).status == 200
        self.ask("GET", f"/api/films/{LONG}")
        self.phone = self.device(LONG[:128])
        self.ask(
            "POST", "/v1/auth/sign-up", {"email": "ada@example.com", "password": "correct horse"}
        )
        answer = self.admin(
            "PUT", "/v1/files/pics/notes/readme.txt", "A text in the larder."
        )
        assert answer.status in (200, 201), answer
        answer = self.admin("POST", "/v1/push/notifications", {
            "chatId": "c1", "userIds": ["u_1"], "text": LONG,
        }, Idempotency_Key="push-1")
        assert answer.status == 202, answer

    def submit(self, token, key, operation, variables, **more):
        answer = self.ask(
            "POST", "/v1/mutations", {"operation": operation, "variables": variables, **more},
            Device_Token=token, Idempotency_Key=key,
        )
        assert answer.status in (200, 202), answer
        return answer.json


MANY = 100_000
PAGE = 1_000
MANY_SCHEMA = """\
type Query { items(offset: Int!): [Item!]! item(id: ID!): Item }
type Mutation { setItem(id: ID!, name: String!): Item! }
type Item { id: ID! name: String! size: Int! }
"""
MANY_OPERATIONS = """\
query Items($offset: Int!) @cache(maxAge: 3600, scope: PUBLIC) { items(offset: $offset) { id name size } }
query Item($id: ID!) @route(path: "/items/{id}") @cache(maxAge: 60, scope: PUBLIC) { item(id: $id) { id name size } }
mutation SetItem($id: ID!, $name: String!) @sync(object: "Item:$id", repeatable: true) { setItem(id: $id, name: $name) { id name } }
"""


def item(number):
    return {"id": f"i{number:06}", "name": f"Item {number}", "size": number % 977}


class Many(Console):
    """An API of 100,000 items, which accepts no mutation: they wait in the queue."""

    def start(self):
        (self.folder / "operations").mkdir(exist_ok=True)
        (self.folder / "operations/items.graphql").write_text(MANY_OPERATIONS)
        (self.folder / "schema.graphql").write_text(MANY_SCHEMA)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                variables = body.get("variables") or {}
                if "setItem" in body["query"]:
                    return self.answer(503, {})
                if "items(" in body["query"]:
                    start = variables["offset"]
                    data = {"items": [item(n) for n in range(start, min(start + PAGE, MANY))]}
                else:
                    data = {"item": item(int(variables["id"][1:]))}
                self.answer(200, {"data": data})

            def answer(self, status, value):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.api = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.api.serve_forever, daemon=True).start()
        super().start(
            LARDER_UPSTREAM_URL=f"http://127.0.0.1:{self.api.server_port}/",
            LARDER_SCHEMA="./schema.graphql", LARDER_OPERATIONS="./operations",
            LARDER_TYPES="{Item: {search: [name], index: [size]}}",
        )

    def stop(self):
        super().stop()
        self.api.shutdown()
        self.api.server_close()

    def fill(self):
        for start in range(0, MANY, PAGE):
            assert self.ask("GET", f"/v1/operations/Items?offset={start}").status == 200
        self.devices = [self.device(f"Phone {number}") for number in range(10)]
        for device in self.devices:
            for part in range(10):
                answer = self.ask("POST", "/v1/mutations", [
                    {"operation": "SetItem", "mode": "steady", "variables": {"id": f"i{n:06}", "name": LONG}}
                    for n in range(100 * part, 100 * part + 100)
                ], Device_Token=device["deviceToken"], Idempotency_Key=f"part-{part}")
                assert answer.status == 202, answer


class World:
    """The services that checks ask for, each begun when it is first needed, and one browser."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.made = {}

    def __enter__(self):
        self.browser = Chromium(self.folder)
        return self

    def __exit__(self, *_):
        for console in self.made.values():
            console.stop()
        self.browser.close()

    def begun(self, kind, name, is_filled=True):
        if name not in self.made:
            console = kind(self.binary, self.folder / name, self.browser)
            self.made[name] = console
            console.start()
            if is_filled:
                console.fill()
        return self.made[name]

    @property
    def films(self):
        return self.begun(Films, "films")

    @property
    def new(self):
        """A service that was never called."""
        return self.begun(Films, "new", is_filled=False)

    @property
    def many(self):
        return self.begun(Many, "many")
