"""Many calls keep the memory that few have: results, masks, plans of many shapes, errors.

    CONVFILT_TEST_CALLS=100000 PYTHONPATH=build/release/python python tests/python/test_memory.py
"""

import gc
import os
import unittest

import numpy as np

import convfilt
import support

CALLS = int(os.environ.get("CONVFILT_TEST_CALLS", support.size(2000, 20000)))
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident():
    """Bytes of this process that lie in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE


@unittest.skipUnless(os.path.exists("/proc/self/statm"), "there is no /proc")
class Memory(unittest.TestCase):
    # Pools of the allocator fill at first; what leaks with each call is seen in what comes behind.
    MOST = 2 << 20

    def flat(self, call, calls=CALLS):
        for k in range(calls // 2):
            call(k)
        before = resident()
        for k in range(calls // 2, calls):
            call(k)
        grown = resident() - before
        print(f"{self.id()}: {calls} calls; the second half takes {grown / 1024:.0f} KiB", flush=True)
        self.assertLess(grown, self.MOST)

    def test_one_shape(self):
        a = support.picture((30, 40, 3), "uint8")
        out = np.empty_like(a)
        self.flat(lambda k: convfilt.blur(a, out=out if k % 2 else None, threads=1))

    def test_many_shapes(self):
        """More than the plans that are kept, with weights that are large beside the picture."""
        a = support.picture((40, 40, 3), "uint8")

        def call(k):
            convfilt.run(f"blur --sigma {3 + k % 7}", a[: 1 + k % 37, : 1 + k % 31], threads=1, border=("wrap", "reflect")[k % 2])

        self.flat(call)

    def test_large_results(self):
        """Their memory is kept for the next ones, up to a limit."""
        a = support.picture((900, 700, 3), "uint8")

        def call(k):
            convfilt.apply("box3", a[: 600 + k % 300], threads=1)

        for k in range(support.size(40, 600)):
            call(k)
        before = resident()
        for k in range(support.size(300, 3000)):
            call(k)
        self.assertLess(resident() - before, 300 << 20)

    def test_large_results_are_apart(self):
        a = support.picture((900, 700, 3), "uint8")
        kept = [(k, convfilt.apply([[k]], a, threads=1)[::2, :, k % 3]) for k in range(6)]
        for k in range(20):
            self.assertTrue(convfilt.apply([[k % 6]], a).flags.writeable)
        for k, view in kept:
            self.assertTrue((view == np.minimum(a.astype("u2") * k, 255)[::2, :, k % 3]).all(), f"the result of {k} changes")

    def test_masks(self):
        a = support.picture((8, 9), "float32")
        weights = np.ones((41, 43))

        def call(k):
            mask = convfilt.Mask(weights, 1 + k)
            convfilt.apply(mask.flipped(), a, threads=1)
            convfilt.Mask("1 2 3\n4 5 6")

        self.flat(call, CALLS // 4)

    def test_refusals(self):
        a = support.picture((30, 40, 3), "uint8")
        wrong = [lambda: convfilt.blur(a, -1), lambda: convfilt.blur(a.astype("f8")), lambda: convfilt.blur(a, border="x"),
                 lambda: convfilt.Mask("1 x"), lambda: convfilt.apply("no-such", a), lambda: convfilt.blur(a, out=a),
                 lambda: convfilt.blur(None), lambda: convfilt.run("blur |", a), lambda: convfilt.blur(a, strategy="winograd", sigma=9),
                 lambda: convfilt.refusal("fft", "blru", a), lambda: convfilt.Mask.from_file("/no/file"),
                 lambda: convfilt.blur(a, device="cuda:77"), lambda: convfilt.Mask([[np.nan]])]

        def call(k):
            try:
                wrong[k % len(wrong)]()
                self.fail(f"wrong call {k % len(wrong)} is taken")
            except (ValueError, TypeError, OSError, convfilt.DeviceError):
                pass

        self.flat(call)

    def test_errors_while_running(self):
        floats = support.picture((12, 13), "float32", kind="wild")

        def call(k):
            try:
                convfilt.apply("gaussian5", floats, strategy="fft", device="cpu", threads=1)
                self.fail("a picture with NaN is taken")
            except ValueError:
                pass

        self.flat(call, CALLS // 4)

    def test_texts(self):
        a = support.picture((12, 13), "uint8")

        def call(k):
            convfilt.strategies()
            convfilt.plan("blur --sigma 2", a)
            convfilt.refusal("tensor", "edge", a, "emulator")
            convfilt.Mask("1 2 1").weights

        self.flat(call, CALLS // 4)


if __name__ == "__main__":
    support.main()
