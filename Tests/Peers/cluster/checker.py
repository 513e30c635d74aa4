"""What a history must fulfil, as a pure function: `violations(calls)`.

  checker.py HISTORY

Each rule is a function from a `History` to violations. They use only what clients can see, upstream's record of
effects, and the tables of the nodes' databases at the end. docs/sync.md has the promises.
"""

import collections
import dataclasses
import pathlib
import sys

from history import read

# States that a mutation does not leave. A parked one was retried or discarded by its client before the end.
ENDED = {"applied", "rejected", "superseded", "annihilated", "expired", "cancelled", "discarded"}
WITHOUT_EFFECT = {"rejected", "superseded", "annihilated", "expired", "cancelled"}
SHOWN_IN_THE_END = {"applied", "superseded"}
# A response may say so at any time: no leader, no PostgreSQL, or no upstream.
UNAVAILABLE = {429, 502, 503, 504}
# Age is in whole seconds, and the two clocks are read at different moments.
AGE_SECONDS_TOLERATED = 1.5
# Tables that may differ between nodes at one position, with the reason. None: keep it so.
TABLES_THAT_DIFFER = {}


@dataclasses.dataclass(frozen=True)
class Violation:
    rule: str
    text: str

    def __str__(self):
        return f"{self.rule}: {self.text}"


class History:
    """Calls by kind, and what several rules need of them."""

    def __init__(self, calls):
        self.calls = calls
        self.by_kind = collections.defaultdict(list)
        for call in calls:
            self.by_kind[call["do"]].append(call)
        self.submits = collections.defaultdict(list)
        for call in self.by_kind["submit"]:
            self.submits[call["mark"]].append(call)
        # The calls by which each mutation was accepted, the first to end first.
        self.accepted = {}
        for mark, some in self.submits.items():
            if good := sorted((one for one in some if one.is_good), key=lambda one: one["end"]):
                self.accepted[mark] = good
        self.outcomes = collections.defaultdict(list)
        for call in self.by_kind["outcome"]:
            self.outcomes[call["mark"]].append(call)
        self.effects = [effect for call in self.by_kind["effects"] for effect in call["effects"]]

        self.names = {id: name for call in self.by_kind["nodes"] for id, name in call["names"].items()}

    def may_lag(self, call, node):
        """Whether a purge or revocation named a node as one that had not applied it yet."""
        return node in {self.names.get(one, one) for one in call["pending"] or ()}

    def final_state(self, mark):
        """The state that all nodes report in the end; None if they do not agree or know none."""
        states = {call["state"] for call in self.outcomes[mark]}
        return states.pop() if len(states) == 1 else None

    def marks_of_values(self):
        return {(one["counter"], one["value"]): mark for mark, (one, *_) in self.submits.items()}


def every_accepted_mutation_ends_once(history):
    if not history.outcomes:
        return
    for mark in history.accepted:
        seen = {str(call["node"]): call["state"] for call in history.outcomes[mark]}
        if not seen:
            yield f"{mark} was accepted, and no node reports an outcome"
        elif len(set(seen.values())) > 1:
            yield f"{mark} has different outcomes: {seen}"
        elif not set(seen.values()) <= ENDED:
            yield f"{mark} was accepted and has not ended: {seen}"
    for mark, some in history.submits.items():
        if mark not in history.accepted:
            continue
        ended = {call["state"] for call in history.by_kind["poll"] if call["mark"] == mark and call["state"] in ENDED}
        ended |= {call["state"] for call in history.outcomes[mark] if call["state"] in ENDED}
        if len(ended) > 1:
            yield f"{mark} ended more than once: {sorted(ended)}"
        if len({one["id"] for one in some if one.is_good}) > 1:
            yield f"{mark}: one key made two mutations, {sorted({one['id'] for one in some if one.is_good})}"


def effects_are_at_most_once(history):
    if not history.by_kind["effects"]:
        return
    counts = collections.Counter(effect["mark"] for effect in history.effects)
    for mark, count in counts.items():
        if count > 1:
            keys = sorted({str(effect["key"]) for effect in history.effects if effect["mark"] == mark})
            yield f"{mark} took effect {count} times, under the keys {keys}"
        if mark not in history.submits:
            yield f"{mark} took effect, and no client submitted it"
    for mark in history.submits:
        state = history.final_state(mark)
        if state == "applied" and counts[mark] == 0:
            yield f"{mark} is applied and had no effect"
        if state in WITHOUT_EFFECT and counts[mark] > 0:
            yield f"{mark} is {state} and had an effect"


def effects_keep_the_order_of_submission(history):
    """Of a device: steady ones among each other, unless one was parked, and all of one counter."""
    parked = {call["mark"] for call in history.by_kind["retry"]}
    last = {}
    for effect in history.effects:
        some = history.submits.get(effect["mark"])
        if not some or effect["mark"] not in history.accepted:
            continue
        first = some[0]
        lanes = [(first["device"], effect["counter"])]
        if first["mode"] == "steady" and effect["mark"] not in parked:
            lanes.append((first["device"], "steady"))
        for lane in lanes:
            before = last.get(lane)
            if before and before["order"] > first["order"]:
                yield f"{effect['mark']} took effect after {before['mark']}, which was submitted after it"
            last[lane] = first


def mutations_are_known_after_the_202(history):
    for call in history.by_kind["poll"]:
        accepted = history.accepted.get(call["mark"])
        if call["status"] == 404 and accepted and accepted[0].is_before(call):
            yield f"{call['mark']} was accepted and is unknown: {call}"


def _observations(history):
    """(call, counter, value) of every read, in the order of their ends."""
    found = []
    for call in history.calls:
        if call["do"] == "read" and call.is_good:
            found.append((call, call["counter"], call["value"]))
        if call["do"] == "list" and call.is_good:
            found += [(call, counter, value) for counter, value in call["values"].items()]
    return sorted(found, key=lambda one: one[0]["end"])


def _is_lasting(history, marks, counter, value):
    """Whether a value stays: not that of a mutation whose overlay was rolled back."""
    mark = marks.get((counter.removesuffix("t"), value))
    return mark is None or not history.outcomes or history.final_state(mark) in SHOWN_IN_THE_END


def cursors_never_show_an_older_state(history):
    """Of one client that sends its newest cursor, through all nodes."""
    marks = history.marks_of_values()
    highest = {}
    for call, counter, value in _observations(history):
        lane = (call["client"], counter)
        before = [one for one in highest.get(lane, []) if one[0].is_before(call)]
        if call["shown"] and before:
            most = max(before, key=lambda one: one[1])
            if value is None or value < most[1]:
                yield f"{counter} was {most[1]} on {most[0]['node']}, then {value} on {call['node']}: {call}"
        # What was read without the cursor is no part of the chain.
        if call["shown"] and value is not None and _is_lasting(history, marks, counter, value):
            highest.setdefault(lane, []).append((call, value))
            highest[lane] = highest[lane][-8:] + [max(highest[lane], key=lambda one: one[1])]


# Seconds by which a node may be behind for a client that shows no cursor: docs/cluster.md.
LAG_SECONDS = 2


def _own_writes(history, with_cursor):
    writes = collections.defaultdict(list)
    for mark, (call, *_) in history.accepted.items():
        if call["operation"] != "AddNote" and (
                not history.outcomes or history.final_state(mark) in SHOWN_IN_THE_END):
            writes[call["device"], call["counter"]].append(call)
    for call, counter, value in _observations(history):
        if bool(call["shown"]) != with_cursor or (not with_cursor and call["isCutOff"]):
            continue
        own = [one for one in writes.get((call["device"], counter), []) if one.is_before(call)
               and (with_cursor or one["node"] == call["node"] or call["at"] - one["end"] > LAG_SECONDS)]
        if own and (value is None or value < max(one["value"] for one in own)):
            most = max(own, key=lambda one: one["value"])
            yield f"{most['mark']} was accepted by {most['node']}, and {call['node']} shows {value}: {call}"


def own_writes_never_vanish(history):
    """Between the 202 and the outcome, for a client that sends its cursor; base data has it afterwards."""
    yield from _own_writes(history, with_cursor=True)


def own_writes_are_shown_without_a_cursor(history):
    """Unless the node says that it is cut off. Another node than the one that accepted them may show them later."""
    yield from _own_writes(history, with_cursor=False)


def own_local_writes_are_read(history):
    last = collections.defaultdict(list)
    for call in sorted(history.by_kind["draft"], key=lambda one: one["at"]):
        if call.is_good:
            last[call["device"], call["draft"]].append(call)
    for call in history.by_kind["readDraft"]:
        if not call["shown"] or not (call.is_good or call["status"] == 404):
            continue
        own = [one for one in last[call["device"], call["draft"]] if one.is_before(call)]
        if own and (call["number"] is None or call["number"] < own[-1]["number"]):
            yield f"draft {call['draft']} was written as {own[-1]['number']}, and {call['node']} shows {call['number']}"


def what_changed_together_is_seen_together(history):
    """Upstream changes a counter and its twin at once. A caller's overlays concern its own counters only."""
    for call in history.calls:
        if call["do"] == "list" and call.is_good:
            values, where = call["values"], "a list"
        elif call["do"] == "changes" and call.is_good and call["isComplete"]:
            values, where = call["values"], "a replica made of whole deltas"
        else:
            continue
        for counter, value in values.items():
            twin = values.get(f"{counter}t")
            if counter not in (call["own"] or ()) and not counter.endswith("t") and value != twin:
                yield f"{where} of {call['node']} has {counter} = {value} and its twin = {twin}: {call}"


def replicas_made_of_deltas_are_complete(history):
    """A client that only ever read deltas, from any node, ends with what a snapshot shows."""
    for call in history.by_kind["settle"]:
        if call["values"] != call["snapshot"]:
            different = {key: (call["values"].get(key), call["snapshot"].get(key))
                         for key in {**call["values"], **call["snapshot"]}
                         if call["values"].get(key) != call["snapshot"].get(key)}
            yield f"{call['walker']} has, and a snapshot of {call['node']} has: {different}"


def revoked_credentials_are_refused(history):
    revoked = {}
    for call in history.by_kind["revoke"]:
        if call.is_good:
            revoked[call["token"]] = call
    for call in history.by_kind["use"]:
        ended = revoked.get(call["token"])
        if ended and ended.is_before(call) and call.is_good and not history.may_lag(ended, call["node"]):
            yield f"{call['kind']} {call['token']} was revoked by {ended['node']}, and {call['node']} accepts it: {call}"


def valid_credentials_are_accepted(history):
    """A client that is refused drops what it has and registers again."""
    issued = {call["token"]: call for call in history.by_kind["issue"] if call.is_good}
    ending = collections.defaultdict(list)
    for call in history.by_kind["revoke"]:
        ending[call["token"]].append(call)
    for call in history.by_kind["use"]:
        begin = issued.get(call["token"])
        is_valid = begin and begin.is_before(call) and not any(
            call["end"] is None or one["at"] < call["end"] for one in ending[call["token"]])
        if is_valid and call["status"] == 401:
            yield f"{call['kind']} {call['token']} of {begin['node']} is valid, and {call['node']} refuses it: {call}"


def purged_responses_are_not_served(history):
    purges = [call for call in history.by_kind["purge"] if call.is_good]
    # Age is the difference of two nodes' clocks.
    off = [0, *(call["seconds"] for call in history.by_kind["clock"])]
    tolerated = AGE_SECONDS_TOLERATED + max(off) - min(off)
    for call in history.by_kind["fetch"]:
        if not call.is_good or not call["isHit"]:
            continue
        for purge in purges:
            stored = call["end"] - call["age"]
            if purge.is_before(call) and stored < purge["at"] - tolerated and (
                    purge["counter"] in (None, call["counter"])) and not history.may_lag(purge, call["node"]):
                yield f"{call['node']} serves what was stored before a purge on {purge['node']}: {call}, {purge}"
                break


def responses_are_expected(history):
    for call in history.calls:
        status = call["status"]
        if status is None or 200 <= status < 300 or status == 304:
            continue
        is_expected = (
            status in UNAVAILABLE
            or (call["do"] == "changes" and status == 410)
            or (call["do"] in ("poll", "readDraft") and status == 404)
            or (call["do"] in ("use", "revoke") and status == 401)
            # Another request has ended it.
            or (call["do"] in ("retry", "discard") and status in (404, 409))
            or (call["do"] == "outcome" and status == 404))
        if not is_expected:
            yield f"{status} ({call['code']}): {call}"
        elif status == 503 and call["retryAfter"] is None:
            yield f"503 without Retry-After: {call}"


def nodes_are_equal(history):
    """At the end, when nothing is left to do: the same position, and equal tables."""
    found = history.by_kind["tables"]
    for other in found[1:]:
        first = found[0]
        if other["position"] != first["position"]:
            yield f"{first['node']} is at {first['position']}, {other['node']} at {other['position']}"
        for table in sorted({**first["digests"], **other["digests"]}):
            these, those = first["digests"].get(table), other["digests"].get(table)
            if these != those and table not in TABLES_THAT_DIFFER:
                yield f"table {table}: {first['node']} has {these}, {other['node']} has {those}"


RULES = [
    every_accepted_mutation_ends_once,
    effects_are_at_most_once,
    effects_keep_the_order_of_submission,
    mutations_are_known_after_the_202,
    cursors_never_show_an_older_state,
    own_writes_never_vanish,
    own_writes_are_shown_without_a_cursor,
    own_local_writes_are_read,
    what_changed_together_is_seen_together,
    replicas_made_of_deltas_are_complete,
    revoked_credentials_are_refused,
    valid_credentials_are_accepted,
    purged_responses_are_not_served,
    responses_are_expected,
    nodes_are_equal,
]


def violations(calls):
    """All violations of a history, by rule."""
    history = History(calls)
    return [Violation(rule.__name__, text) for rule in RULES for text in rule(history)]


def summary(calls):
    """How much a history shows, for a reader: calls by kind with and without a good response."""
    counts = collections.Counter(
        (call["do"], "unclear" if call["status"] is None else "good" if call.is_good else str(call["status"]))
        for call in calls)
    kinds = collections.defaultdict(list)
    for (kind, what), count in sorted(counts.items()):
        kinds[kind].append(f"{count} {what}")
    return ", ".join(f"{kind} ({', '.join(parts)})" for kind, parts in kinds.items())


def main():
    calls = read(pathlib.Path(sys.argv[1]))
    found = violations(calls)
    print(summary(calls))
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
