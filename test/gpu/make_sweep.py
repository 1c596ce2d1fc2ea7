#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundles and the expected results of gpu-sweep, which can run on another machine.

Compiles the programs that test/device/run.py runs on the emulated GPU. gpu-sweep --expect computes the results on the
host, and needs no GPU.
"""
import argparse
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # write no .pyc files into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "device"))

# pylint: disable=wrong-import-position
from run import PROTOCOLS, make_bundles


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gc3c", required=True)
    parser.add_argument("--gpu-sweep", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--random", type=int, default=15, help="how many random programs (15)")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    made = make_bundles(arguments.gc3c, str(arguments.output), arguments.random, PROTOCOLS)
    for source in arguments.output.glob("*.gc3"):
        source.unlink()
    return subprocess.run([arguments.gpu_sweep, "--expect", *made], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
