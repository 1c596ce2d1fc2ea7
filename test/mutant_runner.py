# SPDX-License-Identifier: Apache-2.0
"""Runs tests on copies of the sources that have one error each.

A mutant is a change of one file: a name, the file, a text that occurs exactly once in the file, and the text's
replacement. Comments of the file and of the text are ignored. The sources and the build are copied to a separate folder,
so the working tree does not change.
"""
import argparse
import collections
import concurrent.futures
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile

NOT_BUILT = "**does not build**"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def without_comments(code):
    """Returns C++ code without `//` comments, and without lines that have nothing else."""
    return re.sub(r"[ \t]*(?<![:\"])//.*$", "", re.sub(r"(?m)^[ \t]*//.*\n", "", code), flags=re.MULTILINE)


def outcome_of(words, seconds, **rest):
    """Runs a command. Returns None if it succeeds, 'hang in TEST' after `seconds`, else the first failed test,
    'crash in TEST' or 'failure'."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **rest) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            return "hang" + last_test(output)
    if process.returncode == 0:
        return None
    if failed := re.search(r"^\[  FAILED  \] ([\w/.]+)", output, re.MULTILINE):
        return failed[1]
    return "crash" + last_test(output) if "[ RUN      ]" in output else "failure"


def last_test(output):
    """Returns ' in TEST' with the name of the test that GoogleTest began last, or an empty string."""
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    return f" in {begun[-1]}" if begun else ""


class Mutants:
    """A list of mutants, the targets that are built for each mutant, and the commands that must detect it."""

    def __init__(self, mutants, targets, commands):
        """`mutants` is a list of (name, file, old text, new text), files relative to ROOT. `commands(build)` returns a
        list of (name, words of the command, time limit in seconds)."""
        self.mutants = [(what, name, without_comments(old), without_comments(new)) for what, name, old, new in mutants]
        self.targets, self.commands = targets, commands

    def check(self):
        """Ends the process unless each text occurs exactly once in its file."""
        wrong = []
        for what, name, old, new in self.mutants:
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                times = without_comments(file.read()).count(old)
            if times != 1 or old == new:
                wrong.append(f"{what}: {name} has the text {times} times: {old}")
        for what, times in collections.Counter(mutant[0] for mutant in self.mutants).items():
            if times != 1:
                wrong.append(f"{what}: {times} mutants have this name")
        if wrong:
            sys.exit("\n".join(wrong))

    def build(self, source, build):
        """Builds the targets. Returns True on success."""
        return subprocess.run(["cmake", "--build", build, "--target", *self.targets], cwd=source, capture_output=True,
                              check=False, timeout=1800).returncode == 0

    def test(self, build):
        """Returns the name and outcome of the first command that fails, or None if all succeed."""
        for name, words, seconds in self.commands(build):
            if noticed := outcome_of(words, seconds):
                return f"{name}: {noticed}"
        return None

    def run(self, settings_of, folder, jobs=1):
        """Prints a table. Returns the number of mutants that no command detects. Copies have the settings of
        `settings_of`, a configured build."""
        missed = 0
        source, build = os.path.join(folder, "source"), os.path.join(folder, "build")
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", ".git"), copy_function=copy_changed,
                            symlinks=True, dirs_exist_ok=True)
            with open(os.path.join(settings_of, "CMakeCache.txt"), encoding="utf-8") as cache:
                settings = [f"-D{line.strip()}" for line in cache if re.match(r"(CMAKE_BUILD_TYPE|CMAKE_CXX_\w+):", line)]
            subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DGC3_COMPILER=OFF", "-DGC3_CUDA=OFF", *settings],
                           check=True, stdout=subprocess.DEVNULL)
            if not self.build(source, build):
                sys.exit("the sources do not build without a change")
            if noticed := self.test(build):
                sys.exit(f"{noticed} without a change")
            print("| change | detected by |\n| --- | --- |", flush=True)
            running = collections.deque()
            for what, name, old, new in self.mutants:
                running.append((what, self.begin(source, build, (name, old, new), pool)))
                while running and (len(running) > 4 * jobs or running[0][1].done()):
                    missed += report(*running.popleft())
            while running:
                missed += report(*running.popleft())
        return missed

    def begin(self, source, build, change, pool):
        """Builds a mutant and tests it in `pool`, so that the caller can build the next one. Returns the future
        outcome."""
        name, old, new = change
        path = os.path.join(source, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(without_comments(text).replace(old, new))
        is_built = self.build(source, build)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if not is_built:
            return pool.submit(lambda: NOT_BUILT)
        # The next build replaces the test programs, so the tests run copies of them.
        copy = tempfile.mkdtemp(dir=os.path.dirname(build))
        for _, words, _ in self.commands(build):
            program = os.path.join(copy, os.path.relpath(words[0], build))
            os.makedirs(os.path.dirname(program), exist_ok=True)
            shutil.copy2(words[0], program)
        return pool.submit(self.test_copy, copy)

    def test_copy(self, copy):
        """Like test(), and removes the copy."""
        try:
            return self.test(copy)
        finally:
            shutil.rmtree(copy)


def copy_changed(source, target):
    """Copies a file, unless the target is already identical: then a kept build need not compile it again. A new copy is
    newer than all objects, so the build compiles it."""
    if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def report(what, future):
    """Prints a row. Returns True if no command detects the mutant, or if it does not build."""
    noticed = future.result()
    print(f"| {what} | {noticed or '**nothing**'} |", flush=True)
    return noticed in (None, NOT_BUILT)


def parser(description):
    """Returns the parser of the options that all scripts with mutants share."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("build", help="a configured build, whose settings the copies have")
    made.add_argument("--jobs", type=int, default=1, help="tests that run at a time")
    made.add_argument("--only", default="", help="a regular expression: the mutants whose names it finds")
    made.add_argument("--work", help="a folder that keeps the copies between runs")
    made.add_argument("--seconds", type=int, default=60, help="time limit of a test program")
    made.add_argument("--check", action="store_true", help="run nothing: only check that the mutants fit")
    return made


def main(options, mutants, targets, commands):
    """Runs the mutants that the options choose. Returns the exit status."""
    chosen = Mutants([each for each in mutants if re.search(options.only, each[0])], targets, commands)
    chosen.check()
    if options.check:
        return 0
    if options.work:
        return chosen.run(options.build, os.path.abspath(options.work), options.jobs) != 0
    with tempfile.TemporaryDirectory() as folder:
        return chosen.run(options.build, folder, options.jobs) != 0
