// SPDX-License-Identifier: Apache-2.0
#include "Programs.h"

namespace gc3::test {

namespace {

int32_t peer(uint32_t rank) {
  return static_cast<int32_t>(rank);
}

/// Returns the sum of input chunk `index` over all ranks.
Value everyRank(uint32_t ranks, uint32_t index) {
  Value value;
  for (uint32_t r = 0; r < ranks; ++r)
    value.push_back({r, index});
  return value;
}

std::vector<Value> allReduced(uint32_t ranks, uint32_t chunks) {
  std::vector<Value> row;
  for (uint32_t c = 0; c < chunks; ++c)
    row.push_back(everyRank(ranks, c));
  return row;
}

} // namespace

ProgramSpec ringAllReduce(uint32_t ranks, bool aliased, uint32_t subdivision) {
  ProgramSpec program{"ring" + std::to_string(ranks) + (aliased ? "_aliased" : "") + "_" + std::to_string(subdivision),
                      "allreduce"};
  program.inputChunks = program.outputChunks = ranks;
  program.subdivision = program.maxCount = subdivision;
  program.contributions = ranks;
  program.inPlace = aliased;
  program.minFifoSlots = ranks > 1 ? 2 : 1;
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = rank.outputSlots = ranks * subdivision;
    rank.alias = aliased ? 1 : 0;
    Block block;
    auto slot = [&](uint32_t chunk) { return chunk % ranks * subdivision; };
    auto add = [&](Opcode opcode, uint32_t chunk) {
      const common::OpcodeTraits &needs = common::traits(opcode);
      block.steps.push_back({opcode,
                             needs.readsSrc ? in(slot(chunk)) : Slot{},
                             needs.writesDst ? out(slot(chunk)) : Slot{},
                             subdivision,
                             {}});
    };
    if (ranks == 1) {
      if (!aliased)
        add(Opcode::Copy, 0);
    } else {
      block.sendPeer = peer((r + 1) % ranks);
      block.recvPeer = peer((r + ranks - 1) % ranks);
      add(Opcode::Send, r);
      for (uint32_t k = 1; k + 1 < ranks; ++k)
        add(Opcode::RecvReduceSend, r + ranks - k);
      add(Opcode::RecvReduceCopySend, r + 1);
      for (uint32_t k = 1; k + 1 < ranks; ++k)
        add(Opcode::RecvCopySend, r + 1 + ranks - k);
      add(Opcode::Recv, r + 2);
    }
    rank.blocks.push_back(block);
    program.ranks.push_back(rank);
    program.outputs.push_back(allReduced(ranks, ranks));
  }
  return program;
}

ProgramSpec plainRingAllReduce(uint32_t ranks) {
  ProgramSpec program{"plain" + std::to_string(ranks), "allreduce"};
  program.contributions = ranks;
  program.scratchNames = {"received"};
  for (uint32_t r = 0; r < ranks; ++r) {
    // The chunk of each rank travels once around the ring. Thread block 0 sends and thread block 1 receives. Each has
    // steps that wait for the other.
    Rank rank;
    rank.inputSlots = rank.outputSlots = 1;
    rank.scratchSlots = {ranks};
    Block send{peer((r + 1) % ranks), -1, 3, {}}, recv{-1, peer((r + ranks - 1) % ranks), 3, {}};
    send.steps.push_back({Opcode::Copy, in(0), out(0), 1, {}});
    send.steps.push_back({Opcode::Send, in(0), {}, 1, {}});
    for (uint32_t k = 1; k < ranks; ++k) {
      recv.steps.push_back({Opcode::Recv, {}, scratch(k), 1, {}});
      recv.steps.push_back({Opcode::Reduce, scratch(k), out(0), 1, {{0, 0}}});
      if (k + 1 < ranks)
        send.steps.push_back({Opcode::Send, scratch(k), {}, 1, {{1, 2 * k - 2}}});
    }
    rank.blocks = {send, recv};
    program.ranks.push_back(rank);
    program.outputs.push_back(allReduced(ranks, 1));
  }
  return program;
}

ProgramSpec allToAll(uint32_t ranks, uint32_t chunks) {
  ProgramSpec program{"a2a" + std::to_string(ranks) + "_" + std::to_string(chunks), "alltoall"};
  program.inputChunks = program.outputChunks = program.maxCount = chunks;
  program.contributions = 1;
  program.outputs.resize(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = rank.outputSlots = ranks * chunks;
    rank.blocks.push_back({-1, -1, 0, {{Opcode::Copy, in(r * chunks), out(r * chunks), chunks, {}}}});
    for (uint32_t q = 0; q < ranks; ++q) {
      if (q != r)
        rank.blocks.push_back(
            {peer(q),
             peer(q),
             0,
             {{Opcode::Send, in(q * chunks), {}, chunks, {}}, {Opcode::Recv, {}, out(q * chunks), chunks, {}}}});
      for (uint32_t c = 0; c < chunks; ++c)
        program.outputs[r].push_back({{q, r * chunks + c}});
    }
    program.ranks.push_back(rank);
  }
  return program;
}

ProgramSpec allGather(uint32_t ranks, bool aliased, bool flat) {
  ProgramSpec program{"gather_ring" + std::to_string(ranks) + (aliased ? "_aliased" : ""), "allgather"};
  if (flat) {
    program.name += "_flat";
    program.collective = "flat_" + program.collective;
    program.outputChunks = ranks;
  }
  program.contributions = 1;
  program.inPlace = aliased;
  program.minFifoSlots = 2;
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = 1;
    rank.outputSlots = ranks;
    rank.alias = aliased ? 1 : 0;
    rank.aliasOffset = aliased ? r : 0;
    Block block;
    if (!aliased)
      block.steps.push_back({Opcode::Copy, in(0), out(r), 1, {}});
    if (ranks > 1) {
      block.sendPeer = peer((r + 1) % ranks);
      block.recvPeer = peer((r + ranks - 1) % ranks);
      block.steps.push_back({Opcode::Send, in(0), {}, 1, {}});
      for (uint32_t k = 1; k < ranks; ++k)
        block.steps.push_back(
            {k + 1 < ranks ? Opcode::RecvCopySend : Opcode::Recv, {}, out((r + ranks - k) % ranks), 1, {}});
    }
    rank.blocks.push_back(block);
    program.ranks.push_back(rank);
    program.outputs.emplace_back();
    for (uint32_t q = 0; q < ranks; ++q)
      program.outputs.back().push_back({{q, 0}});
  }
  return program;
}

ProgramSpec reduceScatter(uint32_t ranks, bool aliased, bool flat) {
  ProgramSpec program{"direct_rs" + std::to_string(ranks) + (aliased ? "_aliased" : ""), "reduce_scatter"};
  if (flat) {
    program.name += "_flat";
    program.collective = "flat_" + program.collective;
    program.inputChunks = ranks;
  }
  program.contributions = ranks;
  program.inPlace = aliased;
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = ranks;
    rank.outputSlots = 1;
    rank.alias = aliased ? 2 : 0;
    rank.aliasOffset = aliased ? r : 0;
    for (uint32_t q = 0; q < ranks; ++q) {
      if (q == r)
        continue;
      auto tb = static_cast<uint32_t>(rank.blocks.size());
      StepSpec sum{Opcode::RecvReduceCopy, tb == 0 ? in(r) : out(0), out(0), 1, {}};
      if (tb > 0)
        sum.waits.push_back({tb - 1, 1});
      rank.blocks.push_back({peer(q), peer(q), 0, {{Opcode::Send, in(q), {}, 1, {}}, sum}});
    }
    if (ranks == 1 && !aliased)
      rank.blocks.push_back({-1, -1, 0, {{Opcode::Copy, in(0), out(0), 1, {}}}});
    program.ranks.push_back(rank);
    program.outputs.push_back({everyRank(ranks, r)});
  }
  return program;
}

ProgramSpec broadcast(uint32_t ranks, uint32_t root) {
  ProgramSpec program{"bcast" + std::to_string(ranks) + "_" + std::to_string(root), "broadcast"};
  program.contributions = 1;
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t place = (r + ranks - root) % ranks;
    Rank rank;
    rank.inputSlots = place == 0 ? 1 : 0;
    rank.outputSlots = 1;
    Block block{place + 1 < ranks ? peer((r + 1) % ranks) : -1, place > 0 ? peer((r + ranks - 1) % ranks) : -1, 0, {}};
    if (place == 0) {
      block.steps.push_back({Opcode::Copy, in(0), out(0), 1, {}});
      if (ranks > 1)
        block.steps.push_back({Opcode::Send, in(0), {}, 1, {}});
    } else {
      block.steps.push_back({place + 1 < ranks ? Opcode::RecvCopySend : Opcode::Recv, {}, out(0), 1, {}});
    }
    rank.blocks.push_back(block);
    program.ranks.push_back(rank);
    program.outputs.push_back({{{root, 0}}});
  }
  return program;
}

ProgramSpec reduceTo(uint32_t ranks, uint32_t root) {
  ProgramSpec program{"reduce" + std::to_string(ranks) + "_" + std::to_string(root), "reduce"};
  program.contributions = ranks;
  program.outputs.resize(ranks);
  program.outputs[root] = {everyRank(ranks, 0)};
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t place = (r + ranks - root) % ranks; // the chain runs from place ranks - 1 to place 0
    Rank rank;
    rank.inputSlots = 1;
    rank.outputSlots = place == 0 ? 1 : 0;
    Block block{place > 0 ? peer((r + ranks - 1) % ranks) : -1, place + 1 < ranks ? peer((r + 1) % ranks) : -1, 0, {}};
    if (place > 0)
      block.steps.push_back({place + 1 < ranks ? Opcode::RecvReduceSend : Opcode::Send, in(0), {}, 1, {}});
    else
      block.steps.push_back({ranks > 1 ? Opcode::RecvReduceCopy : Opcode::Copy, in(0), out(0), 1, {}});
    rank.blocks.push_back(block);
    program.ranks.push_back(rank);
  }
  return program;
}

ProgramSpec gather(uint32_t ranks, uint32_t root) {
  ProgramSpec program{"gather" + std::to_string(ranks) + "_" + std::to_string(root), "gather"};
  program.contributions = 1;
  program.outputs.resize(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = 1;
    rank.outputSlots = r == root ? ranks : 0;
    for (uint32_t q = 0; r == root && q < ranks; ++q) {
      rank.blocks.push_back(q == r ? Block{-1, -1, 0, {{Opcode::Copy, in(0), out(q), 1, {}}}}
                                   : Block{-1, peer(q), 0, {{Opcode::Recv, {}, out(q), 1, {}}}});
      program.outputs[r].push_back({{q, 0}});
    }
    if (r != root)
      rank.blocks.push_back({peer(root), -1, 0, {{Opcode::Send, in(0), {}, 1, {}}}});
    program.ranks.push_back(rank);
  }
  return program;
}

ProgramSpec scatter(uint32_t ranks, uint32_t root) {
  ProgramSpec program{"scatter" + std::to_string(ranks) + "_" + std::to_string(root), "scatter"};
  program.contributions = 1;
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = r == root ? ranks : 0;
    rank.outputSlots = 1;
    for (uint32_t q = 0; r == root && q < ranks; ++q)
      rank.blocks.push_back(q == r ? Block{-1, -1, 0, {{Opcode::Copy, in(q), out(0), 1, {}}}}
                                   : Block{peer(q), -1, 0, {{Opcode::Send, in(q), {}, 1, {}}}});
    if (r != root)
      rank.blocks.push_back({-1, peer(root), 0, {{Opcode::Recv, {}, out(0), 1, {}}}});
    program.ranks.push_back(rank);
    program.outputs.push_back({{{root, r}}});
  }
  return program;
}

ProgramSpec shiftReversed(uint32_t ranks, uint32_t chunks) {
  ProgramSpec program{"shift" + std::to_string(ranks), "shift_reversed"};
  program.inputChunks = program.outputChunks = chunks;
  program.contributions = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = rank.outputSlots = chunks;
    Block block{r + 1 < ranks ? peer(r + 1) : -1, r > 0 ? peer(r - 1) : -1, 0, {}};
    program.outputs.emplace_back();
    for (uint32_t c = 0; c < chunks; ++c) {
      if (r + 1 < ranks)
        block.steps.push_back({Opcode::Send, in(c), {}, 1, {}});
      if (r > 0)
        block.steps.push_back({Opcode::Recv, {}, out(chunks - 1 - c), 1, {}});
      program.outputs.back().push_back(r > 0 ? Value{{r - 1, chunks - 1 - c}} : Value{});
    }
    rank.blocks.push_back(block);
    program.ranks.push_back(rank);
  }
  return program;
}

ProgramSpec oneMessage(uint32_t ranks) {
  ProgramSpec program{"message" + std::to_string(ranks), "message"};
  for (uint32_t r = 0; r < ranks; ++r) {
    Rank rank;
    rank.inputSlots = rank.outputSlots = 1;
    if (r == 0)
      rank.blocks = {{1, -1, 0, {{Opcode::Send, in(0), {}, 1, {}}}}};
    if (r == 1)
      rank.blocks = {{-1, 0, 0, {{Opcode::Recv, {}, out(0), 1, {}}}}};
    program.ranks.push_back(rank);
    program.outputs.push_back({r == 1 ? Value{{0, 0}} : Value{}});
  }
  return program;
}

ProgramSpec writesInput(uint32_t ranks) {
  ProgramSpec program{"writes" + std::to_string(ranks), "allreduce"};
  program.contributions = ranks;
  for (uint32_t r = 0; r < ranks; ++r) {
    // A chain towards higher ranks adds partial sums to the inputs. A chain towards lower ranks then sends the result.
    Rank rank;
    rank.inputSlots = rank.outputSlots = 1;
    rank.writesInput = true;
    Block up{r + 1 < ranks ? peer(r + 1) : -1, r > 0 ? peer(r - 1) : -1, 0, {}};
    Block down{r > 0 ? peer(r - 1) : -1, r + 1 < ranks ? peer(r + 1) : -1, 1, {}};
    if (r > 0)
      up.steps.push_back({Opcode::RecvReduceCopy, in(0), in(0), 1, {}});
    if (r + 1 < ranks)
      up.steps.push_back({Opcode::Send, in(0), {}, 1, {}});
    else
      up.steps.push_back({Opcode::Copy, in(0), out(0), 1, {}});
    auto last = static_cast<uint32_t>(up.steps.size() - 1);
    if (r + 1 == ranks && r > 0)
      down.steps.push_back({Opcode::Send, out(0), {}, 1, {{0, last}}});
    else if (r > 0)
      down.steps.push_back({Opcode::RecvCopySend, {}, out(0), 1, {}});
    else if (ranks > 1)
      down.steps.push_back({Opcode::Recv, {}, out(0), 1, {}});
    rank.blocks = {up, down};
    program.ranks.push_back(rank);
    program.outputs.push_back(allReduced(ranks, 1));
  }
  return program;
}

ProgramSpec swapInPlace() {
  ProgramSpec spec{"swap", "swap"};
  spec.inPlace = true;
  spec.contributions = 1;
  for (int32_t r = 0; r < 2; ++r) {
    Rank rank;
    rank.inputSlots = rank.outputSlots = 1;
    rank.alias = 1;
    rank.blocks.push_back({1 - r, 1 - r, 0, {{Opcode::Send, in(0), {}, 1, {}}, {Opcode::Recv, {}, out(0), 1, {}}}});
    spec.ranks.push_back(rank);
    spec.outputs.push_back({{{static_cast<uint32_t>(1 - r), 0}}});
  }
  return spec;
}

ProgramSpec sumToShorterChunk() {
  ProgramSpec program{"shorter", "shorter"};
  program.inputChunks = program.outputChunks = 3;
  program.contributions = 2;
  program.ranks.resize(3);
  for (Rank &rank : program.ranks)
    rank.inputSlots = rank.outputSlots = 3;
  program.ranks[0].blocks = {{1, -1, 0, {{Opcode::Send, in(0), {}, 1, {}}}}};
  program.ranks[1].blocks = {{2, 0, 0, {{Opcode::RecvReduceCopySend, in(0), out(0), 1, {}}}}};
  program.ranks[2].blocks = {{-1, 1, 0, {{Opcode::Recv, {}, out(2), 1, {}}}}};
  const Value sum{{0, 0}, {1, 0}};
  program.outputs = {{{}, {}, {}}, {sum, {}, {}}, {{}, {}, sum}};
  return program;
}

std::vector<ProgramSpec> differentAllReduces(uint32_t ranks) {
  ProgramSpec chain = writesInput(ranks), plain = plainRingAllReduce(ranks), ring = ringAllReduce(ranks, true);
  chain.name = "chain", plain.name = "plain", ring.name = "ring";
  return {chain, plain, ring};
}

std::vector<ProgramSpec> promisingAllReduces(uint32_t ranks) {
  std::vector<ProgramSpec> programs = differentAllReduces(ranks);
  for (ProgramSpec &program : programs)
    program.times = {{1, program.name == "chain" ? 1000.0 : 1.0}};
  return programs;
}

} // namespace gc3::test
