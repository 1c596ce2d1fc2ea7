// SPDX-License-Identifier: Apache-2.0
// Tests the interpreter on the emulated GPU in situations that the programs in other tests do not cause: counters that
// wrap, memory without fences, programs that deadlock.
#include "Emulation.h"
#include "Programs.h"
#include "kernel/Interpreter.h"
#include "plan/ProgramImage.h"

#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::test;

namespace {

std::unique_ptr<bundle::BundleFile> load(const ProgramSpec &spec) {
  std::string bytes = buildBundle({spec});
  std::unique_ptr<bundle::BundleFile> file;
  bundle::BundleStatus status = bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file);
  EXPECT_TRUE(status.ok()) << status.message;
  return file;
}

EmulationOptions optionsFor(kernel::Protocol protocol, uint64_t seed) {
  EmulationOptions options;
  options.sizes = {protocol, 2, 512};
  options.count = 200;
  options.seed = seed;
  return options;
}

/// Runs a program with 40 seeds on a GPU with the faults that `spoil` sets. Returns the number of runs that fail.
unsigned failures(const bundle::BundleFile &file, kernel::Protocol protocol, void (*spoil)(Gpu::Faults &),
                  bool direct = false) {
  unsigned failed = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    EmulationOptions options = optionsFor(protocol, seed);
    options.direct = direct;
    spoil(options.faults);
    failed += !emulate(file, 0, options).empty();
  }
  return failed;
}

} // namespace

TEST(Device, runsPrograms) {
  for (const ProgramSpec &spec :
       {ringAllReduce(4, false), ringAllReduce(3, true), plainRingAllReduce(3), allToAll(3, 2), allGather(4, true),
        reduceScatter(3, true), broadcast(4, 1), reduceTo(4, 2), gather(3, 0), scatter(3, 2), shiftReversed(3, 2)}) {
    std::unique_ptr<bundle::BundleFile> file = load(spec);
    for (uint64_t count : {0, 1, 7, 64, 300}) {
      EmulationOptions options = optionsFor(kernel::Protocol::Simple, count + 1);
      options.count = count;
      EXPECT_EQ(emulate(*file, 0, options), "") << spec.name << ", " << count;
    }
  }
}

/// Under Simple, fences and acquires order the data of messages. If either has no effect, a thread loads old data in
/// some run.
TEST(Device, needsFences) {
  std::unique_ptr<bundle::BundleFile> file = load(ringAllReduce(3, false));
  EXPECT_EQ(failures(*file, kernel::Protocol::Simple, [](Gpu::Faults &) {}), 0u);
  EXPECT_GT(failures(*file, kernel::Protocol::Simple, [](Gpu::Faults &faults) { faults.fences = true; }), 0u);
}

TEST(Device, needsAcquires) {
  std::unique_ptr<bundle::BundleFile> file = load(ringAllReduce(3, false));
  EXPECT_GT(failures(*file, kernel::Protocol::Simple, [](Gpu::Faults &faults) { faults.acquires = true; }), 0u);
}

/// Messages go into the receiver's buffer only where no step can access their destination meanwhile.
TEST(Device, storesMessagesDirectly) {
  const std::pair<ProgramSpec, uint32_t> expected[] = {{ringAllReduce(4, false), 12},
                                                       {ringAllReduce(3, true), 6},
                                                       {plainRingAllReduce(3), 6},
                                                       {allToAll(3, 2), 6},
                                                       {allGather(4, true), 12},
                                                       {reduceScatter(3, true), 0},
                                                       {broadcast(4, 1), 3},
                                                       {reduceTo(4, 2), 0},
                                                       {gather(3, 0), 2},
                                                       {scatter(3, 2), 2},
                                                       {shiftReversed(3, 2), 4},
                                                       {swapInPlace(), 0},
                                                       {sumToShorterChunk(), 0}};
  for (const auto &[spec, direct] : expected) {
    std::unique_ptr<bundle::BundleFile> file = load(spec);
    std::unique_ptr<core::Program> program;
    ASSERT_TRUE(core::Program::load(*file, 0).moveTo(program).ok());
    const auto transfers = core::Transfers::asWritten(*program, core::HappensBefore(*program));
    EXPECT_EQ(plan::DirectMessages::inOneLaunch(*program, transfers).count(), direct) << spec.name;
    for (uint64_t count : {0, 1, 4, 7, 64, 300}) {
      EmulationOptions options = optionsFor(kernel::Protocol::Simple, count + 1);
      options.count = count;
      options.direct = true;
      EXPECT_EQ(emulate(*file, 0, options), "") << spec.name << ", " << count;
    }
  }
}

/// Fences also order messages without slots. All messages of this program are direct.
TEST(Device, directMessagesNeedFences) {
  std::unique_ptr<bundle::BundleFile> file = load(allGather(3, false));
  EXPECT_EQ(failures(
                *file, kernel::Protocol::Simple, [](Gpu::Faults &) {}, true),
            0u);
  EXPECT_GT(failures(
                *file, kernel::Protocol::Simple, [](Gpu::Faults &faults) { faults.fences = true; }, true),
            0u);
}

/// Sends several slots of the buffer in one message. The last slot of each block of data is short, so no contiguous run
/// extends over the end of a block.
TEST(Device, movesSlotsOfSeveralBlocks) {
  ProgramSpec spec;
  spec.name = spec.collective = "blocks";
  spec.inputChunks = spec.outputChunks = 2;
  spec.maxCount = 4;
  spec.ranks.resize(2);
  spec.ranks[0].inputSlots = spec.ranks[1].outputSlots = 4;
  spec.ranks[0].blocks = {{1, -1, 0, {{Opcode::Send, in(0), {}, 4, {}}}}};
  spec.ranks[1].blocks = {{-1, 0, 0, {{Opcode::Recv, {}, out(0), 4, {}}}}};
  spec.outputs = {{}, {{{0, 0}}, {{0, 1}}, {{0, 2}}, {{0, 3}}}};
  std::unique_ptr<bundle::BundleFile> file = load(spec);
  for (uint64_t count : {3, 16, 31})
    for (kernel::Protocol protocol : {kernel::Protocol::Simple, kernel::Protocol::LL, kernel::Protocol::LL128}) {
      EmulationOptions options = optionsFor(protocol, count);
      options.count = count;
      options.sizes.slotBytes = 4096;
      EXPECT_EQ(emulate(*file, 0, options), "") << count << ", protocol " << static_cast<int>(protocol);
    }
}

/// The first store overlaps the second, and the second overlaps the third. All three must arrive in order.
TEST(Device, storesOfDifferentWidthsArriveInOrder) {
  ProgramSpec spec;
  spec.name = spec.collective = "widths";
  spec.inputChunks = 3;
  spec.outputChunks = 2;
  spec.subdivision = 2;
  spec.maxCount = 4;
  spec.ranks.resize(1);
  spec.ranks[0].inputSlots = 6;
  spec.ranks[0].outputSlots = 4;
  spec.ranks[0].blocks = {{-1,
                           -1,
                           0,
                           {{Opcode::Copy, in(0), out(0), 2, {}},
                            {Opcode::Copy, in(2), out(0), 4, {}},
                            {Opcode::Reduce, in(2), out(0), 2, {}}}}};
  spec.outputs = {{{{0, 1}, {0, 1}}, {{0, 2}}}};
  std::unique_ptr<bundle::BundleFile> file = load(spec);
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    EmulationOptions options = optionsFor(kernel::Protocol::Simple, seed);
    options.type = core::ElementType::Bfloat16; // a slot has 44 bytes, so accesses are 16, 4 and 2 bytes wide
    options.count = 88;
    EXPECT_EQ(emulate(*file, 0, options), "") << "seed " << seed;
  }
}

/// A flag of LL is the low half of a message number, which wraps to 0. Lines that were never written have this flag,
/// too.
TEST(Device, flagsOfLLWrap) {
  std::unique_ptr<bundle::BundleFile> file = load(allToAll(3, 1));
  for (uint64_t first : {uint64_t{0}, (uint64_t{1} << 31) - 3, (uint64_t{1} << 32) - 3, (uint64_t{1} << 33) - 3})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      EmulationOptions options = optionsFor(kernel::Protocol::LL, seed);
      options.firstMessage = first;
      options.calls = 6;
      EXPECT_EQ(emulate(*file, 0, options), "") << first << ", seed " << seed;
    }
}

TEST(Device, reportsWhatItWaitsFor) {
  ProgramSpec spec;
  spec.name = spec.collective = "stuck";
  spec.verified = 1;
  spec.ranks.resize(1);
  spec.ranks[0].inputSlots = spec.ranks[0].outputSlots = 1;
  Block block;
  block.steps.push_back({Opcode::Copy, in(0), out(0), 1, {{1, 0}}});
  spec.ranks[0].blocks.push_back(block);
  block.steps[0].waits = {{0, 0}};
  spec.ranks[0].blocks.push_back(block);
  spec.outputs = {{{}}};
  EXPECT_EQ(emulate(*load(spec), 0, optionsFor(kernel::Protocol::Simple, 1)),
            "stuck:\n  rank 0 thread block 0 step 0 (copy, tile 0) waits for thread block 1 step 0\n"
            "  rank 0 thread block 1 step 0 (copy, tile 0) waits for thread block 0 step 0");
}

/// Rank 0 never sends. Rank 1 waits for a counter (Simple) or for flags in the data (LL, LL128).
TEST(Device, stopsUnderAllProtocols) {
  ProgramSpec spec;
  spec.name = spec.collective = "silent";
  spec.verified = 1;
  spec.ranks.resize(2);
  for (Rank &rank : spec.ranks)
    rank.inputSlots = rank.outputSlots = 1;
  Block sender{1, -1, 0, {{Opcode::Send, in(0), {}, 1, {{1, 0}}}}};
  Block other{-1, -1, 0, {{Opcode::Copy, in(0), out(0), 1, {{0, 0}}}}};
  spec.ranks[0].blocks = {sender, other};
  spec.ranks[1].blocks = {{-1, 0, 0, {{Opcode::Recv, {}, out(0), 1, {}}}}};
  spec.outputs = {{{}}, {{}}};
  std::unique_ptr<bundle::BundleFile> file = load(spec);
  for (kernel::Protocol protocol : {kernel::Protocol::Simple, kernel::Protocol::LL, kernel::Protocol::LL128})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      EmulationOptions options = optionsFor(protocol, seed);
      options.threads = 64;
      const std::string what = protocol == kernel::Protocol::Simple ? "a message" : "the data of a message";
      EXPECT_EQ(emulate(*file, 0, options),
                "stuck:\n  rank 0 thread block 0 step 0 (send, tile 0) waits for thread block 1 step 0\n"
                "  rank 0 thread block 1 step 0 (copy, tile 0) waits for thread block 0 step 0\n"
                "  rank 1 thread block 0 step 0 (recv, tile 0) waits for " +
                    what + " from rank 0 on channel 0");
    }
}

/// Uses trace rings that hold all steps, and rings that hold only the last ones. The oldest recorded step can be in the
/// middle of a tile, or in the middle of the step cache.
TEST(Device, recordsWhenStepsRun) {
  ProgramSpec longOne = allToAll(2, 1);
  Block &block = longOne.ranks[0].blocks.emplace_back();
  block.steps.assign(kernel::cachedSteps + 3, {Opcode::Copy, in(0), out(0), 1, {}});
  for (const ProgramSpec &spec : {ringAllReduce(3, true), plainRingAllReduce(3), longOne}) {
    std::unique_ptr<bundle::BundleFile> file = load(spec);
    for (kernel::Protocol protocol : {kernel::Protocol::Simple, kernel::Protocol::LL, kernel::Protocol::LL128})
      for (uint32_t ringRecords : {1, 4, 1024}) {
        EmulationOptions options = optionsFor(protocol, ringRecords);
        options.ringRecords = ringRecords;
        EXPECT_EQ(emulate(*file, 0, options), "") << spec.name << ", " << ringRecords;
      }
  }
}

TEST(Device, refusesSlotsThatAreTooSmall) {
  std::unique_ptr<bundle::BundleFile> file = load(allToAll(3, 9));
  EmulationOptions options = optionsFor(kernel::Protocol::LL, 1);
  options.sizes.slotBytes = 128;
  EXPECT_EQ(emulate(*file, 0, options), "program 'a2a3_9' sends 9 slots at once, too many for FIFO slots of 128 bytes");
  options.sizes.slots = 0;
  EXPECT_EQ(emulate(*file, 0, options),
            "program 'a2a3_9' needs at least 1 FIFO slots per connection, 0 are configured");
}

namespace {

/// Rank 0 sends `steps` messages of `each` slots to rank 1, which receives two of three of them with a reduction. A
/// second thread block of rank 1 waits for each receive and adds the rank's own data. All steps differ.
ProgramSpec manySteps(uint32_t steps, uint32_t each) {
  ProgramSpec spec;
  spec.name = spec.collective = "many";
  spec.inputChunks = spec.outputChunks = steps * each;
  spec.maxCount = each;
  spec.ranks.resize(2);
  for (Rank &rank : spec.ranks)
    rank.inputSlots = rank.outputSlots = steps * each;
  spec.outputs.assign(2, std::vector<Value>(steps * each));
  Block send{1, -1, 0, {}}, receive{-1, 0, 0, {}}, add{-1, -1, 0, {}};
  for (uint32_t i = 0; i < steps; ++i) {
    const uint32_t from = i * 37 % steps * each, to = i * each;
    const bool copies = i % 3 == 2;
    send.steps.push_back({Opcode::Send, in(from), {}, each, {}});
    receive.steps.push_back(
        {copies ? Opcode::Recv : Opcode::RecvReduceCopy, copies ? Slot{} : in(to), out(to), each, {}});
    add.steps.push_back({Opcode::Reduce, in(to), out(to), each, {{0, i}}});
    for (uint32_t slot = 0; slot < each; ++slot) {
      Value &value = spec.outputs[1][to + slot];
      value = {{0, from + slot}, {1, to + slot}};
      if (!copies)
        value.push_back({1, to + slot});
    }
  }
  spec.ranks[0].blocks = {send};
  spec.ranks[1].blocks = {receive, add};
  return spec;
}

/// Rank 0 sends `needed` messages, and then an acknowledgement that rank 1 needs before it receives the first of them.
/// So the connection needs exactly `needed` slots.
ProgramSpec lateReceives(uint32_t needed) {
  ProgramSpec spec;
  spec.name = spec.collective = "late";
  spec.inputChunks = spec.outputChunks = needed + 1;
  spec.minFifoSlots = needed;
  spec.ranks.resize(2);
  for (Rank &rank : spec.ranks)
    rank.inputSlots = rank.outputSlots = needed + 1;
  spec.outputs.assign(2, std::vector<Value>(needed + 1));
  Block send{1, -1, 0, {}}, receive{-1, 0, 0, {}};
  for (uint32_t i = 0; i < needed; ++i) {
    send.steps.push_back({Opcode::Send, in(i), {}, 1, {}});
    receive.steps.push_back({Opcode::Recv, {}, out(i), 1, {}});
  }
  receive.steps[0].waits = {{1, 0}};
  for (uint32_t i = 0; i <= needed; ++i)
    spec.outputs[1][i] = {{0, i}};
  const Block acknowledge{1, -1, 1, {{Opcode::Send, in(needed), {}, 1, {{0, needed - 1}}}}};
  const Block acknowledged{-1, 0, 1, {{Opcode::Recv, {}, out(needed), 1, {}}}};
  spec.ranks[0].blocks = {send, acknowledge};
  spec.ranks[1].blocks = {receive, acknowledged};
  return spec;
}

} // namespace

/// Tests thread blocks with more steps than shared memory holds.
TEST(Device, runsManyDifferentSteps) {
  for (auto [steps, each] : {std::pair(70u, 1u), {150u, 1u}, {65u, 3u}, {64u, 2u}}) {
    const std::unique_ptr<bundle::BundleFile> file = load(manySteps(steps, each));
    for (kernel::Protocol protocol : {kernel::Protocol::Simple, kernel::Protocol::LL, kernel::Protocol::LL128})
      for (uint32_t threads : {32, 64, 96}) {
        const uint64_t tiles = threads / 32; // about as many
        EmulationOptions options = optionsFor(protocol, threads);
        options.sizes = {protocol, 1 + threads / 16, 256 * each};
        options.count = uint64_t{steps} * each * 13 * tiles + tiles / 2;
        options.threads = threads;
        options.misalignment = threads / 32 - 1;
        options.overNetwork = protocol == kernel::Protocol::Simple && threads == 64 ? 100 : 0;
        ASSERT_EQ(emulate(*file, 0, options), "") << steps << " steps of " << each << ", " << threads << " threads";
      }
  }
}

/// Some blocks have more steps than shared memory holds, and messages of different sizes.
TEST(Device, sendsTheSlotsOfEachStep) {
  ProgramSpec spec{"sizes", "sizes"};
  constexpr uint32_t steps = 128, slots = 192;
  spec.inputChunks = spec.outputChunks = slots;
  spec.maxCount = 2;
  spec.ranks.resize(2);
  spec.ranks[0].inputSlots = spec.ranks[1].outputSlots = slots;
  Block sender{1, -1, 0, {}}, receiver{-1, 0, 0, {}};
  std::vector<Value> output;
  for (uint32_t i = 0, at = 0; i < steps; ++i) {
    const uint32_t count = i < steps / 2 ? 2 : 1;
    sender.steps.push_back({Opcode::Send, in(at), {}, count, {}});
    receiver.steps.push_back({Opcode::Recv, {}, out(at), count, {}});
    at += count;
  }
  for (uint32_t i = 0; i < slots; ++i)
    output.push_back({{0, i}});
  spec.ranks[0].blocks = {sender};
  spec.ranks[1].blocks = {receiver};
  spec.outputs = {{}, output};
  const std::unique_ptr<bundle::BundleFile> file = load(spec);
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    EmulationOptions options = optionsFor(kernel::Protocol::Simple, seed);
    options.sizes = {kernel::Protocol::Simple, 4, 2048};
    options.count = 8 * slots;
    options.threads = 64;
    options.overNetwork = seed % 2 == 0 ? 100 : 0;
    ASSERT_EQ(emulate(*file, 0, options), "");
  }
}

/// A receiver that returns slots in batches always leaves as many as the program needs.
TEST(Device, keepsAsManySlotsAsAProgramNeeds) {
  for (uint32_t needed : {2, 3, 5, 6, 7, 8}) {
    const std::unique_ptr<bundle::BundleFile> file = load(lateReceives(needed));
    for (uint32_t slots = needed; slots <= needed + 9; ++slots)
      for (kernel::Protocol protocol : {kernel::Protocol::Simple, kernel::Protocol::LL, kernel::Protocol::LL128}) {
        EmulationOptions options = optionsFor(protocol, slots);
        options.sizes = {protocol, slots, 256};
        options.count = (needed + 1) * 420;
        ASSERT_EQ(emulate(*file, 0, options), "") << slots << " slots, " << needed << " are needed";
      }
  }
}
