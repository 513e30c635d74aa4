"""Many clients of event streams, watched together; their events are counted, not stored."""

import resource
import selectors
import socket
import time

from process import BenchError

EVENT_SECONDS_MAX = 20


def raise_limit(count):
    """Lets this process have so many connections; the processes it starts have their own limits."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < count + 200:
        raise BenchError(f"{count} streams need more than {most} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Streams:
    """Streams that are open and have sent `first`, a part of their head or their first event."""

    def __init__(self, port, messages, first):
        self.selector = selectors.DefaultSelector()
        self.sockets = []
        for message in messages:
            client = socket.create_connection(("127.0.0.1", port), 30)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.sendall(message)
            self.sockets.append(client)
        for client in self.sockets:
            received = b""
            while first not in received:
                received += client.recv(65536) or self._ended()
            if not received.startswith(b"HTTP/1.1 200 "):
                raise BenchError(f"a stream was refused: {received[:200]}")
            client.setblocking(False)
            self.selector.register(client, selectors.EVENT_READ)

    def _ended(self):
        raise BenchError("a stream ended")

    def hear(self, mark):
        """Returns when each stream has got an event with this mark."""
        waiting = set(self.sockets)
        # A mark can arrive in two pieces.
        ends = {}
        deadline = time.perf_counter() + EVENT_SECONDS_MAX
        while waiting:
            ready = self.selector.select(max(0, deadline - time.perf_counter()))
            if not ready:
                raise BenchError(f"{len(waiting)} streams got no event within seconds")
            for key, _ in ready:
                told = ends.get(key.fileobj, b"") + (key.fileobj.recv(65536) or self._ended())
                ends[key.fileobj] = told[-len(mark) :]
                if mark in told:
                    waiting.discard(key.fileobj)

    def count(self, marks, ends):
        """Reads until `ends()` is true and nothing more comes for a second; counts the marks."""
        counts = {mark: 0 for mark in marks}
        rests = {}
        longest = max(len(mark) for mark in marks)
        quiet_since = None
        while True:
            ready = self.selector.select(0.2)
            if not ready and ends():
                quiet_since = quiet_since or time.perf_counter()
                if time.perf_counter() - quiet_since > 1:
                    return counts
                continue
            quiet_since = None
            for key, _ in ready:
                rest = rests.get(key.fileobj, b"")
                told = rest + (key.fileobj.recv(1 << 18) or self._ended())
                for mark in marks:
                    # Those in the rest were counted before.
                    counts[mark] += told.count(mark) - rest.count(mark)
                rests[key.fileobj] = told[-longest + 1 :]

    def close(self):
        self.selector.close()
        for client in self.sockets:
            client.close()
