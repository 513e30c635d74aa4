"""A server of other make, `websockets`, for a client under test. Each path does one thing:

  /echo         echoes messages; subprotocol `echo`; compression as offered
  /plain        the same without compression
  /fragments    sends one text in many fragments, compressed as agreed, with pings between them
  /close        closes with 4401 and a reason
  /count        answers each message with the number of pongs and messages so far
  /flood        sends 3,000 messages, then closes
  /refuse       answers the handshake with 403

Prints `listening on PORT`.
"""

import asyncio
import http

from websockets.asyncio.server import serve

FRAGMENTS = 300
FLOOD = 3000


async def echo(peer):
    async for message in peer:
        await peer.send(message)


async def fragments(peer):
    async def parts():
        for number in range(FRAGMENTS):
            if number % 50 == 25:
                await peer.ping()
            yield f"Teil {number} é🎬;"

    await peer.send(parts())
    await peer.wait_closed()


async def count(peer):
    answered = 0
    async for _ in peer:
        for payload in (b"", b"x", bytes(125)):
            await asyncio.wait_for(await peer.ping(payload), 5)
            answered += 1
        await peer.send(str(answered))


async def flood(peer):
    for number in range(FLOOD):
        await peer.send(f"{number} " + "x" * 2000)


async def close(peer):
    await peer.close(4401, "Token läuft ab")


HANDLERS = {
    "/echo": echo, "/plain": echo, "/fragments": fragments, "/close": close, "/count": count,
    "/flood": flood,
}


async def handle(peer):
    await HANDLERS[peer.request.path](peer)


def refuse(connection, request):
    if request.path == "/refuse":
        return connection.respond(http.HTTPStatus.FORBIDDEN, "no\n")
    return None


def limit(connection, request, response):
    """Leaves compression out on /plain."""
    if request.path == "/plain":
        del response.headers["Sec-WebSocket-Extensions"]
        connection.protocol.extensions = []
    return response


async def main():
    async with serve(
        handle, "127.0.0.1", 0, process_request=refuse, process_response=limit,
        subprotocols=["echo"], select_subprotocol=lambda _, offered: "echo" if "echo" in offered else None,
        max_size=None,
    ) as server:
        print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
