"""The client libraries: first syncs beside curl, deltas, observed queries, submits beside commits."""

import json
import os
import shutil
import statistics
import subprocess
import time

import commits
import phones
import servers
from client import Client
from connection import Connection, request
from process import BenchError, end_with_parent
from relay import Relay
from report import Goal, median_text, ratios

ENTITIES = 10_000
CHANGED = 100
# Operations of one request at most.
OPERATIONS_MAX = 1_000
# In a round.
DELTAS = 5
OBSERVED_WRITES = 20
SUBMITS = 60
BUNDLE_KIB_MAX = 25
BUILD_SECONDS_MAX = 60
CURL_SECONDS_MAX = 60
COMPILE_SECONDS_MAX = 1_200

ACCOUNT = {"email": "bench@example.com", "password": "correct horse battery staple"}
LOCAL = """type Trip @local(scope: USER) {
  id: ID!
  title: String!
  days: Int @default(value: 1)
}
"""
# No limit of sign-ins affects a measurement.
SETTINGS = """local: ./local.graphql
accounts: {passwordCost: 10, rate: 100000, accessLifetime: 1d}
devices: {rate: 100000}
"""
CLIENTS = os.path.join(servers.SUPPORT, "..", "..", "Clients")


def run(bench):
    films = servers.Films(bench, "clients")
    with open(os.path.join(films.folder, "local.graphql"), "w", encoding="utf-8") as file:
        file.write(LOCAL)
    larder = films.ready_larder(more_settings=phones.SETTINGS + SETTINGS)
    account = _Account(larder.port)
    account.fill()
    script = os.path.join(CLIENTS, "JavaScript", "bench.mjs")
    kinds = [
        _Kind(bench, larder, "JavaScript", ["node", script]),
        _Kind(bench, larder, "Swift", [bench.client]),
    ]
    _show_first_syncs(bench, kinds)
    _show_steps(bench, account, kinds)
    if bench.client_builds:
        _show_builds(bench)


class _Account:
    """A user who owns the entities, on a device that writes them. The clients are its other devices."""

    def __init__(self, port):
        self.port = port
        [token] = phones.register(port, 1)
        self._fields = {"Device-Token": token}
        answer = self._post("/v1/auth/sign-up", ACCOUNT, 201)
        self._fields["Authorization"] = f"Bearer {answer['accessToken']}"

    def fill(self):
        rows = [
            {
                "op": "insert",
                "type": "Trip",
                "id": f"t{number}",
                "data": {"title": f"Trip number {number}", "days": 1 + number % 30},
            }
            for number in range(ENTITIES)
        ]
        for first in range(0, ENTITIES, OPERATIONS_MAX):
            self._post("/v1/entities", rows[first : first + OPERATIONS_MAX], 200)

    def change(self, days):
        """Changes entities that are spread over all of them."""
        step = ENTITIES // CHANGED
        changes = [
            {"op": "update", "type": "Trip", "id": f"t{number * step}", "data": {"days": days}}
            for number in range(CHANGED)
        ]
        self._post("/v1/entities", changes, 200)

    def _post(self, path, body, status):
        with Connection(self.port) as connection:
            answer = connection.exchange(
                request("POST", path, self._fields, json.dumps(body).encode())
            )
        if answer.status != status:
            raise BenchError(f"POST {path}: {answer.status} {answer.body[:300]}")
        return json.loads(answer.body)


class _Kind:
    """A client library and its figures, by round, in seconds."""

    def __init__(self, bench, larder, name, argv):
        self.bench, self.name, self.argv, self.port = bench, name, argv, larder.port
        self.curl_bytes = 0
        self.first, self.curl, self.transfers = [], [], []
        self.delta, self.empty, self.observed = [], [], []
        self.submit, self.commit, self.append = [], [], []
        self._stores = 0

    def signed_in(self, port=None):
        """A new process with an empty store, which follows all entities."""
        self._stores += 1
        folder = os.path.join(self.bench.folder, f"{self.name}-{self._stores}")
        client = Client(self.argv, port or self.port, folder)
        try:
            client.ask("signIn", **ACCOUNT)
        except BenchError:
            client.__exit__()
            raise
        return client

    def record(self):
        """Keeps the requests of a first sync, for curl."""
        with Relay(self.port) as relay, self.signed_in(relay.port) as client:
            _sync_all(client)
            requests = relay.requests("/v1/changes")
        self.pages = [target for target, _ in requests]
        if len(self.pages) < 2:
            raise BenchError(f"{self.name}: a first sync of {len(self.pages)} requests")
        fields = {
            name: value
            for name, value in requests[0][1].items()
            if name in ("device-token", "authorization", "accept-encoding")
        }
        self.coding = fields.get("accept-encoding", "")
        self._curl = os.path.join(self.bench.folder, f"{self.name}.curl")
        with open(self._curl, "w", encoding="utf-8") as file:
            file.write('fail\nfail-early\ngloboff\nsilent\n')
            file.write('write-out = "%{time_total} %{size_download} %{num_connects}\\n"\n')
            file.writelines(f'header = "{name}: {value}"\n' for name, value in fields.items())
            for target in self.pages:
                file.write(f'url = "http://127.0.0.1:{self.port}{target}"\noutput = "/dev/null"\n')

    def measure_first(self):
        with self.signed_in() as client:
            self.first.append(_sync_all(client))
        shutil.rmtree(client.folder)

    def measure_curl(self):
        began = time.perf_counter()
        done = subprocess.run(
            ["curl", "--disable", "--config", self._curl],
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            timeout=CURL_SECONDS_MAX,
        )
        self.curl.append(time.perf_counter() - began)
        transfers = [line.split() for line in done.stdout.splitlines()]
        if sum(int(connects) for _, _, connects in transfers) != 1:
            raise BenchError(f"{self.name}: curl did not keep its connection alive")
        self.transfers.append(sum(float(seconds) for seconds, _, _ in transfers))
        received = sum(int(size) for _, size, _ in transfers)
        if self.curl_bytes not in (0, received):
            raise BenchError(f"{self.name}: curl received {received} bytes, then {self.curl_bytes}")
        self.curl_bytes = received

    def sync(self, client, applied):
        """The seconds of a sync with this many changes."""
        reply = client.ask("sync")
        if reply["applied"] != applied:
            raise BenchError(f"{self.name}: {reply['applied']} changes applied, not {applied}")
        return reply["seconds"]

    def measure_writes(self, client):
        self.observed.append(statistics.median(client.ask("observe", count=OBSERVED_WRITES)["seconds"]))
        before = commits.measured(client.folder, SUBMITS)
        reply = client.ask("submit", count=SUBMITS)
        after = commits.measured(client.folder, SUBMITS)
        self.submit.append(statistics.median(reply["seconds"]))
        self.commit.append((before + after) / 2)
        if "appends" in reply:
            self.append.append(statistics.median(reply["appends"]))


def _sync_all(client):
    """The seconds of a first sync."""
    seconds, count = client.ask("sync")["seconds"], client.ask("count")["count"]
    if count != ENTITIES:
        raise BenchError(f"{count} of {ENTITIES} entities after the first sync")
    return seconds


def _show_first_syncs(bench, kinds):
    for kind in kinds:
        kind.record()
    for turn in range(bench.rounds):
        for kind in kinds if turn % 2 else kinds[::-1]:
            measurements = [kind.measure_first, kind.measure_curl]
            for measure in measurements if turn % 2 else measurements[::-1]:
                measure()
    bench.report.line(
        f"A first sync of {ENTITIES:,} entities, by a new process with an empty store, from the call until "
        "all is durable and can be read. Beside it curl: one process with keep-alive that sends the same "
        "requests, one after the other, with the same Accept-Encoding, recorded at a first sync, and "
        f"discards what it receives without decoding it. {bench.rounds} rounds in turn."
    )
    bench.report.table(
        ["", "requests", "Accept-Encoding", "MB", "curl, ms", "first sync, ms"],
        [
            [
                kind.name,
                str(len(kind.pages)),
                kind.coding or "none",
                f"{kind.curl_bytes / 1e6:.2f}",
                median_text(_milliseconds(kind.curl)),
                median_text(_milliseconds(kind.first)),
            ]
            for kind in kinds
        ],
    )
    goals = []
    for kind in kinds:
        goals += [
            Goal(f"{kind.name}: first sync : curl", ratios(kind.first, kind.curl), most=3),
            Goal(
                f"{kind.name}: first sync : curl without its process's start",
                ratios(kind.first, kind.transfers),
            ),
        ]
    bench.report.goals(goals)


def _show_steps(bench, account, kinds):
    """Deltas, observed writes and submits, with the replica that the first sync has made."""
    first, second = kinds
    with first.signed_in() as one, second.signed_in() as other:
        clients = [(first, one), (second, other)]
        for _, client in clients:
            _sync_all(client)
        for turn in range(bench.rounds):
            ordered = clients if turn % 2 else clients[::-1]
            _measure_deltas(account, ordered, turn)
            for kind, client in ordered:
                kind.measure_writes(client)
        bundle = one.ask("bundle")["bytes"] / 1024
    bench.report.line()
    bench.report.line(
        f"With these {ENTITIES:,} entities in the store, {bench.rounds} rounds in turn: "
        f"{DELTAS} syncs with {CHANGED} changed entities each, their requests included; {OBSERVED_WRITES} local "
        "writes, each from its call until the observer of a list (a filter on a field, sorted by it, the first "
        f"50) has the new result, its commit included; {SUBMITS} submits with an optimistic update, each until "
        f"it is durable. Beside the submits: {SUBMITS} commits of one row before and after them, by Python's "
        "sqlite3 with WAL and synchronous=FULL in the store's folder, which are the settings of the Swift "
        "library; for JavaScript's file store an append of as many bytes as it wrote, with fdatasync, after "
        "each submit. Medians."
    )
    bench.report.table(
        ["ms", "sync with changes", "sync without", "observed write", "submit", "commit", "append"],
        [
            [kind.name]
            + [
                median_text(_milliseconds(values), 2) if values else ""
                for values in (
                    kind.delta, kind.empty, kind.observed, kind.submit, kind.commit, kind.append
                )
            ]
            for kind in kinds
        ],
    )
    goals = []
    for kind in kinds:
        goals += [
            Goal(
                f"{kind.name}: a delta of {CHANGED}", _milliseconds(kind.delta), unit="ms", most=20,
                digits=1,
            ),
            Goal(
                f"{kind.name}: local write until its observer has it", _milliseconds(kind.observed),
                unit="ms", most=5, digits=1,
            ),
        ]
        goals.append(Goal(f"{kind.name}: submit : a commit of SQLite", ratios(kind.submit, kind.commit), most=2))
        if kind.append:
            goals.append(Goal(f"{kind.name}: submit : an append and fdatasync", ratios(kind.submit, kind.append)))
    goals.append(
        Goal("JavaScript: all modules, gzip -9", [bundle], unit="KiB", most=BUNDLE_KIB_MAX, digits=1)
    )
    bench.report.goals(goals)


def _measure_deltas(account, clients, turn):
    """Each delta is for all clients, one after the other."""
    times = [([], []) for _ in clients]
    for number in range(DELTAS):
        # More than before: the changed ones are the first of the observed list.
        account.change(days=40 + turn * DELTAS + number)
        for (kind, client), (changed, empty) in zip(clients, times):
            changed.append(kind.sync(client, applied=CHANGED))
            empty.append(kind.sync(client, applied=0))
    for (kind, _), (changed, empty) in zip(clients, times):
        kind.delta.append(statistics.median(changed))
        kind.empty.append(statistics.median(empty))


def _show_builds(bench):
    """One round: it takes minutes."""
    package, scratch = os.path.join(CLIENTS, "Swift"), os.path.join(bench.folder, "build")
    argv = ["--package-path", package, "--scratch-path", scratch]
    _swift("package", *argv, "resolve")
    grdb = _swift("build", *argv, "--configuration", "release", "--target", "GRDB")
    library = _swift("build", *argv, "--configuration", "release", "--target", "Larder")
    bench.report.line()
    bench.report.line(
        "A release build of GRDB in an empty folder, with its source there already, then of the library beyond "
        "it. One round."
    )
    bench.report.table(["", "s"], [["GRDB", f"{grdb:.1f}"], ["Larder's client", f"{library:.1f}"]])
    bench.report.goals(
        [
            Goal(
                "Swift: build of the library beyond GRDB", [library], unit="s",
                most=BUILD_SECONDS_MAX, digits=1,
            )
        ]
    )


def _swift(*arguments):
    """The seconds that a command of SwiftPM takes."""
    began = time.perf_counter()
    done = subprocess.run(
        ["swift", *arguments],
        check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=COMPILE_SECONDS_MAX, preexec_fn=end_with_parent,
    )
    if done.returncode != 0:
        raise BenchError(f"swift {arguments[0]} failed: {done.stdout[-2000:]}")
    return time.perf_counter() - began


def _milliseconds(values):
    return [value * 1e3 for value in values]
