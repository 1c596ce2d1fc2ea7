# SPDX-License-Identifier: Apache-2.0
"""hostile.py [--deep] CASES: compiles hostile inputs. Prints the exit code and the first error of each.

CASES is a Python file with a function `cases`, which yields (name, text of the input, options). Each compilation may take
60 s of processor time, 4 GiB of memory, and 64 KiB for all of its messages. In builds with sanitizers, which reserve far
more memory than they use, the memory in use counts.

CASES can define `DEEP`, the names of cases that only --deep runs, and `QUICK_STEPS`, the value of --max-steps without --deep
for cases that set none.
"""
import argparse
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
    message = re.sub(r"^\S*?input:?([0-9:]*):? ", r"\1 ", first).strip()
    return f"exit {code}" + (": " + message[:200] if message else "")


def quick_cases(module):
    """Returns the cases without --deep."""
    for name, text, *options in module["cases"]():
        if "QUICK_STEPS" in module and not any(option.startswith("--max-steps") for option in options):
            options.append(f"--max-steps={module['QUICK_STEPS']}")
        if name not in module.get("DEEP", ()):
            yield name, text, *options


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("cases")
    arguments = parser.parse_args()
    module = runpy.run_path(arguments.cases)
    limit_memory = run(["gc3c", "--version"], True)[0] == 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text, *options in module["cases"]() if arguments.deep else quick_cases(module):
            with open("input", "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            result = run(["gc3c", "input", "-o", "output", *options], limit_memory)
            print(f"{name}: {outcome(*result)}", flush=True)


main()
