// SPDX-License-Identifier: Apache-2.0
// Pairs the two ends of every connection (source rank, destination rank, channel) by sorting and merging both lists,
// then compares their messages one by one. Without this check a receiver could wait for a message that no rank sends,
// and the job would hang.
#include "bundle/Validate.h"
#include "gc3/Common/Opcode.h"

#include <algorithm>
#include <array>
#include <compare>
#include <vector>

namespace gc3::bundle {

using namespace common;

namespace {

/// One end of a connection.
struct End {
  uint32_t source, destination, channel;
  uint32_t threadBlock;
  auto key() const { return std::array{source, destination, channel}; }
  auto operator<=>(const End &other) const { return key() <=> other.key(); }
  bool operator==(const End &other) const { return key() == other.key(); }
};

std::string describe(const End &end) {
  return "connection from rank " + std::to_string(end.source) + " to rank " + std::to_string(end.destination) +
         " on channel " + std::to_string(end.channel);
}

bool hasMessages(const RankView &view, const fbs::ThreadBlock &block, bool sends) {
  auto steps = view.instructions.subspan(block.first_instruction(), block.instruction_count());
  return std::any_of(steps.begin(), steps.end(), [sends](const fbs::Instruction &inst) {
    const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
    return sends ? needs.sends : needs.receives;
  });
}

/// Returns the sending ends of all connections if `sends` is true, else the receiving ends. Sorts them. A thread block
/// that names a peer but exchanges no message with it is not an end.
std::vector<End> collectEnds(std::span<const RankView> views, bool sends) {
  std::vector<End> ends;
  for (uint32_t rank = 0; rank < views.size(); ++rank)
    for (uint32_t tb = 0; tb < views[rank].threadBlocks.size(); ++tb) {
      const fbs::ThreadBlock &block = views[rank].threadBlocks[tb];
      int32_t peer = sends ? block.send_peer() : block.recv_peer();
      if (peer < 0 || !hasMessages(views[rank], block, sends))
        continue;
      auto other = static_cast<uint32_t>(peer);
      ends.push_back({sends ? rank : other, sends ? other : rank, block.channel(), tb});
    }
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// Iterates over the messages that one thread block sends, or over those that it receives, in order.
class Messages {
public:
  Messages(const RankView &view, uint32_t threadBlock, bool sending) : sends(sending) {
    const fbs::ThreadBlock &block = view.threadBlocks[threadBlock];
    steps = view.instructions.subspan(block.first_instruction(), block.instruction_count());
  }
  /// Returns the number of slots of the next message, or 0 after the last message.
  uint32_t next() {
    while (position < steps.size()) {
      const fbs::Instruction &inst = steps[position++];
      const OpcodeTraits &needs = traits(static_cast<Opcode>(inst.opcode()));
      if (sends ? needs.sends : needs.receives)
        return inst.count();
    }
    return 0;
  }

private:
  std::span<const fbs::Instruction> steps;
  size_t position = 0;
  bool sends;
};

} // namespace

std::string validateConnections(std::span<const RankView> views) {
  std::vector<End> senders = collectEnds(views, true), receivers = collectEnds(views, false);
  for (auto *side : {&senders, &receivers})
    if (auto twice = std::adjacent_find(side->begin(), side->end()); twice != side->end())
      return describe(*twice) + " has two " + (side == &senders ? "sending" : "receiving") + " thread blocks";
  for (size_t i = 0; i < std::max(senders.size(), receivers.size()); ++i) {
    bool sent = i < senders.size() && (i >= receivers.size() || senders[i] <= receivers[i]);
    bool received = i < receivers.size() && (i >= senders.size() || receivers[i] <= senders[i]);
    if (!sent || !received)
      return describe(sent ? senders[i] : receivers[i]) + " has no " + (sent ? "receiving" : "sending") +
             " thread block";
    Messages out(views[senders[i].source], senders[i].threadBlock, true);
    Messages in(views[receivers[i].destination], receivers[i].threadBlock, false);
    for (uint64_t k = 0;; ++k) {
      uint32_t sentCount = out.next(), receivedCount = in.next();
      if (sentCount != receivedCount)
        return describe(senders[i]) + ": message " + std::to_string(k) + " is sent with " + std::to_string(sentCount) +
               " slots and received with " + std::to_string(receivedCount);
      if (sentCount == 0)
        break;
    }
  }
  return {};
}

} // namespace gc3::bundle
