// SPDX-License-Identifier: Apache-2.0
// A GC3-IR program in a form that is easy to change: lists instead of ranges of flat arrays.
#pragma once

#include "gc3/IR/GC3IR.h"
#include <functional>
#include <optional>

namespace gc3::mutation {

/// A step of a draft: thread block of a rank, step of the thread block.
struct StepAddress {
  uint32_t rank;
  uint32_t block;
  uint32_t step;
};

struct Draft {
  struct StepWithWaits : ir::Step { // its waitBegin and waitCount mean nothing
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

  /// All steps for which `wanted(place, step)`.
  std::vector<StepAddress> places(const std::function<bool(StepAddress, const StepWithWaits &)> &wanted) const;

  /// Every wait of a rank becomes what `to` says, or goes.
  void moveWaits(uint32_t rank, const std::function<std::optional<ir::Wait>(ir::Wait)> &to);
  /// Takes a step out; who waited for it waits for the one before it.
  void erase(StepAddress place);
  /// Puts a step behind `place`; waits go on meaning the steps that they meant.
  void insertBehind(StepAddress place, StepWithWaits step);
};

/// The two ends of one message.
struct Message {
  StepAddress send;
  StepAddress receive;
};

/// All messages: the k-th send of each connection with its k-th receive.
std::vector<Message> messages(const Draft &draft);

} // namespace gc3::mutation
