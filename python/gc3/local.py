# SPDX-License-Identifier: Apache-2.0
"""Runs a bundle on data, with all ranks in this process."""

from __future__ import annotations

import array
import contextlib
from typing import Any, List, Optional, Sequence, Union

from . import errors, groups
from ._config import Config
from .bundle import Bundle, StrPath, open_bundle
from .communicator import Communicator


def run(bundle: Union[Bundle, StrPath], inputs: Sequence[Any], program: Optional[str] = None, op: Any = "sum",
        config: Config = Config()) -> List[Any]:
    """Runs a program with all ranks in this process. Returns one output per rank, in the order of ranks.

    Args:
        bundle: a bundle, or the path of a ``.gc3b`` file.
        inputs: one input per rank: NumPy arrays, PyTorch tensors, or lists of numbers. A list of ints has 64-bit
            elements; any other list is one of 32-bit floats. Inputs are not changed.
        program: the program's name. It can be omitted if the bundle has one program for this number of ranks.
        op: ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"avg"``.

    The outputs are arrays like the inputs: of the same shape if they have as many elements, else vectors. The output
    of a rank without an output is None.

    >>> import gc3
    >>> bundle = gc3.compile('''
    ... program pair implements allreduce(ranks = 2, chunks = 1) {
    ...     chunk(0, input, 0).copy(0, output, 0).reduce(chunk(1, input, 0)).copy(1, output, 0);
    ... }''')
    >>> gc3.run(bundle, [[1, 2], [10, 20]])
    [[11, 22], [11, 22]]
    """
    opened = open_bundle(bundle)
    name = program if program is not None else _only_program(opened, len(inputs))
    given = [_array(values) for values in inputs]
    with contextlib.ExitStack() as stack:
        ranks = Communicator.all_ranks(opened, len(inputs), config)
        for rank in ranks:
            stack.enter_context(rank)
        with groups.group():
            outputs = [rank.run_program(name, values, op=op) for rank, values in zip(ranks, given)]
    return [output.tolist() if isinstance(values, list) and output is not None else output
            for values, output in zip(inputs, outputs)]


def _only_program(bundle: Bundle, size: int) -> str:
    names = [program.name for program in bundle.programs if program.ranks == size]
    if len(names) == 1:
        return names[0]
    if names:
        raise errors.ArgumentError(f"the bundle has several programs for {size} ranks: pass program, one of "
                                   f"{', '.join(names)}")
    sizes = sorted({program.ranks for program in bundle.programs})
    raise errors.ArgumentError(f"inputs has {size} arrays, one for each rank, and the bundle's programs are for "
                               f"{', '.join(map(str, sizes))} ranks")


def _array(values: Any) -> Any:
    """Returns an array of a list's numbers; other inputs unchanged."""
    if not isinstance(values, list):
        return values
    return array.array("q" if all(isinstance(value, int) for value in values) else "f", values)
