"""commits.py FOLDER COUNT: prints the median seconds of a commit of one row, synchronous=FULL."""

import os
import sqlite3
import statistics
import subprocess
import sys
import time


def measured(folder, count, environment=None):
    """The median in a process of its own, with these additional variables."""
    done = subprocess.run(
        [sys.executable, os.path.abspath(__file__), folder, str(count)],
        env={**os.environ, **(environment or {})}, check=True, capture_output=True, text=True,
    )
    return float(done.stdout)


def main(folder, count):
    path = os.path.join(folder, "commits.sqlite")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, body TEXT)")
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        database.execute("INSERT INTO item (body) VALUES (?)", (" " * 500,))
        times.append(time.perf_counter() - begin)
    database.close()
    print(statistics.median(times))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
