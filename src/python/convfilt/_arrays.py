"""What an array is, whatever library made it: an address, a shape, strides and a type."""

from __future__ import annotations

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
    """By __cuda_array_interface__, as CuPy and Numba have it."""
    of = a.__cuda_array_interface__
    shape = tuple(of["shape"])
    if of.get("mask") is not None:
        raise ValueError("an array with a mask: convfilt would take masked samples, too; fill it first")
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
    module = sys.modules.get(type(a).__module__.partition(".")[0])
    if module is not None and hasattr(module, "cuda") and hasattr(module, "empty"):  # CuPy
        gpu, stream = a.device.id, module.cuda.get_current_stream().ptr

        def empty(shape: tuple[int, ...], depth: int) -> Any:
            with module.cuda.Device(gpu):
                return module.empty(shape, NAMES[depth])

    else:
        raise ValueError(f"a result of the kind {type(a).__name__} cannot be made; pass it through torch.as_tensor() or cupy.asarray()")
    return Array(of["data"][0], shape, tuple(strides), depth, gpu, empty, stream, a)


_KINDS = {1: "uint", 0: "int", 2: "float"}
_HOST, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13


def _dlpack(a: Any) -> Array:
    address, shape, strides, code, bits, device, number = _core.describe(a)
    name = f"{_KINDS.get(code, 'type ')}{bits}"
    depth = depth_of(name, shape)
    if device in (_CUDA, _CUDA_MANAGED):
        raise ValueError(f"a result of the kind {type(a).__name__} cannot be made on a GPU; pass it through torch.from_dlpack() or cupy.from_dlpack()")
    if device not in (_HOST, _CUDA_HOST):
        raise ValueError(f"an array on device {device}: pictures lie in host memory or on a CUDA device")

    def empty(shape: tuple[int, ...], depth: int) -> Any:
        return np.empty(shape, NAMES[depth])

    return Array(address, tuple(shape), tuple(s * BYTES[depth] for s in strides), depth, -1, empty, 0, a)


def finished(a: Any, result: Any) -> Any:
    """The result as the kind of array that `a` is."""
    if isinstance(result, np.ndarray) and not isinstance(a, np.ndarray):
        module = sys.modules.get(type(a).__module__.partition(".")[0])
        name = getattr(a, "__array_namespace__", None)
        space = name() if name else module
        if hasattr(space, "from_dlpack"):
            return space.from_dlpack(result)
    return result


def array_of(a: Any) -> Array:
    """Raises TypeError for what is no array, and ValueError for one that is no picture."""
    if isinstance(a, np.ndarray):
        return _numpy(a)
    kind = type(a)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        return _torch(a)
    if hasattr(kind, "__cuda_array_interface__"):
        return _interface(a)
    if hasattr(kind, "__dlpack__"):
        return _dlpack(a)
    if hasattr(kind, "__array__") or hasattr(kind, "__array_interface__"):  # PIL and others
        return _numpy(np.asarray(a))
    raise TypeError(f"{kind.__name__} is no array; {ALLOWED}")
