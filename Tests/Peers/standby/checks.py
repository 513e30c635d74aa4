"""A primary and its warm standby, as processes that are stopped, killed and paused.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

The guarantees are those of DESIGN.md in Sources/Standby.
"""

import contextlib
import datetime
import http.client
import json
import pathlib
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from check_run import run  # noqa: E402
from machines import LEASE_SECONDS, SECRET, TAKE_OVER_SECONDS_MAX, Site, eventually, rows  # noqa: E402


class Sites:
    """A new pair of machines for each check."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    @contextlib.contextmanager
    def pair(self, name, place=None):
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with Site(self.binary, folder, place) as site:
            primary = site.machine("a").launch().until_primary()
            standby = site.machine("b").launch("--standby")
            yield primary, standby


def standby_says_so(sites):
    with sites.pair("says") as (primary, standby):
        known = primary.register("phone")
        standby.until_following(primary.until_sent())
        answer = standby.ask("GET", "/readyz")
        assert answer.status == 503 and answer.headers["retry-after"], answer
        assert standby.ask("GET", "/healthz").status == 200
        for method, target in [("GET", "/v1/operations"), ("POST", "/v1/devices"), ("GET", "/")]:
            answer = standby.ask(method, target, {} if method == "POST" else None)
            assert answer.status == 503 and answer.json["code"] == "leader_unavailable", answer
        assert standby.metric("larder_standby_is_primary") == 0
        assert standby.metric("larder_standby_lag_seconds") < 30
        status = standby.status
        assert status["lease"]["epoch"] == 1 and not status["lease"]["released"], status
        assert status["folder"]["position"] == status["log"]["position"], status
        assert "held by" in primary.command("standby", "status")
        assert known in primary.devices


def stopped_primary_hands_over(sites):
    with sites.pair("stopped") as (primary, standby):
        known = {primary.register(f"phone {number}") for number in range(5)}
        standby.until_following()
        began = time.monotonic()
        primary.stop()
        standby.until_primary(TAKE_OVER_SECONDS_MAX)
        took = time.monotonic() - began
        assert took < LEASE_SECONDS + 5, f"{took} s"
        # All of it, also what was not sent before the signal.
        assert standby.devices == known
        known.add(standby.register("tablet"))
        position = standby.until_sent()
        primary.launch().until_following(position)
        standby.stop()
        primary.until_primary(TAKE_OVER_SECONDS_MAX)
        assert primary.devices == known
        primary.stop()


def tables_are_equal(sites):
    with sites.pair("equal") as (primary, standby):
        for number in range(30):
            primary.register(f"phone {number}")
        standby.until_following(primary.until_sent())
        for number in range(30):
            primary.register(f"tablet {number}")
        primary.pause()
        primary.resume()
        position = primary.until_sent()
        standby.until_following(position)
        standby.stop()
        theirs = rows(standby)
        primary.kill()
        ours = rows(primary)
        assert set(ours) == set(theirs) and len(ours) > 20, set(ours) ^ set(theirs)
        for table, content in ours.items():
            assert content == theirs[table], table


def successor_waits_for_its_predecessor(sites):
    """A second process of the same machine takes neither the lease nor the address of one that still runs."""
    with sites.pair("successor") as (primary, standby):
        known = {primary.register(f"phone {number}") for number in range(3)}
        standby.until_following(primary.until_sent())
        former = primary.process
        primary.launch()
        eventually(lambda: "waiting for the data folder" in primary.log.read_text(), "the successor waits")
        known.add(primary.register("meanwhile"))
        assert primary.metric("larder_standby_epoch") == 1
        former.terminate()
        assert former.wait(30) == 0, primary.tail()
        pair = (primary, standby)
        eventually(lambda: any(machine.is_primary for machine in pair), "one of them is the primary", 30)
        ruler = next(machine for machine in pair if machine.is_primary)
        assert ruler.devices == known
        other = standby if ruler is primary else primary
        other.until_following(ruler.until_sent())


def killed_primary_is_replaced(sites):
    with sites.pair("killed") as (primary, standby):
        sent = {primary.register(f"phone {number}") for number in range(5)}
        standby.until_following(primary.until_sent())
        primary.kill()
        began = time.monotonic()
        standby.until_primary(TAKE_OVER_SECONDS_MAX)
        assert time.monotonic() - began > LEASE_SECONDS / 2
        assert standby.devices == sent, "not all that was sent is there"
        sent.add(standby.register("tablet"))
        position = standby.until_sent()
        assert standby.metric("larder_standby_epoch") == 2
        primary.launch().until_following(position)
        assert primary.ask("GET", "/readyz").status == 503
        assert standby.is_primary
        standby.kill()
        primary.until_primary(TAKE_OVER_SECONDS_MAX)
        assert primary.devices == sent


def killed_primary_goes_on_with_its_own(sites):
    """What it had acknowledged and not sent is still there if it is back before its lease has ended."""
    with sites.pair("own") as (primary, standby):
        known = {primary.register("phone")}
        standby.until_following(primary.until_sent())
        known |= {primary.register(f"unsent {number}") for number in range(3)}
        primary.kill()
        primary.launch().until_primary()
        assert primary.devices == known
        position = primary.until_sent()
        standby.until_following(position)
        primary.stop()
        standby.until_primary(TAKE_OVER_SECONDS_MAX)
        assert standby.devices == known


def paused_primary_stops_writing(sites):
    with sites.pair("paused") as (primary, standby):
        sent = {primary.register(f"phone {number}") for number in range(3)}
        standby.until_following(primary.until_sent())
        primary.pause()
        standby.until_primary(TAKE_OVER_SECONDS_MAX)
        sent.add(standby.register("tablet"))
        standby.until_sent()
        primary.resume()
        # Until it has found the other one's lease, its own clock stops it.
        taken = []
        for number in range(20):
            # While it starts again as a standby it may not listen.
            with contextlib.suppress(OSError, http.client.HTTPException):
                known = primary.register(f"late {number}")
                if known:
                    taken.append(known)
        assert not taken, f"the former primary has taken writes: {taken}"
        primary.until_following(seconds=60)
        assert primary.process.poll() is None
        assert standby.devices == sent
        standby.stop()
        primary.until_primary(TAKE_OVER_SECONDS_MAX)
        assert primary.devices == sent


def unreachable_store_stops_writes(sites):
    with sites.pair("unreachable") as (primary, _):
        site = sites.folder / "unreachable"
        known = primary.register("phone")
        primary.until_sent()
        (site / "shared").rename(site / "away")
        eventually(lambda: primary.register("late") is None, "writes are refused", LEASE_SECONDS + 10)
        assert primary.metric("larder_standby_takes_writes") == 0
        assert known in primary.devices
        (site / "away").rename(site / "shared")
        eventually(lambda: primary.register("again"), "writes are taken again", 30)


def moment_is_restored(sites):
    with sites.pair("moment") as (primary, _):
        moments = []
        # Only what is after the first snapshot can be restored.
        eventually(lambda: primary.status["snapshots"], "a snapshot", 40)
        for number in range(4):
            primary.register(f"phone {number}")
            time.sleep(0.05)
            moments.append((datetime.datetime.now(datetime.timezone.utc), set(primary.devices)))
            time.sleep(0.05)
        primary.until_sent()
        for number, (moment, known) in enumerate(moments):
            text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            target = f"./then-{number}"
            output = primary.command("restore", "--at", text, "--set", f"data={target}")
            assert "Restored position" in output, output
            output = primary.command("restore", "--at", text, "--set", f"data={target}", status=73)
            assert "has a database" in output, output
            then = [name for name in (primary.folder / target).iterdir() if name.name.startswith("restoring-")]
            assert not then, then
            single = primary.site.machine(f"then-{number}")
            shutil.move(str(primary.folder / target), str(single.folder / "data"))
            text = (primary.folder / "larder.yaml").read_text().split("standby:")[0]
            (single.folder / "larder.yaml").write_text(text.replace(str(primary.port), str(single.port)))
            single.launch()
            eventually(lambda single=single: single.ask("GET", "/readyz").status == 200, "it serves", 40)
            assert single.devices == known, number
            single.kill()
        primary.command("restore", "--at", "2001-01-01T00:00:00Z", "--set", "data=./early", status=1)
        primary.command("restore", "--at", "soon", "--set", "data=./early", status=64)
        primary.command("restore", status=64)


def faults_are_named(sites):
    with sites.pair("faults") as (primary, standby):
        standby.until_following(primary.until_sent())
        standby.stop()
        settings = standby.folder / "larder.yaml"
        right = settings.read_text()
        settings.write_text(right.replace(SECRET, "another-secret-that-is-not-the-same-one"))
        assert "standby.secret" in standby.command("serve", "--standby", status=78)
        settings.write_text(right.replace("/shared", "/elsewhere"))
        assert "mounted" in standby.command("serve", "--standby", status=78)
        settings.write_text(right.split("standby:")[0])
        assert "larder standby leave" in standby.command("serve", status=73)
        assert "--standby needs" in standby.command("serve", "--standby", status=78)
        settings.write_text(right)
        assert "held by" in standby.command("standby", "status")
        doctor = standby.command("doctor", status=1)
        assert "decides between writers" in doctor and "is the primary" in doctor, doctor
        standby.command("standby", "leave")
        assert "single machine" in standby.command("serve", "--standby", status=73)


def buckets_do_too(sites):
    try:
        from s3_server import Moto
    except ImportError as error:
        print(f"left out: a bucket ({error})")
        return
    folder = sites.folder / "moto"
    folder.mkdir(exist_ok=True)
    with Moto(folder) as moto:
        moto.client().create_bucket(Bucket="standby")
        place = (
            f"  bucket: standby\n  endpoint: {moto.url}\n  accessKey: AKIATEST\n  secretKey: secretsecret")
        with sites.pair("bucket", place) as (primary, standby):
            known = {primary.register(f"phone {number}") for number in range(5)}
            standby.until_following(primary.until_sent())
            primary.kill()
            standby.until_primary(TAKE_OVER_SECONDS_MAX)
            assert standby.devices == known
            known.add(standby.register("tablet"))
            primary.launch().until_following(standby.until_sent())
            standby.stop()
            primary.until_primary(TAKE_OVER_SECONDS_MAX)
            assert primary.devices == known
            keys = [item["Key"] for item in moto.client().list_objects_v2(Bucket="standby")["Contents"]]
            assert any(key.startswith("larder/log/") for key in keys), keys
            for key in keys:
                body = moto.client().get_object(Bucket="standby", Key=key)["Body"].read()
                assert b"phone" not in body and b"device" not in body, f"{key} is not encrypted"
            assert json.dumps(primary.status)


CHECKS = [
    standby_says_so, stopped_primary_hands_over, tables_are_equal, successor_waits_for_its_predecessor,
    killed_primary_is_replaced,
    killed_primary_goes_on_with_its_own, paused_primary_stops_writing, unreachable_store_stops_writes,
    moment_is_restored, faults_are_named, buckets_do_too,
]

if __name__ == "__main__":
    run("standby", __doc__, CHECKS, Sites)
