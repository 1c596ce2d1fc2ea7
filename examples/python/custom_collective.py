# SPDX-License-Identifier: Apache-2.0
"""A training step with a collective of its own: ranks have parts of a long sequence, and need a neighbour's end.

    torchrun --nproc_per_node 4 examples/python/custom_collective.py

A causal convolution needs the last elements of the previous part. The collective `to_next` of to_next.gc3 carries them
to the next rank, and `to_previous` carries their gradients back. The script compares the loss and the gradient with
those of the whole sequence on one rank.
"""

import pathlib

import torch
import torch.distributed as dist

import gc3
import gc3.torch

LENGTH, CHANNELS, TAPS = 40, 8, 3


def main():
    dist.init_process_group("gc3")
    rank, size = dist.get_rank(), dist.get_world_size()
    bundle = gc3.compile(pathlib.Path(__file__).with_name("to_next.gc3"), params={"R": size})
    communicator = gc3.Communicator.from_process_group(None, bundle)
    comm = gc3.torch.register(communicator)

    torch.manual_seed(0)
    sequence = torch.randn(1, CHANNELS, LENGTH * size)
    model = torch.nn.Conv1d(CHANNELS, CHANNELS, TAPS)
    embed = torch.nn.Parameter(torch.ones(CHANNELS, 1))

    # This rank's part of the sequence, and the end of the previous one; rank 0 gets zeros.
    x = torch.tanh(embed * sequence.chunk(size, 2)[rank])
    end = gc3.torch.run("to_next", x[..., -(TAPS - 1):].contiguous(), comm, transposed="to_previous")
    loss = model(torch.cat([end, x], 2)).square().sum()
    loss.backward()
    total = loss.detach().clone()
    for value in (total, embed.grad, *(parameter.grad for parameter in model.parameters())):
        dist.all_reduce(value)

    whole_embed = torch.nn.Parameter(torch.ones(CHANNELS, 1))
    padded = torch.nn.functional.pad(torch.tanh(whole_embed * sequence), (TAPS - 1, 0))
    whole_loss = torch.nn.functional.conv1d(padded, model.weight, model.bias).square().sum()
    whole_loss.backward(inputs=[whole_embed])
    torch.testing.assert_close(total, whole_loss.detach(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(embed.grad, whole_embed.grad, rtol=1e-4, atol=1e-3)
    if rank == 0:
        print(f"{size} parts of the sequence have the loss of the whole: {total.item():.3f}")
    communicator.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
