"""The three nodes that all checks share."""

import signal
import sys

from asking import eventually
from nodes import Cluster
from workload import digests_of, position_of

LEASE = "2s"
# Nodes that are not ready by then fail each of the checks.
READY_SECONDS_MAX = 10
EQUAL_SECONDS_MAX = 10


class Site:
    """Three nodes, started as the first check says."""

    def __init__(self, binary, folder):
        # So that what was started is ended.
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        self.cluster = Cluster(binary, folder / "cluster", 3, lease=LEASE)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cluster.__exit__()

    @property
    def nodes(self):
        return self.cluster.nodes

    def started(self):
        """All nodes run and one leads; what an earlier check left is repaired."""
        self.cluster.network.heal()
        self.cluster.upstream.switch("up")
        if self.cluster.postgres.primary.process is None:
            self.cluster.postgres.primary.start()
        for node in self.nodes:
            if node.is_paused:
                node.resume()
            if not node.is_running:
                node.launch()
        for node in self.nodes:
            node.wait_until_ready(READY_SECONDS_MAX)
        leader = self.cluster.wait_for_leader()
        return leader, [node for node in self.nodes if node is not leader]

    def device(self, node=None):
        answer = (node or self.nodes[0]).ask("POST", "/v1/devices", {"platform": "other"})
        assert answer.status == 201, answer
        return {"Device-Token": answer.json["deviceToken"]}

    def mark(self):
        self.number += 1
        return f"mark-{self.number}"

    def submission(self, counter, value, **more):
        """The body and the fields of a mutation."""
        mark = self.mark()
        variables = {"id": counter, "value": value, "mark": mark}
        return {"operation": "SetCounter", "mode": "steady", "variables": variables, **more}, {"Idempotency-Key": mark}

    def equal(self):
        """Waits until all nodes are at one position with equal tables."""
        def are_equal():
            positions = {position_of(node) for node in self.nodes}
            assert None not in positions, "a node reports no larder_cluster_position"
            return len(positions) == 1

        eventually(are_equal, "all nodes are at one position")
        found = []

        def have_equal_tables():
            found[:] = [digests_of(node.database()) for node in self.nodes]
            return all(one == found[0] for one in found)

        try:
            eventually(have_equal_tables, "equal tables", EQUAL_SECONDS_MAX)
        except AssertionError:
            tables = {table for one in found for table in one}
            raise AssertionError({table: [one.get(table) for one in found] for table in sorted(tables)
                                  if len({one.get(table) for one in found}) > 1}) from None
