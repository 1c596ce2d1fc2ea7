# SPDX-License-Identifier: Apache-2.0
"""Checks the costs that the examples state (docs/std.md): counts steps and bytes in the GC3-IR, for several sizes. Also
compares these counts with the output of gc3c --cost=json.

example_costs.py ROOT: ROOT is the source tree; gc3c must be in PATH. Fails if a cost is wrong, if an example states no
cost, or if the table of docs/std.md differs.
"""
import itertools
import json
import pathlib
import re
import subprocess
import sys
from collections import defaultdict
from fractions import Fraction
from math import ceil, floor

RANKS = [1, 2, 3, 5, 7, 8, 16]
POWERS_OF_TWO = {"halving_reduce_scatter", "doubling_allgather"}
LEVELS = [(1, 1), (1, 5), (3, 1), (2, 2), (2, 3), (3, 2), (5, 3), (4, 4)]  # values of N and G, or of X and Y

# Functions that formulas may use, besides params and the operators of Python. All arguments are whole numbers.
FUNCTIONS = {
    "ceil": ceil,
    "floor": floor,
    "floor2": lambda n: Fraction(1 << (int(n).bit_length() - 1)),
    "floorlog2": lambda n: int(n).bit_length() - 1,
    "ceillog2": lambda n: int(n - 1).bit_length(),
    "log2": lambda n: int(n).bit_length() - 1 if int(n).bit_count() == 1 else None,
}


def variants(name, text):
    params = dict(re.findall(r"^param (\w+): int = ([^;]*);", text, re.M))
    fixed = {key: int(value) for key, value in params.items() if value.isdigit()}
    if "R" in params:
        swept = [{"R": r} for r in RANKS if name not in POWERS_OF_TWO or r & (r - 1) == 0]
    elif {"N", "G"} <= params.keys():
        swept = [{"N": n, "G": g} for n, g in LEVELS]
    else:
        swept = [{"X": x, "Y": y} for x, y in LEVELS]
    if "P" in fixed:  # P is the number of pieces: tests its default, 1 and 3
        swept = [{**params, **pieces} for params in swept for pieces in ({}, {"P": 1}, {"P": 3})]
    return [(fixed | params, params) for params in swept]


class PrintedStep:
    def __init__(self, block, text):
        operation, *waits = text.split(" after ")
        self.block = block
        self.opcode = operation.split()[0]
        self.waits = [tuple(map(int, wait.split("."))) for wait in waits[0].split(", ")] if waits else []
        first, last = re.search(r"\[(\d+)(?:\.\.(\d+))?\]", operation).groups()
        self.count = int(last) - int(first) if last else 1
        self.sends = self.opcode in ("send", "rcs", "rrs", "rrcs")
        self.receives = self.opcode in ("recv", "rrc", "rcs", "rrs", "rrcs")


class Block:
    def __init__(self, rank, words):
        numbers = {word: int(number) for word, number in zip(words[::2], words[1::2])}
        self.rank, self.channel = rank, numbers["channel"]
        self.sendPeer, self.recvPeer = numbers.get("send"), numbers.get("recv")
        self.steps = []


def parse(ir):
    """Returns the thread blocks of each rank, and the number of slots of the largest input or output. This is the size
    that nccl-tests prints."""
    ranks, slots = [], 0
    for line in ir.splitlines()[1:]:
        if line.startswith("rank"):
            ranks.append([])
            slots = max([slots] + [int(size) for size in re.findall(r"\b(?:input|output) (\d+)", line)])
        elif line.startswith("  tb"):
            ranks[-1].append(Block(len(ranks) - 1, line.split()))
        elif line.startswith("    "):
            block = ranks[-1][-1]
            block.steps.append(PrintedStep(block, line.split(": ", 1)[1]))
    return ranks, slots


def successors(ranks):
    """Returns a map from each step to its successors, and the number of predecessors of each step.

    A successor is a pair: a step, and 1 if a message orders the steps, or 0 if both are on one rank."""
    after, pending = defaultdict(list), defaultdict(int)
    fifos = defaultdict(lambda: ([], []))

    def edge(first, second, message):
        after[first].append((second, message))
        pending[second] += 1

    for blocks in ranks:
        for block in blocks:
            for previous, step in itertools.pairwise(block.steps):
                edge(previous, step, 0)
            for step in block.steps:
                for number, index in step.waits:
                    edge(blocks[number].steps[index], step, 0)
                if step.sends:
                    fifos[block.rank, block.sendPeer, block.channel][0].append(step)
                if step.receives:
                    fifos[block.recvPeer, block.rank, block.channel][1].append(step)
    for sent, received in fifos.values():
        assert len(sent) == len(received)
        for send, receive in zip(sent, received):
            edge(send, receive, 1)
    return after, pending


def measure(ir, node_size):
    ranks, slots = parse(ir)
    steps = [step for blocks in ranks for block in blocks for step in block.steps]
    after, pending = successors(ranks)
    messages = dict.fromkeys(steps, 0)  # number of messages on the longest chain that ends in this step
    begin = dict.fromkeys(steps, 0)  # begin time of this step if every message takes one unit of time
    ready = [step for step in steps if not pending[step]]
    for step in ready:
        end = begin[step] + step.sends
        for later, message in after[step]:
            messages[later] = max(messages[later], messages[step] + message)
            begin[later] = max(begin[later], end)
            pending[later] -= 1
            if not pending[later]:
                ready.append(later)
    assert len(ready) == len(steps)
    sent, crossing = [0] * len(ranks), [0] * len(ranks)
    for step in filter(lambda step: step.sends, steps):
        sent[step.block.rank] += step.count
        if step.block.rank // node_size != step.block.sendPeer // node_size:
            crossing[step.block.rank] += step.count
    return {
        "steps": max(messages.values(), default=0),
        "rounds": max((begin[step] + step.sends for step in steps), default=0),
        "sent": Fraction(max(sent), slots),
        "crossing": Fraction(max(crossing), slots),
    }


def printed(flags, path):
    """Returns the costs that gc3c --cost prints."""
    command = ["gc3c", "--cost=json", "--max-threadblocks=1000", *flags, str(path)]
    (cost,) = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["programs"]
    return {"steps": cost["path_messages"], "sent": Fraction(max(cost["slots_out"]), cost["slots_of_call"])}


def row(name, costs):
    """Returns the cells of an example in the table of docs/std.md."""
    steps, sent = (f"{'≤ ' if relation == '<=' else ''}`{formula}`"
                   for key in ("steps", "sent") for stated, relation, formula in costs if stated == key)
    return f"[{name}](../examples/{name}.gc3) | {steps} | {sent} |"


def main():
    wrong, checked = [], 0
    root = pathlib.Path(sys.argv[1])
    table = (root / "docs/std.md").read_text()
    for path in sorted((root / "examples").glob("*.gc3")):
        text = path.read_text()
        lines = re.findall(r"^// cost: (.*)$", text, re.M)
        costs = [cost for line in lines for cost in re.findall(r"(\w+) (<?=) (.*?)(?:, (?=\w+ <?=)|$)", line)]
        if {"steps", "sent"} - {cost[0] for cost in costs}:
            wrong.append(f"{path.name} does not state its steps and what is sent")
        elif row(path.stem, costs) not in table:
            wrong.append(f"docs/std.md has no row with: {row(path.stem, costs)}")
        for params, defines in variants(path.stem, text):
            flags = [f"-D{key}={value}" for key, value in defines.items()]
            command = ["gc3c", "--emit=gc3-ir", "--max-threadblocks=1000", *flags, str(path)]
            ir = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            measured = measure(ir, params.get("G", 1))
            costs_printed = printed(flags, path)
            if costs_printed != {key: measured[key] for key in costs_printed}:
                wrong.append(f"{path.name} {' '.join(flags)}: gc3c --cost prints {costs_printed}, not {measured}")
            names = FUNCTIONS | {key: Fraction(value) for key, value in params.items()} | {"__builtins__": {}}
            for key, relation, formula in costs:
                stated = eval(formula, names)
                checked += 1
                if not (measured[key] == stated if relation == "=" else measured[key] <= stated):
                    wrong.append(f"{path.name} {' '.join(flags)}: {key} is {measured[key]}, stated as {stated} = {formula}")
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{checked} costs checked, {len(wrong)} wrong")
    sys.exit(bool(wrong))


main()
