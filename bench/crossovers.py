#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows whether online selection learns which program is the fastest at which size.

    python3 bench/crossovers.py --build build/release [--check]

gc3-tune predicts the times of AllReduce programs on one and two DGX A100: All-Pairs, rings and hierarchical programs with
different protocols, channels and copies. The recording has these times with 5 % noise, in 300 calls of each size. The
selector knows no times at the begin. For each size, the table has the program of most of the last 50 calls, and its time
by that of the fastest program. --check fails if this is above 1.05 at some size.
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile

BENCH = os.path.dirname(os.path.abspath(__file__))
MACHINES = {"dgx-a100": [os.path.join(BENCH, "..", "examples", "tunable_allreduce.gc3")],
            "2*dgx-a100": [os.path.join(BENCH, "tune_nodes.gc3")]}
CALLS, LAST, NOISE = 300, 50, 0.05


def tool(build, name, *arguments):
    path = os.path.join(build, "tools", name, name)
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=True).stdout


def predict(build, machine, folder):
    """Returns the sizes, and the times of each candidate by size."""
    output = tool(build, "gc3-tune", *MACHINES[machine], f"--topology={machine}", "-b", "1KiB", "-e", "1GiB", "-f", "4", "--json=-",
                  "-o", os.path.join(folder, "bundle.gc3b"))
    contest = json.loads(output)["collectives"][0]
    return [row["size"] for row in contest["rows"]], {each["name"]: each["times"] for each in contest["candidates"]}


def record(sizes, times):
    rng = random.Random(1)
    order = [bucket for bucket in range(len(sizes)) for _ in range(CALLS)]
    rng.shuffle(order)
    calls = [{"bucket": bucket, "times": [each[bucket] * math.exp(rng.gauss(0, NOISE)) for each in times.values()]}
             for bucket in order]
    return {"arms": [{"name": name} for name in times], "buckets": sizes, "calls": calls}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    worst = 0
    print("| machine | size | learned program | fastest program | time / fastest |\n| --- | --: | --- | --- | --: |")
    for machine in MACHINES:
        with tempfile.TemporaryDirectory() as folder:
            sizes, times = predict(options.build, machine, folder)
            recording = record(sizes, times)
            path = os.path.join(folder, "recording.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(recording, file)
            choices = json.loads(tool(options.build, "gc3-tune", "--replay", path))["choices"]
        names = list(times)
        for bucket, size in enumerate(sizes):
            chosen = [arm for call, arm in zip(recording["calls"], choices) if call["bucket"] == bucket][-LAST:]
            learned = max(set(chosen), key=chosen.count)
            fastest = min(range(len(names)), key=lambda arm: times[names[arm]][bucket])
            ratio = times[names[learned]][bucket] / times[names[fastest]][bucket]
            worst = max(worst, ratio)
            print(f"| {machine} | {size} | {names[learned]} | {names[fastest]} | {ratio:.3f} |")
    print(f"\nThe learned programs take at most {100 * (worst - 1):.1f} % more time than the fastest ones.")
    if options.check and worst > 1.05:
        raise SystemExit("the selector has not learned a program that is fast enough")


if __name__ == "__main__":
    main()
