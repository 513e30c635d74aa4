"""Load by wrk: closed loop, keep-alive connections."""

import os
import re
import subprocess

from process import BenchError, end_with_parent

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


class Load:
    """What one run of wrk did to a process."""

    def __init__(self, output, cpu_seconds):
        found = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m)", output)
        if not found or found[1] == "0":
            raise BenchError(f"wrk did nothing:\n{output}")
        if wrong := re.search(r"Non-2xx.*|Socket errors.*[1-9].*", output):
            raise BenchError(f"wrk met errors: {wrong[0]}")
        self.requests = int(found[1])
        self.per_second = self.requests / (float(found[2]) * UNITS[found[3]])
        self.cpu_microseconds = cpu_seconds / self.requests * 1e6
        tail = re.search(r"\n\s+99%\s+([\d.]+)(us|ms|s|m)", output)
        self.p99_microseconds = float(tail[1]) * UNITS[tail[2]] * 1e6


def load(
    process, path, *, seconds, connections=64, threads=2, fields=(), cores=None, script=None
):
    """Has wrk ask for one path of a process's port, and takes the process's CPU time around it.

    `cores` keeps wrk on these; `script` names a Lua file that makes the requests.
    """
    argv = ["wrk", "--latency", f"-t{min(threads, connections)}", f"-c{connections}"]
    argv.append(f"-d{seconds}s")
    for field in fields:
        argv += ["-H", field]
    if script:
        argv += ["-s", script]
    before = process.cpu_seconds()
    scheme = "https" if process.tls else "http"
    done = subprocess.run(
        argv + [f"{scheme}://127.0.0.1:{process.port}{path}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds + 30,
        check=False,
        preexec_fn=lambda: _begin(cores),
    )
    after = process.cpu_seconds()
    if done.returncode != 0:
        raise BenchError(f"wrk failed:\n{done.stdout}")
    return Load(done.stdout, after - before)


def _begin(cores):
    end_with_parent()
    if cores:
        os.sched_setaffinity(0, cores)
