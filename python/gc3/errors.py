# SPDX-License-Identifier: Apache-2.0
"""The exceptions of gc3: one class for each kind of error, all derived from :class:`Error`.

>>> issubclass(TimeoutError, Error) and issubclass(TimeoutError, builtins.TimeoutError)
True
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Tuple


class Error(Exception):
    """Base class of all errors of gc3.

    ``code`` is the number of the ``gc3Result_t`` in ``gc3.h``, or None if the error does not come from libgc3.
    """

    def __init__(self, message: str, code: Optional[int] = None):
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.code)


class CudaError(Error):
    """A CUDA call failed. The text names the call and the reason."""


class ResourceError(Error):
    """The operating system refused a file, memory, a port or a thread."""


class InternalError(Error):
    """A bug of gc3."""


class ArgumentError(Error, ValueError):
    """An argument is out of range, has the wrong shape or type, or overlaps another."""


class UsageError(Error):
    """The calls of the ranks do not match, the order of calls is wrong, or this gc3 lacks a part that is needed."""


class RemoteError(Error):
    """Another rank has ended, has left or has failed. The text names it."""


class TimeoutError(Error, builtins.TimeoutError):
    """A rank did not make its call in time, or a kernel did not end in time."""


class DeadlockError(Error):
    """The program cannot continue. The text lists which thread block waits for which."""


class NoProgramError(Error, LookupError):
    """The bundle has no program for the call."""


class BundleError(Error):
    """The file is not a valid bundle, or a program of it lacks a proof."""


class LibraryError(Error, ImportError):
    """libgc3 is missing, or has another version than this package."""


class ToolError(Error):
    """A tool of gc3 is missing or failed. The text is the tool's own, if it wrote one."""


@dataclass(frozen=True)
class Place:
    """A range of a source file. Lines and columns count from 1. Columns count bytes. The end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @staticmethod
    def from_json(message: Mapping[str, Any]) -> Optional[Place]:
        """Returns the place of a message of ``gc3c --diagnostics=json``; None if it has none."""
        if "file" not in message:
            return None
        begin, end = message["begin"], message["end"]
        return Place(message["file"], begin["line"], begin["column"], end["line"], end["column"])


@dataclass(frozen=True)
class Note:
    """A remark about a diagnostic, with a related place or without one."""

    message: str
    place: Optional[Place]


@dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler.

    ``severity`` is ``"error"``, ``"warning"``, ``"remark"`` or ``"note"``. ``id`` is stable, such as
    ``"unknown-name"``; ``gc3c --explain=ID`` explains it. ``place`` is None for messages without a place.
    """

    severity: str
    id: str
    message: str
    place: Optional[Place]
    notes: Tuple[Note, ...]

    @staticmethod
    def from_json(message: Mapping[str, Any]) -> Diagnostic:
        """Returns the diagnostic of one line of ``gc3c --diagnostics=json``."""
        notes = tuple(Note(note["message"], Place.from_json(note)) for note in message.get("notes", ()))
        return Diagnostic(message["severity"], message.get("id", ""), message["message"], Place.from_json(message),
                          notes)


class CompileError(Error):
    """A program does not compile. The text is that of ``gc3c``: each error with its source line and carets.

    ``diagnostics`` are the same messages as :class:`Diagnostic` objects, in the same order.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()):
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.diagnostics)
