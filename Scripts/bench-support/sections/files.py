"""Files: downloads and nginx, small objects and fresh hits, uploads and dd with sha256sum."""

import os
import subprocess
import threading
import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text, ratios
from sections.hit import PATH as HIT_PATH
from sections.hit import Contestant, fill
from wrk import load

ADMIN = "bench-" * 8
SETTINGS = f"""admin: {{token: {ADMIN}}}
files:
  buckets:
    pics: {{access: public-read}}
"""
MEBIBYTE = 1024 * 1024
LARGE_BYTES = 100 * MEBIBYTE
SMALL_BYTES = 1024
UPLOAD_BYTES = 1024 * MEBIBYTE
UPLOAD_ROUNDS = 3
DOWNLOAD_CONNECTIONS = 4
MEMORY_SECONDS = 0.02


def run(bench):
    films = servers.Films(bench, "files")
    larder = films.ready_larder(more_settings=SETTINGS)
    large = os.urandom(MEBIBYTE) * (LARGE_BYTES // MEBIBYTE)
    put(larder, "/v1/files/pics/large", large)
    put(larder, "/v1/files/pics/small", os.urandom(SMALL_BYTES))
    nginx = servers.nginx(bench, b"")
    _link_object(films.folder, os.path.join(bench.folder, "nginx", "static", "object"))
    _show_downloads(bench, larder, nginx)
    _show_small(bench, larder)
    _show_uploads(bench, larder)


def put(larder, path, body):
    fields = {"Authorization": f"Bearer {ADMIN}", "Content-Length": len(body)}
    with Connection(larder.port) as connection:
        connection.socket.sendall(request("PUT", path, fields))
        connection.socket.sendall(body)
        answer = connection.receive()
    if answer.status not in (200, 201):
        raise BenchError(f"PUT {path}: {answer.status} {answer.body[:300]}")


def _link_object(folder, path):
    """Gives nginx the same file: the way in which it was cached decides the cost of sending it."""
    for parent, _, names in os.walk(folder):
        for name in names:
            found = os.path.join(parent, name)
            if os.path.getsize(found) == LARGE_BYTES:
                os.link(found, path)
                os.chmod(path, 0o644)
                return
    raise BenchError("the object's file is nowhere")


def _show_downloads(bench, larder, nginx):
    contestants = [
        Contestant("Larder, object on disk", larder, "/v1/files/pics/large"),
        Contestant("nginx, sendfile", nginx, "/object"),
    ]
    for turn in range(bench.rounds):
        for one in contestants if turn % 2 else contestants[::-1]:
            one.loads.append(
                load(one.process, one.path, seconds=bench.seconds, connections=DOWNLOAD_CONNECTIONS)
            )
    larder, nginx = contestants
    bench.report.line(
        f"An object of 100 MiB, both from its file, {DOWNLOAD_CONNECTIONS} connections, "
        f"{bench.rounds} rounds of {bench.seconds} s each in turn, medians."
    )
    bench.report.table(
        ["", "MiB/s", "CPU µs/MiB"],
        [
            [
                one.name,
                median_text([100 * per_second for per_second in one.throughput], 0),
                median_text([cpu / 100 for cpu in one.cpu], 1),
            ]
            for one in contestants
        ],
    )
    bench.report.goals(
        [
            Goal(
                "download, Larder : nginx", ratios(larder.throughput, nginx.throughput), least=0.9
            ),
            Goal("CPU of a download, Larder : nginx", ratios(larder.cpu, nginx.cpu), most=1.2),
        ]
    )


def _show_small(bench, larder):
    fill(larder)
    contestants = [
        Contestant("object of 1 KiB", larder, "/v1/files/pics/small"),
        Contestant("fresh hit", larder, HIT_PATH),
    ]
    for one in contestants:
        one.run(1)
    for turn in range(bench.rounds):
        for one in contestants if turn % 2 else contestants[::-1]:
            one.loads.append(one.run(bench.seconds))
    small, hit = contestants
    bench.report.line()
    bench.report.table(
        ["", "CPU µs/request", "requests/s"],
        [
            [one.name, median_text(one.cpu, 2), median_text(one.throughput, 0)]
            for one in contestants
        ],
    )
    bench.report.goals([Goal("CPU, object of 1 KiB : fresh hit", ratios(small.cpu, hit.cpu), most=1.5)])


def _show_uploads(bench, larder):
    source = os.path.join(bench.folder, "upload")
    block = os.urandom(MEBIBYTE)
    with open(source, "wb") as file:
        for _ in range(UPLOAD_BYTES // MEBIBYTE):
            file.write(block)
    uploads, copies, growth = [], [], []
    for turn in range(UPLOAD_ROUNDS):
        for is_upload in (True, False) if turn % 2 else (False, True):
            if is_upload:
                seconds, grown = _upload(larder, source)
                uploads.append(seconds)
                growth.append(grown / MEBIBYTE)
            else:
                copies.append(_copy(source))
    bench.report.line()
    bench.report.line(f"Uploads of 1 GiB, {UPLOAD_ROUNDS} rounds in turn:")
    bench.report.table(
        ["", "MiB/s"],
        [
            ["Larder, PUT", median_text([1024 / seconds for seconds in uploads], 0)],
            ["dd conv=fsync, then sha256sum", median_text([1024 / s for s in copies], 0)],
        ],
    )
    bench.report.goals(
        [
            Goal("upload, Larder : dd and sha256sum", ratios(copies, uploads), least=0.7),
            Goal("memory grown by an upload", growth, unit="MiB", most=16, digits=1),
        ]
    )


def _upload(larder, source):
    """The seconds, and the maximum growth of resident memory."""
    before, _ = larder.memory()
    peak, is_over = [before], threading.Event()

    def watch():
        while not is_over.wait(MEMORY_SECONDS):
            peak[0] = max(peak[0], larder.memory()[0])

    watcher = threading.Thread(target=watch)
    watcher.start()
    fields = {"Authorization": f"Bearer {ADMIN}", "Content-Length": UPLOAD_BYTES}
    try:
        start = time.perf_counter()
        with Connection(larder.port) as connection, open(source, "rb") as file:
            connection.socket.sendall(request("PUT", "/v1/files/pics/upload", fields))
            connection.socket.sendfile(file)
            answer = connection.receive()
        seconds = time.perf_counter() - start
    finally:
        is_over.set()
        watcher.join()
    if answer.status not in (200, 201):
        raise BenchError(f"an upload failed: {answer.status} {answer.body[:300]}")
    return seconds, peak[0] - before


def _copy(source):
    target = f"{source}-copy"
    start = time.perf_counter()
    for argv in (
        ["dd", f"if={source}", f"of={target}", "bs=1M", "conv=fsync", "status=none"],
        ["sha256sum", source],
    ):
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    os.remove(target)
    return seconds
