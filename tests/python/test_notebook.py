#!/usr/bin/env python3
"""Runs the code cells of samples/python/course.ipynb, in order, in one namespace, in the notebook's folder, without Jupyter. The
value of a cell's last line is shown as a notebook shows it: as SVG, HTML or text. Fails on any exception, on a picture that is no
SVG, on a cell that is long, and on outputs in the file.

  tests/python/run.sh BUILD test_notebook     as one of the module's tests
  tests/python/test_notebook.py               with the module of PYTHONPATH and the program of CONVFILT
"""

import ast
import contextlib
import io
import json
import os
import shutil
import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2] / "samples/python/course.ipynb"


def run(source: str, name: str, names: dict) -> object:
    """Runs a cell, and returns the value of its last line where that is an expression."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names) if last else None


def kind_shown(value: object) -> str:
    """What a notebook shows of a value: svg, html or text."""
    for name in "svg", "html":
        shown = getattr(value, f"_repr_{name}_", lambda: None)()
        if shown:
            tag = xml.fromstring(shown).tag
            if not tag.endswith("svg" if name == "svg" else "table"):
                raise ValueError(f"_repr_{name}_() gives a {tag}")
            return name
    return "text" if repr(value) else "nothing"


class Notebook(unittest.TestCase):
    def test_cells(self) -> None:
        for tool in "gnuplot", "g++":
            if not shutil.which(tool):
                self.skipTest(f"{tool} is not installed")
        cells = [cell for cell in json.loads(BOOK.read_text())["cells"] if cell["cell_type"] == "code"]
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(BOOK.parent)
        names: dict = {"__name__": "__main__"}
        kinds = []
        for number, cell in enumerate(cells, 1):
            source, name = "".join(cell["source"]), f"cell {number}"
            self.assertFalse(cell["outputs"], f"{name} has its output in the file: jupyter nbconvert --clear-output --inplace {BOOK.name}")
            self.assertLess(source.count("\n"), 30, f"{name} is long")
            with contextlib.redirect_stdout(io.StringIO()):
                kinds.append(kind_shown(run(source, name, names)))
        self.assertGreaterEqual(kinds.count("svg"), 5, kinds)
        self.assertGreaterEqual(kinds.count("html"), 5, kinds)
        # What the notebook says of its two kernels.
        self.assertTrue(names["mended"].right)
        self.assertEqual([fault["kind"] for fault in names["verdict"].faults], ["race"])


os.environ["XDG_CONFIG_HOME"] = "/nonexistent"  # the user's own defaults would change what the program does

if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit()
    unittest.main()
