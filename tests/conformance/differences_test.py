"""Tests of the comparison: it must find unnamed differences and must not use differences that are not needed."""
import unittest

from differences import Difference, compare
from script import ScriptError, parse_step


def difference(**entry):
    return Difference({"id": "d", "profiles": ["4.3"], "reason": "a test", **entry})


class Comparison(unittest.TestCase):
    def test_equal_transcripts_need_nothing(self):
        added = difference(kind="only-in-revenant", line="extra .*")
        self.assertEqual(compare(["a", "extra 1"], ["a", "extra 1"], [added]), set())

    def test_an_unnamed_line_is_found(self):
        added = difference(kind="only-in-revenant", line="extra .*")
        self.assertIsNone(compare(["a"], ["a", "other 1"], [added]))
        self.assertIsNone(compare(["a", "extra 1"], ["a"], [added]))

    def test_a_named_line_is_explained(self):
        added = difference(kind="only-in-revenant", line="extra .*")
        missing = difference(kind="only-in-rabbitmq", line="gone .*")
        self.assertEqual(compare(["a", "b"], ["a", "extra 1", "b"], [added]), {"d"})
        self.assertEqual(compare(["a", "gone 1"], ["a"], [missing]), {"d"})

    def test_a_rewritten_line_must_be_the_expected_one(self):
        rewrite = difference(kind="rewrite", line="limit (.*)", becomes=[r"maximum \1", r"most \1"])
        self.assertEqual(compare(["limit 5"], ["maximum 5"], [rewrite]), {"d"})
        self.assertEqual(compare(["limit 5"], ["most 5"], [rewrite]), {"d"})
        self.assertIsNone(compare(["limit 5"], ["maximum 6"], [rewrite]))

    def test_a_block_must_match_on_both_sides(self):
        block = difference(kind="block", scenarios=["s"], rabbitmq="b\nc", revenant="x")
        self.assertEqual(compare(["a", "b", "c", "d"], ["a", "x", "d"], [block]), {"d"})
        self.assertIsNone(compare(["a", "b", "d"], ["a", "x", "d"], [block]))
        self.assertTrue(block.concerns("4.3", "s"))
        self.assertFalse(block.concerns("4.3", "t"))
        self.assertFalse(block.concerns("3.12", "s"))

    def test_conditions_look_at_the_message_and_at_earlier_steps(self):
        rewrite = difference(kind="rewrite", line="flag 0", becomes=["flag 1"], message_has="reason x",
                             step_before="> reject .*")
        one, other = ["> reject m", "got m", "flag 0", "reason x"], ["> reject m", "got m", "flag 1", "reason x"]
        self.assertEqual(compare(one, other, [rewrite]), {"d"})
        self.assertIsNone(compare(one[1:], other[1:], [rewrite]))
        self.assertIsNone(compare(one[:3] + ["got n", "reason x"], other[:3] + ["got n", "reason x"], [rewrite]))

    def test_order_of_fields_is_seen_unless_named(self):
        one, other = ["x-death A", "  [0] F", "    z I 1", "    y I 2"], ["x-death A", "  [0] F", "    y I 2", "    z I 1"]
        named = difference(kind="field-order")
        self.assertIsNone(compare(one, other, []))
        self.assertEqual(compare(one, other, [named]), {"d"})
        self.assertIsNone(compare(["headers"] + one[2:], ["headers"] + other[2:], [named]))

    def test_order_of_older_deaths_is_seen_unless_named(self):
        def letter(*queues):
            return ["x-death A"] + [line for place, queue in enumerate(queues)
                                    for line in (f"  [{place}] F", f"    queue S {queue}")]
        named = difference(kind="record-order")
        self.assertIsNone(compare(letter("a", "b", "c"), letter("a", "c", "b"), []))
        self.assertEqual(compare(letter("a", "b", "c"), letter("a", "c", "b"), [named]), {"d"})
        self.assertIsNone(compare(letter("a", "b", "c"), letter("b", "a", "c"), [named]))
        self.assertIsNone(compare(letter("a", "b", "c"), letter("a", "b"), [named]))

    def test_a_misspelt_step_is_an_error(self):
        self.assertRaises(ScriptError, parse_step, "publish x [1", "here")
        step = parse_step('@b publish x "" m headers={CC=[a, l:5], n=B:7}', "here")
        self.assertEqual((step.session, step.words), ("b", ["x", "", "m"]))
        self.assertEqual(step.options, [("headers", "F", [("CC", "A", [("S", "a"), ("l", 5)]), ("n", "B", 7)])])
