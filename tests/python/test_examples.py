#!/usr/bin/env python3
"""Runs the examples of samples/python/README.md, in order, in a temporary folder with the samples, each in a fresh namespace, and
compares what they print with the lines behind #>, where * stands for any text within a line. An example below a line
<!-- needs: ... --> is skipped, with the reason, where that is missing.

  tests/python/run.sh BUILD test_examples     as one of the module's tests
  tests/python/test_examples.py [--accept]    with the module of PYTHONPATH and the program of CONVFILT; --accept writes what the
                                              examples print into the page, to be read before it is committed
"""

import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "samples/python/README.md"
BLOCK = re.compile(r"^(?:<!-- needs: (?P<needs>[^>]*) -->\n)?```python\n(?P<code>.*?)^```$", re.M | re.S)
ACCEPT = "--accept" in sys.argv


def missing(needs: str) -> str:
    """What of it is not there; empty where all is."""
    for need in filter(None, needs.split(", ")):
        if need == "a GPU":
            import convfilt

            if convfilt.gpus() == 0:
                return "there is no GPU"
        elif importlib.util.find_spec(need) is None:
            return f"{need} is not installed"
    return ""


def expected_of(code: str) -> list[str]:
    return [line[3:].rstrip() for line in code.splitlines() if line.startswith("#>")]


def fits(lines: list[str], patterns: list[str]) -> bool:
    return len(lines) == len(patterns) and all(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line) for line, pattern in zip(lines, patterns))


def printed_by(code: str, line: int) -> list[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), {"__name__": "__main__"})
    return [text.rstrip() for text in printed.getvalue().splitlines()]


class Examples(unittest.TestCase):
    def test_page(self) -> None:
        text = PAGE.read_text()
        blocks = list(BLOCK.finditer(text))
        self.assertGreaterEqual(len(re.findall(r"^## \d+\.", text, re.M)), 10, "sections")
        self.assertEqual(len(blocks), text.count("```python"))
        home, others = os.getcwd(), []
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, home)
            os.chdir(folder)
            os.symlink(ROOT / "samples", "samples")
            for block in blocks:
                code, line = block["code"], text.count("\n", 0, block.start("code")) + 1
                with self.subTest(f"the example in line {line}"):
                    lack = missing(", ".join(filter(None, [block["needs"], "PIL" if "from PIL" in code else ""])))
                    if lack:
                        self.skipTest(lack)
                    lines, expected = printed_by(code, line), expected_of(code)
                    if not fits(lines, expected):
                        others.append((block, lines))
                        self.assertTrue(ACCEPT, "it printed\n" + "\n".join(lines) + "\nand not\n" + "\n".join(expected))
            os.chdir(home)
        for block, lines in reversed(others if ACCEPT else []):
            code = "".join(line for line in block["code"].splitlines(True) if not line.startswith("#>"))
            text = text[: block.start("code")] + code + "".join(f"#> {line}\n" for line in lines) + text[block.end("code") :]
            PAGE.write_text(text)


os.environ["XDG_CONFIG_HOME"] = "/nonexistent"  # the user's own defaults would change what the program does

if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit()
    unittest.main(argv=[word for word in sys.argv if word != "--accept"])
