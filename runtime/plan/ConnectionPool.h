// SPDX-License-Identifier: Apache-2.0
// The connections of a group of ranks, which programs share. A rank may be in its next program while its peer still
// reads a slot of the last one, so memory of FIFOs never goes from one connection to another: a connection stays what
// it is, between two ranks, with counters that go on from program to program.
//
// Ranks of one team reach each other's memory. Between two teams a connection goes over the network (Image.h): slots
// lie at both of its ends then, and signals stand for counters that a peer writes. A rank numbers its own signals.
//
// Connections lie in pieces. Of each piece every rank has a part in its own memory, which its peers can reach; where
// in the parts a connection lies is worked out alike by all ranks.
#pragma once

#include "plan/Geometry.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace gc3::plan {

/// One rank's way over the network.
struct NetworkRoute {
  const void *machine = nullptr;     ///< what its machine has to know
  uint32_t contexts = 1;             ///< connections take turns; alike on all ranks
  std::vector<const void *> windows; ///< by piece
};

class ConnectionPool {
public:
  /// Where parts begin, by piece and rank; those of ranks that nobody here is connected with may be null.
  using Parts = std::vector<std::vector<std::byte *>>;

  /// One team.
  explicit ConnectionPool(uint32_t rankCount) : ConnectionPool(std::vector<uint32_t>(rankCount)) {}
  /// The team of each rank.
  explicit ConnectionPool(std::vector<uint32_t> teamOfRanks) : teams(std::move(teamOfRanks)), signals(teams.size()) {}

  /// The numbers of a program's connections, in its order: the k-th between two ranks, by channel, is the pool's k-th
  /// between them under this protocol. Those that are not there yet are made, in a piece of their own. Sizes are alike
  /// for all programs of one protocol.
  std::vector<uint32_t> add(const core::Program &program, const SlotSizes &sizes);

  uint32_t pieces() const { return static_cast<uint32_t>(partBytes.size()); }
  /// What a rank's part of a piece takes; a multiple of 128.
  uint64_t bytes(uint32_t piece, uint32_t rank) const { return partBytes[piece][rank]; }
  /// Connections that have slots at one rank, where they are most.
  uint64_t mostWithSlots() const;
  /// Signals of one rank, where they are most; they are numbered from 0.
  uint32_t mostSignals() const { return *std::max_element(signals.begin(), signals.end()); }
  /// Of all parts of a piece.
  uint64_t largestPart(uint32_t piece) const;

  bool overNetwork(uint32_t connection) const { return connections[connection].network; }
  /// A connection's ends. Parts are 0 at first.
  kernel::SendEnd sendEnd(uint32_t connection, const Parts &parts) const;
  kernel::ReceiveEnd receiveEnd(uint32_t connection, const Parts &parts) const;
  /// The rest of those of a connection over the network. Signals are 0 at first.
  kernel::NetworkSend networkSend(uint32_t connection, const NetworkRoute &network) const;
  /// Slots are given back so many at a time.
  kernel::NetworkReceive networkReceive(uint32_t connection, const Parts &parts, const NetworkRoute &network,
                                        uint32_t batch) const;

private:
  struct Connection {
    uint32_t sender, receiver;
    uint32_t piece;
    bool network;
    uint64_t sends;    ///< where the sender's counters lie in its part; over the network slots follow
    uint64_t receives; ///< where the receiver's counters lie in its part; slots follow
    uint32_t arrived;  ///< signal of the receiver for the first slot; those of others follow
    uint32_t freed;    ///< signal of the sender
  };
  /// Protocol, sender, receiver, how many there are between these before it.
  using Key = std::tuple<kernel::Protocol, uint32_t, uint32_t, uint32_t>;
  uint32_t make(uint32_t sender, uint32_t receiver, const SlotSizes &sizes, std::vector<uint64_t> &fresh);

  kernel::Signal signal(uint32_t connection, uint32_t id, const NetworkRoute &network) const {
    return {connection % network.contexts, id};
  }

  std::vector<uint32_t> teams;   ///< by rank
  std::vector<uint32_t> signals; ///< by rank: how many it has
  std::map<Key, uint32_t> numbers;
  std::vector<Connection> connections;
  std::vector<std::vector<uint64_t>> partBytes; ///< by piece and rank
};

/// The ends of a program's connections: those that the pool has for it.
class ConnectionEnds {
public:
  /// All of them have to stay. `numbers` is what ConnectionPool::add gave. Without a network no connection goes over
  /// one.
  ConnectionEnds(const ConnectionPool &pool, const std::vector<uint32_t> &numbers, const ConnectionPool::Parts &parts,
                 const NetworkRoute *network = nullptr)
      : pool(pool), numbers(numbers), parts(parts), network(network) {}

  /// What a rank's machine has to know of the network; null: there is none.
  const void *machineNetwork() const { return network ? network->machine : nullptr; }
  /// Of the program's connection.
  bool overNetwork(uint32_t connection) const { return pool.overNetwork(numbers[connection]); }
  kernel::SendEnd send(uint32_t connection) const { return pool.sendEnd(numbers[connection], parts); }
  kernel::ReceiveEnd receive(uint32_t connection) const { return pool.receiveEnd(numbers[connection], parts); }
  kernel::NetworkSend networkSend(uint32_t connection) const { return pool.networkSend(numbers[connection], *network); }
  kernel::NetworkReceive networkReceive(uint32_t connection, uint32_t batch) const {
    return pool.networkReceive(numbers[connection], parts, *network, batch);
  }

private:
  const ConnectionPool &pool;
  const std::vector<uint32_t> &numbers;
  const ConnectionPool::Parts &parts;
  const NetworkRoute *network;
};

} // namespace gc3::plan
