"""The controls of every peer besides GraphQL: change its behaviour, and list its requests.

A peer wraps its ASGI application in `PeerModes`:

* `POST /switch?to=up|500|html|slow|lag|partial` sets the mode;
* `GET /seen` returns the served requests, the newest last: operation name, variables,
  query and the caller's credential.
"""

import asyncio
import json
from urllib.parse import parse_qs

# Longer than any timeout of Larder in these tests.
SLOW_SECONDS = 6
# Long enough for a burst of callers to arrive in the meantime.
LAG_SECONDS = 0.5
SEEN_MAX = 500


class PeerModes:
    """An ASGI application around another, with a mode that its resolvers can read."""

    def __init__(self, app):
        self.app = app
        self.mode = "up"
        self.seen = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if scope["path"] == "/seen":
            return await respond(send, 200, json.dumps(self.seen))
        if scope["path"] == "/switch":
            self.mode = parse_qs(scope["query_string"].decode())["to"][0]
            return await respond(send, 200, "{}")
        body = await body_of(receive)
        self.note(scope, body)
        if self.mode == "500":
            return await respond(send, 500, "boom", "text/plain")
        if self.mode == "html":
            return await respond(send, 200, "<html>maintenance</html>", "text/html")
        if self.mode == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        if self.mode == "lag":
            await asyncio.sleep(LAG_SECONDS)
        await self.app(scope, replay(body, receive), send)

    def note(self, scope, body):
        try:
            request = json.loads(body)
        except ValueError:
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.seen.append(
            {
                "operationName": request.get("operationName"),
                "variables": request.get("variables"),
                "query": request.get("query"),
                "authorization": headers.get("authorization"),
            }
        )
        del self.seen[:-SEEN_MAX]


def replay(body, receive):
    """Returns the body that was already read, then the rest."""
    is_sent = False

    async def again():
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def body_of(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


async def respond(send, status, text, media="application/json"):
    headers = [(b"content-type", media.encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
