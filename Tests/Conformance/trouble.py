"""Commands while anything can be broken, and what must hold once all is well again."""

import json
import signal
import time

from driver import Died, DriverFault
from patterns import short

# What a command can reply beside a result, while anything can be broken.
EXCUSED = {"cursor_gone", "offline", "unavailable", "signed_out", "storage_full"}
FINISH_SECONDS = 40
RETRIES_MAX = 2
# The states of items that had no effect upstream.
NO_EFFECT = {"rejected", "refused", "superseded", "annihilated", "cancelled", "expired"}
# Commands that can apply without an effect upstream: a delete can find nothing to delete.
CAN_LACK_EFFECT = ("$write", "DeleteFilm")


class Trouble:
    """A world in which commands can fail, with a record of what was played."""

    def __init__(self, world):
        self.world = world
        self.told = []
        # The error codes that a command can reply.
        self.excused = set(EXCUSED)

    def tell(self, what, action, *arguments):
        self.told.append(what)
        action(*arguments)

    def call(self, verb, **arguments):
        """The result; None for an excused failure. A killed driver is started again."""
        self.told.append(f"{verb} {json.dumps(arguments, ensure_ascii=False)[:200]}")
        try:
            reply = self.world.driver.call({"do": verb, **arguments})
        except Died as died:
            if self.world.driver.process.returncode != -signal.SIGKILL:
                raise DriverFault(f"the driver ended by itself in {verb}: {died}") from None
            self.told.append("  killed")
            self.world.driver.start()
            return None
        if "ok" in reply:
            return reply["ok"]
        self.told.append(f"  {reply['error']['code']}")
        assert reply["error"]["code"] in self.excused, f"{verb} fails: {short(reply['error'])}"
        return None

    def enter(self, email, password):
        """Activates the profile of a user, or that without a user if there is no email."""
        if email is None:
            return self.call("register")
        return self.call("signIn", email=email, password=password)

    def mend(self):
        """Ends all that is broken."""
        self.world.proxy.faults.clear()
        self.world.proxy.cut = None
        self.world.proxy.switch_on()
        self.world.upstream.switch("up")
        if self.world.server.process is None:
            self.world.server.start()
        self.told.append("all is well again")
        self.call("storage", full=False)
        self.call("clock", shiftSeconds=0)

    def finish(self):
        """Settles. What is parked blocks what concerns the same object: it is tried again, then discarded."""
        deadline, tried = time.monotonic() + FINISH_SECONDS, {}
        while True:
            self.world.command("send")
            self.world.command("sync")
            items = self.world.command("outbox")["items"]
            if not items:
                return
            assert time.monotonic() < deadline, f"the outbox still has {short(items)}"
            for key in [one["key"] for one in items if one["state"] == "parked"]:
                tried[key] = tried.get(key, 0) + 1
                self.world.command("retry" if tried[key] <= RETRIES_MAX else "discard", key=key)
            time.sleep(0.05)

    def check_outcomes(self, outcomes, items, owner):
        """Each item has one outcome, and upstream the effects that belong to it. `items` has the operation and the
        mark of each by key; without a mark nothing is known of its effects."""
        keys = [one["key"] for one in outcomes]
        assert sorted(keys) == sorted(set(keys)), f"an item has two outcomes: {short(outcomes)}"
        submitted = set(items)
        assert set(keys) == submitted, (
            f"{owner}: without outcome {submitted - set(keys)}, never submitted {set(keys) - submitted}")
        for outcome in outcomes:
            operation, mark = items[outcome["key"]]
            if mark is None:
                continue
            effects = [one for one in self.world.upstream.effects if one["mark"] == mark]
            assert len(effects) <= 1, f"{mark} took effect {len(effects)} times: {short(effects)}"
            if outcome["state"] == "applied" and operation not in CAN_LACK_EFFECT:
                assert effects, f"{mark} ({operation}) is applied, and had no effect"
            if outcome["state"] in NO_EFFECT:
                assert not effects, f"{mark} ({operation}) is {outcome['state']}, and had an effect"

    def check_requests(self, known):
        """Every attempt to send an item has the same payload and the same device, unless that was refused."""
        first = {}
        for one in self.world.proxy.requests:
            if (one["method"], one["path"]) == ("POST", "/v1/mutations") and one["status"] != 401:
                key = one["headers"]["idempotency-key"]
                sent = (one["headers"].get("device-token"), one["body"])
                assert first.setdefault(key, sent) == sent, f"{key} was sent twice, differently: {short(one)}"
        assert set(first) <= known, f"keys that no submission returned: {set(first) - known}"

    def with_steps(self, error):
        """The same error, with what was played."""
        steps = "\n    ".join(self.told)
        return type(error)(f"{error}\n  steps:\n    {steps}")
