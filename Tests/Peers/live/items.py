"""The items that both servers of this folder serve. They outlive the process, like a database's."""

import asyncio
import json
import os

FILE = os.environ["ITEMS_FILE"]
# Whether no credential is accepted.
REFUSES = os.environ.get("REFUSES") == "1"
# A listener that lags behind by more than this loses events, as with any broker.
LISTENER_EVENTS_MAX = 100_000


class Items:
    def __init__(self):
        self.items, self.version = {}, 0
        self.listeners = set()
        # How often the subscription that is always refused was asked for.
        self.refusals = 0
        if os.path.exists(FILE):
            with open(FILE, encoding="utf-8") as file:
                for line in file:
                    # A kill can cut the last line.
                    if line.endswith("\n"):
                        self._put(json.loads(line))
        self._log = open(FILE, "a", encoding="utf-8")

    def _put(self, item):
        self.items[item["id"]] = item
        self.version = max(self.version, item["version"])

    def set(self, identifier, name):
        item = {"id": identifier, "name": name, "version": self.version + 1}
        self._log.write(json.dumps(item) + "\n")
        self._log.flush()
        self._put(item)
        for listener in list(self.listeners):
            if listener.qsize() < LISTENER_EVENTS_MAX:
                listener.put_nowait(item)
        return item

    async def changes(self, identifier=None):
        listener = asyncio.Queue()
        self.listeners.add(listener)
        try:
            while True:
                item = await listener.get()
                if identifier in (None, item["id"]):
                    yield item
        finally:
            self.listeners.discard(listener)


ITEMS = Items()


async def count(to):
    for number in range(to):
        await asyncio.sleep(0.01)
        yield number


class Extras:
    """An ASGI application with `/state`, the number of open subscriptions, besides another one."""

    def __init__(self, inner):
        self.inner = inner

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["path"] != "/state":
            if not REFUSES or scope["type"] == "lifespan":
                return await self.inner(scope, receive, send)
            refuse = _refuse_request if scope["type"] == "http" else _refuse_socket
            return await refuse(receive, send)
        state = {"open": len(ITEMS.listeners), "refused": ITEMS.refusals}
        body = json.dumps(state).encode()
        await _respond(send, 200, body)


async def _respond(send, status, body):
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _refuse_request(receive, send):
    while (await receive()).get("more_body"):
        pass
    await _respond(send, 401, b'{"errors": [{"message": "the credential is refused"}]}')


async def _refuse_socket(receive, send):
    """After `connection_init`, which carries the credential."""
    await receive()
    await send({"type": "websocket.accept", "subprotocol": "graphql-transport-ws"})
    if (await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.close", "code": 4403, "reason": "Forbidden"})
