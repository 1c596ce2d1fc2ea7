# SPDX-License-Identifier: Apache-2.0
"""Tests gc3.torch on a machine with one GPU. Needs PyTorch 2.8 or newer, gc3c, and a libgc3.so built with CUDA.

torch_gpu.py [--nccl LIBRARY] [PART…]: runs the parts one after the other, each in a process of its own, and prints a
summary. Exits with 1 if a part fails. `--nccl` names an NCCL of version 2.30.3 or later, which is loaded before the one
of PyTorch, so that ranks can share the GPU.

- cpu: torch_checks.py with 2 and 4 ranks on the CPU, in this PyTorch
- one: the backend with one rank on the GPU, where NCCL runs all calls
- threads: two ranks share the GPU, as threads of one process: communicators on PyTorch's NCCL communicator, streams,
  graphs, operators, the backend
- processes: two ranks share the GPU, as two processes: the backend, and DDP against NCCL
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback

FOLDER = pathlib.Path(__file__).resolve().parent
PARTS = {"cpu": 110, "one": 40, "threads": 60, "processes": 60}  # time limits in seconds
RANKS = 2
TIMEOUT = datetime.timedelta(seconds=30)


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def equal(actual, expected, what):
    import torch
    torch.cuda.current_stream().synchronize()
    expect(torch.equal(actual.cpu(), expected.cpu()), f"{what}: {actual.cpu()} is not {expected.cpu()}")
    print(f"passed: {what}", flush=True)


# ---- One rank ----


def part_one():
    import torch
    import torch.distributed as dist

    import gc3.torch  # noqa: F401  registers the backend
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29611")
    torch.cuda.set_device(0)
    dist.init_process_group("gc3", timeout=TIMEOUT)
    x = torch.arange(5.0, device="cuda")
    dist.all_reduce(x)
    equal(x, torch.arange(5.0), "one rank: all_reduce")
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    work.get_future().wait()
    equal(x, torch.arange(5.0), "one rank: asynchronous all_reduce")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2).cuda())
    model(torch.ones(1, 3, device="cuda")).sum().backward()
    equal(model.module.weight.grad, torch.ones(2, 3), "one rank: DDP")
    dist.barrier()
    dist.destroy_process_group()


# ---- Two ranks that share the GPU, as threads ----


class Rank:
    """One rank, which is a thread with a stream of its own."""

    def __init__(self, rank, store, lock, barrier):
        import torch
        import torch.distributed as dist

        from gc3.torch import _standard
        self.rank, self.store, self.lock, self.barrier = rank, store, lock, barrier
        options = dist.ProcessGroupNCCL.Options()
        options._timeout = TIMEOUT
        self.group = dist.ProcessGroupNCCL(dist.PrefixStore("nccl", store), rank, RANKS, options)
        self.bundle = _standard.standard_bundle(_standard.Wiring(1, RANKS))
        self.device = torch.device("cuda", 0)

    def data(self, *shape, rank=None):
        import torch
        generator = torch.Generator().manual_seed(self.rank if rank is None else rank)
        return torch.randint(1, 5, shape, generator=generator).float()

    def all_data(self, *shape):
        return [self.data(*shape, rank=rank) for rank in range(RANKS)]

    def run(self):
        import torch
        with torch.cuda.device(self.device), torch.cuda.stream(torch.cuda.Stream()):
            self.communicator()
            self.backend()

    def communicator(self):
        import torch

        import gc3
        import gc3.torch
        from gc3.rendezvous import nccl_pointer
        comm = gc3.Communicator.from_nccl(nccl_pointer(self.group, self.device), self.bundle)
        x = self.data(2 * RANKS, 3).cuda()
        name = f"rank {self.rank}: "
        total = sum(self.all_data(2 * RANKS, 3))
        equal(comm.all_reduce(x, torch.empty_like(x)), total, name + "all_reduce")
        equal(comm.all_gather(x), torch.cat(self.all_data(2 * RANKS, 3)), name + "all_gather")
        equal(comm.reduce_scatter(x), total.chunk(RANKS)[self.rank], name + "reduce_scatter")
        equal(comm.all_to_all(x), torch.cat([data.chunk(RANKS)[self.rank] for data in self.all_data(2 * RANKS, 3)]),
              name + "all_to_all")
        equal(comm.broadcast(x.clone(), root=1), self.data(2 * RANKS, 3, rank=1), name + "broadcast")
        large = self.data(1_000_003).cuda()
        comm.all_reduce(large)
        equal(large, sum(self.all_data(1_000_003)), name + "all_reduce of 4 MB")
        self.current_stream(comm)
        self.graph(comm)
        self.operators(comm)
        comm.check()
        comm.close()

    def current_stream(self, comm):
        """The call comes after earlier work of the stream, and before later work, without a synchronization."""
        import torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = torch.zeros(1_000_000, device=self.device)
            for _ in range(20):
                x += 1
            comm.all_reduce(x)
            y = x * 2
            equal(y, torch.full((1_000_000,), 40.0 * RANKS), f"rank {self.rank}: call on the current stream")

    def graph(self, comm):
        import torch
        x = torch.ones(1000, device=self.device)
        comm.all_reduce(x)  # the first call of a program cannot be captured
        torch.cuda.current_stream().synchronize()
        graph = torch.cuda.CUDAGraph()
        with self.lock:  # one thread after the other captures
            x.fill_(1)
            torch.cuda.current_stream().synchronize()
            with torch.cuda.graph(graph, stream=torch.cuda.Stream(), capture_error_mode="thread_local"):
                comm.all_reduce(x)
                x.mul_(3)
        self.barrier.wait(30)  # a capture waits for the whole GPU, also for the replay of another rank
        for _ in range(3):
            graph.replay()
        equal(x, torch.full((1000,), float((3 * RANKS) ** 3)), f"rank {self.rank}: three replays of a graph")

    def operators(self, comm):
        import torch

        import gc3.torch
        x = self.data(2 * RANKS).cuda().requires_grad_()
        y = gc3.torch.all_gather(gc3.torch.reduce_scatter(torch.relu(x), comm), comm)
        y.sum().backward()
        equal(y.detach(), sum(self.all_data(2 * RANKS)), f"rank {self.rank}: operators")
        equal(x.grad, torch.full((2 * RANKS,), float(RANKS)), f"rank {self.rank}: gradient")
        work = gc3.torch.all_reduce(x.detach(), comm, async_op=True)
        work.wait()
        equal(work.outputs[0], sum(self.all_data(2 * RANKS)), f"rank {self.rank}: asynchronous operator")

    def backend(self):
        import torch
        import torch.distributed as dist
        from torch._C import _distributed_c10d as c10d

        import gc3.torch
        group = gc3.torch.ProcessGroup(dist.PrefixStore("gc3", self.store), self.rank, RANKS, TIMEOUT,
                                       gc3.torch.Options(), list(range(RANKS)), "threads")
        name = f"rank {self.rank}: backend: "
        x = self.data(5).cuda()
        group.allreduce([x], c10d.AllreduceOptions()).wait()
        equal(x, sum(self.all_data(5)), name + "allreduce")
        work = group.allreduce([x], c10d.AllreduceOptions())
        equal(work.get_future().wait()[0], RANKS * sum(self.all_data(5)), name + "future")
        out = torch.empty(5 * RANKS, device=self.device)
        group._allgather_base(out, self.data(5).cuda()).wait()
        equal(out, torch.cat(self.all_data(5)), name + "allgather")
        out = torch.empty(2, device=self.device)
        group._reduce_scatter_base(out, self.data(2 * RANKS).cuda()).wait()
        equal(out, sum(self.all_data(2 * RANKS)).chunk(RANKS)[self.rank], name + "reduce_scatter")
        splits = [1, 2] if self.rank == 0 else [3, 1]  # what this rank sends to ranks 0 and 1
        received = [1, 3] if self.rank == 0 else [2, 1]
        out = torch.empty(sum(received), device=self.device)
        sent = torch.full((sum(splits),), float(self.rank), device=self.device)
        group.alltoall_base(out, sent, received, splits).wait()
        equal(out, torch.cat([torch.full((count,), float(rank)) for rank, count in enumerate(received)]),
              name + "alltoall with splits, by NCCL")
        group.shutdown()


def load_kernels():
    """Runs PyTorch's kernels that the ranks use.

    CUDA loads a kernel at its first launch, and can wait for the whole GPU, also for a kernel that waits for a rank.
    """
    import torch
    x = torch.ones(100, device="cuda").requires_grad_()
    (torch.relu(x) / 2).sum().backward()
    y = torch.zeros(100, device="cuda")
    y += 1
    y.mul_(3).fill_(1)
    (y * 2).clone().copy_(y)
    y.cpu()
    torch.cuda.synchronize()


def part_threads():
    import torch
    import torch.distributed as dist

    import gc3.torch  # noqa: F401
    load_kernels()
    print(f"PyTorch {torch.__version__}, NCCL {torch.cuda.nccl.version()} at build time", flush=True)
    store, lock, barrier, failures = dist.HashStore(), threading.Lock(), threading.Barrier(RANKS), []

    def run(rank):
        try:
            Rank(rank, store, lock, barrier).run()
        except BaseException:
            failures.append(traceback.format_exc())
            print(f"rank {rank}: {failures[-1]}", flush=True)

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(RANKS)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + PARTS["threads"] - 10
    for thread in threads:
        while thread.is_alive() and not failures and time.monotonic() < end:
            thread.join(0.1)
    if failures or any(thread.is_alive() for thread in threads):
        print("failed: " + ("a rank raised an error" if failures else "the ranks have not ended in time"), flush=True)
        os._exit(1)
    os._exit(0)  # PyTorch's groups are not destroyed


# ---- Two ranks that share the GPU, as processes ----


def part_processes():
    if "RANK" in os.environ:
        run_process()
        return
    environment = dict(os.environ, WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT="29612")
    command = [sys.executable, __file__, "--inside", "processes"]
    ranks = [subprocess.Popen(command, env=dict(environment, RANK=str(rank))) for rank in range(RANKS)]
    try:
        statuses = [rank.wait(PARTS["processes"] - 5) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    expect(statuses == [0] * RANKS, f"exit statuses {statuses}")


def run_process():
    import torch
    import torch.distributed as dist

    import gc3.torch
    torch.cuda.set_device(0)
    dist.init_process_group("gc3", timeout=TIMEOUT)
    rank = dist.get_rank()
    x = torch.arange(5.0, device="cuda") + rank
    dist.all_reduce(x)
    equal(x, RANKS * torch.arange(5.0) + sum(range(RANKS)), f"rank {rank}: all_reduce")
    out = torch.empty(2 * RANKS, device="cuda")
    gc3.torch.all_to_all_single(out, torch.arange(2.0 * RANKS, device="cuda") + 10 * rank)
    equal(out, torch.cat([torch.arange(2.0) + 2 * rank + 10 * other for other in range(RANKS)]),
          f"rank {rank}: all_to_all_single")
    nccl = dist.new_group(backend="nccl")
    losses = []
    for group in (None, nccl):
        torch.manual_seed(7)
        model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3)).cuda()
        model = torch.nn.parallel.DistributedDataParallel(model, process_group=group)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        generator = torch.Generator().manual_seed(rank)
        for _ in range(3):
            data = torch.randn(16, 20, generator=generator).cuda()
            target = torch.randint(3, (16,), generator=generator).cuda()
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(data), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    expect(losses[:3] == losses[3:], f"losses {losses[:3]} by gc3, {losses[3:]} by NCCL")
    print(f"passed: rank {rank}: DDP has the losses of NCCL, {losses[:3]}", flush=True)
    dist.destroy_process_group()


# ---- The CPU, and the main program ----


def part_cpu():
    """Runs each check in a job of its own, several at a time, so that a failure does not hide others."""
    import torch_job
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    checks = re.findall(r"^def (check_\w+)", (FOLDER / "torch_checks.py").read_text(encoding="utf-8"), re.MULTILINE)

    def run(case):
        ranks, check = case
        return ranks, torch_job.finish(torch_job.start(ranks, [check]), 60)

    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 3)) as pool:
        jobs = list(pool.map(run, [(ranks, check) for check in checks for ranks in (2, 4)]))
    results = [(f"{ranks} ranks: rank {rank}: {check}", result) for ranks, job in jobs for rank, check, result in job]
    for name, result in results:
        print(f"{name}: {result or 'passed'}")
    failed = sum(result.startswith("failed") for _, result in results)
    print(f"cpu: {len(results) - failed} without errors, {failed} failed", flush=True)
    expect(failed == 0 and results, "checks failed")


def environment_of(part, nccl):
    path = f"{FOLDER.parent}:{os.environ.get('PYTHONPATH', '')}"
    environment = dict(os.environ, PYTHONPATH=path, OMP_NUM_THREADS="2")
    if nccl and part in ("threads", "processes"):
        environment.update(LD_PRELOAD=nccl, NCCL_MULTI_RANK_GPU_ENABLE="1", GC3_NCCL_LIB=nccl)
    return environment


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nccl")
    parser.add_argument("--inside", action="store_true", help="runs the part in this process")
    parser.add_argument("parts", nargs="*", default=[])
    arguments = parser.parse_args()
    parts = arguments.parts or list(PARTS)
    if arguments.inside:
        globals()[f"part_{parts[0]}"]()
        return 0
    failed = 0
    for part in parts:
        print(f"---- {part}", flush=True)
        begin = time.monotonic()
        process = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "--inside", part], start_new_session=True,
                                   env=environment_of(part, arguments.nccl))
        result = "passed"
        try:
            if process.wait(PARTS[part]) != 0:
                result = f"failed: exit status {process.returncode}"
        except subprocess.TimeoutExpired:
            result = f"failed: not done after {PARTS[part]} s"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        failed += result != "passed"
        print(f"---- {part}: {result} ({time.monotonic() - begin:.0f} s)", flush=True)
    print(f"{len(parts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
