# SPDX-License-Identifier: Apache-2.0
"""libgc3 through ctypes: finds the library, declares the functions of gc3.h, and turns result codes into exceptions.

Names and values are those of gc3.h. ``python/tests/test_header.py`` compares all of them with the header. ctypes
releases the interpreter lock during each call, so several threads can be ranks of one process.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import pathlib
from typing import Dict, Iterator, List, Optional, Tuple, Type

from . import errors

_NAME = "libgc3.so.0"
VERSION = 100  # GC3_VERSION of the header that this file declares

RESULTS: Dict[str, int] = {
    "gc3Success": 0, "gc3UnhandledCudaError": 1, "gc3SystemError": 2, "gc3InternalError": 3, "gc3InvalidArgument": 4,
    "gc3InvalidUsage": 5, "gc3RemoteError": 6, "gc3InProgress": 7, "gc3Timeout": 8, "gc3Deadlock": 9,
    "gc3NoProgram": 10, "gc3NotABundle": 11, "gc3BundleTruncated": 12, "gc3BundleTooNew": 13, "gc3BundleCorrupt": 14,
    "gc3BundleInvalid": 15, "gc3BundleUnproven": 16,
}
TYPES: Dict[str, int] = {
    "gc3Int8": 0, "gc3Uint8": 1, "gc3Int32": 2, "gc3Uint32": 3, "gc3Int64": 4, "gc3Uint64": 5, "gc3Float16": 6,
    "gc3Float32": 7, "gc3Float64": 8, "gc3Bfloat16": 9, "gc3Float8e4m3": 10, "gc3Float8e5m2": 11,
}
REDUCTIONS: Dict[str, int] = {"gc3Sum": 0, "gc3Prod": 1, "gc3Max": 2, "gc3Min": 3, "gc3Avg": 4}
TUNES: Dict[str, int] = {
    "gc3TuneDefault": 0, "gc3TuneOff": 1, "gc3TuneOnline": 2, "gc3TuneOnlineSameBits": 3, "gc3TuneOnlineShapes": 4,
    "gc3TuneOnlineSameBitsShapes": 5,
}
ORDERS: Dict[str, int] = {"gc3OrderFair": 0, "gc3OrderAdversarial": 1}

_BUNDLE_CODES = ("gc3NotABundle", "gc3BundleTruncated", "gc3BundleTooNew", "gc3BundleCorrupt", "gc3BundleInvalid",
                 "gc3BundleUnproven")
_EXCEPTIONS: Dict[int, Type[errors.Error]] = {
    RESULTS["gc3UnhandledCudaError"]: errors.CudaError,
    RESULTS["gc3SystemError"]: errors.ResourceError,
    RESULTS["gc3InternalError"]: errors.InternalError,
    RESULTS["gc3InvalidArgument"]: errors.ArgumentError,
    RESULTS["gc3InvalidUsage"]: errors.UsageError,
    RESULTS["gc3RemoteError"]: errors.RemoteError,
    RESULTS["gc3Timeout"]: errors.TimeoutError,
    RESULTS["gc3Deadlock"]: errors.DeadlockError,
    RESULTS["gc3NoProgram"]: errors.NoProgramError,
    **{RESULTS[name]: errors.BundleError for name in _BUNDLE_CODES},
}

_Pointer = ctypes.c_void_p
_Int = ctypes.c_int
_Size = ctypes.c_size_t
_Text = ctypes.c_char_p


class ProgramInfo(ctypes.Structure):
    """gc3ProgramInfo_t"""

    _fields_ = [
        ("size", _Size), ("name", _Text), ("collective", _Text), ("ranks", _Int), ("minBytes", ctypes.c_uint64),
        ("maxBytes", ctypes.c_uint64), ("inPlace", _Int), ("contributions", ctypes.c_uint32),
        ("fifoSlots", ctypes.c_uint32), ("minFifoSlots", ctypes.c_uint32), ("verified", ctypes.c_uint32),
        ("digest", ctypes.c_uint64), ("form", _Text), ("nodes", _Int),
    ]


class HostConfig(ctypes.Structure):
    """gc3HostConfig_t"""

    _fields_ = [
        ("size", _Size), ("slots", ctypes.c_uint32), ("workers", ctypes.c_uint32), ("slotBytes", ctypes.c_uint64),
        ("tileElements", ctypes.c_uint64), ("order", _Int), ("timeoutMs", ctypes.c_uint32), ("seed", ctypes.c_uint64),
        ("allowUnproven", _Int), ("trace", _Text), ("programs", _Text), ("tuner", _Pointer), ("tunerData", _Pointer),
        ("tune", _Int), ("tuneBudget", ctypes.c_float), ("tuneFile", _Text), ("tunerTimes", _Pointer),
        ("name", _Text), ("nodes", ctypes.c_uint64),
    ]


class Tuning(ctypes.Structure):
    """gc3Tuning_t"""

    _fields_ = [("slots", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("slotBytes", ctypes.c_uint64)]


class GpuConfig(ctypes.Structure):
    """gc3GpuConfig_t"""

    _fields_ = [
        ("size", _Size), ("slots", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("slotBytes", ctypes.c_uint64),
        ("simple", _Int), ("timeoutMs", ctypes.c_uint32), ("allowUnproven", _Int), ("ll128", _Int),
        ("tuning", Tuning * 3), ("trace", _Text), ("programs", _Text), ("tuner", _Pointer), ("tunerData", _Pointer),
        ("tune", _Int), ("tuneBudget", ctypes.c_float), ("tuneFile", _Text), ("tunerTimes", _Pointer),
        ("name", _Text), ("nodes", ctypes.c_uint64),
    ]


class UniqueId(ctypes.Structure):
    """gc3UniqueId_t"""

    _fields_ = [("internal", ctypes.c_char * 256)]


STRUCTS: Dict[str, Type[ctypes.Structure]] = {
    "gc3ProgramInfo_t": ProgramInfo, "gc3HostConfig_t": HostConfig, "gc3Tuning_t": Tuning, "gc3GpuConfig_t": GpuConfig,
    "gc3UniqueId_t": UniqueId,
}

# The functions that return a gc3Result_t, with the types of their arguments.
FUNCTIONS: Dict[str, List[type]] = {
    "gc3GetVersion": [ctypes.POINTER(_Int)],
    "gc3BundleLoad": [ctypes.POINTER(_Pointer), _Text],
    "gc3BundleFree": [_Pointer],
    "gc3BundleProgramCount": [_Pointer, ctypes.POINTER(_Int)],
    "gc3BundleProgramInfo": [_Pointer, _Int, ctypes.POINTER(ProgramInfo)],
    "gc3ProgramElements": [_Pointer, _Int, _Int, _Size, ctypes.POINTER(_Size), ctypes.POINTER(_Size)],
    "gc3HostCommInitAll": [ctypes.POINTER(_Pointer), _Int, _Pointer, ctypes.POINTER(HostConfig)],
    "gc3GetUniqueId": [ctypes.POINTER(UniqueId)],
    "gc3HostCommInitRank": [ctypes.POINTER(_Pointer), _Int, UniqueId, _Int, _Pointer, ctypes.POINTER(HostConfig)],
    "gc3HostCommInitEnv": [ctypes.POINTER(_Pointer), _Pointer, ctypes.POINTER(HostConfig)],
    "gc3HostMemAlloc": [ctypes.POINTER(_Pointer), _Size],
    "gc3HostMemFree": [_Pointer],
    "gc3CommInit": [ctypes.POINTER(_Pointer), _Pointer, _Pointer, ctypes.POINTER(GpuConfig)],
    "gc3CommGetAsyncError": [_Pointer, ctypes.POINTER(_Int)],
    "gc3CommDestroy": [_Pointer],
    "gc3CommAbort": [_Pointer],
    "gc3CommCount": [_Pointer, ctypes.POINTER(_Int)],
    "gc3CommUserRank": [_Pointer, ctypes.POINTER(_Int)],
    "gc3AllReduce": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "gc3AllGather": [_Pointer, _Pointer, _Size, _Int, _Pointer, _Pointer],
    "gc3ReduceScatter": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "gc3Broadcast": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "gc3Reduce": [_Pointer, _Pointer, _Size, _Int, _Int, _Int, _Pointer, _Pointer],
    "gc3AllToAll": [_Pointer, _Pointer, _Size, _Int, _Pointer, _Pointer],
    "gc3Gather": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "gc3Scatter": [_Pointer, _Pointer, _Size, _Int, _Int, _Pointer, _Pointer],
    "gc3RunCollective": [_Pointer, _Text, _Pointer, _Pointer, _Size, _Int, _Int, _Pointer],
    "gc3RunProgram": [_Pointer, _Text, _Pointer, _Pointer, _Size, _Int, _Int, _Pointer],
    "gc3SelectProgram": [_Pointer, _Text, _Size, _Int, _Int, ctypes.POINTER(_Text)],
    "gc3GroupStart": [],
    "gc3GroupEnd": [],
}


def error_of(code: int, text: str) -> errors.Error:
    """Returns the exception for a result code of libgc3."""
    return _EXCEPTIONS.get(code, errors.InternalError)(text, code)


class Library:
    """The loaded libgc3."""

    def __init__(self, path: str):
        self.path = path
        self._library = ctypes.CDLL(path)
        for name, arguments in FUNCTIONS.items():
            function = getattr(self._library, name)
            function.argtypes = arguments
            function.restype = _Int
        for name, argument in (("gc3GetErrorString", _Int), ("gc3GetLastError", _Pointer)):
            function = getattr(self._library, name)
            function.argtypes = [argument]
            function.restype = _Text

    def result(self, name: str, *arguments: object) -> int:
        """Calls the function, and returns its result code."""
        return int(getattr(self._library, name)(*arguments))

    def error(self, code: int, handle: Optional[int] = None) -> errors.Error:
        """Returns the exception for `code`, with the text of the last error on the communicator or of this thread."""
        text: bytes = self._library.gc3GetLastError(handle) or self._library.gc3GetErrorString(code)
        return error_of(code, text.decode(errors="replace"))

    def call(self, name: str, *arguments: object) -> None:
        """Calls the function. Raises the exception of its result code, with the text of this thread's last error."""
        code = self.result(name, *arguments)
        if code != RESULTS["gc3Success"]:
            raise self.error(code)


def prefix() -> pathlib.Path:
    """Returns the folder of the installation that contains this package: PREFIX/lib/python3/dist-packages/gc3.

    It is the root folder if the package lies in fewer folders.
    """
    parents = pathlib.Path(__file__).resolve().parents
    return parents[min(4, len(parents) - 1)]


def _source_tree() -> Optional[pathlib.Path]:
    """Returns the root of gc3's source tree if this package lies in one."""
    root = pathlib.Path(__file__).resolve().parents[2]
    return root if (root / "runtime/include/gc3.h").exists() else None


def build_folders() -> List[pathlib.Path]:
    """Returns the build folders of the source checkout that contains this package, the newest first."""
    root = _source_tree()
    if root is None:
        return []
    return sorted((cache.parent for cache in root.glob("build/*/CMakeCache.txt")),
                  key=lambda folder: folder.stat().st_mtime, reverse=True)


def _candidates() -> Iterator[Tuple[str, str]]:
    """Yields the places of libgc3, in the order of precedence, with a description of each."""
    named = os.environ.get("GC3_LIBRARY")
    if named:
        yield named, "GC3_LIBRARY"
        return
    inside = pathlib.Path(__file__).resolve().parent / "lib"
    built = [folder / "runtime/api" for folder in build_folders()]
    installed = [prefix() / "lib", *sorted((prefix() / "lib").glob("*-linux-gnu")), prefix() / "lib64"]
    for folder in [inside, *built, *installed]:
        if (folder / _NAME).exists():
            yield str(folder / _NAME), f"'{folder}'"
    yield _NAME, "the search path of the linker"


def _load_first() -> Library:
    path, place = next(_candidates())
    try:
        return Library(path)
    except OSError as reason:
        raise errors.LibraryError(f"cannot load libgc3 from {place}: {reason}; install the package 'libgc3-0', or set "
                                  "GC3_LIBRARY to the path of libgc3.so") from None
    except AttributeError as reason:
        raise errors.LibraryError(f"'{path}' is not the libgc3 of this package: {reason}") from None


@functools.lru_cache(maxsize=None)
def library() -> Library:
    """Loads libgc3 at the first call. Raises LibraryError if it is missing, or of another version."""
    loaded = _load_first()
    version = _Int()
    loaded.call("gc3GetVersion", version)
    if version.value // 100 != VERSION // 100:
        raise errors.LibraryError(f"'{loaded.path}' is libgc3 {version_text(version.value)}, and this package needs "
                                  f"{version_text(VERSION // 100 * 100)[:-1]}x; install both from one build")
    return loaded


def version_text(number: int) -> str:
    """Returns the text of a GC3_VERSION.

    >>> version_text(100)
    '0.1.0'
    """
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
