"""A keep-alive HTTP/1.1 connection that does no more than a measurement needs."""

import socket
import time

TIMEOUT_SECONDS = 30


class Response:
    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields[name.strip().lower()] = value.strip()
        self.head, self.body = head, body


class Connection:
    """Requests one after another. Responses must have a Content-Length."""

    def __init__(self, port, tls=None):
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.socket = tls.wrap_socket(self.socket)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def is_open(self):
        """Whether the peer has not closed; for a connection without a pending response."""
        self.socket.settimeout(0)
        try:
            return self.socket.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            self.socket.settimeout(TIMEOUT_SECONDS)

    def get(self, path, **fields):
        return self.exchange(request("GET", path, fields))

    def exchange(self, message):
        return Response(*self._roundtrip(message))

    def timed(self, message):
        """The response, and the seconds until its last byte arrived."""
        start = time.perf_counter()
        head, body = self._roundtrip(message)
        return Response(head, body), time.perf_counter() - start

    def receive(self):
        """The response to what was sent on the socket itself."""
        return Response(*self._receive())

    def _roundtrip(self, message):
        self.socket.sendall(message)
        return self._receive()

    def _receive(self):
        received = self.socket.recv(65536)
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._more()
        head = received[:end]
        length = _content_length(head)
        while len(received) < end + 4 + length:
            received += self._more()
        return head, received[end + 4 :]

    def _more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the server closed the connection")
        return piece


def request(method, path, fields=None, body=b""):
    """The bytes of a request. Underscores in field names stand for hyphens."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in (fields or {}).items()]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines + ["", ""]).encode() + body


def _content_length(head):
    lower = head.lower()
    if lower.split(b" ", 2)[1] == b"304":
        return 0
    at = lower.find(b"\r\ncontent-length:")
    if at < 0:
        raise ConnectionError("a response that does not tell its length")
    return int(lower[at + 17 :].split(b"\r\n", 1)[0])
