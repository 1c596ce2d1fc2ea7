// SPDX-License-Identifier: Apache-2.0
// The symbolic contents of slots when the steps of a program run in a given order.
#pragma once

#include "Connections.h"
#include "Order.h"
#include "gc3/IR/SlotTracker.h"
#include <algorithm>

namespace gc3::verify {

/// Places for the values of messages in flight: a ring for each connection. A message is contiguous.
class Fifos {
public:
  /// Makes rings that can hold `slots` messages per connection. Linear in the steps.
  Fifos(const ir::Program &program, const Connections &connections, uint32_t slots);

  /// Returns the total number of places.
  uint64_t size() const { return rings.back().first; }

  /// Return the place where the next message of a connection begins, which has `count` values. send() is for the sender
  /// and receive() for the receiver; both return the same sequence of places. There must be fewer than 2^32 places.
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
    uint64_t first;         // the ring's first place
    uint32_t sendAt = 0;    // end of the latest sent message, relative to `first`
    uint32_t receiveAt = 0; // end of the latest received message, relative to `first`
  };
  static uint64_t advance(uint64_t first, uint64_t end, uint32_t &position, uint32_t count) {
    uint64_t begin = first + position + count > end ? first : first + position;
    position = static_cast<uint32_t>(begin - first) + count;
    return begin;
  }

  std::vector<Ring> rings; // by connection, plus one past the last
};

/// Determines which slots can be shorter than others. If a block's elements do not divide evenly, its last slots are
/// short or empty (docs/bundle.md). A value loses elements if it is stored in a slot that is further back in its block
/// than both its origin and its destination. Such a program is correct only for counts that divide evenly.
class SlotLengths {
public:
  explicit SlotLengths(const ir::Program &program)
      : input(program.info->collective.input.chunks * program.subdivision),
        output(program.info->collective.output.chunks * program.subdivision) {}

  /// Returns a number r such that the slot is at least as long as slot r of a block of the buffer with more slots per
  /// block. Returns 0 for scratch slots, because they have full length.
  uint32_t restingPlace(ir::BufferId buffer, uint32_t index) const {
    if (buffer >= ir::FirstScratchBuffer)
      return 0;
    uint32_t own = buffer == ir::InputBuffer ? input : output;
    return within(index, own) + std::max(input, output) - own;
  }

  /// Returns a number r such that the slot is at most as long as slot r of such a block.
  uint32_t end(ir::BufferId buffer, uint32_t index) const {
    return within(index, buffer == ir::InputBuffer ? input : output);
  }

private:
  /// Returns the slot's position in its block. Most collectives have one block; the condition avoids a slow division
  /// for each slot of each step.
  static uint32_t within(uint32_t index, uint32_t block) { return index < block ? index : index % std::max(block, 1u); }

  uint32_t input; ///< slots per block
  uint32_t output;
};

template <typename Domain>
class Contents {
public:
  using Value = typename Domain::Value;
  /// The contents of a slot of a buffer, or of a slot of a message.
  struct Held {
    [[no_unique_address]] Value value = Domain::unset();
    uint32_t furthest = 0; ///< the largest restingPlace() of all slots in which the value, or a part of it, has been
                           ///< stored
  };

  /// Starts with the inputs. `fifos` must have as many slots per connection as the execution that made the order for
  /// follow().
  Contents(const ir::Program &program, const Connections &connections, Fifos fifos, Domain &domain);

  /// Runs all steps in the given order.
  void follow(const Order &order);

  /// Returns the values, indexed by slots(). A slot that was not written is unset.
  const std::vector<Held> &values() const { return memory; }
  const ir::SlotMap &slots() const { return map; }

  /// A read of a slot that no step had written. Only the first such read of each step is recorded.
  struct UnsetRead {
    uint32_t block;
    uint32_t step;
    ir::BufferId buffer;
    uint32_t index;
  };
  const std::vector<UnsetRead> &unsetReads() const { return unset; }

private:
  void start();
  void run(uint32_t block, uint32_t number);
  void rest(Held *values, const ir::Step &step) const;
  Held combine(Held a, Held b) { return {domain.combine(a.value, b.value), std::max(a.furthest, b.furthest)}; }
  void noteUnset(uint32_t block, uint32_t number, ir::BufferId buffer, uint32_t index, uint32_t count);

  const ir::Program &program;
  const Connections &connections;
  Fifos fifos;
  Domain &domain;
  ir::SlotMap map;
  SlotLengths lengths;
  std::vector<Held> memory;
  std::vector<Held> inFlight; // indexed by the places of `fifos`
  std::vector<UnsetRead> unset;
};

} // namespace gc3::verify
