// SPDX-License-Identifier: Apache-2.0
// Tests the steps that gc3 finds for the switch in random programs. Executes each program with these steps on symbolic
// values, and compares its outputs with those of the original. All steps that access a slot must be in an order that
// holds in every execution. So one execution is enough.
#include "LoopbackSupport.h"
#include "host/Random.h"
#include "plan/SwitchSteps.h"

#include <algorithm>

using namespace gc3;
using namespace gc3::test;
using plan::SwitchSteps;
using Data = SwitchSteps::Data;

namespace {

constexpr uint32_t outputSlots = 3, scratchSlots = 3, slotsOfRank = outputSlots + scratchSlots;

/// Makes programs in place. The messages of each thread block go along a ring.
class RandomProgram {
public:
  explicit RandomProgram(uint64_t seed) : random(seed), ranks(2 + choose(2)), blocks(1 + choose(2)) {
    spec = ringAllReduce(ranks, true);
    spec.inputChunks = spec.outputChunks = outputSlots;
    spec.maxCount = 2;
    spec.scratchNames = {"s"};
    spec.outputs.assign(ranks, std::vector<gc3::test::Value>(outputSlots));
    for (uint32_t r = 0; r < ranks; ++r) {
      spec.ranks[r] = {outputSlots, outputSlots, 1, 0, true, {scratchSlots}, {}};
      for (uint32_t b = 0; b < blocks; ++b) {
        const auto up = static_cast<int32_t>((r + 1) % ranks), down = static_cast<int32_t>((r + ranks - 1) % ranks);
        spec.ranks[r].blocks.push_back(b == 0 ? Block{up, down, b, {}} : Block{down, up, b, {}});
      }
    }
    const bool meet = choose(4) != 0;
    if (meet)
      goAround();
    for (uint32_t left = 1 + choose(6); left != 0; --left)
      choose(3) == 0 ? addLocal() : addChain();
    if (meet)
      goAround();
  }
  ProgramSpec spec;

private:
  uint32_t choose(uint32_t below) { return static_cast<uint32_t>(random.below(below)); }

  /// Returns a place for `count` slots. It often begins at `usual`.
  Slot place(uint32_t count, uint32_t usual) {
    if (choose(4) == 0)
      return scratch(choose(scratchSlots - count));
    return out(choose(4) == 0 || usual + count > outputSlots ? choose(outputSlots - count + 1) : usual);
  }
  void add(uint32_t rank, uint32_t block, Opcode opcode, uint32_t count, Slot src, Slot dst) {
    StepSpec step{opcode, {}, {}, count, {}};
    if (common::readsSrc(opcode))
      step.src = src;
    if (common::writesDst(opcode))
      step.dst = dst;
    for (uint32_t other = 0; other < blocks; ++other)
      if (const size_t before = spec.ranks[rank].blocks[other].steps.size();
          other != block && before != 0 && choose(4) != 0)
        step.waits.emplace_back(other, static_cast<uint32_t>(before - 1));
    spec.ranks[rank].blocks[block].steps.push_back(step);
  }
  void addLocal() {
    const uint32_t count = 1 + choose(2), usual = choose(outputSlots);
    add(choose(ranks), choose(blocks), choose(2) == 0 ? Opcode::Copy : Opcode::Reduce, count, place(count, usual),
        place(count, usual));
  }
  void addChain() {
    const uint32_t count = 1 + choose(2), usual = choose(outputSlots - count + 1), block = choose(blocks);
    uint32_t rank = choose(ranks);
    add(rank, block, Opcode::Send, count, place(count, usual), {});
    for (uint32_t hops = 1 + choose(2 * ranks - 1), hop = 1; hop <= hops; ++hop) {
      rank = (rank + (block == 0 ? 1 : ranks - 1)) % ranks;
      const bool reduces = hop < ranks ? choose(6) != 0 : choose(6) == 0, copies = choose(3) != 0;
      const Opcode last = reduces ? Opcode::RecvReduceCopy : Opcode::Recv;
      const Opcode inner = !reduces ? Opcode::RecvCopySend
                           : copies ? Opcode::RecvReduceCopySend
                                    : Opcode::RecvReduceSend;
      add(rank, block, hop == hops ? last : inner, count, place(count, usual), place(count, usual));
    }
  }
  /// Lets a message go around, so that all ranks have begun.
  void goAround() {
    const Slot unused = scratch(scratchSlots - 1);
    for (uint32_t hop = 0; hop < 2 * ranks; ++hop)
      add(hop % ranks, 0,
          hop == 0               ? Opcode::Send
          : hop + 1 == 2 * ranks ? Opcode::Recv
                                 : Opcode::RecvCopySend,
          1, unused, unused);
  }

  host::Random random;
  uint32_t ranks, blocks;
};

/// Executes a program, with or without the switch.
class Execution {
public:
  using Sum = std::vector<uint32_t>; ///< the slots whose initial contents are added, in ascending order

  Execution(const core::Program &program, const core::HappensBefore &order, const SwitchSteps &steps)
      : program(program), order(order), steps(steps), messages(program.firstStep(program.ranks())),
        accesses(size_t{program.ranks()} * slotsOfRank) {
    for (uint32_t slot = 0; slot < accesses.size(); ++slot)
      contents.push_back({slot});
    for (const uint32_t step : order.sequence())
      execute(step);
  }

  /// Returns the contents of the outputs.
  std::vector<Sum> outputs() const {
    std::vector<Sum> all;
    for (uint32_t rank = 0; rank < program.ranks(); ++rank)
      for (uint32_t slot = 0; slot < outputSlots; ++slot)
        all.push_back(contents[rank * slotsOfRank + slot]);
    return all;
  }
  /// Returns true if each write is ordered with all other accesses of its slot.
  bool isOrdered() const {
    for (const std::vector<Access> &ofSlot : accesses)
      for (const Access &a : ofSlot)
        for (const Access &b : ofSlot)
          if (a.writes && (a.step == b.step ? a.element != b.element
                                            : !order.before(a.step, b.step) && !order.before(b.step, a.step)))
            return false;
    return true;
  }
  /// Returns true if each rank runs while others access its slots.
  bool isRunning() const {
    for (uint32_t slot = 0; slot < accesses.size(); ++slot)
      for (const Access &access : accesses[slot])
        if (const uint32_t rank = slot / slotsOfRank; rank != program.rankOfStep(access.step)) {
          bool ends = false;
          for (uint32_t step = program.firstStep(rank); step < program.firstStep(rank + 1); ++step)
            ends |= order.before(access.step, step);
          if (!ends || !order.hasBegunBefore(rank, access.step))
            return false;
        }
    return true;
  }

private:
  struct Access {
    uint32_t step, element;
    bool writes;
  };
  uint32_t slotOf(uint32_t rank, uint8_t buffer, uint32_t index) const {
    return rank * slotsOfRank + (buffer >= common::firstScratchBuffer ? outputSlots : 0) + index;
  }
  Sum read(uint32_t step, uint32_t element, uint32_t slot) {
    accesses[slot].push_back({step, element, false});
    return contents[slot];
  }
  void write(uint32_t step, uint32_t element, uint32_t slot, const Sum &value) {
    accesses[slot].push_back({step, element, true});
    contents[slot] = value;
  }
  static Sum added(Sum a, const Sum &b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    return a;
  }

  void execute(uint32_t step) {
    const bundle::fbs::Instruction &inst = program.instruction(step);
    const auto opcode = static_cast<Opcode>(inst.opcode());
    const SwitchSteps::Step how = steps.any() ? steps.of(step) : SwitchSteps::Step{};
    const uint32_t rank = program.rankOfStep(step);
    std::vector<Sum> values;
    for (uint32_t k = 0; k < inst.count(); ++k) {
      const uint32_t target = slotOf(rank, inst.dst_buffer(), inst.dst_index()) + k;
      Sum value{garbage(step, k)};
      if (how.data == Data::Reduced || how.data == Data::Shared) {
        value.clear();
        for (uint32_t peer = 0; peer < program.ranks(); ++peer)
          value = added(value, read(step, k, slotOf(peer, common::outputBuffer, how.from + k)));
      } else if (how.data == Data::Arrived && how.sendsData && common::sends(opcode)) {
        value = read(step, k, target);
      } else if (how.data == Data::Ordinary) {
        value = common::receives(opcode) ? messages[order.sender(step)][k] : Sum();
        if (common::readsSrc(opcode))
          value = added(value, read(step, k, slotOf(rank, inst.src_buffer(), inst.src_index()) + k));
        if (common::combinesIntoDst(opcode))
          value = added(value, read(step, k, target));
      }
      values.push_back(value);
    }
    if (how.data == Data::Shared) {
      EXPECT_LT(inst.dst_buffer(), common::firstScratchBuffer) << "only outputs are accessible over the switch";
    }
    for (uint32_t k = 0; k < inst.count(); ++k) {
      const uint32_t target = slotOf(rank, inst.dst_buffer(), inst.dst_index()) + k;
      if (how.data == Data::Shared)
        for (uint32_t peer = 0; peer < program.ranks(); ++peer)
          write(step, k, target + (peer - rank) * slotsOfRank, values[k]);
      else if (common::writesDst(opcode) && (how.data == Data::Ordinary || how.data == Data::Reduced))
        write(step, k, target, values[k]);
      if (!how.sendsData)
        values[k] = {garbage(step, k)};
    }
    messages[step] = values;
  }
  /// Returns a number that is no slot's.
  static uint32_t garbage(uint32_t step, uint32_t element) { return 1000 + 2 * step + element; }

  const core::Program &program;
  const core::HappensBefore &order;
  const SwitchSteps &steps;
  std::vector<std::vector<Sum>> messages;    ///< by step that sends
  std::vector<std::vector<Access>> accesses; ///< by slot
  std::vector<Sum> contents;                 ///< by slot
};

TEST(SwitchSteps, ChangeNoResults) {
  uint32_t switched = 0, shared = 0;
  for (uint64_t seed = 0; seed < 40000; ++seed) {
    const std::unique_ptr<bundle::BundleFile> file = open({RandomProgram(seed).spec});
    std::unique_ptr<core::Program> program;
    if (!core::Program::load(*file, 0).moveTo(program).ok())
      continue; // a step reads and writes overlapping slots
    const core::HappensBefore order(*program);
    ASSERT_TRUE(order.known());
    const Execution original(*program, order, {});
    if (!original.isOrdered())
      continue;
    const SwitchSteps steps = SwitchSteps::find(*program, order, std::vector<uint32_t>(program->ranks()));
    if (!steps.any())
      continue;
    ++switched;
    for (uint32_t step = 0; step < program->firstStep(program->ranks()); ++step)
      shared += steps.of(step).data == Data::Shared;
    const Execution changed(*program, order, steps);
    EXPECT_EQ(changed.outputs(), original.outputs()) << "seed " << seed;
    EXPECT_TRUE(changed.isOrdered()) << "seed " << seed;
    EXPECT_TRUE(changed.isRunning()) << "seed " << seed;
  }
  EXPECT_GT(switched, 100u);
  EXPECT_GT(shared, 10u);
}

} // namespace
