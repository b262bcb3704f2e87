#!/usr/bin/env python3
"""The Python module beside others on the same arrays: OpenCV, SciPy and scikit-image on the CPU, and with a GPU kornia, CV-CUDA
and CuPy. What is not installed is left out, with a line. Prints tables in Markdown.

    tests/bench/peers/python.py [ROUNDS]     PYTHONPATH names the module, CONVFILT the program
"""
import importlib
import json
import os
import statistics
import subprocess
import sys
import time

if len(sys.argv) > 1 and sys.argv[1] in ("-h", "--help"):
    print(__doc__)
    sys.exit()

import numpy as np  # noqa: E402

import convfilt  # noqa: E402

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
SIGMA = 2
cores = len(os.sched_getaffinity(0))


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"left out: {name} ({error})")
        return None


def least(calls):
    """The least milliseconds of each call; they take turns, so that all meet the same machine."""
    times = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: min(each) for name, each in times.items()}


def library_ms():
    """What the library's own plan takes in C++, by `convfilt compare` on noise of the same shape."""
    program = os.environ.get("CONVFILT", "convfilt")
    made = subprocess.run([program, "mask", "make", "gaussian", "--sigma", str(SIGMA)], capture_output=True, text=True, check=True)
    with open("/tmp/convfilt-bench-mask.txt", "w") as file:
        file.write(made.stdout)
    said = subprocess.run([program, "compare", "--size", "4000x3000", "--channels", "3", "--mask", "/tmp/convfilt-bench-mask.txt",
                           "--strategies", "auto", "--device", "cpu", "--json", "--repeats", str(ROUNDS)],
                          capture_output=True, text=True, check=True)
    row = json.loads(said.stdout)["comparisons"][0]["rows"][0]
    return row["kernel_ms_median"]


def on_cpu():
    cv2, ndimage, skimage = module("cv2"), module("scipy.ndimage"), module("skimage.filters")
    a = np.random.default_rng(1).integers(0, 256, (3000, 4000, 3), dtype=np.uint8)
    out = np.empty_like(a)
    calls = {"convfilt": lambda: convfilt.blur(a, SIGMA, device="cpu"), "convfilt, out=": lambda: convfilt.blur(a, SIGMA, device="cpu", out=out)}
    if cv2:
        calls["cv2.GaussianBlur"] = lambda: cv2.GaussianBlur(a, (0, 0), SIGMA)
    if ndimage:
        calls["scipy.ndimage.gaussian_filter"] = lambda: ndimage.gaussian_filter(a, (SIGMA, SIGMA, 0))
    if skimage:
        calls["skimage.filters.gaussian"] = lambda: skimage.gaussian(a, SIGMA, channel_axis=2)
    times = least(calls)
    own = times["convfilt"]
    print(f"\n{cores} cores, 12 megapixels, uint8 x 3, blur of sigma {SIGMA}, least of {ROUNDS}; the library in C++: {library_ms():.1f} ms")
    print("\n| | ms | x convfilt |\n|---|---:|---:|")
    for name, ms in times.items():
        print(f"| {name} | {ms:.1f} | {ms / own:.2f} |")
    small = np.zeros((16, 16), np.uint8)
    convfilt.blur(small)
    start = time.perf_counter()
    for _ in range(5000):
        convfilt.blur(small)
    print(f"\na call on 16 x 16 samples: {(time.perf_counter() - start) / 5000 * 1e6:.1f} us")


def on_gpu():
    torch = module("torch")
    if not torch or not torch.cuda.is_available() or not convfilt.gpus():
        print("left out: arrays on a GPU (there is none here)")
        return
    cupy, kornia, cvcuda = module("cupy"), module("kornia"), module("cvcuda")
    ndimage = module("cupyx.scipy.ndimage") if cupy else None
    a = torch.randint(0, 256, (3000, 4000, 3), dtype=torch.uint8, device="cuda")
    copy = torch.empty_like(a)
    out = torch.empty_like(a)
    calls = {"a device copy": lambda: copy.copy_(a), "convfilt": lambda: convfilt.blur(a, SIGMA),
             "convfilt, out=": lambda: convfilt.blur(a, SIGMA, out=out)}
    if cupy:
        of_cupy = cupy.asarray(a)
        calls["convfilt, CuPy"] = lambda: convfilt.blur(of_cupy, SIGMA)
        assert (cupy.asnumpy(convfilt.blur(of_cupy, SIGMA)) == convfilt.blur(a, SIGMA).cpu().numpy()).all()
    if ndimage:
        calls["cupyx.scipy.ndimage.gaussian_filter"] = lambda: ndimage.gaussian_filter(of_cupy, (SIGMA, SIGMA, 0))
    if kornia:
        floats = a.permute(2, 0, 1)[None].float().contiguous()
        calls["kornia (floats, NCHW)"] = lambda: kornia.filters.gaussian_blur2d(floats, (13, 13), (SIGMA, SIGMA))
    if cvcuda:
        tensor = cvcuda.as_tensor(a[None], "NHWC")
        stream = cvcuda.as_stream(torch.cuda.current_stream().cuda_stream)
        calls["CV-CUDA"] = lambda: cvcuda.gaussian(tensor, (13, 13), (SIGMA, SIGMA), stream=stream)
    same = (convfilt.blur(a, SIGMA).cpu().numpy() == convfilt.blur(a.cpu().numpy(), SIGMA, device="cpu")).all()
    print(f"\n{torch.cuda.get_device_name()}, 12 megapixels, uint8 x 3, blur of sigma {SIGMA}; the bytes of the CPU: {bool(same)}")
    print("\n| | us of GPU time a call | us until the call returns |\n|---|---:|---:|")
    for name, call in calls.items():
        for _ in range(5):
            call()
        gpu, host = [], []
        for _ in range(ROUNDS):
            torch.cuda.synchronize()
            first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            first.record()
            for _ in range(20):
                call()
            last.record()
            torch.cuda.synchronize()
            gpu.append(first.elapsed_time(last) / 20 * 1e3)
            start = time.perf_counter()
            call()
            host.append((time.perf_counter() - start) * 1e6)
        print(f"| {name} | {statistics.median(gpu):.1f} | {statistics.median(host):.1f} |")
    # What a call costs beside its kernel: small pictures, whose kernels take less than a call.
    tiny = torch.zeros((64, 64), dtype=torch.uint8, device="cuda")
    into = torch.empty_like(tiny)
    for what, call in {"a call": lambda: convfilt.blur(tiny, SIGMA), "a call with out=": lambda: convfilt.blur(tiny, SIGMA, out=into),
                       "torch's own copy": lambda: into.copy_(tiny)}.items():
        for _ in range(20):
            call()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(200):
            call()
        spent = (time.perf_counter() - start) / 200 * 1e6
        torch.cuda.synchronize()
        print(f"{what} on 64 x 64 samples returns in {spent:.1f} us")


on_cpu()
on_gpu()
