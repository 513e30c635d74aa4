"""Load by wrk: closed loop, keep-alive connections."""

import re
import subprocess

from loads import Load, begin
from process import BenchError

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def load(process, path, *, seconds, connections=64, threads=2, fields=None, script=None):
    """Runs wrk on one path of a process's port, and measures the process's CPU time.

    `script` names a Lua file that makes the requests.
    """
    argv = ["wrk", "--latency", f"-t{min(threads, connections)}", f"-c{connections}"]
    argv.append(f"-d{seconds}s")
    for name, value in (fields or {}).items():
        argv += ["-H", f"{name}: {value}"]
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
        preexec_fn=begin,
    )
    after = process.cpu_seconds()
    if done.returncode != 0:
        raise BenchError(f"wrk failed:\n{done.stdout}")
    return _measured(done.stdout, after - before)


def _measured(output, cpu_seconds):
    found = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m)", output)
    if not found or found[1] == "0":
        raise BenchError(f"wrk did nothing:\n{output}")
    if wrong := re.search(r"Non-2xx.*|Socket errors.*[1-9].*", output):
        raise BenchError(f"wrk met errors: {wrong[0]}")
    tail = re.search(r"\n\s+99%\s+([\d.]+)(us|ms|s|m)", output)
    return Load(
        int(found[1]),
        float(found[2]) * UNITS[found[3]],
        float(tail[1]) * UNITS[tail[2]] * 1e6,
        cpu_seconds,
    )
