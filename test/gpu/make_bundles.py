#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes bundles for gpu-test and gpu-nccl-test, which can run on another machine.

Compiles every example for several numbers of ranks and for each protocol under which the compiler can prove it. Also
compiles random programs from seeds, and nccl.gc3, whose bundles go to nccl/. Prints the programs that do not compile.
Fails if an example has no bundle, or if fewer than three quarters of the random programs compile.
"""
import argparse
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # write no .pyc files into the source tree
TEST = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TEST / "random"))

# pylint: disable=wrong-import-position
from generate import generate

# Values of the examples' parameters, by their names. Each tuple is one size.
SIZES = {
    ("R",): [(1,), (2,), (3,), (4,), (7,), (8,), (16,), (32,)],
    ("N", "G"): [(1, 2), (2, 2), (2, 4), (3, 3), (4, 8)],
    ("P", "N", "G"): [(1, 2, 2), (2, 2, 4), (2, 4, 4)],
    ("X", "Y"): [(2, 2), (4, 2), (3, 3), (8, 4)],
}
PROTOCOLS = ["Simple", "LL", "LL128"]


def variant(text, protocol):
    """Returns the source of the program, changed to run under `protocol`."""
    text = re.sub(r"^\s*protocol \w+;\n", "", text, flags=re.M)
    return re.sub(r"(^program [^{]*\{\n)", rf"\1    protocol {protocol};\n", text, count=1, flags=re.M)


def sizes(text):
    parameters = re.findall(r"^param (\w+): int", text, flags=re.M)
    names = max((names for names in SIZES if set(names) <= set(parameters)), key=len)
    return names, SIZES[names]


def made(gc3c, source, bundle, defines=()):
    """Compiles a source. Returns True on success, otherwise prints the error."""
    bundle.unlink(missing_ok=True)  # an earlier run may have left a bundle
    run = subprocess.run([gc3c, str(source), *defines, "-o", str(bundle)], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        print(f"{bundle.stem}: {run.stderr.splitlines()[0]}")
    return run.returncode == 0


def make_examples(gc3c, output):
    for example in sorted((TEST.parent / "examples").glob("*.gc3")):
        text, count = example.read_text(), 0
        names, values = sizes(text)
        for protocol in PROTOCOLS:
            source = output / f"{example.stem}.{protocol}.gc3"
            source.write_text(variant(text, protocol))
            for size in values:
                bundle = output / f"{example.stem}.{protocol}.{'x'.join(map(str, size))}.gc3b"
                count += made(gc3c, source, bundle, [f"-D{name}={value}" for name, value in zip(names, size)])
            source.unlink()
        if count == 0:
            sys.exit(f"{example.name}: no bundle could be made")


def make_random(gc3c, output, programs):
    """Compiles the random programs of the first seeds. Some do not compile: they assign operations to thread blocks in
    a way that conflicts, or they need more thread blocks than allowed."""
    count = 0
    for seed in range(programs):
        source = output / f"random-{seed}.gc3"
        source.write_text(generate(seed).source())
        count += made(gc3c, source, output / f"random-{seed}.gc3b")
        source.unlink()
    if 4 * count < 3 * programs:
        sys.exit(f"of {programs} random programs only {count} could be compiled")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gc3c", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--random", type=int, default=48, help="how many random programs (48)")
    arguments = parser.parse_args()
    (arguments.output / "nccl").mkdir(parents=True, exist_ok=True)
    make_examples(arguments.gc3c, arguments.output)
    make_random(arguments.gc3c, arguments.output, arguments.random)
    for ranks in [1, 2, 4, 8]:
        bundle = arguments.output / "nccl" / f"nccl.{ranks}.gc3b"
        if not made(arguments.gc3c, TEST / "gpu" / "nccl.gc3", bundle, [f"-DR={ranks}"]):
            sys.exit("nccl.gc3 does not compile")


if __name__ == "__main__":
    main()
