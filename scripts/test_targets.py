# SPDX-License-Identifier: Apache-2.0
"""test_targets.py BUILD ARGUMENT...: prints the Ninja targets that the tests selected by ctest's arguments need.

A test needs the targets among the paths of its command. For a folder it needs all targets of that folder. ctest prints no
command for a program that is not built; the program has the last part of the test's name.
"""
import json
import os
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def selected_tests(build, arguments):
    return json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1", *arguments))["tests"]


def targets_of(test, build, known):
    paths = [os.path.relpath(argument, build) for argument in test.get("command", []) if argument.startswith(build)]
    names = paths + [os.path.normpath(os.path.join(path, "all")) for path in paths]
    if "command" not in test:
        names = [test["name"].split(".")[-1]]
    return {name for name in names if name in known}


def main():
    build, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    known = {line.split(":")[0] for line in output("ninja", "-C", build, "-t", "targets", "all").splitlines()}
    targets = set()
    for test in selected_tests(build, arguments):
        targets |= targets_of(test, build, known)
    print("\n".join(sorted(targets)))


main()
