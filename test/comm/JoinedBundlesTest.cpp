// SPDX-License-Identifier: Apache-2.0
// Tests collectives of several bundles that communicators join.
#include "CommSupport.h"

using namespace gc3;
using namespace gc3::test;

namespace {

ProgramSpec copies(const char *name, const char *form, uint64_t meaning) {
  ProgramSpec program = broadcast(2, 0);
  program.name = name;
  program.collective = "from";
  program.form = form;
  program.meaning = meaning;
  return program;
}

core::Outcome join(const ProgramSpec &a, const ProgramSpec &b, std::unique_ptr<comm::ProgramTable> &table) {
  return comm::ProgramTable::make({open({a}), open({b})}, 2, smallOptions()).moveTo(table);
}

core::Outcome call(comm::ProgramTable &table, const char *collective) {
  core::Request request;
  request.kind = core::CallKind::Collective;
  request.name = collective;
  request.count = 4;
  return table.choose(request).outcome();
}

TEST(JoinedBundles, OneFormHasOnePromise) {
  std::unique_ptr<comm::ProgramTable> table;
  const core::Outcome outcome = join(copies("one", "from(by = 1)", 7), copies("other", "from(by = 1)", 8), table);
  EXPECT_EQ(outcome.code, gc3BundleInvalid);
  EXPECT_EQ(outcome.text, "programs 'one' and 'other' both implement from(by = 1) on 2 ranks, but promise different "
                          "contents; give one collective another name");
  EXPECT_EQ(join(copies("one", "from(by = 1)", 7), copies("other", "from(by = 1)", 7), table).text, "");
}

TEST(JoinedBundles, ANameHasOneMeaningInAllBundles) {
  std::unique_ptr<comm::ProgramTable> table;
  ASSERT_EQ(join(copies("one", "from(by = 1)", 7), copies("other", "from(by = 2)", 8), table).text, "");
  const core::Outcome outcome = call(*table, "from");
  EXPECT_EQ(outcome.code, gc3InvalidArgument);
  EXPECT_EQ(outcome.text, "'from' can mean several collectives on 2 ranks: from(by = 1) of 'one', from(by = 2) of "
                          "'other'; give the arguments that differ");
  EXPECT_EQ(call(*table, "from(by = 3)").code, gc3NoProgram);
  for (const char *clear : {"from(by = 1)", "from(2)"})
    EXPECT_NE(call(*table, clear).code, gc3NoProgram) << clear;
}

TEST(JoinedBundles, OldBundlesHaveUnknownMeanings) {
  std::unique_ptr<comm::ProgramTable> table;
  ASSERT_EQ(join(copies("old", "", 0), copies("new", "from", 8), table).text, "") << "as long as no call names it";
  EXPECT_NE(call(*table, "from").text.find("compile them again"), std::string::npos);
}

} // namespace
