"""Counts a program's allocations, by a library preloaded into it."""

import os
import subprocess

from process import BenchError

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allocations.c")
COUNT_BYTES = 8


class AllocationCount:
    """The library, built into a folder, and the count of the one program it is given to."""

    def __init__(self, compiler, folder):
        library = os.path.join(folder, "allocations.so")
        self._path = os.path.join(folder, "allocations")
        built = subprocess.run(
            [compiler, "-O2", "-shared", "-fPIC", "-fno-builtin", "-o", library, SOURCE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if built.returncode != 0:
            raise BenchError(f"{compiler} cannot build {SOURCE}:\n{built.stdout}")
        self.environment = {"LD_PRELOAD": library, "BENCH_ALLOCATIONS": self._path}

    def read(self):
        with open(self._path, "rb") as file:
            return int.from_bytes(file.read(COUNT_BYTES), "little")
