// SPDX-License-Identifier: Apache-2.0
// A GC3-IR program that is easy to change: it has lists instead of ranges of flat arrays.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <functional>
#include <optional>

namespace gc3::mutation {

/// Identifies a step of a draft by the numbers of rank, thread block and step.
struct StepAddress {
  uint32_t rank;
  uint32_t block;
  uint32_t step;
};

struct Draft {
  struct StepWithWaits : ir::Step { // waitBegin and waitCount are unused
    std::vector<ir::Wait> waits;
  };
  struct Block {
    uint32_t channel = 0;
    int32_t sendPeer = -1;
    int32_t recvPeer = -1;
    std::vector<StepWithWaits> steps;
  };

  std::shared_ptr<const ir::ProgramInfo> info;
  uint32_t subdivision;
  uint32_t fifoSlots;
  std::vector<uint32_t> bufferSizes;
  std::vector<std::vector<Block>> ranks;

  explicit Draft(const ir::Program &program);
  ir::Program program() const;

  Block &block(StepAddress place) { return ranks[place.rank][place.block]; }
  StepWithWaits &step(StepAddress place) { return block(place).steps[place.step]; }
  uint32_t bufferSize(uint32_t rank, ir::BufferId buffer) const {
    return bufferSizes[rank * info->bufferCount() + buffer];
  }

  /// Returns the addresses of all steps for which `wanted(place, step)` returns true.
  std::vector<StepAddress> places(const std::function<bool(StepAddress, const StepWithWaits &)> &wanted) const;

  /// Replaces every wait of a rank by the result of `to`. Removes the wait if the result is empty.
  void moveWaits(uint32_t rank, const std::function<std::optional<ir::Wait>(ir::Wait)> &to);
  /// Removes a step. Waits for the step become waits for the step before it.
  void erase(StepAddress place);
  /// Inserts a step after `place`. Existing waits still refer to the same steps.
  void insertBehind(StepAddress place, StepWithWaits step);
};

/// The two ends of one message.
struct Message {
  StepAddress send;
  StepAddress receive;
};

/// Returns all messages: pairs the k-th send of each connection with its k-th receive.
std::vector<Message> messages(const Draft &draft);

} // namespace gc3::mutation
