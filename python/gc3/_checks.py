# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments. NumPy's numbers count as numbers."""

from __future__ import annotations

import numbers
import operator
import os
from typing import Any, List

from . import errors


def integer(value: Any, name: str, low: int, high: int) -> int:
    """Returns an int. Raises ArgumentError unless `value` is an integer from `low` to `high`.

    >>> integer(3, "root", 0, 3)
    3
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.ArgumentError(f"{name} is an integer, not {value!r}") from None
    if not low <= number <= high:
        raise errors.ArgumentError(f"{name} is {low} to {high}, not {number}")
    return number


def real(value: Any, name: str, low: float, high: float) -> float:
    """Returns a float. Raises ArgumentError unless `value` is a number from `low` to `high`."""
    if not isinstance(value, numbers.Real):
        raise errors.ArgumentError(f"{name} is a number, not {value!r}")
    number = float(value)
    if not low <= number <= high:
        raise errors.ArgumentError(f"{name} is {low:g} to {high:.0f}, not {number:g}")
    return number


def text(value: Any, name: str) -> str:
    """Returns a str. Raises ArgumentError unless `value` is one that C can read."""
    if not isinstance(value, str) or "\0" in value:
        raise errors.ArgumentError(f"{name} is a str without null characters, not {value!r}")
    return value


def several(value: Any) -> List[Any]:
    """Returns the items of a list or a tuple. Any other value is the only item.

    >>> several("folder"), several(("one", "two"))
    (['folder'], ['one', 'two'])
    """
    return list(value) if isinstance(value, (list, tuple)) else [value]


def path(value: Any, name: str) -> str:
    """Like text, also for an object that stands for a path."""
    return text(os.fspath(value) if isinstance(value, os.PathLike) else value, name)
