"""explain(), compare() and try_kernel(): dicts of what the program writes, its words and pictures, and its errors as exceptions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path
from unittest import mock

import convfilt
from convfilt import _program

KERNELS = Path(__file__).resolve().parents[2] / "samples/kernels"

os.environ["XDG_CONFIG_HOME"] = "/nonexistent"  # the user's own defaults would change what the program does


def printed(*words: str) -> str:
    return subprocess.run([_program.program(), *words], capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"}).stdout


class Explain(unittest.TestCase):
    def test_is_what_the_program_writes(self) -> None:
        words = ["explain", "tiled-in", "--mask=5x5", "--tile=32x8", "--size=99x70", "--border=constant", "--mode=valid"]
        made = convfilt.explain("tiled-in", mask="5x5", tile=(32, 8), size=(99, 70), border="constant", mode="valid", picture=False)
        self.assertEqual(made, json.loads(printed(*words, "--json")))
        self.assertEqual(repr(made), printed(*words).rstrip())
        self.assertEqual((made.svg, made._repr_svg_()), ("", None))
        self.assertEqual(made.no_svg, "no picture was asked for")

    def test_book(self) -> None:
        # The output tile of 16 x 16 under a mask of 5 x 5 needs 20 x 20 samples: 256 * 25 / 400 = 16.
        made = convfilt.explain("tiled-in", mask="5x5", tile=16, picture=False)
        self.assertEqual(made["middle_block"]["reads"], {"formula": 400, "count": 400})
        self.assertEqual(made["middle_block"]["taps_per_access"], 16)
        self.assertEqual(made["block"]["shared_bytes"], 20 * 20 * 4)
        self.assertEqual(made["settings"], {"tile": 16})

    def test_picture(self) -> None:
        if not shutil.which("gnuplot"):
            self.skipTest("gnuplot is not installed")
        made = convfilt.explain("tiled-out", at=(199, 119))
        self.assertIn("B, at 199,119", made.svg)
        narrow = xml.fromstring(made._repr_svg_())
        whole = xml.fromstring(made.svg)
        self.assertEqual(narrow.get("viewBox"), whole.get("viewBox"))
        self.assertEqual((narrow.get("width"), whole.get("width")), ("960", "1120"))
        self.assertEqual(made.no_svg, "")
        none = convfilt.explain("cpu")
        self.assertEqual((none["block"], none.svg), (None, ""))
        self.assertIn("no blocks of cpu", none.no_svg)

    def test_without_gnuplot(self) -> None:
        own = {"CONVFILT": os.path.abspath(_program.program()), "PATH": "/nonexistent"}
        with mock.patch.dict(os.environ, own):
            made = convfilt.explain("basic")
            self.assertIn("gnuplot is not installed", made.no_svg)
            self.assertEqual(made["block"]["outputs"], 256)
            with self.assertRaisesRegex(ValueError, "gnuplot is not installed"):
                convfilt.explain("basic", at=(0, 0))
            compared = convfilt.compare(strategies="cpu", masks=3, size="64x64")
            self.assertIn("gnuplot is not installed", compared.no_svg)
            with self.assertRaisesRegex(OSError, "gnuplot is not installed"):
                convfilt.compare(strategies="cpu", masks=3, size="64x64", plot=True)

    def test_errors(self) -> None:
        for error, text, strategy, options in (
            (ValueError, "did you mean 'tiled-in'", "tiled_in", {}),
            (ValueError, "1024 at most", "tiled-in", {"tile": 99}),
            (ValueError, "no output at 1000,0", "basic", {"at": (1000, 0)}),
            (ValueError, "unknown option '--colour'", "basic", {"colour": 3}),
            (ValueError, "no blocks of cpu", "cpu", {"at": (0, 0)}),
            (ValueError, "neither a file nor a mask's name", "basic", {"mask": "none.txt"}),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text) as caught:
                convfilt.explain(strategy, **options)
            self.assertFalse(str(caught.exception).startswith("convfilt: "))

    def test_program(self) -> None:
        with mock.patch.object(_program, "program", lambda: "/bin/false"), self.assertRaisesRegex(OSError, "exit code 1"):
            convfilt.explain("basic")


class Compare(unittest.TestCase):
    def test_rows(self) -> None:
        made = convfilt.compare(strategies=["basic", "tiled-in:tile=8"], masks=[3, "5x7"], size=(96, 64), device="emulator", plot=False)
        self.assertEqual([(row["mask"], row["strategy"]) for row in made.rows],
                         [(mask, name) for mask in ("3x3", "5x7") for name in ("basic", "tiled-in:tile=8")])
        self.assertEqual(made.rows[0]["global_reads_per_output"], 9)
        self.assertEqual(made["comparisons"][0]["problem"]["width_px"], 96)
        self.assertIn("reads an output", repr(made))
        self.assertEqual(made.no_svg, "no chart was asked for")

    def test_chart(self) -> None:
        if not shutil.which("gnuplot"):
            self.skipTest("gnuplot is not installed")
        made = convfilt.compare(strategies="cpu", mask=["box3", "emboss3"], size="64x64")
        self.assertEqual(len(made["comparisons"]), 2)
        xml.fromstring(made._repr_svg_())
        several = convfilt.compare(strategies="cpu", masks=3, size="64x64,32x32")
        self.assertIn("one picture", several.no_svg)

    def test_errors(self) -> None:
        with self.assertRaisesRegex(ValueError, "unknown strategy 'fast'"):
            convfilt.compare(strategies="fast")
        with self.assertRaisesRegex(OSError, "cannot read 'none.png'"):
            convfilt.compare("none.png")


@unittest.skipUnless(shutil.which("g++"), "g++ is not installed")
class Try(unittest.TestCase):
    def test_right(self) -> None:
        verdict = convfilt.try_kernel(KERNELS / "tiled_in.cu", device="cpu")
        self.assertEqual((verdict["verdict"], verdict.right, verdict.faults), ("right", True, []))
        self.assertEqual(repr(verdict), "tiled_in is right: 10 of 10 pictures are as they should be")

    def test_wrong(self) -> None:
        source = (KERNELS / "missing_barrier.cu").read_text()
        verdict = convfilt.try_kernel(source, device="cpu")
        self.assertEqual((verdict["verdict"], verdict.right), ("wrong", False))
        (fault,) = verdict.faults
        self.assertEqual(fault["kind"], "race")
        self.assertEqual(fault["source"], source.splitlines()[fault["line"] - 1])
        self.assertIn("__syncthreads() is probably missing", " ".join(repr(verdict).split()))
        self.assertEqual(verdict["file"], "kernel.cu")

    def test_not_compiled(self) -> None:
        source = (KERNELS / "basic.cu").read_text().replace("sum +=", "total +=")
        verdict = convfilt.try_kernel(source, device="cpu")
        self.assertEqual((verdict["verdict"], verdict.right), ("not_compiled", False))
        self.assertIn("total +=", verdict.faults[0]["source"])
        self.assertNotIn("/tmp", repr(verdict))

    def test_refused(self) -> None:
        verdict = convfilt.try_kernel("int x;\n")
        self.assertEqual((verdict["verdict"], verdict.faults[0]["line"], verdict.faults[0]["source"]), ("refused", None, ""))
        self.assertIn("no __global__ function", repr(verdict))

    def test_errors(self) -> None:
        source = (KERNELS / "tiled_in.cu").read_text()
        with self.assertRaisesRegex(FileNotFoundError, "'none.cu'"):
            convfilt.try_kernel("none.cu")
        with self.assertRaisesRegex(ValueError, "F in 'kernel.cu', which is for 5x5"):
            convfilt.try_kernel(source, mask_size=(3, 3))
        with mock.patch.dict(os.environ, {"CXX": "/none"}), self.assertRaisesRegex(RuntimeError, "/none"):
            convfilt.try_kernel(source, device="cpu")


if __name__ == "__main__":
    unittest.main()
