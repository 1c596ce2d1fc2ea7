// SPDX-License-Identifier: Apache-2.0
// The reductions for option -o: those of the C API, and sums of inputs that each rank multiplies by its own scalar, as
// in nccl-tests.
#pragma once

#include "core/Element.h"
#include "gc3.h"

namespace gc3::run {

enum class Reduction : uint8_t { Sum, Prod, Max, Min, Avg, MulSum };
inline constexpr int reductionCount = gc3NumOps + 1;
static_assert(static_cast<int>(Reduction::Avg) == gc3Avg);

const char *nameOf(Reduction op);

/// Returns the C API's operation that reduces the inputs after they have been multiplied.
constexpr gc3RedOp_t builtIn(Reduction op) {
  return op == Reduction::MulSum ? gc3Sum : static_cast<gc3RedOp_t>(op);
}

/// Returns the factor of a rank; it is exact in every type.
constexpr uint32_t factorOf(Reduction op, uint32_t rank) {
  return op == Reduction::MulSum ? 2 - rank % 2 : 1;
}

/// Returns a rank's factor as an element of the type. The element begins at the result's first byte.
uint64_t scalarOf(Reduction op, gc3DataType_t type, uint32_t rank);

/// The operation handle for a rank's calls. The destructor destroys the handle; calls that a group has recorded still
/// run.
class Operation {
public:
  Operation(Reduction op, gc3DataType_t type, uint32_t rank, gc3Comm_t comm);
  ~Operation();
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;
  gc3Result_t result() const { return made; } ///< result of creating the handle
  gc3RedOp_t handle() const { return op; }

private:
  const gc3Comm_t comm;
  const bool isOwn;
  gc3RedOp_t op;
  gc3Result_t made = gc3Success;
};

} // namespace gc3::run
