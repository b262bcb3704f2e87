"""The command line that comes with the module, and what of it is for Python: the lab.

The functions here start the program, in a process that ends before they return. Its errors become exceptions with its
message: ValueError for options that are wrong or do not go together, and OSError for what fails then, such as a file that
cannot be read. try_kernel() raises RuntimeError where this machine cannot judge a kernel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import textwrap
from pathlib import Path
from typing import Any, Dict, Sequence, Union

from convfilt_program import program

_USAGE = 2  # the exit code
_COLUMN = 960  # pixels


def _options(options: dict[str, Any]) -> list[str]:
    """Options as words of the command line: True is a flag, None and False are left out, and a list is joined by commas, but
    that --table takes words and --mask may be given several times."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            several = [str(each) for each in value]
            if name != "mask":
                several = [(" " if name == "table" else ",").join(several)]
            words += [f"{option}={each}" for each in several]
        elif value is not None and value is not False:
            words.append(f"{option}={value}")
    return words


def _message(stderr: str, code: int) -> str:
    lines = [line.removeprefix("convfilt: ") for line in stderr.strip().splitlines()]
    if lines:
        return "\n".join(lines)
    return "the program convfilt " + (f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}")


def _ran(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          encoding="utf-8", errors="replace", env={"COLUMNS": "100", **os.environ})


def _called(words: list[str]) -> str:
    """What the program prints. Raises the exception for its error."""
    done = _ran(words)
    if done.returncode != 0:
        raise (ValueError if done.returncode == _USAGE else OSError)(_message(done.stderr, done.returncode))
    return done.stdout


class _Reported(Dict[str, Any]):
    """What the program writes as JSON, and what it says in words."""

    text: str = ""  #: the program's words; repr() and print() show them
    svg: str = ""  #: its picture; empty where there is none
    no_svg: str = ""  #: why there is none

    def __repr__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str | None:
        """The picture, no wider than a notebook's column."""

        def narrow(sides: re.Match[str]) -> str:
            width, height = int(sides[1]), int(sides[2])
            return f'width="{min(width, _COLUMN)}" height="{height * min(width, _COLUMN) // width}"'

        return re.sub(r'width="(\d+)" height="(\d+)"', narrow, self.svg, count=1) or None

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text)


class Explanation(_Reported):
    """What one block of threads of a strategy does: what `convfilt explain --json` writes.

    In it are "block" (threads, tiles in samples, shared memory in bytes), "occupancy" (of a multiprocessor), "middle_block"
    (reads, taps, barriers, sectors, bursts of a block far from the edges), "all_blocks" (the same of a picture, with ghost
    cells), "grid" and "rows". A number that is found in two ways is {"formula": ..., "count": ...}; None is what the strategy
    has not. A notebook shows its picture, and print() its words.
    """


class Comparison(_Reported):
    """Ways to convolve, side by side: what `convfilt compare --json` writes.

    "comparisons" has one entry for each picture and mask: its "problem", its "devices", and under "rows" what each strategy
    took on each device, such as "kernel_ms_median", "time_in_copies", "global_reads_per_output" and "largest_difference".
    A notebook shows its chart, and print() its table.
    """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of all comparisons; each begins with "mask", as in "9x9"."""
        return [{"mask": f'{each["problem"]["mask_width"]}x{each["problem"]["mask_height"]}', **row}
                for each in self["comparisons"] for row in each["rows"]]


class Verdict(_Reported):
    """A verdict on a kernel: what `convfilt try --json` writes, and more.

    "verdict" (for the program, "status") is "right", "wrong", "refused" (no kernel that can be judged) or "not_compiled".
    "faults" are the mistakes, each with a "kind" such as "race", its "text", its "line" (None where it has none), and under
    "source" that line of the kernel. print() shows them.
    """

    @property
    def right(self) -> bool:
        return bool(self["right"])

    @property
    def faults(self) -> list[dict[str, Any]]:
        faults: list[dict[str, Any]] = self["faults"]
        return faults


Sides = Union[str, Sequence[int]]


def _sides(sides: Any) -> Any:
    """Columns and rows: "32x8" or one number as it is, and (32, 8) as such words."""
    return "x".join(map(str, sides)) if isinstance(sides, (tuple, list)) else sides


def explain(strategy: str, *, mask: str | None = None, size: Sides | None = None, depth: str | None = None,
            arch: str | None = None, at: Sequence[int] | None = None, border: str | None = None, tile: Any = None,
            picture: bool = True, **options: Any) -> Explanation:
    """Explains what one block of a strategy does: explain("tiled-in", mask="5x5", tile=16).

    mask      "5x5" (columns x rows), a file, or the name of a shipped mask
    size      of the picture: (columns, rows) in pixels, or "200x120"
    depth     of its samples: "f32" (default), "u8" or "u16"
    arch      the GPU that holds the blocks: "sm_90" (default), "sm_75" and others
    at        (column, row) of an output, from 0 on: its block is drawn; by default one in the middle
    tile      side of the output tile, or (columns, rows)
    picture   whether the block is drawn, which needs gnuplot; without it `svg` is empty, and `no_svg` says why
    Others are those of `convfilt explain --help`, with _ for -: mode="full", halo="two-step". With table="tile=8,16 mask=5,9"
    the result has the "rows" of the book's table of reuse instead of a block, and no picture.

    The numbers come from formulas, and from the emulator, which counts what the kernel does on the CPU; no GPU is needed.
    Raises ValueError for a strategy or an option that is unknown, and for what the strategy refuses.
    """
    words = ["explain", strategy, *_options({"mask": mask, "size": _sides(size), "depth": depth, "arch": arch, "border": border,
                                             "tile": _sides(tile), **options})]
    picture = picture and not options.get("table")
    with tempfile.TemporaryDirectory() as folder:
        numbers, drawing = Path(folder) / "block.json", Path(folder) / "block.svg"
        words.append(f"--json={numbers}")
        drawn = words + [f"--picture={drawing}", *_options({"at": at})]
        no_svg = "" if picture else "no picture was asked for"
        text = ""
        if picture:
            try:
                text = _called(drawn)
            except (ValueError, OSError) as error:
                no_svg = str(error)
        if no_svg:  # a strategy without blocks, or no gnuplot
            text = _called(words)
            if picture and at is not None:
                raise ValueError(no_svg)
        result = Explanation(json.loads(numbers.read_text()))
        result.text, result.no_svg = text.rstrip(), no_svg
        if not no_svg:
            result.svg = drawing.read_text()
    return result


def compare(picture: str | os.PathLike[str] | None = None, *, strategies: str | Sequence[str] | None = None,
            mask: str | Sequence[str] | None = None, masks: Any = None, size: Sides | None = None, depth: Any = None,
            plot: bool | None = None, **options: Any) -> Comparison:
    """Compares ways to convolve, on a picture's file or on noise: compare(strategies="basic,tiled-in", masks=(3, 9)).

    strategies  names with commas between, or a list; settings follow a name: "tiled-out:tile=16". By default all
    mask        a file, or the name of a shipped mask, or several
    masks       sides of random masks: (3, 9), or "3,5x7"
    size        of the noise: (columns, rows) in pixels, or "1024x1024"
    depth       of the noise: "u8" (default), "u16" or "f32"
    plot        None (default): a chart where gnuplot is installed; True: an error where it is not; False: none
    Others are those of `convfilt compare --help`, with _ for -: border="wrap", repeats=5, threads=2.

    Times are in milliseconds, of pixels that are already on the device; where there is no GPU, its kernels are counted in
    the emulator and not timed. Raises ValueError for wrong options, OSError for a picture that cannot be read.
    """
    words = ["compare", "--quiet", *_options({"strategies": strategies, "mask": mask, "masks": masks, "size": _sides(size),
                                              "depth": depth, **options})]
    if picture is not None:
        words.append(os.fspath(picture))
    with tempfile.TemporaryDirectory() as folder:
        numbers, chart = Path(folder) / "compared.json", Path(folder) / "chart.svg"
        text = _called(words + [f"--json={numbers}"])
        result = Comparison(json.loads(numbers.read_text()))
        result.text, result.no_svg = text.rstrip(), "no chart was asked for"
        if plot is None or plot:
            try:
                _called(["compare", "--quiet", f"--from={numbers}", f"--plot={chart}"])
                result.svg, result.no_svg = chart.read_text(), ""
            except (ValueError, OSError) as error:
                if plot:
                    raise
                result.no_svg = str(error)
    return result


def _is_source(kernel: str | os.PathLike[str]) -> bool:
    return isinstance(kernel, str) and ("\n" in kernel or "__global__" in kernel)


def _verdict_text(verdict: Verdict) -> str:
    name = verdict.get("kernel") or verdict["file"]
    said = f'{name} is {verdict["verdict"].replace("_", " ")}'
    if "pictures" in verdict:
        said += f': {verdict["pictures_right"]} of {verdict["pictures"]} pictures are as they should be'
    lines = [said]

    def add(text: str) -> None:
        for line in text.splitlines():  # a compiler's are left whole
            if "  " in line:
                lines.append("  " + line)
            else:
                lines.extend(textwrap.wrap(line, 100, initial_indent="  ", subsequent_indent="    "))

    for fault in verdict["faults"] + verdict.get("gpu", {}).get("faults", []):
        at = f'line {fault["line"]}: ' if fault["line"] else ""
        add(f'{at}{fault["text"]}')
        if fault["source"] and fault["source"] not in fault["text"]:
            lines.append(f'    > {fault["source"].strip()}')
    for remark in verdict.get("remarks", []):
        add(f'remark: {remark["text"]}')
    return "\n".join(lines)


def try_kernel(kernel: str | os.PathLike[str], *, block: Sides | None = None, outputs: Sides | None = None,
               mask: str | None = None, mask_size: Sides | None = None, mode: str | None = None,
               tolerance: float | None = None, relative_tolerance: float | None = None, device: str | None = None,
               **options: Any) -> Verdict:
    """Judges a convolution kernel in CUDA C++: its source, or the path of its .cu file.

    block, outputs      threads and outputs of a block, (columns, rows); by default as the file says
    mask, mask_size     the mask, or the size of random weights; by default by the file
    mode                "same" or "valid": the outputs that there should be
    tolerance, relative_tolerance   by how much outputs may be off; by default roundings
    device              "auto" (default): on the host, and on a GPU if there are one and nvcc; "cpu", "cuda"
    Others are those of `convfilt try --help`, with _ for -.

    A kernel that is wrong, or that does not compile, is a verdict and no exception. Raises ValueError for impossible options,
    FileNotFoundError for a file that is missing, and RuntimeError where this machine cannot judge, since it has no C++
    compiler. A kernel runs with your rights: judge those of others in a container.
    """
    words = ["--json", *_options({"block": _sides(block), "outputs": _sides(outputs), "mask": mask,
                                  "mask_size": _sides(mask_size), "mode": mode, "tolerance": tolerance,
                                  "relative_tolerance": relative_tolerance, "device": device, **options})]
    if _is_source(kernel):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kernel.cu"
            file.write_text(str(kernel), encoding="utf-8")
            return _judged(["try", str(file), *words], str(kernel), f"{folder}/")
    path = Path(kernel)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}; the source of a kernel has a line with __global__")
    return _judged(["try", str(path), *words], path.read_text(errors="replace"))


def _judged(words: list[str], source: str, folder: str = "") -> Verdict:
    """The program's verdict; `folder` is left out of its words."""
    done = _ran(words)
    printed = done.stdout.replace(folder, "") if folder else done.stdout
    report = json.loads(printed) if printed.startswith("{") else {}
    if done.returncode == _USAGE:
        raise ValueError(_message(done.stderr.replace(folder, "") if folder else done.stderr, done.returncode))
    if report.get("status", "error") == "error":
        raise RuntimeError(report.get("text") or _message(done.stderr, done.returncode))
    verdict = Verdict(verdict=report["status"], **report)
    if "faults" not in verdict:  # it was not run
        verdict["faults"] = [{"kind": verdict["verdict"], "line": verdict.get("line"), "text": verdict["text"]}]
    lines = source.split("\n")
    for fault in verdict["faults"] + verdict.get("gpu", {}).get("faults", []):
        line = fault.setdefault("line", None)
        fault["source"] = lines[line - 1] if line and line <= len(lines) else ""
    verdict.text = _verdict_text(verdict)
    return verdict
