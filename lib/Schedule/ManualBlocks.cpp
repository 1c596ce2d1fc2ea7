// SPDX-License-Identifier: Apache-2.0
// Groups operations with manual thread blocks, and places the groups.
#include "ManualBlocks.h"
#include "gc3/Support/Quantity.h"
#include "llvm/ADT/DenseSet.h"
#include <algorithm>
#include <utility>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

static constexpr uint32_t unusedChannel = 1u << 31; // no directive names it
static constexpr int32_t unusedNumber = 1 << 16;    // likewise

static bool isManual(const Directive &directive) {
  return directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
}

ManualBlocks::ManualBlocks(const Instructions &instructions, const Options &options, ChannelPool &pool, Frames &frames,
                           Diagnostics &diags)
    : instructions(instructions), info(*instructions.dag.info), options(options), pool(pool), frames(frames),
      diags(diags) {}

const Directive &ManualBlocks::directiveOf(uint32_t member) const {
  return info.directives[instructions.at(member).directive];
}

ManualBlocks::Sides ManualBlocks::sidesOf(uint32_t member) const {
  const Instruction &instruction = instructions.at(member);
  const Directive &directive = directiveOf(member);
  if (instruction.sender == None)
    return {Side{instruction.rank, pinOfLocal(directive, instruction.instance)}, Side{0, {}}};
  return {Side{instructions.at(instruction.sender).rank, {directive.sendThreadBlock, instruction.instance}},
          Side{instruction.rank, {directive.recvThreadBlock, instruction.instance}}};
}

/// Limits the copies of blocks of operations with parallel instances, which bounds the memory for frames. Returns
/// false, with an error, if a rank has more than it may have thread blocks.
bool ManualBlocks::checkCopies() {
  llvm::DenseSet<uint64_t, PackedKeyInfo> copies;
  std::vector<uint32_t> counts(info.collective.ranks);
  for (uint32_t i = 0; i != instructions.n; ++i) {
    const Directive &directive = directiveOf(i);
    if (instructions.at(i).opcode == Opcode::Send || !isManual(directive) || directive.parallel == 1)
      continue;
    for (const Side &side : sidesOf(i)) {
      if (!side.pin || !copies.insert(keyOf(side.rank, side.pin)).second)
        continue;
      if (++counts[side.rank] <= options.maxThreadBlocks)
        continue;
      diags
          .error(DiagId::TooManyThreadBlocks, info.sites[instructions.at(i).site],
                 "with this operation rank " + std::to_string(side.rank) + " has more than " +
                     quantity(options.maxThreadBlocks, "manual thread block") +
                     ", one for each number and parallel instance; use fewer of them, or raise --max-threadblocks")
          .note(directive.parallelSite,
                "this operation runs in " + std::to_string(directive.parallel) + " instances because of this");
      return false;
    }
  }
  return true;
}

/// Joins the groups of an operation's thread blocks. Stores one block of each operation's group in `groupOf`.
std::vector<uint32_t> ManualBlocks::joinBlocks() {
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> blockOf; // rank and pin → block
  std::vector<uint32_t> parent;
  auto root = [&](uint32_t block) {
    while (parent[block] != block)
      block = parent[block] = parent[parent[block]];
    return block;
  };
  for (uint32_t i = 0; i != instructions.n; ++i) {
    if (instructions.at(i).opcode == Opcode::Send || !isManual(directiveOf(i)))
      continue; // the receive represents the message
    for (const Side &side : sidesOf(i)) {
      if (!side.pin)
        continue;
      auto [place, isNew] = blockOf.try_emplace(keyOf(side.rank, side.pin), parent.size());
      if (isNew)
        parent.push_back(place->second);
      if (groupOf[i] == None)
        groupOf[i] = place->second;
      else
        parent[root(place->second)] = root(groupOf[i]);
    }
  }
  for (uint32_t block = 0; block != parent.size(); ++block)
    parent[block] = root(block);
  return parent;
}

/// Numbers the groups in the order of their first members, and collects the members of each by counting.
void ManualBlocks::makeGroups() {
  groupOf.assign(instructions.n, None);
  const std::vector<uint32_t> rootOf = joinBlocks();
  std::vector<uint32_t> groupOfRoot(rootOf.size(), None);
  for (uint32_t i = 0; i != instructions.n; ++i) {
    if (groupOf[i] == None)
      continue;
    uint32_t &group = groupOfRoot[rootOf[groupOf[i]]];
    if (group == None) {
      group = static_cast<uint32_t>(groups.size());
      groups.emplace_back();
    }
    groupOf[i] = group;
    Group &own = groups[group];
    const Directive &directive = directiveOf(i);
    ++own.end;
    own.naming += directive.channel >= 0;
    own.instance = instructions.at(i).instance;
    own.isParallel |= directive.parallel != 1;
    if (own.channel < 0)
      own.channel = directive.channel;
  }
  uint32_t total = 0;
  for (Group &group : groups) {
    group.begin = total;
    total += std::exchange(group.end, total);
  }
  members.resize(total);
  for (uint32_t i = 0; i != instructions.n; ++i)
    if (groupOf[i] != None)
      members[groups[groupOf[i]].end++] = i;
}

uint32_t ManualBlocks::channelOfGroup(const Group &group) const {
  const Sides sides = sidesOf(members[group.begin]);
  const Side &side = sides[0].pin ? sides[0] : sides[1];
  uint32_t frame = frames.pinned(side.rank, side.pin);
  return frame == None ? None : frames.all()[frame].channel;
}

int32_t ManualBlocks::instanceOf(uint32_t receiver) const {
  if (groupOf.empty() || groupOf[receiver] == None)
    return -1;
  const Group &group = groups[groupOf[receiver]];
  return group.isParallel ? static_cast<int32_t>(group.instance) : -1;
}

uint32_t ManualBlocks::channelOf(uint32_t receiver) const {
  if (groupOf.empty() || groupOf[receiver] == None)
    return None;
  return channelOfGroup(groups[groupOf[receiver]]);
}

/// Places an operation on `channel`. If a side conflicts, undoes all changes, explains the conflict in `refusal`, and
/// returns false.
bool ManualBlocks::place(uint32_t member, const Sides &sides, uint32_t channel, Refusal *refusal) {
  size_t mark = frames.mark();
  const Instruction &instruction = instructions.at(member);
  uint32_t link = instruction.sender == None ? None : frames.connection(sides[0].rank, sides[1].rank, channel);
  for (uint32_t side : {0u, 1u}) {
    if (!sides[side].pin)
      continue;
    Frames::Request request{.rank = sides[side].rank,
                            .channel = channel,
                            .pin = sides[side].pin,
                            .directive = instruction.directive,
                            .site = instruction.site};
    (side == 0 ? request.sendConnection : request.recvConnection) = link;
    if (frames.place(request))
      continue;
    if (refusal)
      *refusal = explain(side, request);
    frames.rollBack(mark);
    return false;
  }
  return true;
}

/// Explains why one side of an operation conflicts with operations of other groups or of its own.
ManualBlocks::Refusal ManualBlocks::explain(uint32_t side, const Frames::Request &request) const {
  uint32_t own = frames.pinned(request.rank, request.pin);
  uint32_t link = side == 0 ? request.sendConnection : request.recvConnection;
  if (own != None) {
    const Frame &frame = frames.all()[own];
    uint32_t present = side == 0 ? frame.sendConnection : frame.recvConnection;
    if (frame.channel != request.channel)
      return {Refusal::TwoChannels, side, own};
    if (present != None && present != link)
      return {Refusal::TwoPeers, side, own};
  }
  const Connection &connection = frames.connections()[link];
  return {Refusal::TwoBlocks, side, side == 0 ? connection.sendFrame : connection.recvFrame};
}

/// Returns the channel that the directive `named` means for the instance of the group; an unused one if it is negative.
uint32_t ManualBlocks::channelFor(const Group &group, int32_t named) {
  if (named < 0)
    return unusedChannel;
  auto channel = static_cast<uint32_t>(named);
  return group.instance == 0 ? channel : pool.physical(channel, group.instance);
}

bool ManualBlocks::placeOrReport(const Group &group) {
  bool fits = true;
  const uint32_t common = channelFor(group, group.channel);
  for (uint32_t i = group.begin; i != group.end && !diags.limitReached(); ++i) {
    uint32_t member = members[i];
    const int32_t named = directiveOf(member).channel;
    const uint32_t own = named < 0 ? common : channelFor(group, named);
    Refusal refusal;
    if (pool.exceedsLimit(info.sites[instructions.at(member).site], diags))
      return false;
    if (place(member, sidesOf(member), own, &refusal)) {
      recordFirst(member);
    } else {
      report(member, refusal, own);
      fits = false;
    }
  }
  return fits && !diags.limitReached();
}

/// Places the groups of instance 0, or those of further instances.
bool ManualBlocks::placeGroups(bool further) {
  bool fits = true;
  for (const Group &group : groups)
    if (group.channel >= 0 && further == (group.instance != 0))
      fits &= placeOrReport(group);
  frames.commit();
  for (const Group &group : groups) {
    if (group.channel >= 0 || further != (group.instance != 0))
      continue;
    fits &= placeOrReport(group);
    frames.rollBack(0);
    firstOn.resize(std::min(firstOn.size(), frames.all().size()));
  }
  return fits;
}

/// Further instances repeat the conflicts of instance 0, so errors of instance 0 suffice.
bool ManualBlocks::placeFixed() {
  if (!info.pinsThreadBlocks())
    return true;
  if (!checkCopies())
    return false;
  makeGroups();
  return placeGroups(false) && placeGroups(true);
}

bool ManualBlocks::placeAll(const Group &group, uint32_t channel) {
  return std::all_of(members.begin() + group.begin, members.begin() + group.end,
                     [&](uint32_t member) { return place(member, sidesOf(member), channel); });
}

bool ManualBlocks::admits(uint32_t receiver, uint32_t channel) {
  if (groupOf.empty() || groupOf[receiver] == None)
    return true;
  const Group &group = groups[groupOf[receiver]];
  uint32_t present = channelOfGroup(group);
  return present == None ? placeAll(group, channel) : present == channel;
}

void ManualBlocks::placeRest() {
  for (const Group &group : groups)
    if (channelOfGroup(group) == None)
      placeAll(group, 0);
}

/// Returns the site of an operation. If the line of an Instruction DAG is the site, chooses the send or the receive.
uint32_t ManualBlocks::siteOf(uint32_t member, uint32_t side) const {
  uint32_t sender = instructions.at(member).sender;
  bool sends = side == 0 && sender != None && instructions.at(sender).opcode == Opcode::Send;
  return instructions.at(sends ? sender : member).site;
}

void ManualBlocks::recordFirst(uint32_t member) {
  const Sides sides = sidesOf(member);
  for (uint32_t side : {0u, 1u}) {
    if (!sides[side].pin)
      continue;
    uint32_t frame = frames.pinned(sides[side].rank, sides[side].pin);
    if (firstOn.size() <= frame)
      firstOn.resize(frame + 1, {None, None, None});
    uint32_t &first = firstOn[frame][instructions.at(member).sender == None ? 2 : side];
    if (first == None)
      first = member;
  }
}

/// Returns a placed operation with which a refused operation conflicts, and its side on the frame.
std::pair<uint32_t, uint32_t> ManualBlocks::otherOperation(const Refusal &refusal) const {
  const std::array<uint32_t, 3> &first = firstOn[refusal.frame];
  for (uint32_t side : {refusal.side, 1 - refusal.side})
    if (first[side] != None)
      return {first[side], side};
  return {first[2], 0};
}

/// Says what the operations would do together.
std::string ManualBlocks::describe(uint32_t member, const Refusal &refusal, uint32_t channel) const {
  const Sides sides = sidesOf(member);
  const Side &own = sides[refusal.side];
  const Frame &frame = frames.all()[refusal.frame];
  const bool sends = refusal.side == 0;
  const std::string block = std::to_string(own.pin.number) + " of rank " + std::to_string(own.rank) +
                            (own.pin.instance == 0 ? "" : " in instance " + std::to_string(own.pin.instance));
  const std::string peer = std::to_string(sides[1 - refusal.side].rank);
  if (refusal.kind == Refusal::TwoChannels)
    return "thread block " + block + " would serve both channel " + std::to_string(frame.channel) + " and channel " +
           std::to_string(channel);
  if (refusal.kind == Refusal::TwoBlocks)
    return "thread blocks " + std::to_string(frame.pin.number) + " and " + block + " would both " +
           (sends ? "send to" : "receive from") + " rank " + peer +
           (channel == unusedChannel ? " on the same channel, because thread blocks that exchange messages share it"
                                     : " on channel " + std::to_string(channel));
  const Connection &present = frames.connections()[sends ? frame.sendConnection : frame.recvConnection];
  return "thread block " + block + " would " + (sends ? "send to" : "receive from") + " both rank " +
         std::to_string(sends ? present.destination : present.source) + " and rank " + peer;
}

/// Returns a change that lets the refused operation fit with `other`. The last change always helps.
const char *ManualBlocks::advice(uint32_t member, uint32_t other, const Refusal &refusal, uint32_t channel) {
  Sides sides = sidesOf(member);
  int32_t &number = sides[refusal.side].pin.number;
  const bool namesChannel = directiveOf(member).channel >= 0;
  if (refusal.kind == Refusal::TwoBlocks) {
    if (groupOf[other] != groupOf[member] && namesChannel && groups[groupOf[member]].naming == 1)
      return "give the operations different channels";
    number = frames.all()[refusal.frame].pin.number;
    if (works(member, sides, channel))
      return "give the operations the same thread block";
  } else {
    number = unusedNumber;
    bool isFree = !namesChannel && !sides[1 - refusal.side].pin;
    if (isFree || works(member, sides, channel))
      return "give the operations different thread blocks";
  }
  return "leave out 'sendtb' and 'recvtb' of this operation";
}

/// Returns true if the operation fits with these thread blocks on this channel. Changes nothing.
bool ManualBlocks::works(uint32_t member, const Sides &sides, uint32_t channel) {
  size_t mark = frames.mark();
  bool fits = place(member, sides, channel);
  frames.rollBack(mark);
  return fits;
}

void ManualBlocks::report(uint32_t member, const Refusal &refusal, uint32_t channel) {
  auto [other, side] = otherOperation(refusal);
  diags
      .error(DiagId::ThreadBlockConflict, info.sites[siteOf(member, refusal.side)],
             describe(member, refusal, channel) + "; " + advice(member, other, refusal, channel))
      .note(info.sites[siteOf(other, side)], "the other operation is here");
}
