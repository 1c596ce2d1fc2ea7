# SPDX-License-Identifier: Apache-2.0
"""Memory that the processes of a host communicator exchange without copies into messages."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Iterable, Sequence, Union

from . import _checks, _library, arrays, errors

_LARGEST = 2**63 - 1


class _Memory:
    """Bytes of gc3HostMemAlloc, with NumPy's array interface. Its arrays keep it alive."""

    def __init__(self, size: int):
        self._pointer = ctypes.c_void_p()
        self._library = _library.library()
        self._library.call("gc3HostMemAlloc", self._pointer, size)
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1",
                                    "data": (self._pointer.value, False)}

    def __del__(self) -> None:
        if self._pointer:
            self._library.result("gc3HostMemFree", self._pointer)


def zeros(shape: Union[int, Sequence[int]], dtype: Any = "float32") -> Any:
    """Returns a NumPy array of zeros in memory that other processes of this host can map.

    All arrays can be arguments of calls. But if all arrays of a call are of this function, ranks in several processes
    exchange large messages as fast as threads of one process. The memory counts as shared memory. It is released with
    the last array that uses it; no rank may be in a call with it then. ``torch.from_numpy`` makes a tensor of it.

    Args:
        shape: the number of elements, or the numbers by dimension.
        dtype: a NumPy type that gc3 has, such as ``"float32"``, ``numpy.int64`` or ``ml_dtypes.bfloat16``.

    Raises ResourceError if the machine, or a limit of the process, refuses the memory.
    """
    try:
        import numpy
    except ImportError:
        raise errors.UsageError("gc3.zeros needs NumPy") from None
    kind = numpy.dtype(dtype)
    arrays.require_type(kind.name, "dtype")
    dimensions = [_checks.integer(length, "a dimension of shape", 0, _LARGEST)
                  for length in (shape if isinstance(shape, Iterable) else (shape,))]
    size = _checks.integer(math.prod(dimensions) * kind.itemsize, "the number of bytes", 0, _LARGEST)
    if size == 0:
        return numpy.zeros(dimensions, kind)
    return numpy.asarray(_Memory(size)).view(kind).reshape(dimensions)
