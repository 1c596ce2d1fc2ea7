# SPDX-License-Identifier: Apache-2.0
"""Communicators on the ranks of a PyTorch process group.

A group on CPUs carries the id of a host communicator. A group on GPUs has an NCCL communicator, which gc3 uses.
"""

from __future__ import annotations

import importlib
from typing import Any, Optional, Protocol

from . import errors


class Store(Protocol):
    """A key-value store that all processes share, such as PyTorch's TCPStore. ``get`` waits until the key is set."""

    def set(self, key: str, value: Any) -> None:
        """Sets the value of a key."""

    def get(self, key: str) -> Any:
        """Waits until the key is set, and returns its value."""


def share_id_over_store(store: Store, key: str, rank: int) -> bytes:
    """Returns the id of a new communicator, which is identical on all ranks. Rank 0 creates it."""
    from .communicator import unique_id
    if rank == 0:
        store.set(key, unique_id().hex())
    value = store.get(key)
    return bytes.fromhex(value.decode() if isinstance(value, bytes) else value)


def share_id_over_group(group: Any) -> bytes:
    """Like share_id_over_store, over a PyTorch process group. All ranks of the group call this."""
    from .communicator import unique_id
    distributed = importlib.import_module("torch").distributed
    message = [None]
    if distributed.get_rank(group) == 0:
        message = [_or_error(unique_id)]
    distributed.broadcast_object_list(message, src=_global_rank_of_first(group), group=group)
    received: Any = message[0]
    if isinstance(received, Exception):
        raise received
    assert isinstance(received, bytes)
    return received


def _or_error(function: Any) -> Any:
    """Returns the function's result, or its error, so that the other ranks get this error, too, and do not wait."""
    try:
        return function()
    except errors.Error as error:
        return error


def _global_rank_of_first(group: Any) -> int:
    """Returns the rank of the group's rank 0 in the whole job."""
    distributed = importlib.import_module("torch").distributed
    if group is None or group is distributed.group.WORLD:
        return 0
    return int(distributed.distributed_c10d.get_global_rank(group, 0))


def description(group: Any) -> Optional[str]:
    """Returns the description that the application has given to a group; None if PyTorch has none."""
    whole = importlib.import_module("torch").distributed.group.WORLD
    found: Optional[str] = getattr(group if group is not None else whole, "group_desc", None)
    return found


def device_of(group: Any) -> str:
    """Returns the kind of device that a PyTorch process group is for: ``"cuda"`` if it has only NCCL, else ``"cpu"``.

    A group for both has a backend such as ``"cpu:gloo,cuda:nccl"``, or ``"undefined"`` if the application names none.
    """
    backends = str(importlib.import_module("torch").distributed.get_backend(group)).split(",")
    return "cuda" if all(backend.rpartition(":")[2] == "nccl" for backend in backends) else "cpu"


def nccl_pointer(group: Any, device: Any = None) -> int:
    """Returns the address of the NCCL communicator of a PyTorch process group on a GPU; None is the current GPU.

    `group` can also be the ProcessGroupNCCL itself. All ranks of the group call this. Raises UsageError if the process
    has no GPU, if the group does not run on GPUs, or if this PyTorch does not give its communicator.
    """
    torch = importlib.import_module("torch")
    group = group if group is not None else torch.distributed.group.WORLD
    if device is None:
        if not torch.cuda.is_available():
            raise errors.UsageError("this process has no GPU: pass device='cpu' for a communicator on the host")
        device = torch.device("cuda", torch.cuda.current_device())
    get_backend = getattr(group, "_get_backend", None)
    try:
        backend = get_backend(device) if get_backend else group
    except RuntimeError as reason:
        raise errors.UsageError(f"the process group does not run on GPUs: {reason}") from None
    if not hasattr(backend, "_comm_ptr"):
        raise errors.UsageError(f"PyTorch {torch.__version__} does not give the NCCL communicator of a process group; "
                                "use PyTorch 2.8 or newer, or load libgc3nccl.so before NCCL, which needs no PyTorch")
    backend.allreduce([torch.zeros(1, device=device)]).wait()  # PyTorch creates the communicator in the first call
    pointer: Optional[int] = backend._comm_ptr()
    if not pointer:
        raise errors.UsageError("the process group has no NCCL communicator on this GPU; select the GPU of this rank "
                                "by torch.cuda.set_device before the group's first collective")
    return pointer
