#!/usr/bin/python3
"""Lists the tests that cover each rule of docs/spec.

Tests cite rules in the comment above them ("// amqp091 8.4, 19.5"), code and documents where they
follow one ("DL-75", "amqp10 5.1 to 5.3", "management 4.19"). tools/rules_explained.txt gives a reason
for every rule that no test cites.

Prints every rule with the tests that cite it. With --check it prints errors only, and fails if a
citation leads nowhere or does not name its page, if a rule has neither a test nor a reason, or if a
reason is no longer needed.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

PAGES = {
    "amqp091": "docs/spec/amqp091.md",
    "amqp10": "docs/spec/amqp10.md",
    "management": "docs/spec/management.md",
    "DL": "docs/spec/dead-lettering.md",
}
EXPLAINED = "tools/rules_explained.txt"
REASON_KINDS = ("left out", "not a behaviour", "no test")

NUMBER = r"(?:\d+|[A-C])\.\d+[a-z]?(?!\d|\.\d)"
JOINT = r"(?:,|,? and| to)"
DEFINITION = re.compile(rf"^ *- \*\*(?:DL-(\d+)|({NUMBER}))(?=[ *])", re.M)
NUMBERED = re.compile(rf"\b(amqp091|amqp10|management),?\s+(?:rules? )?({NUMBER}(?:{JOINT}\s+{NUMBER})*)")
DEAD_LETTER = re.compile(rf"\bDL-\d+(?:{JOINT}\s+DL-\d+)*")
LINK = re.compile(rf"({JOINT})?\s*(DL-\d+|{NUMBER})")
# A number that opens a comment or a parenthesis and ends there, or is followed by another one.
BARE = re.compile(rf"(?:(?://|#)\s*|\()({NUMBER})(?=\s*$|[,:;)]| to \d| and \d)", re.M)
TEST = re.compile(r"^TEST(?:_P|_F)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)

CODE = (".cc", ".h", ".py", ".js", ".ts", ".tsx", ".java", ".go", ".rb", ".php", ".c")
TEXTS = (".md", ".txt", ".toml")


class Rule(NamedTuple):
    page: str
    number: str

    def __str__(self) -> str:
        return f"DL-{self.number}" if self.page == "DL" else f"{self.page} {self.number}"

    def order(self) -> tuple:
        parts = re.findall(r"\d+|[A-Za-z]", self.number)
        return (list(PAGES).index(self.page),
                *((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts))

    def up_to(self, last: "Rule") -> Iterator["Rule"]:
        """The rules between this one and the last one of the same section."""
        section, _, first = self.number.rpartition(".")
        last_section, _, end = last.number.rpartition(".")
        if section == last_section and first.isdigit() and end.isdigit():
            for number in range(int(first) + 1, int(end)):
                yield Rule(self.page, f"{section}.{number}" if section else str(number))


class Citation(NamedTuple):
    rule: Rule
    place: str  # The test, or file and line.
    is_test: bool


def rules_defined_in(page: str, text: str) -> list[Rule]:
    return [Rule(page, dead_letter or number) for dead_letter, number in DEFINITION.findall(text)]


def without_line_breaks(text: str) -> str:
    """The same text at the same offsets, with the lines of a comment joined."""
    return re.sub(r"\n[ \t]*(//|#|\*)?", lambda match: " " * len(match.group(0)), text)


def rules_in(text: str) -> Iterator[tuple[int, Rule]]:
    """Every rule cited in the text, with the offset of its citation."""
    flat = without_line_breaks(text)
    for match in NUMBERED.finditer(flat):
        yield from rules_of_list(match.start(), match.group(1), match.group(2))
    for match in DEAD_LETTER.finditer(flat):
        yield from rules_of_list(match.start(), "DL", match.group(0))


def rules_of_list(offset: int, page: str, numbers: str) -> Iterator[tuple[int, Rule]]:
    previous = None
    for link, number in LINK.findall(numbers):
        rule = Rule(page, number.removeprefix("DL-"))
        if link.strip() == "to" and previous is not None:
            for between in previous.up_to(rule):
                yield offset, between
        yield offset, rule
        previous = rule


def bare_numbers_in(text: str, known: set[str]) -> Iterator[tuple[int, str]]:
    """Offsets of comments that cite a rule by its number without the page."""
    cited = [match.span() for match in NUMBERED.finditer(without_line_breaks(text))]
    for match in BARE.finditer(text):
        inside = any(first <= match.start(1) < last for first, last in cited)
        in_comment = re.search(r"//|#|^\s*\*", text[text.rfind("\n", 0, match.start(1)) + 1:match.start(1)])
        if not inside and in_comment and match.group(1) in known:
            yield match.start(1), match.group(1)


def test_at(text: str, offset: int) -> str | None:
    """The test whose comment, or whose body, the offset is in."""
    rest = text[offset:]
    following = TEST.search(rest)
    comment_only = following and all(
        line.lstrip().startswith("//") or not line.strip()
        for line in rest[:following.start()].split("\n")[1:])
    if following and comment_only:
        return f"{following.group(1)}.{following.group(2)}"
    before = None
    for before in TEST.finditer(text, 0, offset):
        pass
    return f"{before.group(1)}.{before.group(2)}" if before else None


def is_test(path: str) -> bool:
    """Test programs and scenarios, not their documentation."""
    return ((path.startswith("tests/") or "_test." in path)
            and not path.endswith((".md", ".toml")) and "/recorded/" not in path)


def line_at(path: str, text: str, offset: int) -> str:
    return f"{path}:{text.count(chr(10), 0, offset) + 1}"


def citations_of(path: str, text: str) -> Iterator[Citation]:
    for offset, rule in rules_in(text):
        place = line_at(path, text, offset)
        if is_test(path) and path.endswith(".cc"):
            place = test_at(text, offset) or place
        yield Citation(rule, place, is_test(path))


def cited_files(root: Path) -> Iterator[str]:
    """Source, tests and documents. The tools are excluded, because their tests cite rules that do not
    exist."""
    own = ("tests/conformance/recorded/", "tools/rules")
    for folder in ("src", "tests", "docs", "web", "tools", "deploy", ".github"):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if (path.is_file() and "node_modules" not in path.parts and not name.startswith(own)
                    and not (folder == "tools" and name.endswith("_test.py"))
                    and (path.suffix in CODE + TEXTS or path.name == "run")):
                yield name
    for path in sorted(root.glob("*.md")):
        yield path.name


def read_explained(text: str) -> Iterator[tuple[Rule, str]]:
    """The explained rules with their reasons."""
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            rules, _, reason = line.partition(": ")
            for _, rule in rules_in(rules):
                yield rule, reason.strip()


class Book:
    """All rules, their citations, and the reasons for those without a test."""

    def __init__(self, root: Path):
        self.rules = [rule for page, path in PAGES.items()
                      for rule in rules_defined_in(page, (root / path).read_text(encoding="utf-8"))]
        self.citations: list[Citation] = []
        self.bare: list[str] = []
        numbers = {rule.number for rule in self.rules if rule.page != "DL"}
        for path in cited_files(root):
            text = (root / path).read_text(encoding="utf-8", errors="replace")
            # A definition of DL-75 is not a citation.
            self.citations += citations_of(path, DEFINITION.sub(lambda match: " " * len(match[0]), text)
                                           if path == PAGES["DL"] else text)
            if path.endswith(CODE) and path.startswith(("src/", "tests/")):
                self.bare += [f"{line_at(path, text, offset)} cites {number} without its page"
                              for offset, number in bare_numbers_in(text, numbers)]
        reasons = root / EXPLAINED
        self.explained = list(read_explained(reasons.read_text(encoding="utf-8"))) if reasons.exists() else []

    def tested(self) -> set[Rule]:
        return {citation.rule for citation in self.citations if citation.is_test}


def errors_in(rules: list[Rule], citations: list[Citation],
              explained: list[tuple[Rule, str]]) -> list[str]:
    known = set(rules)
    tests = {citation.rule: citation.place for citation in citations if citation.is_test}
    reasons = dict(explained)
    errors = [f"{rule} is defined twice" for rule in sorted(known, key=Rule.order) if rules.count(rule) > 1]
    errors += [f"{rule}: no test cites it and {EXPLAINED} gives no reason"
               for rule in rules if rule not in tests and rule not in reasons]
    errors += [f"{citation.place} cites {citation.rule}, which does not exist"
               for citation in citations if citation.rule not in known]
    for rule, reason in explained:
        if rule not in known:
            errors.append(f"{EXPLAINED} explains {rule}, which does not exist")
        elif rule in tests:
            errors.append(f"{EXPLAINED} explains {rule}, which {tests[rule]} cites")
        if not re.fullmatch(rf"({'|'.join(REASON_KINDS)}): \S.*", reason):
            errors.append(f"{EXPLAINED}: the reason for {rule} must begin with one of: "
                          + ", ".join(f"'{kind}: '" for kind in REASON_KINDS))
    return errors


def print_all(book: Book) -> None:
    reasons = dict(book.explained)
    for rule in book.rules:
        places = {True: set(), False: set()}
        for citation in book.citations:
            if citation.rule == rule:
                places[citation.is_test].add(citation.place)
        print(f"{rule}: {len(places[True])} tests"
              + (f", {reasons[rule]}" if rule in reasons else ""))
        for place in sorted(places[True]) + sorted(places[False]):
            print(f"    {place}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="print errors only, and fail if there are any")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    book = Book(options.root)
    if not options.check:
        print_all(book)
    errors = errors_in(book.rules, book.citations, book.explained) + book.bare
    for error in errors:
        print(error)
    tested = book.tested() & set(book.rules)
    print(f"{len(book.rules)} rules: {len(tested)} cited by tests, "
          f"{len({rule for rule, _ in book.explained})} explained, {len(book.citations)} citations, "
          f"{len(errors)} errors")
    return 1 if options.check and errors else 0


if __name__ == "__main__":
    sys.exit(main())
