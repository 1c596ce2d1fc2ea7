// SPDX-License-Identifier: Apache-2.0
// Reductions that the application creates. All handles come from one counter of the process. So a handle that was
// destroyed, or that belongs to another communicator, is not the handle of a newer reduction.
#include "api/Handles.h"
#include "core/Factor.h"

#include <atomic>
#include <climits>

using namespace gc3;
using core::Outcome;

namespace {

gc3RedOp_t newHandle(const gc3Comm &comm) {
  static std::atomic<unsigned> drawn{0};
  for (;;) {
    const int handle = gc3NumOps + static_cast<int>(drawn.fetch_add(1) % (INT_MAX - gc3NumOps));
    if (!comm.operations.contains(handle))
      return static_cast<gc3RedOp_t>(handle);
  }
}

Outcome check(const gc3RedOp_t *op, const void *scalar, gc3DataType_t type, gc3ScalarResidence_t residence,
              gc3Comm_t comm) {
  if (!op || !scalar || !comm)
    return {gc3InvalidArgument, "op, scalar or comm is null"};
  if (type < 0 || type >= gc3NumTypes)
    return {gc3InvalidArgument, "unknown data type " + std::to_string(static_cast<int>(type))};
  if (residence != gc3ScalarDevice && residence != gc3ScalarHostImmediate)
    return {gc3InvalidArgument, "unknown residence of a scalar " + std::to_string(static_cast<int>(residence))};
  return {};
}

} // namespace

void api::resolve(const gc3Comm &comm, gc3RedOp_t op, core::Request &request) {
  if (op < gc3NumOps)
    return;
  if (const auto found = comm.operations.find(op); found != comm.operations.end()) {
    request.op = gc3Sum;
    request.preMulSum = found->second;
  }
}

extern "C" gc3Result_t gc3RedOpCreatePreMulSum(gc3RedOp_t *op, const void *scalar, gc3DataType_t type,
                                               gc3ScalarResidence_t residence, gc3Comm_t comm) {
  return api::guarded(comm, [&]() -> Outcome {
    if (Outcome outcome = check(op, scalar, type, residence, comm); !outcome.ok())
      return outcome;
    const auto elementType = static_cast<core::ElementType>(type);
    const core::Factor factor =
        residence == gc3ScalarDevice ? core::Factor{0, scalar} : core::factorAt(elementType, scalar);
    const gc3RedOp_t handle = newHandle(*comm);
    comm->operations.emplace(handle, core::PreMulSum{elementType, factor});
    *op = handle;
    return {};
  });
}

extern "C" gc3Result_t gc3RedOpDestroy(gc3RedOp_t op, gc3Comm_t comm) {
  return api::guarded(comm, [&]() -> Outcome {
    if (!comm)
      return {gc3InvalidArgument, "comm is null"};
    if (comm->operations.erase(op) == 0)
      return {gc3InvalidArgument, "reduction " + std::to_string(static_cast<int>(op)) +
                                      " was not created on this communicator, or was destroyed"};
    return {};
  });
}
