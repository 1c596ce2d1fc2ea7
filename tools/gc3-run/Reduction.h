// SPDX-License-Identifier: Apache-2.0
// What -o names: the reductions of the C API, and sums of inputs that each rank multiplies by a scalar of its own, as
// nccl-tests has them.
#pragma once

#include "core/Element.h"
#include "gc3.h"

namespace gc3::run {

enum class Reduction : uint8_t { Sum, Prod, Max, Min, Avg, MulSum };
inline constexpr int reductionCount = gc3NumOps + 1;
static_assert(static_cast<int>(Reduction::Avg) == gc3Avg);

const char *nameOf(Reduction op);

/// What is done to inputs once they have been multiplied.
constexpr gc3RedOp_t builtIn(Reduction op) {
  return op == Reduction::MulSum ? gc3Sum : static_cast<gc3RedOp_t>(op);
}

/// By what a rank multiplies: exact in every type.
constexpr uint32_t factorOf(Reduction op, uint32_t rank) {
  return op == Reduction::MulSum ? 2 - rank % 2 : 1;
}

/// The handle for a rank's calls, which is destroyed when this is: calls that a group has noted go on.
class Operation {
public:
  Operation(Reduction op, gc3DataType_t type, uint32_t rank, gc3Comm_t comm);
  ~Operation();
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;
  gc3Result_t result() const { return made; } ///< of making it
  gc3RedOp_t handle() const { return op; }

private:
  const gc3Comm_t comm;
  const bool isOwn;
  gc3RedOp_t op;
  gc3Result_t made = gc3Success;
};

} // namespace gc3::run
