# SPDX-License-Identifier: Apache-2.0
"""Checks of gc3.torch that all ranks of a job run. torch_job.py runs them; test_torch.py reports them to pytest.

A check is a function of the module whose name begins with `check_`. It raises an exception if it fails, and Skipped if
this PyTorch is too old.
"""

import contextlib
import datetime
import gc
import io
import os
import pathlib
import sys
import threading
import weakref

import torch
import torch.distributed as dist

import gc3
import gc3.torch
from gc3.torch import _standard

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
VERSION = tuple(int(number) for number in torch.__version__.split(".")[:2])
TIMEOUT = datetime.timedelta(seconds=30)

ROTATE = """
param n: int = 4;
collective rotate(n: int, by: int) {
    ranks n;
    input[1];
    output[1];
    ensures for r in 0..n: output((r + by) % n, 0) == input(r, 0);
}
program forward implements rotate(n, by = 1) { for r in 0..n { chunk(r, input, 0).copy((r + 1) % n, output, 0); } }
program back implements rotate(n, by = n - 1) {
    for r in 0..n { chunk(r, input, 0).copy((r + n - 1) % n, output, 0); }
}
"""


class Skipped(Exception):
    """The check needs another PyTorch or another number of ranks."""


class Job:
    """The rank that runs the checks."""

    def __init__(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.gloo = dist.new_group(backend="gloo")

    def data(self, shape, dtype=torch.float32, rank=None):
        """Returns the data of a rank, by default of this rank."""
        generator = torch.Generator().manual_seed(self.rank if rank is None else rank)
        return torch.randint(1, 5, shape, generator=generator).to(dtype)

    def all_data(self, shape, dtype=torch.float32):
        return [self.data(shape, dtype, rank) for rank in range(self.size)]


def equal(actual, expected):
    if not torch.equal(actual, expected):
        raise AssertionError(f"{actual} is not {expected}")


@contextlib.contextmanager
def log():
    """Yields the text that gc3.torch logs."""
    stream, before = io.StringIO(), sys.stderr
    os.environ["GC3_DEBUG"], sys.stderr = "INFO", stream
    try:
        yield stream
    finally:
        sys.stderr = before
        del os.environ["GC3_DEBUG"]


# ---- Collectives of torch.distributed ----


def check_all_reduce(job):
    ops = {dist.ReduceOp.SUM: sum, dist.ReduceOp.MAX: lambda xs: torch.stack(xs).amax(0),
           dist.ReduceOp.MIN: lambda xs: torch.stack(xs).amin(0),
           dist.ReduceOp.PRODUCT: lambda xs: torch.stack(xs).prod(0)}
    for dtype in (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8):
        for op, expected in ops.items():
            x = job.data((3, 5), dtype)
            dist.all_reduce(x, op)
            equal(x, expected(job.all_data((3, 5), dtype)).to(dtype))
    for dtype in (torch.float16, torch.bfloat16):
        x = job.data((7,), dtype)
        dist.all_reduce(x)
        equal(x, sum(job.all_data((7,))).to(dtype))
    x = job.data((4,))
    dist.all_reduce(x, dist.ReduceOp.AVG)
    torch.testing.assert_close(x, sum(job.all_data((4,))) / job.size)


def check_large_and_empty(job):
    x = job.data((100_003,))
    dist.all_reduce(x)
    equal(x, sum(job.all_data((100_003,))))
    empty = torch.empty(0)
    dist.all_reduce(empty)
    dist.broadcast(empty, 0)


def check_tensors_with_gaps(job):
    x = job.data((4, 6)).t()[::2]
    dist.all_reduce(x)
    equal(x, sum(data.t()[::2] for data in job.all_data((4, 6))))


def check_all_gather(job):
    for dtype in (torch.float32, torch.bool, torch.complex64):
        outs = [torch.empty(2, 3, dtype=dtype) for _ in range(job.size)]
        dist.all_gather(outs, job.data((2, 3), dtype))
        for out, expected in zip(outs, job.all_data((2, 3), dtype)):
            equal(out, expected)
    whole = torch.empty(2 * job.size, 3)
    dist.all_gather_into_tensor(whole, job.data((2, 3)))
    equal(whole, torch.cat(job.all_data((2, 3))))
    objects = [None] * job.size
    dist.all_gather_object(objects, {"rank": job.rank})
    assert objects == [{"rank": rank} for rank in range(job.size)], objects


def check_reduce_scatter(job):
    total = sum(job.all_data((2 * job.size, 3)))
    out = torch.empty(2, 3)
    dist.reduce_scatter_tensor(out, job.data((2 * job.size, 3)))
    equal(out, total.chunk(job.size)[job.rank])
    dist.reduce_scatter(out, list(job.data((2 * job.size, 3)).chunk(job.size)))
    equal(out, total.chunk(job.size)[job.rank])


def check_rooted(job):
    for root in range(job.size):
        x = job.data((5,))
        dist.broadcast(x, root)
        equal(x, job.data((5,), rank=root))
        x = job.data((5,))
        dist.reduce(x, root)
        equal(x, sum(job.all_data((5,))) if job.rank == root else job.data((5,)))
        outs = [torch.empty(5) for _ in range(job.size)] if job.rank == root else None
        dist.gather(job.data((5,)), outs, root)
        for out, expected in zip(outs or [], job.all_data((5,))):
            equal(out, expected)
        out = torch.empty(3)
        parts = list(job.data((job.size, 3)).unbind()) if job.rank == root else None
        dist.scatter(out, parts, root)
        equal(out, job.data((job.size, 3), rank=root)[job.rank])


def check_all_to_all(job):
    expected = torch.cat([data.chunk(job.size)[job.rank] for data in job.all_data((2 * job.size, 3))])
    for splits in (None, [2] * job.size):
        out = torch.empty(2 * job.size, 3)
        dist.all_to_all_single(out, job.data((2 * job.size, 3)), splits, splits)
        equal(out, expected)


def check_coalesced(job):
    one, two = job.data((3,)), job.data((2, 2))
    dist.all_reduce_coalesced([one, two])
    equal(one, sum(job.all_data((3,))))
    equal(two, sum(job.all_data((2, 2))))


def check_calls_that_fall_back(job):
    with log() as text:
        x = job.data((3,), torch.int32)
        dist.all_reduce(x, dist.ReduceOp.BOR)
        out = torch.empty(job.size)
        dist.all_to_all_single(out, job.data((job.size,)), [1] * job.size, [1] * job.size)
    expected = job.data((3,), torch.int32, 0)
    for data in job.all_data((3,), torch.int32):
        expected |= data
    equal(x, expected)
    assert "allreduce of process group '0': gloo: gc3 does not have this reduction" in text.getvalue(), text.getvalue()
    assert "alltoall of process group '0': gloo: gc3 has no all_to_all with splits" in text.getvalue(), text.getvalue()
    sparse = torch.sparse_coo_tensor([[job.rank]], [2.0], (job.size,))
    dist.all_reduce(sparse)
    equal(sparse.to_dense(), torch.full((job.size,), 2.0))
    dist.barrier()
    if job.rank == 0:
        dist.send(torch.tensor([7.0]), 1)
    elif job.rank == 1:
        received = torch.empty(1)
        dist.recv(received, 0)
        equal(received, torch.tensor([7.0]))


# ---- Asynchronous calls, errors, life ----


def check_asynchronous_calls_keep_their_order(job):
    x = torch.ones(1000)
    works = [dist.all_reduce(x, async_op=True) for _ in range(3)]
    works.append(dist.broadcast(x, 0, async_op=True))
    for work in works:
        assert work.wait() and work.is_completed()
    equal(x, torch.full((1000,), float(job.size) ** 3))
    work = dist.all_reduce(x, async_op=True)
    equal(work.get_future().wait()[0], torch.full((1000,), float(job.size) ** 4))
    work.wait(datetime.timedelta(seconds=20))


def check_errors_come_out_of_wait(job):
    group = dist.new_group(timeout=TIMEOUT)
    work = dist.all_reduce(torch.ones(1 + job.rank % 2), group=group, async_op=True)
    future = work.get_future().then(lambda done: done.value())
    for wait in (work.wait, work.wait):
        try:
            wait()
            raise AssertionError("calls of different sizes have no error")
        except gc3.UsageError as error:
            assert "1" in str(error) and "2" in str(error), error
    assert not work.is_success() and isinstance(work.exception(), gc3.UsageError)
    try:
        future.wait()
        raise AssertionError("the future has no error")
    except RuntimeError as error:
        assert "UsageError" in str(error), error
    dist.destroy_process_group(group)


def check_destroying_a_group_frees_it(job):
    group = dist.new_group(timeout=TIMEOUT)
    dist.all_reduce(torch.ones(1), group=group)
    communicators = [weakref.ref(one) for one in group._devices["cpu"].programs._communicators]
    threads = [thread for thread in threading.enumerate() if thread.name == f"gc3 {group._name}"]
    assert len(threads) == 1
    dist.barrier()
    dist.destroy_process_group(group)
    del group
    threads[0].join(20)
    assert not threads[0].is_alive()
    assert [one() for one in communicators] == [None] * len(communicators)


def check_groups_of_some_ranks(job):
    for members in ([0, 1], [job.size - 1, 0]):
        group = dist.new_group(members, timeout=TIMEOUT)
        if job.rank in members:
            x = job.data((3,))
            dist.all_reduce(x, group=group)
            equal(x, sum(job.data((3,), rank=rank) for rank in members))


def check_bundles_of_the_user_come_first(job):
    bundle = gc3.compile(EXAMPLES / "oneshot_allreduce.gc3", params={"R": job.size})
    group = dist.new_group(timeout=TIMEOUT, pg_options=gc3.torch.Options(bundles=[bundle]))
    x, y = job.data((3,)), torch.empty(3 * job.size)
    dist.all_reduce(x, group=group)
    dist.all_gather_into_tensor(y, job.data((3,)), group=group)
    equal(x, sum(job.all_data((3,))))
    equal(y, torch.cat(job.all_data((3,))))
    programs = group._devices["cpu"].programs
    first, second = programs._communicators
    assert programs.choose("allreduce", 3, 7) is first and programs.choose("allgather", 3, 7) is second
    only = dist.new_group(timeout=TIMEOUT, pg_options=gc3.torch.Options(bundles=bundle, standard=False))
    with log() as text:
        dist.broadcast(x, 0, group=only)
    assert "gloo: no bundle has a program for this call" in text.getvalue(), text.getvalue()
    try:
        dist.new_group(pg_options="nonsense")
        raise AssertionError("wrong pg_options have no error")
    except TypeError as error:
        assert "gc3.torch.Options" in str(error)


# ---- Training ----


def dense_model():
    return torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))


def dense_data(generator):
    return torch.randn(16, 20, generator=generator)


def sparse_model():
    return torch.nn.Sequential(torch.nn.EmbeddingBag(50, 20, sparse=True), torch.nn.Linear(20, 3))


def sparse_data(generator):
    return torch.randint(50, (16, 4), generator=generator)


def train(job, wrap, make_model=dense_model, make_data=dense_data):
    """Trains a small model, and returns the losses of this rank."""
    torch.manual_seed(7)
    model = wrap(make_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(job.rank)
    losses = []
    for _ in range(5):
        x, y = make_data(generator), torch.randint(3, (16,), generator=generator)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64)


def compare_losses(job, wrap, *model_and_data):
    ours, theirs = (train(job, lambda model: wrap(model, group), *model_and_data) for group in (None, job.gloo))
    if job.size == 2:  # a sum of two has one order
        equal(ours, theirs)
    else:
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    assert ours[-1] != ours[0]


def check_ddp(job):
    ddp = torch.nn.parallel.DistributedDataParallel
    compare_losses(job, lambda model, group: ddp(model, process_group=group))
    compare_losses(job, lambda model, group: ddp(model, process_group=group, bucket_cap_mb=0.001,
                                                 gradient_as_bucket_view=True))


def check_ddp_with_sparse_gradients(job):
    ddp = torch.nn.parallel.DistributedDataParallel
    with log() as text:
        compare_losses(job, lambda model, group: ddp(model, process_group=group), sparse_model, sparse_data)
    assert "allreduce of process group '0': gloo: gc3 has no sparse tensors" in text.getvalue(), text.getvalue()


def compare_with_ddp(job, wrap):
    ddp = torch.nn.parallel.DistributedDataParallel
    torch.testing.assert_close(train(job, wrap), train(job, lambda model: ddp(model, process_group=job.gloo)),
                               rtol=1e-5, atol=1e-6)


def check_fsdp(job):
    if VERSION < (2, 4):
        raise Skipped(f"PyTorch {torch.__version__} has no FSDP on CPUs; 2.4 has")
    from torch.distributed.fsdp import FullyShardedDataParallel
    compare_with_ddp(job, lambda model: FullyShardedDataParallel(model, device_id=torch.device("cpu")))


def check_fsdp2(job):
    if not hasattr(getattr(getattr(torch, "cpu", None), "Stream", None), "record_event"):
        raise Skipped(f"PyTorch {torch.__version__} has no fully_shard on CPUs: torch.cpu.Stream has no record_event")
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import fully_shard

    def shard(model):
        fully_shard(model, mesh=DeviceMesh.from_group(dist.group.WORLD, "cpu"))
        return model

    compare_with_ddp(job, shard)


# ---- Operators ----


def communicator(job, source=None):
    bundle = (gc3.compile(source, params={"n": job.size}) if source else
              _standard.standard_bundle(_standard.Wiring(1, job.size)))
    return gc3.Communicator.from_process_group(None, bundle, gc3.Config(timeout=30))


def check_operators(job):
    comm = communicator(job)
    x = job.data((2 * job.size, 3))
    equal(gc3.torch.all_reduce(x, comm), sum(job.all_data(x.shape)))
    for op in ("max", dist.ReduceOp.MAX):
        equal(gc3.torch.all_reduce(x, comm, op), torch.stack(job.all_data(x.shape)).amax(0))
    equal(gc3.torch.all_gather(x, comm), torch.cat(job.all_data(x.shape)))
    equal(gc3.torch.reduce_scatter(x, comm), sum(job.all_data(x.shape)).chunk(job.size)[job.rank])
    equal(gc3.torch.all_to_all(x, comm), torch.cat([data.chunk(job.size)[job.rank] for data in job.all_data(x.shape)]))
    equal(gc3.torch.broadcast(x, comm, 1), job.data(x.shape, rank=1))
    equal(x, job.data(x.shape))
    name = gc3.torch.register(comm)
    assert gc3.torch.register(comm) == name and gc3.torch.registered(name) is comm
    equal(gc3.torch.all_reduce(x.t(), name), sum(job.all_data(x.shape)).t())
    equal(gc3.torch.reduce_scatter(x, comm, dist.ReduceOp.SUM), sum(job.all_data(x.shape)).chunk(job.size)[job.rank])
    comm.close()
    for wrong, message in [({"op": dist.ReduceOp.BAND}, "op is one of sum, "),
                           ({"communicator": None}, "communicator is a gc3.Communicator or the name of one, not None")]:
        try:
            gc3.torch.all_reduce(x, **{"communicator": comm, **wrong})
            raise AssertionError("a wrong argument has no error")
        except gc3.ArgumentError as error:
            assert message in str(error), error


def check_gradients(job):
    comm = communicator(job)
    weights = torch.arange(1.0, 2 * job.size + 1)
    x = job.data((2 * job.size,)).requires_grad_()
    cases = {
        "all_reduce": (lambda: gc3.torch.all_reduce(x, comm) * weights * (job.rank + 1),
                       weights * sum(range(1, job.size + 1))),
        "reduce_scatter": (lambda: gc3.torch.reduce_scatter(x, comm) * (job.rank + 1),
                           torch.arange(1.0, job.size + 1).repeat_interleave(2)),
        "all_gather": (lambda: gc3.torch.all_gather(x, comm) * (job.rank + 1),
                       torch.full((2 * job.size,), float(sum(range(1, job.size + 1))))),
        "all_to_all": (lambda: gc3.torch.all_to_all(x, comm) * (job.rank + 1),
                       torch.arange(1.0, job.size + 1).repeat_interleave(2)),
        "average": (lambda: gc3.torch.reduce_scatter(x, comm, "avg") * (job.rank + 1),
                    torch.arange(1.0, job.size + 1).repeat_interleave(2) / job.size),
    }
    for name, (function, expected) in cases.items():
        x.grad = None
        function().sum().backward()
        if not torch.allclose(x.grad, expected):
            raise AssertionError(f"gradient of {name}: {x.grad} is not {expected}")
    for function in (lambda: gc3.torch.all_reduce(x, comm, "max"), lambda: gc3.torch.broadcast(x, comm)):
        try:
            function().sum().backward()
            raise AssertionError("a gradient that does not exist has no error")
        except gc3.UsageError as error:
            assert "no gradient" in str(error), error
    comm.close()


def check_custom_collective(job):
    if job.size == 2:
        raise Skipped("on two ranks, a rotation by 1 is its own transpose")
    comm = communicator(job, ROTATE)
    x = job.data((5,)).requires_grad_()
    back = f"rotate(by = {job.size - 1})"
    y = gc3.torch.run("rotate(by = 1)", x, comm, transposed=back)
    equal(y.detach(), job.data((5,), rank=(job.rank - 1) % job.size))
    (y * job.rank).sum().backward()
    equal(x.grad, torch.full((5,), float((job.rank + 1) % job.size)))
    try:
        gc3.torch.run("rotate(by = 1)", x, comm).sum().backward()
        raise AssertionError("an unknown gradient has no error")
    except gc3.UsageError as error:
        assert "pass transposed" in str(error), error
    work = gc3.torch.run("rotate(by = 1)", x.detach(), comm, async_op=True)
    later = gc3.torch.run(back, x.detach(), comm)
    assert work.is_completed() and work.wait()
    equal(work.outputs[0], job.data((5,), rank=(job.rank - 1) % job.size))
    equal(later, job.data((5,), rank=(job.rank + 1) % job.size))
    comm.close()


def check_shapes_without_data(job):
    comm = communicator(job)
    name = gc3.torch.register(comm)
    x = torch.empty(2 * job.size, 3, device="meta")
    shapes = {"all_reduce": x.shape, "all_gather": (2 * job.size * job.size, 3), "reduce_scatter": (2, 3),
              "all_to_all": x.shape, "broadcast": x.shape}
    for function, shape in shapes.items():
        assert getattr(gc3.torch, function)(x, name).shape == shape, function
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        assert gc3.torch.all_gather(torch.empty(3, 2), name).shape == (3 * job.size, 2)
    for call in (lambda: gc3.torch.reduce_scatter(torch.empty(2 * job.size + 1), name),
                 lambda: gc3.torch.all_reduce(torch.empty(2), "unknown")):
        try:
            call()
            raise AssertionError("a wrong call has no error")
        except gc3.ArgumentError:
            pass
    comm.close()


def check_compile(job):
    if VERSION < (2, 1):
        raise Skipped(f"PyTorch {torch.__version__} has no torch.compile with Python 3.11; 2.1 has")
    comm = communicator(job)
    name = gc3.torch.register(comm)

    def step(x, w):
        y = gc3.torch.reduce_scatter(torch.relu(x @ w), name)
        return gc3.torch.all_gather(torch.tanh(y), name).sum()

    w = job.data((3, 4)).div(8).requires_grad_()
    x = job.data((2 * job.size, 3)) / 8
    step(x, w).backward()
    expected, w.grad = w.grad, None
    for options in ({"backend": "aot_eager"}, {"backend": "aot_eager", "dynamic": True}):
        compiled = torch.compile(step, fullgraph=True, **options)
        compiled(x, w).backward()
        torch.testing.assert_close(w.grad, expected)
        w.grad = None
    if hasattr(torch.library, "opcheck"):
        torch.library.opcheck(torch.ops.gc3.all_reduce, (x, "sum", name))
        torch.library.opcheck(torch.ops.gc3.all_gather, (w, name))
    comm.close()


def check_functional_collectives(job):
    if VERSION < (2, 3):
        raise Skipped(f"PyTorch {torch.__version__} has no functional collectives over groups by name; 2.3 has")
    import torch.distributed._functional_collectives as functional
    group, x = dist.group.WORLD, job.data((2 * job.size, 3))
    total = sum(job.all_data(x.shape))
    equal(functional.all_reduce(x, "sum", group) + 0, total)
    equal(functional.all_gather_tensor(x, 0, group) + 0, torch.cat(job.all_data(x.shape)))
    equal(functional.reduce_scatter_tensor(x, "sum", 0, group) + 0, total.chunk(job.size)[job.rank])
    equal(functional.all_to_all_single(x, None, None, group) + 0,
          torch.cat([data.chunk(job.size)[job.rank] for data in job.all_data(x.shape)]))


def check_communicators_of_groups(job):
    groups = [job.gloo, dist.group.WORLD] + ([dist.new_group(backend="cpu:gloo")] if VERSION >= (2, 1) else [])
    bundle = gc3.compile(EXAMPLES / "oneshot_allreduce.gc3", params={"R": job.size})
    for group in groups:
        for device in (None, "cpu"):
            with gc3.Communicator.from_process_group(group, bundle, device=device) as comm:
                equal(comm.all_reduce(job.data((3,))), sum(job.all_data((3,))))
                assert (comm.rank, comm.size, comm.device) == (job.rank, job.size, "cpu")


def check_all_to_all_single(job):
    comm = gc3.torch.all_to_all_communicator()
    assert comm is gc3.torch.all_to_all_communicator() and comm.size == job.size
    x = job.data((2 * job.size, 3))
    expected = torch.cat([data.chunk(job.size)[job.rank] for data in job.all_data(x.shape)])
    for splits in (None, [2] * job.size):
        out = torch.empty_like(x)
        assert gc3.torch.all_to_all_single(out, x, splits, splits) is None
        equal(out, expected)
    out = torch.empty_like(x)
    work = gc3.torch.all_to_all_single(out, x, async_op=True)
    work.wait()
    equal(out, expected)
    splits = [2] * job.size
    if job.rank == 1:
        splits = [1, 3] + splits[2:]
    try:
        gc3.torch.all_to_all_single(torch.empty_like(x), x, [2] * job.size, splits)
        raise AssertionError("unequal splits have no error")
    except gc3.ArgumentError as error:
        assert ("splits [1, 3" if job.rank == 1 else "splits of another rank") in str(error), error
        assert "blocks of equal size" in str(error), error


def check_types_that_move_as_bytes(job):
    comm = communicator(job)
    for dtype in (torch.bool, torch.int16, torch.complex64, torch.float32):
        x, shape = job.data((2 * job.size, 3), dtype), (2 * job.size, 3)
        if dtype == torch.bool:
            x = job.data(shape) > 2
        parts = [None] * job.size
        dist.all_gather_object(parts, x)
        expected = torch.cat([data.chunk(job.size)[job.rank] for data in parts])
        for call in (dist.all_to_all_single, gc3.torch.all_to_all_single):
            out = torch.empty_like(x)
            call(out, x)
            equal(out, expected)
        gaps = torch.empty(3, 2 * job.size, dtype=dtype).t()
        gc3.torch.all_to_all_single(gaps, x.t().contiguous().t())
        equal(gaps, expected)
        equal(gc3.torch.all_to_all(x, comm), expected)
        equal(gc3.torch.all_gather(x, comm), torch.cat(parts))
        equal(gc3.torch.broadcast(x, comm, 1), parts[1])
    try:
        gc3.torch.all_to_all_single(torch.empty(job.size, dtype=torch.uint8), torch.ones(job.size, dtype=torch.bool))
        raise AssertionError("outputs of another type have no error")
    except gc3.ArgumentError as error:
        assert "torch.bool, and the output of type torch.uint8" in str(error), error
    comm.close()


def check_all_to_all_single_needs_whole_blocks(job):
    comm = gc3.torch.all_to_all_communicator()
    x = torch.ones(job.size + 1, 2 * job.size)
    for splits in (None, [1] * job.size):
        try:
            gc3.torch.all_to_all_single(torch.empty_like(x), x, splits, splits)
            raise AssertionError("a broken block has no error")
        except gc3.ArgumentError:
            pass
    comm.close()
    out = torch.empty(job.size)
    gc3.torch.all_to_all_single(out, torch.full((job.size,), float(job.rank)))  # creates a communicator again
    equal(out, torch.arange(float(job.size)))


def check_threads_end_with_their_communicators(job):
    bundle = gc3.compile(EXAMPLES / "oneshot_allreduce.gc3", params={"R": job.size})
    with gc3.Communicator.from_process_group(None, bundle) as comm:
        gc3.torch.all_reduce(torch.ones(3), comm, async_op=True).wait()
        own = [thread for thread in threading.enumerate() if thread.name == "gc3 operators"]
        assert own
    del comm
    gc.collect()
    own[-1].join(20)
    assert not own[-1].is_alive()


def check_splits_after_asynchronous_calls(job):
    x = job.data((1000 * job.size, 30))
    expected = torch.cat([data.chunk(job.size)[job.rank] for data in job.all_data(x.shape)])
    splits, outs = [1000] * job.size, [torch.empty_like(x) for _ in range(4)]
    works = [gc3.torch.all_to_all_single(out, x, splits, splits, async_op=True) for out in outs]
    for work, out in zip(works, outs):
        work.wait()
        equal(out, expected)


def check_two_step_all_to_all(job):
    """With two nodes, each rank sends one message to the other node: the program uses scratch."""
    if job.size < 4:
        raise Skipped("two nodes of two ranks need four ranks")
    wiring = _standard.wiring(range(job.size), _standard.ranks_per_node(job.size))
    assert wiring == (job.size // 2, 2), wiring
    program = [one for one in gc3.torch.all_to_all_communicator().bundle.programs if one.collective == "alltoall"][0]
    assert program.form.startswith("alltoall"), program
    assert "scratch" in gc3.torch.all_to_all_communicator().bundle.emit("gc3-ir")
