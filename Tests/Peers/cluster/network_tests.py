"""Unit tests of the network between nodes: each mode does what its name says."""

import contextlib
import os
import socket
import threading
import time
import unittest

from network import Network

SECONDS_MAX = 5
QUIET_SECONDS = 0.2


class Echo:
    """A server that returns what it gets."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def _serve(self, connection):
        with connection, contextlib.suppress(OSError):
            while piece := connection.recv(1000):
                connection.sendall(piece)


class NetworkTests(unittest.TestCase):
    def setUp(self):
        self.echo, self.network = Echo(), Network()
        self.port = self.network.proxy("pg", lambda: self.echo.port, source="n1")

    def tearDown(self):
        self.network.close()
        self.echo.listener.close()

    def connect(self, port=None):
        connection = socket.create_connection(("127.0.0.1", port or self.port), SECONDS_MAX)
        self.addCleanup(connection.close)
        return connection

    def echoes(self, connection, text=b"hello"):
        connection.sendall(text)
        return connection.recv(100) == text

    def test_a_pair_passes(self):
        self.assertTrue(self.echoes(self.connect()))

    def test_a_cut_resets_open_and_new_connections_and_heals(self):
        connection = self.connect()
        self.assertTrue(self.echoes(connection))
        self.network.set("n1", "pg", "cut")
        with self.assertRaises(ConnectionResetError):
            connection.recv(1)
        with self.assertRaises(ConnectionResetError):
            self.connect().recv(1)
        self.network.heal()
        self.assertTrue(self.echoes(self.connect()))

    def test_a_silent_pair_keeps_connections_and_delivers_later(self):
        connection = self.connect()
        self.assertTrue(self.echoes(connection))
        self.network.set("n1", "pg", "hang")
        connection.sendall(b"later")
        connection.settimeout(QUIET_SECONDS)
        with self.assertRaises(TimeoutError):
            connection.recv(100)
        self.network.heal()
        connection.settimeout(SECONDS_MAX)
        self.assertEqual(connection.recv(100), b"later")

    def test_a_slow_pair_delays(self):
        connection = self.connect()
        self.assertTrue(self.echoes(connection))
        self.network.set("n1", "pg", "slow", QUIET_SECONDS)
        began = time.monotonic()
        self.assertTrue(self.echoes(connection))
        self.assertGreaterEqual(time.monotonic() - began, 2 * QUIET_SECONDS)

    def test_other_pairs_are_not_concerned(self):
        other = self.network.proxy("pg", lambda: self.echo.port, source="n2")
        self.network.set("n1", "pg", "cut")
        self.assertTrue(self.echoes(self.connect(other)))

    def test_the_source_is_found_by_its_process(self):
        shared = self.network.proxy("n2", lambda: self.echo.port)
        self.network.pids = {"n1": os.getpid()}
        self.network.set("n3", "n2", "cut")
        self.assertTrue(self.echoes(self.connect(shared)))
        self.network.set("n1", "n2", "cut")
        with self.assertRaises(ConnectionResetError):
            self.connect(shared).recv(1)

    def test_a_member_is_isolated_both_ways(self):
        onward = self.network.proxy("n1", lambda: self.echo.port, source="pg")
        self.network.isolate("n1", ["pg"])
        for port in (self.port, onward):
            with self.assertRaises(ConnectionResetError):
                self.connect(port).recv(1)


if __name__ == "__main__":
    unittest.main()
