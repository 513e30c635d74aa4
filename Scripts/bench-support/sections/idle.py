"""Memory of an idle process, memory of idle connections, and hits with them."""

import resource
import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from sections.hit import PATH
from wrk import load

CONNECTIONS_WANTED = 10_000
# Descriptors for everything but the idle connections.
DESCRIPTORS_SPARE = 500
SETTLE_SECONDS = 2
MEBIBYTE = 1024 * 1024


def run(bench):
    count = _raise_limit()
    films = servers.Films(bench, "idle")
    at_rest = [_at_rest(films, f"rest-{turn}") for turn in range(bench.rounds)]
    crowded, quiet = films.ready_larder("crowded"), films.ready_larder("quiet")
    time.sleep(SETTLE_SECONDS)
    memory = [crowded.memory()]
    for larder in (crowded, quiet):
        load(larder, PATH, seconds=1)
    time.sleep(SETTLE_SECONDS)
    memory.append(crowded.memory())
    idle = _open(crowded.port, count)
    try:
        time.sleep(SETTLE_SECONDS)
        memory.append(crowded.memory())
        tails = [[], []]
        for turn in range(bench.rounds):
            for at in (0, 1) if turn % 2 else (1, 0):
                done = load((crowded, quiet)[at], PATH, seconds=bench.seconds)
                tails[at].append(done.p99_microseconds)
        left = sum(connection.is_open() for connection in idle)
    finally:
        for connection in idle:
            connection.socket.close()
    if left < count:
        raise BenchError(f"only {left} of {count} connections stayed open")
    _show(bench, count, at_rest, memory, tails)


def _at_rest(films, data):
    """Resident MiB of a process that has only served a readiness check."""
    larder = films.ready_larder(data)
    time.sleep(SETTLE_SECONDS)
    resident = larder.memory()[0] / MEBIBYTE
    larder.stop()
    return resident


def _raise_limit():
    """Raises the descriptor limit. Returns the number of connections that it allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if most == resource.RLIM_INFINITY:
        return CONNECTIONS_WANTED
    return min(CONNECTIONS_WANTED, most - DESCRIPTORS_SPARE)


def _open(port, count):
    """Connections that have had one response each and send nothing more."""
    idle = []
    try:
        for _ in range(count):
            connection = Connection(port)
            idle.append(connection)
            if connection.exchange(request("GET", PATH)).status != 200:
                raise BenchError(f"connection {len(idle)} was refused")
    except BaseException:
        for connection in idle:
            connection.socket.close()
        raise
    return idle


def _show(bench, count, at_rest, memory, tails):
    report = bench.report
    fewer = "" if count == CONNECTIONS_WANTED else " (fewer than wanted: the descriptors' limit)"
    report.line(
        f"{count:,} idle keep-alive connections{fewer}, each after one answer. Hits by 64 more "
        f"connections, beside a second Larder without idle ones: {bench.rounds} rounds of "
        f"{bench.seconds} s each in turn, medians."
    )
    states = ["after start", "after hits by 64 connections", f"with {count:,} idle connections"]
    p99s = ["", median_text(tails[1], 0), median_text(tails[0], 0)]
    report.table(
        ["", "resident MiB", "of it not from files", "p99 of hits, µs"],
        [
            [state, *(f"{size / MEBIBYTE:.1f}" for size in sizes), p99]
            for state, sizes, p99 in zip(states, memory, p99s)
        ],
    )
    grown = memory[2][0] - memory[1][0]
    report.goals(
        [
            Goal("memory at rest", at_rest, unit="MiB", most=40, digits=1),
            Goal("an idle connection", [grown / count], unit="bytes", most=2048, digits=0),
            Goal("p99 of hits, with : without idle ones", ratios(*tails), most=2),
        ]
    )
