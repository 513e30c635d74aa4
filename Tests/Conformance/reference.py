"""The smallest client that keeps the contract of docs/clients.md, as a driver of the conformance suite.

  reference.py --url URL --store DIR

Everything the phone keeps is one JSON file, which is replaced as a whole before each reply.
"""

import argparse
import http.client
import json
import os
import pathlib
import queue
import secrets
import sys
import threading
import time
import uuid
from urllib.parse import quote, urlencode, urlsplit

REQUEST_SECONDS = 3
RECONNECT_SECONDS = 0.2
ENDED = {"applied", "rejected", "superseded", "annihilated", "expired", "cancelled", "discarded"}
LOCAL_VERBS = {"register", "signUp", "signIn", "clock", "storage"}


class Failure(Exception):
    """What a command replies with in place of a result."""

    def __init__(self, code, message=""):
        super().__init__(message or code)
        self.code = code


class Store:
    """One JSON document, written as a whole."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "phone.json"
        self.is_full = False
        self.value = {"profiles": [], "active": None, "owed": [], "count": 0}
        if self.path.exists():
            self.value = json.loads(self.path.read_text())

    def save(self):
        if self.is_full:
            self.value = json.loads(self.path.read_text()) if self.path.exists() else self.value
            raise Failure("storage_full")
        draft = self.path.with_suffix(".new")
        with draft.open("w") as file:
            json.dump(self.value, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)


class Phone:
    """One method for each verb."""

    def __init__(self, url, folder):
        self.url, self.store = urlsplit(url), Store(folder)
        self.shift = 0
        self.live_subjects = {}

    @property
    def profile(self):
        if self.store.value["active"] is None:
            raise Failure("signed_out")
        return self.store.value["profiles"][self.store.value["active"]]

    def save(self):
        self.store.save()

    def now(self):
        return time.time() + self.shift

    # Requests

    def request(self, method, target, body=None, headers=None, seconds=REQUEST_SECONDS):
        """(status, headers, body). Throws `offline`; `sent` says whether the server can have got it."""
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=seconds)
        try:
            try:
                connection.connect()
            except OSError as error:
                failure = Failure("offline", str(error))
                failure.sent = False
                raise failure from None
            try:
                connection.request(method, target, body, headers or {})
                response = connection.getresponse()
                body = response.read()
                if not is_whole(response):
                    raise http.client.IncompleteRead(body)
                return response.status, response.headers, body
            except (OSError, http.client.HTTPException) as error:
                failure = Failure("offline", str(error))
                failure.sent = True
                raise failure from None
        finally:
            connection.close()

    def post(self, target, value, headers=None):
        fields = {"Content-Type": "application/json", **(headers or {})}
        return self.request("POST", target, json.dumps(value).encode(), fields)

    def credentials(self):
        fields = {"Device-Token": self.profile["token"]}
        if self.profile.get("access"):
            fields["Authorization"] = f"Bearer {self.profile['access']}"
        return fields

    def ask(self, method, target, body=None, headers=None):
        """A request of the active profile; a device that Larder does not know is replaced."""
        answer = self.ask_with_tokens(method, target, body, headers)
        if is_unknown_device(answer):
            self.replace_device()
            answer = self.ask_with_tokens(method, target, body, headers)
        return answer

    def ask_with_tokens(self, method, target, body=None, headers=None):
        """The same; tokens are refreshed when they have expired."""
        profile = self.profile
        if profile.get("ended"):
            raise Failure("signed_out")
        if profile.get("access") and self.now() > profile["expiresAt"]:
            self.refresh()
        answer = self.request(method, target, body, {**(headers or {}), **self.credentials()})
        if answer[0] == 401 and profile.get("access") and code_of(answer) in ("token_expired", "token_invalid"):
            self.refresh()
            answer = self.request(method, target, body, {**(headers or {}), **self.credentials()})
        return answer

    def expect(self, answer):
        """The JSON of a 2xx; else throws the problem's code."""
        status, _, body = answer
        if 200 <= status < 300:
            return json.loads(body) if body else {}
        if status in (429, 502, 503, 504):
            raise Failure("unavailable", body.decode(errors="replace"))
        raise Failure(code_of(answer), body.decode(errors="replace")[:300])

    # Profiles

    def refresh(self):
        """The old refresh token stays until the new one is stored: a lost response does no harm."""
        profile = self.profile
        answer = self.post("/v1/auth/refresh", {"refreshToken": profile["refresh"]})
        if answer[0] == 401:
            profile["ended"] = True
            self.save()
            raise Failure("signed_out")
        self.keep_tokens(profile, self.expect(answer))
        self.save()

    def keep_tokens(self, profile, session):
        profile.update(
            access=session["accessToken"], refresh=session["refreshToken"], userId=session["userId"],
            expiresAt=self.now() + session["expiresIn"], ended=False)

    def new_device(self):
        device = self.expect(self.post("/v1/devices", {"platform": "other", "name": "conformance"}))
        self.store.value["profiles"].append({
            "device": device["id"], "token": device["deviceToken"], "email": None, "userId": None,
            "followings": [], "outcomeCursor": None, "temporary": {}, "outbox": [], "outcomes": [],
            "responses": {}, "uploads": []})
        return len(self.store.value["profiles"]) - 1

    def replace_device(self):
        """What the former device may have submitted must not be submitted again by this one."""
        profile = self.profile
        device = self.expect(self.post("/v1/devices", {"platform": "other", "name": "conformance"}))
        profile.update(device=device["id"], token=device["deviceToken"], outcomeCursor=None)
        for following in profile["followings"]:
            following["cursor"] = None
        for item in list(profile["outbox"]):
            if item["state"] != "waiting" or item["tried"]:
                profile["outbox"].remove(item)
                self.end(profile, item, {"state": "unknown"})
        self.save()

    def find_profile(self, **members):
        for index, profile in enumerate(self.store.value["profiles"]):
            if all(profile[name] == value for name, value in members.items()):
                return index
        return None

    def register(self):
        self.deliver_owed()
        if self.store.value["active"] is None:
            found = self.find_profile(userId=None)
            self.store.value["active"] = self.new_device() if found is None else found
            self.save()
        return {"device": self.profile["device"]}

    def sign_in_at(self, path, email, password):
        self.deliver_owed()
        index = self.find_profile(email=email)
        if index is None:
            index = self.find_profile(userId=None)
        if index is None:
            index = self.new_device()
            self.save()
        for _ in range(2):
            profile = self.store.value["profiles"][index]
            answer = self.post(path, {"email": email, "password": password}, {"Device-Token": profile["token"]})
            if answer[0] != 403 or code_of(answer) != "device_of_another_user":
                break
            index = self.new_device()
            self.save()
        self.keep_tokens(profile, self.expect(answer))
        profile["email"] = email
        self.store.value["active"] = index
        self.save()
        return {"userId": profile["userId"]}

    def signUp(self, email, password):
        return self.sign_in_at("/v1/auth/sign-up", email, password)

    def signIn(self, email, password):
        return self.sign_in_at("/v1/auth/sign-in", email, password)

    def signOut(self):
        profile = self.profile
        if profile.get("refresh"):
            self.store.value["owed"].append({"refreshToken": profile["refresh"], "token": profile["token"]})
        profile.update(access=None, refresh=None)
        self.store.value["active"] = None
        self.save()
        try:
            self.deliver_owed()
        except Failure:
            return {"sent": False}
        return {"sent": True}

    def deliver_owed(self):
        """Tells the server of sign-outs that it has not heard of."""
        while self.store.value["owed"]:
            owed = self.store.value["owed"][0]
            answer = self.post("/v1/auth/sign-out", {"refreshToken": owed["refreshToken"]},
                               {"Device-Token": owed["token"]})
            if answer[0] >= 500 or answer[0] == 429:
                raise Failure("unavailable")
            self.store.value["owed"].pop(0)
            self.save()

    # The replica

    def follow(self, name, types, filter=None, args=None):
        followings = self.profile["followings"]
        wanted = {"name": name, "types": types, "filter": filter, "args": args or []}
        for index, former in enumerate(followings):
            if former["name"] == name:
                if any(former[member] != wanted[member] for member in wanted):
                    followings[index] = {**wanted, "cursor": None, "rows": former["rows"]}
                break
        else:
            followings.append({**wanted, "cursor": None, "rows": {}})
        self.save()
        return {}

    def unfollow(self, name):
        self.profile["followings"] = [one for one in self.profile["followings"] if one["name"] != name]
        self.save()
        return {}

    def pull(self, query, cursor):
        """(changes, cursor, is from the beginning, was refused) of all pages from a cursor."""
        changes, refused, begun = [], False, cursor
        while True:
            parameters = [*query, ("limit", 100), *([("since", cursor)] if cursor else [])]
            answer = self.ask("GET", f"/v1/changes?{urlencode(parameters)}")
            is_refused = answer[0] == 410 or (answer[0] == 403 and code_of(answer) == "forbidden")
            if is_refused and cursor and not refused:
                changes, cursor, begun, refused = [], None, None, True
                continue
            page = self.expect(answer)
            changes += page["changes"]
            cursor = page["cursor"]
            if page["complete"]:
                return changes, cursor, begun is None, refused

    def pull_all(self):
        """Pulls until the outcomes that are known are exactly those that the data show.

        - Returns: (rows and cursor by following, mutations by id, their cursor, count, was refused)."""
        pulled = {one["name"]: (one["rows"], one["cursor"]) for one in self.profile["followings"]}
        mutations, outcome_cursor, count, reset = {}, self.profile["outcomeCursor"], 0, False
        while True:
            for one in self.profile["followings"]:
                query = [("types", ",".join(one["types"])), *([("filter", one["filter"])] if one["filter"] else []),
                         *(("arg", value) for value in one["args"])]
                rows, cursor = pulled[one["name"]]
                changes, cursor, from_start, refused = self.pull(query, cursor)
                rows = {} if from_start else {kind: dict(some) for kind, some in rows.items()}
                for change in changes:
                    if change["op"] == "put":
                        rows.setdefault(change["type"], {})[change["id"]] = change["data"]
                    else:
                        rows.get(change["type"], {}).pop(change["id"], None)
                pulled[one["name"]] = (rows, cursor)
                count += len(changes)
                reset = reset or refused
            changes, outcome_cursor, _, _ = self.pull([("types", "$mutation")], outcome_cursor)
            fresh = {change["id"]: change["data"] for change in changes if change["op"] == "put"}
            mutations.update(fresh)
            if not fresh:
                return pulled, mutations, outcome_cursor, count, reset

    def sync(self):
        self.deliver_owed()
        profile = self.profile
        accepted = {item["key"] for item in profile["outbox"] if item["state"] != "waiting"}
        pulled, mutations, outcome_cursor, count, reset = self.pull_all()
        for one in profile["followings"]:
            one["rows"], one["cursor"] = pulled[one["name"]]
        profile["outcomeCursor"] = outcome_cursor
        for mutation in mutations.values():
            profile["temporary"].update(mutation.get("temporaryIds") or {})
        for item in list(profile["outbox"]):
            mutation = mutations.get(item.get("id"))
            if mutation:
                item["mutation"] = mutation
            if item["key"] in accepted:
                item["shown"] = not item["isWrite"]
                self.take_outcome(profile, item)
        self.save()
        return {"applied": count, "reset": reset}

    def take_outcome(self, profile, item):
        mutation = item.get("mutation") or {"state": "queued"}
        if mutation["state"] in ENDED:
            profile["outbox"].remove(item)
            ended = {name: mutation[name] for name in ("state", "reason", "problem", "response") if name in mutation}
            self.end(profile, item, ended)
        else:
            item["state"] = "parked" if mutation["state"] == "parked" else "enqueued"

    def end(self, profile, item, outcome):
        profile["outcomes"].append({"key": item["key"], "number": item["number"], **outcome})
        profile["outcomes"].sort(key=lambda one: one["number"])

    def real(self, key):
        return self.profile["temporary"].get(key, key)

    def state(self):
        """The replica with the overlays of the outbox, in the order of the items."""
        rows = {}
        for one in self.profile["followings"]:
            for kind, some in one["rows"].items():
                rows.setdefault(kind, {}).update({key: dict(data) for key, data in some.items()})
        for item in sorted(self.profile["outbox"], key=lambda one: one["number"]):
            if not item.get("shown"):
                for change in item["overlay"]:
                    self.fold(rows, change, item["key"])
        return {kind: some for kind, some in rows.items() if some}

    def fold(self, rows, change, key):
        some = rows.setdefault(change["type"], {})
        name = self.real(change["id"])
        if change["op"] == "delete":
            some.pop(name, None)
        elif change["op"] == "create" or name in some:
            fields = {field: self.real(value) if isinstance(value, str) else value
                      for field, value in change["fields"].items()}
            row = some.setdefault(name, {"__typename": change["type"], "id": name})
            row.update(fields)
            row["_pending"] = [*row.get("_pending", []), key]

    def get(self, type, key):
        return {"data": self.state().get(type, {}).get(self.real(key))}

    def list(self, type, where=None, order=None, limit=None):
        items = list(self.state().get(type, {}).items())
        items.sort(key=lambda one: one[0])
        for name in reversed(order or []):
            field = name.removeprefix("-")
            items.sort(key=lambda one: sortable(one[1].get(field)), reverse=name.startswith("-"))
        found = [row for _, row in items if all(holds(row.get(field), op, value) for field, op, value in where or [])]
        return {"items": found[:limit]}

    def newId(self):
        bits = (int(self.now() * 1000) << 80) | (7 << 76) | (secrets.randbits(12) << 64) | (2 << 62)
        return {"id": f"~{uuid.UUID(int=bits | secrets.randbits(62))}"}

    # Queries

    def read(self, operation, variables=None):
        variables = variables or {}
        name = json.dumps([operation, variables], sort_keys=True)
        stored = self.profile["responses"].get(name)
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in variables.items()}
        target = f"/v1/operations/{operation}" + (f"?{urlencode(texts)}" if texts else "")
        try:
            answer = self.ask("GET", target, headers={"If-None-Match": stored["etag"]} if stored else {})
            if answer[0] >= 500 or answer[0] == 429:
                raise Failure("unavailable")
        except Failure as failure:
            if stored and failure.code in ("offline", "unavailable"):
                return {"data": stored["data"], "from": "offline"}
            raise
        if answer[0] == 304:
            return {"data": stored["data"], "from": "notModified"}
        data = self.expect(answer)["data"]
        if answer[1].get("ETag"):
            self.profile["responses"][name] = {"etag": answer[1]["ETag"], "data": data}
            self.save()
        return {"data": data, "from": "network"}

    # The outbox

    def add(self, payload, overlay, is_write):
        """Stores an item: key and payload are as they will be sent, each time."""
        self.store.value["count"] += 1
        item = {
            "key": str(uuid.uuid4()), "number": self.store.value["count"], "payload": json.dumps(payload),
            "operation": payload.get("operation", "$write"), "overlay": overlay, "isWrite": is_write,
            "state": "waiting", "tried": False}
        self.profile["outbox"].append(item)
        self.save()
        return item

    def submit(self, operation, variables=None, mode="lazy", object=None, refs=None, optimistic=None):
        payload = {"operation": operation, "variables": variables or {}, "mode": mode}
        given = {"object": object, "refs": refs, "optimistic": optimistic}
        payload.update({name: value for name, value in given.items() if value is not None})
        return {"key": self.add(payload, optimistic or [], False)["key"]}

    def write(self, operations, mode="lazy"):
        overlay = [overlay_of(one) for one in operations if "id" in one]
        return {"key": self.add({"write": operations, "mode": mode}, overlay, True)["key"]}

    def deliver(self, item):
        """Sends one item. True for a 2xx, False for a refusal that is its outcome."""
        profile = self.profile
        was_tried, item["tried"] = item["tried"], True
        self.save()
        answer = self.ask_with_tokens("POST", "/v1/mutations", item["payload"].encode(), {
            "Content-Type": "application/json", "Idempotency-Key": item["key"]})
        if is_unknown_device(answer):
            item["tried"] = was_tried
            self.replace_device()
            return None if was_tried else self.deliver(item)
        status, _, body = answer
        if 200 <= status < 300:
            reply = json.loads(body)
            item.update(id=reply["id"], state="enqueued", mutation=reply)
            self.save()
            return reply
        if status == 401:
            raise Failure("signed_out")
        if status == 429 or status >= 500:
            raise Failure("unavailable", body.decode(errors="replace")[:300])
        self.refuse(profile, item, {"problem": json.loads(body)})
        self.save()
        return None

    def refuse(self, profile, item, outcome):
        """Ends an item that Larder did not take, and those that need what it would have made."""
        profile["outbox"].remove(item)
        self.end(profile, item, {"state": "refused", **outcome})
        made = {change["id"] for change in item["overlay"] if change["op"] == "create"}
        for other in list(profile["outbox"]):
            if other["state"] == "waiting" and any(name in other["payload"] for name in made):
                self.refuse(profile, other, {"reason": "dependency"})

    def send(self):
        self.deliver_owed()
        sent = 0
        try:
            while waiting := [item for item in self.profile["outbox"] if item["state"] == "waiting"]:
                waiting.sort(key=lambda item: (not item.get("forced"), item["number"]))
                sent += self.deliver(waiting[0]) is not None
        except Failure as failure:
            if failure.code not in ("offline", "unavailable"):
                raise
        return {"sent": sent, "left": len([one for one in self.profile["outbox"] if one["state"] == "waiting"])}

    def force(self, operation, variables=None):
        item = self.add({"operation": operation, "variables": variables or {}, "mode": "force"}, [], False)
        item["forced"] = True
        try:
            reply = self.deliver(item)
        except Failure as failure:
            if failure.code == "offline" and not failure.sent:
                self.profile["outbox"].remove(item)
                self.save()
            raise
        if reply is None:
            raise Failure(self.profile["outcomes"][-1]["problem"]["code"])
        return {"key": item["key"], "response": reply["response"]}

    def outbox(self):
        return {"items": [{"key": item["key"], "operation": item["operation"], "state": item["state"]}
                          for item in sorted(self.profile["outbox"], key=lambda one: one["number"])]}

    def outcomes(self):
        return {"outcomes": [{name: value for name, value in one.items() if name != "number"}
                             for one in self.profile["outcomes"]]}

    def item(self, key):
        for item in self.profile["outbox"]:
            if item["key"] == key:
                return item
        raise Failure("unknown_key")

    def retry(self, key):
        item = self.item(key)
        item["mutation"] = self.expect(self.ask("POST", f"/v1/mutations/{item['id']}/retry"))
        item["state"] = "enqueued"
        self.save()
        return {}

    def discard(self, key):
        item = self.item(key)
        if item["state"] == "waiting" and not item["tried"]:
            self.profile["outbox"].remove(item)
            self.end(self.profile, item, {"state": "discarded"})
            self.save()
            return {}
        if item["state"] == "waiting" and self.deliver(item) is None:
            return {}
        if item["state"] == "parked":
            self.expect(self.ask("POST", f"/v1/mutations/{item['id']}/discard"))
        else:
            self.expect(self.ask("DELETE", f"/v1/mutations/{item['id']}"))
        return {}

    # Files

    def upload(self, bucket, key, path, partBytes):
        target = f"/v1/files/{bucket}/{quote(key.replace('{user}', self.profile['userId'] or ''))}"
        self.profile["uploads"].append({"target": target, "path": path, "part": partBytes, "id": None})
        self.save()
        return self.resume()

    def resume(self):
        sent = 0
        try:
            for upload in list(self.profile["uploads"]):
                for _ in self.parts(upload):
                    sent += 1
                self.profile["uploads"].remove(upload)
                self.save()
        except Failure as failure:
            if failure.code not in ("offline", "unavailable"):
                raise
        return {"done": not self.profile["uploads"], "sent": sent}

    def parts(self, upload):
        """Sends the parts that the server does not have, then completes."""
        target = upload["target"]
        there = set()
        if upload["id"]:
            answer = self.ask("GET", f"{target}?uploadId={upload['id']}")
            if answer[0] == 404:
                if upload.get("completing"):
                    head = self.ask("HEAD", target)
                    if head[0] == 200 and int(head[1]["Content-Length"]) == os.path.getsize(upload["path"]):
                        return
                upload["id"] = None
            else:
                there = {part["PartNumber"] for part in self.expect(answer)["Parts"]}
        if upload["id"] is None:
            upload["id"] = self.expect(self.ask("POST", f"{target}/uploads"))["uploadId"]
            self.save()
        with open(upload["path"], "rb") as file:
            number = 0
            while data := file.read(upload["part"]):
                number += 1
                if number not in there:
                    self.expect(self.ask("PUT", f"{target}?uploadId={upload['id']}&partNumber={number}", data))
                    yield number
        upload["completing"] = True
        self.save()
        self.expect(self.ask("POST", f"{target}?uploadId={upload['id']}"))

    # Live

    def live(self, name, operation=None, variables=None, collection=None, changes=None):
        if operation:
            path, query = f"/v1/operations/{operation}", urlencode(variables or {})
        elif collection:
            path, _, query = collection.partition("?")
        else:
            path, query = "/v1/changes", f"types={','.join(changes['types'])}"
        subject = {
            "path": path, "query": query, "kind": "operation" if operation else "list" if collection else "changes",
            "events": queue.Queue(), "open": True, "last": None, "items": [], "from": "stream"}
        self.live_subjects[name] = subject
        threading.Thread(target=self.follow_live, args=(subject, self.credentials()), daemon=True).start()
        return {}

    def follow_live(self, subject, credentials):
        """Keeps a stream open; as long as none can be opened, polls in its place."""
        while subject["open"]:
            since = "since=now&" if subject["kind"] == "changes" and not subject["last"] else ""
            connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
            try:
                last = {"Last-Event-ID": subject["last"]} if subject["last"] else {}
                connection.request("GET", f"{subject['path']}/stream?{since}{subject['query']}",
                                   headers={**credentials, **last})
                response = connection.getresponse()
                if response.status == 200:
                    subject["from"] = "stream"
                    read_events(response, subject)
                else:
                    subject["from"] = "polling"
                    self.poll(subject, credentials)
            except (OSError, http.client.HTTPException, Failure):
                pass
            finally:
                connection.close()
            time.sleep(RECONNECT_SECONDS)

    def poll(self, subject, credentials):
        path, headers = f"{subject['path']}?{subject['query']}", dict(credentials)
        if subject["kind"] == "changes":
            path += f"&since={subject['last'] or 'now'}"
        elif subject["last"]:
            headers["If-None-Match"] = subject["last"]
        status, fields, body = self.request("GET", path, headers=headers)
        if status != 200:
            return
        value = json.loads(body)
        subject["last"] = value["cursor"] if subject["kind"] == "changes" else fields["ETag"]
        if subject["kind"] == "changes":
            for change in value["changes"]:
                subject["events"].put({"event": "change", "data": change})
        elif subject["kind"] == "operation":
            subject["events"].put({"event": "message", "data": value})
        else:
            subject["events"].put({"event": "list", "data": {"kind": "full", **value}})

    def events(self, name, atLeast, within):
        subject, found = self.live_subjects[name], []
        deadline = time.monotonic() + within
        while True:
            try:
                left = 0 if len(found) >= atLeast else max(0, deadline - time.monotonic())
                found.append(subject["events"].get(block=left > 0, timeout=left or None))
            except queue.Empty:
                break
        for one in found:
            if one["event"] in ("list", "diff"):
                subject["items"] = applied(subject["items"], one["data"])
        return {"events": found, "from": subject["from"]}

    def rows(self, name):
        return {"items": self.live_subjects[name]["items"]}

    def unlive(self, name):
        self.live_subjects.pop(name)["open"] = False
        return {}

    # The phone

    def clock(self, shiftSeconds):
        self.shift = shiftSeconds
        return {}

    def storage(self, full):
        self.store.is_full = full
        return {}


def read_events(response, subject):
    event, data, last = "message", [], None
    for raw in response:
        line = raw.decode().rstrip("\n")
        if line.startswith("id: "):
            last = line[4:]
        elif line.startswith("event: "):
            event = line[7:]
        elif line.startswith("data: "):
            data.append(line[6:])
        elif not line:
            if last:
                subject["last"] = last
            if data and event in ("message", "change", "list", "diff"):
                subject["events"].put({"event": event, "data": json.loads("\n".join(data))})
            event, data, last = "message", [], None


def applied(items, change):
    """A list after a `list` or `diff` event: all indexes of the new list are filled from the old one or anew."""
    if change["kind"] == "full":
        return change["items"]
    entities = change["entities"]
    new = [None] * change["count"]
    for one in change["inserts"]:
        new[one["index"]] = entities[one["id"]]
    for one in change["moves"]:
        new[one["to"]] = items[one["from"]]
    gone = {*change["deletes"], *(one["from"] for one in change["moves"])}
    staying = iter(item for index, item in enumerate(items) if index not in gone)
    new = [next(staying) if item is None else item for item in new]
    for one in change["updates"]:
        new[one["new"]] = entities[one["id"]]
    return new


def is_whole(response):
    """False for a head that was cut off: http.client takes the end of a connection for the end of a head."""
    has_length = response.headers.get("Content-Length") is not None or response.chunked
    return has_length or response.status in (204, 304)


def is_unknown_device(answer):
    return answer[0] == 401 and code_of(answer) == "unauthenticated"


def code_of(answer):
    try:
        return json.loads(answer[2])["code"]
    except (ValueError, KeyError, TypeError):
        return f"http_{answer[0]}"


def overlay_of(operation):
    """How an operation on a row shows until Larder has applied it."""
    op = {"delete": "delete", "update": "merge"}.get(operation["op"], "create")
    return {"op": op, "type": operation["type"], "id": operation["id"], "fields": operation.get("data", {})}


def sortable(value):
    return (value is not None, value if value is not None else 0)


def holds(found, op, value):
    if found is None:
        return False
    return {
        "=": lambda: found == value, "!=": lambda: found != value, "<": lambda: found < value,
        "<=": lambda: found <= value, ">": lambda: found > value, ">=": lambda: found >= value,
        "contains": lambda: value in found, "in": lambda: found in value,
    }[op]()


def serve(phone):
    """Carries out the commands of standard input."""
    for line in sys.stdin:
        command = json.loads(line)
        number, verb = command.pop("id"), command.pop("do")
        try:
            if verb not in VERBS:
                raise Failure("unsupported", verb)
            if verb not in LOCAL_VERBS:
                phone.profile
            reply = {"ok": getattr(phone, verb)(**command)}
        except Failure as failure:
            reply = {"error": {"code": failure.code, "message": str(failure)}}
        print(json.dumps({"id": number, **reply}), flush=True)


VERBS = {
    "register", "signUp", "signIn", "signOut", "follow", "unfollow", "sync", "get", "list", "state", "newId",
    "read", "submit", "write", "force", "send", "outbox", "outcomes", "retry", "discard", "upload", "resume",
    "live", "events", "rows", "unlive", "clock", "storage",
}


def main(kind=Phone):
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--store", required=True)
    arguments, _ = parser.parse_known_args()
    serve(kind(arguments.url, arguments.store))


if __name__ == "__main__":
    main()
