// SPDX-License-Identifier: Apache-2.0
// One call of a group, and the interface through which NCCL runs the calls that no program runs.
#pragma once

#include "comm/Communicator.h"

namespace gc3::comm {

/// What is known about a call before it is enqueued; see the fields of GroupedCall.
struct CallChoice {
  std::optional<uint32_t> program; ///< no value: NCCL runs the call
  OnlineRank::Kind kind{};
};

/// One rank's call in a group.
struct GroupedCall {
  enum class State : uint8_t {
    Undecided, ///< not known until the communicator has joined
    Program,   ///< `program` runs it
    Nccl,      ///< no rank runs it with a program
    Failed,    ///< `outcome` is the error
  };

  std::shared_ptr<Communicator> comm;
  core::Request request; ///< the data that it points to must outlive the group
  State state = State::Undecided;
  uint32_t program = 0; ///< the program's number in the ProgramTable of `comm`
  /// If it has a family, online selection chooses the arm when the call is enqueued. Until then, `state`, `program` and
  /// `shape` are those without online selection.
  OnlineRank::Kind kind{};
  core::Shape shape{}; ///< in which the program runs the call
  core::Outcome outcome{};

  bool isOnline() const { return kind.family != nullptr; }
  void set(const CallChoice &choice) {
    state = choice.program ? State::Program : State::Nccl;
    program = choice.program.value_or(0);
    kind = choice.kind;
  }
  void fail(core::Outcome error) { state = State::Failed, outcome = std::move(error); }
  void fallBack(core::Outcome reason) { state = State::Nccl, outcome = std::move(reason); }
};

/// Lets NCCL run the calls that no program runs. Only the interposer has such a fallback; the C API has none.
struct CallFallback {
  virtual ~CallFallback() = default;
  /// Returns what runs a call. The call's communicator must have joined, or be unable to join.
  virtual CallChoice choose(const GroupedCall &call) = 0;
  /// Makes NCCL run the calls, in the order of the group. Returns an error if this rank drops the calls. In that case
  /// other ranks may already have made them.
  virtual core::Outcome run(std::span<GroupedCall *const> ncclCalls) = 0;
};

} // namespace gc3::comm
