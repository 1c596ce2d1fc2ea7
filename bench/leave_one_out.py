#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts each measured point of a machine from the others.

    python3 bench/leave_one_out.py --points FILE.json --build build/release [--machine ndmv4] [--first N]

For each point, fits the machine's topology to the other points with gc3-sim --fit, and predicts the point with the result.
Omits twoshot_simple on two nodes, whose simulations take too long for many fits. --first omits the points before number N.
FILE.json is as for bench/measured.py.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

import measured


def fit(points, machine, folder, build):
    """Writes the topology that fits the points into the folder."""
    data = os.path.join(folder, "points.json")
    with open(data, "w", encoding="utf-8") as file:
        json.dump({"points": points}, file)
    bundles = sorted({measured.program_of(point, folder, build) for point in points})
    subprocess.run([os.path.join(build, "tools", "gc3-sim", "gc3-sim"), *bundles, f"--fit={data}",
                    f"--topology={machine}", "--keep-protocol", "-o", os.path.join(folder, machine + ".json"), "-q"],
                   check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--machine", default="ndmv4")
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    with open(options.points, encoding="utf-8") as file:
        points = [point for point in json.load(file)["points"] if point["machine"] == options.machine and
                  (point["kernel"] != "twoshot_simple" or point["ranks"] == measured.GPUS)]
    print("| kernel | ranks | size | measured µs | predicted / measured |\n| --- | --: | --: | --: | --: |")
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for point in points[options.first:]:
            fit([other for other in points if other is not point], options.machine, folder, options.build)
            ratio = measured.predict(point, folder, options.build, folder) / point["time"]
            errors.append(abs(math.log(ratio)))
            print(f"| {point['kernel']} | {point['ranks']} | {point['size']} | {point['time']:.2f} | {ratio:.3f} |",
                  flush=True)
    print(f"\nThe geometric mean error is {100 * math.expm1(sum(errors) / len(errors)):.1f} %.")


if __name__ == "__main__":
    main()
