"""The time that a miss adds to upstream's own: the same operation sent to both, in turn."""

import json
import statistics

import servers
from connection import Connection, request
from process import BenchError
from report import Goal, median_text

PAIRS_PER_ROUND = 200
WARM_UP_PAIRS = 50

# The operation as Larder sends it: with the fields that identify objects.
DOCUMENT = """query BenchFilm($id: ID!) {
  film(id: $id) {
    __typename id title year synopsis country runtimeMinutes rating { average votes }
  }
}"""


def run(bench):
    films = servers.Films(bench, "miss")
    larder = films.ready_larder()
    direct, through, added, cpu = [], [], [], []
    number = 0
    with Connection(films.upstream_port) as upstream, Connection(larder.port) as gateway:
        for turn in range(bench.rounds + 1):
            pairs, used = [], larder.own_cpu_seconds()
            for _ in range(PAIRS_PER_ROUND if turn else WARM_UP_PAIRS):
                number += 1
                pairs.append(_pair(upstream, gateway, f"f{number}", number % 2 == 0))
            # The first round warms both.
            if turn:
                direct.append(_p50(pair[0] for pair in pairs))
                through.append(_p50(pair[1] for pair in pairs))
                added.append(_p50(pair[1] - pair[0] for pair in pairs))
                cpu.append((larder.own_cpu_seconds() - used) / len(pairs) * 1e3)
    bench.report.line(
        f"One connection to each, one request at a time, {PAIRS_PER_ROUND} films a round asked of "
        f"both in turn, each film once; {bench.rounds} rounds, medians of their p50."
    )
    bench.report.table(
        ["", "p50 ms"],
        [
            ["the demo upstream alone", median_text(direct, 3)],
            ["a miss through Larder", median_text(through, 3)],
        ],
    )
    bench.report.goals(
        [
            Goal("p50 that a miss adds", added, unit="ms", most=1, digits=3),
            Goal("Larder's CPU time a miss", cpu, unit="ms", digits=3),
        ]
    )


def _pair(upstream, gateway, film, upstream_first):
    """The seconds of the same request, to upstream and to Larder."""
    body = json.dumps(
        {"query": DOCUMENT, "operationName": "BenchFilm", "variables": {"id": film}}
    ).encode()
    accept = {"Accept": "application/graphql-response+json, application/json"}
    asked = [
        (upstream, request("POST", "/graphql", accept, body)),
        (gateway, request("GET", f"/api/bench/films/{film}", {"Cache-Control": "no-cache"})),
    ]
    times = [0.0, 0.0]
    for at in (0, 1) if upstream_first else (1, 0):
        connection, message = asked[at]
        answer, times[at] = connection.timed(message)
        status = answer.fields.get("cache-status", "fwd")
        if answer.status != 200 or "fwd" not in status or film.encode() not in answer.body:
            raise BenchError(f"no miss: {answer.status} {answer.fields} {answer.body[:300]}")
    return times


def _p50(seconds):
    return statistics.median(seconds) * 1e3
