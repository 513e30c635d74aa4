"""Fresh hits: Larder, nginx with a static file, Varnish, Hummingbird with one route, a bare loop.

The headline is of requests as phones send them, whose headers differ from one to the next; the same
request over and over is the second figure.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import servers
from allocations import AllocationCount
from connection import Connection, request
from generator import Generator
from process import BenchError, end_with_parent
from report import Goal, median_text, ratios
from wrk import load

PATH = "/api/bench/hit"
WARM_UP_SECONDS = 1
COUNTED_REQUESTS = 4_000
COUNTED_CONNECTIONS = 16
STRACE_SECONDS = 2
STRACE_START_SECONDS_MAX = 10


# What apps send: a request id and a trace of each request, an app and a language of each phone. Ten
# `#` are the number of the request; see generator.c.
APPS = (
    "Films/4.2.1 (iPhone17,1; iOS 26.1; Scale/3.00)",
    "Films/4.1.0 (iPad14,3; iPadOS 18.6; Scale/2.00)",
    "Dalvik/2.1.0 (Linux; U; Android 16; Pixel 9 Build/BP3A.250905.014)",
    "okhttp/5.1.0",
)
LANGUAGES = ("en-GB,en;q=0.9", "de-CH,de;q=0.9,fr;q=0.8", "ja-JP")


class Contestant:
    """A server and the path that is requested, by wrk or another load."""

    def __init__(self, name, process, path, fields=None, load=load):
        self.name, self.process, self.path, self.fields = name, process, path, fields
        self.loads = []
        self._load = load

    def run(self, seconds, **how):
        self.process.check()
        return self._load(self.process, self.path, seconds=seconds, fields=self.fields, **how)

    @property
    def cpu(self):
        return [done.cpu_microseconds for done in self.loads]

    @property
    def throughput(self):
        return [done.per_second for done in self.loads]


def run(bench):
    generator = Generator(bench.compiler, bench.folder)
    films = servers.Films(bench, "hit")
    larder = films.ready_larder()
    body, tag = fill(larder)
    nginx = servers.nginx(bench, body)
    floor = servers.floor(bench, whole_response(larder))

    def varied(process, path, *, fields, **how):
        return generator.send(process, phone_requests(path, fields), **how)

    contestants = [
        Contestant("Larder", larder, PATH, load=varied),
        Contestant("nginx, static file", nginx, "/answer", load=varied),
        Contestant("bare epoll loop", floor, "/answer", load=varied),
        Contestant("Larder, 304", larder, PATH, {"If-None-Match": tag}, varied),
        Contestant("Larder, one request repeated", larder, PATH, load=generator.load),
        Contestant("nginx, one request repeated", nginx, "/answer", load=generator.load),
    ]
    names = ("larder", "nginx", "floor", "unchanged", "repeated", "nginx_repeated")
    named = dict(zip(names, contestants))
    if bench.varnish:
        named["varnish"] = Contestant(
            "Varnish", servers.varnish(bench, nginx.port), "/answer", load=varied
        )
    if bench.hummingbird:
        other = servers.hummingbird(bench, body)
        named["hummingbird"] = Contestant(
            "Hummingbird 2.28.1, one route", other, "/answer", load=varied
        )
    contestants = list(named.values())
    for contestant in contestants:
        check(contestant, body)
        contestant.run(WARM_UP_SECONDS)
    for turn in range(bench.rounds):
        first = turn % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            contestant.loads.append(contestant.run(bench.seconds))
    _show(bench, named, len(body))
    _show_system_calls(bench, generator, larder)
    _show_allocations(bench, films)
    # Last, since they stay pinned.
    _show_one_core(bench, *contestants[:2])


def phone_requests(path, fields=None):
    """The requests of a dozen phones."""
    return [
        request(
            "GET",
            path,
            {
                "User_Agent": app,
                "Accept": "application/json",
                "Accept_Language": language,
                "X_Request_Id": f"{phone:08x}-9f3a-4c1e-8b7d-e5##########",
                "traceparent": f"00-{phone:022x}##########-{phone + 1:06x}##########-01",
                **(fields or {}),
            },
        )
        for phone, (app, language) in enumerate(
            ((app, language) for app in APPS for language in LANGUAGES), 0x1F00
        )
    ]


def whole_response(larder):
    """The bytes of a hit, head included."""
    with Connection(larder.port, larder.tls) as connection:
        response = connection.get(PATH)
    return response.head + b"\r\n\r\n" + response.body


def fill(larder):
    """Fetches and caches the response. Returns its bytes and its tag."""
    with Connection(larder.port, larder.tls) as connection:
        connection.get(PATH)
        answer = connection.get(PATH)
    if "hit" not in answer.fields.get("cache-status", ""):
        raise BenchError(f"no hit: {answer.status} {answer.fields} {answer.body[:300]}")
    json.loads(answer.body)
    return answer.body, answer.fields["etag"]


def check(contestant, body):
    """Expects the same bytes, or none, from all of them."""
    with Connection(contestant.process.port, contestant.process.tls) as connection:
        answer = connection.get(contestant.path, **(contestant.fields or {}))
    wanted = (304, b"") if contestant.fields else (200, body)
    if (answer.status, answer.body) != wanted:
        raise BenchError(f"{contestant.name} returned {answer.status}, {len(answer.body)} bytes")


def _show(bench, named, size):
    report = bench.report
    report.line(
        f"{size:,} bytes of JSON, 64 keep-alive connections, a generator of 2 threads, "
        f"{bench.rounds} rounds of {bench.seconds} s each in turn, medians. "
        "CPU is the server's own. Requests differ in request id, trace, app and language unless one is repeated."
    )
    show_loads(report, named.values())

    def cpu(one, other, most):
        name = f"CPU a request, {named[one].name} : {named[other].name}"
        return Goal(name, ratios(named[one].cpu, named[other].cpu), most=most)

    goals = [cpu("larder", "nginx", 0.75), cpu("larder", "floor", 1.3)]
    goals += [cpu("larder", "varnish", 0.5)] if "varnish" in named else []
    goals += [cpu("larder", "hummingbird", 0.4)] if "hummingbird" in named else []
    goals += [
        Goal(
            "requests/s, Larder : nginx",
            ratios(named["larder"].throughput, named["nginx"].throughput),
            least=1.3,
        ),
        cpu("unchanged", "larder", 1),
        cpu("repeated", "nginx_repeated", 0.75),
    ]
    report.goals(goals)


def show_loads(report, contestants):
    report.table(
        ["", "CPU µs/request", "requests/s", "p99 µs"],
        [
            [
                one.name,
                median_text(one.cpu, 2),
                median_text(one.throughput, 0),
                median_text([done.p99_microseconds for done in one.loads], 0),
            ]
            for one in contestants
        ],
    )


def _show_one_core(bench, larder, nginx):
    """The rate where the generator takes none of the server's time."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return
    for one in (larder, nginx):
        one.process.pin({cores[0]})
        one.loads = []
    for turn in range(bench.rounds):
        for one in (larder, nginx) if turn % 2 else (nginx, larder):
            one.loads.append(one.run(bench.seconds, threads=1, cores={cores[1]}))
    bench.report.line()
    bench.report.line("Each server on one core, the generator with one thread on another:")
    show_loads(bench.report, [larder, nginx])
    bench.report.goals(
        [
            Goal(
                "requests/s of one core, Larder : nginx",
                ratios(larder.throughput, nginx.throughput),
                least=1.3,
            )
        ]
    )


def _show_allocations(bench, films):
    count = AllocationCount(bench.compiler, bench.folder)
    larder = films.ready_larder("counted", environment=count.environment)
    fill(larder)
    message = request("GET", PATH)
    connections = [Connection(larder.port) for _ in range(COUNTED_CONNECTIONS)]
    try:
        _ask(connections, message, COUNTED_REQUESTS)
        if count.read() == 0:
            raise BenchError("no allocation was counted")
        once, twice = [], []
        for _ in range(bench.rounds):
            for times, counts in ((1, once), (2, twice)):
                before = count.read()
                _ask(connections, message, times * COUNTED_REQUESTS)
                counts.append(count.read() - before)
    finally:
        for connection in connections:
            connection.socket.close()
    bench.report.line()
    bench.report.line(
        f"Allocations of {COUNTED_REQUESTS:,} hits: {median_text(once, 0)}; of twice as many: "
        f"{median_text(twice, 0)}; medians of {bench.rounds} rounds."
    )
    grown = [max(0, two - one) / COUNTED_REQUESTS for one, two in zip(once, twice)]
    bench.report.goals([Goal("allocations a further hit", grown, most=0.01, digits=4)])


def _ask(connections, message, count):
    """Each connection in turn, with all their requests in progress at once."""
    for _ in range(count // len(connections)):
        for connection in connections:
            connection.socket.sendall(message)
        for connection in connections:
            if connection.receive().status != 200:
                raise BenchError("a hit was refused")


def _show_system_calls(bench, generator, larder):
    if not shutil.which("strace"):
        bench.report.line()
        bench.report.line("System calls: not counted, there is no strace here.")
        return
    goals, shares = [], []
    for connections in (64, 1):
        try:
            calls, requests = _system_calls(bench, generator, larder, connections)
        except BenchError as error:
            bench.report.line()
            bench.report.line(f"System calls: not counted, {error}")
            return
        name = f"system calls a request, connections: {connections}"
        goals.append(Goal(name, [sum(calls.values()) / requests], most=3.1))
        often = sorted(calls.items(), key=lambda call: -call[1])[:4]
        shares.append(
            f"{connections}: " + ", ".join(f"{name} {n / requests:.2f}" for name, n in often)
        )
    bench.report.goals(goals)
    bench.report.line()
    bench.report.line(f"System calls a request by connections: {'; '.join(shares)}.")


def _system_calls(bench, generator, larder, connections):
    """Counts by name, and the requests they served.

    The start and end of the generator are counted too: a few calls for each connection among tens
    of thousands.
    """
    summary = os.path.join(bench.folder, f"strace-{connections}")
    with open(f"{summary}.log", "w+", encoding="utf-8") as log:
        tracer = subprocess.Popen(
            ["strace", "-f", "-c", "-U", "calls,name", "-p", str(larder.pid), "-o", summary],
            stdin=subprocess.DEVNULL,
            stderr=log,
            preexec_fn=end_with_parent,
        )
        try:
            _wait_until_attached(tracer, larder, log.name)
            done = generator.load(
                larder, PATH, seconds=STRACE_SECONDS, connections=connections
            )
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.wait(STRACE_START_SECONDS_MAX)
    with open(summary, encoding="utf-8") as file:
        lines = re.findall(r"^\s*(\d+)\s+(\w+)\s*$", file.read(), re.MULTILINE)
    return {name: int(count) for count, name in lines if name != "total"}, done.requests


def _wait_until_attached(tracer, larder, log):
    """Waits until every thread is traced, by TracerPid in its status."""
    deadline = time.monotonic() + STRACE_START_SECONDS_MAX
    while time.monotonic() < deadline:
        if tracer.poll() is not None:
            with open(log, encoding="utf-8") as said:
                raise BenchError(f"strace says: {said.read().strip()}")
        tasks = os.listdir(f"/proc/{larder.pid}/task")
        if all(_is_traced(larder.pid, task) for task in tasks):
            return
        time.sleep(0.01)
    raise BenchError("strace does not attach")


def _is_traced(pid, task):
    try:
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as status:
            return "TracerPid:\t0\n" not in status.read()
    except FileNotFoundError:
        return True
