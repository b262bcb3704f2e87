"""Threads: many at once, the GIL, and the interpreter's end while others compute.

    PYTHONPATH=build/release/python python tests/python/test_threads.py
"""

import random
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import convfilt
import support


class Threads(unittest.TestCase):
    def test_many_at_once(self):
        recipes = ("blur --sigma 3", "edge", "sharpen --threshold 2", "apply unsharp5", "edge --method canny", "blur | edge --thin")
        cases = [(recipe, support.picture((20 + 13 * k, 90 - 7 * k, (1, 3, 4)[k % 3]), support.DEPTHS[k % 3], k), {"threads": k % 3})
                 for k in range(11) for recipe in recipes]
        expected = [convfilt.run(recipe, a, **options) for recipe, a, options in cases]
        failures = []

        def work(number):
            try:
                chance = np.random.default_rng(number)
                for turn in range(support.size(1, 8)):
                    for k in chance.permutation(len(cases)):
                        recipe, a, options = cases[k]
                        if chance.random() < 0.2:
                            try:
                                convfilt.run(recipe, a, border=f"none-{number}-{k}")
                                failures.append("a wrong border is taken")
                            except ValueError as error:  # this thread's own message
                                if f"none-{number}-{k}" not in str(error):
                                    failures.append(f"another thread's message: {error}")
                        out = np.empty_like(expected[k]) if chance.random() < 0.5 else None
                        result = convfilt.run(recipe, a, out=out, **options)
                        if not support.same(result, expected[k]):
                            failures.append(f"{recipe} {a.shape} {a.dtype}: {support.difference(result, expected[k])}")
            except BaseException as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(failures, "\n".join(failures[:10]))

    def test_one_input_by_many(self):
        """The same filter and shape at once: each call needs a plan for itself."""
        inputs = [support.picture((300, 200, 3), "uint8", k) for k in range(8)]
        mask = convfilt.Mask([[1, 2, 1], [2, 4, 2], [1, 2, 1]], 16)
        expected = [convfilt.apply(mask, a) for a in inputs]
        wrong = []

        def work(k):
            for _ in range(support.size(10, 200)):
                if not support.same(convfilt.apply(mask, inputs[k]), expected[k]):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(wrong)

    def test_the_gil_is_released(self):
        a = support.picture((220, 300, 3), "uint8")
        batch = np.broadcast_to(a, (24, *a.shape))
        counted, done = [], threading.Event()

        def count():
            while not done.is_set():
                counted.append(time.perf_counter())
                time.sleep(0.001)

        for what, call in (("a batch", lambda: convfilt.blur(batch, 30, threads=1)),
                           ("a picture", lambda: convfilt.run("edge --method kirsch --color", a, threads=1, strategy="scatter", device="emulator"))):
            counted.clear()
            done.clear()
            thread = threading.Thread(target=count)
            thread.start()
            begin = time.perf_counter()
            call()
            end = time.perf_counter()
            done.set()
            thread.join()
            inside = sum(begin < at < end for at in counted)
            # A thousand a second where a core is free, some on a busy machine, and none under the lock.
            self.assertGreater(inside, 5, f"{what}: the other thread counted to {inside} in {end - begin:.3f} s")

    def test_the_interpreter_ends_while_threads_compute(self):
        script = ("import threading, time, numpy as np, convfilt\n"
                  "def work(k):\n"
                  "    a = np.full((200 + k, 300, 3), k, 'u1')\n"
                  "    while True:\n"
                  "        convfilt.blur(a, 1 + k)\n"
                  "        try: convfilt.blur(a, -1)\n"
                  "        except ValueError: pass\n"
                  "for k in range(4): threading.Thread(target=work, args=(k,), daemon=True).start()\n"
                  "time.sleep({})\n"
                  "print('end')\n")
        for k in range(support.size(4, 30)):
            done = subprocess.run([sys.executable, "-c", script.format(0.02 * (k % 5 + 1))], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "end\n"), done.stderr[-2000:])
            self.assertEqual(done.stderr, "")

    def test_a_fork(self):
        """What multiprocessing does: a child that only computes after the fork."""
        script = ("import os, numpy as np, convfilt\n"
                  "a = np.arange(300 * 200 * 3, dtype='u4').astype('u1').reshape(300, 200, 3)\n"
                  "expected = convfilt.blur(a)\n"
                  "child = os.fork()\n"
                  "if child == 0: os._exit(0 if (convfilt.blur(a) == expected).all() else 1)\n"
                  "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Interrupts(unittest.TestCase):
    """Ctrl-C, and other signals, at any time."""

    def setUp(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        self.before = signal.signal(signal.SIGALRM, interrupt)

    def tearDown(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)

    def test_calls_work_after_interrupts(self):
        a = support.picture((9, 8), "uint8")
        wanted = convfilt.blur(a, 1.5).tobytes()
        chance = random.Random(5)
        interrupts = 0
        end = time.monotonic() + (2 if support.SHORT else 20)
        while time.monotonic() < end or (interrupts <= 100 and time.monotonic() < end + 60):
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 4e-4))
                for _ in range(1000):
                    convfilt.blur(a, 1.5)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupts += 1
        self.assertGreater(interrupts, 100)
        self.assertEqual(convfilt.blur(a, 1.5).tobytes(), wanted)

    def test_a_batch_ends(self):
        a = np.broadcast_to(support.picture((500, 700), "uint8")[None, :, :, None], (3000, 500, 700, 1))
        out = np.empty((3000, 500, 700, 1), a.dtype)
        start, began = time.process_time(), time.monotonic()  # a busy machine may give others the time
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaises(KeyboardInterrupt):
            convfilt.blur(a, disk=20, threads=1, out=out)
        self.assertLess(time.process_time() - start, 3)  # all of it takes longer
        self.assertLess(time.monotonic() - began, 60)


if __name__ == "__main__":
    support.main()
