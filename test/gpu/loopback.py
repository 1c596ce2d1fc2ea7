#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs bundles of all examples and of random programs on the GPU, one after the other.

Runs each bundle under its own protocol and under Simple. Makes ten thousand random calls with each of three bundles.
If CUDA's compute-sanitizer is installed, also runs small bundles under its checks of memory, races and barriers.
make_bundles.py makes the bundles, here or on another machine. If there is no GPU, prints a line and exits with 77.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # write no .pyc files into the source tree

# pylint: disable=wrong-import-position
import bundles

SANITIZED = ["ring_allreduce", "allpairs_allreduce", "direct_alltoall", "twostep_alltoall"]
TOOLS = ["memcheck", "racecheck", "synccheck"]
RUNS = ["own", "simple", "often", *TOOLS]


def ranks_of(bundle):
    """Returns the ranks in a name such as example.protocol.RANKS.gc3b, or None for random programs."""
    return bundle.name.split(".")[2] if bundle.name.count(".") == 3 else None


def is_sanitized(bundle):
    if bundle.name.startswith("random-"):
        return int(re.sub(r"\D", "", bundle.name[:-len(".gc3b")])) < 4
    return bundle.name.split(".")[0] in SANITIZED and ranks_of(bundle) in ("2", "4", "2x2")


def command_of(run, bundle, gpu_test, sanitizer):
    """Returns the command for a bundle, or None if this kind of run skips the bundle."""
    if run == "own":
        return [gpu_test, bundle]
    if run == "simple":
        # The run "own" already uses Simple.
        return [gpu_test, "--simple", bundle] if ".Simple." not in bundle.name else None
    if run == "often":
        return [gpu_test, "--repeats", "10000", bundle] if re.fullmatch(r"ring_allreduce\.\w+\.8\.gc3b", bundle.name) else None
    if not is_sanitized(bundle):
        return None
    # Under a sanitizer tool, kernels take many times as long. The tool must not report API errors: the test checks them
    # itself, and some of them only mean that the test must wait.
    return [sanitizer, "--tool", run, "--report-api-errors", "no", "--error-exitcode", "1", gpu_test, "--kernel-ms", "60000",
            "--repeats", "2", bundle]


def judge(status, output):
    if status != 0:
        return "FAILED", f"exit status {status}"
    totals = re.search(r"(\d+) programs, \d+ calls; (\d+) programs have more thread blocks than fit", output)
    if not totals:
        return "FAILED", "it does not say what it has done"
    if totals.group(1) == "0":
        return "skipped", "more thread blocks than fit"
    return "right", f"{totals.group(2)} of its programs have more thread blocks than fit" if totals.group(2) != "0" else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu-test", required=True)
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS, help="only these")
    bundles.add_arguments(parser)
    arguments = parser.parse_args()
    probe = subprocess.run([arguments.gpu_test, "--probe"], check=False).returncode
    if probe != 0:
        sys.exit(probe)
    found = bundles.smallest_first(bundles.folder_of(arguments, parser))
    session = bundles.Session(arguments)
    sanitizer = shutil.which("compute-sanitizer")
    few_threads = dict({"GC3_THREADS": "128"}, **os.environ)  # under a tool, kernels need more registers
    for run in arguments.runs:
        if run in TOOLS and not sanitizer:
            print(f"SKIPPED: {run}: no compute-sanitizer on the path", flush=True)
            continue
        for bundle in found:
            command = command_of(run, pathlib.Path(bundle), arguments.gpu_test, sanitizer)
            if command:
                session.run(f"{run} {bundle.name}", command, judge, few_threads if run in TOOLS else None)
    sys.exit(session.exit_status())


if __name__ == "__main__":
    main()
