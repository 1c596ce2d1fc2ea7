# SPDX-License-Identifier: Apache-2.0
"""Checks the gallery of docs/mistakes.md: programs with a mistake, and the diagnostics of gc3c or gc3-run, which are
in PATH.

diagnostics_gallery.py [--update]: compares the page with the current diagnostics, or writes them into the page.
test/lit/Diagnostics/gallery.txt lists the programs: `# Section`, then one file a line. A program begins with a comment:
a title, the mistake and its remedy, and `$ gc3c ...` if the command has more arguments than the file. If there are
several commands, the last one finds the mistake.
"""
import difflib
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "test/lit/Diagnostics"
PAGE = ROOT / "docs/mistakes.md"
BEGIN = "<!-- test/diagnostics_gallery.py --update writes from here -->\n"
END = "<!-- to here -->\n"


def entry(name):
    lines = (FOLDER / name).read_text().splitlines()
    length = next(i for i, line in enumerate(lines) if not line.startswith("// "))
    title, *comment = (line[3:] for line in lines[:length])
    commands = [line[2:] for line in comment if line.startswith("$ ")] or [f"gc3c {name}"]
    comment = [line for line in comment if not line.startswith("$ ")]
    program = "".join(f"{line}\n" for line in lines[length:])
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / name).write_text(program)  # without the comment, which the page does not show
        runs = [subprocess.run(command.split(), cwd=folder, capture_output=True, text=True) for command in commands]
    statuses = [run.returncode for run in runs]
    if statuses != [0] * (len(runs) - 1) + [1]:
        sys.exit(f"{commands}: exit statuses {statuses}, and a mistake has 1\n{runs[-1].stderr}")
    language = "gc3 fragment" if name.endswith(".gc3") else "text"
    said = "".join(f"{line.rstrip()}\n" for line in runs[-1].stderr.splitlines())
    shown = "".join(f"$ {command}\n" for command in commands)
    return f"**{title}.** " + "\n".join(comment) + f"\n\n```{language}\n{program}```\n\n```text\n{shown}{said}```\n"


def gallery():
    parts = []
    for line in (FOLDER / "gallery.txt").read_text().splitlines():
        if line:
            parts.append(f"#{line}\n" if line.startswith("#") else entry(line))
    return "\n".join(parts)


def main():
    listed = {line for line in (FOLDER / "gallery.txt").read_text().splitlines() if line and not line.startswith("#")}
    unlisted = {path.name for path in FOLDER.iterdir() if "gc3" in path.suffix or path.suffix == ".xml"} ^ listed
    if unlisted:
        sys.exit(f"in the folder or in gallery.txt, but not in both: {', '.join(sorted(unlisted))}")
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    wanted = f"{before}{BEGIN}\n{gallery()}\n{END}{after}"
    if "--update" in sys.argv:
        PAGE.write_text(wanted)
    elif page != wanted:
        print("docs/mistakes.md is not what gc3c says; --update writes it anew:")
        print("\n".join(difflib.unified_diff(page.splitlines(), wanted.splitlines(), "page", "now", n=1, lineterm="")))
        sys.exit(1)


main()
