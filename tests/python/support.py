"""What the tests of the Python module share: sizes, pairs, pictures as files, and the program."""

from __future__ import annotations

import itertools
import os
import random
import struct
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

SHORT = os.environ.get("CONVFILT_TEST_SIZE") in ("short", "least")
DEPTHS = ("uint8", "uint16", "float32")

# The user's own defaults would change what the program does.
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
for name in ("STRATEGY", "DEVICE", "THREADS", "PITCH", "BORDER", "ON_DAMAGE", "MAX_PIXELS"):
    os.environ.pop(f"CONVFILT_{name}", None)


def size(short: int, full: int) -> int:
    return short if SHORT else full


def cover(axes: dict[str, list], seed: int, run, tries: int = 4) -> tuple[int, list[str]]:
    """Calls run(case) until every two values of two axes were together in a case that ran.

    A case is a dict of a value of each axis. run() returns False for one that is refused; then the pair is tried in
    others, with more and more of the other axes at their first values. Returns how many cases ran, and the pairs that
    none of those tries could run. The same axes and seed give the same cases.
    """
    chance = random.Random(seed)
    names = list(axes)
    missing = {(i, a, j, b) for i, j in itertools.combinations(range(len(names)), 2)
               for a in range(len(axes[names[i]])) for b in range(len(axes[names[j]]))}
    order = sorted(missing)
    chance.shuffle(order)
    ran, never = 0, []
    for pair in order:
        for attempt in range(tries):
            if pair not in missing:
                break
            case = {pair[0]: pair[1], pair[2]: pair[3]}
            others = [k for k in range(len(names)) if k not in case]
            chance.shuffle(others)
            for k in others:
                values = range(len(axes[names[k]]))
                if chance.random() < attempt / (tries - 1):
                    case[k] = 0
                    continue

                def adds(value: int) -> tuple[int, float]:
                    new = sum(((i, a, k, value) if i < k else (k, value, i, a)) in missing for i, a in case.items())
                    return new, chance.random()

                case[k] = max(values, key=adds)
            if run({names[k]: axes[names[k]][v] for k, v in case.items()}):
                ran += 1
                missing -= {(i, case[i], j, case[j]) for i, j in itertools.combinations(range(len(names)), 2)}
        if pair in missing:
            missing.discard(pair)
            never.append(f"{names[pair[0]]}={axes[names[pair[0]]][pair[1]]} {names[pair[2]]}={axes[names[pair[2]]][pair[3]]}")
    return ran, never


# ---- Pictures ----


def picture(shape: tuple[int, ...], dtype: str, seed: int = 0, kind: str = "noise") -> np.ndarray:
    """A picture: noise over the whole range, or smooth with a little noise; "wild" floats have NaN, infinity and others."""
    chance = np.random.default_rng([seed, *shape])
    most = {"uint8": 255, "uint16": 65535, "float32": 1}[dtype]
    if kind == "smooth":
        y, x = np.mgrid[0:shape[0], 0:shape[1]]
        slope = 0.5 + 0.2 * np.sin(y / 9.0) * np.cos(x / 7.0)
        values = slope.reshape(slope.shape + (1,) * (len(shape) - 2)) + 0.1 * chance.random(shape)
    else:
        values = chance.random(shape)
    if dtype != "float32":
        return (values * most + 0.5).astype(dtype)
    made = values.astype(dtype)
    if kind == "wild":
        flat = made.reshape(-1)
        for k, value in enumerate((np.nan, np.inf, -np.inf, -0.0, 1e-42, 3e38, -2.5, 17.0)):
            flat[(k * 7919 + seed) % flat.size] = value
    return made


# ---- Files ----


def _tiff(a: np.ndarray) -> bytes:
    """Little-endian, one strip, not compressed; a fourth channel is alpha that is not premultiplied."""
    height, width, channels = a.shape
    pixels = np.ascontiguousarray(a, a.dtype.newbyteorder("<")).tobytes()
    entries, extra, at = [], b"", 8 + 2 + 12 * (11 if channels == 4 else 10) + 4

    def entry(tag: int, kind: int, *values: int) -> None:
        nonlocal extra
        packed = b"".join(struct.pack("<H" if kind == 3 else "<I", v) for v in values)
        if len(packed) > 4:
            where, extra = at + len(extra), extra + packed
            packed = struct.pack("<I", where)
        entries.append(struct.pack("<HHI", tag, kind, len(values)) + packed.ljust(4, b"\0"))

    entry(256, 4, width)
    entry(257, 4, height)
    entry(258, 3, *[a.itemsize * 8] * channels)
    entry(259, 3, 1)
    entry(262, 3, 1 if channels == 1 else 2)
    entry(273, 4, at + 2 * channels * 2)
    entry(277, 3, channels)
    entry(278, 4, height)
    entry(279, 4, len(pixels))
    if channels == 4:
        entry(338, 3, 2)
    entry(339, 3, *[3 if a.dtype.kind == "f" else 1] * channels)
    extra = extra.ljust(2 * channels * 2, b"\0")
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + b"".join(entries) + b"\0\0\0\0" + extra + pixels


def _from_tiff(data: bytes) -> np.ndarray:
    mark = {b"II": "<", b"MM": ">"}[data[:2]]
    at, = struct.unpack_from(mark + "I", data, 4)
    tags = {}
    for k in range(struct.unpack_from(mark + "H", data, at)[0]):
        tag, kind, count = struct.unpack_from(mark + "HHI", data, at + 2 + 12 * k)
        form = {1: "B", 3: "H", 4: "I"}.get(kind)
        if form is None:
            continue
        start = at + 2 + 12 * k + 8
        if struct.calcsize(form) * count > 4:
            start, = struct.unpack_from(mark + "I", data, start)
        tags[tag] = struct.unpack_from(f"{mark}{count}{form}", data, start)
    assert tags[259] == (1,), f"compression {tags[259]}"
    assert tags.get(284, (1,)) == (1,), "planes"
    channels = tags.get(277, (1,))[0]
    kind = "f" if tags.get(339, (1,))[0] == 3 else "u"
    raw = b"".join(data[s:s + n] for s, n in zip(tags[273], tags[279]))
    a = np.frombuffer(raw, f"{mark}{kind}{tags[258][0] // 8}")
    return a.astype(a.dtype.newbyteorder("=")).reshape(tags[257][0], tags[256][0], channels)


def suffix(dtype: str, channels: int) -> str:
    """The ending of the plainest format for such pictures."""
    if channels == 4:
        return ".tif" if dtype == "float32" else ".pam"
    return ".pfm" if dtype == "float32" else ".pnm"


def write(path: Path, a: np.ndarray) -> None:
    """Writes rows x columns x channels in the format that the name tells."""
    height, width, channels = a.shape
    if path.suffix == ".tif":
        path.write_bytes(_tiff(a))
    elif path.suffix == ".pfm":  # from the bottom up
        path.write_bytes(b"%s\n%d %d\n-1.0\n" % (b"Pf" if channels == 1 else b"PF", width, height)
                         + a[::-1].astype("<f4").tobytes())
    else:
        most = 255 if a.itemsize == 1 else 65535
        if path.suffix == ".pam":
            kind = {1: b"GRAYSCALE", 3: b"RGB", 4: b"RGB_ALPHA"}[channels]
            head = b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n" % (width, height, channels, most, kind)
        else:
            head = b"%s\n%d %d\n%d\n" % (b"P5" if channels == 1 else b"P6", width, height, most)
        path.write_bytes(head + a.astype(a.dtype.newbyteorder(">")).tobytes())


def read(path: Path) -> np.ndarray:
    """What write() writes, and the program."""
    data = path.read_bytes()
    if data[:2] in (b"II", b"MM"):
        return _from_tiff(data)
    if data[:2] == b"P7":
        head, _, body = data.partition(b"ENDHDR\n")
        of = dict(line.split(None, 1) for line in head.split(b"\n")[1:] if line)
        width, height, channels, most = (int(of[k]) for k in (b"WIDTH", b"HEIGHT", b"DEPTH", b"MAXVAL"))
    else:
        words, at = [], 0
        while len(words) < 4:  # the program writes no comments
            end = at
            while not data[end:end + 1].isspace():
                end += 1
            words.append(data[at:end])
            at = end + 1
        width, height, body = int(words[1]), int(words[2]), data[at:]
        channels = 1 if words[0] in (b"P5", b"Pf") else 3
        if words[0] in (b"Pf", b"PF"):
            a = np.frombuffer(body, "<f4" if float(words[3]) < 0 else ">f4").astype(np.float32)
            return a.reshape(height, width, channels)[::-1]
        assert words[0] in (b"P5", b"P6"), words[0]
        most = int(words[3])
    assert most in (255, 65535), most
    a = np.frombuffer(body, ">u2" if most > 255 else "u1")
    return a.astype(a.dtype.newbyteorder("=")).reshape(height, width, channels)


# ---- The program ----


def program() -> str:
    named = os.environ.get("CONVFILT")
    if not named:
        raise unittest.SkipTest("CONVFILT names no program")
    return named


def by_program(words: list[str], a: np.ndarray, folder: Path, result_dtype: str | None = None,
               container: str = "plain") -> np.ndarray | str:
    """The program's result for rows x columns x channels, or its message where it refuses."""
    channels, dtype = a.shape[2], a.dtype.name
    into = result_dtype or dtype
    source = folder / ("in" + (".tif" if container == "tiff" else suffix(dtype, channels)))
    target = folder / ("out" + suffix(into, channels))
    target.unlink(missing_ok=True)
    write(source, a)
    more = ["--compression=0"] if target.suffix == ".tif" else []
    command, *rest = words
    # A mask or recipe stands before the files.
    done = subprocess.run([program(), command, *rest, str(source), str(target), *more], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        return done.stderr.strip()
    if done.returncode != 0 or not target.exists():
        raise AssertionError(f"convfilt {' '.join(words)} ends with {done.returncode}: {done.stderr}")
    return read(target)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same type, shape and bytes; any NaN is a NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind != "f":
        return False
    nan = np.isnan(a)
    return bool((nan == np.isnan(b)).all()) and np.where(nan, 0, a).tobytes() == np.where(nan, 0, b).tobytes()


def difference(a: np.ndarray, b: np.ndarray) -> str:
    """Where two arrays differ, for a message."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {a.shape} beside {b.dtype} {b.shape}"
    at = np.argwhere((a != b) & ~((a != a) & (b != b)))
    if not len(at):
        return "they differ in the bytes of zeros or NaNs alone"
    first = tuple(at[0])
    return f"{len(at)} of {a.size} samples differ, the first at {tuple(map(int, first))}: {a[first]} beside {b[first]}"


def main() -> None:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(sys.modules["__main__"].__doc__)
        return
    unittest.main()
