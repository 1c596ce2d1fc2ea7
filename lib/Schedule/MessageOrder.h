// SPDX-License-Identifier: Apache-2.0
// Derives which steps of a rank are finished when a message returns to that rank.
#pragma once

#include "Stages.h"

namespace gc3::schedule {

/// Determines which dependencies of a receive need no wait, because the sender cannot send the message before they
/// finish. There are two cases:
///  - the dependency is an earlier send on the same unsplit chain of messages;
///  - when the sender, on another rank, sent the message, it knew that its own rank had received a message that the
///    dependency's thread block sends at or after the dependency.
/// Applies only to protocol Simple, where a send releases everything that its thread block did before, and a receive
/// acquires it. LL and LL128 order only their own data, line by line. The first line of a reply can arrive before the
/// last line of the request has been read. It can also arrive before a thread block's write of data is complete,
/// although the thread block has already sent the same data.
class MessageOrder {
public:
  MessageOrder(const Nodes &nodes, const ThreadBlocks &blocks, const Order &order, bool wholeMessages);

  /// Counts the messages of a node. Must be called for every node in order, before other functions are called for it.
  void count(uint32_t node);

  /// Must be called for every sending node in order, once its own waits are known. `known(b)` returns the number of
  /// steps of thread block b, of the same rank, that the sender knows to be finished.
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

  /// Returns true if `node`, a receive, need not wait for dependency `edge`, an index into `nodes.dependencies`.
  bool implies(uint32_t node, uint32_t edge) const;

private:
  /// Numbers of messages that a thread block has received and sent so far.
  struct Count {
    uint32_t received = 0;
    uint32_t sent = 0;
  };

  const Nodes &nodes;
  const ThreadBlocks &blocks;
  const std::vector<uint32_t> &segments;
  bool releases;                     ///< true: a message orders everything that its sender did before
  std::vector<uint8_t> acknowledged; // by dependency: 1 if its receive need not wait for it
  std::vector<uint32_t> received;    // by thread block and step: messages received up to and including this step
  std::vector<uint32_t> departure;   // by node: number of the first message that its thread block sends at or after the
                                     // node
  std::vector<Count> counts;         // by thread block
};

} // namespace gc3::schedule
