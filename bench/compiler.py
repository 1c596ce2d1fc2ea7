#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures time and peak memory of whole gc3c processes, which compile text to verified bundles on one core.

    python3 bench/compiler.py [--gc3c build/release/tools/gc3c/gc3c] [--runs 5] [--largest 10e6] [--huge]

Compiles four programs, each with ten thousand to ten million instructions of GC3-IR, programs with which other
compilers have been measured, and a program without regularity. Prints medians, in Markdown. Processor time includes the system's time for gc3c; on a busy
machine it varies less than elapsed time. `--huge` adds a hierarchical AllReduce of 2048 x 8 ranks (14 GiB).
"""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS = ["--max-threadblocks=100000", "--max-ops=200000000", "--max-steps=100000000000", "--max-slots=4000000000"]

# Title, example, and params that make about 10^4, 10^5, 10^6 and 10^7 instructions.
SCALED = [
    ("Ring AllReduce", "ring_allreduce", [f"-DR={r}" for r in (72, 224, 708, 2240)]),
    ("All-Pairs AllReduce", "allpairs_allreduce", [f"-DR={r}" for r in (45, 142, 448, 1415)]),
    ("Hierarchical AllReduce", "three_level_allreduce", [f"-DP=1 -DG=8 -DN={n}" for n in (25, 79, 249, 786)]),
    ("Two-Step AllToAll", "twostep_alltoall", [f"-DG=8 -DN={n}" for n in (9, 27, 86, 271)]),
]
KNOWN = [
    ("Two-Step AllToAll, 32 nodes of 8 GPUs", "twostep_alltoall", "-DN=32 -DG=8"),
    ("Two-Step AllToAll, 64 nodes of 8 GPUs", "twostep_alltoall", "-DN=64 -DG=8"),
    ("Ring AllReduce, 128 ranks", "ring_allreduce", "-DR=128"),
    ("All-Pairs AllReduce, 32 ranks", "allpairs_allreduce", "-DR=32"),
    ("All-Pairs AllReduce, 64 ranks", "allpairs_allreduce", "-DR=64"),
    ("Halving-doubling AllReduce, 128 ranks", "halving_doubling_allreduce", "-DR=128"),
    ("Hierarchical AllReduce, 16 nodes of 8 GPUs, 16 instances", "hierarchical_allreduce", "-DN=16 -DG=8"),
    ("Ring AllReduce, 8 ranks", "ring_allreduce", "-DR=8"),
]
IRREGULAR = ("Random copies among 105 ranks", "../bench/random_copies", "--max-threadblocks=108")
HUGE = ("Hierarchical AllReduce, 2048 nodes of 8 GPUs", "three_level_allreduce", "-DP=1 -DG=8 -DN=2048")


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compile_once(gc3c, example, params, bundle):
    limits = [limit for limit in LIMITS if limit.split("=")[0] not in params]
    command = [gc3c, f"{ROOT}/examples/{example}.gc3", *params.split(), *limits, "--time-report", "-o", bundle]
    begin, processor_begin = time.perf_counter(), processor_seconds()
    report = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    seconds, processor = time.perf_counter() - begin, processor_seconds() - processor_begin
    total = re.search(r"([\d.]+) MiB  in all: (\d+) instructions", report)
    stages = [float(time) for time in re.findall(r"([\d.]+) ms +[\d.]+ MiB", report)][:-1]
    return seconds, processor, float(total[1]), int(total[2]), stages


def measure(gc3c, title, example, params, runs, bundle):
    compile_once(gc3c, example, params, bundle)
    results = [compile_once(gc3c, example, params, bundle) for _ in range(runs)]
    seconds = statistics.median(result[0] for result in results)
    processor = statistics.median(result[1] for result in results)
    peak = max(result[2] for result in results)
    instructions = results[0][3]
    stages = " / ".join(f"{statistics.median(times):.0f}" for times in zip(*(result[4] for result in results)))
    print(f"| {title} | `{params}` | {instructions:,} | {seconds:.3f} s | {processor:.3f} s | "
          f"{instructions / seconds / 1e6:.2f} M/s | "
          f"{peak:.0f} MiB | {peak * 2**20 / instructions:.0f} | {stages} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gc3c", default=f"{ROOT}/build/release/tools/gc3c/gc3c")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--largest", type=float, default=1e7, help="leave out larger programs")
    parser.add_argument("--huge", action="store_true")
    arguments = parser.parse_args()
    if not os.path.exists(arguments.gc3c):
        sys.exit(f"{arguments.gc3c} is not there; build it first (bash scripts/test.sh)")
    print("| program | params | instructions | time | processor | rate | peak memory | bytes each | "
          "parse and evaluate / lower / schedule / verify / emit / write, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        bundle = f"{folder}/x.gc3b"
        for title, example, sizes in SCALED:
            for exponent, params in enumerate(sizes, 4):
                if 10**exponent <= arguments.largest:
                    runs = arguments.runs if exponent < 7 else 1
                    measure(arguments.gc3c, title, example, params, runs, bundle)
        for title, example, params in KNOWN:
            measure(arguments.gc3c, title, example, params, arguments.runs, bundle)
        measure(arguments.gc3c, *IRREGULAR, 1, bundle)
        if arguments.huge:
            measure(arguments.gc3c, *HUGE, 1, bundle)


if __name__ == "__main__":
    main()
