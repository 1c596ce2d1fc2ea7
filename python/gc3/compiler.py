# SPDX-License-Identifier: Apache-2.0
"""The compiler: :func:`compile` runs gc3c, and keeps the bundles of earlier compilations."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from . import _cache, _checks, errors
from ._source import Source
from .bundle import Bundle, StrPath

Param = Union[int, bool, str, Sequence[int], Sequence[bool], Sequence[str]]


def compile(path_or_text: StrPath, *, params: Optional[Mapping[str, Param]] = None, programs: Optional[str] = None,
            verify: str = "fast", include: Union[StrPath, Sequence[StrPath]] = (),
            max_threadblocks: Optional[int] = None, fifo_slots: Optional[int] = None) -> Bundle:
    """Compiles the programs of a file or a text.

    Bundles are kept in ``$XDG_CACHE_HOME/gc3``, by default ``~/.cache/gc3``. So gc3c runs again only if the text, an
    imported file, an option or gc3c itself has changed.

    Args:
        path_or_text: a ``.gc3`` file, or the text of a program. A str with a line break or a brace is a text. Its
            imports are searched in the working folder.
        params: values of the program's params, such as ``{"R": 8}``: ints, bools, strs, or lists of these; NumPy's
            numbers and arrays, too.
        programs: compile only this program of the file.
        verify: ``"fast"``, ``"exact"`` or ``"off"``; see ``gc3c --verify``.
        include: also search this folder, or these folders, for imports.
        max_threadblocks: largest number of thread blocks per rank.
        fifo_slots: messages in flight per connection.

    Raises:
        ArgumentError: a param has a value of another type.
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
    return Bundle(_cache.bundle_of(source), source)


def _options(params: Mapping[str, Param], programs: Optional[str], verify: str,
             include: Union[StrPath, Sequence[StrPath]], max_threadblocks: Optional[int],
             fifo_slots: Optional[int]) -> Tuple[str, ...]:
    if verify not in ("fast", "exact", "off"):
        raise errors.ArgumentError(f"verify is 'fast', 'exact' or 'off', not {verify!r}")
    options = [f"--verify={verify}"]
    options += [f"-D{name}={_param_text(value)}" for name, value in params.items()]
    options += [f"-I{os.fspath(folder)}" for folder in _checks.several(include)]
    given = {"program": programs, "max-threadblocks": max_threadblocks, "fifo-slots": fifo_slots}
    options += [f"--{name}={value}" for name, value in given.items() if value is not None]
    return tuple(options)


def _param_text(value: Param) -> str:
    """Returns a param's value as gc3c reads it. A string is its own text, and has quotes only in a list.

    >>> _param_text(True), _param_text("LL"), _param_text(["a", "b"])
    ('true', 'LL', '["a", "b"]')
    """
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Returns a value of Python's own types: an int, a bool, a str or a list of these."""
    own = value.tolist() if hasattr(value, "tolist") else value  # NumPy's numbers and arrays
    if isinstance(own, (list, tuple, range)):
        return [_plain(item) for item in own]
    if not isinstance(own, (int, str)):
        raise errors.ArgumentError(f"a param is an int, a bool, a str or a list of these, not {value!r}")
    return own


def _source(path_or_text: StrPath, options: Tuple[str, ...]) -> Source:
    name = os.fspath(path_or_text)
    if isinstance(path_or_text, str) and ("\n" in name or "{" in name):
        return Source("-", name, os.getcwd(), options)
    is_like_option = name.startswith("-")
    return Source(os.path.join(".", name) if is_like_option else name, None, os.getcwd(), options)
