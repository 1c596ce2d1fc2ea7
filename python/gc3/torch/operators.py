# SPDX-License-Identifier: Apache-2.0
"""Operators: collectives as functions of tensors, which torch.compile traces and autograd differentiates.

Each operator ``torch.ops.gc3.NAME`` has implementations for CPU and CUDA, for meta tensors (shapes only) and for
autograd. Operators are pure: they return new tensors. ``all_gather``, ``all_to_all`` and ``broadcast`` move elements of
any type, as bytes. The last argument is the name of a registered communicator, because the arguments of an operator are
tensors, numbers and texts.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import weakref
from typing import Any, Callable, Iterator, Optional, Sequence, Tuple, Union

import torch

from .. import arrays, errors
from ..communicator import Communicator
from ._calls import dense, raw
from ._executors import StreamExecutor, ThreadExecutor
from ._pytorch import library, ops
from ._work import Work

CommunicatorLike = Union[Communicator, str]

_communicators: "weakref.WeakValueDictionary[str, Communicator]" = weakref.WeakValueDictionary()
_executors: "weakref.WeakKeyDictionary[Communicator, Any]" = weakref.WeakKeyDictionary()
_numbers = itertools.count()


def register(communicator: Communicator, name: Optional[str] = None) -> str:
    """Gives a communicator a name, by which operators find it. Returns the name.

    All ranks must give the same name, because compiled graphs contain it. Without `name`, the name is a new one; it is
    the same on all ranks if they register their communicators in the same order. A communicator that already has this
    name keeps it. Raises ArgumentError if another communicator has the name.

    The functions of this module also take the communicator itself, and register it at its first use. Inside of
    functions that torch.compile traces, pass the name.
    """
    known = getattr(communicator, "_operator_name", None)
    if known is not None and name in (None, known):
        return str(known)
    chosen = name if name is not None else f"communicator_{next(_numbers)}"
    other = _communicators.get(chosen)
    if other is not None and other is not communicator:
        raise errors.ArgumentError(f"another communicator has the name '{chosen}'")
    _communicators[chosen] = communicator
    setattr(communicator, "_operator_name", chosen)
    return chosen


def registered(name: str) -> Communicator:
    """Returns the communicator with this name. Raises ArgumentError if there is none."""
    communicator = _communicators.get(name)
    if communicator is None:
        raise errors.ArgumentError(f"no communicator has the name '{name}': register it by gc3.torch.register, and "
                                   "keep it")
    return communicator


def _name(communicator: CommunicatorLike) -> str:
    if isinstance(communicator, str):
        return communicator
    if not isinstance(communicator, Communicator):
        raise errors.ArgumentError(f"communicator is a gc3.Communicator or the name of one, not {communicator!r}")
    return register(communicator)


def _op(op: Any) -> str:
    return op if isinstance(op, str) else arrays.op_name(op)


# ---- Shapes ----


Shape = Tuple[Any, ...]


def _same(x: torch.Tensor) -> Shape:
    return tuple(x.shape)


def _joined(x: torch.Tensor, size: int) -> Shape:
    return (size * x.shape[0], *x.shape[1:]) if x.dim() else (size,)


def _part(x: torch.Tensor, size: int) -> Shape:
    if x.dim() == 0 or x.shape[0] % size:
        raise errors.ArgumentError(f"the first dimension of x (shape {tuple(x.shape)}) is not a multiple of {size}, "
                                   "the number of ranks")
    return (x.shape[0] // size, *x.shape[1:])


def _blocks(x: torch.Tensor, size: int) -> Shape:
    _part(x, size)
    return tuple(x.shape)


def _custom(x: torch.Tensor, collective: str, communicator: Communicator) -> Shape:
    """Returns the shape of the output of a collective of the bundle: that of `x`, or a vector."""
    inputs, outputs = communicator._elements("gc3RunCollective", collective)
    if not inputs or not outputs:
        raise errors.ArgumentError(f"rank {communicator.rank} has no {'input' if not inputs else 'output'} in "
                                   f"'{collective}': operators need both; call Communicator.run")
    return tuple(x.shape) if inputs == outputs else (x.numel() // inputs * outputs,)


# ---- Operators ----

_library = library.Library("gc3", "DEF")


def executor(communicator: Communicator, device: torch.device) -> Any:
    """Returns the executor of the communicator's asynchronous calls."""
    if communicator not in _executors:
        made: Any = StreamExecutor(device) if device.type == "cuda" else ThreadExecutor("gc3 operators")
        weakref.finalize(communicator, made.stop).atexit = False
        _executors[communicator] = made
    return _executors[communicator]


@atexit.register
def _end_calls() -> None:
    """Ends the asynchronous calls of the process at its end."""
    for communicator, executor in list(_executors.items()):
        if not executor.stop():
            communicator.abort()
        executor.join()


class _Operator:
    """An operator ``gc3::NAME``.

    `shape(communicator, x, …)` returns the shape of its output, `call(communicator, x, out, …)` runs it, and
    `gradient(g, …, name)` returns the gradient of `x`. The dots stand for the arguments between `x` and the name of
    the communicator. If `is_partial`, a call can leave parts of the output as they are, so that these are zeros.
    """

    def __init__(self, schema: str, shape: Callable[..., Shape], call: Callable[..., Any],
                 gradient: Callable[..., Optional[torch.Tensor]], is_partial: bool = False):
        name = schema.partition("(")[0]
        self._shape = shape
        self._call = call
        self._is_partial = is_partial
        _library.define(schema)
        for key in ("CPU", "CUDA"):
            _library.impl(name, self._run, key)
        _library.impl(name, self._new_output, "Meta")
        self._packet = getattr(ops.gc3, name)
        self._function = _differentiable(self._packet, gradient)
        _library.impl(name, lambda *arguments: self._function.apply(*arguments), "Autograd")

    def __call__(self, x: torch.Tensor, *arguments: Any) -> torch.Tensor:
        result: torch.Tensor = self._packet(x, *arguments)
        return result

    def _new_output(self, x: torch.Tensor, *arguments: Any) -> torch.Tensor:
        shape = self._shape(registered(arguments[-1]), x, *arguments[:-1])
        return x.new_zeros(shape) if self._is_partial else x.new_empty(shape)

    def _task(self, data: torch.Tensor, out: torch.Tensor, arguments: Sequence[Any]) -> Callable[[], Any]:
        communicator = registered(arguments[-1])
        return lambda: self._call(communicator, data, out, *arguments[:-1])

    def _run(self, x: torch.Tensor, *arguments: Any) -> torch.Tensor:
        """Runs the call on the calling thread; after the asynchronous calls so far, if there are any."""
        out, data = self._new_output(x, *arguments), x.detach().contiguous()
        task = self._task(data, out, arguments)
        known = _executors.get(registered(arguments[-1]))
        if known is None:
            task()
        else:
            known.submit(task, [out], [data]).wait()
        return out

    def start(self, x: torch.Tensor, *arguments: Any) -> Work:
        """Starts the call, and returns its Work."""
        if x.requires_grad and torch.is_grad_enabled():
            raise errors.ArgumentError("asynchronous calls have no gradients: pass x.detach(), or async_op=False")
        out, data = self._new_output(x, *arguments), x.detach().contiguous()
        task = self._task(data, out, arguments)
        work: Work = executor(registered(arguments[-1]), x.device).submit(task, [out], [data])
        return work


@contextlib.contextmanager
def _below_autograd() -> Iterator[None]:
    """Lets operators skip their autograd implementation."""
    guard: Any = torch._C._AutoDispatchBelowAutograd()
    if not hasattr(guard, "__enter__"):
        yield  # PyTorch 1: during the life of the object
        return
    with guard:
        yield


def _differentiable(operator: Any, gradient: Callable[..., Optional[torch.Tensor]]) -> Any:
    """Returns an autograd function around the operator's other implementations."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *arguments: Any, **_: Any) -> Any:
            ctx.arguments = arguments[1:]
            with _below_autograd():
                return operator(*arguments)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return (gradient(*gradients, *ctx.arguments), *(None for _ in ctx.arguments))

    return Function


def _no_gradient(name: str) -> Callable[..., Optional[torch.Tensor]]:
    def refuse(*_: Any) -> Optional[torch.Tensor]:
        raise errors.UsageError(f"gc3.torch.{name} has no gradient; pass x.detach()")
    return refuse


def _gradient_of_reduction(g: torch.Tensor, op: str, function: Callable[[], torch.Tensor]) -> torch.Tensor:
    if op not in ("sum", "avg"):
        raise errors.UsageError(f"a reduction by {op!r} has no gradient; 'sum' and 'avg' have one")
    return function()


def _gradient_of_run(g: torch.Tensor, collective: str, op: str, transposed: Optional[str],
                     name: str) -> torch.Tensor:
    if transposed is None:
        raise errors.UsageError(f"the gradient of '{collective}' is unknown: pass transposed, the collective that "
                                "carries gradients back")
    return _run(g, transposed, op, collective, name)


_all_reduce: _Operator = _Operator(
    "all_reduce(Tensor x, str op, str comm) -> Tensor", lambda comm, x, op: _same(x),
    lambda comm, x, out, op: comm.all_reduce(x, out, op),
    lambda g, op, name: _gradient_of_reduction(g, op, lambda: _all_reduce(g, op, name)))
_all_gather: _Operator = _Operator(
    "all_gather(Tensor x, str comm) -> Tensor", lambda comm, x: _joined(x, comm.size),
    lambda comm, x, out: comm.all_gather(raw(x), raw(out)), lambda g, name: _reduce_scatter(g, "sum", name))
_reduce_scatter: _Operator = _Operator(
    "reduce_scatter(Tensor x, str op, str comm) -> Tensor", lambda comm, x, op: _part(x, comm.size),
    lambda comm, x, out, op: comm.reduce_scatter(x, out, op),
    lambda g, op, name: _gradient_of_reduction(g, op, lambda: _scaled(_all_gather(g, name), op, name)))
_all_to_all: _Operator = _Operator(
    "all_to_all(Tensor x, str comm) -> Tensor", lambda comm, x: _blocks(x, comm.size),
    lambda comm, x, out: comm.all_to_all(raw(x), raw(out)), lambda g, name: _all_to_all(g, name))
_broadcast: _Operator = _Operator(
    "broadcast(Tensor x, int root, str comm) -> Tensor", lambda comm, x, root: _same(x),
    lambda comm, x, out, root: comm.broadcast(raw(x), raw(out), root), _no_gradient("broadcast"))
_run: _Operator = _Operator(
    "run(Tensor x, str collective, str op, str? transposed, str comm) -> Tensor",
    lambda comm, x, collective, op, transposed: _custom(x, collective, comm),
    lambda comm, x, out, collective, op, transposed: comm.run(collective, x, out, op), _gradient_of_run,
    is_partial=True)


def _scaled(g: torch.Tensor, op: str, name: str) -> torch.Tensor:
    return g / registered(name).size if op == "avg" else g


# ---- Functions ----


def exchange(communicator: Communicator, x: torch.Tensor, out: torch.Tensor) -> Work:
    """Starts an all_to_all into `out`, after the asynchronous calls so far."""
    for tensor in (x, out):
        _part(tensor, communicator.size)
    if x.dtype != out.dtype:
        raise errors.ArgumentError(f"the input has elements of type {x.dtype}, and the output of type {out.dtype}; "
                                   "they must have the same type")
    run = functools.partial(_exchange, communicator, x.detach(), out)
    work: Work = executor(communicator, x.device).submit(run, [out], [x])
    return work


def _exchange(communicator: Communicator, x: torch.Tensor, out: torch.Tensor) -> None:
    with dense(out, is_read=False) as data:
        communicator.all_to_all(raw(x.contiguous()), raw(data))


def _start_or_run(operator: _Operator, async_op: bool, x: torch.Tensor, *arguments: Any) -> Union[torch.Tensor, Work]:
    return operator.start(x, *arguments) if async_op else operator(x, *arguments)


def all_reduce(x: torch.Tensor, communicator: CommunicatorLike, op: Any = "sum", *,
               async_op: bool = False) -> Union[torch.Tensor, Work]:
    """Returns the reduction of the tensors of all ranks, element by element.

    Args:
        x: a tensor of any shape, which is the same on all ranks.
        communicator: a Communicator, or the name that :func:`register` returns.
        op: ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"avg"``, or such a ReduceOp of PyTorch. The first and the
            last have gradients.
        async_op: return a Work at once; ``work.wait()`` waits for the call, and ``work.outputs[0]`` is its output.
            Such calls have no gradients.

    The gradient is the reduction of the ranks' gradients, as in ``torch.distributed.nn``.
    """
    return _start_or_run(_all_reduce, async_op, x, _op(op), _name(communicator))


def all_gather(x: torch.Tensor, communicator: CommunicatorLike, *, async_op: bool = False) -> Union[torch.Tensor, Work]:
    """Returns the tensors of all ranks, concatenated along the first dimension.

    Arguments are those of :func:`all_reduce`. The gradient is that of this rank's part, summed over all ranks.
    """
    return _start_or_run(_all_gather, async_op, x, _name(communicator))


def reduce_scatter(x: torch.Tensor, communicator: CommunicatorLike, op: Any = "sum", *,
                   async_op: bool = False) -> Union[torch.Tensor, Work]:
    """Returns this rank's block of the reduction of the tensors of all ranks.

    The first dimension of `x` is a multiple of the number of ranks. Other arguments are those of :func:`all_reduce`.
    """
    return _start_or_run(_reduce_scatter, async_op, x, _op(op), _name(communicator))


def all_to_all(x: torch.Tensor, communicator: CommunicatorLike, *, async_op: bool = False) -> Union[torch.Tensor, Work]:
    """Sends block q of rank r to block r of rank q, for all ranks q and r. Returns the received blocks.

    The first dimension of `x` is a multiple of the number of ranks; a block is an equal part of it. Other arguments are
    those of :func:`all_reduce`. The gradient goes the way back.
    """
    return _start_or_run(_all_to_all, async_op, x, _name(communicator))


def broadcast(x: torch.Tensor, communicator: CommunicatorLike, root: int = 0, *,
              async_op: bool = False) -> Union[torch.Tensor, Work]:
    """Returns the tensor of rank `root`. Other arguments are those of :func:`all_reduce`. There is no gradient."""
    return _start_or_run(_broadcast, async_op, x, root, _name(communicator))


def run(collective: str, x: torch.Tensor, communicator: CommunicatorLike, op: Any = "sum", *,
        transposed: Optional[str] = None, async_op: bool = False) -> Union[torch.Tensor, Work]:
    """Runs a collective of the communicator's bundle, which can be one of the application, and returns its output.

    Args:
        collective: a name, or a name with arguments: ``"shift"``, ``"shift(by = 1)"``. All ranks pass the same text.
        x: the input. This rank's input and output must not be empty; else call ``Communicator.run``.
        transposed: the collective that carries gradients back, such as ``"shift(by = -1)"`` for ``"shift(by = 1)"``.
            Without it, there is no gradient.

    Other arguments are those of :func:`all_reduce`. The output has the shape of `x` if it has as many elements, else it
    is a vector. Parts that the collective does not promise can be zeros.
    """
    return _start_or_run(_run, async_op, x, collective, _op(op), transposed, _name(communicator))
