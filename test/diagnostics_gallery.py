# SPDX-License-Identifier: Apache-2.0
"""Checks the mistakes of lib/Driver/mistakes, which gc3c embeds for --explain, and the pages of docs/ that show them.
gc3c and gc3-run must be in PATH.

diagnostics_gallery.py [--update]: runs the commands of each mistake, and compares their output with the message in the
file and with the page. With --update, writes the output into both instead.

A file begins with a comment: a title, the cause, "Remedy: ...", the commands as "$ ...", and the first line of the last
command's errors as "> ...". The example follows; a file NAME.txt has only commands. NAME.gc3, NAME.gc3-ir, NAME.xml or
NAME.txt explains the diagnostic id NAME; other names are examples for the pages. The file `pages` lists the pages,
their sections ("# Section") and files.
"""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "lib/Driver/mistakes"
BEGIN = "<!-- test/diagnostics_gallery.py --update writes from here -->\n"
END = "<!-- to here -->\n"
NEW = {}  # by path: the text that the file or page must have


@dataclass
class Mistake:
    title: str
    text: list  # the lines of cause and remedy
    commands: list
    message: str
    example: str


def read(name):
    lines = (FOLDER / name).read_text().splitlines()
    length = next((i for i, line in enumerate(lines) if not line.startswith("// ")), len(lines))
    title, *text = (line[3:] for line in lines[:length])
    commands = [line[2:] for line in text if line.startswith("$ ")]
    message = next((line[2:] for line in text if line.startswith("> ")), "")
    text = [line for line in text if line[:2] not in ("$ ", "> ")]
    if not commands or not any(line.startswith("Remedy: ") for line in text[1:]):
        sys.exit(f"{name}: needs a cause, a remedy and a command")
    return Mistake(title, text, commands, message, "".join(f"{line}\n" for line in lines[length:]))


def run(name, mistake):
    """Returns the error lines of the last command. Fails if an earlier command prints errors."""
    with tempfile.TemporaryDirectory() as folder:
        if mistake.example:
            (pathlib.Path(folder) / name).write_text(mistake.example)
        runs = [subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
                for command in mistake.commands]
    errors = [run.stderr for run in runs]
    if any(errors[:-1]) or not errors[-1]:
        sys.exit(f"{name}: only the last command has errors\n{''.join(errors)}")
    statuses, last = [run.returncode for run in runs], int(not re.search(": (remark|warning): ", errors[-1]))
    if statuses != [0] * (len(runs) - 1) + [last]:
        sys.exit(f"{name}: the commands end with {statuses}, and the last one must end with {last}")
    return [line.rstrip() for line in errors[-1].splitlines()]


def check_id(name, message, ids):
    """Fails if the file has the name of an id and the message has another id. gc3c prints a remark without its id."""
    id = name.split(".")[0]
    if id in ids and not message.endswith(f"[{id}]") and not (id == "remark" and ": remark: " in message):
        sys.exit(f"{name}: the first message has another id: {message}")


def entry(name, ids):
    mistake = read(name)
    errors = run(name, mistake)
    check_id(name, errors[0], ids)
    header = [mistake.title, *mistake.text, *(f"$ {command}" for command in mistake.commands), f"> {errors[0]}"]
    NEW[FOLDER / name] = "".join(f"// {line}\n" for line in header) + mistake.example
    language = "gc3 fragment" if name.endswith(".gc3") else "text"
    example = f"```{language}\n{mistake.example}```\n\n" if mistake.example else ""
    shown = "\n".join([f"$ {command}" for command in mistake.commands] + errors)
    text = "\n".join(mistake.text).replace("Remedy: ", "")
    return f"**{mistake.title}.** {text}\n\n{example}```text\n{shown}\n```\n"


def make_pages(ids):
    """Stores the wanted texts of all files and pages in NEW. Returns the names of the files that `pages` lists."""
    pages, names = {}, []
    for line in (FOLDER / "pages").read_text().splitlines():
        if line.startswith("docs/"):
            page = pages[ROOT / line] = []
        elif line.startswith("#"):
            page.append(f"#{line}\n")
        elif line:
            page.append(entry(line, ids))
            names.append(line)
    for path, parts in pages.items():
        before, rest = path.read_text().split(BEGIN)
        NEW[path] = before + BEGIN + "\n" + "\n".join(parts) + "\n" + END + rest.split(END)[1]
    return names


def main():
    explained = subprocess.run(["gc3c", "--explain=all"], capture_output=True, text=True, check=True).stdout
    names = make_pages(re.findall("^([a-z0-9-]+): ", explained, re.M))
    unlisted = {path.name for path in FOLDER.iterdir()} - {"pages"} ^ set(names)
    if unlisted:
        sys.exit(f"in {FOLDER.name}/ or in its file pages, but not in both: {', '.join(sorted(unlisted))}")
    stale = {path: text for path, text in NEW.items() if path.read_text() != text}
    for path, text in stale.items():
        name = str(path.relative_to(ROOT))
        if "--update" in sys.argv:
            path.write_text(text)
            continue
        print(f"{name} is not what gc3c says; --update writes it anew:")
        old = path.read_text().splitlines()
        print("\n".join(difflib.unified_diff(old, text.splitlines(), "file", "now", n=1, lineterm="")))
    sys.exit(bool(stale) and "--update" not in sys.argv)


main()
