#!/usr/bin/env python3
"""Runs the scenarios of client libraries; README.md describes them and the driver protocol.

  run.py --binary LARDER --driver "COMMAND…" [--scenario NAME]…
         [--kill-after-each-step | --cut-everywhere | --cuts N --seed S | --random N --seed S] [--jobs N] [--may-skip] [--keep] [--list]
  run.py --binary LARDER --self-test
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import pathlib
import random
import shutil
import sys
import tempfile
import time
import traceback

from cut_scenarios import play_cut
from cuts import CLASSES, Cut
from driver import DriverFault
from random_scenarios import play
from self_test import self_test
from steps import Steps, listed
from world import World

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = f"{sys.executable} {HERE / 'reference.py'}"


class Skipped(Exception):
    """The driver lacks a verb."""


@dataclasses.dataclass
class Failed:
    """A scenario that failed, and why: an expectation was not met, or driver or runner broke."""

    name: str
    text: str
    is_expectation: bool


class Suite:
    """One driver, and the results of what it played."""

    def __init__(self, arguments, command):
        self.binary = arguments.binary.resolve()
        self.command = command
        self.may_skip = arguments.may_skip
        self.keep = arguments.keep
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="conformance-"))
        self.passed, self.failed, self.skipped = [], [], []
        # The requests of each scenario, by name.
        self.requests = {}
        self.unreached = []

    def play(self, name, settings, steps, quiet=False):
        """Plays one scenario: `steps(world)` carries it out."""
        began = time.monotonic()
        folder = self.root / name.replace(" ", "-").replace("/", "-")
        world = None
        try:
            with World(self.binary, self.command, folder, settings) as world:
                steps(world)
            self.passed.append(name)
            if not quiet:
                print(f"ok       {name} ({time.monotonic() - began:.1f} s)", flush=True)
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)
        except Skipped as lacking:
            self.skipped.append(name)
            print(f"skipped  {name}: {lacking}", flush=True)
        except Exception as error:
            self.failed.append(Failed(name, str(error), isinstance(error, AssertionError)))
            if not quiet:
                self.report(name, world, error, time.monotonic() - began, folder)

    def report(self, name, world, error, seconds, folder):
        lines = [f"FAILED   {name} ({seconds:.1f} s)"]
        is_told = isinstance(error, (AssertionError, DriverFault))
        lines.append(f"  {error}" if is_told else "".join(traceback.format_exception(error)))
        if world:
            lines += ["  requests of the driver:", listed(world.proxy.requests)]
        log = folder / "driver.log"
        if log.exists() and log.stat().st_size:
            lines.append("  the driver's standard error:\n" + log.read_text()[-1500:])
        print("\n".join(lines), flush=True)

    def scenario(self, name, scenario, kill_at=None, quiet=False):
        title = name if kill_at is None else f"{name}, killed after step {kill_at}"

        def steps(world):
            self.check_verbs(world, scenario)
            one = Steps(world)
            for number, step in enumerate(scenario["steps"]):
                try:
                    one.step(step)
                except (AssertionError, DriverFault) as error:
                    told = json.dumps(step, ensure_ascii=False)[:400]
                    raise type(error)(f"step {number}, {told}:\n  {error}") from None
                if kill_at in (number, "each") and can_kill_after(scenario["steps"], number):
                    world.driver.restart()

        self.play(title, scenario.get("settings", {}), steps, quiet)

    def check_verbs(self, world, scenario):
        """Raises Skipped if the driver lacks a verb that the scenario needs, and may."""
        for verb in scenario.get("needs", []):
            reply = world.driver.call({"do": verb, "name": "?", "key": "?"})
            if self.may_skip and reply.get("error", {}).get("code") == "unsupported":
                raise Skipped(verb)

    def cut(self, name, scenario, number=None, kind=None, quiet=False):
        """Plays a scenario with its request of that number cut; without a number it counts the requests."""
        title = f"{name}, request {number} cut {kind}" if number else f"{name}, without a cut"

        def steps(world):
            self.check_verbs(world, scenario)
            cut = Cut(number, kind) if number else None
            count = play_cut(world, scenario, cut)
            if cut is None:
                self.requests[name] = count
            elif not cut.is_done:
                self.unreached.append(title)

        self.play(title, scenario.get("settings", {}), steps, quiet)

    def random(self, seed, quiet=False):
        self.play(f"random, seed {seed}", {}, lambda world: play(world, random.Random(seed)), quiet)

    def close(self):
        if not self.keep:
            shutil.rmtree(self.root, ignore_errors=True)
        else:
            print(f"kept in {self.root}")


def can_kill_after(steps, number):
    """Whether a kill after a step leaves the scenario as it is: not while a subject is live."""
    opened = sum((step.get("do") == "live") - (step.get("do") == "unlive") for step in steps[: number + 1])
    return opened == 0


def scenarios(names):
    found = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "scenarios").glob("*.json"))}
    unknown = [name for name in names if name not in found]
    if unknown:
        sys.exit(f"no scenario {', '.join(unknown)}; there are {', '.join(found)}")
    return {name: found[name] for name in names or found}


def tasks(arguments, chosen):
    """What there is to play, as (method, arguments)."""
    if arguments.random:
        return [("random", (arguments.seed + n,)) for n in range(arguments.random)]
    if not arguments.kill_after_each_step:
        return [("scenario", (name, one)) for name, one in chosen.items()]
    found = []
    for name, one in chosen.items():
        found.append(("scenario", (name, one, "each")))
        found += [("scenario", (name, one, number)) for number, step in enumerate(one["steps"])
                  if "do" in step and can_kill_after(one["steps"], number)]
    return found


def cuts(suite, arguments, chosen):
    """The cuts to play: all, or a sample; each scenario is played without one first, which counts its requests."""
    chance = random.Random(arguments.seed)
    sample = [chance.choice(list(chosen)) for _ in range(arguments.cuts)]
    names = [name for name in chosen if not sample or name in sample]
    perform(suite, arguments.jobs, [("cut", (name, chosen[name])) for name in names])
    every = {name: [("cut", (name, chosen[name], number + 1, kind)) for number in range(suite.requests[name])
                    for kind in CLASSES] for name in names if suite.requests.get(name)}
    if sample:
        return [chance.choice(every[name]) for name in sample if name in every]
    return [one for some in every.values() for one in some]


def perform(suite, jobs, found):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(getattr(suite, method), *values) for method, values in found]
        for future in futures:
            future.result()


def run(suite, arguments, chosen):
    is_cut = arguments.cut_everywhere or arguments.cuts
    perform(suite, arguments.jobs, cuts(suite, arguments, chosen) if is_cut else tasks(arguments, chosen))
    suite.close()
    return suite


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--driver", default=REFERENCE)
    parser.add_argument("--scenario", action="append", default=[])
    played = parser.add_mutually_exclusive_group()
    played.add_argument("--kill-after-each-step", action="store_true")
    played.add_argument("--cut-everywhere", action="store_true")
    played.add_argument("--cuts", type=int, default=0)
    played.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--may-skip", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    chosen = scenarios(arguments.scenario)
    if arguments.list:
        for name, one in chosen.items():
            print(f"{name}: {one['about']}")
        return 0
    if not arguments.binary:
        parser.error("--binary is required")
    is_good = self_test(functools.partial(Suite, arguments), scenarios) if arguments.self_test else True
    suite = run(Suite(arguments, arguments.driver), arguments, chosen)
    print(f"{len(suite.passed)} passed, {len(suite.failed)} failed, {len(suite.skipped)} skipped")
    for one in suite.failed:
        print(f"  failed: {one.name}")
    for title in suite.unreached:
        print(f"  the request did not come: {title}")
    # Neither a scenario whose requests were counted nor one whose cut did not come proves anything.
    is_played = len(suite.passed) > len(suite.requests) + len(suite.unreached)
    return 0 if is_good and is_played and not suite.failed else 1


if __name__ == "__main__":
    sys.exit(main())
