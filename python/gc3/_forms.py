# SPDX-License-Identifier: Apache-2.0
"""Collectives with arguments, as calls and bundles write them: ``shift(n = 4, by = 1)``."""

from __future__ import annotations

from typing import List, Tuple


def parse(text: str) -> Tuple[str, List[Tuple[str, str]]]:
    """Returns the name, and the arguments as pairs of name and value. The name of an argument by position is empty.

    >>> parse("shift(4, by = 1)")
    ('shift', [('', '4'), ('by', '1')])
    >>> parse("route(to = [1, 0])")
    ('route', [('to', '[1,0]')])
    """
    name, _, rest = "".join(text.split()).partition("(")
    arguments = []
    for argument in _split(rest[:-1] if rest.endswith(")") else rest):
        left, equals, right = argument.partition("=")
        arguments.append((left, right) if equals else ("", argument))
    return name, arguments


def _split(text: str) -> List[str]:
    """Splits at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def matches(call: str, form: str) -> bool:
    """Returns whether a call's collective names the collective of a program, whose form has all arguments.

    >>> matches("shift(by = 1)", "shift(n = 4, by = 1)"), matches("shift(2)", "shift(n = 4, by = 1)")
    (True, False)
    """
    name, wanted = parse(call)
    known, arguments = parse(form)
    if name != known or len(wanted) > len(arguments):
        return False
    return all(dict(arguments).get(key) == value if key else arguments[index][1] == value
               for index, (key, value) in enumerate(wanted))
