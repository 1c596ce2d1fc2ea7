// SPDX-License-Identifier: Apache-2.0
// Adds steps in an order in which they can run, if there are slots for all messages. So the program can't deadlock.
#include "RandomShape.h"

using namespace gc3::ir;
using namespace gc3::test;

namespace {

class Shaper {
public:
  Shaper(std::mt19937_64 &random, const ShapeOptions &options) : random(random), options(options) {}
  Program run();

private:
  struct Block {
    uint32_t rank;
    uint32_t channel;
    int32_t sendPeer = -1;
    int32_t recvPeer = -1;
    uint32_t next = None; ///< the thread block that receives messages of this one, or None
    std::vector<Step> steps;
    std::vector<std::vector<Wait>> waits;
  };

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random() % bound); }
  bool connect(uint32_t from, uint32_t to);
  void sendMessage(uint32_t from);
  void add(uint32_t block, Opcode opcode);
  std::vector<Wait> makeWaits(uint32_t block);
  std::shared_ptr<const ProgramInfo> makeInfo();
  Program assemble();

  static constexpr uint32_t bufferSize = 3;
  std::mt19937_64 &random;
  const ShapeOptions &options;
  std::vector<Block> blocks; ///< sorted by rank
};

} // namespace

bool Shaper::connect(uint32_t from, uint32_t to) {
  Block &a = blocks[from];
  Block &b = blocks[to];
  if (a.rank == b.rank || a.channel != b.channel || a.next != None || b.recvPeer >= 0)
    return false;
  for (const Block &other : blocks) // one rank sends to another on a channel from only one block
    if (other.rank == a.rank && other.channel == a.channel && other.sendPeer == static_cast<int32_t>(b.rank))
      return false;
  a.sendPeer = static_cast<int32_t>(b.rank);
  b.recvPeer = static_cast<int32_t>(a.rank);
  a.next = to;
  return true;
}

/// Returns waits only for steps that have already been added. Steps are added in an order in which they can run, so
/// these waits can't deadlock.
std::vector<Wait> Shaper::makeWaits(uint32_t index) {
  std::vector<Wait> waits;
  if (below(options.waitsOneIn) != 0)
    return waits;
  uint32_t first = blocks[index].rank * options.blocks;
  for (uint32_t tries = 1 + below(2); tries != 0; --tries) {
    uint32_t other = below(options.blocks);
    auto steps = static_cast<uint32_t>(blocks[first + other].steps.size());
    if (steps != 0)
      waits.push_back({other, below(2) ? steps - 1 : below(steps)});
  }
  return waits;
}

void Shaper::add(uint32_t index, Opcode opcode) {
  auto buffer = [&] { return static_cast<BufferId>(below(2)); };
  std::vector<Wait> waits = makeWaits(index);
  blocks[index].waits.push_back(waits);
  blocks[index].steps.push_back({.opcode = opcode,
                                 .srcBuffer = buffer(),
                                 .dstBuffer = buffer(),
                                 .srcIndex = below(bufferSize),
                                 .dstIndex = below(bufferSize),
                                 .count = 1,
                                 .waitCount = static_cast<uint32_t>(waits.size())});
}

void Shaper::sendMessage(uint32_t from) {
  static constexpr Opcode passing[] = {Opcode::RecvCopySend, Opcode::RecvReduceSend, Opcode::RecvReduceCopySend};
  add(from, Opcode::Send);
  uint32_t at = blocks[from].next;
  for (uint32_t hops = 1; hops < options.mostHops && blocks[at].next != None && below(4) != 0; ++hops) {
    add(at, passing[below(3)]);
    at = blocks[at].next;
  }
  add(at, below(2) ? Opcode::Recv : Opcode::RecvReduceCopy);
}

std::shared_ptr<const ProgramInfo> Shaper::makeInfo() {
  auto info = std::make_shared<ProgramInfo>();
  info->name = "shape";
  info->sites = {{}};
  Collective &collective = info->collective;
  collective.name = "anything";
  collective.ranks = options.ranks;
  collective.input = collective.output = {1, bufferSize};
  collective.hasInput.assign(options.ranks, 1);
  collective.hasOutput.assign(options.ranks, 1);
  collective.aliases.assign(options.ranks, {});
  std::vector<uint32_t> anything(bufferSize, Postcondition::Anything);
  setRows(collective, [&](uint32_t) { return llvm::ArrayRef(anything); });
  return info;
}

Program Shaper::assemble() {
  Program program;
  program.info = makeInfo();
  program.bufferSizes.assign(2 * options.ranks, bufferSize);
  for (uint32_t index = 0; index != blocks.size(); ++index) {
    Block &block = blocks[index];
    program.threadBlocks.push_back({block.rank, block.channel, block.sendPeer, block.recvPeer,
                                    static_cast<uint32_t>(program.steps.size()),
                                    static_cast<uint32_t>(block.steps.size())});
    for (uint32_t i = 0; i != block.steps.size(); ++i) {
      block.steps[i].waitBegin = static_cast<uint32_t>(program.waits.size());
      program.steps.push_back(block.steps[i]);
      program.waits.insert(program.waits.end(), block.waits[i].begin(), block.waits[i].end());
    }
    if ((index + 1) % options.blocks == 0)
      program.rankBegin.push_back(index + 1);
  }
  program.fifoSlots = static_cast<uint32_t>(program.steps.size()) + 1;
  return program;
}

Program Shaper::run() {
  for (uint32_t i = 0; i != options.ranks * options.blocks; ++i)
    blocks.push_back({.rank = i / options.blocks, .channel = below(options.channels), .steps = {}, .waits = {}});
  auto count = static_cast<uint32_t>(blocks.size());
  for (uint32_t tries = 0; tries != 20 * count; ++tries)
    connect(below(count), below(count));
  for (uint32_t i = 0; i != options.events; ++i) {
    uint32_t block = below(count);
    if (blocks[block].next != None && below(4) != 0)
      sendMessage(block);
    else
      add(block, below(2) ? Opcode::Copy : Opcode::Reduce);
  }
  return assemble();
}

Program gc3::test::randomShape(std::mt19937_64 &random, const ShapeOptions &options) {
  return Shaper(random, options).run();
}
