#!/usr/bin/env python3
"""The Python module on a GPU: arrays of PyTorch and CuPy get the bytes that numpy's get on the CPU, in the caller's stream,
without a copy. Run it on a machine with a GPU; PYTHONPATH names the module.

    tests/python/on_gpu.py
"""
import os
import random
import sys
import threading

if sys.argv[1:] in (["-h"], ["--help"]):
    print(__doc__)
    sys.exit()

import numpy as np  # noqa: E402
import torch  # noqa: E402

import convfilt  # noqa: E402

if not torch.cuda.is_available() or convfilt.gpus() == 0:
    print("skipped: there is no GPU here")
    sys.exit(77)
try:
    import cupy
except ImportError:
    cupy = None
    print("skipped CuPy: it is not installed")

try:
    import jax
except ImportError:
    jax = None
    print("skipped JAX: it is not installed")

rng = np.random.default_rng(7)
random.seed(7)
TORCH = {np.uint8: torch.uint8, np.uint16: torch.uint16, np.float32: torch.float32}
CHANNELS = (None, 1, 3)
ONE_MASK = ["blur", "blur --sigma 7", "blur --box 9", "blur --disk 4", "blur --motion 15@30", "sharpen", "apply emboss3", "apply box5 --flip"]
OTHERS = ["edge", "edge --method scharr --thin", "edge --method kirsch", "edge --method log --sigma 2", "edge --color --sigma 0 --gain 4",
          "blur --sigma 1.4 | edge", "sharpen | blur --box 3 | apply emboss3"]


def picture(shape, depth):
    if depth is np.float32:
        return rng.random(shape, dtype=np.float32)
    return rng.integers(0, np.iinfo(depth).max, shape, dtype=depth, endpoint=True)


def wanted(recipe, a, **options):
    return convfilt.run(recipe, a, device="cpu", **options)


checked = 0


def same(name, got, want):
    global checked
    checked += 1
    if got.shape != want.shape or got.dtype != want.dtype or got.tobytes() != want.tobytes():
        where = np.argwhere(got != want)[:3].tolist() if got.shape == want.shape else ""
        sys.exit(f"{name}: {got.dtype} {got.shape} is not {want.dtype} {want.shape} of the CPU, first at {where}")


def every_filter():
    for recipe in ONE_MASK + OTHERS:
        for depth in TORCH if recipe in ONE_MASK else (np.uint8,):
            for channels in CHANNELS:
                border = random.choice(["replicate", "constant", "reflect", "reflect101", "wrap"])
                mode = random.choice(["same", "valid", "full"])
                order = random.choice(["rgb", "bgr"])
                options = {"mode": mode, "order": order} | ({} if mode == "full" else {"border": border})
                shape = (random.randint(40, 300), random.randint(40, 300)) + ((channels,) if channels else ())
                a = picture(shape, depth)
                name = f"{recipe}, {shape}, {depth.__name__}, {options}"
                want = wanted(recipe, a, **options)
                got = convfilt.run(recipe, torch.from_numpy(a).cuda(), **options)
                assert got.is_cuda and isinstance(got, torch.Tensor), name
                same("torch: " + name, got.cpu().numpy(), want)
                if cupy:
                    got = convfilt.run(recipe, cupy.asarray(a), **options)
                    assert isinstance(got, cupy.ndarray), name
                    same("cupy: " + name, cupy.asnumpy(got), want)


def rows_and_batches():
    a = picture((5, 70, 90, 3), np.uint8)
    on_gpu = torch.from_numpy(a).cuda()
    same("batch", convfilt.blur(on_gpu).cpu().numpy(), convfilt.blur(a, device="cpu"))
    same("part", convfilt.blur(on_gpu[1, 5:60:2, 10:80]).cpu().numpy(), convfilt.blur(a[1, 5:60:2, 10:80], device="cpu"))
    same("every other picture", convfilt.blur(on_gpu[::2]).cpu().numpy(), convfilt.blur(a[::2], device="cpu"))
    out = torch.full((5, 80, 100, 3), 7, dtype=torch.uint8, device="cuda")
    inside = out[:, 4:74, 6:96]
    assert convfilt.blur(on_gpu, out=inside) is inside
    same("out", inside.cpu().numpy(), convfilt.blur(a, device="cpu"))
    if jax:
        got = convfilt.blur(jax.device_put(a[0], jax.devices("gpu")[0]))
        assert isinstance(got, jax.Array) and got.device.platform == "gpu", got
        same("jax", np.asarray(got), convfilt.blur(a[0], device="cpu"))
    whole = out.cpu().numpy()
    whole[:, 4:74, 6:96] = 7
    same("nothing outside out is written", whole, np.full_like(whole, 7))
    same("the input stays", on_gpu.cpu().numpy(), a)
    assert convfilt.blur(on_gpu[:0]).shape == (0, 70, 90, 3)


def streams():
    a = torch.zeros((3000, 4000, 3), dtype=torch.uint8, device="cuda")
    want = convfilt.blur(np.full((3000, 4000, 3), 99, np.uint8), device="cpu")
    for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)  # what the stream has before; the filter waits for it
            a.fill_(99)
            got = convfilt.blur(a)
            copied = got.clone()  # and what comes after waits for the filter
        stream.synchronize()
        same("stream", copied.cpu().numpy(), want)
        a.zero_()
        torch.cuda.synchronize()
    import time
    convfilt._plans._idle.clear()  # so that no plan is freed, which would wait
    convfilt.blur(a, 2.55)  # CUDA loads the kernels for this radius, 11, which would wait, too
    for sigma in (2.6, 2.6, 2.65, 2.7):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        first.record()
        torch.cuda._sleep(200_000_000)
        start = time.perf_counter()
        convfilt.blur(a, sigma)
        returned = (time.perf_counter() - start) * 1e3
        last.record()
        torch.cuda.synchronize()
        assert returned < first.elapsed_time(last) / 2, f"sigma {sigma} waits for the GPU: {returned} ms of {first.elapsed_time(last)}"


def threads():
    failures = []

    def work(seed):
        own = np.random.default_rng(seed)
        with torch.cuda.stream(torch.cuda.Stream()):
            for k in range(20):
                a = own.integers(0, 256, (50 + 10 * (k % 3), 80, 3), dtype=np.uint8)
                got = convfilt.blur(torch.from_numpy(a).cuda(), 1 + k % 4).cpu().numpy()
                if (got != convfilt.blur(a, 1 + k % 4, device="cpu")).any():
                    failures.append((seed, k))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not failures, failures


def errors():
    a = torch.zeros((20, 30, 3), dtype=torch.uint8, device="cuda")
    for what, words in [(lambda: convfilt.blur(a.permute(2, 0, 1)), "channels"), (lambda: convfilt.blur(a.double()), "float64"),
                        (lambda: convfilt.blur(a.permute(1, 2, 0)[..., :3]), "shape"), (lambda: convfilt.blur(torch.zeros((9, 9, 4), dtype=torch.uint8, device="cuda")), "alpha"),
                        (lambda: convfilt.edge(a.float()), "u8"), (lambda: convfilt.blur(a, device="cpu"), "device"),
                        (lambda: convfilt.blur(a, linear=True), "CPU"), (lambda: convfilt.blur(a, out=np.empty((20, 30, 3), np.uint8)), "device"),
                        (lambda: convfilt.blur(a, out=a), "overlaps"), (lambda: convfilt.blur(a[:, :, 0]), "side by side")]:
        try:
            what()
        except ValueError as error:
            assert words in str(error), f"'{words}' is not in: {error}"
        else:
            sys.exit(f"nothing is raised for '{words}'")


def flat():
    a = torch.zeros((300, 400, 3), dtype=torch.uint8, device="cuda")

    def used():
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        with open("/proc/self/statm") as file:
            return (total - free) >> 20, int(file.read().split()[1]) >> 8

    calls = int(os.environ.get("CALLS", "20000"))
    for k in range(200):
        convfilt.blur(a[: 100 + 10 * (k % 20)], 1 + k % 5)
    before = used()
    for k in range(calls):
        convfilt.blur(a[: 100 + 10 * (k % 20)], 1 + k % 5) if k % 10 == 0 else convfilt.blur(a)
    after = used()
    print(f"{calls} calls: MiB of the device {before[0]} -> {after[0]}, of the program {before[1]} -> {after[1]}")
    assert after[0] <= before[0] + 64 and after[1] <= before[1] + 32, "memory grows"


for part in (every_filter, rows_and_batches, streams, threads, errors, flat):
    part()
    print(f"{part.__name__}: passed", flush=True)
print(f"{torch.cuda.get_device_name()}: {checked} results with the bytes of the CPU")
