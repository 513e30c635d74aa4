"""Load by a generator that does less per request than wrk: a closed loop over keep-alive
connections, without TLS."""

import subprocess

import native
from connection import request
from loads import Load, begin
from process import BenchError


class Generator:
    def __init__(self, compiler, folder):
        self._path = native.build(compiler, "generator", folder, "-pthread")

    def load(self, process, path, *, fields=None, **more):
        """Requests one path; see `send`."""
        return self.send(process, [request("GET", path, fields)], **more)

    def send(self, process, requests, *, seconds, connections=64, threads=2, cores=None):
        """Sends requests to a process's port, and measures the process's CPU time.

        Each connection repeats one of them; ten `#` in it stand for the number of the turn.
        `cores` pins the generator to these.
        """
        before = process.cpu_seconds()
        done = subprocess.run(
            [self._path, *map(str, (process.port, min(threads, connections), connections, seconds))],
            input=b"\0".join(requests),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds + 30,
            check=False,
            preexec_fn=lambda: begin(cores),
        )
        after = process.cpu_seconds()
        if done.returncode != 0:
            raise BenchError(done.stdout.decode(errors="replace"))
        answered, taken, p50, p99 = done.stdout.split()
        return Load(int(answered), float(taken), int(p99), after - before, int(p50))
