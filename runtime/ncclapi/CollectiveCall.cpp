// SPDX-License-Identifier: Apache-2.0
// Collective calls: decides which calls no program can run, describes calls for the log, and forwards calls to NCCL.
#include "ncclapi/CollectiveCall.h"

#include "core/CallText.h"
#include "ncclapi/Installed.h"

namespace gc3::ncclapi {

static_assert(dataTypeCount == core::elementTypeCount && redOpCount == core::reduceOpCount, "gc3 uses NCCL's numbers");

static bool isKnown(DataType type) {
  return static_cast<unsigned>(type) < dataTypeCount;
}
static bool isKnown(RedOp op) {
  return static_cast<unsigned>(op) < redOpCount;
}

static bool reduces(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::Reduce ||
         collective == Collective::ReduceScatter;
}

static bool hasRoot(Collective collective) {
  return collective == Collective::Bcast || collective == Collective::Broadcast || collective == Collective::Gather ||
         collective == Collective::Reduce || collective == Collective::Scatter;
}

const char *standardName(Collective collective) {
  switch (collective) {
  case Collective::AllGather: return "allgather";
  case Collective::AllReduce: return "allreduce";
  case Collective::AlltoAll: return "alltoall";
  case Collective::Bcast:
  case Collective::Broadcast: return "broadcast";
  case Collective::Gather: return "gather";
  case Collective::Reduce: return "reduce";
  case Collective::ReduceScatter: return "reduce_scatter";
  case Collective::Scatter: return "scatter";
  }
  __builtin_unreachable();
}

std::string_view unsupportedReason(const CollectiveCall &call, int ranks) {
  if (ranks == 1)
    return "one rank";
  if (call.count == 0)
    return "no elements";
  if (!isKnown(call.type))
    return "unknown type";
  if (reduces(call.collective) && !isKnown(call.op) && !call.preMulSum)
    return "unknown operation";
  if (call.preMulSum && call.preMulSum->type != static_cast<core::ElementType>(call.type))
    return "an operation of another type";
  if (hasRoot(call.collective) && (call.root < 0 || call.root >= ranks))
    return "no such root";
  return {};
}

static bool isRankWide(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::Bcast ||
         collective == Collective::Broadcast || collective == Collective::Reduce;
}

std::string describe(const CollectiveCall &call, int ranks) {
  core::CallText text{collectiveNames[static_cast<size_t>(call.collective)],
                      call.count,
                      isRankWide(call.collective) ? 1 : static_cast<uint64_t>(ranks),
                      static_cast<int>(call.type),
                      {},
                      call.preMulSum.has_value(),
                      {}};
  if (reduces(call.collective))
    text.op = static_cast<int>(call.op);
  if (hasRoot(call.collective))
    text.root = call.root;
  return describe(text);
}

Result forward(const CollectiveCall &call) {
  const auto &[collective, send, recv, count, type, op, root, comm, stream, preMulSum] = call;
  switch (collective) {
  case Collective::AllGather: return callInstalled<Function::AllGather>(send, recv, count, type, comm, stream);
  case Collective::AllReduce: return callInstalled<Function::AllReduce>(send, recv, count, type, op, comm, stream);
  case Collective::AlltoAll: return callInstalled<Function::AlltoAll>(send, recv, count, type, comm, stream);
  case Collective::Bcast: return callInstalled<Function::Bcast>(recv, count, type, root, comm, stream);
  case Collective::Broadcast: return callInstalled<Function::Broadcast>(send, recv, count, type, root, comm, stream);
  case Collective::Gather: return callInstalled<Function::Gather>(send, recv, count, type, root, comm, stream);
  case Collective::Reduce: return callInstalled<Function::Reduce>(send, recv, count, type, op, root, comm, stream);
  case Collective::ReduceScatter:
    return callInstalled<Function::ReduceScatter>(send, recv, count, type, op, comm, stream);
  case Collective::Scatter: return callInstalled<Function::Scatter>(send, recv, count, type, root, comm, stream);
  }
  __builtin_unreachable();
}

} // namespace gc3::ncclapi
