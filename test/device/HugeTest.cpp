// SPDX-License-Identifier: Apache-2.0
// Tests the addresses and widths of accesses to buffers of more than 4 Gi elements, in messages of more than 4 GiB.
// Does not allocate this memory.
#include "CountingMachine.h"
#include "Programs.h"
#include "kernel/Simple.h"
#include "plan/Geometry.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::test;

namespace {

// NOLINTNEXTLINE(performance-no-int-to-ptr): the address is never accessed
std::byte *const base = reinterpret_cast<std::byte *>(uint64_t{1} << 46);

struct MovedExtent {
  uint64_t begin, bytes;
};

/// Returns the extents of the buffer that a step moves, over all tiles. Offsets count from the beginning of the buffer.
template <uint32_t ElementBytes>
std::vector<MovedExtent> extentsOf(kernel::KernelArgs &call, const kernel::StepImage &step) {
  for (std::byte *&buffer : call.memory[0].buffers)
    buffer = base;
  std::vector<MovedExtent> extents;
  for (uint64_t tile = 0; tile < call.tiles; ++tile)
    for (uint32_t done = 0; done != step.count;) {
      const kernel::TileRun run = kernel::runAt<ElementBytes>(call, 0, step, tile, done);
      if (run.bytes != 0)
        extents.push_back({static_cast<uint64_t>((run.source ? run.source : run.target) - base), run.bytes});
    }
  return extents;
}

/// Checks that the extents cover the whole buffer exactly once.
void expectWhole(std::vector<MovedExtent> extents, uint64_t bytes) {
  std::sort(extents.begin(), extents.end(),
            [](const MovedExtent &a, const MovedExtent &b) { return a.begin < b.begin; });
  uint64_t end = 0;
  for (const MovedExtent &extent : extents) {
    ASSERT_EQ(extent.begin, end);
    end += extent.bytes;
  }
  EXPECT_EQ(end, bytes);
}

template <uint32_t ElementBytes>
void expectWhole(uint64_t count, uint64_t slotBytes) {
  constexpr uint32_t ranks = 3, chunks = 2;
  const std::string bytes = buildBundle({allToAll(ranks, chunks)});
  std::unique_ptr<bundle::BundleFile> file;
  ASSERT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(file).ok());
  std::unique_ptr<core::Program> program;
  ASSERT_TRUE(core::Program::load(*file, 0).moveTo(program).ok());
  kernel::KernelArgs call{};
  ASSERT_EQ(plan::setGeometry(*program, count, ElementBytes, {kernel::Protocol::Simple, 2, slotBytes}, call), "");
  for (bool reads : {true, false}) {
    std::vector<MovedExtent> all;
    for (uint32_t slot = 0; slot < ranks * chunks; slot += chunks) {
      kernel::StepImage step{};
      step.flags = kernel::OpcodeFlags(reads ? Opcode::Send : Opcode::Recv);
      step.source = kernel::Buffer::Input;
      step.target = kernel::Buffer::Output;
      step.sourceSlot = step.targetSlot = slot;
      step.count = chunks;
      const std::vector<MovedExtent> some = extentsOf<ElementBytes>(call, step);
      all.insert(all.end(), some.begin(), some.end());
    }
    expectWhole(all, ranks * count * ElementBytes);
  }
}

struct NoArithmetic {
  static constexpr uint32_t elementBytes = 2;
  static kernel::Word combine(kernel::Operation, kernel::Word a, kernel::Word) { return a; }
};

} // namespace

/// Tests one tile and several tiles. Tests counts that fill all slots of a block, and counts whose last slot in a block
/// is short.
TEST(Huge, slotsAreTheWholeBuffer) {
  constexpr uint64_t count = uint64_t{9} << 30;
  for (uint64_t slotBytes : {uint64_t{1} << 40, uint64_t{1} << 33, uint64_t{3} << 28}) {
    for (uint64_t more : {0, 1}) {
      SCOPED_TRACE(std::to_string(slotBytes) + " bytes a slot, " + std::to_string(more) + " more");
      expectWhole<1>(count + more, slotBytes);
      expectWhole<2>(count + more, slotBytes);
      expectWhole<8>(count + more, slotBytes);
    }
  }
}

TEST(Huge, runsMoveInWideUnits) {
  constexpr uint64_t bytes = (uint64_t{5} << 30) + 32;
  constexpr uint32_t threads = 1 << 20;
  constexpr uint64_t units = bytes / sizeof(kernel::Pack);
  const kernel::Motion motion{kernel::OpcodeFlags(Opcode::Copy), kernel::Operation::Sum, {}, nullptr};
  const kernel::TileRun run{base + (uint64_t{1} << 40), base, nullptr, 0, bytes, bytes};
  const uint32_t last = (units - 1) % threads; // the thread that moves the last unit
  Accounts accounts{{{"target", base, bytes, false}, {"source", base + (uint64_t{1} << 40), bytes, false}}};
  CountingMachine machine(accounts, last, threads);
  using Simply = kernel::Simple<CountingMachine, NoArithmetic>;
  Simply::move(machine, motion, Simply::sidesOf(machine, motion, run));
  const std::string each = std::to_string((units - 1) / threads + 1);
  EXPECT_EQ(accounts.text(), "target: " + each + " stores of 16; source: " + each + " loads of 16");
  EXPECT_EQ(accounts.all[0].end, bytes);
}
