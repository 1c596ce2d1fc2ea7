// SPDX-License-Identifier: Apache-2.0
// Operations that applications make, as NCCL exports them. NCCL makes them too, so that it can serve their calls.
#include "core/Factor.h"
#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Group.h"
#include "shim/Guarded.h"

using namespace gc3::shim;
using gc3::core::PreMulSum;

/// Nothing for what only a newer NCCL knows. A scalar of the host is read now.
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
  if (isInside() || result != Result::Success)
    return result;
  return guarded([&] {
    Interposer::ofProcess().recordOperation(comm, *op, preMulSum(scalar, type, residence));
    return result;
  });
}

Result ncclRedOpDestroy(RedOp op, Comm comm) {
  if (isInside())
    return callInstalled<Function::RedOpDestroy>(op, comm);
  return guarded([&] {
    Interposer::ofProcess().recordOperation(comm, op, std::nullopt);
    if (Group::ofThisThread().deferDestruction(op, comm))
      return Result::Success;
    return callInstalled<Function::RedOpDestroy>(op, comm);
  });
}

} // extern "C"
