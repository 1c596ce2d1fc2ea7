# SPDX-License-Identifier: Apache-2.0
"""plain_words.py [--count] ROOT [FOLDER...]: finds words and phrases that CONTRIBUTING.md, section "Words", forbids.

Checks the tracked text files of ROOT, or only those in the given folders: every line of documents, comments, docstrings
and identifiers of source files, and string literals of include/, lib/, runtime/ and tools/. Prints each hit with its
replacement, and exits with 1 if there is one. --count prints the number of hits by folder instead. Each pattern has one
example that it must find and one that it must not find; the script fails if an example does not hold.
"""
import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

Pattern = collections.namedtuple("Pattern", "regex instead found free")

PHRASES = [Pattern(re.compile(regex), instead, found, free) for regex, instead, found, free in [
    (r"(?<!users )(?<!people )(?<!readers )\b[Ww]ho(ever)?\b",
     "name the actor: caller, application, rank, thread block, kernel, NCCL",
     "Who polls, polls its own memory.", "for users who ask"),
    (r"\b([Nn]obody|[Ss]omebody|[Aa]nybody)\b", "name the actor: no caller, no rank, another thread",
     "Nobody gives it back.", "No rank releases it."),
    (r"\b[Bb]ut for\b(?! (projects|example)\b)", "except",
     "One thread at a time, but for stop().", "but for projects around gc3"),
    (r"(?<![a-zA-Z`])Behind [a-z]|\b(comes?|came|stands?|lies?|put|goes|right|found out|given up) behind\b"
     r"|\b[Bb]ehind (it|that|this|them|an abort|abort\(\)|NCCL's|the (first|last|header|group|end|birth))\b",
     "after; across NVLink", "Behind it.", "one behind NVLink"),
    (r"\b(is|are|was|were|be|been|being) told([.,;:)]| (of|that|once|all|so|at|by|with|as|in|there|too)\b|$)",
     "reports, logs or sends", "What fails is told to the ranks, and is told at once.", "once it is told to stop"),
    (r"\b[Tt]ells? (each other|the others?)\b|\b[Tt]elling (each other|the others?|all)\b", "exchange, send",
     "The ranks tell each other.", "A flag tells them apart."),
    (r"(^|[.:] )Of (?!course\b)[a-z]+", 'put the subject first: "Returns the first of two slots."',
     "Of two slots the first.", "The first of two slots. Often both."),
    (r"\b(calls?|kernels?|groups?|something|error|team) of (NCCL|CUDA|GIN)'s([.,;:)]"
     r"| (is|are|was|has|have|may|ranks|already|open|for|in|did)\b|$)", "an NCCL group, a CUDA call",
     "in a group of NCCL's.", "a table of NCCL's functions"),
    (r"\b(be|are|is|them) alike\b(?<!no two are alike)|\bdo(es)? (all )?alike\b|\balike (on|for) (all|every|both)"
     r"|^Alike\b",
     "identical, the same", "The counts are alike on all ranks.", "no two are alike"),
    (r"\b(in vain|for ever|lest)\b(?! fewer)", "until the timeout, indefinitely, so that ... not",
     "A rank waits in vain.", "for ever fewer rounds"),
    (r"\b(has|have) to stay\b", "must outlive, must stay",
     "The buffer has to stay.", "The buffer must outlive the call."),
    (r"\b([Nn]o|not|[Nn]othing|[Nn]ever|[Nn]one|can't|don't|doesn't|isn't)\b.*\bany ?more\b",
     "no longer; say what holds", "The handle is not valid any more.", "Are there any more of them?"),
    (r"(^|[.;] )(False|True|Not ok|An error): ", '"Returns false if ..."',
     "False: if none is left.", "'false': none is left"),
]]
IDENTIFIERS = [Pattern(re.compile(rf"\b{name}\b"), instead, f"x.{name}();", f"x.{name}s2();") for name, instead in [
    ("isElsewhere", "runsOnOtherThread"), ("takeOn", "attach"), ("tellOf", "report"), ("keepForEver", "leak"),
    ("patienceMs", "timeoutMs"), ("Departures", "PendingReleases"), ("Departing", "Release"),
    ("OwnComm", "BlockingDuplicate"), ("enroll", "registerWindow"),
]]

# Lines in which the words are allowed: path, regular expression for the line, reason.
EXCEPTIONS = [
    ("CONTRIBUTING.md", r"^\|.*\|$", "tables of words not to use and of sentences before and after"),
    ("CONTRIBUTING.md", r'"who", "what", "nobody"|no "Of X, the Y"|not "False: if"', "rules that name the words"),
]
SLASHED = {".h", ".cpp", ".cu", ".cuh", ".g4"}
SUFFIXES = SLASHED | {".py", ".md", ".sh", ".cmake", ".gc3"}
PRODUCT = {"include", "lib", "runtime", "tools"}
FREE = {"generated", "Inputs"}
TOKEN = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"'
                   r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
                   r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def slashed(text, has_strings):
    """Yields comments of C++, CUDA or ANTLR, and string literals if `has_strings`: pairs of line number and text."""
    for match in TOKEN.finditer(text):
        first = text.count("\n", 0, match.start()) + 1
        if match["comment"]:
            for number, line in enumerate(match["comment"].split("\n")):
                yield first + number, re.sub(r"^\s*(//[/!]*<?|/\*+<?|\*(?!/))\s*|\s*\*/$", "", line)
        elif has_strings:
            for number, line in enumerate((match["raw"] or match["text"] or "").split("\n")):
                yield first + number, line


def python(text):
    """Yields comments and docstrings of a Python script: pairs of line number and text."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and token.string.startswith('"""'):
            for number, line in enumerate(token.string.split("\n")):
                yield token.start[0] + number, line.strip().strip('#"').strip()


def hashed(text):
    """Yields comments that begin with #: pairs of line number and text."""
    for number, line in enumerate(text.split("\n")):
        match = re.search(r'(^|\s)#+(\s.*|$)', line)
        if match:
            yield number + 1, match[2].strip()


def words(path, text):
    """Returns the parts of a file that PHRASES apply to: pairs of line number and text."""
    if path.suffix == ".md":
        return enumerate(text.split("\n"), 1)
    if path.suffix in SLASHED:
        return slashed(text, path.parts[0] in PRODUCT)
    return python(text) if path.suffix == ".py" else hashed(text)


def is_exception(path, line):
    """Returns True if EXCEPTIONS allows the words in this line."""
    return any(str(path) == name and re.search(regex, line) for name, regex, _ in EXCEPTIONS)


def hits(path, text):
    """Yields the hits of a file: tuples of line number, text and replacement."""
    lines = text.split("\n")
    texts = [(PHRASES, number, line) for number, line in words(path, text)]
    texts += [(IDENTIFIERS, number, line) for number, line in enumerate(lines, 1) if path.suffix != ".md"]
    for patterns, number, line in texts:
        for pattern in patterns:
            if pattern.regex.search(line) and not is_exception(path, lines[number - 1]):
                yield number, line.strip(), pattern.instead


def files(root, folders):
    """Returns the tracked text files, relative to `root`. Without git, returns all text files. If `folders` is not
    empty, returns only files in these folders.

    Skips test/lit, because its comments contain expected messages."""
    listing = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=False)
    names = [pathlib.Path(name) for name in listing.stdout.splitlines()]
    if not names:
        names = [path.relative_to(root) for path in sorted(root.rglob("*.*")) if path.is_file()]
    return [path for path in names if path.suffix in SUFFIXES or path.name == "CMakeLists.txt"
            if not FREE & set(path.parts) and path.parts[0] != "build" and path != pathlib.Path("test/plain_words.py")
            if path.parts[:2] != ("test", "lit") and (root / path).is_file()
            if not folders or any(path.is_relative_to(folder) for folder in folders)]


def broken():
    """Returns the patterns whose examples do not hold."""
    return [pattern.regex.pattern for pattern in PHRASES + IDENTIFIERS
            if not pattern.regex.search(pattern.found) or pattern.regex.search(pattern.free)]


def main():
    counting = "--count" in sys.argv
    root, *folders = [pathlib.Path(argument) for argument in sys.argv[1:] if argument != "--count"]
    failed = broken()
    for pattern in failed:
        print(f"an example of the pattern '{pattern}' does not hold")
    checked = files(root, folders)
    counts = collections.Counter()
    for path in checked:
        for number, line, instead in hits(path, (root / path).read_text()):
            counts["/".join(path.parts[:2]) if len(path.parts) > 2 else path.parts[0]] += 1
            if not counting:
                print(f"{path}:{number}: {line}\n  write: {instead}")
    if counting:
        for folder, count in sorted(counts.items()):
            print(f"{folder}: {count}")
    print(f"{len(checked)} files, {sum(counts.values())} hits")
    sys.exit(bool(failed or counts) or not checked)


main()
