#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares claims of the GC3 paper's figure 7 with gc3-sim.

    python3 bench/paper.py --build build/release

Each row compares programs with a baseline over a range of sizes, and prints the largest and the last speed-up, in
Markdown. For AllReduce on one node, the baseline is what the paper says of NCCL 2.8.4: one ring on one channel with 24
instances, under the best protocol for the size. On two nodes it is eight rings, which leave the nodes over all network
cards, with one or three instances. For AllToAll it is a direct one. For AllToNext, each rank sends its
buffer to the next one in one thread block. Programs keep LL over networks, as in the paper's runtime.
"""
import argparse
import json
import os
import subprocess
import tempfile

RING = """
import "std/ring.gc3";
import "std/chain.gc3";
program ring implements allreduce(ranks = {R}, chunks = {R}, inplace = true) {{
    protocol {protocol};
    let ranks = [r for r in 0..{R}];
    for i in 0..{R} {{
        channel (i % {channels}) {{
            parallelize ({instances}) {{
                chain_copy(ring_reduce_block(ranks, i, input, i), ranks, input, i, start = i);
            }}
        }}
    }}
}}
"""
# Eight rings over all nodes. Each leaves a node over another network card.
RAILS = """
import "std/ring.gc3";
import "std/chain.gc3";
program rails implements allreduce(ranks = {R}, chunks = 8 * {R}, inplace = true) {{
    protocol {protocol};
    for k in 0..8 {{
        let ranks = [r / 8 * 8 + (r + k) % 8 for r in 0..{R}];
        for i in 0..{R} {{
            channel (k) {{
                parallelize ({instances}) {{
                    chain_copy(ring_reduce_block(ranks, i, input, k * {R} + i), ranks, input, k * {R} + i, start = i);
                }}
            }}
        }}
    }}
}}
"""
ALLPAIRS = """
import "std/allpairs.gc3";
program allpairs implements allreduce(ranks = {R}, chunks = {R}, inplace = true) {{
    protocol {protocol};
    parallelize ({instances}) {{ allpairs_allreduce(0..{R}, input); }}
}}
"""
HIERARCHICAL = """
import "std/hierarchical.gc3";
program hierarchical implements allreduce(ranks = {R}, chunks = {R}, inplace = true) {{
    protocol {protocol};
    parallelize ({instances}) {{ hierarchical_allreduce(0..{R}, [8, {N}], input); }}
}}
"""
DIRECT = """
import "std/alltoall.gc3";
program direct implements alltoall(ranks = {R}, inplace = false) {{
    protocol {protocol};
    direct_alltoall(0..{R});
}}
"""
TWOSTEP = """
import "std/alltoall.gc3";
program twostep implements alltoall(ranks = {R}, inplace = false) {{
    protocol {protocol};
    twostep_alltoall([r for r in 0..{R}], 8);
}}
"""
NEXT = """
import "std/alltonext.gc3";
program next implements alltonext(nodes = {N}, gpus = 8) {{
    protocol {protocol};
    scratch outgoing;
    scratch incoming;
    parallelize ({instances}) {{ alltonext(0..8 * {N}, 8, outgoing, incoming); }}
}}
"""
SEND_NEXT = """
import "std/alltonext.gc3";
program send implements alltonext(nodes = {N}, gpus = 8) {{
    protocol {protocol};
    for r in 0..8 * {N} - 1 {{ chunk(r, input, 0, 8).copy(r + 1, output, 0); }}
}}
"""
PROTOCOLS = ["Simple", "LL", "LL128"]
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def nccl(ranks):
    return [(RING, {"R": ranks, "protocol": p, "channels": 1, "instances": 24}) for p in PROTOCOLS]


def nccl_nodes(ranks):
    return [(RAILS, {"R": ranks, "protocol": p, "instances": i}) for p in PROTOCOLS for i in (1, 3)]


def rings(ranks):
    return [(RING, {"R": ranks, "protocol": p, "channels": c, "instances": i})
            for p in PROTOCOLS[1:] for c in (4, 8) for i in (1, 2)]


def allpairs(ranks, instances):
    return [(ALLPAIRS, {"R": ranks, "protocol": p, "instances": i}) for p in PROTOCOLS[1:] for i in instances]


# Figure, topology, claim, programs, baseline, sizes.
CLAIMS = [
    ("7a", "dgx-a100", "ring over 4 or 8 channels, LL or LL128: up to 1.9 from 32 KiB to 3 MiB", rings(8), nccl(8),
     [32 * KIB << i for i in range(7)]),
    ("7a", "dgx-a100", "All-Pairs, 2 or 4 instances: up to 1.8 from 1 KiB to 1 MiB", allpairs(8, (2, 4)), nccl(8),
     [KIB << i for i in range(11)]),
    ("7b", "dgx2", "All-Pairs: up to about 3 from 16 to 128 KiB", allpairs(16, (1, 2)), nccl(16),
     [16 * KIB << i for i in range(4)]),
    ("7c", "2*dgx-a100", "hierarchical, LL, one instance: up to 1.4 for small sizes",
     [(HIERARCHICAL, {"R": 16, "N": 2, "protocol": "LL", "instances": 1})], nccl_nodes(16), [KIB << i for i in range(8)]),
    ("7c", "2*dgx-a100", "hierarchical: 1.11 from 1 GiB on",
     [(HIERARCHICAL, {"R": 16, "N": 2, "protocol": "Simple", "instances": i}) for i in (8, 16)], nccl_nodes(16), [GIB]),
    ("7e", "16*dgx-a100", "Two-Step AllToAll: 1.2 from 512 MiB on", [(TWOSTEP, {"R": 128, "N": 16, "protocol": "Simple"})],
     [(DIRECT, {"R": 128, "protocol": "Simple"})], [512 * MIB, GIB]),
    ("7g", "3*dgx-a100", "AllToNext, 4 to 16 instances: up to 14.5, growing with the size",
     [(NEXT, {"N": 3, "protocol": "Simple", "instances": i}) for i in (4, 8, 16)],
     [(SEND_NEXT, {"N": 3, "protocol": "Simple"})], [KIB << i for i in range(0, 20, 3)]),
]


class Simulator:
    def __init__(self, build, folder):
        self.build, self.folder, self.bundles = build, folder, {}

    def bundle(self, program, params):
        text = program.format(**params)
        if text not in self.bundles:
            stem = os.path.join(self.folder, str(len(self.bundles)))
            with open(stem + ".gc3", "w", encoding="utf-8") as out:
                out.write(text)
            subprocess.run([os.path.join(self.build, "tools/gc3c/gc3c"), stem + ".gc3", "--max-threadblocks=1000", "-o",
                            stem + ".gc3b"], check=True)
            self.bundles[text] = stem + ".gc3b"
        return self.bundles[text]

    def best(self, programs, topology, size):
        """Returns the shortest predicted time."""
        times = []
        for program, params in programs:
            command = [os.path.join(self.build, "tools/gc3-sim/gc3-sim"), self.bundle(program, params),
                       f"--topology={topology}", f"-b={size}", f"-e={size}", "--keep-protocol", "--json=-"]
            result = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            times.append(json.loads(result.stdout)["rows"][0]["time"])
        return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    print("| figure | topology | claim of speed-up | largest here | at the last size |\n| --- | --- | --- | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(parser.parse_args().build, folder)
        for figure, topology, claim, programs, baseline, sizes in CLAIMS:
            speedups = [simulator.best(baseline, topology, size) / simulator.best(programs, topology, size) for size in sizes]
            print(f"| {figure} | {topology} | {claim} | {max(speedups):.2f} | {speedups[-1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
