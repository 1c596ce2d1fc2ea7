# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in pages of the documentation and compares their results with the pages.

doc_blocks.py [--update] PAGE.md...: runs the blocks of docs/x.md in the directory docs/x under the working directory.
gc3c and gc3-run must be in PATH, and gc3-synth for the page that uses it. The first line of a fenced block selects the
action:

  ```gc3            must compile
  ```gc3 ring.gc3   must compile, and is written to this file for the following blocks
  ```gc3 fragment   is only a part of a file, and is not compiled
  ```make rule.mk   any other language with a file name: is written to this file
  ```diff a.gc3 b.gc3   makes b.gc3 from a.gc3: removes '-' lines, adds '+' lines, requires the others
  ```console        lines after '$ ' are commands, the lines after each are its output; '...' stands for any lines

A command must succeed, unless it prints an error that is not indented. The output includes standard error. Times and
rates of gc3-run and gc3-synth are not compared. Blocks find examples/ in their directory. The script leaves files in
the working directory, so run it in an empty one. --update writes the current output of commands into the pages where it
differs.
"""
import itertools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.S | re.M)


class Mistake(Exception):
    pass


def sh(command, folder):
    run = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, run.stdout.splitlines()


def compile_block(folder, name):
    """Compiles a file. If the file has no program, compiles a program that imports it and does nothing."""
    if not re.search(r"^program ", (folder / name).read_text(), re.M):
        nothing = f'import "{name}"; program nothing implements allreduce(ranks = 1, chunks = 1, inplace = true) {{ }}\n'
        name = "nothing.gc3"
        (folder / name).write_text(nothing)
    status, output = sh(f"gc3c --emit=gc3-ir {name} >/dev/null", folder)
    if status:
        raise Mistake("\n".join(["does not compile:"] + output))


def apply_diff(folder, old, new, text):
    before = "".join(line[1:] or "\n" for line in text.splitlines(True) if line[0] != "+")
    after = "".join(line[1:] or "\n" for line in text.splitlines(True) if line[0] != "-")
    source = (folder / old).read_text()
    if source.count(before) != 1:
        raise Mistake(f"{old} has these lines {source.count(before)} times")
    (folder / new).write_text(source.replace(before, after))


def comparable(line, command):
    """Replaces the parts of a line that differ between runs: times and rates of gc3-run and gc3-synth, and widths of
    columns."""
    if line.startswith("gc3-synth: "):
        return re.sub(r"[\d.]+ s\b", "# s", line.rstrip())
    if "gc3-run " not in command:
        return line.rstrip()
    words = line.split()
    isRow = len(words) == 14 and words[0].isdigit()
    varies = (5, 6, 7, 9, 10, 11) if isRow else (5,) if words[:2] == ["#", "Avg"] else ()
    return " ".join("#" if place in varies and word != "-" else word for place, word in enumerate(words))


def matches(expected, actual, command):
    """Returns True if the lines are equal, where '...' stands for any number of lines."""
    patterns = (".*" if line == "..." else re.escape(comparable(line, command) + "\n") for line in expected)
    return re.fullmatch("".join(patterns), "".join(comparable(line, command) + "\n" for line in actual), re.S)


def replay(folder, text):
    """Runs a console block. Returns the block with the current output, and the number of its commands."""
    result, commands = [], 0
    lines = text.splitlines()
    if not lines or not lines[0].startswith("$ "):
        raise Mistake("a console block begins with '$ '")
    while lines:
        command = lines.pop(0)[2:]
        expected = list(itertools.takewhile(lambda line: not line.startswith("$ "), lines))
        del lines[: len(expected)]
        status, actual = sh(command, folder)
        if bool(status) != any("error" in line and line[0] != " " for line in actual):
            raise Mistake("\n".join([f"$ {command}", *actual, f"ends with status {status}"]))
        result += [f"$ {command}"] + (expected if matches(expected, actual, command) else actual)
        commands += 1
    return "".join(line + "\n" for line in result), commands


def do_block(folder, number, language, words, text, counts):
    """Runs a block. Returns the text that the block should have."""
    if language == "console":
        text, commands = replay(folder, text)
        counts["commands"] += commands
    elif language == "diff" and words:
        apply_diff(folder, *words, text)
    elif language == "gc3" and words != ["fragment"]:
        name = words[0] if words else f"block{number}.gc3"
        (folder / name).write_text(text)
        compile_block(folder, name)
        counts["programs"] += 1
    elif language != "gc3" and words:
        (folder / words[0]).write_text(text)
    return text


def do_page(page, update, counts):
    text = page.read_text()
    folder = pathlib.Path(page.relative_to(ROOT).with_suffix(""))
    folder.mkdir(parents=True)
    (folder / "examples").symlink_to(ROOT / "examples")
    wrong = []
    replaced = []  # (begin, end, text)
    for number, fence in enumerate(FENCE.finditer(text)):
        language, words, block = fence[1], fence[2].split(), fence[3]
        place = f"{page.name}:{text.count(chr(10), 0, fence.start()) + 1}"
        try:
            now = do_block(folder, number, language, words, block, counts)
        except Mistake as mistake:
            wrong.append(f"{place}: {mistake}")
            continue
        if now != block:
            wrong += [] if update else [f"{place}: now prints\n{now}"]
            replaced.append((*fence.span(3), now))
    if update:
        for begin, end, now in reversed(replaced):
            text = text[:begin] + now + text[end:]
        page.write_text(text)
    return wrong


def main():
    update = "--update" in sys.argv
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:] if name != "--update"]
    if pathlib.Path.cwd() == ROOT:
        sys.exit("doc_blocks.py leaves files where it runs: run it in an empty directory")
    wrong, counts = [], {"programs": 0, "commands": 0}
    for page in pages:
        wrong += do_page(page, update, counts)
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(pages)} pages, {counts['programs']} programs, {counts['commands']} commands, {len(wrong)} blocks wrong")
    sys.exit(bool(wrong))


main()
