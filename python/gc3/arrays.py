# SPDX-License-Identifier: Apache-2.0
"""Views of arrays: one form for NumPy arrays, PyTorch tensors and objects with Python's buffer protocol.

Neither NumPy nor PyTorch is imported here: an array of either can only exist if the application has imported it.
"""

from __future__ import annotations

import ctypes
import math
import sys
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence, Tuple

from . import errors
from ._library import REDUCTIONS, TYPES

# Names of element types in NumPy, ml_dtypes and PyTorch, with the names of gc3.h.
_TYPE_OF_NAME: Dict[str, str] = {
    "int8": "gc3Int8", "uint8": "gc3Uint8", "int32": "gc3Int32", "uint32": "gc3Uint32", "int64": "gc3Int64",
    "uint64": "gc3Uint64", "float16": "gc3Float16", "float32": "gc3Float32", "float64": "gc3Float64",
    "bfloat16": "gc3Bfloat16", "float8_e4m3fn": "gc3Float8e4m3", "float8_e5m2": "gc3Float8e5m2",
}
# Characters of the buffer protocol, by size and kind.
_NAME_OF_KIND: Dict[Tuple[str, int], str] = {
    **{(letter, size): f"int{8 * size}" for letter in "bilq" for size in (1, 4, 8)},
    **{(letter, size): f"uint{8 * size}" for letter in "BILQ" for size in (1, 4, 8)},
    ("e", 2): "float16", ("f", 4): "float32", ("d", 8): "float64",
}


@dataclass(frozen=True)
class View:
    """The memory of an array: ``elements`` elements from address ``pointer`` on, without gaps.

    ``array`` is the array itself, whose lifetime bounds that of the address. ``device`` is ``"cpu"`` or, for tensors on
    GPUs, PyTorch's name such as ``"cuda:0"``. ``type`` is the number of a gc3DataType_t. ``buffer`` is the memoryview
    of an object with the buffer protocol: while it lives, the object cannot change its size.
    """

    array: Any
    pointer: int
    shape: Tuple[int, ...]
    dtype: str
    device: str
    writable: bool
    buffer: Optional[memoryview] = None

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def type(self) -> int:
        return TYPES[_TYPE_OF_NAME[self.dtype]]

    def __str__(self) -> str:
        return f"shape {self.shape} of {self.dtype} on {self.device}"


def _is_instance(array: Any, module: str, name: str) -> bool:
    """Returns whether `array` is of a class of a module, without importing the module."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(array, getattr(loaded, name, ()))


def is_tensor(array: Any) -> bool:
    """Returns whether `array` is a PyTorch tensor."""
    return _is_instance(array, "torch", "Tensor")


def view(array: Any, name: str) -> View:
    """Returns the view of a NumPy array, a PyTorch tensor or an object with the buffer protocol.

    `name` is the argument's name in messages. Raises ArgumentError if the array has gaps, if gc3 has no such elements,
    or if it is no array.
    """
    if is_tensor(array):
        result = _view_tensor(array, name)
    elif _is_instance(array, "numpy", "ndarray"):
        result = _view_numpy(array, name)
    else:
        result = _view_buffer(array, name)
    require_type(result.dtype, name)
    return result


def _reject_gaps(name: str, remedy: str) -> errors.ArgumentError:
    return errors.ArgumentError(f"{name} is not contiguous: its elements have gaps or another order in memory; pass "
                                f"{remedy}")


def _view_tensor(tensor: Any, name: str) -> View:
    if tensor.layout is not sys.modules["torch"].strided:
        raise errors.ArgumentError(f"{name} is a sparse tensor; pass a dense one")
    if not tensor.is_contiguous():
        raise _reject_gaps(name, f"{name}.contiguous()")
    if tensor.is_meta:
        raise errors.ArgumentError(f"{name} is a meta tensor, which has no data")
    dtype = str(tensor.dtype).rpartition(".")[2]
    return View(tensor, tensor.data_ptr(), tuple(tensor.shape), dtype, str(tensor.device), True)


def _view_numpy(array: Any, name: str) -> View:
    if not array.flags.c_contiguous:
        raise _reject_gaps(name, f"numpy.ascontiguousarray({name})")
    if not array.dtype.isnative:
        raise errors.ArgumentError(f"{name} has elements of another byte order; pass {name}.astype("
                                   f"{name}.dtype.newbyteorder('='))")
    return View(array, array.ctypes.data, array.shape, array.dtype.name, "cpu", array.flags.writeable)


def _view_buffer(array: Any, name: str) -> View:
    try:
        memory = memoryview(array)
    except TypeError:
        raise errors.ArgumentError(f"{name} is a NumPy array, a PyTorch tensor or an object with the buffer protocol, "
                                   f"not {type(array).__name__}") from None
    if not memory.c_contiguous:
        raise _reject_gaps(name, "a copy")
    dtype = _NAME_OF_KIND.get((memory.format.lstrip("@=<"), memory.itemsize), f"'{memory.format}'")
    return View(array, _address(memory), memory.shape or (), dtype, "cpu", not memory.readonly, memory)


def _address(memory: memoryview) -> int:
    """Returns the address of a buffer. The buffer protocol's own structure has it, also for a read-only buffer."""
    holder = _PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(memory), ctypes.byref(holder), 0)
    try:
        return holder.buf or 0
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(holder))


class _PyBuffer(ctypes.Structure):
    """The beginning of CPython's Py_buffer, with room for the rest of it."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("rest", ctypes.c_void_p * 16)]


def empty(like: View, shape: Sequence[int]) -> Any:
    """Returns a new array of the same kind, element type and device, with undefined contents."""
    if is_tensor(like.array):
        return like.array.new_empty(tuple(shape), requires_grad=False)
    if _is_instance(like.array, "numpy", "ndarray"):
        return sys.modules["numpy"].empty(tuple(shape), like.array.dtype)
    elements, memory = math.prod(shape), memoryview(like.array)
    buffer = memoryview(bytearray(elements * memory.itemsize))
    letter = memory.format.lstrip("@=<")
    return buffer.cast(letter, tuple(shape)) if elements else buffer.cast(letter)


def op_name(op: Any) -> str:
    """Returns ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"avg"`` for such a name or for PyTorch's ``ReduceOp``."""
    names = [name[len("gc3"):].lower() for name in REDUCTIONS]
    name = op if isinstance(op, str) else _name_of_reduce_op(op)
    if name not in names:
        raise errors.ArgumentError(f"op is one of {', '.join(names)}, not {op!r}")
    return name


def op_number(op: Any) -> int:
    """Returns the gc3RedOp_t of an op, which is one of :func:`op_name`.

    >>> op_number("avg")
    4
    """
    return REDUCTIONS[f"gc3{op_name(op).capitalize()}"]


def _name_of_reduce_op(op: Any) -> Optional[str]:
    """Returns gc3's name of a value of torch.distributed.ReduceOp."""
    reduce_op = getattr(sys.modules.get("torch.distributed"), "ReduceOp", None)
    for name in ("SUM", "PRODUCT", "MAX", "MIN", "AVG"):
        if hasattr(reduce_op, name) and getattr(reduce_op, name) == op:
            return {"PRODUCT": "prod"}.get(name, name.lower())
    return None


def require_type(dtype: str, name: str) -> None:
    """Raises ArgumentError unless gc3 has this type of elements."""
    if dtype not in _TYPE_OF_NAME:
        raise errors.ArgumentError(f"{name} has elements of type {dtype}, and gc3 has {', '.join(_TYPE_OF_NAME)}; view "
                                   "complex and bool arrays as one of these types")


def require_same(first: View, second: View, names: Tuple[str, str]) -> None:
    """Raises ArgumentError unless both arrays have the same element type and device."""
    if first.dtype != second.dtype:
        raise errors.ArgumentError(f"{names[0]} has elements of type {first.dtype}, and {names[1]} of type "
                                   f"{second.dtype}; they must have the same type")
    if first.device != second.device:
        raise errors.ArgumentError(f"{names[0]} is on {first.device}, and {names[1]} is on {second.device}; they must "
                                   "be on the same device")


def require_writable(array: View, name: str) -> None:
    """Raises ArgumentError if the array is read-only."""
    if not array.writable:
        raise errors.ArgumentError(f"{name} is read-only; pass an array that can be written")


def require_elements(array: View, expected: int, name: str, reason: str) -> None:
    """Raises ArgumentError unless the array has the expected number of elements."""
    if array.elements != expected:
        raise errors.ArgumentError(f"{name} has {array.elements} elements ({array}), and needs {expected}: {reason}")


def split_first(array: View, parts: int, name: str) -> Tuple[int, ...]:
    """Returns the shape of one of `parts` equal parts along the first dimension. Raises ArgumentError if there is none.
    """
    if not array.shape or array.shape[0] % parts:
        raise errors.ArgumentError(f"the first dimension of {name} ({array}) is not a multiple of {parts}, the number "
                                   "of ranks")
    return (array.shape[0] // parts, *array.shape[1:])


def join_first(array: View, parts: int) -> Tuple[int, ...]:
    """Returns the shape of `parts` such arrays, concatenated along the first dimension.

    A scalar becomes a vector.
    """
    return (parts * array.shape[0], *array.shape[1:]) if array.shape else (parts,)
