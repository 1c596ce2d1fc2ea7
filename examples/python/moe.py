# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts: each rank has an expert, and an AllToAll carries tokens to the experts and back.

    torchrun --nproc_per_node 4 examples/python/moe.py

The AllToAll is the Two-Step AllToAll of the GC3 paper if torchrun starts several nodes. LOCAL_WORLD_SIZE=2 pretends
that each two ranks are a node. The script trains the model, and first compares an output and a gradient with a model
that has all experts on each rank.
"""

import torch
import torch.distributed as dist

import gc3.torch

WIDTH, TOKENS, CAPACITY, STEPS = 16, 64, 32, 30


def expert(seed):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 32), torch.nn.ReLU(), torch.nn.Linear(32, WIDTH))


class MixtureOfExperts(torch.nn.Module):
    """Sends each token to one expert. An expert takes CAPACITY tokens of each rank; other tokens stay as they are."""

    def __init__(self, experts, exchange):
        super().__init__()
        torch.manual_seed(0)
        self.gate = torch.nn.Linear(WIDTH, dist.get_world_size())
        self.experts = torch.nn.ModuleList(experts)
        self.exchange = exchange

    def forward(self, x):
        weight, choice = self.gate(x).softmax(1).max(1)
        count = torch.nn.functional.one_hot(choice, self.gate.out_features).cumsum(0)
        place = count.gather(1, choice[:, None])[:, 0] - 1  # among the tokens of the same expert
        kept = place < CAPACITY  # blocks have equal sizes, as a program of gc3 needs
        slot = (choice * CAPACITY + place)[kept]
        sent = x.new_zeros(self.gate.out_features * CAPACITY, WIDTH).index_copy(0, slot, x[kept])
        received = self.exchange(sent).chunk(len(self.experts)) if len(self.experts) > 1 else [self.exchange(sent)]
        results = torch.cat([one(tokens) for one, tokens in zip(self.experts, received)])
        answered = self.exchange(results)[slot]
        return x.index_add(0, kept.nonzero()[:, 0], weight[kept, None] * answered)


def compare(model, reference, x):
    """Compares with a model that has all experts: the output, and the gradient of the gate's weights."""
    for one in (model, reference):
        one.zero_grad()
        one(x).square().sum().backward()
    torch.testing.assert_close(model(x), reference(x))
    torch.testing.assert_close(model.gate.weight.grad, reference.gate.weight.grad)


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    comm = gc3.torch.register(gc3.torch.all_to_all_communicator())
    model = MixtureOfExperts([expert(100 + rank)], lambda tokens: gc3.torch.all_to_all(tokens, comm))
    reference = MixtureOfExperts([expert(100 + one) for one in range(size)], lambda tokens: tokens)

    torch.manual_seed(1000 + rank)
    x = torch.randn(TOKENS, WIDTH)
    compare(model, reference, x)

    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = (model(x) - x.flip(1)).square().mean()
        loss.backward()
        for parameter in model.gate.parameters():  # all ranks have the same gate
            dist.all_reduce(parameter.grad)
            parameter.grad /= size
        optimizer.step()
        dist.all_reduce(loss.detach())
        losses.append(loss.item() / size)
    if not losses[-1] < 0.8 * losses[0]:
        raise SystemExit(f"the loss does not fall: {losses}")
    if rank == 0:
        print(f"{size} experts learn: the loss falls from {losses[0]:.2f} to {losses[-1]:.2f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
