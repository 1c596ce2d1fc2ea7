#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a process of a job at a random moment, many times. The other processes must end in time, each with an error that
names the lost rank, or with success if the job has ended before. Prints a table of the outcomes."""
import argparse
import collections
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT_MS = 3000  # of joining and of calls; gc3-run kills processes that have not ended 5 s after the first one
LONGEST_S = 60     # until all processes have ended; a machine under load is slow

# What the messages of the surviving ranks say, in the order of a job.
STAGES = [
    ("while ranks join", re.compile("has not joined|did not reach rank 0|does not answer|shared memory")),
    ("in a call, while a thread block waits", re.compile("thread block .* waits for")),
    ("in a call, before all ranks have made it", re.compile("wait in a call")),
    ("between calls", re.compile("whose process|which has failed|which has left|refuses access")),
]


def children(process):
    try:
        text = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except FileNotFoundError:
        return []
    return [int(child) for child in text.split()]


def ended(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


def stage_of(errors):
    for name, pattern in STAGES:
        if pattern.search(errors):
            return name
    return None


def kill_once(arguments, random_numbers):
    """Returns the stage at which the process was killed, and the seconds that the others then took."""
    processes = random_numbers.choice((2, 4, 8))
    command = [arguments.gc3_run, arguments.bundle[processes], "--processes", str(processes), "-b", "1K", "-e", "4M",
               "-f", "4", "-n", "3", "-w", "0"]
    variables = dict(os.environ, GC3_TIMEOUT_MS=str(TIMEOUT_MS))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables) as job:
        time.sleep(random_numbers.random() * arguments.longest_delay)
        ranks = children(job.pid)
        victim = random_numbers.choice(ranks) if ranks else None
        if victim:
            os.kill(victim, signal.SIGKILL)
        begin = time.monotonic()
        try:
            _, errors = job.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            job.kill()
            return "HANG", LONGEST_S, ""
        took = time.monotonic() - begin
    left = [rank for rank in ranks if not ended(rank)]
    if left:
        return f"STILL RUNNING: {left}", took, errors
    if job.returncode == 0 or not victim:
        return "after the last call" if job.returncode == 0 else "BEFORE A PROCESS", took, errors
    if f"(process {victim}) was killed by signal 9" not in errors:
        return "NOT REPORTED", took, errors
    lines = [line for line in errors.splitlines() if f"process {victim}) was killed" not in line]
    if not lines:
        return "after the last call", took, errors
    return stage_of("\n".join(lines)) or "UNKNOWN TEXT", took, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gc3c", required=True)
    parser.add_argument("--gc3-run", required=True)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest-delay", type=float, default=0.6, help="seconds from the start to a kill")
    arguments = parser.parse_args()
    random_numbers = random.Random(arguments.seed)
    table, longest, failures = collections.Counter(), collections.defaultdict(float), 0
    with tempfile.TemporaryDirectory() as folder:
        arguments.bundle = {}
        for ranks in (2, 4, 8):
            arguments.bundle[ranks] = f"{folder}/ring{ranks}.gc3b"
            subprocess.run([arguments.gc3c, f"{arguments.examples}/ring_allreduce.gc3", f"-DR={ranks}", "-o",
                            arguments.bundle[ranks]], check=True)
        for number in range(arguments.count):
            stage, took, errors = kill_once(arguments, random_numbers)
            table[stage] += 1
            longest[stage] = max(longest[stage], took)
            if stage[:2].isupper():
                failures += 1
                print(f"kill {number}: {stage}\n{errors}", file=sys.stderr)
    print("| the process was killed | times | longest time until all had ended |\n| --- | --- | --- |")
    for stage, times in sorted(table.items()):
        print(f"| {stage} | {times} | {longest[stage]:.1f} s |")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
