"""Ports for servers that are started again at the same address."""

import random
import socket

FIRST, LAST = 12_000, 32_000


def steady_port():
    """A free port that the system gives to no outgoing connection."""
    while True:
        port = random.SystemRandom().randrange(FIRST, LAST)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
