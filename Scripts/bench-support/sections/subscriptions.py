"""Events of upstream: to many clients, stored, at a rate for a minute, and webhooks."""

import math
import os
import statistics
import threading
import time

from connection import request
from items import HOOK_SECRET, HOOKS, Items, version, wait
from process import BenchError
from report import Goal
from streams import Streams, raise_limit
from wrk import load

CLIENTS = 10_000
EVENTS = 100
PATH = "/v1/operations/BenchItemChanged/stream"
KIBIBYTE = 1024
MEBIBYTE = 1024 * KIBIBYTE
STANDING = "  standing: [{operation: BenchItemChanged}]\n"
STANDING_EVENTS = 50_000
FANNED_CLIENTS = 100
FANNED_RATE = 5_000
FANNED_SECONDS = 60
# Caches and the allocator fill up in the first seconds.
FANNED_WARM_SECONDS = 10
HOOK_SECONDS = 20
SETTLE_SECONDS = 6


def run(bench):
    raise_limit(CLIENTS)
    items = Items(bench, "subscriptions")
    _show_clients(bench, items)
    _show_standing(bench, items)
    _show_rate(bench, items)
    _show_hooks(bench, items)


# Many clients of one subscription


def _show_clients(bench, items):
    larder = items.ready_larder("clients")
    warm = _opened(larder, 50)
    items.wait_for(1)
    _tell(items, warm)
    warm.close()
    # The last client's leaving ends the subscription after some seconds.
    items.wait_for(0)
    before, _ = larder.memory()
    streams = _opened(larder, CLIENTS)
    try:
        items.wait_for(1)
        time.sleep(SETTLE_SECONDS)
        opened, _ = larder.memory()
        rounds = [sorted(_tell(items, streams) for _ in range(EVENTS)) for _ in range(bench.rounds)]
        after, _ = larder.memory()
        state = items.state()
    finally:
        streams.close()
    started = time.monotonic()
    items.wait_for(0)
    ended = time.monotonic() - started
    larder.check()
    bench.report.line(
        f"{CLIENTS:,} clients listen to one subscription; {EVENTS} events, one after another, in each "
        f"of {bench.rounds} rounds. A time is from asking upstream to send until the last client has "
        f"the event. All leave at once: upstream's subscription ends {ended:.1f} s later."
    )
    p99 = [times[math.ceil(len(times) * 0.99) - 1] for times in rounds]
    bench.report.goals(
        [
            Goal("upstream subscriptions", [state["subscriptions"]], most=1, digits=0),
            Goal("event to the last client, p99", p99, unit="ms", most=250, digits=1),
            Goal(
                "event to the last client, median",
                [statistics.median(times) for times in rounds],
                unit="ms",
                digits=1,
            ),
            Goal(
                "memory of a client",
                [(max(opened, after) - before) / CLIENTS / KIBIBYTE],
                unit="KiB",
                most=24,
                digits=1,
            ),
        ]
    )
    larder.stop()


def _opened(larder, count):
    return Streams(larder.port, [request("GET", PATH)] * count, b"\r\n\r\n")


def _tell(items, streams):
    """Milliseconds until each stream has one event."""
    start = time.perf_counter()
    number, _ = items.emit(1)
    streams.hear(f'"version":{number}'.encode())
    return (time.perf_counter() - start) * 1000


# Events that are stored


def _show_standing(bench, items):
    larder = items.ready_larder("standing", more_upstream=STANDING)
    items.wait_for(1)
    _commit(items, larder, 2_000)
    rates, cpu = [], []
    for _ in range(bench.rounds):
        used = larder.cpu_seconds()
        rates.append(STANDING_EVENTS / _commit(items, larder, STANDING_EVENTS))
        cpu.append((larder.cpu_seconds() - used) / STANDING_EVENTS * 1e6)
    bench.report.line()
    bench.report.line(
        f"A standing subscription: {STANDING_EVENTS:,} events, as fast as Larder reads them, about "
        f"1,000 entities, in each of {bench.rounds} rounds; until the last is committed."
    )
    bench.report.goals(
        [
            Goal("events stored", rates, unit="/s", least=5_000, digits=0),
            Goal("CPU of an event", cpu, unit="µs", digits=1),
        ]
    )
    larder.stop()


def _commit(items, larder, count):
    """Seconds until the last of so many events is stored."""
    start = time.perf_counter()
    last, _ = items.emit(count)
    wait(lambda: version(larder, last) == last, "the last event is stored")
    return time.perf_counter() - start


# Events at a rate, to several clients, for a minute


def _show_rate(bench, items):
    larder = items.ready_larder("rate", more_upstream=STANDING)
    streams = _opened(larder, FANNED_CLIENTS)
    items.wait_for(1)
    memory, last = [], []

    def emit():
        for seconds in (FANNED_WARM_SECONDS, FANNED_SECONDS):
            number, _ = items.emit(FANNED_RATE * seconds, rate=FANNED_RATE)
            last.append(number)
            memory.append(larder.memory()[0])

    emitter = threading.Thread(target=emit)
    used = larder.cpu_seconds()
    emitter.start()
    try:
        counts = streams.count([b"event: next", b"event: gap"], lambda: not emitter.is_alive())
    finally:
        emitter.join()
        streams.close()
    if len(last) < 2:
        raise BenchError("upstream could not send all events")
    used = larder.cpu_seconds() - used
    wait(lambda: version(larder, last[-1]) == last[-1], "the last event is stored")
    sent = FANNED_RATE * (FANNED_WARM_SECONDS + FANNED_SECONDS)
    bench.report.line()
    bench.report.line(
        f"{FANNED_RATE:,} events a second for {FANNED_SECONDS} s after {FANNED_WARM_SECONDS} s, "
        f"stored and sent to {FANNED_CLIENTS} clients, whose reader shares the machine."
    )
    bench.report.goals(
        [
            Goal(
                "growth of memory in the minute",
                [(memory[1] - memory[0]) / MEBIBYTE],
                unit="MiB",
                most=8,
                digits=1,
            ),
            Goal(
                "events that a client got, of those sent",
                [counts[b"event: next"] / FANNED_CLIENTS / sent],
                digits=3,
            ),
            Goal("gaps of all clients", [counts[b"event: gap"]], digits=0),
            Goal("CPU of an event", [used / sent * 1e6], unit="µs", digits=1),
        ]
    )
    larder.stop()


# Webhooks


def _show_hooks(bench, items):
    larder = items.ready_larder("hooks", more_settings=HOOKS)
    script = os.path.join(bench.folder, "hooks.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(_HOOK_SCRIPT.replace("SECRET", HOOK_SECRET))
    load(larder, "/v1/hooks/items", seconds=2, script=script)
    before, _ = larder.memory()
    done = load(larder, "/v1/hooks/items", seconds=HOOK_SECONDS, script=script)
    after, _ = larder.memory()
    bench.report.line()
    bench.report.line(
        f"Hasura's events to a webhook from 64 connections for {HOOK_SECONDS} s, each with an id of its "
        "own, about 1,000 entities; each is on disk before it is confirmed."
    )
    bench.report.goals(
        [
            Goal("events in a minute", [done.per_second * 60], least=100_000, digits=0),
            Goal("CPU of an event", [done.cpu_microseconds], unit="µs", digits=1),
            Goal("p99", [done.p99_microseconds / 1000], unit="ms", digits=1),
            Goal("growth of memory", [(after - before) / MEBIBYTE], unit="MiB", most=8, digits=1),
        ]
    )
    larder.stop()


# Each of wrk's threads has a random run of ids; times grow, so that no event is late.
_HOOK_SCRIPT = """
math.randomseed(os.time() + tonumber(tostring({}):match("0x(%x+)"), 16) % 1000000)
local run, number = math.random(1, 1000000000), 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["webhook-secret"] = "SECRET"
function request()
  number = number + 1
  local id = number % 1000
  return wrk.format(nil, nil, nil, string.format(
    '{"id":"%d-%d","created_at":"2026-01-02T%02d:%02d:%02d.%03dZ","table":{"schema":"public","name":"item"},' ..
    '"event":{"op":"UPDATE","data":{"old":null,"new":{"id":"w%d-%d","name":"Name %d","version":%d}}}}',
    run, number, math.floor(number / 3600000) % 24, math.floor(number / 60000) % 60,
    math.floor(number / 1000) % 60, number % 1000, run % 7, id, number, number))
end
"""
