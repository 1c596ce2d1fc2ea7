// SPDX-License-Identifier: Apache-2.0
// Room for the values of messages in flight: for each connection a ring of places, in which no message is cut in two.
#pragma once

#include "Connections.h"

namespace gc3::verify {

class Fifos {
public:
  /// With `slots` messages in flight per connection at most. Linear in the steps.
  Fifos(const ir::Program &program, const Connections &connections, uint32_t slots);

  /// Places in all.
  uint64_t size() const { return rings.back().first; }

  /// Where the next message of a connection, of `count` values, begins, for its sender and for its receiver. Both go
  /// the same way. Only if there are less than 2^32 places.
  uint64_t send(uint32_t connection, uint32_t count) {
    Ring &ring = rings[connection];
    return advance(ring.first, rings[connection + 1].first, ring.sendAt, count);
  }
  uint64_t receive(uint32_t connection, uint32_t count) {
    Ring &ring = rings[connection];
    return advance(ring.first, rings[connection + 1].first, ring.receiveAt, count);
  }

private:
  struct Ring {
    uint64_t first;         // of its places
    uint32_t sendAt = 0;    // from `first`: where the latest message ends
    uint32_t receiveAt = 0; // the same for the receiver
  };
  static uint64_t advance(uint64_t first, uint64_t end, uint32_t &position, uint32_t count) {
    uint64_t begin = first + position + count > end ? first : first + position;
    position = static_cast<uint32_t>(begin - first) + count;
    return begin;
  }

  std::vector<Ring> rings; // by connection, and one behind the last
};

} // namespace gc3::verify
