// SPDX-License-Identifier: Apache-2.0
// Defines NCCL's functions for reduction operations of the application, which gc3 exports. NCCL also creates every
// operation, so that NCCL can run calls that use it.
#include "core/Factor.h"
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Group.h"
#include "shim/Guarded.h"

using namespace gc3::shim;
using gc3::core::PreMulSum;

/// Returns the operation that multiplies by `scalar`, then sums. Returns no value for types and residences that only a
/// newer NCCL has. Reads a scalar in host memory during this call.
static std::optional<PreMulSum> preMulSum(const void *scalar, DataType type, ScalarResidence residence) {
  const auto elementType = static_cast<gc3::core::ElementType>(type);
  if (static_cast<unsigned>(type) >= dataTypeCount)
    return std::nullopt;
  switch (residence) {
  case ScalarResidence::Device: return PreMulSum{elementType, {0, scalar}};
  case ScalarResidence::HostImmediate: return PreMulSum{elementType, gc3::core::factorAt(elementType, scalar)};
  }
  return std::nullopt;
}

extern "C" {

Result ncclRedOpCreatePreMulSum(RedOp *op, void *scalar, DataType type, ScalarResidence residence, Comm comm) {
  const Result result = callInstalled<Function::RedOpCreatePreMulSum>(op, scalar, type, residence, comm);
  if (isInsideNccl() || result != Result::Success)
    return result;
  return guarded([&] {
    Interposer::ofProcess().recordOperation(comm, *op, preMulSum(scalar, type, residence));
    return result;
  });
}

Result ncclRedOpDestroy(RedOp op, Comm comm) {
  if (isInsideNccl())
    return callInstalled<Function::RedOpDestroy>(op, comm);
  return guarded([&] {
    Interposer::ofProcess().recordOperation(comm, op, std::nullopt);
    if (Group::ofThisThread().deferDestruction(op, comm))
      return Result::Success;
    return callInstalled<Function::RedOpDestroy>(op, comm);
  });
}

} // extern "C"
