"""Clients that are as slow as possible, many of each kind at once, and their ends."""

import asyncio
import collections
import select
import socket
import time

HOST = b"Host: localhost\r\n"
PROBE = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
LARGE = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"
POST = b"POST /v1/operations/Film HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
DRIP_SECONDS = 0.1
PROBE_SECONDS = 0.05
# The requests of clients that read nothing, or little, of the responses: more than the sockets'
# buffers hold.
LARGE_ANSWERS = 64

# The first data of each kind, its repeated data, and its expected end.
DRIPS = {
    "says nothing": (b"", b"", "closed"),
    "drips a request line": (b"GET /", b"a", "408"),
    "drips a head": (b"GET / HTTP/1.1\r\n" + HOST, b"X-A: b\r\n", "408"),
    "drips a body": (POST + b"Content-Length: 100000\r\n\r\n", b" ", "408"),
    "drips chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", "408"),
    "stays": (PROBE, b"", "200"),
}
# The octets of each response that each kind reads at a time.
READS = {"takes nothing": 0, "takes little": 256}


async def drip(connection, first, piece):
    """Sends until there is a response and an end. Returns the status, or `closed`."""
    loop, received = asyncio.get_running_loop(), b""
    try:
        await loop.sock_sendall(connection, first)
        while True:
            receiving = asyncio.ensure_future(loop.sock_recv(connection, 4096))
            while not (await asyncio.wait({receiving}, timeout=DRIP_SECONDS))[0]:
                if piece and not received:
                    await loop.sock_sendall(connection, piece)
            if not (octets := await receiving):
                break
            received += octets
    except ConnectionError:
        if not received:
            return "reset"
    return received[9:12].decode() if received else "closed"


async def sip(connection, count):
    """Requests much and reads `count` octets at a time, until it is cut off."""
    loop = asyncio.get_running_loop()
    over = select.poll()
    over.register(connection, 0)
    try:
        await loop.sock_sendall(connection, LARGE * LARGE_ANSWERS)
        while not over.poll(0):
            await asyncio.sleep(DRIP_SECONDS)
            if count and not take(connection, count):
                return "closed"
    except ConnectionError:
        pass
    return "reset"


def take(connection, count):
    """Reads some octets; whether the connection persists."""
    try:
        return connection.recv(count) != b""
    except BlockingIOError:
        return True


async def half_close(connection):
    """Closes its sending direction, and still wants its response."""
    loop, received = asyncio.get_running_loop(), b""
    await loop.sock_sendall(connection, PROBE)
    connection.shutdown(socket.SHUT_WR)
    while octets := await loop.sock_recv(connection, 4096):
        received += octets
    return received[9:12].decode()


class Crowd:
    """`count` clients of each kind at one service, and a client that sends requests throughout."""

    def __init__(self, port, count, seconds_max):
        self.ends = collections.defaultdict(collections.Counter)
        self.slowest_end = collections.defaultdict(float)
        self.probes, self.lost, self.slowest_probe = 0, [], 0.0
        self._port, self._count, self._seconds_max = port, count, seconds_max

    async def run(self):
        kinds = [(name, drip, what[:2]) for name, what in DRIPS.items()]
        kinds += [(name, sip, (count,)) for name, count in READS.items()]
        kinds += [("half-closes", half_close, ())]
        probing = asyncio.ensure_future(self._probe())
        clients = [self._client(*kind) for kind in kinds for _ in range(self._count)]
        await asyncio.gather(*clients)
        probing.cancel()

    async def _client(self, name, behave, how):
        began = time.monotonic()
        connection = await self._connect(buffer=4096 if behave is sip else None)
        try:
            async with asyncio.timeout(self._seconds_max):
                end = await behave(connection, *how)
        except TimeoutError:
            end = "still open"
        finally:
            connection.close()
        self.ends[name][end] += 1
        self.slowest_end[name] = max(self.slowest_end[name], time.monotonic() - began)

    async def _connect(self, buffer=None):
        connection = socket.socket()
        connection.setblocking(False)
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self._port))
        return connection

    async def _probe(self):
        while True:
            began = time.monotonic()
            connection = await self._connect()
            try:
                async with asyncio.timeout(self._seconds_max):
                    status = await half_close(connection)
            except (OSError, TimeoutError) as fault:
                status = repr(fault)
            finally:
                connection.close()
            self.probes += 1
            if status != "200":
                self.lost.append(status)
            self.slowest_probe = max(self.slowest_probe, time.monotonic() - began)
            await asyncio.sleep(PROBE_SECONDS)
