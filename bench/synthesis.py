#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats tables 4 and 5 of SCCL (Cai et al., PPoPP 2021): finds, compiles, proves and runs the algorithm of each row.

    python3 bench/synthesis.py [--tools build/release/tools] [--seed 0] [--time-limit 600] [--only dgx1] [--runs 1]

A row is a collective with (C, S, R): chunks, steps, rounds. Prints, in Markdown, the result of the search, its elapsed
time and its processor time. Times are medians of `--runs` runs; the two times are about equal on an idle machine. Also
prints in which respects the bounds prove the result optimal, and whether gc3c proves the program and gc3-run finds
every element right. Runs one process at a time; Z3 uses one core. Exits with 1 if a row fails.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

GATHERS = [(1, 2, 2), (2, 3, 3), (3, 4, 4), (4, 5, 5), (5, 6, 6), (6, 7, 7), (6, 3, 7), (2, 2, 3)]
BROADCASTS = [(2, 2, 2), (6, 3, 3), (12, 4, 4), (18, 5, 5), (6, 3, 5)]
RING_BROADCASTS = [(2, 4, 4), (4, 5, 5), (6, 6, 6), (8, 7, 7), (10, 8, 8)]
TABLES = [
    ("Table 4", "dgx1", [
        ("allgather", GATHERS),
        ("reduce_scatter", GATHERS),
        ("allreduce", [(8, 4, 4), (16, 6, 6), (24, 8, 8), (32, 10, 10), (40, 12, 12), (48, 14, 14), (48, 6, 14),
                       (16, 4, 6)]),
        ("broadcast", BROADCASTS),
        ("reduce", BROADCASTS),
        ("gather", GATHERS),
        ("scatter", GATHERS),
        ("alltoall", [(8, 3, 3), (8, 2, 3), (24, 8, 8), (24, 2, 8)]),
    ]),
    ("Table 5", "amd-z52", [
        ("allgather", [(1, 4, 4), (2, 7, 7), (2, 4, 7)]),
        ("reduce_scatter", [(1, 4, 4), (2, 7, 7), (2, 4, 7)]),
        ("allreduce", [(8, 8, 8), (16, 14, 14), (16, 8, 14)]),
        ("broadcast", RING_BROADCASTS),
        ("reduce", RING_BROADCASTS),
        ("gather", [(1, 4, 4), (2, 4, 7)]),
        ("scatter", [(1, 4, 4), (2, 4, 7)]),
        ("alltoall", [(8, 4, 8)]),
    ]),
]


def search(arguments, topology, collective, row, folder):
    chunks, steps, rounds = row
    command = [f"{arguments.tools}/gc3-synth/gc3-synth", "--quiet", f"--topology={topology}", f"--collective={collective}",
               f"--chunks={chunks}", f"--steps={steps}", f"--rounds={rounds}", f"--seed={arguments.seed}",
               f"--time-limit={arguments.time_limit}", "-o", f"{folder}/found.gc3", f"--json={folder}/found.json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(command, stderr=subprocess.PIPE, text=True).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code not in (0, 3, 4):
        sys.exit(f"{' '.join(command)} failed with {code}")
    with open(f"{folder}/found.json", encoding="utf-8") as file:
        trial = json.load(file)["trials"][0]
    trial["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return trial


def is_right(arguments, folder, placements):
    """Returns True if gc3c proves the program and makes a bundle, and gc3-run finds every element right."""
    for placement in placements:
        compile_command = [f"{arguments.tools}/gc3c/gc3c", f"{folder}/found.gc3", *placement, "-o", f"{folder}/found.gc3b"]
        run_command = [f"{arguments.tools}/gc3-run/gc3-run", f"{folder}/found.gc3b", "-b", "64K", "-e", "64K", "-n", "0"]
        for command in (compile_command, run_command):
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
                return False
    return True


def table(arguments, topology, collectives):
    failures, total, totalOfCore = 0, 0, 0
    print("| collective | (C, S, R) | found | search | of a core | shown optimal in | proved and run |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for collective, rows in collectives:
            placements = [[]] if collective == "alltoall" else [["-Dinplace=true"], ["-Dinplace=false"]]
            for row in rows:
                trials = [search(arguments, topology, collective, row, folder) for _ in range(arguments.runs)]
                found = trials[0]["verdict"] == "satisfiable"
                right = found and is_right(arguments, folder, placements)
                failures += not right
                seconds = statistics.median(trial["milliseconds"] for trial in trials) / 1000
                core = statistics.median(trial["cpu"] for trial in trials)
                total += seconds
                totalOfCore += core
                shown = [word for word, key in (("latency", "latencyOptimal"), ("bandwidth", "bandwidthOptimal"))
                         if trials[0][key]]
                print(f"| {collective} | {row} | {trials[0]['verdict']} | {seconds:.2f} s | {core:.2f} s | "
                      f"{', '.join(shown)} | "
                      f"{'yes' if right else 'NO'} |", flush=True)
    return failures, total, totalOfCore


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=f"{ROOT}/build/release/tools")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=int, default=600)
    parser.add_argument("--only", default="", help="this topology only")
    parser.add_argument("--runs", type=int, default=1)
    arguments = parser.parse_args()
    if not os.path.exists(f"{arguments.tools}/gc3-synth/gc3-synth"):
        sys.exit(f"{arguments.tools}/gc3-synth/gc3-synth is not there; build it first, with Z3 (libz3-dev)")
    failures = 0
    for title, topology, collectives in TABLES:
        if arguments.only not in ("", topology):
            continue
        print(f"{title}, {topology}\n")
        begin = time.perf_counter()
        failed, seconds, core = table(arguments, topology, collectives)
        failures += failed
        print(f"\nSearches {seconds:.1f} s, {core:.1f} s of a core; all of it with compiling and running "
              f"{time.perf_counter() - begin:.1f} s.\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
