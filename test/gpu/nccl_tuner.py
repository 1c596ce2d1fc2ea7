#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that NCCL follows the tables of the tuner plugin, with two ranks on one GPU.

nccl_tuner.py NCCL PLUGIN WORK   runs AllReduce with two tables, and compares NCCL's log with them. WORK is a new folder.

Each rank is a process with its own NCCL_HOSTID. So NCCL takes the ranks for two hosts, lets them share the GPU, and
sends messages over sockets. Needs libcuda.so.1.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import time

COUNTS = {1024: 256, 1 << 20: 1 << 18}  # bytes of a call, and its floats
CALLS = 40
SECONDS = 60
# Two tables, and what NCCL's log must have for each size. NCCL may use fewer channels for small calls.
RUNS = {
    "first": ("allreduce 2 2 10 ring ll 1 5\nallreduce 2 2 10 tree simple 2 9\n"
              "allreduce 2 2 20 ring ll 1 9\nallreduce 2 2 20 tree simple 2 5\n",
              {1024: "RING proto LL channel{Lo..Hi}={0..0}", 1 << 20: "TREE proto SIMPLE channel{Lo..Hi}={0..1}"}),
    "second": ("allreduce 2 2 10 ring ll 1 9\nallreduce 2 2 10 tree simple 2 5\nallreduce 2 2 20 ring simple 1 5\n",
               {1024: "TREE proto SIMPLE", 1 << 20: "RING proto SIMPLE channel{Lo..Hi}={0..0}"}),
}


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


def check(result, doing):
    if result != 0:
        raise SystemExit(f"{doing}: result {result}")


def share_id(nccl, rank, path):
    """Returns rank 0's id. Rank 0 writes it to a file."""
    unique = UniqueId()
    if rank == 0:
        check(nccl.ncclGetUniqueId(ctypes.byref(unique)), "ncclGetUniqueId")
        path.with_suffix(".new").write_bytes(bytes(unique))
        path.with_suffix(".new").rename(path)
        return unique
    while not path.exists():
        time.sleep(0.05)
    return UniqueId.from_buffer_copy(path.read_bytes())


def run_rank(nccl, work, rank):
    cuda, nccl = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(nccl)
    device, context, comm, buffer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    nccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, UniqueId, ctypes.c_int]
    nccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                   ctypes.c_void_p, ctypes.c_void_p]
    check(nccl.ncclCommInitRank(ctypes.byref(comm), 2, share_id(nccl, rank, work / "id"), rank), "ncclCommInitRank")
    check(cuda.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(max(COUNTS))), "cuMemAlloc")
    for count in COUNTS.values():
        for _ in range(CALLS):
            check(nccl.ncclAllReduce(buffer.value, buffer.value, count, 7, 0, comm, None), "ncclAllReduce")
        check(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
    check(nccl.ncclCommDestroy(comm), "ncclCommDestroy")


def run_ranks(nccl, plugin, work, table):
    """Returns NCCL's log of rank 0, and the tables of measured times."""
    (work / "times").mkdir(parents=True)
    (work / "table").write_text("gc3-nccl-table 1\n" + table, encoding="utf-8")
    ranks = []
    for rank in range(2):
        variables = {"NCCL_HOSTID": f"host{rank}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_DEBUG": "INFO",
                     "NCCL_DEBUG_SUBSYS": "INIT,TUNING", "NCCL_DEBUG_FILE": work / f"log{rank}",
                     "NCCL_TUNER_PLUGIN": plugin, "NCCL_PROFILER_PLUGIN": plugin, "GC3_TUNER_TABLE": work / "table",
                     "GC3_TUNER_TIMES": work / "times"}
        ranks.append(subprocess.Popen([sys.executable, __file__, nccl, str(work), str(rank)],
                                      env=os.environ | {name: str(value) for name, value in variables.items()}))
    try:
        results = [rank.wait(SECONDS) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    if results != [0, 0]:
        raise SystemExit(f"the ranks end with {results}")
    times = [path.read_text(encoding="utf-8") for path in (work / "times").iterdir()]
    return (work / "log0").read_text(encoding="utf-8"), times


def main(nccl, plugin, work):
    for name, (table, expected) in RUNS.items():
        log, times = run_ranks(nccl, str(pathlib.Path(plugin).resolve()), pathlib.Path(work) / name, table)
        for size, choice in expected.items():
            line = f"AllReduce: {size} Bytes -> Algo {choice}"
            if line not in log:
                raise SystemExit(f"{log}\nNCCL's log lacks: {line}")
        rows = re.findall(r"^allreduce 2 2 (10|20) (ring|tree) (ll|simple) \S+ [0-9.]+$", times[0], re.M)
        if len(times) != 1 or len(rows) != len(expected):
            raise SystemExit(f"{times}\nthe measured times are not those of {len(expected)} arms")
        print(f"{name} table: NCCL chose {', '.join(expected.values())}")


if len(sys.argv) == 4 and sys.argv[3].isdigit():
    run_rank(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]))
else:
    main(*sys.argv[1:])
