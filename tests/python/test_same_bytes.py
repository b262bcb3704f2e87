"""The module's results have the bytes of the command line's: recipes, depths, channels, borders, modes, strategies.

    CONVFILT=build/release/bin/convfilt PYTHONPATH=build/release/python python tests/python/test_same_bytes.py
"""

import collections
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np

import convfilt
import support

TEXT = "scale: 9\n1 2 3 4\n-1 0 5 1/2\n2 2 2 2\n"
OWN = "anchor: 0 1\noffset: 0.25\nscale: 10\n1 2 3\n2 1 1\n"
ZERO = "-1 0 1\n-2 0 2\n-1 0 1\n"
SET = "combine: max\nrotate: 4\n-1 0 1\n-2 0 2\n-1 0 1\n---\nscale: 2\n1 2\n"
FILES = {"text": TEXT, "own": OWN, "zero": ZERO, "set": SET}

# What is called, with which arguments, and the words of the command line; {text} and {set} are files.
CALLS = {
    "blur": (convfilt.blur, (), {}, "blur"),
    "blur-sigma": (convfilt.blur, (0.7,), {}, "blur --sigma 0.7"),
    "blur-pair": (convfilt.blur, ((3, 0),), {}, "blur --sigma 3,0"),
    "blur-wide": (convfilt.blur, (9,), {}, "blur --sigma 9"),
    "box": (convfilt.blur, (), {"box": 4}, "blur --box 4"),
    "disk": (convfilt.blur, (), {"disk": 3.5}, "blur --disk 3.5"),
    "motion": (convfilt.blur, (), {"motion": (7, 30)}, "blur --motion 7@30"),
    "motion-flip": (convfilt.blur, (), {"motion": 6, "flip": True}, "blur --motion 6 --flip"),
    "binomial": (convfilt.blur, (), {"binomial": 5, "normalize": True}, "blur --binomial 5 --normalize"),
    "sharpen": (convfilt.sharpen, (), {}, "sharpen"),
    "sharpen-amount": (convfilt.sharpen, (2.5,), {"sigma": 2}, "sharpen --amount 2.5 --sigma 2"),
    "sharpen-threshold": (convfilt.sharpen, (), {"threshold": 3}, "sharpen --threshold 3"),
    "sharpen-halo": (convfilt.sharpen, (1.5,), {"halo_limit": 10}, "sharpen --amount 1.5 --halo-limit 10"),
    "edge": (convfilt.edge, (), {}, "edge"),
    "edge-scharr-thin": (convfilt.edge, ("scharr",), {"thin": True, "threshold": 40}, "edge --method scharr --thin --threshold 40"),
    "edge-prewitt-x": (convfilt.edge, ("prewitt",), {"direction": "x"}, "edge --method prewitt --direction x"),
    "edge-kirsch": (convfilt.edge, ("kirsch",), {"sigma": 0}, "edge --method kirsch --sigma 0"),
    "edge-robinson": (convfilt.edge, ("robinson",), {"gain": 3}, "edge --method robinson --gain 3"),
    "edge-roberts": (convfilt.edge, ("roberts",), {}, "edge --method roberts"),
    "edge-laplacian-thin": (convfilt.edge, ("laplacian",), {"thin": True}, "edge --method laplacian --thin"),
    "edge-log": (convfilt.edge, ("log",), {"sigma": 2}, "edge --method log --sigma 2"),
    "edge-dog": (convfilt.edge, ("dog",), {"color": True}, "edge --method dog --color"),
    "edge-canny": (convfilt.edge, ("canny",), {"low": 10, "high": 30.5}, "edge --method canny --low 10 --high 30.5"),
    "edge-hue": (convfilt.edge, (), {"direction": "hue"}, "edge --direction hue"),
    "edge-angle": (convfilt.edge, (), {"direction": "angle", "sigma": 0.5}, "edge --direction angle --sigma 0.5"),
    "edge-color": (convfilt.edge, ("sobel",), {"color": True, "thin": True}, "edge --color --thin"),
    "mask-name": (convfilt.apply, ("emboss3",), {}, "apply emboss3"),
    "mask-flip": (convfilt.apply, ("sobel_x",), {"flip": True, "normalize": True}, "apply sobel_x --flip --normalize"),
    "mask-text": (convfilt.apply, (convfilt.Mask(TEXT),), {}, "apply {text}"),
    "mask-text-flip": (convfilt.apply, (convfilt.Mask(TEXT),), {"flip": True}, "apply {text} --flip"),
    "mask-rows": (convfilt.apply, ([[1, 2, 3, 4], [-1, 0, 5, 0.5], [2, 2, 2, 2]],), {"normalize": True}, "apply {text} --normalize"),
    "mask-own": (convfilt.apply, (convfilt.Mask(OWN),), {}, "apply {own}"),
    "mask-own-normalize": (convfilt.apply, (convfilt.Mask(OWN),), {"flip": True, "normalize": True}, "apply {own} --flip --normalize"),
    "mask-zero": (convfilt.apply, ([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],), {"normalize": True}, "apply {zero} --normalize"),
    "mask-file": (convfilt.apply, ("{text}",), {}, "apply {text}"),
    "mask-set": (convfilt.apply, ("{set}",), {}, "apply {set}"),
    "chain": (convfilt.run, ("blur --sigma 1.4 | edge --method scharr --thin",), {}, "run|blur --sigma 1.4 | edge --method scharr --thin"),
    "chain-sharpen": (convfilt.run, ("sharpen --amount 2 | blur --box 3 | apply emboss3",), {}, "run|sharpen --amount 2 | blur --box 3 | apply emboss3"),
    "chain-of-one": (convfilt.run, ("apply gaussian5",), {}, "apply gaussian5"),
}

# Options of the call; the program has the same with --.
BORDERS = [{}, {"border": "constant"}, {"border": "constant", "border_value": 1}, {"border_value": 0}, {"border": "reflect"},
           {"border": "reflect101"}, {"border": "wrap"}]
MODES = [{}, {"mode": "valid"}, {"mode": "full"}]
MAPPINGS = [{}, {"output": "abs"}, {"output": "signed"}, {"linear": True}, {"luma": True}, {"linear": True, "luma": True},
            {"depth": "u8"}, {"depth": "u16"}, {"depth": "f32"}]
SIZES = [(21, 34), (1, 1), (1, 9), (9, 1), (2, 3), (5, 4), (64, 33), (130, 40), (300, 401)]
STRATEGIES = [{}, {"threads": 1}, {"threads": 3}, {"strategy": "cpu"}, {"strategy": "separable"}]


def planar(shape, dtype):
    return np.moveaxis(np.empty(shape[2:] + shape[:2], dtype), 0, 2)


PLAIN = np.zeros((40, 40), np.uint8)

# How an array lies in memory.
LAYOUTS = {
    "contiguous": np.empty,
    "planar": planar,
    "columns": lambda shape, dtype: np.empty((shape[1], shape[0], shape[2]), dtype).transpose(1, 0, 2),
    "upside-down": lambda shape, dtype: np.empty(shape, dtype)[::-1],
    "mirrored": lambda shape, dtype: np.empty(shape, dtype)[:, ::-1],
    "part": lambda shape, dtype: np.empty((shape[0] + 2, shape[1] + 3, shape[2] + 1), dtype)[1:-1, 2:-1, :shape[2]],
    "unaligned": lambda shape, dtype: np.empty(int(np.prod(shape)) * np.dtype(dtype).itemsize + 1, "u1")[1:].view(dtype).reshape(shape),
}


def laid(a, layout):
    """The array with that layout."""
    made = LAYOUTS[layout](a.shape, a.dtype)
    made[...] = a
    return made


def words_of(options):
    return [f"--{name.replace('_', '-')}" if value is True else f"--{name.replace('_', '-')}={value}" for name, value in options.items()]


class SameBytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._held = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        cls.folder = Path(cls._held.name)
        cls.agreed = collections.Counter()
        for name, text in FILES.items():
            (cls.folder / f"{name}.txt").write_text(text)

    @classmethod
    def tearDownClass(cls):
        cls._held.cleanup()

    def check(self, case):
        """Compares a case; False where both refuse it."""
        names = {name: str(self.folder / f"{name}.txt") for name in FILES}
        call, arguments, own, line = CALLS[case["call"]] if isinstance(case["call"], str) else case["call"]
        arguments = [x.format(**names) if isinstance(x, str) else x for x in arguments]
        command, bar, recipe = line.partition("|") if line.startswith("run|") else (line, "", "")
        words = [command, recipe] if bar else [word.format(**names) for word in line.split()]
        a = support.picture(case["size"] + (case["channels"],), case["dtype"], 5, case["kind"])
        options = {**case["border"], **case["mode"], **case["mapping"], **case["strategy"]}
        if options.get("border_value") == 1:
            options["border_value"] = {"uint8": 77, "uint16": 40000, "float32": 0.3}[case["dtype"]]
        depth = {"u8": "uint8", "u16": "uint16", "f32": "float32"}.get(options.get("depth"), case["dtype"])
        def describe(what):
            return f"{what}: convfilt {' '.join(words + words_of(options))}, {a.shape} {a.dtype}, {case}"

        given = a[:, :, [2, 1, 0, 3][:a.shape[2]]] if case["order"] == "bgr" and a.shape[2] >= 3 else a
        own = {**own, **options}
        if case["order"] == "bgr":
            own["order"] = "bgr"
        given = laid(given, case["layout"])
        if a.shape[2] == 1 and case["rank"] == 2:
            given = given[:, :, 0]
        elif case["rank"] == 4:
            given = given[None]
        before = given.tobytes()

        def called(**more):
            if call in (convfilt.apply, convfilt.run):
                return call(*arguments, given, **own, **more)
            return call(given, *arguments, **own, **more)

        try:
            result = called()
        except ValueError as error:
            # Both refuse it, and the program was asked often enough about such a message.
            message = re.sub(r"[0-9.e+-]+|'[^']*'", "_", str(error))
            self.agreed[message] += 1
            if self.agreed[message] > support.size(3, 30):
                return False
            expected = support.by_program(words + words_of(options), a, self.folder, depth, case["container"])
            if not isinstance(expected, str):
                raise AssertionError(describe(f"the module alone refuses: {error}")) from error
            return False
        expected = support.by_program(words + words_of(options), a, self.folder, depth, case["container"])
        if isinstance(expected, str):
            raise AssertionError(describe(f"the program alone refuses: {expected}"))
        self.assertEqual(given.tobytes(), before, describe("the input changes"))
        plain = result
        if case["rank"] == 4:
            self.assertEqual(result.ndim, 4, describe("a batch becomes a picture"))
            plain = plain[0]
        elif a.shape[2] == 1 and expected.shape[2] == 1:
            self.assertEqual(result.ndim, case["rank"], describe("the rank changes"))
        if plain.ndim == 2:
            plain = plain[:, :, None]
        if case["order"] == "bgr" and plain.shape[2] >= 3:
            plain = plain[:, :, [2, 1, 0, 3][:plain.shape[2]]]
        if not support.same(plain, expected):
            raise AssertionError(describe(support.difference(plain, expected)))
        # Into an array of the caller.
        if case["into"] is not None:
            full = result if result.ndim == 3 else result.reshape(plain.shape)
            out = LAYOUTS[case["into"]](full.shape, result.dtype)
            out[...] = 99
            out = out[:, :, 0] if result.ndim == 2 else out[None] if result.ndim == 4 else out
            again = called(out=out)
            self.assertIs(again, out, describe("out= is not what comes back"))
            if not support.same(out, result):
                raise AssertionError(describe("into out=: " + support.difference(out, result)))
        return True

    def cover(self, axes, seed, most_never):
        failures = []

        def run(case):
            try:
                return self.check(case)
            except AssertionError as error:
                failures.append(str(error))
                return True

        count, never = support.cover(axes, seed, run)
        print(f"{self.id()}: {count} cases ran; {len(never)} pairs of values are refused by both", flush=True)
        if failures:
            self.fail(f"{len(failures)} of {count} cases:\n" + "\n".join(failures[:12]))
        self.assertLess(len(never), most_never, "too many pairs are refused: " + "; ".join(never))

    AXES = {
        "call": list(CALLS),
        "dtype": list(support.DEPTHS),
        "channels": [3, 1, 4],
        "border": BORDERS,
        "mode": MODES,
        "mapping": MAPPINGS,
        "size": SIZES,
        "strategy": STRATEGIES,
        "kind": ["smooth", "noise", "wild"],
        "container": ["plain", "tiff"],
        "layout": list(LAYOUTS),
        "into": [None, *LAYOUTS],
        "order": ["rgb", "bgr"],
        "rank": [3, 2, 4],
    }

    def test_recipes(self):
        for seed in range(support.size(1, 4)):
            self.cover(self.AXES, seed, 400)

    def test_strategies(self):
        runners = [{}, {"device": "cpu"}, {"device": "emulator"}]
        for name in convfilt.strategies():
            devices = [device for device in ("emulator", "cpu") if not convfilt.refusal(name, "apply gaussian5", PLAIN, device)
                       or not convfilt.refusal(name, "blur --sigma 9", PLAIN, device)]
            runners += [{"strategy": name, "device": device} for device in devices[:support.size(1, 2)]]
        runners += [{"strategy": "tiled-in", "device": "emulator", "tile": 8}, {"strategy": "basic", "device": "emulator", "cache": "none"},
                    {"strategy": "tiled-out", "device": "emulator", "halo": "regions", "outputs": 1}]
        axes = {
            **self.AXES,
            "call": ["chain-of-one", "mask-text", "blur", "blur-pair", "edge", "sharpen-threshold", "mask-set"],
            "mapping": [{}, {"output": "abs"}, {"luma": True}],
            "size": [(21, 34), (1, 1), (2, 3), (40, 33)],
            "strategy": runners,
        }
        for seed in range(support.size(1, 4)):
            self.cover(axes, 100 + seed, 500)


if __name__ == "__main__":
    support.main()
