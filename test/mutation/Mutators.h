// SPDX-License-Identifier: Apache-2.0
// Small changes to a program, by kind. Most changes keep the structure valid, so that mutants reach the analyses of
// Verify. Any reader already rejects sends and receives that do not match.
#pragma once

#include "Draft.h"
#include "host/Random.h"
#include <span>

namespace gc3::mutation {

/// Changes a draft at a random place. Returns the rank that has changed, or the last one if several have. If there is
/// no such place, returns nothing and does not change the draft.
using Mutator = std::optional<uint32_t> (*)(Draft &draft, host::Random &random);

struct Kind {
  const char *name;
  const char *what; ///< description in the table
  Mutator mutate;
};

std::span<const Kind> waitKinds();
std::span<const Kind> stepKinds();
std::span<const Kind> messageKinds();
std::span<const Kind> blockKinds();

/// Returns all kinds, in the order of the table.
std::vector<Kind> allKinds();

/// Returns a random element, or nothing if the list is empty.
template <typename T>
std::optional<T> pick(const std::vector<T> &list, host::Random &random) {
  if (list.empty())
    return std::nullopt;
  return list[random.below(list.size())];
}

} // namespace gc3::mutation
