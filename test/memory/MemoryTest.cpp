// SPDX-License-Identifier: Apache-2.0
#include "Litmus.h"
#include "MemoryPage.h"
#include "Search.h"
#include "Tables.h"

#include <gtest/gtest.h>

#include <array>

using namespace gc3::memory;

namespace {

using Names = std::vector<std::string>;

TEST(MemoryModel, AgreesWithTheVerdictsOfLitmusTests) {
  Names wrong;
  for (const Litmus &test : litmusTests())
    if ((search(test.program, true, false).executions > 0) != test.isAllowed)
      wrong.push_back(test.name);
  EXPECT_EQ(wrong, Names{});
}

TEST(MemoryModel, HasThePageOfItsVerdicts) {
  const std::string page = readPage(GC3_MEMORY_PAGE);
  EXPECT_EQ(pageWith(page, tables()), page) << "run memory-model --update docs/memory-mutants.md";
}

TEST(MemoryModel, RejectsOnlyProgramsThatTheKernelDoesNotUseOrThatNeedHardware) {
  Names rejected;
  for (const Protocol &protocol : protocols())
    if (!verdictOf(protocol.program).isProved())
      rejected.push_back(protocol.name);
  EXPECT_EQ(rejected, (Names{"Direct, chain with a message of LL", "LL128, no assumption", "aliases of slots",
                             "aliases of slots, alias fences of receivers", "aliases of counters, too",
                             "aliases of counters, too, fence.sc"}));
}

/// A program, and the label and change of a mutant without a counterexample. docs/memory-order.md has the reasons.
using Harmless = std::array<std::string, 3>;

TEST(MemoryModel, FindsACounterexampleToEachOtherMutant) {
  std::vector<Harmless> expected;
  for (const std::string where : {", one launch", ", several GPUs"}) {
    for (const char *barrier : {"B: barrier after data", "B: barrier of storeCounters"})
      expected.push_back({"Simple, two calls" + where, barrier, "dropped"});
    for (const char *barrier :
         {"B1: barrier after polls", "B1: barrier after data", "B2: barrier after polls", "B2: barrier after data"})
      expected.push_back({"Direct" + where, barrier, "dropped"});
    if (where == ", one launch") {
      expected.push_back({"LL, one launch", "A: element", "st.relaxed.gpu"});
      expected.push_back({"LL, one launch", "B: element", "ld.relaxed.gpu"});
    }
  }
  const std::vector<Harmless> others = {
      {"stop", "A: fence before running, begin", "dropped"},
      {"stop", "A: fence before running, begin", "fence.acq_rel.gpu"},
      {"stop", "host: load of running, begin", "ld.relaxed.sys"},
      {"counters", "A: barrier of storeCounters", "dropped"},
      {"LL128, order of the link", "A: __syncwarp", "dropped"},
      {"LL128, order of the link", "A: data", "st.relaxed.gpu"},
      {"LL128, order of the link", "A: data", "st.weak"},
      {"LL128, order of the link", "B: data", "ld.relaxed.gpu"},
      {"LL128, order of the link", "B: data", "ld.weak"},
      {"Simple, two launches on a GPU", "A: fence before arrived", "fence.acq_rel.gpu"},
      {"Simple, two launches on a GPU", "A: arrived", "st.relaxed.gpu"},
      {"Simple, two launches on a GPU", "A: poll of freed", "ld.acquire.gpu"},
      {"Simple, two launches on a GPU", "B: poll of arrived", "ld.acquire.gpu"},
      {"Simple, two launches on a GPU", "B: fence before freed", "fence.acq_rel.gpu"},
      {"Simple, two launches on a GPU", "B: freed", "st.relaxed.gpu"},
  };
  expected.insert(expected.end(), others.begin(), others.end());
  std::vector<Harmless> harmless;
  for (const Protocol &protocol : protocols())
    for (const Finding &finding : verdictOf(protocol.program).mutants)
      if (finding.counterexample.empty())
        harmless.push_back({protocol.name, finding.label, finding.change});
  EXPECT_EQ(harmless, expected);
}

TEST(MemoryModel, PrintsAnExecution) {
  Builder builder;
  const uint32_t x = builder.address("x"), a = builder.thread("A", 0, 0), b = builder.thread("B", host, 0);
  builder.store(a, "data", x, 1);
  builder.fence(a, "fence", Scope::Gpu);
  builder.check(b, "data", x, 1, relaxed(Scope::Sys));
  const Program program = builder.take();
  const Result result = search(program, true, true);
  ASSERT_TRUE(result.wrong);
  EXPECT_EQ(summaryOf(program, *result.wrong), "B reads x = 0, not 1");
  EXPECT_EQ(textOf(program, *result.wrong), "A, GPU 0, block 0\n"
                                            "  st.weak x, 1\n"
                                            "  fence.acq_rel.gpu\n"
                                            "B, host, block 0\n"
                                            "  ld.relaxed.sys x = 0   <- must be 1\n");
}

} // namespace
