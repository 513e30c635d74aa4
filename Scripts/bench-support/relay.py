"""A relay in front of a service that keeps what its clients send."""

import contextlib
import re
import socket
import threading

HEAD = re.compile(rb"(?:GET|POST) [^ ]+ HTTP/1\.1\r\n(?:[^\r\n]+\r\n)*\r\n")
PIECE_BYTES = 1 << 16


class Relay:
    """Passes bytes on in both directions, unchanged. Ends with the process."""

    def __init__(self, port):
        self._target = port
        self._sent = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()

    def requests(self, path):
        """The targets of the GETs below a path, in order, each with its header fields by lower-case name."""
        found = []
        for sent in self._sent:
            for match in HEAD.finditer(bytes(sent)):
                first, *lines = match.group().decode("latin-1").rstrip().split("\r\n")
                method, target, _ = first.split(" ")
                if method == "GET" and target.startswith(path):
                    fields = (line.partition(":") for line in lines)
                    found.append((target, {name.lower(): value.strip() for name, _, value in fields}))
        return found

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        sent = bytearray()
        self._sent.append(sent)
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            back = threading.Thread(target=_pass, args=(server, client, bytearray()), daemon=True)
            back.start()
            _pass(client, server, sent)
            back.join()


def _pass(source, target, kept):
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE_BYTES):
            kept += piece
            target.sendall(piece)
    # Whichever end has closed: the other one sees that too.
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
