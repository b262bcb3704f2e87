#!/usr/bin/env python3
"""Python's convolutions on a GPU beside a device copy of the same bytes, each checked against a slow sum on the CPU.

    gpu_peers.py [SIDE [MASK_SIDE...]]

CuPy's ndimage.convolve, PyTorch's conv2d and OpenCV's linear filter in its CUDA modules, those that can be imported; a
line of "skipped" or "failed" on standard error says why the others are not there. A line a figure, as npp.cu writes it:
peer, depth, channels, mask side, time in device copies, largest difference (in steps, or for f32 in 1e-6 of max |in|).
"""
import random
import statistics
import sys

REPEATS, FEW, WARMUPS, SLOW_MS = 21, 3, 3, 20.0
CROP = 6  # results a side, from the middle, that are summed here
# What a peer may be off: integers cut off instead of rounded, from sums of floats, whose roundings count in 16 bits.
MOST = {"u8": 1.01, "u16": 1.05, "f32": 100}
FULL = {"u8": 255, "u16": 65535, "f32": 1.0}


def mask_of(side):
    """Any mask: full rank, positive so that nothing wraps, a sum of 1; rows of numbers."""
    numbers = random.Random(1)
    rows = [[numbers.random() for _ in range(side)] for _ in range(side)]
    total = sum(map(sum, rows))
    return [[weight / total for weight in row] for row in rows]


def median_ms(time_runs):
    """time_runs(n): milliseconds of n runs that do not wait for each other."""
    few = statistics.median(time_runs(FEW + WARMUPS)[WARMUPS:])
    return few if few > SLOW_MS else statistics.median(time_runs(REPEATS + WARMUPS)[WARMUPS:])


def difference(depth, mask, crop, result):
    """The largest difference of the result from the sum over the crop, the mask as it is or turned."""
    side = len(mask)
    turned = [row[::-1] for row in mask[::-1]]
    unit = 1e-6 if depth == "f32" else 1
    return min(
        max(abs(sum(weights[j][i] * crop[y + j][x + i] for j in range(side) for i in range(side)) - result[y][x])
            for y in range(CROP) for x in range(CROP)) / unit
        for weights in (mask, turned))


def report(peer, depth, channels, side, masks, prepare, time_copy):
    """prepare(mask): time_runs, and a function (y, x, height, width) -> rows of the picture's or the result's channel 0."""
    copy_ms = median_ms(time_copy)
    for mask_side in masks:
        mask = mask_of(mask_side)
        time_runs, picture_rows, result_rows = prepare(mask)
        ms = median_ms(time_runs)
        at, radius = side // 2, mask_side // 2
        crop = picture_rows(at - radius, at - radius, CROP + mask_side - 1)
        off = difference(depth, mask, crop, result_rows(at, at, CROP))
        print(f"{peer},{depth},{channels},{mask_side},{ms / copy_ms:.3f},{off:.3f}", flush=True)
        if not off <= MOST[depth]:
            raise RuntimeError(f"{depth} {channels} channels {mask_side}x{mask_side}: off by {off}")


def cupy_peer(side, masks):
    import cupy
    from cupyx.scipy import ndimage

    def timer(work):
        def time_runs(count):
            events = [(cupy.cuda.Event(), cupy.cuda.Event()) for _ in range(count)]
            for start, stop in events:
                start.record()
                work()
                stop.record()
            cupy.cuda.Device().synchronize()
            return [cupy.cuda.get_elapsed_time(start, stop) for start, stop in events]
        return time_runs

    types = {"u8": cupy.uint8, "u16": cupy.uint16, "f32": cupy.float32}
    for depth, channels in ((depth, channels) for depth in types for channels in (1, 3)):
        shape = (side, side) if channels == 1 else (side, side, channels)
        picture = (cupy.random.random(shape, dtype=cupy.float32) * FULL[depth]).astype(types[depth])
        result = cupy.empty_like(picture)

        def rows(array):
            plane = array if array.ndim == 2 else array[:, :, 0]
            return lambda y, x, n: plane[y:y + n, x:x + n].get().astype(float).tolist()

        def prepare(mask):
            weights = cupy.asarray(mask, dtype=cupy.float32)
            weights = weights if channels == 1 else weights[:, :, None]
            return (timer(lambda: ndimage.convolve(picture, weights, output=result, mode="nearest")), rows(picture),
                    rows(result))

        report("CuPy ndimage.convolve", depth, channels, side, masks, prepare,
               timer(lambda: result.data.copy_from_device_async(picture.data, picture.nbytes,
                                                                cupy.cuda.get_current_stream())))


def torch_peer(side, masks):
    import torch

    if not torch.cuda.is_available():
        raise ImportError("torch sees no CUDA device")
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False

    def timer(work):
        def time_runs(count):
            events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
            for start, stop in events:
                start.record()
                work()
                stop.record()
            torch.cuda.synchronize()
            return [start.elapsed_time(stop) for start, stop in events]
        return time_runs

    for channels in (1, 3):
        picture = torch.rand(1, channels, side, side, device="cuda")
        results = [torch.empty_like(picture)]

        def rows(array_of):
            return lambda y, x, n: array_of()[0, 0, y:y + n, x:x + n].cpu().double().tolist()

        def prepare(mask):
            weights = torch.tensor(mask, device="cuda").expand(channels, 1, len(mask), len(mask)).contiguous()

            def work():
                results[0] = torch.nn.functional.conv2d(picture, weights, padding=len(mask) // 2, groups=channels)
            return timer(work), rows(lambda: picture), rows(lambda: results[0])

        with torch.no_grad():
            report("PyTorch conv2d", "f32", channels, side, masks, prepare, timer(lambda: results[0].copy_(picture)))


def opencv_peer(side, masks):
    import cv2
    import numpy

    if cv2.cuda.getCudaEnabledDeviceCount() == 0:
        raise ImportError("this OpenCV has no CUDA, or sees no device")
    stream = cv2.cuda.Stream()

    def timer(work):
        def time_runs(count):
            events = [(cv2.cuda.Event(), cv2.cuda.Event()) for _ in range(count)]
            for start, stop in events:
                start.record(stream)
                work()
                stop.record(stream)
            stream.waitForCompletion()
            return [cv2.cuda.Event.elapsedTime(start, stop) for start, stop in events]
        return time_runs

    kinds = {"u8": (cv2.CV_8UC1, numpy.uint8), "u16": (cv2.CV_16UC1, numpy.uint16), "f32": (cv2.CV_32FC1, numpy.float32)}
    for depth, (kind, of) in kinds.items():
        host = (numpy.random.default_rng(1).random((side, side), dtype=numpy.float32) * FULL[depth]).astype(of)
        picture, result = cv2.cuda.GpuMat(), cv2.cuda.GpuMat(side, side, kind)
        picture.upload(host)

        def prepare(mask):
            linear = cv2.cuda.createLinearFilter(kind, kind, numpy.array(mask, numpy.float32), (-1, -1),
                                                 cv2.BORDER_REPLICATE)
            return (timer(lambda: linear.apply(picture, result, stream)),
                    lambda y, x, n: host[y:y + n, x:x + n].astype(float).tolist(),
                    lambda y, x, n: result.download()[y:y + n, x:x + n].astype(float).tolist())

        report("OpenCV-CUDA linear filter", depth, 1, side, masks, prepare,
               timer(lambda: picture.copyTo(stream, result)))


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        return
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
    masks = [int(word) for word in sys.argv[2:]] or [3, 5, 7, 9, 15, 31, 63]
    failed = False
    for name, peer in (("CuPy", cupy_peer), ("PyTorch", torch_peer), ("OpenCV-CUDA", opencv_peer)):
        try:
            peer(side, masks)
        except ImportError as error:
            print(f"skipped {name}: {error}", file=sys.stderr)
        except Exception as error:  # a peer that breaks is not ours to mend, but to tell
            print(f"failed {name}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
