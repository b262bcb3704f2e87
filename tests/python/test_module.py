"""What the module has beside filters: masks, names, its types, and the program's lab.

    CONVFILT=build/release/bin/convfilt PYTHONPATH=build/release/python python tests/python/test_module.py
"""

import ast
import copy
import inspect
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import convfilt
import support

PACKAGE = Path(convfilt.__file__).parent
KERNEL = """// launch: block 16x16
__constant__ float F[5][5];
__global__ void mean(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = in[y * width + x];
}
"""


class Masks(unittest.TestCase):
    def test_weights(self):
        mask = convfilt.Mask([[1, 2, 3], [4, 5, 6]], 2)
        self.assertEqual(mask.shape, (2, 3))
        self.assertTrue((mask.weights == [[0.5, 1, 1.5], [2, 2.5, 3]]).all())
        self.assertTrue((mask.flipped().weights == [[3, 2.5, 2], [1.5, 1, 0.5]]).all())
        self.assertTrue((convfilt.Mask(mask.weights).weights == mask.weights).all())
        self.assertTrue((convfilt.Mask(np.asfortranarray(mask.weights)[::-1]).weights == mask.weights[::-1]).all())
        self.assertTrue((mask.weights == [[0.5, 1, 1.5], [2, 2.5, 3]]).all(), "a mask changes")
        self.assertIn("[[0.5, 1.0, 1.5]", repr(mask))
        self.assertEqual(repr(convfilt.Mask(np.ones((9, 31)))), "<convfilt.Mask of 9 x 31 weights>")
        np.testing.assert_allclose(mask.normalized().weights.sum(), 1)
        np.testing.assert_allclose(convfilt.Mask([[-1, 0, 1]]).normalized().weights, [[-1, 0, 1]])

    def test_rows_are_the_mask_of_their_text(self):
        chance = np.random.default_rng(2)
        for k in range(support.size(40, 400)):
            rows = np.round(chance.normal(size=(3, 4)), int(chance.integers(0, 5)))
            divisor = float(chance.choice([1, 9, 0.3, 16]))
            text = f"scale: {divisor!r}\n" + "\n".join(" ".join(repr(float(v)) for v in row) for row in rows)
            mask, written = convfilt.Mask(rows, divisor), convfilt.Mask(text)
            self.assertTrue((mask.weights == written.weights).all(), text)
            for dtype in support.DEPTHS:
                a = support.picture((9, 11, 3), dtype, k)
                self.assertTrue(support.same(convfilt.apply(mask, a), convfilt.apply(written, a)), text)
        weights = chance.normal(size=(5, 5))
        self.assertTrue((convfilt.Mask(weights).weights == weights).all())
        with self.assertRaises(ValueError):
            convfilt.Mask([[1e308]], 1e-10)

    def test_what_is_no_mask(self):
        for weights in (None, 5, [1, 2], [[1, 2], [3]], [[[1]]], [["1"]], [[1j]], [[10**400]], {}, b"mask.txt", Path("mask.txt"), object(),
                        np.ma.array([[1.0, 1]], mask=[[0, 1]]), np.array([["2020-01-01"]], "M8[D]"), np.zeros((1, 2), "m8[s]"), np.zeros((1, 2), "i4,f4")):
            for call in (convfilt.Mask, lambda each: convfilt.apply(each, np.zeros((3, 3), "u1"))):
                if call is not convfilt.Mask and isinstance(weights, Path):
                    continue  # the mask of a file
                with self.subTest(weights=weights), self.assertRaises(ValueError) as caught:
                    call(weights)
                for word in ("rows of equally many real numbers", type(weights).__name__, "Mask.from_file()"):
                    self.assertIn(word, str(caught.exception))
        with self.assertRaisesRegex(ValueError, "from_file"):
            convfilt.Mask("emboss3")

    def test_texts_and_files(self):
        self.assertEqual(convfilt.Mask("scale: 16\n1 2 1\n2 4 2\n1 2 1").weights.tolist(), convfilt.Mask.from_file("gaussian3").weights.tolist())
        self.assertEqual(convfilt.Mask.from_file("box3").shape, (3, 3))
        self.assertEqual(convfilt.Mask("1/2 -1e-3").weights.tolist(), [[0.5, -0.001]])
        with self.assertRaises(ValueError):
            convfilt.Mask("1 2", 2)

    def test_masks_of_masks(self):
        """A mask keeps what its weights alone lack: here the offset."""
        mask = convfilt.Mask("offset: 100\n0 1 0")
        point = np.full((2, 3), 7, "u1")
        self.assertEqual(convfilt.apply(convfilt.Mask(mask), point).tolist(), [[107] * 3] * 2)
        with self.assertRaises(ValueError):
            convfilt.Mask(mask, 2)

    def test_the_mask_comes_first(self):
        point = np.zeros((7, 9, 3), "u1")
        for mask in ("box3", convfilt.Mask([[1.0]]), Path("box3")):
            with self.assertRaisesRegex(TypeError, "the mask comes first"):
                convfilt.apply(point, mask)

    def test_flip_is_convolution(self):
        """A point becomes the mask under convolution, and the turned mask under correlation."""
        point = np.zeros((7, 9), "u1")
        point[3, 4] = 1
        rows = np.arange(1, 16).reshape(3, 5)
        self.assertTrue((convfilt.apply(rows, point, flip=True)[2:5, 2:7] == rows).all())
        self.assertTrue((convfilt.apply(rows, point)[2:5, 2:7] == rows[::-1, ::-1]).all())
        self.assertTrue((convfilt.apply(convfilt.Mask(rows).flipped(), point)[2:5, 2:7] == rows).all())

    def test_documented_masks(self):
        for text in ('scale: 16\n1 2 1\n2 4 2\n1 2 1', ):
            self.assertIn(text.replace("\n", "\\n"), convfilt.Mask.__doc__.replace("\\\\n", "\\n"))
            convfilt.Mask(text)


class Names(unittest.TestCase):
    def test_what_is_named_is_there(self):
        for name in convfilt.__all__:
            self.assertTrue(inspect.getdoc(getattr(convfilt, name)), name)
        self.assertTrue((PACKAGE / "py.typed").exists())
        self.assertEqual(convfilt.__version__, convfilt._core.version())
        self.assertEqual(issubclass(convfilt.DeviceError, RuntimeError), True)

    def test_stubs(self):
        """The compiled part has what its stub says, and the stub says all that it has."""
        stub = ast.parse((PACKAGE / "_core.pyi").read_text())
        said = {}
        for node in stub.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                said[node.name] = {each.name for each in getattr(node, "body", []) if isinstance(each, ast.FunctionDef)}
        there = {name for name in dir(convfilt._core) if not name.startswith("_")}
        self.assertEqual(set(said), there)
        for name, methods in said.items():
            thing = getattr(convfilt._core, name)
            if inspect.isclass(thing) and not issubclass(thing, Exception):
                self.assertEqual(methods - {"__init__"}, {each for each in dir(thing) if not each.startswith("_")}, name)

    def test_options_are_typed(self):
        """Each option of the class for type checkers is one that a filter takes."""
        a = support.picture((30, 31, 3), "uint8")
        values = {"border": "wrap", "border_value": 3, "mode": "valid", "strategy": "cpu", "device": "cpu", "threads": 1, "linear": True,
                  "luma": True, "output": "abs", "depth": "u16", "order": "bgr", "out": np.empty_like(a)}
        settings = set(convfilt.Settings.__annotations__)
        self.assertEqual(set(values), set(convfilt.Options.__annotations__) - settings)
        with self.assertRaises(ValueError) as caught:
            convfilt.blur(a, no_such_option=1)
        self.assertEqual({name for name in settings if name.replace("_", "-") not in str(caught.exception)}, set())
        for name, value in values.items():
            convfilt.blur(a, **({"border": "constant"} if name == "border_value" else {}), **{name: value})
            self.assertIn(f"\n    {name} ", convfilt.__doc__)

    def test_strategies_and_plans(self):
        a = support.picture((9, 9, 3), "uint8")
        self.assertIn("tiled-in", convfilt.strategies())
        self.assertEqual(convfilt.plan("apply box3", a, strategy="cpu", device="cpu"), "cpu on cpu")
        self.assertIn("tiled-in on emulator", convfilt.plan("apply box3", a, strategy="tiled-in", device="emulator"))
        self.assertEqual(convfilt.plan(convfilt.Mask("1 2 1"), a, strategy="cpu"), "cpu on cpu")
        self.assertEqual(convfilt.refusal("cpu", "blur", a), "")
        self.assertIn("does not run on", convfilt.refusal("basic", "blur", a))
        self.assertGreaterEqual(convfilt.gpus(), 0)


class Lab(unittest.TestCase):
    """What the program does for the module; a build without the lab has none of it."""

    @classmethod
    def setUpClass(cls):
        if subprocess.run([support.program(), "explain", "--help"], capture_output=True, check=False).returncode:
            raise unittest.SkipTest("the program has no lab")

    def test_explain(self):
        result = convfilt.explain("tiled-in", mask="5x5", tile=16)
        self.assertEqual(result["block"]["threads"], 400)
        self.assertIn("20 x 20 = 400 threads", str(result))
        table = convfilt.explain("tiled-in", table=["tile=8,16", "mask=5"])
        self.assertEqual({row["tile"] for row in table["rows"]}, {8, 16})
        with self.assertRaises(ValueError) as caught:
            convfilt.explain("tiled-on")
        self.assertIn("tiled-in", str(caught.exception))

    def test_compare(self):
        result = convfilt.compare(size="64x64", masks="3", strategies="basic,tiled-in", plot=False)
        self.assertEqual({row["strategy"] for row in result["comparisons"][0]["rows"]} & {"basic", "tiled-in"}, {"basic", "tiled-in"})
        self.assertIsNone(result._repr_svg_())
        with self.assertRaises(OSError):
            convfilt.compare("/no/such/picture.png")
        with self.assertRaises(ValueError):
            convfilt.compare(sizes="64x64")

    def test_try_kernel(self):
        self.assertEqual(convfilt.try_kernel("int x;\n")["verdict"], "refused")
        with self.assertRaises(OSError):
            convfilt.try_kernel("/no/such/kernel.cu")
        try:
            result = convfilt.try_kernel(KERNEL)
        except RuntimeError as error:
            self.skipTest(str(error))
        self.assertEqual((result["verdict"], result["right"]), ("wrong", False))  # it copies its input

    def test_the_program_itself(self):
        done = subprocess.run([sys.executable, "-m", "convfilt", "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"convfilt {convfilt.__version__}\n")
        done = subprocess.run([sys.executable, "-m", "convfilt", "blru"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)


class Copies(unittest.TestCase):
    """A mask goes to another process, with its divisor, offset and anchor."""

    def test_masks(self):
        a = support.picture((40, 50, 3), "uint8")
        text = "offset: 7\nanchor: 0 1\nscale: 9\n1 2 3\n4 -5 6"
        masks = [convfilt.Mask(text), convfilt.Mask([[1, 2, 1]], divisor=3), convfilt.Mask.from_file("emboss3"), convfilt.Mask([[np.pi] * 10]),
                 convfilt.Mask([[np.pi, 2 * np.pi, np.e]], divisor=0.7)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "latin1.txt"
            path.write_bytes(b"name: caf\xe9\n1 2 3")
            masks.append(convfilt.Mask.from_file(path))
        for mask in masks + [each.flipped() for each in masks] + [each.normalized() for each in masks]:
            for copied in (pickle.loads(pickle.dumps(mask)), copy.deepcopy(mask), copy.copy(mask)):
                self.assertEqual(convfilt.apply(copied, a).tobytes(), convfilt.apply(mask, a).tobytes())

    def test_masks_of_a_file_that_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mask.txt"
            path.write_text("scale: 2\n1 1 1")
            mask = convfilt.Mask.from_file(path)
            path.write_text("scale: 4\n1")
            self.assertEqual(copy.deepcopy(mask).weights.tolist(), [[0.5] * 3])
            path.unlink()
            self.assertEqual(pickle.loads(pickle.dumps(mask)).weights.tolist(), [[0.5] * 3])
        for k in range(3000):
            mask = mask.flipped()
        self.assertEqual(pickle.loads(pickle.dumps(mask)).weights.tolist(), [[0.5] * 3])


if __name__ == "__main__":
    support.main()
