# SPDX-License-Identifier: Apache-2.0
"""A PyTorch job of four ranks. Each rank is a thread of this process, with its own GPU. If there are fewer GPUs, ranks
share them, which needs NCCL 2.30.3 or later. Tests every collective for which PyTorch calls NCCL. Prints a line for
each correct result, and fails if a result is wrong.
"""
import contextlib
import sys
import threading

import torch
import torch.distributed as dist
from torch.cuda import nccl

RANKS = 4
COUNT = 1000


class Rank:
    """Calls of one rank. All ranks make the same calls."""

    def __init__(self, store, rank):
        self.store, self.rank, self.device = store, rank, torch.device("cuda", rank % torch.cuda.device_count())
        torch.cuda.set_device(self.device)
        self.group = dist.ProcessGroupNCCL(dist.PrefixStore("job", store), rank, RANKS, dist.ProcessGroupNCCL.Options())

    def make(self, call):
        """Makes a call. If ranks share a GPU, no rank allocates or copies while another rank's kernel waits for it,
        because CUDA can let these wait for the kernel."""
        torch.cuda.current_stream().synchronize()
        TOGETHER.wait()
        call().wait()
        torch.cuda.current_stream().synchronize()
        TOGETHER.wait()

    def tensor(self, count=COUNT, dtype=torch.float32, of=None):
        """Returns the data of rank `of`, by default of this rank: its element k is `of` + k % 5."""
        of = self.rank if of is None else of
        return (torch.arange(count) % 5 + of).to(dtype)

    def all_reduce(self, dtype, name, op, combine):
        options = dist.AllreduceOptions()
        options.reduceOp = op
        data = self.tensor(dtype=dtype).to(self.device)
        self.make(lambda: self.group.allreduce([data], options))
        check(f"all_reduce {name} {dtype}", data, combine(torch.stack([self.tensor(dtype=dtype, of=r) for r in range(RANKS)])))

    def all_gather(self):
        mine, everyone = self.tensor().to(self.device), torch.empty(RANKS * COUNT, device=self.device)
        self.make(lambda: self.group._allgather_base(everyone, mine))
        check("all_gather_into_tensor", everyone, torch.cat([self.tensor(of=r) for r in range(RANKS)]))
        parts = [torch.empty(COUNT, device=self.device) for _ in range(RANKS)]
        self.make(lambda: self.group.allgather([parts], [mine]))
        for r, part in enumerate(parts):
            check(f"all_gather, of rank {r}", part, self.tensor(of=r))

    def reduce_scatter(self):
        whole, mine = self.tensor(RANKS * COUNT).to(self.device), torch.empty(COUNT, device=self.device)
        self.make(lambda: self.group._reduce_scatter_base(mine, whole))
        total = sum(self.tensor(RANKS * COUNT, of=r) for r in range(RANKS))
        check("reduce_scatter_tensor", mine, total[self.rank * COUNT : (self.rank + 1) * COUNT])

    def rooted(self):
        for root in range(RANKS):
            data, options = self.tensor().to(self.device), dist.BroadcastOptions()
            options.rootRank = root
            self.make(lambda: self.group.broadcast([data], options))
            check(f"broadcast from {root}", data, self.tensor(of=root))
            data, options = self.tensor().to(self.device), dist.ReduceOptions()
            options.rootRank = root
            self.make(lambda: self.group.reduce([data], options))
            if self.rank == root:
                check(f"reduce to {root}", data, sum(self.tensor(of=r) for r in range(RANKS)))

    def coalesced(self):
        one, other = self.tensor().to(self.device), self.tensor(10, torch.int64).to(self.device)

        def both():
            self.group._start_coalescing()
            self.group.allreduce([one])
            self.group.allreduce([other])
            return self.group._end_coalescing()

        self.make(both)
        check("two in a group, the first", one, sum(self.tensor(of=r) for r in range(RANKS)))
        check("two in a group, the second", other, sum(self.tensor(10, torch.int64, r) for r in range(RANKS)))

    def split(self):
        """Tests a group whose communicator NCCL splits from that of self.group, as it does for PyTorch's new_group with
        a device_id. Both have the same ranks."""
        options = dist.ProcessGroupNCCL.Options()
        options.split_from, options.split_color = self.group, 1
        group = dist.ProcessGroupNCCL(dist.PrefixStore("split", self.store), self.rank, RANKS, options)
        data = self.tensor().to(self.device)
        self.make(lambda: group.allreduce([data]))
        check("all_reduce in a group that was split", data, sum(self.tensor(of=r) for r in range(RANKS)))
        end(group)

    def aborted(self):
        """Makes a last call on rank 0 only. The call's kernel waits for the other ranks until the abort."""
        group = dist.ProcessGroupNCCL(dist.PrefixStore("abort", self.store), self.rank, RANKS, dist.ProcessGroupNCCL.Options())
        data = self.tensor().to(self.device)
        self.make(lambda: group.allreduce([data]))
        check("all_reduce before an abort", data, sum(self.tensor(of=r) for r in range(RANKS)))
        if self.rank == 0:
            group.allreduce([data]).wait()
        TOGETHER.wait()
        waited = not torch.cuda.current_stream().query()
        group.abort()
        torch.cuda.current_stream().synchronize()
        check("abort, a call waits", torch.tensor(waited), torch.tensor(self.rank == 0))

    def run(self):
        # The null stream of a shared GPU would make ranks wait for each other.
        with torch.cuda.stream(torch.cuda.Stream()) if SHARES_GPUS else contextlib.nullcontext():
            self.make_calls()

    def make_calls(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.uint8):
            for name in ("SUM", "PRODUCT", "MIN", "MAX"):
                self.all_reduce(dtype, name, getattr(dist.ReduceOp, name), COMBINE[name])
        self.all_reduce(torch.float32, "AVG", dist.ReduceOp.AVG, lambda all: all.mean(0))
        self.all_reduce(torch.float32, "PREMUL_SUM", dist._make_nccl_premul_sum(0.5), lambda all: (all * 0.5).sum(0))
        self.all_gather()
        self.reduce_scatter()
        self.rooted()
        self.coalesced()
        self.split()
        self.aborted()
        self.group.barrier().wait()
        end(self.group)


def end(group):
    """Shuts a group down: the function has another name from PyTorch 2.7 on."""
    (group._shutdown if hasattr(group, "_shutdown") else group.shutdown)()


def one_thread():
    """Makes the calls of all ranks on one thread, in NCCL groups, as PyTorch's DataParallel does."""
    devices = [torch.device("cuda", rank) for rank in range(RANKS)]
    ones = [(torch.arange(COUNT) + rank).float() for rank in range(RANKS)]
    given = [one.to(device) for one, device in zip(ones, devices)]
    total = sum(ones)
    nccl.all_reduce(given)
    for rank, found in enumerate(given):
        check(f"torch.cuda.nccl.all_reduce, rank {rank}", found, total)
    nccl.broadcast(given[:1] + [torch.empty(COUNT, device=device) for device in devices[1:]])
    everyone = [torch.empty(RANKS * COUNT, device=device) for device in devices]
    nccl.all_gather([one.to(device) for one, device in zip(ones, devices)], everyone)
    for rank, found in enumerate(everyone):
        check(f"torch.cuda.nccl.all_gather, rank {rank}", found, torch.cat(ones))


COMBINE = {
    "SUM": lambda all: all.sum(0, dtype=all.dtype),
    "PRODUCT": lambda all: all.prod(0, dtype=all.dtype),
    "MIN": lambda all: all.amin(0),
    "MAX": lambda all: all.amax(0),
}
LINES, WRONG = [], []
SHARES_GPUS = torch.cuda.device_count() < RANKS
TOGETHER = threading.Barrier(RANKS, timeout=60)


def check(what, found, expected):
    found = found.cpu()
    if torch.equal(found, expected):
        LINES.append(what)
    else:
        WRONG.append(f"{what}: {found[:8]} and not {expected[:8]}")


def main():
    store = dist.HashStore()

    def work(rank):
        try:
            Rank(store, rank).run()
        except Exception as error:  # pylint: disable=broad-except
            WRONG.append(f"rank {rank}: {error!r}")

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(RANKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not SHARES_GPUS:  # NCCL's groups of one thread need a GPU for each rank here
        one_thread()
    for line in dict.fromkeys(LINES):
        print(line, f"{LINES.count(line)} times")
    sys.exit("\n".join(WRONG) or 0)


main()
