#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs job.py with the library in front of NCCL preloaded, where this Python has PyTorch 2.6 for CUDA 12: on emulated GPUs,
so neither a GPU nor a driver is needed. Else says what is missing, and exits with 77.

run.py FOLDER    the build's, with the machine's libraries and the bundles
"""
import os
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
PROBE = "import torch; print(torch.__version__, torch.version.cuda, torch.distributed.is_nccl_available())"


def environment(folder):
    bundles = sorted(folder.glob("*.gc3b"))
    return os.environ | {
        "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",  # for libcuda.so.1
        "LD_PRELOAD": f"{folder}/libpytorch-front.so:{folder}/libnccl.so.2",
        "GC3_BUNDLES": ":".join(map(str, bundles)),
        "GC3_DEBUG": "INFO",
        "GC3_THREADS": "32",  # of a block: each is a fiber
    }


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        skip("this Python has no PyTorch: " + (probe.stderr.splitlines() or ["it crashed"])[-1])
    if not re.match(r"2\.6\..* 12\..* True$", probe.stdout.strip()):
        skip(f"what the machine has is what PyTorch 2.6 for CUDA 12 calls, and this is {probe.stdout.strip()}")
    job = pathlib.Path(__file__).with_name("job.py")
    for nonblocking in ("0", "1"):
        settings = environment(folder) | {"TORCH_NCCL_USE_COMM_NONBLOCKING": nonblocking}
        run = subprocess.run([sys.executable, str(job)], env=settings, capture_output=True, text=True, timeout=120, check=False)
        check(run)
        if run.stderr.count("does not block") != 8 * int(nonblocking):  # two of each rank
            sys.exit("communicators are not as they were asked for")


def check(run):
    served, left = set(), []
    for line in run.stderr.splitlines():
        call = re.match(r"gc3: rank \d: ([A-Z]\w+) .* (\w+|NCCL: .*)$", line)
        if call and call[2].startswith("NCCL"):
            left.append(line)
        elif call:
            served.add(call[1])
    print(run.stdout + run.stderr)
    if run.returncode != 0:
        sys.exit("the job failed")
    if left:
        sys.exit("left to NCCL: " + left[0])
    if served != {"AllGather", "AllReduce", "Bcast", "Reduce", "ReduceScatter"}:
        sys.exit(f"programs served {sorted(served)}")


main()
