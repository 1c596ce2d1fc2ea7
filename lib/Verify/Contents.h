// SPDX-License-Identifier: Apache-2.0
// What slots hold, symbolically, when the steps of a program run in a given order.
#pragma once

#include "Fifos.h"
#include "Order.h"
#include "SlotLengths.h"
#include "gc3/IR/SlotTracker.h"

namespace gc3::verify {

template <typename Domain>
class Contents {
public:
  using Value = typename Domain::Value;
  /// What a slot or a message holds.
  struct Held {
    [[no_unique_address]] Value value = Domain::unset();
    uint32_t furthest = 0; ///< the largest SlotLengths::restingPlace that it, or a part of it, has been in
  };

  /// At the beginning. `fifos` is for as many slots as the orders that will be followed were made with.
  Contents(const ir::Program &program, const Connections &connections, Fifos fifos, Domain &domain);

  /// Runs all steps.
  void follow(const Order &order);

  /// By SlotMap; unset where nothing was written.
  const std::vector<Held> &values() const { return memory; }
  const ir::SlotMap &slots() const { return map; }

  /// Reads of slots that nothing had written, the first of each step.
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
  std::vector<Held> inFlight; // by the places of `fifos`
  std::vector<UnsetRead> unset;
};

} // namespace gc3::verify
