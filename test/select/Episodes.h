// SPDX-License-Identifier: Apache-2.0
// The episodes of a long search.
#pragma once

#include "Search.h"

namespace gc3::select {

/// Returns an episode. Eight episodes in a row have all kinds of terms and both selectors; their ranks are 2 to 8.
inline Episode makeEpisode(uint64_t number, uint64_t seed, uint64_t calls) {
  constexpr Terms terms[] = {streamTerms, {16, 64, 256}, {4, 8, 32}, announcedTerms};
  Episode episode;
  episode.ranks = 2 + static_cast<uint32_t>(number % 7);
  episode.calls = calls;
  episode.seed = seed + number;
  episode.terms = terms[number % 4];
  episode.isAnnounced = number % 4 == 3;
  episode.chooser = number / 4 % 2 == 0 ? Chooser::Sensitive : Chooser::Selector;
  if (number % 10 == 9)
    episode.abortAt = calls / 2;
  return episode;
}

/// Returns why a report of an episode without faults is wrong; empty if it is right.
inline std::string findFailure(const Report &report) {
  for (const std::string &error : report.errors)
    if (!error.empty() && error != "aborted")
      return error;
  return report.disagreement;
}

} // namespace gc3::select
