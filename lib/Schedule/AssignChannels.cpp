// SPDX-License-Identifier: Apache-2.0
// Assigns channels (GC3 section 4.4). Messages of one chain share a channel. A directive can name the channel;
// otherwise it is the first one on which the frames of the chain's connections fit together. Each parallel instance has
// its own channels. The directive `channel k` means channel k for instance 0, and another unused channel for each
// further instance. If no channel fits, the chain is cut: the fused instruction that does not fit is split into a
// receive and a send.
#include "Stages.h"
#include "gc3/Support/Diagnostics.h"
#include "gc3/Support/PackedKey.h"
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
        diags(diags), result{Frames(info.collective.ranks), {}} {}

  std::optional<Channels> run();

private:
  void reserveDirectiveChannels();
  bool assignChain(uint32_t head);
  bool assignFree(uint32_t head, int32_t instance);
  bool tryChannel(uint32_t head, uint32_t channel, bool cut);
  bool placeReceiver(uint32_t receiver, uint32_t outgoing, uint32_t channel, bool cut);
  bool placeOrReport(const Frames::Want &want, bool report);
  bool refusePinnedInstances();
  bool placePinnedLocals();
  /// The sides of an instruction that need a frame.
  enum Side : uint8_t { Receiving = 1, Sending = 2, Both = Receiving | Sending };
  Frames::Want want(uint32_t instruction, Side side, uint32_t channel) const;
  uint32_t physical(uint32_t channel, uint32_t instance);
  uint32_t open(uint32_t instance);
  bool mayOpen(uint32_t head) const;
  bool mustFail(uint32_t head) const;
  void report(const Frames::Want &want, Conflict conflict, uint32_t frame);
  uint32_t next(uint32_t instruction) const { return instructions.at(instruction).receiver; }

  Instructions &instructions;
  const ProgramInfo &info;
  const Options &options;
  uint32_t newChannels;
  Diagnostics &diags;
  Channels result;
  std::vector<uint8_t> reserved;                                      // by channel: named by a directive or opened
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> instanceChannels; // (directive channel, instance > 0) → channel
  std::vector<uint32_t> allChannels;                                  // channels in use, in the order of opening
  std::vector<std::vector<uint32_t>> channelsOfInstance;              // by instance
  uint32_t lowestFree = 0;
};

} // namespace

static constexpr uint32_t maxChannels = 1 << 16;
static constexpr size_t channelsTried = 64; // bounds the work per chain

/// Reserves the channels of directives that an instruction still has. Other directives belonged to operations that
/// lowering left out.
void ChannelAssigner::reserveDirectiveChannels() {
  if (llvm::none_of(info.directives, [](const Directive &directive) { return directive.channel >= 0; }))
    return;
  std::vector<uint8_t> used(info.directives.size());
  for (const Instruction &instruction : instructions.dag.instructions)
    used[instruction.directive] = used[instruction.sendDirective] = 1;
  for (size_t i = 0; i != used.size(); ++i) {
    const Directive &directive = info.directives[i];
    if (!used[i] || directive.channel < 0)
      continue;
    auto channel = static_cast<uint32_t>(directive.channel);
    if (reserved.size() <= channel)
      reserved.resize(channel + 1);
    reserved[channel] = 1;
  }
}

/// Opens the lowest unused channel for an instance.
uint32_t ChannelAssigner::open(uint32_t instance) {
  while (lowestFree < reserved.size() && reserved[lowestFree])
    ++lowestFree;
  uint32_t channel = lowestFree;
  if (reserved.size() <= channel)
    reserved.resize(channel + 1);
  reserved[channel] = 1;
  allChannels.push_back(channel);
  if (channelsOfInstance.size() <= instance)
    channelsOfInstance.resize(instance + 1);
  channelsOfInstance[instance].push_back(channel);
  return channel;
}

uint32_t ChannelAssigner::physical(uint32_t channel, uint32_t instance) {
  auto [place, isNew] = instanceChannels.try_emplace(uint64_t(channel) << 32 | instance, channel);
  if (!isNew)
    return place->second;
  if (instance != 0)
    return place->second = open(instance);
  allChannels.push_back(channel);
  if (channelsOfInstance.empty())
    channelsOfInstance.resize(1);
  channelsOfInstance[0].push_back(channel);
  return channel;
}

/// Returns the requirements of one or both sides of an instruction. Fusion has checked that the manual thread blocks of
/// a fused receive and send agree.
Frames::Want ChannelAssigner::want(uint32_t index, Side side, uint32_t channel) const {
  const Instruction &instruction = instructions.at(index);
  uint32_t directive = (side & Receiving) != 0 ? instruction.directive : instruction.sendDirective;
  Frames::Want want{.rank = instruction.rank, .channel = channel, .directive = directive, .site = instruction.site};
  if ((side & Receiving) != 0)
    want.pin = info.directives[instruction.directive].recvThreadBlock;
  if ((side & Sending) != 0 && want.pin < 0)
    want.pin = info.directives[instruction.sendDirective].sendThreadBlock;
  return want;
}

void ChannelAssigner::report(const Frames::Want &want, Conflict conflict, uint32_t index) {
  const Frame &frame = result.frames.all()[index];
  auto link = [&](uint32_t connection) -> const Connection & { return result.frames.connections()[connection]; };
  int32_t named = want.pin >= 0 ? want.pin : frame.pin;
  std::string block = "thread block " + std::to_string(named) + " of rank " + std::to_string(want.rank);
  std::string message;
  switch (conflict) {
  case Conflict::TwoSendPeers:
    message = block + " would send to both rank " + std::to_string(link(frame.sendConnection).destination) +
              " and another peer; give the operations different thread blocks";
    if (want.sendConnection != None)
      message = block + " would send to both rank " + std::to_string(link(frame.sendConnection).destination) +
                " and rank " + std::to_string(link(want.sendConnection).destination) +
                "; give the operations different thread blocks";
    break;
  case Conflict::TwoRecvPeers:
    message = block + " would receive from both rank " + std::to_string(link(frame.recvConnection).source) + " and " +
              (want.recvConnection != None ? "rank " + std::to_string(link(want.recvConnection).source)
                                           : std::string("another peer")) +
              "; give the operations different thread blocks";
    break;
  case Conflict::TwoPins: {
    uint32_t connection = want.sendConnection != None ? want.sendConnection : want.recvConnection;
    message = "channel " + std::to_string(want.channel) + " from rank " + std::to_string(link(connection).source) +
              " to rank " + std::to_string(link(connection).destination) +
              " would be used by two thread blocks of rank " + std::to_string(want.rank) + ", " +
              std::to_string(frame.pin) + " and " + std::to_string(want.pin) +
              "; give the operations different channels";
    break;
  }
  case Conflict::TwoChannels:
    message = block + " would serve both channel " + std::to_string(frame.channel) + " and channel " +
              std::to_string(want.channel) + "; give the operations different thread blocks";
    break;
  case Conflict::None: return;
  }
  diags.error(DiagId::ThreadBlockConflict, info.sites[want.site], message)
      .note(info.sites[frame.site], "the other operation is here");
}

bool ChannelAssigner::placeOrReport(const Frames::Want &want, bool complain) {
  uint32_t other = None;
  Conflict conflict = result.frames.place(want, &other);
  if (conflict != Conflict::None && complain)
    report(want, conflict, other);
  return conflict == Conflict::None;
}

/// Places the receiving instruction, with its outgoing message on connection `outgoing` if it is fused. If `cut` is
/// set, splits a fused instruction that does not fit, and reports remaining conflicts.
bool ChannelAssigner::placeReceiver(uint32_t receiver, uint32_t outgoing, uint32_t channel, bool cut) {
  if (!instructions.fused(receiver)) {
    Frames::Want wanted = want(receiver, Receiving, channel);
    wanted.recvConnection = result.connectionOf[receiver];
    return placeOrReport(wanted, cut);
  }
  Frames::Want wanted = want(receiver, Both, channel);
  wanted.recvConnection = result.connectionOf[receiver];
  wanted.sendConnection = outgoing;
  size_t mark = result.frames.mark();
  if (placeOrReport(wanted, false))
    return true;
  if (!cut)
    return false;
  result.frames.rollBack(mark);
  instructions.split(receiver);
  Frames::Want first = want(receiver, Receiving, channel);
  first.recvConnection = wanted.recvConnection;
  Frames::Want second = want(receiver, Sending, channel);
  second.sendConnection = wanted.sendConnection;
  return placeOrReport(first, true) && placeOrReport(second, true);
}

/// Places the whole chain on a channel. Returns false if the chain does not fit. In this case it undoes all changes if
/// `cut` is false, and has reported an error if `cut` is true.
bool ChannelAssigner::tryChannel(uint32_t head, uint32_t channel, bool cut) {
  size_t mark = result.frames.mark();
  uint32_t receiver = next(head);
  Frames::Want wanted = want(head, Sending, channel);
  wanted.sendConnection = result.frames.connection(wanted.rank, instructions.at(receiver).rank, channel);
  bool fits = placeOrReport(wanted, cut);
  for (uint32_t incoming = wanted.sendConnection; fits && receiver != None; receiver = next(receiver)) {
    result.connectionOf[receiver] = incoming;
    uint32_t outgoing = None;
    if (next(receiver) != None)
      outgoing =
          result.frames.connection(instructions.at(receiver).rank, instructions.at(next(receiver)).rank, channel);
    fits = placeReceiver(receiver, outgoing, channel, cut);
    incoming = outgoing;
  }
  if (!fits && !cut)
    result.frames.rollBack(mark);
  return fits;
}

/// Returns true if the chain may open a new channel, which costs thread blocks on every rank of the chain.
bool ChannelAssigner::mayOpen(uint32_t head) const {
  if (allChannels.size() >= newChannels)
    return false;
  for (uint32_t i = head; i != None; i = next(i))
    if (result.frames.framesOn(instructions.at(i).rank) >= options.maxThreadBlocks)
      return false;
  return true;
}

/// Returns true if the rank of the chain's head needs more thread blocks than the limit, and another attempt with fewer
/// channels follows.
bool ChannelAssigner::mustFail(uint32_t head) const {
  return newChannels > 1 && result.frames.fewestOn(instructions.at(head).rank) > options.maxThreadBlocks;
}

bool ChannelAssigner::assignFree(uint32_t head, int32_t instance) {
  auto own = static_cast<uint32_t>(std::max(instance, 0));
  if (channelsOfInstance.size() <= own)
    channelsOfInstance.resize(own + 1);
  const std::vector<uint32_t> &candidates = instance < 0 ? allChannels : channelsOfInstance[own];
  for (size_t i = 0; i != std::min(candidates.size(), channelsTried); ++i)
    if (tryChannel(head, candidates[i], false))
      return true;
  if (candidates.empty() || mayOpen(head)) {
    uint32_t channel = open(own);
    if (tryChannel(head, channel, false))
      return true;
  }
  return tryChannel(head, (instance < 0 ? allChannels : channelsOfInstance[own]).front(), true);
}

bool ChannelAssigner::assignChain(uint32_t head) {
  const ChainDemand &demand = instructions.dag.chains[instructions.at(head).chain];
  bool fits;
  if (demand.channel < 0) {
    fits = assignFree(head, demand.instance);
  } else {
    uint32_t channel =
        physical(static_cast<uint32_t>(demand.channel), static_cast<uint32_t>(std::max(demand.instance, 0)));
    fits = tryChannel(head, channel, true);
  }
  if (fits && reserved.size() > maxChannels) {
    diags.error(DiagId::TooManyChannels, info.sites[instructions.at(head).site],
                "the program needs more than " + std::to_string(maxChannels) +
                    " channels with this operation; use fewer parallel instances");
    return false;
  }
  if (!fits)
    result.frames.rollBack(0); // so that this failure causes no further errors
  result.frames.commit();
  return fits;
}

/// Reports parallel instances with a manual thread block: a thread block has one channel, and each instance needs its
/// own.
bool ChannelAssigner::refusePinnedInstances() {
  bool fits = true;
  for (const Instruction &instruction : instructions.dag.instructions) {
    const Directive &directive = info.directives[instruction.directive];
    bool pinned = directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
    if (instruction.opcode != Opcode::Send || instruction.instance != 0 || directive.parallel == 1 || !pinned)
      continue;
    diags
        .error(DiagId::ThreadBlockConflict, info.sites[instruction.site],
               "an operation with a manual thread block can't run in " + std::to_string(directive.parallel) +
                   " parallel instances, which have a channel each; leave out 'sendtb' and 'recvtb', or the instances")
        .note(directive.parallelSite, "the instances are requested here");
    fits = false;
  }
  return fits;
}

/// Ensures that the manual thread blocks of local operations exist.
bool ChannelAssigner::placePinnedLocals() {
  bool fits = true;
  for (uint32_t i = 0; i != instructions.n; ++i) {
    const Instruction &instruction = instructions.at(i);
    if (receives(instruction.opcode) || sends(instruction.opcode))
      continue;
    const Directive &directive = info.directives[instruction.directive];
    int32_t wantedPin = std::max(directive.sendThreadBlock, directive.recvThreadBlock);
    if (wantedPin < 0)
      continue;
    uint32_t present = result.frames.pinned(instruction.rank, wantedPin);
    uint32_t channel = present != None ? result.frames.all()[present].channel : 0;
    if (directive.channel >= 0)
      channel = physical(static_cast<uint32_t>(directive.channel), instruction.instance);
    Frames::Want wanted = want(i, Both, channel);
    wanted.pin = wantedPin;
    fits &= placeOrReport(wanted, true);
  }
  return fits;
}

std::optional<Channels> ChannelAssigner::run() {
  reserveDirectiveChannels();
  result.connectionOf.assign(instructions.n, None);
  bool pinned = info.pinsThreadBlocks();
  if (pinned && !refusePinnedInstances())
    return std::nullopt;
  bool fits = true;
  for (uint32_t i = 0; i != instructions.n; ++i) {
    if (instructions.at(i).opcode != Opcode::Send || diags.limitReached())
      continue;
    fits &= assignChain(i);
    if (mustFail(i))
      return std::nullopt;
  }
  if (pinned)
    fits &= placePinnedLocals();
  if (!fits)
    return std::nullopt;
  return std::move(result);
}

std::optional<Channels> gc3::schedule::assignChannels(Instructions &instructions, const Options &options,
                                                      uint32_t newChannels, Diagnostics &diags) {
  return ChannelAssigner(instructions, options, newChannels, diags).run();
}
