#!/usr/bin/python3
"""Lists the test that corresponds to each of RabbitMQ's own dead-letter tests.

The cases are in tools/dead_letter_cases.txt, one in a line, with the rules they are about and either
the tests of ours or the key of a reason why there is none. The reasons are explained in the section
"RabbitMQ dead-letter tests without a counterpart" of docs/compatibility.md.

Prints every case with its tests. With --check it prints only what is wrong, and fails if a case has
neither a test nor a reason, a test does not exist, or a reason is not explained.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import rules  # noqa: E402

SECTION = "## RabbitMQ dead-letter tests without a counterpart"
LAST_RULE = 213
LEFT_OUT = "left out:"

CASE = re.compile(r"\w+/[\w*]+(?:@[\w-]+)?")
RULES = re.compile(r"-|DL-\d+(?:, DL-\d+)*")
SCENARIO = re.compile(r"^== ([\w-]+):", re.M)
HTTP_CASE = re.compile(r"^@case\ndef (\w+)\(", re.M)
REASON = re.compile(r"^\| `([\w-]+)` \| \S", re.M)


class Case(NamedTuple):
    name: str
    rules: str
    tests: tuple[str, ...]
    reason: str  # Why there is no test; empty if there is one.


def parse(text: str) -> tuple[list[Case], list[str]]:
    """The cases of a list, and the errors in its lines."""
    cases, faults = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or not CASE.fullmatch(parts[0]) or not RULES.fullmatch(parts[1]):
            faults.append(f"line {number} is no case: {line}")
            continue
        name, cited, rest = parts
        if rest.startswith(LEFT_OUT):
            cases.append(Case(name, cited, (), rest.removeprefix(LEFT_OUT).strip()))
        else:
            tests = tuple(test.strip() for test in rest.split(",") if test.strip())
            cases.append(Case(name, cited, tests, ""))
    return cases, faults


def read_all(root: Path, pattern: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(root.glob(pattern)))


def client_cases(root: Path) -> set[str]:
    """Every word of a client program that is quoted or follows def, func or function."""
    found = set()
    for path in sorted(root.glob("tests/clients/*/*[Cc]ases*.*")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"\"(\w+)\"|'(\w+)'|\b(?:def|func|function) (\w+)", text):
            found.add(f"clients/{path.parent.name}/{''.join(name)}")
    return found


def existing_tests(root: Path) -> set[str]:
    sources = read_all(root, "src/**/*_test.cc") + read_all(root, "tests/**/*_test.cc")
    found = {f"{suite}.{name}" for suite, name in rules.TEST.findall(sources)}
    scenarios = read_all(root, "tests/conformance/scenarios/*.txt")
    found |= {f"conformance/{name}" for name in SCENARIO.findall(scenarios)}
    found |= {f"http/{name}" for name in HTTP_CASE.findall(read_all(root, "tests/http/cases_*.py"))}
    return found | client_cases(root)


def explained_reasons(page: str) -> set[str]:
    section = page.partition(f"\n{SECTION}\n")[2].partition("\n## ")[0]
    return set(REASON.findall(section))


def faults_in(cases: list[Case], existing: set[str], explained: set[str]) -> list[str]:
    faults, seen = [], set()
    for case in cases:
        if case.name in seen:
            faults.append(f"{case.name} is there twice")
        seen.add(case.name)
        if not case.tests and not case.reason:
            faults.append(f"{case.name} has neither a test nor a reason")
        faults += [f"{case.name}: there is no test {test}"
                   for test in case.tests if test not in existing]
        if case.reason and case.reason not in explained:
            faults.append(f"{case.name}: docs/compatibility.md does not explain {case.reason}")
        faults += [f"{case.name}: there is no rule DL-{number}"
                   for number in re.findall(r"DL-(\d+)", case.rules)
                   if not 1 <= int(number) <= LAST_RULE]
    needed = {case.reason for case in cases}
    faults += [f"docs/compatibility.md explains {reason}, which no case needs"
               for reason in sorted(explained - needed)]
    return faults


def print_all(cases: list[Case]) -> None:
    for case in cases:
        print(f"{case.name} ({case.rules})")
        for test in case.tests:
            print(f"    {test}")
        if case.reason:
            print(f"    {LEFT_OUT} {case.reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="print only what is wrong")
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    cases, faults = parse((root / "tools/dead_letter_cases.txt").read_text(encoding="utf-8"))
    page = (root / "docs/compatibility.md").read_text(encoding="utf-8")
    faults += faults_in(cases, existing_tests(root), explained_reasons(page))
    if not options.check:
        print_all(cases)
    for fault in faults:
        print(fault)
    mapped = sum(1 for case in cases if case.tests)
    left_out = sum(1 for case in cases if case.reason)
    print(f"{len(cases)} cases, {mapped} mapped to tests, {left_out} left out, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
