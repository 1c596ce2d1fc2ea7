# SPDX-License-Identifier: Apache-2.0
"""Fails if a diagnostic id of lib/Support/Diagnostics.cpp is missing in the lit tests, in lib/Driver/mistakes or in the
table of docs/diagnostics.md. test/diagnostics_gallery.py checks that each mistake causes its id."""
import pathlib
import re
import sys

# Diagnostics whose id no lit test can show, and where they are tested.
ELSEWHERE = {
    "remark": "printed without its id; test/lit/Sema has remarks",
}

root = pathlib.Path(sys.argv[1])
table = (root / "lib/Support/Diagnostics.cpp").read_text().split("diagNames[] = {")[1].split("};")[0]
ids = re.findall(r'"([a-z0-9-]+)"', table)
tests = "".join(
    path.read_text(errors="replace") for path in sorted((root / "test/lit").rglob("*")) if path.is_file()
)
missing = [name for name in ids if f"[{name}]" not in tests and name not in ELSEWHERE]
explained = {path.stem for path in (root / "lib/Driver/mistakes").iterdir()}
unexplained = [name for name in ids if name not in explained]
page = (root / "docs/diagnostics.md").read_text()
untold = [name for name in ids if not re.search(f"^{name}: ", page, re.M)]
stale = [name for name in ELSEWHERE if name not in ids]
print(f"{len(ids)} ids, {len(missing)} without a lit test: {', '.join(missing) or 'none'}")
if unexplained:
    print(f"not in lib/Driver/mistakes: {', '.join(unexplained)}")
if untold:
    print(f"not in docs/diagnostics.md: {', '.join(untold)}")
if stale:
    print(f"not in the table any more: {', '.join(stale)}")
sys.exit(bool(missing or unexplained or untold or stale))
