#!/usr/bin/env python3
"""Runs the examples of samples/python/README.md, in order, in a temporary folder with the samples, each in a fresh namespace, and
compares what they print with the lines behind #>, where * stands for any text within a line. --accept writes what they print.
An example below a line <!-- needs: ... --> is skipped, with the reason, where that is missing.

PYTHONPATH leads to the module, and CONVFILT to the program. Exit code 77: the module is missing.
"""

import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "samples/python/README.md"
BLOCK = re.compile(r"^(?:<!-- needs: (?P<needs>[^>]*) -->\n)?```python\n(?P<code>.*?)^```$", re.M | re.S)


def missing(needs: str) -> str:
    """What of it is not there; empty where all is."""
    for need in filter(None, needs.split(", ")):
        if need == "a GPU":
            import convfilt

            if convfilt.gpus() == 0:
                return "no GPU"
        elif importlib.util.find_spec(need) is None:
            return f"no {need}"
    return ""


def expected_of(code: str) -> list[str]:
    return [line[3:].rstrip() for line in code.splitlines() if line.startswith("#>")]


def fits(line: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line) is not None


def main() -> int:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        return 0
    try:
        import convfilt  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    text = PAGE.read_text()
    failures, ran, printed_now = [], 0, []
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.symlink(ROOT / "samples", "samples")
        for block in BLOCK.finditer(text):
            code, line = block["code"], text.count("\n", 0, block.start("code")) + 1
            wanted = "PIL, " if "from PIL" in code else ""
            lack = missing(wanted + (block["needs"] or ""))
            if lack:
                print(f"skipped: the example in line {line}; {lack}")
                continue
            printed, start = io.StringIO(), time.time()
            try:
                with contextlib.redirect_stdout(printed):
                    exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), {"__name__": "__main__"})
            except Exception:
                failures.append(f"line {line}: {traceback.format_exc()}")
                continue
            ran += 1
            lines, expected = [line.rstrip() for line in printed.getvalue().splitlines()], expected_of(code)
            if len(lines) != len(expected) or not all(map(fits, lines, expected)):
                printed_now.append((block, lines))
                failures.append(f"line {line}: it printed\n  " + "\n  ".join(lines) + "\nand not\n  " + "\n  ".join(expected))
            if "-v" in sys.argv:
                print(f"line {line}: {time.time() - start:.2f} s")
        os.chdir(home)
    if "--accept" in sys.argv:
        for block, lines in reversed(printed_now):
            code = "".join(line for line in block["code"].splitlines(True) if not line.startswith("#>"))
            text = text[: block.start("code")] + code + "".join(f"#> {line}\n" for line in lines) + text[block.end("code") :]
        PAGE.write_text(text)
        return 0
    for failure in failures:
        print(f"{PAGE.relative_to(ROOT)}, {failure}")
    print(f"{ran} examples ran, {len(failures)} failed")
    return 1 if failures or text.count("\n```python\n") < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
