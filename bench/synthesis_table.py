#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the rounds that gc3-synth reaches with the best known lower bound.

    python3 bench/synthesis_table.py [--tools build/release/tools] [--only mesh] [--large]

Prints, in Markdown, a row for each of 12 topologies and a column for each collective: rounds / bound = ratio. The
random topologies have fixed seeds. --large prints Gather and Scatter on topologies of 300 to 1024 ranks instead, with
processor seconds. Compiles each program, so gc3c proves it. Runs one process at a time.
"""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLLECTIVES = ["allgather", "reduce_scatter", "allreduce", "alltoall", "broadcast", "reduce", "gather", "scatter"]


def one_way(ranks, more, seed):
    """A one-way ring in random order, and more one-way links of bandwidth 1, 2 or 5."""
    dice = random.Random(seed)
    order = list(range(ranks))
    dice.shuffle(order)
    links = {(order[i], order[(i + 1) % ranks]) for i in range(ranks)}
    while len(links) < ranks + more:
        start, end = dice.randrange(ranks), dice.randrange(ranks)
        if start != end:
            links.add((start, end))
    return {"ranks": ranks, "links": [{"from": a, "to": b, "bandwidth": dice.choice([1, 2, 5])} for a, b in sorted(links)]}


def irregular(ranks, more, seed):
    """A random tree, and more links, all in both directions, of bandwidth 1 to 4."""
    dice = random.Random(seed)
    links = {(dice.randrange(rank), rank) for rank in range(1, ranks)}
    while len(links) < ranks - 1 + more:
        start, end = sorted(dice.sample(range(ranks), 2))
        links.add((start, end))
    return {"ranks": ranks, "links": [{"from": a, "to": b, "bandwidth": dice.randint(1, 4), "both": True} for a, b in sorted(links)]}


def tree_of_switches(groups, size, port, uplink):
    """A switch joins the ranks of a group, and a second one joins the groups. The links of a group share its uplink."""
    ranks = range(groups * size)
    links = [{"from": a, "to": b, "bandwidth": port, "kind": "nvswitch" if a // size == b // size else "network"} for a in ranks for b in ranks if a != b]
    bounds = [{side: rank, "bandwidth": port} for rank in ranks for side in ("from", "to")]
    members = [[group * size + i for i in range(size)] for group in range(groups)]
    bounds += [{side: ofGroup, "kind": "network", "bandwidth": uplink} for ofGroup in members for side in ("from", "to")]
    return {"ranks": groups * size, "links": links, "bounds": bounds}


def buses(hosts, size):
    """Hosts in a ring. The links inside a host share a bus, and each rank has a link to the next host over this bus."""
    links, bounds = [], []
    for host in range(hosts):
        first = host * size
        inside = [[first + i, first + (i + 1) % size] for i in range(size)]
        across = [[first + i, (first + size + i) % (hosts * size)] for i in range(size)]
        links += [{"from": a, "to": b, "bandwidth": 2, "kind": "pcie", "both": True} for a, b in inside]
        links += [{"from": a, "to": b, "kind": "network", "both": True} for a, b in across]
        bounds += [{"links": inside + [[b, a] for a, b in inside], "bandwidth": 5}, {"links": inside[:2] + across, "bandwidth": 3}]
    return {"ranks": hosts * size, "links": links, "bounds": bounds}


TOPOLOGIES = {
    "dgx1": None, "dgx2": None, "4*dgx1": None, "4*dgx-h100": None, "torus:6x6": None, "mesh:5x7": None, "star:16": None,
    "one-way 40": one_way(40, 120, 1), "one-way 80, thin": one_way(80, 60, 2), "irregular 32": irregular(32, 16, 3),
    "switches 4x6": tree_of_switches(4, 6, 4, 6), "buses 4x4": buses(4, 4),
}
LARGE = {
    "one-way 300": one_way(300, 900, 1), "one-way 1024": one_way(1024, 3072, 1), "ring:1024": None, "torus:32x32": None, "mesh:32x32": None,
    "hypercube:10": None, "64*dgx1": None, "128*dgx-h100": None,
}


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def found(arguments, name, topology, collective, folder):
    """Returns the trial of gc3-synth, and its processor seconds. Compiles the program."""
    path, program, report = f"{folder}/topology.json", f"{folder}/found.gc3", f"{folder}/found.json"
    if topology:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"name": name, **topology}, file)
    begin = processor_seconds()
    process = subprocess.run([f"{arguments.tools}/gc3-synth/gc3-synth", f"--topology={path if topology else name}", f"--collective={collective}",
                              "-o", program, f"--json={report}"], capture_output=True, text=True, check=False)
    seconds = processor_seconds() - begin
    if process.returncode != 0:
        sys.exit(f"{name} {collective}: {process.stderr}")
    subprocess.run([f"{arguments.tools}/gc3c/gc3c", program, "-o", f"{folder}/found.gc3b"], check=True)
    with open(report, encoding="utf-8") as file:
        return json.load(file)["trials"][0], seconds


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--tools", default=os.path.join(ROOT, "build/release/tools"), help="a build's tools")
    parser.add_argument("--only", default="", help="topologies that contain this")
    parser.add_argument("--large", action="store_true", help="Gather and Scatter on large topologies")
    arguments = parser.parse_args()
    columns = ["gather", "scatter"] if arguments.large else COLLECTIVES
    print("| topology | " + " | ".join(columns) + " |")
    print("| --- " * (len(columns) + 1) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name, topology in (LARGE if arguments.large else TOPOLOGIES).items():
            cells = []
            for collective in columns if arguments.only in name else []:
                trial, seconds = found(arguments, name, topology, collective, folder)
                rounds, least = trial["foundRounds"], max(trial["leastRounds"], trial["leastSteps"])
                cells.append(f"{rounds} / {least} = {rounds / least:.2f}" + (f", {trial['foundSteps']} steps, {seconds:.2f} s" if arguments.large else ""))
            if cells:
                print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


main()
