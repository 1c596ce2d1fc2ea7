# SPDX-License-Identifier: Apache-2.0
"""Bundles: files with the compiled programs of collectives."""

from __future__ import annotations

import ctypes
import os
import shutil
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple, Union

from . import _library, errors
from ._source import Source

StrPath = Union[str, "os.PathLike[str]"]

_PROOFS = ("structure", "no deadlock", "postcondition", "no races")
_NO_LIMIT = 2**64 - 1


@dataclass(frozen=True)
class Program:
    """A program of a bundle.

    Sizes are bytes of the larger of one rank's input and output. ``max_bytes`` is exclusive; None means no limit.
    ``form`` is the collective with its arguments, such as ``"shift(n = 4, by = 1)"``. ``proofs`` are the properties
    that the compiler has proved.
    """

    name: str
    collective: str
    form: str
    ranks: int
    min_bytes: int
    max_bytes: Optional[int]
    in_place: bool
    proofs: Tuple[str, ...]
    digest: str


def _program(info: _library.ProgramInfo) -> Program:
    return Program(
        name=info.name.decode(), collective=info.collective.decode(), form=info.form.decode(), ranks=info.ranks,
        min_bytes=info.minBytes, max_bytes=None if info.maxBytes == _NO_LIMIT else info.maxBytes,
        in_place=bool(info.inPlace), proofs=tuple(name for bit, name in enumerate(_PROOFS) if info.verified >> bit & 1),
        digest=f"{info.digest:016x}")


class Bundle:
    """The compiled programs of a file.

    :func:`gc3.compile` makes bundles; ``Bundle(path)`` opens a ``.gc3b`` file. Such a file must not change while the
    bundle is in use. Raises BundleError if the file is no valid bundle.

    Attributes:
        path: the ``.gc3b`` file.
        programs: the programs, in the order of the file.
    """

    def __init__(self, path: StrPath, source: Optional[Source] = None):
        self.path = os.fspath(path)
        self.source = source
        self._handle = ctypes.c_void_p()
        _library.library().call("gc3BundleLoad", self._handle, os.fsencode(self.path))
        self.programs = self._read_programs()

    def _read_programs(self) -> Tuple[Program, ...]:
        library = _library.library()
        count = ctypes.c_int()
        library.call("gc3BundleProgramCount", self._handle, count)
        programs = []
        for index in range(count.value):
            info = _library.ProgramInfo(size=ctypes.sizeof(_library.ProgramInfo))
            library.call("gc3BundleProgramInfo", self._handle, index, info)
            programs.append(_program(info))
        return tuple(programs)

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            _library.library().result("gc3BundleFree", handle)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Bundle, (self.path, self.source)

    def __repr__(self) -> str:
        return f"<gc3.Bundle of {', '.join(f'{program.name} ({program.ranks} ranks)' for program in self.programs)}>"

    @property
    def handle(self) -> ctypes.c_void_p:
        """The ``gc3Bundle_t``. It belongs to this object."""
        return self._handle

    def elements(self, index: int, rank: int, count: int) -> Tuple[int, int]:
        """Returns the numbers of elements of a rank's input and output in program `index`, for `count` per block."""
        inputs, outputs = ctypes.c_size_t(), ctypes.c_size_t()
        _library.library().call("gc3ProgramElements", self._handle, index, rank, count, inputs, outputs)
        return inputs.value, outputs.value

    def save(self, path: StrPath) -> None:
        """Copies the bundle to a file, for example for ``GC3_BUNDLES``. Replaces the file at once, or not at all."""
        target = os.fspath(path)
        temporary = f"{target}.{os.getpid()}.tmp"
        try:
            shutil.copyfile(self.path, temporary)
            os.replace(temporary, target)
        except OSError as reason:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise errors.ResourceError(f"cannot write '{target}': {reason.strerror}") from reason


def open_bundle(bundle: Union[Bundle, StrPath]) -> Bundle:
    """Returns the bundle itself, or opens the ``.gc3b`` file."""
    return bundle if isinstance(bundle, Bundle) else Bundle(bundle)
