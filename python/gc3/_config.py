# SPDX-License-Identifier: Apache-2.0
"""Settings of communicators."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional

from . import _checks, _library, errors
from .bundle import StrPath

_TUNES = {
    None: "gc3TuneDefault", "off": "gc3TuneOff", "online": "gc3TuneOnline",
    "online,same-bits": "gc3TuneOnlineSameBits", "online,shapes": "gc3TuneOnlineShapes",
    "online,same-bits,shapes": "gc3TuneOnlineSameBitsShapes",
}
_CHECKS: Dict[str, Callable[[Any, str], Any]] = {
    "timeout": lambda value, name: _checks.real(value, f"{name} in seconds", 0.001, 4_000_000),
    "tune_budget": lambda value, name: _checks.real(value, name, 0, 100),
    "nodes": lambda value, name: _checks.integer(value, name, 1, 65536),
    "slots": lambda value, name: _checks.integer(value, name, 1, 2**32 - 1),
    "programs": _checks.text, "name": _checks.text, "tune_file": _checks.path, "trace": _checks.path,
}


@dataclass(frozen=True)
class Config:
    """Settings of a communicator. All ranks need equal settings. None means the environment variable, else a default.

    Attributes:
        timeout: seconds that ranks wait for each other (``GC3_TIMEOUT_MS``, else 60 on hosts). On GPUs, the time limit
            of a kernel.
        programs: the programs that may serve calls, in the syntax of ``GC3_PROGRAM``, such as ``"allreduce:ring"``.
        tune: online selection among these programs (``GC3_TUNE``): ``"off"``, ``"online"``,
            ``"online,same-bits"``, ``"online,shapes"`` or ``"online,same-bits,shapes"``.
        tune_budget: percent of the time of all calls that online selection may spend on trials
            (``GC3_TUNE_BUDGET``, else 2), at most 100. 0 freezes choices.
        tune_file: file of the times that online selection learns (``GC3_TUNE_FILE``).
        trace: file of the times of all instructions, in Chrome's format (``GC3_TRACE``).
        name: name of the communicator, for ``programs`` and the log.
        nodes: number of nodes on which the ranks are, for programs that are for a number of nodes; by default,
            ranks that share a host share a node.
        slots: FIFO slots per connection, at least 1; by default those of the program.
        allow_unproven: also run programs that gc3c has not proved (``GC3_ALLOW_UNPROVEN``).

    Raises ArgumentError if a value has another type or is out of range.
    """

    timeout: Optional[float] = None
    programs: Optional[str] = None
    tune: Optional[str] = None
    tune_budget: Optional[float] = None
    tune_file: Optional[StrPath] = None
    trace: Optional[StrPath] = None
    name: Optional[str] = None
    nodes: Optional[int] = None
    slots: Optional[int] = None
    allow_unproven: bool = False

    def __post_init__(self) -> None:
        if self.tune not in list(_TUNES):
            raise errors.ArgumentError(f"tune is {', '.join(repr(name) for name in _TUNES)}, not {self.tune!r}")
        if self.allow_unproven not in (False, True):
            raise errors.ArgumentError(f"allow_unproven is False or True, not {self.allow_unproven!r}")
        for name, check in _CHECKS.items():
            value = getattr(self, name)
            if value is not None:
                check(value, name)

    def _common(self) -> Dict[str, Any]:
        return {
            "slots": self.slots or 0, "timeoutMs": round((self.timeout or 0) * 1000),
            "allowUnproven": int(self.allow_unproven), "trace": _path(self.trace),
            "programs": self.programs.encode() if self.programs is not None else None,
            "tune": _library.TUNES[_TUNES[self.tune]], "tuneBudget": -1 if self.tune_budget == 0 else self.tune_budget or 0,
            "tuneFile": _path(self.tune_file), "nodes": self.nodes or 0,
            "name": self.name.encode() if self.name is not None else None,
        }

    def host(self) -> _library.HostConfig:
        """Returns the gc3HostConfig_t."""
        return _library.HostConfig(size=ctypes.sizeof(_library.HostConfig), **self._common())

    def gpu(self) -> _library.GpuConfig:
        """Returns the gc3GpuConfig_t."""
        return _library.GpuConfig(size=ctypes.sizeof(_library.GpuConfig), **self._common())


def _path(name: Optional[StrPath]) -> Optional[bytes]:
    return None if name is None else os.fsencode(name)
