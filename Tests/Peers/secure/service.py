"""A Larder process of its own with TLS, and its resource use as the system reports it."""

import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

START_SECONDS_MAX = 40
END_SECONDS_MAX = 15
WAIT_SECONDS_MAX = 20
FILMS = pathlib.Path(__file__).resolve().parents[3] / "Examples" / "films"


def eventually(condition, seconds=WAIT_SECONDS_MAX):
    """Waits until the condition holds; returns its last value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() >= deadline:
            return value
        time.sleep(0.02)


class Certificates:
    """A certificate authority of the tests, by the openssl command."""

    ELLIPTIC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    RSA = ["-newkey", "rsa:2048"]

    def __init__(self, folder):
        self.folder = folder
        self.authority = folder / "authority.pem"
        self._openssl(
            "req", "-x509", *self.ELLIPTIC, "-nodes", "-subj", "/CN=Test authority", "-days", "60",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", folder / "authority.key",
            "-out", self.authority,
        )

    def issue(self, name, names, key=ELLIPTIC, days=60):
        """Writes NAME.pem and NAME.key, replacing existing ones."""
        request = self.folder / f"{name}.csr"
        self._openssl(
            "req", *key, "-nodes", "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}",
            "-addext", "keyUsage=critical,digitalSignature",
            "-addext", "extendedKeyUsage=serverAuth",
            "-keyout", self.folder / f"{name}.key", "-out", request,
        )
        self._openssl(
            "x509", "-req", "-in", request, "-CA", self.authority, "-CAkey",
            self.folder / "authority.key", "-CAcreateserial", "-days", str(days),
            "-copy_extensions", "copy", "-out", self.folder / f"{name}.pem",
        )

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class MemoryWatch:
    """The maximum private memory of a service during a block."""

    def __init__(self, service):
        self.service, self.peak_bytes = service, service.resident_bytes
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)

    def _look(self):
        while not self.is_over.wait(0.01):
            self.peak_bytes = max(self.peak_bytes, self.service.resident_bytes)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


class Service:
    """`larder serve` in a folder, without an upstream."""

    def __init__(self, binary, folder, settings="", listen="127.0.0.1:0", descriptors=None):
        self.binary, self.folder = binary, folder
        folder.mkdir(exist_ok=True)
        (folder / "larder.yaml").write_text(
            f"listen: [{listen}]\ndata: ./data\noperations: {FILMS}/operations\n"
            f"schema: {FILMS}/schema.graphql\nupstream: {{url: 'http://127.0.0.1:9/graphql'}}\n"
            f"log: {{level: notice}}\n{settings}"
        )
        self.log = folder / "larder.log"
        limit = ["prlimit", f"--nofile={descriptors}:{descriptors}"] if descriptors else []
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*limit, binary, "serve"], cwd=folder, stdout=log, stderr=log,
                env={"PATH": "/usr/bin:/bin"},
            )
        self.port = 0

    def started(self):
        """Waits until it listens."""
        pattern = re.compile(r"larder listening on (?:https?://127\.0\.0\.1:(\d+)|unix:)")
        found = eventually(
            lambda: pattern.search(self.said) or self.process.poll() is not None, START_SECONDS_MAX
        )
        assert isinstance(found, re.Match), f"not listening: {self.said}"
        self.port = int(found.group(1) or 0)
        return self

    def __enter__(self):
        return self.started()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            shutil.rmtree(self.folder / "data", ignore_errors=True)

    @property
    def said(self):
        return self.log.read_text() if self.log.exists() else ""

    @property
    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    @property
    def resident_bytes(self):
        """Its private memory: pages of mapped files do not count."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s*(\d+) kB", status).group(1)) * 1024

    @property
    def cpu_seconds(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = status.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def connect(self):
        """A plain connection."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_SECONDS_MAX)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def client_hello(self, name="localhost"):
        """The first flight of a client, to be sent in pieces or incompletely."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = trusting().wrap_bio(incoming, outgoing, server_hostname=name)
        try:
            session.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return outgoing.read()

    def get(self, context=None, target="/healthz", name="localhost"):
        """The status of a request on a new connection."""
        connection = self.connect()
        if context:
            connection = context.wrap_socket(connection, server_hostname=name)
        with connection:
            return ask(connection, target)

    def shown(self, name, *options):
        """The output of openssl's client for a connection."""
        return subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", "-servername", name,
             *options],
            input=b"", capture_output=True, timeout=WAIT_SECONDS_MAX,
        ).stdout.decode(errors="replace")


def ask(connection, target="/healthz"):
    """The status of a request on this connection, which stays open."""
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    response = http.client.HTTPResponse(connection, method="GET")
    response.begin()
    response.read()
    return response.status


def trusting(authority=None):
    """A client's context that trusts this authority, or any."""
    context = ssl.create_default_context(cafile=authority)
    if authority is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class Asking:
    """A client that sends requests continuously, and their statuses."""

    def __init__(self, service, context):
        self.statuses, self.faults, self.slowest = [], [], 0.0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(service, context), daemon=True)

    def _run(self, service, context):
        while not self._ends.wait(0.02):
            began = time.monotonic()
            try:
                self.statuses.append(service.get(context))
            except OSError as fault:
                self.faults.append(repr(fault))
            self.slowest = max(self.slowest, time.monotonic() - began)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join(WAIT_SECONDS_MAX)
