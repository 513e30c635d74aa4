"""Unit tests of the checker over hand-made histories: it accepts a good one, and finds each kind of fault."""

import unittest

from checker import RULES, violations
from history import calls


class Made:
    """A history in the making. Each call takes one second, one after the other, unless `at` and `end` say else."""

    def __init__(self):
        self.lines, self.time, self.number = [], 0.0, 0

    def call(self, do, begin=None, status=200, at=None, end=None, **result):
        self.number += 1
        self.time = self.time + 1 if at is None else at
        began = self.time
        self.time += 0.5
        self.lines.append({"n": self.number, "at": began, "do": do, "client": "w", "node": "n1", **(begin or {})})
        if status is not None:
            ended = self.time if end is None else end
            self.lines.append({"n": self.number, "end": ended, "status": status, **result})
        return self

    def submit(self, order, status=202, mode="steady", node="n1", counter="c0", mark=None, **more):
        begin = {
            "device": "d", "key": f"k{order}", "mark": mark or f"m{order}", "mode": mode, "counter": counter,
            "value": order, "order": order, "operation": "SetCounter", "node": node}
        return self.call("submit", begin, status, **{"id": f"i{order}", "state": "queued", **more})

    def read(self, value, node="n2", shown=True, counter="c0", status=200, device="d", **more):
        begin = {"device": device, "counter": counter, "shown": shown, "node": node}
        return self.call("read", begin, status, value=value, **more)

    def outcomes(self, states, nodes=("n1", "n2")):
        for mark, state in states.items():
            for node in nodes:
                self.call("outcome", {"mark": mark, "node": node}, state=state)
        return self

    def effects(self, *marks, key=None):
        effects = [{"mark": mark, "key": key or mark, "counter": "c0", "value": int(mark[1:])} for mark in marks]
        return self.call("effects", {"effects": effects})

    def tables(self, node, position=7, **digests):
        return self.call("tables", {"node": node, "position": position, "digests": {"counter": "a", **digests}})

    def rules(self):
        """The names of the rules that this history breaks."""
        return {one.rule for one in violations(calls(self.lines))}


def good():
    made = Made()
    made.call("issue", {"token": "t1", "kind": "device"})
    made.submit(1).read(1).submit(2, status=None).submit(2, node="n2").read(2).read(2, shown=False)
    made.call("poll", {"mark": "m1", "node": "n2", "device": "d"}, state="applied")
    made.call("list", {"own": ["c0"], "shown": True}, values={"c0": 2, "c0t": 1, "c1": 0, "c1t": 0})
    made.call("changes", {"walker": "k", "own": []}, isComplete=True, values={"c0": 2, "c0t": 2})
    made.call("changes", {"walker": "k", "own": []}, 410, isComplete=False, values={})
    made.call("draft", {"device": "d", "draft": "x", "number": 1}, 201)
    made.call("readDraft", {"device": "d", "draft": "x", "shown": True, "node": "n3"}, number=1)
    made.call("use", {"token": "t1", "kind": "device", "node": "n3"})
    made.call("revoke", {"token": "t1", "kind": "device"}, pending=[])
    made.call("use", {"token": "t1", "kind": "device", "node": "n3"}, 401)
    made.call("purge", {"counter": None}, pending=[])
    made.call("fetch", {"counter": "c0"}, value=2, isHit=True, age=0)
    made.call("read", {"device": "d", "counter": "c0", "shown": True}, 503, retryAfter="1")
    made.call("settle", {"walker": "k", "values": {"c0": 2}, "snapshot": {"c0": 2}})
    made.effects("m1", "m2").outcomes({"m1": "applied", "m2": "applied"})
    return made.tables("n1").tables("n2")


class CheckerTests(unittest.TestCase):
    def breaks(self, made, *rules):
        self.assertEqual(made.rules(), set(rules))

    def test_a_good_history_has_no_violation(self):
        self.breaks(good())

    def test_every_rule_is_tested(self):
        names = {name.removeprefix("test_") for name in dir(self)}
        for rule in RULES:
            self.assertTrue(any(name.startswith(rule.__name__) for name in names), rule.__name__)

    # Outcomes

    def test_every_accepted_mutation_ends_once_lost(self):
        self.breaks(Made().submit(1).submit(2).effects("m1").outcomes({"m1": "applied"}),
                    "every_accepted_mutation_ends_once")

    def test_every_accepted_mutation_ends_once_unfinished(self):
        self.breaks(Made().submit(1).outcomes({"m1": "queued"}), "every_accepted_mutation_ends_once")

    def test_every_accepted_mutation_ends_once_nodes_disagree(self):
        made = Made().submit(1).effects("m1").outcomes({"m1": "applied"}, ["n1"]).outcomes({"m1": "discarded"}, ["n2"])
        self.breaks(made, "every_accepted_mutation_ends_once")

    def test_every_accepted_mutation_ends_once_changes_its_end(self):
        made = Made().submit(1).call("poll", {"mark": "m1"}, state="rejected")
        self.breaks(made.effects("m1").outcomes({"m1": "applied"}), "every_accepted_mutation_ends_once")

    def test_every_accepted_mutation_ends_once_two_ids(self):
        made = Made().submit(1).submit(1, id="other").effects("m1").outcomes({"m1": "applied"})
        self.breaks(made, "every_accepted_mutation_ends_once")

    def test_every_accepted_mutation_ends_once_unclear_submits_owe_nothing(self):
        self.breaks(Made().submit(1, status=None).effects().outcomes({"m1": None}))

    # Effects

    def test_effects_are_at_most_once_twice(self):
        made = Made().submit(1).effects("m1", "m1").outcomes({"m1": "applied"})
        self.breaks(made, "effects_are_at_most_once")

    def test_effects_are_at_most_once_applied_without(self):
        self.breaks(Made().submit(1).effects().outcomes({"m1": "applied"}), "effects_are_at_most_once")

    def test_effects_are_at_most_once_rejected_with(self):
        self.breaks(Made().submit(1).effects("m1").outcomes({"m1": "rejected"}), "effects_are_at_most_once")

    def test_effects_are_at_most_once_of_no_client(self):
        self.breaks(Made().effects("m9"), "effects_are_at_most_once")

    def test_effects_keep_the_order_of_submission(self):
        made = Made().submit(1).submit(2).effects("m2", "m1").outcomes({"m1": "applied", "m2": "applied"})
        self.breaks(made, "effects_keep_the_order_of_submission")

    def test_effects_keep_the_order_of_submission_lazy_of_one_counter(self):
        made = Made().submit(1, mode="lazy").submit(2, mode="lazy").effects("m2", "m1")
        self.breaks(made, "effects_keep_the_order_of_submission")

    def test_effects_keep_the_order_of_submission_but_a_parked_one_is_passed(self):
        made = Made().submit(1, counter="c1").submit(2).call("retry", {"mark": "m1"})
        made.call("effects", {"effects": [{"mark": f"m{number}", "key": "k", "counter": f"c{2 - number}", "value": 1}
                                          for number in (2, 1)]})
        self.breaks(made)

    # Reads

    def test_mutations_are_known_after_the_202(self):
        made = Made().submit(1).call("poll", {"mark": "m1", "node": "n3"}, 404)
        self.breaks(made, "mutations_are_known_after_the_202")

    def test_cursors_never_show_an_older_state(self):
        made = Made().read(5, device=None, node="n1").read(4, device=None, node="n2")
        self.breaks(made, "cursors_never_show_an_older_state")

    def test_cursors_never_show_an_older_state_in_lists(self):
        made = Made().read(5, device=None, counter="c1")
        made.call("list", {"own": [], "shown": True}, values={"c1": 4, "c1t": 4})
        self.breaks(made, "cursors_never_show_an_older_state")

    def test_cursors_never_show_an_older_state_but_without_a_cursor_they_can(self):
        self.breaks(Made().read(5, device=None).read(4, device=None, shown=False))

    def test_cursors_never_show_an_older_state_of_a_chain_that_others_are_no_part_of(self):
        self.breaks(Made().read(5, device=None, shown=False).read(4, device=None))

    def test_cursors_never_show_an_older_state_of_a_rolled_back_overlay(self):
        made = Made().submit(1).read(1).read(0).effects().outcomes({"m1": "rejected"})
        self.breaks(made)

    def test_own_writes_never_vanish(self):
        self.breaks(Made().submit(3).read(2), "own_writes_never_vanish")

    def test_own_writes_never_vanish_but_a_read_that_began_before_is_free(self):
        self.breaks(Made().submit(3, at=1, end=9).read(2, at=5, end=6))

    def test_own_writes_are_shown_without_a_cursor(self):
        late = {"at": 9, "end": 10}
        self.breaks(Made().submit(3).read(2, shown=False, **late), "own_writes_are_shown_without_a_cursor")
        self.breaks(Made().submit(3).read(2, shown=False, node="n1"), "own_writes_are_shown_without_a_cursor")

    def test_own_writes_are_shown_without_a_cursor_but_at_once_only_where_they_were_accepted(self):
        self.breaks(Made().submit(3).read(2, shown=False))

    def test_own_writes_are_shown_without_a_cursor_unless_cut_off(self):
        self.breaks(Made().submit(3).read(2, shown=False, isCutOff=True))

    def test_own_local_writes_are_read(self):
        made = Made().call("draft", {"device": "d", "draft": "x", "number": 2})
        made.call("readDraft", {"device": "d", "draft": "x", "shown": True}, 404)
        self.breaks(made, "own_local_writes_are_read")

    def test_what_changed_together_is_seen_together_in_lists(self):
        made = Made().call("list", {"own": [], "shown": False}, values={"c1": 2, "c1t": 1})
        self.breaks(made, "what_changed_together_is_seen_together")

    def test_what_changed_together_is_seen_together_in_deltas(self):
        made = Made().call("changes", {"walker": "k", "own": []}, isComplete=True, values={"c1": 2})
        self.breaks(made, "what_changed_together_is_seen_together")

    def test_what_changed_together_is_seen_together_or_the_delta_is_incomplete(self):
        self.breaks(Made().call("changes", {"walker": "k", "own": []}, isComplete=False, values={"c1": 2}))

    def test_replicas_made_of_deltas_are_complete(self):
        made = Made().call("settle", {"walker": "k", "values": {"c1": 1}, "snapshot": {"c1": 2}})
        self.breaks(made, "replicas_made_of_deltas_are_complete")

    # Credentials and purges

    def test_revoked_credentials_are_refused(self):
        made = Made().call("revoke", {"token": "t", "kind": "device"}, pending=[])
        self.breaks(made.call("use", {"token": "t", "kind": "device", "node": "n3"}), "revoked_credentials_are_refused")

    def test_revoked_credentials_are_refused_except_by_the_nodes_that_were_named(self):
        made = Made().call("revoke", {"token": "t", "kind": "device"}, pending=["x7"])
        made.call("nodes", {"names": {"x7": "n3"}})
        self.breaks(made.call("use", {"token": "t", "kind": "device", "node": "n3"}))
        self.breaks(made.call("use", {"token": "t", "kind": "device", "node": "n2"}), "revoked_credentials_are_refused")

    def test_valid_credentials_are_accepted(self):
        made = Made().call("issue", {"token": "t", "kind": "device"}, 201)
        self.breaks(made.call("use", {"token": "t", "kind": "device"}, 401), "valid_credentials_are_accepted")

    def test_valid_credentials_are_accepted_unless_a_revocation_is_under_way(self):
        made = Made().call("issue", {"token": "t", "kind": "device"}, 201)
        made.call("revoke", {"token": "t", "kind": "device"}, None)
        self.breaks(made.call("use", {"token": "t", "kind": "device"}, 401))

    def test_purged_responses_are_not_served(self):
        made = Made().call("purge", {"counter": None}, at=100)
        made.call("fetch", {"counter": "c1", "node": "n2"}, value=1, isHit=True, age=30)
        self.breaks(made, "purged_responses_are_not_served")

    def test_purged_responses_are_not_served_but_later_ones_are(self):
        made = Made().call("purge", {"counter": None}, at=100)
        self.breaks(made.call("fetch", {"counter": "c1"}, at=130, value=1, isHit=True, age=29))

    def test_purged_responses_are_not_served_but_clocks_can_be_apart(self):
        made = Made().call("clock", {"seconds": -60}).call("purge", {"counter": None}, at=100)
        self.breaks(made.call("fetch", {"counter": "c1", "node": "n2"}, value=1, isHit=True, age=50))

    # Responses and tables

    def test_responses_are_expected(self):
        self.breaks(Made().read(None, status=500), "responses_are_expected")

    def test_responses_are_expected_with_retry_after(self):
        self.breaks(Made().read(None, status=503), "responses_are_expected")

    def test_nodes_are_equal_in_tables(self):
        self.breaks(Made().tables("n1").tables("n2", overlay="b"), "nodes_are_equal")

    def test_nodes_are_equal_in_positions(self):
        self.breaks(Made().tables("n1").tables("n2", position=8), "nodes_are_equal")


if __name__ == "__main__":
    unittest.main()
