#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares gc3-sim with closed forms on links that cost alpha + bytes * beta.

    python3 bench/closed_forms.py --build build/release

Prints one line for each algorithm, in Markdown: the formula, the number of sizes, and the largest relative error. Exits
with 1 if an error exceeds 1e-9. R is the number of ranks, S the size in bytes, T the number of tiles, w the bytes that a
protocol stores for a byte of data.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ALPHA, BETA = 1.5, 20e-6  # microseconds, and microseconds a byte
SLOT = 512 << 10          # bytes of a FIFO slot under Simple
LIMIT = 1e-9

CHAIN = """
program chain implements broadcast(ranks = {R}, root = 0, chunks = 1, inplace = true) {{
    protocol {protocol};
    var c = chunk(0, input, 0).copy(0, output, 0);
    for r in 1..{R} {{ c = c.copy(r, output, 0); }}
}}
"""

TREE = """
import "std/binomial.gc3";
program tree implements allreduce(ranks = {R}, chunks = 1, inplace = true) {{
    binomial_copy(binomial_reduce(0..{R}, input), 0..{R}, input);
}}
"""


def links(kind, ranks):
    """Returns a topology of plain links: 'full', 'line' or 'ring'."""
    pairs = {"full": [(a, b) for a in range(ranks) for b in range(a + 1, ranks)],
             "line": [(a, a + 1) for a in range(ranks - 1)],
             "ring": [(a, (a + 1) % ranks) for a in range(ranks)]}[kind]
    return {"name": kind, "ranks": ranks,
            "links": [{"from": a, "to": b, "alpha": ALPHA, "beta": BETA * 1e6, "both": True} for a, b in pairs]}


def switch(ranks, kind="nvswitch"):
    return {"name": "switch", "ranks": ranks, "switches": [{"kind": kind, "alpha": ALPHA, "beta": BETA * 1e6}]}


def with_costs(topology, **costs):
    return dict(topology, costs=costs)


def example(name, ranks):
    return os.path.join(ROOT, "examples", name + ".gc3"), [f"-DR={ranks}"]


def tiles(slot_bytes):
    return math.ceil(slot_bytes / SLOT)


def ring(ranks, size):
    return 2 * (ranks - 1) * (ALPHA + size / ranks * BETA)


STEPS = {"launch": 3, "step": 0.5, "simple": {"copy": 20, "reduce": 16, "hop": {"other": 0.25}}}


def ring_with_costs(ranks, size):
    """A block copies and reduces more slowly than the link. The last step only copies."""
    part = size / ranks
    copy, reduce = part / 20e3, part / 16e3
    hops = 2 * (ranks - 1)
    return 3 + (hops + 1) * 0.5 + hops * (ALPHA + 0.25) + (ranks - 1) * reduce + ranks * copy


PREPARED = dict(STEPS, prepare=4)
GRAINS = {"ll": {"copy": 20, "grain": 4096}}


def ring_with_preparation(ranks, size):
    """On one channel, a block prepares each step after the one before, which takes longer than a hop."""
    return ring_with_costs(ranks, size) + 2 * (ranks - 1) * (PREPARED["prepare"] - ALPHA - 0.25)


def chain_with_grains(ranks, size):
    """A block copies more slowly than the link, and passes data on after a grain."""
    return (ranks - 1) * (ALPHA + min(size, 4096) / 20e3) + size / 20e3


SMALL, LARGE = [1 << 10, 24 << 10, 1 << 20], [8 << 20, 64 << 20]
# Title, formula in Markdown, program, topology, sizes, closed form of the size.
CASES = [
    ("Ring AllReduce, 8 ranks", "2 (R - 1) (α + S/R β)", example("ring_allreduce", 8), links("ring", 8), SMALL,
     lambda s: ring(8, s)),
    ("Ring AllReduce, 64 ranks", "2 (R - 1) (α + S/R β)", example("ring_allreduce", 64), links("ring", 64), SMALL,
     lambda s: ring(64, s)),
    ("Ring AllReduce on a switch", "2 (R - 1) (α + S/R β)", example("ring_allreduce", 8), switch(8), SMALL,
     lambda s: ring(8, s)),
    ("Ring AllReduce, steps and blocks that cost",
     "launch + (2R - 1) step + 2 (R - 1) (α + hop) + (R - 1) S/R reduce + R S/R copy",
     example("ring_allreduce", 8), with_costs(links("ring", 8), **STEPS), SMALL, lambda s: ring_with_costs(8, s)),
    ("Ring AllReduce, steps that are prepared",
     "launch + (2R - 1) step + 2 (R - 1) max(prepare, α + hop) + (R - 1) S/R reduce + R S/R copy",
     example("ring_allreduce", 8), with_costs(links("ring", 8), **PREPARED), SMALL, lambda s: ring_with_preparation(8, s)),
    ("Ring AllReduce on R channels, steps that are prepared in time",
     "launch + (2R - 1) step + 2 (R - 1) (α + hop) + (R - 1) S/R reduce + R S/R copy",
     (example("ring_allreduce", 8)[0], ["-DR=8", "-Dchannels=8"]), with_costs(links("ring", 8), **PREPARED), SMALL,
     lambda s: ring_with_costs(8, s)),
    ("Ring AllGather", "(R - 1) (α + S/R β)", example("ring_allgather", 8), links("ring", 8), SMALL,
     lambda s: 7 * (ALPHA + s / 8 * BETA)),
    ("Ring ReduceScatter", "(R - 1) (α + S/R β)", example("ring_reduce_scatter", 8), links("ring", 8), SMALL,
     lambda s: 7 * (ALPHA + s / 8 * BETA)),
    ("Chain Broadcast, store and forward", "(R - 1) α + (R - 2 + T) S/T β", (CHAIN, {"R": 8, "protocol": "Simple"}),
     links("line", 8), SMALL[:2] + LARGE,
     lambda s: 7 * ALPHA + (6 + tiles(s)) * s / tiles(s) * BETA),
    ("Chain Broadcast, pipelined (LL)", "(R - 1) α + w S β", (CHAIN, {"R": 8, "protocol": "LL"}), links("line", 8), SMALL[:2],
     lambda s: 7 * ALPHA + 2 * s * BETA),
    ("Chain Broadcast, pipelined (LL128)", "(R - 1) α + w S β", (CHAIN, {"R": 8, "protocol": "LL128"}), links("line", 8),
     SMALL[:2], lambda s: 7 * ALPHA + s * 128 / 120 * BETA),
    ("Chain Broadcast, pipelined in grains of g bytes (LL)", "(R - 1) (α + min(S, g) copy) + S copy",
     (CHAIN, {"R": 8, "protocol": "LL"}), with_costs(links("line", 8), **GRAINS), SMALL[:2],
     lambda s: chain_with_grains(8, s)),
    ("Binomial tree AllReduce", "2 log R (α + S β)", (TREE, {"R": 16}), links("full", 16), SMALL[:2],
     lambda s: 2 * 4 * (ALPHA + s * BETA)),
    ("Halving-doubling AllReduce", "2 log R α + 2 (1 - 1/R) S β", example("halving_doubling_allreduce", 16),
     links("full", 16), SMALL[1:], lambda s: 2 * 4 * ALPHA + 2 * (1 - 1 / 16) * s * BETA),
    ("Bruck AllGather", "log R α + (1 - 1/R) S β", example("bruck_allgather", 16), links("full", 16), SMALL[1:],
     lambda s: 4 * ALPHA + (1 - 1 / 16) * s * BETA),
    ("Recursive doubling AllReduce (LL)", "log R (α + w S β)", example("doubling_allreduce", 16), links("full", 16), SMALL[:2],
     lambda s: 4 * (ALPHA + 2 * s * BETA)),
    ("All-Pairs AllReduce, a link for each pair", "2 (α + S/R β)", example("allpairs_allreduce", 8), links("full", 8), SMALL,
     lambda s: 2 * (ALPHA + s / 8 * BETA)),
    ("All-Pairs AllReduce on a switch", "2 (α + (R - 1) S/R β)", example("allpairs_allreduce", 8), switch(8), SMALL,
     lambda s: 2 * (ALPHA + 7 / 8 * s * BETA)),
    ("One-shot AllReduce on a switch (LL)", "α + (R - 1) w S β", example("oneshot_allreduce", 8), switch(8), SMALL[:2],
     lambda s: ALPHA + 7 * 2 * s * BETA),
    ("Direct AllToAll on a switch", "α + (R - 1) S/R β", example("direct_alltoall", 8), switch(8), SMALL + LARGE,
     lambda s: ALPHA + 7 / 8 * s * BETA),
    ("Direct AllToAll over a network", "2 α + (R - 1) S/R β", example("direct_alltoall", 8), switch(8, "network"), SMALL,
     lambda s: 2 * ALPHA + 7 / 8 * s * BETA),
]


def predict(tool, folder, program, topology, sizes):
    """Returns the predicted times in microseconds."""
    path, options = program
    if isinstance(options, dict):
        text = path.format(**options)
        path, options = os.path.join(folder, "program.gc3"), []
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    machine = os.path.join(folder, "machine.json")
    with open(machine, "w", encoding="utf-8") as out:
        json.dump(topology, out)
    times = []
    for size in sizes:
        command = [tool, path, *options, f"--topology={machine}", "--program=all", f"-b={size}", f"-e={size}", "--json=-"]
        rows = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["rows"]
        assert len(rows) == 1 and rows[0]["size"] == size, rows
        times.append(rows[0]["time"])
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    tool = os.path.join(parser.parse_args().build, "tools", "gc3-sim", "gc3-sim")
    worst = 0
    print("| algorithm | closed form | sizes | largest error |\n| --- | --- | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        for title, formula, program, topology, sizes, exact in CASES:
            times = predict(tool, folder, program, topology, sizes)
            error = max(abs(time / exact(size) - 1) for size, time in zip(sizes, times))
            worst = max(worst, error)
            print(f"| {title} | {formula} | {len(sizes)} | {error:.0e} |")
    if worst > LIMIT:
        sys.exit(f"an error exceeds {LIMIT}")


if __name__ == "__main__":
    main()
