"""Three nodes on one PostgreSQL, beside a single machine on the same disk."""

import json
import math
import time

import phones
import servers
from cluster_nodes import ALONE, LEASE_SECONDS, Nodes
from connection import Connection, request
from generator import Generator
from items import Items, version, wait
from load import Line, Load, is_miss
from process import BenchError
from report import Goal, median_text, ratios
from sections.hit import PATH, fill, phone_requests
from sections.live import STREAM_PATH, commit
from sections.queue import enqueueing
from streams import Streams, raise_limit

CONNECTIONS = 64
DEVICES = 64
STREAMS = 1_000
COMMITS = 200
STANDING = "  standing: [{operation: BenchItemChanged}]\n"
EVENTS = 20_000
ENTITIES = 1_000_000
EVENTS_AT_ONCE = 100_000
FAILOVERS = 3
# Good responses that show that requests work again.
STREAK = 20
# Until a node that has taken the lease takes writes.
WRITES_SECONDS_MAX = 30
POLL_SECONDS = 0.05
MISS = "/api/bench/films/f7"


def run(bench):
    raise_limit(STREAMS)
    films = servers.Films(bench, "cluster")
    alone = films.ready_larder("alone", more_settings=ALONE)
    nodes = Nodes(films, "bench")
    leader, replicas = nodes.roles()
    machines = {"alone": alone, "leader": leader, "replica": replicas[0]}
    generator = Generator(bench.compiler, bench.folder)
    _show_hits(bench, generator, nodes, machines)
    _show_mutations(bench, generator, nodes, machines)
    _show_replication(bench, leader, replicas[0])
    alone.stop()
    _show_failover(bench, nodes)
    nodes.stop()
    _show_ingest(bench, nodes.postgres)


def _in_turn(bench, machines, measure):
    """`measure(process)` of each machine in each round, in changing order; lists by name."""
    found = {name: [] for name in machines}
    for turn in range(bench.rounds):
        names = list(machines) if turn % 2 else list(reversed(machines))
        for name in names:
            found[name].append(measure(machines[name]))
    return found


# Hits


def _show_hits(bench, generator, nodes, machines):
    for name in ("alone", "leader"):
        fill(machines[name])
    nodes.wait_until_applied()
    fill(machines["replica"])

    def measure(process):
        return generator.send(process, phone_requests(PATH), seconds=bench.seconds)

    for process in machines.values():
        measure(process)
    found = _in_turn(bench, machines, measure)
    cpu = {name: [done.cpu_microseconds for done in loads] for name, loads in found.items()}
    bench.report.line(
        f"Fresh hits, {CONNECTIONS} keep-alive connections, {bench.rounds} rounds of {bench.seconds} s in turn, medians."
    )
    bench.report.table(
        ["", "CPU µs/request", "requests/s"],
        [[name, median_text(cpu[name], 2), median_text([done.per_second for done in found[name]], 0)] for name in found],
    )
    bench.report.goals(
        [Goal(f"CPU of a hit, {name} : alone", ratios(cpu[name], cpu["alone"]), most=1.03)
         for name in ("leader", "replica")]
    )


# Mutations


def _show_mutations(bench, generator, nodes, machines):
    tokens = {}
    for name in ("alone", "leader"):
        tokens[name] = phones.register(machines[name].port, DEVICES)
        with Connection(machines[name].port) as connection:
            for token in tokens[name]:
                phones.command(connection, token, "pause")
    tokens["replica"] = tokens["leader"]
    nodes.wait_until_applied()
    names = {process.pid: name for name, process in machines.items()}
    turns = iter(range(1_000_000))

    def measure(process):
        # A key of its own in each round: a repeated one is a replay.
        messages = enqueueing(tokens[names[process.pid]], f"turn{next(turns)}")
        done = generator.send(process, messages, seconds=bench.seconds, connections=CONNECTIONS)
        return done.per_second, done.p99_microseconds / 1e3

    found = _in_turn(bench, machines, measure)
    rates = {name: [rate for rate, _ in each] for name, each in found.items()}
    bench.report.line()
    bench.report.line(
        f"One mutation a request, {CONNECTIONS} keep-alive connections for {DEVICES} devices whose queues are paused, "
        f"{bench.rounds} rounds of {bench.seconds} s in turn, medians. PostgreSQL waits for its disk."
    )
    bench.report.table(
        ["", "accepted a second", "p99 ms"],
        [[name, median_text(rates[name], 0), median_text([p99 for _, p99 in found[name]])] for name in found],
    )
    bench.report.goals(
        [Goal(f"accepted, {name} : alone", ratios(rates[name], rates["alone"]), least=0.5)
         for name in ("leader", "replica")]
    )
    nodes.wait_until_applied()


# From the leader's commit to a replica


def _show_replication(bench, leader, replica):
    message = request("GET", STREAM_PATH)
    with Connection(leader.port) as writer:
        applied = [_lags(writer, leader, replica, message) for _ in range(bench.rounds)]
        streams = Streams(replica.port, [message] * STREAMS, b"event: bookmark")
        try:
            last = [_times(writer, streams) for _ in range(bench.rounds)]
        finally:
            streams.close()
    bench.report.line()
    bench.report.line(
        f"{COMMITS} commits by mutations sent to the leader, one after another, in each of {bench.rounds} rounds. "
        "Applied: from the event of a stream of the leader to that of a stream of the replica. "
        f"{STREAMS:,} streams: from sending the mutation, upstream's own time in it, to the last stream of the replica."
    )
    bench.report.goals(
        [
            Goal("commit to applied on a replica, p99", [_p99(times) for times in applied], unit="ms", most=25, digits=1),
            Goal(
                f"mutation to the last of {STREAMS:,} streams of a replica, p99",
                [_p99(times) for times in last], unit="ms", most=75, digits=1,
            ),
        ]
    )


def _lags(writer, leader, replica, message):
    """Milliseconds by which a replica's stream is later than the leader's."""
    times = []
    here = Streams(leader.port, [message], b"event: bookmark")
    there = Streams(replica.port, [message], b"event: bookmark")
    try:
        for number in range(COMMITS):
            mark = commit(writer, number)
            here.hear(mark)
            heard = time.perf_counter()
            there.hear(mark)
            times.append((time.perf_counter() - heard) * 1000)
    finally:
        here.close()
        there.close()
    return times


def _times(writer, streams):
    times = []
    for number in range(COMMITS):
        begin = time.perf_counter()
        streams.hear(commit(writer, number))
        times.append((time.perf_counter() - begin) * 1000)
    return times


def _p99(times):
    return sorted(times)[math.ceil(len(times) * 0.99) - 1]


# Failover and handover


def _show_failover(bench, nodes):
    killed, drained, failures = [], [], []
    for turn in range(FAILOVERS):
        seconds, failed = _seconds_without_misses(nodes, f"kill{turn}", lambda node: node.kill())
        killed.append(seconds)
        failures += failed["hit"] + failed["202"]
        seconds, failed = _seconds_without_misses(nodes, f"drain{turn}", lambda node: node.stop())
        drained.append(seconds * 1000)
        failures += [text for each in failed.values() for text in each]
    for text in failures[:5]:
        bench.report.line(f"failed: {text}")
    bench.report.line()
    bench.report.line(
        f"The leader ends {FAILOVERS} times by kill -9 and as often by SIGTERM, while its replicas get hits, misses and "
        "mutations. A time is the longest between two misses with a response. Failures are of hits and mutations, at a "
        "handover of misses as well."
    )
    bench.report.goals(
        [
            Goal("without misses after kill -9", killed, unit="s", most=LEASE_SECONDS + 1, digits=1),
            Goal("without misses at a handover", drained, unit="ms", most=300, digits=0),
            Goal("failed requests", [len(failures)], most=0, digits=0),
        ]
    )


def _seconds_without_misses(nodes, name, end):
    """Ends the leader under load and starts it again; the longest time without misses, and failures by kind."""
    leader, replicas = nodes.roles()
    ports = [node.port for node in replicas]
    token = _registered(leader.port)
    nodes.wait_until_applied()
    fields = {"Device-Token": token}

    def mutation(number):
        return ports[number % 2], "POST", "/v1/mutations", phones.rating(number), {
            **fields, "Idempotency-Key": f"{name}-{number}"}

    lines = {
        "hit": Line("hit", lambda number: (ports[number % 2], "GET", PATH, None, None)),
        "miss": Line(
            "miss", lambda number: (ports[number % 2], "GET", MISS, None, {"Cache-Control": "no-cache"}), is_miss),
        "202": Line("202", mutation, lambda answer: answer.status == 202),
    }
    with Load(*lines.values()) as load:
        load.wait_for(STREAK)
        began = time.monotonic()
        end(leader)
        load.wait_for(STREAK)
    seconds = lines["miss"].seconds_without(began)
    nodes.restart(leader)
    return seconds, {kind: line.failures for kind, line in lines.items()}


def _registered(port):
    """The token of a new device, as soon as the leader takes writes."""
    deadline = time.monotonic() + WRITES_SECONDS_MAX
    while True:
        try:
            return phones.register(port, 1)[0]
        except BenchError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


# Ingest, the log, and a node that joins


def _show_ingest(bench, postgres):
    items = Items(bench, "cluster-items")
    alone = items.ready_larder("alone", more_settings=ALONE, more_upstream=STANDING)
    items.wait_for(1)
    single = [_rate(items, alone, EVENTS) for _ in range(bench.rounds)]
    alone.stop()
    items.wait_for(0)
    nodes = Nodes(items, "items", postgres=postgres, more_upstream=STANDING)
    items.wait_for(1)
    leader, _ = nodes.roles()
    several, growth = [], []
    for _ in range(bench.rounds):
        head = nodes.head()
        several.append(_rate(items, leader, EVENTS))
        growth.append(nodes.log_bytes(head) / _bytes_of_events(items, EVENTS))
    last = _fill(items, leader)
    began = time.perf_counter()
    joined = nodes.add()
    wait(lambda: version(joined, last, ENTITIES) == last, "the new node has the last event")
    seconds = time.perf_counter() - began
    count = _count(joined)
    if count < ENTITIES:
        raise BenchError(f"the node that joined has {count:,} entities")
    bench.report.line()
    bench.report.line(
        f"A standing subscription: {EVENTS:,} events of upstream, about 1,000 entities, in each of {bench.rounds} rounds. "
        "Bytes changed are those of the events' data as JSON; bytes of the log are of its rows in PostgreSQL. "
        f"Then {ENTITIES:,} entities, and a fourth node that starts with an empty folder."
    )
    bench.report.table(
        ["", "events stored a second"],
        [["alone", median_text(single, 0)], ["the leader of three", median_text(several, 0)]],
    )
    bench.report.goals(
        [
            Goal("stored, leader : alone", ratios(several, single), least=0.5),
            Goal("bytes of the log : bytes changed", growth, most=2),
            Goal("start to ready with all entities", [seconds], unit="s", most=60, digits=1),
        ]
    )


def _fill(items, larder):
    """Stores many entities. Returns the number of the last event."""
    last = 0
    for _ in range(ENTITIES // EVENTS_AT_ONCE):
        last, _ = items.emit(EVENTS_AT_ONCE, ids=ENTITIES)
        wait(lambda number=last: version(larder, number, ENTITIES) == number, "the events are stored")
    return last


def _rate(items, larder, count):
    """Events stored a second."""
    begin = time.perf_counter()
    last, _ = items.emit(count)
    wait(lambda: version(larder, last) == last, "the last event is stored")
    return count / (time.perf_counter() - begin)


def _bytes_of_events(items, count):
    """Of the data of the last events, as item_upstream.py sends them."""
    last = items.last
    return sum(
        len(json.dumps({"id": f"i{number % 1000}", "name": f"Item {number % 1000} as of {number}.", "version": number},
                       separators=(",", ":")))
        for number in range(last - count + 1, last + 1)
    )


def _count(larder):
    with Connection(larder.port) as connection:
        return json.loads(connection.get("/v1/entities/Item?limit=1&total=true").body)["total"]
