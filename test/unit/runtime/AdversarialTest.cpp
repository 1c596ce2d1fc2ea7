// SPDX-License-Identifier: Apache-2.0
// Tests that the adversarial order shows errors of programs. Other orders can hide these errors.
#include "ApiGroup.h"
#include "Programs.h"

#include <gtest/gtest.h>
#include <set>

using namespace gc3::test;

namespace {

/// Makes an adversarial call with one element per rank; all inputs are 1. Returns the output of the last rank.
float adversarialResult(const ProgramSpec &program, uint64_t seed) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.order = gc3OrderAdversarial;
  config.seed = seed;
  Group group({program}, static_cast<int>(program.ranks.size()), config);
  std::vector<float> inputs(program.ranks.size(), 1), outputs(program.ranks.size(), -100);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunProgram(comm, program.name.c_str(), &inputs[static_cast<size_t>(r)], &outputs[static_cast<size_t>(r)],
                         1, gc3Float32, gc3Sum, nullptr);
  }),
            gc3Success);
  return outputs.back();
}

} // namespace

// The program reads scratch that it has not written. If scratch were zero, like new memory, the sum would be right and
// the error would stay hidden.
TEST(Adversarial, ScratchHoldsGarbage) {
  ProgramSpec program{"reads_scratch", "reads_scratch"};
  program.scratchNames = {"scratch"};
  Rank rank;
  rank.inputSlots = rank.outputSlots = 1;
  rank.scratchSlots = {1};
  rank.blocks.push_back(
      {-1, -1, 0, {{Opcode::Copy, in(0), out(0), 1, {}}, {Opcode::Reduce, scratch(0), out(0), 1, {}}}});
  program.ranks = {rank};
  program.outputs = {{{{0, 0}}}};
  EXPECT_NE(adversarialResult(program, 1), 1);
}

// The adversarial order can delay a send even if it is the first step of its rank. Here a copy overwrites the slot that
// the send reads, and nothing orders the two.
TEST(Adversarial, FirstSendsCanBeLate) {
  ProgramSpec program{"races", "races"};
  Rank from, to;
  from.inputSlots = from.outputSlots = to.inputSlots = to.outputSlots = 1;
  from.blocks = {{1, -1, 0, {{Opcode::Send, out(0), {}, 1, {}}}}, {-1, -1, 0, {{Opcode::Copy, in(0), out(0), 1, {}}}}};
  to.blocks = {{-1, 0, 0, {{Opcode::RecvReduceCopy, in(0), out(0), 1, {}}}}};
  program.ranks = {from, to};
  program.outputs = {{{{0, 0}}}, {{{0, 0}, {1, 0}}}};
  std::set<float> results;
  for (uint64_t seed = 0; seed != 32; ++seed)
    results.insert(adversarialResult(program, seed));
  EXPECT_EQ(results, (std::set<float>{-99, 2}));
}
