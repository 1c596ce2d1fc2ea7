# SPDX-License-Identifier: Apache-2.0
"""Writes documentation of the tools' options, from the output of --help.

command_line.py markdown OUT TOOL...  writes docs/command-line.md
command_line.py man OUT TOOL          writes a manual page
command_line.py bash OUT TOOL         writes a completion for bash
command_line.py zsh OUT TOOL          writes a completion for zsh

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
    choices: list  # pairs (name, help)


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


# The parts of manual pages that --help does not have.
ENVIRONMENT = {
    "gc3c": "NO_COLOR: if it is set and not empty, errors have no colors, unless --color=always is given.",
    "gc3-run": "With --settings the tool prints all variables; gc3-environment(7) describes them.",
    "gc3-sim": "gc3-sim reads no variables.",
    "gc3-synth": "gc3-synth reads no variables.",
    "gc3-tune": "gc3-tune reads no variables, unless it measures: then it reads those of gc3-run.",
}
EXAMPLES = {
    "gc3c": [("gc3c ring.gc3 -DR=8 -o ring.gc3b", "Compiles a program for 8 ranks."),
             ("gc3c ring.gc3 --emit=gc3-ir", "Prints the schedule of each rank."),
             ("gc3c algorithm.xml --import-msccl --verify=exact -o algorithm.gc3b", "Compiles and verifies MSCCL XML."),
             ("gc3c --explain=stale-reference", "Explains the id of an error with an example and the remedy.")],
    "gc3-run": [("gc3-run ring.gc3b -b 1K -e 64M", "Runs sizes from 1 KiB to 64 MiB on the host."),
                ("gc3-run ring.gc3b -d all -o all -n 0", "Checks all datatypes and operations without timing."),
                ("gc3-run ring.gc3b --processes 8", "Runs the ranks in 8 processes."),
                ("gc3-run ring.gc3b --backend cuda --json -", "Runs on the current GPU and prints JSON.")],
    "gc3-sim": [("gc3-sim ring.gc3b --topology=dgx-h100 -b 1K -e 1G", "Predicts times on 8 H100."),
                ("gc3-sim ring.gc3 -DR=16 --topology='2*dgx-a100' -b 1M -e 1M --critical-path",
                 "Shows where the time of a call on two machines goes.")],
    "gc3-synth": [("gc3-synth --topology=dgx1 --collective=allgather --steps=2 --rounds=3 --chunks=2 -o found.gc3",
                   "Looks for a program of 2 steps."),
                  ("gc3-synth --topology=torus:8x8x8 --collective=alltoall -o torus.gc3",
                   "Looks for a program of few rounds on 512 ranks.")],
    "gc3-tune": [("gc3-tune allreduce.gc3 --topology=dgx-h100 -o allreduce.gc3b", "Makes a bundle for 8 H100."),
                 ("gc3-tune *.gc3 -DR=4 --measure=host -e 1MiB -o fast.gc3b --json=times.json",
                  "Measures several programs on this machine.")],
}


def fail(line):
    sys.exit(f"command_line.py: --help has a line of a new kind: '{line}'")


def paragraphs(lines):
    return [" ".join(block.split("\n")) for block in re.split(r"\n\s*\n", "\n".join(lines).strip())]


def spelling(name, value):
    """Returns an option as compilers spell it, such as -MF <file> for LLVM's --MF=<file>. gc3c accepts both
    spellings."""
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
    groups.sort(key=lambda group: group.title == "Generic Options")  # puts this group last
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
    print("# Command lines\n\nThis page lists all options of the tools. `scripts/command_line.py` makes it from the output "
          "of `--help`; the build target `command-line-reference` updates it.\n[Diagnostics](diagnostics.md) describes the "
          "forms of errors. [Build systems](build-systems.md) shows how builds use `gc3c`.")

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

    status = next(text for text in tool.about if text.startswith("Exit status: "))
    about = [text for text in tool.about if text != status]
    summary, _, rest = about[0].partition(". ")
    print(f'.TH {tool.name.upper()} 1 "" "gc3 {tool.version}" "gc3"')
    print(f".SH NAME\n{roff(tool.name)} \\- {roff(summary[0].lower() + summary[1:].rstrip('.'))}")
    print(f".SH SYNOPSIS\n.B {roff(tool.usage)}")
    about = [text for text in [rest, *about[1:]] if text]
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
    print(f".SH EXIT STATUS\n{roff(status.removeprefix('Exit status: '))}")
    print(f".SH ENVIRONMENT\n{roff(ENVIRONMENT[tool.name])}")
    print(".SH EXAMPLES")
    for command, what in EXAMPLES[tool.name]:
        print(f".TP\n.B {roff(command)}\n{roff(what)}")
    print(".SH SEE ALSO\nThe documentation in share/doc/gc3.")


def spellings(option):
    return option.names.split(", ")


def choices(option):
    """Returns the names of the values; empty if they are not known."""
    value = option.value.strip(" =<>")
    return [name for name, _ in option.choices] or (value.split("|") if "|" in value else [])


def is_file(option):
    return option.value.strip(" =<>").lower() in ("file", "dir")


def print_bash(tool):
    options = [option for group in tool.groups for option in group.options]
    function = "_" + tool.name.replace("-", "_")
    print(f"# Completion of {tool.name} {tool.version} for bash, made by scripts/command_line.py.")
    print(f"{function}() {{\n"
          '  local word="${COMP_WORDS[COMP_CWORD]}" option="${COMP_WORDS[COMP_CWORD - 1]}"\n'
          "  if [[ $word == = ]]; then\n    word=\n"
          '  elif [[ $option == = ]]; then\n    option="${COMP_WORDS[COMP_CWORD - 2]}"\n  fi\n'
          "  case $option in")
    for option in options:
        if choices(option):
            print(f"    {'|'.join(spellings(option))}) COMPREPLY=($(compgen -W '{' '.join(choices(option))}' -- \"$word\")); return ;;")
    words = [name + ("=" if option.value.startswith("=") else "") for option in options for name in spellings(option)]
    print("  esac\n  if [[ $word == -* ]]; then\n"
          f"    COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$word\"))\n"
          "    [[ ${COMPREPLY-} != *= ]] || compopt -o nospace\n"
          '  else\n    COMPREPLY=($(compgen -f -- "$word"))\n  fi\n}\n'
          f"complete -o filenames -F {function} {tool.name}")


def print_zsh(tool):
    def quoted(text):
        for character in "\\[]:":
            text = text.replace(character, "\\" + character)
        return text.replace("'", "'\\''")

    print(f"#compdef {tool.name}\n# Completion of {tool.name} {tool.version} for zsh, made by scripts/command_line.py.\n_arguments \\")
    for option in (option for group in tool.groups for option in group.options):
        names, value = spellings(option), option.value.strip(" =<>")
        action = f"({' '.join(choices(option))})" if choices(option) else "_files" if is_file(option) else " "
        for name in names:
            others = f"({' '.join(names)})" if len(names) > 1 else ""
            separator = "=" if option.value.startswith("=") else ""
            argument = f":{quoted(value)}:{action}" if value else ""
            print(f"  '{others}{name}{separator}[{quoted(option.help.rstrip(':'))}]{argument}' \\")
    print("  '*:file:_files'")


PRINTERS = {"man": print_man, "bash": print_bash, "zsh": print_zsh}
if len(sys.argv) < 4 or sys.argv[1] not in ("markdown", *PRINTERS):
    sys.exit(__doc__)
kind, target, *paths = sys.argv[1:]
tools = [read(path) for path in paths]
with open(target, "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
    if kind == "markdown":
        print_markdown(tools)
    else:
        PRINTERS[kind](*tools)
