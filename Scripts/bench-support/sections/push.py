"""Many notifications to many: how soon they are taken, and what the process grows by."""

import json
import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal

NOTIFICATIONS = 1_000
USER_IDS = 2_000
ADMIN = "bench-" * 8
SETTLE_SECONDS = 2
SECONDS_MAX = 120
MEBIBYTE = 1024 * 1024


def run(bench):
    films = servers.Films(bench, "push")
    larder = films.ready_larder("push", more_settings=f"admin: {{token: {ADMIN}}}\n")
    time.sleep(SETTLE_SECONDS)
    rest, _ = larder.memory()
    ids = [f"auth0|{number:024x}" for number in range(USER_IDS)]
    times = []
    start = time.perf_counter()
    with Connection(larder.port) as connection:
        for number in range(NOTIFICATIONS):
            response, seconds = connection.timed(_notification(number, ids))
            if response.status != 202:
                raise BenchError(f"answered with {response.status}: {response.body[:300]}")
            times.append(seconds * 1e3)
        last = json.loads(response.body)["id"]
        taken = time.perf_counter() - start
        _await_end(connection, last, start + SECONDS_MAX)
        left = time.perf_counter() - start
    peak = larder.peak_memory()
    bench.report.line(
        f"{NOTIFICATIONS:,} notifications to {USER_IDS:,} ids each, one after the other on one "
        "connection, each on disk before it is answered; the outbox takes them in batches."
    )
    bench.report.goals(
        [
            Goal("a notification taken", times, unit="ms"),
            Goal("until all were taken", [taken], unit="s"),
            Goal("until all had left", [left], unit="s"),
            Goal("resident at rest", [rest / MEBIBYTE], unit="MiB", digits=1),
            Goal("resident at most", [peak / MEBIBYTE], unit="MiB", most=64, digits=1),
        ]
    )


def _notification(number, ids):
    body = json.dumps({"chatId": f"c{number}", "userIds": ids, "text": "Hello"}).encode()
    fields = {"Authorization": f"Bearer {ADMIN}", "Idempotency_Key": f"n-{number}"}
    return request("POST", "/v1/push/notifications", fields, body)


def _await_end(connection, notification, deadline):
    """Until the last one has left; those before it went first."""
    while time.perf_counter() < deadline:
        answer = connection.get(
            f"/v1/push/notifications/{notification}", Authorization=f"Bearer {ADMIN}"
        )
        if "settledAt" in json.loads(answer.body):
            return
        time.sleep(0.01)
    raise BenchError(f"notifications were still waiting after {SECONDS_MAX} s")
