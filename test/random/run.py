# SPDX-License-Identifier: Apache-2.0
"""Tests random programs with the whole compiler and the host executor.

run.py [--gc3c GC3C] [--gc3-run GC3_RUN] [--first N] [--seeds N] [--jobs N]: compiles and verifies a program for each
seed, reads its GC3-IR back, and runs it in adversarial orders, in some cases with one FIFO slot or with small tiles.
Exports the program as MSCCL XML if possible, and interprets the XML. Reduces the first program that fails, and prints
it with its options.
"""
import argparse
import collections
import concurrent.futures
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # write no .pyc files into the source tree

# pylint: disable=wrong-import-position
from checks import Checker, Failed, Options
from generate import generate
from shrink import shrink


def check(tools, program, options):
    """Returns the names of the checks that the program passed."""
    with tempfile.TemporaryDirectory() as folder:
        return Checker(tools, folder, program, options).run()


def check_seed(tools, seed):
    """Returns (seed, passed checks, failure)."""
    try:
        return seed, check(tools, generate(seed), Options.of(seed)), None
    except Failed as failure:
        return seed, [], failure.check


def report(tools, seed):
    """Prints a small program that fails the same check as the seed's program."""
    options = Options.of(seed)

    def failure_of(program):
        try:
            check(tools, program, options)
        except Failed as failure:
            return failure
        return None

    program = generate(seed)
    check_that_fails = failure_of(program).check

    def still_fails(candidate):
        failure = failure_of(candidate)
        return failure is not None and failure.check == check_that_fails

    program = shrink(program, still_fails)
    print(f"seed {seed} fails; shrunk, compiled with {' '.join(options.words())}:\n")
    print(program.source())
    print(failure_of(program))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gc3c", default="gc3c")
    parser.add_argument("--gc3-run", default="gc3-run")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep-going", action="store_true", help="name all seeds that fail, and shrink none")
    arguments = parser.parse_args()
    tools = {"gc3c": shutil.which(arguments.gc3c), "gc3-run": shutil.which(arguments.gc3_run)}
    if None in tools.values():
        parser.error("gc3c or gc3-run is not there; say where with --gc3c and --gc3-run")
    # The paths must be absolute, because each program runs in a separate folder.
    tools = {name: os.path.abspath(path) for name, path in tools.items()}
    passed = collections.Counter()
    failures = 0
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        seeds = range(arguments.first, arguments.first + arguments.seeds)
        for seed, checks, failure in pool.map(check_seed, [tools] * len(seeds), seeds, chunksize=4):
            passed.update(checks)
            if not failure:
                continue
            failures += 1
            if not arguments.keep_going:
                pool.shutdown(cancel_futures=True)
                report(tools, seed)
                return 1
            print(f"seed {seed} fails: {failure}", flush=True)
    print(f"{arguments.seeds} programs: " + ", ".join(f"{check} {number}" for check, number in passed.items()))
    if 2 * passed["execute"] < arguments.seeds or 8 * passed["export"] < arguments.seeds:
        sys.exit("too few of them come far enough to show anything")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
