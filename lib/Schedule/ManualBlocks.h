// SPDX-License-Identifier: Apache-2.0
// Operations with a manual thread block ('sendtb', 'recvtb'), in groups. The operations of one group must have one
// channel, because a thread block has one channel, and a message has the channel of both its thread blocks. So an
// operation with two manual thread blocks joins the groups of both. Each parallel instance has its own copy of a block,
// and a group has the blocks of one instance. An operation without instances uses the copies of instance 0.
//
// The scheduler must place these operations, but need not fuse them. It places the groups whose channel a directive
// names before everything else. Each other group gets the channel of the first chain that has a message of it. Such a
// group fits on every unused channel if it fits anywhere.
#pragma once

#include "ChannelPool.h"
#include "Frames.h"
#include "Nodes.h"
#include "gc3/Schedule/Schedule.h"
#include "gc3/Support/Diagnostics.h"
#include <array>
#include <string>
#include <utility>

namespace gc3::schedule {

class ManualBlocks {
public:
  ManualBlocks(const Instructions &instructions, const Options &options, ChannelPool &pool, Frames &frames,
               Diagnostics &diags);

  /// Makes the groups. Places the groups whose channel a directive names, and checks that each other group fits.
  /// Returns false, with errors, if operations conflict, or if a rank needs too many copies of its blocks.
  bool placeFixed();

  /// Returns true if the message that `receiver` receives can use `channel`. Places its group on the channel if the
  /// group has none yet. After a result of false, the caller must roll back the frames.
  bool admits(uint32_t receiver, uint32_t channel);

  /// Returns the parallel instance whose channels the group of the message that `receiver` receives requires. Returns
  /// -1 if the message has no group, or the group has no parallel instances.
  int32_t instanceOf(uint32_t receiver) const;

  /// Returns the channel of the group of the message that `receiver` receives, or None if the group has none yet or the
  /// message has no group.
  uint32_t channelOf(uint32_t receiver) const;

  /// Places the groups that have no channel yet. They consist of local operations, so they always fit.
  void placeRest();

private:
  struct Group {
    int32_t channel = -1; ///< the first channel that a directive of a member names
    uint32_t naming = 0;  ///< number of members whose directive names a channel
    uint32_t instance = 0;
    bool isParallel = false; ///< true if a member has several instances
    uint32_t begin = 0;      ///< the members are `members[begin]` to `members[end - 1]`
    uint32_t end = 0;
  };
  /// The thread blocks of an operation: where it sends, and where it receives. A local operation has one thread block,
  /// as the first. A side without a pin means that gc3 chooses.
  struct Side {
    uint32_t rank;
    Pin pin;
  };
  using Sides = std::array<Side, 2>;
  /// A conflict of one side of an operation with operations placed before it.
  struct Refusal {
    enum Kind : uint8_t { Nothing, TwoChannels, TwoPeers, TwoBlocks } kind = Nothing;
    uint32_t side = 0;
    uint32_t frame = 0; ///< the frame of the other operation
  };

  bool checkCopies();
  std::vector<uint32_t> joinBlocks();
  void makeGroups();
  const ir::Directive &directiveOf(uint32_t member) const;
  uint32_t siteOf(uint32_t member, uint32_t side) const;
  Sides sidesOf(uint32_t member) const;
  uint32_t channelOfGroup(const Group &group) const;
  bool place(uint32_t member, const Sides &sides, uint32_t channel, Refusal *refusal = nullptr);
  Refusal explain(uint32_t side, const Frames::Request &request) const;
  uint32_t channelFor(const Group &group, int32_t named);
  bool placeGroups(bool further);
  bool placeAll(const Group &group, uint32_t channel);
  bool placeOrReport(const Group &group);
  void report(uint32_t member, const Refusal &refusal, uint32_t channel);
  std::string describe(uint32_t member, const Refusal &refusal, uint32_t channel) const;
  const char *advice(uint32_t member, uint32_t other, const Refusal &refusal, uint32_t channel);
  bool works(uint32_t member, const Sides &sides, uint32_t channel);
  void recordFirst(uint32_t member);
  std::pair<uint32_t, uint32_t> otherOperation(const Refusal &refusal) const;

  const Instructions &instructions;
  const ir::ProgramInfo &info;
  const Options &options;
  ChannelPool &pool;
  Frames &frames;
  Diagnostics &diags;
  /// By instruction: the group of its local operation or of the message that it receives, or None. Empty if no
  /// operation has a manual thread block.
  std::vector<uint32_t> groupOf;
  std::vector<Group> groups;
  std::vector<uint32_t> members; // local and receiving instructions, by group, then in the order of the program
  /// By frame: the first operations that placeFixed() has placed there: a sender, a receiver, and a local operation.
  std::vector<std::array<uint32_t, 3>> firstOn;
};

} // namespace gc3::schedule
