# SPDX-License-Identifier: Apache-2.0
"""Tests communicators whose ranks are in several processes: results, errors, and processes that are killed."""

import signal
import sys
import types

import pytest
from conftest import EXAMPLES, RANKS
from launch import finish, run, start

import gc3

pytest.importorskip("numpy")

COMPILE = f"""
import gc3, numpy as np, os, sys
bundle = gc3.compile({str(EXAMPLES / "ring_allreduce.gc3")!r}, params={{"R": {RANKS}}})
rank = int(os.environ["GC3_RANK"])
"""


def test_ranks_of_a_job():
    outputs = run(RANKS, COMPILE + """
with gc3.Communicator.from_env(bundle) as communicator:
    x = np.full((2, 8), rank + 1, np.float32)
    communicator.all_reduce(x)
    print(communicator.rank, communicator.size, set(x.ravel().tolist()))
""")
    assert outputs == [f"{rank} {RANKS} {{10.0}}\n" for rank in range(RANKS)]


def test_ids_that_the_application_carries(tmp_path):
    outputs = run(2, """
import gc3, os, pathlib
bundle = gc3.compile("program p implements allgather(ranks = 2) {"
                     "for r in 0..2 { for q in 0..2 { chunk(r, input, 0).copy(q, output, r); } } }")
rank, file = int(os.environ["GC3_RANK"]), pathlib.Path(os.environ["ID_FILE"])
if rank == 0:
    file.with_suffix(".part").write_bytes(gc3.unique_id())
    file.with_suffix(".part").rename(file)
while not file.exists():
    pass
import array
with gc3.Communicator.from_id(file.read_bytes(), rank, 2, bundle) as communicator:
    print(communicator.all_gather(array.array("q", [rank + 7])).tolist())
""", environment={"ID_FILE": tmp_path / "id"})
    assert outputs == ["[7, 8]\n"] * 2


def test_killed_process_is_an_error_of_the_others():
    processes = start(RANKS, COMPILE + """
import signal
import sys
with gc3.Communicator.from_env(bundle, gc3.Config(timeout=60)) as communicator:
    x = np.ones(8, np.float32)
    communicator.all_reduce(x)
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        communicator.all_reduce(x)
    except gc3.RemoteError as error:
        print(error)
""")
    outputs, statuses = finish(processes)
    assert statuses == [0, 0, -signal.SIGKILL, 0]
    for rank in (0, 1, 3):
        assert "rank 2" in outputs[rank], outputs


def test_process_that_does_not_join():
    outputs, statuses = finish(start(RANKS, COMPILE + """
if rank != 3:
    try:
        gc3.Communicator.from_env(bundle, gc3.Config(timeout=1))
    except (gc3.TimeoutError, gc3.RemoteError) as error:
        print(type(error).__name__, error)
"""))
    assert statuses == [0] * RANKS
    assert all("rank 3 has not joined" in output for output in outputs[:3]) and not outputs[3], outputs


def test_processes_with_different_bundles():
    outputs = run(2, """
import gc3, os
bundle = gc3.compile('''import "std/alltoall.gc3";
program p%s implements alltoall(ranks = 2) { direct_alltoall(0..2); }''' % os.environ["GC3_RANK"])
try:
    gc3.Communicator.from_env(bundle)
except gc3.UsageError as error:
    print(error)
""")
    assert all("bundle" in output for output in outputs), outputs


def test_calls_that_do_not_match():
    outputs = run(RANKS, COMPILE + """
communicator = gc3.Communicator.from_env(bundle)
try:
    communicator.all_reduce(np.ones(8, np.float32 if rank else np.float64))
except gc3.UsageError as error:
    print(error)
communicator.abort()
""")
    assert all("float" in output or "double" in output for output in outputs), outputs


# ---- PyTorch ----

def test_process_groups(tmp_path):
    pytest.importorskip("torch")
    outputs = run(3, f"""
import gc3, os, torch, torch.distributed as dist
rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method="file://{tmp_path}/store", rank=rank, world_size=3)
pair = dist.new_group([1, 2])
bundles = {{n: gc3.compile({str(EXAMPLES / "ring_allreduce.gc3")!r}, params={{"R": n}}) for n in (2, 3)}}

with gc3.Communicator.from_process_group(None, bundles[3]) as communicator:
    print(communicator.all_reduce(torch.full((2,), rank + 1, dtype=torch.bfloat16), op=dist.ReduceOp.MAX).tolist())
if rank:
    with gc3.Communicator.from_process_group(pair, bundles[2]) as communicator:
        print(communicator, communicator.all_reduce(torch.full((2,), rank + 0.0)).tolist())
shared = dist.FileStore("{tmp_path}/shared", 3)
with gc3.Communicator.from_store(shared, rank, 3, bundles[3]) as communicator:
    print(communicator.all_reduce(torch.ones(1, 2)).tolist())

def refuse():
    raise gc3.ResourceError("the system refuses a port", 2)
gc3.communicator.unique_id = refuse
try:
    gc3.Communicator.from_process_group(None, bundles[3])
except gc3.ResourceError as error:
    print(error)
""")
    pairs = [[], *([f"<gc3.Communicator: rank {rank} of 2 on cpu> [3.0, 3.0]"] for rank in range(2))]
    for output, pair in zip(outputs, pairs):
        assert output.splitlines() == ["[3.0, 3.0]", *pair, "[[3.0, 3.0]]", "the system refuses a port"]


class Group:
    """A process group of NCCL, as PyTorch 2.8 has it. Without a backend, it is one for CPUs."""

    def __init__(self, backend=None):
        self.backend = backend

    def _get_backend(self, device):
        if self.backend is None:
            raise RuntimeError(f"No backend type associated with device type {device.type}")
        return self.backend


class Backend:
    def __init__(self, pointer):
        self.pointer = pointer

    def _comm_ptr(self):
        return self.pointer

    def allreduce(self, tensors):
        return types.SimpleNamespace(wait=lambda: None)


@pytest.fixture
def nccl(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.distributed, "get_backend", lambda group: "nccl")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch, "zeros", lambda *size, device: None)


def test_process_group_of_nccl(nccl, ring, monkeypatch):
    pointers = []
    monkeypatch.setattr(gc3.Communicator, "from_nccl", lambda pointer, bundle, config: pointers.append(pointer))
    gc3.Communicator.from_process_group(Group(Backend(0x1234)), ring)
    assert pointers == [0x1234]


@pytest.mark.parametrize("group, message", [
    (Group(Backend(0)), "the process group has no NCCL communicator on this GPU; select the GPU of this rank"),
    (Group(object()), "PyTorch .* does not give the NCCL communicator of a process group; use PyTorch 2.8 or newer"),
    (object(), "PyTorch .* does not give the NCCL communicator of a process group; use PyTorch 2.8 or newer"),
    (Group(), "the process group does not run on GPUs: No backend type associated with device type cuda"),
])
def test_process_group_without_a_handle(nccl, ring, group, message):
    with pytest.raises(gc3.UsageError, match=message):
        gc3.Communicator.from_process_group(group, ring)


def test_process_without_a_gpu(nccl, ring, monkeypatch):
    monkeypatch.setattr(sys.modules["torch"].cuda, "is_available", lambda: False)
    with pytest.raises(gc3.UsageError, match="this process has no GPU: pass device='cpu' for a communicator"):
        gc3.Communicator.from_process_group(Group(Backend(0x1234)), ring)


@pytest.mark.parametrize("backend, device, chosen", [
    ("nccl", None, "cuda"), ("cuda:nccl", None, "cuda"), ("nccl", "cpu", "cpu"), ("gloo", None, "cpu"),
    ("cpu:gloo,cuda:nccl", None, "cpu"), ("cpu:gloo,cuda:nccl", "cuda", "cuda"), ("undefined", None, "cpu"),
    ("undefined", "cuda", "cuda"), ("gc3", None, "cpu"), ("gc3", "cuda", "cuda"), ("gc3", "cpu", "cpu"),
    ("cpu:gc3,cuda:gc3", None, "cpu")])
def test_device_of_a_communicator(nccl, ring, monkeypatch, backend, device, chosen):
    distributed = sys.modules["torch"].distributed
    monkeypatch.setattr(distributed, "get_backend", lambda group: backend)
    monkeypatch.setattr(distributed, "get_rank", lambda group: 0)
    monkeypatch.setattr(distributed, "get_world_size", lambda group: 2)
    monkeypatch.setattr(gc3.rendezvous, "share_id_over_group", lambda group: "id")
    monkeypatch.setattr(gc3.Communicator, "from_id", lambda id, rank, size, *_: ("cpu", id, rank, size))
    monkeypatch.setattr(gc3.Communicator, "from_nccl", lambda pointer, *_: ("cuda", pointer))
    communicator = gc3.Communicator.from_process_group(Group(Backend(0x1234)), ring, device=device)
    assert communicator == (("cuda", 0x1234) if chosen == "cuda" else ("cpu", "id", 0, 2))


def test_unknown_device_of_a_communicator(nccl, ring):
    with pytest.raises(gc3.ArgumentError, match="device is 'cpu', 'cuda' or None, not 'tpu'"):
        gc3.Communicator.from_process_group(Group(Backend(0x1234)), ring, device="tpu")
