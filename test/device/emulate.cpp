// SPDX-License-Identifier: Apache-2.0
// emulate [--first SEED] [--seeds N] [--type TYPE] BUNDLE...: runs every program of the bundles N times on the emulated
// GPU. The seed of a run determines its element type, operation, protocol, count, FIFO slots and number of threads.
// With --type, all runs have this element type. Prints the first failure and the command that repeats it.
#include "Emulation.h"

#include "core/Layout.h"
#include "plan/Geometry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

using namespace gc3;

static std::optional<core::ElementType> typeNamed(std::string_view name) {
  for (uint32_t type = 0; type < core::elementTypeCount; ++type)
    if (name == elementTypeName(static_cast<core::ElementType>(type)))
      return static_cast<core::ElementType>(type);
  return std::nullopt;
}

static test::EmulationOptions choose(const bundle::fbs::Program &program, uint64_t seed) {
  host::Random random(seed);
  test::EmulationOptions options;
  options.type = static_cast<core::ElementType>(random.below(core::elementTypeCount));
  options.op = static_cast<core::ReduceOp>(random.below(4));
  // Simple guarantees a stronger order than LL and LL128. So a program that is proved correct under LL or LL128 is also
  // correct under Simple. The reverse does not hold.
  options.sizes.protocol =
      random.below(4) == 0 ? kernel::Protocol::Simple : static_cast<kernel::Protocol>(program.protocol());
  options.sizes.slots = program.min_fifo_slots() + static_cast<uint32_t>(random.below(3));
  options.sizes.slotBytes = std::max<uint64_t>(128, plan::fewestBytesPerTile(options.sizes.protocol)) *
                            (program.max_count() + random.below(4 * uint64_t{program.max_count()}));
  const uint64_t slots = core::slotsPerBlock(program);
  options.count = program.whole_slots() ? slots * random.below(24) : random.below(24 * slots);
  options.threads = static_cast<uint32_t>(32 * (1 + random.below(3)));
  options.misalignment = random.below(2) == 0 ? 0 : static_cast<uint32_t>(random.below(9));
  options.firstMessage = random.below(4) == 0 ? UINT32_MAX - random.below(8) : 0;
  if (options.sizes.protocol == kernel::Protocol::Simple && random.below(3) == 0)
    options.overNetwork = static_cast<uint32_t>(1 + random.below(100));
  options.direct =
      options.sizes.protocol == kernel::Protocol::Simple && options.overNetwork == 0 && random.below(2) == 0;
  options.seed = random.next();
  return options;
}

int main(int argc, char **argv) {
  uint64_t first = 1, seeds = 10;
  unsigned runs = 0;
  std::optional<core::ElementType> type;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
      continue;
    }
    if (std::strcmp(argv[i], "--first") == 0 && i + 1 < argc) {
      first = std::strtoull(argv[++i], nullptr, 10);
      continue;
    }
    if (std::strcmp(argv[i], "--type") == 0 && i + 1 < argc) {
      type = typeNamed(argv[++i]);
      if (!type)
        return std::fprintf(stderr, "unknown type '%s'\n", argv[i]), 2;
      continue;
    }
    std::unique_ptr<bundle::BundleFile> file;
    if (bundle::BundleStatus status = bundle::BundleFile::open(argv[i]).moveTo(file); !status.ok())
      return std::fprintf(stderr, "%s: %s\n", argv[i], status.message.c_str()), 2;
    for (uint32_t program = 0; program < file->programCount(); ++program)
      for (uint64_t run = 0; run != seeds; ++run, ++runs) {
        const uint64_t seed = first + runs; // different programs use different seeds
        test::EmulationOptions options = choose(file->program(program), seed);
        options.type = type.value_or(options.type);
        if (std::string problem = test::emulate(*file, program, options); !problem.empty()) {
          std::printf("%s, program %u: %s %s, protocol %u, %u slots of %llu bytes, count %llu, %u threads, off by %u, "
                      "%u %% over the network, %s, "
                      "first message %llu: %s\nrepeat: emulate --first %llu --seeds 1 --type %s %s\n",
                      argv[i], program, elementTypeName(options.type), reduceOpName(options.op),
                      static_cast<unsigned>(options.sizes.protocol), options.sizes.slots,
                      static_cast<unsigned long long>(options.sizes.slotBytes),
                      static_cast<unsigned long long>(options.count), options.threads, options.misalignment,
                      options.overNetwork, options.direct ? "direct" : "with slots",
                      static_cast<unsigned long long>(options.firstMessage), problem.c_str(),
                      static_cast<unsigned long long>(seed), elementTypeName(options.type), argv[i]);
          return 1;
        }
      }
  }
  std::printf("%u runs, all right\n", runs);
  return 0;
}
