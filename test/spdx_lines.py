# SPDX-License-Identifier: Apache-2.0
"""spdx_lines.py ROOT: fails if a source file does not begin with its licence, as CONTRIBUTING.md requires."""
import pathlib
import re
import sys

SUFFIXES = {".c", ".cpp", ".fbs", ".g4", ".h", ".py", ".sh", ".toml"}
FREE = {"generated", "Inputs"}
FIRST = re.compile(r"(#!.*\n)?(//|#|/\*) SPDX-License-Identifier: Apache-2\.0\b")

root = pathlib.Path(sys.argv[1])
folders = [path for path in sorted(root.iterdir()) if path.is_dir() and path.name != "build"]
files = [path for folder in folders for path in sorted(folder.rglob("*.*"))
         if path.suffix in SUFFIXES and path.is_file() and not FREE & set(path.relative_to(root).parts)]
wrong = [path.relative_to(root) for path in files if not FIRST.match(path.read_text())]
for path in wrong:
    print(f"{path} does not begin with 'SPDX-License-Identifier: Apache-2.0' in a comment")
print(f"{len(files)} files, {len(wrong)} wrong")
sys.exit(bool(wrong) or not files)
