// SPDX-License-Identifier: Apache-2.0
// The tuner of one communicator, independent of the version of NCCL's interface.
#pragma once

#include "tuner/Choices.h"
#include "tuner/TunerAbi.h"

#include <string>

namespace gc3::tuner {

/// Reads the table at `path`, and logs the result. Returns no arms if `path` is empty or the table is not valid.
/// `logger` can be null.
Choices readChoices(const std::string &path, uint32_t ranks, uint32_t nodes, abi::Logger logger);

class Tuner {
public:
  explicit Tuner(Choices choices) : choices(std::move(choices)) {}

  /// Makes the cost of an arm the lowest, and sets `channels` if the arm has a number. Changes nothing if there is no
  /// arm for the call that NCCL can use. Thread-safe.
  void choose(int collective, uint64_t bytes, const CostTable &costs, int &channels) const;

private:
  const Choices choices;
};

} // namespace gc3::tuner
