// SPDX-License-Identifier: Apache-2.0
// NCCL's exported functions for operations of applications. NCCL creates every operation too, so that it can run calls
// with it.
#include "core/Factor.h"
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Group.h"
#include "shim/Guarded.h"

using namespace gc3::shim;
using gc3::core::PreMulSum;

/// Returns nothing for types and residences of a newer NCCL. Reads a host scalar during this call.
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
