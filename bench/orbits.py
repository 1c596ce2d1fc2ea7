#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts hierarchical AllReduce without a list of the steps of all ranks, and compares it with gc3-sim.

    ninja -C build/release gc3c gc3-sim bench-orbits
    python3 bench/orbits.py --build build/release

The program is examples/three_level_allreduce.gc3 with one pod. bench/orbits/Orbit.h describes the input of bench-orbits.
Sizes of which gc3c compiles the program must have equal times, else the script fails. The last row is only predicted.
"""
import argparse
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUS = 8
# Nodes, MiB, and whether gc3c compiles the program for a comparison.
CASES = [(2, 1, True), (5, 40, True), (16, 64, True), (64, 4096, True), (12500, 3125, False)]


def orbit(nodes):
    """Returns the program of each rank: rings inside a node, rings between nodes, and back."""
    return f"""grid {nodes} {GPUS}
chunks {nodes * GPUS}
message {nodes}
tb 0 1 # ReduceScatter inside the node
  send {nodes}
  rrs {nodes} x {GPUS - 2}
  rrc {nodes}
tb 0 1 # AllGather inside the node
  send {nodes} after 3 {nodes - 1}
  rcs {nodes} x {GPUS - 2}
  recv {nodes}
tb 1 0 # ReduceScatter between nodes
  send 1 after 0 {GPUS - 1}
  rrs 1 x {nodes - 2}
  rrc 1
tb 1 0 # AllGather between nodes
  send 1 after 2 {nodes - 1}
  rcs 1 x {nodes - 2}
  recv 1
"""


def measure(command):
    """Returns the output, the seconds, and the peak memory in MiB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return json.loads(output), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compiled_time(build, folder, nodes, mib):
    bundle = os.path.join(folder, "program.gc3b")
    subprocess.run([os.path.join(build, "tools", "gc3c", "gc3c"),
                    os.path.join(ROOT, "examples", "three_level_allreduce.gc3"), "-DP=1", f"-DN={nodes}", f"-DG={GPUS}",
                    "-o", bundle], check=True)
    rows, _, _ = measure([os.path.join(build, "tools", "gc3-sim", "gc3-sim"), bundle, f"--topology={nodes}*dgx-a100",
                          "--program=all", f"-b={mib}MiB", f"-e={mib}MiB", "--json=-"])
    return rows["rows"][0]["time"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    build = parser.parse_args().build
    print("| nodes | MiB | steps of all ranks | predicted ms | error to gc3-sim | processor s | MiB of memory |")
    print("| --: | --: | --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "program.orbit")
        for nodes, mib, is_compiled in CASES:
            with open(file, "w", encoding="utf-8") as out:
                out.write(orbit(nodes))
            result, seconds, memory = measure([os.path.join(build, "bench", "bench-orbits"), file,
                                               f"{nodes}*dgx-a100", str(mib << 20)])
            error = "-"
            if is_compiled:
                time = compiled_time(build, folder, nodes, mib)
                error = f"{abs(result['time'] / time - 1):.0e}"
                assert abs(result["time"] / time - 1) < 1e-9, (result, time)
            print(f"| {nodes:,} | {mib:,} | {result['steps']:,} | {result['time'] / 1000:.3f} | {error} | {seconds:.1f} | "
                  f"{memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
