# SPDX-License-Identifier: Apache-2.0
"""test_targets.py BUILD ARGUMENT...: prints the Ninja targets that the tests selected by ctest's arguments need.

If the last part of a test's name is a target, the test needs this target. Otherwise it needs the targets among the paths of
its command, and all targets of each folder among them. (ctest prints no command for a program that is not built.)
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
    name = test["name"].split(".")[-1]
    paths = [os.path.relpath(argument, build) for argument in test.get("command", []) if argument.startswith(build)]
    if name in known:  # its program, with the dependencies that CMake knows
        return {name}
    return known.intersection(paths + [os.path.normpath(f"{path}/all") for path in paths])


def main():
    build, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    known = {line.split(":")[0] for line in output("ninja", "-C", build, "-t", "targets", "all").splitlines()}
    targets = set()
    for test in selected_tests(build, arguments):
        targets |= targets_of(test, build, known)
    print("\n".join(sorted(targets)))


main()
