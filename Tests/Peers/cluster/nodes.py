"""Several nodes of Larder on one PostgreSQL, with the network between them; or one node without a cluster."""

import glob
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess

from asking import REQUEST_SECONDS_MAX, WAIT_SECONDS_MAX, ask, eventually
from counters import Upstream
from network import Network
from ports import steady_port
from postgres import PostgreSQL

HERE = pathlib.Path(__file__).resolve().parent
ADMIN = "an-admin-token-for-the-checks-of-clusters"
SECRET = "a-secret-that-all-nodes-of-the-checks-share"
KEY = "4bYV0u2T8m0Zq3o1gkF9t5cX7jL6sPwRhNQdEaIyKvM="
START_SECONDS_MAX = 30
END_SECONDS_MAX = 30

SETTINGS = """listen: 127.0.0.1:{port}
data: ./data
operations: {project}/operations
schema: {project}/schema.graphql
local: {project}/local.graphql
upstream: {{url: 'http://127.0.0.1:{upstream}/', timeout: 3s}}
admin: {{token: {admin}}}
accounts: {{passwordCost: 10, rate: 100000, tries: 100000}}
devices: {{rate: 100000}}
queue: {{probe: 1s}}
limits: {{rate: 1000000}}
files: off
drain: {{deadline: 5s}}
log: {{level: {level}}}
"""
CLUSTER = """cluster:
  postgres: postgres://larder@127.0.0.1:{postgres}/larder
  advertise: http://127.0.0.1:{advertised}
  secret: {secret}
  name: {name}
  lease: {lease}
"""


class Node:
    """One `larder serve` with a data folder, a port and an advertised address of its own."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.folder = cluster.folder / name
        self.folder.mkdir()
        self.log = self.folder / "larder.log"
        self.port = steady_port()
        self.advertised = self.postgres = None
        self.process = None
        self.is_paused = False
        self.environment = {}
        # What the program is started through; see `with_movable_clock`.
        self.launcher = []
        self.project = cluster.project
        if cluster.postgres:
            network = cluster.network
            self.advertised = network.proxy(name, lambda: self.port)
            self.postgres = network.proxy("pg", lambda: cluster.postgres.port, source=name)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.advertised}"

    def configure(self):
        text = SETTINGS.format(
            port=self.port, project=self.project, upstream=self.cluster.upstream.port, admin=ADMIN,
            level=self.cluster.level)
        if self.advertised:
            text += CLUSTER.format(
                postgres=self.postgres, advertised=self.advertised, secret=SECRET, name=self.cluster.name,
                lease=self.cluster.lease)
        (self.folder / "larder.yaml").write_text(text + self.cluster.more_settings)

    def launch(self):
        """Starts the process without waiting for it."""
        self.configure()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.launcher, self.cluster.binary, "serve"], cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LARDER_KEY": KEY, **self.environment})
        self.is_paused = False
        self.cluster.network.pids[self.name] = self.process.pid

    def start(self):
        self.launch()
        self.wait_until_ready()
        return self

    def wait_until_ready(self, seconds=START_SECONDS_MAX):
        last = []

        def is_ready():
            assert self.process.poll() is None, f"{self.name} ended:\n{self.tail()}"
            last[:] = [self.ask("GET", "/readyz", seconds=5)]
            return last[0].status == 200

        try:
            eventually(is_ready, f"{self.name} is ready", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{last[0] if last else 'no response'}\n{self.tail()}") from None

    def ask(self, method, target, body=None, headers=None, seconds=REQUEST_SECONDS_MAX):
        return ask(self.port, method, target, body, headers, seconds)

    def admin(self, method, target, body=None):
        return self.ask(method, target, body, {"Authorization": f"Bearer {ADMIN}"})

    def metrics(self):
        answer = self.admin("GET", "/metrics")
        assert answer.status == 200, answer
        return answer.body.decode()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        self.is_paused = True

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
        self.is_paused = False

    def kill(self):
        """Kills the process at once, paused or not."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """Drains, and returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.process = None
        return status

    def tail(self):
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    def command(self, *arguments, seconds=60):
        """Runs a command of the program with the node's settings; (exit status, output)."""
        done = subprocess.run(
            [self.cluster.binary, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=seconds,
            check=False, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LARDER_KEY": KEY})
        return done.returncode, done.stdout + done.stderr

    def database(self):
        """The path of its SQLite database."""
        found = [path for path in glob.glob(f"{self.folder}/data/**/*", recursive=True)
                 if os.path.isfile(path) and is_database(path)]
        assert len(found) == 1, f"{self.name} has the databases {found}"
        return pathlib.Path(found[0])


def is_database(path):
    with open(path, "rb") as file:
        head = file.read(16)
    return head == b"SQLite format 3\0" and "lock" not in os.path.basename(path)


class Cluster:
    """An upstream, PostgreSQL, the network and the nodes. Closes it all at its end."""

    def __init__(self, binary, folder, nodes=3, *, is_clustered=True, with_standby=False, lease="5s", level="notice",
                 is_durable=False, more_settings="", name="checks"):
        self.binary, self.folder = binary, folder
        self.lease, self.level, self.name, self.more_settings = lease, level, name, more_settings
        self.lease_seconds = float(lease.removesuffix("s"))
        folder.mkdir(parents=True, exist_ok=True)
        self.project = folder / "project"
        shutil.copytree(HERE / "project", self.project)
        self.nodes, self.mounts = [], []
        self.network = self.upstream = self.postgres = None
        try:
            self.network = Network()
            self.upstream = Upstream(folder)
            if is_clustered:
                self.postgres = PostgreSQL(with_standby, is_durable)
            for number in range(nodes):
                self.nodes.append(Node(self, f"n{number + 1}"))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.kill()
        for path in self.mounts:
            subprocess.run(["umount", "--lazy", path], check=False)
        if self.network:
            self.network.close()
        if self.postgres:
            self.postgres.close()
        if self.upstream:
            self.upstream.close()

    def start(self):
        """Starts all nodes at once."""
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_until_ready()
        return self

    def add_node(self):
        node = Node(self, f"n{len(self.nodes) + 1}")
        self.nodes.append(node)
        return node

    @property
    def running(self):
        return [node for node in self.nodes if node.is_running]

    # What PostgreSQL knows

    def table(self, name):
        return f'"larder_{self.name}"."{name}"'

    def leader(self):
        """The node that holds the lease, if it has not expired."""
        rows = self.postgres.sql(f"SELECT url FROM {self.table('lease')} WHERE until > now()")
        return next((node for node in self.nodes if rows and node.url == rows[0][0]), None)

    def wait_for_leader(self, other_than=None, seconds=WAIT_SECONDS_MAX):
        def found():
            node = self.leader()
            return node if node and node is not other_than and node.is_running else None

        return eventually(found, "a node holds the lease", seconds)

    def replicas(self):
        leader = self.leader()
        return [node for node in self.running if node is not leader]

    def node_names(self):
        """The names of the nodes by the ids that they have given themselves."""
        if not self.postgres:
            return {}
        names = {node.url: node.name for node in self.nodes}
        return {id: names.get(url, url) for id, url in self.postgres.sql(f"SELECT id, url FROM {self.table('node')}")}

    def epoch(self):
        rows = self.postgres.sql(f"SELECT epoch FROM {self.table('lease')}")
        return int(rows[0][0]) if rows else 0

    def head(self):
        rows = self.postgres.sql(f"SELECT max(position) FROM {self.table('log')}")
        return int(rows[0][0] or 0)

    def inbox_count(self):
        return int(self.postgres.sql(f"SELECT count(*) FROM {self.table('inbox')}")[0][0])


def open_database(path):
    """A connection that sees the database as of now, also while a node runs. It writes nothing."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    connection.execute("PRAGMA query_only = ON")
    return connection
