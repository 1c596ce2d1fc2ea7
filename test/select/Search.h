// SPDX-License-Identifier: Apache-2.0
// Searches for disagreements: one thread for each rank makes calls with its own selector and schedule. Messages are
// sent and received at random moments, ranks stall until all others wait, and each rank has its own noise in its times.
#pragma once

#include "select/Schedule.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gc3::select {

enum class Fault : uint8_t {
  None,
  FlippedBit, ///< in the state of one rank's selector
  WrongTime,  ///< in one rank's copies of exchanges
  OtherTerms, ///< one rank has a longer delay
};

enum class Chooser : uint8_t {
  Sensitive, ///< each choice depends on all bits of all earlier times and choices
  Selector,  ///< the runtime's own
};

/// The calls of one communicator.
struct Episode {
  static constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

  uint32_t ranks = 2;
  uint64_t calls = 1000;
  uint64_t seed = 0;
  Terms terms = streamTerms;
  bool isAnnounced = false; ///< ranks wait for all messages of a call before they run it
  Chooser chooser = Chooser::Sensitive;
  uint64_t abortAt = never; ///< the call before which rank 0 aborts
  uint64_t stallAt = never; ///< the call that the last rank never makes. When all others wait, it aborts
  Fault fault = Fault::None;
  uint32_t faultyRank = 0;
  uint64_t faultyCall = 0;
};

struct Report {
  std::vector<uint64_t> calls;     ///< by rank: the calls that it made
  std::vector<std::string> errors; ///< by rank: the error that ended its calls; "aborted" after an abort
  uint64_t exchanges = 0;          ///< applied by all ranks
  uint64_t samples = 0;            ///< that are not missing, of rank 0
  uint64_t waits = 0;              ///< calls of all ranks that waited for an exchange
  std::string disagreement;        ///< the first call for which two ranks chose different arms, or differ at the end
};

Report search(const Episode &episode);

} // namespace gc3::select
