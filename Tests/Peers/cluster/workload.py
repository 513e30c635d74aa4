"""One history: clients use the nodes, something disturbs them, and in the end everything is looked at."""

import hashlib
import re
import time

from asking import eventually
from clients import COUNTERS_EACH, Guard, Reader, Walker, Writer
from history import Recorder
from nodes import open_database
from streamer import Streamer

WRITERS = 4
SETTLE_SECONDS_MAX = 60
EQUAL_SECONDS_MAX = 20
PAGE = 1000


class Workload:
    """Clients of several kinds on the nodes of a cluster, and their history."""

    def __init__(self, cluster, path, seed, writers=WRITERS):
        self.cluster, self.recorder = cluster, Recorder(path)
        counters = [f"c{number}" for number in range(writers * COUNTERS_EACH)]
        nodes = cluster.nodes
        self.writers = [Writer(f"w{number}", nodes, self.recorder, seed, number) for number in range(writers)]
        self.walkers = [
            Walker("k0", nodes, self.recorder, seed, False), Walker("k1", nodes, self.recorder, seed, True),
            Streamer("s0", nodes, self.recorder, seed, False), Streamer("s1", nodes, self.recorder, seed, True)]
        self.others = [
            Reader("r0", nodes, self.recorder, seed, counters), Reader("r1", nodes, self.recorder, seed, counters),
            Guard("g0", nodes, self.recorder, seed, counters)]
        self.effects_before = 0
        self.clients = [*self.writers, *self.walkers, *self.others]

    def start(self):
        fill(self.cluster.nodes[0])
        self.effects_before = len(self.cluster.upstream.effects())
        for client in self.clients:
            client.start()
        return self

    def stop(self):
        for client in self.clients:
            client.over.set()
        for client in self.clients:
            client.finish()

    def conclude(self):
        """Waits until nothing is left to do, and records what there is to see then."""
        self.settle()
        for walker in self.walkers:
            walker.settle()
        self.record_outcomes()
        self.recorder.note("effects", effects=self.cluster.upstream.effects()[self.effects_before:])
        self.recorder.note("nodes", names=self.cluster.node_names())
        self.record_tables()
        self.recorder.close()

    def settle(self):
        def is_done(writer):
            answer = self.cluster.nodes[0].ask("GET", "/v1/queue", headers=writer.headers)
            return writer.end_parked() and answer.status == 200 and answer.json["pending"] == 0

        for writer in self.writers:
            eventually(lambda writer=writer: is_done(writer), f"the queue of {writer.name} is empty", SETTLE_SECONDS_MAX)
        if self.cluster.postgres:
            eventually(lambda: self.cluster.inbox_count() == 0, "the inbox is empty")

    def record_outcomes(self):
        """Of every mutation, from every node."""
        for writer in self.writers:
            for node in self.cluster.nodes:
                states = states_of(node, writer.headers)
                for mark, identifier in writer.marks.items():
                    self.recorder.note("outcome", node=node.name, mark=mark, state=states.get(identifier))

    def record_tables(self):
        """Digests of all tables of all nodes, as soon as they are equal, or after a while."""
        deadline = time.monotonic() + EQUAL_SECONDS_MAX
        while True:
            found = [(node, position_of(node), digests_of(node.database())) for node in self.cluster.nodes]
            if all(one[1:] == found[0][1:] for one in found) or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        for node, position, digests in found:
            self.recorder.note("tables", node=node.name, position=position, digests=digests)


def fill(node):
    """Fetches all counters, so that each is there before the first client asks."""
    eventually(lambda: node.ask("GET", "/v1/operations/Counters").status == 200, "upstream's counters are stored")


def states_of(node, headers):
    """The state of every mutation of a device as a node reports it, by id."""
    states, since = {}, ""
    while True:
        answer = eventually(
            lambda target=f"/v1/changes?types=$mutation&limit={PAGE}{since}": good(node, target, headers),
            f"{node.name} lists mutations")
        for change in answer["changes"]:
            if change["op"] == "put":
                states[change["id"]] = change["data"]["state"]
        if answer["complete"]:
            return states
        since = f"&since={answer['cursor']}"


def good(node, target, headers):
    answer = node.ask("GET", target, headers=headers)
    return answer.json if answer.status == 200 else None


def position_of(node):
    """The position of the log that a node has applied; None without a cluster."""
    found = re.search(r"^larder_cluster_position(?:\{[^}]*\})? ([0-9.e+]+)$", node.metrics(), re.MULTILINE)
    return float(found.group(1)) if found else None


def digests_of(path):
    """A digest of the rows of each table, and their number: `"12 rows, 3f…"`. The tables behind a full-text index
    count as well: what was written to them is part of the log."""
    found = {}
    connection = open_database(path)
    try:
        connection.execute("BEGIN")
        tables = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
        for name, sql in tables.fetchall():
            digest, count = hashlib.sha256(sql.encode()), 0
            # By content, since tables without an order of their own list rows as they were written.
            rows = sorted(repr(row) for row in connection.execute(f'SELECT * FROM "{name}"'))
            for row in rows:
                digest.update(row.encode())
                count += 1
            found[name] = f"{count} rows, {digest.hexdigest()[:16]}"
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        found["sqlite_master"] = f"{len(schema)} rows, {hashlib.sha256(repr(schema).encode()).hexdigest()[:16]}"
    finally:
        connection.close()
    return found


def different_rows(one, other, table, most=5):
    """Rows of a table that only one of two databases has, for a reader."""
    rows = []
    for path in (one, other):
        connection = open_database(path)
        try:
            rows.append({repr(row) for row in connection.execute(f'SELECT * FROM "{table}"')})
        finally:
            connection.close()
    return sorted(rows[0] - rows[1])[:most], sorted(rows[1] - rows[0])[:most]
