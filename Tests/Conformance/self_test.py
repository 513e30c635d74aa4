"""The suite's own proof: each faulty driver fails the expectations that it says it fails, and for that reason."""

import pathlib
import re
import sys
import time

from faulty import CUT, FAULTS

FAULTY = f"{sys.executable} {pathlib.Path(__file__).resolve().parent / 'faulty.py'}"
# The seeds that are tried until one catches the fault.
RANDOM_SEEDS = range(1, 11)


def self_test(suite_of, scenarios):
    """True if each fault is caught. `suite_of(command)` makes a suite, `scenarios(names)` loads scenarios."""
    is_good = True
    for fault in FAULTS.values():
        suite = suite_of(f"{FAULTY} --fault {fault.name}")
        for name, scenario in scenarios(list(fault.caught_by)).items():
            began = time.monotonic()
            suite.scenario(name, scenario, "each" if fault.is_killed else None, quiet=True)
            is_good = verdict(fault, name, suite.failed, fault.caught_by[name], began) and is_good
            suite.failed.clear()
        if fault.by_cut:
            began, (name, number, kind) = time.monotonic(), CUT
            suite.cut(name, scenarios([name])[name], number, kind, quiet=True)
            is_good = verdict(fault, f"{name}, cut", suite.failed, fault.by_cut, began) and is_good
            suite.failed.clear()
        if fault.by_chance:
            began = time.monotonic()
            for seed in RANDOM_SEEDS:
                suite.random(seed, quiet=True)
                if any(is_caught(failed, fault.by_chance) for failed in suite.failed):
                    break
            is_good = verdict(fault, "random scenarios", suite.failed, fault.by_chance, began) and is_good
        suite.close()
    return is_good


def is_caught(failed, wanted):
    """Whether an expectation failed, and the wanted one: neither a driver that ends nor the runner catches anything."""
    return failed.is_expectation and re.search(wanted, failed.text, re.DOTALL) is not None


def verdict(fault, name, found, wanted, began):
    """Prints whether a fault was caught, and returns it."""
    caught = [failed for failed in found if is_caught(failed, wanted)]
    seconds = time.monotonic() - began
    print(f"{'caught' if caught else 'MISSED':8} {fault.name}: {fault.about} ({name}, {seconds:.1f} s)", flush=True)
    for failed in caught[:1]:
        print(f"           {failed.name}: {shortened(failed.text)}", flush=True)
    if not caught:
        print(f"           wanted: {wanted}", flush=True)
        for failed in found:
            kind = "an expectation" if failed.is_expectation else "no expectation"
            print(f"           {failed.name} ({kind}): {shortened(failed.text)}", flush=True)
    return bool(caught)


def shortened(text):
    return " ".join(text.split())[:400]
