"""Hits while somebody reads long from the store."""

import threading

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from sections.hit import PATH, fill
from sections.start import fill_store
from wrk import load

TOKEN = "bench-admin-token-of-forty-characters-long"
# An unindexed condition that no entity meets: every row is looked at, none is given.
SCAN = "/v1/entities/Film?filter=synopsis%20LIKE%20%27%25nothing-like-it%25%27&total=true"


class Reader:
    """One connection that reads on and on."""

    def __init__(self, port, message):
        self.reads, self.failure = 0, None
        self._port, self._message = port, message
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()

    def _run(self):
        try:
            with Connection(self._port) as connection:
                while not self._ends.is_set():
                    if (status := connection.exchange(self._message).status) != 200:
                        raise BenchError(f"the long read was answered with {status}")
                    self.reads += 1
        except (BenchError, OSError) as error:
            self.failure = error


def run(bench):
    films = servers.Films(bench, "beside")
    larder = films.ready_larder(more_settings=f"admin: {{token: {TOKEN}}}\n")
    fill_store(larder.port)
    fill(larder)
    name, message, milliseconds = _long_read(larder)
    alone, beside, reads = [], [], 0
    load(larder, PATH, seconds=1)
    for turn in range(bench.rounds):
        for is_beside in (False, True) if turn % 2 else (True, False):
            if not is_beside:
                alone.append(load(larder, PATH, seconds=bench.seconds).p99_microseconds)
                continue
            with Reader(larder.port, message) as reader:
                beside.append(load(larder, PATH, seconds=bench.seconds).p99_microseconds)
            if reader.failure:
                raise BenchError(f"beside hits: {reader.failure}")
            reads += reader.reads
    bench.report.line(
        f"Hits by 64 connections, and beside them one that does nothing but {name} "
        f"({milliseconds:.1f} ms each when alone, {reads:,} in all): {bench.rounds} rounds of "
        f"{bench.seconds} s each in turn, medians."
    )
    bench.report.table(
        ["", "p99 of hits, µs"],
        [["alone", median_text(alone, 0)], ["beside the reads", median_text(beside, 0)]],
    )
    bench.report.goals([Goal("p99 of hits, beside : alone", ratios(beside, alone), most=2)])


def _long_read(larder):
    """A scan of the entities where there are collections; otherwise the explanation of a page."""
    explain = request(
        "POST",
        "/v1/admin/explain",
        {"Authorization": f"Bearer {TOKEN}"},
        b'{"operation":"BenchPage","variables":{"offset":0}}',
    )
    choices = [
        ("scan the stored films", request("GET", SCAN, {"Cache-Control": "no-cache"})),
        ("have a page of 100 films explained (no collections to scan here)", explain),
    ]
    with Connection(larder.port) as connection:
        for name, message in choices:
            if connection.exchange(message).status == 200:
                times = sorted(connection.timed(message)[1] for _ in range(5))
                return name, message, times[2] * 1e3
    raise BenchError("no long read was answered")
