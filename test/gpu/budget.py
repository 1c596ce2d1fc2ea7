#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of the kernels' loops in machine code, and fails if a count exceeds its limit, or if there are
fewer loops of a kind than there should be. With --nccl, also counts those of NCCL's loops, from a tree of NCCL's source.
Exits with 77 if there is no nvdisasm.

Instructions and branches are those of one pass through a loop, for each 16 bytes of data that the pass moves. The pass is the
one with the most accesses of memory, and its polls succeed at once. A row has the largest count of the loops of its kind:
those of the four operations. Loads in flight are those before the first use of a loaded value.

A step reduces one pack, and stores it to its target and to a message. Its instructions are those of the shortest pass over
the code that can do this without a division (a call, or an approximation of a reciprocal): of a thread that polls once, and of the leader, which publishes the message,
free slots and the step. The real pass can be longer."""
import argparse
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from kernel_resources import compile_kernels, options_of, protocol_of
from sass import functions


def by_type(**limits):
    """Numbers by element type. "*" is any other type."""
    aliases = {"any": ["*"], "half": ["__half", "__nv_bfloat16"], "fp8": ["__nv_fp8_e4m3", "__nv_fp8_e5m2"], "byte": ["int8_t", "uint8_t"]}
    return {element: limit for name, limit in limits.items() for element in aliases.get(name, [name])}


def of_type(limits, element):
    """The number for an element type, or an empty string."""
    return limits.get(element, limits.get("*", ""))


# The largest number of instructions for 16 bytes, and of a step. Limits are a little above the numbers for nvcc 13.0 and
# sm_90. Goals that the kernels miss are below their limits.
LIMITS = {
    "copy 1->1": by_type(any=3.3),
    "copy 1->2": by_type(any=4.5),
    "reduce 2->1": by_type(any=13, float=9, half=9, double=21, fp8=38, byte=46),
    "reduce 2->2": by_type(any=14, float=10, half=10, double=27, fp8=39, byte=47),
    "LL": by_type(any=39, double=45, fp8=63, byte=72),
    "LL128": by_type(any=40, double=49, fp8=69, byte=76),
    "step: poll": by_type(any=205),
    "step: lead": by_type(any=220),
}
GOALS = {
    "copy 1->1": by_type(any=3.5),
    "copy 1->2": by_type(any=3.5),
    "reduce 2->1": by_type(float=12, half=14, fp8=40),
    "reduce 2->2": by_type(float=12, half=14, fp8=40),
    "LL": by_type(any=100),
    "LL128": by_type(any=40),
    "step: poll": by_type(any=150),
    "step: lead": by_type(any=150),
}
# The smallest number of loops. A loop that the compiler does not unroll is not counted.
LOOPS = {"copy 1->1": 1, "copy 1->2": 1, "reduce 2->1": 4, "reduce 2->2": 4, "LL": 5, "LL128": 10, "step: poll": 1, "step: lead": 1}
# The smallest number of loads in flight, and the largest number of branches for 16 bytes, of loops without messages.
LOADS = {
    "copy 1->1": by_type(any=8),
    "copy 1->2": by_type(any=8),
    "reduce 2->1": by_type(any=16, fp8=12, byte=12),
    "reduce 2->2": by_type(any=16, fp8=12, byte=12),
}
BRANCHES = 0.2

ELEMENTS = ["int8_t", "uint8_t", "int32_t", "float", "double", "__half", "__nv_bfloat16", "__nv_fp8_e4m3", "__nv_fp8_e5m2"]


class Row(NamedTuple):
    kind: str
    instructions: float
    branches: float
    loads: int
    loops: int = 1


def loads_in_flight(instructions):
    """The number of loads before the first use of a register that one of them loads."""
    loaded, count = set(), 0
    for each in instructions:
        registers = re.findall(r"\bR\d+", each.operands)
        if each.opcode.startswith("LDG"):
            if loaded.intersection(registers[1:]):
                break
            loaded.update(registers[:1])
            count += 1
        elif loaded.intersection(registers if each.opcode.startswith("ST") else registers[1:]):
            break
    return count


def row(kind, instructions, data):
    packs = data / 16
    return Row(kind, len(instructions) / packs, sum(each.is_branch for each in instructions) / packs, loads_in_flight(instructions))


def plain_loops(function):
    """Rows of the loops that move several packs at a time from one or two sources to one or two targets."""
    for header in function.loops:
        if function.inner(header):
            continue
        instructions = function.longest_pass(header)
        loads = [each for each in instructions if each.accesses("LDG", 128)]
        stores = [each for each in instructions if each.accesses("STG", 128)]
        sources, targets = len({each.base for each in loads}), len({each.base for each in stores})
        if sources and targets and len(loads) > 2 * sources and len(loads) * targets == len(stores) * sources:
            yield row(f"{'reduce' if sources == 2 else 'copy'} {sources}->{targets}", instructions, 16 * len(loads) / sources)


def message_loops(function, kind, access):
    """Rows of the loops that move several lines of messages at a time, and access local buffers `access` bits at a time."""
    for header in function.loops:
        instructions = function.longest_pass(header)
        lines = sum(each.accesses("STG", 128, strong=True) for each in instructions)
        local = [each.bits for each in instructions if each.opcode.startswith(("LDG", "STG")) and not each.is_strong]
        if lines > 1 and local and min(local) == access and function.inner(header) and len(instructions) < 1000:
            yield row(kind, instructions, lines * (8 if kind == "LL" else 15))


def steps(function):
    """Rows of a step, for the thread that polls and for the leader, which publishes. The loop over steps is the smallest
    loop with barriers. Two accesses with opposite guards, one for each scope, are one event. Both loads of data, and both
    stores, have their own address."""
    def counter(opcode):
        return lambda each, _=None: each.accesses(opcode, 64, strong=True) and not (each.guard or "").startswith("@!")

    def data(opcode):
        return lambda each, last: each.accesses(opcode, 128, strong=False) and not (last.accesses(opcode) and last.base == each.base)

    def begins(*opcodes):
        return lambda each, _=None: each.opcode.startswith(opcodes)
    header = next(header for header, body in function.loops.items()
                  if any(each.opcode.startswith("BAR") for block in body for each in function.blocks[block]))
    motion = [begins("BAR"), data("LDG"), data("LDG"), data("STG"), data("STG"), begins("BAR")]
    poll, publish, divide = counter("LDG"), counter("STG"), begins("CALL", "MUFU")
    for kind, events, other in [("step: poll", [poll, *motion], publish), ("step: lead", [*motion, begins("MEMBAR"), *3 * [publish]], poll)]:
        if instructions := function.shortest_pass(header, events, lambda each, other=other: other(each) or divide(each)):
            yield row(kind, instructions, 16)


def rows_of(function):
    """Rows of an interpreter kernel."""
    protocol = protocol_of(function.name)
    if protocol == "Simple":
        return [*plain_loops(function), *steps(function)]
    return list(message_loops(function, protocol, 64 if protocol == "LL" else 128))


def nccl_rows(function):
    """Rows of a kernel of NcclLoops.cu. NCCL moves one line of LL at a time, and four of LL128."""
    if "simple" in function.name:
        return list(plain_loops(function))
    kind, lines = ("LL128", 4) if "LL128" in function.name else ("LL", 1)
    passes = [function.longest_pass(header, lambda each: each.opcode.startswith(("LDS", "STS"))) for header in function.loops]
    passes = [each for each in passes if any(i.accesses("LDG", 128, True) for i in each) and any(i.accesses("STG", 128, True) for i in each)]
    return [row(kind, max(passes, key=len), lines * (8 if kind == "LL" else 15))] if passes else []


def worst(rows):
    """One row for each kind: its largest counts, the smallest number of loads, and the number of its loops."""
    kinds = {}
    for each in rows:
        kinds.setdefault(each.kind, []).append(each)
    return {kind: Row(kind, max(each.instructions for each in same), max(each.branches for each in same), min(each.loads for each in same), len(same))
            for kind, same in sorted(kinds.items())}


class Measured(NamedTuple):
    rows: dict
    registers: int
    spilled: int


def measure(arguments, source, options, describe):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        resources = list(compile_kernels(arguments, source, options, cubin.name))
        rows = [each for function in functions(arguments.nvdisasm, cubin.name) for each in describe(function)]
    return Measured(worst(rows), max(each[3] for each in resources), sum(each[2] for each in resources))


def measure_gc3(arguments, element):
    return measure(arguments, f"{arguments.runtime}/kernel/Kernels.cu", options_of(arguments.runtime, element), rows_of)


def measure_nccl(arguments, element):
    """Measures NCCL's loops for an element type, with NCCL's own limit on registers. NCCL makes nccl.h from a template."""
    source = f"{arguments.nccl}/src"
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{source}/nccl.h.in", encoding="utf-8") as template, open(f"{folder}/nccl.h", "w", encoding="utf-8") as header:
            header.write(re.sub(r"\$\{nccl:(\w+)\}", lambda name: "" if name.group(1) == "Suffix" else "0", template.read()))
        options = ["-std=c++17", "--expt-extended-lambda", "-maxrregcount=96", f"-DNCCL_ELEMENT={element}", f"-I{folder}", f"-I{source}/include",
                   f"-I{source}/include/plugin", f"-I{source}/device"]
        return measure(arguments, os.path.join(os.path.dirname(os.path.abspath(__file__)), "NcclLoops.cu"), options, nccl_rows)


def faults(element, measured):
    """The limits that the kernels of an element type exceed."""
    for kind, limits in LIMITS.items():
        if kind not in measured.rows:
            yield f"{element}: no loop of kind '{kind}' was found"
            continue
        found, limit = measured.rows[kind], of_type(limits, element)
        if found.loops < LOOPS[kind]:
            yield f"{element}, {kind}: {found.loops} loops, limit {LOOPS[kind]}"
        if found.instructions > limit:
            yield f"{element}, {kind}: {found.instructions:.1f} instructions, limit {limit}"
        if kind in LOADS and found.loads < of_type(LOADS[kind], element):
            yield f"{element}, {kind}: {found.loads} loads in flight, limit {of_type(LOADS[kind], element)}"
        if kind in LOADS and found.branches > BRANCHES:
            yield f"{element}, {kind}: {found.branches:.2f} branches, limit {BRANCHES}"
    if measured.spilled:
        yield f"{element}: {measured.spilled} bytes of spills"


def lines_of(element, measured, nccl):
    """The lines of the table for an element type. In a cell with two numbers, the second is NCCL's."""
    for kind, limits in LIMITS.items():
        if kind in measured.rows:
            found = measured.rows[kind]
            other = nccl.rows.get(kind) if nccl else None
            cells = [f"{found.instructions:.1f}" + (f" / {other.instructions:.1f}" if other else ""),
                     str(of_type(limits, element)), str(of_type(GOALS[kind], element)),
                     f"{found.branches:.2f}" + (f" / {other.branches:.2f}" if other else ""),
                     f"{found.loads}" + (f" / {other.loads}" if other else "")]
            yield f"| {element} | {kind} | " + " | ".join(cells) + " |"
    yield f"| {element} | registers, spilled bytes | {measured.registers}, {measured.spilled} | | | | |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["nvcc", "host-compiler", "runtime"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--architecture", default="90")
    parser.add_argument("--nvdisasm", help="the disassembler, if it is not beside nvcc or in PATH")
    parser.add_argument("--nccl", help="a tree of NCCL's source, whose loops are counted too")
    parser.add_argument("--element", action="append", help="count only the kernels of this type; can be repeated")
    arguments = parser.parse_args()
    arguments.nvdisasm = arguments.nvdisasm or shutil.which("nvdisasm", path=os.path.dirname(arguments.nvcc)) or shutil.which("nvdisasm")
    if not arguments.nvdisasm:
        print("SKIPPED: there is no nvdisasm beside nvcc or in PATH, so NO instruction was counted", file=sys.stderr)
        sys.exit(77)
    elements = arguments.element or ELEMENTS
    print(f"sm_{arguments.architecture}: for 16 bytes, or for a step" + ("; gc3 / NCCL" if arguments.nccl else ""))
    print("| type | loop | instructions | limit | goal | branches | loads in flight |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    found = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        own = pool.map(lambda element: measure_gc3(arguments, element), elements)
        other = pool.map(lambda element: measure_nccl(arguments, element) if arguments.nccl else None, elements)
        for element, measured, nccl in zip(elements, own, other):
            print("\n".join(lines_of(element, measured, nccl)), flush=True)
            found += faults(element, measured)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
