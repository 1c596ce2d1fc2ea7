#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits a topology to one half of the times of gc3's kernels on one GPU, and predicts the other half.

    python3 bench/gpu_fit.py --build build/release [--rows FILE.json] [--topology T.json]

FILE.json (default bench/measured/h100_shared.json) has variants of the programs in examples/, and their times by size in
microseconds. All ranks share the GPU. The fits begin at T.json. The tables are those of bench/host_fit.py.
"""
import argparse
import json
import os
import tempfile

import host_fit
import variants

MEASURED = os.path.join(host_fit.ROOT, "bench", "measured")
# Where the fits begin: round numbers. Each of the eight ranks has an eighth of the memory's bandwidth.
START = {"name": "shared-gpu", "ranks": 8, "switches": [{"alpha": 0.1, "beta": 0.0001}],
         "costs": {"launch": 5, "step": 0.5, "prepare": 0.5, "wait": 0.2, "memory": 400,
                   **{name: {"copy": 30, "reduce": 30} for name in ("simple", "ll", "ll128")}}}


def rows_of(content):
    """Returns rows as gc3-run writes them, and the variants."""
    rows, programs = [], []
    for entry in content["programs"]:
        variant = variants.Variant(entry["example"], entry["ranks"], entry.get("protocol"), entry.get("channels"))
        programs.append(variant)
        for size, time in zip(content["sizes"], entry["times"]):
            place = {"time_us": time}
            rows.append({"program": variant.name, "collective": entry["collective"], "ranks": entry["ranks"],
                         "bytes": size, "type": "float", "in_place": place, "out_of_place": place})
    return rows, programs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rows", default=os.path.join(MEASURED, "h100_shared.json"))
    parser.add_argument("--topology")
    options = parser.parse_args()
    with open(options.rows, encoding="utf-8") as file:
        rows, programs = rows_of(json.load(file))
    with tempfile.TemporaryDirectory() as folder:
        tools = host_fit.Tools(options.build, folder)
        bundles = list(variants.compile_all(programs, folder, options.build).values())
        host_fit.report(tools, bundles, rows, options.topology or tools.write("start.json", START), "", [])


if __name__ == "__main__":
    main()
