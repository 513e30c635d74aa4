"""Every raw request of the tests, and slow clients, over real sockets.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

Each check runs a process of its own, ended by its own pid.
"""

import asyncio
import pathlib
import resource
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "secure")]
import corpus  # noqa: E402
import slow_clients  # noqa: E402
from check_run import run  # noqa: E402
from service import Certificates, Service, eventually, trusting  # noqa: E402

TLS = "tls:\n  certificate: ../first.pem\n  key: ../first.key\n"
# An unwanted body is read to its end, however slowly it arrives on a busy machine: its faults must be
# found.
PATIENT = "limits: {unwantedBodyDeadline: 60s, unwantedBodyPause: 10s}\n"
SLOW_CLIENTS = 50
# Every deadline is short, so that the slowest client takes seconds. The longest is that of a stall: a
# client that reads too little must be cut off long before it.
SHORT = (
    "limits: {headDeadline: 2s, keepAlive: 2s, stall: 30s, transferGrace: 1s, "
    "transferRate: 64KiB}\n"
)
SLOW_SECONDS_MAX = 12
PROBE_SECONDS_MAX = 2


def requests_whole(site):
    with site.service(PATIENT) as larder:
        all_as_expected(larder, None, is_split=False)


def requests_octet_by_octet(site):
    with site.service(PATIENT) as larder:
        all_as_expected(larder, None, is_split=True)


def requests_over_tls(site):
    with site.service(TLS + PATIENT) as larder:
        all_as_expected(larder, trusting(), is_split=False)


def requests_over_tls_octet_by_octet(site):
    with site.service(TLS + PATIENT) as larder:
        all_as_expected(larder, trusting(), is_split=True)


def all_as_expected(larder, context, is_split):
    lines = asyncio.run(corpus.failures(larder.port, context, is_split))
    assert not lines, "\n".join(lines)
    assert larder.get(context) == 200
    assert eventually(lambda: larder.descriptors < 60), larder.descriptors


def slow_clients_are_ended_and_others_served(site):
    with site.service(SHORT) as larder:
        crowd = slow_clients.Crowd(larder.port, SLOW_CLIENTS, SLOW_SECONDS_MAX)
        asyncio.run(crowd.run())
        wanted = {name: end for name, (_, _, end) in slow_clients.DRIPS.items()}
        wanted |= dict.fromkeys(slow_clients.READS, "reset") | {"half-closes": "200"}
        for name, end in wanted.items():
            found = dict(crowd.ends[name])
            print(f"  {name}: {found}, the last after {crowd.slowest_end[name]:.1f} s")
            assert found == {end: SLOW_CLIENTS}, f"{name}: {found}, not {end}"
        print(f"  {crowd.probes} probes, the slowest {crowd.slowest_probe * 1000:.0f} ms")
        assert crowd.probes > 10 and not crowd.lost, crowd.lost
        assert crowd.slowest_probe < PROBE_SECONDS_MAX, crowd.slowest_probe
        assert eventually(lambda: larder.descriptors < 60), larder.descriptors


CHECKS = (
    requests_whole, requests_octet_by_octet, requests_over_tls, requests_over_tls_octet_by_octet,
    slow_clients_are_ended_and_others_served,
)


class Site:
    """A folder with a certificate, and services in it."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        Certificates(folder).issue("first", "DNS:localhost,IP:127.0.0.1")

    def service(self, settings=""):
        return Service(self.binary, self.folder / "service", settings)


def opening(binary, folder):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return Site(binary, folder)


if __name__ == "__main__":
    run("wire", __doc__, CHECKS, opening)
