"""Counts a program's allocations, with a library preloaded into it."""

import os

import native

COUNT_BYTES = 8


class AllocationCount:
    """The library, built into a folder, and the count of the one program that loads it."""

    def __init__(self, compiler, folder):
        self._path = os.path.join(folder, "allocations-count")
        library = native.build(
            compiler, "allocations", folder, "-shared", "-fPIC", "-fno-builtin"
        )
        self.environment = {"LD_PRELOAD": library, "BENCH_ALLOCATIONS": self._path}

    def read(self):
        with open(self._path, "rb") as file:
            return int.from_bytes(file.read(COUNT_BYTES), "little")
