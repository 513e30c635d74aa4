"""Faulty clients in great numbers.

  rude_clients.py PORT COUNT [--tls]

prints the number of each kind. Bounded by COUNT; loopback only.
"""

import argparse
import collections
import random
import socket
import ssl
import struct
import time

RESET = struct.pack("ii", 1, 0)
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
KINDS = ("reset", "vanish", "half", "cut", "garbage", "unread")


def rude(port, kind, hello, address):
    """One connection. The server may fail it in any way."""
    connection = socket.socket()
    try:
        # Ports of one address would run out: closed connections stay in TIME_WAIT for a minute.
        connection.bind((address, 0))
        connection.settimeout(10)
        connection.connect(("127.0.0.1", port))
        first = hello or REQUEST
        if kind == "reset":
            connection.sendall(first)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        elif kind == "half":
            connection.sendall(first)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        elif kind == "cut":
            connection.sendall(first[: random.randrange(1, len(first))])
        elif kind == "garbage":
            connection.sendall(random.randbytes(40))
        elif kind == "unread":
            connection.sendall(first)
    except OSError:
        pass
    finally:
        connection.close()


def finished(port, context, address, resets):
    """A whole handshake and a request, then a close without close_notify, or a reset."""
    plain = socket.socket()
    try:
        plain.bind((address, 0))
        plain.settimeout(10)
        plain.connect(("127.0.0.1", port))
        secure = context.wrap_socket(plain, server_hostname="localhost")
        secure.sendall(REQUEST)
        secure.recv(4096)
        if resets:
            secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        secure.close()
    except OSError:
        plain.close()


def flood(port, count, hello=None, context=None, seed=1):
    """`count` connections of all kinds; one in fifty completes its handshake."""
    random.seed(seed)
    tally = collections.Counter()
    for number in range(count):
        address = f"127.{1 + seed % 200}.{number // 20000 % 250}.{2 + number % 250}"
        if context and number % 50 == 0:
            finished(port, context, address, number % 100 == 0)
            tally["finished"] += 1
        else:
            kind = KINDS[number % len(KINDS)]
            rude(port, kind, hello, address)
            tally[kind] += 1
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    hello = context = None
    if arguments.tls:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        try:
            context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
        except ssl.SSLWantReadError:
            hello = outgoing.read()
    began = time.monotonic()
    tally = flood(arguments.port, arguments.count, hello, context, arguments.seed)
    print(dict(tally), f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
