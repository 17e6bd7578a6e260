#!/usr/bin/python3
"""Which test covers which rule of the AMQP 0-9-1 specification.

The numbers of all rules are in tools/amqp091_rules.txt. A test cites rules in the comment above it
("// amqp091 8.4, 19.5"), code does where it follows one ("amqp091 2.1 to 2.3"). What is left out or
different on purpose is explained in docs/compatibility.md by its number.

Prints every rule with the tests that cite it. With --check it prints only what is wrong, and fails
if a rule of the sections that the 0-9-1 layer decides is neither cited by a test nor explained, or
if somebody cites a rule that does not exist.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

# Streams (17) and tracing (18) are no part of the product.
SECTIONS_CHECKED = (*range(1, 17), 19)

CITATION = re.compile(r"amqp091,?\s+((?:rules? )?\d+\.\d+(?:(?:,|,? and| to)\s+\d+\.\d+)*)")
TEST = re.compile(r"^TEST(?:_P|_F)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)


class Rule(NamedTuple):
    section: int
    number: int

    def __str__(self) -> str:
        return f"{self.section}.{self.number}"

    @staticmethod
    def parse(text: str) -> "Rule":
        section, number = text.split(".")
        return Rule(int(section), int(number))


class Citation(NamedTuple):
    rule: Rule
    place: str  # The test, or file and line.
    is_test: bool


def rules_in(text: str) -> Iterator[tuple[int, Rule]]:
    """Every rule cited in the text, with the offset of its citation."""
    # A citation may go on in the next line of a comment.
    flat = re.sub(r"\n[ \t]*(//|#|\*)", lambda match: " " * len(match.group(0)), text)
    for match in CITATION.finditer(flat):
        previous = None
        for link, number in re.findall(r"(,|and|to)?\s*(\d+\.\d+)", match.group(1)):
            rule = Rule.parse(number)
            if link == "to" and previous is not None and previous.section == rule.section:
                for between in range(previous.number + 1, rule.number):
                    yield match.start(), Rule(rule.section, between)
            yield match.start(), rule
            previous = rule


def test_behind(text: str, offset: int) -> str | None:
    """The test whose comment, or whose body, the offset is in."""
    rest = text[offset:]
    behind = TEST.search(rest)
    comment_only = behind and all(
        line.lstrip().startswith("//") or not line.strip()
        for line in rest[:behind.start()].split("\n")[1:])
    if behind and comment_only:
        return f"{behind.group(1)}.{behind.group(2)}"
    before = None
    for before in TEST.finditer(text, 0, offset):
        pass
    return f"{before.group(1)}.{before.group(2)}" if before else None


def citations_of(path: str, text: str) -> Iterator[Citation]:
    is_test = path.startswith("tests/") or "_test." in path
    for offset, rule in rules_in(text):
        place = f"{path}:{text.count(chr(10), 0, offset) + 1}"
        if is_test and path.endswith(".cc"):
            place = test_behind(text, offset) or place
        yield Citation(rule, place, is_test)


def source_files(root: Path) -> Iterator[Path]:
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "node_modules" not in path.parts and (
                    path.suffix in (".cc", ".h", ".py", ".js", ".java", ".go", ".rb", ".php", ".c")
                    or path.name == "run"):
                yield path


def read_citations(root: Path) -> list[Citation]:
    found = []
    for path in source_files(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        found += citations_of(str(path.relative_to(root)), text)
    return found


def read_explained(root: Path) -> set[Rule]:
    page = root / "docs" / "compatibility.md"
    return {rule for _, rule in rules_in(page.read_text())} if page.exists() else set()


def faults_in(rules: list[Rule], citations: list[Citation], explained: set[Rule]) -> list[str]:
    known = set(rules)
    tested = {citation.rule for citation in citations if citation.is_test}
    faults = [f"amqp091 {rule} is neither cited by a test nor explained in docs/compatibility.md"
              for rule in rules
              if rule.section in SECTIONS_CHECKED and rule not in tested | explained]
    faults += [f"{citation.place} cites amqp091 {citation.rule}, which does not exist"
               for citation in citations if citation.rule not in known]
    faults += [f"docs/compatibility.md explains amqp091 {rule}, which does not exist"
               for rule in sorted(explained - known)]
    return faults


def print_all(rules: list[Rule], citations: list[Citation], explained: set[Rule]) -> None:
    for rule in rules:
        tests = sorted({one.place for one in citations if one.rule == rule and one.is_test})
        code = sorted({one.place for one in citations if one.rule == rule and not one.is_test})
        print(f"{rule}: {len(tests)} tests" + (", explained" if rule in explained else ""))
        for place in tests + code:
            print(f"    {place}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="print only what is wrong")
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    rules = [Rule.parse(line) for line in (root / "tools/amqp091_rules.txt").read_text().split()]
    citations = read_citations(root)
    explained = read_explained(root)
    if not options.check:
        print_all(rules, citations, explained)
    faults = faults_in(rules, citations, explained)
    for fault in faults:
        print(fault)
    tested = {citation.rule for citation in citations if citation.is_test}
    print(f"{len(rules)} rules: {len(tested & set(rules))} cited by tests, "
          f"{len(explained & set(rules))} explained, {len(faults)} faults")
    return 1 if options.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
