"""The sync queue: taking, sending and starting with what is queued."""

import json
import os
import sqlite3
import statistics
import string
import time

import native
import phones
import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from wrk import load

CONNECTIONS = 64
DEVICES_TAKING = 64
SINGLE_CALLS = 200
COMMITS = 300
# What an API on the same continent takes.
LATENCY_MS = 10
# Half of it is the queue's.
UPSTREAM_CONCURRENCY = 16
CONCURRENCY = f"  concurrency: {UPSTREAM_CONCURRENCY}"
ONE_EACH = 10_000
OF_ONE = 10_000
FAIR_DEVICES = 20
FAIR_ITEMS = 250
STORED_DEVICES = 100
STORED_ITEMS = 1_000
SECONDS_MAX = 300
START_SECONDS_MAX = 30
POLL_SECONDS = 0.002
# After the first one was sent: how many follow, and how much memory that takes.
WATCH_SECONDS = 5

DOCUMENT = """mutation BenchRate($id: ID!, $stars: Int!) {
  rateFilm(id: $id, stars: $stars) { __typename id myStars }
}"""

SCRIPT = string.Template("""
local threads = 0
function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end
local tokens = {$tokens}
local count = 0
function request()
  count = count + 1
  local key = number .. "-" .. count
  return wrk.format("POST", "/v1/mutations", {
    ["Content-Type"] = "application/json",
    ["Device-Token"] = tokens[count % #tokens + 1],
    ["Idempotency-Key"] = key,
  }, '{"operation":"BenchRate","mode":"steady","variables":{"id":"f' .. count % 2000 + 1
    .. '","stars":4}}')
end
""")


def run(bench):
    films = servers.Films(bench, "queue")
    _taking(bench, films)
    _sending(bench, films)
    _starting(bench, films)


# Taking


def _taking(bench, films):
    library = native.build(bench.compiler, "nosync", bench.folder, "-shared", "-fPIC")
    durable, fast, tails, single, commits = [], [], [], [], []
    for turn in range(bench.rounds):
        commits.append(_commit_seconds(films.folder))
        for preload in (None, library) if turn % 2 == 0 else (library, None):
            environment = {"LD_PRELOAD": preload} if preload else None
            name = f"taking-{turn}-{'fast' if preload else 'durable'}"
            larder = films.ready_larder(
                name, environment=environment, more_settings=phones.SETTINGS
            )
            tokens = phones.register(larder.port, DEVICES_TAKING)
            with Connection(larder.port) as connection:
                for token in tokens:
                    phones.command(connection, token, "pause")
                if not preload:
                    single.append(_single_seconds(connection, tokens[0]))
            done = load(
                larder, "/v1/mutations", seconds=bench.seconds, connections=CONNECTIONS,
                script=_script(films.folder, tokens),
            )
            (fast if preload else durable).append(done.per_second)
            if not preload:
                tails.append(done.p99_microseconds / 1e3)
            larder.stop()
    bench.report.line(
        f"One mutation a request, {CONNECTIONS} keep-alive connections of wrk for "
        f"{DEVICES_TAKING} devices whose queues are paused, {bench.rounds} rounds of "
        f"{bench.seconds} s; the same with fsync and fdatasync taken out; and SQLite alone, one row "
        "a commit with synchronous=FULL on the same disk."
    )
    bench.report.table(
        ["", "a second"],
        [
            ["mutations taken", median_text(durable, 0)],
            ["the same without syncing", median_text(fast, 0)],
            ["commits, one after the other", median_text([1 / each for each in commits], 0)],
        ],
    )
    alone = [1 / each for each in commits]
    bench.report.goals(
        [
            Goal("taken, with : without syncing", ratios(durable, fast), least=0.6),
            Goal("taken : commits one after the other", ratios(durable, alone), least=3),
            Goal("p99 of 64 callers", tails, unit="ms", most=20, digits=1),
            Goal("p50 of a single caller : a commit", ratios(single, commits), most=2),
        ]
    )


def _script(folder, tokens):
    path = os.path.join(folder, "taking.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT.substitute(tokens=",".join(f'"{token}"' for token in tokens)))
    return path


def _commit_seconds(folder):
    """The median of one row a commit."""
    path = os.path.join(folder, "commits.sqlite")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, body TEXT)")
    times = []
    for _ in range(COMMITS):
        begin = time.perf_counter()
        database.execute("INSERT INTO item (body) VALUES (?)", (" " * 500,))
        times.append(time.perf_counter() - begin)
    database.close()
    return statistics.median(times)


def _single_seconds(connection, token):
    times = []
    for number in range(SINGLE_CALLS):
        fields = {"Device-Token": token, "Idempotency-Key": f"single-{number}"}
        body = json.dumps(phones.rating(number)).encode()
        answer, seconds = connection.timed(request("POST", "/v1/mutations", fields, body))
        if answer.status != 202:
            raise BenchError(f"not taken: {answer.status} {answer.body[:300]}")
        times.append(seconds)
    return statistics.median(times)


# Sending


def _sending(bench, films):
    larder = films.ready_larder(
        "sending", more_settings=phones.SETTINGS, more_upstream=CONCURRENCY
    )
    _restart(films)
    alone = _upstream_alone(films, bench.seconds, UPSTREAM_CONCURRENCY // 2)
    one_by_one = _upstream_alone(films, bench.seconds, 1)
    many = _drain(films, larder, phones.register(larder.port, ONE_EACH), 1)
    single = _drain(films, larder, phones.register(larder.port, 1), OF_ONE)
    share = _largest_share(films, larder, phones.register(larder.port, FAIR_DEVICES))
    larder.stop()
    bench.report.line()
    bench.report.line(
        f"Sending to the demo, which waits {LATENCY_MS} ms before each answer, after it was away; "
        f"at most {UPSTREAM_CONCURRENCY // 2} at once. Upstream alone: wrk with as many "
        f"connections, the same mutation. Fair shares: {FAIR_DEVICES} devices with {FAIR_ITEMS} "
        "each, when half is sent. One round."
    )
    bench.report.table(
        ["", "a second"],
        [
            ["upstream alone", f"{alone:,.0f}"],
            [f"{ONE_EACH:,} devices with one each", f"{many:,.0f}"],
            ["upstream alone, one at a time", f"{one_by_one:,.0f}"],
            [f"one device with {OF_ONE:,}", f"{single:,.0f}"],
        ],
    )
    bench.report.goals(
        [
            Goal("many devices : upstream alone", [many / alone], least=0.8),
            Goal("one device : upstream, one at a time", [single / one_by_one], least=0.8),
            Goal("the largest share : a fair one", [share], most=2),
        ]
    )


def _restart(films):
    """The demo as a new one, with its latency."""
    films.upstream.stop()
    films.start_upstream()
    with phones.Upstream(films.upstream_port) as upstream:
        upstream.set(latencyMs=LATENCY_MS)


def _upstream_alone(films, seconds, connections):
    path = os.path.join(films.folder, "alone.lua")
    body = {
        "query": DOCUMENT,
        "operationName": "BenchRate",
        "variables": {"id": "f1", "stars": 4},
    }
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
            f"wrk.body = [[{json.dumps(body)}]]\n"
        )
    films.upstream.port = films.upstream_port
    done = load(films.upstream, "/graphql", seconds=seconds, connections=connections, script=path)
    return done.per_second


def _fill(films, larder, tokens, items):
    """While upstream is away, which then comes back."""
    films.upstream.stop()
    with Connection(larder.port) as connection:
        for token in tokens:
            phones.enqueue(connection, token, items)
    _restart(films)


def _drain(films, larder, tokens, items):
    """Mutations a second, from the first that arrives to the last."""
    _fill(films, larder, tokens, items)
    with phones.Upstream(films.upstream_port) as upstream:
        seconds, count = upstream.wait_for(len(tokens) * items, SECONDS_MAX)
    return count / seconds


def _largest_share(films, larder, tokens):
    _fill(films, larder, tokens, FAIR_ITEMS)
    with phones.Upstream(films.upstream_port) as upstream, Connection(larder.port) as connection:
        upstream.wait_for(FAIR_DEVICES * FAIR_ITEMS // 2, SECONDS_MAX)
        sent = [FAIR_ITEMS - phones.pending(connection, token) for token in tokens]
        upstream.wait_for(FAIR_DEVICES * FAIR_ITEMS, SECONDS_MAX)
    return max(sent) / statistics.mean(sent)


# Starting


def _starting(bench, films):
    larder = films.ready_larder("starting", more_settings=phones.SETTINGS)
    tokens = phones.register(larder.port, STORED_DEVICES)
    films.upstream.stop()
    with Connection(larder.port) as connection:
        for token in tokens:
            phones.enqueue(connection, token, STORED_ITEMS)
    larder.stop()
    _restart(films)
    alone = _upstream_alone(films, bench.seconds, UPSTREAM_CONCURRENCY // 2)
    _restart(films)
    with phones.Upstream(films.upstream_port) as upstream:
        larder = films.larder(
            "starting", more_settings=phones.SETTINGS, more_upstream=CONCURRENCY
        )
        seconds = _seconds_to_first(larder, upstream)
        rate, memory = _watched(larder, upstream)
    larder.stop()
    bench.report.line()
    bench.report.line(
        f"{STORED_DEVICES * STORED_ITEMS:,} mutations of {STORED_DEVICES} devices in the store, at "
        f"most {UPSTREAM_CONCURRENCY // 2} sent at once; memory and what was sent in the first "
        f"{WATCH_SECONDS} s after the first one. One round."
    )
    bench.report.table(
        ["", "a second"],
        [
            ["upstream alone", f"{alone:,.0f}"],
            ["sent just after the start", f"{rate:,.0f}"],
        ],
    )
    bench.report.goals(
        [
            Goal("start to the first one sent", [seconds], unit="s", most=1),
            Goal("sent after the start : upstream alone", [rate / alone], least=0.8),
            Goal("resident memory", [memory / 2**20], unit="MiB", most=100, digits=1),
        ]
    )


def _seconds_to_first(larder, upstream):
    deadline = larder.started + START_SECONDS_MAX
    while not upstream.executed():
        if time.perf_counter() > deadline:
            raise BenchError(f"nothing was sent in {START_SECONDS_MAX} s")
        time.sleep(POLL_SECONDS)
    return time.perf_counter() - larder.started


def _watched(larder, upstream):
    """Mutations a second from now on, and the most bytes that were resident meanwhile."""
    memory, begin, before = 0, time.perf_counter(), upstream.executed()
    while time.perf_counter() < begin + WATCH_SECONDS:
        memory = max(memory, larder.memory()[0])
        time.sleep(POLL_SECONDS)
    return (upstream.executed() - before) / (time.perf_counter() - begin), memory
