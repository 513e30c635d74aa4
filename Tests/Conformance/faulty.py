"""Drivers that break the contract in one way each, with which the suite is tested: each must be caught.

  faulty.py --fault NAME --url URL --store DIR
"""

import json
import sys
import uuid

from reference import Failure, Phone, main


class LosesOutbox(Phone):
    def add(self, payload, overlay, is_write):
        """Stored with the next change, not before the reply."""
        saving, self.save = self.save, lambda: None
        try:
            return super().add(payload, overlay, is_write)
        finally:
            self.save = saving


class NewKeyAtRetry(Phone):
    def deliver(self, item):
        if item["tried"]:
            item["key"] = str(uuid.uuid4())
        return super().deliver(item)


class NewPayloadAtRetry(Phone):
    def deliver(self, item):
        payload = json.loads(item["payload"])
        if item["tried"] and payload.get("mode") == "lazy":
            item["payload"] = json.dumps({**payload, "mode": "steady"})
        return super().deliver(item)


class MergesWhatWasSent(Phone):
    def add(self, payload, overlay, is_write):
        for item in self.profile["outbox"]:
            former = json.loads(item["payload"])
            same = all(former.get(name) == payload.get(name) for name in ("operation", "object"))
            if item["state"] == "waiting" and same and payload.get("object"):
                item.update(payload=json.dumps(payload), overlay=overlay)
                self.save()
                return item
        return super().add(payload, overlay, is_write)


class IgnoresReset(Phone):
    def pull(self, query, cursor):
        changes, cursor, from_start, refused = super().pull(query, cursor)
        return changes, cursor, from_start and not refused, refused


class AppliesPagesEarly(Phone):
    def ask(self, method, target, body=None, headers=None):
        answer = super().ask(method, target, body, headers)
        if target.startswith("/v1/changes") and answer[0] == 200 and self.profile["followings"]:
            rows = self.profile["followings"][0]["rows"]
            for change in json.loads(answer[2])["changes"]:
                if change["op"] == "put" and change["type"] != "$mutation":
                    rows.setdefault(change["type"], {})[change["id"]] = change["data"]
            self.save()
        return answer


class DropsOverlayWhenSent(Phone):
    def deliver(self, item):
        reply = super().deliver(item)
        item["shown"] = True
        self.save()
        return reply


class KeepsOverlay(Phone):
    def take_outcome(self, profile, item):
        overlay = item["overlay"]
        super().take_outcome(profile, item)
        if item not in profile["outbox"] and overlay:
            profile.setdefault("ghosts", []).append(item)

    def state(self):
        rows = super().state()
        for item in self.profile.get("ghosts", []):
            for change in item["overlay"]:
                self.fold(rows, change, item["key"])
        return rows


class OrdersByClock(Phone):
    def add(self, payload, overlay, is_write):
        item = super().add(payload, overlay, is_write)
        item["number"] = self.now()
        self.save()
        return item


class OneProfileForAll(Phone):
    def find_profile(self, **members):
        return 0 if self.store.value["profiles"] else None

    def sign_in_at(self, path, email, password):
        answer = self.post(path, {"email": email, "password": password})
        session = self.expect(answer)
        if not self.store.value["profiles"]:
            self.new_device()
        profile = self.store.value["profiles"][0]
        if profile["userId"] not in (None, session["userId"]):
            device = self.expect(self.post("/v1/devices", {"platform": "other"}))
            profile["token"] = device["deviceToken"]
        self.keep_tokens(profile, session)
        self.store.value["active"] = 0
        self.save()
        return {"userId": session["userId"]}


class ForgetsRefreshToken(Phone):
    def refresh(self):
        token, self.profile["refresh"] = self.profile["refresh"], "none"
        self.save()
        self.profile["refresh"] = token
        super().refresh()


class RefusesTheUnavailable(Phone):
    def deliver(self, item):
        try:
            return super().deliver(item)
        except Failure as failure:
            if failure.code != "unavailable":
                raise
            self.refuse(self.profile, item, {"problem": {"code": "unavailable"}})
            self.save()
            return None


class TakesCutResponses(Phone):
    def deliver(self, item):
        try:
            return super().deliver(item)
        except Failure as failure:
            if not getattr(failure, "sent", False):
                raise
            item["state"] = "enqueued"
            self.save()
            return {"response": None}


class ForgetsTemporaryIds(Phone):
    known = {}

    def sync(self):
        self.profile["temporary"] = self.known
        result = super().sync()
        self.known, self.profile["temporary"] = self.profile["temporary"], {}
        self.save()
        return result

    def real(self, key):
        return self.known.get(key, key)


class ShowsWritesTwice(Phone):
    """Drops the overlay of a write one sync late."""

    def take_outcome(self, profile, item):
        if item["isWrite"] and not item.get("late"):
            item["late"] = True
        else:
            super().take_outcome(profile, item)

    def real(self, key):
        return key


class SkipsTheGap(Phone):
    def follow_live(self, subject, credentials):
        class Forgetful(dict):
            def __getitem__(self, name):
                return None if name == "last" else super().__getitem__(name)

        kept = Forgetful(subject)
        for name, one in self.live_subjects.items():
            if one is subject:
                self.live_subjects[name] = kept
        super().follow_live(kept, credentials)


class SendsPartsTwice(Phone):
    def ask(self, method, target, body=None, headers=None):
        answer = super().ask(method, target, body, headers)
        if method == "GET" and "?uploadId=" in target and answer[0] == 200:
            return answer[0], answer[1], json.dumps({"Parts": []}).encode()
        return answer


class ForgetsFollowings(Phone):
    def follow(self, name, types, filter=None, args=None):
        saving, self.save = self.save, lambda: None
        try:
            return super().follow(name, types, filter, args)
        finally:
            self.save = saving


class ReportsTwice(Phone):
    def end(self, profile, item, outcome):
        super().end(profile, item, outcome)
        if outcome["state"] == "applied":
            super().end(profile, item, outcome)


class SendsWhatIsNotStored(Phone):
    def save(self):
        try:
            super().save()
        except Failure:
            pass


FAULTS = {
    "LosesOutbox": ("an item is lost in a kill", ["outbox-is-durable"]),
    "NewKeyAtRetry": ("a second attempt has a new key", ["same-key-after-lost-response"]),
    "NewPayloadAtRetry": ("a second attempt has another payload", ["same-key-after-lost-response"]),
    "MergesWhatWasSent": ("a payload changes that may have been sent", ["frozen-after-the-first-attempt"]),
    "IgnoresReset": ("what is gone stays after a reset", ["cursor-gone"]),
    "AppliesPagesEarly": ("half a snapshot shows", ["many-pages"]),
    "DropsOverlayWhenSent": ("an own write vanishes between 202 and sync", ["own-write-never-vanishes"]),
    "KeepsOverlay": ("a rejected update stays", ["rejected-by-upstream"]),
    "OrdersByClock": ("the order follows the phone's clock", ["clock"]),
    "OneProfileForAll": ("one user's items go with another's", ["two-users"]),
    "ForgetsRefreshToken": ("a lost response signs the user out", ["refresh"]),
    "RefusesTheUnavailable": ("503 ends an item", ["unavailable"]),
    "TakesCutResponses": ("half a response counts as one", ["cut-inside-the-response"]),
    "ForgetsTemporaryIds": ("temporary ids are forgotten at a restart", ["temporary-ids"]),
    "ShowsWritesTwice": ("a written row shows twice for a while", ["local-writes"]),
    "SkipsTheGap": ("changes are lost in a gap", ["live-changes"]),
    "SendsPartsTwice": ("parts that have arrived are sent again", ["files"]),
    "ForgetsFollowings": ("followings are lost, which only a kill shows", ["snapshot-and-deltas"]),
    "ReportsTwice": ("an item has two outcomes", ["outbox-is-durable"]),
    "SendsWhatIsNotStored": ("a full store is ignored", ["storage-full"]),
}


# Those that random scenarios catch, too.
RANDOMLY_CAUGHT = ["LosesOutbox", "NewKeyAtRetry", "DropsOverlayWhenSent", "KeepsOverlay", "OneProfileForAll",
                   "ReportsTwice"]
RANDOM_SCENARIOS = 10


if __name__ == "__main__":
    main(globals()[sys.argv[sys.argv.index("--fault") + 1]])
