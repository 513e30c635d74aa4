"""Drives the S3 dialect of a running Larder by clients of other make.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

One Larder serves all checks; each has buckets of its own.
"""

import argparse
import pathlib
import sys
import time
import traceback

import boto
import commands
import rude
from running import Larder

CHECKS = boto.CHECKS + rude.CHECKS + commands.CHECKS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--tally", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    chosen = [check for check in CHECKS if arguments.only in check.__name__]
    failed = 0
    with Larder(arguments.binary.resolve(), arguments.folder.resolve() / "service") as larder:
        for check in chosen:
            began = time.monotonic()
            try:
                check(larder)
                print(f"{check.__name__}: {time.monotonic() - began:.1f} s")
            except Exception:
                failed += 1
                print(f"FAILED buckets: {check.__name__}\n{traceback.format_exc()}")
    if arguments.tally:
        with arguments.tally.open("a") as tally:
            tally.write(f"{len(chosen) - failed} {failed}\n")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
