"""Upstream calls for many identical concurrent misses."""

import json
import selectors
import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal

COUNT = 1_000
# Longer than it takes to send them all, so that none arrives after the response.
UPSTREAM_MILLISECONDS = 1_000
SECONDS_MAX = 30


def run(bench):
    films = servers.Films(bench, "collapse")
    larder = films.ready_larder()
    _control(films, {"latencyMs": UPSTREAM_MILLISECONDS, "operations": ["BenchFilm"]})
    calls, lasts, sends = [], [], []
    for turn in range(bench.rounds):
        _control(films, {"reset": "counters"})
        sent, last = _ask(larder.port, f"/api/bench/films/f{turn + 1}")
        sends.append(sent * 1e3)
        lasts.append(last * 1e3)
        report = _control(films, {})
        calls.append(report["operations"]["BenchFilm"]["requests"])
    bench.report.line(
        f"{COUNT:,} connections ask for the same film, which is not stored, while upstream takes "
        f"{UPSTREAM_MILLISECONDS:,} ms to answer; {bench.rounds} rounds, another film in each."
    )
    bench.report.goals(
        [
            Goal("upstream calls", calls, most=1, digits=0),
            Goal("from first to last request sent", sends, unit="ms", digits=0),
            Goal("from first request to last answer", lasts, unit="ms", digits=0),
        ]
    )


def _ask(port, path):
    """Seconds until all requests were sent, and until all had their 200."""
    message = request("GET", path)
    connections = []
    try:
        for _ in range(COUNT):
            connections.append(Connection(port))
        start = time.perf_counter()
        for connection in connections:
            connection.socket.sendall(message)
        sent = time.perf_counter() - start
        _await_answers(connections, start + SECONDS_MAX)
        return sent, time.perf_counter() - start
    finally:
        for connection in connections:
            connection.socket.close()


def _await_answers(connections, deadline):
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ)
        waiting = len(connections)
        while waiting:
            ready = selector.select(max(0, deadline - time.perf_counter()))
            if not ready:
                raise BenchError(f"{waiting} of {COUNT} had no response after {SECONDS_MAX} s")
            for key, _ in ready:
                # A response of a few hundred bytes arrives in one piece.
                head = key.fileobj.recv(65536)
                if not head.startswith(b"HTTP/1.1 200"):
                    raise BenchError(f"unexpected response: {head[:100]!r}")
                selector.unregister(key.fileobj)
                waiting -= 1


def _control(films, switches):
    """Sets the demo's switches and returns its counters."""
    with Connection(films.upstream_port) as connection:
        body = json.dumps(switches).encode()
        answer = connection.exchange(request("POST", "/__demo", body=body))
    if answer.status != 200:
        raise BenchError(f"the demo refuses {switches}: {answer.body[:300]}")
    return json.loads(answer.body)
