"""What an array is, whatever library made it: an address, a shape, strides and a type."""

from __future__ import annotations

import importlib
import math
import sys
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from . import _core

DEPTHS = {"uint8": 0, "uint16": 1, "float32": 2}
NAMES = ("uint8", "uint16", "float32")
BYTES = (1, 2, 4)
ALLOWED = "a picture is uint8, uint16 or float32; rows x columns, rows x columns x channels, or a batch of the latter; with 1, 3 or 4 channels"


class Kind:
    """What arrays of one shape, layout, type and device have in common."""

    __slots__ = ("shape", "strides", "depth", "gpu", "empty", "finish", "_layout")

    def __init__(self, shape: Sequence[int], strides: Sequence[int], depth: int, gpu: int, empty: Callable[[tuple[int, ...], int], Any],
                 finish: Callable[[Any], Any] | None = None) -> None:
        self.shape = tuple(shape)
        self.strides = tuple(strides)  #: in bytes
        self.depth = depth  #: of DEPTHS
        self.gpu = gpu  #: the CUDA device; -1 in host memory
        self.empty = empty  #: makes an array of the same kind: shape, depth
        self.finish = finish  #: makes the result the kind of array that the picture is
        self._layout: Layout | None = None

    @property
    def layout(self) -> Layout:
        if self._layout is None:
            self._layout = Layout(self)
        return self._layout


class Array(NamedTuple):
    """An array as the C interface takes it."""

    address: int
    kind: Kind
    stream: int  #: the CUDA stream that is current for the array's library
    keep: Any  #: keeps the memory alive


class Layout:
    """How an array is a batch of pictures."""

    __slots__ = ("shape", "strides", "count", "step")

    def __init__(self, kind: Kind) -> None:
        shape, strides = kind.shape, kind.strides
        rank = len(shape)
        self.count, self.step = 1, 0
        if rank == 4:
            self.count, self.step = shape[0], strides[0]
            shape, strides, rank = shape[1:], strides[1:], 3
        if rank == 2:
            self.shape = (shape[1], shape[0], 1, kind.depth)
            self.strides = (strides[0], strides[1], 0)
        elif rank == 3 and shape[2] in (1, 3, 4):
            self.shape = (shape[1], shape[0], shape[2], kind.depth)
            self.strides = (strides[0], strides[1], strides[2])
        else:
            raise refuse(kind.shape, NAMES[kind.depth])
        if not (0 < self.shape[0] < 1 << 31 and 0 < self.shape[1] < 1 << 31):
            raise refuse(kind.shape, NAMES[kind.depth])
        if kind.gpu >= 0:
            size = BYTES[kind.depth]
            channels = self.shape[2]
            if (channels > 1 and self.strides[2] != size) or (self.shape[0] > 1 and self.strides[1] != size * channels) or (
                    self.shape[1] > 1 and self.strides[0] < size * channels * self.shape[0]):
                raise ValueError(f"an array of shape {kind.shape} with strides of {kind.strides} bytes: on a GPU, pixels and channels "
                                 "lie side by side, and rows one behind the other; use a.contiguous(), or cupy.ascontiguousarray(a)")


def refuse(shape: Any, dtype: Any) -> ValueError:
    hint = ""
    if str(dtype) in ("float16", "float64", "bfloat16"):
        hint = "; use a.astype(numpy.float32)"
    elif str(dtype) == "bool":
        hint = "; use a * numpy.uint8(255)"
    elif str(dtype) in DEPTHS and len(shape) == 3 and 0 not in shape:
        hint = ("; channels come last: numpy.moveaxis(a, 0, -1)" if shape[0] in (1, 3, 4)
                else "; a batch of grey pictures is a[..., None]" if shape[2] > 4 else "")
    return ValueError(f"an array of shape {tuple(shape)} and dtype {dtype}: {ALLOWED}{hint}")


def depth_of(name: str, shape: Any) -> int:
    depth = DEPTHS.get(name)
    if depth is None:
        raise refuse(shape, name)
    return depth


_NUMPY_DEPTHS = {np.dtype(name): depth for depth, name in enumerate(NAMES)}


def _empty(shape: tuple[int, ...], depth: int) -> Any:
    """A large array has memory that an earlier result gave back, since fresh memory costs as much as a blur."""
    if math.prod(shape) * BYTES[depth] < 1 << 20:
        return np.empty(shape, NAMES[depth])
    return _core.empty(shape, depth)


def _numpy(a: np.ndarray) -> Array:
    if type(a) is not np.ndarray and "numpy.ma" in sys.modules and isinstance(a, np.ma.MaskedArray):  # which takes ms to load
        raise ValueError("a masked array: convfilt would take masked samples, too; use a.filled() with the value that they count as")
    if not a.dtype.isnative:
        raise ValueError(f"an array of dtype {a.dtype.str}: samples have the byte order of this machine; use a.astype(a.dtype.newbyteorder('='))")

    depth = _NUMPY_DEPTHS.get(a.dtype)
    if depth is None:
        raise refuse(a.shape, a.dtype.name)
    return Array(a.ctypes.data, Kind(a.shape, a.strides, depth, -1, _empty), 0, a)


_torch_kinds: dict[Any, Kind] = {}  #: those of the latest tensors, since asking a tensor takes long


def _torch_kind(a: Any, torch: Any) -> Kind:
    if a.layout is not torch.strided:
        raise ValueError(f"a tensor of layout {a.layout}: pictures are dense; use a.to_dense()")
    device = a.device
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"a tensor on {device}: pictures lie in host memory or on a CUDA device")
    depth = depth_of(str(a.dtype)[6:], a.shape)
    types = [getattr(torch, name, None) for name in NAMES]  # old versions lack uint16

    def empty(shape: tuple[int, ...], depth: int) -> Any:
        return torch.empty(shape, dtype=types[depth], device=device)

    return Kind(a.shape, [stride * BYTES[depth] for stride in a.stride()], depth, device.index if device.type == "cuda" else -1, empty)


def _torch(a: Any, torch: Any) -> Array:
    if a.requires_grad:
        raise ValueError("a tensor that requires gradients: convfilt has none; use a.detach()")
    if a.is_neg():  # its memory has the other sign
        a = a.resolve_neg()
    key = (a.shape, a.stride() if a.layout is torch.strided else None, a.dtype, a.device)
    kind = _torch_kinds.get(key)
    if kind is None:
        if len(_torch_kinds) >= 256:
            _torch_kinds.clear()
        kind = _torch_kinds[key] = _torch_kind(a, torch)
    if kind.gpu < 0:
        return Array(a.data_ptr(), kind, 0, a)
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return Array(a.data_ptr(), kind, raw(kind.gpu) if raw else torch.cuda.current_stream(kind.gpu).cuda_stream, a)


def _interface(a: Any) -> Array:
    """An array of CuPy."""
    of = a.__cuda_array_interface__
    shape = tuple(of["shape"])
    dtype = np.dtype(of["typestr"])
    if not dtype.isnative:
        raise refuse(shape, of["typestr"])
    depth = depth_of(dtype.name, shape)
    strides = of.get("strides")
    if strides is None:
        strides, step = [], dtype.itemsize
        for side in reversed(shape):
            strides.insert(0, step)
            step *= side
    import cupy

    gpu = a.device.id

    def empty(shape: tuple[int, ...], depth: int) -> Any:
        with cupy.cuda.Device(gpu):
            return cupy.empty(shape, NAMES[depth])

    return Array(of["data"][0], Kind(shape, strides, depth, gpu, empty), cupy.cuda.get_current_stream().ptr, a)


_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_HOST, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13


def _finish(a: Any) -> Callable[[Any], Any] | None:
    """What makes a result of another library the kind of array that `a` is."""
    name = getattr(a, "__array_namespace__", None)
    space = name() if name else sys.modules.get(type(a).__module__.partition(".")[0])
    return getattr(space, "from_dlpack", None)


def _on_gpu(a: Any) -> Array:
    """An array of another library, such as JAX, by way of one that makes arrays which are written to."""
    for name in ("torch", "cupy"):
        try:
            array = array_of(importlib.import_module(name).from_dlpack(a))
        except (ImportError, RuntimeError, BufferError):  # not installed, or without CUDA
            continue
        kind = array.kind
        return array._replace(kind=Kind(kind.shape, kind.strides, kind.depth, kind.gpu, kind.empty, _finish(a)))
    raise ValueError(f"an array of the kind {type(a).__name__} on a GPU: install PyTorch or CuPy, which make the result's memory")


def _dlpack(a: Any, writes: bool) -> Array:
    if writes and type(a).__module__.partition(".")[0] in ("jax", "jaxlib"):
        raise ValueError("out: an array of JAX, which never changes; leave it out")
    if a.__dlpack_device__()[0] in (_CUDA, _CUDA_MANAGED):
        return _on_gpu(a)
    try:
        address, shape, strides, code, bits, device, _, keep = (_core.describe_writable if writes else _core.describe)(a)
    except TypeError:
        raise ValueError(f"an array of the kind {type(a).__name__}: by DLPack it gives no memory that can be "
                         f"{'written to' if writes else 'read'}") from None
    depth = depth_of(f"{_KINDS.get(code, 'type ')}{bits if code != 6 else ''}", shape)
    if device not in (_HOST, _CUDA_HOST):
        raise ValueError(f"an array on device {device}: pictures lie in host memory or on a CUDA device")
    return Array(address, Kind(shape, [stride * BYTES[depth] for stride in strides], depth, -1, _empty, _finish(a)), 0, (a, keep))


_PILLOW_REMEDIES = {"I": "numpy.asarray(a).astype(numpy.uint16)", "F": "numpy.asarray(a)", "LA": "a.convert('RGBA')",
                    "La": "a.convert('RGBA')", "RGBa": "a.convert('RGBA')", "PA": "a.convert('RGBA')"}
_PILLOW = ("L", "RGB", "RGBA", "I;16", "I;16L", "I;16B", "I;16N")


def array_of(a: Any, writes: bool = False) -> Array:
    """Raises TypeError for what is no array, and ValueError for one that is no picture."""
    if isinstance(a, np.ndarray):
        return _numpy(a)
    kind = type(a)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        return _torch(a, torch)
    if kind.__module__.partition(".")[0] == "cupy":
        return _interface(a)
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        return _dlpack(a, writes)
    if hasattr(kind, "__cuda_array_interface__"):  # Numba and others
        try:
            import cupy
        except ImportError:
            raise ValueError(f"an array of the kind {kind.__name__} on a GPU: install CuPy, which makes the result's memory") from None
        return _interface(cupy.asarray(a))
    if kind.__module__.startswith("PIL.") and getattr(a, "mode", None) not in _PILLOW:
        mode = getattr(a, "mode", None)
        remedy = _PILLOW_REMEDIES.get(str(mode), "a.convert('RGB')")
        raise ValueError(f"a picture of Pillow's mode {mode}: its samples are not grey or red, green and blue; use {remedy}")
    if hasattr(kind, "__array__") or (hasattr(a, "__array_interface__") and not isinstance(a, type)):  # Pillow and others
        if writes:
            raise ValueError(f"out: {kind.__name__} gives a copy of its samples; give an array of numpy")
        return _numpy(np.asarray(a))
    raise TypeError(f"{kind.__name__} is no array, as numpy.asarray() makes one; {ALLOWED}")
