// SPDX-License-Identifier: Apache-2.0
// Makes calls of a Runner: those of a program on the own ranks, and those of NCCL.
#include "Runner.h"

#include "gc3/Common/StandardCollective.h"

#include <utility>

namespace gc3::run {

/// Returns the distance in elements from the start of the send buffer to the start of the receive buffer. The rank runs
/// in place as NCCL defines it.
int64_t Runner::inPlaceOffset(const Row &row, const Shape &shape, uint32_t rank) const {
  const common::StandardCollective *standard = common::findStandard(row.collective);
  if (!standard || !standard->hasParts())
    return 0;
  uint64_t part = shape.input[rank], all = shape.output[rank];
  if (isWide(standard->input))
    std::swap(part, all);
  const bool isStandard = part == row.count && all == row.count * static_cast<uint64_t>(row.ranks);
  return isStandard ? standard->inPlaceOffset(rank, row.count) : 0;
}

Runner::Buffers Runner::buffersOf(uint32_t i, Placement placement, const Row &row, size_t elementSize,
                                  const Shape &shape) {
  const uint32_t rank = own.first + i;
  std::byte *output = gpu ? gpu->output(i) : outputs[i].data();
  if (placement == Placement::OutOfPlace)
    return {gpu ? gpu->input(i) : inputs[i].data(), output};
  const int64_t elements = shape.input[rank] && shape.output[rank] ? inPlaceOffset(row, shape, rank) : 0;
  const int64_t offset = elements * static_cast<int64_t>(elementSize);
  return {output + (offset < 0 ? -offset : 0), output + (offset > 0 ? offset : 0)};
}

std::string Runner::call(Placement placement, const Row &row, gc3DataType_t type, Reduction op, const Shape &shape) {
  const size_t size = core::elementSize(static_cast<core::ElementType>(type));
  std::string problem;
  gc3GroupStart();
  for (uint32_t i = 0; i < own.size(); ++i) {
    const uint32_t rank = own.first + i;
    const auto [send, recv] = buffersOf(i, placement, row, size, shape);
    const Operation operation(op, type, rank, comms[i]);
    gc3Result_t result = operation.result();
    if (result == gc3Success)
      result = gc3RunProgram(comms[i], row.program.c_str(), shape.input[rank] ? send : nullptr,
                             shape.output[rank] ? recv : nullptr, row.count, type, operation.handle(),
                             gpu ? gpu->stream() : nullptr);
    if (result != gc3Success) {
      problem = lastError("", result, comms[i]);
      break;
    }
  }
  gc3Result_t result = gc3GroupEnd();
  return !problem.empty() || result == gc3Success ? problem : lastError("", result, comms[0]);
}

std::string Runner::callNccl(ncclapi::Collective collective, Placement placement, const Row &row, gc3DataType_t type,
                             Reduction op, const Shape &shape) {
  const size_t size = core::elementSize(static_cast<core::ElementType>(type));
  const auto [send, recv] = buffersOf(0, placement, row, size, shape);
  const NcclOperation operation(op, type, own.first, nccl->comm());
  if (std::string problem = nccl->settle(operation.result(), "ncclRedOpCreatePreMulSum"); !problem.empty())
    return problem;
  const ncclapi::Result result =
      ncclapi::forward({collective, send, recv, row.count, static_cast<ncclapi::DataType>(type), operation.handle(),
                        row.root, nccl->comm(), reinterpret_cast<ncclapi::Stream>(gpu->stream())});
  return nccl->settle(result, std::string("nccl") + ncclapi::collectiveNames[static_cast<size_t>(collective)]);
}

std::string Runner::finish() {
  if (!gpu)
    return {};
  std::string problem = gpu->synchronize();
  gc3Result_t result = gc3Success;
  gc3CommGetAsyncError(comms[0], &result); // goes first, because a stopped kernel ends without a CUDA error
  return result == gc3Success ? problem : lastError("", result, comms[0]);
}

} // namespace gc3::run
