"""GraphQL clients: by documentId, over a WebSocket; many subjects in one stream; list diffs."""

import base64
import json
import os
import selectors
import socket
import statistics
import struct
import time
from urllib.parse import urlencode

import servers
from connection import Connection, request
from generator import Generator
from items import HOOK_SECRET, HOOKS, Items
from process import BenchError
from report import Goal, median_text, ratios
from streams import Streams, raise_limit
from wrk import load

from sections.hit import PATH, WARM_UP_SECONDS, Contestant, fill, phone_requests, show_loads

MEDIA_TYPE = "application/graphql-response+json"
# As Apollo Client sends it.
ACCEPT = f"{MEDIA_TYPE},application/json;q=0.9"
OPERATION = "BenchItem"
SOCKETS = 64
MESSAGE_SECONDS_MAX = 30
SUBJECTS = 1_000
LIVE_STREAMS = 100
COMMITS = 50
ROWS = 10_000
# As many rows as one list can have; those from i1000 on are among the first by id.
LISTED = 1_000
FIRST_CHANGED = 1_000
KIBIBYTE = 1024
SETTLE_SECONDS = 6


def run(bench):
    raise_limit(SUBJECTS)
    larder = servers.Films(bench, "graphql").ready_larder()
    _show_hits(bench, larder)
    _show_sockets(bench, larder)
    larder.stop()
    items = Items(bench, "items")
    _show_subjects(bench, items)
    _show_diffs(bench, items)


# Hits by documentId


def _show_hits(bench, larder):
    generator = Generator(bench.compiler, bench.folder)
    body, tag = fill(larder)
    target = graphql_target(larder)

    def varied(process, path, *, fields, **how):
        return generator.send(process, phone_requests(path, fields), **how)

    rest = Contestant("by the path", larder, PATH, load=varied)
    plain = Contestant("by documentId, JSON", larder, target, load=varied)
    typed = Contestant("by documentId", larder, target, {"Accept": ACCEPT}, varied)
    contestants = [rest, plain, typed]
    for contestant in contestants:
        first_response(contestant, body, tag)
        contestant.run(WARM_UP_SECONDS)
    for turn in range(bench.rounds):
        first = turn % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            contestant.loads.append(contestant.run(bench.seconds))
    bench.report.line(
        f"{len(body):,} bytes of JSON, 64 keep-alive connections, a generator of 2 threads, "
        f"{bench.rounds} rounds of {bench.seconds} s each in turn, medians."
    )
    show_loads(bench.report, contestants)
    bench.report.goals(
        [
            Goal(f"CPU a request, {one.name} : by the path", ratios(one.cpu, rest.cpu), most=1.15)
            for one in (plain, typed)
        ]
    )


def graphql_target(larder):
    """The target of a GET that reads the operation of `PATH` by its documentId."""
    return "/v1/graphql?" + urlencode({"documentId": _document(larder), "variables": "{}"})


def _document(larder):
    """The documentId of the operation of `PATH`."""
    with Connection(larder.port, larder.tls) as connection:
        listed = json.loads(connection.get("/v1/operations").body)["operations"]
    for operation in listed:
        if PATH in operation["paths"]:
            return operation["documentId"]
    raise BenchError(f"no operation has the path {PATH}")


def first_response(contestant, body, tag):
    """Fetches the response once, so that it is cached, and expects the bytes and tag of the path."""
    with Connection(contestant.process.port, contestant.process.tls) as connection:
        connection.get(contestant.path, **(contestant.fields or {}))
        answer = connection.get(contestant.path, **(contestant.fields or {}))
    if (answer.status, answer.body, answer.fields.get("etag")) != (200, body, tag):
        raise BenchError(f"{contestant.name} returned {answer.status}, {answer.body[:300]}")

# POST, and messages on WebSockets


def _show_sockets(bench, larder):
    body = {"documentId": _document(larder)}
    script = os.path.join(bench.folder, "graphql.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(
            'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
            f"wrk.body = '{json.dumps(body)}'\n"
        )
    query = _masked({"id": "1", "type": "subscribe", "payload": body})
    ping = _masked({"type": "ping"})
    measured = {
        "by the path": lambda: load(larder, PATH, seconds=bench.seconds),
        "POST by documentId": lambda: load(
            larder, "/v1/graphql", seconds=bench.seconds, script=script
        ),
        "by the path, this program": lambda: _exchanges(
            lambda: _plain(larder.port), larder, bench.seconds, request("GET", PATH), answered
        ),
        "WebSocket, ping and pong": lambda: _exchanges(
            lambda: _websocket(larder.port), larder, bench.seconds, ping, b'"pong"'
        ),
        "WebSocket, the query": lambda: _exchanges(
            lambda: _websocket(larder.port), larder, bench.seconds, query, b'"complete"'
        ),
    }
    with Connection(larder.port, larder.tls) as connection:
        answered = connection.get(PATH).body[-16:]
    loads = {name: [] for name in measured}
    names = list(measured)
    for turn in range(bench.rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            loads[name].append(measured[name]())
    cpu = {name: [done.cpu_microseconds for done in loads[name]] for name in names}
    bench.report.line()
    bench.report.line(
        f"The same response on {SOCKETS} connections, one request repeated after another on each (wrk; "
        f"WebSockets and the path once more by this program), {bench.rounds} rounds of {bench.seconds} s in turn, medians."
    )
    bench.report.table(
        ["", "CPU µs/request", "requests/s"],
        [
            [
                name,
                median_text(cpu[name], 2),
                median_text([done.per_second for done in loads[name]], 0),
            ]
            for name in names
        ],
    )
    def ratio(name, other, most=None):
        return Goal(f"CPU, {name} : {other}", ratios(cpu[name], cpu[other]), most=most)

    # Each beside the same response to the same client: fewer requests at a time cost more each.
    alike = "by the path, this program"
    bench.report.goals(
        [
            ratio("POST by documentId", "by the path", most=1.15),
            ratio("WebSocket, ping and pong", alike, most=1.5),
            ratio("WebSocket, the query", alike),
            ratio(alike, "by the path"),
        ]
    )


class Exchanges:
    """As loads.Load, of what this process itself exchanges."""

    def __init__(self, count, seconds, cpu_seconds):
        self.per_second = count / seconds
        self.cpu_microseconds = cpu_seconds / count * 1e6


def _masked(message):
    """One text frame of a client (RFC 6455 section 5.3). A mask of zeros is as good as any here."""
    payload = json.dumps(message).encode()
    length = len(payload)
    head = bytes([0x81, 0x80 | length]) if length < 126 else struct.pack("!BBH", 0x81, 0xFE, length)
    return head + bytes(4) + payload


def _exchanges(connect, larder, seconds, message, end):
    """Sends the message on each of many sockets whenever the response to the last has ended."""
    selector = selectors.DefaultSelector()
    clients = [connect() for _ in range(SOCKETS)]
    try:
        for client in clients:
            selector.register(client, selectors.EVENT_READ)
            client.sendall(message)
        count = 0
        before, started = larder.cpu_seconds(), time.perf_counter()
        deadline = started + seconds
        while time.perf_counter() < deadline:
            for key, _ in selector.select(1):
                received = key.fileobj.recv(65536)
                if not received:
                    raise BenchError("a connection was closed")
                # Responses of a few hundred bytes arrive in one piece, or the end comes alone.
                if end in received:
                    count += 1
                    key.fileobj.send(message)
        return Exchanges(count, time.perf_counter() - started, larder.cpu_seconds() - before)
    finally:
        selector.close()
        for client in clients:
            client.close()


def _plain(port):
    client = socket.create_connection(("127.0.0.1", port), MESSAGE_SECONDS_MAX)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def _websocket(port):
    client = _plain(port)
    fields = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Protocol": "graphql-transport-ws",
    }
    client.sendall(request("GET", "/v1/graphql", fields) + _masked({"type": "connection_init"}))
    received = b""
    while b"connection_ack" not in received:
        piece = client.recv(65536)
        if not piece or (len(received) > 12 and not received.startswith(b"HTTP/1.1 101")):
            raise BenchError(f"no WebSocket: {received[:300]!r}")
        received += piece
    return client


# Many subjects


def _show_subjects(bench, items):
    """The same subjects in streams of their own, and ten in each of a tenth as many streams."""
    each = SUBJECTS // LIVE_STREAMS
    paths = [f"/v1/operations/{OPERATION}/stream?id=i{number}" for number in range(SUBJECTS)]
    alone = [request("GET", path) for path in paths]
    together = []
    for stream in range(LIVE_STREAMS):
        queries = [
            {"id": f"s{number}", "operation": OPERATION, "variables": {"id": f"i{number}"}}
            for number in range(stream * each, (stream + 1) * each)
        ]
        together.append(
            request("POST", "/v1/live", body=json.dumps({"queries": queries}).encode())
        )
    measured = [
        _subjects(bench, items, data, messages)
        for data, messages in (("alone", alone), ("together", together))
    ]
    bench.report.line()
    bench.report.line(
        f"{SUBJECTS:,} live queries in streams of their own, and {each} in each of {LIVE_STREAMS} "
        f"streams of /v1/live; {COMMITS} commits, each of an entity of one query, in each of "
        f"{bench.rounds} rounds."
    )
    (memory, cpu, times), (live_memory, live_cpu, live_times) = measured
    bench.report.goals(
        [
            Goal("memory, together : alone", [live_memory / memory], most=1),
            Goal("CPU of a commit, together : alone", ratios(live_cpu, cpu), most=1),
            Goal("commit to event, together : alone", ratios(live_times, times)),
            Goal("memory of a subject, together", [live_memory / SUBJECTS / KIBIBYTE], unit="KiB"),
        ]
    )


def _subjects(bench, items, data, messages):
    """Memory of all streams, CPU milliseconds of a commit by round, milliseconds to its event."""
    larder = items.ready_larder(data, more_settings=HOOKS)
    with Connection(larder.port) as writer:
        for number in range(SUBJECTS):
            writer.get(f"/api/items/i{number}")
        _push(writer, 0)
        time.sleep(SETTLE_SECONDS)
        before, _ = larder.memory()
        streams = Streams(larder.port, messages, b'"version"')
        try:
            time.sleep(SETTLE_SECONDS)
            memory = larder.memory()[0] - before
            cpu, times = [], []
            for _ in range(bench.rounds):
                used, took = larder.own_cpu_seconds(), []
                for number in range(COMMITS):
                    start = time.perf_counter()
                    mark = _push(writer, number * 17 % SUBJECTS)
                    _hear_one(streams, mark)
                    took.append((time.perf_counter() - start) * 1000)
                cpu.append((larder.own_cpu_seconds() - used) / COMMITS * 1000)
                times.append(statistics.median(took))
        finally:
            streams.close()
    larder.stop()
    return memory, cpu, times


def _hear_one(streams, mark):
    deadline = time.perf_counter() + MESSAGE_SECONDS_MAX
    while time.perf_counter() < deadline:
        for key, _ in streams.selector.select(1):
            if mark in key.fileobj.recv(65536):
                return
    raise BenchError("no stream got the event")


def _push(writer, number):
    """Changes one item by a webhook. Returns what the event of it contains."""
    now = time.time()
    version = time.monotonic_ns() // 1000 % (1 << 31)
    created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1e6):06}Z"
    row = {"id": f"i{number}", "name": f"Pushed {version}", "version": version}
    event = {
        "id": f"e{time.monotonic_ns()}",
        "created_at": created,
        "table": {"schema": "public", "name": "item"},
        "event": {"op": "UPDATE", "data": {"old": None, "new": row}},
    }
    answer = writer.exchange(
        request(
            "POST",
            "/v1/hooks/items",
            {"webhook_secret": HOOK_SECRET},
            json.dumps(event).encode(),
        )
    )
    if answer.status != 200 or b'"written":1' not in answer.body:
        raise BenchError(f"a webhook was not applied: {answer.body[:300]}")
    return f"Pushed {version}".encode()


# List diffs


def _show_diffs(bench, items):
    larder = items.ready_larder("diffs", more_settings=HOOKS)
    with Connection(larder.port) as writer:
        answer = writer.get(f"/v1/operations/BenchItems?limit={ROWS}")
        if answer.status != 200:
            raise BenchError(f"the items were not stored: {answer.body[:300]}")
        alone = [_cpu(larder, writer, None) for _ in range(bench.rounds)]
        message = request("GET", f"/v1/entities/Item/stream?order=id&limit={LISTED}")
        streams = Streams(larder.port, [message], b"event: list")
        try:
            time.sleep(1)
            with_stream = [_cpu(larder, writer, streams) for _ in range(bench.rounds)]
        finally:
            streams.close()
    bench.report.line()
    bench.report.line(
        f"One stream of a collection of {ROWS:,} rows, of which it shows the first {LISTED:,}; "
        f"{COMMITS} commits that change one row each, in each of {bench.rounds} rounds. CPU of Larder, "
        "the same commits without the stream subtracted."
    )
    bench.report.goals(
        [
            Goal(
                "CPU of a diff of one change",
                [one - other for one, other in zip(with_stream, alone)],
                unit="ms",
                most=2,
            )
        ]
    )
    larder.stop()


def _cpu(larder, writer, streams):
    """CPU milliseconds of a commit and of the event that follows it."""
    before = larder.own_cpu_seconds()
    for number in range(COMMITS):
        mark = _push(writer, FIRST_CHANGED + number)
        if streams:
            _hear_one(streams, mark)
    return (larder.own_cpu_seconds() - before) / COMMITS * 1000
