// SPDX-License-Identifier: Apache-2.0
// The messages of a program that need no slot on GPUs: the sender can store them into the receiver's buffer
// (docs/direct.md). The result depends only on the program and the teams, so it is identical on all ranks.
#pragma once

#include "core/Transfers.h"
#include "plan/BufferPlace.h"

#include <span>
#include <vector>

namespace gc3::plan {

class DirectMessages {
public:
  static constexpr uint32_t none = core::Transfers::none;

  /// No message is direct.
  DirectMessages() = default;

  /// Returns the direct messages of a launch of all ranks. The receiver's buffer can be any buffer.
  static DirectMessages inOneLaunch(const core::Program &program, const core::Transfers &transfers);
  /// Returns the direct messages of ranks that have a launch each. The receiver's buffer is its output, and both ranks
  /// are in one team. `teams` has the team of each rank. A rank sends directly to at most 30 peers
  /// (KernelArgs::memory).
  static DirectMessages betweenLaunches(const core::Program &program, const core::Transfers &transfers,
                                        std::span<const uint32_t> teams);

  /// Returns the number of direct messages.
  uint32_t count() const { return messages; }
  /// Returns the step that receives the message of `step`, or `none` if that message is not direct.
  uint32_t receiver(uint32_t step) const { return messages == 0 ? none : receivers[step]; }
  /// Returns true if the message that `step` receives is direct.
  bool arrives(uint32_t step) const { return messages != 0 && arrivals[step]; }
  /// Returns the index in KernelArgs::memory of the receiver of a direct message. `step` sends it.
  uint8_t memory(uint32_t step) const { return memories[step]; }

  /// Returns the peers to which a rank sends directly. Peer i has index i + 1 in KernelArgs::memory. Returns no peers
  /// if one launch runs all ranks.
  std::span<const uint32_t> peers(uint32_t rank) const {
    return rank < peersOfRank.size() ? peersOfRank[rank] : std::span<const uint32_t>();
  }
  /// Returns true if a message is direct only in calls in which its sender and its receiver have found that their
  /// receive buffers are at the same place of a window.
  bool dependOnCall() const { return messages != 0 && !peersOfRank.empty(); }

private:
  template <typename Memory>
  void add(const core::Program &program, const core::Transfers &transfers, const Memory &memoryOf);

  uint32_t messages = 0;
  std::vector<uint32_t> receivers; ///< indexed by step, like the next two
  std::vector<bool> arrivals;
  std::vector<uint8_t> memories;
  std::vector<std::vector<uint32_t>> peersOfRank; ///< indexed by rank; empty if one launch runs all ranks
};

} // namespace gc3::plan
