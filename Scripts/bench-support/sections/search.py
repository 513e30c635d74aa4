"""Searches of a million texts for common and for rare words, beside FTS5's full ranking."""

from sections import modules


def run(bench):
    rows = modules.measured(bench, "search")
    bench.report.line("Searches in one process, alternating with FTS5, medians of 11 rounds.")
    bench.report.table(rows[0], rows[2:])
