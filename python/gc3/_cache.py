# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled bundles.

It has two kinds of files, which appear by an atomic rename, so that processes can share the folder. ``DIGEST.json``
names the bundle of a source, and lists the files that the source imports, with hashes of their contents. ``HASH.gc3b``
is a bundle; HASH is that of its contents. The folder can be removed while no process compiles. If a new file comes
before an imported file in the search for imports, the old bundle remains valid.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from typing import Dict, List, Optional, Sequence

from ._source import Source, prerequisites


def folder() -> str:
    """Returns the folder: ``$XDG_CACHE_HOME/gc3``, by default ``~/.cache/gc3``.

    Creates it. If it cannot be written, returns a temporary folder of this process.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return _writable(os.path.join(base, "gc3"))


_private: List["tempfile.TemporaryDirectory[str]"] = []  # the folder of this process


def _writable(path: str) -> str:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError:
        pass
    if os.access(path, os.W_OK | os.X_OK):
        return path
    if not _private:
        _private.append(tempfile.TemporaryDirectory(prefix="gc3-"))
    return _private[0].name


def bundle_of(source: Source) -> str:
    """Returns the path of the source's bundle. Compiles the source if the folder has no bundle of it."""
    where = folder()
    manifest = os.path.join(where, f"{source.digest()}.json")
    return _find(manifest, source.folder, where) or _compile(source, manifest, where)


def add(bundle: str) -> str:
    """Moves a bundle from a subfolder of the folder to its place in the folder, and returns its path."""
    place = os.path.join(os.path.dirname(os.path.dirname(bundle)), f"{_hash(bundle)}.gc3b")
    os.replace(bundle, place)
    return place


def _find(manifest: str, base: str, where: str) -> Optional[str]:
    """Returns the bundle that a manifest names; None if there is none or an imported file has other contents."""
    try:
        with open(manifest, encoding="utf-8") as file:
            known = json.load(file)
        bundle = os.path.join(where, known["bundle"])
        if os.path.exists(bundle) and _hashes(base, list(known["files"])) == known["files"]:
            return bundle
    except (OSError, ValueError, KeyError, TypeError):
        pass  # a missing or damaged manifest is written again
    return None


def _compile(source: Source, manifest: str, where: str) -> str:
    """Compiles the source into the folder, and returns the path of the bundle."""
    with tempfile.TemporaryDirectory(prefix="compile-", dir=where) as work:
        begin = time.time()
        compiled, rule, listed = (os.path.join(work, name) for name in ("out.gc3b", "out.d", "manifest"))
        source.run(["-o", compiled, "-MD", "-MF", rule])
        with open(rule, encoding="utf-8", errors="surrogateescape") as file:
            files = [name for name in prerequisites(file.read()) if name != "-"]
        hashes = _hashes(source.folder, files)
        bundle = add(compiled)
        # A file that has changed since then can have other contents than gc3c has read.
        if all(os.stat(os.path.join(source.folder, name)).st_mtime < begin for name in files):
            with open(listed, "w", encoding="utf-8") as file:
                json.dump({"bundle": os.path.basename(bundle), "files": hashes}, file)
            os.replace(listed, manifest)
    return bundle


def _hash(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _hashes(base: str, files: Sequence[str]) -> Dict[str, str]:
    """Returns the hashes of files by name. Relative names start at `base`."""
    return {name: _hash(os.path.join(base, name)) for name in files}
