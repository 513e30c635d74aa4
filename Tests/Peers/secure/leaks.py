"""The descriptors and memory that a great many faulty connections leave in use in a service.

  leaks.py --binary LARDER --folder FOLDER [--count 1000000] [--tls]

starts a service in FOLDER, floods it and prints its descriptors and memory after each tenth. It
fails if something has grown with the number of connections. A million take some minutes, over TLS
half an hour.
"""

import argparse
import pathlib
import statistics
import sys
import time

import rude_clients
from service import Certificates, Service, eventually, trusting

CERTIFICATE = "tls:\n  certificate: ../first.pem\n  key: ../first.key\n"
# Silent clients must be disconnected before the next are counted.
DEADLINES = "limits: {handshakeDeadline: 2s, headDeadline: 2s}\n"
PARTS = 10
# One-time late allocations: tables, pages of each thread's arena.
WARM_UP = 6_000
# The smallest allocation of malloc is 32 bytes: one leak in four connections is found, with enough
# connections that the following noise is negligible.
BYTES_EACH_MAX = 8
# Pages that the allocator takes and returns at will, in one part of a flood.
NOISE_BYTES = 96 * 1024
# And its growth when more handshakes than ever before are in progress at once.
STEPS_BYTES = 4 * 1024 * 1024


class Growth:
    """The memory and descriptors of a service after each part of a flood."""

    def __init__(self, larder, context):
        self.memory, self.part = [], 0
        self._larder, self._context = larder, context
        self._hello = larder.client_hello() if context else None
        self._flood(WARM_UP, seed=1)
        assert eventually(lambda: larder.descriptors < 60), larder.descriptors
        self._descriptors = larder.descriptors

    def run(self, count, parts=PARTS, tell=None):
        """`count` connections in parts, and a measurement after each."""
        self.part = count // parts
        for number in range(parts):
            self._flood(self.part, seed=2 + number)
            larder = self._larder
            assert eventually(lambda: larder.descriptors <= self._descriptors), (
                f"{larder.descriptors} descriptors, {self._descriptors} before"
            )
            self.memory.append(larder.resident_bytes)
            if tell:
                tell((number + 1) * self.part, larder.descriptors, self.memory[-1])

    @property
    def bytes_each(self):
        """The median growth from one part to the next: a leak grows in each part, the
        allocator's steps are few."""
        grown = [after - before for before, after in zip(self.memory, self.memory[1:])]
        return statistics.median(grown) / self.part

    @property
    def bytes_each_in_all(self):
        return (self.memory[-1] - self.memory[0]) / self._total

    @property
    def _total(self):
        return self.part * (len(self.memory) - 1)

    def check(self):
        for found, noise in (
            (self.bytes_each, NOISE_BYTES / self.part),
            (self.bytes_each_in_all, STEPS_BYTES / self._total),
        ):
            assert found <= BYTES_EACH_MAX + noise, (
                f"{found:.1f} bytes for each connection, {BYTES_EACH_MAX + noise:.1f} allowed: "
                f"{[size // 1024 for size in self.memory]} KiB"
            )

    def _flood(self, count, seed):
        rude_clients.flood(self._larder.port, count, self._hello, self._context, seed)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--tls", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(exist_ok=True, parents=True)
    if arguments.tls:
        Certificates(folder).issue("first", "DNS:localhost")
    settings = DEADLINES + (CERTIFICATE if arguments.tls else "")
    began = time.monotonic()

    def tell(count, descriptors, memory):
        print(
            f"{count:>9,} connections, {time.monotonic() - began:,.0f} s: {descriptors} "
            f"descriptors, {memory / 1024:,.0f} KiB", flush=True,
        )

    with Service(arguments.binary.resolve(), folder / "service", settings) as larder:
        growth = Growth(larder, trusting() if arguments.tls else None)
        growth.run(arguments.count, tell=tell)
        print(
            f"{growth.bytes_each:+.2f} bytes for each connection from part to part, "
            f"{growth.bytes_each_in_all:+.2f} in all"
        )
        growth.check()


if __name__ == "__main__":
    sys.exit(main())
