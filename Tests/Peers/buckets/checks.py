"""Drives the S3 dialect of a running Larder with independent clients.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

One Larder serves all checks; each has buckets of its own.
"""

import pathlib
import sys

import boto
import commands
import rude
from running import Larder

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from check_run import run  # noqa: E402

CHECKS = boto.CHECKS + rude.CHECKS + commands.CHECKS


def opening(binary, folder):
    return Larder(binary, folder / "service")


if __name__ == "__main__":
    run("buckets", __doc__, CHECKS, opening)
