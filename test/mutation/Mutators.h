// SPDX-License-Identifier: Apache-2.0
// Small changes to a program, by kind. Most keep the structure intact, so that they reach what Verify has to think
// about: a mutant whose sends and receives do not match is told by any reader.
#pragma once

#include "Draft.h"
#include "host/Random.h"
#include <span>

namespace gc3::mutation {

/// Changes a draft at a place that `random` chooses. Returns the rank that was changed (the last one if there are
/// several), or nothing if the program has no such place; then the draft is as it was.
using Mutator = std::optional<uint32_t> (*)(Draft &draft, host::Random &random);

struct Kind {
  const char *name;
  const char *what; ///< for the table's reader
  Mutator mutate;
};

std::span<const Kind> waitKinds();
std::span<const Kind> stepKinds();
std::span<const Kind> messageKinds();
std::span<const Kind> blockKinds();

/// All of them, in the order of the table.
std::vector<Kind> allKinds();

/// One of the list, or nothing if it is empty.
template <typename T>
std::optional<T> pick(const std::vector<T> &list, host::Random &random) {
  if (list.empty())
    return std::nullopt;
  return list[random.below(list.size())];
}

} // namespace gc3::mutation
