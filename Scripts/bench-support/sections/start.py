"""The time from process start to ready, with a large database."""

import os
import sqlite3

import servers
from connection import Connection
from process import BenchError
from report import Goal

ENTITIES_MIN = 10_000
CALLERS = 5
FILMS = 2_400
PAGE = 100
ROUNDS_MIN = 7


def run(bench):
    films = servers.Films(bench, "start")
    larder = films.ready_larder()
    fill_store(larder.port)
    larder.stop()
    count = _entity_count(os.path.join(films.folder, "data"))
    if count < ENTITIES_MIN:
        raise BenchError(f"only {count} entities were stored")
    times, cpu = [], []
    for turn in range(max(bench.rounds, ROUNDS_MIN) + 1):
        larder = films.larder()
        seconds = servers.wait_until_ready(larder, larder.port, "/readyz")
        used = larder.own_cpu_seconds()
        larder.stop()
        # The first round reads the program and the database into memory.
        if turn:
            times.append(seconds * 1e3)
            cpu.append(used * 1e3)
    bench.report.line(
        f"{count:,} entities stored; a client that tries every half millisecond; {len(times)} starts."
    )
    bench.report.goals(
        [
            Goal("start to /readyz 200", times, unit="ms", most=100, digits=1),
            Goal("CPU time until then", cpu, unit="ms", digits=1),
        ]
    )


def fill_store(port):
    """Pages of films, each caller's own."""
    with Connection(port) as connection:
        for caller in range(CALLERS):
            for offset in range(0, FILMS, PAGE):
                path = f"/api/bench/page?offset={offset}"
                answer = connection.get(path, Authorization=f"Bearer user-bench{caller}")
                if answer.status != 200:
                    raise BenchError(f"{path}: {answer.status} {answer.body[:300]}")


def _entity_count(folder):
    """Counted while no process has the database open."""
    files = [name for name in os.listdir(folder) if name.endswith((".sqlite", ".db"))]
    if len(files) != 1:
        raise BenchError(f"which is the database? {os.listdir(folder)}")
    path = os.path.join(folder, files[0])
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute("SELECT count(*) FROM entity_Film").fetchone()[0]
