# SPDX-License-Identifier: Apache-2.0
"""The programs of a process group: bundles, and a communicator for each of them."""

from __future__ import annotations

import ctypes
from typing import Callable, List, Optional, Sequence, Union

from .. import _library, errors
from ..bundle import Bundle
from ..communicator import Communicator

BundleOrPath = Union[Bundle, str]
_NO_ROOT = -1


class Programs:
    """The communicators of a group on one kind of device, in the order of precedence of their bundles."""

    def __init__(self, bundles: Sequence[BundleOrPath], create: Callable[[BundleOrPath, int], Communicator]):
        """Creates a communicator for each bundle. `create` gets the bundle and its number; all ranks call it."""
        self._communicators: List[Communicator] = []
        try:
            for number, bundle in enumerate(bundles):
                self._communicators.append(create(bundle, number))
        except BaseException:
            self.abort()
            raise

    def choose(self, collective: str, count: int, type: int, root: int = _NO_ROOT) -> Optional[Communicator]:
        """Returns the communicator of the first bundle that has a program for a call; None if no bundle has one.

        `count` and `type` are those of gc3.h. The answer is the same on all ranks.
        """
        name = ctypes.c_char_p()
        for communicator in self._communicators:
            try:
                _library.library().call("gc3SelectProgram", communicator.handle, collective.encode(), count, type, root,
                                        name)
                return communicator
            except errors.NoProgramError:
                continue
        return None

    def close(self) -> None:
        """Frees all communicators. No call may be running."""
        for communicator in self._communicators:
            communicator.close()

    def abort(self) -> None:
        """Frees all communicators, although calls may be running."""
        for communicator in self._communicators:
            communicator.abort()
