#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_models.py [--deep] [--jobs N] [--page FILE [--update]]: checks the models of the agreement with Spin.

Checks agreement.pml, announcements.pml, communicators.pml, and their mutants. A model must hold in all of its states; each mutant must
break the property that the table names. Prints a table in Markdown: the states that the checker stores, and the depth
that it reaches. --deep checks longer runs. --page compares the table with the one in FILE; --update writes it there.
Exits with 77 if Spin or a C compiler is missing.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

SKIPPED = 77  # the value in CMakeLists.txt
HERE = pathlib.Path(__file__).parent
SPIN = "Spin Version 6.5.2"  # other versions can count other states
HEAD = ["| model or mutant | calls | result | states | depth |", "| --- | --- | --- | --- | --- |"]

# The properties that a mutant can break, and a part of the assertion in the model.
CHOICES, CALLS, WAITS, FAULTS = "ranks choose differently", "ranks apply at different calls", "ranks wait forever", \
    "ranks choose after the error"
RAN = "ranks run different choices"
ASSERTIONS = {CHOICES: r"\(choice\[|faulty==", CALLS: r"\(due\[k\]==0", WAITS: r"stalled&& !|ended\[", FAULTS: r"firstWrong==",
              RAN: r"\(running\["}


class Case(NamedTuple):
    words: str
    model: str
    macros: tuple
    calls: int
    deep: int  # calls with --deep
    breaks: str = ""  # the property; empty: the model holds


A, H, C = "agreement", "announcements", "communicators"
CASES = [
    Case("streams", A, (), 10, 12),
    Case("streams; stalls, an abort", A, ("STALLS",), 5, 6),
    Case("streams; a fault", A, ("FAULT",), 6, 8),
    Case("host", H, (), 6, 8),
    Case("host; stalls, an abort", H, ("STALLS",), 4, 5),
    Case("host; a fault", H, ("FAULT",), 5, 6),
    Case("two communicators", C, (), 3, 3),
    Case("streams: applies an exchange at its arrival", A, ("AT_ARRIVAL",), 6, 6, CHOICES),
    Case("streams: does not wait for a late exchange", A, ("NO_WAIT",), 6, 6, CHOICES),
    Case("streams: skips a late exchange", A, ("SKIP_LATE",), 6, 6, CHOICES),
    Case("streams: uses its own times only", A, ("OWN_TIMES",), 6, 6, CHOICES),
    Case("streams: computes the delay from its own lag", A, ("OWN_LAG",), 6, 6, CALLS),
    Case("streams: a message always waits for its times", A, ("WAIT_FOR_TIMES",), 6, 6, WAITS),
    Case("streams: an abort does not end waits", A, ("NO_ABORT", "STALLS"), 5, 5, WAITS),
    Case("streams: ignores digests", A, ("IGNORE_DIGEST", "FAULT"), 6, 6, FAULTS),
    Case("host: uses its own times only", H, ("OWN_TIMES",), 6, 6, CHOICES),
    Case("host: uses the times that have arrived", H, ("AT_ARRIVAL",), 6, 6, CHOICES),
    Case("host: has one announcement instead of two", H, ("ONE_SLOT",), 6, 6, WAITS),
    Case("host: an abort does not end waits", H, ("NO_ABORT", "STALLS"), 4, 4, WAITS),
    Case("host: does not compare choices", H, ("IGNORE_CHOICE", "FAULT"), 6, 6, RAN),
    Case("two communicators: a rank takes part in one exchange at a time", C, ("SERIAL",), 3, 3, WAITS),
]


def run(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def check(case, deep, compiler):
    """Returns the row of the table, and the text of an error or an empty text."""
    calls = case.deep if deep else case.calls
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(HERE / f"{case.model}.pml", folder)
        run(["spin", *(f"-D{macro}" for macro in case.macros), f"-DCALLS={calls}", "-a", f"{case.model}.pml"], folder)
        run([compiler, "-w", "-O1", "-DSAFETY", "-o", "pan", "pan.c"], folder)
        output = run(["./pan", "-m10000"], folder)
    states = int(re.search(r"(\d+) states, stored", output)[1])
    depth, errors = re.search(r"depth reached (\d+), errors: (\d+)", output).groups()
    broken = re.search(r"^pan:1: (.*)", output, re.MULTILINE)
    row = f"| {case.words} | {calls} | {case.breaks or 'holds'} | {states:,} | {depth} |"
    if "max search depth too small" in output:
        return row, "the search was not exhaustive"
    if not case.breaks:
        return row, "" if errors == "0" else f"the model does not hold: {broken[1]}"
    if errors == "0":
        return row, "the mutant holds"
    right = re.search(ASSERTIONS[case.breaks], broken[1])
    return row, "" if right else f"the mutant breaks another property: {broken[1]}"


def compare(page, rows, update):
    """Compares the table in the page with the rows, or writes it. Returns an error or an empty text."""
    text = page.read_text()
    begin = text.index(HEAD[0])
    end = text.index("\n\n", begin)
    table = "\n".join(HEAD + rows)
    if text[begin:end] == table:
        return ""
    if not update:
        return f"the table in {page} is not up to date; --update writes it"
    page.write_text(text[:begin] + table + text[end:])
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")
    if not shutil.which("spin") or not compiler:
        print("SKIPPED: spin or a C compiler is missing, so NO model of the agreement is checked", file=sys.stderr)
        sys.exit(SKIPPED)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda case: check(case, arguments.deep, compiler), CASES))
    rows = [row for row, _ in results]
    print("\n".join(HEAD + rows))
    errors = [f"{case.words}: {error}" for case, (_, error) in zip(CASES, results) if error]
    if arguments.page and not arguments.deep and SPIN in run(["spin", "-V"], HERE):
        errors += filter(None, [compare(arguments.page, rows, arguments.update)])
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
