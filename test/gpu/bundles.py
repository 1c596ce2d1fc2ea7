# SPDX-License-Identifier: Apache-2.0
"""Runs a test program on a GPU, in one process per bundle, so that a hang or crash affects no other bundle. Prints each
result at once, so that a timeout loses no earlier results."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time

SKIPPED = 77


def add_arguments(parser):
    """Adds the options for the source of the bundles and for time limits."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--gc3c", help="the compiler, which makes the bundles in --work")
    source.add_argument("--bundles", help="the folder in which make_bundles.py has made them, maybe on another machine")
    parser.add_argument("--work", help="with --gc3c: the folder for the bundles")
    parser.add_argument("--budget", type=seconds, metavar="SECONDS", help="begin no further bundle after that")
    parser.add_argument("--from", dest="first", metavar="RUN", help="leave out all runs before this one: to go on later")
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", default=300, help="of a bundle: then it has failed (300)")


def seconds(text):
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError("a time in seconds, above 0")
    return value


def folder_of(arguments, parser):
    """Returns the folder with the bundles. Makes them first if --gc3c is given."""
    if arguments.bundles:
        return pathlib.Path(arguments.bundles)
    if not arguments.work:
        parser.error("--gc3c needs --work")
    maker = pathlib.Path(__file__).with_name("make_bundles.py")
    subprocess.run([sys.executable, str(maker), "--gc3c", arguments.gc3c, "--output", arguments.work], check=True)
    return pathlib.Path(arguments.work)


def smallest_first(folder):
    """Returns the bundles in a folder, by file size. So bundles with few ranks and steps run before large ones fail."""
    found = sorted(folder.glob("*.gc3b"), key=lambda path: (path.stat().st_size, path.name))
    if not found:
        sys.exit(f"{folder} has no bundles (make_bundles.py)")
    return found


def ended(process, timeout):
    """Waits for a process and returns its output. After the timeout or an interrupt, kills the process and all
    processes that it has started, and raises the exception again."""
    try:
        return process.communicate(timeout=timeout)[0]
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise


class Session:
    """Runs commands within a time budget and counts verdicts."""

    def __init__(self, arguments):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that ended() kills its process
        self.begin = time.monotonic()
        self.budget = arguments.budget
        self.timeout = arguments.timeout
        self.first = arguments.first
        self.verdicts = {"right": 0, "FAILED": 0, "skipped": 0}
        self.not_begun = []

    def run(self, name, command, judge, environment=None):
        """Runs a command, and prints a line with its verdict. Does not run it before the run that --from names, or
        after the budget is used up.

        `judge(exit status, output)` returns the verdict and its reason. If the verdict is FAILED, also prints the end
        of the output."""
        if self.first and name != self.first:
            return
        self.first = None
        begin = time.monotonic()
        if self.budget and begin - self.begin >= self.budget:
            self.not_begun.append(name)
            return
        output = ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=environment, start_new_session=True) as process:
            try:
                output = ended(process, self.timeout)
                verdict, why = judge(process.returncode, output)
            except subprocess.TimeoutExpired:
                output = process.communicate()[0]
                verdict, why = "FAILED", f"it had not ended after {self.timeout:g} s"
        self.verdicts[verdict] += 1
        print(f"{name}: {time.monotonic() - begin:.1f} s, {verdict}{f' ({why})' if why else ''}", flush=True)
        if verdict == "FAILED":
            print("    " + "\n    ".join(output.splitlines()[-40:]), flush=True)

    def exit_status(self):
        """Prints the number of each verdict. Returns 1 if a run has failed or was not begun. Otherwise returns SKIPPED
        if all runs were skipped, else 0."""
        print(", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.items()) +
              f" in {time.monotonic() - self.begin:.0f} s")
        if self.first:
            sys.exit(f"there is no run '{self.first}'")
        if self.not_begun:
            print(f"NOT RUN: {len(self.not_begun)}, as {self.budget:g} s were over; go on with --from '{self.not_begun[0]}'")
        if self.verdicts["FAILED"] == 0 and self.verdicts["right"] == 0:
            print("SKIPPED: nothing has been shown")
            return SKIPPED if not self.not_begun else 1
        return int(self.verdicts["FAILED"] != 0 or bool(self.not_begun))
