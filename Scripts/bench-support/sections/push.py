"""Many notifications to many users: the time until they are accepted, and the growth of the process.

Once into the outbox only, and once to a slow OneSignal, so that they accumulate.
"""

import json
import os
import sys
import time

import servers
from connection import Connection, request
from process import BenchError
from report import Goal

NOTIFICATIONS = 1_000
USER_IDS = 2_000
# The maximum of ids in one call of OneSignal.
BATCH_IDS = 2_000
ANSWER_SECONDS = 0.2
ADMIN = "bench-" * 8
SETTLE_SECONDS = 2
POLL_SECONDS = 0.05
PAGE_MAX = 200
SECONDS_MAX = 240
MEBIBYTE = 1024 * 1024


def run(bench):
    films = servers.Films(bench, "push")
    bench.report.line(
        f"{NOTIFICATIONS:,} notifications to {USER_IDS:,} ids each, one after the other on one "
        "connection, each on disk before it is answered; the outbox takes them in batches."
    )
    _measure(bench, films, "outbox", "")
    port = servers.free_port()
    script = os.path.join(servers.SUPPORT, "slow_onesignal.py")
    vendor = bench.start([sys.executable, script, str(port), str(ANSWER_SECONDS)], "vendor.log")
    servers.wait_until_ready(vendor, port, "/seen")
    bench.report.line()
    bench.report.line(
        f"The same to a OneSignal that responds to each batch after {ANSWER_SECONDS * 1e3:.0f} ms."
    )
    _measure(
        bench, films, "onesignal",
        f"push: {{sender: onesignal, url: 'http://127.0.0.1:{port}', appId: bench, apiKey: b}}\n",
    )
    _tell_seen(bench, port)


def _measure(bench, films, name, settings):
    larder = films.ready_larder(name, more_settings=f"admin: {{token: {ADMIN}}}\n{settings}")
    try:
        time.sleep(SETTLE_SECONDS)
        rest, _ = larder.memory()
        times, taken, left = _send(larder)
        peak = larder.peak_memory()
    finally:
        larder.stop()
    bench.report.goals(
        [
            Goal("a notification taken", times, unit="ms"),
            Goal("until all were taken", [taken], unit="s"),
            Goal("until all had left", [left], unit="s"),
            Goal("resident at rest", [rest / MEBIBYTE], unit="MiB", digits=1),
            Goal("resident at most", [peak / MEBIBYTE], unit="MiB", most=64, digits=1),
        ]
    )


def _send(larder):
    """Milliseconds of each, seconds until all were accepted and until all were sent."""
    ids = [f"auth0|{number:024x}" for number in range(USER_IDS)]
    times = []
    start = time.perf_counter()
    with Connection(larder.port) as connection:
        for number in range(NOTIFICATIONS):
            response, seconds = connection.timed(_notification(number, ids))
            if response.status != 202:
                raise BenchError(f"unexpected response: {response.status}: {response.body[:300]}")
            times.append(seconds * 1e3)
        taken = time.perf_counter() - start
        while not _have_all_left(connection):
            if time.perf_counter() > start + SECONDS_MAX:
                raise BenchError(f"notifications were still waiting after {SECONDS_MAX} s")
            time.sleep(POLL_SECONDS)
        return times, taken, time.perf_counter() - start


def _notification(number, ids):
    body = json.dumps({"chatId": f"c{number}", "userIds": ids, "text": "Hello"}).encode()
    fields = {"Authorization": f"Bearer {ADMIN}", "Idempotency_Key": f"n-{number}"}
    return request("POST", "/v1/push/notifications", fields, body)


def _have_all_left(connection):
    """Reads the outbox, the newest first, to the first pending notification."""
    count, after = 0, ""
    while count < NOTIFICATIONS:
        answer = connection.get(
            f"/v1/admin/push/notifications?limit={PAGE_MAX}{after}", Authorization=f"Bearer {ADMIN}"
        )
        items = json.loads(answer.body)["items"]
        if not items or any("settledAt" not in item for item in items):
            return False
        count += len(items)
        after = f"&after={items[-1]['id']}"
    return True


def _tell_seen(bench, port):
    """Expects every batch once at the vendor, none longer than allowed."""
    with Connection(port) as connection:
        seen = json.loads(connection.get("/seen").body)
    wanted = NOTIFICATIONS * -(-USER_IDS // BATCH_IDS)
    bench.report.goals(
        [
            Goal("requests at OneSignal", [seen["requests"]], most=wanted, digits=None),
            Goal("batches with keys of their own", [seen["keys"]], least=wanted, digits=None),
            Goal("ids in all", [seen["ids"]], least=NOTIFICATIONS * USER_IDS, digits=None),
            Goal("ids of the longest", [seen["largest"]], most=BATCH_IDS, digits=None),
            Goal("under way at once", [seen["at_once"]], digits=None),
        ]
    )
