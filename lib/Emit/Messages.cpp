// SPDX-License-Identifier: Apache-2.0
// Sorts the sending ends and the receiving ends of all connections in the same way. The two ends of a connection then
// have the same index.
#include "gc3/Emit/Messages.h"
#include <algorithm>
#include <cassert>
#include <tuple>

using namespace gc3::ir;
using gc3::emit::Messages;

namespace {

struct End {
  uint32_t source, destination, channel, block;
  bool operator<(const End &other) const {
    return std::tie(source, destination, channel) < std::tie(other.source, other.destination, other.channel);
  }
};

} // namespace

/// Returns the steps of a thread block whose opcode `moves` accepts: its sends, or its receives.
static std::vector<uint32_t> stepsThatMove(const Program &program, uint32_t index, bool (*moves)(Opcode)) {
  std::vector<uint32_t> result;
  const ThreadBlock &block = program.threadBlocks[index];
  for (uint32_t step = block.firstStep; step != block.firstStep + block.stepCount; ++step)
    if (moves(program.steps[step].opcode))
      result.push_back(step);
  return result;
}

static void match(const Program &program, uint32_t sender, uint32_t receiver, Messages &messages) {
  std::vector<uint32_t> sent = stepsThatMove(program, sender, [](Opcode opcode) { return sends(opcode); });
  std::vector<uint32_t> received = stepsThatMove(program, receiver, [](Opcode opcode) { return receives(opcode); });
  assert(sent.size() == received.size() && "Verify has seen that they match");
  for (size_t i = 0; i != sent.size(); ++i) {
    messages.receiverOf[sent[i]] = received[i];
    messages.senderOf[received[i]] = sent[i];
    if (i >= program.fifoSlots)
      messages.freedBy[sent[i]] = received[i - program.fifoSlots];
  }
}

Messages gc3::emit::matchMessages(const Program &program) {
  std::vector<uint32_t> none(program.steps.size(), None);
  Messages messages{none, none, none};
  std::vector<End> senders;
  std::vector<End> receivers;
  for (uint32_t i = 0; i != program.threadBlocks.size(); ++i) {
    const ThreadBlock &block = program.threadBlocks[i];
    if (block.sendPeer >= 0)
      senders.push_back({block.rank, static_cast<uint32_t>(block.sendPeer), block.channel, i});
    if (block.recvPeer >= 0)
      receivers.push_back({static_cast<uint32_t>(block.recvPeer), block.rank, block.channel, i});
  }
  std::sort(senders.begin(), senders.end());
  std::sort(receivers.begin(), receivers.end());
  assert(senders.size() == receivers.size() && "every connection has two ends");
  for (size_t i = 0; i != senders.size(); ++i)
    match(program, senders[i].block, receivers[i].block, messages);
  return messages;
}
