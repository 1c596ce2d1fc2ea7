// SPDX-License-Identifier: Apache-2.0
// The phases of a communicator, and the table of allowed transitions. The runtime and its tests use the same table.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gc3::comm {

enum class Phase : uint8_t {
  Unready,   ///< no collective call was made on it; it holds no resources
  Forming,   ///< NCCL creates gc3's child communicator; all ranks take part
  Joining,   ///< ranks exchange RankInfos, and agree on the programs that can run
  Ready,     ///< programs run calls; if the ranks can't run programs, NCCL runs all calls
  Draining,  ///< new calls are refused; enqueued calls still run
  Closing,   ///< all calls have ended; resources are released together with the other ranks
  Closed,    ///< all resources are released
  Failed,    ///< all calls return the first error
  Aborted,   ///< gc3 stops its kernels and begins no further call on the application's communicator
  Releasing, ///< after an abort: gc3 releases resources when kernels have ended, and waits for no rank
};
inline constexpr uint8_t phaseCount = 10;

struct Transition {
  Phase from, to;
};

inline constexpr Transition transitions[] = {
    {Phase::Unready, Phase::Forming},  // the first collective call
    {Phase::Unready, Phase::Closed},   // finalized or destroyed before the first call
    {Phase::Forming, Phase::Joining},  // NCCL has created the child
    {Phase::Forming, Phase::Ready},    // NCCL runs all calls: there is only one rank, or NCCL can't create a child
    {Phase::Joining, Phase::Ready},    // the ranks have agreed which programs can run, or that none can
    {Phase::Ready, Phase::Draining},   // finalized or destroyed
    {Phase::Draining, Phase::Closing}, // the last call has ended
    {Phase::Closing, Phase::Closed},   // all resources are released
    // After the first error:
    {Phase::Unready, Phase::Failed},
    {Phase::Forming, Phase::Failed},
    {Phase::Joining, Phase::Failed},
    {Phase::Ready, Phase::Failed},
    {Phase::Draining, Phase::Failed},
    // Aborted by the application, or finalized or destroyed after an error:
    {Phase::Unready, Phase::Aborted},
    {Phase::Forming, Phase::Aborted},
    {Phase::Joining, Phase::Aborted},
    {Phase::Ready, Phase::Aborted},
    {Phase::Draining, Phase::Aborted},
    {Phase::Closing, Phase::Aborted},
    {Phase::Failed, Phase::Aborted},
    {Phase::Aborted, Phase::Releasing}, // NCCL has ended its part of the application's communicator
    {Phase::Releasing, Phase::Closed},  // all resources are released
};

constexpr bool mayFollow(Phase from, Phase to) {
  return std::any_of(std::begin(transitions), std::end(transitions),
                     [=](const Transition &each) { return each.from == from && each.to == to; });
}

/// Returns true in the phases before the ranks have joined.
constexpr bool isBeforeReady(Phase phase) {
  return phase == Phase::Unready || phase == Phase::Forming || phase == Phase::Joining;
}

} // namespace gc3::comm
