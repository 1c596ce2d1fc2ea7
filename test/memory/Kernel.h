// SPDX-License-Identifier: Apache-2.0
// Builds programs from the operations of the interpreter (runtime/kernel/Interpreter.h). Three threads of a block have
// the roles that different threads can have: one polls, one moves data, and the leader moves data and publishes. A
// block whose threads have several roles has more program order, so what holds for three threads also holds for fewer.
#pragma once

#include "Program.h"

namespace gc3::memory {

struct Block {
  std::string name;
  uint32_t poller, mover, leader;

  std::vector<uint32_t> threads() const { return {poller, mover, leader}; }
  /// Returns the thread that moves the data of a message. Two messages of one slot have different movers.
  uint32_t moverOf(int number) const { return (number - 1) % 4 < 2 ? mover : leader; }
};

/// How a lane polls. The kernel uses Acquire: each poll acquires.
enum class Poll { Acquire, RelaxedThenFence, RelaxedThenAcquire };

/// A connection of one or two FIFO slots, with the addresses that each end uses.
struct Connection {
  struct End {
    std::vector<uint32_t> slots;
    uint32_t arrived, freed;
    uint32_t slotOf(int number) const { return slots[static_cast<size_t>(number - 1) % slots.size()]; }
  };
  End out, in;
  Scope scope;
  int slots;
};

class Kernel : public Builder {
public:
  Poll poll = Poll::Acquire;

  Block block(const std::string &name, uint32_t gpu, uint32_t number) {
    return {name, thread(name + ".poller", gpu, number), thread(name + ".mover", gpu, number),
            thread(name + ".leader", gpu, number)};
  }

  Connection connection(Scope scope, int slots = 2) {
    Connection::End end{{}, address("arrived"), address("freed")};
    for (int slot = 0; slot < slots; ++slot)
      end.slots.push_back(address("slot" + std::to_string(slot)));
    return {end, end, scope, slots};
  }

  void barrier(const Block &block, const std::string &what) {
    Builder::barrier(block.threads(), block.name + ": barrier " + what);
  }

  /// kernel/Wait.h, await(), then the barrier of Interpreter::awaitDependencies().
  void await(const Block &block, const std::string &what, uint32_t counter, int least, Scope scope) {
    const std::string label = block.name + ": poll of " + what;
    if (poll == Poll::Acquire)
      load(block.poller, label, counter, acquire(scope), least);
    else
      load(block.poller, label, counter, relaxed(scope), least);
    if (poll == Poll::RelaxedThenFence)
      fence(block.poller, block.name + ": fence after the poll of " + what, scope);
    if (poll == Poll::RelaxedThenAcquire)
      load(block.poller, block.name + ": last load of " + what, counter, acquire(scope));
    barrier(block, "after polls");
  }

  /// Interpreter::publish() and publishRunning(): a fence and a store of the leader.
  void publish(const Block &block, const std::string &what, uint32_t counter, int value, Scope scope) {
    fence(block.leader, block.name + ": fence before " + what, scope);
    store(block.leader, block.name + ": " + what, counter, value, relaxed(scope));
  }

  /// The barrier of Interpreter::endData().
  void endData(const Block &block) { barrier(block, "after data"); }

  /// Interpreter::announce(): the leader stores this rank's place at the peer, and then a number.
  void announce(const Block &block, uint32_t place, int value, uint32_t counter, int number, Scope scope) {
    store(block.leader, block.name + ": place", place, value);
    publish(block, "announcement", counter, number, scope);
  }

  /// Interpreter::awaitPlace(): the leader waits for the peer's announcement, and then loads the peer's place.
  void awaitPlace(const Block &block, uint32_t place, int value, uint32_t counter, int number, Scope scope) {
    load(block.leader, block.name + ": poll of announcement", counter, acquire(scope), number);
    check(block.leader, block.name + ": place of the peer", place, value);
  }

  /// A step that sends a message under Simple. Message n has the value n. If `needsSlot`, it polls for a free slot.
  void send(const Block &block, const Connection &to, int number, bool needsSlot) {
    if (needsSlot)
      await(block, "freed", to.out.freed, number - to.slots, to.scope);
    store(block.moverOf(number), "data", to.out.slotOf(number), number);
    endData(block);
    publish(block, "arrived", to.out.arrived, number, to.scope);
  }

  /// A step that receives a message under Simple, up to the barrier after its data.
  void receive(const Block &block, const Connection &from, int number) {
    await(block, "arrived", from.in.arrived, number, from.scope);
    check(block.moverOf(number), "data", from.in.slotOf(number), number);
  }

  /// The end of such a step that returns its slot (Interpreter::returnSlots()).
  void giveSlots(const Block &block, const Connection &from, int number) {
    publish(block, "freed", from.in.freed, number, from.scope);
  }
};

} // namespace gc3::memory
