"""What an array is, whatever library made it: an address, a shape, strides and a type."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core

DEPTHS = {"uint8": 0, "uint16": 1, "float32": 2}
NAMES = ("uint8", "uint16", "float32")
BYTES = (1, 2, 4)
ALLOWED = "a picture is uint8, uint16 or float32; rows x columns, rows x columns x channels, or a batch of the latter; with 1, 3 or 4 channels"


class Array(NamedTuple):
    """An array as the C interface takes it."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  #: in bytes
    depth: int  #: of DEPTHS
    gpu: int  #: the CUDA device; -1 in host memory
    empty: Callable[[tuple[int, ...], int], Any]  #: makes an array of the same kind: shape, depth
    stream: int  #: the CUDA stream that is current for the array's library
    keep: Any  #: keeps the memory alive
    finish: Callable[[Any], Any] | None = None  #: makes the result the kind of array that the picture is


def refuse(shape: Any, dtype: Any) -> ValueError:
    return ValueError(f"an array of shape {tuple(shape)} and dtype {dtype}: {ALLOWED}")


def depth_of(name: str, shape: Any) -> int:
    depth = DEPTHS.get(name)
    if depth is None:
        raise refuse(shape, name)
    return depth


def _numpy(a: np.ndarray) -> Array:
    if isinstance(a, np.ma.MaskedArray):
        raise ValueError("a masked array: convfilt would take masked samples, too; use a.filled() with the value that they count as")
    if not a.dtype.isnative:
        raise ValueError(f"an array of dtype {a.dtype.str}: samples have the byte order of this machine; use a.astype(a.dtype.newbyteorder('='))")

    def empty(shape: tuple[int, ...], depth: int) -> Any:
        return np.empty(shape, NAMES[depth])

    return Array(a.ctypes.data, a.shape, a.strides, depth_of(a.dtype.name, a.shape), -1, empty, 0, a)


def _torch(a: Any) -> Array:
    import torch

    if a.layout is not torch.strided:
        raise ValueError(f"a tensor of layout {a.layout}: pictures are dense; use a.to_dense()")
    if a.requires_grad:
        raise ValueError("a tensor that requires gradients: convfilt has none; use a.detach()")
    depth = depth_of(str(a.dtype)[6:], a.shape)
    size = BYTES[depth]
    device = a.device
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"a tensor on {device}: pictures lie in host memory or on a CUDA device")

    def empty(shape: tuple[int, ...], depth: int) -> Any:
        return torch.empty(shape, dtype=getattr(torch, NAMES[depth]), device=device)

    on_gpu = device.type == "cuda"
    return Array(a.data_ptr(), tuple(a.shape), tuple(s * size for s in a.stride()), depth, device.index if on_gpu else -1, empty,
                 torch.cuda.current_stream(device).cuda_stream if on_gpu else 0, a)


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

    return Array(of["data"][0], shape, tuple(strides), depth, gpu, empty, cupy.cuda.get_current_stream().ptr, a)


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
            return array_of(importlib.import_module(name).from_dlpack(a))._replace(finish=_finish(a))
        except ImportError:
            continue
    raise ValueError(f"an array of the kind {type(a).__name__} on a GPU: install PyTorch or CuPy, which make the result's memory")


def _dlpack(a: Any, writes: bool) -> Array:
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

    def empty(shape: tuple[int, ...], depth: int) -> Any:
        return np.empty(shape, NAMES[depth])

    return Array(address, tuple(shape), tuple(s * BYTES[depth] for s in strides), depth, -1, empty, 0, (a, keep), _finish(a))


_PILLOW = ("L", "RGB", "RGBA", "I;16", "I;16L", "I;16B", "I;16N")


def array_of(a: Any, writes: bool = False) -> Array:
    """Raises TypeError for what is no array, and ValueError for one that is no picture."""
    if isinstance(a, np.ndarray):
        return _numpy(a)
    kind = type(a)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        return _torch(a)
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
        raise ValueError(f"a picture of Pillow's mode {getattr(a, 'mode', None)}: its samples are not grey or red, green and blue; use a.convert('RGB')")
    if hasattr(kind, "__array__") or (hasattr(a, "__array_interface__") and not isinstance(a, type)):  # Pillow and others
        return _numpy(np.asarray(a))
    raise TypeError(f"{kind.__name__} is no array; {ALLOWED}")
