"""Pages in Chromium, of this service's origin and of others.

`EventSource`, `fetch` and `WebSocket` of a page whose origin `cors.origins` names, and of one that it
does not name; connections that are cut; and the console.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

Without Chromium there is nothing to do.
"""

import contextlib
import json
import pathlib
import sys

PEERS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PEERS), str(PEERS / "live")]

from check_run import run  # noqa: E402
from chromium import Chromium, Pages, program  # noqa: E402
from console_page import ConsolePage  # noqa: E402
from gate import Gate  # noqa: E402
from live_site import HOOK_SECRET, Site, ask, holds  # noqa: E402

ADMIN = "an-admin-token-of-32-characters-or-more"
SETTINGS = f"""\
admin: {{token: {ADMIN}}}
cors: {{origins: [ORIGIN]}}
devices: {{register: open}}
hooks:
  in:
    items:
      format: hasura
      secret: {HOOK_SECRET}
      tables: {{item: {{type: Item}}}}
"""
UPSTREAM = """\
  standing: [{operation: ItemChanged}]
  poll: [{operation: Items, every: 1s}]
"""
STREAM = "/v1/operations/ItemChanged/stream"


class World:
    """A service, a gate before it that can cut connections, a browser, and two origins for pages."""

    def __init__(self, binary, folder):
        self.folder = folder
        self.allowed, self.foreign = Pages(), Pages()
        self.site = Site(
            binary, folder / "site", "ariadne_app", "transport",
            more_upstream=UPSTREAM, more_settings=SETTINGS.replace("ORIGIN", self.allowed.origin),
        )

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for pages in (self.allowed, self.foreign):
                stack.callback(pages.close)
            stack.enter_context(self.site)
            self.gate = stack.enter_context(Gate(self.site))
            self.browser = Chromium(self.folder)
            stack.callback(self.browser.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    @property
    def url(self):
        """The service's address as pages see it."""
        return f"http://127.0.0.1:{self.gate.port}"

    def page(self):
        return self.browser.page(f"{self.allowed.origin}/")

    def foreign_page(self):
        return self.browser.page(f"{self.foreign.origin}/")

    def set(self, identifier, name):
        return self.site.server.set(identifier, name)


def follow(page, url, *names):
    names = json.dumps(names)
    page.run(f"void (globalThis.log = follow({json.dumps(url)}, {names}))")


def subscription_streams_reach_pages_of_other_origins(world):
    with world.page() as page, world.foreign_page() as foreign:
        for one in (page, foreign):
            follow(one, world.url + STREAM, "next", "gap", "error", "complete")
        page.until("log.opened === 1")
        world.set("stream", "One")
        page.until("log.events.some((e) => e.data.data?.itemChanged.name === 'One')")
        # A page of another origin gets nothing, and its EventSource gives up.
        foreign.until("log.source.readyState === EventSource.CLOSED")
        assert foreign.run("log.events.length + log.opened") == 0
        world.gate.cut()
        page.until("log.opened === 2", about="EventSource connects again")
        world.set("stream", "Two")
        page.until("log.events.some((e) => e.data.data?.itemChanged.name === 'Two')")
        assert page.run("log.events.filter((e) => e.name === 'error').length") == 0


def collection_streams_continue_with_a_renewable_ticket(world):
    # Long enough that a diff is shorter than the whole list.
    for number in range(1, 31):
        world.set(f"list-{number}", f"Number {number}")
    with world.page() as page:
        # Chromium sends `%27` for `'`: to the ticket it is the same path.
        path = "/v1/entities/Item/stream?order=id&filter=id%20LIKE%20'list-%25'"
        ask(world.url, "GET", "/v1/operations/Items", Cache_Control="no-cache")
        ticket = page.run(
            f"post('{world.url}/v1/stream-tickets', {{renewable: true, path: {json.dumps(path)}}}, "
            "{Authorization: 'Bearer user-ada'})"
        )
        assert ticket["status"] == 201 and ticket["body"]["renewable"] is True, ticket
        follow(page, f"{world.url}{path}&ticket={ticket['body']['ticket']}", "list", "diff")
        page.until("log.events.length === 1 && log.events[0].name === 'list'")
        for turn in range(2, 4):
            newest = page.run("log.events.at(-1).id")
            assert newest, "a list without an id"
            world.gate.requests.clear()
            world.gate.cut()
            world.set(f"list-{turn}", f"Changed {turn}")
            page.until(f"log.opened === {turn}", about="EventSource connects again")
            page.until(f"log.events.length === {turn}", about="what changed meanwhile")
            assert page.run("log.events.at(-1).name") == "diff", page.run("log.events")
            assert f"Changed {turn}" in json.dumps(page.run("log.events.at(-1).data"))
            sent = world.gate.fields_of("GET", "/v1/entities/Item/stream")
            assert sent.get("last-event-id") == newest, (sent, newest)
        page.run("log.source.close()")
        # The ticket is bound to its path.
        other = f"{world.url}{STREAM}?ticket={ticket['body']['ticket']}"
        follow(page, other, "next")
        page.until("log.source.readyState === EventSource.CLOSED && log.opened === 0")


def a_single_use_ticket_opens_one_stream(world):
    with world.page() as page:
        ticket = page.run(
            f"post('{world.url}/v1/stream-tickets', {{}}, {{Authorization: 'Bearer user-ada'}})"
        )
        follow(
            page, f"{world.url}/v1/entities/Item/stream?limit=1&ticket={ticket['body']['ticket']}",
            "list", "diff",
        )
        page.until("log.opened === 1")
        world.gate.cut()
        page.until("log.source.readyState === EventSource.CLOSED", about="the refused reconnection")
        assert page.run("log.opened") == 1


def streams_of_changes_lose_nothing(world):
    """Of changes while the connection is cut, each is sent once after EventSource connects again."""
    with world.page() as page:
        follow(page, f"{world.url}/v1/changes/stream?since=now&types=Item", "change")
        page.until("log.opened === 1")
        # The first event has not come yet, so the position is that of the stream's beginning.
        world.gate.cut()
        wanted = [f"change-{number}" for number in range(50)]
        for identifier in wanted[:40]:
            world.set(identifier, "Changed")
        page.until("log.opened === 2", about="EventSource connects again")
        for identifier in wanted[40:]:
            world.set(identifier, "Changed")
        ids = "log.events.map((e) => e.data.key ?? e.data.id ?? '').filter((id) => id.startsWith('change-'))"
        page.until(f"{ids}.length >= {len(wanted)}", about="all changes")
        assert page.run(ids) == wanted, page.run(ids)


def live_streams_reach_pages_of_other_origins(world):
    world.set("live", "One")
    queries = (
        "{queries: [{id: 'a', operation: 'Item', variables: {id: 'live'}}, "
        "{id: 'b', operation: 'ItemChanged'}]}"
    )
    with world.page() as page, world.foreign_page() as foreign:
        blocked = foreign.run(
            f"read('{world.url}/v1/live', {queries}).then(() => 'read', (e) => e.name)"
        )
        assert blocked == "TypeError", blocked
        page.run(f"read('{world.url}/v1/live', {queries}).then((log) => {{ globalThis.log = log; }})")
        assert page.run("log.status") == 200
        page.until("log.events[0]?.name === 'open'")
        assert page.run("log.stream && log.stream === log.events[0].data.streamId")
        page.until("log.events.some((e) => e.data.id === 'a')")
        world.set("live", "Two")
        for subject in "ab":
            page.until(
                f"log.events.some((e) => e.data.id === '{subject}' && "
                "JSON.stringify(e.data).includes('Two'))",
                about=f"subject {subject}",
            )
        changed = page.run(
            f"""fetch('{world.url}/v1/live/' + log.stream, {{
              method: 'PATCH', headers: {{'Content-Type': 'application/json'}},
              body: JSON.stringify({{add: [{{id: 'c', collection: '/v1/entities/Item?limit=1'}}], remove: ['b']}}),
            }}).then((r) => r.json())"""
        )
        assert sorted(changed["subjects"]) == ["a", "c"], changed
        page.until("log.events.some((e) => e.data.id === 'c')")
        position = page.until("log.events.findLast((e) => e.id)?.id")
        world.gate.cut()
        page.until("log.ended")
        again = queries.replace("{id: 'b', operation: 'ItemChanged'}", "{id: 'c', collection: '/v1/entities/Item?limit=1'}")
        page.run(
            f"read('{world.url}/v1/live', {again}, {{'Last-Event-ID': {json.dumps(position)}}})"
            ".then((log) => { globalThis.log = log; })"
        )
        resumed = page.until("log.events[0]?.data.resumed")
        assert sorted(resumed) == ["a", "c"], resumed
        page.run("log.stop.abort()")


def websockets_open_for_allowed_origins_only(world):
    address = f"ws://127.0.0.1:{world.gate.port}/v1/graphql"
    with world.page() as page, world.foreign_page() as foreign:
        for one in (page, foreign):
            one.run(f"void (globalThis.log = converse('{address}'))")
        page.until("log.messages.some((m) => m.type === 'connection_ack')")
        assert page.run("log.socket.protocol") == "graphql-transport-ws"
        page.run("log.send({id: '1', type: 'subscribe', payload: {operationName: 'ItemChanged'}})")
        page.run(
            "log.send({id: '2', type: 'subscribe', payload: "
            "{operationName: 'Item', variables: {id: 'socket'}}})"
        )
        page.until("log.messages.some((m) => m.id === '2' && m.type === 'complete')")
        # Events are sent from the moment that the subscription is known to upstream.
        def event():
            world.set("socket", "Changed")
            return page.run("log.messages.some((m) => m.id === '1' && m.type === 'next')")

        holds(event, "an event over the WebSocket")
        foreign.until("log.closed !== null")
        assert foreign.run("[log.opened, log.messages.length]") == [False, 0]
        page.run("log.socket.close(1000)")
        page.until("log.closed === 1000")


def the_console_shows_the_live_side(world):
    """Webhooks, standing subscriptions, polls, and the state of the upstream."""
    ask(world.site.url, "POST", "/v1/hooks/items", {}, webhook_secret="forged-forged-forged")
    row = {"id": "hooked", "name": "Of a webhook", "version": 1}
    event = {
        "id": "e1", "created_at": "2026-01-01T00:00:00Z", "trigger": {"name": "items"},
        "table": {"schema": "public", "name": "item"},
        "event": {"op": "INSERT", "data": {"old": None, "new": row}},
    }
    for _ in range(2):
        answer = ask(world.site.url, "POST", "/v1/hooks/items", event, webhook_secret=HOOK_SECRET)
        assert answer.status == 200, answer.text
    with ConsolePage(world.browser, world.site.url) as page:
        page.sign_in(ADMIN)

        def shown(screen, *wanted):
            page.visit("#/settings")
            page.visit(screen)
            text = page.text()
            return all(part in text for part in wanted)

        # A poll is due each second.
        holds(
            lambda: shown(
                "#/hooks", "1 accepted", "1 replayed", "0 ignored", "1 forged or too old",
                "No hooks to services in the settings", "ItemChanged", "live", "Items",
            ) and page.text().count("never") == 0,
            "webhooks, subscriptions and polls",
        )
        holds(
            lambda: shown(
                "#/overview", "default", f"http://127.0.0.1:{world.site.server.port}", "Reachable",
                "closed", "1 connection",
            ),
            "the state of the upstream",
        )
        assert not page.reported() and not page.overflow() and not page.faults()


CHECKS = [
    subscription_streams_reach_pages_of_other_origins,
    collection_streams_continue_with_a_renewable_ticket,
    a_single_use_ticket_opens_one_stream,
    streams_of_changes_lose_nothing,
    live_streams_reach_pages_of_other_origins,
    websockets_open_for_allowed_origins_only,
    the_console_shows_the_live_side,
]

if __name__ == "__main__":
    if program() is None:
        print("browser: Chromium is not installed, so nothing is checked")
        sys.exit()
    run("browser", __doc__, CHECKS, World)
