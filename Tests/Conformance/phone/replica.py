"""The replica, and what the app sees of it: the overlays of the outbox folded over it."""

import secrets
import uuid
from urllib.parse import urlencode

from .connection import code_of

ENDED = {"applied", "rejected", "superseded", "annihilated", "expired", "cancelled", "discarded"}


class Replica:
    """Followings, pulls and lists."""

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
                query = [("types", ",".join(one["types"])), *(("arg", value) for value in one["args"])]
                if one["filter"]:
                    query.append(("filter", one["filter"]))
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
            told = ("state", "reason", "problem", "response")
            self.end(profile, item, {name: mutation[name] for name in told if name in mutation})
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
        found = [row for _, row in items
                 if all(holds(row.get(field), op, value) for field, op, value in where or [])]
        return {"items": found[:limit]}

    def newId(self):
        bits = (int(self.now() * 1000) << 80) | (7 << 76) | (secrets.randbits(12) << 64) | (2 << 62)
        return {"id": f"~{uuid.UUID(int=bits | secrets.randbits(62))}"}


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
