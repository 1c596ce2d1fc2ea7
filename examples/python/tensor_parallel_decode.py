# SPDX-License-Identifier: Apache-2.0
"""Tensor-parallel decoding: the ranks share the matrices of a small language model, and an AllReduce joins each layer.

    torchrun --nproc_per_node 4 examples/python/tensor_parallel_decode.py

Each layer has a matrix whose columns, and one whose rows, are divided among the ranks. So a layer needs one AllReduce
of a token's vector: a small message, on the critical path of each token. The GC3 paper runs such inference in
production. The script decodes tokens, and compares them with those of the whole model.
"""

import torch
import torch.distributed as dist

import gc3
import gc3.torch

WORDS, WIDTH, HIDDEN, LAYERS, TOKENS = 50, 64, 256, 4, 12

# Each rank sends its part of the vector to all others at once: one step for a small message.
ALL_REDUCE = """
import "std/allpairs.gc3";
param R: int = 4;

program decode implements allreduce(ranks = R, chunks = R, inplace = true) { allpairs_allreduce(0..R, input); }
"""


def whole_model():
    """Returns the weights of the model, which are the same on all ranks."""
    torch.manual_seed(1)
    layers = [(torch.randn(WIDTH, HIDDEN) / 8, torch.randn(HIDDEN, WIDTH) / 8) for _ in range(LAYERS)]
    return torch.randn(WORDS, WIDTH), layers


def decode(embedding, layers, join):
    """Returns the words after word 0. `join` adds the parts of a layer's result."""
    words = [0]
    state = torch.zeros(1, WIDTH)
    for _ in range(TOKENS):
        state = torch.tanh(state / 4 + embedding[words[-1]] + len(words) % 3)
        for up, down in layers:
            state = state + join(torch.relu(state @ up) @ down)
        words.append(int((state @ embedding.t()).argmax()))
    return words


def main():
    dist.init_process_group("gloo")  # "nccl" on GPUs, and tensors there
    rank, size = dist.get_rank(), dist.get_world_size()
    bundle = gc3.compile(ALL_REDUCE, params={"R": size})
    communicator = gc3.Communicator.from_process_group(None, bundle)
    comm = gc3.torch.register(communicator)

    embedding, layers = whole_model()
    mine = [(up.chunk(size, 1)[rank], down.chunk(size, 0)[rank]) for up, down in layers]
    words = decode(embedding, mine, lambda part: gc3.torch.all_reduce(part, comm))

    expected = decode(embedding, layers, lambda whole: whole)
    if words != expected:
        raise SystemExit(f"rank {rank}: {words} is not {expected}")
    if rank == 0:
        print(f"{size} ranks decode {TOKENS} words as the whole model does: {words[1:]}")
    communicator.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
