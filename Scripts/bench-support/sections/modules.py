"""The benchmarks of single modules, which print rows of tables."""

import os
import subprocess

from process import BenchError, end_with_parent

SECONDS_MAX = 600


def run(bench):
    rows = measured(bench)
    bench.report.line("Single modules in one process, alternating, medians of 21 rounds.")
    # The second row only separates the header.
    bench.report.table(rows[0], rows[2:])


def measured(bench, *names):
    """Returns the rows of the table that the benchmarks of these names print; of all without a name."""
    done = subprocess.run(
        [bench.modules, *names],
        # Its databases end with the section, also if the section is killed.
        env={**os.environ, "TMPDIR": bench.folder},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
        preexec_fn=end_with_parent,
    )
    if done.returncode != 0:
        raise BenchError(f"{bench.modules} ended with {done.returncode}")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in done.stdout.splitlines()
        if line.startswith("|")
    ]
    if len(rows) < 3:
        raise BenchError(f"{bench.modules} printed no table:\n{done.stdout}")
    return rows
