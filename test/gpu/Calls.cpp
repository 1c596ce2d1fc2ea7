// SPDX-License-Identifier: Apache-2.0
// Which calls are made.
#include "OnGpu.h"

namespace gc3::test {

using host::ElementType;
using host::ReduceOp;

namespace {

/// None, fewer than chunks, odd ones, some that divide evenly, and one of many tiles.
constexpr uint64_t counts[] = {0, 1, 7, 64, 1000, 4099, 65536, 1000003};

} // namespace

std::string callAll(const Subject &subject, uint64_t &calls) {
  uint64_t seed = 1;
  auto call = [&](const TrialOptions &options) {
    ++calls;
    return callOnce(subject, options);
  };
  for (bool inPlace : {false, true}) {
    for (unsigned type = 0; type < host::elementTypeCount; ++type)
      for (unsigned op = 0; op < host::reduceOpCount; ++op)
        if (std::string problem = call({777, static_cast<ElementType>(type), static_cast<ReduceOp>(op), inPlace,
                                        static_cast<uint32_t>(seed % 4), seed});
            ++seed, !problem.empty())
          return problem;
    for (uint64_t count : counts)
      for (uint32_t misalignment : {0, 1})
        if (std::string problem = call({count, ElementType::Bfloat16, ReduceOp::Sum, inPlace, misalignment, ++seed});
            !problem.empty())
          return problem;
  }
  return {};
}

std::string callOften(const Subject &subject, uint64_t repeats) {
  host::Random random(repeats);
  for (uint64_t i = 0; i < repeats; ++i) {
    const TrialOptions options{random.below(uint64_t{1} << random.below(16)),
                               static_cast<ElementType>(random.below(host::elementTypeCount)),
                               static_cast<ReduceOp>(random.below(host::reduceOpCount)),
                               random.below(2) != 0,
                               static_cast<uint32_t>(random.below(4)),
                               random.next()};
    if (std::string problem = callOnce(subject, options); !problem.empty())
      return "call " + std::to_string(i) + ": " + problem;
  }
  return {};
}

} // namespace gc3::test
