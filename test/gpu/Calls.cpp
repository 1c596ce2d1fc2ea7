// SPDX-License-Identifier: Apache-2.0
// Chooses the calls that tests make.
#include "OnGpu.h"

#include <algorithm>

namespace gc3::test {

using core::ElementType;
using core::ReduceOp;

namespace {

/// Counts: zero, fewer elements than chunks, odd numbers, numbers that chunks divide evenly, and a number that needs
/// several tiles. mostCount() limits the last one for programs with many blocks.
constexpr uint64_t counts[] = {0, 1, 7, 64, 1000, 4099, 65536, 1000003};

/// Limit of the total number of elements in the buffers of all ranks. With it, the host repeats a call in about a
/// second. For example, the buffers of an AllToAll on 32 ranks have 2048 blocks in total.
constexpr uint64_t mostElements = 16 << 20;

} // namespace

uint64_t mostCount(const Subject &subject) {
  const core::Program &program = *subject.loaded.program;
  core::Layout layout;
  if (!layout.compute(program, 1, 1, {.tileElements = 1}).empty())
    return 1; // no count has a layout; the first call reports the reason
  uint64_t blocks = 1;
  for (const core::RankLayout &rank : layout.ranks)
    blocks += rank.input.elements + rank.output.elements;
  return std::max<uint64_t>(1, mostElements / blocks);
}

std::string callAll(const Subject &subject, uint64_t &calls) {
  uint64_t seed = 1;
  const uint64_t most = mostCount(subject);
  auto call = [&](const TrialOptions &options) {
    ++calls;
    return callOnce(subject, options);
  };
  for (bool inPlace : {false, true}) {
    for (unsigned type = 0; type < core::elementTypeCount; ++type)
      for (unsigned op = 0; op < core::reduceOpCount; ++op)
        if (std::string problem = call({std::min<uint64_t>(777, most), static_cast<ElementType>(type),
                                        static_cast<ReduceOp>(op), inPlace, static_cast<uint32_t>(seed % 4), seed});
            ++seed, !problem.empty())
          return problem;
    for (unsigned type = 0; type < core::elementTypeCount; ++type)
      for (Scalars scalars : {Scalars::Immediate, Scalars::InMemory})
        if (std::string problem = call({std::min<uint64_t>(777, most), static_cast<ElementType>(type), ReduceOp::Sum,
                                        inPlace, static_cast<uint32_t>(seed % 4), seed, scalars});
            ++seed, !problem.empty())
          return problem;
    for (uint64_t count : counts)
      for (uint32_t misalignment : {0, 1})
        if (std::string problem =
                call({std::min(count, most), ElementType::Bfloat16, ReduceOp::Sum, inPlace, misalignment, ++seed});
            !problem.empty())
          return problem;
  }
  return {};
}

std::string callOften(const Subject &subject, uint64_t repeats) {
  host::Random random(repeats);
  const uint64_t most = mostCount(subject);
  for (uint64_t i = 0; i < repeats; ++i) {
    const TrialOptions options{std::min(random.below(uint64_t{1} << random.below(16)), most),
                               static_cast<ElementType>(random.below(core::elementTypeCount)),
                               static_cast<ReduceOp>(random.below(core::reduceOpCount)),
                               random.below(2) != 0,
                               static_cast<uint32_t>(random.below(4)),
                               random.next()};
    if (std::string problem = callOnce(subject, options); !problem.empty())
      return "call " + std::to_string(i) + ": " + problem;
  }
  return {};
}

} // namespace gc3::test
