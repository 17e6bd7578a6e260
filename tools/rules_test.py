#!/usr/bin/python3
"""tools/rules.py finds citations where people write them, and tells what is missing."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import rules  # noqa: E402
from rules import Citation, Rule  # noqa: E402


def cited(text: str) -> list[str]:
    return [str(rule) for _, rule in rules.rules_in(text)]


class Citations(unittest.TestCase):
    def test_one_and_several(self):
        self.assertEqual(cited("// amqp091 8.4"), ["8.4"])
        self.assertEqual(cited("amqp091 8.4, 19.5: the name is free"), ["8.4", "19.5"])
        self.assertEqual(cited("amqp091 2.10 and 3.1"), ["2.10", "3.1"])
        self.assertEqual(cited("see amqp091 1.1. And amqp091 1.2"), ["1.1", "1.2"])

    def test_ranges(self):
        self.assertEqual(cited("// amqp091 2.1 to 2.3"), ["2.1", "2.2", "2.3"])
        self.assertEqual(cited("amqp091 2.10 to 2.12, 3.1"), ["2.10", "2.11", "2.12", "3.1"])

    def test_across_the_lines_of_a_comment(self):
        self.assertEqual(cited("// as (amqp091\n    // 9.2, 9.3) says"), ["9.2", "9.3"])

    def test_other_numbers_are_none(self):
        self.assertEqual(cited("AMQP 0-9-1, amqp091/frame.h, 8.4, DL-12"), [])

    def test_a_test_is_named_by_the_comment_above_it(self):
        text = "// amqp091 1.1\nTEST(A, First) {\n}\n\n// amqp091 1.2: why\n// and how\nTEST_P(B, Second) {\n}\n"
        self.assertEqual([citation.place for citation in rules.citations_of("tests/a_test.cc", text)],
                         ["A.First", "B.Second"])

    def test_a_citation_inside_a_test_is_of_that_test(self):
        text = "TEST(A, First) {\n    f();  // amqp091 1.1\n}\n\nTEST(A, Second) {\n}\n"
        self.assertEqual([citation.place for citation in rules.citations_of("src/x/a_test.cc", text)],
                         ["A.First"])

    def test_code_is_named_by_its_line(self):
        found = list(rules.citations_of("src/amqp091/frame.h", "\n\n// amqp091 1.7\n"))
        self.assertEqual(found, [Citation(Rule(1, 7), "src/amqp091/frame.h:3", False)])


class Faults(unittest.TestCase):
    def test_a_rule_needs_a_test_or_an_explanation(self):
        numbers = [Rule(1, 1), Rule(1, 2), Rule(1, 3), Rule(17, 1)]
        citations = [Citation(Rule(1, 1), "A.First", True), Citation(Rule(1, 3), "a.cc:1", False)]
        self.assertEqual(
            rules.faults_in(numbers, citations, {Rule(1, 2)}),
            ["amqp091 1.3 is neither cited by a test nor explained in docs/compatibility.md"])

    def test_what_does_not_exist_cannot_be_cited(self):
        faults = rules.faults_in([Rule(1, 1)], [Citation(Rule(1, 1), "A.First", True),
                                                Citation(Rule(1, 9), "A.Second", True)], {Rule(2, 9)})
        self.assertEqual(len(faults), 2)
        self.assertIn("A.Second cites amqp091 1.9", faults[0])


class Repository(unittest.TestCase):
    def test_the_list_of_rules_is_in_order(self):
        listed = [Rule.parse(line) for line in
                  (Path(__file__).parent / "amqp091_rules.txt").read_text().split()]
        self.assertEqual(listed, sorted(set(listed)))


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
