#!/usr/bin/env python3
"""Runs the code cells of samples/python/course.ipynb, in order, in one namespace, in the notebook's folder, without Jupyter. The
value of a cell's last line is shown as a notebook shows it: as SVG, HTML or text. Fails on any exception, on a picture that is no
SVG, and on outputs in the file.

  tests/python/notebook.py [-v]     -v prints each cell's time and what it shows

PYTHONPATH leads to the module, and CONVFILT to the program. Exit code 77: the module, gnuplot or g++ is missing.
"""

import ast
import contextlib
import io
import json
import os
import shutil
import sys
import time
import traceback
import xml.etree.ElementTree as xml
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2] / "samples/python/course.ipynb"


def run(source: str, number: int, names: dict) -> object:
    """Runs a cell, and returns the value of its last line where that is an expression."""
    tree = ast.parse(source, f"cell {number}")
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), names)
    return eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names) if last else None


def shown(value: object) -> str:
    for name in "_repr_svg_", "_repr_html_":
        picture = getattr(value, name, lambda: None)()
        if picture:
            root = xml.fromstring(picture)
            if not root.tag.endswith("svg" if "svg" in name else "table"):
                raise ValueError(f"{name}() gives a {root.tag}")
            return f"{name[6:-1]}, {len(picture)} bytes"
    return "" if value is None else repr(value)


def main() -> int:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        return 0
    try:
        import convfilt  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    for tool in "gnuplot", "g++":
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            return 77
    book = json.loads(BOOK.read_text())
    os.chdir(BOOK.parent)
    names: dict = {"__name__": "__main__"}
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    pictures = 0
    for number, cell in enumerate(cells, 1):
        if cell["outputs"] or cell["execution_count"] is not None:
            print(f"cell {number}: the file has its output; clear it: jupyter nbconvert --clear-output --inplace {BOOK.name}")
            return 1
        printed, start = io.StringIO(), time.time()
        try:
            with contextlib.redirect_stdout(printed):
                view = shown(run("".join(cell["source"]), number, names))
        except Exception:
            print(printed.getvalue() + traceback.format_exc())
            return 1
        pictures += view.startswith("svg")
        if "-v" in sys.argv:
            print(f"cell {number}, {time.time() - start:.2f} s\n{printed.getvalue()}{view}")
    print(f"{len(cells)} cells ran, {pictures} show a picture")
    return 0 if pictures >= 5 else 1


if __name__ == "__main__":
    sys.exit(main())
