# SPDX-License-Identifier: Apache-2.0
"""completions.py FOLDER: tests the completions of the tools for bash and zsh. The build has written them to FOLDER.

If zsh is not installed, skips its tests and prints a line that says so."""
import pathlib
import shutil
import subprocess
import sys

# Command lines as words, and some of the words that must complete the last one. Bash splits words at '='.
CASES = {
    "gc3c": [(["gc3c", "--em"], {"--emit="}),
             (["gc3c", "--emit", "=", "b"], {"bundle"}),
             (["gc3c", "--emit", "="], {"ast", "html", "msccl-xml"}),
             (["gc3c", "--time"], {"--time-report"})],
    "gc3-run": [(["gc3-run", "--backend", ""], {"host", "cuda"}), (["gc3-run", "--min"], {"--minbytes"})],
    "gc3-sim": [(["gc3-sim", "--crit"], {"--critical-path"}), (["gc3-sim", "--topo"], {"--topology="})],
    "gc3-synth": [(["gc3-synth", "--list"], {"--list-topologies"}), (["gc3-synth", "--topo"], {"--topology="})],
}
# A command line for each tool, and the word that zsh must make of its last word after a tab. The test types the line
# into zsh in a pseudoterminal.
ZSH_CASES = {"gc3c": ("gc3c --time-rep", "--time-report"), "gc3-run": ("gc3-run --minb", "--minbytes"),
             "gc3-sim": ("gc3-sim --critical", "--critical-path"), "gc3-synth": ("gc3-synth --list-t", "--list-topologies")}


def bash(path, words):
    script = f"""source {path}
COMP_WORDS=({' '.join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
compopt() {{ :; }}
_{words[0].replace('-', '_')}
printf '%s\\n' "${{COMPREPLY[@]}}\""""
    return set(subprocess.run(["bash", "-euc", script], check=True, capture_output=True, text=True).stdout.split())


def zsh(folder, tool, line, wanted):
    functions = folder / "zsh-functions"
    functions.mkdir(exist_ok=True)
    shutil.copy(folder / f"{tool}.zsh", functions / f"_{tool}")
    script = f"""zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=({functions} $fpath); autoload -U compinit; compinit -u -D; print READY'
zpty -r -m shell text '*READY*READY*'
zpty -w -n shell $'{line}\\t\\C-a\\C-k'
zpty -w shell 'print END'
zpty -r -m shell text '*{wanted}*'
print -r -- $text"""
    return subprocess.run(["zsh", "-fc", script], check=True, capture_output=True, text=True, timeout=60).stdout


def main():
    folder = pathlib.Path(sys.argv[1])
    for tool, cases in CASES.items():
        path = folder / f"{tool}.bash"
        if not path.exists():
            print(f"SKIPPED: this build has no {tool}")
            continue
        for words, wanted in cases:
            found = bash(path, words)
            if not wanted <= found or not all(word.startswith(words[-1].lstrip("=")) for word in found):
                sys.exit(f"bash completes {words} with {sorted(found)}, without {sorted(wanted - found)}")
        if not shutil.which("zsh"):
            print("SKIPPED: zsh is not installed")
        elif ZSH_CASES[tool][1] not in zsh(folder, tool, *ZSH_CASES[tool]):
            sys.exit(f"zsh does not complete {ZSH_CASES[tool]}")


main()
