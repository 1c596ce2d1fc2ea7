// SPDX-License-Identifier: Apache-2.0
// Assigns channels (GC3 section 4.4). All messages of a chain get the first channel on which the frames of the chain's
// connections fit together. If there is no such channel, the chain is cut at a fused instruction. The channel that can
// take most messages gets these, and the rest of the chain gets a channel of its own.
//
// Directives restrict single messages. A message with a channel directive has this channel, a manual thread block
// restricts the channels of a message (ManualBlocks.h), and each parallel instance has its own channels
// (ChannelPool.h).
#include "ManualBlocks.h"
#include "Stages.h"
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

namespace {

class ChannelAssigner {
public:
  ChannelAssigner(Instructions &instructions, const Options &options, uint32_t newChannels, Diagnostics &diags)
      : instructions(instructions), info(*instructions.dag.info), options(options), newChannels(newChannels),
        diags(diags), result{Frames(info.collective.ranks), {}},
        manual(instructions, options, pool, result.frames, diags) {}

  std::optional<Channels> run();

private:
  /// Messages of a chain that fit on one channel.
  struct Part {
    uint32_t messages = 0;
    uint32_t end = None; ///< the instruction that sends the first message that does not fit, or None
  };

  void reserveDirectiveChannels();
  void assignChain(uint32_t head);
  uint32_t assignPart(uint32_t begin, const ChainDemand &demand);
  Part place(uint32_t begin, uint32_t channel);
  bool placeMessage(uint32_t sender, uint32_t incoming, uint32_t channel);
  void placeReceive(uint32_t receiver, uint32_t channel);
  ChainDemand demandOfMessage(uint32_t receiver) const;
  bool allows(uint32_t receiver, uint32_t channel);
  uint32_t onlyChannel(uint32_t receiver);
  Frames::Request request(uint32_t instruction, uint32_t directive, uint32_t channel) const;
  bool mayOpen(uint32_t begin);
  bool mustFail(uint32_t head) const;
  uint32_t next(uint32_t instruction) const { return instructions.at(instruction).receiver; }

  Instructions &instructions;
  const ProgramInfo &info;
  const Options &options;
  uint32_t newChannels;
  Diagnostics &diags;
  Channels result;
  ChannelPool pool;
  ManualBlocks manual;
  uint32_t lastFull = 0; // an instruction of the current chain on a rank without space for another thread block, plus 1
};

} // namespace

static constexpr size_t channelsTried = 64; // bounds the work per chain

/// Reserves the channels of directives that an instruction still has. Other directives belonged to operations that
/// lowering left out.
void ChannelAssigner::reserveDirectiveChannels() {
  if (llvm::none_of(info.directives, [](const Directive &directive) { return directive.channel >= 0; }))
    return;
  std::vector<uint8_t> used(info.directives.size());
  for (const Instruction &instruction : instructions.dag.instructions)
    used[instruction.directive] = used[instruction.sendDirective] = 1;
  for (size_t i = 0; i != used.size(); ++i)
    if (used[i] && info.directives[i].channel >= 0)
      pool.reserve(static_cast<uint32_t>(info.directives[i].channel));
}

/// Returns the demand of the message that `receiver` receives. A message that shares a manual thread block with a
/// parallel instance uses the channels of this instance.
ChainDemand ChannelAssigner::demandOfMessage(uint32_t receiver) const {
  const Instruction &instruction = instructions.at(receiver);
  ChainDemand demand = demandOf(info.directives[instruction.directive], instruction.instance);
  if (demand.instance < 0)
    demand.instance = manual.instanceOf(receiver);
  return demand;
}

/// Returns true if the directives of a message allow the channel. Can place other messages with manual thread blocks on
/// this channel, so after a result of false the caller must roll back the frames.
bool ChannelAssigner::allows(uint32_t receiver, uint32_t channel) {
  ChainDemand demand = demandOfMessage(receiver);
  auto instance = static_cast<uint32_t>(std::max(demand.instance, 0));
  if (demand.channel >= 0 && pool.physical(static_cast<uint32_t>(demand.channel), instance) != channel)
    return false;
  if (demand.instance >= 0 && !pool.serves(channel, instance))
    return false;
  return manual.admits(receiver, channel);
}

Frames::Request ChannelAssigner::request(uint32_t index, uint32_t directive, uint32_t channel) const {
  const Instruction &instruction = instructions.at(index);
  return {.rank = instruction.rank, .channel = channel, .directive = directive, .site = instruction.site};
}

/// Places the sending side of the message that `sender` sends. `incoming` is the connection over which `sender`
/// receives in the same thread block. It is None if `sender` only sends, or if the channel assigner splits the chain
/// there. Returns false and changes nothing if the message does not fit.
bool ChannelAssigner::placeMessage(uint32_t sender, uint32_t incoming, uint32_t channel) {
  uint32_t receiver = next(sender);
  size_t mark = result.frames.mark();
  if (allows(receiver, channel)) {
    Frames::Request wanted = request(
        sender, incoming == None ? instructions.at(sender).sendDirective : instructions.at(sender).directive, channel);
    wanted.recvConnection = incoming;
    wanted.sendConnection = result.frames.connection(wanted.rank, instructions.at(receiver).rank, channel);
    result.connectionOf[receiver] = wanted.sendConnection;
    if (result.frames.place(wanted))
      return true;
  }
  result.frames.rollBack(mark);
  return false;
}

/// Places the receiving side of a message whose receiver does not pass it on in the same thread block. This side always
/// fits.
void ChannelAssigner::placeReceive(uint32_t receiver, uint32_t channel) {
  Frames::Request wanted = request(receiver, instructions.at(receiver).directive, channel);
  wanted.recvConnection = result.connectionOf[receiver];
  [[maybe_unused]] bool fits = result.frames.place(wanted);
  assert(fits);
}

/// Places as many messages of a chain as fit on the channel, from the message that `begin` sends.
ChannelAssigner::Part ChannelAssigner::place(uint32_t begin, uint32_t channel) {
  Part part{0, begin};
  for (uint32_t incoming = None; placeMessage(part.end, incoming, channel); incoming = result.connectionOf[part.end]) {
    ++part.messages;
    part.end = next(part.end);
    if (next(part.end) == None) {
      placeReceive(part.end, channel);
      return {part.messages, None};
    }
  }
  if (part.messages != 0)
    placeReceive(part.end, channel);
  return part;
}

/// Returns true if messages from `begin` on may open a new channel, which costs thread blocks on every rank of theirs.
bool ChannelAssigner::mayOpen(uint32_t begin) {
  if (pool.openCount() >= newChannels || begin < lastFull)
    return false;
  for (uint32_t i = begin; i != None; i = next(i)) {
    if (result.frames.framesOn(instructions.at(i).rank) < options.maxThreadBlocks)
      continue;
    lastFull = i + 1;
    return false;
  }
  return true;
}

/// Returns true if the rank of the chain's head needs more thread blocks than the limit, and another attempt with fewer
/// channels follows.
bool ChannelAssigner::mustFail(uint32_t head) const {
  return newChannels > 1 && result.frames.fewestOn(instructions.at(head).rank) > options.maxThreadBlocks;
}

/// Returns the only channel that the directives of a message allow, or None if it has a choice.
uint32_t ChannelAssigner::onlyChannel(uint32_t receiver) {
  ChainDemand demand = demandOfMessage(receiver);
  if (demand.channel >= 0)
    return pool.physical(static_cast<uint32_t>(demand.channel), static_cast<uint32_t>(std::max(demand.instance, 0)));
  return manual.channelOf(receiver);
}

/// Places messages of a chain, from the message that `begin` sends, on the channel of the chain's directive, if there
/// is one. Otherwise chooses the channel that takes most of them, or the first of several. Returns the end of the part.
uint32_t ChannelAssigner::assignPart(uint32_t begin, const ChainDemand &demand) {
  if (uint32_t only = onlyChannel(next(begin)); only != None)
    return place(begin, only).end;
  const int32_t ofMessage = demandOfMessage(next(begin)).instance;
  const int32_t instance = ofMessage >= 0 ? ofMessage : demand.instance;
  const auto own = static_cast<uint32_t>(std::max(instance, 0));
  uint32_t best = None;
  Part most;
  auto takesAll = [&](uint32_t channel) {
    size_t mark = result.frames.mark();
    Part part = place(begin, channel);
    if (part.end == None)
      return true;
    result.frames.rollBack(mark);
    if (part.messages > most.messages)
      most = part, best = channel;
    return false;
  };
  if (demand.channel >= 0 && takesAll(pool.physical(static_cast<uint32_t>(demand.channel), own)))
    return None;
  if (most.messages != 0)
    return place(begin, best).end;
  const std::vector<uint32_t> &candidates = pool.candidates(instance);
  size_t tried = std::min(candidates.size(), channelsTried);
  for (size_t i = 0; i != tried; ++i)
    if (takesAll(candidates[i]))
      return None;
  if ((most.messages == 0 || mayOpen(begin)) && takesAll(pool.open(own)))
    return None;
  assert(most.messages != 0 && "an unused channel fits every message");
  return place(begin, best).end;
}

void ChannelAssigner::assignChain(uint32_t head) {
  const ChainDemand &demand = instructions.dag.chains[instructions.at(head).chain];
  lastFull = 0;
  for (uint32_t begin = assignPart(head, demand); begin != None;) {
    instructions.split(begin);
    begin = assignPart(begin, demand);
  }
  result.frames.commit();
}

std::optional<Channels> ChannelAssigner::run() {
  reserveDirectiveChannels();
  result.connectionOf.assign(instructions.n, None);
  if (info.pinsThreadBlocks() && !manual.placeFixed())
    return std::nullopt;
  for (uint32_t i = 0; i != instructions.n; ++i) {
    if (instructions.at(i).opcode != Opcode::Send)
      continue;
    assignChain(i);
    if (mustFail(i))
      return std::nullopt;
    if (pool.exceedsLimit(info.sites[instructions.at(i).site], diags))
      return std::nullopt;
  }
  manual.placeRest();
  return std::move(result);
}

std::optional<Channels> gc3::schedule::assignChannels(Instructions &instructions, const Options &options,
                                                      uint32_t newChannels, Diagnostics &diags) {
  return ChannelAssigner(instructions, options, newChannels, diags).run();
}
