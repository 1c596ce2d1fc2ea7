# SPDX-License-Identifier: Apache-2.0
"""Runs the Python examples of the documentation: the README's, and those of docs/python.md.

A block with a file name is written to this file. A `pycon` block runs as a doctest; the blocks of a page share their
names. The command of a `console` block of docs/python.md runs in bash.
"""

import doctest
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = ["README.md", "python/README.md", "docs/python.md"]


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch):
    if page == "docs/python.md":
        pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    names, examples = {}, 0
    for language, words, block in FENCE.findall((ROOT / page).read_text()):
        file = words.strip()
        if language in ("gc3", "python") and file:
            (tmp_path / file).write_text(block)
        elif language == "pycon":
            examples += run_doctest(block, names, page)
        elif language == "console" and page == "docs/python.md":
            examples += run_console(block, tmp_path)
    assert examples


def run_doctest(block, names, page):
    """Runs a block with the names of earlier blocks. Returns the number of its examples."""
    test = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
    result = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, f"an example of {page} has another output: see above"
    return result.attempted


def run_console(block, folder):
    """Runs a block's command. Returns 1."""
    command, expected = block[len("$ "):].split("\n", 1)
    python = folder / "bin" / "python3"
    python.parent.mkdir(exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    path = f"{python.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", command], env={**os.environ, "PATH": path}, cwd=folder, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.stdout == expected
    return 1
