"""Hits while somebody reads long from the store."""

import json
import math
import string
import threading

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from sections.hit import PATH, fill
from sections.start import fill_store
from wrk import load

TOKEN = "bench-admin-token-of-forty-characters-long"
# A read that is over sooner is not beside the hits but between them.
READ_SECONDS_MIN = 0.5
READ_SECONDS_AIM = 1.5
# Scans the stored films so many times: an unindexed condition that none of them meets.
SCANS = string.Template(
    "WITH RECURSIVE scan(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM scan WHERE n < $scans) "
    "SELECT count(*) FROM scan CROSS JOIN entity_Film WHERE synopsis LIKE '%nothing like it%' || n"
)
SCANS_TRIED = 4


class Reader:
    """One connection that reads on and on."""

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
    larder = films.ready_larder(more_settings=f"admin: {{token: {TOKEN}}}\n")
    fill_store(larder.port)
    fill(larder)
    message, scans = _long_read(larder)
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
        f"Hits by 64 connections, and beside them one that does nothing but scan the stored films, "
        f"{scans} times in one statement: {len(reads)} statements of {min(reads) * 1e3:,.0f} to "
        f"{max(reads) * 1e3:,.0f} ms. {bench.rounds} rounds of {bench.seconds} s each in turn, medians."
    )
    bench.report.table(
        ["", "p99 of hits, µs"],
        [["alone", median_text(alone, 0)], ["beside the reads", median_text(beside, 0)]],
    )
    bench.report.goals([Goal("p99 of hits, beside : alone", ratios(beside, alone), most=2)])


def _long_read(larder):
    """A statement that takes long enough, and how many scans that are."""
    scans = SCANS_TRIED
    with Connection(larder.port) as connection:
        while True:
            message, seconds = _timed(connection, scans)
            if seconds >= READ_SECONDS_AIM:
                return message, scans
            scans = max(scans + 1, math.ceil(scans * READ_SECONDS_AIM / seconds))


def _timed(connection, scans):
    message = request(
        "POST",
        "/v1/admin/sql",
        {"Authorization": f"Bearer {TOKEN}"},
        json.dumps({"sql": SCANS.substitute(scans=scans)}).encode(),
    )
    response, seconds = connection.timed(message)
    if response.status != 200:
        raise BenchError(f"the long read was answered with {response.status}")
    return message, seconds
