#!/usr/bin/python3
"""Checks the project's rules: those that no compiler checks and no reviewer should have to.

Prints every finding as path:line: check: message, then one line per check, the sizes of the modules, and
ends with "N passed, M failed". The checks in REPORT_ONLY do not fail; their findings are printed with
--reports. A line that must break a rule says so, on itself or in the comment above it:
"tidy-allow: <check>: <reason>".
"""

import argparse
import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable, Iterator, NamedTuple

FUNCTION_LINES_MAX = 80
FILE_LINES_MAX = 700
ROOM_LINES_MAX = 4000

# Checks that only report. Removing a name from here makes its check fail on findings.
REPORT_ONLY: tuple[str, ...] = ()

# Old names and phrases with their replacements.
RETIRED_NAMES = "tools/retired_names.txt"

# Pure modules: no clock, no thread, no input or output, no exception.
PURE_ROOMS = ("base", "message", "pattern", "engine", "amqp091", "amqp10", "auth", "catalog")

FORBIDDEN_NAME_PARTS = (
    "common", "handler", "helper", "helpers", "impl", "manager", "misc", "service", "util", "utils",
)

MACROS = re.compile(r"(CHECK|UNREACHABLE|PROBE|REVENANT_\w+|PCRE2_CODE_UNIT_WIDTH|XXH_INLINE_ALL|"
                    r"BOOST_\w+)$")


class Ban(NamedTuple):
    pattern: str
    rooms: tuple[str, ...] | None  # None: every room.
    except_files: tuple[str, ...]  # Paths or folders below src that may.
    reason: str


BANS = (
    Ban(r"_clock::now\b|\bclock_gettime\b|\bgettimeofday\b|\bstd::time\s*\(", None,
        # The disk measures its durations, for counters only.
        ("runtime/system_clock.h", "runtime/system_clock.cc", "journal/disk_posix.cc"),
        "time comes in as an argument; runtime/system_clock is the only now()"),
    Ban(r"\brandom_device\b|\bstd::rand\b|\bsrand\b", ("base", "message", "engine", "amqp091", "amqp10"), (),
        "the same input must give the same run"),
    Ban(r"\bthrow\b|\bcatch\s*\(", PURE_ROOMS, (), "errors are values here (base/result.h)"),
    Ban(r"<boost/(asio|beast)", None, ("http/",), "Asio and Beast live in http"),
    Ban(r"#include <iostream>|\bstd::(cout|cerr)\b", None, ("cli/",),
        "diagnostics go through the log, and iostream runs static constructors everywhere"),
    Ban(r"\bassert\s*\(|#include <cassert>", None, (), "the release has no assert; use CHECK"),
    Ban(r"#include <(mutex|shared_mutex|thread|condition_variable|future|semaphore|latch|barrier)>",
        PURE_ROOMS, (), "pure rooms have one thread and no lock"),
    Ban(r"\bstd::atomic\b", ("pattern", "engine", "amqp091", "amqp10", "auth", "catalog"), (),
        "only bytes and messages are shared between threads"),
    Ban(r"#include <(fstream|filesystem|unistd\.h|fcntl\.h|netdb\.h|(sys|arpa|net|netinet)/.*)>",
        PURE_ROOMS, (), "pure rooms do no input or output"),
    Ban(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|\bsleep\s*\(", PURE_ROOMS + ("runtime",), (),
        "a reactor waits in epoll only"),
)


class File:
    """One file of the repository, read once."""

    def __init__(self, root: Path, path: str):
        self.path = path
        self.name = os.path.basename(path)
        self.stem = self.name.split(".")[0]
        data = (root / path).read_bytes()
        self.is_text = b"\0" not in data[:8192]
        self.text = data.decode("utf-8", "replace") if self.is_text else ""
        self.lines = self.text.split("\n")
        self.is_cpp = path.endswith((".cc", ".h"))
        self.is_generated = ".gen." in self.name
        self.is_test = path.startswith("tests/") or path.endswith(("_test.cc", "_test.h"))
        folder = os.path.dirname(path)
        # The folder below src: engine/rules is a module within engine.
        self.room = folder.removeprefix("src/") if folder.startswith("src/") else None
        self.module = self.room.split("/")[0] if self.room else None
        self.code = without_comments(self.text) if self.is_cpp else self.text
        self.code_lines = self.code.split("\n")

    def line_of(self, offset: int) -> int:
        return self.code.count("\n", 0, offset) + 1

    def allows(self, line: int, check: str) -> bool:
        """Whether the line or the comment block above it has a tidy-allow for the check."""
        mark = f"tidy-allow: {check}: "
        index = line - 1
        if index < len(self.lines) and mark in self.lines[index]:
            return True
        while index > 0 and self.lines[index - 1].lstrip().startswith(("//", "#", "*")):
            index -= 1
            if mark in self.lines[index]:
                return True
        return False


def without_comments(text: str) -> str:
    """The code with comments and the contents of string literals blanked; line numbers do not change.
    Include directives keep their quoted path."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\ ]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'
        r"(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'|^[ \t]*#[ \t]*include[^\n]*", re.S | re.M)

    def blank(match: re.Match) -> str:
        found = match.group(0)
        if found.lstrip().startswith("#"):
            return re.sub(r"//.*", "", found)
        keep = found[0] if found[0] in "\"'" else ""
        inner = re.sub(r"[^\n]", " ", found[len(keep):len(found) - len(keep)])
        return keep + inner + keep

    return token.sub(blank, text)


class Repository:
    def __init__(self, root: Path):
        self.root = root
        self.files = [File(root, path) for path in self.list_paths(root)]
        self.by_path = {file.path: file for file in self.files}
        self.links = self.read_links(root / "CMakeLists.txt")

    @staticmethod
    def list_paths(root: Path) -> list[str]:
        """Files that git tracks or would track; without git, everything that is not build output."""
        listing = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=False)
        if listing.returncode == 0:
            paths = listing.stdout.decode().split("\0")
        else:
            skipped = {".git", "build", "data", "node_modules", "__pycache__"}
            paths = []
            for folder, folders, names in os.walk(root):
                folders[:] = [name for name in folders if name not in skipped]
                paths += [os.path.relpath(os.path.join(folder, name), root) for name in names]
        return sorted({path for path in paths if path and (root / path).is_file()})

    @staticmethod
    def read_links(cmake: Path) -> dict[str, set[str]]:
        """Every module with the modules it may include: itself and those that it links."""
        links: dict[str, set[str]] = {}
        text = re.sub(r"#.*", "", cmake.read_text())
        for body in re.findall(r"revenant_room\(([^)]*)\)", text):
            words = body.split()
            named = words[words.index("LINKS") + 1:] if "LINKS" in words else []
            if "LIBRARIES" in named:
                named = named[:named.index("LIBRARIES")]
            links[words[0]] = {words[0], *named}
        return links

    def cpp(self) -> Iterator[File]:
        return (file for file in self.files if file.is_cpp)


class Finding(NamedTuple):
    path: str
    line: int
    message: str


Check = Callable[[Repository], Iterator[Finding]]
CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    def register(function: Check) -> Check:
        CHECKS[name] = function
        return function
    return register


@check("include-direction")
def include_direction(repository: Repository) -> Iterator[Finding]:
    """A test may include any module, because it builds the environment of its subject."""
    for file in repository.cpp():
        if file.room is None:
            continue
        allowed = repository.links.get(file.room)
        if allowed is None:
            yield Finding(file.path, 1, f"src/{file.room} is not a room of CMakeLists.txt")
            continue
        for number, line in enumerate(file.code_lines, 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match or (file.is_test and match.group(1).startswith("tests/")):
                continue
            included = match.group(1)
            room = os.path.dirname(included)
            if f"src/{included}" not in repository.by_path:
                yield Finding(file.path, number, f"{included} is not a file below src")
            elif room not in allowed and not file.is_test:
                yield Finding(file.path, number, f"{file.room} may not include {room}")


@check("room-cycle")
def room_cycles(repository: Repository) -> Iterator[Finding]:
    """No module depends on itself through the modules it links."""
    for room in repository.links:
        seen: set[str] = set()
        waiting = [link for link in repository.links[room] if link != room]
        while waiting:
            link = waiting.pop()
            if link not in seen:
                seen.add(link)
                waiting += repository.links.get(link, ())
        if room in seen:
            yield Finding("CMakeLists.txt", 1, f"{room} links itself through other rooms")


@check("banned-word")
def banned_words(repository: Repository) -> Iterator[Finding]:
    for file in repository.cpp():
        if file.room is None:
            continue
        below_src = file.path.removeprefix("src/")
        for ban in BANS:
            if ban.rooms is not None and file.module not in ban.rooms:
                continue
            if file.is_test or below_src.startswith(ban.except_files):
                continue
            for match in re.finditer(ban.pattern, file.code):
                yield Finding(file.path, file.line_of(match.start()),
                              f"{match.group(0).strip()}: {ban.reason}")


@check("sleeping-test")
def sleeping_tests(repository: Repository) -> Iterator[Finding]:
    for file in repository.cpp():
        if file.path.endswith("_test.cc") or file.path.startswith(("tests/support/", "tests/sim/")):
            for match in re.finditer(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b", file.code):
                yield Finding(file.path, file.line_of(match.start()), "advance the time instead")


@check("macro")
def macros(repository: Repository) -> Iterator[Finding]:
    for file in repository.cpp():
        if not file.path.startswith("src/"):
            continue
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", file.code, re.M):
            if not MACROS.match(match.group(1)):
                yield Finding(file.path, file.line_of(match.start()),
                              f"{match.group(1)}: a function, a constant or a template instead")


@check("header")
def headers(repository: Repository) -> Iterator[Finding]:
    """A header compiles alone: proven by its source file, which includes it first, or else by the
    target revenant_headers."""
    for file in repository.cpp():
        if file.path.endswith(".h"):
            if not re.search(r"^#pragma once$", file.text, re.M):
                yield Finding(file.path, 1, "#pragma once is missing")
            continue
        own = file.path.removesuffix(".cc") + ".h"
        first = re.search(r'^\s*#\s*include\s+["<]([^">]+)[">]', file.code, re.M)
        if own in repository.by_path and (not first or not f"/{own}".endswith("/" + first.group(1))):
            yield Finding(file.path, file.line_of(first.start(1)) if first else 1,
                          f"the first include is {own.removeprefix('src/')}")


@check("file-name")
def file_names(repository: Repository) -> Iterator[Finding]:
    for file in repository.files:
        if not file.path.startswith(("src/", "tests/", "tools/")):
            continue
        for part in re.split(r"[_\-.]", file.name.lower())[:-1]:
            if part in FORBIDDEN_NAME_PARTS:
                yield Finding(file.path, 1, f"a file is named after a thing, not '{part}'")
        if file.path.endswith((".cc", ".h", ".py")) and not re.fullmatch(r"[a-z0-9_]+(\.gen(_test)?)?\.\w+",
                                                                       file.name):
            yield Finding(file.path, 1, "file names are snake_case")


@check("unbuilt-source")
def unbuilt_sources(repository: Repository) -> Iterator[Finding]:
    """The same rules as cmake/rooms.cmake and tests/CMakeLists.txt."""
    programs = set(re.findall(r"revenant_program\(\w+ ROOM ([\w/]+)\)",
                              repository.by_path["CMakeLists.txt"].text))
    test_folders = {"tests/support"} | {os.path.dirname(file.path) for file in repository.files
                                        if re.fullmatch(r"tests/[^/]+/[^/]+_test\.cc", file.path)}
    for file in repository.files:
        if not file.path.endswith(".cc"):
            continue
        folder = os.path.dirname(file.path)
        if file.path.startswith("src/"):
            built = file.name.endswith("_test.cc") or (
                folder == f"src/{file.room}" and file.room in repository.links
                and (file.name != "main.cc" or file.room in programs))
        elif file.path.startswith("tests/"):
            built = (folder in test_folders
                     or (folder == "tests/fuzz" and file.name.endswith("_fuzz.cc"))
                     or named_by_folder(repository, file))
        else:
            built = False
        if not built:
            yield Finding(file.path, 1, "no target builds this file")


def named_by_folder(repository: Repository, file: File) -> bool:
    """Whether a CMakeLists.txt of a folder of tests names the file, or all files of its own folder."""
    for cmake in repository.files:
        folder = os.path.dirname(cmake.path)
        if cmake.name != "CMakeLists.txt" or folder in ("", "tests"):
            continue
        if os.path.relpath(file.path, folder) in re.split(r"[\s()]+", cmake.text):
            return True
        if os.path.dirname(file.path) == folder and "*.cc" in cmake.text:
            return True
    return False


@check("function-length")
def function_lengths(repository: Repository) -> Iterator[Finding]:
    for file in repository.files:
        if file.is_generated:
            continue
        if file.is_cpp:
            functions = cpp_functions(file)
        elif file.path.endswith(".py"):
            functions = python_functions(file)
        else:
            continue
        for first, last, name in functions:
            if last - first + 1 > FUNCTION_LINES_MAX:
                yield Finding(file.path, first, f"{name} has {last - first + 1} lines; "
                                                f"{FUNCTION_LINES_MAX} fit on a screen")


def cpp_functions(file: File) -> Iterator[tuple[int, int, str]]:
    """First line, last line and name of every function. Braces are counted; a brace opens a function
    if the text before it has parentheses and all enclosing scopes are namespaces or types."""
    code = re.sub(r"^[ \t]*#[^\n]*(\\\n[^\n]*)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  file.code, flags=re.M)
    stack: list[tuple[str, int, str]] = []  # kind, offset of the first character, name
    start = 0  # where the current statement begins
    for match in re.finditer(r"[{};]", code):
        symbol, offset = match.group(0), match.start()
        if symbol == "{":
            head = code[start:offset]
            first = start + len(head) - len(head.lstrip())
            outside = all(kind == "scope" for kind, _, _ in stack)
            words = re.sub(r"<[^<>]*>|\([^()]*\)|\[\[.*?\]\]|\balignas\b", " ", head)
            if outside and (re.search(r"\b(namespace|class|struct|union|enum)\b", words)
                            or re.search(r'\bextern\b[^()]*$', words)):
                stack.append(("scope", first, ""))
            elif outside and "(" in head and not re.search(r"[^=!<>]=\s*$|=\s*\[", head):
                called = re.search(r"([\w:~]+|operator\S+)\s*\(", head)
                stack.append(("function", first, called.group(1) if called else "function"))
            else:
                stack.append(("block", first, ""))
        elif symbol == "}" and stack:
            kind, first, name = stack.pop()
            if kind == "function":
                yield file.line_of(first), file.line_of(offset), name
        if symbol != ";" or not stack or stack[-1][0] == "scope":
            start = offset + 1


def python_functions(file: File) -> Iterator[tuple[int, int, str]]:
    try:
        tree = ast.parse(file.text)
    except SyntaxError as error:
        yield error.lineno or 1, (error.lineno or 1) + FUNCTION_LINES_MAX, "a syntax error"
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno or node.lineno, node.name


@check("document-title")
def document_titles(repository: Repository) -> Iterator[Finding]:
    for file in repository.files:
        if not file.path.endswith(".md"):
            continue
        titles = [number for number, line in prose_lines(file) if re.match(r"# \S", line)]
        if len(titles) != 1:
            yield Finding(file.path, titles[1] if titles else 1,
                          f"{len(titles)} titles; a document has exactly one")


@check("document-link")
def document_links(repository: Repository) -> Iterator[Finding]:
    """Relative links lead to a file or folder, and their anchors to a heading of a page."""
    folders = {str(parent) for path in repository.by_path for parent in Path(path).parents}
    for file in repository.files:
        if not file.path.endswith(".md"):
            continue
        for number, line in prose_lines(file):
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                path, _, anchor = target.partition("#")
                if re.match(r"[a-z]+:", target):
                    continue
                full = os.path.normpath(os.path.join(os.path.dirname(file.path), path)) if path else file.path
                if full not in repository.by_path and full not in folders:
                    yield Finding(file.path, number, f"{target} leads nowhere")
                elif anchor and full.endswith(".md") and anchor not in anchors(repository.by_path[full]):
                    yield Finding(file.path, number, f"{target} leads to no heading")


def anchors(file: File) -> set[str]:
    """The anchors of a page's headings, in the form that repository web sites use."""
    found: dict[str, int] = {}
    for _, line in prose_lines(file):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            found[slug] = found.get(slug, -1) + 1
            if found[slug]:
                found[f"{slug}-{found[slug]}"] = 0
    return set(found)


@check("document-file")
def document_files(repository: Repository) -> Iterator[Finding]:
    """A file or folder of src that a document names in backticks exists: `engine/rules/settle.cc`, or without its ending."""
    modules = {file.module for file in repository.cpp() if file.module}
    known = {file.path.removeprefix("src/") for file in repository.files if file.path.startswith("src/")}
    known |= {re.sub(r"\.(h|cc)$", "", path) for path in known}
    known |= {os.path.dirname(path) for path in known}
    for file in repository.files:
        if not file.path.endswith(".md") or file.path.startswith(("docs/spec/", "docs/decisions/")):
            continue
        for number, line in prose_lines(file):
            for path in re.findall(r"`(?:src/)?([a-z0-9_]+/[a-z0-9_/.]+)`", line):
                if path.split("/")[0] in modules and path.rstrip("/") not in known:
                    yield Finding(file.path, number, f"there is no {path} below src")


def prose_lines(file: File) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(file.lines, 1):
        if re.match(r"\s*(```|~~~)", line):
            fenced = not fenced
        elif not fenced:
            yield number, line


@check("machine-path")
def machine_paths(repository: Repository) -> Iterator[Finding]:
    """A path or a host that exists on the author's machine only."""
    folders = "|".join(("work", "root", "home", "Users"))
    pattern = re.compile(rf"(?<![\w.~*}}$)/-])/({folders})/[\w.]|{re.escape(str(repository.root))}/")
    for file in repository.files:
        if not file.is_text:
            continue
        for number, line in enumerate(file.lines, 1):
            if pattern.search(line):
                yield Finding(file.path, number, "a path of one machine")
            if file.name == "package-lock.json":
                resolved = re.search(r'"resolved": "https?://([^/"]+)', line)
                if resolved and resolved.group(1) != "registry.npmjs.org":
                    yield Finding(file.path, number, "a registry of one machine")


@check("comment")
def comments(repository: Repository) -> Iterator[Finding]:
    for file in repository.cpp():
        for number, line in enumerate(file.lines, 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", line):
                yield Finding(file.path, number, "name the issue: TODO(#12)")
            if "NOLINT" in line and not re.search(r"NOLINT\w*\([\w.,\- ]+\).*\w", line):
                yield Finding(file.path, number, "a NOLINT names its check and the reason")


@check("whitespace")
def whitespace(repository: Repository) -> Iterator[Finding]:
    for file in repository.files:
        if not file.is_text or not file.text or file.path.startswith(("tests/fuzz/corpus/",
                                                                      "tests/fuzz/crash/",
                                                                      "tests/golden/v1/")):
            continue
        if not file.text.endswith("\n"):
            yield Finding(file.path, len(file.lines), "the last line has no end")
        for number, line in enumerate(file.lines, 1):
            if line != line.rstrip():
                yield Finding(file.path, number, "white space at the end of the line")
            if file.is_cpp and "\t" in line:
                yield Finding(file.path, number, "a tab")


@check("probe")
def probes(repository: Repository) -> Iterator[Finding]:
    """Every marked branch is reached by a test."""
    tests = "\n".join(file.text for file in repository.cpp() if file.is_test)
    for file in repository.cpp():
        if file.is_test:
            continue
        for number, line in enumerate(file.lines, 1):
            for name in re.findall(r'(?<!define )\bPROBE\("([^"]+)"\)', line.split("//")[0]):
                if f'"{name}"' not in tests:
                    yield Finding(file.path, number, f"no test asks for {name}")


@check("generated-file")
def generated_files(repository: Repository) -> Iterator[Finding]:
    for file in repository.files:
        if re.fullmatch(r"tools/gen_\w+\.py", file.path) and not file.name.endswith("_test.py"):
            done = subprocess.run([sys.executable, str(repository.root / file.path), "--check"],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                reason = (done.stderr.strip().splitlines() or ["it failed"])[-1]
                yield Finding(file.path, 1, reason)


@check("version")
def versions(repository: Repository) -> Iterator[Finding]:
    """The build, the program and the newest section of the changelog agree about the version."""
    places = (("CMakeLists.txt", r"^project\(revenant VERSION ([\d.]+)"),
              ("src/base/version.h", r'revenant_version = "([\d.]+)"'),
              ("CHANGELOG.md", r"^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$"))
    wanted = None
    for path, pattern in places:
        if path not in repository.by_path:
            continue
        file = repository.by_path[path]
        found = re.search(pattern, file.text, re.M)
        if path == "CMakeLists.txt":
            wanted = found.group(1) if found else None
        elif wanted and (not found or found.group(1) != wanted):
            line = file.text.count("\n", 0, found.start(1)) + 1 if found else 1
            yield Finding(path, line, f"the version is not {wanted}, as in CMakeLists.txt")


class Retired(NamedTuple):
    old: str
    new: str
    places: tuple[str, ...]  # Folders and names of files where it is retired; none: everywhere.
    is_phrase: bool

    def concerns(self, file: File) -> bool:
        if self.is_phrase:
            return file.path.endswith((".md", ".py", ".cc", ".h", ".ts", ".tsx"))
        return (file.is_cpp and file.path.startswith(("src/", "tests/"))
                and (not self.places or any(file.path.startswith(place) if place.endswith("/")
                                            else file.name == place for place in self.places)))

    def found_in(self, file: File, text: str) -> Iterator[int]:
        """The lines with a phrase, also across line breaks, or with a name. A plain word counts in code
        only, because in prose it may be correct."""
        gap = r"(?:[ \t]|\n[ \t]*(?://|#)?)+"
        pattern = rf"\b{re.escape(self.old).replace(chr(92) + ' ', gap)}\b"
        searched = file.text if self.is_phrase else file.code if re.fullmatch("[a-z]+", self.old) else text
        for match in re.finditer(pattern, searched):
            yield searched.count("\n", 0, match.start()) + 1


def read_retired(text: str) -> Iterator[Retired]:
    """Lines of the form "old -> new", "old -> new: place place" or "phrase: old -> new"."""
    for line in text.splitlines():
        match = re.fullmatch(r"(phrase: )?([^#].*?) -> ([^:]+?)(?:: (.+))?", line)
        if match:
            phrase, old, new, places = match.groups()
            yield Retired(old, new, tuple(places.split()) if places else (), bool(phrase))


@check("retired-name")
def retired_names(repository: Repository) -> Iterator[Finding]:
    """Phrases count everywhere, names in code and comments but not in strings: texts of RabbitMQ and
    names on the wire or on disk stay."""
    if RETIRED_NAMES not in repository.by_path:
        return
    retired = list(read_retired(repository.by_path[RETIRED_NAMES].text))
    for file in repository.files:
        concerned = [one for one in retired if one.concerns(file)]
        if not concerned or file.is_generated or file.path.startswith("tools/"):
            continue
        text = without_strings(file.text) if file.is_cpp else file.text
        words = set(re.findall(r"\w+", text))
        for one in concerned:
            if one.is_phrase or one.old in words:
                for line in one.found_in(file, text):
                    yield Finding(file.path, line, f"{one.old}: write {one.new}")


def without_strings(text: str) -> str:
    """The code and its comments with the contents of string literals blanked."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|^[ \t]*#[ \t]*include[^\n]*|R"(?P<tag>[^()\\ ]{0,16})\(.*?\)(?P=tag)"|'
                       r'"(?:\\.|[^"\\\n])*"', re.S | re.M)
    return token.sub(lambda match: match[0] if match[0].lstrip()[0] in "/#"
                     else re.sub(r"[^\n]", " ", match[0]), text)


WRITTEN_BY_HAND = (".cc", ".h", ".py", ".js", ".ts", ".tsx", ".java", ".go", ".rb", ".php", ".c")


@check("file-length")
def file_lengths(repository: Repository) -> Iterator[Finding]:
    for file in repository.files:
        if (file.path.startswith(("src/", "tests/")) and not file.is_generated
                and (file.path.endswith(WRITTEN_BY_HAND) or file.name == "run")):
            lines = file.text.count("\n")
            if lines > FILE_LINES_MAX:
                yield Finding(file.path, 1, f"{lines} lines; {FILE_LINES_MAX} are enough for one thing")


class Room(NamedTuple):
    files: int
    lines: int
    test_lines: int
    first: str


def rooms_of(repository: Repository) -> dict[str, Room]:
    """Every folder of src with the files directly in it, without generated ones."""
    rooms: dict[str, Room] = {}
    for file in repository.cpp():
        folder = os.path.dirname(file.path)
        if file.room is None or file.is_generated:
            continue
        lines = file.text.count("\n")
        room = rooms.get(folder, Room(0, 0, 0, file.path))
        rooms[folder] = (room._replace(test_lines=room.test_lines + lines) if file.is_test
                         else room._replace(files=room.files + 1, lines=room.lines + lines))
    return rooms


@check("room-size")
def room_sizes(repository: Repository) -> Iterator[Finding]:
    for folder, room in rooms_of(repository).items():
        if room.lines > ROOM_LINES_MAX:
            yield Finding(room.first, 1, f"{folder} has {room.lines} lines; above {ROOM_LINES_MAX} "
                                         "it needs rooms within it")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--reports", action="store_true", help="print the findings of checks that only report")
    options = parser.parse_args()
    repository = Repository(options.root.resolve())
    failed = 0
    for name, function in CHECKS.items():
        findings = sorted({finding for finding in function(repository)
                           if not repository.by_path[finding.path].allows(finding.line, name)})
        reports_only = name in REPORT_ONLY
        if options.reports or not reports_only:
            for finding in findings:
                print(f"{finding.path}:{finding.line}: {name}: {finding.message}")
        state = "ok" if not findings else "report" if reports_only else "FAILED"
        print(f"{state:7} {name}" + (f", {len(findings)} findings" if findings else ""))
        failed += bool(findings) and not reports_only
    print("\n".join(f"{folder:24} {room.lines:6} lines in {room.files:3} files, {room.test_lines:6} of tests"
                    for folder, room in rooms_of(repository).items()))
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
