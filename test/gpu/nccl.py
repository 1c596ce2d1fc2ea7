#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs bundles of nccl.gc3 for 1 to 8 ranks with the installed NCCL, one after the other.

First runs gpu-window-test, in which all ranks of a program use the window of one NCCL rank. Then runs gpu-nccl-test
twice: through gc3CommInit, and through the interposer. With the interposer, also checks that programs ran the calls.
make_bundles.py makes the bundles, here or on another machine. If there is no GPU or no NCCL, prints a line and exits
with 77.
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # write no .pyc files into the source tree

# pylint: disable=wrong-import-position
import bundles


SERVED = ["allreduce", "allgather", "reduce_scatter", "alltoall"]  # the names of the programs of nccl.gc3


def judge(status, output):
    if status == bundles.SKIPPED:
        return "skipped", "; ".join(line for line in output.splitlines() if line.startswith("SKIPPED"))
    return ("FAILED", f"exit status {status}") if status != 0 else ("right", "")


def judge_window(status, output):
    """Like judge(), but if the verdict is right, the reason is the informative lines of the output."""
    verdict, why = judge(status, output)
    if verdict == "right":
        why = "; ".join(line for line in output.splitlines() if line.startswith(("a ", "in a window", "SKIPPED")))
    return verdict, why


def judge_front(status, output):
    """Checks that programs ran the calls, except on communicators of one rank, which always use NCCL."""
    verdict, why = judge(status, output)
    if verdict != "right":
        return verdict, why
    if not re.search(r"^([2-9]|\d\d+) ranks on", output, re.M):
        return verdict, "by NCCL, as there was one rank"
    missing = [name for name in SERVED if not re.search(rf": {name}$", output, re.M)]
    return ("FAILED", "no program served a call of " + ", ".join(missing)) if missing else (verdict, why)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["test", "window-test", "front"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--gin", help="libgc3gin.so, if it was built")
    bundles.add_arguments(parser)
    arguments = parser.parse_args()
    probe = subprocess.run([arguments.test], check=False).returncode
    if probe != 0:
        sys.exit(probe)
    # The kernels of ranks on one GPU wait for each other, so each rank's stream needs a separate hardware queue.
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")
    os.environ.setdefault("GC3_TIMEOUT_MS", "20000")  # a kernel that hangs is stopped, and reports what it waits for
    found = bundles.smallest_first(bundles.folder_of(arguments, parser) / "nccl")
    environment = dict(os.environ, TEST_FRONT="1", GC3_DEBUG="INFO", GC3_BUNDLES=":".join(map(str, found)),
                       LD_PRELOAD=os.path.abspath(arguments.front))
    with_gin = dict(os.environ, GC3_GIN_LIB=os.path.abspath(arguments.gin)) if arguments.gin else None
    session = bundles.Session(arguments)
    for bundle in found:
        session.run(f"in a window {bundle.name}", [arguments.window_test, bundle], judge_window, with_gin)
    for bundle in found:
        session.run(f"attached {bundle.name}", [arguments.test, bundle], judge)
    for bundle in found:
        session.run(f"in front {bundle.name}", [arguments.test, bundle], judge_front, environment)
    sys.exit(session.exit_status())


if __name__ == "__main__":
    main()
