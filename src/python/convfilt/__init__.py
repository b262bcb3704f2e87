"""convfilt: exact, fast 2D convolution of pictures.

    import convfilt
    soft = convfilt.blur(picture, sigma=2)
    edges = convfilt.run("blur --sigma 1.4 | edge --method scharr --thin", picture)

Pictures are arrays: numpy's, and others by DLPack and __cuda_array_interface__ (PyTorch, CuPy, JAX). They are uint8,
uint16 or float32 (from 0 to 1); rows x columns, rows x columns x channels, or batches of the latter; with 1, 3 (red,
green, blue) or 4 channels (and alpha, not premultiplied, by which colours are weighted). Strides may have any sign; on a GPU pixels and channels lie side
by side. The result is a new array of the same kind and on the same device, and has the bytes that the command line
writes, if no defaults of yours (CONVFILT_BORDER, config.toml) change that one's options. On a GPU the work is queued in the
current stream of the array's library; every filter takes uint8 there, and filters of one mask uint16 and float32, too, without
the transforms that very large masks have on the CPU.

Options of all filters:
    border        "replicate" (default), "constant", "reflect", "reflect101" or "wrap"
    border_value  the sample outside the picture, with border="constant"
    mode          "same" (default), "valid" or "full"
    strategy      the way to convolve: "auto" (default) or a name of convfilt.strategies(); its settings, such as tile
    device        for arrays in host memory: "auto" (default), "cpu", "cuda", "cuda:1" or "emulator"
    threads       CPU threads; 0 (default) is all cores
    linear        filter light instead of samples, by the curve of sRGB
    luma          filter luma alone
    output        responses below 0: "clamp" (default; results of floats keep them), "abs" or "signed" (half of each, from the
                  middle of the range)
    depth         the result's: "u8", "u16" or "f32"; by default the picture's
    order         "rgb" (default), or "bgr" for arrays that OpenCV has read
    out           the array that gets the result, instead of a new one

Errors: ValueError for what is not possible, OSError for a file, DeviceError for a GPU, TypeError for what is no array. A
message says what is wrong and what is allowed.
"""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Any, Mapping, Sequence, TypedDict, Union

import numpy as np

from . import _core
from ._arrays import BYTES, NAMES, Array, Kind, array_of
from ._core import DeviceError
from ._program import Comparison, Explanation, compare, explain, try_kernel

if TYPE_CHECKING:
    from typing_extensions import Unpack

__version__ = _core.version()
__all__ = ["DeviceError", "Mask", "apply", "blur", "compare", "edge", "explain", "gpus", "plan", "refusal", "run", "sharpen",
           "strategies", "try_kernel"]


class Settings(TypedDict, total=False):
    """Settings of a strategy that is named; `convfilt list strategies` has those of each."""

    halo: str | None
    tile: int | str | None
    outputs: int | None
    idle: str | None
    mask_memory: str | None
    cache: str | None
    texture: str | None
    gemm: str | None
    domain: str | None
    accumulate: str | None
    block: int | None
    part: int | None
    steps: int | None


class Options(Settings, total=False):
    """Options of all filters, and settings of strategies; None is the default."""

    border: str | None
    border_value: float | None
    mode: str | None
    strategy: str | None
    device: str | None
    threads: int | None
    linear: bool | None
    luma: bool | None
    output: str | None
    depth: str | None
    order: str | None
    out: Any


class Mask:
    """A mask: text in the grammar of mask files, or rows of weights.

    Mask("scale: 16\\n1 2 1\\n2 4 2\\n1 2 1"), Mask([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]), Mask(weights, divisor=9),
    Mask(mask), Mask.from_file("my_mask.txt"), Mask.from_file("emboss3"). Weights apply as written (correlation); flipped() is for
    true convolution. At most 1025 x 1025 finite weights.
    """

    def __init__(self, weights: Any, divisor: float = 1) -> None:
        if isinstance(weights, str):
            if divisor != 1:
                raise ValueError("divisor: a text has its own; leave it out")
            try:
                self._mask = _core.Mask(weights)
            except OSError as error:  # the C interface's error for files that hold no mask
                is_word = weights != "" and not any(letter.isspace() for letter in weights)
                hint = "Mask.from_file() takes the names of masks and files, and Mask() takes weights; " if is_word else ""
                raise ValueError(hint + str(error)) from None
            return
        if isinstance(weights, Mask):
            if divisor != 1:
                raise ValueError("divisor: a mask has its own; leave it out")
            self._mask = weights._mask
            return
        self._mask = _core.Mask(_rows(weights), float(divisor))

    @classmethod
    def _of(cls, mask: _core.Mask) -> Mask:
        made = cls.__new__(cls)
        made._mask = mask
        return made

    @classmethod
    def from_file(cls, path_or_name: str | os.PathLike[str]) -> Mask:
        return cls._of(_core.Mask.from_file(os.fspath(path_or_name)))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._mask.shape()

    @property
    def weights(self) -> np.ndarray:
        """The weights, divided by the divisor; float64."""
        return np.array(self._mask.weights())

    def flipped(self) -> Mask:
        """The mask turned by 180 degrees."""
        return Mask._of(self._mask.flipped())

    def normalized(self) -> Mask:
        """The mask with weights that sum to 1, or whose positive ones do where all sum to 0."""
        return Mask._of(self._mask.normalized())

    def __reduce__(self) -> Any:
        """How it is made again, in a copy or in another process: its weights alone lack the divisor, the offset and the anchor."""
        return Mask, (self._mask.text(),)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"convfilt.Mask({self.weights.tolist()})" if rows * columns <= 49 else f"<convfilt.Mask of {rows} x {columns} weights>"


def _rows(weights: Any) -> np.ndarray:
    cause = None
    try:
        given = np.asanyarray(weights)
        if given.dtype.kind in "biufO" and given.ndim == 2 and not isinstance(given, np.ma.MaskedArray):
            return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        cause = error
    what = type(weights).__name__ + "".join(f", {name} {getattr(weights, name)}" for name in ("shape", "dtype") if hasattr(weights, name))
    raise ValueError(f"weights: a mask is rows of equally many real numbers, not {what}; Mask.from_file() takes the names of masks "
                     "and files") from cause


# Plans are kept for a mask, not for its weights, so the same weights shall give the same mask, unless it is large.
_MOST_KEPT = 1 << 16  #: weights


@functools.lru_cache(maxsize=16)
def _mask_of(weights: bytes, shape: tuple[int, ...]) -> Mask:
    return Mask(np.frombuffer(weights).reshape(shape))


def _change(mask: Mask, normalize: bool, flip: bool) -> Mask:
    if normalize:
        mask = mask.normalized()
    return mask.flipped() if flip else mask


_changed = functools.lru_cache(maxsize=16)(_change)


def _word(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if value is True or value is False:
        return "true" if value else "false"
    return str(value)


def _quoted(word: str) -> str:
    """A word of a recipe; quotes may begin and end within one."""
    return "'" + word.replace("'", "'\"'\"'") + "'"


_FLAGS = ("flip", "normalize", "color", "thin")
_DEPTHS = {"uint8": "u8", "uint16": "u16", "float32": "f32"}


def _recipe(step: str, arguments: dict[str, Any]) -> str:
    """A step of a recipe: values that are None or False are left out."""
    for name, value in arguments.items():
        if value is None or value is False:  # most values, so this comes first
            continue
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if name in _FLAGS:
            value = bool(value)
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            step += " " + option
        elif isinstance(value, (tuple, list, np.ndarray)):
            step += f" {option} {_quoted(('@' if name == 'motion' else ',').join(map(_word, value)))}"
        elif isinstance(value, str):
            step += f" {option} {_quoted(value)}"
        else:
            step += f" {option} {value}"
    return step


_FILTER = re.compile(r"[ \t\n]*(blur|sharpen|edge|apply)([ \t\n|]|\Z)")  #: how a recipe begins, and no file's name
_QUOTING = re.compile(r"""[^ -~\t\n]|['"#\\]""")  #: what may hide where a word begins or ends


def _may_be_file(word: str) -> bool:
    """Whether it may be the name of a file, which can change between two calls."""
    return "CONVFILT_FILTERS" in os.environ or "/" in word or os.path.exists(word)


def _reads_files(recipe: str) -> bool:
    """Whether a recipe is a file, or may name one."""
    if not _FILTER.match(recipe):
        return True
    if "apply" not in _QUOTING.sub("", recipe):
        return False
    return bool(_QUOTING.search(recipe)) or any(map(_may_be_file, re.split(r"[ \t\n|]+", recipe)))


class _Plans:
    """Plans that are not in use, the latest used last, each behind what it is for. Every change is one step of the list's own, so
    that no thread and no signal, such as Ctrl-C's, finds one half done. A plan that is lost then is made again."""

    MOST = 16
    MOST_BYTES = 1 << 28  #: of the pictures and masks that the plans are for, since memory grows with these

    def __init__(self) -> None:
        self._idle: list[tuple[Any, Any, int]] = []

    def take(self, key: Any) -> Any:
        for entry in reversed(self._idle.copy()):
            if entry[0] == key:
                try:
                    self._idle.remove(entry)
                except ValueError:  # another thread has it by now
                    continue
                return entry[1]
        return None

    def give(self, key: Any, plan: Any) -> None:
        if key is None:
            return
        self._idle.append((key, plan, _bytes_of(key)))
        idle = self._idle.copy()
        if self._are_too_many(idle, 1):
            # Freeing a GPU's memory waits for all its work, so half of the plans go at once.
            kept = idle.copy()
            while len(kept) > 1 and self._are_too_many(kept, 2):
                kept.pop(0)
            del self._idle[: len(idle) - len(kept)]

    def _are_too_many(self, plans: list[tuple[Any, Any, int]], part: int) -> bool:
        return len(plans) > self.MOST // part or sum([size for _, _, size in plans]) > self.MOST_BYTES // part


def _bytes_of(key: Any) -> int:
    width, height, channels, depth = key[2]
    rows, columns = key[0].shape if isinstance(key[0], Mask) else (0, 0)
    samples = int(width * height * channels)
    # Plans on the CPU may hold floats, and were measured to hold up to 72 bytes for each weight.
    return samples * (4 if key[3] < 0 else BYTES[depth]) + 72 * rows * columns


_plans = _Plans()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_plans.__init__)  # type: ignore[misc]


def _filter(what: Any, options: tuple[tuple[str, str], ...]) -> _core.Filter:
    made = _core.Filter(what._mask if isinstance(what, Mask) else what)
    for name, word in options:
        made.set(name, word)
    return made


def _words(options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Options as words: the strategy, and then its settings."""
    words = []
    for name, value in options.items():
        if value is None or name == "out":
            continue
        if name == "depth" and isinstance(value, (type, np.dtype)):
            value = np.dtype(value).name
        words.append((name.replace("_", "-"), _DEPTHS.get(str(value), _word(value)) if name == "depth" else _word(value)))
    return tuple(sorted(words, key=lambda each: (each[0] != "strategy", each)))


def _result_shape(kind: Kind, result: tuple[int, int, int, int]) -> tuple[int, ...]:
    width, height, channels, _ = result
    batch = kind.shape[:1] if len(kind.shape) == 4 else ()
    if channels == 1 and not batch and kind.shape[2:] != (1,):
        return (height, width)
    return batch + (height, width, channels)


def _run(what: str | Mask, a: Any, options: Mapping[str, Any], reads_files: bool = False) -> Any:
    out = options.get("out")
    array = array_of(a)
    kind = array.kind
    layout = kind.layout
    chosen = _words(options) if options else ()
    if kind.gpu >= 0 and options.get("device") is not None:
        raise ValueError("device: the array lies on a GPU, which filters it; leave it out")
    key = None if reads_files else (what, chosen, layout.shape, kind.gpu)
    plan = None if key is None else _plans.take(key)
    if plan is None:
        plan = _core.Plan(_filter(what, chosen), layout.shape, kind.gpu)
    try:
        result = plan.result()
        shape = _result_shape(kind, result)
        made = kind.empty(shape, result[3]) if out is None else out
        target = array_of(made, writes=True)
        if out is not None:
            _check_out(target, array, shape, result[3], out)
        if layout.count > 0:
            to = target.kind.layout
            plan.run((array.address, *layout.strides), layout.step, (target.address, *to.strides), to.step, layout.count,
                     array.stream, kind.gpu >= 0)
    finally:
        _plans.give(key, plan)
    return made if out is not None or kind.finish is None else kind.finish(made)


def _check_out(target: Array, array: Array, shape: tuple[int, ...], depth: int, out: Any) -> None:
    kind = target.kind
    if kind.shape != shape or kind.depth != depth or kind.gpu != array.kind.gpu:
        raise ValueError(f"out: an array of shape {kind.shape} and dtype {NAMES[kind.depth]}, where the result is "
                         f"{NAMES[depth]} of shape {shape}, on the device of the picture")
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out: the array cannot be written to")
    reach = BYTES[depth]
    for stride, side in sorted((abs(stride), side) for stride, side in zip(kind.strides, shape) if side > 1):
        if stride < reach and 0 not in shape:
            raise ValueError(f"out: its samples overlap each other, by strides of {kind.strides} bytes; give another array")
        reach += (side - 1) * stride
    if _span(target)[0] < _span(array)[1] and _span(array)[0] < _span(target)[1]:
        raise ValueError("out: its memory overlaps that of the picture; give another array")


def _span(array: Array) -> tuple[int, int]:
    """The first address of an array, and the one behind its last."""
    low = high = array.address
    for side, stride in zip(array.kind.shape, array.kind.strides):
        if stride < 0:
            low += (side - 1) * stride
        else:
            high += (side - 1) * stride
    return low, high + BYTES[array.kind.depth]


Pair = Union[float, Sequence[float]]


def blur(a: Any, sigma: Pair | None = None, *, box: int | None = None, disk: float | None = None, motion: Pair | None = None,
         binomial: int | None = None, flip: bool = False, normalize: bool = False, **options: Unpack[Options]) -> Any:
    """Blurs a picture: by a Gaussian of `sigma` pixels (2 by default; a pair is along x, along y: the reverse of scipy's order), or by a box of box x
    box pixels, a disk of that radius, a line of a length (and an angle in degrees), or binomial weights."""
    return _run(_recipe("blur", {"sigma": sigma, "box": box, "disk": disk, "motion": motion, "binomial": binomial, "flip": flip,
                                 "normalize": normalize}), a, options)


def sharpen(a: Any, amount: float | None = None, *, sigma: float | None = None, threshold: float | None = None,
            halo_limit: float | None = None, **options: Unpack[Options]) -> Any:
    """Sharpens a picture: adds `amount` (1) times what a Gaussian blur of `sigma` (1) takes away. Differences up to `threshold`
    steps of 8 bits are left; `halo_limit` is the percent by which results may leave the range of their neighbours."""
    return _run(_recipe("sharpen", {"amount": amount, "sigma": sigma, "threshold": threshold, "halo_limit": halo_limit}), a, options)


def edge(a: Any, method: str | None = None, *, sigma: float | None = None, gain: float | None = None, direction: str | None = None,
         color: bool = False, threshold: float | None = None, thin: bool = False, low: float | None = None,
         high: float | None = None, **options: Unpack[Options]) -> Any:
    """Finds edges of luma, or with `color` of each channel: method "sobel" (default), "scharr", "canny" and those that
    `convfilt edge --help` lists. The result of luma is grey; with alpha it keeps four channels."""
    return _run(_recipe("edge", {"method": method, "sigma": sigma, "gain": gain, "direction": direction, "color": color,
                                 "threshold": threshold, "thin": thin, "low": low, "high": high}), a, options)


def apply(mask: Any, a: Any, *, flip: bool = False, normalize: bool = False, **options: Unpack[Options]) -> Any:
    """Applies a mask, which comes first: a Mask, rows of weights, the name of a shipped mask, or a file's path. `flip` turns it by 180 degrees, for
    true convolution; `normalize` scales the weights to sum to 1."""
    if isinstance(a, (str, os.PathLike, Mask)):
        raise TypeError("apply(mask, a): the mask comes first, and then the picture")
    if isinstance(mask, (str, os.PathLike)):
        name = os.fspath(mask)
        if name.startswith("-"):
            name = "./" + name  # no option
        return _run(_recipe(f"apply {_quoted(name)}", {"flip": flip, "normalize": normalize}), a, options, _may_be_file(name))
    if not isinstance(mask, Mask):
        rows = _rows(mask)
        mask = _mask_of(rows.tobytes(), rows.shape) if rows.size <= _MOST_KEPT else Mask(rows)
    if normalize or flip:
        change = _changed if mask.shape[0] * mask.shape[1] <= _MOST_KEPT else _change
        mask = change(mask, bool(normalize), bool(flip))
    return _run(mask, a, options)


def run(recipe: str, a: Any, **options: Unpack[Options]) -> Any:
    """Applies a recipe: steps of the command line with | between them, such as "blur --sigma 1.4 | edge --thin", or a file's
    path. Between steps samples are floats, neither rounded nor clamped."""
    return _run(str(recipe), a, options, _reads_files(str(recipe)))


def plan(recipe: str, a: Any, **options: Unpack[Options]) -> str:
    """The strategy and the device that would filter the array: "separable on cpu"."""
    array = array_of(a)
    return _core.Plan(_filter(recipe, _words(options)), array.kind.layout.shape, array.kind.gpu).text()


def strategies() -> list[str]:
    """The names that the option `strategy` takes."""
    return _core.strategies()


def refusal(strategy: str, recipe: str, a: Any, device: str = "cpu", **options: Any) -> str:
    """Why the strategy does not take the recipe and the array's shape on a device; empty where it does."""
    return _filter(recipe, _words(options)).refusal(strategy, array_of(a).kind.layout.shape, device)


def gpus() -> int:
    """The number of CUDA devices that can be used."""
    return _core.gpus()
