"""The outbox: items are stored with key and payload, sent in order, and end once."""

import json
import uuid

from .connection import is_to_retry, is_unknown_device
from .store import Failure


class Outbox:
    """Submitting, sending, withdrawing."""

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
        if status == 429 or status >= 500 or is_to_retry(body):
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
        left = [one for one in self.profile["outbox"] if one["state"] == "waiting"]
        return {"sent": sent, "left": len(left)}

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


def overlay_of(operation):
    """How an operation on a row shows until Larder has applied it."""
    op = {"delete": "delete", "update": "merge"}.get(operation["op"], "create")
    return {"op": op, "type": operation["type"], "id": operation["id"], "fields": operation.get("data", {})}
