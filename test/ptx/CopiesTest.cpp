// SPDX-License-Identifier: Apache-2.0
// Executes almost all PTX of each interpreter kernel. A kernel has copies of its loops for each operation, width of
// accesses and kind of step. Programs of ordinary tests use few of them, because their calls are small.
#include "Emulation.h"
#include "Programs.h"
#include "kernel/Interpreter.h"
#include "ptx/Library.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::test;
using core::ElementType;
using kernel::Protocol;

namespace {

/// Three ranks in a chain. Rank 1 receives and forwards each message by one of the three opcodes that do so. Rank 2
/// receives it, with or without a reduction. Rank 0 also copies and reduces. Each opcode has four steps. In two of them
/// the source and the target have the same slot number, so the same alignment. All other steps have their own slots.
/// Each step moves `each` slots.
ProgramSpec everyOpcode(uint32_t each) {
  constexpr uint32_t messages = 12;
  ProgramSpec spec;
  spec.name = spec.collective = "opcodes";
  spec.inputChunks = spec.outputChunks = messages * each;
  spec.maxCount = each;
  spec.ranks.resize(3);
  for (Rank &rank : spec.ranks)
    rank.inputSlots = rank.outputSlots = messages * each;
  spec.outputs.assign(3, std::vector<Value>(messages * each));
  Block send{1, -1, 0, {}}, local{-1, -1, 0, {}}, forward{2, 0, 0, {}}, receive{-1, 1, 0, {}};
  for (uint32_t t = 0; t < messages; ++t) {
    const uint32_t from = t * each, to = (t % 4 < 2 ? t : t ^ 1) * each;
    const bool adds = t >= 4; // rank 1 adds its own slots, and so does rank 2
    const Opcode forwards = t < 4 ? Opcode::RecvCopySend : t < 8 ? Opcode::RecvReduceSend : Opcode::RecvReduceCopySend;
    const bool keeps = forwards != Opcode::RecvReduceSend;
    send.steps.push_back({Opcode::Send, in(from), {}, each, {}});
    local.steps.push_back({Opcode::Copy, in(from), out(to), each, {{0, t}}});
    local.steps.push_back({Opcode::Reduce, in(from), out(to), each, {{0, t}, {0, 0}}});
    forward.steps.push_back({forwards, adds ? in(from) : Slot{}, keeps ? out(to) : Slot{}, each, {}});
    receive.steps.push_back(
        {adds ? Opcode::RecvReduceCopy : Opcode::Recv, adds ? in(from) : Slot{}, out(to), each, {}});
    for (uint32_t i = 0; i < each; ++i) {
      const uint32_t slot = from + i;
      spec.outputs[0][to + i] = {{0, slot}, {0, slot}};
      spec.outputs[2][to + i] = adds ? Value{{0, slot}, {1, slot}, {2, slot}} : Value{{0, slot}};
      if (keeps)
        spec.outputs[1][to + i] = adds ? Value{{0, slot}, {1, slot}} : Value{{0, slot}};
    }
  }
  spec.ranks[0].blocks = {send, local};
  spec.ranks[1].blocks = {forward};
  spec.ranks[2].blocks = {receive};
  return spec;
}

/// Rank 1 never receives. So a thread block of rank 0 waits for a free slot, another one waits for the first one, and
/// rank 1 waits for a message that rank 0 never sends.
ProgramSpec stuck() {
  ProgramSpec spec;
  spec.name = spec.collective = "stuck";
  spec.verified = 1;
  spec.ranks.resize(2);
  for (Rank &rank : spec.ranks)
    rank.inputSlots = rank.outputSlots = 1;
  const StepSpec send{Opcode::Send, in(0), {}, 1, {}};
  Block sender{1, -1, 0, {send, send, send, send}};
  spec.ranks[0].blocks = {sender, {-1, -1, 0, {{Opcode::Copy, in(0), out(0), 1, {{0, 3}}}}}};
  spec.ranks[0].blocks.push_back({1, -1, 1, {{Opcode::Send, in(0), {}, 1, {{1, 0}}}}});
  const StepSpec receive{Opcode::Recv, {}, out(0), 1, {}};
  spec.ranks[1].blocks = {{-1, 0, 0, {{Opcode::Copy, in(0), out(0), 1, {{1, 0}}}, receive, receive, receive, receive}},
                          {-1, 0, 1, {receive}}};
  spec.outputs = {{{}}, {{}}};
  return spec;
}

std::unique_ptr<bundle::BundleFile> open(const ProgramSpec &spec) {
  const std::string bytes = buildBundle({spec});
  std::unique_ptr<bundle::BundleFile> file;
  EXPECT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file).ok());
  return file;
}

/// Parameters of a run. `bytes` is the size of a slot of a buffer. Its last bits determine the widths of accesses.
struct Size {
  uint64_t bytes, slotBytes;
  uint32_t slots = 2;
  uint32_t misalignment = 0;
  uint64_t firstMessage = 0;
  uint32_t ringRecords = 0;
};

/// The largest slots have full and partial rounds of the widest accesses, with all of their loads in flight.
constexpr Size wide[] = {{7696, 16384},      {2976, 8192},           {1200, 2048},
                         {1032, 4096, 2, 1}, {256, 2048, 10},        {904, 2048, 2, 0, (uint64_t{1} << 31) - 3},
                         {904, 2048, 2, 1},  {900, 2048, 4, 1},      {898, 2048},
                         {897, 2048},        {16, 2048, 2, 1, 0, 4}, {900, 512},
                         {1024, 512}};
constexpr Size several[] = {{256, 2048, 4}, {904, 1024}};

void runSizes(const bundle::BundleFile &file, std::span<const Size> sizes, uint32_t slots, EmulationOptions options) {
  const Protocol protocol = options.sizes.protocol;
  const uint64_t size = core::elementSize(options.type);
  for (const Size &each : sizes) {
    if (each.bytes % size != 0)
      continue;
    options.sizes = {protocol, each.slots, each.slotBytes};
    options.count = each.bytes / size * slots;
    options.misalignment = each.misalignment;
    options.calls = 1;
    options.firstMessage = each.firstMessage;
    options.ringRecords = each.ringRecords;
    ++options.seed;
    ASSERT_EQ(emulate(file, 0, options), "")
        << core::elementTypeName(options.type) << ' ' << core::reduceOpName(options.op) << ", protocol "
        << static_cast<int>(protocol) << ", " << each.bytes << " bytes in slots of " << each.slotBytes;
  }
}

class Copies : public testing::TestWithParam<ElementType> {};

} // namespace

TEST_P(Copies, areExecuted) {
  ptx::Library *library = ptx::Library::chosen();
  if (!library)
    GTEST_SKIP() << "EMULATED_PTX names no folder with the PTX of the kernels";
  const std::unique_ptr<bundle::BundleFile> one = open(everyOpcode(1)), two = open(everyOpcode(2)),
                                            halted = open(stuck());
  for (const auto &[protocol, network] : {std::pair(Protocol::Simple, false), std::pair(Protocol::Simple, true),
                                          std::pair(Protocol::LL, false), std::pair(Protocol::LL128, false)}) {
    if (network && !library->hasNetwork())
      continue;
    EmulationOptions options;
    options.type = GetParam();
    options.sizes = {protocol, 2, 2048};
    options.overNetwork = network ? 100 : 0;
    for (auto op : {core::ReduceOp::Sum, core::ReduceOp::Prod, core::ReduceOp::Max, core::ReduceOp::Min}) {
      options.op = op;
      runSizes(*one, wide, 12, options);
      runSizes(*two, several, 24, options);
    }
    EXPECT_EQ(emulate(*halted, 0, options).substr(0, 6), "stuck:");
    const std::vector<uint8_t> &executed = library->interpreter(GetParam(), protocol, network).kernel->executed;
    EXPECT_GE(100 * std::count(executed.begin(), executed.end(), 1) / std::ssize(executed), 90)
        << "% of the instructions, protocol " << static_cast<int>(protocol) << (network ? ", over a network" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Copies,
                         testing::Values(ElementType::Int8, ElementType::Uint8, ElementType::Int32, ElementType::Uint32,
                                         ElementType::Int64, ElementType::Uint64, ElementType::Half, ElementType::Float,
                                         ElementType::Double, ElementType::Bfloat16, ElementType::Float8E4M3,
                                         ElementType::Float8E5M2),
                         [](const auto &each) { return std::string(core::elementTypeName(each.param)); });
