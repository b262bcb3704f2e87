"""Arrays of any strides, batches, arrays of other libraries, and calls that are wrong.

    PYTHONPATH=build/release/python python tests/python/test_arrays.py
"""

import itertools
import os
import pathlib
import random
import re
import tempfile
import unittest
import unittest.mock

import numpy as np

import convfilt
import support

# Filters that work in bands, as a whole, by luma, in passes, and with a result of other channels.
FILTERS = ("blur --sigma 1.5", "apply sobel_x", "edge", "edge --method canny", "edge --direction hue", "sharpen --threshold 2",
           "blur --box 3 | sharpen", "blur --sigma 20")
SHAPES = ((1, 1), (2, 5), (7, 1), (1, 8), (33, 47), (160, 210))
GUARD = 64


def views(a):
    """Views with the values of a, by what they are; each has memory of its own."""
    height, width, channels = a.shape
    dtype = a.dtype

    def put(view):
        view[...] = a
        return view

    yield "contiguous", put(np.empty(a.shape, dtype))
    yield "upside down", put(np.empty(a.shape, dtype)[::-1])
    yield "mirrored", put(np.empty(a.shape, dtype)[:, ::-1])
    yield "turned", put(np.empty(a.shape, dtype)[::-1, ::-1])
    yield "channels reversed", put(np.empty(a.shape, dtype)[:, :, ::-1])
    yield "every second row", put(np.empty((2 * height, width, channels), dtype)[::2])
    yield "every third column", put(np.empty((height, 3 * width, channels), dtype)[:, 1::3])
    yield "every second channel", put(np.empty((height, width, 2 * channels), dtype)[:, :, ::2])
    yield "part", put(np.empty((height + 4, width + 5, channels), dtype)[2:-2, 2:-3])
    yield "transposed", put(np.empty((width, height, channels), dtype).transpose(1, 0, 2))
    yield "planar", put(np.empty((channels, height, width), dtype).transpose(1, 2, 0))
    yield "planar, upside down", put(np.empty((channels, height, width), dtype).transpose(1, 2, 0)[::-1])
    yield "Fortran", put(np.empty(a.shape, dtype, order="F"))
    yield "rows apart by an odd number of bytes", put(
        np.ndarray(a.shape, dtype, bytearray((width * channels * dtype.itemsize + 1) * height), 0,
                   (width * channels * dtype.itemsize + 1, channels * dtype.itemsize, dtype.itemsize)))
    yield "unaligned", put(np.frombuffer(bytearray(a.nbytes + 1), "u1")[1:].view(dtype).reshape(a.shape))
    yield "fields of records", put(np.empty(a.shape, [("pad", "u1"), ("value", dtype)])["value"])


def guarded(like):
    """An array with the strides of another in memory that is filled with a pattern, and a function that tells whether
    the bytes outside the array stay as they are."""
    reach = [(n - 1) * s for n, s in zip(like.shape, like.strides)]
    low, high = sum(min(0, r) for r in reach), sum(max(0, r) for r in reach) + like.itemsize
    memory = np.arange(high - low + 2 * GUARD, dtype=np.uint64).astype(np.uint8) ^ 0xA5
    view = np.ndarray(like.shape, like.dtype, memory, GUARD - low, like.strides)
    inside = np.zeros(memory.shape, bool)
    np.ndarray(like.shape + (like.itemsize,), bool, inside, GUARD - low, like.strides + (1,))[...] = True
    before = memory.copy()
    return view, lambda: bool((memory == before)[~inside].all())


class Strides(unittest.TestCase):
    def check(self, what, expected, result):
        if not support.same(result, expected):
            self.fail(f"{what}: {support.difference(result, expected)}")

    def test_views_have_the_bytes_of_their_copies(self):
        chance = random.Random(7)
        cases = list(itertools.product(FILTERS, support.DEPTHS, (1, 3, 4), SHAPES, ("rgb", "bgr")))
        for recipe, dtype, channels, shape, order in chance.sample(cases, support.size(60, len(cases))):
            a = support.picture(shape + (channels,), dtype, 3)
            plain = convfilt.run(recipe, a, order=order)
            for name, view in views(a):
                what = f"{recipe}, {dtype} {a.shape}, {order}, {name}"
                before = view.tobytes()
                self.check(what, plain, convfilt.run(recipe, view, order=order))
                self.assertEqual(view.tobytes(), before, f"{what}: the input changes")
            view = next(itertools.islice(views(a), chance.randrange(16), None))[1]
            for name, like in views(plain if plain.ndim == 3 else plain[:, :, None]):
                what = f"{recipe}, {dtype} {a.shape}, {order}, out= {name}"
                out, stays = guarded(like if plain.ndim == 3 else like[:, :, 0])
                self.assertIs(convfilt.run(recipe, view, order=order, out=out), out)
                self.check(what, plain, out)
                self.assertTrue(stays(), f"{what}: bytes outside the result change")

    def test_modes_into_strides(self):
        for mode, border, dtype in itertools.product(("valid", "full"), ({}, {"threads": 3}), support.DEPTHS):
            a = support.picture((90, 61, 3), dtype, 4)
            plain = convfilt.run("apply unsharp5", a, mode=mode, **border)
            self.assertEqual(plain.shape, (86, 57, 3) if mode == "valid" else (94, 65, 3))
            for name, like in views(plain):
                out, stays = guarded(like)
                convfilt.run("apply unsharp5", a[:, ::-1][:, ::-1], mode=mode, out=out, **border)
                self.check(f"{mode}, {dtype}, {name}", plain, out)
                self.assertTrue(stays(), f"{mode}, {dtype}, {name}: bytes outside the result change")

    def test_borders_and_views(self):
        for border, dtype, order in itertools.product(("replicate", "constant", "reflect", "reflect101", "wrap"), support.DEPTHS, ("rgb", "bgr")):
            a = support.picture((70, 40, 3), dtype, 9)
            for recipe in ("blur --sigma 2", "edge", "apply motion9"):
                plain = convfilt.run(recipe, a, border=border, order=order)
                for name, view in itertools.islice(views(a), 1, None, 3):
                    self.check(f"{recipe}, {border}, {dtype}, {name}", plain, convfilt.run(recipe, view, border=border, order=order))

    def test_bands(self):
        """Pictures of many bands, whose rows outside come from other bands; a tall mask whose anchor lies at an end."""
        tall = convfilt.Mask("anchor: 0 16\nscale: 17\n" + "1\n" * 17)
        for border, dtype in itertools.product(("replicate", "constant", "reflect", "reflect101", "wrap"), support.DEPTHS):
            a = support.picture((400, 300 // np.dtype(dtype).itemsize, 3), dtype, 2)
            for call in (lambda x, **o: convfilt.apply(tall, x, **o), lambda x, **o: convfilt.apply(tall.flipped(), x, **o),
                         lambda x, **o: convfilt.blur(x, 2, **o), lambda x, **o: convfilt.edge(x, **o)):
                plain = call(a, border=border, threads=1)
                for threads, (name, view) in itertools.product((1, 3), itertools.islice(views(a), 1, None, support.size(5, 1))):
                    self.check(f"{border}, {dtype}, {threads} threads, {name}", plain, call(view, border=border, threads=threads))

    def test_broadcast_views(self):
        for dtype in support.DEPTHS:
            row = support.picture((1, 23, 3), dtype)
            for view in (np.broadcast_to(row, (19, 23, 3)), np.broadcast_to(row[:, :1], (19, 23, 3)),
                         np.broadcast_to(row[0, 0, 0], (19, 23, 3)), np.broadcast_to(row[:, :, :1], (1, 23, 4))):
                for recipe in FILTERS:
                    self.check(f"{recipe}, {dtype}, strides {view.strides}", convfilt.run(recipe, view.copy()), convfilt.run(recipe, view))

    def test_read_only(self):
        a = support.picture((12, 13, 3), "uint8")
        plain = convfilt.blur(a)
        a.flags.writeable = False
        self.check("read-only", plain, convfilt.blur(a))
        self.check("of bytes", plain, convfilt.blur(np.frombuffer(a.tobytes(), "u1").reshape(a.shape)))

    def test_two_dimensions(self):
        for dtype in support.DEPTHS:
            a = support.picture((31, 22, 1), dtype)
            for recipe in FILTERS:
                plain = convfilt.run(recipe, a)
                for view in (a[:, :, 0], np.asfortranarray(a[:, :, 0]), a[::-1, :, 0][::-1].copy()[:, ::-1][:, ::-1]):
                    result = convfilt.run(recipe, view)
                    self.assertEqual(result.shape, (31, 22) if plain.shape[2] == 1 else plain.shape)
                    self.check(f"{recipe}, {dtype}", plain, result.reshape(plain.shape))

    def test_a_subclass_and_a_long_row(self):
        a = support.picture((3, 70000, 1), "uint8").view(np.recarray)
        self.check("long", convfilt.blur(np.array(a)), np.asarray(convfilt.blur(a)))
        tall = support.picture((70000, 2, 3), "uint16")
        self.check("tall", convfilt.blur(tall), convfilt.blur(tall[::-1, ::-1][::-1, ::-1]))


class Batches(unittest.TestCase):
    def test_each_is_the_single_picture(self):
        for recipe, dtype, channels in itertools.product(FILTERS, support.DEPTHS, (1, 3, 4)):
            a = support.picture((5, 21, 17, channels), dtype)
            singles = np.stack([convfilt.run(recipe, each) for each in a])
            if singles.ndim == 3:  # a grey result of colours has two dimensions; a batch keeps the last
                singles = singles[..., None]
            batches = {"contiguous": a, "reversed": a[::-1].copy()[::-1], "every second": np.repeat(a, 2, 0)[::2],
                       "planar": np.ascontiguousarray(a.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1),
                       "last": np.ascontiguousarray(a.transpose(1, 2, 3, 0)).transpose(3, 0, 1, 2),
                       "read-only": np.frombuffer(a.tobytes(), dtype).reshape(a.shape)}
            for name, batch in batches.items():
                result = convfilt.run(recipe, batch)
                self.assertTrue(support.same(result, singles), f"{recipe} {dtype} {channels} {name}: {support.difference(result, singles)}")
                out, stays = guarded(np.empty(singles.shape[1:] + singles.shape[:1], dtype).transpose(3, 0, 1, 2)[::-1])
                convfilt.run(recipe, batch, out=out)
                self.assertTrue(support.same(out, singles) and stays(), f"{recipe} {dtype} {channels} {name} into out=")

    def test_the_same_picture_again(self):
        a = support.picture((9, 11, 3), "uint8")
        result = convfilt.blur(np.broadcast_to(a, (4, 9, 11, 3)))
        self.assertTrue(support.same(result, np.stack([convfilt.blur(a)] * 4)))

    def test_modes_depths_and_counts(self):
        for mode, depth in itertools.product(("valid", "full", "same"), ("u8", "u16", "f32")):
            a = support.picture((3, 12, 13, 3), "uint16")
            result = convfilt.apply("box3", a, mode=mode, depth=depth)
            self.assertTrue(support.same(result, np.stack([convfilt.apply("box3", each, mode=mode, depth=depth) for each in a])))

    def test_empty(self):
        for dtype in support.DEPTHS:
            a = np.empty((0, 8, 9, 3), dtype)
            self.assertEqual(convfilt.blur(a).shape, (0, 8, 9, 3))
            self.assertEqual(convfilt.edge(a).shape[:3], (0, 8, 9))
            self.assertEqual(convfilt.apply("box3", a, mode="valid", depth="f32").dtype, np.float32)
            self.assertEqual(convfilt.apply("box3", a, mode="valid").shape, (0, 6, 7, 3))
            out = np.empty((0, 8, 9, 3), dtype)
            self.assertIs(convfilt.blur(a, out=out), out)

    def test_out_that_overlaps_itself(self):
        a = support.picture((2, 9, 11, 3), "uint8")
        for out in (np.lib.stride_tricks.as_strided(np.empty(9 * 11 * 3, "u1"), a.shape, (0, 33, 3, 1)),):
            with self.assertRaises(ValueError):
                convfilt.blur(a, out=out)


class Errors(unittest.TestCase):
    a = support.picture((12, 13, 3), "uint8")

    def refused(self, kind, words, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))
        return str(caught.exception)

    def test_types(self):
        for dtype in (bool, np.int8, np.int16, np.uint32, np.int64, np.uint64, np.float16, np.float64, np.longdouble, np.complex64, object,
                      "S3", "U2", "datetime64[s]", "V4", [("r", "u1"), ("g", "u1")]):
            a = np.zeros((4, 5), dtype)
            self.refused(ValueError, ["(4, 5)", a.dtype.name, "uint8, uint16 or float32", "rows x columns"], convfilt.blur, a)

    def test_shapes(self):
        for shape in ((), (5,), (4, 5, 2), (4, 5, 5), (4, 5, 0), (0, 5), (5, 0), (0, 0, 3), (0, 4, 3), (2, 0, 4, 3), (2, 4, 0, 3), (2, 4, 5, 2),
                      (2, 3, 4, 5, 3), (1, 1, 1, 1, 1, 1)):
            for dtype in support.DEPTHS:
                self.refused(ValueError, [str(shape), dtype, "uint8, uint16 or float32", "1, 3 or 4 channels"], convfilt.blur, np.zeros(shape, dtype))

    def test_sides_that_no_int_holds(self):
        for shape in ((2**33, 5), (5, 2**33), (2**32 + 4, 3), (2**30, 2**30)):
            a = np.lib.stride_tricks.as_strided(np.zeros(1, "u1"), shape, (0,) * len(shape))
            with self.subTest(shape), self.assertRaises(ValueError) as caught:
                convfilt.blur(a)
            self.assertIn(str(shape[0]), str(caught.exception))

    def test_byte_order(self):
        for dtype in (">u2", ">f4"):
            self.refused(ValueError, ["byte order", dtype], convfilt.blur, np.zeros((3, 4), dtype))
            self.refused(ValueError, ["byte order", dtype], convfilt.blur, np.zeros((3, 4), dtype[1:]), out=np.zeros((3, 4), dtype))

    def test_what_is_no_array(self):
        for thing in (None, 3, 2.5, "photo.jpg", b"bytes", [[1, 2], [3, 4]], {}, object(), (1, 2), iter([]), np, np.uint8, convfilt.Mask([[1]])):
            self.refused(TypeError, [type(thing).__name__, "uint8, uint16 or float32"], convfilt.blur, thing)
        self.refused(ValueError, ["()"], convfilt.blur, np.uint8(3))  # numpy's numbers are arrays of no dimension

    def test_options(self):
        a = self.a
        for options, words in [
            ({"border": "mirror"}, ["border", "mirror", "reflect"]), ({"border": ""}, ["border"]), ({"border": 3}, ["border"]),
            ({"mode": "vaild"}, ["mode", "valid"]), ({"strategy": "bsic"}, ["bsic", "basic"]), ({"device": "gpu"}, ["gpu"]),
            ({"threads": -1}, ["threads"]), ({"threads": 1.5}, ["threads"]), ({"threads": 10**9}, ["threads"]),
            ({"threads": True}, ["threads"]), ({"output": "negative"}, ["output"]), ({"depth": "u32"}, ["depth"]), ({"depth": 8}, ["depth"]),
            ({"depth": np.uint64}, ["depth"]), ({"order": "rbg"}, ["order", "rgb"]), ({"tile": 8}, ["tile", "strategy"]),
            ({"strategy": "tiled-in", "tile": 0}, ["tile"]), ({"sgima": 2}, ["sgima"]), ({"linear": "maybe"}, ["linear"]),
            ({"linear": 1}, ["linear"]), ({"border": "constant", "border_value": float("nan")}, ["border"]),
            ({"border": "constant", "border_value": float("inf")}, ["border"]), ({"border": "constant", "border_value": 300}, ["border", "255"]),
            ({"border": "constant", "border_value": 0.5}, ["border", "255"]), ({"border_value": "x"}, ["border"]),
            ({"border": "reflect", "border_value": 3}, ["border"]), ({"mode": "full", "border": "reflect"}, ["mode", "border"]),
            ({"mode": "full", "border_value": 3}, ["mode", "border"]), ({"luma": True, "mode": "valid"}, ["luma", "mode"]),
            ({"border": "wr\0ap"}, ["NUL"]), ({"border": "wrap\0"}, ["NUL"]), ({"bor\0der": "wrap"}, []), ({"border": "wrap\n"}, ["border"]),
            ({"border": ["wrap"]}, ["border"]), ({"border": b"wrap"}, ["border"]), ({"": 3}, []), ({"--border": "wrap"}, ["border"]),
        ]:
            with self.subTest(options):
                self.assertNotIn("\0", self.refused(ValueError, words, convfilt.blur, a, **options))

    def test_border_values_of_all_filters(self):
        for recipe, value, options in itertools.product(FILTERS, (300, -1, 0.5), ({}, {"depth": "f32"}, {"linear": True})):
            if "hue" in recipe and "linear" in options:
                continue
            with self.subTest(f"{recipe}, {value}, {options}"):
                self.refused(ValueError, ["border", "255"], convfilt.run, recipe, self.a, border="constant", border_value=value, **options)

    def test_values_of_filters(self):
        a = self.a
        for call, options in [
            (convfilt.blur, {"sigma": -1}), (convfilt.blur, {"sigma": float("nan")}), (convfilt.blur, {"sigma": float("inf")}),
            (convfilt.blur, {"sigma": 1e9}), (convfilt.blur, {"sigma": "x"}), (convfilt.blur, {"sigma": (1, 2, 3)}), (convfilt.blur, {"sigma": ()}),
            (convfilt.blur, {"sigma": 1, "box": 3}), (convfilt.blur, {"box": 0}), (convfilt.blur, {"box": 2.5}), (convfilt.blur, {"binomial": 99}),
            (convfilt.blur, {"sigma": "2 --box 3"}), (convfilt.blur, {"sigma": "2 | sharpen"}), (convfilt.blur, {"sigma": "2 # x"}),
            (convfilt.sharpen, {"amount": "a"}), (convfilt.sharpen, {"threshold": -1}), (convfilt.sharpen, {"threshold": 3, "mode": "full"}),
            (convfilt.edge, {"method": "soble"}), (convfilt.edge, {"method": "sobel --thin"}), (convfilt.edge, {"low": 3}),
            (convfilt.edge, {"method": "canny", "low": 90, "high": 20}), (convfilt.edge, {"color": True, "luma": True}),
        ]:
            with self.subTest(f"{call.__name__} {options}"), self.assertRaises(ValueError):
                call(a, **options)

    def test_recipes_and_masks(self):
        a = self.a
        for recipe in ("", " ", "|", "blur |", "| blur", "blru", "blur --sigma", "blur --sigma x", "blur --sigma 2 --sigma 3", "blur 'x",
                       "blur --border wrap", "# only words", "blur\0", "blur --sigma 2\0 | edge", "run blur", "list", "blur " * 9000,
                       "|".join(["blur"] * 65), "apply no-such-mask-at-all", "apply"):
            with self.subTest(recipe[:40]), self.assertRaises((ValueError, OSError)):
                convfilt.run(recipe, a)
        for text in ("", "1 2\n3", "a", "1 2 x", "nan", "inf", "0x10", "scale: 0\n1", "1/0", "1 2\0", "1\0 2", "---", "combine: max\n1\n", "anchor: 9 9\n1 2\n",
                     "1 " * 1026, "1\n" * 1026, "scale: 2\nscale: 3\n1\n"):
            with self.subTest(text[:30]), self.assertRaises((ValueError, OSError)):
                convfilt.Mask(text)
        for rows in ([], [[]], 3, [1, 2], [[[1]]], [[1, 2], [3]], [["a"]], [[None]], [[float("nan")]], [[float("inf")]], np.zeros((1026, 1)),
                     np.zeros((1, 1026)), np.zeros((0, 3)), [[1j]], {}, None, object()):
            with self.subTest(repr(rows)[:60]), self.assertRaises((ValueError, TypeError)):
                convfilt.Mask(rows)
            with self.subTest(repr(rows)[:60]), self.assertRaises((ValueError, TypeError)):
                convfilt.apply(rows, a)
        for divisor in (0, -1, float("nan"), float("inf"), "x", None):
            with self.subTest(divisor=divisor), self.assertRaises((ValueError, TypeError)):
                convfilt.Mask([[1, 2]], divisor)
        for name in ("no-such-mask", "/no/such/file", "", "/", "box3\0", "/dev/null", "/proc/self/mem"):
            with self.subTest(name), self.assertRaises((ValueError, OSError)):
                convfilt.Mask.from_file(name)
        with self.assertRaises(OSError) as caught:
            convfilt.apply("/no/such/mask.txt", a)
        self.assertIn("/no/such/mask.txt", str(caught.exception))

    def test_out(self):
        a = self.a
        good = np.empty_like(a)
        for out in (np.empty((12, 13), "u1"), np.empty((13, 12, 3), "u1"), np.empty((12, 13, 4), "u1"), np.empty((1, 12, 13, 3), "u1"),
                    np.empty(a.shape, "u2"), np.empty(a.shape, "f4"), np.empty((24, 13, 3), "u1")):
            self.refused(ValueError, ["out", str(out.shape), str(a.shape), out.dtype.name, "uint8"], convfilt.blur, a, out=out)
        good.flags.writeable = False
        self.refused(ValueError, ["out"], convfilt.blur, a, out=good)
        self.refused(ValueError, ["out"], convfilt.blur, a, out=np.broadcast_to(np.zeros(3, "u1"), a.shape))
        self.refused(ValueError, ["out", "overlap"], convfilt.blur, a, out=a)
        self.refused(ValueError, ["out", "overlap"], convfilt.blur, a, out=a[::-1])
        both = np.zeros((13, 13, 3), "u1")
        self.refused(ValueError, ["out", "overlap"], convfilt.blur, both[:-1], out=both[1:])
        self.refused(ValueError, ["out", "overlap"], convfilt.blur, both[::-1][:-1], out=both[:-1])
        # Side by side is no overlap.
        both = np.zeros((24, 13, 3), "u1")
        both[:12] = a
        convfilt.blur(both[:12], out=both[12:])
        self.assertTrue(support.same(both[12:], convfilt.blur(a)))
        # One result that would be written twice.
        twice = np.lib.stride_tricks.as_strided(np.zeros(13 * 3, "u1"), a.shape, (0, 3, 1))
        self.refused(ValueError, ["out"], convfilt.blur, a, out=twice)
        for out in (3, "x", [[1]], object()):
            self.refused(TypeError, [type(out).__name__], convfilt.blur, a, out=out)

    def test_plans_that_look_alike(self):
        """Plans are kept by what they are for, and 1, 1.0 and True are not the same there, nor are 0 and -0."""
        a, zeros = self.a, np.zeros((5, 5), "f4") - 0.0
        for k in range(2):
            convfilt.blur(a, linear=True)
            convfilt.blur(a, border="constant", border_value=1)
            convfilt.blur(a, threads=1)
            for options in ({"linear": 1}, {"linear": 1.0}, {"border": "constant", "border_value": True}, {"threads": True}):
                with self.subTest(options), self.assertRaises(ValueError):
                    convfilt.blur(a, **options)
            text = [convfilt.run("apply identity", zeros, mode=mode, border=border, border_value=value, depth=depth).shape
                    for mode, border, value, depth in itertools.product(("same", "valid"), ("constant",), (0.0, -0.0), ("u8", "f32"))]
            self.assertEqual(text, [(5, 5)] * 4 + [(3, 3)] * 4)
        for first, second in (({"border": "wrap"}, {"border": "reflect"}), ({"mode": "valid"}, {"mode": "full"}), ({"output": "abs"}, {"output": "signed"}),
                              ({"order": "bgr"}, {"order": "rgb"}), ({"depth": "u16"}, {"depth": "f32"}), ({"linear": True}, {"linear": False}),
                              ({"luma": True}, {"luma": False}), ({"border": "constant", "border_value": 9}, {"border": "constant"})):
            recipe = "edge" if "order" in first else "blur" if "luma" in first else "edge --method laplacian --color"
            one, other = convfilt.run(recipe, a, **first), convfilt.run(recipe, a, **second)
            self.assertFalse(support.same(one, other), f"{first} and {second} give the same")
            again = convfilt.run(recipe, a, **first)
            self.assertTrue(support.same(one, again))
        for shape in ((12, 13, 3), (13, 12, 3), (12, 13), (12, 13, 1), (12, 13, 4)):
            for dtype in support.DEPTHS:
                self.assertEqual(convfilt.blur(np.zeros(shape, dtype)).dtype, dtype)

    def test_plans_are_kept(self):
        with unittest.mock.patch.object(convfilt._core, "Plan", side_effect=convfilt._core.Plan) as made:
            for k in range(5):
                convfilt.blur(self.a, 1.25)
                convfilt.run("apply box5 | edge", self.a, border="wrap")
                with self.assertRaises(ValueError):
                    convfilt.blur(self.a, 1.25, out=self.a)
            self.assertLessEqual(made.call_count, 2)

    def test_plans_of_masks_are_kept(self):
        """Rows of weights, also turned or normalized, have a plan of their own, which is kept like others."""
        first = [[0, -1, 0.5], [-1, 5.25, -1]]
        mask = convfilt.Mask(first)
        calls = [(weights, options) for weights in (first, np.negative(first), np.transpose(first), np.reshape(first, (1, 6)), mask)
                 for options in ({}, {"flip": True}, {"normalize": True}, {"flip": True, "normalize": True})]
        for weights, options in calls:
            with unittest.mock.patch.object(convfilt._core, "Plan", side_effect=convfilt._core.Plan) as made:
                for k in range(3):
                    got = convfilt.apply(np.array(weights) if k == 1 and weights is not mask else weights, self.a, **options)
                    want = convfilt.Mask(weights)
                    want = want.normalized() if "normalize" in options else want
                    want = want.flipped() if "flip" in options else want
                    self.assertTrue(support.same(got, convfilt.apply(want, self.a)), f"{weights}, {options}")
                self.assertEqual(made.call_count, 1 + 3, f"{weights}, {options}")

    def test_how_many_plans_are_kept(self):
        """Sixteen, and for pictures of 256 MiB in all, where the CPU's samples count as floats. If there are more, the oldest go
        until half of that is left."""
        for gpu, samples, depth, most, left in ((-1, 9, 0, 16, 8), (0, 9, 2, 16, 8), (-1, 12 << 20, 0, 5, 2), (0, 12 << 20, 0, 16, 8), (0, 36 << 20, 0, 7, 3),
                                                (0, 36 << 20, 1, 3, 1), (1, 12 << 20, 2, 5, 2), (-1, 1 << 30, 0, 1, 1)):
            plans, kept = convfilt._Plans(), []
            for k in range(40):
                plans.give(("blur", k, (samples, 1, 1, depth), gpu), k)
                kept.append(k)
                if len(kept) > most:
                    kept = kept[-left:]
                self.assertEqual([entry[1] for entry in plans._idle], kept, f"{samples} samples of depth {depth} on {gpu}")
        plans = convfilt._Plans()
        for k in range(5):
            plans.give((convfilt.Mask(np.full((1025, 1025), k)), (), (9, 9, 1, 0), -1), k)
        self.assertEqual([entry[1] for entry in plans._idle], [3, 4])
        plans = convfilt._Plans()
        for k, samples in enumerate((40 << 20, 9, 9, 30 << 20)):
            plans.give(("blur", k, (samples, 1, 1, 2), 0), k)
        self.assertEqual([entry[1] for entry in plans._idle], [1, 2, 3])

    def test_a_file_that_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            mask, recipe = f"{folder}/my mask.txt", f"{folder}/recipe"
            here = os.getcwd()
            try:
                os.chdir(folder)
                for weight in (1, 0, 2):
                    for path in (mask, recipe):
                        with open(path, "w", encoding="ascii") as file:
                            file.write(f"{weight}\n" if path == mask else f"apply ./mask{weight}\n")
                    with open(f"mask{weight}", "w", encoding="ascii") as file:
                        file.write(f"{weight}\n")
                    expected = (np.minimum(self.a.astype(int) * weight, 255)).astype("u1")
                    for what, result in (("a path", convfilt.apply(mask, self.a)), ("a name", convfilt.apply("my mask.txt", self.a)),
                                         ("a Path", convfilt.apply(pathlib.Path(mask), self.a)),
                                         ("a recipe", convfilt.run("apply 'my mask.txt'", self.a)),
                                         ("a file", convfilt.run(recipe, self.a)), ("a file here", convfilt.run("recipe", self.a))):
                        self.assertTrue(support.same(result, expected), f"{what} with weight {weight}")
            finally:
                os.chdir(here)

    def test_names_that_are_hard_to_find_in_a_recipe(self):
        """A file is read in each call, whatever quotes, comments and blanks stand around its name or in it."""
        names = ["plain", "bob's.txt", 'a"b.txt', "it's x", "a\u00a0b.txt", "a\u2003b", "a#b.txt", "ma'sk", "apply", "blur", "-x"]
        with tempfile.TemporaryDirectory() as folder:
            here = os.getcwd()
            try:
                os.chdir(folder)
                for weight in (1, 0, 2):
                    expected = np.minimum(self.a.astype(int) * weight, 255).astype("u1")
                    for name in names:
                        with open(name, "w", encoding="ascii") as file:
                            file.write(f"{weight}\n")
                        quoted = "'" + name.replace("'", "'\"'\"'") + "'"
                        for recipe in (None, f"apply {quoted}", f"blur --box 1 | app'ly' {quoted}", f"blur --box 1 # it's x\napply {quoted} # that's y",
                                       f"apply {name}", f"blur --box 1|apply {name}"):
                            if recipe and (name[0] == "-" or recipe.endswith(name) and set(name) & set("'\"# ")):
                                continue  # an option, or not one word
                            with self.subTest(name=name, recipe=recipe, weight=weight):
                                result = convfilt.run(recipe, self.a) if recipe else convfilt.apply(name, self.a)
                                self.assertTrue(support.same(result, expected))
            finally:
                os.chdir(here)

    def test_quotes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("it's", 'a "mask"', """it's "a" mask | # here""", " x "):
                path = f"{folder}/{name}"
                with open(path, "w", encoding="ascii") as file:
                    file.write("1\n")
                with self.subTest(name):
                    self.assertTrue(support.same(convfilt.apply(path, self.a), self.a))

    def test_refusal_agrees_with_run(self):
        names, cases = convfilt.strategies(), []
        for recipe, dtype, channels, options in itertools.product(
                ("apply gaussian5", "edge", "sharpen --threshold 2", "blur | edge"), support.DEPTHS, (1, 3, 4),
                ({}, {"luma": True}, {"linear": True}, {"depth": "f32"}, {"mode": "full"}, {"border": "wrap"})):
            cases += [(name, recipe, dtype, channels, options) for name in names]
        chance = random.Random(3)
        for name, recipe, dtype, channels, options in chance.sample(cases, support.size(120, len(cases))):
            a = support.picture((5, 6, channels), dtype, kind="smooth")
            for device in ("cpu", "emulator"):
                why, error = convfilt.refusal(name, recipe, a, device, **options), ""
                try:
                    convfilt.run(recipe, a, strategy=name, device=device, **options)
                except ValueError as caught:
                    # What only the samples tell is no refusal of the shape.
                    error = "" if re.search("picture's largest sample|the picture has alpha, so its", str(caught)) else str(caught)
                self.assertEqual(bool(why), bool(error), f"{name} on {device}: {recipe}, {dtype} x {channels}, {options}: refusal '{why}', run '{error}'")

    def test_options_in_any_order(self):
        for options in ({"tile": 8, "strategy": "tiled-in", "device": "emulator"}, {"cache": "none", "device": "emulator", "strategy": "basic"},
                        {"border": None, "mode": None}):
            self.assertTrue(support.same(convfilt.blur(self.a, **options), convfilt.blur(self.a, strategy=options.get("strategy"), device=options.get("device"))))
            self.assertIn(" on ", convfilt.plan("blur", self.a, **options))
        self.assertTrue(support.same(convfilt.blur(self.a, 2.0, flip=np.True_, linear=np.True_), convfilt.blur(self.a, np.float32(2), flip=True, linear=True)))
        self.assertTrue(support.same(convfilt.blur(self.a, np.array([3, 1])), convfilt.blur(self.a, (3, 1))))

    def test_masked_arrays(self):
        with self.assertRaises(ValueError):
            convfilt.blur(np.ma.masked_array(self.a, self.a > 3))

    def test_errors_leave_out_alone(self):
        out = np.full(self.a.shape, 7, "u1")
        for options in ({"border": "x"}, {"strategy": "winograd", "device": "cpu", "sigma": 20}):
            with self.assertRaises(ValueError):
                convfilt.blur(self.a, out=out, **options)
        self.assertTrue((out == 7).all())

    def test_a_call_after_an_error(self):
        good = convfilt.blur(self.a)
        floats = support.picture((30, 30), "float32", kind="wild")
        for k in range(3):
            with self.assertRaises(ValueError):  # as it runs, so that the plan was in use
                convfilt.apply("gaussian5", floats, strategy="fft", device="cpu")
            self.assertTrue(support.same(convfilt.blur(self.a), good))
        smooth = support.picture((30, 30), "float32", kind="smooth")
        convfilt.apply("gaussian5", smooth, strategy="fft", device="cpu")

    def test_an_error_within_a_batch(self):
        batch = np.stack([support.picture((30, 30, 1), "float32", kind=kind) for kind in ("smooth", "wild", "smooth")])
        for pictures in (batch, batch[1:], batch[:2]):
            with self.assertRaises(ValueError):
                convfilt.apply("gaussian5", pictures, strategy="fft", device="cpu")
        convfilt.apply("gaussian5", batch[::2], strategy="fft", device="cpu")

    def test_wrong_calls_at_random(self):
        chance = random.Random(11)
        words = ["", "x", "box3", "2", "auto", "\0", "é", "\ud800", "--", "1 2\n3 4", "blur", "wrap", "u8", "rgb", "same"]

        def thing(depth=0):
            kind = chance.randrange(14)
            if kind == 0:
                return None
            if kind == 1:
                return chance.choice([True, False])
            if kind == 2:
                return chance.choice([0, -1, 3, 2**31, 2**63, -2**70])
            if kind == 3:
                return chance.choice([0.5, -0.0, float("nan"), float("inf"), 1e300])
            if kind == 4:
                return chance.choice(words)
            if kind == 5 and depth < 3:
                return [thing(depth + 1) for _ in range(chance.randrange(4))]
            if kind == 6:
                return chance.choice([b"x", object(), int, convfilt, {}, set(), 1j, Ellipsis])
            if kind == 7:
                return convfilt.Mask([[1, 2], [3, 4]])
            if kind == 8:
                return chance.choice([np.uint8(3), np.float32(2), np.bool_(True), np.str_("wrap")])
            shape = tuple(chance.choice([0, 1, 2, 3, 4, 7, 20]) for _ in range(chance.randrange(6)))
            dtype = chance.choice(["u1", "u1", "u2", "f4", ">u2", ">f4", "f8", "i4", "?", "c8", "O", "U1"])
            a = np.zeros(shape, dtype)
            if chance.random() < 0.3 and a.ndim:
                a = a[::chance.choice([1, 2, -1, -2])].T
            return a

        options = ["border", "border_value", "mode", "strategy", "device", "threads", "linear", "luma", "output", "depth", "order", "out", "tile",
                   "sigma", "box", "disk", "motion", "binomial", "flip", "normalize", "amount", "threshold", "halo_limit", "method", "gain",
                   "direction", "color", "thin", "low", "high", "no_such", "mask", "divisor"]
        calls = [convfilt.blur, convfilt.sharpen, convfilt.edge, convfilt.apply, convfilt.run, convfilt.Mask, convfilt.Mask.from_file,
                 convfilt.plan, convfilt.refusal]
        refused = 0
        for k in range(support.size(2000, 20000)):
            call = chance.choice(calls)
            arguments = [thing() for _ in range(chance.randrange(4))]
            if chance.random() < 0.5 and arguments:
                arguments[min(len(arguments) - 1, int(call in (convfilt.apply, convfilt.run)))] = self.a
            more = {chance.choice(options): thing() for _ in range(chance.randrange(3))}
            try:
                call(*arguments, **more)
            except (TypeError, ValueError, OSError, convfilt.DeviceError):
                refused += 1
            except Exception as error:
                self.fail(f"call {k}: {call.__name__}{arguments!r}, {more!r}: {type(error).__name__}: {error}")
        self.assertGreater(refused, 100)


class Dlpack:
    """An array that speaks DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OldDlpack(Dlpack):
    """One from before DLPack 1.0, which knows no max_version."""

    def __dlpack__(self, stream=None):
        return self._array.__dlpack__(stream=stream)


class Interface:
    """An array that speaks __array_interface__ alone."""

    def __init__(self, array):
        self._array = array
        self.__array_interface__ = array.__array_interface__


class OtherArrays(unittest.TestCase):
    def test_dlpack(self):
        for kind, dtype, channels in itertools.product((Dlpack, OldDlpack), support.DEPTHS, (1, 3, 4)):
            a = support.picture((19, 23, channels), dtype)
            plain = convfilt.blur(a)
            for view in (a, a[::-1].copy()[::-1], np.asfortranarray(a), a.transpose(2, 0, 1).copy().transpose(1, 2, 0)):
                self.assertTrue(support.same(np.asarray(convfilt.blur(kind(view))), plain), f"{kind.__name__} {dtype} {view.strides}")
            out = np.zeros(plain.shape, dtype)
            convfilt.blur(kind(a), out=kind(out))
            self.assertTrue(support.same(out, plain))
            batch = np.stack([a, a[::-1]])
            self.assertTrue(support.same(np.asarray(convfilt.blur(kind(batch))), convfilt.blur(batch)))

    def test_dlpack_of_other_types(self):
        for dtype in (np.int8, np.float64, np.int64, np.complex64, bool, np.float16):
            with self.assertRaises(ValueError) as caught:
                convfilt.blur(Dlpack(np.zeros((3, 4), dtype)))
            self.assertIn("(3, 4)", str(caught.exception))
            self.assertIn(np.dtype(dtype).name, str(caught.exception))

    def test_dlpack_read_only(self):
        a = support.picture((19, 23, 3), "uint8")
        plain = convfilt.blur(a)
        a.flags.writeable = False
        self.assertTrue(support.same(np.asarray(convfilt.blur(Dlpack(a))), plain))
        out = np.zeros(a.shape, "u1")
        out.flags.writeable = False
        with self.assertRaises(ValueError):
            convfilt.blur(a, out=Dlpack(out))
        self.assertFalse(out.any(), "a read-only array was written")

    def test_dlpack_that_fails(self):
        class Failing(Dlpack):
            def __dlpack__(self, **options):
                raise BufferError("not today")

        class Nonsense(Dlpack):
            def __dlpack__(self, **options):
                return 3

        for kind in (Failing, Nonsense):
            with self.assertRaises((BufferError, TypeError, ValueError)):
                convfilt.blur(kind(np.zeros((3, 4), "u1")))

    def test_interface(self):
        for dtype in support.DEPTHS:
            a = support.picture((19, 23, 3), dtype)
            self.assertTrue(support.same(np.asarray(convfilt.blur(Interface(a))), convfilt.blur(a)))

    def test_memory_lives_as_long_as_it_is_used(self):
        def fresh(k):
            return Dlpack(support.picture((40, 41, 3), "uint8", k))

        for k in range(20):
            expected = convfilt.blur(support.picture((40, 41, 3), "uint8", k))
            self.assertTrue(support.same(np.asarray(convfilt.blur(fresh(k))), expected))

    def test_memory_that_is_made_for_the_call(self):
        class Fresh(Dlpack):
            def __dlpack__(self, **options):
                return np.full((50, 60, 3), 7, "u1").__dlpack__(**options)

        for _ in range(20):
            self.assertTrue((np.asarray(convfilt.apply("identity", Fresh(np.zeros(1, "u1")))) == 7).all())

    def test_pillow_modes(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("Pillow is not installed")
        for mode in ("P", "CMYK", "YCbCr", "HSV", "LAB", "F"):
            with self.assertRaises(ValueError) as caught:
                convfilt.blur(Image.new(mode, (5, 4)))
            self.assertIn(mode, str(caught.exception))
        for mode in ("L", "RGB", "RGBA", "I;16"):
            convfilt.blur(Image.new(mode, (5, 4)))

    def test_pillow(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("Pillow is not installed")
        a = support.picture((19, 23, 3), "uint8")
        self.assertTrue(support.same(np.asarray(convfilt.blur(Image.fromarray(a))), convfilt.blur(a)))

    def test_jax(self):
        try:
            import jax.numpy as jnp
        except ImportError:
            self.skipTest("jax is not installed")
        for dtype in support.DEPTHS:
            a = support.picture((19, 23, 3), dtype)
            result = convfilt.blur(jnp.asarray(a))
            self.assertIsInstance(result, jnp.ndarray)
            self.assertTrue(support.same(np.asarray(result), convfilt.blur(a)))
            batch = convfilt.blur(jnp.stack([jnp.asarray(a)] * 2))
            self.assertTrue(support.same(np.asarray(batch[1]), convfilt.blur(a)))
            with self.assertRaises(ValueError):  # its arrays never change
                convfilt.blur(a, out=jnp.asarray(a))

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        for dtype in support.DEPTHS:
            a = support.picture((19, 23, 3), dtype)
            result = convfilt.blur(torch.from_numpy(a))
            self.assertIsInstance(result, torch.Tensor)
            self.assertTrue(support.same(result.numpy(), convfilt.blur(a)))


if __name__ == "__main__":
    support.main()
