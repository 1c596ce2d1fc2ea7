// SPDX-License-Identifier: Apache-2.0
// windowed [--switch] [--seeds N] BUNDLE...: runs every program of the bundles N times under Simple. Each rank has its
// own emulated GPU, and its buffers are in a window. The seed of a run determines its element type, operation,
// placement and count. In some runs, the receive buffer of one rank is at another place. With --switch, calls use the
// switch where they can. They then reduce to minima and maxima, because the order of sums is not specified. Prints the
// first failure.
#include "WindowedWorld.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace gc3;
using namespace gc3::test;

namespace {

/// Returns true if the memory of each rank lies in its window.
bool areInWindows(const WindowedWorld &world, const Trial &trial, const std::vector<std::byte *> &places) {
  const std::vector<std::byte *> windows = world.at(0);
  for (size_t rank = 0; rank < places.size(); ++rank)
    if (static_cast<size_t>(places[rank] - windows[rank]) + trial.initial()[rank].bytes.size() + sizeof(kernel::Pack) >
        WindowedWorld::windowBytes)
      return false;
  return true;
}

TrialOptions choose(const bundle::fbs::Program &program, uint64_t seed) {
  host::Random random(seed);
  TrialOptions options;
  options.type = static_cast<core::ElementType>(random.below(core::elementTypeCount));
  options.op = static_cast<core::ReduceOp>(random.below(5));
  options.inPlace = random.below(2) == 0;
  options.misalignment = random.below(2) == 0 ? 0 : static_cast<uint32_t>(random.below(9));
  options.count = 1 + random.below(12 * core::slotsPerBlock(program));
  options.seed = random.next();
  return options;
}

/// Returns options of a call that can use the switch, if the program can.
TrialOptions chooseForSwitch(const bundle::fbs::Program &program, uint64_t seed) {
  TrialOptions options = choose(program, seed);
  options.type = seed % 2 == 0 ? core::ElementType::Half : core::ElementType::Bfloat16;
  options.op = seed % 4 < 2 ? core::ReduceOp::Max : core::ReduceOp::Min;
  options.misalignment = 0;
  options.count = 8 * core::slotsPerBlock(program) * (1 + seed % 5);
  return options;
}

/// Makes a call of a program, with fewer elements if the buffers of `options` do not fit in the windows. Returns an
/// error message, or an empty string.
std::string run(WindowedWorld &world, uint32_t program, TrialOptions options, uint64_t seed, bool overSwitch) {
  if (!world.trial(program, options).exists())
    options.op = core::ReduceOp::Sum;
  const Trial trial = world.trial(program, options);
  std::vector<std::byte *> places = world.placesFor(trial, 0);
  if (!areInWindows(world, trial, places))
    return options.count /= 2, run(world, program, options, seed, overSwitch);
  if (seed % 4 == 0 && !overSwitch)
    places[seed % places.size()] += sizeof(kernel::Pack);
  return world.CommWorld::run(trial, Loopback::Buffers(trial, places));
}

std::string run(WindowedWorld &world, uint32_t program, uint64_t seed, bool overSwitch) {
  const bundle::fbs::Program &info = world.file->program(program);
  return run(world, program, overSwitch ? chooseForSwitch(info, seed) : choose(info, seed), seed, overSwitch);
}

/// Returns true if the last call of at least one rank had its receive buffer in a window.
bool hasPlaces(const WindowedWorld &world) {
  for (size_t rank = 0; rank < world.comms.size(); ++rank)
    if (const auto call = world.cuda.callOn.find(world.streams[rank]);
        call != world.cuda.callOn.end() && call->second.place > kernel::Place::Nowhere)
      return true;
  return false;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t seeds = 10, runs = 0, inWindows = 0, overSwitch = 0;
  bool usesSwitch = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--switch") == 0) {
      usesSwitch = true;
      continue;
    }
    if (std::strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
      continue;
    }
    std::unique_ptr<bundle::BundleFile> file;
    if (bundle::BundleStatus status = bundle::BundleFile::open(argv[i]).moveTo(file); !status.ok())
      return std::fprintf(stderr, "%s: %s\n", argv[i], status.message.c_str()), 2;
    if (file->program(0).ranks() == 1)
      continue; // NCCL runs all calls of one rank
    FakeCuda fake;
    FakeNccl nccl(fake);
    nccl.version = usesSwitch ? ncclapi::devicePointerVersion : ncclapi::oldestVersion;
    nccl.hasPart = !usesSwitch;
    cuda::Options options = comparing();
    options.simple = true;
    options.overSwitch = usesSwitch;
    options.tuning[0].slotBytes *= file->program(0).max_count();
    WindowedWorld world(fake, nccl, std::move(file), options);
    for (uint32_t program = 0; program < world.names.size(); ++program)
      for (uint64_t run = 0; run != seeds; ++run) {
        fake.seed = ++runs; // different programs use different seeds
        if (const std::string problem = ::run(world, program, runs, usesSwitch); !problem.empty())
          return std::printf("%s, run %llu: %s\n", argv[i], static_cast<unsigned long long>(run), problem.c_str()), 1;
        inWindows += hasPlaces(world);
        overSwitch += hasPlaces(world) && world.usedSwitch();
      }
  }
  std::printf("%llu runs, %llu in windows, %llu over the switch, all right\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(inWindows), static_cast<unsigned long long>(overSwitch));
  return inWindows == 0 || (usesSwitch && overSwitch == 0) || testing::UnitTest::GetInstance()->Failed();
}
