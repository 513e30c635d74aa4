"""Calls Larder and its upstream server, and counts the passed checks."""

import argparse
import http.client
import json
import pathlib
import re
import subprocess
import sys
import time
from urllib.parse import quote, urlencode, urlsplit

TIMEOUT_SECONDS = 20


class Digits(str):
    """A JSON number as written: 1.0 is not 1, and 2^63 keeps its last digit."""


def lossless(text):
    """JSON with its member order and digits, comparable with `==`."""
    return json.loads(
        text,
        object_pairs_hook=lambda pairs: ("object", pairs),
        parse_int=Digits,
        parse_float=Digits,
    )


def member(value, name):
    return next((v for key, v in value[1] if key == name), None)


def dig(value, *path):
    """The value at a path in JSON; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        """None for a body that is not JSON, which no check expects."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def cache(self):
        return self.headers.get("cache-status", "").removeprefix("larder; ")

    def __str__(self):
        return f"{self.status} [{self.cache}] {self.text[:400]}"


def ask(base, method, target, body=None, **headers):
    parts = urlsplit(base)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        fields.setdefault("Content-Type", "application/json")
        body = json.dumps(body).encode()
    try:
        connection.request(method, target, body, fields)
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Peer:
    """One server, Larder in front of it, and the tally of the checks."""

    def __init__(self, arguments):
        self.larder = arguments.larder
        self.upstream = arguments.upstream
        self.binary = arguments.binary
        self.folder = pathlib.Path(arguments.folder)
        self.state_file = self.folder / "state.json"
        self.tally_file = arguments.tally
        self.counts = {"passed": 0, "failed": 0}
        files = sorted((self.folder / "operations").glob("*.graphql"))
        self.document = without_directives("\n".join(f.read_text() for f in files))

    # Checks

    def check(self, name, condition, detail=""):
        self.counts["passed" if condition else "failed"] += 1
        if not condition:
            print(f"FAILED {name}: {detail}", flush=True)

    def equal(self, name, found, wanted):
        self.check(name, found == wanted, f"{found!r}, not {wanted!r}")

    def save(self):
        with open(self.tally_file, "a") as tally:
            tally.write(f"{self.counts['passed']} {self.counts['failed']}\n")

    # Calls

    def get(self, target, **headers):
        return ask(self.larder, "GET", target, **headers)

    def read(self, operation, variables=None, **headers):
        """By GET, the variables in the query string."""
        target = f"/v1/operations/{operation}"
        return self.get(f"{target}?{query_string(variables)}" if variables else target, **headers)

    def post(self, operation, variables=None, **headers):
        return ask(
            self.larder, "POST", f"/v1/operations/{operation}", body=variables or {}, **headers
        )

    def direct(self, operation, variables=None, **headers):
        """The server's own response to the same operation."""
        body = {"query": self.document, "operationName": operation, "variables": variables or {}}
        return ask(self.upstream, "POST", urlsplit(self.upstream).path or "/", body, **headers)

    def switch(self, mode):
        parts = urlsplit(self.upstream)
        ask(f"{parts.scheme}://{parts.netloc}", "POST", f"/switch?to={mode}")

    def seen(self, operation=None):
        parts = urlsplit(self.upstream)
        every = ask(f"{parts.scheme}://{parts.netloc}", "GET", "/seen").json
        return [one for one in every if operation in (None, one["operationName"])]

    # Groups of checks

    def same_as_server(self, operation, variables=None, **headers):
        """By GET and by POST Larder's response equals the server's."""
        wanted = member(lossless(self.direct(operation, variables, **headers).body), "data")
        ways = {"GET": self.read, "POST": self.post}
        for name, way in ways.items():
            for attempt in ("first", "again"):
                answer = way(operation, variables, **headers)
                label = f"{operation} {variables or ''} by {name}, {attempt}"
                self.equal(f"{label}: status", answer.status, 200)
                self.equal(label, member(lossless(answer.body), "data"), wanted)

    def curl(self, target, *options):
        """- Returns: (head, body) as curl prints them, with the body decoded."""
        command = ["curl", "--silent", "--show-error", "--max-time", str(TIMEOUT_SECONDS)]
        shown = subprocess.run(
            [*command, "--dump-header", "-", *options, self.larder + target],
            capture_output=True,
            check=True,
        ).stdout
        head, _, body = shown.partition(b"\r\n\r\n")
        return head.decode(), body

    def command(self, *arguments):
        return subprocess.run(
            [self.binary, *arguments, "--set", f"upstream.url={self.upstream}"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )

    def keep(self, name, value):
        """Stores a value for a later phase, which is a process of its own."""
        state = self.kept()
        state[name] = value
        self.state_file.write_text(json.dumps(state))

    def kept(self):
        return json.loads(self.state_file.read_text()) if self.state_file.exists() else {}


def query_string(variables):
    """Lists of plain values as repeated names; an empty list or a nested value as JSON."""
    pairs = []
    for name, value in variables.items():
        if isinstance(value, list) and value and not any(isinstance(v, (list, dict)) for v in value):
            pairs += [(name, plain(v)) for v in value]
        elif isinstance(value, (list, dict)):
            pairs.append((name, json.dumps(value)))
        else:
            pairs.append((name, plain(value)))
    return urlencode(pairs, quote_via=quote)


def plain(value):
    return value if isinstance(value, str) else json.dumps(value)


def without_directives(document):
    """The operations as the server accepts them: Larder's own directives are not in its schema."""
    document = re.sub(r"^\s*#.*$", "", document, flags=re.MULTILINE)
    document = re.sub(r"@(route|cache|access|sync|effects)\([^)]*\)", "", document)
    return re.sub(r"@(complete|authoritative)\b", "", document)


def eventually(ask_again, is_wanted, seconds=10):
    """Repeats a request until its response is as wanted or the time is up; the last response."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ask_again()
        if is_wanted(answer) or time.monotonic() > deadline:
            return answer
        time.sleep(0.1)


def run(phases):
    """Runs the phase that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("phase", choices=phases)
    for name in ("larder", "upstream", "binary", "folder", "tally"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    peer = Peer(arguments)
    try:
        phases[arguments.phase](peer)
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
        peer.check(f"phase {arguments.phase} runs to its end", False, repr(error))
        raise
    finally:
        peer.save()
    sys.exit(1 if peer.counts["failed"] else 0)
