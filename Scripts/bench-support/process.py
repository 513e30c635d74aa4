"""Processes that the benchmarks start: each is watched and ended by its own id."""

import ctypes
import os
import signal
import subprocess
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
END_SECONDS_MAX = 15
PR_SET_PDEATHSIG = 1
CPUCLOCK_SCHED = 2

libc = ctypes.CDLL(None)


class BenchError(Exception):
    """A failure that keeps a section from being measured."""


def end_with_parent():
    """Ends the calling process when its parent ends, however that happens."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Process:
    """A program under measurement, with its output in a file."""

    # The port it serves, and the client's context if that is TLS.
    port = None
    tls = None

    def __init__(self, argv, log, environment=None):
        self.log = log
        # Settings come from the benchmark only.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("LARDER_")
        } | (environment or {})
        with open(log, "ab") as output:
            self.started = time.perf_counter()
            self._popen = subprocess.Popen(
                argv,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_parent,
            )
        self.pid = self._popen.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self._popen.poll() is None:
            self._popen.terminate()
            try:
                self._popen.wait(END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self._popen.kill()
        self._popen.wait()

    def kill(self):
        """Ends it at once, by SIGKILL."""
        self._popen.kill()
        self._popen.wait()

    def check(self):
        """Raises if the process has ended."""
        if self._popen.poll() is not None:
            raise BenchError(f"{self._popen.args[0]} has ended: {self.last_words()}")

    def last_words(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-2000:].strip() or "it wrote nothing"

    def cpu_seconds(self):
        """User and system time of all its threads and of its children, ended ones included."""
        return sum(_ticks(pid) for pid in self._family()) / TICKS_PER_SECOND

    def own_cpu_seconds(self):
        """As cpu_seconds, of this process alone, but in nanosecond steps instead of ticks."""
        # The kernel's id of a process's CPU clock: clock_getcpuclockid(3) is not in Python.
        return time.clock_gettime((~self.pid << 3) | CPUCLOCK_SCHED)

    def memory(self):
        """Resident bytes: all, and the private ones without a file."""
        found = {}
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                name, _, value = line.partition(":")
                if name in ("VmRSS", "RssAnon"):
                    found[name] = int(value.split()[0]) * 1024
        return found["VmRSS"], found["RssAnon"]

    def peak_memory(self):
        """The maximum of resident bytes so far."""
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        raise BenchError(f"the system does not tell of process {self.pid}")

    def pin(self, core):
        """Pins all its threads, present and future, to one core."""
        for pid in self._family():
            for task in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(task), core)

    def _family(self):
        family = [self.pid]
        for pid in family:
            for task in os.listdir(f"/proc/{pid}/task"):
                family.extend(_children(pid, task))
        return family


def _children(pid, task):
    try:
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
            return [int(child) for child in children.read().split()]
    except FileNotFoundError:
        # A thread that has ended since they were listed.
        return []


def _ticks(pid):
    """utime, stime, cutime and cstime: fields 14 to 17 of /proc/PID/stat (proc(5))."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        # The name, field 2, may hold spaces and parentheses; nothing after it does.
        fields = stat.read().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15])
