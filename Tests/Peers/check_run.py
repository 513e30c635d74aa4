"""Runs the checks of a folder, one after the other, and counts the results.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]
"""

import argparse
import contextlib
import pathlib
import sys
import time
import traceback


def run(name, about, checks, opening):
    """Calls each of `checks` with the result of `opening(binary, folder)`, entered if it is a context
    manager. Ends the process: with 1 if a check failed."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--tally", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True, parents=True)
    chosen = [check for check in checks if arguments.only in check.__name__]
    failed = 0
    with contextlib.ExitStack() as stack:
        site = opening(arguments.binary.resolve(), arguments.folder.resolve())
        if hasattr(site, "__enter__"):
            site = stack.enter_context(site)
        for check in chosen:
            began = time.monotonic()
            try:
                check(site)
                print(f"{check.__name__}: {time.monotonic() - began:.1f} s")
            except Exception:
                failed += 1
                print(f"FAILED {name}: {check.__name__}\n{traceback.format_exc()}")
    if arguments.tally:
        with arguments.tally.open("a") as tally:
            tally.write(f"{len(chosen) - failed} {failed}\n")
    sys.exit(failed > 0)
