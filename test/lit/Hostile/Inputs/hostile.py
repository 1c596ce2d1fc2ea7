# SPDX-License-Identifier: Apache-2.0
"""hostile.py [--deep] CASES EXPECTED: compiles hostile inputs, and compares the exit code and the first error of each with a
line of EXPECTED. Prints the lines that differ.

CASES is a Python file with a function `cases`, which yields (name, text of the input, options). Each compilation may take
60 s of processor time, 4 GiB of memory, and 64 KiB for all of its messages. In builds with sanitizers, which reserve far
more memory than they use, the memory in use counts.

Only --deep runs the cases that the set `DEEP` of CASES names, and runs the cases of the set `MANY_STEPS` until they reach the
default budget of steps.
"""
import argparse
import difflib
import os
import re
import resource
import runpy
import signal
import subprocess
import sys
import tempfile

SECONDS = 60
MEMORY = 4 << 30
MESSAGES = 64 << 10
QUICK = "--max-steps=10000000"


def limited(memory):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return apply


def run(arguments, memory):
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=messages, preexec_fn=limited(memory))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        return process.returncode, messages.read(), usage.ru_maxrss << 10


def outcome(code, messages, used):
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        return f"HANGS, more than {SECONDS} s"
    if code < 0:
        return f"CRASHES with {signal.Signals(-code).name}"
    if used > MEMORY:
        return f"USES {used >> 20} MiB"
    if len(messages) > MESSAGES:
        return f"PRINTS {len(messages)} bytes"
    first = messages.split(b"\n")[0].decode(errors="replace")
    first = re.sub(r"more than \d+ steps", "more than N steps", first)
    message = re.sub(r"^\S*?input:?([0-9:]*):? ", r"\1 ", first).strip()
    return f"exit {code}" + (": " + message[:200] if message else "")


def selected_cases(module, is_deep):
    for name, text, *options in module["cases"]():
        if is_deep or name not in module.get("DEEP", ()):
            is_cut = not is_deep and name in module.get("MANY_STEPS", ())
            yield name, text, options + [QUICK] * is_cut


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("cases")
    parser.add_argument("expected")
    arguments = parser.parse_args()
    with open(arguments.expected, encoding="utf-8") as lines:
        expected = {line.split(": exit ")[0]: line for line in lines}
    module = runpy.run_path(arguments.cases)
    limit_memory = run(["gc3c", "--version"], True)[0] == 0
    wanted, found = [], []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text, options in selected_cases(module, arguments.deep):
            with open("input", "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            result = run(["gc3c", "input", "-o", "output", *options], limit_memory)
            found.append(f"{name}: {outcome(*result)}\n")
            wanted.append(expected.get(name, ""))
    if arguments.deep:
        wanted = list(expected.values())
    difference = list(difflib.unified_diff(wanted, found, arguments.expected, arguments.cases, n=0))
    sys.stdout.writelines(difference)
    return 1 if difference else 0


sys.exit(main())
