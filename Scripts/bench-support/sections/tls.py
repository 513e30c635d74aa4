"""Fresh hits over TLS, compared with nginx, and the memory of an idle TLS connection."""

import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, ratios
from sections.hit import PATH, WARM_UP_SECONDS, Contestant, check, fill, show_loads
from tls import Certificate, client_context

IDLE_CONNECTIONS = 1_000
SETTLE_SECONDS = 2
KIBIBYTE = 1024


def run(bench):
    certificate = Certificate(bench.folder)
    films = servers.Films(bench, "tls")
    larder = films.ready_larder(certificate=certificate)
    body, _ = fill(larder)
    contestants = [
        Contestant("Larder, 200", larder, PATH),
        Contestant("nginx, static file", servers.nginx(bench, body, certificate), "/answer"),
    ]
    ciphers = set()
    for contestant in contestants:
        check(contestant, body)
        with Connection(contestant.process.port, contestant.process.tls) as connection:
            ciphers.add(connection.socket.cipher()[:2])
        contestant.run(WARM_UP_SECONDS)
    if len(ciphers) != 1:
        raise BenchError(f"they do not speak the same: {ciphers}")
    for turn in range(bench.rounds):
        for contestant in contestants if turn % 2 else reversed(contestants):
            contestant.loads.append(contestant.run(bench.seconds))
    (cipher, version) = ciphers.pop()
    bench.report.line(
        f"{len(body):,} bytes of JSON, {version}, {cipher}, a P-256 key, 64 keep-alive connections "
        f"of wrk (2 threads), {bench.rounds} rounds of {bench.seconds} s each in turn, medians."
    )
    show_loads(bench.report, contestants)
    ours, theirs = contestants
    bench.report.goals(
        [
            Goal("CPU a request, Larder : nginx", ratios(ours.cpu, theirs.cpu), most=1),
            Goal("requests/s, Larder : nginx", ratios(ours.throughput, theirs.throughput)),
            _idle_memory(larder),
        ]
    )


def _idle_memory(larder):
    """The memory that connections add to a process that has served others."""
    before, _ = larder.memory()
    context = client_context()
    idle = []
    try:
        for _ in range(IDLE_CONNECTIONS):
            idle.append(Connection(larder.port, context))
            if idle[-1].exchange(request("GET", PATH)).status != 200:
                raise BenchError(f"connection {len(idle)} was refused")
        time.sleep(SETTLE_SECONDS)
        after, _ = larder.memory()
    finally:
        for connection in idle:
            connection.socket.close()
    grown = (after - before) / IDLE_CONNECTIONS / KIBIBYTE
    return Goal("an idle TLS connection", [grown], unit="KiB", most=24, digits=1)
