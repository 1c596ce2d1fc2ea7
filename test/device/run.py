# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the emulated GPU: all examples under each protocol, and random programs.

run.py --gc3c GC3C --emulate EMULATE [--seeds N] [--random N] [--protocols NAME...]: EMULATE runs the bundles, --seeds
is the number of runs of each program, --random the number of random programs, and --protocols those of the examples.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # write no .pyc files into the source tree
TEST = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TEST, "random"))

# pylint: disable=wrong-import-position
from generate import generate

PROTOCOLS = ["Simple", "LL", "LL128"]
EXAMPLES = os.path.join(os.path.dirname(TEST), "examples")


def examples():
    """Returns (name, params) of each example, with the params that the mutation test lists first."""
    seen = {}
    with open(os.path.join(TEST, "mutation", "examples.txt"), encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and not line.startswith("#"):
                seen.setdefault(words[0], words[1:])
    return seen.items()


def under(protocol, source):
    """Returns the source of the program, changed to `protocol`. The compiler then adds the waits that it needs."""
    source = re.sub(r"(?m)^ *protocol \w+;\n", "", source)
    changed, count = re.subn(r"(?m)^(program [^{]*\{)", rf"\1\n    protocol {protocol};", source)
    assert count > 0, source
    return changed


def compile_program(gc3c, folder, name, source, params):
    path, bundle = os.path.join(folder, f"{name}.gc3"), os.path.join(folder, f"{name}.gc3b")
    with open(path, "w", encoding="utf-8") as out:
        out.write(source)
    subprocess.run([gc3c, path, *params, "-o", bundle], check=True)
    return bundle


def make_bundles(gc3c, folder, programs, protocols):
    """Compiles each example under each of the protocols, and the random programs of the first seeds. Returns the bundles."""
    bundles = []
    for name, params in examples():
        with open(os.path.join(EXAMPLES, f"{name}.gc3"), encoding="utf-8") as lines:
            source = lines.read()
        for protocol in protocols:
            bundles.append(compile_program(gc3c, folder, f"{name}-{protocol}", under(protocol, source), params))
    for seed in range(programs):
        source = generate(seed).source()
        if "tb = " not in source:  # such a program assigns thread blocks itself, and the assignments can conflict
            bundles.append(compile_program(gc3c, folder, f"random-{seed}", source, []))
    return bundles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gc3c", required=True)
    parser.add_argument("--emulate", required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--random", type=int, default=15)
    parser.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=PROTOCOLS)
    parser.add_argument("--option", action="append", default=[], help="an option of EMULATE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundles = make_bundles(arguments.gc3c, folder, arguments.random, arguments.protocols)
        return subprocess.run([arguments.emulate, *arguments.option, "--seeds", str(arguments.seeds), *bundles], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
