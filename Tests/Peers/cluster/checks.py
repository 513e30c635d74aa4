"""Several nodes on one PostgreSQL: a short set of checks, one trouble at a time. nemesis.py does many at once.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

Rules are those of DESIGN.md in Sources/Cluster. What is left out, and why, is printed.
"""

import contextlib
import http.client
import pathlib
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
import checker  # noqa: E402
import front  # noqa: E402
import history  # noqa: E402
import pooler  # noqa: E402
from asking import eventually  # noqa: E402
from check_run import run  # noqa: E402
from load import Line, Load, is_miss  # noqa: E402
from three_nodes import LEASE, Site  # noqa: E402
from workload import Workload, fill  # noqa: E402

LEASE_SECONDS = float(LEASE.removesuffix("s"))
MISSES_AFTER_SECONDS = LEASE_SECONDS + 1
# What one slow request on a busy machine takes.
SLACK_SECONDS = 1.5
HANDOVER_SECONDS_MAX = 1.0
CUT_OFF_SECONDS_MAX = 5
CALLERS = 30
WORKLOAD_SECONDS = 6
STREAK = 20


def the_checker_finds_faults(_):
    for name in ("checker_tests", "network_tests"):
        done = subprocess.run([sys.executable, "-B", "-m", "unittest", "-q", name], cwd=HERE, capture_output=True,
                              text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


def nodes_start_in_any_order(site):
    """Also before PostgreSQL."""
    site.cluster.postgres.primary.stop()
    for node in reversed(site.nodes):
        node.launch()
    time.sleep(0.5)
    for node in site.nodes:
        assert node.is_running, f"{node.name} ended without PostgreSQL: {node.tail()}"
    site.cluster.postgres.primary.start()
    site.started()
    rows = site.cluster.postgres.sql(f"SELECT url FROM {site.cluster.table('node')} ORDER BY url")
    assert sorted(row[0] for row in rows) == sorted(node.url for node in site.nodes), rows


def every_node_serves_everything(site):
    leader, replicas = site.started()
    fill(replicas[0])
    device = site.device(replicas[1])
    for value, node in enumerate([*replicas, leader, *replicas], 1):
        body, fields = site.submission("c20", value)
        accepted = node.ask("POST", "/v1/mutations", body, {**device, **fields})
        assert accepted.status == 202, accepted
        for other in site.nodes:
            shown = other.ask("GET", "/v1/entities/Counter/c20",
                              headers={**device, "Sync-Cursor": accepted.json["cursor"]})
            assert shown.status == 200 and shown.json["value"] == value, (node.name, other.name, str(shown))
            replayed = other.ask("POST", "/v1/mutations", body, {**device, **fields})
            assert replayed.status == 202 and replayed.json["id"] == accepted.json["id"], (str(accepted), str(replayed))
            assert replayed.headers.get("idempotency-replayed") == "true", replayed
    ended = replicas[0].ask("GET", f"/v1/mutations/{accepted.json['id']}?wait=10", headers=device)
    assert ended.json["state"] == "applied", ended
    for node in site.nodes:
        draft = node.ask("PUT", f"/v1/entities/Draft/{node.name}", {"number": 7}, device)
        assert draft.status == 201, draft
        assert node.ask("GET", f"/v1/entities/Draft/{node.name}", headers=device).status == 200, node.name


def identical_misses_are_one_call(site):
    """Rule 5: on all nodes together."""
    site.started()
    site.cluster.upstream.switch("slow")
    before = site.cluster.upstream.calls().get("Counter", 0)
    statuses = []

    def caller(node):
        statuses.append(node.ask("GET", "/v1/operations/Counter?id=c30").status)

    threads = [threading.Thread(target=caller, args=(site.nodes[number % 3],)) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * CALLERS, statuses
    calls = site.cluster.upstream.calls()["Counter"] - before
    assert calls == 1, f"{calls} calls for {CALLERS} identical misses"
    for node in site.nodes:
        eventually(lambda node=node: "hit" in node.ask("GET", "/v1/operations/Counter?id=c30").cache, "a hit")


def ended_credentials_are_refused_everywhere(site):
    """Rule 3, as soon as the response is there."""
    leader, replicas = site.started()
    for node in [leader, *replicas]:
        device = site.device(node)
        for other in site.nodes:
            assert other.ask("GET", "/v1/devices/me", headers=device).status == 200, (node.name, other.name)
        rotated = node.ask("POST", "/v1/devices/me/rotate", headers=device)
        assert rotated.status == 200, rotated
        new = {"Device-Token": rotated.json["deviceToken"]}
        for other in site.nodes:
            assert other.ask("GET", "/v1/devices/me", headers=device).status == 401, (node.name, other.name)
            assert other.ask("GET", "/v1/devices/me", headers=new).status == 200, (node.name, other.name)
        account = {"email": f"{site.mark()}@example.com", "password": "a long password"}
        session = node.ask("POST", "/v1/auth/sign-up", account).json
        bearer = {"Authorization": f"Bearer {session['accessToken']}"}
        for other in site.nodes:
            assert other.ask("GET", "/v1/auth/me", headers=bearer).status == 200, (node.name, other.name)
        refresh = {"refreshToken": session["refreshToken"]}
        assert node.ask("POST", "/v1/auth/sign-out", refresh).status == 204
        for other in site.nodes:
            assert other.ask("POST", "/v1/auth/refresh", refresh).status == 401, (node.name, other.name)


def disabled_accounts_are_refused_everywhere(site):
    """On all nodes when the response is there, also where responses are cached for the tokens; and served again."""
    leader, replicas = site.started()
    nodes = [leader, *replicas]
    for number, node in enumerate(nodes):
        account = {"email": f"{site.mark()}@example.com", "password": "a long password"}
        session = node.ask("POST", "/v1/auth/sign-up", account).json
        bearer = {"Authorization": f"Bearer {session['accessToken']}"}
        device = site.device(node)
        assert node.ask("GET", "/v1/devices/me", headers={**bearer, **device}).status == 200
        ways = (bearer, device, {**bearer, **device})

        def codes(ways=ways):
            return {
                (answer.status, (answer.json or {}).get("code"))
                for other in nodes for way in ways for target in ("/v1/operations/Counter?id=c30", "/v1/changes")
                for answer in [other.ask("GET", target, headers=way)]
            }

        for _ in range(3):
            assert codes() == {(200, None)}, (node.name, codes())
        ended = []
        streams = [
            threading.Thread(target=_read_to_the_end, args=(other.port, way, ended), daemon=True)
            for other in nodes for way in ways
        ]
        for stream in streams:
            stream.start()
        eventually(lambda streams=streams, ended=ended: ended.count("open") == len(streams), "the streams are open")
        target = f"/v1/admin/users/{session['userId']}"
        acting, other = nodes[number], nodes[number - 1]
        assert acting.admin("POST", f"{target}/disable").status == 200
        assert codes() == {(403, "account_disabled")}, (acting.name, codes())
        refresh = {"refreshToken": session["refreshToken"]}
        for each in nodes:
            assert each.ask("POST", "/v1/auth/refresh", refresh).status == 403, each.name
        eventually(lambda streams=streams, ended=ended: ended.count("ended") == len(streams), "the streams have ended")
        assert other.admin("POST", f"{target}/enable").status == 200
        assert codes() == {(200, None)}, (other.name, codes())
        assert acting.ask("POST", "/v1/auth/refresh", refresh).status == 200


def _read_to_the_end(port, headers, ended):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/v1/changes/stream?since=now", headers=headers)
        response = connection.getresponse()
        assert response.status == 200, response.status
        response.read1(1)
        ended.append("open")
        while response.read1(65_536):
            pass
        ended.append("ended")


def purged_responses_are_gone_everywhere(site):
    site.started()
    target = "/v1/operations/Counter?id=c29"
    for purging in site.nodes:
        for node in site.nodes:
            eventually(lambda node=node: "hit" in node.ask("GET", target).cache, "a hit")
        before = site.cluster.upstream.calls()["Counter"]
        assert purging.admin("POST", "/v1/admin/purge", {"operation": "Counter"}).status == 200
        for node in site.nodes:
            node.ask("GET", target)
            assert site.cluster.upstream.calls()["Counter"] > before, f"{node.name} serves what {purging.name} purged"


def without_postgres_reads_go_on(site):
    """Rules 2 and 8."""
    leader, replicas = site.started()
    fill(leader)
    device = site.device(leader)
    body, fields = site.submission("c21", 1)
    cursor = leader.ask("POST", "/v1/mutations", body, {**device, **fields}).json["cursor"]
    for node in site.nodes:
        answer = node.ask("GET", "/v1/entities/Counter/c21", headers={**device, "Sync-Cursor": cursor})
        assert answer.status == 200, answer
    site.cluster.postgres.primary.stop()
    for node in [*replicas, leader]:
        anonymous = node.ask("GET", "/v1/entities/Counter/c21")
        assert anonymous.status == 200, (node.name, str(anonymous))
        body, fields = site.submission("c21", 2)
        refused = node.ask("POST", "/v1/mutations", body, {**device, **fields})
        assert refused.status == 503 and "retry-after" in refused.headers, (node.name, str(refused))
    for node in replicas:
        shown = node.ask("GET", "/v1/entities/Counter/c21", headers={**device, "Sync-Cursor": cursor})
        is_refused = shown.status == 503 and "retry-after" in shown.headers
        assert is_refused or (shown.status == 200 and shown.json["value"] == 1), (node.name, str(shown))
        plain = node.ask("GET", "/v1/entities/Counter/c21", headers=device)
        assert plain.status == 200 and plain.json["value"] == 1, (node.name, str(plain))
        # It needs a moment to notice.
        eventually(lambda node=node: "cut-off" in node.ask("GET", "/v1/entities/Counter/c21", headers=device).cache,
                   f"{node.name} says that it is cut off", CUT_OFF_SECONDS_MAX)
    site.cluster.postgres.primary.start()
    site.started()
    eventually(lambda: leader.ask("POST", "/v1/mutations", body, {**device, **fields}).status == 202, "a 202 again")


def a_node_that_is_cut_off_shows_no_less_than_the_cursor(site):
    """Rules 2 and 4: it waits, passes on, or refuses."""
    leader, replicas = site.started()
    fill(leader)
    device = site.device(leader)
    network, behind = site.cluster.network, replicas[0]
    eventually(lambda: behind.ask("GET", "/v1/devices/me", headers=device).status == 200, "the device")
    for value, (name, mode) in enumerate([("pg", "cut"), ("pg", "hang"), ("all", "cut"), ("all", "hang")], 1):
        others = ["pg"] if name == "pg" else ["pg", leader.name, replicas[1].name]
        network.isolate(behind.name, others, mode)
        print(f"{behind.name} and {name}: {mode}")
        body, fields = site.submission("c26", value)
        cursor = leader.ask("POST", "/v1/mutations", body, {**device, **fields}).json["cursor"]
        shown = behind.ask("GET", "/v1/entities/Counter/c26", headers={**device, "Sync-Cursor": cursor})
        is_refused = shown.status == 503 and "retry-after" in shown.headers
        assert is_refused or (shown.status == 200 and shown.json["value"] == value), (name, mode, str(shown))
        began = time.monotonic()
        plain = behind.ask("GET", "/v1/entities/Counter/c27")
        assert plain.status == 200, (name, mode, str(plain))
        assert time.monotonic() - began < SLACK_SECONDS, (name, mode)
        network.heal()
        eventually(lambda cursor=cursor: behind.ask(
            "GET", "/v1/entities/Counter/c26", headers={**device, "Sync-Cursor": cursor}).status == 200, "it catches up")


def a_killed_leader_is_replaced(site):
    """Rule 7: 202s and reads go on, misses come back within the lease and a second."""
    leader, replicas = site.started()
    fill(leader)
    device = site.device(leader)
    for node in replicas:
        eventually(lambda node=node: node.ask("GET", "/v1/devices/me", headers=device).status == 200, "the device")
    cached = "/v1/operations/Counter?id=c23"
    for node in replicas:
        eventually(lambda node=node: "hit" in node.ask("GET", cached).cache, "a hit")

    def mutation(number):
        body, fields = site.submission("c22", number)
        return replicas[number % 2].port, "POST", "/v1/mutations", body, {**device, **fields}

    reads = Line("hit", lambda number: (replicas[number % 2].port, "GET", cached, None, None))
    entities = Line("read", lambda number: (replicas[number % 2].port, "GET", "/v1/entities/Counter/c22", None, device))
    accepted = Line("202", mutation, lambda answer: answer.status == 202)
    missed = Line("miss", lambda number: (
        replicas[number % 2].port, "GET", "/v1/operations/Notes", None, {"Cache-Control": "no-cache"}), is_miss)
    epoch = site.cluster.epoch()
    with Load(reads, entities, accepted, missed):
        for line in (reads, entities, accepted, missed):
            eventually(lambda line=line: line.count_after(0) >= STREAK, f"{line.name} works before")
        leader.kill()
        killed = time.monotonic()
        eventually(lambda: missed.count_after(killed) >= STREAK, "misses come back")
        for line in (reads, entities, accepted):
            eventually(lambda line=line: line.count_after(killed) >= STREAK, f"{line.name} goes on")
    seconds = missed.seconds_without(killed)
    print(f"misses came back {seconds:.2f} s after kill -9 of the leader, with a lease of {LEASE_SECONDS:g} s")
    assert not reads.failures + entities.failures + accepted.failures, (
        reads.failures + entities.failures + accepted.failures)[:5]
    assert seconds <= MISSES_AFTER_SECONDS + SLACK_SECONDS, seconds
    assert site.cluster.epoch() > epoch
    leader.start()
    assert site.cluster.leader() in replicas
    ids = [told.json["id"] for _, _, is_good, told in accepted.results if is_good]
    eventually(lambda: leader.ask("GET", f"/v1/mutations/{ids[-1]}", headers=device).json["state"] == "applied",
               "the last mutation is applied, as the former leader sees it")
    marks = [effect["mark"] for effect in site.cluster.upstream.effects() if effect["counter"] == "c22"]
    assert len(marks) == len(set(marks)) == len(ids), (len(marks), len(set(marks)), len(ids))


def a_paused_leader_cannot_write(site):
    """It sleeps longer than its lease, and another node leads when it wakes."""
    leader, _ = site.started()
    device = site.device(leader)
    leader.pause()
    next_leader = site.cluster.wait_for_leader(other_than=leader)
    body, fields = site.submission("c24", 1)
    assert next_leader.ask("POST", "/v1/mutations", body, {**device, **fields}).status == 202
    leader.resume()
    body, fields = site.submission("c24", 2)
    answer = eventually(
        lambda: leader.ask("POST", "/v1/mutations", body, {**device, **fields}, 5), "the former leader answers")
    assert answer.status in (202, 503), answer
    eventually(lambda: leader.ask("POST", "/v1/mutations", body, {**device, **fields}).status == 202, "a 202")
    assert site.cluster.leader() is next_leader
    for node in site.nodes:
        eventually(lambda node=node: node.ask("GET", "/v1/entities/Counter/c24", headers=device).json["value"] == 2,
                   f"{node.name} shows both")


def a_rolling_restart_fails_no_request(site):
    """Every node drains in turn, the leader too, under load through nginx without stickiness."""
    if front.program() is None:
        print("left out: nginx is not there")
        return
    leader, _ = site.started()
    fill(leader)
    device = site.device(leader)
    for node in site.nodes:
        eventually(lambda node=node: node.ask("GET", "/v1/devices/me", headers=device).status == 200, "the device")
    with front.Front(site.cluster.folder / f"front-{site.mark()}", site.nodes) as balancer:
        port = balancer.port

        def mutation(number):
            body, fields = site.submission("c25", number)
            return port, "POST", "/v1/mutations", body, {**device, **fields}

        load = Load(
            Line("hit", lambda _: (port, "GET", "/v1/operations/Counter?id=c23", None, None)),
            Line("read", lambda _: (port, "GET", "/v1/entities/Counter?limit=100", None, device)),
            Line("202", mutation),
            Line("miss", lambda _: (port, "GET", "/v1/operations/Notes", None, {"Cache-Control": "no-cache"})),
            Line("write", lambda number: (port, "PUT", "/v1/entities/Draft/rolling", {"number": number}, device)))
        with load:
            for node in [leader, *(node for node in site.nodes if node is not leader)]:
                load.wait_for(STREAK)
                assert node.stop() == 0, node.tail()
                site.cluster.wait_for_leader(other_than=node)
                node.start()
            load.wait_for(STREAK)
    assert not load.failures, f"{len(load.failures)} failed: {load.failures[:5]}"


def a_leader_that_drains_is_replaced_at_once(site):
    """A planned handover does not wait for the lease to expire."""
    leader, replicas = site.started()
    missed = Line("miss", lambda number: (
        replicas[number % 2].port, "GET", "/v1/operations/Notes", None, {"Cache-Control": "no-cache"}), is_miss)
    with Load(missed):
        eventually(lambda: missed.count_after(0) >= STREAK, "misses work before")
        began = time.monotonic()
        assert leader.stop() == 0, leader.tail()
        stopped = time.monotonic()
        eventually(lambda: missed.count_after(stopped) >= STREAK, "misses work after")
    seconds = missed.seconds_without(began)
    print(f"misses waited {seconds:.2f} s when the leader drained")
    assert not missed.failures, missed.failures[:5]
    assert seconds <= HANDOVER_SECONDS_MAX + SLACK_SECONDS, seconds
    leader.start()


def a_node_with_other_operations_does_not_lead(site):
    leader, replicas = site.started()
    other = replicas[0]
    project = site.cluster.folder / "other-project"
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, other, "project", other.project)
        assert other.stop() == 0
        subprocess.run(["cp", "-R", site.cluster.project, project], check=True)
        file = project / "operations/counters.graphql"
        file.write_text(file.read_text() + "\nquery More { notes { id } }\n")
        other.project = project
        other.start()
        assert other.ask("GET", "/v1/entities/Counter/c23").status == 200
        replicas[1].kill()
        leader.kill()
        time.sleep(2 * LEASE_SECONDS)
        assert site.cluster.leader() is None, "a node with other operations leads"
        assert other.ask("GET", "/v1/entities/Counter/c23").status == 200
        replicas[1].start()
        found = site.cluster.wait_for_leader()
        assert found is replicas[1], f"{found.name} leads: {found.tail()}"
        assert other.stop() == 0
    other.start()


def a_pooler_is_reported(site):
    """PgBouncer in transaction mode gives each transaction another session: no LISTEN, no lease session."""
    if pooler.program() is None:
        print("left out: pgbouncer is not there")
        return
    _, replicas = site.started()
    node = replicas[0]
    with pooler.Pooler(site.cluster.postgres) as bouncer:
        status, output = node.command(
            "doctor", f"--set=cluster.postgres=postgres://larder@127.0.0.1:{bouncer.port}/larder")
    assert "pooler" in output.lower(), (status, output)
    _, output = node.command("doctor")
    assert "pooler" not in output.lower(), output


def clients_of_all_nodes_see_one_service(site):
    """Some seconds of all clients without trouble; then all nodes hold equal databases."""
    site.started()
    path = site.cluster.folder / "history.jsonl"
    workload = Workload(site.cluster, path, seed=1).start()
    time.sleep(WORKLOAD_SECONDS)
    workload.stop()
    workload.conclude()
    calls = history.read(path)
    print(checker.summary(calls))
    found = checker.violations(calls)
    assert not found, f"{len(found)} violations: " + "\n".join(map(str, found[:10]))


def nodes_are_equal(site):
    """After all of the above, table by table."""
    site.started()
    site.equal()


if __name__ == "__main__":
    run("cluster", __doc__, [
        the_checker_finds_faults,
        nodes_start_in_any_order,
        every_node_serves_everything,
        identical_misses_are_one_call,
        ended_credentials_are_refused_everywhere,
        disabled_accounts_are_refused_everywhere,
        purged_responses_are_gone_everywhere,
        without_postgres_reads_go_on,
        a_node_that_is_cut_off_shows_no_less_than_the_cursor,
        a_killed_leader_is_replaced,
        a_paused_leader_cannot_write,
        a_leader_that_drains_is_replaced_at_once,
        a_rolling_restart_fails_no_request,
        a_node_with_other_operations_does_not_lead,
        a_pooler_is_reported,
        clients_of_all_nodes_see_one_service,
        nodes_are_equal,
    ], Site)
