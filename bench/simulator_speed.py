#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many steps gc3-sim simulates in a second of processor time.

    python3 bench/simulator_speed.py --build build/release

Prints one row for each program, in Markdown: steps in all tiles, processor seconds and peak memory of the process, which
also loads the bundle.
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


def measure(build, folder, example, params, topology, size):
    """Returns steps in all tiles, processor seconds, and peak memory in MiB."""
    bundle = os.path.join(folder, "program.gc3b")
    subprocess.run([os.path.join(build, "tools", "gc3c", "gc3c"), os.path.join(ROOT, "examples", example + ".gc3"),
                    *params.split(), "--max-threadblocks=1000", "-o", bundle], check=True)
    rows = os.path.join(folder, "rows.json")
    process = subprocess.Popen([os.path.join(build, "tools", "gc3-sim", "gc3-sim"), bundle, f"--topology={topology}",
                                "--program=all", f"-b={size}", f"-e={size}", "-q", f"--json={rows}"])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    with open(rows, encoding="utf-8") as file:
        return json.load(file)["rows"][0]["instructions"], usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    build = parser.parse_args().build
    print("| program | topology | size | steps in all tiles | processor s | million a second | MiB |")
    print("| --- | --- | --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        for title, example, params, topology, size in CASES:
            steps, seconds, memory = measure(build, folder, example, params, topology, size)
            print(f"| {title} | {topology} | {size} | {steps:,} | {seconds:.2f} | {steps / seconds / 1e6:.2f} | {memory:.0f} |",
                  flush=True)


if __name__ == "__main__":
    main()
