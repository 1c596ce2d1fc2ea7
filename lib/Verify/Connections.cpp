// SPDX-License-Identifier: Apache-2.0
// Checks the structure. Matches connections by sorting their ends: O(n log n) in thread blocks.
#include "Connections.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <numeric>
#include <tuple>

using namespace gc3::ir;
using namespace gc3::verify;
using gc3::common::receives;
using gc3::common::sends;

namespace {

class StructureChecker {
public:
  StructureChecker(const Program &program, const Options &options, std::vector<Finding> &findings)
      : program(program), options(options), findings(findings) {}
  Connections run();

private:
  void checkLimits();
  void checkRankLimits(uint32_t rank);
  void checkMoves();
  void checkBlock(uint32_t index);
  void checkStep(uint32_t block, uint32_t index);
  std::string sliceText(BufferId buffer, uint32_t first, uint32_t count) const;
  void checkSlice(uint32_t block, uint32_t step, const char *what, BufferId buffer, uint32_t first, uint32_t count);
  void checkWaits(uint32_t block, uint32_t step);
  /// A thread block at one end of a connection.
  struct End {
    uint64_t target; // destination << 32 | channel
    uint32_t block;
    bool receives;
    bool operator<(const End &other) const {
      return std::tie(target, receives, block) < std::tie(other.target, other.receives, other.block);
    }
  };
  Connections connect();
  void pairEnds(uint32_t source, llvm::ArrayRef<End> ends, Connections &result);
  void checkMessages(const Connection &connection);
  template <typename Counts>
  uint32_t nextMessage(const ThreadBlock &block, uint32_t step, Counts counts) const;
  template <typename Counts>
  uint32_t messages(const ThreadBlock &block, Counts counts) const;
  void report(uint32_t block, uint32_t step, const std::string &what) {
    if (enough())
      return;
    uint32_t site = program.steps[program.threadBlocks[block].firstStep + step].site;
    findings.push_back({Finding::Structure, describe(program, block, step) + " " + what, site, {}});
  }
  void reportBlock(const std::string &what, uint32_t site) {
    if (!enough())
      findings.push_back({Finding::Structure, what, site, {}});
  }
  uint32_t local(uint32_t block) const { return block - program.rankBegin[program.threadBlocks[block].rank]; }

  bool enough() const { return findings.size() >= options.maxFindings; }

  const Program &program;
  const Options &options;
  std::vector<Finding> &findings;
};

} // namespace

std::string gc3::verify::describe(const Program &program, uint32_t index, uint32_t step) {
  const ThreadBlock &block = program.threadBlocks[index];
  std::string text = "rank " + std::to_string(block.rank) + " tb " +
                     std::to_string(index - program.rankBegin[block.rank]) + " step " + std::to_string(step);
  Opcode opcode = program.steps[block.firstStep + step].opcode;
  text += std::string(" (") + gc3::common::name(opcode);
  if (receives(opcode) && block.recvPeer >= 0)
    text += " from " + std::to_string(block.recvPeer);
  if (sends(opcode) && block.sendPeer >= 0)
    text += " to " + std::to_string(block.sendPeer);
  return text + ")";
}

std::string StructureChecker::sliceText(BufferId buffer, uint32_t first, uint32_t count) const {
  return program.info->bufferName(buffer) + "[" + std::to_string(first) + ".." +
         std::to_string(uint64_t(first) + count) + "]";
}

void StructureChecker::checkSlice(uint32_t block, uint32_t step, const char *what, BufferId buffer, uint32_t first,
                                  uint32_t count) {
  uint32_t rank = program.threadBlocks[block].rank;
  if (buffer >= program.info->bufferCount()) {
    report(block, step, std::string(what) + " a buffer that the program does not have");
    return;
  }
  uint64_t size = program.bufferSize(rank, buffer);
  if (uint64_t(first) + count <= size)
    return;
  const Location outer = canonical(program.info->collective, {rank, buffer, first}, program.subdivision);
  report(block, step,
         std::string(what) + " " + sliceText(buffer, first, count) +
             (outer.buffer == buffer ? ", which has " + gc3::quantity(size, "slot") + " on this rank"
                                     : ", which lies in " + program.info->bufferName(outer.buffer) +
                                           " on this rank; use " + sliceText(outer.buffer, outer.index, count)));
}

static std::string name(const Wait &wait) {
  return "tb " + std::to_string(wait.threadBlock) + " step " + std::to_string(wait.step);
}

void StructureChecker::checkWaits(uint32_t index, uint32_t number) {
  const ThreadBlock &block = program.threadBlocks[index];
  const Step &step = program.steps[block.firstStep + number];
  if (uint64_t(step.waitBegin) + step.waitCount > program.waits.size()) {
    report(index, number, "has waits beyond the end of the list of waits");
    return;
  }
  uint32_t blocks = program.rankBegin[block.rank + 1] - program.rankBegin[block.rank];
  for (uint32_t i = step.waitBegin; i != step.waitBegin + step.waitCount; ++i) {
    const Wait &wait = program.waits[i];
    if (wait.threadBlock >= blocks ||
        wait.step >= program.threadBlocks[program.rankBegin[block.rank] + wait.threadBlock].stepCount)
      report(index, number, "waits for " + name(wait) + ", which does not exist");
    else if (wait.threadBlock == local(index) && wait.step >= number)
      report(index, number, "waits for " + name(wait) + ", which its own thread block has not reached");
  }
}

void StructureChecker::checkStep(uint32_t index, uint32_t number) {
  const ThreadBlock &block = program.threadBlocks[index];
  const Step &step = program.steps[block.firstStep + number];
  if (step.count == 0)
    report(index, number, "moves nothing");
  if (sends(step.opcode) && block.sendPeer < 0)
    report(index, number, "sends in a thread block without a peer to send to");
  if (receives(step.opcode) && block.recvPeer < 0)
    report(index, number, "receives in a thread block without a peer to receive from");
  if (readsSrc(step.opcode))
    checkSlice(index, number, "reads", step.srcBuffer, step.srcIndex, step.count);
  if (writesDst(step.opcode))
    checkSlice(index, number, "writes", step.dstBuffer, step.dstIndex, step.count);
  // A step moves its tiles one after another, so a tile must not read slots that an earlier tile writes.
  bool meets = readsSrc(step.opcode) && writesDst(step.opcode) && step.srcBuffer == step.dstBuffer &&
               step.srcIndex != step.dstIndex && uint64_t(step.srcIndex) < uint64_t(step.dstIndex) + step.count &&
               uint64_t(step.dstIndex) < uint64_t(step.srcIndex) + step.count;
  if (meets)
    report(index, number, "reads and writes overlapping slots");
  checkWaits(index, number);
}

void StructureChecker::checkLimits() {
  if (program.fifoSlots == 0 || program.fifoSlots > options.maxFifoSlots)
    reportBlock("the program uses " + std::to_string(program.fifoSlots) + " slots per connection; it must use 1 to " +
                    std::to_string(options.maxFifoSlots),
                None);
  for (uint32_t rank = 0; rank != program.ranks(); ++rank)
    checkRankLimits(rank);
}

void StructureChecker::checkRankLimits(uint32_t rank) {
  uint32_t firstBlock = program.rankBegin[rank];
  uint32_t blocks = program.rankBegin[rank + 1] - firstBlock;
  std::string name = "rank " + std::to_string(rank);
  if (blocks > options.maxThreadBlocks)
    reportBlock(name + " has " + std::to_string(blocks) + " thread blocks, the limit is " +
                    std::to_string(options.maxThreadBlocks) + " (--max-threadblocks)",
                program.threadBlocks[firstBlock + options.maxThreadBlocks].site);
  uint64_t steps = 0;
  uint64_t waits = 0;
  for (const ThreadBlock &block : llvm::ArrayRef(program.threadBlocks).slice(firstBlock, blocks)) {
    steps += block.stepCount;
    for (const Step &step : llvm::ArrayRef(program.steps).slice(block.firstStep, block.stepCount))
      waits += step.waitCount;
  }
  if (steps > options.maxInstructions)
    reportBlock(name + " has " + std::to_string(steps) + " instructions, the limit is " +
                    std::to_string(options.maxInstructions) + "; larger chunks need fewer",
                None);
  if (waits > 2 * uint64_t(options.maxInstructions))
    reportBlock("the instructions of " + name + " have " + std::to_string(waits) + " waits, the limit is " +
                    std::to_string(2 * uint64_t(options.maxInstructions)) + "; larger chunks need fewer",
                None);
}

/// Limits the slots that all steps move together. Must be called after the ranges of steps have been checked.
void StructureChecker::checkMoves() {
  uint64_t moved = 0;
  for (const Step &step : program.steps)
    moved += step.count;
  if (moved / 8 > options.maxSlots)
    findings.push_back(
        {Finding::TooLarge,
         "its steps move " + std::to_string(moved) + " slots, too many to analyze; --max-slots allows more",
         None,
         {}});
}

void StructureChecker::checkBlock(uint32_t index) {
  const ThreadBlock &block = program.threadBlocks[index];
  std::string text = "rank " + std::to_string(block.rank) + " tb " + std::to_string(local(index));
  for (int32_t peer : {block.sendPeer, block.recvPeer}) {
    if (peer >= 0 && static_cast<uint32_t>(peer) >= program.ranks())
      reportBlock(text + " has peer " + std::to_string(peer) + ", but the program has " +
                      gc3::quantity(program.ranks(), "rank"),
                  block.site);
    if (peer >= 0 && static_cast<uint32_t>(peer) == block.rank)
      reportBlock(text + " has its own rank as a peer", block.site);
  }
  for (uint32_t step = 0; step != block.stepCount && !enough(); ++step)
    checkStep(index, step);
}

/// Returns the first step of a thread block, from `step` on, whose opcode `counts` accepts. Returns the number of steps
/// if there is no such step.
template <typename Counts>
uint32_t StructureChecker::nextMessage(const ThreadBlock &block, uint32_t step, Counts counts) const {
  while (step != block.stepCount && !counts(program.steps[block.firstStep + step].opcode))
    ++step;
  return step;
}

template <typename Counts>
uint32_t StructureChecker::messages(const ThreadBlock &block, Counts counts) const {
  uint32_t number = 0;
  for (uint32_t i = 0; i != block.stepCount; ++i)
    number += counts(program.steps[block.firstStep + i].opcode);
  return number;
}

/// Checks that a connection has as many sends as receives, and that the k-th send and the k-th receive have equal
/// counts.
void StructureChecker::checkMessages(const Connection &connection) {
  const ThreadBlock &sender = program.threadBlocks[connection.sender];
  const ThreadBlock &receiver = program.threadBlocks[connection.receiver];
  uint32_t sent = messages(sender, sends);
  uint32_t received = messages(receiver, receives);
  if (sent != received) {
    reportBlock("rank " + std::to_string(sender.rank) + " sends " + gc3::quantity(sent, "message") + " to rank " +
                    std::to_string(receiver.rank) + " on channel " + std::to_string(sender.channel) +
                    ", which receives " + std::to_string(received),
                sender.site);
    if (receiver.site != None)
      findings.back().notes.push_back({"the receiving thread block is here", receiver.site});
    return;
  }
  uint32_t i = nextMessage(sender, 0, sends);
  uint32_t j = nextMessage(receiver, 0, receives);
  for (; i != sender.stepCount; i = nextMessage(sender, i + 1, sends), j = nextMessage(receiver, j + 1, receives)) {
    const Step &send = program.steps[sender.firstStep + i];
    const Step &receive = program.steps[receiver.firstStep + j];
    if (send.count == receive.count)
      continue;
    report(connection.receiver, j,
           "receives " + gc3::quantity(receive.count, "slot") + " where " + describe(program, connection.sender, i) +
               " sends " + std::to_string(send.count));
    findings.back().notes.push_back({"the send is here", send.site});
    return;
  }
}

/// Pairs the ends of connections that begin at rank `source`. The ends must be sorted by destination and channel.
void StructureChecker::pairEnds(uint32_t source, llvm::ArrayRef<End> ends, Connections &result) {
  while (!ends.empty()) {
    End first = ends.front();
    auto same = ends.take_while([&](const End &end) { return end.target == first.target; });
    ends = ends.drop_front(same.size());
    if (same.size() == 2 && !first.receives && same[1].receives) {
      result.sendOf[first.block] = result.recvOf[same[1].block] = static_cast<uint32_t>(result.all.size());
      result.all.push_back({first.block, same[1].block});
      continue;
    }
    const std::string destination = std::to_string(first.target >> 32);
    std::string lacks;
    if (first.receives)
      lacks = ": no thread block of rank " + std::to_string(source) + " sends";
    else if (!same.back().receives)
      lacks = ": no thread block of rank " + destination + " receives";
    reportBlock("the connection from rank " + std::to_string(source) + " to rank " + destination + " on channel " +
                    std::to_string(static_cast<uint32_t>(first.target)) +
                    " must have one sending and one receiving thread block, but has " + std::to_string(same.size()) +
                    " in all" + lacks,
                program.threadBlocks[first.block].site);
  }
}

/// Sorts ends by source in linear time, and then rank by rank, because the few ends of a rank fit into the cache.
Connections StructureChecker::connect() {
  auto eachEnd = [&](auto visit) {
    for (uint32_t index = 0; index != program.threadBlocks.size(); ++index) {
      const ThreadBlock &block = program.threadBlocks[index];
      if (block.sendPeer >= 0)
        visit(block.rank, End{uint64_t(block.sendPeer) << 32 | block.channel, index, false});
      if (block.recvPeer >= 0)
        visit(static_cast<uint32_t>(block.recvPeer), End{uint64_t(block.rank) << 32 | block.channel, index, true});
    }
  };
  std::vector<uint32_t> begin(program.ranks() + 2); // by source; shifted by one entry until all ends are placed
  eachEnd([&](uint32_t source, const End &) { ++begin[source + 2]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<End> ends(begin.back());
  eachEnd([&](uint32_t source, const End &end) { ends[begin[source + 1]++] = end; });
  Connections result;
  result.sendOf.assign(program.threadBlocks.size(), None);
  result.recvOf.assign(program.threadBlocks.size(), None);
  result.all.reserve(ends.size() / 2);
  for (uint32_t source = 0; source != program.ranks(); ++source) {
    auto own = llvm::MutableArrayRef(ends).slice(begin[source], begin[source + 1] - begin[source]);
    std::sort(own.begin(), own.end());
    pairEnds(source, own, result);
  }
  return result;
}

Connections StructureChecker::run() {
  checkLimits();
  for (uint32_t index = 0; index != program.threadBlocks.size() && !enough(); ++index)
    checkBlock(index);
  if (findings.empty())
    checkMoves();
  if (!findings.empty())
    return {};
  Connections connections = connect();
  for (const Connection &connection : connections.all)
    if (!enough())
      checkMessages(connection);
  return connections;
}

Connections gc3::verify::checkStructure(const Program &program, const Options &options,
                                        std::vector<Finding> &findings) {
  return StructureChecker(program, options, findings).run();
}
