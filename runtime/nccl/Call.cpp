// SPDX-License-Identifier: Apache-2.0
// Collective calls: what never has a program, names for the log, and the way to NCCL.
#include "nccl/Call.h"

#include "nccl/Installed.h"

#include <cstdio>
#include <iterator>

namespace gc3::nccl {

static_assert(dataTypeCount == host::elementTypeCount && redOpCount == host::reduceOpCount, "NCCL's numbers are ours");

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

std::string_view whyNever(const Call &call, int ranks) {
  if (ranks == 1)
    return "one rank";
  if (call.count == 0)
    return "no elements";
  if (!isKnown(call.type))
    return "unknown type";
  if (reduces(call.collective) && !isKnown(call.op) && !call.preMulSum)
    return "unknown operation";
  if (call.preMulSum && call.preMulSum->type != static_cast<host::ElementType>(call.type))
    return "an operation of another type";
  if (hasRoot(call.collective) && (call.root < 0 || call.root >= ranks))
    return "no such root";
  return {};
}

uint64_t callBytes(const Call &call, int ranks) {
  bool isRankWide = call.collective == Collective::AllReduce || call.collective == Collective::Bcast ||
                    call.collective == Collective::Broadcast || call.collective == Collective::Reduce;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(call.count, host::elementSize(static_cast<host::ElementType>(call.type)), &bytes) ||
      __builtin_mul_overflow(bytes, isRankWide ? 1 : static_cast<uint64_t>(ranks), &bytes))
    return UINT64_MAX;
  return bytes;
}

/// 512 B, 1 MiB, 1.5 GiB.
static std::string bytesText(uint64_t bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, units[unit]);
  return text;
}

std::string describe(const Call &call, int ranks) {
  std::string text = collectiveNames[static_cast<size_t>(call.collective)];
  if (isKnown(call.type))
    text += ' ' + bytesText(callBytes(call, ranks)) + ' ' +
            host::elementTypeName(static_cast<host::ElementType>(call.type));
  else
    text += ' ' + std::to_string(call.count) + " of type " + std::to_string(static_cast<int>(call.type));
  if (call.preMulSum)
    text += " premulsum";
  else if (reduces(call.collective))
    text += isKnown(call.op) ? ' ' + std::string(host::reduceOpName(static_cast<host::ReduceOp>(call.op)))
                             : " op " + std::to_string(static_cast<int>(call.op));
  if (hasRoot(call.collective))
    text += " root " + std::to_string(call.root);
  return text;
}

Result forward(const Call &call) {
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

} // namespace gc3::nccl
