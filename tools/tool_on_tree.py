"""Runs one of the tools on a temporary tree, for the tests of the tools."""
import contextlib
import io
import sys
import tempfile
from pathlib import Path
from unittest import mock


def run_on_tree(main, files: dict[str, str], command: list[str]) -> tuple[list[str], int]:
    """The lines that main() prints about these files, and its exit code; the folder is the last word of its command."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        output = io.StringIO()
        with mock.patch.object(sys, "argv", [*command, folder]), contextlib.redirect_stdout(output):
            code = main()
        return output.getvalue().splitlines(), code
