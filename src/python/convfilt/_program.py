"""The command line that comes with the module, and what of it is for Python: the lab."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn


def program() -> str:
    """The path of the command line: the package's own, else CONVFILT or the one on PATH."""
    own = Path(__file__).with_name("bin") / "convfilt"
    found = str(own) if own.exists() else os.environ.get("CONVFILT") or shutil.which("convfilt")
    if not found:
        raise OSError("the program convfilt was not found; put it on PATH, or set CONVFILT to its path")
    return found


def main() -> NoReturn:
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


def _options(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words += [f"{option}={each}" for each in value]
        elif value is not None and value is not False:
            words.append(f"{option}={value}")
    return words


def _called(words: list[str], codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run([program(), *words], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        message = done.stderr.strip().removeprefix("convfilt: ") or f"convfilt ended with {done.returncode}"
        raise (ValueError if done.returncode == 2 else OSError)(message)
    return done.stdout


class _Drawn(dict):
    """A dict with a picture, which a notebook shows."""

    svg: str = ""

    def _repr_svg_(self) -> str | None:
        return self.svg or None


class Comparison(_Drawn):
    """What `convfilt compare --json` writes; `svg` is its chart, where gnuplot is installed."""


class Explanation(_Drawn):
    """What `convfilt explain` prints, under "text", and the picture of the block; with `table`, what it writes as JSON."""

    def __str__(self) -> str:
        return self.get("text", super().__str__())


def compare(picture: str | None = None, *, plot: bool = False, **options: Any) -> Comparison:
    """Compares strategies on a picture's file or on noise: compare(strategies="basic,tiled-in", masks="3,9", size="1024x1024").
    Options are those of `convfilt compare`, with _ for -. With `plot` the result has a chart (needs gnuplot)."""
    with tempfile.TemporaryDirectory() as folder:
        chart = Path(folder) / "chart.svg"
        words = ["compare", "--quiet", "--json", *_options(options)] + ([f"--plot={chart}"] if plot else [])
        result = Comparison(json.loads(_called(words + ([picture] if picture else []))))
        if plot:
            result.svg = chart.read_text()
    return result


def explain(strategy: str, **options: Any) -> Explanation:
    """Explains what one block of a strategy does: explain("tiled-in", mask="5x5", tile=16). Options are those of
    `convfilt explain`, with _ for -. The result has the text and a picture, which a notebook shows; that of
    explain("tiled-in", table=["tile=8,16,32", "mask=5,9"]) has the rows of a table instead."""
    words = ["explain", strategy, *_options(options)]
    if options.get("table"):
        return Explanation(json.loads(_called([*words, "--json"])))
    with tempfile.TemporaryDirectory() as folder:
        drawing = Path(folder) / "block.svg"
        result = Explanation(text=_called([*words, f"--picture={drawing}"]))
        result.svg = drawing.read_text() if drawing.exists() else ""
    return result


def try_kernel(source: str, **options: Any) -> dict[str, Any]:
    """Judges a convolution kernel in CUDA C++: its text, or its file's path. The result is what `convfilt try --json` prints;
    its verdict is under "status": right, wrong, not_compiled, refused or error. Options are those of `convfilt try`, with _ for -. Needs a C++ compiler (g++)."""
    if "\n" not in source and source.endswith(".cu"):
        return json.loads(_called(["try", source, "--json", *_options(options)], (0, 1)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cu"
        file.write_text(source)
        return json.loads(_called(["try", str(file), "--json", *_options(options)], (0, 1)))
