// SPDX-License-Identifier: Apache-2.0
#include "core/Placement.h"

namespace gc3::core {

using bundle::fbs::Alias;

/// A standard collective that does not reduce ignores the scalar of a pre-multiplied sum.
Scaling::Scaling(const LoadedProgram &loaded, const Request &request) {
  const auto type = static_cast<ElementType>(request.type);
  const uint32_t contributions = loaded.program->info().contributions();
  if (request.preMulSum) {
    scales = !loaded.standard || loaded.standard->reduces;
  } else if (request.op == gc3Avg && isInteger(type)) {
    divisor = contributions;
  } else if (request.op == gc3Avg) {
    scales = contributions != 1;
    reciprocal = reciprocalOf(type, contributions);
  }
}

Outcome Placer::plan(const LoadedProgram &newProgram, const Layout &newLayout, const Request &request) {
  loaded = &newProgram, layout = &newLayout;
  const auto &info = newProgram.program->info();
  if (request.op == gc3Avg && info.contributions() == 0)
    return {gc3InvalidArgument, "avg is not defined for program '" + info.name()->str() +
                                    "': its outputs have different numbers of contributions"};
  return {};
}

Result<Placement> Placer::place(uint32_t rank, const Request &request) const {
  Placement placement{};
  if (const char *problem = findPlacement(rank, request, placement))
    return Outcome{gc3InvalidArgument, "rank " + std::to_string(rank) + ": " + problem};
  return placement;
}

const char *Placer::findPlacement(uint32_t rank, const Request &request, Placement &placement) const {
  const RankLayout &rankLayout = layout->ranks[rank];
  placement = Placement::Apart;
  uint64_t inBytes = rankLayout.input.elements * layout->elementSize,
           outBytes = rankLayout.output.elements * layout->elementSize;
  if (inBytes != 0 && !request.send)
    return "the send buffer is null";
  if (outBytes != 0 && !request.recv)
    return "the receive buffer is null";
  if (inBytes == 0 || outBytes == 0)
    return nullptr;
  auto send = reinterpret_cast<uintptr_t>(request.send), recv = reinterpret_cast<uintptr_t>(request.recv);
  if (inBytes > UINTPTR_MAX - send || outBytes > UINTPTR_MAX - recv)
    return "a buffer exceeds the address space";
  if (send + inBytes <= recv || recv + outBytes <= send)
    return nullptr;
  auto size = static_cast<int64_t>(layout->elementSize);
  auto offset = static_cast<int64_t>(recv - send);
  Alias alias = loaded->program->rank(rank).alias;
  auto aliasOffset = static_cast<int64_t>(rankLayout.aliasElement) * size * (alias == Alias::InputInOutput ? -1 : 1);
  bool matchesAlias = alias != Alias::None && offset == aliasOffset;
  int64_t expected = loaded->standard ? loaded->standard->inPlaceOffset(rank, layout->count) * size : 0;
  if (offset != expected && !(matchesAlias && !loaded->standard))
    return "send and receive buffers overlap, but not as in a call in place";
  placement = matchesAlias ? Placement::Aliased : Placement::InPlace;
  return nullptr;
}

} // namespace gc3::core
