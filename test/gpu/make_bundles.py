#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every example for several numbers of ranks and for the protocols under which it can be proven: bundles for
gpu-test, which may run on another machine. Prints what could not be compiled, and fails if an example has no bundle."""
import argparse
import pathlib
import re
import subprocess
import sys

# What the parameters of examples are set to: each entry is one size.
SIZES = {
    ("R",): [(1,), (2,), (3,), (4,), (7,), (8,), (16,), (32,)],
    ("N", "G"): [(1, 2), (2, 2), (2, 4), (3, 3), (4, 8)],
    ("P", "N", "G"): [(1, 2, 2), (2, 2, 4), (2, 4, 4)],
    ("X", "Y"): [(2, 2), (4, 2), (3, 3), (8, 4)],
}
PROTOCOLS = ["Simple", "LL", "LL128"]


def variant(text, protocol):
    """The program under a protocol, whatever it says itself."""
    text = re.sub(r"^\s*protocol \w+;\n", "", text, flags=re.M)
    return re.sub(r"(^program [^{]*\{\n)", rf"\1    protocol {protocol};\n", text, count=1, flags=re.M)


def sizes(text):
    parameters = re.findall(r"^param (\w+): int", text, flags=re.M)
    names = max((names for names in SIZES if set(names) <= set(parameters)), key=len)
    return names, SIZES[names]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gc3c", required=True)
    parser.add_argument("--examples", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for example in sorted(arguments.examples.glob("*.gc3")):
        text, made = example.read_text(), 0
        names, values = sizes(text)
        for protocol in PROTOCOLS:
            source = arguments.output / f"{example.stem}.{protocol}.gc3"
            source.write_text(variant(text, protocol))
            for size in values:
                bundle = arguments.output / f"{example.stem}.{protocol}.{'x'.join(map(str, size))}.gc3b"
                defines = [f"-D{name}={value}" for name, value in zip(names, size)]
                run = subprocess.run([arguments.gc3c, str(source), *defines, "-o", str(bundle)], capture_output=True, text=True,
                                     check=False)
                if run.returncode != 0:
                    print(f"{bundle.stem}: {run.stderr.splitlines()[0]}")
                made += run.returncode == 0
            source.unlink()
        if made == 0:
            sys.exit(f"{example.name}: no bundle could be made")


if __name__ == "__main__":
    main()
