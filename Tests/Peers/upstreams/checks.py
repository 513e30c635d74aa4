"""Larder in front of two GraphQL servers of other make at once: ariadne and strawberry on uvicorn.

Both have the type Item; the one of `right` is stored as Thing. Whatever happens to `right`, nothing
changes for `left`.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]
"""

import base64
import hashlib
import hmac
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

PEERS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PEERS), str(PEERS / "live")]

from check_run import run  # noqa: E402
from live_site import (  # noqa: E402
    END_SECONDS_MAX, HERE, HOOK_SECRET, EventStream, Server, Site, ask, free_port, holds,
)

ADMIN = "an-admin-token-of-32-characters-or-more"
PLAIN_SECRET = base64.b64encode(b"a secret of 32 octets, for tests").decode()
SETTINGS = """\
listen: 127.0.0.1:{port}
data: ./data
operations: ./operations
schemas: ./schemas
admin: {{token: {admin}}}
upstreams:
  left:
    url: {left}/
    timeout: 5s
{more_left}  right:
    url: {right}/
    timeout: 5s
    types: {{Item: {{as: Thing}}}}
{more_right}hooks:
  in:
    plain: {{format: plain, secret: {plain}}}
    rows:
      format: hasura
      secret: {rows}
      tables: {{thing: {{type: Thing}}, item: {{type: Item}}}}
log: {{level: warning}}
"""
STANDING = """\
    standing:
      - operation: {prefix}ItemChanged
        catchUp: {{operation: {prefix}ItemsSince, variable: since, field: version}}
"""
POLLS = """\
    subscriptions: off
    poll: [{{operation: {prefix}Items, every: 1s}}]
"""
STREAMS = {
    "left": "/v1/operations/ItemChanged/stream", "right": "/v1/operations/RightItemChanged/stream",
}
TYPES = {"left": "Item", "right": "Thing"}
ROUTES = {"left": "/api/items/", "right": "/api/things/"}


class TwoUpstreams(Site):
    """Two servers, Larder in front of them, and their ends."""

    def __init__(self, binary, folder, more="", subprotocol="transport"):
        self.binary, self.folder, self.process = binary, folder, None
        shutil.rmtree(folder, ignore_errors=True)
        operations = (HERE / "operations/items.graphql").read_text()
        # Names of operations and routes are unique over all upstreams.
        texts = {
            "left": operations,
            "right": re.sub(r"^(query|mutation|subscription) (\w+)", r"\1 Right\2", operations, flags=re.M)
            .replace('path: "/items', 'path: "/things').replace('"items"', '"things"'),
        }
        self.servers = {}
        (folder / "schemas").mkdir(parents=True)
        for name, app in [("left", "ariadne_app"), ("right", "strawberry_app")]:
            (folder / "operations" / name).mkdir(parents=True)
            (folder / "operations" / name / "items.graphql").write_text(texts[name])
            shutil.copy(HERE / "schema.graphql", folder / "schemas" / f"{name}.graphql")
            (folder / name).mkdir()
            self.servers[name] = Server(folder / name, app, subprotocol)
        self.left, self.right = self.servers["left"], self.servers["right"]
        self.port = free_port()
        (folder / "larder.yaml").write_text(
            SETTINGS.format(
                port=self.port, admin=ADMIN, left=self.left.url, right=self.right.url,
                more_left=more.format(prefix=""), more_right=more.format(prefix="Right"),
                plain=PLAIN_SECRET, rows=HOOK_SECRET,
            )
        )

    def __enter__(self):
        for server in self.servers.values():
            server.start()
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        for server in self.servers.values():
            server.kill()

    def entity(self, upstream, identifier):
        """The stored entity of an item; None if there is none."""
        answer = self.get(f"/v1/entities/{TYPES[upstream]}/{identifier}")
        return answer.json if answer.status == 200 else None

    def admin(self, target):
        return self.get(target, Authorization=f"Bearer {ADMIN}").json

    def follows(self, upstream, stream, about, seconds=40):
        """Changes items of an upstream until its stream brings one, and that one is stored."""

        def brings():
            item = self.servers[upstream].set("a", about)
            deadline = time.monotonic() + 1
            while time.monotonic() < deadline:
                if item["version"] in stream.versions():
                    entity = self.entity(upstream, "a")
                    assert (entity["name"], entity["version"]) == (about, item["version"]), entity
                    return True
                time.sleep(0.02)
            return False

        holds(brings, f"an event of {upstream}, {about}", seconds)

    def command(self, *arguments):
        return subprocess.run(
            [self.binary, *arguments, "--config", self.folder / "larder.yaml"],
            capture_output=True, text=True, timeout=END_SECONDS_MAX,
        )


class Run:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def site(self, **named):
        return TwoUpstreams(self.binary, self.folder / sys._getframe(1).f_code.co_name, **named)


def each_has_its_subscriptions(place):
    """Events reach their own streams and types, over both subprotocols."""
    for subprotocol in ("transport", "legacy"):
        with place.site(subprotocol=subprotocol) as site:
            with EventStream(site.port, STREAMS["left"]) as left, EventStream(site.port, STREAMS["right"]) as right:
                for name, server in site.servers.items():
                    holds(lambda server=server: server.listeners() == 1, f"a subscription of {name}")
                site.left.set("a", "Of left")
                site.right.set("a", "Of right")
                site.right.set("b", "Only right")
                holds(lambda: left.versions() == [1], "left's event")
                holds(lambda: right.versions() == [1, 2], "right's events")
                holds(lambda: site.entity("right", "b"), "right's second item")
            assert site.entity("left", "a")["name"] == "Of left"
            assert site.entity("right", "a")["name"] == "Of right"
            assert site.entity("left", "b") is None
            assert site.get("/v1/entities/Thing/a").json["__typename"] == "Thing"


def standing_subscriptions_survive_the_other_upstream(place):
    """A standing subscription of each; `right` is killed and comes back, `left` goes on."""
    with place.site(more=STANDING) as site:
        # Standing subscriptions need no client.
        for name, server in site.servers.items():
            holds(lambda server=server: server.listeners() == 1, f"a subscription of {name}")
            server.set("standing", f"Stored of {name}")
            holds(lambda name=name: site.entity(name, "standing"), f"a stored event of {name}")
        with EventStream(site.port, STREAMS["left"]) as left, EventStream(site.port, STREAMS["right"]) as right:
            for name, stream in (("left", left), ("right", right)):
                site.follows(name, stream, "before")
                assert site.servers[name].listeners() == 1, "the client shares the standing one"
            site.right.kill()
            site.follows("left", left, "beside an upstream that is away")
            assert site.get(ROUTES["right"] + "missing").status >= 500
            assert site.get(ROUTES["left"] + "a").status == 200
            assert site.entity("right", "a")["name"] == "before"
            assert site.get("/readyz").json["upstreams"] == {"left": "reachable", "right": "failing"}
            site.right.start()
            missed = site.right.set("missed", "While away")
            # What was missed is fetched.
            holds(
                lambda: (site.entity("right", "missed") or {}).get("version") == missed["version"],
                "what right changed while it was away",
            )
            site.follows("right", right, "after")
            assert right.named("gap"), "the gap is not reported"
            assert left.named("gap") == [], "a gap of the other upstream"
            site.follows("left", left, "after")


def a_refused_credential_concerns_one_upstream(place):
    """`right` answers 401 and closes WebSockets with 4403; `left` goes on."""
    with place.site(more=STANDING) as site:
        with EventStream(site.port, STREAMS["left"]) as left, EventStream(site.port, STREAMS["right"]) as right:
            for name, stream in (("left", left), ("right", right)):
                site.follows(name, stream, "before")
            site.right.kill()
            site.right.refuses = True
            site.right.start()
            problem = holds(lambda: right.named("error"), "the refusal")[0]
            assert problem["code"] == "upstream_unauthenticated", problem
            assert problem["retry"] == "never", problem
            holds(lambda: right.is_over, "the end of right's stream")
            refused = site.get(ROUTES["right"] + "missing")
            assert refused.json["code"] == "upstream_unauthenticated", refused.text
            site.follows("left", left, "beside a refusal")
            assert site.get(ROUTES["left"] + "a").status == 200
            assert left.named("error") == left.named("gap") == [], left.events
            # Stored data of both is served.
            assert site.entity("right", "a")["name"] == "before"
            upstreams = {one["name"]: one for one in site.admin("/v1/admin/upstreams")["items"]}
            assert upstreams["left"]["credentialsRefused"] == {"calls": 0, "subscriptions": 0}
            counts = upstreams["right"]["credentialsRefused"]
            assert counts["calls"] >= 1 and counts["subscriptions"] >= 1, counts
            standing = {one["upstream"]: one for one in site.admin("/v1/admin/subscriptions")["standing"]}
            states = {name: one["state"] for name, one in standing.items()}
            assert states == {"left": "live", "right": "waiting"}, states
            assert standing["right"]["cause"] and standing["right"]["nextAttempt"], standing
            assert "cause" not in standing["left"] and "nextAttempt" not in standing["left"], standing
            lines = [
                line
                for line in site.get("/metrics").text.splitlines()
                if line.startswith("larder_upstream_reachable")
            ]
            assert lines and all('upstream="' in line for line in lines), lines
        # Once the credential is accepted, clients are served again.
        site.right.kill()
        site.right.refuses = False
        site.right.start()
        holds(
            lambda: site.get(ROUTES["right"] + "a", Cache_Control="no-cache").status == 200,
            "right's responses",
        )

        def opens():
            try:
                return EventStream(site.port, STREAMS["right"])
            except AssertionError:
                return None

        with holds(opens, "a subscription of right") as again:
            site.follows("right", again, "accepted again")


def polls_of_each_run_by_themselves(place):
    with place.site(more=POLLS) as site:
        for name, server in site.servers.items():
            server.set("polled", f"Polled of {name}")
        for name in site.servers:
            holds(lambda name=name: site.entity(name, "polled"), f"what the poll of {name} found")
        site.right.kill()
        for turn in range(2):
            changed = site.left.set("polled", f"Beside an upstream that is away {turn}")
            holds(
                lambda changed=changed: site.entity("left", "polled")["version"] == changed["version"],
                "left's next poll",
            )
        states = {poll["operation"]: poll for poll in site.admin("/v1/admin/subscriptions")["polls"]}
        assert "lastFailure" not in states["Items"], states
        holds(
            lambda: any("lastFailure" in poll for poll in site.admin("/v1/admin/subscriptions")["polls"]),
            "right's failed poll",
        )
        site.right.start()
        changed = site.right.set("polled", "After it was away")
        holds(
            lambda: site.entity("right", "polled")["version"] == changed["version"],
            "right's next poll",
        )


def one_schema_is_pulled(place):
    with place.site() as site:
        files = {name: site.folder / "schemas" / f"{name}.graphql" for name in site.servers}
        wanted = files["left"].read_text()
        marked = "# Not to be touched.\n" + files["right"].read_text()
        files["right"].write_text(marked)
        files["left"].unlink()
        pulled = site.command("schema", "pull", "--upstream", "left")
        assert pulled.returncode == 0, pulled.stderr
        assert files["right"].read_text() == marked
        (site.folder / "wanted.graphql").write_text(wanted)
        same = subprocess.run(
            [sys.executable, PEERS / "same_schema.py", site.folder / "wanted.graphql", files["left"]],
            capture_output=True, text=True,
        )
        assert same.returncode == 0, same.stdout + same.stderr
        checked = site.command("check")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        unknown = site.command("schema", "pull", "--upstream", "middle")
        assert unknown.returncode != 0 and "middle" in unknown.stderr, unknown
        # The one that is away concerns only itself.
        site.right.kill()
        assert site.command("schema", "pull", "--upstream", "left").returncode == 0
        assert site.command("schema", "pull", "--upstream", "right").returncode != 0


def webhooks_name_types_as_they_are_stored(place):
    with place.site() as site:
        item = {"id": "h", "name": "Of a webhook", "version": 7}
        sent = _sign_and_send(site, "m1", {"updates": [{"__typename": "Thing", **item}]})
        assert sent.json["status"] == "applied" and sent.json["written"] == 1, sent.text
        assert site.entity("right", "h")["version"] == 7 and site.entity("left", "h") is None
        sent = _sign_and_send(site, "m2", {"updates": [{"__typename": "Item", **item, "version": 8}]})
        assert sent.json["status"] == "applied", sent.text
        assert site.entity("left", "h")["version"] == 8
        assert site.entity("right", "h")["version"] == 7
        assert _sign_and_send(site, "m2", {"deletes": ["Thing:h"]}).json["status"] == "repeated"
        assert _sign_and_send(site, "m3", {"deletes": ["Thing:h"]}).json["deleted"] == 1
        assert site.entity("right", "h") is None and site.entity("left", "h") is not None
        for table, name in (("thing", "right"), ("item", "left")):
            row = {"id": f"row of {table}", "name": table, "version": 1}
            event = {
                "id": f"event of {table}", "created_at": "2026-01-01T00:00:00Z",
                "trigger": {"name": "rows"}, "table": {"schema": "public", "name": table},
                "event": {"op": "INSERT", "data": {"old": None, "new": row}},
            }
            answer = ask(
                site.url, "POST", "/v1/hooks/rows", event, webhook_secret=HOOK_SECRET
            )
            assert answer.json["status"] == "applied", answer.text
            assert site.entity(name, f"row%20of%20{table}")["name"] == table
            other = "left" if name == "right" else "right"
            assert site.entity(other, f"row%20of%20{table}") is None
        counts = {one["name"]: one["messages"] for one in site.admin("/v1/admin/hooks")["items"]}
        assert counts["plain"]["applied"] == 3 and counts["plain"]["repeated"] == 1, counts


def _sign_and_send(site, identifier, message):
    """Sends a message as Standard Webhooks says."""
    body, now = json.dumps(message), int(time.time())
    key = base64.b64decode(PLAIN_SECRET)
    signed = hmac.new(key, f"{identifier}.{now}.{body}".encode(), hashlib.sha256).digest()
    return ask(
        site.url, "POST", "/v1/hooks/plain", message, webhook_id=identifier,
        webhook_timestamp=str(now), webhook_signature=f"v1,{base64.b64encode(signed).decode()}",
    )


CHECKS = [
    each_has_its_subscriptions,
    standing_subscriptions_survive_the_other_upstream,
    a_refused_credential_concerns_one_upstream,
    polls_of_each_run_by_themselves,
    one_schema_is_pulled,
    webhooks_name_types_as_they_are_stored,
]

if __name__ == "__main__":
    run("upstreams", __doc__, CHECKS, Run)
