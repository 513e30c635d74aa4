"""The steps of scenarios, each of which acts on a world or expects something of it."""

import hashlib
import json
import pathlib
import random
import time
from urllib.parse import urlencode

from driver import Died
from patterns import dig, filled, mismatch, short
from world import plain

SHOWN_HEADERS = ("idempotency-key", "device-token", "authorization", "if-none-match", "content-type")
SHOWN_REQUESTS_MAX = 60
ROUND_SECONDS = 6


class Steps:
    """The steps of one scenario in a world."""

    def __init__(self, world):
        self.world = world
        self.saved = {}
        self.first_request = self.first_effect = 0
        self.mark()

    def mark(self, step=None):
        self.first_request = len(self.world.proxy.requests)
        self.first_effect = len(self.world.upstream.effects)

    def requests_since_mark(self):
        return self.world.proxy.requests[self.first_request :]

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
                reply = self.world.driver.call(command)
            except Died:
                self.world.driver.start()
                return
            raise AssertionError(f"the driver was to be killed in this step, and replied {short(reply)}")
        reply = self.world.driver.call(command)
        if "error" in step:
            is_wanted = mismatch(reply.get("error", {}).get("code"), step["error"]) is None
            assert is_wanted, f"{step['do']} gives {short(reply)}, not error {step['error']}"
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
            paths = step["path"] if isinstance(step["path"], list) else [step["path"]]
            found = [one for one in found if one["path"] in paths]
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
        self.first_request = len(self.world.proxy.requests)

    def same(self, step):
        found = [one for one in self.requests_since_mark() if one["path"] == step["path"]]
        is_enough = len(found) >= step.get("atLeast", 2)
        assert is_enough, f"only {len(found)} requests to {step['path']}:\n{listed(found)}"
        for path in step["same"]:
            values = [dig(one, path) for one in found]
            assert all(value == values[0] for value in values), f"{path} differs: {short(values)}"

    def expect_effects(self, step):
        found = self.world.upstream.effects[self.first_effect :]
        fault = mismatch(found, step["effects"])
        assert fault is None, f"effects upstream: {fault}\n  all: {short(found)}"

    def network(self, step):
        self.world.proxy.switch_off() if step["network"] == "off" else self.world.proxy.switch_on()

    def act_on_server(self, step):
        action = step["server"]
        if action in ("kill", "restart"):
            self.world.server.kill()
        if action in ("start", "restart"):
            self.world.server.start(step.get("settings"))

    def other(self, step):
        request = step["other"]
        self._direct(request, request["method"], request["path"], headers=request.get("headers", {}))

    def beside(self, step):
        """A request with the phone's own tokens, beside the driver."""
        method, target = step["beside"].split(" ", 1)
        self._direct(step, method, target, headers=self.world.phone_headers())

    def _direct(self, step, method, target, headers):
        status, _, body = self.world.server.ask(method, target, step.get("body"), headers)
        wanted = step.get("status")
        is_wanted = status == wanted if wanted else 200 <= status < 300
        assert is_wanted, f"{method} {target} gives {status}: {body[:500]}"

    def rounds(self, step):
        """Random changes upstream, after each of which the list on the phone is soon that of Larder."""
        chance, world = random.Random(step["seed"]), self.world
        for number in range(step["rounds"]):
            films = sorted(world.upstream.rows("Film"))
            for film in chance.sample(films, chance.randint(1, 4)):
                world.upstream.write({"Film": {film: chance.choice([
                    {"year": chance.randint(1900, 2030)}, {"title": f"Round {number}, {film}"}])}})
            if chance.random() < 0.3:
                year = chance.randint(1900, 2030)
                world.upstream.write({"Film": {f"n{number}": {"title": f"New {number}", "year": year}}})
            if chance.random() < 0.2:
                gone = chance.choice(films)
                world.upstream.write({"Film": {gone: None}})
                world.refresh("Film", {"id": gone})
            world.refresh("Films")
            self.same_list(step["name"], step["collection"], number)

    def same_list(self, name, collection, number):
        deadline = time.monotonic() + ROUND_SECONDS
        while True:
            self.world.command("events", name=name, atLeast=0, within=0.1)
            rows = [plain(row) for row in self.world.command("rows", name=name)["items"]]
            listed_rows = json.loads(self.world.server.ask("GET", collection)[2])["items"]
            if rows == [plain(row) for row in listed_rows]:
                return
            assert time.monotonic() < deadline, f"round {number}: {short(rows)} is not {short(listed_rows)}"
            time.sleep(0.02)

    def make_file(self, step):
        path = self.world.folder / step["file"]
        path.write_bytes(bytes(hashlib.shake_128(step["file"].encode()).digest(step["bytes"])))
        self.saved[step["save"]] = str(path)

    def expect_object(self, step):
        status, _, body = self.world.server.admin("GET", step["object"])
        assert status == 200, f"GET {step['object']} gives {status}: {body[:300]}"
        wanted = pathlib.Path(step["sha256Of"]).read_bytes()
        assert body == wanted, f"{step['object']} has {len(body)} bytes that are not the file's {len(wanted)}"


STEPS = {
    "do": Steps.do,
    "repeat": Steps.repeat,
    "settle": lambda steps, step: steps.world.settle(),
    "agree": lambda steps, step: steps.world.agree(step["agree"]),
    "requests": Steps.expect_requests,
    "same": Steps.same,
    "mark": Steps.mark,
    "effects": Steps.expect_effects,
    "fault": lambda steps, step: steps.world.proxy.add(step),
    "faults": lambda steps, step: steps.world.proxy.faults.clear(),
    "network": Steps.network,
    "server": Steps.act_on_server,
    "upstream": lambda steps, step: steps.world.upstream.switch(step["upstream"], step.get("times")),
    "upstreamWrite": lambda steps, step: steps.world.upstream.write(step["upstreamWrite"]),
    "refresh": lambda steps, step: steps.world.refresh(step["refresh"], step.get("variables")),
    "other": Steps.other,
    "beside": Steps.beside,
    "restart": lambda steps, step: steps.world.driver.restart(),
    "file": Steps.make_file,
    "object": Steps.expect_object,
    "films": lambda steps, step: steps.world.upstream.write({"Film": {
        f"g{n}": {"title": f"Film {n}", "year": 1900 + n % 120} for n in range(step["films"])}}),
    "rounds": Steps.rounds,
    "wait": lambda steps, step: time.sleep(step["wait"]),
}


def listed(records):
    """Requests as lines, for a report."""
    lines = []
    for one in records[-SHOWN_REQUESTS_MAX:]:
        headers = {n: one["headers"][n] for n in SHOWN_HEADERS if n in one["headers"]}
        headers = {n: v if len(v) < 50 else f"{v[:12]}…{v[-6:]}" for n, v in headers.items()}
        query = f"?{urlencode(one['query'])[:200]}" if one["query"] else ""
        fault = f" [{one['fault']}]" if one.get("fault") else ""
        body = f" {json.dumps(one['body'], ensure_ascii=False)[:300]}" if one["body"] is not None else ""
        is_problem = (one["status"] or 0) >= 400 and one["response"] is not None
        problem = f" {json.dumps(one['response'], ensure_ascii=False)[:300]}" if is_problem else ""
        lines.append(f"    {one['method']} {one['path']}{query} {headers}{body} -> {one['status']}{fault}{problem}")
    return "\n".join(lines) or "    (none)"
