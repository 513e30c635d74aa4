"""Two machines of Larder that share a folder or a bucket, each with a port and a data folder of its own."""

import json
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent / "cluster" / "project"
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cluster")]
from asking import ask, eventually  # noqa: E402
from ports import steady_port  # noqa: E402

ADMIN = "an-admin-token-for-the-checks-of-standbys"
SECRET = "a-secret-that-both-machines-of-the-checks-share"
LEASE_SECONDS = 3
# A second of margin, the start of the service, and a busy machine.
TAKE_OVER_SECONDS_MAX = LEASE_SECONDS + 12
START_SECONDS_MAX = 40
END_SECONDS_MAX = 30

SETTINGS = """listen: 127.0.0.1:{port}
data: ./data
operations: {project}/operations
schema: {project}/schema.graphql
local: {project}/local.graphql
upstream: {{url: 'http://127.0.0.1:9/', timeout: 3s}}
admin: {{token: {admin}}}
accounts: {{passwordCost: 10, rate: 100000}}
devices: {{rate: 100000}}
limits: {{rate: 1000000}}
files: off
drain: {{deadline: 3s}}
log: {{level: notice}}
standby:
  secret: {secret}
  lease: {lease}s
  segment: 200ms
  snapshots: 1h
{place}
"""


class Machine:
    """One `larder serve`."""

    def __init__(self, site, name):
        self.site, self.name = site, name
        self.folder = site.folder / name
        self.folder.mkdir(parents=True)
        self.log = self.folder / "larder.log"
        self.port = steady_port()
        self.process = None
        self.started = []
        (self.folder / "larder.yaml").write_text(
            SETTINGS.format(
                port=self.port, project=PROJECT, admin=ADMIN, secret=SECRET, lease=LEASE_SECONDS,
                place=site.place))

    def launch(self, *flags):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.site.binary, "serve", *flags], cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        self.started.append(self.process)
        return self

    def command(self, *arguments, status=0):
        done = subprocess.run(
            [self.site.binary, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        assert done.returncode == status, f"{arguments}: {done.returncode} {done.stdout} {done.stderr}"
        return done.stdout + done.stderr

    @property
    def status(self):
        return json.loads(self.command("standby", "status", "--json"))

    # Requests

    def ask(self, method, target, body=None, headers=None):
        return ask(self.port, method, target, body, headers, 10)

    @property
    def admin(self):
        return {"Authorization": f"Bearer {ADMIN}"}

    def register(self, name):
        """Registers a device; returns its id, or None if the machine refuses writes."""
        answer = self.ask("POST", "/v1/devices", {"platform": "ios", "name": name})
        if answer.status == 201:
            return answer.json["id"]
        assert answer.status == 503, answer
        return None

    @property
    def devices(self):
        answer = self.ask("GET", "/v1/admin/devices?limit=200", headers=self.admin)
        assert answer.status == 200, answer
        return {item["id"] for item in answer.json["items"]}

    def metric(self, name):
        answer = self.ask("GET", "/metrics", headers=self.admin)
        assert answer.status == 200, answer
        lines = [line for line in answer.body.decode().splitlines() if line.startswith(f"{name} ")]
        return float(lines[0].split()[1]) if lines else None

    @property
    def is_primary(self):
        return self.ask("GET", "/readyz").status == 200 and self.metric("larder_standby_is_primary") == 1

    @property
    def readiness(self):
        return self.ask("GET", "/readyz").json

    # Waiting

    def until_primary(self, seconds=START_SECONDS_MAX):
        try:
            eventually(lambda: self.is_running() and self.is_primary, f"{self.name} is the primary", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tail()}") from None
        return self

    def until_following(self, position=0, seconds=START_SECONDS_MAX):
        def follows():
            standby = (self.readiness or {}).get("standby")
            return standby and standby["phase"] == "following" and standby["position"] >= position

        try:
            eventually(follows, f"{self.name} follows", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.readiness}\n{self.tail()}") from None
        return self

    def until_sent(self):
        """Waits until all commits are in the store; returns the position."""
        eventually(lambda: self.metric("larder_standby_unsent_bytes") == 0, f"{self.name} has sent its commits")
        return self.metric("larder_standby_position")

    def is_running(self):
        assert self.process.poll() is None, f"{self.name} ended:\n{self.tail()}"
        return True

    def tail(self):
        return "".join(self.log.read_text(errors="replace").splitlines(keepends=True)[-30:])

    # Ends

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """Also a process that another one was to follow."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(END_SECONDS_MAX) == 0, self.tail()


class Site:
    """Two machines and what they share: a folder, or a bucket of another server."""

    def __init__(self, binary, folder, place=None):
        self.binary, self.folder = binary, folder
        self.machines = []
        if place is None:
            (folder / "shared").mkdir(parents=True)
            place = f"  folder: {folder}/shared"
        self.place = place

    def machine(self, name):
        self.machines.append(Machine(self, name))
        return self.machines[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for machine in self.machines:
            machine.kill()


def rows(machine):
    """All rows of a stopped machine's database by table, without its place in the log."""
    import sqlite3

    path = machine.folder / "data" / "larder.sqlite"
    assert path.exists() and os.path.getsize(path), path
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        tables = [
            name for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                " AND name <> 'cluster_position' AND sql NOT LIKE 'CREATE VIRTUAL%'")]
        return {name: sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"'))) for name in tables}
