#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tunes AllReduce for three machines, measures the time that this takes, and measures a tuned bundle on the host.

    python3 bench/tune_allreduce.py --build build/release [--reports FOLDER] [--host]

The first table has the ranges of each machine, and the speed-up over NCCL's cost model. `--reports` keeps the reports.
The line after it has the time of gc3-tune for 108 combinations of knobs at 20 sizes on 8 ranks.

With `--host`, gc3-tune measures the candidates with the host executor. Then the bundle and each of its programs alone
run in turn, five times, and the shortest time of each size counts. The table has the geometric mean of the times over
all sizes, and its ratio to that of the bundle.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
TUNABLE = os.path.join(BENCH, "..", "examples", "tunable_allreduce.gc3")
NODES = os.path.join(BENCH, "tune_nodes.gc3")
MACHINES = (("dgx-a100", TUNABLE), ("2*dgx-a100", NODES), ("dgx-h100", TUNABLE))
HOST_SIZES = ["-b", "1KiB", "-e", "16MiB", "-f", "4"]


class Tools:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, tool, *arguments):
        subprocess.run([os.path.join(self.build, "tools", tool, tool), *arguments], check=True,
                       stdout=subprocess.DEVNULL)

    def rows(self, tool, *arguments):
        """Runs a tool with --json, and returns the object that it writes."""
        output = self.path("rows.json")
        self.run(tool, *arguments, "--json", output)
        with open(output, encoding="utf-8") as file:
            return json.load(file)

    def tune(self, *arguments):
        result = self.rows("gc3-tune", *arguments, "-o", self.path("tuned.gc3b"))
        return result["collectives"][0]


def size_text(size):
    for unit, text in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {text}"
    return f"{size} B"


def range_text(each):
    if each["max_bytes"] is None:
        return f"from {size_text(each['min_bytes'])}"
    return f"{size_text(each['min_bytes'])} to {size_text(each['max_bytes'])}"


def tune_machines(tools, reports):
    print("| machine | sizes | program | largest speed-up over NCCL's model |\n| --- | --- | --- | --- |")
    for machine, source in MACHINES:
        report = os.path.join(reports or tools.folder, "tune-" + machine.replace("*", "x") + ".html")
        tuned = tools.tune(source, "--topology", machine, "-e", "512MiB", "--baseline", "nccl", "--report", report)
        for each in tuned["ranges"]:
            end = each["max_bytes"] or math.inf
            gains = [tuned["baseline"][i] / row["time"] for i, row in enumerate(tuned["rows"])
                     if each["min_bytes"] <= row["size"] < end]
            print(f"| {machine} | {range_text(each)} | `{each['program']}` | {max(gains, default=1):.2f} |")


def time_tuner(tools):
    begin = time.monotonic()
    tuned = tools.tune(TUNABLE, "--topology", "dgx-a100", "-e", "512MiB")
    seconds = time.monotonic() - begin
    print(f"\n108 combinations of knobs, {len(tuned['candidates'])} different programs, {len(tuned['rows'])} sizes, "
          f"8 ranks: {seconds:.1f} s on {os.cpu_count()} processors")
    return seconds <= 60


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def measure_host(tools):
    tuned = tools.tune(TUNABLE, "--measure", "host", "-DR=4", "-Dwire=Simple", "--rounds", "5", *HOST_SIZES)
    programs = list(dict.fromkeys(each["program"] for each in tuned["ranges"]))
    shortest = {}
    for _ in range(5):
        for program in [None, *programs]:
            choice = ["--program", program] if program else []
            result = tools.rows("gc3-run", tools.path("tuned.gc3b"), *HOST_SIZES, "--inplace", "1", "--check", "0",
                                *choice)
            times = [row["in_place"]["time_us"] for row in result["rows"]]
            shortest[program] = list(map(min, shortest.get(program, times), times))
    bundle = geometric_mean(shortest[None])
    print("| program | geometric mean (µs) | ratio to the bundle |\n| --- | --- | --- |")
    print(f"| tuned bundle | {bundle:.1f} | 1 |")
    alone = {program: geometric_mean(shortest[program]) for program in programs}
    for program, mean in alone.items():
        print(f"| `{program}` alone | {mean:.1f} | {mean / bundle:.2f} |")
    return all(mean > bundle for mean in alone.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--reports")
    parser.add_argument("--host", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(arguments.build, folder)
        if arguments.host:
            return 0 if measure_host(tools) else 1
        tune_machines(tools, arguments.reports)
        return 0 if time_tuner(tools) else 1


if __name__ == "__main__":
    sys.exit(main())
