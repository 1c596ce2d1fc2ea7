# SPDX-License-Identifier: Apache-2.0
"""The compiler: :func:`compile` runs gc3c, and keeps bundles in a cache folder.

The cache has two kinds of files, which appear by an atomic rename. ``DIGEST.json`` lists the files that a source
imports, with hashes of their contents. ``DIGEST.gc3b`` is a bundle; its digest covers these contents, too. So processes
can share the folder, and the folder can be removed at any time when no process compiles.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from typing import Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import errors
from ._source import Source, prerequisites
from .bundle import Bundle, StrPath

Param = Union[int, bool, str]


def cache_folder() -> str:
    """Returns the folder of compiled bundles: ``$XDG_CACHE_HOME/gc3``, by default ``~/.cache/gc3``."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "gc3")


def compile(path_or_text: StrPath, *, params: Optional[Mapping[str, Param]] = None, programs: Optional[str] = None,
            verify: str = "fast", include: Sequence[StrPath] = (), max_threadblocks: Optional[int] = None,
            fifo_slots: Optional[int] = None) -> Bundle:
    """Compiles a program, or returns the bundle of an earlier compilation of the same text with the same options.

    Args:
        path_or_text: a ``.gc3`` file, or the text of a program. A str with a line break or a brace is a text. Its
            imports are searched in the working folder.
        params: values of the program's params, such as ``{"R": 8}``.
        programs: compile only this program of the file.
        verify: ``"fast"``, ``"exact"`` or ``"off"``; see ``gc3c --verify``.
        include: also search these folders for imports.
        max_threadblocks: largest number of thread blocks per rank.
        fifo_slots: messages in flight per connection.

    Raises:
        CompileError: the program has errors. Its text is that of gc3c, with source lines and carets.
        ToolError: gc3c is missing, or rejects an option.

    >>> bundle = compile('''
    ... program pair implements allreduce(ranks = 2, chunks = 1) {
    ...     chunk(0, input, 0).copy(0, output, 0).reduce(chunk(1, input, 0)).copy(1, output, 0);
    ... }''')
    >>> bundle.programs[0].name, bundle.programs[0].ranks
    ('pair', 2)
    """
    options = _options(params or {}, programs, verify, include, max_threadblocks, fifo_slots)
    source = _source(path_or_text, options)
    return Bundle(_cached(source, _writable(cache_folder())), source)


def _options(params: Mapping[str, Param], programs: Optional[str], verify: str, include: Sequence[StrPath],
             max_threadblocks: Optional[int], fifo_slots: Optional[int]) -> Tuple[str, ...]:
    if verify not in ("fast", "exact", "off"):
        raise errors.ArgumentError(f"verify is 'fast', 'exact' or 'off', not {verify!r}")
    options = [f"--verify={verify}"]
    options += [f"-D{name}={_param_text(value)}" for name, value in params.items()]
    options += [f"-I{os.fspath(folder)}" for folder in include]
    given = {"program": programs, "max-threadblocks": max_threadblocks, "fifo-slots": fifo_slots}
    options += [f"--{name}={value}" for name, value in given.items() if value is not None]
    return tuple(options)


def _param_text(value: Param) -> str:
    """Returns a param's value as gc3c reads it.

    >>> _param_text(True), _param_text(8)
    ('true', '8')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def _source(path_or_text: StrPath, options: Tuple[str, ...]) -> Source:
    name = os.fspath(path_or_text)
    if isinstance(path_or_text, str) and ("\n" in name or "{" in name):
        return Source("-", name, os.getcwd(), options)
    return Source(name, None, os.getcwd(), options)


def _cached(source: Source, folder: str) -> str:
    """Returns the path of the source's bundle in the cache folder. Compiles the source if it is not there."""
    digest = source.digest()
    manifest = os.path.join(folder, f"{digest}.json")
    bundle = _find(manifest, source.folder, folder)
    return bundle if bundle else _add(source, digest, manifest, folder)


def _find(manifest: str, base: str, folder: str) -> Optional[str]:
    """Returns the bundle that a manifest names; None if there is none or an imported file has other contents."""
    try:
        with open(manifest, encoding="utf-8") as file:
            known = json.load(file)
        bundle = os.path.join(folder, known["bundle"])
        if os.path.exists(bundle) and _hashes(base, list(known["files"])) == known["files"]:
            return bundle
    except (OSError, ValueError, KeyError, TypeError):
        pass  # a missing or damaged manifest is written again
    return None


def _hashes(base: str, files: Sequence[str]) -> Dict[str, str]:
    """Returns the hashes of files by name. Relative names start at `base`."""
    hashes = {}
    for name in files:
        with open(os.path.join(base, name), "rb") as file:
            hashes[name] = hashlib.sha256(file.read()).hexdigest()
    return hashes


def _add(source: Source, digest: str, manifest: str, folder: str) -> str:
    """Compiles the source into the cache folder, and returns the path of the bundle."""
    with tempfile.TemporaryDirectory(prefix="compile-", dir=folder) as work:
        compiled = os.path.join(work, "out.gc3b")
        rule = os.path.join(work, "out.d")
        source.run(["-o", compiled, "-MD", "-MF", rule])
        with open(rule, encoding="utf-8", errors="surrogateescape") as file:
            files = _hashes(source.folder, [name for name in prerequisites(file.read()) if name != "-"])
        name = hashlib.sha256(json.dumps([digest, files]).encode()).hexdigest() + ".gc3b"
        listed = os.path.join(work, "manifest")
        with open(listed, "w", encoding="utf-8") as file:
            json.dump({"bundle": name, "files": files}, file)
        os.replace(compiled, os.path.join(folder, name))
        os.replace(listed, manifest)
    return os.path.join(folder, name)


_private: List["tempfile.TemporaryDirectory[str]"] = []  # the cache of this process if the user's is not writable


def _writable(folder: str) -> str:
    """Returns `folder`, which exists afterwards; or a folder of this process if it cannot be written."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        pass
    if os.access(folder, os.W_OK | os.X_OK):
        return folder
    if not _private:
        _private.append(tempfile.TemporaryDirectory(prefix="gc3-"))
    return _private[0].name
