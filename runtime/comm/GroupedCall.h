// SPDX-License-Identifier: Apache-2.0
// A call in a group, and the interface to NCCL for calls that no program runs.
#pragma once

#include "comm/Communicator.h"

namespace gc3::comm {

/// One rank's call in a group.
struct GroupedCall {
  enum class State : uint8_t {
    Undecided, ///< the communicator has not joined
    Program,   ///< `program` runs it
    Nccl,      ///< no program runs it on any rank
    Failed,    ///< `outcome` is the error
  };

  std::shared_ptr<Communicator> comm;
  core::Request request; ///< the buffers that it points to must outlive the group
  State state = State::Undecided;
  uint32_t program = 0; ///< index in the table of `comm`
  core::Outcome outcome{};

  void fail(core::Outcome error) { state = State::Failed, outcome = std::move(error); }
  void fallBack(core::Outcome reason) { state = State::Nccl, outcome = std::move(reason); }
};

/// Runs calls by NCCL. The C API has no fallback.
struct CallFallback {
  virtual ~CallFallback() = default;
  /// Returns the program that runs a call; nothing if NCCL runs it. The communicator has joined, or can't join.
  virtual std::optional<uint32_t> choose(const GroupedCall &call) = 0;
  /// Has NCCL run calls, in the order of the group. Returns an error if this rank drops the calls; other ranks can have
  /// made them.
  virtual core::Outcome run(std::span<GroupedCall *const> ncclCalls) = 0;
};

} // namespace gc3::comm
