"""A proxy for HTTP/1.1 that records each request and makes the faults of a network.

Each connection carries one request: `Connection: close` goes both ways, so a fault concerns one request.
"""

import contextlib
import json
import socket
import struct
import threading
import time
from urllib.parse import parse_qsl, unquote, urlsplit

import cuts
from server import steady_port

CUTS = {"cutBefore": "before", "killBefore": "before", "cutAfter": "after", "killAfter": "after"}
RECORDED_BYTES_MAX = 1 << 20


class Proxy:
    """Passes requests on to a server of 127.0.0.1, on the port that it has at that time."""

    def __init__(self, server, kill_driver):
        self.server, self.kill_driver = server, kill_driver
        self.lock = threading.Lock()
        self.requests = []
        self.faults = []
        # The one cut of `cuts.py`, if any, and the number of connections so far.
        self.cut, self.connections = None, 0
        self.open_connections = set()
        self.listener = None
        self.port = None
        while self.listener is None:
            self.port = steady_port()
            # Another process can have taken the port meanwhile.
            with contextlib.suppress(OSError):
                self.switch_on()

    # The network

    def switch_on(self):
        if self.listener is None:
            self.listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
            threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def switch_off(self):
        """Refuses new connections, and cuts the open ones."""
        listener, self.listener = self.listener, None
        if listener:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in list(self.open_connections):
            reset(connection)

    def add(self, fault):
        """Adds a fault for the next `times` (1) requests that match `method` and `path`."""
        with self.lock:
            self.faults.append({"times": 1, **fault})

    def _fault(self, method, path):
        """Takes the first fault that matches; `method` is None for a connection of which nothing was read."""
        with self.lock:
            for fault in self.faults:
                if (fault["fault"] == "refuse") != (method is None):
                    continue
                is_method = fault.get("method", method) == method
                if method and not (is_method and fits(fault.get("path", "*"), path)):
                    continue
                fault["times"] -= 1
                if fault["times"] <= 0:
                    self.faults.remove(fault)
                return fault
        return None

    # Connections

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        self.open_connections.add(connection)
        try:
            with connection, contextlib.suppress(OSError, ValueError):
                cut = self._cut()
                if self._fault(None, None) or (cut and cut.kind == "beforeSending"):
                    return reset(connection)
                connection.settimeout(60)
                self._exchange(connection, cut)
        finally:
            self.open_connections.discard(connection)

    def _cut(self):
        """Counts a connection; the cut, if it is this one's."""
        with self.lock:
            self.connections += 1
            if self.cut is None or self.cut.number != self.connections:
                return None
            self.cut.is_done = True
            return self.cut

    def _exchange(self, connection, cut):
        request = read_request(connection)
        if request is None:
            return None
        head, body = request
        line, fields = parse_head(head)
        method, target = line.split(" ")[:2]
        parts = urlsplit(target)
        record = {
            "method": method, "path": unquote(parts.path), "query": dict(parse_qsl(parts.query, True)),
            "headers": fields, "body": decoded(body), "status": None, "response": None,
        }
        fault = None if cut else self._fault(method, unquote(parts.path))
        if fault or cut:
            record["fault"] = cut.kind if cut else fault["fault"]
        with self.lock:
            self.requests.append(record)
        kind = fault["fault"] if fault else None
        if kind == "delay":
            time.sleep(fault["seconds"])
        if kind == "respond":
            return connection.sendall(made_response(fault, record))
        if CUTS.get(kind) == "before":
            return self._end(connection, kind)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as onward:
            onward.settimeout(70)
            kept = [(n, v) for n, v in fields.items() if n not in ("connection", "transfer-encoding",
                                                                   "content-length", "expect")]
            if body or method in ("POST", "PUT", "PATCH"):
                kept.append(("content-length", str(len(body))))
            lines = [f"{method} {target} HTTP/1.1", *(f"{n}: {v}" for n, v in kept), "connection: close"]
            head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
            if cut:
                return exchange_cut(cut.kind, connection, onward, head, body, record)
            onward.sendall(head + body)
            return self._pass_back(onward, connection, record, kind, fault)

    def _pass_back(self, onward, connection, record, kind, fault):
        """Passes the response on as it comes, up to the byte at which a fault cuts it."""
        passed, kept = 0, b""
        left = fault["at"] if kind == "cutIn" else None
        while piece := onward.recv(1 << 16):
            if len(kept) < RECORDED_BYTES_MAX:
                kept += piece
            if record["status"] is None and b"\r\n" in kept:
                record["status"] = int(kept.split(b" ", 2)[1])
            if CUTS.get(kind) == "after":
                continue
            if left is not None and passed + len(piece) >= left:
                connection.sendall(piece[: left - passed])
                return self._end(connection, kind)
            connection.sendall(piece)
            passed += len(piece)
        record["response"] = decoded(kept.partition(b"\r\n\r\n")[2])
        if kind and CUTS.get(kind) == "after" or kind == "cutIn":
            return self._end(connection, kind)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        return None

    def _end(self, connection, kind):
        if kind.startswith("kill"):
            self.kill_driver()
        reset(connection)

    def close(self):
        self.switch_off()


def exchange_cut(kind, connection, onward, head, body, record):
    """Passes on what a cut leaves of a request and its response."""
    if kind in cuts.REQUEST_CUTS:
        onward.sendall((head + body)[: cuts.bytes_of_request(kind, len(head), len(body))])
        return reset(connection)
    onward.sendall(head + body)
    response, length = cuts.received(onward)
    record["status"] = int(response.split(b" ", 2)[1])
    connection.sendall(response[: cuts.bytes_of_response(kind, length, len(response) - length)])
    return cuts.end(connection)


def fits(pattern, path):
    """Whether a path is the pattern's, whose last `*` stands for anything."""
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern


def reset(connection):
    """Closes with a reset, as a broken network does."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def read_request(connection):
    """(head, body) of the request, or None if the connection ends before."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(1 << 16)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    fields = parse_head(head)[1]
    if fields.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    if "chunked" in fields.get("transfer-encoding", ""):
        while (whole := joined(body)) is None:
            body += received(connection)
        return head, whole
    length = int(fields.get("content-length", 0))
    while len(body) < length:
        body += received(connection)
    return head, body


def received(connection):
    piece = connection.recv(1 << 16)
    if not piece:
        raise ValueError("the request ends early")
    return piece


def joined(chunks):
    """The content of chunks, or None if they are not complete."""
    whole = b""
    while b"\r\n" in chunks:
        size, _, rest = chunks.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if len(rest) < length + 2:
            return None
        if length == 0:
            return whole
        whole, chunks = whole + rest[:length], rest[length + 2 :]
    return None


def parse_head(head):
    """(request line, fields by lower-case name)."""
    line, *rest = head.decode("latin-1").split("\r\n")
    return line, {n.strip().lower(): v.strip() for n, _, v in (one.partition(":") for one in rest)}


def decoded(body):
    """JSON if it is, else text; None if there is none; a long binary body as its length."""
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        pass
    try:
        return body.decode() if len(body) < 4000 else {"bytes": len(body)}
    except ValueError:
        return {"bytes": len(body)}


def made_response(fault, record):
    """A response in Larder's place: one of Larder itself, unless `foreign` is true."""
    record["status"] = fault["status"]
    value, fields = fault.get("body", {}), {"Content-Type": "application/json"}
    if not fault.get("foreign"):
        value = {"status": fault["status"], "retry": "never", **value}
        fields = {"Content-Type": "application/problem+json", "Request-Id": "made"}
    body = json.dumps(value).encode()
    fields = {**fields, **fault.get("headers", {})}
    lines = [f"HTTP/1.1 {fault['status']} Made", *(f"{n}: {v}" for n, v in fields.items()),
             f"Content-Length: {len(body)}", "Connection: close"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
