// SPDX-License-Identifier: Apache-2.0
// Mutators of connections and messages.
#include "Mutators.h"

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::mutation;

using Result = std::optional<uint32_t>;

static std::vector<std::pair<uint32_t, uint32_t>> allBlocks(const Draft &draft) {
  std::vector<std::pair<uint32_t, uint32_t>> result;
  for (uint32_t rank = 0; rank != draft.ranks.size(); ++rank)
    for (uint32_t block = 0; block != draft.ranks[rank].size(); ++block)
      if (draft.ranks[rank][block].sendPeer >= 0 || draft.ranks[rank][block].recvPeer >= 0)
        result.emplace_back(rank, block);
  return result;
}

static Result retarget(Draft &draft, host::Random &random) {
  auto which = pick(allBlocks(draft), random);
  if (!which)
    return std::nullopt;
  Draft::Block &block = draft.ranks[which->first][which->second];
  int32_t &peer = block.sendPeer >= 0 && (block.recvPeer < 0 || random.below(2)) ? block.sendPeer : block.recvPeer;
  peer = static_cast<int32_t>((static_cast<uint32_t>(peer) + 1 + random.below(draft.ranks.size() - 1)) %
                              draft.ranks.size());
  return which->first;
}

static Result changeChannel(Draft &draft, host::Random &random) {
  auto which = pick(allBlocks(draft), random);
  if (!which)
    return std::nullopt;
  uint32_t &channel = draft.ranks[which->first][which->second].channel;
  channel = channel != 0 && random.below(2) ? channel - 1 : channel + 1;
  return which->first;
}

/// Exchanges the send peers, or the receive peers, of two thread blocks of a rank.
static Result exchangePeers(Draft &draft, host::Random &random) {
  bool sending = random.below(2) != 0;
  auto peer = [&](Draft::Block &block) -> int32_t & { return sending ? block.sendPeer : block.recvPeer; };
  struct Pair {
    uint32_t rank, a, b;
  };
  std::vector<Pair> pairs;
  for (uint32_t rank = 0; rank != draft.ranks.size(); ++rank)
    for (uint32_t a = 0; a != draft.ranks[rank].size(); ++a)
      for (uint32_t b = a + 1; b != draft.ranks[rank].size(); ++b) {
        Draft::Block &x = draft.ranks[rank][a];
        Draft::Block &y = draft.ranks[rank][b];
        if (x.channel == y.channel && peer(x) >= 0 && peer(y) >= 0 && peer(x) != peer(y))
          pairs.push_back({rank, a, b});
      }
  auto pair = pick(pairs, random);
  if (!pair)
    return std::nullopt;
  std::swap(peer(draft.ranks[pair->rank][pair->a]), peer(draft.ranks[pair->rank][pair->b]));
  return pair->rank;
}

/// Returns the opcode without its send, or nothing if no useful step remains.
static std::optional<Opcode> withoutSend(Opcode opcode) {
  if (opcode == Opcode::RecvCopySend)
    return Opcode::Recv;
  if (opcode == Opcode::RecvReduceCopySend)
    return Opcode::RecvReduceCopy;
  return std::nullopt;
}

/// Removes the receive from a step. The step then uses the data that is already in its slots.
static void stopReceiving(Draft &draft, StepAddress place) {
  Draft::StepWithWaits &step = draft.step(place);
  switch (step.opcode) {
  case Opcode::RecvReduceCopy: step.opcode = Opcode::Copy; return;
  case Opcode::RecvCopySend:
    step.srcBuffer = step.dstBuffer, step.srcIndex = step.dstIndex;
    step.opcode = Opcode::Send;
    return;
  case Opcode::RecvReduceSend:
  case Opcode::RecvReduceCopySend: step.opcode = Opcode::Send; return;
  case Opcode::Send:
  case Opcode::Recv:
  case Opcode::Copy:
  case Opcode::Reduce: draft.erase(place); return;
  }
}

/// Removes a message: its send and its receive.
static Result dropMessage(Draft &draft, host::Random &random) {
  std::vector<Message> droppable;
  for (const Message &message : messages(draft)) {
    Opcode opcode = draft.step(message.send).opcode;
    if (opcode == Opcode::Send || withoutSend(opcode))
      droppable.push_back(message);
  }
  auto message = pick(droppable, random);
  if (!message)
    return std::nullopt;
  stopReceiving(draft, message->receive);
  Draft::StepWithWaits &sender = draft.step(message->send);
  if (auto rest = withoutSend(sender.opcode))
    sender.opcode = *rest;
  else
    draft.erase(message->send);
  return message->receive.rank;
}

/// Sends a message twice. A new step receives the second message into the destination of the receiving step. If that
/// step has no destination, the new step receives into the source of its reduction.
static Result repeatMessage(Draft &draft, host::Random &random) {
  auto message = pick(messages(draft), random);
  if (!message)
    return std::nullopt;
  Draft::StepWithWaits send = draft.step(message->send);
  if (writesDst(send.opcode))
    send.srcBuffer = send.dstBuffer, send.srcIndex = send.dstIndex;
  send.opcode = Opcode::Send;
  send.waits.clear();
  Draft::StepWithWaits receive = draft.step(message->receive);
  if (!writesDst(receive.opcode))
    receive.dstBuffer = receive.srcBuffer, receive.dstIndex = receive.srcIndex;
  receive.opcode = Opcode::Recv;
  receive.waits.clear();
  draft.insertBehind(message->send, send);
  draft.insertBehind(message->receive, receive);
  return message->receive.rank;
}

static Result shortenMessage(Draft &draft, host::Random &random) {
  std::vector<Message> longer;
  for (const Message &message : messages(draft))
    if (draft.step(message.send).count > 1)
      longer.push_back(message);
  auto message = pick(longer, random);
  if (!message)
    return std::nullopt;
  --draft.step(message->send).count;
  --draft.step(message->receive).count;
  return message->receive.rank;
}

/// Swaps two consecutive messages of a connection, but only at the sender.
static Result swapMessages(Draft &draft, host::Random &random) {
  std::vector<Message> all = messages(draft);
  std::vector<std::pair<StepAddress, StepAddress>> pairs;
  for (size_t i = 1; i < all.size(); ++i) {
    StepAddress a = all[i - 1].send;
    StepAddress b = all[i].send;
    bool plain = draft.step(a).opcode == Opcode::Send && draft.step(b).opcode == Opcode::Send;
    if (plain && a.rank == b.rank && a.block == b.block && draft.step(a).count == draft.step(b).count)
      pairs.emplace_back(a, b);
  }
  auto pair = pick(pairs, random);
  if (!pair)
    return std::nullopt;
  std::swap(draft.step(pair->first), draft.step(pair->second));
  return pair->first.rank;
}

static constexpr Kind kinds[] = {
    {"retarget", "a thread block sends to, or receives from, another rank", retarget},
    {"change-channel", "a thread block uses another channel", changeChannel},
    {"exchange-peers", "two thread blocks of a rank exchange their peers", exchangePeers},
    {"drop-message", "a send goes, and its receive", dropMessage},
    {"repeat-message", "a send is done twice, and its receive", repeatMessage},
    {"shorten-message", "a message and its receive move one slot less", shortenMessage},
    {"swap-messages", "two messages of a connection are sent in the other order", swapMessages},
};

std::span<const Kind> gc3::mutation::messageKinds() {
  return kinds;
}
