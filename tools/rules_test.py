#!/usr/bin/python3
"""tools/rules.py finds citations in every form, and reports missing and invalid ones."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import rules  # noqa: E402
from rules import Citation, Rule  # noqa: E402
from tool_on_tree import run_on_tree  # noqa: E402


def cited(text: str) -> list[str]:
    return [str(rule) for _, rule in rules.rules_in(text)]


def bare(text: str) -> list[str]:
    return [number for _, number in rules.bare_numbers_in(text, {"5.1", "5.23", "6.4", "6.9"})]


class Definitions(unittest.TestCase):
    def test_numbers_letters_and_names(self):
        text = "# Title\n- **1.1** One.\n  - no rule\n- **4.14a** Two.\n- **C.10** Three. See 1.1.\n"
        self.assertEqual([str(rule) for rule in rules.rules_defined_in("management", text)],
                         ["management 1.1", "management 4.14a", "management C.10"])

    def test_dead_letters(self):
        text = "- **DL-1** One.\n- **DL-2 `rejected`** Two, as DL-1.\n| DL-3 | a table |\n"
        self.assertEqual([str(rule) for rule in rules.rules_defined_in("DL", text)], ["DL-1", "DL-2"])


class Citations(unittest.TestCase):
    def test_one_and_several(self):
        self.assertEqual(cited("// amqp091 8.4"), ["amqp091 8.4"])
        self.assertEqual(cited("amqp091 8.4, 19.5: the name is free"), ["amqp091 8.4", "amqp091 19.5"])
        self.assertEqual(cited("amqp10 2.10 and 3.1"), ["amqp10 2.10", "amqp10 3.1"])
        self.assertEqual(cited("see amqp091 1.1. And management 1.2"), ["amqp091 1.1", "management 1.2"])
        self.assertEqual(cited("(DL-75, DL-80)"), ["DL-75", "DL-80"])

    def test_letters(self):
        self.assertEqual(cited("management 4.14b, 6.3a"), ["management 4.14b", "management 6.3a"])
        self.assertEqual(cited("amqp10 C.4, B.1"), ["amqp10 C.4", "amqp10 B.1"])

    def test_ranges(self):
        self.assertEqual(cited("// amqp091 2.1 to 2.3"), ["amqp091 2.1", "amqp091 2.2", "amqp091 2.3"])
        self.assertEqual(cited("amqp10 2.10 to 2.12, 3.1"),
                         ["amqp10 2.10", "amqp10 2.11", "amqp10 2.12", "amqp10 3.1"])
        self.assertEqual(cited("DL-13 to DL-15"), ["DL-13", "DL-14", "DL-15"])

    def test_pages_can_be_mixed(self):
        self.assertEqual(sorted(cited("amqp091 8.20, management 4.14c; DL-29")),
                         ["DL-29", "amqp091 8.20", "management 4.14c"])

    def test_across_the_lines_of_a_comment(self):
        self.assertEqual(cited("// as (amqp091\n    // 9.2, 9.3) says"), ["amqp091 9.2", "amqp091 9.3"])
        self.assertEqual(cited("# DL-1 to\n# DL-3"), ["DL-1", "DL-2", "DL-3"])

    def test_across_the_lines_of_a_page(self):
        self.assertEqual(cited("described by amqp10\n5.1"), ["amqp10 5.1"])

    def test_other_numbers_are_no_citations(self):
        self.assertEqual(cited("AMQP 0-9-1, amqp091/frame.h, 8.4, amqp10.md, XDL-12"), [])
        self.assertEqual(cited("amqp091 8.4, 4.3.6 agrees"), ["amqp091 8.4"])

    def test_a_test_is_named_by_the_comment_above_it(self):
        text = "// amqp091 1.1\nTEST(A, First) {\n}\n\n// DL-2: why\n// and how\nTEST_P(B, Second) {\n}\n"
        self.assertEqual([citation.place for citation in rules.citations_of("tests/a_test.cc", text)],
                         ["A.First", "B.Second"])

    def test_a_citation_inside_a_test_is_of_that_test(self):
        text = "TEST(A, First) {  // DL-3\n    f();  // amqp091 1.1\n}\n\nTEST(A, Second) {\n}\n"
        self.assertEqual({citation.place for citation in rules.citations_of("src/x/a_test.cc", text)},
                         {"A.First"})

    def test_code_is_named_by_its_line(self):
        found = list(rules.citations_of("src/amqp091/frame.h", "\n\n// amqp091 1.7\n"))
        self.assertEqual(found, [Citation(Rule("amqp091", "1.7"), "src/amqp091/frame.h:3", False)])

    def test_what_is_written_about_tests_is_no_test(self):
        for path, expected in (("tests/http/cases_a.py", True), ("src/engine/a_test.cc", True),
                               ("tests/conformance/scenarios/keys.txt", True), ("src/engine/a.cc", False),
                               ("tests/conformance/differences.toml", False), ("tests/fuzz/README.md", False)):
            self.assertEqual([one.is_test for one in rules.citations_of(path, "# DL-1\n")], [expected], path)


class BareNumbers(unittest.TestCase):
    def test_a_comment_that_is_a_number(self):
        self.assertEqual(bare("// 5.23\nint x;"), ["5.23"])
        self.assertEqual(bare("f();  // 5.23: why"), ["5.23"])
        self.assertEqual(bare("// As it says (6.4 to 6.9)."), ["6.4"])
        self.assertEqual(bare("def f():  # 5.1, DL-3"), ["5.1"])

    def test_versions_code_and_citations_are_none(self):
        for text in ("// amqp10 5.1, 5.23", "// (amqp10 5.23, DL-2)", "// amqp10\n// 5.23", "f(5.1);",
                     "// RabbitMQ 5.1 has it", "// 5.1 has it", "// 5.1.2", "// RFC 9110, 5.1"):
            self.assertEqual(bare(text), [], text)


class Errors(unittest.TestCase):
    ONE, TWO, THREE = (Rule("amqp091", f"1.{number}") for number in (1, 2, 3))

    def test_a_rule_needs_a_test_or_a_reason(self):
        citations = [Citation(self.ONE, "A.First", True), Citation(self.THREE, "a.cc:1", False)]
        self.assertEqual(
            rules.errors_in([self.ONE, self.TWO, self.THREE], citations, [(self.TWO, "left out: it")]),
            ["amqp091 1.3: no test cites it and tools/rules_explained.txt gives no reason"])

    def test_what_does_not_exist_cannot_be_cited(self):
        errors = rules.errors_in([self.ONE], [Citation(self.ONE, "A.First", True),
                                              Citation(self.TWO, "docs/a.md:3", False)],
                                 [(self.THREE, "no test: it is hard")])
        self.assertEqual(errors, ["docs/a.md:3 cites amqp091 1.2, which does not exist",
                                  "tools/rules_explained.txt explains amqp091 1.3, which does not exist"])

    def test_a_reason_that_is_no_longer_needed(self):
        errors = rules.errors_in([self.ONE], [Citation(self.ONE, "A.First", True)],
                                 [(self.ONE, "left out: it")])
        self.assertEqual(errors, ["tools/rules_explained.txt explains amqp091 1.1, which A.First cites"])

    def test_a_reason_says_of_what_kind_it_is(self):
        for reason in ("", "left out", "left out: ", "just so"):
            errors = rules.errors_in([self.ONE], [], [(self.ONE, reason)])
            self.assertEqual(len(errors), 1, reason)
            self.assertIn("must begin with one of", errors[0])

    def test_a_rule_is_defined_once(self):
        errors = rules.errors_in([self.ONE, self.ONE], [Citation(self.ONE, "A.First", True)], [])
        self.assertEqual(errors, ["amqp091 1.1 is defined twice"])


GOOD = {
    "docs/spec/amqp091.md": "# A\n\n- **1.1** One.\n",
    "docs/spec/amqp10.md": "# B\n\n- **1.1** One.\n- **1.2** Two, see amqp091 1.1.\n",
    "docs/spec/management.md": "# C\n\n- **4.14a** One.\n",
    "docs/spec/dead-lettering.md": "# D\n\n- **DL-1 `x`** One.\n",
    "src/engine/a.cc": "// amqp091 1.1\n",
    "src/engine/a_test.cc": "// amqp091 1.1\nTEST(A, B) {}\n\n// DL-1\nTEST(A, C) {}\n",
    "tests/http/cases_a.py": "def f():  # management 4.14a\n    pass\n# amqp10 1.1\n",
    "tools/rules_explained.txt": "# A comment, DL-99.\n\namqp10 1.2: left out: streams\n",
    "README.md": "See DL-1.\n",
}


def checked(changes: dict[str, str]) -> tuple[list[str], int]:
    """The output and exit code of the program for the good tree with these files changed."""
    return run_on_tree(rules.main, GOOD | changes, ["rules.py", "--check", "--root"])


class Program(unittest.TestCase):
    def test_a_good_tree_passes(self):
        self.assertEqual(checked({}), (["5 rules: 4 cited by tests, 1 explained, 7 citations, 0 errors"], 0))

    def test_every_kind_of_error_fails(self):
        for path, text, expected in (
                ("README.md", "See DL-2.\n", "README.md:1 cites DL-2, which does not exist"),
                ("docs/web.md", "# W\n\namqp091 1.2\n", "docs/web.md:3 cites amqp091 1.2, which does not exist"),
                ("docs/spec/management.md", GOOD["docs/spec/management.md"] + "- **9.9** New.\n",
                 "management 9.9: no test cites it and tools/rules_explained.txt gives no reason"),
                ("tools/rules_explained.txt", "", "amqp10 1.2: no test cites it and tools/rules_explained.txt "
                                                  "gives no reason"),
                ("src/engine/b.h", "\n// 1.2\n", "src/engine/b.h:2 cites 1.2 without its page"),
                ("src/engine/b_test.cc", "// amqp10 1.2\nTEST(B, C) {}\n",
                 "tools/rules_explained.txt explains amqp10 1.2, which B.C cites")):
            with self.subTest(path=path, text=text):
                lines, code = checked({path: text})
                self.assertEqual((lines[:-1], code), ([expected], 1))


class Repository(unittest.TestCase):
    def test_the_rules_of_each_page_are_in_order(self):
        root = Path(__file__).parent.parent
        for page, path in rules.PAGES.items():
            listed = rules.rules_defined_in(page, (root / path).read_text(encoding="utf-8"))
            self.assertEqual(listed, sorted(set(listed), key=Rule.order), page)
            self.assertGreater(len(listed), 70, page)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
