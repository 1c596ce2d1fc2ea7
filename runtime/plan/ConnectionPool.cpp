// SPDX-License-Identifier: Apache-2.0
// A connection has a line of counters at its sender (0: slots freed, 1: messages sent), and another line at its
// receiver (0: messages arrived, 1: messages received). The peer writes counter 0 of each line, and announces the place
// of its receive buffer in words 2 and 3 (kernel/Image.h). The FIFO slots follow the receiver's line. If the connection
// uses the network, counter 0 is unused, because no peer writes counters. The sender then has slots of its own, which
// follow its line.
#include "plan/ConnectionPool.h"

#include <algorithm>

namespace gc3::plan {

using namespace kernel;

namespace {

/// Returns counter `index` of a line. Each end has its own line, which the rank polls and the peer writes.
uint64_t *counter(std::byte *line, uint32_t index) {
  return reinterpret_cast<uint64_t *>(line) + index;
}

/// Returns the rank of each thread block of the program.
std::vector<uint32_t> rankOfBlocks(const core::Program &program) {
  std::vector<uint32_t> ranks;
  for (uint32_t r = 0; r < program.ranks(); ++r)
    ranks.resize(program.firstThreadBlock(r + 1), r);
  return ranks;
}

} // namespace

uint32_t ConnectionPool::make(uint32_t sender, uint32_t receiver, const SlotSizes &sizes,
                              std::vector<uint64_t> &fresh) {
  const bool network = teams[sender] != teams[receiver];
  const uint64_t slotBytes = sizes.slots * sizes.slotBytes;
  connections.push_back({sender, receiver, pieces(), network, fresh[sender], 0, 0, 0});
  fresh[sender] += lineBytes + (network ? slotBytes : 0);
  connections.back().receives = fresh[receiver];
  fresh[receiver] += lineBytes + slotBytes;
  if (network) {
    connections.back().arrived = signals[receiver];
    signals[receiver] += sizes.slots;
    connections.back().freed = signals[sender]++;
  }
  return static_cast<uint32_t>(connections.size() - 1);
}

std::vector<uint32_t> ConnectionPool::add(const core::Program &program, const SlotSizes &sizes) {
  const std::vector<uint32_t> rankOf = rankOfBlocks(program);
  std::vector<uint32_t> chosen;
  std::vector<uint64_t> fresh(teams.size());
  std::pair<uint32_t, uint32_t> last{core::Program::none, core::Program::none};
  uint32_t between =
      0; // number of earlier connections between the same ranks; connections are sorted by both ranks, then by channel
  for (const core::Connection &wanted : program.connections()) {
    const std::pair ends{rankOf[wanted.sender], rankOf[wanted.receiver]};
    between = ends == last ? between + 1 : 0;
    last = ends;
    auto [known, isNew] = numbers.try_emplace({sizes.protocol, ends.first, ends.second, between}, 0);
    if (isNew)
      known->second = make(ends.first, ends.second, sizes, fresh);
    chosen.push_back(known->second);
  }
  if (std::any_of(fresh.begin(), fresh.end(), [](uint64_t bytes) { return bytes != 0; }))
    partBytes.push_back(std::move(fresh));
  return chosen;
}

uint64_t ConnectionPool::largestPart(uint32_t piece) const {
  return *std::max_element(partBytes[piece].begin(), partBytes[piece].end());
}

uint64_t ConnectionPool::mostWithSlots() const {
  std::vector<uint64_t> with(teams.size());
  for (const Connection &connection : connections) {
    ++with[connection.receiver];
    with[connection.sender] += connection.network;
  }
  return *std::max_element(with.begin(), with.end());
}

SendEnd ConnectionPool::sendEnd(uint32_t connection, const Parts &parts) const {
  const Connection &of = connections[connection];
  std::byte *here = parts[of.piece][of.sender] + of.sends;
  if (of.network)
    return {here + lineBytes, nullptr, nullptr, counter(here, 1), nullptr};
  std::byte *there = parts[of.piece][of.receiver] + of.receives;
  return {there + lineBytes, counter(there, 0), counter(here, 0), counter(here, 1), nullptr};
}

ReceiveEnd ConnectionPool::receiveEnd(uint32_t connection, const Parts &parts) const {
  const Connection &of = connections[connection];
  std::byte *here = parts[of.piece][of.receiver] + of.receives;
  if (of.network)
    return {here + lineBytes, nullptr, nullptr, counter(here, 1), nullptr, 1};
  std::byte *there = parts[of.piece][of.sender] + of.sends;
  return {here + lineBytes, counter(here, 0), counter(there, 0), counter(here, 1), nullptr, 1};
}

NetworkSend ConnectionPool::networkSend(uint32_t connection, const NetworkRoute &network) const {
  const Connection &of = connections[connection];
  return {of.receiver,
          signal(connection, of.arrived, network),
          signal(connection, of.freed, network),
          network.windows[of.piece],
          of.sends + lineBytes,
          of.receives + lineBytes};
}

NetworkReceive ConnectionPool::networkReceive(uint32_t connection, const NetworkRoute &network) const {
  const Connection &of = connections[connection];
  return {of.sender, signal(connection, of.arrived, network), signal(connection, of.freed, network)};
}

} // namespace gc3::plan
