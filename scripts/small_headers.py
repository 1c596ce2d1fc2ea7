# SPDX-License-Identifier: Apache-2.0
"""small_headers.py [ROOT]: lists headers of fewer than 50 lines that have exactly one user.

A user is a file that includes the header, except the source of the same name, which defines its functions. Prints the
number of lines, the header, the source of the same name if there is one, and the user. A header without such a source
can be moved into its user.
"""
import os
import pathlib
import re
import sys

FOLDERS = ["include", "lib", "runtime", "tools", "test", "bench"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SUFFIXES = (".h", ".cuh", ".cpp", ".cu", ".c")


def main(root):
    paths = [path.relative_to(root).as_posix() for folder in FOLDERS for path in sorted(pathlib.Path(root, folder).rglob("*"))
             if path.suffix in SUFFIXES and "generated" not in path.parts]
    texts = {path: pathlib.Path(root, path).read_text(encoding="utf-8") for path in paths}
    users = {path: set() for path in paths}
    for path, text in texts.items():
        for name in INCLUDE.findall(text):
            near = os.path.normpath(os.path.join(os.path.dirname(path), name))
            known = [near] if near in users else [other for other in paths if other.endswith("/" + name)]
            for included in known:
                users[included].add(path)
    small = alone = headers = 0
    for path in paths:
        if not path.endswith((".h", ".cuh")) or path.split("/")[0] not in ("include", "lib", "runtime"):
            continue
        headers += 1
        lines = texts[path].count("\n")
        if lines >= 50:
            continue
        small += 1
        stem = os.path.splitext(os.path.basename(path))[0]
        own = [user for user in users[path] if os.path.splitext(os.path.basename(user))[0] == stem]
        others = users[path] - set(own)
        if len(others) == 1:
            alone += not own
            print(f"{lines:3} {path} source: {own[0] if own else '-'} user: {others.pop()}")
    print(f"{headers} headers, {small} under 50 lines, {alone} of these with one user and no source")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
