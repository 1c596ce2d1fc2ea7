// SPDX-License-Identifier: Apache-2.0
// Groups operations with manual thread blocks, and places the groups.
#include "ManualBlocks.h"
#include <algorithm>
#include <utility>

using namespace gc3;
using namespace gc3::ir;
using namespace gc3::schedule;

static constexpr uint32_t unusedChannel = 1u << 31; // no directive names it
static constexpr int32_t unusedNumber = 1 << 30;    // likewise

static bool isManual(const Directive &directive) {
  return directive.sendThreadBlock >= 0 || directive.recvThreadBlock >= 0;
}

ManualBlocks::ManualBlocks(const Instructions &instructions, Frames &frames, Diagnostics &diags)
    : instructions(instructions), info(*instructions.dag.info), frames(frames), diags(diags) {
  if (info.pinsThreadBlocks())
    makeGroups();
}

const Directive &ManualBlocks::directiveOf(uint32_t member) const {
  return info.directives[instructions.at(member).directive];
}

ManualBlocks::Sides ManualBlocks::sidesOf(uint32_t member) const {
  const Instruction &instruction = instructions.at(member);
  const Directive &directive = directiveOf(member);
  if (instruction.sender == None)
    return {Side{instruction.rank, std::max(directive.sendThreadBlock, directive.recvThreadBlock)}, Side{0, -1}};
  return {Side{instructions.at(instruction.sender).rank, directive.sendThreadBlock},
          Side{instruction.rank, directive.recvThreadBlock}};
}

/// Joins the groups of an operation's thread blocks. Stores one block of each operation's group in `groupOf`.
std::vector<uint32_t> ManualBlocks::joinBlocks() {
  llvm::DenseMap<uint64_t, uint32_t, PackedKeyInfo> blockOf; // (rank, number) → block
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
      if (side.number < 0)
        continue;
      auto [place, isNew] =
          blockOf.try_emplace(uint64_t(side.rank) << 32 | static_cast<uint32_t>(side.number), parent.size());
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
    ++groups[group].end;
    int32_t channel = directiveOf(i).channel;
    groups[group].naming += channel >= 0;
    if (groups[group].channel < 0)
      groups[group].channel = channel;
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
  const Side &side = sides[0].number >= 0 ? sides[0] : sides[1];
  uint32_t frame = frames.pinned(side.rank, side.number);
  return frame == None ? None : frames.all()[frame].channel;
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
    if (sides[side].number < 0)
      continue;
    Frames::Request request{.rank = sides[side].rank,
                            .channel = channel,
                            .pin = sides[side].number,
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

bool ManualBlocks::placeOrReport(const Group &group, uint32_t channel) {
  bool fits = true;
  for (uint32_t i = group.begin; i != group.end && !diags.limitReached(); ++i) {
    uint32_t member = members[i];
    int32_t named = directiveOf(member).channel;
    uint32_t own = named < 0 ? channel : static_cast<uint32_t>(named);
    Refusal refusal;
    if (place(member, sidesOf(member), own, &refusal)) {
      recordFirst(member);
    } else {
      report(member, refusal, own);
      fits = false;
    }
  }
  return fits && !diags.limitReached();
}

bool ManualBlocks::placeFixed() {
  bool fits = true;
  for (const Group &group : groups)
    if (group.channel >= 0)
      fits &= placeOrReport(group, static_cast<uint32_t>(group.channel));
  frames.commit();
  for (const Group &group : groups) {
    if (group.channel >= 0)
      continue;
    fits &= placeOrReport(group, unusedChannel);
    frames.rollBack(0);
    firstOn.resize(std::min(firstOn.size(), frames.all().size()));
  }
  return fits;
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
    if (sides[side].number < 0)
      continue;
    uint32_t frame = frames.pinned(sides[side].rank, sides[side].number);
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
  const std::string block = std::to_string(own.number) + " of rank " + std::to_string(own.rank);
  const std::string peer = std::to_string(sides[1 - refusal.side].rank);
  if (refusal.kind == Refusal::TwoChannels)
    return "thread block " + block + " would serve both channel " + std::to_string(frame.channel) + " and channel " +
           std::to_string(channel);
  if (refusal.kind == Refusal::TwoBlocks)
    return "thread blocks " + std::to_string(frame.pin) + " and " + block + " would both " +
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
  int32_t &number = sides[refusal.side].number;
  const bool namesChannel = directiveOf(member).channel >= 0;
  if (refusal.kind == Refusal::TwoBlocks) {
    if (groupOf[other] != groupOf[member] && namesChannel && groups[groupOf[member]].naming == 1)
      return "give the operations different channels";
    number = frames.all()[refusal.frame].pin;
    if (works(member, sides, channel))
      return "give the operations the same thread block";
  } else {
    number = unusedNumber;
    bool isFree = !namesChannel && sides[1 - refusal.side].number < 0;
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
