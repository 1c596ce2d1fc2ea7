// SPDX-License-Identifier: Apache-2.0
// Runs the runtime's selector over recorded or made-up times.
#pragma once

#include "gc3/Report/Report.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc3::tune {

/// The times that each arm would have in each call.
struct Recording {
  std::vector<std::string> arms; ///< names
  uint32_t buckets = 0;
  std::vector<uint64_t> bytes;    ///< by bucket
  std::vector<float> predicted;   ///< by bucket * arms + arm, in microseconds; NaN: unknown
  std::vector<uint32_t> bucketOf; ///< by call
  std::vector<double> times;      ///< by call * arms + arm, in microseconds
  double at(size_t call, uint32_t arm) const { return times[call * arms.size() + arm]; }
};

/// Reads {"arms": [{"name", "predicted": [microseconds by bucket]}], "buckets": [bytes], "calls": [{"bucket": index,
/// "times": [microseconds by arm]}]}. `predicted` and its elements can be null. Returns an error text, or an empty
/// string.
std::string readRecording(const std::string &text, Recording &recording);

struct Replay {
  std::vector<uint32_t> choices; ///< arm by call
  double time = 0;               ///< of the choices, in microseconds
  double bestFixed = 0;          ///< of the best arm of each bucket
  std::string disagreement;      ///< the first call for which two selectors choose different arms; empty: none
};

/// Replays a recording on `ranks` selectors. A selector learns only the time of the arm that it chose. One selector
/// learns it before its next choice but one, like ranks on a host. Several selectors exchange their times as ranks on
/// streams do (select/Schedule.h). Each of them measures with its own noise, and `seed` determines noise and delays.
Replay replay(const Recording &recording, uint32_t ranks, uint64_t seed);

/// Returns a page with the mean times of the choices and of each arm, and the choices over time.
report::Page pageOf(const Recording &recording, const Replay &replay);

/// Returns {"choices", "time", "best_fixed", "regret"} as JSON.
std::string jsonOf(const Replay &replay);

} // namespace gc3::tune
