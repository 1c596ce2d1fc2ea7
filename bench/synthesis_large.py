#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds, compiles and proves programs for topologies that are too large for a solver.

    python3 bench/synthesis_large.py [--tools build/release/tools] [--tries 0] [--only torus]

Prints, in Markdown, a row for each topology and collective. It has the processor seconds and peak memory of gc3-synth,
the rounds found and their lower bound, the number of instructions, and the processor seconds of gc3c, which proves the
program. Runs one process at a time, each with one thread. Exits with 1 if a program is not found, or not proved.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = [
    ("torus:4x4x4", ["allgather", "alltoall"]),
    ("hypercube:6", ["allgather", "alltoall"]),
    ("16*dgx-h100", ["allgather", "alltoall", "allreduce"]),
    ("torus:16x16", ["allgather", "alltoall", "allreduce"]),
    ("torus:8x8x8", ["allgather", "alltoall", "allreduce"]),
    ("hypercube:9", ["allgather", "alltoall", "allreduce"]),
    ("torus:32x32", ["allgather", "reduce_scatter"]),
    ("torus:8x8x16", ["allgather", "reduce_scatter"]),
    ("hypercube:10", ["allgather", "reduce_scatter"]),
    ("64*dgx1", ["allgather", "alltoall", "allreduce"]),
    ("64*ring:8", ["allgather"]),
    ("128*dgx-h100", ["allgather"]),
    ("mesh:16x32", ["allgather", "reduce_scatter"]),
]


def measured(command):
    """Runs a command. Returns its exit status, output, processor seconds and peak memory in MiB."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def row(arguments, topology, collective, folder):
    program, report, bundle = f"{folder}/found.gc3", f"{folder}/found.json", f"{folder}/found.gc3b"
    synth = [f"{arguments.tools}/gc3-synth/gc3-synth", f"--topology={topology}", f"--collective={collective}", "-o", program,
             f"--json={report}"] + ([f"--tries={arguments.tries}"] if arguments.tries else [])
    status, said, seconds, memory = measured(synth)
    if status != 0:
        sys.exit(f"{' '.join(synth)} failed with {status}:\n{said}")
    with open(report, encoding="utf-8") as file:
        trial = json.load(file)["trials"][0]
    with open(program, encoding="utf-8") as file:
        ranks, links = re.match(r"// .*?: (\d+) ranks, (\d+) links", file.readline()).groups()
    status, said, compiling, _ = measured([f"{arguments.tools}/gc3c/gc3c", program, "--time-report", "-o", bundle])
    if status != 0:
        sys.exit(f"{topology} {collective} is not proved:\n{said}")
    instructions = int(re.search(r"in all: (\d+) instructions", said).group(1))
    least = max(trial["leastRounds"], trial["leastSteps"])
    return (f"| {topology} | {ranks} | {links} | {collective} | {seconds:.2f} | {memory:.0f} | {trial['steps']} | {trial['rounds']} | "
            f"{least} | {trial['rounds'] / least:.3f} | {trial['sends']:,} | {instructions:,} | {compiling:.2f} |")


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--tools", default=os.path.join(ROOT, "build/release/tools"), help="a build's tools")
    parser.add_argument("--tries", type=int, default=0, help="of the search; 0: as many as it thinks fit")
    parser.add_argument("--only", default="", help="topologies that contain this")
    arguments = parser.parse_args()
    print("| topology | ranks | links | collective | found in (s) | MiB | steps | rounds | bound | rounds / bound | sends | instructions | proved in (s) |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for topology, collectives in CASES:
            for collective in collectives:
                if arguments.only in topology:
                    print(row(arguments, topology, collective, folder), flush=True)


main()
