# SPDX-License-Identifier: Apache-2.0
"""The command-line tools of gc3: finds and runs gc3c, gc3-sim, gc3-synth and gc3-tune."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Optional, Sequence

from . import _library, errors


def find(name: str) -> str:
    """Returns the path of a tool.

    Looks into the package, then on PATH, into the installation of the package, and into the build folders of a
    checkout. Raises ToolError if there is none.
    """
    inside = pathlib.Path(__file__).resolve().parent / "bin"
    built = [folder / "tools" / name for folder in _library.build_folders()]
    for folders in (str(inside), os.environ.get("PATH", os.defpath), str(_library.prefix() / "bin"), *map(str, built)):
        found = shutil.which(name, path=folders)
        if found:
            return found
    raise errors.ToolError(f"cannot find '{name}'; install the package 'gc3', or add the folder of '{name}' to PATH")


def run(name: str, arguments: Sequence[str], text: Optional[str] = None,
        folder: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
    """Runs a tool with `text` as its standard input, and returns its exit status and output."""
    return subprocess.run([find(name), *arguments], input=text if text is not None else "", cwd=folder, text=True,
                          encoding="utf-8", errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)


def output(name: str, arguments: Sequence[str], text: Optional[str] = None, folder: Optional[str] = None) -> str:
    """Runs a tool and returns its standard output. Raises ToolError with the tool's own text if it fails."""
    done = run(name, arguments, text, folder)
    if done.returncode != 0:
        raise errors.ToolError(done.stderr.strip() or f"'{name}' ended with status {done.returncode}")
    return done.stdout


def identity(name: str) -> str:
    """Returns a text that changes whenever the tool is replaced: its path, size and time of change."""
    path = find(name)
    status = os.stat(path)
    return f"{os.path.realpath(path)} {status.st_size} {status.st_mtime_ns}"
