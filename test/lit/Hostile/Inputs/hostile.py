# SPDX-License-Identifier: Apache-2.0
"""hostile.py CASES: runs gc3c on each case, and prints a line with the exit code and the first error.

CASES is a Python file with a function `cases`, which yields (name, text of the input, options). The test fails if gc3c
takes more than 60 s of processor time, 4 GiB of memory, or 64 KiB for all of its messages. Builds with sanitizers
reserve far more memory than they use, so there the limit is for used memory.
"""
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
        return f"TAKES {used >> 20} MiB"
    if len(messages) > MESSAGES:
        return f"TELLS {len(messages)} bytes"
    first = messages.split(b"\n")[0].decode(errors="replace")
    message = re.sub(r"^\S*?input:?([0-9:]*):? ", r"\1 ", first).strip()
    return f"exit {code}" + (": " + message[:200] if message else "")


def main():
    cases = runpy.run_path(sys.argv[1])["cases"]
    limit_memory = run(["gc3c", "--version"], True)[0] == 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text, *options in cases():
            with open("input", "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            result = run(["gc3c", "input", "-o", "output", *options], limit_memory)
            print(f"{name}: {outcome(*result)}", flush=True)


main()
