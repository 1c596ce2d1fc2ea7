# SPDX-License-Identifier: Apache-2.0
"""Writes the options of the tools, taken from their --help, as documentation.

command_line.py markdown OUT TOOL...  writes docs/command-line.md
command_line.py man OUT TOOL          writes a manual page

The tools print --help from the tables that they use for parsing. A line of unknown form is an error.
"""
import contextlib
import dataclasses
import pathlib
import re
import subprocess
import sys


@dataclasses.dataclass
class Option:
    names: str
    value: str
    help: str
    choices: list  # of (name, help)


@dataclasses.dataclass
class Group:
    title: str
    options: list


@dataclasses.dataclass
class Tool:
    name: str
    version: str
    usage: str
    about: list  # paragraphs; the first sentence is the summary
    groups: list


def fail(line):
    sys.exit(f"command_line.py: --help has a line of a new kind: '{line}'")


def paragraphs(lines):
    return [" ".join(block.split("\n")) for block in re.split(r"\n\s*\n", "\n".join(lines).strip())]


def spelling(name, value):
    """Returns -MF <file> and -o <file>, which compilers use and gc3c accepts, for LLVM's --MF=<file> and -o=<file>."""
    bare = name.lstrip("-")
    return (f"-{bare}", value.replace("=", " ", 1)) if len(bare) == 1 or bare.isupper() else (name, value)


def read_gc3c(name, version, lines):
    """Parses LLVM's layout: OVERVIEW, USAGE, then titled groups of '  --name=<value>  - help' and '    =choice  -   help'."""
    start, options = lines.index(next(line for line in lines if line.startswith("USAGE: "))), lines.index("OPTIONS:")
    about = [line.removeprefix("OVERVIEW: ").removeprefix(f"{name}: ") for line in lines[:start]]
    groups = []
    for line in filter(None, lines[options + 1:]):
        if match := re.fullmatch(r"(\S.*):", line):
            groups.append(Group(match[1], []))
        elif match := re.fullmatch(r"  (--?[^ =]+)(=<.*>)? +- (.*)", line):
            groups[-1].options.append(Option(*spelling(match[1], match[2] or ""), match[3], []))
        elif match := re.fullmatch(r"    =(\S+) +- +(.*)", line):
            groups[-1].options[-1].choices.append((match[1], match[2]))
        else:
            fail(line)
    groups.sort(key=lambda group: group.title == "Generic Options")  # last
    return Tool(name, version, lines[start].removeprefix("USAGE: "), paragraphs(about), groups)


def read_gc3_run(name, version, lines):
    """Parses gc3-run's layout: usage, text, then columns of names, value and help."""
    start = lines.index("options:")
    options = []
    for line in lines[start + 1:]:
        if line[:2] != "  " or line[26] != " " or line[45] != " ":
            fail(line)
        value = line[27:45].strip()
        options.append(Option(line[2:26].strip(), " " + value if value else "", line[46:], []))
    return Tool(name, version, lines[0].removeprefix("usage: "), paragraphs(lines[1:start]), [Group("Options", options)])


def read(path):
    def output(option):
        return subprocess.run([path, option], check=True, text=True, stdout=subprocess.PIPE).stdout

    name, lines = pathlib.Path(path).name, output("--help").splitlines()
    reader = read_gc3c if "OPTIONS:" in lines else read_gc3_run
    return reader(name, output("--version").split()[1], lines)


def sentence(text):
    return text if text.endswith((".", ":")) else text + "."


def print_markdown(tools):
    print("# Command lines\n\nMade by `scripts/command_line.py` from what the tools print with `--help`; "
          "the target `command-line-reference` writes it anew.\n[diagnostics.md](diagnostics.md) has the form of "
          "errors, [build-systems.md](build-systems.md) how builds use `gc3c`.")

    def cell(text):
        return text.replace("|", "\\|").replace("<", "&lt;")

    for tool in tools:
        print(f"\n## {tool.name}\n\n`{tool.usage}`")
        for paragraph in tool.about:
            print(f"\n{sentence(paragraph[0].upper() + paragraph[1:])}")
        for group in tool.groups:
            print(f"\n### {tool.name}: {group.title.lower()}\n\n| | |\n| --- | --- |")
            for option in group.options:
                names = (option.names + option.value).replace("|", "\\|")
                choices = "".join(f"<br>`{name}`: {cell(text)}" for name, text in option.choices)
                print(f"| `{names}` | {cell(option.help)}{choices} |")


def print_man(tool):
    def roff(text):
        text = text.replace("\\", "\\e").replace("-", "\\-")
        return "\\&" + text if text.startswith((".", "'")) else text

    summary, _, rest = tool.about[0].partition(". ")
    print(f'.TH {tool.name.upper()} 1 "" "gc3 {tool.version}" "gc3"')
    print(f".SH NAME\n{roff(tool.name)} \\- {roff(summary[0].lower() + summary[1:].rstrip('.'))}")
    print(f".SH SYNOPSIS\n.B {roff(tool.usage)}")
    about = [text for text in [rest, *tool.about[1:]] if text]
    if about:
        print(".SH DESCRIPTION\n" + "\n.PP\n".join(map(roff, about)))
    for group in tool.groups:
        print(f".SH {group.title.upper()}")
        for option in group.options:
            print(f".TP\n.B {roff(option.names + option.value)}\n{roff(option.help)}")
            if option.choices:
                print(".RS")
            for name, text in option.choices:
                print(f".TP\n.B {roff(name)}\n{roff(text)}")
            if option.choices:
                print(".RE")
    if tool.name == "gc3-run":
        print(".SH ENVIRONMENT\nWith \\-\\-settings the tool prints all variables; gc3\\-environment(7) describes them.")
    print(".SH SEE ALSO\nThe documentation in share/doc/gc3.")


if len(sys.argv) < 4 or sys.argv[1] not in ("markdown", "man"):
    sys.exit(__doc__)
kind, target, *paths = sys.argv[1:]
tools = [read(path) for path in paths]
with open(target, "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
    if kind == "markdown":
        print_markdown(tools)
    else:
        print_man(*tools)
