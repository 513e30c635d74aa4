"""Runs sections of the benchmark one after another. `Scripts/bench` is how to start it."""

import argparse
import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import machine
from process import BenchError, Process
from report import Report

SECTIONS = {
    "hit": "Fresh hit",
    "observing": "Metrics and traces of a fresh hit",
    "tls": "Fresh hit over TLS",
    "beside": "Fresh hit beside long reads",
    "miss": "Miss",
    "collapse": "Identical misses at once",
    "start": "Start",
    "live": "Waiting streams, and empty deltas",
    "subscriptions": "Events of upstream, and webhooks",
    "graphql": "GraphQL clients, and live streams of many subjects",
    "files": "Files",
    "encryption": "Encryption at rest",
    "queue": "Sync queue",
    "idle": "At rest, and idle connections",
    "push": "Notifications",
    "modules": "Modules",
    "search": "Search",
    "clients": "Client libraries",
    "cluster": "Several nodes",
}
# Above what all sections take together: no part of it may keep running unnoticed.
RUN_SECONDS_MAX = 60 * 60


class Bench:
    """The environment of a section: the programs, the duration of a measurement, the report."""

    def __init__(self, arguments, report):
        self.larder = arguments.larder
        self.hummingbird = arguments.hummingbird
        self.varnish = arguments.varnish
        self.modules = arguments.modules
        self.compiler = arguments.compiler
        self.client = arguments.client
        self.client_builds = arguments.client_builds
        self.rounds = arguments.rounds
        self.seconds = arguments.seconds
        self.report = report
        self.folder = None
        self._processes = None

    @contextlib.contextmanager
    def section(self):
        """A folder and processes that end with the section, however it ends."""
        self.folder = tempfile.mkdtemp(prefix="larder-bench-")
        try:
            with contextlib.ExitStack() as self._processes:
                yield
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, argv, log, environment=None):
        """Starts a program that lives as long as the section."""
        return self.enter(Process(argv, os.path.join(self.folder, log), environment))

    def enter(self, context):
        """Enters a context that lasts as long as the section."""
        return self._processes.enter_context(context)


def main():
    arguments = _arguments()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    signal.alarm(RUN_SECONDS_MAX)
    report = Report()
    report.heading("Larder: benchmarks", level=1)
    for line in machine.description(arguments.larder):
        report.line(f"* {line}")
    bench = Bench(arguments, report)
    failed = [name for name in arguments.sections if not _run(bench, name)]
    if arguments.markdown:
        report.write(arguments.markdown)
    return 1 if failed else 0


def _run(bench, name):
    bench.report.heading(f"{SECTIONS[name]} (`{name}`)")
    try:
        with bench.section():
            importlib.import_module(f"sections.{name}").run(bench)
    except (BenchError, OSError, subprocess.SubprocessError) as error:
        bench.report.line(f"Not measured: {error}")
        return False
    return True


def _arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--larder")
    parser.add_argument("--hummingbird")
    parser.add_argument("--varnish", action="store_true")
    parser.add_argument("--modules")
    parser.add_argument("--compiler")
    parser.add_argument("--client")
    parser.add_argument("--client-builds", action="store_true")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--markdown")
    parser.add_argument("sections", nargs="+", choices=SECTIONS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
