# SPDX-License-Identifier: Apache-2.0
"""The programs of a process group: bundles, and a communicator for each of them."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, List, Optional, Sequence, Union

import torch

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


def backend_of(group: Any, device: torch.device) -> Any:
    """Returns PyTorch's own backend of a process group for a device; the group itself in PyTorch 1."""
    get_backend = getattr(group, "_get_backend", None)
    return get_backend(device) if get_backend else group


def nccl_pointer(backend: Any, device: torch.device) -> int:
    """Returns the address of the NCCL communicator of a ProcessGroupNCCL on a GPU, which is the current one.

    All ranks call this. Raises UsageError if this PyTorch does not give it.
    """
    if not hasattr(backend, "_comm_ptr"):
        raise errors.UsageError(f"PyTorch {torch.__version__} does not give the NCCL communicator of a process group; "
                                "PyTorch 2.8 and newer do")
    backend.allreduce([torch.zeros(1, device=device)]).wait()  # PyTorch creates the communicator in the first call
    return int(backend._comm_ptr())
