# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests. Each run of pytest has its own cache of bundles."""

import pathlib

import pytest

import gc3

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
RANKS = 4

# One program for each standard collective, and a collective of the application.
EVERYTHING = """
import "std/alltoall.gc3";
import "std/binomial.gc3";
import "std/chain.gc3";
import "std/ring.gc3";
param R: int = 4;
param root: int = 0;

collective shift(n: int, by: int = 1, chunks: int = 1) {
    ranks n;
    input[chunks];
    output[chunks];
    ensures for r in by..n, c in 0..chunks: output(r, c) == input(r - by, c);
}

program all_reduce implements allreduce(ranks = R, chunks = R, inplace = true) {
    for i in 0..R {
        var c = chunk(i, input, i);
        for step in 1..R { c = chunk((i + step) % R, input, i).reduce(c); }
        for step in 0..R - 1 { c = c.copy((i + step) % R, input, i); }
    }
}
program all_gather implements allgather(ranks = R) {
    for i in 0..R {
        let own = chunk(i, input, 0);
        own.copy(i, output, i);
        chain_copy(own, 0..R, output, i, start = i);
    }
}
program reduce_scatter implements reduce_scatter(ranks = R, inplace = true) {
    for i in 0..R { ring_reduce_block([r for r in 0..R], i, input, i).copy(i, output, 0); }
}
program all_to_all implements alltoall(ranks = R) { direct_alltoall(0..R); }
program broadcast implements broadcast(ranks = R, root = root) {
    chunk(root, input, 0).copy(root, output, 0);
    chain_copy(chunk(root, input, 0), 0..R, output, 0, start = root);
}
program reduce implements reduce(ranks = R, root = root) {
    chain_reduce_to_output(0..R, root, 0, 0);
}
program gather implements gather(ranks = R, root = root, inplace = true) {
    binomial_gather(rotated(0..R, root), output, root, R);
}
program scatter implements scatter(ranks = R, root = root, inplace = true) {
    binomial_scatter(rotated(0..R, root), input, root, R);
}
program shift_by_one implements shift(R) { for r in 1..R { chunk(r - 1, input, 0).copy(r, output, 0); } }
program shift_by_two implements shift(R, by = 2) { for r in 2..R { chunk(r - 2, input, 0).copy(r, output, 0); } }
"""


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Gives the tests, and the processes that they start, an empty cache of bundles."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "gc3"


@pytest.fixture(scope="session")
def everything():
    """A bundle with a program for each collective, whose root is rank 1."""
    return gc3.compile(EVERYTHING, params={"R": RANKS, "root": 1})


@pytest.fixture(scope="session")
def ring():
    """A bundle with a ring AllReduce of four ranks."""
    return gc3.compile(EXAMPLES / "ring_allreduce.gc3", params={"R": RANKS})


@pytest.fixture
def ranks(everything):
    """Four ranks of this process, which run all collectives."""
    communicators = gc3.Communicator.all_ranks(everything, config=gc3.Config(timeout=20))
    yield communicators
    for communicator in communicators:
        communicator.close()
