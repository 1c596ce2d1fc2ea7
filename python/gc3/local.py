# SPDX-License-Identifier: Apache-2.0
"""Runs a bundle on data, with all ranks in this process."""

from __future__ import annotations

import array
import contextlib
import numbers
from typing import Any, List, Optional, Sequence, Union

from . import arrays, errors, groups
from ._config import Config
from .bundle import Bundle, StrPath, open_bundle
from .communicator import Communicator


def run(bundle: Union[Bundle, StrPath], inputs: Sequence[Any], program: Optional[str] = None, op: Any = "sum",
        config: Config = Config()) -> List[Any]:
    """Runs a program with all ranks in this process. Returns one output per rank, in the order of ranks.

    Args:
        bundle: a bundle, or the path of a ``.gc3b`` file.
        inputs: one input per rank: NumPy arrays, PyTorch tensors, or lists of numbers. A list of ints has 64-bit
            elements; any other list is one of 32-bit floats. Inputs are not changed. A rank without an input can have
            None.
        program: the program's name. It can be omitted if the bundle has one program for this number of ranks.
        op: ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"avg"``.

    The outputs are arrays like the inputs: of the same shape if they have as many elements, else vectors. The output
    of a rank without an output is None. Raises ArgumentError if the inputs do not fit to each other.

    >>> import gc3
    >>> bundle = gc3.compile('''
    ... program pair implements allreduce(ranks = 2, chunks = 1) {
    ...     chunk(0, input, 0).copy(0, output, 0).reduce(chunk(1, input, 0)).copy(1, output, 0);
    ... }''')
    >>> gc3.run(bundle, [[1, 2], [10, 20]])
    [[11, 22], [11, 22]]
    """
    opened = open_bundle(bundle)
    index = _index(opened, program, len(inputs))
    given = [_array(values, f"inputs[{rank}]") for rank, values in enumerate(inputs)]
    count = _count(opened, index, given)
    donor = next(values for values in given if values is not None)  # the type of elements on ranks without an input
    with contextlib.ExitStack() as stack:
        ranks = [stack.enter_context(rank) for rank in Communicator.all_ranks(opened, len(inputs), config)]
        with groups.group():
            outputs = [rank.run_program(opened.programs[index].name, donor if values is None else values, op=op,
                                        count=count) for rank, values in zip(ranks, given)]
    has_lists = any(isinstance(values, list) for values in inputs)
    return [output.tolist() if has_lists and output is not None else output for output in outputs]


def _index(bundle: Bundle, program: Optional[str], size: int) -> int:
    """Returns the index of the program for `size` ranks with this name; None means the only one."""
    fitting = {candidate.name: index for index, candidate in enumerate(bundle.programs) if candidate.ranks == size}
    if program in fitting:
        return fitting[program]
    if program is None and len(fitting) == 1:
        return next(iter(fitting.values()))
    known = ", ".join(f"'{candidate.name}' ({candidate.ranks} ranks)" for candidate in bundle.programs)
    if program is None and fitting:
        raise errors.ArgumentError(f"program is missing: the bundle has {known}")
    wanted = "no program" if program is None else f"no program '{program}'"
    raise errors.NoProgramError(f"the bundle has {wanted} for {size} ranks, the number of inputs; it has {known}")


def _count(bundle: Bundle, index: int, inputs: Sequence[Any]) -> int:
    """Returns the number of elements of a block. Raises ArgumentError unless all inputs fit to each other."""
    count, first = None, None
    for rank, values in enumerate(inputs):
        name = f"inputs[{rank}]"
        elements, _ = bundle.elements(index, rank, 1)
        if elements and values is None:
            raise errors.ArgumentError(f"{name} is None, and rank {rank} has an input")
        if not elements:
            continue
        array_view = arrays.view(values, name)
        if count is None or first is None:
            if array_view.elements % elements:
                raise errors.ArgumentError(f"{name} has {array_view.elements} elements ({array_view}), which is not a "
                                           f"multiple of its {elements} blocks")
            first, count = (name, array_view), array_view.elements // elements
        arrays.require_same(first[1], array_view, (first[0], name))
        arrays.require_elements(array_view, count * elements, name, f"{elements} blocks, each as large as those of "
                                f"{first[0]}")
    if count is None:
        raise errors.ArgumentError("no rank of the program has an input")
    return count


def _array(values: Any, name: str) -> Any:
    """Returns an array of a list's numbers; other inputs unchanged. Raises ArgumentError if an element is no number."""
    if not isinstance(values, list):
        return values
    try:
        return array.array("q" if all(isinstance(value, numbers.Integral) for value in values) else "f", values)
    except (TypeError, OverflowError) as reason:
        raise errors.ArgumentError(f"{name} has an element that is no 64-bit integer and no float: {reason}; pass a "
                                   "NumPy array for several dimensions") from None
