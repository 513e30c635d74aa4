#!/usr/bin/env python3
"""Runs a cluster under clients and disturbs it, then checks the history.

  nemesis.py --binary LARDER [--seed S] [--runs N] [--seconds T] [--nodes N] [--lease 2s] [--only NAME]… [--keep FOLDER]

Run n has seed S + n. What is done when is the seed's choice; what coincides in time is not, so a seed that found a
violation may need some repetitions. A run with violations leaves its folder: the history (history.jsonl), the nodes'
logs, and the report. `--only` restricts the faults, by the names of their classes in faults.py. The exit status is 1 if
there was a violation.

Needs PostgreSQL; clocks are moved if libfaketime is there, and disks are filled if it runs as root. What is left out
is printed.
"""

import argparse
import contextlib
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback

import checker
import history
from faults import WEIGHTS, ClockJump, FullDisk, forget_clocks, with_movable_clock, with_small_disk
from nodes import Cluster
from workload import Workload

QUIET_SECONDS = 2.0
GAP_SECONDS = (0.3, 2.5)
# A second fault at the same time.
TOGETHER = 0.3
HEAL_SECONDS_MAX = 60


class Nemesis(threading.Thread):
    """Begins and ends faults, as a seed says, until it is told to stop; then it undoes everything."""

    def __init__(self, cluster, recorder, seed, kinds):
        super().__init__(name="nemesis", daemon=True)
        self.cluster, self.recorder, self.kinds = cluster, recorder, kinds
        self.chance = random.Random(f"{seed}/nemesis")
        self.over = threading.Event()
        self.done, self.fault = [], None
        # Nodes that have ended although nothing ended them.
        self.ended = []

    def run(self):
        try:
            self.over.wait(QUIET_SECONDS)
            while not self.over.is_set():
                self.disturb()
                self.over.wait(self.chance.uniform(*GAP_SECONDS))
        except Exception as error:
            self.fault = error

    def disturb(self):
        lease = self.cluster.lease_seconds
        faults = []
        for _ in range(2 if self.chance.random() < TOGETHER else 1):
            kind = self.chance.choices(list(self.kinds), list(self.kinds.values()))[0]
            if any(isinstance(other, kind) for other in faults):
                continue
            fault = kind(self.cluster, self.chance)
            with contextlib.suppress(OSError):
                if told := fault.begin():
                    if isinstance(fault, ClockJump):
                        self.recorder.note("clock", node=fault.node.name, seconds=fault.seconds)
                    self.tell(f"{kind.__name__}: {told}")
                    faults.append(fault)
        # Shorter than a lease, about one, or longer.
        self.over.wait(self.chance.choice([0.3, lease * 0.9, lease * 1.5, lease * 2.5]))
        self.note_ended_nodes(faults)
        for fault in faults:
            fault.end()
            self.tell(f"{type(fault).__name__}: over")

    def note_ended_nodes(self, faults):
        concerned = [fault.node for fault in faults]
        for node in self.cluster.nodes:
            if node.process is not None and node.process.poll() is not None and node not in concerned:
                self.ended.append(f"{node.name} ended by itself with status {node.process.returncode}: {node.tail()}")
                node.process = None

    def tell(self, what):
        self.done.append(what)
        self.recorder.trouble(what)

    def heal(self):
        """Waits for the present fault to end, and repairs what is left."""
        self.over.set()
        self.join(HEAL_SECONDS_MAX)
        assert not self.is_alive(), "the nemesis does not end"
        self.cluster.network.heal()
        self.cluster.upstream.switch("up")
        for node in self.cluster.nodes:
            if node.is_paused:
                node.resume()
            if not node.is_running:
                node.launch()
        for node in self.cluster.nodes:
            node.wait_until_ready()
        if self.cluster.postgres:
            self.cluster.wait_for_leader(seconds=HEAL_SECONDS_MAX)
        if self.fault:
            raise self.fault


def kinds_of(names):
    known = {kind.__name__: kind for kind in WEIGHTS}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no fault {', '.join(unknown)}; there are {', '.join(known)}")
    return {known[name]: WEIGHTS[known[name]] for name in names} if names else dict(WEIGHTS)


def play(binary, folder, seed, seconds, nodes, lease, names, told=print):
    """One run. Returns its violations as texts."""
    kinds = kinds_of(names)
    with Cluster(binary, folder, nodes, with_standby=True, lease=lease) as cluster:
        has_clocks = [with_movable_clock(node) for node in cluster.nodes]
        if not all(has_clocks):
            kinds.pop(ClockJump, None)
            told("left out: ClockJump, libfaketime is not there")
        if not with_small_disk(cluster, cluster.nodes[seed % nodes]):
            kinds.pop(FullDisk, None)
            told("left out: FullDisk, needs root")
        cluster.start()
        cluster.wait_for_leader()
        workload = Workload(cluster, folder / "history.jsonl", seed).start()
        nemesis = Nemesis(cluster, workload.recorder, seed, kinds)
        nemesis.start()
        nemesis.over.wait(seconds)
        found = []
        try:
            nemesis.heal()
            workload.stop()
            workload.conclude()
        except AssertionError as error:
            # What was recorded until then is checked as well.
            found.append(f"does not settle: {error}")
            workload.recorder.close()
        found += [f"node ended: {text}" for text in nemesis.ended]
    forget_clocks()
    calls = history.read(folder / "history.jsonl")
    found += map(str, checker.violations(calls))
    told(f"  {len(nemesis.done) // 2} faults; {checker.summary(calls)}")
    if found:
        report = ["faults:", *nemesis.done, "", "violations:", *found]
        (folder / "report.txt").write_text("\n".join(report) + "\n")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--lease", default="2s")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    # So that what was started is ended.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    kinds_of(arguments.only)
    root = arguments.keep or pathlib.Path(tempfile.mkdtemp(prefix="larder-nemesis-"))
    bad = []
    for seed in range(arguments.seed, arguments.seed + arguments.runs):
        folder = root / f"seed-{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        began = time.monotonic()
        try:
            found = play(arguments.binary.resolve(), folder, seed, arguments.seconds, arguments.nodes, arguments.lease,
                         arguments.only)
        except Exception:
            found = [traceback.format_exc()]
        took = time.monotonic() - began
        if found:
            bad.append(seed)
            print(f"VIOLATED seed {seed} ({took:.0f} s), in {folder}", flush=True)
            for text in found[:12]:
                print(f"  {text[:1500]}", flush=True)
            print(f"  {len(found)} in all; again with: nemesis.py --seed {seed} --seconds {arguments.seconds:g} "
                  f"--nodes {arguments.nodes} --lease {arguments.lease}", flush=True)
        else:
            print(f"ok       seed {seed} ({took:.0f} s)", flush=True)
            if not arguments.keep:
                shutil.rmtree(folder, ignore_errors=True)
    print(f"{arguments.runs - len(bad)} runs without a violation, {len(bad)} with: {bad}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
