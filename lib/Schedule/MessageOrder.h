// SPDX-License-Identifier: Apache-2.0
// What messages imply about the order of things on the rank that they come back to.
#pragma once

#include "Stages.h"

namespace gc3::schedule {

/// Says which dependencies a message makes unnecessary to wait for, because it could not have been sent otherwise:
///  - the dependency lies earlier on the same unsplit chain of messages;
///  - the sender, on another rank, knew when it sent that a message which left after the dependency had arrived.
/// Only under Simple, where a send releases everything that its thread block did before, and a receive acquires it. LL
/// and LL128 order nothing but their own data, line by line: the first line of an answer may come back before the last
/// line of the question was read, and a write that a reader has passed on may not have landed yet.
class MessageOrder {
public:
  MessageOrder(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order, bool wholeMessages);

  /// To be called for every node in order, before anything else is asked about it.
  void count(uint32_t node);

  /// To be called for every sending node in order, once its own waits are settled. `known(b)` is the number of steps of
  /// thread block b of its rank that it knows to be finished.
  template <typename Known>
  void send(uint32_t node, Known known) {
    if (!releases)
      return;
    uint32_t receiver = nodes.receiver(node);
    BlockStep place = blocks.placeOf[node];
    uint32_t rank = blocks.blocks[place.block].rank;
    for (uint32_t i = nodes.begin[receiver]; i != nodes.begin[receiver + 1]; ++i) {
      uint32_t dependency = nodes.dependencies[i];
      uint32_t block = blocks.placeOf[dependency].block;
      if (blocks.blocks[block].sendPeer != static_cast<int32_t>(rank))
        continue;
      uint32_t peer = blocks.receivingBlock[block];
      uint32_t finished = peer == place.block ? place.step + nodes.receives(node) : known(peer);
      acknowledged[i] =
          finished != 0 && received[blocks.blocks[peer].firstStep + finished - 1] >= departure[dependency];
    }
  }

  /// True if `node`, a receive, need not wait for dependency number `edge` of all.
  bool implies(uint32_t node, uint32_t edge) const;

private:
  /// Messages of a thread block so far.
  struct Count {
    uint32_t received = 0;
    uint32_t sent = 0;
  };

  const Nodes &nodes;
  const ThreadBlocks &blocks;
  const std::vector<uint32_t> &segments;
  bool releases;                     ///< messages order what came before them
  std::vector<uint8_t> acknowledged; // by dependency
  std::vector<uint32_t> received;    // by thread block and step: messages received up to and with this step
  std::vector<uint32_t> departure;   // by node: number of the first message that its block sends when it is done
  std::vector<Count> counts;         // by thread block
};

} // namespace gc3::schedule
