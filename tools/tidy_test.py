#!/usr/bin/python3
"""Every check of tools/tidy.py finds what it looks for, and nothing else."""

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

CMAKE = """
revenant_room(base)
revenant_room(message LINKS base)
revenant_room(engine LINKS message LIBRARIES revenant::xxhash)
revenant_room(amqp091 LINKS engine)
revenant_room(node LINKS engine amqp091)
revenant_program(revenant ROOM node)
"""

HEADER = "#pragma once\n"

GOOD = {
    "CMakeLists.txt": CMAKE,
    "README.md": "# One\n\n```\n# not a title\n```\nSee [the engine](src/engine/engine.h).\n",
    "src/base/check.h": HEADER + "#define CHECK(condition) do { (void)(condition); } while (false)\n",
    "src/message/message.h": HEADER,
    "src/engine/command.h": HEADER,
    "src/engine/engine.h": HEADER + '#include "base/check.h"\n#include "message/message.h"\n',
    "src/engine/engine.cc": '#include "engine/engine.h"\n// We never throw.\nconst char* a = "throw";\n',
    "src/amqp091/frame.cc": '#include "amqp091/frame.h"\n\n#include "engine/command.h"\n',
    "src/node/main.cc": '#include "amqp091/frame.h"\nint main() {}\n',
    "src/amqp091/frame.h": HEADER,
    "tests/fuzz/frame_fuzz.cc": "int x;\n",
}


def findings(changes: dict[str, str]) -> tuple[list[str], int]:
    """What tidy says, and its exit code, about the good tree with these files changed."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in (GOOD | changes).items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        output = io.StringIO()
        with mock.patch.object(sys, "argv", ["tidy.py", folder]), \
                contextlib.redirect_stdout(output):
            code = tidy.main()
        lines = output.getvalue().splitlines()
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
                   {"src/message/message.h": HEADER + '#include "engine/command.h"\n'})

    def test_an_include_beside_the_narrow_door(self):
        self.finds("src/amqp091/frame.cc:2: include-direction", {
            "src/amqp091/frame.cc": '#include "amqp091/frame.h"\n#include "engine/engine.h"\n'})

    def test_an_include_that_does_not_start_at_src(self):
        self.finds("src/engine/queue.cc:1: include-direction",
                   {"src/engine/queue.cc": '#include "engine.h"\n'})

    def test_a_folder_that_is_no_room(self):
        self.finds("src/cellar/wine.h:1: include-direction", {"src/cellar/wine.h": HEADER})

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
        self.finds("src/engine/command.h:1: header", {"src/engine/command.h": "int x();\n"})

    def test_a_source_that_does_not_include_its_header_first(self):
        self.finds("src/engine/engine.cc:1: header",
                   {"src/engine/engine.cc": '#include <map>\n#include "engine/engine.h"\n'})

    def test_a_file_named_after_a_role(self):
        self.finds("src/engine/queue_util.h:1: file-name", {"src/engine/queue_util.h": HEADER})

    def test_a_source_that_no_target_builds(self):
        for path in ("src/engine/deep/engine.cc", "src/engine/main.cc", "tests/fuzz/frame.cc",
                     "tests/load/load.cc"):
            with self.subTest(path):
                self.finds(f"{path}:1: unbuilt-source", {path: "int x;\n"})

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


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
