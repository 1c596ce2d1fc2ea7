# SPDX-License-Identifier: Apache-2.0
"""The standard bundle of a process group: programs of the library ``std/`` for the collectives of PyTorch."""

from __future__ import annotations

import os
from typing import List, NamedTuple, Sequence

from .. import _cache
from .._source import Source
from ..bundle import Bundle

_MOST_ROOTS = 8  # in larger groups, only rank 0 is the root of a program


class Wiring(NamedTuple):
    """A group of ranks on equal nodes: rank ``n * gpus + g`` is on node n."""

    nodes: int
    gpus: int


def wiring(ranks: Sequence[int], per_node: int) -> Wiring:
    """Returns the nodes of a group, whose ranks in the job are `ranks`, on nodes of `per_node` ranks.

    Returns one node if the group does not have equally many ranks on each node, one node after the other.

    >>> wiring([0, 1, 2, 3], per_node=2), wiring([0, 2, 4], per_node=2), wiring([0, 2, 1, 3], per_node=2)
    (Wiring(nodes=2, gpus=2), Wiring(nodes=3, gpus=1), Wiring(nodes=1, gpus=4))
    """
    nodes = [rank // per_node for rank in ranks]
    count = len(set(nodes))
    gpus = len(ranks) // count
    is_regular = len(ranks) % count == 0 and all(
        len(set(nodes[begin : begin + gpus])) == 1 for begin in range(0, len(ranks), gpus))
    return Wiring(count, gpus) if is_regular else Wiring(1, len(ranks))


def ranks_per_node(size: int) -> int:
    """Returns the number of ranks on a node of a job of `size` ranks: torchrun's LOCAL_WORLD_SIZE, else all."""
    return int(os.environ.get("LOCAL_WORLD_SIZE") or size)


_UNROOTED = """
import "std/allpairs.gc3";
import "std/alltoall.gc3";
import "std/binomial.gc3";
import "std/chain.gc3";
import "std/ring.gc3";
import "std/tree.gc3";

param N: int = 1;
param G: int = 2;

program allpairs implements allreduce(ranks = N * G, chunks = N * G, inplace = true) {
    sizes 0 .. 32KiB;
    allpairs_allreduce(0..N * G, input);
}
program ring implements allreduce(ranks = N * G, chunks = N * G, inplace = true) {
    sizes 32KiB .. 1024TiB;
    ring_allreduce(0..N * G, input);
}
program ring_allgather implements allgather(ranks = N * G) {
    for r in 0..N * G {
        chain_copy(chunk(r, input, 0).copy(r, output, r), 0..N * G, output, r, start = r);
    }
}
program ring_reduce_scatter implements reduce_scatter(ranks = N * G, inplace = true) {
    for r in 0..N * G {
        ring_reduce_block(0..N * G, r, input, r).copy(r, output, 0);
    }
}
program alltoall implements alltoall(ranks = N * G) {
    if N > 1 && G > 1 {
        twostep_alltoall(0..N * G, G);
    } else {
        direct_alltoall(0..N * G);
    }
}
"""

_ROOTED = """
program broadcast_{root} implements broadcast(ranks = N * G, root = {root}, chunks = 8) {{
    chunk({root}, input, 0, 8).copy({root}, output, 0);
    for p in 0..8 {{
        tree_copy(chunk({root}, input, p), rotated(others(0..N * G, {root}), p % 2), output, p);
    }}
}}
program reduce_{root} implements reduce(ranks = N * G, root = {root}, chunks = 8) {{
    for p in 0..8 {{
        chain_reduce_to_output(0..N * G, {root}, p, p);
    }}
}}
program gather_{root} implements gather(ranks = N * G, root = {root}) {{
    binomial_gather(rotated(0..N * G, {root}), output, {root}, N * G);
}}
program scatter_{root} implements scatter(ranks = N * G, root = {root}) {{
    binomial_scatter(rotated(0..N * G, {root}), input, {root}, N * G);
}}
"""


def source(size: int) -> str:
    """Returns the text of the standard programs for `size` ranks."""
    roots = range(size if size <= _MOST_ROOTS else 1)
    return _UNROOTED + "".join(_ROOTED.format(root=root) for root in roots)


def compile_for(place: Wiring, text: str) -> Bundle:
    """Compiles programs with the params N (nodes) and G (ranks of a node) for a group.

    Imports are those of the library in gc3c, whatever the process's working folder contains.
    """
    options = ("--verify=fast", f"-DN={place.nodes}", f"-DG={place.gpus}")
    program = Source("-", text, os.path.dirname(os.path.abspath(__file__)), options)
    return Bundle(_cache.bundle_of(program), program)


def standard_bundle(place: Wiring) -> Bundle:
    """Compiles the standard programs for a group."""
    return compile_for(place, source(place.nodes * place.gpus))


def bundles_of_environment() -> List[str]:
    """Returns the paths in ``GC3_BUNDLES``, in their order."""
    return [path for path in os.environ.get("GC3_BUNDLES", "").split(":") if path]

