"""One upstream, one Larder, the proxy and one driver, and whether they agree."""

import json
import time
from urllib.parse import urlencode

from driver import Driver
from patterns import short
from proxy import Proxy
from server import Server
from upstream import Upstream

SETTLE_SECONDS = 20
AGREE_SECONDS = 6
UPSTREAM_TYPES = {"Film": "Films", "Maker": "Makers", "Review": "Reviews"}


class World:
    """Everything that a scenario plays with. Closes it all at its end."""

    def __init__(self, binary, command, folder, settings):
        folder.mkdir(parents=True)
        self.folder = folder
        self.upstream = Upstream()
        self.proxy = self.server = self.driver = None
        try:
            self.server = Server(binary, folder, self.upstream.port, settings)
            self.proxy = Proxy(self.server, lambda: self.driver.kill())
            url = f"http://127.0.0.1:{self.proxy.port}"
            self.driver = Driver(command, url, folder / "store", folder / "driver.log")
            self.driver.start()
            for operation in UPSTREAM_TYPES.values():
                self.refresh(operation)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.driver:
            self.driver.kill()
        if self.proxy:
            self.proxy.close()
        if self.server:
            self.server.kill()
        self.upstream.close()

    # Commands

    def command(self, verb, **arguments):
        """The result of a command that must succeed."""
        reply = self.driver.call({"do": verb, **arguments})
        assert "ok" in reply, f"{verb} failed: {short(reply['error'])}"
        return reply["ok"]

    def refresh(self, operation, variables=None):
        target = f"/v1/operations/{operation}" + (f"?{urlencode(variables)}" if variables else "")
        status, _, body = self.server.ask("GET", target, headers={"Cache-Control": "no-cache"})
        assert status == 200, f"{operation} gives {status}: {body[:300]}"

    # Agreement

    def settle(self):
        """Sends and pulls until every item has its outcome."""
        deadline = time.monotonic() + SETTLE_SECONDS
        pause = 0.02
        while True:
            sent, pulled = self.driver.call({"do": "send"}), self.driver.call({"do": "sync"})
            items = self.command("outbox")["items"]
            if not items and "ok" in sent and "ok" in pulled:
                return
            assert time.monotonic() < deadline, (
                f"the outbox still has {short(items)} after {SETTLE_SECONDS} s; "
                f"send: {short(sent)}, sync: {short(pulled)}")
            time.sleep(pause)
            pause = min(0.3, pause * 2)

    def phone_headers(self):
        """The tokens that the driver sent last."""
        for record in reversed(self.proxy.requests):
            if record["path"].startswith("/v1/changes"):
                headers = record["headers"]
                return {name: headers[name] for name in ("device-token", "authorization") if name in headers}
        raise AssertionError("the driver has read no changes yet")

    def snapshot(self, kinds):
        """What Larder shows the phone's profile, by type and key."""
        found, cursor = {kind: {} for kind in kinds}, None
        headers = self.phone_headers()
        while True:
            query = {"types": ",".join(kinds), **({"since": cursor} if cursor else {})}
            status, _, body = self.server.ask("GET", f"/v1/changes?{urlencode(query)}", headers=headers)
            assert status == 200, f"a snapshot gives {status}: {body[:300]}"
            page = json.loads(body)
            for change in page["changes"]:
                found[change["type"]][change["id"]] = plain(change["data"])
            cursor = page["cursor"]
            if page["complete"]:
                return found

    def agree(self, kinds):
        """
        Phone, Larder and upstream show the same; tried again for a while, since what two mutations wrote at once is
        fetched again.
        """
        deadline = time.monotonic() + AGREE_SECONDS
        while True:
            for operation in {UPSTREAM_TYPES[kind] for kind in kinds if kind in UPSTREAM_TYPES}:
                self.refresh(operation)
            self.command("sync")
            fault = self._disagreement(kinds)
            if fault is None:
                return
            assert time.monotonic() < deadline, fault
            self._look_up_ghosts(kinds)
            time.sleep(0.2)

    def _look_up_ghosts(self, kinds):
        """
        Opens each film that Larder shows and upstream has not. A deletion that another device's update overtook
        leaves such a film: no list names it any more, and only a look-up of its key finds that it is gone.
        """
        if "Film" in kinds:
            for key in self.snapshot(["Film"])["Film"].keys() - self.upstream.rows("Film").keys():
                self.refresh("Film", {"id": key})

    def _disagreement(self, kinds):
        phone = self.command("state")
        larder = self.snapshot(kinds)
        for kind in kinds:
            shown = {key: plain(row) for key, row in phone.get(kind, {}).items()}
            if shown != larder[kind]:
                return f"{kind}: the phone has, Larder has not: {differences(shown, larder[kind])}"
            if kind in UPSTREAM_TYPES:
                wanted = self._upstream_rows(kind, larder[kind])
                if larder[kind] != wanted:
                    return f"{kind}: Larder has, upstream has not: {differences(larder[kind], wanted)}"
        return None

    def _upstream_rows(self, kind, like):
        """Upstream's entities, of each those fields that Larder has fetched."""
        return {key: {name: value for name, value in row.items() if name in like.get(key, row)}
                for key, row in self.upstream.rows(kind).items()}


def plain(row):
    """An entity without what is not compared."""
    return {name: value for name, value in row.items() if name not in ("_rev", "_pending")}


def differences(these, those):
    keys = [key for key in {**these, **those} if these.get(key) != those.get(key)]
    return "; ".join(f"{key}: {these.get(key)} / {those.get(key)}" for key in keys[:5])
