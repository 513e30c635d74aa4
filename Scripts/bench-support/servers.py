"""The contestants and their content."""

import os
import random
import shutil
import socket
import string
import time

import native
from connection import Connection
from process import BenchError
from tls import client_context

READY_SECONDS_MAX = 30
POLL_SECONDS = 0.0005
SUPPORT = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(SUPPORT, "..", "..", "Examples", "films")

# No setting affects a measurement: limits are never reached, and requests are not logged.
SETTINGS = string.Template(
    """listen: 127.0.0.1:$port
data: ./data
operations: ./operations
schema: ./schema.graphql
upstream:
  url: http://127.0.0.1:$upstream_port/graphql
  forward: [authorization]
$more_upstream
log: {level: error}
limits:
  requestsPerConnection: 1000000
  connections: 20000
  keepAlive: 600s
  queryDeadline: 60s
"""
)
TLS_SETTINGS = string.Template("""tls:
  certificate: $chain
  key: $key
""")
VARNISH = string.Template(
    """vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "$port"; }
sub vcl_backend_response { set beresp.ttl = 1h; }
"""
)
NGINX_TLS = string.Template("""ssl_certificate $chain;
    ssl_certificate_key $key;
    ssl_protocols TLSv1.2 TLSv1.3;""")


def free_port():
    """A free port, below those that the system assigns to clients."""
    for port in random.sample(range(20_000, 32_000), 200):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise BenchError("no free port between 20000 and 32000")


def wait_until_ready(process, port, path):
    """Polls until the response is 200. Returns the seconds since the process was started."""
    deadline = process.started + READY_SECONDS_MAX
    while time.perf_counter() < deadline:
        process.check()
        try:
            with Connection(port, process.tls) as connection:
                if connection.get(path).status == 200:
                    return time.perf_counter() - process.started
        except OSError:
            pass
        time.sleep(POLL_SECONDS)
    raise BenchError(f"{path} was not ready after {READY_SECONDS_MAX} s: {process.last_words()}")


class Films:
    """A folder with the benchmark's operations over the demo's schema, and the demo itself."""

    def __init__(self, bench, name):
        self.bench = bench
        self.folder = os.path.join(bench.folder, name)
        self.upstream_port = free_port()
        os.makedirs(os.path.join(self.folder, "operations"))
        shutil.copy(os.path.join(EXAMPLE, "schema.graphql"), self.folder)
        shutil.copy(
            os.path.join(SUPPORT, "films", "operations.graphql"),
            os.path.join(self.folder, "operations"),
        )
        self.upstream = None
        self.start_upstream()

    def start_upstream(self):
        """Restarts the demo at the same port, as a new library."""
        self.upstream = self.bench.start(
            [self.bench.larder, "demo-upstream", "--listen", f"127.0.0.1:{self.upstream_port}"],
            f"{os.path.basename(self.folder)}-demo.log",
        )
        wait_until_ready(self.upstream, self.upstream_port, "/healthz")

    def larder(
        self, data="data", certificate=None, environment=None, more_settings="", more_upstream="", port=None
    ):
        """Starts Larder over a data folder of this name, without waiting."""
        port = port or free_port()
        settings = os.path.join(self.folder, f"larder-{data}.yaml")
        with open(settings, "w", encoding="utf-8") as file:
            text = SETTINGS.substitute(
                port=port, upstream_port=self.upstream_port, more_upstream=more_upstream
            )
            file.write(text.replace("./data", f"./{data}") + more_settings)
            if certificate:
                file.write(TLS_SETTINGS.substitute(chain=certificate.chain, key=certificate.key))
        process = self.bench.start(
            [self.bench.larder, "serve", "--config", settings], f"larder-{data}.log", environment
        )
        process.port = port
        process.tls = client_context() if certificate else None
        return process

    def ready_larder(self, *arguments, **named):
        process = self.larder(*arguments, **named)
        wait_until_ready(process, process.port, "/readyz")
        return process


def nginx(bench, body, certificate=None):
    """nginx with the bytes as a static file at /answer."""
    folder, port = os.path.join(bench.folder, "nginx"), free_port()
    os.makedirs(os.path.join(folder, "static"))
    # Workers that start as root serve as another user, who must be able to read the file.
    for path in (bench.folder, folder, os.path.join(folder, "static")):
        os.chmod(path, 0o755)
    with open(os.path.join(folder, "static", "answer"), "wb") as file:
        file.write(body)
    with open(os.path.join(SUPPORT, "nginx.conf.template"), encoding="utf-8") as file:
        text = string.Template(file.read()).substitute(
            folder=folder,
            listen=f"127.0.0.1:{port} reuseport{' ssl' if certificate else ''}",
            tls=NGINX_TLS.substitute(chain=certificate.chain, key=certificate.key)
            if certificate
            else "",
        )
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(text)
    argv = ["nginx", "-p", folder, "-c", configuration, "-e", f"{folder}/nginx-error.log"]
    process = bench.start(argv, "nginx.log")
    process.port = port
    process.tls = client_context() if certificate else None
    wait_until_ready(process, port, "/answer")
    return process


def hummingbird(bench, body):
    """Hummingbird with one route, /answer, that serves the bytes from memory."""
    path, port = os.path.join(bench.folder, "answer"), free_port()
    with open(path, "wb") as file:
        file.write(body)
    process = bench.start([bench.hummingbird, str(port), path], "hummingbird.log")
    process.port = port
    wait_until_ready(process, port, "/answer")
    return process


def floor(bench, response):
    """A bare epoll loop that sends these bytes for every request; see floor.c."""
    path, port = os.path.join(bench.folder, "floor-answer"), free_port()
    with open(path, "wb") as file:
        file.write(response)
    program = native.build(bench.compiler, "floor", bench.folder, "-pthread")
    process = bench.start([program, str(port), path], "floor.log")
    process.port = port
    wait_until_ready(process, port, "/answer")
    return process


def varnish(bench, backend_port):
    """Varnish that caches what the backend, nginx, serves at /answer."""
    folder, port = os.path.join(bench.folder, "varnish"), free_port()
    os.makedirs(folder)
    configuration = os.path.join(folder, "default.vcl")
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(VARNISH.substitute(port=backend_port))
    argv = ["varnishd", "-F", "-a", f"127.0.0.1:{port}", "-f", configuration, "-n", folder]
    process = bench.start(argv + ["-s", "malloc,64m", "-T", "none"], "varnish.log")
    process.port = port
    wait_until_ready(process, port, "/answer")
    return process
