"""A proxy that can make a server unavailable, while the server keeps its data."""

import contextlib
import socket
import threading

from s3_server import settings


class Doorway:
    """A proxy to an S3 service."""

    def __init__(self, service):
        self.service = service
        self.answer = None
        self._connections = set()
        self._listener = None
        self.port = 0
        self.open()

    @property
    def settings(self):
        return settings(f"http://127.0.0.1:{self.port}")

    def client(self):
        return self.service.client()

    def open(self):
        """Passes connections on."""
        self.answer = None
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            self.port = self._listener.getsockname()[1]
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def shut(self):
        """Refuses new connections and closes the open ones."""
        listener, self._listener = self._listener, None
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        self._throw_out()

    def put_off(self, answer):
        """Sends every new connection this response."""
        self.answer = answer
        self._throw_out()

    def _throw_out(self):
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        self._connections.add(connection)
        with connection, contextlib.suppress(OSError):
            if self.answer is not None:
                connection.recv(1 << 16)
                connection.sendall(self.answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass
                return
            with socket.create_connection(("127.0.0.1", self.service.port)) as onward:
                back = threading.Thread(target=pass_on, args=(onward, connection), daemon=True)
                back.start()
                pass_on(connection, onward)
                back.join()
        self._connections.discard(connection)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._listener:
            self.shut()


def pass_on(source, target):
    """Passes on all data, and then its end."""
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
