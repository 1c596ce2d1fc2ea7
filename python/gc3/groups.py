# SPDX-License-Identifier: Apache-2.0
"""Groups of calls: one thread makes the calls of several ranks."""

from __future__ import annotations

import contextlib
import threading
from typing import Iterator, List

from . import _library
from .arrays import View


class _Pending(threading.local):
    """The open groups of a thread: their number, and the views of their calls."""

    def __init__(self) -> None:
        self.depth = 0
        self.views: List[View] = []


_pending = _Pending()


@contextlib.contextmanager
def group() -> Iterator[None]:
    """Defers the calls of this thread until the end of the outermost ``with`` block, which runs them together.

    So one thread can make the calls of several ranks of a process. Outputs are undefined until the block ends. The end
    raises the error of the first call that fails. If the block raises an exception, the calls before it still run, and
    wait for the calls of the other ranks until the timeout; then the block's exception continues.

    >>> import gc3, array
    >>> bundle = gc3.compile('''
    ... program pair implements allreduce(ranks = 2, chunks = 1) {
    ...     chunk(0, input, 0).copy(0, output, 0).reduce(chunk(1, input, 0)).copy(1, output, 0);
    ... }''')
    >>> data = [array.array("f", [1]), array.array("f", [2])]
    >>> ranks = gc3.Communicator.all_ranks(bundle)
    >>> with gc3.group():
    ...     for rank, values in zip(ranks, data):
    ...         _ = rank.all_reduce(values)
    >>> data
    [array('f', [3.0]), array('f', [3.0])]
    >>> for rank in ranks:
    ...     rank.close()
    """
    library = _library.library()
    library.call("gc3GroupStart")
    _pending.depth += 1
    try:
        yield
    except BaseException:
        _end()
        raise
    else:
        code = _end()
        if code:
            raise library.error(code)


def _end() -> int:
    """Ends the innermost group. Returns the result code of its calls."""
    code = _library.library().result("gc3GroupEnd")
    _pending.depth -= 1
    if _pending.depth == 0:
        _pending.views.clear()
    return code


def keep(*views: View) -> None:
    """Keeps the arrays of a call alive, and their memory in place, until this thread's outermost group ends."""
    if _pending.depth:
        _pending.views.extend(views)
