#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many steps gc3-sim simulates in a second of processor time.

    python3 bench/simulator_speed.py --build build/release [--large]

Prints one row for each program, in Markdown: steps in all tiles, processor seconds and peak memory of the process, which
also loads the bundle. First each thread block is simulated, then those with equal histories once. --large adds programs
of 4,096 and 16,384 ranks; gc3c compiles the second one in 6 minutes with 12 GiB.
"""
import argparse
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Title, example, params, topology, size.
CASES = [
    ("Ring AllReduce", "ring_allreduce", "-DR=8", "dgx-h100", "16GiB"),
    ("Ring AllReduce, 8 channels", "ring_allreduce", "-DR=8 -Dchannels=8", "dgx-h100", "16GiB"),
    ("All-Pairs AllReduce", "allpairs_allreduce", "-DR=8", "dgx-h100", "64GiB"),
    ("Direct AllToAll", "direct_alltoall", "-DR=64", "8*dgx-h100", "4GiB"),
    ("Hierarchical AllReduce", "three_level_allreduce", "-DP=1 -DG=8 -DN=16", "16*dgx-a100", "4GiB"),
    ("Ring AllReduce, 512 ranks", "ring_allreduce", "-DR=512", "64*dgx-h100", "1GiB"),
    ("Hierarchical AllReduce, 512 ranks", "three_level_allreduce", "-DP=1 -DG=8 -DN=64", "64*dgx-a100", "256MiB"),
]
LARGE = [
    ("Hierarchical AllReduce, 4,096 ranks", "three_level_allreduce", "-DP=1 -DG=8 -DN=512", "512*dgx-a100", "1MiB"),
    ("Hierarchical AllReduce, 16,384 ranks", "three_level_allreduce", "-DP=1 -DG=8 -DN=2048", "2048*dgx-a100", "1MiB"),
]
LIMITS = ["--max-threadblocks=5000", "--max-ops=1000000000", "--max-slots=4000000000", "--max-steps=10000000000"]


def compile_program(build, bundle, example, params):
    subprocess.run([os.path.join(build, "tools", "gc3c", "gc3c"), os.path.join(ROOT, "examples", example + ".gc3"),
                    *params.split(), *LIMITS, "-o", bundle], check=True)


def measure(build, folder, bundle, topology, size, symmetry):
    """Returns the row of gc3-sim, processor seconds, and peak memory in MiB."""
    rows = os.path.join(folder, "rows.json")
    process = subprocess.Popen([os.path.join(build, "tools", "gc3-sim", "gc3-sim"), bundle, f"--topology={topology}",
                                "--program=all", f"-b={size}", f"-e={size}", "-q", f"--symmetry={symmetry}",
                                f"--json={rows}"])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    with open(rows, encoding="utf-8") as file:
        return json.load(file)["rows"][0], usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build
    print("| program | topology | size | steps in all tiles | processor s | million a second | MiB | "
          "thread blocks | merged | processor s, merged | MiB, merged |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        bundle = os.path.join(folder, "program.gc3b")
        for title, example, params, topology, size in CASES + (LARGE if arguments.large else []):
            compile_program(build, bundle, example, params)
            row, seconds, memory = measure(build, folder, bundle, topology, size, "off")
            merged, merged_seconds, merged_memory = measure(build, folder, bundle, topology, size, "auto")
            steps = row["instructions"]
            print(f"| {title} | {topology} | {size} | {steps:,} | {seconds:.2f} | {steps / seconds / 1e6:.2f} | "
                  f"{memory:.0f} | {row['simulated_blocks']:,} | {merged['simulated_blocks']:,} | {merged_seconds:.2f} | "
                  f"{merged_memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
