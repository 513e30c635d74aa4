"""One service after the other at the same address, under continuous load."""

import http.client
import pathlib
import signal
import socket
import threading
import time

from service import Service, eventually

CLIENTS = 8
RESTARTS = 3
# Responses between two restarts, so that each restart is under load.
ANSWERS = 200
# Requests of a connection before its client opens another.
REQUESTS = 4
TARGETS = ("/healthz", "/openapi.json")
END_SECONDS_MAX = 20


class Clients:
    """Clients that retry a refused connection. Any other failure is a fault."""

    def __init__(self, connect):
        self.answered, self.refused, self.faults = 0, 0, []
        self._connect, self._lock = connect, threading.Lock()
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(CLIENTS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join(END_SECONDS_MAX)

    def _run(self):
        while not self._over.is_set():
            try:
                connection = self._connect()
            except (ConnectionRefusedError, FileNotFoundError):
                with self._lock:
                    self.refused += 1
                time.sleep(0.005)
                continue
            except OSError as fault:
                self._note(f"not connected: {fault!r}")
                continue
            with connection:
                self._use(connection)

    def _use(self, connection):
        for number in range(REQUESTS):
            try:
                status, is_last = ask(connection, TARGETS[number % len(TARGETS)])
            except (OSError, http.client.HTTPException) as fault:
                return self._note(f"request {number} was not answered: {fault!r}")
            if status != 200:
                self._note(f"answered {status}")
            with self._lock:
                self.answered += 1
            if is_last:
                return None
        return None

    def _note(self, fault):
        with self._lock:
            self.faults.append(fault)


def ask(connection, target):
    """The status of a response, and whether it is the last of its connection."""
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    response = http.client.HTTPResponse(connection, method="GET")
    response.begin()
    is_last = response.will_close
    response.read()
    return response.status, is_last


def lose_nothing(site, settings, listen, connect):
    """Services follow each other under load; each waits for the data folder of its predecessor."""
    data = site.folder / "handed-on"
    data.mkdir(exist_ok=True)
    services = [start(site, 0, data, settings, listen).started()]
    try:
        with Clients(connect) as clients:
            for number in range(1, RESTARTS + 1):
                seen = clients.answered
                assert eventually(lambda: clients.answered >= seen + ANSWERS), clients.faults
                services[-1].process.send_signal(signal.SIGTERM)
                services.append(start(site, number, data, settings, listen).started())
                assert services[-2].process.wait(END_SECONDS_MAX) == 0, services[-2].said
            seen = clients.answered
            assert eventually(lambda: clients.answered >= seen + ANSWERS), clients.faults
        print(f"{clients.answered} responses, {clients.refused} connections refused in between")
        assert not clients.faults, clients.faults[:10]
    finally:
        for service in services:
            service.__exit__()


def start(site, number, data, settings, listen):
    """A service with a log of its own and the shared data."""
    folder = site.folder / f"service-{number}"
    folder.mkdir(exist_ok=True)
    (folder / "data").unlink(missing_ok=True)
    (folder / "data").symlink_to(data)
    return Service(site.binary, folder, settings, listen=listen)


def free_port():
    """A port for a service that must restart at the same address."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def unix_connection(path: pathlib.Path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(END_SECONDS_MAX)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


def secure_connection(port, context):
    plain = socket.create_connection(("127.0.0.1", port), timeout=END_SECONDS_MAX)
    return context.wrap_socket(plain, server_hostname="localhost")
