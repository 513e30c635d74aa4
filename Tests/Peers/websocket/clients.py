"""Clients of other make for an echo server: `websockets` as a whole client, `wsproto` frame by frame.

  clients.py PORT PATH

The server echoes messages on PATH and supports the subprotocol `echo`. Prints each check; ends with 1 at
the first that fails.
"""

import asyncio
import random
import signal
import socket
import sys
import time

import websockets
import wsproto
import wsproto.extensions
import wsproto.events as events
from websockets.asyncio.client import connect

PORT, PATH = int(sys.argv[1]), sys.argv[2]
URL = f"ws://127.0.0.1:{PORT}{PATH}"
SECONDS_MAX = 90
SEED = 7
LENGTHS = (0, 1, 125, 126, 127, 1023, 1024, 65535, 65536, 200_000)


def texts():
    chance = random.Random(SEED)
    for length in LENGTHS:
        yield "a" * length
        yield "".join(chance.choice("aé日🎬") for _ in range(length // 4))


def binaries():
    chance = random.Random(SEED)
    for length in LENGTHS:
        yield bytes(length)
        yield chance.randbytes(length)


async def messages_come_back(compression):
    async with connect(URL, compression=compression, max_size=None) as peer:
        for message in [*texts(), *binaries()]:
            await peer.send(message)
            assert await peer.recv() == message, len(message)


async def many_small_messages_come_back():
    async with connect(URL) as peer:
        messages = [f"message {number}" for number in range(2000)]

        async def write():
            for message in messages:
                await peer.send(message)

        writing = asyncio.create_task(write())
        assert [await peer.recv() for _ in messages] == messages
        await writing


async def fragments_are_joined(compression):
    async with connect(URL, compression=compression) as peer:
        for message in ["Grüße 🎬" * 50, "", "x" * 5000]:
            parts = [message[start:start + 7] for start in range(0, len(message), 7)] or [""]
            await peer.send(parts)
            assert await peer.recv() == message


async def pings_are_answered():
    async with connect(URL) as peer:
        for payload in (b"", b"1", bytes(125)):
            await asyncio.wait_for(await peer.ping(payload), 5)


async def subprotocols_are_chosen():
    async with connect(URL, subprotocols=["other", "echo"]) as peer:
        assert peer.subprotocol == "echo", peer.subprotocol
    async with connect(URL, subprotocols=["other"]) as peer:
        assert peer.subprotocol is None, peer.subprotocol


async def closing_is_clean():
    for code, reason in [(1000, ""), (1001, "going"), (3000, "é" * 61), (4999, "x" * 123)]:
        peer = await connect(URL)
        await peer.close(code, reason)
        assert peer.protocol.close_rcvd.code == code, peer.protocol.close_rcvd
        assert peer.protocol.state is websockets.protocol.State.CLOSED


async def many_connections_at_once():
    async def one(number):
        async with connect(URL) as peer:
            for _ in range(5):
                await peer.send(str(number))
                assert await peer.recv() == str(number)

    await asyncio.gather(*(one(number) for number in range(100)))


class Frames:
    """A connection by wsproto, which leaves the frames to its user."""

    def __init__(self, extensions=()):
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=10)
        self.peer = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
        self.waiting = []
        self.send(events.Request(host="localhost", target=PATH, extensions=list(extensions)))
        accepted = self.next()
        assert isinstance(accepted, events.AcceptConnection), accepted
        self.extensions = accepted.extensions

    def send(self, event):
        self.socket.sendall(self.peer.send(event))

    def send_raw(self, data):
        self.socket.sendall(data)

    def next(self):
        while not self.waiting:
            data = self.socket.recv(65536)
            self.peer.receive_data(data or None)
            self.waiting.extend(self.peer.events())
        return self.waiting.pop(0)

    def message(self):
        data = None
        while True:
            event = self.next()
            assert isinstance(event, (events.TextMessage, events.BytesMessage)), event
            data = event.data if data is None else data + event.data
            if event.message_finished:
                return data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def controls_between_fragments():
    deflate = wsproto.extensions.PerMessageDeflate()
    for extensions in ((), (deflate,)):
        with Frames(extensions) as peer:
            peer.send(events.TextMessage(data="eins ", message_finished=False))
            peer.send(events.Ping(payload=b"between"))
            assert peer.next() == events.Pong(payload=b"between")
            peer.send(events.TextMessage(data="zwei ", message_finished=False))
            peer.send(events.TextMessage(data="drei" * 500, message_finished=True))
            assert peer.message() == "eins zwei " + "drei" * 500


def compression_is_agreed():
    with Frames((wsproto.extensions.PerMessageDeflate(client_max_window_bits=10),)) as peer:
        assert peer.extensions, "no compression"
        for _ in range(20):
            peer.send(events.TextMessage(data='{"title":"A film"},' * 300))
            assert peer.message() == '{"title":"A film"},' * 300
    with Frames() as peer:
        assert not peer.extensions


def faults_are_answered():
    masked = bytes(4)
    for name, data, code in [
        ("unmasked", b"\x81\x01a", 1002),
        ("reserved bits", b"\xc1\x80" + masked, 1002),
        ("reserved opcode", b"\x83\x80" + masked, 1002),
        ("long ping", b"\x89\xfe\x00\x7e" + masked, 1002),
        ("fragmented ping", b"\x09\x80" + masked, 1002),
        ("continuation", b"\x80\x80" + masked, 1002),
        ("length", b"\x82\xfe\x00\x05" + masked, 1002),
        ("close code", b"\x88\x82" + masked + b"\x03\xed", 1002),
        ("text", b"\x81\x82" + masked + b"\xc0\x80", 1007),
        ("size", b"\x82\xff\x00\x00\x00\x00\x05\xf5\xe1\x00" + masked, 1009),
    ]:
        with Frames() as peer:
            peer.send_raw(data)
            closed = peer.next()
            assert isinstance(closed, events.CloseConnection), (name, closed)
            assert closed.code == code, (name, closed)


def one_byte_at_a_time():
    with Frames() as peer:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = peer.peer.send(events.TextMessage(data="langsam"))
        for byte in data:
            peer.send_raw(bytes([byte]))
        assert peer.message() == "langsam"


CHECKS = [
    ("messages come back", lambda: messages_come_back(None)),
    ("compressed messages come back", lambda: messages_come_back("deflate")),
    ("many small messages come back", many_small_messages_come_back),
    ("fragments are joined", lambda: fragments_are_joined(None)),
    ("compressed fragments are joined", lambda: fragments_are_joined("deflate")),
    ("pings are answered", pings_are_answered),
    ("subprotocols are chosen", subprotocols_are_chosen),
    ("closing is clean", closing_is_clean),
    ("many connections at once", many_connections_at_once),
    ("controls between fragments", controls_between_fragments),
    ("compression is agreed", compression_is_agreed),
    ("faults are answered", faults_are_answered),
    ("one byte at a time", one_byte_at_a_time),
]


def main():
    signal.alarm(SECONDS_MAX)
    for name, check in CHECKS:
        began = time.monotonic()
        print(f"{name} …", flush=True)
        result = check()
        if result is not None:
            asyncio.run(result)
        print(f"{name}: {time.monotonic() - began:.2f} s", flush=True)
    print(f"{len(CHECKS)} checks passed", flush=True)


if __name__ == "__main__":
    main()
