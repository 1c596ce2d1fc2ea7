// SPDX-License-Identifier: Apache-2.0
// The steps of scheduling, in their order.
#pragma once

#include "Frames.h"
#include "Nodes.h"
#include "gc3/Schedule/Schedule.h"

namespace gc3::schedule {

/// Returns, for each instruction, its position in the order of priority (GC3 section 4.4): least depth first, then the
/// longest path to an end, then program order. Dependencies come before what depends on them, and sends before their
/// receives. Linear.
std::vector<uint32_t> priorities(const ir::InstructionDag &dag);

struct Channels {
  Frames frames;
  std::vector<uint32_t> connectionOf; ///< of the message that an instruction receives, by instruction
};

/// Gives every message a channel and thereby a connection; splits fused instructions where frames can't join.
/// `newChannels`: how many channels of its own the scheduler may open where existing ones clash.
std::optional<Channels> assignChannels(Instructions &instructions, const Options &options, uint32_t newChannels,
                                       Diagnostics &diags);

struct Order {
  std::vector<uint32_t> nodes;     ///< in the order of execution
  std::vector<uint32_t> segmentOf; ///< by node: the run of unsplit messages that it belongs to (None: it is local)
};

/// One order of all nodes that every thread block can follow with `fifoSlots` slots on each of the connections; may
/// split fused nodes.
Order orderNodes(Nodes &nodes, uint32_t connections, uint32_t fifoSlots);

/// A thread block, by index in ThreadBlocks::blocks, and a step of it.
struct BlockStep {
  uint32_t block = None;
  uint32_t step = 0;
};

struct ThreadBlocks {
  std::vector<ir::ThreadBlock> blocks; ///< by rank
  std::vector<uint32_t> rankBegin;
  std::vector<BlockStep> placeOf;       ///< by node
  std::vector<uint32_t> receivingBlock; ///< by block: the one that receives what it sends, or None
};

/// Frames to thread blocks, at most `maxThreadBlocks` per rank, and local instructions to the block where their data
/// is.
std::optional<ThreadBlocks> assignThreadBlocks(const Nodes &nodes, Channels &channels, const Order &order,
                                               const Options &options, Diagnostics &diags);

struct Waits {
  std::vector<uint32_t> begin; ///< by position in the order
  std::vector<ir::Wait> waits;
};

/// The waits that nothing else implies; the order of messages implies some if they are whole.
Waits insertWaits(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order, bool wholeMessages);

} // namespace gc3::schedule
