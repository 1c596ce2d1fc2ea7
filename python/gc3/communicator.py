# SPDX-License-Identifier: Apache-2.0
"""Communicators: ranks that run the programs of a bundle as collectives."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib
import sys
from types import TracebackType
from typing import Any, List, NoReturn, Optional, Tuple, Type, Union

from . import _checks, _forms, _library, arrays, errors, groups, rendezvous
from ._config import Config
from .arrays import View
from .bundle import Bundle, StrPath, open_bundle

_MOST_RANKS = 65536
_UNIQUE_ID_BYTES = ctypes.sizeof(_library.UniqueId)


def unique_id() -> bytes:
    """Returns the id of a new communicator, for :meth:`Communicator.from_id`.

    Call this in the process of rank 0, and carry the bytes to the processes of the other ranks. From then on, the
    process listens on a port, until rank 0 has joined.
    """
    identity = _library.UniqueId()
    _library.library().call("gc3GetUniqueId", identity)
    return bytes(identity)


class Communicator:
    """One rank of a group of ranks, which run the programs of one bundle.

    Create a communicator by one of the methods ``from_…``, or all ranks of a process
    by :meth:`all_ranks`. All ranks make
    the same calls in the same order. A communicator is a context manager, which closes it at the end.

    Arrays are NumPy arrays, PyTorch tensors, or objects with Python's buffer protocol. They must be contiguous; the
    arrays of a call have the same element type and device. A call chooses a program by the collective, the number of
    ranks, the root and the size in bytes. A rank of a host communicator returns from a call when all ranks have made
    it, and releases the interpreter lock meanwhile. Calls of a communicator on GPUs run on PyTorch's current stream.
    Only one thread at a time may use a communicator, except that any thread may call :meth:`abort`.

    All calls raise these errors:
        ArgumentError: the shape or the type of an array does not fit.
        NoProgramError: the bundle has no program for the call.
        UsageError: the ranks' calls do not match, or the communicator is closed.
        TimeoutError: a rank has not made the call in time.
        RemoteError: another rank has ended or has failed. The text names it.

    Attributes:
        rank: this rank, from 0 on.
        size: the number of ranks.
        bundle: the bundle.
        device: the kind of memory of arrays: ``"cpu"`` or ``"cuda"``.
    """

    def __init__(self, handle: ctypes.c_void_p, bundle: Bundle, device: str = "cpu"):
        """Takes over a ``gc3Comm_t``."""
        self._handle: Optional[ctypes.c_void_p] = handle
        self._library = _library.library()
        self.bundle = bundle
        self.device = device
        self.rank = self._query("gc3CommUserRank")
        self.size = self._query("gc3CommCount")

    # ---- Creation ----

    @classmethod
    def from_env(cls, bundle: Union[Bundle, StrPath], config: Config = Config()) -> Communicator:
        """Creates the rank of this process in a job of torchrun, mpirun or srun. Waits until all processes have joined.

        All processes call this the same number of times. Raises UsageError if no launcher has started the process, and
        TimeoutError if a process does not join in time; the text names its rank.
        """
        opened = open_bundle(bundle)
        handle = ctypes.c_void_p()
        _library.library().call("gc3HostCommInitEnv", handle, opened.handle, config.host())
        return cls(handle, opened)

    @classmethod
    def from_id(cls, id: bytes, rank: int, size: int, bundle: Union[Bundle, StrPath],
                config: Config = Config()) -> Communicator:
        """Creates rank `rank` of `size` ranks that share the bytes of one :func:`unique_id`. Waits until all have
        joined.

        Each rank calls this in its own process or thread. Raises TimeoutError if a rank does not join in time.
        """
        if len(id) != _UNIQUE_ID_BYTES:
            raise errors.ArgumentError(f"id has {len(id)} bytes, and gc3.unique_id() returns {_UNIQUE_ID_BYTES}")
        count = _checks.integer(size, "size", 1, _MOST_RANKS)
        own = _checks.integer(rank, "rank", 0, count - 1)
        opened = open_bundle(bundle)
        handle = ctypes.c_void_p()
        identity = _library.UniqueId.from_buffer_copy(id)
        _library.library().call("gc3HostCommInitRank", handle, count, identity, own, opened.handle, config.host())
        return cls(handle, opened)

    @classmethod
    def all_ranks(cls, bundle: Union[Bundle, StrPath], size: Optional[int] = None,
                  config: Config = Config()) -> List[Communicator]:
        """Creates all ranks in this process; element r is rank r.

        Each rank needs its own thread, or one thread makes the calls of all ranks in a :func:`gc3.group`. `size` is
        the number of ranks; it can be omitted if all programs of the bundle have the same number.
        """
        opened = open_bundle(bundle)
        count = _only_size(opened) if size is None else _checks.integer(size, "size", 1, _MOST_RANKS)
        handles = (ctypes.c_void_p * count)()
        _library.library().call("gc3HostCommInitAll", handles, count, opened.handle, config.host())
        return [cls(ctypes.c_void_p(handle), opened) for handle in handles]

    @classmethod
    def from_nccl(cls, pointer: int, bundle: Union[Bundle, StrPath], config: Config = Config()) -> Communicator:
        """Creates a rank on the ranks of an NCCL communicator. Waits until all of its ranks have called this.

        `pointer` is the address of this rank's ``ncclComm_t``, which must outlive the communicator. Its GPU must be
        the current one. Arrays are PyTorch tensors on this GPU. A first call of each program cannot be captured into a
        graph. Raises UsageError if NCCL is older than 2.28.7, or if gc3 was built without CUDA.
        """
        opened = open_bundle(bundle)
        handle, nccl = ctypes.c_void_p(), ctypes.c_void_p(_checks.integer(pointer, "pointer", 1, 2**64 - 1))
        _library.library().call("gc3CommInit", handle, opened.handle, nccl, config.gpu())
        return cls(handle, opened, "cuda")

    @classmethod
    def from_process_group(cls, group: Optional[Any], bundle: Union[Bundle, StrPath],
                           config: Config = Config(), *, device: Optional[str] = None) -> Communicator:
        """Creates a rank on the ranks of a PyTorch process group; None is the default group.

        All ranks of the group call this, with the same `device`: ``"cpu"`` or ``"cuda"``. By default, it is
        ``"cuda"`` if the group's backend is NCCL alone. Groups for both kinds of tensors, such as those of the backend
        gc3 and of ``init_process_group()``, need ``device="cuda"`` for tensors on GPUs.

        On CPUs, the communicator is one of the host. On GPUs, it uses the group's NCCL communicator: select the rank's
        GPU by ``torch.cuda.set_device`` first, and close the communicator before the group is destroyed. Raises
        UsageError if the group does not run on GPUs, or if PyTorch is older than 2.8, which does not give this NCCL
        communicator. The default name of the communicator is the group's `group_desc`.
        """
        if config.name is None:
            config = dataclasses.replace(config, name=rendezvous.description(group))
        kind = rendezvous.device_of(group) if device is None else device
        if kind not in ("cpu", "cuda"):
            raise errors.ArgumentError(f"device is 'cpu', 'cuda' or None, not {device!r}")
        if kind == "cuda":
            return cls.from_nccl(rendezvous.nccl_pointer(group), bundle, config)
        distributed = importlib.import_module("torch").distributed
        identity = rendezvous.share_id_over_group(group)
        return cls.from_id(identity, distributed.get_rank(group), distributed.get_world_size(group), bundle, config)

    @classmethod
    def from_store(cls, store: rendezvous.Store, rank: int, size: int, bundle: Union[Bundle, StrPath],
                   config: Config = Config(), *, key: str = "gc3") -> Communicator:
        """Creates rank `rank` of `size` ranks that share a key-value store, such as PyTorch's TCPStore.

        Each communicator needs its own `key`.
        """
        return cls.from_id(rendezvous.share_id_over_store(store, key, rank), rank, size, bundle, config)

    # ---- Life ----

    def close(self) -> None:
        """Frees the rank. No call on it may be running. Later calls of other ranks fail. May be called again."""
        self._release("gc3CommDestroy")

    def abort(self) -> None:
        """Frees the rank at once, although calls of other ranks or kernels may wait for it; these calls fail.

        Any thread may call this. If all ranks are in one process, a running call of this rank ends at its timeout only.
        """
        self._release("gc3CommAbort")

    def _release(self, function: str) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            self._library.call(function, handle)

    def __enter__(self) -> Communicator:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close() if kind is None else self.abort()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            self._library.result("gc3CommDestroy", handle)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a communicator cannot be copied or pickled: create one in each process")

    def __repr__(self) -> str:
        state = "closed " if self._handle is None else ""
        return f"<{state}gc3.Communicator: rank {self.rank} of {self.size} on {self.device}>"

    @property
    def handle(self) -> ctypes.c_void_p:
        """The ``gc3Comm_t``. It belongs to this object. Raises UsageError if the communicator is closed."""
        if self._handle is None:
            raise errors.UsageError("the communicator is closed")
        return self._handle

    @property
    def is_closed(self) -> bool:
        """True after close() or abort()."""
        return self._handle is None

    def _query(self, function: str) -> int:
        value = ctypes.c_int()
        self._library.call(function, self.handle, value)
        return value.value

    def check(self) -> None:
        """Raises the error of earlier calls on streams, if there was one. Does not wait."""
        result = self._query("gc3CommGetAsyncError")
        if result:
            raise self._library.error(result, self.handle.value)

    # ---- Collectives ----

    def all_reduce(self, x: Any, out: Optional[Any] = None, op: Any = "sum") -> Any:
        """Reduces the arrays of all ranks, element by element. All ranks get the result.

        Args:
            x: an array of any shape, which is the same on all ranks. Without `out`, it is also the output.
            out: the output, with as many elements as `x`.
            op: ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"avg"``.

        Returns the output.
        """
        send = self._input(x)
        receive = self._output(send, x if out is None else out, send.elements, "as many as x")
        self._call("gc3AllReduce", send, receive, send.elements, arrays.op_number(op))
        return receive.array

    def all_gather(self, x: Any, out: Optional[Any] = None) -> Any:
        """Concatenates the arrays of all ranks along the first dimension. All ranks get the result.

        Args:
            x: an array of any shape, which is the same on all ranks. It can be block ``rank`` of `out`.
            out: the output, with ``size`` times the elements of `x`. Without it, a new array of shape
                ``(size * x.shape[0], *x.shape[1:])``; ``(size,)`` for a scalar.

        Returns the output.
        """
        send = self._input(x)
        joined = self._new(send, arrays.join_first(send, self.size), out)
        receive = self._output(send, joined, self.size * send.elements, "those of x for each rank")
        self._call("gc3AllGather", send, receive, send.elements)
        return receive.array

    def reduce_scatter(self, x: Any, out: Optional[Any] = None, op: Any = "sum") -> Any:
        """Reduces the arrays of all ranks, element by element. Rank r gets block r of the result.

        Args:
            x: an array of any shape, which is the same on all ranks; it has ``size`` blocks of equal size.
            out: the output, with the elements of a block; it can be block ``rank`` of `x`. Without it, a new array of
                shape ``(x.shape[0] / size, *x.shape[1:])``.
            op: ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"avg"``.

        Returns the output.
        """
        send = self._input(x)
        block = self._block(send, "x")
        receive = self._output(send, self._new_part(send, out), block, "those of a block of x")
        self._call("gc3ReduceScatter", send, receive, block, arrays.op_number(op))
        return receive.array

    def broadcast(self, x: Any, out: Optional[Any] = None, root: int = 0) -> Any:
        """Copies the array of rank `root` to all ranks.

        Args:
            x: an array of any shape, which is the same on all ranks. Without `out`, it is also the output.
            out: the output, with as many elements as `x`.

        Returns the output.
        """
        send = self._input(x)
        receive = self._output(send, x if out is None else out, send.elements, "as many as x")
        self._call("gc3Broadcast", send, receive, send.elements, self._root(root))
        return receive.array

    def reduce(self, x: Any, out: Optional[Any] = None, op: Any = "sum", root: int = 0) -> Optional[Any]:
        """Reduces the arrays of all ranks, element by element. Rank `root` gets the result.

        Args:
            x: an array of any shape, which is the same on all ranks. Without `out`, it is also the root's output.
            out: the root's output, with as many elements as `x`. Other ranks ignore it.
            op: ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"avg"``.

        Returns the output on the root, None on other ranks.
        """
        send = self._input(x)
        number, root = arrays.op_number(op), self._root(root)
        receive = None
        if self.rank == root:
            receive = self._output(send, x if out is None else out, send.elements, "as many as x")
        self._call("gc3Reduce", send, receive or send, send.elements, number, root)
        return receive.array if receive else None

    def all_to_all(self, x: Any, out: Optional[Any] = None) -> Any:
        """Sends block q of rank r to block r of rank q, for all ranks q and r.

        Args:
            x: an array of any shape, which is the same on all ranks; it has ``size`` blocks of equal size.
            out: the output, with as many elements as `x`; it can be `x` itself. Without it, a new array of the shape
                of `x`.

        Returns the output.
        """
        send = self._input(x)
        block = self._block(send, "x")
        receive = self._output(send, self._new(send, send.shape, out), send.elements, "as many as x")
        self._call("gc3AllToAll", send, receive, block)
        return receive.array

    def gather(self, x: Any, out: Optional[Any] = None, root: int = 0) -> Optional[Any]:
        """Concatenates the arrays of all ranks along the first dimension. Rank `root` gets the result.

        Args:
            x: an array of any shape, which is the same on all ranks. On the root, it can be block ``root`` of `out`.
            out: the root's output, with ``size`` times the elements of `x`. Without it, a new array of shape
                ``(size * x.shape[0], *x.shape[1:])``; ``(size,)`` for a scalar. Other ranks ignore it.

        Returns the output on the root, None on other ranks.
        """
        send, root = self._input(x), self._root(root)
        receive = None
        if self.rank == root:
            joined = self._new(send, arrays.join_first(send, self.size), out)
            receive = self._output(send, joined, self.size * send.elements, "those of x for each rank")
        self._call("gc3Gather", send, receive or send, send.elements, root)
        return receive.array if receive else None

    def scatter(self, x: Optional[Any], out: Optional[Any] = None, root: int = 0) -> Any:
        """Sends block r of the array of rank `root` to rank r.

        Args:
            x: on the root, an array of any shape, which has ``size`` blocks of equal size. Other ranks ignore it, and
                can pass None.
            out: the output, with the elements of a block; on the root, it can be block ``root`` of `x`. The root can
                omit it, and gets a new array of shape ``(x.shape[0] / size, *x.shape[1:])``. Other ranks need it.

        Returns the output.
        """
        root = self._root(root)
        if self.rank == root:
            if x is None:
                raise errors.ArgumentError(f"x is None on rank {root}, which is the root: pass the array to scatter")
            send = self._input(x)
            receive = self._output(send, self._new_part(send, out), self._block(send, "x"), "those of a block of x")
        else:
            if out is None:
                raise errors.ArgumentError(f"out is missing on rank {self.rank}: only the root {root} knows the shape")
            send = receive = self._writable(self._input(out, "out"))
        self._call("gc3Scatter", send, receive, receive.elements, root)
        return receive.array

    # ---- Custom collectives ----

    def run(self, collective: str, x: Optional[Any] = None, out: Optional[Any] = None, op: Any = "sum", *,
            count: Optional[int] = None) -> Optional[Any]:
        """Runs a collective of the bundle by name, which can be one of the application.

        Args:
            collective: a name, or a name with some or all arguments: ``"shift"``, ``"shift(by = 1)"``. All ranks pass
                the same text.
            x: the input. A rank without an input can pass None.
            out: the output; it can be `x` itself. Without it, a new array: of the shape of `x` if it has as many
                elements, else a vector.
            op: the reduction; collectives that do not reduce ignore it.
            count: the number of elements of a block. It is only needed on ranks that have neither input nor output.

        Returns the output; None if this rank has no output.
        """
        return self._run("gc3RunCollective", collective, x, out, op, count)

    def run_program(self, program: str, x: Optional[Any] = None, out: Optional[Any] = None, op: Any = "sum", *,
                    count: Optional[int] = None) -> Optional[Any]:
        """Runs the program of the bundle with this name, at any size. The arguments are those of :meth:`run`."""
        return self._run("gc3RunProgram", program, x, out, op, count)

    def select(self, collective: str, x: Any, *, root: Optional[int] = None) -> str:
        """Returns the name of the program that a call of a collective with blocks like `x` would run.

        `x` has the elements of one block: for all_reduce, broadcast, reduce, all_gather and gather the input, for
        reduce_scatter and scatter the output. Does not communicate.
        """
        block = self._input(x)
        name = ctypes.c_char_p()
        self._library.call("gc3SelectProgram", self.handle, _checks.text(collective, "collective").encode(),
                           block.elements, block.type, -1 if root is None else self._root(root), name)
        return (name.value or b"").decode()

    def _run(self, function: str, name: str, x: Optional[Any], out: Optional[Any], op: Any,
             count: Optional[int]) -> Optional[Any]:
        inputs, outputs = self._elements(function, name)
        send, given = self._optional(x, "x"), self._optional(out, "out")
        like = send or given
        if like is None or (send is None and inputs):
            raise errors.ArgumentError(f"x is missing: rank {self.rank} of '{name}' "
                                       f"{'has an input' if inputs else 'gets the type of elements from it'}")
        blocks = self._blocks(name, (send, "x", inputs), (given, "out", outputs), count)
        if send is not None and inputs:
            arrays.require_elements(send, blocks * inputs, "x", f"{blocks} for each of the {inputs} blocks of '{name}'")
        receive = None
        if outputs:
            shape = like.shape if like.elements == blocks * outputs else (blocks * outputs,)
            receive = self._output(like, self._new(like, shape, out), blocks * outputs, f"those of '{name}'")
        self._call(function, send or like, receive or like, blocks, arrays.op_number(op),
                   name=name.encode())
        return receive.array if receive else None

    def _elements(self, function: str, name: str) -> Tuple[int, int]:
        """Returns this rank's elements of input and output for each element of a block."""
        _checks.text(name, "program" if function == "gc3RunProgram" else "collective")
        programs = [(index, program) for index, program in enumerate(self.bundle.programs)
                    if program.ranks == self.size]
        if function == "gc3RunProgram":
            found = [index for index, program in programs if program.name == name]
        else:
            found = [index for index, program in programs if _forms.matches(name, program.form)]
        if not found:
            known = sorted({program.name if function == "gc3RunProgram" else program.form for _, program in programs})
            raise errors.NoProgramError(f"the bundle has no '{name}' for {self.size} ranks; it has "
                                        f"{', '.join(known) or 'no program for them'}")
        return self.bundle.elements(found[0], self.rank, 1)

    @staticmethod
    def _blocks(name: str, send: Tuple[Optional[View], str, int], receive: Tuple[Optional[View], str, int],
                count: Optional[int]) -> int:
        """Returns the number of elements of a block, which `count` or the first buffer of this rank determines."""
        if count is not None:
            return _checks.integer(count, "count", 0, 2**63 - 1)
        for array, argument, factor in (send, receive):
            if array is not None and factor:
                if array.elements % factor:
                    raise errors.ArgumentError(f"{argument} has {array.elements} elements ({array}), which is not a "
                                               f"multiple of the {factor} blocks of '{name}' on this rank")
                return array.elements // factor
        raise errors.ArgumentError(f"count is missing: neither x nor out determines the size of '{name}' on this rank")

    # ---- Checks and calls ----

    def _input(self, array: Any, name: str = "x") -> View:
        """Returns the view of an array. Raises ArgumentError if its memory is of another kind than the ranks'."""
        result = arrays.view(array, name)
        if not result.device.startswith(self.device):
            advice = ("create the communicator by Communicator.from_nccl" if self.device == "cpu" else
                      f"move it by {name}.cuda()")
            raise errors.ArgumentError(f"{name} is on {result.device}, and this communicator runs on {self.device}; "
                                       f"{advice}")
        return result

    def _optional(self, array: Optional[Any], name: str) -> Optional[View]:
        return None if array is None else self._input(array, name)

    def _output(self, send: View, out: Any, elements: int, reason: str) -> View:
        """Returns the view of an output, which must match the input and have this number of elements."""
        name = "x" if out is send.array else "out"
        result = self._input(out, name)
        arrays.require_same(send, result, ("x", name))
        arrays.require_elements(result, elements, name, reason)
        return self._writable(result, name)

    @staticmethod
    def _writable(array: View, name: str = "out") -> View:
        arrays.require_writable(array, name)
        return array

    @staticmethod
    def _new(like: View, shape: Tuple[int, ...], out: Optional[Any]) -> Any:
        """Returns `out`, or a new array of this shape."""
        return arrays.empty(like, shape) if out is None else out

    def _new_part(self, send: View, out: Optional[Any]) -> Any:
        """Returns `out`, or a new array of the shape of a block of `send`."""
        return arrays.empty(send, arrays.split_first(send, self.size, "x")) if out is None else out

    def _block(self, array: View, name: str) -> int:
        """Returns the number of elements of each rank's block."""
        if array.elements % self.size:
            raise errors.ArgumentError(f"{name} has {array.elements} elements ({array}), which is not a multiple of "
                                       f"{self.size}, the number of ranks")
        return array.elements // self.size

    def _root(self, root: int) -> int:
        return _checks.integer(root, "root", 0, self.size - 1)

    def _call(self, function: str, send: View, receive: View, count: int, *more: int,
              name: Optional[bytes] = None) -> None:
        """Calls a collective of gc3.h. `more` are its arguments between the type and the communicator."""
        groups.keep(send, receive)
        middle = (ctypes.c_void_p(send.pointer), ctypes.c_void_p(receive.pointer), count, send.type, *more)
        if name is None:
            code = self._library.result(function, *middle, self.handle, self._stream(send))
        else:
            code = self._library.result(function, self.handle, name, *middle, self._stream(send))
        if code:
            raise self._library.error(code)

    def _stream(self, array: View) -> Optional[ctypes.c_void_p]:
        """Returns the stream of a call: PyTorch's current one on the tensor's GPU; None on the host."""
        if self.device == "cpu":
            return None
        torch = sys.modules["torch"]
        return ctypes.c_void_p(torch.cuda.current_stream(array.array.device).cuda_stream)


def _only_size(bundle: Bundle) -> int:
    """Returns the number of ranks of all programs. Raises ArgumentError if they differ."""
    sizes = sorted({program.ranks for program in bundle.programs})
    if len(sizes) != 1:
        raise errors.ArgumentError(f"the programs of the bundle are for {', '.join(map(str, sizes))} ranks: pass size")
    return sizes[0]
