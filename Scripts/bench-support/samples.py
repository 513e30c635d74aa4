"""Where a process spends its CPU time, by the source files of its code: samples of perf's CPU clock, with the
functions that the compiler inlined."""

import collections
import os
import shutil
import subprocess

from process import BenchError, end_with_parent

FREQUENCY = 4_000
RECORD_SECONDS_MAX = 60
SYMBOLIZER_SECONDS_MAX = 300


class Samples:
    """The samples of one recording."""

    def __init__(self, total, clock, stacks):
        # All samples, the kernel's included.
        self.total = total
        # Those in the kernel's code that reads clocks without a system call (vdso(7)).
        self.clock = clock
        # For each stack of inlined frames, each `function file`: the number of samples there.
        self._stacks = stacks

    def count(self, is_wanted):
        """The samples with a frame that `is_wanted(function, file)` accepts."""
        return sum(n for frames, n in self._stacks.items() if any(is_wanted(*frame) for frame in frames))


class Sampler:
    """Records for some seconds from the context's beginning, or a little later: perf takes time to start. An idle
    process gives no samples, so the context should make load as long as `is_recording`."""

    def __init__(self, process, program, folder, seconds):
        self._process, self._program, self._seconds = process, program, seconds
        self._file = os.path.join(folder, "samples.data")

    @staticmethod
    def missing():
        """The tools that are missing here."""
        return [tool for tool in ("perf", "llvm-symbolizer") if not shutil.which(tool)]

    def __enter__(self):
        self._perf = subprocess.Popen(
            ["perf", "record", "--quiet", "-e", "cpu-clock", "-F", str(FREQUENCY), "-p", str(self._process.pid),
             "-o", self._file, "--", "sleep", str(self._seconds)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=end_with_parent,
        )
        return self

    @property
    def is_recording(self):
        return self._perf.poll() is None

    def __exit__(self, *_):
        try:
            self._error = self._perf.communicate(timeout=RECORD_SECONDS_MAX)[1].decode(errors="replace").strip()
        except subprocess.TimeoutExpired as error:
            self._perf.kill()
            self._perf.wait()
            raise BenchError("perf does not end") from error

    def samples(self):
        """Returns the samples; the process must still run."""
        if not os.path.exists(self._file):
            raise BenchError(f"perf recorded nothing: {self._error}")
        done = subprocess.run(
            ["perf", "script", "-i", self._file, "-F", "ip"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )
        addresses = collections.Counter(int(word, 16) for word in done.stdout.split())
        if not addresses:
            raise BenchError(f"perf recorded nothing: {self._error or done.stderr.strip()}")
        start, end = self._range(os.path.realpath(self._program))
        clock = range(*self._range("[vdso]"))
        own = sorted(address for address in addresses if start <= address < end)
        stacks = collections.Counter()
        for address, frames in zip(own, self._frames([address - start for address in own])):
            stacks[frames] += addresses[address]
        clock = sum(n for address, n in addresses.items() if address in clock)
        return Samples(sum(addresses.values()), clock, stacks)

    def _range(self, path):
        """The addresses at which a file is loaded."""
        ranges = []
        with open(f"/proc/{self._process.pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                fields = line.split(maxsplit=5)
                if len(fields) == 6 and fields[5].strip() == path:
                    ranges += [int(bound, 16) for bound in fields[0].split("-")]
        if not ranges:
            raise BenchError(f"{path} is not loaded by process {self._process.pid}")
        return min(ranges), max(ranges)

    def _frames(self, offsets):
        """The inlined frames at each offset into the program, the innermost first."""
        done = subprocess.run(
            ["llvm-symbolizer", f"--obj={self._program}", "--inlines", "--functions=linkage", "--no-demangle"],
            input="".join(f"{offset:#x}\n" for offset in offsets),
            capture_output=True, text=True, timeout=SYMBOLIZER_SECONDS_MAX, check=False,
        )
        blocks = done.stdout.strip().split("\n\n")
        if done.returncode != 0 or len(blocks) != len(offsets):
            raise BenchError(f"llvm-symbolizer read {len(blocks)} of {len(offsets)} addresses: {done.stderr.strip()}")
        return [_frames(block.split("\n")) for block in blocks]


def _frames(lines):
    """Functions and places alternate."""
    return tuple((lines[at], lines[at + 1].rsplit(":", 2)[0]) for at in range(0, len(lines) - 1, 2))
