# SPDX-License-Identifier: Apache-2.0
"""Fails if a diagnostic id of lib/Support/Diagnostics.cpp is missing in the lit tests or in the table of
docs/diagnostics.md."""
import pathlib
import re
import sys

# Diagnostics that no .gc3 text can cause, and the place of their tests.
ELSEWHERE = {
    "remark": "printed without its id; test/lit/Sema has remarks",
    "too-large": "needs 4 GiB of source",
}

root = pathlib.Path(sys.argv[1])
table = (root / "lib/Support/Diagnostics.cpp").read_text().split("diagNames[] = {")[1].split("};")[0]
ids = re.findall(r'"([a-z0-9-]+)"', table)
tests = "".join(
    path.read_text(errors="replace") for path in sorted((root / "test/lit").rglob("*")) if path.is_file()
)
missing = [name for name in ids if f"[{name}]" not in tests and name not in ELSEWHERE]
page = (root / "docs/diagnostics.md").read_text()
untold = [name for name in ids if not re.search(f"^{name}: ", page, re.M)]
stale = [name for name in ELSEWHERE if name not in ids]
print(f"{len(ids)} ids, {len(missing)} without a lit test: {', '.join(missing) or 'none'}")
if untold:
    print(f"not in docs/diagnostics.md: {', '.join(untold)}")
if stale:
    print(f"not in the table any more: {', '.join(stale)}")
sys.exit(bool(missing or untold or stale))
