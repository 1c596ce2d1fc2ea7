# SPDX-License-Identifier: Apache-2.0
"""Writes documentation of the runtime's environment variables, from the output of `gc3-run --settings`.

settings.py check PAGE GC3_RUN   fails if the table in the page differs from gc3-run's
settings.py update PAGE GC3_RUN  writes the table into the page
settings.py man OUT GC3_RUN      writes the manual page gc3-environment(7)

The table of a page is between two comments, <!-- settings --> and <!-- end of settings -->. Its links are relative to
docs/.
"""
import os
import pathlib
import re
import subprocess
import sys

BEGIN, END = "<!-- settings -->\n", "<!-- end of settings -->\n"
MAN_TITLE = "Environment variables that the gc3 runtime reads"


def read(gc3_run):
    """Returns the rows of the table, in order. Each row is a dictionary; the key `name` has the variable's name."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GC3_", "NCCL_"))}
    command = [gc3_run, "--settings"]
    text = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout
    rows = []
    for line in text.splitlines():
        if match := re.fullmatch(r"  (.{10}) (.+)", line):
            rows[-1][match[1].strip()] = match[2]
        elif re.fullmatch(r"[A-Z0-9_]+", line):
            rows.append({"name": line})
        else:
            sys.exit(f"settings.py: gc3-run --settings has a line of a new kind: '{line}'")
    return rows


def version(gc3_run):
    return subprocess.run([gc3_run, "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()[1]


def markdown(rows, page):
    def cell(text):
        return text.replace("|", "\\|").replace("<", "&lt;")

    def link(row):
        target = row["more"].removeprefix(page.name)
        return f" ([more]({target}))"

    lines = ["| variable | meaning | values | default | identical on all ranks | read by |",
             "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        readers = ", ".join(f"`{reader}`" for reader in row["read by"].split(", "))
        lines.append(f"| `{row['name']}` | {cell(row['meaning'])}{link(row)} | {cell(row['range'])} | "
                     f"{cell(row['default'])} | {row['identical']} | {readers} |")
    return "".join(line + "\n" for line in lines)


def replaced(page, table):
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"settings.py: {page} needs {BEGIN.strip()} and {END.strip()} once each")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return text, f"{before}{BEGIN}\n{table}\n{END}{after}"


def man(rows, release):
    def roff(text):
        text = text.replace("\\", "\\e").replace("-", "\\-")
        return "\\&" + text if text.startswith((".", "'")) else text

    lines = [f'.TH GC3-ENVIRONMENT 7 "" "gc3 {release}" "gc3"',
             f".SH NAME\ngc3\\-environment \\- {roff(MAN_TITLE[0].lower() + MAN_TITLE[1:])}",
             ".SH DESCRIPTION\nEach process reads these variables once, when it creates its first communicator. "
             "An empty variable counts as not set. "
             "With GC3_DEBUG=INFO the process logs each value and its origin. "
             "A warning names other variables that begin with GC3_.",
             ".SH ENVIRONMENT"]
    for row in rows:
        lines += [f".TP\n.B {roff(row['name'])}\n{roff(row['meaning'][0].upper() + row['meaning'][1:])}.",
                  f".RS\n.PP\nValues: {roff(row['range'])}.\n.br\nDefault: {roff(row['default'])}.",
                  f".br\nIdentical on all ranks: {roff(row['identical'])}.\n.br\nRead by: {roff(row['read by'])}.\n.RE"]
    lines.append(".SH SEE ALSO\n.BR gc3\\-run (1)\n.PP\nThe documentation in share/doc/gc3.")
    return "".join(line + "\n" for line in lines)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("check", "update", "man"):
        sys.exit(__doc__)
    kind, path, gc3_run = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    rows = read(gc3_run)
    if kind == "man":
        path.write_text(man(rows, version(gc3_run)), encoding="utf-8")
        return
    now, wanted = replaced(path, markdown(rows, path))
    if kind == "update":
        path.write_text(wanted, encoding="utf-8")
    elif now != wanted:
        sys.exit(f"{path}: the table of settings is not the one of gc3-run; the target settings-reference writes it anew")


main()
