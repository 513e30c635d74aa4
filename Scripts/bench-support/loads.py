"""The results of a load on a process."""

import os

from process import end_with_parent


class Load:
    def __init__(
        self, requests, seconds, p99_microseconds, cpu_seconds, p50_microseconds=None
    ):
        self.requests = requests
        self.per_second = requests / seconds
        self.p50_microseconds = p50_microseconds
        self.p99_microseconds = p99_microseconds
        self.cpu_microseconds = cpu_seconds / requests * 1e6


def begin(cores=None):
    """For the process that makes the load, which can be pinned to some cores."""
    end_with_parent()
    if cores:
        os.sched_setaffinity(0, cores)
