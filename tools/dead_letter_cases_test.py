#!/usr/bin/python3
"""tools/dead_letter_cases.py reads its list, finds tests, and reports missing ones."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import dead_letter_cases  # noqa: E402
from dead_letter_cases import Case  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


class Lists(unittest.TestCase):
    def test_a_case_has_tests_or_a_reason(self):
        cases, faults = dead_letter_cases.parse(
            "# a comment\n\na_SUITE/one | DL-1, DL-2 | A.First, conformance/x\n"
            "a_SUITE/two@variant | - | left out: amqp10\n")
        self.assertEqual(faults, [])
        self.assertEqual(cases, [Case("a_SUITE/one", "DL-1, DL-2", ("A.First", "conformance/x"), ""),
                                 Case("a_SUITE/two@variant", "-", (), "amqp10")])

    def test_another_line_is_a_fault(self):
        for line in ("a_SUITE/one", "a_SUITE/one | DL-1", "one | DL-1 | A.First",
                     "a_SUITE/one | 8.4 | A.First", "a_SUITE/one | DL-1 | A.First | more"):
            cases, faults = dead_letter_cases.parse(line)
            self.assertEqual((cases, len(faults)), ([], 1), line)


class Faults(unittest.TestCase):
    def check(self, case: Case, *expected: str):
        self.assertEqual(dead_letter_cases.faults_in([case], {"A.First"}, {case.reason} - {""}),
                         list(expected))

    def test_there_is_none_when_all_is_told(self):
        self.check(Case("s/a", "DL-1", ("A.First",), ""))
        self.check(Case("s/a", "-", (), "amqp10"))

    def test_an_unmapped_case(self):
        self.check(Case("s/a", "DL-1", (), ""), "s/a has neither a test nor a reason")

    def test_a_test_that_does_not_exist(self):
        self.check(Case("s/a", "DL-1", ("A.First", "A.Second"), ""), "s/a: there is no test A.Second")

    def test_a_rule_that_does_not_exist(self):
        self.check(Case("s/a", "DL-214, DL-0", ("A.First",), ""),
                   "s/a: there is no rule DL-214", "s/a: there is no rule DL-0")

    def test_a_reason_that_is_not_explained_or_not_needed(self):
        self.assertEqual(dead_letter_cases.faults_in([Case("s/a", "-", (), "moon")], set(), {"sun"}),
                         ["s/a: docs/compatibility.md does not explain moon",
                          "docs/compatibility.md explains sun, which no case needs"])

    def test_a_case_that_is_there_twice(self):
        case = Case("s/a", "DL-1", ("A.First",), "")
        self.assertEqual(dead_letter_cases.faults_in([case, case], {"A.First"}, set()),
                         ["s/a is there twice"])


class Places(unittest.TestCase):
    def test_tests_are_found_where_they_are_written(self):
        files = {
            "src/engine/a_test.cc": "TEST(A, First) {\n}\n\nTEST_F(B,\n       Second) {\n}\n",
            "src/engine/a.cc": "TEST(A, NoTest) {\n}\n",
            "tests/amqp091/c_test.cc": "TEST_P(C, Third) {\n}\n",
            "tests/conformance/scenarios/d.txt": "== maxlen-bytes: what it shows (DL-1)\nqueue q\n",
            "tests/http/cases_e.py": "@case\ndef it_counts(world):\n    pass\n\ndef helps(world):\n    pass\n",
            "tests/clients/java/Cases.java": "static { test(\"reject_dead_letters\", body); }\n",
            "tests/clients/pika/cases.py": "def get_and_ack(channel):\n    pass\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            self.assertEqual(
                dead_letter_cases.existing_tests(Path(folder)),
                {"A.First", "B.Second", "C.Third", "conformance/maxlen-bytes", "http/it_counts",
                 "clients/java/reject_dead_letters", "clients/pika/get_and_ack"})

    def test_reasons_are_the_first_column_of_their_section(self):
        page = (f"# Page\n\n| `not-this` | one |\n\n{dead_letter_cases.SECTION}\n\n| key | why |\n"
                "| --- | --- |\n| `amqp10` | comes later |\n| `empty` |  |\n\n## Next\n\n| `nor-this` | one |\n")
        self.assertEqual(dead_letter_cases.explained_reasons(page), {"amqp10"})


class Repository(unittest.TestCase):
    def test_every_case_is_mapped(self):
        cases, faults = dead_letter_cases.parse((ROOT / "tools/dead_letter_cases.txt").read_text())
        page = (ROOT / "docs/compatibility.md").read_text()
        faults += dead_letter_cases.faults_in(cases, dead_letter_cases.existing_tests(ROOT),
                                              dead_letter_cases.explained_reasons(page))
        self.assertEqual(faults, [])
        self.assertGreater(len(cases), 300)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
