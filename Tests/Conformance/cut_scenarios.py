"""A scenario with one request cut at one class of bytes: phone, server and upstream agree at its end.

The commands of the scenario are given as they stand, and what they reply is not compared, since a cut changes it. A
command that fails because of the cut is given once more, as an app does. What the scenario does to network, server and
upstream happens as well. At the end each submitted item has exactly one outcome, as in random scenarios.
"""

import time

from driver import DriverFault
from patterns import dig, filled, mismatch
from steps import STEPS, Steps
from trouble import Trouble

# What other steps than commands do to the world; the rest are expectations.
ACTIONS = ("fault", "faults", "network", "server", "upstream", "upstreamWrite", "refresh", "other", "beside", "restart",
           "file", "films", "wait")
SUBMISSIONS = ("submit", "write", "force")
# A later command can miss what an earlier one was to bring about.
MISSED = {"invalid_credentials", "account_exists", "unknown_key", "not_parked", "mutation_not_parked", "mutation_sent",
          "mutation_finished"}
REPEATED_SECONDS_MAX = 2
SETTLES_MAX = 5
RESUME_SECONDS = 10


class CutScenario(Trouble):
    """One scenario, played without its expectations."""

    def __init__(self, world, scenario):
        super().__init__(world)
        self.scenario, self.steps = scenario, Steps(world)
        self.excused |= MISSED | {step["error"] for step in scenario["steps"] if isinstance(step.get("error"), str)}
        # By key: operation and mark.
        self.items = {}
        # Passwords by email; None for the profile without a user.
        self.users = {}
        # The types that each profile follows without a filter.
        self.followed, self.user, self.is_active = {}, None, False
        self.lists = {}

    def play(self):
        for step in self.scenario["steps"]:
            self.step(step)
        count = self.world.proxy.connections
        self.mend()
        self.end()
        return count

    def step(self, step):
        if "do" in step:
            self.do(filled(step, self.steps.saved))
        elif "repeat" in step:
            self.repeat(step)
        elif "settle" in step:
            for _ in range(SETTLES_MAX):
                self.call("send"), self.call("sync")
                if not (self.call("outbox") or {"items": ()})["items"]:
                    break
                time.sleep(0.1)
        else:
            for name in ACTIONS:
                if name in step:
                    self.act(name, filled(step, self.steps.saved))

    def act(self, name, step):
        self.told.append(str(step)[:200])
        try:
            STEPS[name](self.steps, step)
        except AssertionError as error:
            # Such as a refresh while upstream is down.
            self.told.append(f"  {str(error)[:200]}")

    def repeat(self, step):
        deadline = time.monotonic() + REPEATED_SECONDS_MAX
        while True:
            for one in step["repeat"]:
                self.step(one)
            try:
                return self.steps.step(step["until"])
            except AssertionError:
                if time.monotonic() > deadline:
                    return None
            time.sleep(0.1)

    # Commands

    def do(self, step):
        verb = step["do"]
        arguments = {n: v for n, v in step.items() if n not in ("do", "ok", "error", "save", "dies", "about")}
        if verb == "events":
            arguments["within"] = min(arguments["within"], REPEATED_SECONDS_MAX)
        if verb == "unlive" and step["name"] in self.lists:
            self.check_list(step["name"])
        result = self.call_again(verb, arguments)
        if verb in SUBMISSIONS:
            self.note_submission(result, step)
        elif verb in ("register", "signIn", "signUp"):
            self.note_user(step, result)
        elif verb == "signOut" and result is not None:
            self.user, self.is_active = None, False
        elif verb == "follow" and result is not None:
            kept = self.followed.setdefault(self.user, {})
            kept[step["name"]] = [] if step.get("filter") else step["types"]
        elif verb == "unfollow" and result is not None:
            self.followed[self.user].pop(step["name"], None)
        elif verb == "live" and step.get("collection") and result is not None:
            self.lists[step["name"]] = step["collection"]
        for name, path in step.get("save", {}).items():
            if result is not None and dig(result, path) is not None:
                self.steps.saved[name] = dig(result, path)

    def call_again(self, verb, arguments):
        """The result of a command, which is given once more if the cut made it fail."""
        cut = self.world.proxy.cut
        was_done = cut is None or cut.is_done
        result = self.call(verb, **arguments)
        if result is not None or was_done or not cut.is_done or verb == "force":
            return result
        result = self.call(verb, **arguments)
        if result is None and verb == "signUp":
            return self.call("signIn", **arguments)
        return result

    def note_submission(self, result, step):
        found = [result["key"]] if result else self.unknown_keys()
        for key in found:
            operation = step.get("operation", "$write")
            self.items[key] = (operation, step.get("variables", {}).get("mark"))

    def unknown_keys(self):
        """The keys of what a command has submitted that failed: a forced mutation can stay."""
        items = (self.call("outbox") or {"items": ()})["items"]
        outcomes = (self.call("outcomes") or {"outcomes": ()})["outcomes"]
        return [one["key"] for one in (*items, *outcomes) if one["key"] not in self.items]

    def note_user(self, step, result):
        email = step.get("email")
        if email is None and self.is_active:
            return
        if result is not None:
            if self.user is None and email not in self.followed:
                # The profile without a user becomes the user's.
                self.followed[email] = self.followed.pop(None, {})
            self.user, self.is_active = email, True
        if result is not None or step["do"] == "signUp":
            self.users[email] = step.get("password")

    # The end

    def end(self):
        self.mark_what_is_unique()
        outcomes = []
        for user, password in self.users.items():
            if self.call("outbox") is not None:
                self.call("signOut")
            if self.enter(user, password) is None:
                # The response to its sign-up was lost before it took effect.
                self.world.command("signUp", email=user, password=password)
            self.finish()
            outcomes += self.world.command("outcomes")["outcomes"]
            kinds = sorted({kind for kinds in self.followed.get(user, {}).values() for kind in kinds})
            if kinds:
                self.world.agree(kinds)
            if "upload" in {step.get("do") for step in self.scenario["steps"]}:
                self.finish_uploads()
        self.check_outcomes(outcomes, self.items, "all profiles")
        self.check_requests(set(self.items))
        for step in self.scenario["steps"]:
            if "object" in step and "do" not in step:
                self.steps.step(step)

    def mark_what_is_unique(self):
        """A mark that several items have tells nothing about each."""
        marks = [mark for _, mark in self.items.values()]
        self.items = {key: (operation, mark if marks.count(mark) == 1 else None)
                      for key, (operation, mark) in self.items.items()}

    def finish_uploads(self):
        deadline = time.monotonic() + RESUME_SECONDS
        while not self.world.command("resume")["done"]:
            assert time.monotonic() < deadline, f"the uploads are not done after {RESUME_SECONDS} s"

    def check_list(self, name):
        """A list on the screen is soon what Larder lists."""
        self.world.proxy.faults.clear()
        self.world.proxy.switch_on()
        self.steps.same_list(name, self.lists.pop(name), "the cut")


def play_cut(world, scenario, cut):
    """Plays a scenario with a cut, or with none. Returns the number of its requests."""
    world.proxy.cut = cut
    one = CutScenario(world, scenario)
    try:
        return one.play()
    except (AssertionError, DriverFault) as error:
        raise one.with_steps(error) from error
