// SPDX-License-Identifier: Apache-2.0
// Structural checks. Connections are matched by sorting (source, destination, channel): O(n log n) in thread blocks.
#include "Connections.h"
#include <algorithm>
#include <tuple>

using namespace gc3::ir;
using namespace gc3::verify;

namespace {

class StructureChecker {
public:
  StructureChecker(const Program &program, const Options &options, std::vector<Finding> &findings)
      : program(program), options(options), findings(findings) {}
  Connections run();

private:
  void checkLimits();
  void checkMoves();
  void checkBlock(uint32_t index);
  void checkStep(uint32_t block, uint32_t index);
  void checkSlice(uint32_t block, uint32_t step, const char *what, BufferId buffer, uint32_t first, uint32_t count);
  void checkWaits(uint32_t block, uint32_t step);
  Connections connect();
  void checkMessages(const Connection &connection);
  template <typename Counts>
  uint32_t nextMessage(const ThreadBlock &block, uint32_t step, Counts counts) const;
  template <typename Counts>
  uint32_t messages(const ThreadBlock &block, Counts counts) const;
  void wrong(uint32_t block, uint32_t step, const std::string &what) {
    if (enough())
      return;
    uint32_t site = program.steps[program.threadBlocks[block].firstStep + step].site;
    findings.push_back({Finding::Structure, describe(program, block, step) + " " + what, site, {}});
  }
  void wrongBlock(const std::string &what) {
    if (!enough())
      findings.push_back({Finding::Structure, what, None, {}});
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
  text += std::string(" (") + gc3::ir::name(opcode);
  if (receives(opcode))
    text += " from " + std::to_string(block.recvPeer);
  if (sends(opcode))
    text += " to " + std::to_string(block.sendPeer);
  return text + ")";
}

void StructureChecker::checkSlice(uint32_t block, uint32_t step, const char *what, BufferId buffer, uint32_t first,
                                  uint32_t count) {
  uint32_t rank = program.threadBlocks[block].rank;
  if (buffer >= program.info->bufferCount()) {
    wrong(block, step, std::string(what) + " a buffer that the program does not have");
    return;
  }
  uint64_t size = program.bufferSize(rank, buffer);
  if (uint64_t(first) + count > size)
    wrong(block, step,
          std::string(what) + " " + program.info->bufferName(buffer) + "[" + std::to_string(first) + ".." +
              std::to_string(uint64_t(first) + count) + "], which has " + std::to_string(size) + " slots on this rank");
}

static std::string name(const Wait &wait) {
  return "tb " + std::to_string(wait.threadBlock) + " step " + std::to_string(wait.step);
}

void StructureChecker::checkWaits(uint32_t index, uint32_t number) {
  const ThreadBlock &block = program.threadBlocks[index];
  const Step &step = program.steps[block.firstStep + number];
  if (uint64_t(step.waitBegin) + step.waitCount > program.waits.size()) {
    wrong(index, number, "has waits that are not there");
    return;
  }
  uint32_t blocks = program.rankBegin[block.rank + 1] - program.rankBegin[block.rank];
  for (uint32_t i = step.waitBegin; i != step.waitBegin + step.waitCount; ++i) {
    const Wait &wait = program.waits[i];
    if (wait.threadBlock >= blocks ||
        wait.step >= program.threadBlocks[program.rankBegin[block.rank] + wait.threadBlock].stepCount)
      wrong(index, number, "waits for " + name(wait) + ", which does not exist");
    else if (wait.threadBlock == local(index) && wait.step >= number)
      wrong(index, number, "waits for " + name(wait) + ", which its own thread block has not reached");
  }
}

void StructureChecker::checkStep(uint32_t index, uint32_t number) {
  const ThreadBlock &block = program.threadBlocks[index];
  const Step &step = program.steps[block.firstStep + number];
  if (step.count == 0)
    wrong(index, number, "moves nothing");
  if (sends(step.opcode) && block.sendPeer < 0)
    wrong(index, number, "sends in a thread block without a peer to send to");
  if (receives(step.opcode) && block.recvPeer < 0)
    wrong(index, number, "receives in a thread block without a peer to receive from");
  if (readsSrc(step.opcode))
    checkSlice(index, number, "reads", step.srcBuffer, step.srcIndex, step.count);
  if (writesDst(step.opcode))
    checkSlice(index, number, "writes", step.dstBuffer, step.dstIndex, step.count);
  // Tiles of a step are moved one after the other, so what one writes the next must not read.
  bool meets = readsSrc(step.opcode) && writesDst(step.opcode) && step.srcBuffer == step.dstBuffer &&
               step.srcIndex != step.dstIndex && uint64_t(step.srcIndex) < uint64_t(step.dstIndex) + step.count &&
               uint64_t(step.dstIndex) < uint64_t(step.srcIndex) + step.count;
  if (meets)
    wrong(index, number, "writes slots that it reads, shifted");
  checkWaits(index, number);
}

void StructureChecker::checkLimits() {
  if (program.fifoSlots == 0 || program.fifoSlots > options.maxFifoSlots)
    wrongBlock("the program is meant for " + std::to_string(program.fifoSlots) +
               " slots per connection; there can be 1 to " + std::to_string(options.maxFifoSlots));
  for (uint32_t rank = 0; rank != program.ranks(); ++rank) {
    uint32_t blocks = program.rankBegin[rank + 1] - program.rankBegin[rank];
    if (blocks > options.maxThreadBlocks)
      wrongBlock("rank " + std::to_string(rank) + " has " + std::to_string(blocks) + " thread blocks, the limit is " +
                 std::to_string(options.maxThreadBlocks) + " (--max-threadblocks)");
  }
}

/// Of steps whose ranges are there.
void StructureChecker::checkMoves() {
  uint64_t moved = 0;
  for (const Step &step : program.steps)
    moved += step.count;
  if (moved / 16 > options.maxSlots)
    findings.push_back(
        {Finding::TooLarge,
         "its steps move " + std::to_string(moved) + " slots, too many to follow; --max-slots allows more",
         None,
         {}});
}

void StructureChecker::checkBlock(uint32_t index) {
  const ThreadBlock &block = program.threadBlocks[index];
  std::string text = "rank " + std::to_string(block.rank) + " tb " + std::to_string(local(index));
  for (int32_t peer : {block.sendPeer, block.recvPeer}) {
    if (peer >= 0 && static_cast<uint32_t>(peer) >= program.ranks())
      wrongBlock(text + " has peer " + std::to_string(peer) + ", and there are " + std::to_string(program.ranks()) +
                 " ranks");
    if (peer >= 0 && static_cast<uint32_t>(peer) == block.rank)
      wrongBlock(text + " has its own rank as a peer");
  }
  for (uint32_t step = 0; step != block.stepCount && !enough(); ++step)
    checkStep(index, step);
}

/// The next step of a thread block from `step` on that sends, or that receives; its number of steps if there is none.
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

/// The k-th send meets the k-th receive: as many, and of the same counts.
void StructureChecker::checkMessages(const Connection &connection) {
  const ThreadBlock &sender = program.threadBlocks[connection.sender];
  const ThreadBlock &receiver = program.threadBlocks[connection.receiver];
  uint32_t sent = messages(sender, sends);
  uint32_t received = messages(receiver, receives);
  if (sent != received) {
    wrongBlock("rank " + std::to_string(sender.rank) + " sends " + std::to_string(sent) + " messages to rank " +
               std::to_string(receiver.rank) + " on channel " + std::to_string(sender.channel) + ", which receives " +
               std::to_string(received));
    return;
  }
  uint32_t i = nextMessage(sender, 0, sends);
  uint32_t j = nextMessage(receiver, 0, receives);
  for (; i != sender.stepCount; i = nextMessage(sender, i + 1, sends), j = nextMessage(receiver, j + 1, receives)) {
    const Step &send = program.steps[sender.firstStep + i];
    const Step &receive = program.steps[receiver.firstStep + j];
    if (send.count == receive.count)
      continue;
    wrong(connection.receiver, j,
          "receives " + std::to_string(receive.count) + " slots where " + describe(program, connection.sender, i) +
              " sends " + std::to_string(send.count));
    findings.back().notes.push_back({"the send is here", send.site});
    return;
  }
}

Connections StructureChecker::connect() {
  using End = std::tuple<uint32_t, uint32_t, uint32_t, bool, uint32_t>; // source, destination, channel, receives, block
  std::vector<End> ends;
  for (uint32_t index = 0; index != program.threadBlocks.size(); ++index) {
    const ThreadBlock &block = program.threadBlocks[index];
    if (block.sendPeer >= 0)
      ends.emplace_back(block.rank, static_cast<uint32_t>(block.sendPeer), block.channel, false, index);
    if (block.recvPeer >= 0)
      ends.emplace_back(static_cast<uint32_t>(block.recvPeer), block.rank, block.channel, true, index);
  }
  std::sort(ends.begin(), ends.end());
  Connections result;
  result.sendOf.assign(program.threadBlocks.size(), None);
  result.recvOf.assign(program.threadBlocks.size(), None);
  for (size_t i = 0; i != ends.size();) {
    auto [source, destination, channel, first, block] = ends[i];
    size_t end = i;
    while (end != ends.size() && std::tuple(std::get<0>(ends[end]), std::get<1>(ends[end]), std::get<2>(ends[end])) ==
                                     std::tuple(source, destination, channel))
      ++end;
    bool whole = end == i + 2 && !std::get<3>(ends[i]) && std::get<3>(ends[i + 1]);
    if (!whole) {
      wrongBlock("the connection from rank " + std::to_string(source) + " to rank " + std::to_string(destination) +
                 " on channel " + std::to_string(channel) +
                 " must have one sending and one receiving thread block, and has " + std::to_string(end - i) +
                 " in all" + (first ? ", none of which sends" : ""));
    } else {
      result.sendOf[block] = result.recvOf[std::get<4>(ends[i + 1])] = static_cast<uint32_t>(result.all.size());
      result.all.push_back({block, std::get<4>(ends[i + 1])});
    }
    i = end;
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
