# SPDX-License-Identifier: Apache-2.0
"""The calls of torch.distributed as calls of gc3: each names its collective, and how a program or PyTorch runs it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

import torch

from .._library import TYPES
from ..arrays import _TYPE_OF_NAME
from ..communicator import Communicator
from ._pytorch import dist

Tensors = List[torch.Tensor]

# The element types of gc3.h that this PyTorch has.
_TYPES: Dict[torch.dtype, int] = {
    getattr(torch, name): TYPES[ours] for name, ours in _TYPE_OF_NAME.items() if hasattr(torch, name)}
_NAMES = {"SUM": "sum", "PRODUCT": "prod", "MAX": "max", "MIN": "min", "AVG": "avg"}


@dataclass(frozen=True)
class Call:
    """A collective call on one rank.

    A program of `collective` can run it if `refusal` is None; else `refusal` is the reason. `count` is the number of
    elements of a block, and `type` the gc3DataType_t. `run` runs the call on a communicator, and `fall_back` on a
    process group of PyTorch. Whether a program runs the call depends only on what is the same on all ranks.
    """

    collective: str
    count: int
    type: int
    run: Callable[[Communicator], Any]
    fall_back: Callable[[Any], Any]
    root: int = -1
    refusal: Optional[str] = None


def reduction_name(op: Any) -> Optional[str]:
    """Returns gc3's name of a ReduceOp; None if gc3 does not have this reduction."""
    for name, ours in _NAMES.items():
        if op == getattr(dist.ReduceOp, name):
            return ours
    return None


def only(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Returns the tensor of a list of one."""
    if len(tensors) != 1:
        raise ValueError(f"a call has one tensor per rank, not {len(tensors)}")
    return tensors[0]


def raw(x: torch.Tensor) -> torch.Tensor:
    """Returns the elements of a contiguous tensor as a vector; as bytes if gc3 does not have its element type."""
    flat = x.detach().reshape(-1)
    return flat if x.dtype in _TYPES else flat.view(torch.uint8)


def join(xs: Sequence[torch.Tensor]) -> torch.Tensor:
    """Returns the elements of all tensors in one vector."""
    return torch.cat([raw(x.contiguous()) for x in xs])


@contextlib.contextmanager
def dense(x: torch.Tensor, *, is_read: bool = True) -> Iterator[torch.Tensor]:
    """Yields an output as a contiguous tensor, and copies the result into `x` if this is another tensor."""
    if x.is_contiguous():
        yield x
        return
    copy = x.contiguous() if is_read else torch.empty_like(x, memory_format=torch.contiguous_format)
    yield copy
    x.copy_(copy)


_SPARSE = "gc3 has no sparse tensors"


def _with_equal_sizes(call: Call, tensors: Sequence[torch.Tensor]) -> Call:
    """Returns the call, with a refusal if the sizes of the ranks' tensors differ. All ranks pass the same sizes."""
    if call.refusal is None and any(tensor.numel() != tensors[0].numel() for tensor in tensors):
        return replace(call, refusal="blocks of gc3 have equal sizes")
    return call


def _copying(collective: str, x: torch.Tensor, blocks: int, run: Callable[[Communicator], Any],
             fall_back: Callable[[Any], Any], root: int = -1) -> Call:
    """Returns a call that moves the elements of `x`, which are `blocks` blocks. It can have elements of any type."""
    if x.layout is not torch.strided:
        return Call(collective, 0, 0, run, fall_back, root, _SPARSE)
    type = _TYPES.get(x.dtype, _TYPES[torch.uint8])
    scale = 1 if x.dtype in _TYPES else x.element_size()
    return Call(collective, x.numel() * scale // blocks, type, run, fall_back, root)


def _reducing(collective: str, x: torch.Tensor, blocks: int, op: Any, run: Callable[[Communicator, str], Any],
              fall_back: Callable[[Any], Any], root: int = -1) -> Call:
    """Returns a call that reduces the elements of `x`, which are `blocks` blocks."""
    name = reduction_name(op)
    refusal = None
    if x.layout is not torch.strided:
        return Call(collective, 0, 0, lambda comm: run(comm, ""), fall_back, root, _SPARSE)
    if x.dtype not in _TYPES:
        refusal = f"gc3 cannot reduce elements of type {str(x.dtype).rpartition('.')[2]}"
    elif name is None:
        refusal = "gc3 does not have this reduction"
    return Call(collective, x.numel() // blocks, _TYPES.get(x.dtype, 0), lambda comm: run(comm, name or ""), fall_back,
                root, refusal)


def all_reduce(x: torch.Tensor, op: Any, fall_back: Callable[[Any], Any]) -> Call:
    """Reduces the tensors of all ranks, in place."""
    def run(comm: Communicator, name: str) -> None:
        with dense(x) as data:
            comm.all_reduce(raw(data), op=name)
    return _reducing("allreduce", x, 1, op, run, fall_back)


def reduce(x: torch.Tensor, op: Any, root: int, fall_back: Callable[[Any], Any]) -> Call:
    """Reduces the tensors of all ranks into that of the root."""
    def run(comm: Communicator, name: str) -> None:
        with dense(x) as data:
            comm.reduce(raw(data), op=name, root=root)
    return _reducing("reduce", x, 1, op, run, fall_back, root)


def reduce_scatter(out: torch.Tensor, x: torch.Tensor, size: int, op: Any, fall_back: Callable[[Any], Any]) -> Call:
    """Reduces the tensors of all ranks. Each of the `size` ranks gets its block."""
    def run(comm: Communicator, name: str) -> None:
        with dense(out, is_read=False) as data:
            comm.reduce_scatter(raw(x.contiguous()), raw(data), op=name)
    return _reducing("reduce_scatter", x, size, op, run, fall_back)


def broadcast(x: torch.Tensor, root: int, fall_back: Callable[[Any], Any]) -> Call:
    """Copies the root's tensor to all ranks."""
    def run(comm: Communicator) -> None:
        with dense(x) as data:
            comm.broadcast(raw(data), root=root)
    return _copying("broadcast", x, 1, run, fall_back, root)


def all_gather(out: torch.Tensor, x: torch.Tensor, fall_back: Callable[[Any], Any]) -> Call:
    """Concatenates the tensors of all ranks."""
    def run(comm: Communicator) -> None:
        with dense(out, is_read=False) as data:
            comm.all_gather(raw(x.contiguous()), raw(data))
    return _copying("allgather", x, 1, run, fall_back)


def all_gather_list(outs: Sequence[torch.Tensor], x: torch.Tensor, fall_back: Callable[[Any], Any]) -> Call:
    """Copies the tensor of each rank to an output of its own."""
    def run(comm: Communicator) -> None:
        _split(comm.all_gather(raw(x.contiguous())), outs)
    return _with_equal_sizes(_copying("allgather", x, 1, run, fall_back), outs)


def reduce_scatter_list(out: torch.Tensor, xs: Sequence[torch.Tensor], op: Any,
                        fall_back: Callable[[Any], Any]) -> Call:
    """Like reduce_scatter, with one input for each rank."""
    def run(comm: Communicator, name: str) -> None:
        with dense(out, is_read=False) as data:
            comm.reduce_scatter(join(xs), raw(data), op=name)
    return _with_equal_sizes(_reducing("reduce_scatter", out, 1, op, run, fall_back), xs)


def all_to_all(out: torch.Tensor, x: torch.Tensor, size: int, fall_back: Callable[[Any], Any]) -> Call:
    """Exchanges equal blocks between all pairs of ranks."""
    def run(comm: Communicator) -> None:
        with dense(out, is_read=False) as data:
            comm.all_to_all(raw(x.contiguous()), raw(data))
    return _copying("alltoall", x, size, run, fall_back)


def gather(outs: Optional[Sequence[torch.Tensor]], x: torch.Tensor, root: int, fall_back: Callable[[Any], Any]) -> Call:
    """Copies the tensor of each rank to an output on the root. `outs` is None on other ranks."""
    def run(comm: Communicator) -> None:
        gathered = comm.gather(raw(x.contiguous()), root=root)
        if outs is not None:
            _split(gathered, outs)
    return _copying("gather", x, 1, run, fall_back, root)


def scatter(out: torch.Tensor, xs: Optional[Sequence[torch.Tensor]], root: int,
            fall_back: Callable[[Any], Any]) -> Call:
    """Copies an input of the root to each rank. `xs` is None on other ranks."""
    def run(comm: Communicator) -> None:
        with dense(out, is_read=False) as data:
            comm.scatter(None if xs is None else join(xs), raw(data), root=root)
    return _copying("scatter", out, 1, run, fall_back, root)


def _split(joined: Any, outs: Sequence[torch.Tensor]) -> None:
    """Copies equal parts of a vector to the outputs."""
    for part, out in zip(joined.chunk(len(outs)), outs):
        out.copy_(part.view(out.dtype).view(out.shape))
