"""One upstream, one Larder, the proxy and one driver, and the steps of scenarios."""

import hashlib
import json
import pathlib
import time
from urllib.parse import urlencode

from driver import Died, Driver
from patterns import dig, filled, mismatch, short
from proxy import Proxy
from server import ADMIN, Server
from upstream import Upstream

SETTLE_SECONDS = 20
AGREE_SECONDS = 6
UPSTREAM_TYPES = {"Film": "Films", "Maker": "Makers", "Review": "Reviews"}
COMPARED_HEADERS = ("idempotency-key", "device-token", "authorization", "if-none-match", "content-type")


class World:
    """Everything that a scenario plays with. Closes it all at its end."""

    def __init__(self, binary, command, folder, settings):
        folder.mkdir(parents=True)
        self.folder = folder
        self.saved = {}
        self.mark_requests = self.mark_effects = 0
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

    def requests_since_mark(self):
        with self.proxy.lock:
            return self.proxy.requests[self.mark_requests :]

    def mark(self):
        self.mark_requests, self.mark_effects = len(self.proxy.requests), len(self.upstream.effects)

    # Agreement

    def settle(self, parked_ends=False):
        """Sends and pulls until every item has its outcome, or with `parked_ends` is parked."""
        deadline = time.monotonic() + SETTLE_SECONDS
        pause = 0.02
        while True:
            sent, pulled = self.driver.call({"do": "send"}), self.driver.call({"do": "sync"})
            items = self.command("outbox")["items"]
            left = [one for one in items if not (parked_ends and one["state"] == "parked")]
            if not left and "ok" in sent and "ok" in pulled:
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
                return {n: record["headers"][n] for n in ("device-token", "authorization") if n in record["headers"]}
        raise AssertionError("the driver has read no changes yet")

    def snapshot(self, kinds, filter=None):
        """What Larder shows the phone's profile, by type and key."""
        found, cursor = {kind: {} for kind in kinds}, None
        headers = self.phone_headers()
        while True:
            query = {"types": ",".join(kinds), **({"filter": filter} if filter else {}),
                     **({"since": cursor} if cursor else {})}
            status, _, body = self.server.ask("GET", f"/v1/changes?{urlencode(query)}", headers=headers)
            assert status == 200, f"a snapshot gives {status}: {body[:300]}"
            page = json.loads(body)
            for change in page["changes"]:
                found[change["type"]][change["id"]] = plain(change["data"])
            cursor = page["cursor"]
            if page["complete"]:
                return found

    def agree(self, kinds, filter=None):
        """Phone, Larder and upstream show the same; tried again for a while, since Larder fetches again."""
        deadline = time.monotonic() + AGREE_SECONDS
        for operation in {UPSTREAM_TYPES[kind] for kind in kinds if kind in UPSTREAM_TYPES}:
            self.refresh(operation)
        while True:
            self.command("sync")
            fault = self._disagreement(kinds, filter)
            if fault is None:
                return
            assert time.monotonic() < deadline, fault
            time.sleep(0.2)

    def _disagreement(self, kinds, filter):
        phone = self.command("state")
        larder = self.snapshot(kinds, filter)
        for kind in kinds:
            shown = {key: plain(row) for key, row in phone.get(kind, {}).items()}
            if shown != larder[kind]:
                return f"{kind}: the phone has, Larder has not: {differences(shown, larder[kind])}"
            if kind in UPSTREAM_TYPES and not filter:
                wanted = self._upstream_rows(kind, larder[kind])
                if larder[kind] != wanted:
                    return f"{kind}: Larder has, upstream has not: {differences(larder[kind], wanted)}"
        return None

    def _upstream_rows(self, kind, like):
        """Upstream's entities, of each those fields that Larder has fetched."""
        rows = self.upstream.rows(kind)
        return {key: {n: v for n, v in row.items() if key not in like or n in like[key]} for key, row in rows.items()}

    # Steps

    def step(self, step):
        step = filled(step, self.saved)
        for name in STEPS:
            if name in step:
                return STEPS[name](self, step)
        raise AssertionError(f"unknown step {short(step)}")

    def do(self, step):
        command = {n: v for n, v in step.items() if n not in ("ok", "error", "save", "dies", "about")}
        if step.get("dies"):
            try:
                reply = self.driver.call(command)
            except Died:
                self.driver.start()
                return
            raise AssertionError(f"the driver replied {short(reply)}, though it was to be killed in this step")
        reply = self.driver.call(command)
        if "error" in step:
            code = reply.get("error", {}).get("code")
            assert mismatch(code, step["error"]) is None, f"{step['do']} gives {short(reply)}, not error {step['error']}"
            return
        assert "ok" in reply, f"{step['do']} fails: {short(reply['error'])}"
        fault = mismatch(reply["ok"], step.get("ok", {}))
        assert fault is None, f"{step['do']}: {fault}\n  whole result: {short(reply['ok'])}"
        for name, path in step.get("save", {}).items():
            self.saved[name] = dig(reply["ok"], path)
            assert self.saved[name] is not None, f"{step['do']}: there is no {path} in {short(reply['ok'])}"

    def repeat(self, step):
        deadline = time.monotonic() + step.get("within", 10)
        while True:
            for one in step["repeat"]:
                self.step(one)
            try:
                return self.step(step["until"])
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def expect_requests(self, step):
        found = self.requests_since_mark()
        if "path" in step:
            found = [one for one in found if one["path"] == step["path"]]
        if step.get("among"):
            for pattern in step["requests"]:
                faults = [mismatch(one, pattern) for one in found]
                assert None in faults, f"no request matches {short(pattern)} among:\n{listed(found)}"
        else:
            assert len(found) == len(step["requests"]), (
                f"{len(found)} requests, not {len(step['requests'])}:\n{listed(found)}")
            for index, (one, pattern) in enumerate(zip(found, step["requests"])):
                fault = mismatch(one, pattern, f"request {index}: ")
                assert fault is None, f"{fault}\n{listed(found)}"
        self.mark_requests = len(self.proxy.requests)

    def same(self, step):
        found = [one for one in self.requests_since_mark() if one["path"] == step["path"]]
        assert len(found) >= step.get("atLeast", 2), f"only {len(found)} requests to {step['path']}:\n{listed(found)}"
        for path in step["same"]:
            values = [dig(one, path) for one in found]
            assert all(value == values[0] for value in values), f"{path} differs: {short(values)}"

    def expect_effects(self, step):
        found = self.upstream.effects[self.mark_effects :]
        fault = mismatch(found, step["effects"])
        assert fault is None, f"effects upstream: {fault}\n  all: {short(found)}"

    def network(self, step):
        self.proxy.switch_off() if step["network"] == "off" else self.proxy.switch_on()

    def act_on_server(self, step):
        action = step["server"]
        if action in ("kill", "restart"):
            self.server.kill()
        if action in ("start", "restart"):
            self.server.start(step.get("settings"))

    def admin(self, step):
        self._direct(step, *step["admin"].split(" ", 1), headers={"Authorization": f"Bearer {ADMIN}"})

    def other(self, step):
        request = step["other"]
        self._direct(request, request["method"], request["path"], headers=request.get("headers", {}))

    def phone_device(self, step):
        """A request with the phone's own tokens, beside the driver."""
        method, target = step["beside"].split(" ", 1)
        self._direct(step, method, target, headers=self.phone_headers())

    def _direct(self, step, method, target, headers):
        status, _, body = self.server.ask(method, target, step.get("body"), headers)
        wanted = step.get("status")
        is_wanted = status == wanted if wanted else 200 <= status < 300
        assert is_wanted, f"{method} {target} gives {status}: {body[:500]}"

    def make_file(self, step):
        path = self.folder / step["file"]
        path.write_bytes(bytes(hashlib.shake_128(step["file"].encode()).digest(step["bytes"])))
        self.saved[step["save"]] = str(path)

    def expect_object(self, step):
        status, _, body = self.server.admin("GET", step["object"])
        assert status == 200, f"GET {step['object']} gives {status}: {body[:300]}"
        wanted = pathlib.Path(step["sha256Of"]).read_bytes()
        assert body == wanted, f"{step['object']} has {len(body)} bytes that are not the file's {len(wanted)}"


STEPS = {
    "do": World.do,
    "repeat": World.repeat,
    "settle": lambda world, step: world.settle(),
    "agree": lambda world, step: world.agree(step["agree"], step.get("filter")),
    "requests": World.expect_requests,
    "same": World.same,
    "mark": lambda world, step: world.mark(),
    "effects": World.expect_effects,
    "fault": lambda world, step: world.proxy.add(step),
    "faults": lambda world, step: world.proxy.faults.clear(),
    "network": World.network,
    "server": World.act_on_server,
    "upstream": lambda world, step: world.upstream.switch(step["upstream"], step.get("times")),
    "upstreamWrite": lambda world, step: world.upstream.write(step["upstreamWrite"]),
    "refresh": lambda world, step: world.refresh(step["refresh"], step.get("variables")),
    "admin": World.admin,
    "other": World.other,
    "beside": World.phone_device,
    "restart": lambda world, step: world.driver.restart(),
    "file": World.make_file,
    "object": World.expect_object,
    "films": lambda world, step: world.upstream.write({"Film": {
        f"g{n}": {"title": f"Film {n}", "year": 1900 + n % 120} for n in range(step["films"])}}),
    "wait": lambda world, step: time.sleep(step["wait"]),
}


def plain(row):
    """An entity without what is not compared."""
    return {name: value for name, value in row.items() if name not in ("_rev", "_pending")}


def differences(these, those):
    keys = [key for key in {**these, **those} if these.get(key) != those.get(key)]
    return "; ".join(f"{key}: {these.get(key)} / {those.get(key)}" for key in keys[:5])


def listed(records):
    """Requests as lines, for a report."""
    lines = []
    for one in records[-60:]:
        headers = {n: one["headers"][n] for n in COMPARED_HEADERS if n in one["headers"]}
        headers = {n: v if len(v) < 50 else f"{v[:12]}…{v[-6:]}" for n, v in headers.items()}
        query = f"?{urlencode(one['query'])[:200]}" if one["query"] else ""
        fault = f" [{one['fault']}]" if one.get("fault") else ""
        body = f" {json.dumps(one['body'], ensure_ascii=False)[:300]}" if one["body"] is not None else ""
        lines.append(f"    {one['method']} {one['path']}{query} {headers}{body} -> {one['status']}{fault}")
    return "\n".join(lines) or "    (none)"
