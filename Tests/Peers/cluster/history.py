"""Histories: what clients asked of which node and what they got, as JSON lines.

A line is the beginning or the end of a call, which have the same `n`. What a call did is in `do`; times are seconds
since the beginning of the history. A call without an end, or whose `status` is null, got no whole response: it may
have been carried out or not, at any later time. Observations at the end are calls, too.

| do | begins with | ends with (beside `status`) |
|---|---|---|
| `submit` | device, key, mark, mode, counter, value, order | id, state, replayed |
| `poll` | device, mark | state |
| `retry`, `discard` | device, mark (of a parked one) | |
| `read` | device, counter, shown | value, pending, isCutOff |
| `list` | device, own (counters with overlays of the caller), shown | values, isCutOff |
| `fetch` | counter | value, isHit, age |
| `purge` | counter | pending |
| `changes` | walker, own, isContinued | isComplete, isReset, values (of the replica after the page) |
| `draft` | device, draft, number | |
| `readDraft` | device, draft, shown | number, isCutOff |
| `issue` | token (a label), kind | |
| `revoke` | token, kind, by (`rotate`, `signOut`, `remove`) | pending |
| `use` | token, kind | |
| `settle` | walker, own | values (of its replica), snapshot |
| `outcome` | mark | state |
| `effects` | | effects: mark, key, counter, value in order |
| `tables` | | digests by table, position |
| `nodes` | | names by node id |
| `clock` | | seconds by which the clock of a node was off |

`shown` says whether the newest cursor that this client has was sent with the request; `pending` of a revocation or purge
lists the nodes that the response names as not having applied it.
"""

import json
import threading
import time


class Recorder:
    """Writes a history. Safe for several threads."""

    def __init__(self, path):
        self.path = path
        self.file = path.open("w")
        self.lock = threading.Lock()
        self.number = 0
        self.began = time.monotonic()

    def _write(self, line):
        self.file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")

    def begin(self, do, client, node, **arguments):
        """Records the beginning of a call and returns its number."""
        with self.lock:
            self.number += 1
            number = self.number
            self._write({"n": number, "at": self._now(), "do": do, "client": client, "node": node, **arguments})
        return number

    def end(self, call, status, **result):
        with self.lock:
            self._write({"n": call, "end": self._now(), "status": status, **result})

    def note(self, do, **found):
        """Records an observation, which begins and ends at once."""
        self.end(self.begin(do, None, found.pop("node", None), **found), 200)

    def trouble(self, what):
        """Records what the harness does to the cluster. The checker ignores it."""
        with self.lock:
            self._write({"at": self._now(), "trouble": what})

    def _now(self):
        return round(time.monotonic() - self.began, 4)

    def close(self):
        with self.lock:
            self.file.close()


class Call(dict):
    """A call of a history. Missing members are None."""

    def __missing__(self, key):
        return None

    @property
    def is_good(self):
        return self["status"] is not None and 200 <= self["status"] < 300

    def is_before(self, other):
        """Whether this call had ended before the other began."""
        return self["end"] is not None and self["end"] < other["at"]

    def __str__(self):
        hidden = {"values", "snapshot", "effects", "digests"}
        return json.dumps({name: value for name, value in self.items() if name not in hidden}, ensure_ascii=False)


def calls(lines):
    """The calls of a history in the order of their beginnings; `lines` are its JSON objects."""
    found = {}
    for line in lines:
        if "n" in line:
            found.setdefault(line["n"], Call()).update(line)
    return [call for call in found.values() if "do" in call]


def read(path):
    """The calls of a history file."""
    with path.open() as file:
        return calls(json.loads(line) for line in file)
