"""A proxy before the service that keeps what clients send, and can cut their connections."""

import contextlib
import socket
import threading


class Gate:
    def __init__(self, service):
        self.service = service
        # The octets of every connection.
        self.requests = []
        self._connections = set()

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self):
        """Ends the open connections; new ones are passed on."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def fields_of(self, method, path):
        """The header fields of the last request with this method and path, by lower-case name."""
        for octets in reversed(list(self.requests)):
            text = bytes(octets).decode("latin-1")
            start = text.rfind(f"{method} {path}")
            if start < 0:
                continue
            lines = text[start:].split("\r\n\r\n")[0].split("\r\n")[1:]
            return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        raise AssertionError(f"no request {method} {path}")

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        octets = bytearray()
        self.requests.append(octets)
        self._connections.add(connection)
        with connection, contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", self.service.port)) as onward:
                back = threading.Thread(target=_pass_on, args=(onward, connection), daemon=True)
                back.start()
                _pass_on(connection, onward, octets)
                back.join()
        self._connections.discard(connection)


def _pass_on(source, target, copy=None):
    """Passes on all data, and then its end."""
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            if copy is not None:
                copy += piece
            target.sendall(piece)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
