#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs job.py on emulated GPUs, with the interposer preloaded. Needs neither a GPU nor a driver. If this Python lacks
PyTorch 2.6 for CUDA 12, reports that and exits with 77.

run.py FOLDER [LIBRARY]: FOLDER is the build folder with the libraries of the emulated machine and the bundles. LIBRARY
is the address sanitizer's library.
"""
import importlib.util
import os
import pathlib
import re
import runpy
import subprocess
import sys

SKIPPED = 77
COMMUNICATORS = 12  # communicators that the job creates with a config: 3 for each rank


def environment(folder, sanitizer):
    bundles = sorted(folder.glob("*.gc3b"))
    libraries = sanitizer + [f"{folder}/libpytorch-front.so", f"{folder}/libnccl.so.2"]
    return os.environ | {
        # The folder has the emulated machine's libcuda.so.1.
        "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "LD_PRELOAD": ":".join(libraries),
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0",  # Python itself leaks
        "GC3_BUNDLES": ":".join(map(str, bundles)),
        "GC3_DEBUG": "INFO",
        "GC3_THREADS": "32",  # few threads in a block, because each is a fiber
    }


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def expect_pytorch():
    """Skips the test if there is no PyTorch 2.6 for CUDA 12. Does not import PyTorch, because the import needs NCCL and
    the driver."""
    found = importlib.util.find_spec("torch")
    if not found or not found.origin:
        skip("this Python has no PyTorch")
    version = runpy.run_path(str(pathlib.Path(found.origin).with_name("version.py")))
    if not version["__version__"].startswith("2.6.") or not str(version["cuda"]).startswith("12."):
        skip(f"the machine is for PyTorch 2.6 with CUDA 12, and this is {version['__version__']} with CUDA {version['cuda']}")


def main():
    expect_pytorch()
    folder = pathlib.Path(sys.argv[1]).resolve()
    job = pathlib.Path(__file__).with_name("job.py")
    for nonblocking in ("0", "1"):
        settings = environment(folder, sys.argv[2:]) | {"TORCH_NCCL_USE_COMM_NONBLOCKING": nonblocking}
        run = subprocess.run([sys.executable, str(job)], env=settings, capture_output=True, text=True, timeout=120, check=False)
        check(run)
        kind = " that does not block" if nonblocking == "1" else ""
        created = re.findall(r"machine: Comm\w+\(.*, config(.*)\)$", run.stderr, re.MULTILINE)
        if created != [kind] * COMMUNICATORS:
            sys.exit(f"TORCH_NCCL_USE_COMM_NONBLOCKING={nonblocking} created communicators with configs {created}")


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
        sys.exit(f"the job failed: {run.returncode}")
    if left:
        sys.exit("left to NCCL: " + left[0])
    if served != {"AllGather", "AllReduce", "Bcast", "Reduce", "ReduceScatter"}:
        sys.exit(f"programs served {sorted(served)}")


main()
