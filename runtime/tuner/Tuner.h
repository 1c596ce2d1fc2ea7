// SPDX-License-Identifier: Apache-2.0
// The tuner of one communicator, independent of the version of NCCL's interface.
#pragma once

#include "tuner/Choices.h"
#include "tuner/TunerAbi.h"

#include <string>

namespace gc3::tuner {

class Tuner {
public:
  /// Reads the table at `path` and logs the result with `logger`, which can be null. If `path` is empty or the table is
  /// not valid, the tuner has no arms.
  Tuner(const std::string &path, size_t ranks, size_t nodes, abi::Logger logger);

  /// Makes the cost of an arm of the table the lowest, and sets `channels` if the arm has a number. Changes nothing if
  /// the table has no arm for the call that NCCL can use. Thread-safe.
  void choose(int collective, uint64_t bytes, const CostTable &costs, int &channels) const;

private:
  Choices choices;
};

} // namespace gc3::tuner
