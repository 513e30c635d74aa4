"""Encryption at rest: reads, uploads and backups with `data.encryption`, and without it."""

import base64
import json
import os
import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from sections.files import ADMIN, MEBIBYTE, put
from sections.hit import Contestant
from wrk import load

SETTINGS = f"""admin: {{token: {ADMIN}}}
files:
  buckets:
    pics: {{access: public-read}}
"""
LARGE_BYTES = 100 * MEBIBYTE
# Above what is kept in memory, below a frame.
MIDDLE_BYTES = 48 * 1024
RANGE = "bytes=30000000-30099999"
CONNECTIONS = 4
UPLOADS = 3


def run(bench):
    films = servers.Films(bench, "encryption")
    key = base64.b64encode(os.urandom(32)).decode()
    plain = films.ready_larder(data="plain", more_settings=SETTINGS)
    sealed = films.ready_larder(
        data="sealed",
        environment={"LARDER_KEY": key, "LARDER_DATA_ENCRYPTION": "true"},
        more_settings=SETTINGS,
    )
    large = os.urandom(MEBIBYTE) * (LARGE_BYTES // MEBIBYTE)
    for larder in (plain, sealed):
        put(larder, "/v1/files/pics/large", large)
        put(larder, "/v1/files/pics/middle", large[:MIDDLE_BYTES])
    _check_range(plain, sealed)
    _show_reads(bench, plain, sealed)
    _show_writes(bench, plain, sealed, large)


def _check_range(plain, sealed):
    """Both must send the same octets, or their speeds cannot be compared."""
    bodies = []
    for larder in (plain, sealed):
        with Connection(larder.port) as connection:
            answer = connection.get("/v1/files/pics/large", Range=RANGE)
        if answer.status != 206:
            raise BenchError(f"a range: {answer.status} {answer.body[:300]}")
        bodies.append(answer.body)
    if bodies[0] != bodies[1]:
        raise BenchError("a range differs with and without encryption")


def _show_reads(bench, plain, sealed):
    kinds = [
        ("object of 100 MiB", "/v1/files/pics/large", 100),
        ("object of 48 KiB", "/v1/files/pics/middle", MIDDLE_BYTES / MEBIBYTE),
    ]
    rows, goals = [], []
    for name, path, mebibytes in kinds:
        contestants = [
            Contestant(f"{name}, plain", plain, path),
            Contestant(f"{name}, encrypted", sealed, path),
        ]
        for turn in range(bench.rounds):
            for one in contestants if turn % 2 else contestants[::-1]:
                one.loads.append(
                    load(one.process, one.path, seconds=bench.seconds, connections=CONNECTIONS)
                )
        for one in contestants:
            rows.append(
                [
                    one.name,
                    median_text([mebibytes * per_second for per_second in one.throughput], 0),
                    median_text([cpu / mebibytes for cpu in one.cpu], 1),
                ]
            )
        before, after = contestants
        goals.append(
            Goal(
                f"time of a read, {name}, encrypted : plain",
                ratios(before.throughput, after.throughput),
                most=1.5,
            )
        )
    bench.report.line(
        f"Whole objects, {CONNECTIONS} connections, {bench.rounds} rounds of {bench.seconds} s each in "
        "turn, medians."
    )
    bench.report.table(["", "MiB/s", "CPU µs/MiB"], rows)
    bench.report.goals(goals)
    times = {plain: [], sealed: []}
    for turn in range(200):
        for larder in (plain, sealed) if turn % 2 else (sealed, plain):
            with Connection(larder.port) as connection:
                start = time.perf_counter()
                connection.get("/v1/files/pics/large", Range=RANGE)
                times[larder].append((time.perf_counter() - start) * 1e6)
    bench.report.line()
    bench.report.goals(
        [
            Goal(
                "a range of 100,000 bytes, encrypted : plain",
                ratios(times[sealed], times[plain]),
                most=1.5,
            ),
            Goal("a range of 100,000 bytes, encrypted", times[sealed], unit="µs", digits=0),
        ]
    )


def _show_writes(bench, plain, sealed, large):
    uploads, backups = {plain: [], sealed: []}, {plain: [], sealed: []}
    for turn in range(UPLOADS):
        for larder in (plain, sealed) if turn % 2 else (sealed, plain):
            start = time.perf_counter()
            put(larder, f"/v1/files/pics/upload-{turn}", large)
            uploads[larder].append(time.perf_counter() - start)
            start = time.perf_counter()
            _back_up(larder, f"bench-{turn}")
            backups[larder].append(time.perf_counter() - start)
    bench.report.line()
    bench.report.line(f"Uploads of 100 MiB, and backups of a small database, {UPLOADS} of each in turn:")
    bench.report.goals(
        [
            Goal(
                "time of an upload, encrypted : plain",
                ratios(uploads[sealed], uploads[plain]),
            ),
            Goal(
                "time of a backup, encrypted : plain",
                ratios(backups[sealed], backups[plain]),
            ),
        ]
    )


def _back_up(larder, name):
    fields = {"Authorization": f"Bearer {ADMIN}"}
    body = json.dumps({"name": name}).encode()
    with Connection(larder.port) as connection:
        answer = connection.exchange(request("POST", "/v1/admin/backup", fields, body))
    if answer.status != 201:
        raise BenchError(f"a backup: {answer.status} {answer.body[:300]}")
