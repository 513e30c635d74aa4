"""The sync queue: accepting mutations, sending them, and starting with a full queue."""

import json
import os
import statistics
import time

import commits
import native
import phones
import servers
from connection import Connection, request
from generator import Generator
from process import BenchError
from report import Goal, median_text, ratios
from wrk import load

CONNECTIONS = 64
DEVICES_TAKING = 64
SINGLE_SECONDS = 1
COMMITS = 300
# The extra latency of a cloud network disk over one with a cache of its own.
SLOW_SYNC_MICROSECONDS = 2_000
# The latency of an API on the same continent.
LATENCY_MS = 10
# The queue may use half of it.
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
# After the first one was sent: the number that follows, and the memory for it.
WATCH_SECONDS = 5

DOCUMENT = """mutation BenchRate($id: ID!, $stars: Int!) {
  rateFilm(id: $id, stars: $stars) { __typename id myStars }
}"""

def run(bench):
    films = servers.Films(bench, "queue")
    _taking(bench, films)
    _sending(bench, films)
    _starting(bench, films)


# Taking


class _Taking:
    """Rounds on one disk: rates a second, the tail, a single caller and SQLite alone."""

    def __init__(self, bench, films, name, environment=None):
        self.bench, self.films, self.name = bench, films, name
        self.generator = Generator(bench.compiler, bench.folder)
        self.environment = environment
        self.taken, self.tails, self.single, self.commits = [], [], [], []
        # One second by a single caller: each mutation has its own commit.
        self.apart = []

    def measure(self, turn):
        larder = self.films.ready_larder(
            f"taking-{turn}-{self.name}",
            environment=self.environment,
            more_settings=phones.SETTINGS,
        )
        tokens = phones.register(larder.port, DEVICES_TAKING)
        with Connection(larder.port) as connection:
            for token in tokens:
                phones.command(connection, token, "pause")
        self._measure_single(larder, tokens[:1])
        done = self.generator.send(
            larder, enqueueing(tokens, "many"), seconds=self.bench.seconds, connections=CONNECTIONS
        )
        self.taken.append(done.per_second)
        self.tails.append(done.p99_microseconds / 1e3)
        larder.stop()

    def _measure_single(self, larder, tokens):
        """Between commits of SQLite alone, since other load on the machine changes within seconds."""
        before = commits.measured(self.films.folder, COMMITS, self.environment)
        done = self.generator.send(
            larder, enqueueing(tokens, "single"), seconds=SINGLE_SECONDS, connections=1
        )
        after = commits.measured(self.films.folder, COMMITS, self.environment)
        self.single.append(done.p50_microseconds / 1e6)
        self.apart.append(done.per_second)
        self.commits.append((before + after) / 2)

    @property
    def alone(self):
        return [1 / each for each in self.commits]

    def row(self, title):
        return [
            title,
            median_text(self.taken, 0),
            median_text(self.apart, 0),
            median_text(self.alone, 0),
        ]

    def goals(self, title):
        return [
            Goal(f"{title}: taken : commits alone", ratios(self.taken, self.alone), least=3),
            Goal(f"{title}: taken : with a commit each", ratios(self.taken, self.apart)),
            Goal(f"{title}: p99 of {CONNECTIONS} callers", self.tails, unit="ms", most=20, digits=1),
            Goal(
                f"{title}: p50 of a single caller : a commit",
                ratios(self.single, self.commits),
                most=2,
            ),
        ]


def _taking(bench, films):
    def preloaded(name, **more):
        library = native.build(bench.compiler, name, bench.folder, "-shared", "-fPIC")
        return {"LD_PRELOAD": library, **more}

    durable = _Taking(bench, films, "durable")
    fast = _Taking(bench, films, "fast", preloaded("nosync"))
    slow = _Taking(
        bench, films, "slow",
        preloaded("slowsync", SLOWSYNC_MICROSECONDS=str(SLOW_SYNC_MICROSECONDS)),
    )
    kinds = [durable, fast, slow]
    for turn in range(bench.rounds):
        for kind in kinds if turn % 2 == 0 else reversed(kinds):
            kind.measure(turn)
    slow_title = f"{SLOW_SYNC_MICROSECONDS / 1e3:g} ms more"
    bench.report.line(
        f"One mutation a request, {CONNECTIONS} keep-alive connections for "
        f"{DEVICES_TAKING} devices whose queues are paused, {bench.rounds} rounds of "
        f"{bench.seconds} s; beside it a single caller, each of whose mutations has a commit to "
        "itself, and SQLite alone, one row a commit with synchronous=FULL on the same disk. Then the same with fsync and fdatasync taken out, and as on a disk that takes "
        f"{slow_title} for each."
    )
    bench.report.table(
        ["", "taken a second", "from a single caller", "commits a second, one after the other"],
        [
            durable.row("this disk"),
            fast.row("without syncing"),
            slow.row(slow_title),
        ],
    )
    bench.report.goals(
        [Goal("taken, with : without syncing", ratios(durable.taken, fast.taken), least=0.6)]
        + durable.goals("this disk")
        + slow.goals(slow_title)
    )


def enqueueing(tokens, key):
    """A request for each device, each another mutation, with keys that have this prefix."""
    ratings = phones.rating(0) | {"variables": {"id": "f##########", "stars": 4}}
    return [
        request(
            "POST",
            "/v1/mutations",
            {"Device-Token": token, "Idempotency-Key": f"{key}-##########"},
            json.dumps(ratings).encode(),
        )
        for token in tokens
    ]


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
        f"Sending to the demo, which waits {LATENCY_MS} ms before each response, after an outage; "
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
    """Resets the demo, with its latency."""
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
    """While upstream is unavailable, which then recovers."""
    films.upstream.stop()
    with Connection(larder.port) as connection:
        for token in tokens:
            phones.enqueue(connection, token, items)
    _restart(films)


def _drain(films, larder, tokens, items):
    """Mutations per second, from the first arrival to the last."""
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
    """Mutations per second from now on, and the maximum of resident bytes in that time."""
    memory, begin, before = 0, time.perf_counter(), upstream.executed()
    while time.perf_counter() < begin + WATCH_SECONDS:
        memory = max(memory, larder.memory()[0])
        time.sleep(POLL_SECONDS)
    return (upstream.executed() - before) / (time.perf_counter() - begin), memory
