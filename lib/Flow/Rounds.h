// SPDX-License-Identifier: Apache-2.0
// Distributes rounds over steps so that all known cuts carry enough chunks. An integer program with one unknown for
// each step.
#pragma once

#include "Layers.h"

namespace gc3::flow {

class Rounds {
public:
  /// `chunks` is the number that each cut must carry.
  Rounds(uint32_t steps, uint32_t rounds, uint64_t chunks) : steps(steps), total(rounds), chunks(chunks) {}

  void add(Cut cut) { cuts.push_back(std::move(cut)); }

  /// Returns rounds that grow with the step's number to the power `growth`. A root that is always busy needs short
  /// steps first, because its neighbors have few chunks then.
  std::vector<uint32_t> growing(uint32_t growth) const;
  /// Makes find() start from these rounds.
  void startFrom(std::vector<uint32_t> rounds) { current = std::move(rounds); }

  /// Returns the rounds of the steps, at least 1 each, that meet all cuts. Returns nothing if there are none, if the
  /// search is too long, or if `stops` returns true. Sets `isImpossible` in the first case.
  std::optional<std::vector<uint32_t>> find(const std::function<bool()> &stops);

  bool isImpossible = false;

private:
  uint64_t deficit(const std::vector<uint32_t> &rounds) const;
  bool improve(const std::function<bool()> &stops);
  enum class Verdict : uint8_t { Found, Impossible, Unknown };
  Verdict tryAll(const std::function<bool()> &stops);
  bool canMeetCuts(uint32_t step, uint32_t left, const std::vector<uint64_t> &limits) const;

  const uint32_t steps, total;
  const uint64_t chunks;
  std::vector<Cut> cuts;
  std::vector<uint32_t> current; ///< where the next search starts: the latest result
};

} // namespace gc3::flow
