// SPDX-License-Identifier: Apache-2.0
// The connections of a group of ranks. All programs share them. FIFO memory never passes from one connection to
// another, because a rank can be in its next program while its peer still reads a slot of the previous program. A
// connection is permanent: it stays between the same two ranks, and its counters persist across programs.
//
// Ranks of one team can access each other's memory. A connection between two teams uses the network (Image.h): it has
// slots at both ends, and signals instead of counters that a peer writes. Each rank numbers its own signals.
//
// Connections are allocated in pieces. Each rank has a part of each piece in its own memory, which its peers can
// access. All ranks compute identical positions of connections in the parts.
#pragma once

#include "plan/Geometry.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace gc3::plan {

/// One rank's access to the network.
struct NetworkRoute {
  const void *machine = nullptr;     ///< the machine's state for the network (BlockImage::network)
  uint32_t contexts = 1;             ///< number of contexts, identical on all ranks; connections use them round-robin
  std::vector<const void *> windows; ///< indexed by piece
};

class ConnectionPool {
public:
  /// Addresses of parts, indexed by piece, then rank. The address for a rank can be null if no rank of this process has
  /// a connection with that rank.
  using Parts = std::vector<std::vector<std::byte *>>;

  /// Creates a pool in which all ranks form one team.
  explicit ConnectionPool(uint32_t rankCount) : ConnectionPool(std::vector<uint32_t>(rankCount)) {}
  /// `teamOfRanks` has the team of each rank.
  explicit ConnectionPool(std::vector<uint32_t> teamOfRanks) : teams(std::move(teamOfRanks)), signals(teams.size()) {}

  /// Returns the pool's numbers for a program's connections, in the program's order. The program's k-th connection from
  /// one rank to another, in the order of channels, is the pool's k-th connection between these ranks under the
  /// protocol. Creates missing connections in a new piece. Sizes must be identical for all programs of one protocol.
  std::vector<uint32_t> add(const core::Program &program, const SlotSizes &sizes);

  uint32_t pieces() const { return static_cast<uint32_t>(partBytes.size()); }
  /// Returns the bytes of a rank's part of a piece; a multiple of 128.
  uint64_t bytes(uint32_t piece, uint32_t rank) const { return partBytes[piece][rank]; }
  /// Returns the largest number of connections that have slots at one rank.
  uint64_t mostWithSlots() const;
  /// Returns the largest number of signals of one rank. Signals are numbered from 0.
  uint32_t mostSignals() const { return *std::max_element(signals.begin(), signals.end()); }
  /// Returns the bytes of the largest part of a piece.
  uint64_t largestPart(uint32_t piece) const;

  bool overNetwork(uint32_t connection) const { return connections[connection].network; }
  /// Return the ends of a connection. The memory of the parts must be zero initially.
  kernel::SendEnd sendEnd(uint32_t connection, const Parts &parts) const;
  kernel::ReceiveEnd receiveEnd(uint32_t connection, const Parts &parts) const;
  /// Returns the additional fields of the sender, for a connection over the network. Signals must be zero initially.
  kernel::NetworkSend networkSend(uint32_t connection, const NetworkRoute &network) const;
  /// Returns the additional fields of the receiver.
  kernel::NetworkReceive networkReceive(uint32_t connection, const NetworkRoute &network) const;

private:
  struct Connection {
    uint32_t sender, receiver;
    uint32_t piece;
    bool network;
    uint64_t sends;    ///< offset of the sender's counters in its part; over the network slots follow
    uint64_t receives; ///< offset of the receiver's counters in its part; slots follow
    uint32_t arrived;  ///< the receiver's signal for the first slot; the signals of the other slots follow
    uint32_t freed;    ///< the sender's signal for free slots
  };
  /// Protocol, sender, receiver, and number of earlier connections from this sender to this receiver.
  using Key = std::tuple<kernel::Protocol, uint32_t, uint32_t, uint32_t>;
  uint32_t make(uint32_t sender, uint32_t receiver, const SlotSizes &sizes, std::vector<uint64_t> &fresh);

  kernel::Signal signal(uint32_t connection, uint32_t id, const NetworkRoute &network) const {
    return {connection % network.contexts, id};
  }

  std::vector<uint32_t> teams;   ///< indexed by rank
  std::vector<uint32_t> signals; ///< indexed by rank: number of signals
  std::map<Key, uint32_t> numbers;
  std::vector<Connection> connections;
  std::vector<std::vector<uint64_t>> partBytes; ///< indexed by piece, then rank
};

/// The ends of one program's connections in the pool.
class ConnectionEnds {
public:
  /// All arguments must outlive this object. `numbers` is a result of ConnectionPool::add. `network` can be null if no
  /// connection uses the network.
  ConnectionEnds(const ConnectionPool &pool, const std::vector<uint32_t> &numbers, const ConnectionPool::Parts &parts,
                 const NetworkRoute *network = nullptr)
      : pool(pool), numbers(numbers), parts(parts), network(network) {}

  /// Returns the machine's state for the network (BlockImage::network), or null without a network.
  const void *machineNetwork() const { return network ? network->machine : nullptr; }
  /// Returns whether connection `connection` of the program uses the network.
  bool overNetwork(uint32_t connection) const { return pool.overNetwork(numbers[connection]); }
  kernel::SendEnd send(uint32_t connection) const { return pool.sendEnd(numbers[connection], parts); }
  kernel::ReceiveEnd receive(uint32_t connection) const { return pool.receiveEnd(numbers[connection], parts); }
  kernel::NetworkSend networkSend(uint32_t connection) const { return pool.networkSend(numbers[connection], *network); }
  kernel::NetworkReceive networkReceive(uint32_t connection) const {
    return pool.networkReceive(numbers[connection], *network);
  }

private:
  const ConnectionPool &pool;
  const std::vector<uint32_t> &numbers;
  const ConnectionPool::Parts &parts;
  const NetworkRoute *network;
};

} // namespace gc3::plan
