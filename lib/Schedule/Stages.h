// SPDX-License-Identifier: Apache-2.0
// The stages of scheduling, in order.
#pragma once

#include "Frames.h"
#include "Nodes.h"
#include "gc3/Schedule/Schedule.h"

namespace gc3::schedule {

/// Returns, for each instruction, its position in the order of priority (GC3 section 4.4). The smallest depth comes
/// first, then the longest path to an end, then program order. So an instruction comes after its dependencies, and a
/// receive after its send. Linear.
std::vector<uint32_t> priorities(const ir::InstructionDag &dag);

struct Channels {
  Frames frames;
  std::vector<uint32_t> connectionOf; ///< by instruction: connection of the message that it receives
};

/// Assigns a channel, and thereby a connection, to every message. Splits fused instructions whose frames can't join. If
/// the frames of a chain conflict on all channels, opens another channel, but only while fewer than `newChannels` are
/// in use. Returns nothing after an error.
std::optional<Channels> assignChannels(Instructions &instructions, const Options &options, uint32_t newChannels,
                                       Diagnostics &diags);

/// Joins frames on ranks with more than `maxThreadBlocks` of them. Returns false, with an error, if a rank still has
/// too many.
bool shareFrames(Frames &frames, const ir::ProgramInfo &info, const Options &options, Diagnostics &diags);

struct Order {
  std::vector<uint32_t> nodes;     ///< nodes in the order of execution
  std::vector<uint32_t> segmentOf; ///< by node: its segment, a run of messages that unsplit instructions pass on; None
                                   ///< for a local node
};

/// Returns one order of all nodes that every thread block can follow if each of the `connections` connections has
/// `fifoSlots` slots. May split fused nodes.
Order orderNodes(Nodes &nodes, uint32_t connections, uint32_t fifoSlots);

/// A thread block, as an index into ThreadBlocks::blocks, and the number of a step in it.
struct BlockStep {
  uint32_t block = None;
  uint32_t step = 0;
};

struct ThreadBlocks {
  std::vector<ir::ThreadBlock> blocks; ///< sorted by rank
  std::vector<uint32_t> rankBegin;
  std::vector<BlockStep> placeOf;       ///< by node
  std::vector<uint32_t> receivingBlock; ///< by block: the block on another rank that receives its messages, or None
};

/// Turns frames into thread blocks, and assigns each local instruction to a block that uses the same data.
ThreadBlocks assignThreadBlocks(const Nodes &nodes, const Channels &channels, const Order &order);

struct Waits {
  std::vector<uint32_t> begin; ///< index of a step's first wait, by position of the step's node in the order
  std::vector<ir::Wait> waits;
};

/// Returns the waits that nothing else implies. With `wholeMessages`, the order of messages also implies waits.
Waits insertWaits(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order, bool wholeMessages);

} // namespace gc3::schedule
