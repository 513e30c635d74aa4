"""Clients that use a cluster at random nodes, and record what they ask and get.

Each is a thread with one caller's credentials and one chain of cursors. What it asks for is the seed's choice; what
coincides in time is not.
"""

import http.client
import random
import re
import threading
import time

from nodes import ADMIN

REQUEST_SECONDS = 8
# After a refusal, and between two requests.
PAUSE_SECONDS = 0.08
STEP_SECONDS = 0.01
GIVE_UP_SECONDS = 40
COUNTERS_EACH = 2
TYPES = "types=Counter"


def pending_of(answer):
    """The ids of the nodes that a response names as not having applied a purge or revocation yet."""
    return re.findall(r'"([^"]*)"', answer.headers.get("cluster-pending", ""))


class Client(threading.Thread):
    """A thread that takes steps until it is told to stop."""

    def __init__(self, name, nodes, recorder, seed):
        super().__init__(name=name, daemon=True)
        self.nodes, self.recorder = nodes, recorder
        self.chance = random.Random(f"{seed}/{name}")
        self.over = threading.Event()
        self.headers = {}
        self.device = self.cursor = self.fault = None

    def run(self):
        try:
            self.prepare()
            while not self.over.is_set():
                self.step()
                time.sleep(STEP_SECONDS)
        except Exception as error:
            self.fault = error

    def prepare(self):
        """Gets its credentials."""

    def step(self):
        raise NotImplementedError

    def finish(self):
        """Stops it. Raises what it failed with."""
        self.over.set()
        self.join(GIVE_UP_SECONDS + REQUEST_SECONDS)
        assert not self.is_alive(), f"{self.name} does not end"
        if self.fault:
            raise self.fault

    # Requests

    def node(self):
        return self.chance.choice(self.nodes)

    def request(self, do, arguments, method, target, body=None, headers=None, result=lambda answer: {}, node=None):
        """Sends one request, records it, and returns the response; None if there is no whole one. With `do` None it
        is not recorded."""
        node = node or self.node()
        number = self.recorder.begin(do, self.name, node.name, **arguments) if do else None
        try:
            answer = node.ask(method, target, body, {**self.headers, **(headers or {})}, REQUEST_SECONDS)
        except (OSError, http.client.HTTPException):
            if do:
                self.recorder.end(number, None)
            time.sleep(PAUSE_SECONDS)
            return None
        if do:
            found = result(answer) if 200 <= answer.status < 300 else {"pending": []}
            if answer.status >= 400:
                found["code"] = (answer.json or {}).get("code")
                found["retryAfter"] = answer.headers.get("retry-after")
            self.recorder.end(number, answer.status, **found)
        if answer.status >= 500:
            time.sleep(PAUSE_SECONDS)
        return answer

    def until_good(self, do, arguments, *request, **more):
        """Repeats a request at other nodes until the response is 2xx or a refusal that stays; None if there is none
        within the time or at the end."""
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            answer = self.request(do, arguments, *request, **more)
            if answer and answer.status not in (429, 502, 503, 504):
                return answer
        return None

    def shown(self, often=0.8):
        """(headers, whether the newest cursor is in them)."""
        if self.cursor and self.chance.random() < often:
            return {"Sync-Cursor": self.cursor}, True
        return {}, False

    def adopt(self, answer, cursor=None):
        if answer is not None and 200 <= answer.status < 300:
            self.cursor = cursor or answer.cursor or self.cursor

    def register(self):
        answer = self.until_good(None, {}, "POST", "/v1/devices", {"platform": "other"})
        if answer is None or answer.status != 201:
            raise AssertionError(f"{self.name} gets no device: {answer}")
        self.device = answer.json["id"]
        self.headers = {"Device-Token": answer.json["deviceToken"]}

    # Reads

    def read_counter(self, counter, often=0.8):
        fields, is_shown = self.shown(often)
        answer = self.request(
            "read", {"device": self.device, "counter": counter, "shown": is_shown}, "GET",
            f"/v1/entities/Counter/{counter}", headers=fields,
            result=lambda answer: {"value": answer.json.get("value"), "pending": answer.json.get("_pending", []),
                                   "isCutOff": "cut-off" in answer.cache})
        if is_shown or self.cursor is None:
            self.adopt(answer)

    def list_counters(self, own=(), often=0.8):
        fields, is_shown = self.shown(often)
        answer = self.request(
            "list", {"device": self.device, "own": list(own), "shown": is_shown}, "GET",
            "/v1/entities/Counter?limit=1000", headers=fields,
            result=lambda answer: {"values": {one["id"]: one.get("value") for one in answer.json["items"]},
                                   "isCutOff": "cut-off" in answer.cache})
        if is_shown or self.cursor is None:
            self.adopt(answer)

    def fetch(self, counter, node=None):
        """An operation, which is cached for longer than a run takes."""
        self.request(
            "fetch", {"counter": counter}, "GET", f"/v1/operations/Counter?id={counter}", node=node,
            result=lambda answer: {"value": answer.json["data"]["counter"]["value"], "isHit": "hit" in answer.cache,
                                   "age": int(answer.headers.get("age", 0))})


class Writer(Client):
    """A device that submits mutations on its own counters, each with a higher value, and reads them."""

    def __init__(self, name, nodes, recorder, seed, number):
        super().__init__(name, nodes, recorder, seed)
        self.counters = [f"c{number * COUNTERS_EACH + one}" for one in range(COUNTERS_EACH)]
        self.order = 0
        self.drafts = 0
        self.draft, self.draft_number = None, 0
        self.recent = []
        # The ids of accepted mutations.
        self.marks = {}

    def prepare(self):
        self.register()

    def step(self):
        dice = self.chance.random()
        if dice < 0.45:
            self.submit()
        elif dice < 0.75:
            self.read_counter(self.chance.choice(self.counters))
        elif dice < 0.82:
            self.list_counters(self.counters)
        elif dice < 0.91:
            self.poll()
        elif dice < 0.98:
            self.write_draft()
        else:
            self.end_parked()

    def submit(self):
        """One mutation under one key, repeated at other nodes until the answer is clear."""
        self.order += 1
        counter, mark = self.chance.choice(self.counters), f"{self.name}-{self.order}"
        mode = "steady" if self.chance.random() < 0.6 else "lazy"
        operation = "AddNote" if self.chance.random() < 0.1 else "SetCounter"
        variables = {"counterId": counter, "text": f"note {self.order}"} if operation == "AddNote" else {
            "id": counter, "value": self.order}
        begin = {"device": self.device, "key": mark, "mark": mark, "mode": mode, "counter": counter,
                 "value": self.order, "order": self.order, "operation": operation}
        body = {"operation": operation, "mode": mode, "variables": {**variables, "mark": mark}}
        fields = {"Idempotency-Key": mark, **({"Sync-Cursor": self.cursor} if self.cursor else {})}
        answer = self.until_good(
            "submit", begin, "POST", "/v1/mutations", body, fields,
            result=lambda answer: {"id": answer.json["id"], "state": answer.json["state"],
                                   "replayed": "idempotency-replayed" in answer.headers})
        if answer is not None and 200 <= answer.status < 300:
            self.adopt(answer, answer.json.get("cursor"))
            self.recent = [*self.recent[-4:], (mark, answer.json["id"])]
            self.marks[mark] = answer.json["id"]

    def poll(self):
        if not self.recent:
            return
        mark, identifier = self.chance.choice(self.recent)
        self.request("poll", {"device": self.device, "mark": mark}, "GET", f"/v1/mutations/{identifier}",
                     headers=self.shown()[0], result=lambda answer: {"state": answer.json["state"]})

    def end_parked(self):
        """Retries or discards what is parked, since it blocks what conflicts with it. Returns whether nothing is."""
        answer = self.request(None, {}, "GET", "/v1/mutations?state=parked")
        if answer is None or answer.status != 200:
            return False
        marks = {identifier: mark for mark, identifier in self.marks.items()}
        for one in answer.json["items"]:
            what = self.chance.choice(["retry", "discard"])
            self.request(what, {"device": self.device, "mark": marks.get(one["id"])}, "POST",
                         f"/v1/mutations/{one['id']}/{what}")
        return not answer.json["items"]

    def write_draft(self):
        """A local write, which the leader carries out, and a read of it elsewhere."""
        if self.draft is None:
            self.drafts += 1
            self.draft, self.draft_number = f"{self.name}-{self.drafts}", 0
        self.draft_number += 1
        arguments = {"device": self.device, "draft": self.draft, "number": self.draft_number}
        node = self.node()
        answer = self.request("draft", arguments, "PUT", f"/v1/entities/Draft/{self.draft}",
                              {"number": self.draft_number}, node=node)
        if answer is None or answer.status >= 500:
            # It may be carried out later, over a newer one.
            self.draft = None
            return
        # The node that passed the write on shows it; others do if they are shown a cursor.
        arguments = {"device": self.device, "draft": self.draft, "shown": True}
        self.request("readDraft", arguments, "GET", f"/v1/entities/Draft/{self.draft}", node=node,
                     result=lambda answer: {"number": answer.json["number"]})
        if answer.cursor:
            self.adopt(answer)
            self.request("readDraft", arguments, "GET", f"/v1/entities/Draft/{self.draft}",
                         headers={"Sync-Cursor": self.cursor},
                         result=lambda answer: {"number": answer.json["number"]})


class Reader(Client):
    """An anonymous caller with a chain of cursors."""

    def __init__(self, name, nodes, recorder, seed, counters):
        super().__init__(name, nodes, recorder, seed)
        self.counters = counters

    def step(self):
        dice = self.chance.random()
        if dice < 0.4:
            self.read_counter(self.chance.choice(self.counters))
        elif dice < 0.7:
            self.list_counters()
        elif dice < 0.95:
            self.fetch(self.chance.choice(self.counters))
        else:
            self.request(None, {}, "GET", "/v1/operations/Counters")


class Walker(Client):
    """A caller that keeps a replica by deltas, from node to node under one cursor."""

    def __init__(self, name, nodes, recorder, seed, with_device):
        super().__init__(name, nodes, recorder, seed)
        self.with_device = with_device
        self.since, self.replica, self.waiting = None, {}, {}

    def prepare(self):
        if self.with_device:
            self.register()

    def step(self):
        self.page(self.chance.choice([7, 1000]))
        time.sleep(PAUSE_SECONDS)

    def page(self, limit, node=None):
        """Asks for one page and applies whole deltas. Returns whether the replica is complete."""
        target = f"/v1/changes?{TYPES}&limit={limit}" + (f"&since={self.since}" if self.since else "")
        before = (self.since, dict(self.waiting))

        def result(answer):
            page = answer.json
            if self.since is None:
                self.replica, self.waiting = {}, {}
            for change in page["changes"]:
                self.waiting[change["id"]] = change["data"].get("value") if change["op"] == "put" else None
            self.since = page["cursor"]
            if page["complete"]:
                self.apply()
            return {"isComplete": page["complete"], "values": dict(self.replica) if page["complete"] else {}}

        arguments = {"walker": self.name, "own": [], "isContinued": self.since is not None}
        answer = self.request("changes", arguments, "GET", target, result=result, node=node)
        if answer is None or answer.status >= 500:
            self.since, self.waiting = before
            return False
        if answer.status == 410:
            self.since, self.waiting = None, {}
            return False
        return answer.status == 200 and answer.json["complete"]

    def apply(self):
        for key, value in self.waiting.items():
            if value is None:
                self.replica.pop(key, None)
            else:
                self.replica[key] = value
        self.waiting = {}

    def settle(self):
        """Compares its replica with a fresh snapshot of each node."""
        for node in self.nodes:
            deadline = time.monotonic() + GIVE_UP_SECONDS
            while not self.page(1000, node):
                assert time.monotonic() < deadline, f"{self.name} gets no complete delta from {node.name}"
            fresh = Walker(f"{self.name}-fresh", self.nodes, self.recorder, 0, False)
            fresh.headers = self.headers
            while not fresh.page(1000, node):
                assert time.monotonic() < deadline, f"{self.name} gets no snapshot from {node.name}"
            self.recorder.note("settle", node=node.name, walker=self.name, values=self.replica, snapshot=fresh.replica)


class Guard(Client):
    """Makes credentials and ends them, and purges; then tries what must not work any more, everywhere."""

    def __init__(self, name, nodes, recorder, seed, counters):
        super().__init__(name, nodes, recorder, seed)
        self.counters, self.seed, self.number = counters, seed, 0

    def label(self, kind):
        self.number += 1
        return {"token": f"{self.name}-{self.number}", "kind": kind}

    def step(self):
        dice = self.chance.random()
        if dice < 0.45:
            self.rotate_and_remove()
        elif dice < 0.75:
            self.sign_out()
        else:
            self.purge()

    def use(self, token, header):
        for node in self.chance.sample(self.nodes, len(self.nodes)):
            self.request("use", token, "GET", "/v1/devices/me", headers=header, node=node)

    def rotate_and_remove(self):
        first = self.label("device")
        answer = self.request("issue", first, "POST", "/v1/devices", {"platform": "other"})
        if answer is None or answer.status != 201:
            return
        header = {"Device-Token": answer.json["deviceToken"]}
        self.use(first, header)
        answer = self.request("revoke", {**first, "by": "rotate"}, "POST", "/v1/devices/me/rotate", headers=header,
                              result=lambda answer: {"pending": pending_of(answer)})
        if answer is None or answer.status != 200:
            return
        second = self.label("device")
        self.recorder.note("issue", node=None, **second)
        next_header = {"Device-Token": answer.json["deviceToken"]}
        self.use(first, header)
        self.use(second, next_header)
        self.request("revoke", {**second, "by": "remove"}, "DELETE", "/v1/devices/me", headers=next_header,
                     result=lambda answer: {"pending": pending_of(answer)})
        self.use(second, next_header)

    def sign_out(self):
        account = {"email": f"{self.name}-{self.seed}-{self.number}@example.com", "password": "a long password"}
        answer = self.request(None, {}, "POST", "/v1/auth/sign-up", account)
        if answer is None or answer.status != 201:
            self.number += 1
            return
        access, refresh = self.label("access"), self.label("refresh")
        for token in (access, refresh):
            self.recorder.note("issue", node=None, **token)
        header = {"Authorization": f"Bearer {answer.json['accessToken']}"}
        for node in self.nodes:
            self.request("use", access, "GET", "/v1/auth/me", headers=header, node=node)
        body = {"refreshToken": answer.json["refreshToken"]}
        self.request("revoke", {**refresh, "by": "signOut"}, "POST", "/v1/auth/sign-out", body,
                     result=lambda answer: {"pending": pending_of(answer)})
        for node in self.chance.sample(self.nodes, len(self.nodes)):
            self.request("use", refresh, "POST", "/v1/auth/refresh", body, node=node)

    def purge(self):
        self.request("purge", {"counter": None}, "POST", "/v1/admin/purge", {"operation": "Counter"},
                     headers={"Authorization": f"Bearer {ADMIN}"},
                     result=lambda answer: {"pending": pending_of(answer)})
        for node in self.chance.sample(self.nodes, len(self.nodes)):
            self.fetch(self.chance.choice(self.counters), node)
        time.sleep(1)
