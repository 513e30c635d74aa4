"""Drivers that break the contract in one way each, with which the suite is tested, and what catches each.

  faulty.py --fault NAME --url URL --store DIR
"""

import dataclasses
import json
import sys
import uuid

from reference import Failure, Phone, main


@dataclasses.dataclass
class Fault:
    """A faulty driver, and what catches it."""

    driver: type
    about: str
    # By scenario, a regular expression that the report of the expectation matches.
    caught_by: dict[str, str]
    # That of what the random scenarios report, if they catch it too.
    by_chance: str | None = None
    # That of what `CUT` reports, if it catches it too.
    by_cut: str | None = None
    # Whether the driver is killed after each step.
    is_killed: bool = False

    @property
    def name(self):
        return self.driver.__name__


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


class TakesForeignResponses(Phone):
    @staticmethod
    def is_larders(response, body):
        return True


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
    """Shows the overlay of a write up to the sync after that of its outcome."""

    late = ()

    def sync(self):
        self.late = []
        return super().sync()

    def take_outcome(self, profile, item):
        super().take_outcome(profile, item)
        if item["isWrite"] and item not in profile["outbox"]:
            self.late.append(item)

    def state(self):
        rows = super().state()
        for change in (change for item in self.late for change in item["overlay"] if change["op"] == "create"):
            rows.setdefault(change["type"], {})[change["id"]] = {"id": change["id"], **change["fields"]}
        return rows


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


# The first mutation of this scenario is its sixth request.
CUT = ("own-write-never-vanishes", 6, "afterRequest")

FAULTS = {
    one.name: one for one in (
        Fault(LosesOutbox, "an item is lost in a kill",
              {"outbox-is-durable": r'"do": "outbox".*/items is \[\], not '},
              by_chance=r"without outcome \{"),
        Fault(NewKeyAtRetry, "a second attempt has a new key",
              {"same-key-after-lost-response": r"headers\.idempotency-key differs"},
              by_chance=r"never submitted \{", by_cut=r"never submitted \{"),
        Fault(NewPayloadAtRetry, "a second attempt has another payload, which Larder refuses",
              {"same-key-after-lost-response": r'"do": "send".*/sent is 0, not 1'}),
        Fault(MergesWhatWasSent, "a payload changes that may have been sent",
              {"frozen-after-the-first-attempt": r"not \[\{'key': '([^']+)'.*\{'key': '\1'"}),
        Fault(IgnoresReset, "what is gone stays after a reset",
              {"cursor-gone": r'"key": "f2".*/data is .*, not None'}),
        Fault(AppliesPagesEarly, "half a snapshot shows", {"many-pages": r"/Film is .*wanted missing: True"}),
        Fault(DropsOverlayWhenSent, "an own write vanishes between 202 and sync",
              {"own-write-never-vanishes": r"/data/title is Cléo from 5 to 7, not Mine"},
              by_chance=r"does not show the own write|shows, though it is being deleted"),
        Fault(KeepsOverlay, "a rejected update stays", {"rejected-by-upstream": r"/data/stars is 9, not 4"},
              by_chance=r"the phone has, Larder has not"),
        Fault(OrdersByClock, "the order follows the phone's clock",
              {"clock": r"/data/title is Second, not Third"}),
        Fault(OneProfileForAll, "one user's items go with another's",
              {"two-users": r'"path": "/v1/devices".*2 requests, not 3'},
              by_chance=r"never submitted \{"),
        Fault(ForgetsRefreshToken, "a lost response signs the user out",
              {"refresh": r'"do": "sync".*sync fails: .*signed_out'}),
        Fault(RefusesTheUnavailable, "503 ends an item", {"unavailable": r'"do": "send".*/sent is 1, not 0'}),
        Fault(TakesCutResponses, "half a response counts as one",
              {"cut-inside-the-response": r'"do": "send".*/sent is 1, not 0'}, by_cut=r"the outbox still has"),
        Fault(TakesForeignResponses, "an error of another service counts as Larder's",
              {"foreign-responses": r'"do": "send".*/sent is 1, not 0'}),
        Fault(ForgetsTemporaryIds, "temporary ids are forgotten at a restart",
              {"temporary-ids": r'"do": "get".*"key": "\$temp".*/data is None'}),
        Fault(ShowsWritesTwice, "a written row shows twice for a while",
              {"local-writes": r'"do": "list".*/items is \[.*Rome.*Rome.*\], not \['}),
        Fault(SkipsTheGap, "changes are lost in a gap", {"live-changes": r'"do": "events".*/events is \[\], not '}),
        Fault(SendsPartsTwice, "parts that have arrived are sent again",
              {"files": r'"do": "resume".*/sent is 3, not 0'}),
        Fault(ForgetsFollowings, "followings are lost in a kill",
              {"snapshot-and-deltas": r'"do": "sync".*/applied is 0, not 9'}, is_killed=True),
        Fault(ReportsTwice, "an item has two outcomes",
              {"outbox-is-durable": r"/outcomes is \[\{'key': '([^']+)'.*\{'key': '\1'.*\], not "},
              by_chance=r"an item has two outcomes"),
        Fault(SendsWhatIsNotStored, "a full store is ignored",
              {"storage-full": r'"do": "submit".*not error storage_full'}),
    )
}


if __name__ == "__main__":
    main(FAULTS[sys.argv[sys.argv.index("--fault") + 1]].driver)
