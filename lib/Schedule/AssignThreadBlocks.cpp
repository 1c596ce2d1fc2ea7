// SPDX-License-Identifier: Apache-2.0
// Turns frames into thread blocks. Numbers the blocks of each rank: manual ones first, in the order of their numbers,
// then the others by channel and peers. If a rank has too many frames, a frame that only sends shares a block with a
// frame that only receives on the same channel. Pairs with the same peer come first. A local instruction gets the first
// of these blocks that exists: its manual block; the block of its dependency with the greatest step number; the block
// that uses its result first; the block with the fewest steps.
#include "Stages.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class ThreadBlockAssigner {
public:
  ThreadBlockAssigner(const Nodes &nodes, Frames &frames, const std::vector<uint32_t> &order, const Options &options,
                      Diagnostics &diags)
      : nodes(nodes), frames(frames), order(order), options(options), diags(diags),
        ranks(nodes.dag.info->collective.ranks), pinned(nodes.dag.info->pinsThreadBlocks()) {}

  std::optional<ThreadBlocks> run();

private:
  void collectFrames();
  void share(uint32_t rank, bool samePeer);
  bool withinLimit(uint32_t rank);
  struct Origin {
    SourceRange where;
    std::string what;
  };
  Origin originOf(const Frame &frame) const;
  void reportLimit(const std::vector<uint32_t> &crowded);
  bool fitFrames();
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
  Frames &frames;
  const std::vector<uint32_t> &order;
  const Options &options;
  Diagnostics &diags;
  const uint32_t ranks;
  bool pinned;                                 // true if some operation has a manual thread block
  std::vector<std::vector<uint32_t>> framesOf; // by rank; empty if all ranks are within the limit
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

void ThreadBlockAssigner::collectFrames() {
  framesOf.resize(ranks);
  for (uint32_t frame = 0; frame != frames.all().size(); ++frame)
    if (!frames.all()[frame].merged)
      framesOf[frames.all()[frame].rank].push_back(frame);
}

/// Pairs frames that only send with frames that only receive until the rank is within the limit or no pair is left.
void ThreadBlockAssigner::share(uint32_t rank, bool samePeer) {
  auto key = [&](uint32_t channel, uint32_t peer) { return std::pair(channel, samePeer ? peer : 0); };
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> senders;
  std::vector<uint32_t> &own = framesOf[rank];
  for (uint32_t index : own) {
    const Frame &frame = frames.all()[index];
    if (frame.pin < 0 && frame.sendConnection != None && frame.recvConnection == None)
      senders[key(frame.channel, sendPeer(frame))].push_back(index);
  }
  for (uint32_t index : own) {
    const Frame &frame = frames.all()[index];
    if (frames.framesOn(rank) <= options.maxThreadBlocks)
      break;
    if (frame.pin >= 0 || frame.recvConnection == None || frame.sendConnection != None)
      continue;
    auto match = senders.find(key(frame.channel, recvPeer(frame)));
    if (match == senders.end() || match->second.empty())
      continue;
    frames.join(match->second.front(), index);
    match->second.erase(match->second.begin());
  }
  std::erase_if(own, [&](uint32_t index) { return frames.all()[index].merged; });
}

/// Returns the place and a description of the directive or operation that requires the frame.
ThreadBlockAssigner::Origin ThreadBlockAssigner::originOf(const Frame &frame) const {
  const ProgramInfo &info = *nodes.dag.info;
  const Directive &directive = info.directives[frame.directive];
  if (directive.parallel != 1)
    return {directive.parallelSite, "these " + std::to_string(directive.parallel) + " parallel instances"};
  if (directive.channel >= 0)
    return {directive.channelSite, "the channels chosen here"};
  return {info.sites[frame.site], "these operations, one for each peer and direction"};
}

/// Reports the rank with the most thread blocks. Notes name the directives or operations that need the most of them.
void ThreadBlockAssigner::reportLimit(const std::vector<uint32_t> &crowded) {
  const ProgramInfo &info = *nodes.dag.info;
  uint32_t rank = *std::max_element(crowded.begin(), crowded.end(),
                                    [&](uint32_t a, uint32_t b) { return framesOf[a].size() < framesOf[b].size(); });
  std::string others =
      crowded.size() == 1 ? "" : " (also above it: " + quantity(crowded.size() - 1, "other rank") + ")";
  Diagnostic &error =
      diags.error(DiagId::TooManyThreadBlocks, info.nameRange,
                  "rank " + std::to_string(rank) + " needs " + std::to_string(framesOf[rank].size()) +
                      " thread blocks, the limit is " + std::to_string(options.maxThreadBlocks) + others +
                      "; use fewer channels or parallel instances, or raise --max-threadblocks");
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, std::string>> shares; // by place: count, description
  for (uint32_t index : framesOf[rank]) {
    Origin origin = originOf(frames.all()[index]);
    auto &share = shares[{origin.where.begin, origin.where.end}];
    ++share.first;
    share.second = origin.what;
  }
  std::vector<std::tuple<uint32_t, SourceRange, std::string>> sorted;
  for (const auto &[place, share] : shares)
    sorted.emplace_back(share.first, SourceRange{place.first, place.second}, share.second);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto &a, const auto &b) { return std::get<0>(a) > std::get<0>(b); });
  for (size_t i = 0; i != std::min<size_t>(sorted.size(), 3); ++i)
    error.note(std::get<1>(sorted[i]),
               std::to_string(std::get<0>(sorted[i])) + " of them come from " + std::get<2>(sorted[i]));
}

bool ThreadBlockAssigner::withinLimit(uint32_t rank) {
  if (frames.framesOn(rank) > options.maxThreadBlocks)
    share(rank, true);
  if (frames.framesOn(rank) > options.maxThreadBlocks)
    share(rank, false);
  return frames.framesOn(rank) <= options.maxThreadBlocks;
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
    uint32_t pin, channel, recvPeer, sendPeer; // None, the pin of an unpinned frame, comes last
    uint32_t frame;
    bool operator<(const Entry &other) const {
      return std::tie(pin, channel, recvPeer, sendPeer, frame) <
             std::tie(other.pin, other.channel, other.recvPeer, other.sendPeer, other.frame);
    }
  };
  std::vector<uint32_t> end(ranks); // by rank: the position of its next entry
  for (uint32_t rank = 1; rank < ranks; ++rank)
    end[rank] = end[rank - 1] + frames.framesOn(rank - 1);
  std::vector<Entry> entries(frames.all().size());
  for (uint32_t index = 0; index != frames.all().size(); ++index) {
    const Frame &frame = frames.all()[index];
    if (!frame.merged)
      entries[end[frame.rank]++] = {static_cast<uint32_t>(frame.pin), frame.channel, recvPeer(frame), sendPeer(frame),
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
  const Directive &directive = nodes.dag.info->directives[instruction.directive];
  int32_t pin = std::max(directive.sendThreadBlock, directive.recvThreadBlock);
  return pin < 0 ? blockForLocal(node) : blockOfFrame[frames.pinned(instruction.rank, pin)];
}

/// Lets frames share blocks on ranks with too many. Returns false, with an error, if a rank still has too many.
bool ThreadBlockAssigner::fitFrames() {
  auto fits = [&](uint32_t rank) { return frames.framesOn(rank) <= options.maxThreadBlocks; };
  if (llvm::all_of(llvm::seq(0u, ranks), fits))
    return true;
  collectFrames();
  std::vector<uint32_t> crowded;
  for (uint32_t rank = 0; rank != ranks; ++rank)
    if (!withinLimit(rank))
      crowded.push_back(rank);
  if (!crowded.empty())
    reportLimit(crowded);
  return crowded.empty();
}

std::optional<ThreadBlocks> ThreadBlockAssigner::run() {
  if (!fitFrames())
    return std::nullopt;
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

std::optional<ThreadBlocks> gc3::schedule::assignThreadBlocks(const Nodes &nodes, Channels &channels,
                                                              const Order &order, const Options &options,
                                                              Diagnostics &diags) {
  return ThreadBlockAssigner(nodes, channels.frames, order.nodes, options, diags).run();
}
