// SPDX-License-Identifier: Apache-2.0
// The steps of scheduling, in their order.
#pragma once

#include "Frames.h"
#include "Nodes.h"
#include "gc3/Schedule/Schedule.h"

namespace gc3::schedule {

struct Channels {
  Frames frames;
  std::vector<uint32_t> connectionOf; ///< of the message that an instruction receives, by instruction
};

/// Gives every message a channel and thereby a connection; splits fused instructions where frames can't join.
/// `newChannels`: how many channels of its own the scheduler may open where existing ones clash.
std::optional<Channels> assignChannels(Nodes &nodes, const Options &options, uint32_t newChannels, Diagnostics &diags);

/// One order of all nodes that every thread block can follow with `fifoSlots` slots; may split fused instructions.
/// `segments` gets, by node, the run of unsplit messages that it belongs to (None: it is local).
std::vector<uint32_t> orderNodes(Nodes &nodes, const Channels &channels, uint32_t fifoSlots,
                                 std::vector<uint32_t> &segments);

struct ThreadBlocks {
  std::vector<ir::ThreadBlock> blocks; ///< by rank
  std::vector<uint32_t> rankBegin;
  std::vector<uint32_t> blockOf;        ///< by node: index in `blocks`
  std::vector<uint32_t> stepOf;         ///< by node: its step
  std::vector<uint32_t> receivingBlock; ///< by block: the one that receives what it sends, or None
};

/// Frames to thread blocks, at most `maxThreadBlocks` per rank, and local instructions to the block where their data
/// is.
std::optional<ThreadBlocks> assignThreadBlocks(const Nodes &nodes, Channels &channels,
                                               const std::vector<uint32_t> &order, const Options &options,
                                               Diagnostics &diags);

struct Waits {
  std::vector<uint32_t> begin; ///< by position in the order
  std::vector<ir::Wait> waits;
};

/// The waits that nothing else implies; the order of messages implies some if they are whole.
Waits insertWaits(const Nodes &nodes, const ThreadBlocks &blocks, const std::vector<uint32_t> &order,
                  const std::vector<uint32_t> &segments, bool wholeMessages);

} // namespace gc3::schedule
