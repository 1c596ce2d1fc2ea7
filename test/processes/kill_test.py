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
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from launch import environment, explains_loss, free_port, torchrun

TIMEOUT_MS = 3000  # of joining and of calls; gc3-run kills processes that have not ended 5 s after the first one
LONGEST_S = 60     # until all processes have ended; a machine under load is slow

# What the messages of the surviving ranks say, in the order of a job.
STAGES = [
    ("while ranks join", re.compile("has not joined|did not reach rank 0|does not answer|shared memory|no connection to")),
    ("in a call, while a thread block waits", re.compile("thread block .* waits for")),
    ("in a call, before all ranks have made it", re.compile("wait in a call")),
    ("between calls", re.compile("whose process|which has failed|which has left|refuses access|the connection to rank")),
]
# UCX 1.13 ends a process by an assertion if another one is killed while they connect.
ABORT_OF_UCX = re.compile(r"(wireup_ep|tcp_ep)\.c:\d+ +Assertion")


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


def describe(process):
    """Returns the processor time of a process, and its stacks if there is a debugger."""
    stat = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    seconds = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    text = f"process {process}: state {stat[0]}, {seconds} s of processor time\n"
    if shutil.which("gdb"):
        text += subprocess.run(["gdb", "-p", str(process), "-batch", "-ex", "thread apply all backtrace"], text=True,
                               capture_output=True, check=False).stdout
    return text


class Job:
    """A job on this machine: one gc3-run that starts the others, or a gc3-run for each rank, on two hosts."""

    def __init__(self, arguments, ranks):
        self.on_hosts = arguments.hosts
        command = [arguments.gc3_run, arguments.bundle[ranks], "-b", "1K", "-e", "4M", "-f", "4", "-n", "3", "-w", "0"]
        port = free_port()
        if self.on_hosts:
            for_rank = [torchrun(rank, ranks, port) | {"LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "UCX_TLS": "tcp",
                                                       "GC3_HOSTID": "ab"[2 * rank // ranks]} for rank in range(ranks)]
        else:
            for_rank = [{}]
            command += ["--processes", str(ranks)]
        self.processes = []
        for own in for_rank:
            variables = {name: str(value) for name, value in own.items()} | {"GC3_TIMEOUT_MS": str(TIMEOUT_MS)}
            self.processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                                   env=environment(variables)))
        self.errors = []  # by process

    def text(self):
        return "".join(self.errors)

    def ranks(self):
        """Returns the ids of the ranks' processes so far."""
        ids = [process.pid for process in self.processes]
        return ids if self.on_hosts else children(ids[0])

    def wait(self):
        """Waits until all processes have ended. Returns their statuses; None: a process has not ended in time."""
        deadline = time.monotonic() + LONGEST_S
        statuses = []
        for process in self.processes:
            try:
                _, errors = process.communicate(timeout=max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.errors.append(describe(process.pid))
                return None
            self.errors.append(errors)
            statuses.append(process.returncode)
        return statuses

    def end(self):
        for process in self.processes:
            process.kill()
            process.communicate()


def kill_once(arguments, random_numbers):
    """Returns the stage at which the process was killed, the seconds that the others then took, and their errors."""
    job = Job(arguments, random_numbers.choice((2, 4, 8)))
    try:
        time.sleep(random_numbers.random() * arguments.longest_delay)
        ranks = job.ranks()
        victim = random_numbers.choice(ranks) if ranks else None
        if victim:
            os.kill(victim, signal.SIGKILL)
        begin = time.monotonic()
        statuses = job.wait()
        took = time.monotonic() - begin
        left = [rank for rank in ranks if not ended(rank)]
    finally:
        job.end()
    if statuses is None:
        return "HANG", took, job.text()
    if left:
        return f"STILL RUNNING: {left}", took, job.text()
    return outcome(job, victim, statuses), took, job.text()


def outcome(job, victim, statuses):
    if not victim:
        return "before the first process"
    return outcome_on_hosts(job, victim, statuses) if job.on_hosts else outcome_on_host(job, victim, statuses)


def outcome_on_hosts(job, victim, statuses):
    """Each process is a rank."""
    lost = [process.pid for process in job.processes].index(victim)
    failed = [rank for rank, status in enumerate(statuses) if status != 0 and rank != lost]
    if not failed:
        return "after the last call"
    texts = {rank: job.errors[rank] for rank in failed}
    if any(ABORT_OF_UCX.search(text) for text in texts.values()):
        return "while ranks join (UCX aborts another process)"
    if any(statuses[rank] != 1 for rank in failed):
        return f"STATUSES {statuses}"
    if any(not explains_loss(text, lost) for text in texts.values()):
        return f"UNRELATED ERRORS of ranks {failed}, rank {lost} was killed"
    return stage_of("".join(texts.values())) or "UNKNOWN TEXT"


def outcome_on_host(job, victim, statuses):
    """One process has started the others."""
    if not any(statuses):
        return "after the last call"
    if min(statuses) < 0:
        return f"STATUSES {statuses}"
    report = f"(process {victim}) was killed by signal 9"
    if report not in job.text():
        return "NOT REPORTED"
    lines = [line for line in job.text().splitlines() if report not in line]
    return stage_of("\n".join(lines)) or "UNKNOWN TEXT" if lines else "after the last call"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gc3c", required=True)
    parser.add_argument("--gc3-run", required=True)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--hosts", action="store_true", help="half of the ranks are on another host, over UCX")
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
