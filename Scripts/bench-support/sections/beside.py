"""Hits during long reads from the store."""

import json
import threading
from urllib.parse import quote

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from sections.hit import PATH, fill
from sections.start import fill_store
from wrk import load

# A shorter read would run between the hits, not during them.
READ_SECONDS_MIN = 0.1
# The caller whose films are scanned, one of those who filled the store.
CALLER = {"Authorization": "Bearer user-bench0"}
# Conditions without an index that no film meets, so that every film is read to its end; nearly
# as many as fit into a request line.
CONDITIONS = 160


class Reader:
    """A connection that reads continuously."""

    def __init__(self, port, message):
        self.seconds, self.failure = [], None
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
                    response, seconds = connection.timed(self._message)
                    if response.status != 200:
                        raise BenchError(f"the long read was answered with {response.status}")
                    self.seconds.append(seconds)
        except (BenchError, OSError) as error:
            self.failure = error


def run(bench):
    films = servers.Films(bench, "beside")
    larder = films.ready_larder()
    fill_store(larder.port)
    fill(larder)
    message = _long_read(larder)
    alone, beside, reads = [], [], []
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
            reads += reader.seconds
    if not reads or min(reads) < READ_SECONDS_MIN:
        raise BenchError(f"the long reads were too short: {sorted(reads)[:3]}")
    bench.report.line(
        "Hits by 64 connections, and beside them one that does nothing but ask for the films that "
        f"meet one of {CONDITIONS} conditions, which none does: {len(reads)} scans of "
        f"{min(reads) * 1e3:,.0f} to {max(reads) * 1e3:,.0f} ms. {bench.rounds} rounds of "
        f"{bench.seconds} s each in turn, medians."
    )
    bench.report.table(
        ["", "p99 of hits, µs"],
        [["alone", median_text(alone, 0)], ["beside the reads", median_text(beside, 0)]],
    )
    bench.report.goals([Goal("p99 of hits, beside : alone", ratios(beside, alone), most=2)])


def _long_read(larder):
    """A request for a collection that takes long and finds nothing."""
    filter_text = " OR ".join(f"synopsis LIKE '%~{number}~%'" for number in range(CONDITIONS))
    message = request("GET", f"/v1/entities/Film?filter={quote(filter_text)}", CALLER)
    with Connection(larder.port) as connection:
        response = connection.exchange(message)
    if response.status != 200 or json.loads(response.body).get("items") != []:
        raise BenchError(f"the long read was answered {response.status} {response.body[:300]}")
    return message
