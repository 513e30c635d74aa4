#!/usr/bin/env python3
"""The scenarios of client libraries (Tests/Conformance), with each request sent to a random node of a cluster.

  contract.py --binary LARDER [--nodes N] [--tally FILE] [arguments of Tests/Conformance/run.py]

A scenario that kills or restarts its service does so with all nodes at once. Files are in an S3 service (moto), since
nodes share none. Without `--driver` the reference client plays.
"""

import argparse
import contextlib
import functools
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CONFORMANCE = HERE.parents[1] / "Conformance"
sys.path[:0] = [str(CONFORMANCE), str(HERE.parent)]
import run  # noqa: E402
import server  # noqa: E402
import world  # noqa: E402
from nodes import KEY, SECRET  # noqa: E402
from postgres import PostgreSQL  # noqa: E402
from s3_server import Moto  # noqa: E402

LEASE = "2s"
START_SECONDS_MAX = 60
NO_ONE = {"email": "no-one@example.com", "password": "a long password"}
FILES = ("store", "endpoint", "accessKey", "secretKey")


class Nodes(server.Server):
    """In the place of one Larder: several on one PostgreSQL. `port` is that of a random one, each time."""

    number = 0

    def __init__(self, count, postgres, service, binary, folder, upstream_port, settings):
        self.binary, self.folder, self.upstream_port = binary, folder, upstream_port
        Nodes.number += 1
        values = ("s3", service.url, "AKIATEST", "secretsecret")
        self.settings = {
            "cluster.postgres": f"postgres://larder@127.0.0.1:{postgres.port}/larder", "cluster.secret": SECRET,
            "cluster.name": f"contract{Nodes.number}", "cluster.lease": LEASE,
            **{f"files.{name}": value for name, value in zip(FILES, values)}, **settings}
        self.process, self.processes, self.ports = None, [], []
        self.count = count
        shutil.copytree(CONFORMANCE / "project", folder / "project")
        self.start()

    @property
    def port(self):
        return random.choice(self.ports)

    def start(self, settings=None):
        self.settings.update(settings or {})
        for attempt in range(server.PORTS_TRIED_MAX):
            # The same addresses again, unless another process has taken one.
            if attempt or not self.ports or not all(map(server.is_free, self.ports)):
                self.ports = [server.steady_port() for _ in range(self.count)]
            if self._start_all():
                return
            self.kill()
            if "cannot listen" not in self._tail():
                break
        raise RuntimeError(f"the nodes did not start:\n{self._tail()}")

    def _start_all(self):
        self.log = (self.folder / "larder.log").open("a")
        for number, port in enumerate(self.ports):
            sets = {"listen": f"127.0.0.1:{port}", "data": f"../data{number}",
                    "cluster.advertise": f"http://127.0.0.1:{port}",
                    "upstream.url": f"http://127.0.0.1:{self.upstream_port}/", **self.settings}
            self.processes.append(subprocess.Popen(
                [self.binary, "serve", *(f"--set={name}={value}" for name, value in sets.items())],
                cwd=self.folder / "project", stdout=self.log, stderr=self.log,
                env={"LARDER_ADMIN_TOKEN": server.ADMIN, "LANG": "C.UTF-8", "LARDER_KEY": KEY}))
        self.process = self.processes[0]
        return all(self._is_ready(process, port) for process, port in zip(self.processes, self.ports))

    def _is_ready(self, process, port):
        deadline = time.monotonic() + START_SECONDS_MAX
        one = server.Server.__new__(server.Server)
        one.port = port
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                # The second one is the leader's to answer: a node that has just started may not know it yet.
                if one.ask("GET", "/readyz")[0] == 200 and one.ask("POST", "/v1/auth/check-password", NO_ONE)[0] == 401:
                    return True
            time.sleep(0.02)
        return False

    def kill(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes.clear()
        if self.process:
            self.process = None
            self.log.close()


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--tally", type=pathlib.Path)
    mine, rest = parser.parse_known_args()
    # So that what was started is ended.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="larder-contract-"))
    try:
        with PostgreSQL(is_durable=False) as postgres, Moto(folder) as service:
            world.Server = functools.partial(Nodes, mine.nodes, postgres, service)
            sys.argv[1:] = rest
            status = run.main()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if mine.tally:
        with mine.tally.open("a") as tally:
            tally.write("0 1\n" if status else "1 0\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
