#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares gc3-sim with measured times of collectives.

    python3 bench/measured.py --points FILE.json --build build/release [--json OUT] [--topologies DIR] [--check]

FILE.json has an object with `points`. A point has `machine` (ndmv4 or ndmv5), `collective`, `kernel`, `ranks`, `size` in
bytes, and `time` in microseconds. For each kernel there is a gc3 program in bench/measured that does the same, and keeps its protocol over networks. Prints the
predictions and their errors, in Markdown. `--json` writes the points with `predicted` next to `time`. `--topologies` names
a folder with other files for the machines. `--check` fails if the mean error exceeds 10 %, or an error 25 %.

The error of a point is max(predicted / time, time / predicted) - 1. The mean is geometric.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUS = 8  # of a node


def program_of(point, folder, build):
    """Compiles the program for a point, once for each number of nodes. Returns the path of the bundle."""
    nodes = point["ranks"] // GPUS
    source = os.path.join(ROOT, "bench", "measured", point["kernel"] + ".gc3")
    if not os.path.exists(source) or point["ranks"] % GPUS:
        sys.exit(f"no program for kernel '{point['kernel']}' on {point['ranks']} ranks")
    bundle = os.path.join(folder, f"{point['kernel']}-{nodes}.gc3b")
    if not os.path.exists(bundle):
        defines = [f"-DN={nodes}"] if nodes > 1 else []
        subprocess.run([os.path.join(build, "tools", "gc3c", "gc3c"), source, *defines, "-o", bundle], check=True)
    return bundle


def topology_of(point, folder, topologies):
    """Returns the value of --topology for a point. A machine of several nodes is N*NAME, or made from a file."""
    nodes = point["ranks"] // GPUS
    if not topologies:
        return point["machine"] if nodes == 1 else f"{nodes}*{point['machine']}"
    with open(os.path.join(topologies, point["machine"] + ".json"), encoding="utf-8") as file:
        machine = json.load(file)
    path = os.path.join(folder, f"{point['machine']}-{nodes}.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(joined(machine, nodes), out)
    return path


def joined(machine, nodes):
    """Returns the topology of several machines on a network, as gc3's N*NAME."""
    if nodes == 1:
        return machine
    cards = machine["network"]
    inside = machine["switches"][0]
    switches = [dict(inside, ports=[n * GPUS + g for g in range(GPUS)]) for n in range(nodes)]
    network = {"kind": "network", "rails": GPUS, "alpha": cards["alpha"], "beta": cards["beta"],
               "bandwidth": cards["bandwidth"]}
    return {"name": f"{nodes}*{machine['name']}", "ranks": nodes * GPUS, "switches": switches + [network],
            "costs": machine["costs"]}


def predict(point, folder, build, topologies=None):
    """Returns the predicted time of a point in microseconds."""
    command = [os.path.join(build, "tools", "gc3-sim", "gc3-sim"), program_of(point, folder, build),
               f"--topology={topology_of(point, folder, topologies)}", f"-b={point['size']}", f"-e={point['size']}",
               "--keep-protocol", "--json=-"]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if result.returncode:
        sys.exit(f"gc3-sim failed: {' '.join(command)}")
    rows = json.loads(result.stdout)["rows"]
    assert len(rows) == 1, rows
    return rows[0]["time"]


def error_of(point):
    return abs(math.log(point["predicted"] / point["time"]))


def summary(points):
    """Returns the geometric mean error and the largest error."""
    errors = [error_of(point) for point in points]
    return math.exp(sum(errors) / len(errors)) - 1, math.exp(max(errors)) - 1


def print_table(points):
    print("| machine | collective | kernel | ranks | size | measured µs | predicted µs | predicted / measured |")
    print("| --- | --- | --- | --: | --: | --: | --: | --: |")
    for point in points:
        print(f"| {point['machine']} | {point['collective']} | {point['kernel']} | {point['ranks']} | {point['size']} "
              f"| {point['time']:.2f} | {point['predicted']:.2f} | {point['predicted'] / point['time']:.3f} |")
    mean, most = summary(points)
    print(f"\nThe geometric mean error is {100 * mean:.1f} %, and the largest {100 * most:.1f} %.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--json")
    parser.add_argument("--topologies")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with open(options.points, encoding="utf-8") as file:
        content = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        for point in content["points"]:
            point["predicted"] = predict(point, folder, options.build, options.topologies)
    print_table(content["points"])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(content, out, indent=2)
            out.write("\n")
    mean, most = summary(content["points"])
    if options.check and (mean > 0.10 or most > 0.25):
        sys.exit("the errors are too large")


if __name__ == "__main__":
    main()
