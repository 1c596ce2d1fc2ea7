# SPDX-License-Identifier: Apache-2.0
"""AllToAll between the ranks of any process group, by the Two-Step AllToAll of the GC3 paper (section 7.3)."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any, Dict, Optional, Sequence, Union

import torch

from .. import errors, rendezvous
from ..communicator import Communicator
from . import _standard
from ._pytorch import cuda, dist
from .operators import exchange, executor

_SOURCE = """
import "std/allpairs.gc3";
import "std/alltoall.gc3";

param N: int = 1;
param G: int = 2;

program alltoall implements alltoall(ranks = N * G) {
    if N > 1 && G > 1 {
        twostep_alltoall(0..N * G, G);
    } else {
        direct_alltoall(0..N * G);
    }
}
program agreement implements allreduce(ranks = N * G, chunks = N * G, inplace = true) {
    allpairs_allreduce(0..N * G, input);
}
"""

# The communicators of each group, by device.
_communicators: "weakref.WeakKeyDictionary[Any, Dict[str, Communicator]]" = weakref.WeakKeyDictionary()


def all_to_all_communicator(group: Optional[Any] = None,
                            device: Union[torch.device, str, None] = None) -> Communicator:
    """Returns the communicator of :func:`all_to_all_single` for a process group; None is the default group.

    The first call for a group and a device creates it: all ranks of the group make this call. `device` is the device of
    the tensors; None is the current GPU for a group of NCCL alone, and the CPU for others.
    :func:`gc3.torch.all_to_all` takes the communicator, too. Raises ArgumentError for a group of one rank.
    """
    group = group if group is not None else dist.group.WORLD
    if device is None:
        device = f"cuda:{cuda.current_device()}" if rendezvous.device_of(group) == "cuda" else "cpu"
    known = _communicators.setdefault(group, {})
    if str(device) not in known or known[str(device)].is_closed:
        known[str(device)] = _create(group, torch.device(device))
    return known[str(device)]


def _create(group: Any, device: torch.device) -> Communicator:
    size = dist.get_world_size(group)
    if size == 1:
        raise errors.ArgumentError("the process group has one rank, and gc3 has no programs for one rank")
    ranks = [dist.distributed_c10d.get_global_rank(group, rank) for rank in range(size)]
    wiring = _standard.wiring(ranks, _standard.ranks_per_node(dist.get_world_size()))
    bundle = _standard.compile_for(wiring, _SOURCE)
    with cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():
        return Communicator.from_process_group(group, bundle, device=device.type)


def all_to_all_single(output: torch.Tensor, input: torch.Tensor, output_split_sizes: Optional[Sequence[int]] = None,
                      input_split_sizes: Optional[Sequence[int]] = None, group: Optional[Any] = None,
                      async_op: bool = False) -> Any:
    """Sends block q of `input` of rank r to block r of `output` of rank q, like torch.distributed.all_to_all_single.

    Between nodes, each GPU first gathers the blocks of its node for a GPU of the other node, and sends them as one
    message: the Two-Step AllToAll. The nodes are those of torchrun (``LOCAL_WORLD_SIZE``); in one node, and if a group
    has another number of ranks on each node, the ranks exchange blocks directly.

    Args:
        output: a tensor with as many elements as `input`, of the same type.
        input: a tensor of any type, whose first dimension is a multiple of the number of ranks.
        output_split_sizes, input_split_sizes: None, or equal numbers. If a rank passes them, all ranks do: then the
            ranks first agree that all are equal.
        group: a process group of any backend; None is the default group.
        async_op: return a Work at once.

    Raises ArgumentError on all ranks if a rank's splits are unequal.
    """
    communicator = all_to_all_communicator(group, input.device)
    if output_split_sizes is not None or input_split_sizes is not None:
        _require_equal(communicator, input, (output_split_sizes, output), (input_split_sizes, input))
    work = exchange(communicator, input, output)
    if async_op:
        return work
    work.wait()
    return None


def _require_equal(communicator: Communicator, like: torch.Tensor, *buffers: Any) -> None:
    """Raises ArgumentError on all ranks if a rank has unequal splits."""
    unequal = [list(splits) for splits, tensor in buffers
               if splits and list(splits) != [tensor.shape[0] / communicator.size] * communicator.size]
    answer = torch.tensor([len(unequal)], dtype=torch.int32, device=like.device)
    # Asynchronous calls can still run: the executor makes this call after them.
    executor(communicator, like.device).submit(lambda: communicator.all_reduce(answer, op="max"), [answer]).wait()
    if answer.item():
        splits = f"the splits {unequal[0]} of this rank" if unequal else "the splits of another rank"
        raise errors.ArgumentError(
            f"{splits} are unequal: a program of gc3 moves blocks of equal size, and its language has no blocks whose size a "
            "call determines; pad the blocks to equal sizes, or call torch.distributed.all_to_all_single")
