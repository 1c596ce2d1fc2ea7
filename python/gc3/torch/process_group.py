# SPDX-License-Identifier: Apache-2.0
"""The backend ``gc3`` of torch.distributed: a process group that runs collectives by the programs of bundles.

It is a subclass of PyTorch's ProcessGroup in Python: PyTorch calls the methods of such a class from Python and C++, so
no extension in C++ is necessary. A call that no program can run goes to a group of gloo (CPU) or NCCL (GPU). Which
calls these are depends only on what all ranks share: the collective, its size, element type, reduction and root.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import inspect
import os
import sys
import weakref
from typing import Any, Deque, Dict, List, Optional, Sequence, Union

import torch

from .. import _checks, errors, rendezvous
from .._config import Config
from ..communicator import Communicator
from . import _calls, _standard
from ._calls import Call, Tensors, only
from ._executors import StreamExecutor, ThreadExecutor
from ._programs import BundleOrPath, Programs
from ._pytorch import c10d, cuda, dist, version
from ._work import Work


@dataclasses.dataclass(frozen=True)
class Options:
    """Settings of a process group, for ``init_process_group("gc3", pg_options=…)``. All ranks need equal settings.

    Attributes:
        bundles: a bundle or its path, or a list of these, which come before those of ``GC3_BUNDLES``.
        standard: also use the standard programs, which the group compiles for its size.
        config: settings of the communicators. The default timeout on CPUs is that of the group. The default name is
            that of the group.
    """

    bundles: Union[BundleOrPath, Sequence[BundleOrPath]] = ()
    standard: bool = True
    config: Config = Config()


class _Device:
    """What a group needs to run calls on one kind of device."""

    def __init__(self, executor: Union[ThreadExecutor, StreamExecutor], programs: Programs, fallback: Any):
        self.executor = executor
        self.programs = programs
        self.fallback = fallback

    def release(self) -> None:
        """Frees the communicators; aborts them if calls still run."""
        if self.executor.stop():
            self.programs.close()
        else:
            self.programs.abort()
        self.executor.join()


def _release_all(devices: Dict[str, _Device]) -> None:
    for device in devices.values():
        device.release()
    devices.clear()


class ProcessGroup(dist.ProcessGroup):  # type: ignore[misc]
    """A process group of the backend ``gc3``. ``init_process_group("gc3")`` and ``new_group`` create it.

    The communicators of a kind of device are created in its first collective, in which all ranks wait for each other.
    Calls run in the order in which the application makes them. Their errors come out of ``Work.wait()``.
    """

    def __init__(self, store: Any, rank: int, size: int, timeout: datetime.timedelta, options: Options,
                 ranks: Sequence[int], name: str):
        super().__init__(rank, size)
        self._store = store
        self._own_rank = rank
        self._own_size = size
        self._timeout = timeout
        self._options = options
        self._name = name
        self._ranks = ranks
        self._direct = self._fallbacks()
        self._register_fallbacks()
        self._devices: Dict[str, _Device] = {}
        # Before version 2.7, PyTorch's C++ code keeps only the C++ half of a Work, which does not work alone.
        self._recent: Deque[Work] = collections.deque(maxlen=16 if version() < (2, 7) else 0)
        self._finalizer = weakref.finalize(self, _release_all, self._devices)

    # ---- Life ----

    def getBackendName(self) -> str:
        return "gc3"

    def shutdown(self) -> None:
        """Frees the communicators, then those of NCCL. ``destroy_process_group`` calls this from PyTorch 2.6 on."""
        self._finalizer()
        if hasattr(dist.ProcessGroup, "shutdown"):
            super().shutdown()

    def abort(self) -> None:
        """Like shutdown, although calls of other ranks may wait for this rank; they fail."""
        for device in self._devices.values():
            device.programs.abort()
        self._finalizer()
        if hasattr(dist.ProcessGroup, "abort"):
            super().abort()

    def _new_gloo(self, name: str) -> Any:
        return dist.ProcessGroupGloo(dist.PrefixStore(f"{name}/gloo", self._store), self._own_rank, self._own_size,
                                     timeout=self._timeout)

    def _fallbacks(self) -> Dict[str, Any]:
        """Creates groups of gloo and, with GPUs, NCCL, by kind of device."""
        groups: Dict[str, Any] = {}
        if hasattr(dist, "ProcessGroupGloo"):
            groups["cpu"] = self._new_gloo("direct")
        if cuda.is_available() and dist.is_nccl_available():
            options = dist.ProcessGroupNCCL.Options()
            options._timeout = self._timeout
            if hasattr(options, "global_ranks_in_group"):
                options.global_ranks_in_group = list(self._ranks)
            groups["cuda"] = dist.ProcessGroupNCCL(dist.PrefixStore("direct/nccl", self._store), self._own_rank,
                                                   self._own_size, options)
        return groups

    def _register_fallbacks(self) -> None:
        """Lets PyTorch's C++ code use the groups of gloo and NCCL for methods that this class does not have."""
        if not hasattr(self, "_register_backend"):
            return  # PyTorch 1
        types = {"cpu": "GLOO", "cuda": "NCCL"}
        for device, group in self._direct.items():
            self._register_backend(torch.device(device), getattr(dist.ProcessGroup.BackendType, types[device]), group)

    def _direct_group(self, device: str) -> Any:
        if device not in self._direct:
            raise errors.UsageError(f"this PyTorch has no backend for tensors on '{device}'; gc3 runs on cpu and cuda")
        return self._direct[device]

    def _device(self, device: torch.device) -> _Device:
        """Returns what calls on a device need. Creates it in the first call, on all ranks."""
        name = str(device)
        if name not in self._devices:
            self._devices[name] = self._new_gpu(device) if device.type == "cuda" else self._new_cpu(device)
        return self._devices[name]

    def _new_gpu(self, device: torch.device) -> _Device:
        fallback, bundles = self._direct_group("cuda"), self._bundles()
        with cuda.device(device):
            pointer = rendezvous.nccl_pointer(fallback, device) if bundles else 0
            programs = Programs(bundles, lambda bundle, _: Communicator.from_nccl(pointer, bundle, self._config()))
        return _Device(StreamExecutor(device), programs, fallback)

    def _new_cpu(self, device: torch.device) -> _Device:
        self._direct_group(device.type)
        config = self._config()
        if config.timeout is None:
            seconds = min(max(self._timeout.total_seconds(), 0.001), 4_000_000.0)
            config = dataclasses.replace(config, timeout=seconds)
        programs = Programs(self._bundles(), lambda bundle, number: Communicator.from_store(
            self._store, self._own_rank, self._own_size, bundle, config, key=f"gc3/{number}"))
        # Messages of the application do not change the order of calls in this group of gloo.
        return _Device(ThreadExecutor(f"gc3 {self._name}"), programs, self._new_gloo("ordered"))

    def _config(self) -> Config:
        config = self._options.config
        return config if config.name is not None else dataclasses.replace(config, name=self._name)

    def _wiring(self) -> _standard.Wiring:
        size = dist.get_world_size() if dist.is_initialized() else len(self._ranks)
        return _standard.wiring(self._ranks, _standard.ranks_per_node(size))

    def _bundles(self) -> List[BundleOrPath]:
        if self._own_size == 1:
            return []  # gc3 has no programs for one rank
        bundles = [*_checks.several(self._options.bundles), *_standard.bundles_of_environment()]
        return bundles + [_standard.standard_bundle(self._wiring())] if self._options.standard else bundles

    # ---- Calls ----

    def _submit(self, calls: Sequence[Call], outputs: Tensors, inputs: Tensors) -> Work:
        """Runs calls one after the other, as one Work."""
        on = self._device(inputs[0].device)
        work = on.executor.submit(lambda: self._run_all(calls, on), outputs, inputs)
        self._recent.append(work)
        return work

    def _run_all(self, calls: Sequence[Call], on: _Device) -> None:
        for call in calls:
            self._run(call, on)

    def _run(self, call: Call, on: _Device) -> None:
        refusal = call.refusal
        communicator = None
        if refusal is None:
            communicator = on.programs.choose(call.collective, call.count, call.type, call.root)
            refusal = "no bundle has a program for this call"
        if communicator is not None:
            call.run(communicator)
            return
        self._log(call, refusal, on)
        work = call.fall_back(on.fallback)
        if work is not None:  # newer versions of PyTorch return none for a call on the current stream
            work.wait()

    def _log(self, call: Call, reason: Optional[str], on: _Device) -> None:
        if os.environ.get("GC3_DEBUG", "").upper() in ("INFO", "TRACE"):
            backend = "gloo" if isinstance(on.executor, ThreadExecutor) else "NCCL"
            print(f"gc3: rank {self._own_rank}: {call.collective} of process group '{self._name}': {backend}: "
                  f"{'it has one rank' if self._own_size == 1 else reason}", file=sys.stderr)

    def allreduce(self, tensors: Any, opts: Any = None) -> Work:
        opts = opts or c10d.AllreduceOptions()
        tensors = _list(tensors)
        return self._submit([self._all_reduce(only(tensors), opts)], tensors, tensors)

    def _all_reduce(self, x: torch.Tensor, opts: Any) -> Call:
        return _calls.all_reduce(x, opts.reduceOp, lambda group: group.allreduce([x], opts))

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> Work:
        single = c10d.AllreduceOptions()
        single.reduceOp = opts.reduceOp if opts else dist.ReduceOp.SUM
        return self._submit([self._all_reduce(x, single) for x in tensors], tensors, tensors)

    def broadcast(self, tensors: Any, opts: Any = None) -> Work:
        opts = opts or c10d.BroadcastOptions()
        tensors = _list(tensors)
        x = only(tensors)
        call = _calls.broadcast(x, opts.rootRank, lambda group: group.broadcast([x], opts))
        return self._submit([call], tensors, tensors)

    def reduce(self, tensors: Any, opts: Any = None) -> Work:
        opts = opts or c10d.ReduceOptions()
        tensors = _list(tensors)
        x = only(tensors)
        call = _calls.reduce(x, opts.reduceOp, opts.rootRank, lambda group: group.reduce([x], opts))
        return self._submit([call], tensors, tensors)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        opts = opts or c10d.AllgatherOptions()
        x, outs = only(_list(input_tensors)), output_tensors[0]
        call = _calls.all_gather_list(outs, x, lambda group: group.allgather([outs], [x], opts))
        return self._submit([call], outs, [x])

    def _allgather_base(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> Work:
        return self.allgather_into_tensor_coalesced([output], [input], opts)

    def allgather_into_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Work:
        return self._submit([self._all_gather(out, x) for out, x in zip(outputs, inputs)], outputs, inputs)

    def _all_gather(self, out: torch.Tensor, x: torch.Tensor) -> Call:
        parts = list(out.view(-1).chunk(self._own_size))
        return _calls.all_gather(out, x, lambda group: group.allgather([parts], [x.view(-1)]))

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        opts = opts or c10d.ReduceScatterOptions()
        out, xs = only(_list(output_tensors)), input_tensors[0]
        call = _calls.reduce_scatter_list(out, xs, opts.reduceOp, lambda group: group.reduce_scatter(
            [out], [xs], opts) if out.is_cuda else self._all_reduce_block(group, out, _calls.join(xs), opts))
        return self._submit([call], [out], list(xs))

    def _reduce_scatter_base(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> Work:
        return self.reduce_scatter_tensor_coalesced([output], [input], opts)

    def reduce_scatter_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Work:
        opts = opts or c10d.ReduceScatterOptions()
        calls = [self._reduce_scatter(out, x, opts) for out, x in zip(outputs, inputs)]
        return self._submit(calls, outputs, inputs)

    def _reduce_scatter(self, out: torch.Tensor, x: torch.Tensor, opts: Any) -> Call:
        return _calls.reduce_scatter(out, x, self._own_size, opts.reduceOp, lambda group: group._reduce_scatter_base(
            out, x, opts) if out.is_cuda else self._all_reduce_block(group, out, x, opts))

    def _all_reduce_block(self, group: Any, out: torch.Tensor, x: torch.Tensor, opts: Any) -> Any:
        """Runs a reduce_scatter by an all_reduce: gloo has no reduce_scatter in many versions of PyTorch."""
        options = c10d.AllreduceOptions()
        options.reduceOp = opts.reduceOp
        whole = x.reshape(-1).clone()
        work = group.allreduce([whole], options)
        work.wait()
        out.copy_(whole.chunk(self._own_size)[self._own_rank].view(out.shape))
        return work

    def alltoall_base(self, output: torch.Tensor, input: torch.Tensor, output_splits: List[int],
                      input_splits: List[int], opts: Any = None) -> Work:
        opts = opts or c10d.AllToAllOptions()
        call = _calls.all_to_all(output, input, self._own_size, lambda group: group.alltoall_base(
            output, input, output_splits, input_splits, opts))
        if output_splits or input_splits:
            # Equal splits on this rank can be unequal on another one, so no rank lets a program run the call.
            call = _refused(call, "gc3 has no all_to_all with splits")
        return self._submit([call], [output], [input])

    def alltoall(self, output_tensors: Tensors, input_tensors: Tensors, opts: Any = None) -> Work:
        opts = opts or c10d.AllToAllOptions()
        call = _calls.all_to_all(output_tensors[0], input_tensors[0], 1, lambda group: group.alltoall(
            output_tensors, input_tensors, opts))
        return self._submit([_refused(call, "gc3 has no all_to_all of lists")], output_tensors, input_tensors)

    def gather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        opts = opts or c10d.GatherOptions()
        x = only(_list(input_tensors))
        outs = output_tensors[0] if self._own_rank == opts.rootRank else None
        call = _calls.gather(outs, x, opts.rootRank, lambda group: group.gather(output_tensors, [x], opts))
        return self._submit([call], outs or [], [x])

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        opts = opts or c10d.ScatterOptions()
        out = only(_list(output_tensors))
        xs = input_tensors[0] if self._own_rank == opts.rootRank else None
        call = _calls.scatter(out, xs, opts.rootRank, lambda group: group.scatter([out], input_tensors, opts))
        return self._submit([call], [out], [out, *(xs or ())])

    def barrier(self, opts: Any = None) -> Any:
        """Waits for all ranks, and for the earlier calls of this rank."""
        if self._devices and "cpu" not in self._devices:
            return self._direct["cuda"].barrier(opts or c10d.BarrierOptions())
        on = self._device(torch.device("cpu"))
        work = on.executor.submit(lambda: on.fallback.barrier(opts or c10d.BarrierOptions()).wait(), [])
        self._recent.append(work)
        return work

    # ---- Messages, which no program runs ----

    def send(self, tensors: Tensors, dst: int, tag: int = 0) -> Any:
        return self._direct_group(tensors[0].device.type).send(tensors, dst, tag)

    def recv(self, tensors: Tensors, src: int, tag: int = 0) -> Any:
        return self._direct_group(tensors[0].device.type).recv(tensors, src, tag)

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> Any:
        return self._direct_group(tensors[0].device.type).recv_anysource(tensors, tag)

    # PyTorch's C++ code renames some of these methods after version 2.11.
    all_gather_single = _allgather_base
    all_gather_single_coalesced = allgather_into_tensor_coalesced
    reduce_scatter_single = _reduce_scatter_base
    reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced
    all_to_all_single = alltoall_base


def _refused(call: Call, reason: str) -> Call:
    """Returns the call, which PyTorch's own backend runs for this reason."""
    return dataclasses.replace(call, refusal=reason)


def _list(tensors: Any) -> Tensors:
    """Returns a list of tensors: some of PyTorch's methods also take a single tensor."""
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


def _create(given: Any, options: Optional[Options]) -> ProcessGroup:
    """Creates a group for init_process_group and new_group."""
    if options is not None and not isinstance(options, Options):
        raise TypeError(f"pg_options of the backend 'gc3' is a gc3.torch.Options, not {type(options).__name__}")
    ranks = list(given.global_ranks_in_group) or list(range(given.group_size))
    return ProcessGroup(given.store, given.group_rank, given.group_size, given.timeout, options or Options(), ranks,
                        str(given.group_id))


def register_backend() -> None:
    """Makes ``"gc3"`` a backend of torch.distributed. Importing gc3.torch does this."""
    if hasattr(dist.Backend, "GC3"):
        return
    register = dist.Backend.register_backend
    devices = {"devices": ["cpu", "cuda"]} if "devices" in inspect.signature(register).parameters else {}
    register("gc3", _create, extended_api=True, **devices)
