// SPDX-License-Identifier: Apache-2.0
// Turns frames into thread blocks. Numbers the blocks of each rank: manual ones first, in the order of their numbers
// and instances, then the others by channel and peers. A local instruction gets the first of these blocks that exists:
// its manual block; the block of its dependency with the greatest step number; the block that uses its result first;
// the block with the fewest steps.
#include "Stages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <tuple>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class ThreadBlockAssigner {
public:
  ThreadBlockAssigner(const Nodes &nodes, const Frames &frames, const std::vector<uint32_t> &order)
      : nodes(nodes), frames(frames), order(order), ranks(nodes.dag.info->collective.ranks),
        pinned(nodes.dag.info->pinsThreadBlocks()) {}

  ThreadBlocks run();

private:
  std::vector<uint8_t> ranksWithoutFrames() const;
  void numberBlocks();
  bool localsBeginAnything() const;
  void findFirstUsers();
  void linkBlocks();
  uint32_t blockOf(uint32_t node) const;
  uint32_t blockForLocal(uint32_t node) const;
  uint32_t leastLoaded(uint32_t rank) const;
  uint32_t sendPeer(const Frame &frame) const;
  uint32_t recvPeer(const Frame &frame) const;

  const Nodes &nodes;
  const Frames &frames;
  const std::vector<uint32_t> &order;
  const uint32_t ranks;
  bool pinned; // true if some operation has a manual thread block
  std::vector<uint32_t> blockOfFrame;
  std::vector<uint32_t> sendingBlock, receivingBlock; // by connection
  std::vector<uint32_t> firstUser; // by node: the first communicating node that depends on it, or None
  ThreadBlocks result;
};

} // namespace

uint32_t ThreadBlockAssigner::sendPeer(const Frame &frame) const {
  return frame.sendConnection == None ? None : frames.connections()[frame.sendConnection].destination;
}

uint32_t ThreadBlockAssigner::recvPeer(const Frame &frame) const {
  return frame.recvConnection == None ? None : frames.connections()[frame.recvConnection].source;
}

/// Returns, by rank, 1 if the rank has local instructions but no frame, else 0. Such a rank does not communicate.
std::vector<uint8_t> ThreadBlockAssigner::ranksWithoutFrames() const {
  std::vector<uint8_t> lone(ranks);
  for (uint32_t node = 0; node != nodes.n; ++node)
    if (nodes.isLocal(node) && frames.framesOn(nodes.at(node).rank) == 0)
      lone[nodes.at(node).rank] = 1;
  return lone;
}

/// Collects the frames of each rank in memory order, sorts them, and numbers them.
void ThreadBlockAssigner::numberBlocks() {
  struct Entry {
    uint32_t pin; // the manual number; None, that of an unpinned frame, comes last
    uint32_t instance, channel, recvPeer, sendPeer;
    uint32_t frame;
    bool operator<(const Entry &other) const {
      return std::tie(pin, instance, channel, recvPeer, sendPeer, frame) <
             std::tie(other.pin, other.instance, other.channel, other.recvPeer, other.sendPeer, other.frame);
    }
  };
  std::vector<uint32_t> end(ranks); // by rank: the position of its next entry
  for (uint32_t rank = 1; rank < ranks; ++rank)
    end[rank] = end[rank - 1] + frames.framesOn(rank - 1);
  std::vector<Entry> entries(frames.all().size());
  for (uint32_t index = 0; index != frames.all().size(); ++index) {
    const Frame &frame = frames.all()[index];
    if (!frame.merged)
      entries[end[frame.rank]++] = {static_cast<uint32_t>(frame.pin.number),
                                    frame.pin.instance,
                                    frame.channel,
                                    recvPeer(frame),
                                    sendPeer(frame),
                                    index};
  }
  std::vector<uint8_t> lone = ranksWithoutFrames();
  blockOfFrame.assign(frames.all().size(), None);
  result.rankBegin = {0};
  for (uint32_t rank = 0; rank != ranks; ++rank) {
    auto own = llvm::MutableArrayRef(entries).slice(end[rank] - frames.framesOn(rank), frames.framesOn(rank));
    std::sort(own.begin(), own.end());
    for (const Entry &entry : own) {
      blockOfFrame[entry.frame] = static_cast<uint32_t>(result.blocks.size());
      result.blocks.push_back(
          {rank, entry.channel, static_cast<int32_t>(entry.sendPeer), static_cast<int32_t>(entry.recvPeer), 0, 0});
    }
    if (lone[rank] != 0)
      result.blocks.push_back({rank, 0, -1, -1, 0, 0});
    result.rankBegin.push_back(static_cast<uint32_t>(result.blocks.size()));
  }
}

/// Returns true if some local instruction has no dependencies. The first user of its result then determines its block.
bool ThreadBlockAssigner::localsBeginAnything() const {
  return llvm::any_of(llvm::seq(0u, nodes.n),
                      [&](uint32_t node) { return nodes.isLocal(node) && nodes.begin[node] == nodes.begin[node + 1]; });
}

void ThreadBlockAssigner::findFirstUsers() {
  firstUser.assign(nodes.n, None);
  for (uint32_t node : order)
    if (!nodes.isSecondHalf(node) && (nodes.receives(node) || nodes.sends(node)))
      for (uint32_t i = nodes.begin[node]; i != nodes.begin[node + 1]; ++i)
        if (uint32_t &user = firstUser[nodes.dependencies[i]]; user == None)
          user = node;
}

void ThreadBlockAssigner::linkBlocks() {
  for (const Connection &connection : frames.connections()) {
    sendingBlock.push_back(blockOfFrame[connection.sendFrame]);
    receivingBlock.push_back(blockOfFrame[connection.recvFrame]);
  }
  result.receivingBlock.assign(result.blocks.size(), None);
  for (uint32_t connection = 0; connection != sendingBlock.size(); ++connection)
    result.receivingBlock[sendingBlock[connection]] = receivingBlock[connection];
}

uint32_t ThreadBlockAssigner::leastLoaded(uint32_t rank) const {
  uint32_t best = result.rankBegin[rank];
  for (uint32_t block = best; block != result.rankBegin[rank + 1]; ++block)
    if (result.blocks[block].stepCount < result.blocks[best].stepCount)
      best = block;
  return best;
}

uint32_t ThreadBlockAssigner::blockForLocal(uint32_t node) const {
  BlockStep latest;
  for (uint32_t i = nodes.begin[node]; i != nodes.begin[node + 1]; ++i) {
    BlockStep dependency = result.placeOf[nodes.dependencies[i]];
    // The dependency with the greatest step number is likely to finish last.
    if (latest.block == None || dependency.step >= latest.step)
      latest = dependency;
  }
  if (latest.block != None)
    return latest.block;
  if (firstUser[node] != None)
    return blockOf(firstUser[node]);
  return leastLoaded(nodes.at(node).rank);
}

uint32_t ThreadBlockAssigner::blockOf(uint32_t node) const {
  if (nodes.receives(node))
    return receivingBlock[nodes.incoming(node)];
  if (nodes.sends(node))
    return sendingBlock[nodes.outgoing(node)];
  if (!pinned)
    return blockForLocal(node);
  const Instruction &instruction = nodes.at(node);
  Pin pin = pinOfLocal(nodes.dag.info->directives[instruction.directive], instruction.instance);
  return pin ? blockOfFrame[frames.pinned(instruction.rank, pin)] : blockForLocal(node);
}

ThreadBlocks ThreadBlockAssigner::run() {
  numberBlocks();
  linkBlocks();
  if (localsBeginAnything())
    findFirstUsers();
  result.placeOf.resize(nodes.total());
  for (uint32_t node : order) {
    uint32_t block = blockOf(node);
    result.placeOf[node] = {block, result.blocks[block].stepCount++};
  }
  uint32_t steps = 0;
  for (ThreadBlock &block : result.blocks) {
    block.firstStep = steps;
    steps += block.stepCount;
  }
  return std::move(result);
}

ThreadBlocks gc3::schedule::assignThreadBlocks(const Nodes &nodes, const Channels &channels, const Order &order) {
  return ThreadBlockAssigner(nodes, channels.frames, order.nodes).run();
}
