#!/usr/bin/python3
"""Tests of the checker: artificial ledgers and findings, each with one fault that must be reported."""
import sys
import unittest

from checker import Found, check_everything
from dying import RetryHistories
import large_transactions
from ledger import Certainty, Lane, Ledger, Publication, Transaction, body_of, id_in
from story import Story, StoryLedger

DEAD = (("source", "rejected", 1),)


class Check(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger(1)
        self.ledger.add_lane(Lane("lane", ("source", "dead"), {"dead": [DEAD]}, ordered=("source",)))
        self.ledger.add_lane(Lane("other", ("other",)))
        self.findings = {"source": [], "dead": [], "other": []}

    def publish(self, number, publication=Publication.CONFIRMED, lanes=("lane",), **options):
        id = self.ledger.new_id("p", number)
        self.ledger.publish(id, lanes, publication=publication, **options)
        return id

    def find(self, queue, *ids, deaths=()):
        self.findings[queue] += [Found(id, deaths) for id in ids]

    def kinds(self):
        return sorted(fault.kind for fault in check_everything(self.ledger, self.findings))

    def expect(self, *kinds):
        self.assertEqual(self.kinds(), sorted(kinds))


class Messages(Check):
    def test_nothing_wrong_is_nothing_reported(self):
        here, dead, gone = self.publish(1), self.publish(2), self.publish(3)
        self.ledger.remove("lane", [gone], Certainty.PROMISED)
        self.publish(4, Publication.SENT)
        self.publish(5, Publication.REFUSED)
        self.find("source", here)
        self.find("dead", dead, deaths=DEAD)
        self.expect()

    def test_a_confirmed_message_that_is_nowhere_is_lost(self):
        self.publish(1)
        self.expect("lost")

    def test_a_message_lost_in_one_of_its_queues_is_lost(self):
        self.find("source", self.publish(1, lanes=("lane", "other")))
        self.expect("lost")

    def test_a_transient_message_may_be_gone_but_not_doubled(self):
        self.publish(1, persistent=False)
        twice = self.publish(2, persistent=False)
        self.find("source", twice, twice)
        self.expect("double")

    def test_a_lossy_lane_may_be_empty(self):
        self.ledger.lanes["lane"].lossy = True
        self.publish(1)
        self.expect()

    def test_twice_in_one_queue_is_double(self):
        id = self.publish(1)
        self.find("source", id, id)
        self.expect("double")

    def test_alive_and_dead_is_double(self):
        id = self.publish(1)
        self.find("source", id)
        self.find("dead", id, deaths=DEAD)
        self.expect("double")

    def test_an_unanswered_message_may_be_there_once(self):
        once, twice = self.publish(1, Publication.SENT), self.publish(2, Publication.SENT)
        self.find("source", once, twice, twice)
        self.expect("double")

    def test_an_unanswered_message_of_two_queues_is_in_both_or_in_none(self):
        self.publish(1, Publication.SENT, lanes=("lane", "other"))
        both, half = (self.publish(number, Publication.SENT, lanes=("lane", "other")) for number in (2, 3))
        self.find("source", both, half)
        self.find("other", both)
        self.expect("torn publish")

    def test_a_refused_message_must_not_be_stored_but_may_be_dead(self):
        stored, dead = self.publish(1, Publication.REFUSED), self.publish(2, Publication.REFUSED)
        self.find("source", stored)
        self.find("dead", dead, deaths=DEAD)
        self.expect("refused but stored")

    def test_strangers_old_misplaced_and_damaged_messages_are_seen(self):
        self.find("source", "1/p/0/77")
        self.find("source", "0/p/0/1")
        self.find("source", None)
        self.find("other", self.publish(1))
        self.expect("stranger", "from an earlier round", "damaged", "misplaced", "lost")


class Settlement(Check):
    def test_an_acked_message_may_come_back_after_a_kill(self):
        for number, certainty in enumerate((Certainty.WISHED, Certainty.DONE)):
            id = self.publish(number)
            self.ledger.remove("lane", [id], certainty)
            self.find("source", id)
        self.ledger.end_epoch(orderly=False)
        self.expect()

    def test_an_acked_message_may_come_back_only_once(self):
        id = self.publish(1)
        self.ledger.remove("lane", [id], Certainty.WISHED)
        self.find("source", id, id)
        self.expect("double")

    def test_an_ack_that_was_done_holds_after_an_orderly_end(self):
        done, wished = self.publish(1), self.publish(2)
        self.ledger.remove("lane", [done], Certainty.DONE)
        self.ledger.remove("lane", [wished], Certainty.WISHED)
        self.ledger.end_epoch(orderly=True)
        self.find("source", done, wished)
        self.expect("came back")

    def test_a_promised_removal_holds(self):
        id = self.publish(1)
        self.ledger.remove("lane", [id], Certainty.PROMISED)
        self.ledger.end_epoch(orderly=False)
        self.find("source", id)
        self.expect("came back")

    def test_a_rejection_that_was_done_holds_after_an_orderly_end(self):
        id = self.publish(1)
        self.ledger.reject("lane", [id], Certainty.DONE)
        self.ledger.end_epoch(orderly=True)
        self.find("source", id)
        self.expect("death undone")

    def test_a_rejected_message_is_lost_when_it_is_nowhere(self):
        id = self.publish(1)
        self.ledger.reject("lane", [id], Certainty.DONE)
        self.expect("lost")

    def test_a_second_delivery_is_double_unless_the_broker_restarted(self):
        id = self.publish(1)
        self.find("source", id)
        self.ledger.receive("lane", id)
        self.ledger.end_epoch(orderly=False)
        self.ledger.receive("lane", id)
        self.expect()
        self.ledger.receive("lane", id)
        self.expect("double")


class OrderAndHistory(Check):
    def test_order_within_a_publisher_is_kept(self):
        one, two, three = (self.publish(number) for number in (1, 2, 3))
        self.find("source", one, three, two)
        self.expect("order")

    def test_order_of_deliveries_is_kept(self):
        one, two = self.publish(1), self.publish(2)
        self.ledger.receive("lane", two)
        self.ledger.receive("lane", one)
        self.find("source", one, two)
        self.expect("order")

    def test_numbers_are_compared_as_numbers_and_behind_their_epoch(self):
        ids = [self.publish(9), self.publish(10)]
        self.ledger.end_epoch(orderly=False)
        ids.append(self.publish(1))
        self.find("source", *ids)
        self.expect()

    def test_a_wrong_count_reason_or_queue_of_death_is_seen(self):
        for number, death in enumerate(((("source", "rejected", 2),), (("source", "expired", 1),),
                                        (("other", "rejected", 1),), (), DEAD + DEAD)):
            self.find("dead", self.publish(number), deaths=death)
        self.expect(*["history"] * 5)

    def test_a_living_message_has_no_history(self):
        self.find("source", self.publish(1), deaths=DEAD)
        self.expect("history")


class Retries(unittest.TestCase):
    def test_a_message_is_rejected_as_often_as_expired_and_once_more_while_it_waits(self):
        source, waiting = RetryHistories("s", "w", False), RetryHistories("s", "w", True)
        rejected, expired = (lambda count: ("s", "rejected", count)), (lambda count: ("w", "expired", count))
        for right in ((), (expired(1), rejected(1)), (expired(7), rejected(7))):
            self.assertIn(right, source)
        for right in ((rejected(1),), (rejected(8), expired(7))):
            self.assertIn(right, waiting)
        for wrong in ((rejected(1),), (expired(1), rejected(2)), (rejected(1), expired(1)), (("s", "maxlen", 1),)):
            self.assertNotIn(wrong, source)
        for wrong in ((), (rejected(2),), (rejected(1), expired(1)), (expired(1), rejected(2))):
            self.assertNotIn(wrong, waiting)


class Transactions(Check):
    def setUp(self):
        super().setUp()
        self.input = self.publish(1)
        self.outputs = [self.publish(2, lanes=("other",)), self.publish(3, lanes=("other",))]

    def attempt(self, outcome, publication, removal):
        self.ledger.transactions.append(Transaction(self.input, self.outputs, outcome))
        for id in self.outputs:
            self.ledger.answer(id, publication)
        self.ledger.remove("lane", [self.input], removal)

    def test_a_whole_transaction_is_right(self):
        self.attempt("committed", Publication.CONFIRMED, Certainty.PROMISED)
        self.find("other", *self.outputs)
        self.expect()

    def test_an_unanswered_commit_may_have_failed_as_a_whole(self):
        self.attempt("committing", Publication.SENT, Certainty.WISHED)
        self.find("source", self.input)
        self.expect()

    def test_half_of_an_unanswered_commit_is_broken(self):
        self.attempt("committing", Publication.SENT, Certainty.WISHED)
        self.find("other", self.outputs[0])
        self.expect("broken transaction")

    def test_half_of_a_committed_transaction_is_lost(self):
        self.attempt("committed", Publication.CONFIRMED, Certainty.PROMISED)
        self.find("other", self.outputs[0])
        self.expect("broken transaction", "lost")

    def test_outputs_beside_their_input_are_broken(self):
        self.attempt("committing", Publication.SENT, Certainty.WISHED)
        self.find("source", self.input)
        self.find("other", *self.outputs)
        self.expect("broken transaction")

    def test_an_input_without_its_outputs_is_broken(self):
        self.attempt("committing", Publication.SENT, Certainty.WISHED)
        self.expect("broken transaction")

    def test_outputs_of_what_was_not_committed_must_not_be_there(self):
        self.attempt("rolled back", Publication.ROLLED_BACK, Certainty.NONE)
        self.find("other", *self.outputs)
        self.expect("uncommitted", "uncommitted", "lost")

    def test_two_attempts_that_came_true_are_seen(self):
        self.attempt("committing", Publication.SENT, Certainty.WISHED)
        self.find("other", *self.outputs)
        self.outputs = [self.publish(4, lanes=("other",))]
        self.attempt("committed", Publication.CONFIRMED, Certainty.PROMISED)
        self.find("other", *self.outputs)
        self.expect("repeated transaction")


class Bodies(unittest.TestCase):
    def test_a_whole_body_gives_its_id_and_a_changed_one_does_not(self):
        body = body_of("1/p/0/1", 100)
        self.assertEqual(id_in(body), "1/p/0/1")
        self.assertIsNone(id_in(body_of("1/empty/0/1", 100)))
        self.assertEqual(id_in(b"", "1/empty/0/1"), "1/empty/0/1")
        self.assertIsNone(id_in(b"", "1/p/0/1"))
        for changed in (body[:-1], body + b"x", body[:60] + b"?" + body[61:], b"1/p/0/2" + body[7:], b"", b"\xff"):
            self.assertIsNone(id_in(changed))


class Stories(unittest.TestCase):
    def test_a_story_has_what_happened_and_the_facts_of_the_messages_concerned(self):
        story = Story()
        ledger = StoryLedger(1, story)
        ledger.add_lane(Lane("lane", ("source",)))
        ids = [ledger.new_id("p", number) for number in (1, 2)]
        for id in ids:
            ledger.publish(id, ["lane"])
            ledger.answer(id, Publication.CONFIRMED)
        story.tell("is killed")
        faults = check_everything(ledger, {"source": [Found(ids[0])]})
        self.assertEqual([fault.kind for fault in faults], ["lost"])
        told = "\n".join(story.about(faults, ledger.facts))
        for part in (f"{ids[1]}: sent to lane", f"{ids[1]}: confirmed", "broker: is killed"):
            self.assertIn(part, told)
        self.assertNotIn(ids[0], told)


class LargeTransactions(unittest.TestCase):
    def expect(self, outcome, found, *kinds, bytes=1000):
        transaction = large_transactions.Transaction(["a", "b"], bytes, outcome)
        self.assertEqual([fault.kind for fault in large_transactions.faults_of([transaction], found)], list(kinds))

    def test_all_or_nothing_is_right(self):
        self.expect("committed", ["a", "b"])
        self.expect("committing", ["a", "b"])
        self.expect("committing", [])
        self.expect("open", [])
        self.expect("rolled back", [])
        self.expect("refused", [], bytes=large_transactions.LIMIT_BYTES + 1)

    def test_anything_else_is_not(self):
        self.expect("committed", ["a"], "half a transaction")
        self.expect("committing", ["b"], "half a transaction")
        self.expect("committed", [], "lost")
        self.expect("committed", ["a", "b", "b"], "double")
        self.expect("open", ["a", "b"], "not committed but there")
        self.expect("refused", [], "refused")
        self.expect("committed", ["a", "b"], "beyond the limit", bytes=large_transactions.LIMIT_BYTES + 1)
        self.expect("committed", ["a", "b", None], "stranger")


def run_tests():
    """Returns the numbers of passed and failed tests."""
    result = unittest.TestResult()
    for case in (Messages, Settlement, OrderAndHistory, Retries, Transactions, LargeTransactions, Bodies, Stories):
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    for test, trace in result.failures + result.errors:
        print(f"FAILED {test}\n{trace}")
    wrong = len({test for test, _ in result.failures + result.errors})
    return result.testsRun - wrong, wrong


if __name__ == "__main__":
    passed, failed = run_tests()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
