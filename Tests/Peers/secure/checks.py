"""Larder as a TLS server and with connections of every kind, checked from outside.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

Each check runs processes of its own, ended by their own pid.
"""

import pathlib
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import restarts
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from check_run import run  # noqa: E402
from leaks import Growth  # noqa: E402
from service import Asking, Certificates, Service, ask, eventually, trusting

CERTIFICATE = "tls:\n  certificate: ../first.pem\n  key: ../first.key\n"
SEVERAL = CERTIFICATE + (
    "  certificates:\n"
    "    rsa: {certificate: ../rsa.pem, key: ../rsa.key}\n"
    "    api: {certificate: ../api.pem, key: ../api.key}\n"
)
IDLE_CONNECTIONS = 2000
IDLE_BYTES_MAX = 24 * 1024
RUDE_CONNECTIONS = 24_000


def complies_with_mozillas_profile(site):
    """With both kinds of keys, and a chain that leads to an authority."""
    with site.service(SEVERAL) as larder:
        scan = subprocess.run(
            [sys.executable, "-m", "sslyze", "--mozilla_config=intermediate",
             f"--certinfo_ca_file={site.certificates.authority}",
             f"localhost:{larder.port}{{127.0.0.1}}"],
            capture_output=True, text=True, timeout=120,
        )
        assert scan.returncode == 0 and "OK - Compliant" in scan.stdout, scan.stdout[-2000:]


def shows_the_certificate_of_the_name(site):
    with site.service(SEVERAL) as larder:
        for name, options, subject in (
            ("localhost", ["-sigalgs", "ECDSA+SHA256"], "first"),
            ("localhost", ["-sigalgs", "RSA-PSS+SHA256"], "rsa"),
            ("localhost", ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"], "rsa"),
            ("api.example.test", [], "api"), ("a.wild.test", [], "api"),
            ("a.b.wild.test", [], "first"), ("unknown.test", [], "first"),
        ):
            shown = larder.shown(name, *options)
            assert f"subject=CN = {subject}" in shown, f"{name} {options}: {shown[:600]}"
        assert "ALPN protocol: http/1.1" in larder.shown("localhost", "-alpn", "h2,http/1.1")
        old = larder.shown("localhost", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
        assert "Cipher is (NONE)" in old, old
        # Only HTTP/1.1 is supported, and a client without it gets an alert.
        context = trusting()
        context.set_alpn_protocols(["h2"])
        try:
            larder.get(context)
        except ssl.SSLError as fault:
            assert "no application protocol" in str(fault).lower().replace("_", " "), fault
        else:
            raise AssertionError("a client with HTTP/2 only was accepted")


def resumes_sessions_on_every_loop(site):
    """Each loop has its own listener, and the kernel distributes connections: so several in turn."""
    with site.service(CERTIFICATE) as larder:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for ticket in (True, False):
                if version == ssl.TLSVersion.TLSv1_3 and not ticket:
                    continue
                context = trusting(site.certificates.authority)
                context.minimum_version = context.maximum_version = version
                if not ticket:
                    context.options |= ssl.OP_NO_TICKET
                reused, session = [], None
                for _ in range(8):
                    with context.wrap_socket(
                        larder.connect(), server_hostname="localhost", session=session
                    ) as secure:
                        assert ask(secure) == 200
                        reused.append(secure.session_reused)
                        session = session or secure.session
                assert reused == [False] + [True] * 7, f"{version} ticket {ticket}: {reused}"
        shown = larder.shown("localhost", "-tls1_3")
        assert "Max Early Data: 0" in shown or "Early data was not sent" in shown, shown[-800:]


def reads_certificates_again_at_sighup(site):
    site.certificates.issue("changing", "DNS:localhost")
    settings = "tls: {certificate: ../changing.pem, key: ../changing.key}\n"
    with site.service(settings) as larder:
        context = trusting(site.certificates.authority)
        early = context.wrap_socket(larder.connect(), server_hostname="localhost")
        first = early.getpeercert(True)
        half_open = larder.connect()
        hello = larder.client_hello()
        half_open.sendall(hello[:100])
        with Asking(larder, context) as asking:
            site.certificates.issue("changing", "DNS:localhost")
            larder.process.send_signal(signal.SIGHUP)
            assert eventually(lambda: certificate(larder, context) != first), larder.said
            second = certificate(larder, context)
            # A handshake that had begun before keeps its certificate.
            half_open.sendall(hello[100:])
            assert half_open.recv(5)[0] == 22
            # A faulty file keeps the old certificate and is reported.
            (site.folder / "changing.pem").write_text("nonsense")
            larder.process.send_signal(signal.SIGHUP)
            fault = "changing.pem cannot be used as a certificate"
            assert eventually(lambda: fault in larder.said), larder.said
            assert certificate(larder, context) == second
        assert ask(early) == 200, "the early connection has ended"
        assert not asking.faults and set(asking.statuses) == {200}, asking.faults
        # Services without TLS accept the signal as well.
        early.close()
    with site.service() as plain:
        plain.process.send_signal(signal.SIGHUP)
        assert eventually(lambda: "no certificates" in plain.said), plain.said
        assert plain.get() == 200


def certificate(larder, context):
    with context.wrap_socket(larder.connect(), server_hostname="localhost") as secure:
        return secure.getpeercert(True)


def refuses_faulty_certificates_all_at_once(site):
    subprocess.run(
        ["openssl", "pkey", "-in", site.folder / "api.key", "-aes128", "-passout", "pass:larder",
         "-out", site.folder / "encrypted.key"], check=True, capture_output=True,
    )
    larder = site.service(
        "tls:\n  certificate: ../first.pem\n  key: ../rsa.key\n  certificates:\n"
        "    a: {certificate: ../nowhere.pem, key: ../api.key}\n"
        "    b: {certificate: ../api.pem, key: ../encrypted.key}\n"
    )
    assert larder.process.wait(30) == 78, larder.said
    for words in (
        "rsa.key is not the key of its certificate",
        "nowhere.pem cannot be used as a certificate: No such file or directory",
        "encrypted.key is a key under a passphrase",
    ):
        assert words in larder.said, f"{words!r} is not in {larder.said}"
    report = subprocess.run(
        [site.binary, "doctor"], cwd=larder.folder, capture_output=True, text=True, timeout=60
    )
    assert report.stdout.count("FAULT\tcertificate: ") == 3, report.stdout
    assert not (larder.folder / "data").exists()


def doctor_reports_certificates(site):
    site.certificates.issue("short", "DNS:short.test", days=4)
    (site.folder / "short.key").chmod(0o644)
    larder = site.service(
        CERTIFICATE + "  certificates:\n    s: {certificate: ../short.pem, key: ../short.key}\n"
    )
    with larder:
        assert "short.key is readable by every user" in larder.said
        report = subprocess.run(
            [site.binary, "doctor"], cwd=larder.folder, capture_output=True, text=True, timeout=60
        ).stdout
    assert re.search("ok\t.*first.pem is for localhost, and expires in (59|60) days", report), report
    assert re.search("note\t.*short.pem is for short.test, and expires in [34] days", report), report


def hostile_handshakes_end_at_their_deadline(site):
    """A thousand handshakes that hang, some that drip; other clients are served throughout."""
    settings = CERTIFICATE + "limits: {handshakeDeadline: 3s}\n"
    with site.service(settings) as larder:
        context = trusting(site.certificates.authority)
        assert larder.get(context) == 200
        descriptors, memory = larder.descriptors, larder.resident_bytes
        hello = larder.client_hello()
        with Asking(larder, context) as asking:
            began = time.monotonic()
            open_ones = []
            for number in range(1000):
                connection = larder.connect()
                connection.sendall(hello[: number * len(hello) // 1000])
                open_ones.append(connection)
            filled = time.monotonic()
            # A handshake that drips single octets is ended like one that hangs.
            dripping = larder.connect()
            ended = []
            threading.Thread(target=drip, args=(dripping, hello, ended), daemon=True).start()
            held = larder.resident_bytes - memory
            assert eventually(lambda: larder.descriptors <= descriptors + 2), larder.descriptors
            assert time.monotonic() - filled < 3 + 2, "the deadline was not kept"
            assert time.monotonic() - began > 2, "they were ended before the deadline"
            assert eventually(lambda: ended) and 2 < ended[0] < 5, ended
        print(f"half-open handshake: {held / 1000 / 1024:.1f} KiB")
        assert held < 1000 * 48 * 1024, f"{held // 1000} bytes for each half-open handshake"
        assert not asking.faults and set(asking.statuses) == {200}, asking.faults
        assert asking.slowest < 2, asking.slowest
        plain = larder.connect()
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = plain.recv(4096)
        assert answer.startswith(b"HTTP/1.1 400 ") and b"HTTPS" in answer, answer


def drip(connection, hello, ended):
    began = time.monotonic()
    try:
        for octet in hello:
            connection.sendall(bytes([octet]))
            time.sleep(0.05)
    except OSError:
        pass
    ended.append(time.monotonic() - began)


def holds_idle_connections_in_little_memory(site):
    with site.service(CERTIFICATE) as larder:
        context = trusting(site.certificates.authority)
        # One-time allocations of the first requests.
        connections = [connected(larder, context) for _ in range(200)]
        for connection in connections:
            connection.close()
        assert eventually(lambda: larder.descriptors < 150), larder.descriptors
        before = larder.resident_bytes
        # Every other connection has had a larger response, which must leave no memory in use.
        connections = [
            connected(larder, context, "/openapi.json" if number % 2 else "/healthz")
            for number in range(IDLE_CONNECTIONS)
        ]
        each = (larder.resident_bytes - before) / IDLE_CONNECTIONS
        print(f"idle TLS connection: {each / 1024:.1f} KiB")
        assert each <= IDLE_BYTES_MAX, f"{each / 1024:.1f} KiB for each idle connection"
        assert ask(connections[0]) == 200
        for connection in connections:
            connection.close()


def connected(larder, context, target="/healthz"):
    secure = context.wrap_socket(larder.connect(), server_hostname="localhost")
    assert ask(secure, target) == 200
    return secure


def survives_without_descriptors(site):
    """A connection limit above the descriptor limit: the latter, less a reserve, applies."""
    # The busy connections below send unfinished heads, which have to last longer than the check.
    settings = "limits: {connections: 100000, headDeadline: 120s}\n"
    with site.service(settings, descriptors=160) as larder:
        assert larder.get() == 200
        at_rest = larder.descriptors
        oldest = larder.connect()
        assert ask(oldest) == 200
        flood = []
        for _ in range(300):
            # Connections beyond those that get a 503 are reset, some before they are connected.
            try:
                flood.append(larder.connect())
                ask(flood[-1])
            except OSError:
                pass
        # The longest idle connection was closed, so a new one is served.
        assert larder.get() == 200
        assert oldest.recv(1) == b"", "the oldest idle connection is still there"
        # No connection is idle now: each is in the middle of a request.
        for connection in flood:
            connection.close()
        assert eventually(lambda: larder.descriptors <= at_rest + 2), larder.descriptors
        busy = []
        for _ in range(400):
            try:
                busy.append(larder.connect())
                busy[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost:")
            except OSError:
                pass
        assert eventually(lambda: larder.descriptors >= 120), larder.descriptors
        used, began = larder.cpu_seconds, time.monotonic()
        assert not eventually(lambda: larder.process.poll() is not None, 2)
        share = (larder.cpu_seconds - used) / (time.monotonic() - began)
        assert share < 0.3, f"{share:.0%} of a core while nothing can be accepted"
        # New connections get a 503 after the flood: the kernel retries the last of the flood for
        # seconds, and each takes the place of a connection that gets a 503.
        for _ in range(20):
            assert eventually(lambda: told(larder) == 503)
        for connection in busy:
            connection.close()
        assert eventually(lambda: larder.descriptors <= at_rest + 2), larder.descriptors
        assert larder.get() == 200


def told(larder):
    """The status of a request; None if the connection is reset."""
    try:
        return larder.get()
    except OSError:
        return None


def rude_clients_leave_nothing(site):
    for settings, context in (
        (CERTIFICATE, trusting(site.certificates.authority)), ("", None)
    ):
        limits = "limits: {handshakeDeadline: 2s, headDeadline: 2s}\n"
        with site.service(settings + limits) as larder:
            growth = Growth(larder, context)
            growth.run(RUDE_CONNECTIONS, parts=8)
            kind = "TLS" if context else "plain"
            print(f"rude {kind} connections: {growth.bytes_each:+.1f} bytes for each")
            growth.check()
            assert larder.get(context) == 200


def loses_nothing_over_tls_when_restarted(site):
    port, context = restarts.free_port(), trusting(site.certificates.authority)
    restarts.lose_nothing(
        site, CERTIFICATE, f"127.0.0.1:{port}",
        lambda: restarts.secure_connection(port, context),
    )


def loses_nothing_over_a_unix_socket_when_restarted(site):
    path = site.folder / "unix" / "restarted.sock"
    path.parent.mkdir(exist_ok=True)
    restarts.lose_nothing(
        site, "", f'"unix:{path}"', lambda: restarts.unix_connection(path)
    )


def listens_on_a_unix_socket(site):
    path = site.folder / "unix" / "larder.sock"
    path.parent.mkdir(exist_ok=True)
    # The socket of a dead server.
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    with site.service(listen=f'"unix:{path}"'):
        assert path.stat().st_mode & 0o777 == 0o660, oct(path.stat().st_mode)
        status = subprocess.run(
            ["curl", "--silent", "--unix-socket", path, "http://localhost/healthz", "--output",
             "/dev/null", "--write-out", "%{http_code}"],
            capture_output=True, text=True, timeout=20,
        ).stdout
        assert status == "200", status
        second = Service(site.binary, site.folder / "second", listen=f'"unix:{path}"')
        assert second.process.wait(30) == 69, second.said
        assert f"unix:{path} is in use" in second.said, second.said
    assert not path.exists()
    for wrong, status in ((path.parent / ("x" * 120), 78), ("/nowhere/larder.sock", 69)):
        failed = site.service(listen=f'"unix:{wrong}"')
        assert failed.process.wait(30) == status, failed.said
        assert str(wrong)[:40] in failed.said, failed.said


CHECKS = (
    complies_with_mozillas_profile, shows_the_certificate_of_the_name,
    resumes_sessions_on_every_loop, reads_certificates_again_at_sighup,
    refuses_faulty_certificates_all_at_once, doctor_reports_certificates,
    hostile_handshakes_end_at_their_deadline, holds_idle_connections_in_little_memory,
    survives_without_descriptors, rude_clients_leave_nothing, listens_on_a_unix_socket,
    loses_nothing_over_tls_when_restarted, loses_nothing_over_a_unix_socket_when_restarted,
)


class Site:
    """A folder with certificates, and services in it."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.certificates = Certificates(folder)
        self.certificates.issue("first", "DNS:localhost,IP:127.0.0.1")
        self.certificates.issue("rsa", "DNS:localhost", Certificates.RSA)
        self.certificates.issue("api", "DNS:api.example.test,DNS:*.wild.test")

    def service(self, settings="", **options):
        return Service(self.binary, self.folder / "service", settings, **options)


def opening(binary, folder):
    # The checks hold thousands of connections.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return Site(binary, folder)


if __name__ == "__main__":
    run("secure", __doc__, CHECKS, opening)
