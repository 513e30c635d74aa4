"""An upstream that emits events: GraphQL by POST, subscriptions by graphql-transport-ws.

    python3 item_upstream.py PORT

`POST /emit {"count", "first", "ids", "rate"?}` sends that many events to every subscription and answers
once they are written; `GET /state` says how many connections and subscriptions there are. No package is
needed.
"""

import asyncio
import base64
import hashlib
import json
import struct
import sys
import time

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
# Events written at once before others get their turn.
EVENTS_AT_ONCE = 64


def item(number, ids):
    identifier = number % ids
    return {"id": f"i{identifier}", "name": f"Item {identifier} as of {number}.", "version": number}


def frame(payload, opcode=1):
    """An unmasked frame with FIN (RFC 6455 section 5.2)."""
    length = len(payload)
    if length < 126:
        return bytes([0x80 | opcode, length]) + payload
    if length < 1 << 16:
        return bytes([0x80 | opcode, 126]) + struct.pack("!H", length) + payload
    return bytes([0x80 | opcode, 127]) + struct.pack("!Q", length) + payload


class Subscription:
    """One subscription of one connection."""

    def __init__(self, writer, identifier):
        self.writer = writer
        self.opening = b'{"id":' + json.dumps(identifier).encode() + b',"type":"next","payload":'

    def send(self, payload):
        self.writer.write(frame(self.opening + payload + b"}"))


class Upstream:
    def __init__(self):
        self.subscriptions = {}
        self.connections = 0

    async def serve(self, reader, writer):
        try:
            while head := await self._head(reader):
                method, path, fields = head
                if fields.get("upgrade", "").lower() == "websocket":
                    await self._websocket(reader, writer, fields)
                    return
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                answer = json.dumps(await self._answer(method, path, body)).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                    + str(len(answer)).encode() + b"\r\n\r\n" + answer
                )
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _head(self, reader):
        try:
            text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = text.split("\r\n")
        fields = {}
        for line in lines:
            name, _, value = line.partition(":")
            fields[name.strip().lower()] = value.strip()
        return *first.split(" ")[:2], fields

    async def _answer(self, method, path, body):
        if path == "/state":
            return {"connections": self.connections, "subscriptions": len(self.subscriptions)}
        if path == "/emit":
            return await self._emit(**json.loads(body))
        if method != "POST":
            return {}
        request = json.loads(body)
        variables = request.get("variables") or {}
        if "limit" in variables:
            count = variables["limit"]
            return {"data": {"items": [item(number, count) for number in range(count)]}}
        number = int(variables.get("id", "i0")[1:])
        return {"data": {"item": item(number, number + 1)}}

    async def _emit(self, count, first, ids, rate=None):
        start = time.monotonic()
        for number in range(first, first + count):
            data = json.dumps({"data": {"itemChanged": item(number, ids)}}, separators=(",", ":"))
            for subscription in list(self.subscriptions.values()):
                subscription.send(data.encode())
            if number % EVENTS_AT_ONCE:
                continue
            for subscription in list(self.subscriptions.values()):
                await subscription.writer.drain()
            if rate and (ahead := (number - first) / rate - (time.monotonic() - start)) > 0:
                await asyncio.sleep(ahead)
        for subscription in list(self.subscriptions.values()):
            await subscription.writer.drain()
        return {"seconds": time.monotonic() - start}

    # The protocol graphql-transport-ws.

    async def _websocket(self, reader, writer, fields):
        digest = hashlib.sha1(fields["sec-websocket-key"].encode() + GUID).digest()
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Accept: "
            + base64.b64encode(digest) + b"\r\n\r\n"
        )
        self.connections += 1
        own = set()
        try:
            while True:
                opcode, payload = await self._frame(reader)
                if opcode == 8:
                    writer.write(frame(payload[:2], 8))
                    return
                if opcode == 9:
                    writer.write(frame(payload, 10))
                elif opcode == 1:
                    self._take(json.loads(payload), writer, own)
        finally:
            self.connections -= 1
            for key in own:
                self.subscriptions.pop(key, None)

    def _take(self, message, writer, own):
        kind = message["type"]
        if kind == "connection_init":
            writer.write(frame(b'{"type":"connection_ack"}'))
        elif kind == "ping":
            writer.write(frame(b'{"type":"pong"}'))
        elif kind == "subscribe":
            key = (id(writer), message["id"])
            own.add(key)
            self.subscriptions[key] = Subscription(writer, message["id"])
        elif kind == "complete":
            self.subscriptions.pop((id(writer), message["id"]), None)

    async def _frame(self, reader):
        """One masked frame; messages of several frames are not sent by Larder."""
        first, second = await reader.readexactly(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", await reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await reader.readexactly(8))
        mask = await reader.readexactly(4)
        masked = await reader.readexactly(length)
        return first & 15, bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked))


async def main():
    upstream = Upstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
