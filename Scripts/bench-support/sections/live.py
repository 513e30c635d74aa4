"""Waiting streams: the latency of a commit, their memory, and the cost of an empty delta."""

import json
import math
import os
import statistics
import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from sections.hit import PATH, fill
from streams import Streams, raise_limit
from wrk import load

STREAMS = 1_000
COMMITS = 200
STREAM_PATH = "/v1/changes/stream?since=now&types=Film"
# Idle threads end after some seconds; the rest of the 15 s between two heartbeats should be
# silent.
SETTLE_SECONDS = 6
SILENT_SECONDS = 8
KIBIBYTE = 1024


def run(bench):
    films = servers.Films(bench, "live")
    raise_limit(STREAMS)
    _show_deltas(bench, films.ready_larder("deltas"))
    _show_streams(bench, films.ready_larder("streams"))


# Deltas


def _show_deltas(bench, larder):
    fill(larder)
    with Connection(larder.port) as connection:
        cursor = json.loads(connection.get("/v1/changes?since=now").body)["cursor"]
    paths = [PATH, f"/v1/changes?since={cursor}"]
    loads = [[], []]
    for path in paths:
        load(larder, path, seconds=1)
    for turn in range(bench.rounds):
        for at in (0, 1) if turn % 2 else (1, 0):
            loads[at].append(load(larder, paths[at], seconds=bench.seconds))
    report = bench.report
    report.line(
        "A delta with nothing in it beside a fresh hit, 64 keep-alive connections of wrk, "
        f"{bench.rounds} rounds of {bench.seconds} s each in turn, medians."
    )
    cpu = [[done.cpu_microseconds for done in one] for one in loads]
    report.table(
        ["", "CPU µs/request", "requests/s", "p99 µs"],
        [
            [
                name,
                median_text(cpu[at], 2),
                median_text([done.per_second for done in loads[at]], 0),
                median_text([done.p99_microseconds for done in loads[at]], 0),
            ]
            for at, name in enumerate(["fresh hit", "empty delta"])
        ],
    )
    report.goals([Goal("CPU a request, empty delta : fresh hit", ratios(cpu[1], cpu[0]), most=2)])


# Streams


def _opened(larder, count):
    # The bookmark is the first event: from then on the stream waits.
    return Streams(larder.port, [request("GET", STREAM_PATH)] * count, b"event: bookmark")


def _show_streams(bench, larder):
    with Connection(larder.port) as writer:
        for number in range(20):
            commit(writer, number)
        # The allocator's own growth under a burst of work is not due to the streams.
        warm = _opened(larder, 50)
        warm.close()
        alone = _silence(larder)
        before = larder.memory()
        streams = _opened(larder, STREAMS)
        try:
            time.sleep(SETTLE_SECONDS)
            opened = larder.memory()
            rounds = [_tell_all(writer, streams) for _ in range(bench.rounds)]
            after = larder.memory()
            # Right after a heartbeat, so that the next one is far away.
            streams.hear(b":\n\n")
            silence = _silence(larder)
        finally:
            streams.close()
    _tell(bench, (before, opened, after), rounds, alone, silence)


def _tell_all(writer, streams):
    """The milliseconds from each of many mutations until the last stream has its event, the shortest
    first."""
    times = []
    for number in range(COMMITS):
        start = time.perf_counter()
        streams.hear(commit(writer, number))
        times.append((time.perf_counter() - start) * 1000)
    return sorted(times)


def commit(writer, number):
    """Changes a film's title. Returns the text that every stream's event contains."""
    title = f"Title {number} at {time.monotonic_ns()}"
    body = json.dumps({"id": "f1", "title": title}).encode()
    answer = writer.exchange(request("POST", "/v1/operations/BenchRename", body=body))
    if answer.status != 200:
        raise BenchError(f"a commit was refused: {answer.body[:300]}")
    return title.encode()


def _silence(larder):
    """Wake-ups and CPU without requests, of all threads of the process together."""
    time.sleep(SETTLE_SECONDS)
    before, cpu = _sleeps(larder.pid), larder.own_cpu_seconds()
    time.sleep(SILENT_SECONDS)
    after, cpu = _sleeps(larder.pid), larder.own_cpu_seconds() - cpu
    wakes = sum(count - before.get(task, 0) for task, count in after.items())
    return wakes, cpu * 1000


def _sleeps(pid):
    """The number of times that each thread slept voluntarily, and so was woken."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("voluntary_ctxt_switches:"):
                        found[task] = int(line.split()[1])
        except FileNotFoundError:
            # A thread that has ended since they were listed.
            continue
    return found


def _tell(bench, memory, rounds, alone, silence):
    report = bench.report
    p99 = [times[math.ceil(len(times) * 0.99) - 1] for times in rounds]
    report.line()
    report.line(
        f"{STREAMS:,} streams of changes wait; {COMMITS} commits, one after another, in each of "
        f"{len(rounds)} rounds. A time is from sending the mutation, upstream's own time in it, until "
        "the last stream has been told. "
        f"Wake-ups and CPU are of {SILENT_SECONDS} s in which nothing is asked and no sign of life "
        "is due; Dispatch itself looks after its threads once a second."
    )
    report.table(
        [f"{SILENT_SECONDS} s of silence", "wake-ups", "CPU ms"],
        [
            [name, str(wakes), f"{cpu:.2f}"]
            for name, (wakes, cpu) in [
                ("without streams", alone),
                (f"with {STREAMS:,} streams", silence),
            ]
        ],
    )
    before, opened, after = (resident for _, resident in memory)
    grown = (max(opened, after) - before) / STREAMS / KIBIBYTE
    report.goals(
        [
            Goal("mutation to the last stream, p99", p99, unit="ms", most=50, digits=1),
            Goal(
                "mutation to the last stream, median",
                [statistics.median(times) for times in rounds],
                unit="ms",
                digits=1,
            ),
            Goal("memory of a stream", [grown], unit="KiB", most=24, digits=1),
            Goal("wake-ups more than without streams", [silence[0] - alone[0]], most=0, digits=0),
        ]
    )
