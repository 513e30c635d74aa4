"""Larder between GraphQL servers of other make and GraphQL clients of other make.

Subscriptions of ariadne and strawberry on uvicorn, over both WebSocket subprotocols and over
server-sent events; their servers killed and started again in mid-stream; and `gql` and `websockets` as
clients of /v1/graphql.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]
"""

import asyncio
import contextlib
import json
import pathlib
import random
import sys
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import gql  # noqa: E402
import websockets.asyncio.client  # noqa: E402
from check_run import run  # noqa: E402
from gql.transport.exceptions import TransportQueryError  # noqa: E402
from gql.transport.websockets import WebsocketsTransport  # noqa: E402
from live_site import EventStream, Site, ask, holds  # noqa: E402

SERVERS = [
    ("ariadne_app", "transport"), ("ariadne_app", "legacy"), ("ariadne_app", "sse"),
    ("strawberry_app", "transport"), ("strawberry_app", "legacy"),
]
RESTARTS = 20
SEED = 20_161
STANDING = (
    "  standing: [{operation: ItemChanged, "
    "catchUp: {operation: ItemsSince, variable: since, field: version}}]\n"
)
PATH = "/v1/operations/ItemChanged/stream"
# The folder's operations as clients have them, without the service's directives.
ITEM = "query Item($id: ID!) { item(id: $id) { id name version } }"
SET_ITEM = (
    "mutation SetItem($id: ID!, $name: String!) { setItem(id: $id, name: $name) { id name version } }"
)
ITEM_CHANGED = "subscription ItemChanged { itemChanged { id name version } }"
COUNT = "subscription Count($to: Int!) { count(to: $to) }"


class Run:
    """Where the checks of one run keep their sites."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def site(self, app, protocol, **named):
        name = f"{app}-{protocol}-{sys._getframe(1).f_code.co_name}"
        return Site(self.binary, self.folder / name, app, protocol, **named)


def each(check):
    """One check for each server and protocol, as several."""

    def named(app, protocol):
        def one(place):
            check(place, app, protocol)

        one.__name__ = f"{check.__name__}_{app}_{protocol}"
        return one

    return [named(app, protocol) for app, protocol in SERVERS]


def events_are_delivered_and_stored(place, app, protocol):
    """Two clients share one subscription; a third has its own; stored state follows."""
    with place.site(app, protocol) as site, EventStream(site.port, PATH) as first:
        holds(lambda: site.server.listeners() == 1, "one subscription")
        with EventStream(site.port, PATH) as second:
            with EventStream(site.port, "/v1/operations/OneItemChanged/stream?id=b") as other:
                holds(lambda: site.server.listeners() == 2, "two subscriptions")
                sent = [site.server.set(name, f"Name {name} 1") for name in "abcab"]
                versions = [item["version"] for item in sent]
                for stream in (first, second):
                    holds(lambda stream=stream: stream.versions() == versions, "all events in order")
                holds(
                    lambda: other.versions() == [v["version"] for v in sent if v["id"] == "b"],
                    "the events of one item",
                )
                assert first.named("gap") == [], first.events
        newest = {item["id"]: item["version"] for item in sent}
        for identifier, version in newest.items():
            assert site.stored(identifier)["version"] == version
        # A cached operation moves with the events, without asking upstream.
        site.get("/api/items/a")
        changed = site.server.set("a", "Changed elsewhere")
        holds(
            lambda: site.get("/api/items/a").json["data"]["item"]["version"] == changed["version"],
            "the operation's response",
        )
        assert site.get("/api/items/a").cache.startswith("hit"), site.get("/api/items/a")
    # Left by all, upstream's subscriptions end.


def subscriptions_end_with_their_clients(place, app, protocol):
    with place.site(app, protocol) as site:
        with EventStream(site.port, PATH):
            holds(lambda: site.server.listeners() == 1, "a subscription")
        # A client that is gone is noticed when the second heartbeat cannot be sent.
        holds(lambda: site.server.listeners() == 0, "its end", seconds=60)
        with EventStream(site.port, "/v1/operations/Count/stream?to=20") as counted:
            holds(lambda: counted.named("complete"), "the end of a finite subscription")
            assert [data["data"]["count"] for data in counted.named("next")] == list(range(20))
            holds(lambda: counted.is_over, "the stream's end")


def refusals_are_final(place, app, protocol):
    with place.site(app, protocol) as site:
        with EventStream(site.port, "/v1/operations/Refused/stream") as refused:
            holds(lambda: refused.is_over, "the end of the stream")
            # Servers refuse by a message of its own, or by an event without data.
            assert all(data.get("data") is None for data in refused.named("next")), refused.events
            problems = refused.named("error")
            assert all(problem["retry"] == "never" for problem in problems), problems
            assert problems or "not for you" in json.dumps(refused.events), refused.events
        assert site.server.state()["refused"] == 1, site.server.state()


def restarts_lose_nothing(place, app, protocol):
    """Upstream is killed again and again: after catching up, what is stored is what upstream has."""
    chance = random.Random(f"{SEED}{app}{protocol}")
    with place.site(app, protocol, more_upstream=STANDING) as site:
        with EventStream(site.port, PATH) as stream:
            holds(lambda: site.server.listeners() == 1, "a subscription")
            site.server.set("i0", "The first")
            holds(lambda: stream.versions() == [1], "the first event")
            heard = []
            for turn in range(RESTARTS):
                with _writing(site.server, chance) as written:
                    holds(lambda written=written: len(written) > 5, "changes")
                    # In the middle of a change, an event, a response.
                    time.sleep(chance.random() * 0.05)
                    site.server.kill()
                site.server.start()
                # Changes while Larder is away from upstream.
                for number in range(3):
                    site.server.set(f"away-{turn}-{number}", f"While away {turn}")
                holds(lambda: site.server.listeners() >= 1, f"resubscription {turn}, seed {SEED}")
                confirmed = site.server.set("i0", f"After restart {turn}")
                heard.append(confirmed["version"])
                # From the resubscription on no event is missed, and the gap was reported before it.
                holds(
                    lambda confirmed=confirmed: confirmed["version"] in stream.versions(),
                    f"an event after restart {turn}, seed {SEED}",
                )
                assert len(stream.named("gap")) >= turn + 1, f"restart {turn}: a gap is missing"
                holds(
                    lambda: site.all_stored() == _all_of(site.server),
                    f"stored state after restart {turn}, seed {SEED}",
                )
            versions = stream.versions()
            assert versions == sorted(versions), "events out of order"
            assert set(heard) <= set(versions)


@contextlib.contextmanager
def _writing(server, chance):
    """Changes items of upstream until it is killed, from a thread."""
    written = []

    def write():
        with contextlib.suppress(Exception):
            while True:
                name = f"i{chance.randrange(20)}"
                written.append(server.set(name, f"Name {len(written)}"))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield written
    finally:
        thread.join()


def _all_of(server):
    return {key: (item["name"], item["version"]) for key, item in server.items().items()}


# Clients of /v1/graphql


def gql_is_a_client(place):
    """gql over graphql-transport-ws: queries, mutations, subscriptions, errors."""
    with place.site("ariadne_app", "transport") as site:
        site.server.set("a", "One")
        asyncio.run(_speak_gql(site))


async def _speak_gql(site):
    transport = WebsocketsTransport(
        url=site.socket_url, subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL],
        ping_interval=1, pong_timeout=5,
    )
    async with gql.Client(transport=transport, fetch_schema_from_transport=False) as session:
        read = await session.execute(gql.gql(ITEM), variable_values={"id": "a"})
        assert read["item"]["name"] == "One", read
        written = await session.execute(
            gql.gql(SET_ITEM), variable_values={"id": "a", "name": "Two"}
        )
        assert written["setItem"]["version"] == 2, written
        read = await session.execute(gql.gql(ITEM), variable_values={"id": "a"})
        assert read["item"]["name"] == "Two", read
        try:
            await session.execute(gql.gql("query Unregistered { items { id } }"))
            raise AssertionError("a document that is not registered was executed")
        except TransportQueryError as error:
            assert "document_unknown" in json.dumps(error.errors), error.errors
        heard = []
        subscription = session.subscribe(gql.gql(ITEM_CHANGED))
        reading = asyncio.create_task(_take(subscription, heard, 3))
        await _until(lambda: site.server.listeners() == 1)
        for number in range(3):
            await asyncio.to_thread(site.server.set, "a", f"Event {number}")
        await asyncio.wait_for(reading, 20)
        assert [event["itemChanged"]["name"] for event in heard] == [f"Event {n}" for n in range(3)]
        # The connection lives through several of its own pings.
        await asyncio.sleep(3)
        counted = [
            event["count"]
            async for event in session.subscribe(
                gql.gql(COUNT), variable_values={"to": 5}
            )
        ]
        assert counted == list(range(5)), counted


async def _take(events, heard, count):
    async for event in events:
        heard.append(event)
        if len(heard) == count:
            return


async def _until(condition):
    deadline = time.monotonic() + 20
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def websockets_is_a_client(place):
    """Message by message, and what a client must not do."""
    with place.site("strawberry_app", "transport") as site:
        site.server.set("a", "One")
        asyncio.run(_speak_raw(site))


def _connect(site, **named):
    return websockets.asyncio.client.connect(
        site.socket_url, subprotocols=["graphql-transport-ws"], **named
    )


async def _speak_raw(site):
    async with _connect(site) as socket:
        assert socket.subprotocol == "graphql-transport-ws"
        await socket.send(json.dumps({"type": "connection_init"}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        await socket.send(json.dumps({"type": "ping", "payload": {"n": 1}}))
        assert json.loads(await socket.recv())["type"] == "pong"
        await _subscribe(socket, "1", {"operationName": "Item", "variables": {"id": "a"}})
        first, second = json.loads(await socket.recv()), json.loads(await socket.recv())
        assert first["type"] == "next" and first["id"] == "1", first
        assert first["payload"]["data"]["item"]["name"] == "One", first
        assert second == {"id": "1", "type": "complete"}, second
        # The same operation by the id of its document, in fragments of one byte.
        listed = (await asyncio.to_thread(site.get, "/v1/operations")).json["operations"]
        document = next(one["documentId"] for one in listed if one["name"] == "Item")
        message = {
            "id": "2", "type": "subscribe",
            "payload": {"documentId": document, "variables": {"id": "a"}},
        }
        await socket.send(list(json.dumps(message)))
        assert json.loads(await socket.recv())["payload"]["data"]["item"]["name"] == "One"
        assert json.loads(await socket.recv())["type"] == "complete"
        # A live query is sent again when its data changes.
        await _subscribe(
            socket, "3",
            {"operationName": "Item", "variables": {"id": "a"}, "extensions": {"live": True}},
        )
        assert json.loads(await socket.recv())["payload"]["data"]["item"]["name"] == "One"
        answer = await asyncio.to_thread(
            ask, site.url, "POST", "/v1/operations/SetItem", {"id": "a", "name": "Two"}
        )
        assert answer.status == 200, answer
        again = json.loads(await asyncio.wait_for(socket.recv(), 10))
        assert again["payload"]["data"]["item"]["name"] == "Two", again
        await socket.send(json.dumps({"id": "3", "type": "complete"}))
        await _subscribe(socket, "4", {"operationName": "Nothing"})
        refused = json.loads(await asyncio.wait_for(socket.recv(), 10))
        assert refused["type"] == "error" and refused["id"] == "4", refused
    for messages, code in [
        ([json.dumps({"id": "1", "type": "subscribe", "payload": {"operationName": "Item"}})], 4401),
        ([json.dumps({"type": "connection_init"})] * 2, 4429),
        (["no JSON"], 4400),
        ([json.dumps({"type": "surprise"})], 4400),
    ]:
        async with _connect(site) as socket:
            for message in messages:
                await socket.send(message)
            with contextlib.suppress(websockets.exceptions.ConnectionClosed):
                while True:
                    await asyncio.wait_for(socket.recv(), 10)
            assert socket.close_code == code, (messages, socket.close_code)
    # A client that never speaks is closed.
    async with _connect(site) as socket:
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            await asyncio.wait_for(socket.recv(), 60)
        assert socket.close_code == 4408, socket.close_code


async def _subscribe(socket, identifier, payload):
    await socket.send(json.dumps({"id": identifier, "type": "subscribe", "payload": payload}))


CHECKS = [
    *each(events_are_delivered_and_stored),
    *each(subscriptions_end_with_their_clients),
    *each(refusals_are_final),
    *each(restarts_lose_nothing),
    gql_is_a_client,
    websockets_is_a_client,
]

if __name__ == "__main__":
    run("live", __doc__, CHECKS, Run)
