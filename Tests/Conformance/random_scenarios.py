"""Random scenarios: anything happens to phone, network, server and upstream; at the end all agree.

At the end each submitted item has exactly one outcome, no mutation has had more than one effect upstream,
those that are `applied` had one (a delete can find nothing to delete), those that ended in a state of `NO_EFFECT`
had none, and all attempts to send under one key had the same payload and device.
"""

from driver import DriverFault
from patterns import short
from trouble import Trouble

USERS = {None: None, "ada": "correct horse", "bea": "battery staple"}
TYPES = ["Film", "Review", "MyList"]
CUTS = ["cutBefore", "cutAfter", "cutIn", "refuse", "delay", "respond", "killBefore", "killAfter"]
PATHS = ["/v1/mutations", "/v1/changes", "/v1/auth/refresh", "/v1/auth/sign-in", "/v1/auth/sign-out", "*"]


class Play(Trouble):
    """One random scenario."""

    def __init__(self, world, chance):
        super().__init__(world)
        self.chance = chance
        self.user, self.is_active = None, False
        self.items = {user: {} for user in USERS}
        # By key: the film that an item is about, and what it should show; None for a delete.
        self.shown = {}
        self.temporary = {user: [] for user in USERS}
        self.count = 0
        self.is_full = self.is_off = False

    # What the user does

    def mark(self):
        self.count += 1
        return f"k{self.count}"

    def keep(self, result, operation, mark, film=None, fields=None):
        if result is None:
            assert self.is_full, f"a submission failed: {self.told[-3:]}"
            return
        assert result["key"] not in self.items[self.user], "a key came twice"
        self.items[self.user][result["key"]] = (operation, mark)
        if film:
            self.shown[result["key"]] = (film, fields)

    def some_film(self):
        return self.chance.choice([f"f{self.chance.randint(1, 6)}", *self.temporary[self.user][-2:]])

    def submit(self):
        mark, film = self.mark(), self.some_film()
        mode = self.chance.choice(["lazy", "lazy", "steady"])
        kind = self.chance.choice(["rate", "rate", "update", "update", "review", "create", "delete"])
        if kind == "rate":
            stars = self.chance.randint(0, 5)
            self.submit_for(film, "RateFilm", {"id": film, "stars": stars}, {"stars": stars}, mark, mode)
        elif kind == "update":
            title = f"T{mark}"
            self.submit_for(film, "UpdateFilm", {"id": film, "title": title}, {"title": title}, mark, mode)
        elif kind == "review":
            self.keep(self.call("submit", operation="AddReview", mode=mode, refs=[f"Film:{film}"],
                                variables={"filmId": film, "text": mark, "mark": mark}), "AddReview", mark)
        elif kind == "delete":
            overlay = [{"op": "delete", "type": "Film", "id": film}]
            self.keep(self.call("submit", operation="DeleteFilm", mode=mode, object=f"Film:{film}",
                                variables={"id": film, "mark": mark}, optimistic=overlay),
                      "DeleteFilm", mark, film)
        else:
            self.create(mark, mode)

    def submit_for(self, film, operation, variables, fields, mark, mode):
        result = self.call("submit", operation=operation, variables={**variables, "mark": mark}, mode=mode,
                           object=f"Film:{film}",
                           optimistic=[{"op": "merge", "type": "Film", "id": film, "fields": fields}])
        self.keep(result, operation, mark, film, fields)
        shown = self.call("get", type="Film", key=film)["data"]
        if result and shown:
            wrong = {name: shown.get(name) for name in fields if shown.get(name) != fields[name]}
            assert not wrong and shown.get("_pending"), f"{film} does not show {fields}: {short(shown)}"

    def create(self, mark, mode):
        new = self.call("newId")["id"]
        assert new not in self.temporary[self.user], "a temporary id came twice"
        fields = {"title": f"New {mark}", "year": 2000}
        result = self.call("submit", operation="CreateFilm", mode=mode, object=f"Film:{new}",
                           variables={**fields, "makerId": "m1", "mark": mark},
                           optimistic=[{"op": "create", "type": "Film", "id": new,
                                        "fields": {**fields, "maker": "m1"}}])
        self.keep(result, "CreateFilm", mark, new, fields)
        if result:
            self.temporary[self.user].append(new)
            assert self.call("get", type="Film", key=new)["data"]["title"] == fields["title"]

    def write(self):
        rows = self.call("list", type="MyList")["items"]
        mode, mark = self.chance.choice(["lazy", "steady"]), self.mark()
        kind = self.chance.choice(["insert", "insert", "update", "delete"])
        if kind == "insert" or not rows:
            one = {"op": "insert", "type": "MyList", "id": self.call("newId")["id"], "data": {"name": mark}}
        else:
            row = self.chance.choice(rows)
            one = {"op": kind, "type": "MyList", "id": row["id"]}
            if kind == "update":
                one["data"] = {"place": self.count}
        self.keep(self.call("write", operations=[one], mode=mode), "$write", mark)

    def switch_user(self):
        if self.is_active:
            self.call("signOut")
            self.find_out(self.user)
        if not self.is_active:
            self.enter_as(self.chance.choice(list(USERS)))

    def enter_as(self, user):
        self.enter(user and f"{user}@example.com", USERS[user])
        self.find_out(user)
        return self.is_active

    def find_out(self, user):
        """Whether a profile is active: what was interrupted has happened or not."""
        self.is_active = self.call("outbox") is not None
        if self.is_active:
            self.user = user

    def check_own_writes(self):
        """What items without an outcome have changed shows, the last one of each film and field."""
        expected = {}
        for item in self.call("outbox")["items"]:
            if item["state"] != "parked" and item["key"] in self.shown:
                film, fields = self.shown[item["key"]]
                former = expected.get(film, {})
                expected[film] = None if fields is None or former is None else {**former, **fields}
        for film, fields in expected.items():
            row = self.call("get", type="Film", key=film)["data"]
            if fields is None:
                assert row is None, f"{film} shows, though it is being deleted: {short(row)}"
            elif row:
                wrong = {name: row.get(name) for name in fields if row.get(name) != fields[name]}
                assert not wrong, f"{film} does not show the own write {fields}: {short(row)}"

    def check_rows(self):
        """No created row shows twice, as temporary and real, unless its create is in doubt."""
        state, in_doubt = self.call("state"), self.names_in_doubt()
        for kind, name in (("Film", "title"), ("MyList", "name"), ("Review", "text")):
            names = [row[name] for row in state.get(kind, {}).values()]
            created = [one for one in names if one.startswith(("New k", "k")) and one not in in_doubt]
            assert len(created) == len(set(created)), f"{kind} shows a row twice: {sorted(created)}"

    def names_in_doubt(self):
        """The names of films that upstream has created, and of rows that Larder may have written, whose outcome the
        phone does not know: they can have come meanwhile, and before the outcome nothing says that they are those of
        the temporary ids."""
        performed = {one["mark"] for one in self.world.upstream.effects}
        submitted = [self.items[self.user].get(one["key"]) for one in self.call("outbox")["items"]]
        return {mark if operation == "$write" else f"New {mark}" for operation, mark in filter(None, submitted)
                if operation == "$write" or operation == "CreateFilm" and mark in performed}

    def retry_parked(self):
        """Retries something parked."""
        items = self.call("outbox")["items"]
        parked = [one for one in items if one["state"] == "parked"]
        if parked:
            self.call("retry", key=self.chance.choice(parked)["key"])

    # What happens to the rest

    def break_request(self):
        fault = {"fault": self.chance.choice(CUTS), "path": self.chance.choice(PATHS)}
        if fault["fault"] == "cutIn":
            fault["at"] = self.chance.choice([1, 15, 80, 200, 400, 900])
        if fault["fault"] == "delay":
            fault["seconds"] = self.chance.choice([0.2, 4])
        if fault["fault"] == "respond":
            fault.update(status=self.chance.choice([429, 502, 503, 504]), body={"code": "overloaded"})
        if fault["fault"] == "respond" and fault["path"] in ("*", "/v1/changes"):
            fault.update(path="/v1/changes", status=self.chance.choice([410, 410, 503]))
            fault["body"] = {"code": "cursor_gone", "reason": "expired"}
        self.told.append(str(fault))
        self.world.proxy.add(fault)

    def change_upstream(self):
        film = f"f{self.chance.randint(1, 6)}"
        if film in self.world.upstream.rows("Film"):
            self.world.upstream.write({"Film": {film: {"year": self.chance.randint(1900, 2020)}}})
        if self.world.upstream.mode == "up" and self.world.server.process:
            self.world.refresh("Films")

    def step(self):
        world, chance = self.world, self.chance
        action = chance.choices(
            ["submit", "write", "send", "sync", "user", "restart", "network", "break", "server", "upstream",
             "clock", "change", "storage", "retry"],
            [24, 8, 12, 12, 6, 6, 6, 12, 3, 6, 4, 5, 2, 3])[0]
        if not self.is_active and action in ("submit", "write", "send", "sync", "retry"):
            action = "user"
        if action == "submit":
            self.submit()
        elif action == "write":
            self.write()
        elif action in ("send", "sync"):
            self.call(action)
            self.check_own_writes()
            self.check_rows()
        elif action == "user":
            self.switch_user()
        elif action == "restart":
            self.tell("driver killed", world.driver.restart)
        elif action == "network":
            self.is_off = not self.is_off
            switch = world.proxy.switch_off if self.is_off else world.proxy.switch_on
            self.tell("network off" if self.is_off else "network on", switch)
        elif action == "break":
            self.break_request()
        elif action == "server":
            self.tell("server killed", world.server.kill)
            if chance.random() < 0.3:
                self.call("sync")
            self.tell("server started", world.server.start)
        elif action == "upstream":
            mode = chance.choice(["up", "down", "unanswering", "slow"])
            self.tell(f"upstream {mode}", world.upstream.switch, mode, None if mode in ("up", "down") else 1)
        elif action == "clock":
            self.call("clock", shiftSeconds=chance.choice([0, 86400, -86400, 3600]))
        elif action == "change":
            self.tell("upstream's data change", self.change_upstream)
        elif action == "storage":
            self.is_full = not self.is_full
            self.call("storage", full=self.is_full)
        else:
            self.retry_parked()

    # The beginning and the end

    def begin(self):
        for user, password in USERS.items():
            if user is None:
                self.call("register")
            else:
                self.call("signUp", email=f"{user}@example.com", password=password)
            self.call("follow", name="all", types=["Film", "Maker", "Review"])
            self.call("follow", name="lists", types=["MyList"])
            if user is None:
                # The first device becomes the first user's; a phone without a user gets another.
                continue
            self.call("sync")
            self.call("signOut")
        self.call("register")
        self.call("follow", name="all", types=["Film", "Maker", "Review"])
        self.call("follow", name="lists", types=["MyList"])
        self.find_out(None)

    def end(self):
        self.mend()
        for user in USERS:
            if self.call("outbox") is not None:
                self.call("signOut")
            assert self.enter_as(user), f"{user} cannot be activated: {self.told[-4:]}"
            self.finish()
            self.check_outcomes(self.world.command("outcomes")["outcomes"], self.items[user], user)
        for user in USERS:
            if self.is_active:
                self.call("signOut")
            assert self.enter_as(user)
            self.world.agree(TYPES)
        self.check_requests({key for items in self.items.values() for key in items})


def play(world, chance):
    """Plays one random scenario in a new world."""
    one = Play(world, chance)
    try:
        one.begin()
        for _ in range(chance.randint(15, 40)):
            one.step()
        one.end()
    except (AssertionError, DriverFault) as error:
        raise one.with_steps(error) from error
