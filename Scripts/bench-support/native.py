"""Builds the C sources beside this file."""

import os
import subprocess

from process import BenchError

SUPPORT = os.path.dirname(os.path.abspath(__file__))


def build(compiler, name, folder, *options):
    """Builds NAME.c into the folder. Returns the path of the result."""
    if not compiler:
        raise BenchError(f"there is no C compiler here for {name}.c")
    path = os.path.join(folder, name)
    done = subprocess.run(
        [compiler, "-O2", *options, "-o", path, os.path.join(SUPPORT, f"{name}.c")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"{compiler} cannot build {name}.c:\n{done.stdout}")
    return path
