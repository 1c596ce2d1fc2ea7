// SPDX-License-Identifier: Apache-2.0
// Rank 0 finds the first call in which ranks have made different choices, after a call has stalled (docs/selection.md,
// "Faults"). It asks all ranks one question at a time: the digest of the choices of their first calls, up to some
// number. A digest contains all earlier choices, so a binary search finds the call. The class knows no connections.
#pragma once

#include "net/Frame.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gc3::net {

class ChoiceSearch {
public:
  explicit ChoiceSearch(uint32_t ranks) : answers(ranks) {}

  /// Begins a search, unless one is running. The choices of the first `calls` calls are known to be equal.
  void begin(uint64_t calls);
  /// Ends a search that is running, because a rank can't answer.
  void stop();
  /// Adds a rank's answer. Returns false if the rank must not send it now.
  bool add(uint32_t rank, const Answer &answer);
  /// Returns the next frame for all ranks, once: a question, or the verdict. Returns nothing while answers are missing.
  std::optional<Frame> next();

private:
  enum class State : uint8_t { Idle, Asks, Waits, HasEnded };
  void endRound();
  std::string compare() const;

  State state = State::Idle;
  uint64_t asked = 0;     ///< calls
  uint64_t equal = 0;     ///< the choices of so many first calls are equal
  uint64_t differing = 0; ///< the choices of so many first calls differ, or a rank has not made them; 0: not known
  std::vector<std::optional<Answer>> answers; ///< to the current question, by rank
  uint32_t count = 0;                         ///< of these answers
  std::string difference;                     ///< of the first `differing` calls; empty: not found
};

} // namespace gc3::net
