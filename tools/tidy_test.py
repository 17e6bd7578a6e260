#!/usr/bin/python3
"""Every check of tools/tidy.py finds its violations and nothing else."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import tidy  # noqa: E402
from tool_on_tree import run_on_tree  # noqa: E402

CMAKE = """
revenant_room(base)
revenant_room(message LINKS base)
revenant_room(engine/words LINKS base)
revenant_room(engine LINKS base message engine/words LIBRARIES revenant::xxhash)
revenant_room(amqp091 LINKS engine/words)
revenant_room(node LINKS engine amqp091)
revenant_program(revenant ROOM node)
"""

HEADER = "#pragma once\n"

GOOD = {
    "CMakeLists.txt": CMAKE,
    "README.md": "# One\n\n```\n# not a title\n```\nSee [the engine](src/engine/engine.h).\n",
    "src/base/check.h": HEADER + "#define CHECK(condition) do { (void)(condition); } while (false)\n",
    "src/message/message.h": HEADER,
    "src/engine/words/command.h": HEADER,
    "src/engine/engine.h": HEADER + '#include "base/check.h"\n#include "message/message.h"\n',
    "src/engine/engine.cc": '#include "engine/engine.h"\n// We never throw.\nconst char* a = "throw";\n',
    "src/amqp091/frame.cc": '#include "amqp091/frame.h"\n\n#include "engine/words/command.h"\n',
    "src/node/main.cc": '#include "amqp091/frame.h"\nint main() {}\n',
    "src/amqp091/frame.h": HEADER,
    "tests/fuzz/frame_fuzz.cc": "int x;\n",
}


def findings(changes: dict[str, str]) -> tuple[list[str], int]:
    """The output and exit code of tidy for the good tree with these files changed."""
    lines, code = run_on_tree(tidy.main, GOOD | changes, ["tidy.py"])
    return [line for line in lines if ": " in line], code


class Tidy(unittest.TestCase):
    def finds(self, where: str, changes: dict[str, str]) -> None:
        lines, code = findings(changes)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(where + ": "), lines)

    def test_a_good_tree_passes(self):
        self.assertEqual(findings({}), ([], 0))

    def test_an_include_against_the_direction(self):
        self.finds("src/message/message.h:2: include-direction",
                   {"src/message/message.h": HEADER + '#include "engine/words/command.h"\n'})

    def test_an_include_of_a_room_around_the_one_that_is_linked(self):
        self.finds("src/amqp091/frame.cc:2: include-direction", {
            "src/amqp091/frame.cc": '#include "amqp091/frame.h"\n#include "engine/engine.h"\n'})

    def test_an_include_of_what_a_linked_room_links(self):
        self.finds("src/amqp091/frame.cc:2: include-direction", {
            "src/amqp091/frame.cc": '#include "amqp091/frame.h"\n#include "base/check.h"\n'})

    def test_a_test_includes_any_room(self):
        self.assertEqual(findings({"src/amqp091/frame_test.cc": '#include "engine/engine.h"\n'}), ([], 0))

    def test_rooms_that_link_each_other(self):
        around = CMAKE + "revenant_room(inner LINKS middle)\nrevenant_room(middle LINKS inner)\n"
        lines, code = findings({"CMakeLists.txt": around})
        self.assertEqual(code, 1)
        self.assertEqual([line.split(": ")[1:] for line in lines],
                         [["room-cycle", f"{room} links itself through other rooms"] for room in ("inner", "middle")])

    def test_an_include_that_does_not_start_at_src(self):
        self.finds("src/engine/queue.cc:1: include-direction",
                   {"src/engine/queue.cc": '#include "engine.h"\n'})

    def test_a_folder_that_is_no_room(self):
        self.finds("src/cellar/wine.h:1: include-direction", {"src/cellar/wine.h": HEADER})

    def test_a_document_that_names_a_missing_file(self):
        self.finds("docs/a.md:3: document-file",
                   {"docs/a.md": "# A\n\nSee `engine/words/command.h`, `src/engine/engine`, `engine/rules/settle.cc`.\n"})
        self.assertEqual(findings({"docs/a.md": "# A\n\nSee `engine/words`, `tests/x/y`, `basic/ack`.\n"}), ([], 0))

    def test_banned_words(self):
        for text in ("auto t = std::chrono::steady_clock::now();", "void f() { throw 1; }",
                     "#include <iostream>", "#include <boost/asio.hpp>", "#include <mutex>",
                     "void f() { assert(true); }", "#include <sys/socket.h>"):
            with self.subTest(text):
                self.finds("src/engine/queue.cc:2: banned-word",
                           {"src/engine/queue.cc": "\n" + text + "\n"})

    def test_a_permission_needs_the_name_of_the_check(self):
        line = "void f() { throw 1; }"
        allowed = f"// tidy-allow: banned-word: a reason.\n{line}\n"
        self.assertEqual(findings({"src/engine/queue.cc": allowed}), ([], 0))
        self.finds("src/engine/queue.cc:2: banned-word",
                   {"src/engine/queue.cc": f"// tidy-allow: macro: a reason.\n{line}\n"})

    def test_a_macro_of_our_own(self):
        self.finds("src/engine/queue.cc:1: macro",
                   {"src/engine/queue.cc": "#define TWICE(x) (2 * (x))\n"})

    def test_a_header_without_pragma_once(self):
        self.finds("src/engine/words/command.h:1: header", {"src/engine/words/command.h": "int x();\n"})

    def test_a_source_that_does_not_include_its_header_first(self):
        self.finds("src/engine/engine.cc:1: header",
                   {"src/engine/engine.cc": '#include <map>\n#include "engine/engine.h"\n'})

    def test_a_file_named_after_a_role(self):
        self.finds("src/engine/queue_util.h:1: file-name", {"src/engine/queue_util.h": HEADER})

    def test_a_source_that_no_target_builds(self):
        for path in ("src/engine/main.cc", "src/engine/words/main.cc", "tests/fuzz/frame.cc",
                     "tests/load/load.cc"):
            with self.subTest(path):
                self.finds(f"{path}:1: unbuilt-source", {path: "int x;\n"})

    def test_a_source_beside_a_test(self):
        helper = {"tests/model/model.cc": "int x;\n"}
        self.finds("tests/model/model.cc:1: unbuilt-source", helper)
        self.assertEqual(findings(helper | {"tests/model/model_test.cc": "int y;\n"}), ([], 0))

    def test_a_source_that_a_folder_of_tests_names(self):
        self.assertEqual(findings({
            "tests/load/load.cc": "int x;\n",
            "tests/bench/CMakeLists.txt": "add_executable(load ../load/load.cc)\n"}), ([], 0))

    def test_a_long_function(self):
        body = "    x = 1;\n" * tidy.FUNCTION_LINES_MAX
        for head in ("int f(int x) {", "struct A {\n    int f(int x) const {", "TEST(A, B) {",
                     "A::A(int x) : x_{x}, y_(1) {"):
            with self.subTest(head):
                line = 1 + head.count("\n")
                end = "}\n" * head.count("{\n") + "}\n"
                self.finds(f"src/engine/queue.cc:{line}: function-length",
                           {"src/engine/queue.cc": f"{head}\n{body}{end}"})
        fitting = "    x = 1;\n" * (tidy.FUNCTION_LINES_MAX - 2)
        self.assertEqual(findings({"src/engine/queue.cc": f"int f(int x) {{\n{fitting}}}\n"}),
                         ([], 0))
        self.finds("tools/a.py:1: function-length", {"tools/a.py": f"def f():\n{body}"})

    def test_long_types_and_tables_are_no_functions(self):
        fields = "    int x;\n" * 100
        table = '    {"a", 1},\n' * 100
        self.assertEqual(findings({"src/engine/queue.cc":
                                   f"struct A {{\n{fields}}};\nconst B b[] = {{\n{table}}};\n"}),
                         ([], 0))

    def test_a_document_with_two_titles_or_none(self):
        self.finds("README.md:2: document-title", {"README.md": "# One\n# Two\n"})
        self.finds("README.md:1: document-title", {"README.md": "One\n"})

    def test_a_link_that_leads_nowhere(self):
        self.finds("README.md:2: document-link", {"README.md": "# One\n[x](docs/none.md)\n"})

    def test_an_anchor_that_leads_to_no_heading(self):
        page = "# A page\n\n## `One` & two: [three](page.md)\n\n## Same\n\n## Same\n\n```\n# No heading\n```\n"
        good = "# One\n[a](docs/page.md#one--two-three) [b](docs/page.md#same-1) [c](#one) [d](docs/page.md)\n"
        self.assertEqual(findings({"README.md": good, "docs/page.md": page}), ([], 0))
        for target in ("docs/page.md#no-heading", "docs/page.md#same-2", "#two", "docs/page.md#Same"):
            with self.subTest(target):
                self.finds("README.md:2: document-link",
                           {"README.md": f"# One\n[x]({target})\n", "docs/page.md": page})

    def test_versions_that_disagree(self):
        cmake = "project(revenant VERSION 1.2.0 LANGUAGES CXX)\n" + CMAKE
        header = HEADER + 'inline constexpr std::string_view revenant_version = "1.2.0";\n'
        log = "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-01-02\n\n## 1.1.0 - 2026-01-01\n"
        good = {"CMakeLists.txt": cmake, "src/base/version.h": header, "CHANGELOG.md": log}
        self.assertEqual(findings(good), ([], 0))
        self.finds("src/base/version.h:2: version",
                   good | {"src/base/version.h": header.replace("1.2.0", "1.1.0")})
        self.finds("CHANGELOG.md:5: version", good | {"CHANGELOG.md": log.replace("1.2.0", "1.3.0")})
        self.finds("CHANGELOG.md:1: version", good | {"CHANGELOG.md": "# Changelog\n\n## Unreleased\n"})

    def test_a_path_of_one_machine(self):
        for path in ("/".join(("", "home", "me", "x")), "/".join(("", "root", "x"))):
            self.finds("README.md:2: machine-path", {"README.md": f"# One\ncd {path}\n"})

    def test_comments(self):
        for text in ("// TO" + "DO: later", "int x;  // NO" + "LINT"):
            self.finds("src/engine/queue.cc:1: comment", {"src/engine/queue.cc": text + "\n"})

    def test_a_probe_that_no_test_asks_for(self):
        probed = {"src/engine/queue.cc": 'void f() {\n    PROBE("engine.rare");\n}\n'}
        self.finds("src/engine/queue.cc:2: probe", probed)
        test = {"src/engine/queue_test.cc": 'auto a = Probe::hits("engine.rare");\n'}
        self.assertEqual(findings(probed | test), ([], 0))

    def test_a_stale_generated_file(self):
        self.finds("tools/gen_x.py:1: generated-file",
                   {"tools/gen_x.py": "import sys\nsys.exit('stale' if '--check' in sys.argv else 0)\n"})
        self.assertEqual(findings({"tools/gen_x.py": "import sys\nsys.exit(0)\n"}), ([], 0))

    def test_white_space(self):
        self.finds("src/engine/queue.cc:1: whitespace", {"src/engine/queue.cc": "int x; \n"})
        self.finds("src/engine/queue.cc:1: whitespace", {"src/engine/queue.cc": "int x;"})


RETIRED = """# old_comment -> new
old_name -> new_name
Letter -> Item: src/engine/ main.cc
uses -> ranges
phrase: so does it -> the statement
"""


class Enforced(Tidy):
    """The checks that only report, with failing enabled."""

    def setUp(self):
        patch = mock.patch.object(tidy, "REPORT_ONLY", ())
        patch.start()
        self.addCleanup(patch.stop)

    def test_retired_names(self):
        for path, text in (("src/engine/queue.cc", "int old_name;"), ("src/engine/queue.cc", "// old_name is kept"),
                           ("src/engine/queue.cc", "Letter x;"), ("src/node/main.cc", "Letter x;"),
                           ("src/engine/queue.cc", "int uses = 1;"), ("src/engine/queue.cc", "// So it was, so\n// does it now."),
                           ("docs/a.md", "# so does it"), ("src/engine/queue.cc", 'auto a = "so does it";')):
            with self.subTest(text):
                self.finds(f"{path}:1: retired-name", {path: text + "\n", tidy.RETIRED_NAMES: RETIRED})

    def test_names_that_are_right_elsewhere(self):
        for path, text in (("src/engine/queue.cc", 'auto a = "old_name Letter";'), ("src/base/a.cc", "Letter x;"),
                           ("src/engine/queue.cc", "int old_names, my_old_name;"),
                           ("src/engine/queue.cc", "// What it uses."), ("README.md", "# The old_name"),
                           ("src/engine/a.gen.cc", "int old_name;")):
            with self.subTest(text):
                self.assertEqual(findings({path: text + "\n", tidy.RETIRED_NAMES: RETIRED}), ([], 0))

    def test_a_file_that_is_too_long(self):
        fitting = "int x;\n" * tidy.FILE_LINES_MAX
        self.assertEqual(findings({"src/engine/queue.cc": fitting}), ([], 0))
        self.assertEqual(findings({"src/engine/a.gen.cc": fitting * 2, "tests/a/list.txt": fitting * 2}), ([], 0))
        self.finds("src/engine/queue.cc:1: file-length", {"src/engine/queue.cc": fitting + "int x;\n"})
        self.finds("tests/a/cases.py:1: file-length", {"tests/a/cases.py": "x = 1\n" * (tidy.FILE_LINES_MAX + 1)})

    def test_a_room_that_is_too_large(self):
        part = "int x;\n" * tidy.FILE_LINES_MAX
        count = tidy.ROOM_LINES_MAX // tidy.FILE_LINES_MAX + 1
        large = {f"src/engine/part{number}.h": HEADER + part[:-7] for number in range(count)}
        self.finds("src/engine/engine.cc:1: room-size", large)
        tests = {path.replace(".h", "_test.cc"): text for path, text in large.items()}
        self.assertEqual(findings(tests), ([], 0))


class Reports(unittest.TestCase):
    """Any check that only reports at present."""
    CHANGES = {"src/engine/queue.cc": "int old_name;\n", tidy.RETIRED_NAMES: RETIRED}

    def setUp(self):
        patch = mock.patch.object(tidy, "REPORT_ONLY", ("retired-name",))
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_report_does_not_fail(self):
        self.assertEqual(findings(self.CHANGES), ([], 0))

    def test_sizes_and_counts_are_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in (GOOD | self.CHANGES).items():
                Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, path).write_text(text)
            output = io.StringIO()
            with mock.patch.object(sys, "argv", ["tidy.py", "--reports", folder]), \
                    contextlib.redirect_stdout(output):
                self.assertEqual(tidy.main(), 0)
        self.assertIn("src/engine/queue.cc:1: retired-name: old_name: write new_name\n", output.getvalue())
        self.assertIn("report  retired-name, 1 findings\n", output.getvalue())
        self.assertRegex(output.getvalue(), r"src/engine +7 lines in +3 files, +0 of tests\nsrc/engine/words +1 lines in +1 files, ")


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
