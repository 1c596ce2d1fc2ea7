// SPDX-License-Identifier: Apache-2.0
// The arms of a communicator, and the choice of one of them for a call. A choice depends only on the table and on what
// NCCL passes. These are identical on all ranks, so all ranks choose the same arm.
#pragma once

#include "tuner/Table.h"

#include <array>
#include <span>

namespace gc3::tuner {

/// NCCL's estimate for each algorithm and protocol, in microseconds: `costs[algorithm * protocols + protocol]`. NCCL
/// runs the call with the lowest. It can't use entries that are negative.
struct CostTable {
  float *costs = nullptr;
  uint32_t algorithms = 0, protocols = 0;
};

class Choices {
public:
  /// Has no arms.
  Choices() = default;
  /// Takes the rows for this number of ranks and nodes. Among rows of one arm in one bucket, the last counts.
  Choices(const std::vector<Row> &rows, uint32_t ranks, uint32_t nodes);

  /// Returns the arms for a collective, by NCCL's number, and a size: first those that are not measured, in the order
  /// of their rows, then the others by time. Empty if there are none, or NCCL has no algorithms for the collective.
  std::span<const Arm> arms(int collective, uint64_t bytes) const;
  uint32_t count() const { return static_cast<uint32_t>(all.size()); }

private:
  std::vector<Arm> all;                                            ///< by collective and bucket
  std::array<uint32_t, collectiveCount * bucketCount + 1> begin{}; ///< by collective * bucketCount + bucket
};

/// Returns the first of the arms that NCCL can use, after making its cost the lowest: it gets the lowest cost of the
/// table, and all entries that were not above it get the next larger number. So the time that
/// ncclGroupSimulateEnd returns is still an estimate of NCCL. Returns null if NCCL can use no arm. Does not return arms
/// that cost NCCL more than 128 times its best: NCCL multiplies costs by 1024 to avoid a loss of precision.
const Arm *prefer(std::span<const Arm> arms, const CostTable &table);

} // namespace gc3::tuner
