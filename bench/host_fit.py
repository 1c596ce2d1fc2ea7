#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits a topology to one half of measured times, and predicts the other half.

    python3 bench/host_fit.py --build build/release [--json OUT] [--rounds N]
    python3 bench/host_fit.py --build build/release --rows A.json B.json --programs FILES --topology T.json [--fit NAMES]

Without --rows, runs the examples on 2, 4 and 8 ranks with gc3-run and the host executor, in one thread, twice. A time
is the shortest of several rounds. Rows of less than 1 microsecond are left out. With --rows, A.json and B.json have two
measurements by gc3-run of the same programs.

Each half is alternate rows, or alternate programs. The error of a time is max(predicted / measured, measured /
predicted) - 1, and means are geometric. A pair is two programs with equal collective, ranks and size in the predicted
half, whose measured times differ by more than 20 %. The tables are Markdown. `--json` writes the rows of both
measurements.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = ["allpairs_allreduce", "binomial_allreduce", "doubling_allreduce", "halving_doubling_allreduce",
            "oneshot_allreduce", "ring_allreduce", "double_tree_allreduce", "bruck_allgather", "doubling_allgather",
            "ring_allgather", "direct_alltoall", "ring_reduce_scatter", "halving_reduce_scatter",
            "pipelined_reduce_scatter", "chain_broadcast", "tree_broadcast", "chain_reduce", "tree_reduce"]
HOST = {"name": "host", "ranks": 8, "switches": [{"kind": "other", "alpha": 0, "beta": 0}],
        "costs": {"launch": 0.5, "step": 0.05, "processors": {"count": 1, "cache": 1e6, "miss": 2},
                  "simple": {"copy": 50, "reduce": 50}, "ll": {"copy": 50, "reduce": 50}}}
HOST_CONSTANTS = ("launch,step,wait,simple.hop.other,processors.cache,processors.miss,simple.copy,simple.reduce,"
                  "ll.copy,ll.reduce")
SLOT_BYTES = "128KiB"  # of the host executor
PLACES = ("out_of_place", "in_place")


class Tools:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def run(self, tool, *arguments):
        done = subprocess.run([os.path.join(self.build, "tools", tool, tool), *arguments], capture_output=True,
                              text=True)
        if done.returncode:
            sys.exit(f"{tool} {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def write(self, name, value):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            json.dump(value, out)
        return path


def compile_programs(tools):
    paths = []
    for name in PROGRAMS:
        for ranks in (2, 4, 8):
            paths.append(os.path.join(tools.folder, f"{name}-{ranks}.gc3b"))
            tools.run("gc3c", os.path.join(ROOT, "examples", name + ".gc3"), f"-DR={ranks}", "-o", paths[-1])
    return paths


def measure(tools, programs, rounds):
    """Returns the rows of all programs, with the shortest time of each placement."""
    best = {}
    for _ in range(rounds):
        for path in programs:
            text = tools.run("gc3-run", path, "-b", "1KiB", "-e", "4MiB", "-f", "4", "-n", "10", "-w", "2", "-c", "0",
                             "--workers", "1", "--json", "-")
            for row in json.loads(text)["rows"]:
                known = best.setdefault((row["program"], row["ranks"], row["bytes"]), row)
                for place in PLACES:
                    if row[place] and row[place]["time_us"] < known[place]["time_us"]:
                        known[place] = row[place]
    return [row for row in best.values() if all(row[p] is None or row[p]["time_us"] >= 1 for p in PLACES)]


def key(row):
    return row["program"], row["ranks"], row["bytes"]


def predict(tools, programs, rows, topology, slot_bytes):
    """Returns the measured and the predicted time of each row, in order."""
    results = tools.write("compared.json", {"rows": rows})
    text = tools.run("gc3-sim", *programs, "--fit", results, "--fit-constants=none", "--topology", topology,
                     *slot_bytes)
    return [(float(line.split()[2]), float(line.split()[3])) for line in text.splitlines() if not line.startswith("#")]


def fit(tools, programs, rows, topology, constants, slot_bytes):
    fitted = os.path.join(tools.folder, "fitted.json")
    tools.run("gc3-sim", *programs, "--fit", tools.write("half.json", {"rows": rows}), "--topology", topology, "-o",
              fitted, *([f"--fit-constants={constants}"] if constants else []), *slot_bytes)
    return fitted


def error(pairs):
    """Returns the geometric mean error and the largest, of pairs of times."""
    logarithms = [abs(math.log(a / b)) for a, b in pairs]
    return math.expm1(sum(logarithms) / len(logarithms)), math.expm1(max(logarithms))


def ordered(rows, times):
    """Returns how many pairs are ordered correctly, and how many there are."""
    correct, count = 0, 0
    for i, first in enumerate(rows):
        for j in range(i):
            second = rows[j]
            if any(first[name] != second[name] for name in ("collective", "ranks", "bytes")):
                continue
            measured, predicted = times[i][0] / times[j][0], times[i][1] / times[j][1]
            if max(measured, 1 / measured) > 1.2:
                count += 1
                correct += (measured > 1) == (predicted > 1)
    return correct, count


def split(rows, by_program):
    """Returns two halves: alternate rows, or alternate programs."""
    names = sorted({(row["program"], row["ranks"]) for row in rows})
    number = {name: i for i, name in enumerate(names)}
    halves = [], []
    for i, row in enumerate(rows):
        halves[(number[row["program"], row["ranks"]] if by_program else i) % 2].append(row)
    return halves


def report(tools, programs, rows, topology, constants, slot_bytes):
    print("| halves | rows fitted | rows predicted | mean error of the fit | mean error predicted | largest | up to "
          "64 KiB | above | pairs ordered correctly |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: |")
    worst = []
    for by_program in (False, True):
        known, other = split(rows, by_program)
        fitted = fit(tools, programs, known, topology, constants, slot_bytes)
        own = error(predict(tools, programs, known, fitted, slot_bytes))[0]
        times = predict(tools, programs, other, fitted, slot_bytes)
        mean, largest = error(times)
        parts = []
        for isSmall in (True, False):
            part = [pair for row, pair in zip(other, times) if (row["bytes"] <= 65536) == isSmall]
            parts.append(f"{100 * error(part)[0]:.1f} %" if part else "-")
        correct, count = ordered(other, times)
        print(f"| {'programs' if by_program else 'rows'} | {len(known)} | {len(other)} | {100 * own:.1f} % | "
              f"{100 * mean:.1f} % | {100 * largest:.0f} % | {' | '.join(parts)} | "
              f"{correct} of {count}, {100 * correct / max(count, 1):.1f} % |")
        worst = sorted(zip(times, other), key=lambda each: -abs(math.log(each[0][0] / each[0][1])))[:8]
    print("\nThe largest errors of the last line:\n")
    print("| program | ranks | size | measured µs | predicted µs | predicted / measured |")
    print("| --- | --: | --: | --: | --: | --: |")
    for (measured, predicted), row in worst:
        print(f"| {row['program']} | {row['ranks']} | {row['bytes']} | {measured:.2f} | {predicted:.2f} | "
              f"{predicted / measured:.3f} |")


def noise(tools, programs, first, second, topology, slot_bytes):
    """Prints the difference between two measurements of the same rows, in the placement of the programs."""
    known = {key(row): row for row in second}
    both = [row for row in first if key(row) in known]
    if not both:
        return
    times = [[measured for measured, _ in predict(tools, programs, rows, topology, slot_bytes)]
             for rows in (both, [known[key(row)] for row in both])]
    mean, largest = error(list(zip(*times)))
    print(f"Noise: two measurements of {len(both)} rows differ by {100 * mean:.1f} % in the geometric mean, and by at "
          f"most {100 * largest:.0f} %.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--rows", nargs="+", help="one or two files")
    parser.add_argument("--programs", nargs="+")
    parser.add_argument("--topology")
    parser.add_argument("--fit", default="", help="constants (default all that the rows determine)")
    options = parser.parse_args()
    if bool(options.rows) != bool(options.programs and options.topology):
        parser.error("--rows needs --programs and --topology, and they need --rows")
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.build, folder)
        if options.rows:
            programs, topology, constants, slot_bytes = options.programs, options.topology, options.fit, []
            measured = []
            for path in options.rows:
                with open(path, encoding="utf-8") as file:
                    measured.append(json.load(file)["rows"])
        else:
            programs, topology = compile_programs(tools), tools.write("host.json", HOST)
            constants, slot_bytes = HOST_CONSTANTS, ["--slot-bytes=" + SLOT_BYTES]
            measured = [measure(tools, programs, options.rounds) for _ in range(2)]
        if options.json:
            with open(options.json, "w", encoding="utf-8") as out:
                json.dump({"measurements": measured}, out, indent=1)
        if len(measured) > 1:
            noise(tools, programs, measured[0], measured[1], topology, slot_bytes)
        report(tools, programs, measured[0], topology, constants, slot_bytes)


if __name__ == "__main__":
    main()
