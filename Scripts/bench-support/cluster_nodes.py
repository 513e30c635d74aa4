"""Several Larders on one PostgreSQL of the benchmark. Both are of Tests/Peers/cluster, without its network."""

import os
import sys
import time

import phones
import servers
from process import BenchError

HARNESS = os.path.join(servers.SUPPORT, "..", "..", "Tests", "Peers", "cluster")
sys.path.append(HARNESS)
from postgres import PostgreSQL  # noqa: E402

# The default of `cluster.lease`.
LEASE_SECONDS = 5
LEADER_SECONDS_MAX = 60
APPLIED_SECONDS_MAX = 300
POLL_SECONDS = 0.02
ENVIRONMENT = {"LARDER_KEY": "4bYV0u2T8m0Zq3o1gkF9t5cX7jL6sPwRhNQdEaIyKvM="}
# Every node has its own folder; files would need one in common.
ALONE = phones.SETTINGS + "files: off\n"
CLUSTER = """cluster:
  postgres: postgres://larder@127.0.0.1:{postgres}/larder
  advertise: http://127.0.0.1:{port}
  secret: a-secret-that-all-nodes-of-the-benchmark-share
  name: {name}
"""


class Nodes:
    """The nodes of one cluster over a project (`servers.Films` or `items.Items`), and what PostgreSQL knows."""

    def __init__(self, project, name, count=3, postgres=None, **more):
        self.project, self.name, self.more = project, name, more
        # With its writes on disk: they are the durable ones.
        self.postgres = postgres or project.bench.enter(PostgreSQL(is_durable=True))
        self.all = []
        for _ in range(count):
            self.add()
        self.wait_for_leader()

    def add(self):
        """Starts one more node and waits until it is ready."""
        return self.start(f"{self.name}-{len(self.all)}")

    def start(self, data, port=None):
        """Starts a node over a data folder, which can be that of an earlier one."""
        port = port or servers.free_port()
        settings = ALONE + CLUSTER.format(postgres=self.postgres.port, port=port, name=self.name)
        node = self.project.ready_larder(
            data, more_settings=settings, environment=ENVIRONMENT, port=port, **self.more
        )
        node.data = data
        self.all.append(node)
        return node

    def restart(self, node):
        self.all.remove(node)
        return self.start(node.data, node.port)

    def stop(self):
        for node in self.all:
            node.stop()
        self.all.clear()

    def sql(self, statement):
        return self.postgres.sql(statement.replace("@", f"larder_{self.name}."))

    def leader(self):
        """The node with the lease; None if there is none at this moment."""
        rows = self.sql("SELECT url FROM @lease WHERE until > now()")
        return next((one for one in self.all if rows and rows[0][0].endswith(f":{one.port}")), None)

    def wait_for_leader(self, other_than=None):
        deadline = time.monotonic() + LEADER_SECONDS_MAX
        while (found := self.leader()) is None or found is other_than:
            if time.monotonic() > deadline:
                raise BenchError(f"no node leads after {LEADER_SECONDS_MAX} s")
            time.sleep(POLL_SECONDS)
        return found

    def roles(self):
        """(the leader, the replicas)."""
        leader = self.wait_for_leader()
        return leader, [node for node in self.all if node is not leader]

    def head(self):
        return int(self.sql("SELECT max(position) FROM @log")[0][0])

    def log_bytes(self, after):
        """Bytes of the log's rows after a position."""
        rows = self.sql(f"SELECT coalesce(sum(octet_length(payload)), 0) FROM @log WHERE position > {after}")
        return int(rows[0][0])

    def wait_until_applied(self):
        """Until every node has reported the present head."""
        head, deadline = self.head(), time.monotonic() + APPLIED_SECONDS_MAX
        while int(self.sql("SELECT count(*) FROM @node WHERE position >= " + str(head))[0][0]) < len(self.all):
            if time.monotonic() > deadline:
                raise BenchError(f"the nodes have not applied position {head} after {APPLIED_SECONDS_MAX} s")
            time.sleep(POLL_SECONDS)
