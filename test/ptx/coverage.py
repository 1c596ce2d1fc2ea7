# SPDX-License-Identifier: Apache-2.0
"""Prints how many PTX instructions of each kernel the tests have executed.

coverage.py FILE... [--least PERCENT] [--missed KERNEL]: FILE is what tests have appended to EMULATED_PTX_COVERAGE. Fails
if the tests have executed less than PERCENT of a kernel, or of all kernels. With --missed, prints the instructions of
KERNEL that no test has executed, with their lines in the PTX.
"""
import argparse
import os
import re
import sys

PROTOCOLS = ["Simple", "LL", "LL128"]


def name_of(path, symbol):
    """Returns a short name of a kernel, such as 'Half LL128'."""
    target = os.path.basename(os.path.dirname(path))
    if found := re.search(r"(multiply|divide)I(?:\d+__)?(.+?)EEv", symbol):
        return f"{found[1]} {found[2]}"
    if found := re.search(r"ProtocolE(\d)", symbol):
        return f"{target.removeprefix('GC3Kernels')} {PROTOCOLS[int(found[1])]}"
    return f"{target.removeprefix('GC3GinKernels')} Simple over a network" if "Gin" in target else "clock"


def read(paths):
    """Returns for each kernel a list of (line, whether a test has executed it), and the path of its PTX."""
    kernels, sources = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for record in file:
                source, symbol, *lines = record.split()
                name = name_of(source, symbol)
                sources[name] = source
                hits = kernels.setdefault(name, [(abs(int(line)), False) for line in lines])
                kernels[name] = [(line, was or not word.startswith("-")) for (line, was), word in zip(hits, lines)]
    return kernels, sources


def share(hits):
    return 100 * sum(hit for _, hit in hits) / len(hits)


def print_missed(source, hits):
    with open(source, encoding="utf-8") as file:
        text = file.read().splitlines()
    for line, hit in hits:
        if not hit:
            print(f"{line}: {text[line - 1].strip()}")


def print_table(kernels):
    print("| kernel | instructions | executed |\n| --- | --- | --- |")
    for name, hits in sorted(kernels.items()):
        print(f"| {name} | {len(hits)} | {share(hits):.1f} % |")
    every = [hit for hits in kernels.values() for hit in hits]
    print(f"| all {len(kernels)} | {len(every)} | {share(every):.1f} % |")
    return share(every)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--missed")
    arguments = parser.parse_args()
    kernels, sources = read(arguments.files)
    if arguments.missed:
        return print_missed(sources[arguments.missed], kernels[arguments.missed])
    lowest = min(print_table(kernels), *(share(hits) for hits in kernels.values()))
    return lowest < arguments.least


if __name__ == "__main__":
    sys.exit(main())
