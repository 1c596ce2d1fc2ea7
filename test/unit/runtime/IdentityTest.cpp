// SPDX-License-Identifier: Apache-2.0
// Tests calls of collectives that differ only in their arguments.
#include "ApiGroup.h"

#include <cstddef>

using namespace gc3::test;

namespace {

/// Returns a program on 2 ranks that copies the data of rank `from`.
ProgramSpec copies(const char *name, const char *form, uint32_t from, uint64_t meaning) {
  ProgramSpec program = broadcast(2, from);
  program.name = name;
  program.collective = "from";
  program.form = form;
  program.meaning = meaning;
  return program;
}

/// Returns a collective with one meaning for small calls, and another meaning for large calls.
std::vector<ProgramSpec> twoMeanings() {
  ProgramSpec near = copies("near", "from(n = 2, by = 0)", 0, 7), far = copies("far", "from(n = 2, by = 1)", 1, 8);
  near.maxBytes = 1024;
  far.minBytes = 1024;
  return {near, far};
}

/// Returns one collective that is written with different arguments for small and large calls.
std::vector<ProgramSpec> oneMeaning() {
  ProgramSpec few = copies("few", "from(chunks = 1)", 0, 7), many = copies("many", "from(chunks = 4)", 0, 7);
  few.maxBytes = 1024;
  many.minBytes = 1024;
  return {few, many};
}

constexpr size_t small = 4, large = 4096;

/// Returns the name of the program that serves a call, or the error.
std::string served(const Group &group, const char *collective, size_t count) {
  const char *name = nullptr;
  switch (gc3SelectProgram(group.comms[0], collective, count, gc3Float32, -1, &name)) {
  case gc3Success: return name;
  case gc3NoProgram: return "-";
  case gc3InvalidArgument: return gc3GetLastError(group.comms[0]);
  default: return "another error";
  }
}

std::string listed(const char *list, const std::vector<ProgramSpec> &programs, const char *collective, size_t count) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.programs = list;
  return served(Group(programs, 2, config), collective, count);
}

} // namespace

TEST(Identity, CallsGiveSomeOrAllArguments) {
  const Group group(twoMeanings(), 2);
  for (const char *near : {"from(2, 0)", "from(by = 0)", "from(2, by = 0)", " from( 2,by=0 ) ", "from(n = 2, by = 0)",
                           "from(by = 0, n = 2)"}) {
    EXPECT_EQ(served(group, near, small), "near") << near;
    EXPECT_EQ(served(group, near, large), "-") << near;
  }
  EXPECT_EQ(served(group, "from(by = 1)", large), "far");
  EXPECT_EQ(served(group, "from(by = 1)", small), "-");
  for (const char *unknown :
       {"from(2, 2)", "from(2, n = 2)", "from(by = 2)", "from(two = 0)", "from(2, 0, 0)", "from(0)", "for(2, 0)"})
    EXPECT_EQ(served(group, unknown, small), "-") << unknown;
}

TEST(Identity, ANameWithSeveralMeaningsIsAnError) {
  const Group group(twoMeanings(), 2);
  for (size_t count : {small, large})
    for (const char *name : {"from", "from(2)", "from(n = 2)", "from()"})
      EXPECT_NE(served(group, name, count)
                    .find("can mean several collectives on 2 ranks: from(n = 2, by = 0) of 'near', from(n = 2, by = 1) "
                          "of 'far'; give the arguments that differ"),
                std::string::npos)
          << name << ": " << served(group, name, count);
}

TEST(Identity, ANameWithOneMeaningNeedsNoArguments) {
  const Group group(oneMeaning(), 2);
  EXPECT_EQ(served(group, "from", small), "few");
  EXPECT_EQ(served(group, "from", large), "many");
  EXPECT_EQ(served(group, "from(chunks = 4)", small), "-") << "a call can insist on arguments";
}

TEST(Identity, TextsThatAreNoCollective) {
  const Group group(twoMeanings(), 2);
  for (const char *text : {"from(", "from(2", "from(2, 0) 1", "from(by = )", "from(= 1)", "from(by = 0, 2)",
                           "from(\"2)", "from(,)", "from(2, 0,)", "from(by = 0, by = 0)"})
    EXPECT_NE(served(group, text, small).find("is no collective; write its name, or its name with arguments"),
              std::string::npos)
        << text;
}

TEST(Identity, CallsMoveTheDataOfTheirArguments) {
  Group group(twoMeanings(), 2);
  Data data = ramp(2, small), got = data;
  auto call = [&](const char *collective) {
    return group.together([&](int r, gc3Comm_t comm) {
      return gc3RunCollective(comm, collective, data[r].data(), got[r].data(), small, gc3Float32, gc3Sum, nullptr);
    });
  };
  EXPECT_EQ(call("from(by = 0)"), gc3Success);
  EXPECT_EQ(got[1], data[0]);
  EXPECT_EQ(call("from"), gc3InvalidArgument);
  EXPECT_EQ(group.together([&](int r, gc3Comm_t comm) {
    return gc3RunCollective(comm, r == 0 ? "from(by = 0)" : "from(2, 0)", data[r].data(), got[r].data(), small,
                            gc3Float32, gc3Sum, nullptr);
  }),
            gc3InvalidUsage)
      << "all ranks must pass the same text";
}

TEST(Identity, RootsAreArgumentsOfStandardCollectives) {
  ProgramSpec first = broadcast(2, 0), second = broadcast(2, 1);
  first.name = "first", first.form = "broadcast(root = 0)";
  second.name = "second", second.form = "broadcast(root = 1)";
  const Group group({first, second}, 2);
  EXPECT_EQ(served(group, "broadcast(root = 1)", small), "second");
  EXPECT_NE(served(group, "broadcast", small).find("broadcast(root = 0) of 'first', broadcast(root = 1) of 'second'"),
            std::string::npos);
}

TEST(Identity, OldBundlesHaveNoMeanings) {
  std::vector<ProgramSpec> old = oneMeaning();
  for (ProgramSpec &program : old)
    program.form = "", program.meaning = 0;
  EXPECT_EQ(served(Group({old[0]}, 2), "from", small), "few") << "one program has one meaning";
  EXPECT_NE(served(Group(old, 2), "from", small)
                .find("from of 'few', from of 'many'; compile them again, because bundles before version 1.1 have no "
                      "meanings"),
            std::string::npos);
  ProgramSpec few = ringAllReduce(2, true), many = plainRingAllReduce(2);
  few.maxBytes = many.minBytes = 1024;
  EXPECT_EQ(served(Group({few, many}, 2), "allreduce", large), many.name)
      << "the name of a standard one is its meaning";
}

TEST(Identity, ListsOfProgramsNameCollectivesAsCallsDo) {
  const std::vector<ProgramSpec> programs = twoMeanings();
  EXPECT_EQ(listed("from(by = 0):none", programs, "from(by = 0)", small), "-");
  EXPECT_EQ(listed("from(by = 0):none", programs, "from(by = 1)", large), "far");
  EXPECT_EQ(listed("from(2, 1):far", programs, "from(by = 1)", small), "far") << "at any size";
  EXPECT_EQ(listed("far", programs, "from(by = 1)", small), "far");
  EXPECT_EQ(listed("far", programs, "from(by = 0)", small), "near") << "the list does not name this collective";
  EXPECT_EQ(listed("from:none", oneMeaning(), "from", small), "-");
}

TEST(Identity, OneFormHasOneMeaningInABundle) {
  std::vector<ProgramSpec> programs = twoMeanings();
  programs[1].form = programs[0].form;
  const std::string bytes = buildBundle(programs);
  gc3Bundle_t bundle = nullptr;
  ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  gc3Comm_t comms[2] = {};
  EXPECT_EQ(gc3HostCommInitAll(comms, 2, bundle, nullptr), gc3BundleInvalid);
  EXPECT_STREQ(gc3GetLastError(nullptr), "programs 'near' and 'far' both implement from(n = 2, by = 0) on 2 ranks, but "
                                         "promise different contents; give one collective another name");
  gc3BundleFree(bundle);
}

TEST(Identity, ListsWithSeveralMeanings) {
  const std::string bytes = buildBundle(twoMeanings());
  gc3Bundle_t bundle = nullptr;
  ASSERT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  for (const char *list : {"from:none", "from:near", "far,from(2):near"}) {
    gc3Comm_t comms[2] = {};
    gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
    config.programs = list;
    EXPECT_EQ(gc3HostCommInitAll(comms, 2, bundle, &config), gc3InvalidArgument) << list;
    EXPECT_EQ(std::string(gc3GetLastError(nullptr)).find("GC3_PROGRAM: 'from"), 0u) << gc3GetLastError(nullptr);
  }
  gc3BundleFree(bundle);
}

TEST(Identity, ProgramInfoHasTheForm) {
  const Group group({twoMeanings()[0], ringAllReduce(2, true)}, 2);
  gc3ProgramInfo_t info{};
  info.size = sizeof info;
  ASSERT_EQ(gc3BundleProgramInfo(group.bundle, 0, &info), gc3Success);
  EXPECT_STREQ(info.collective, "from");
  EXPECT_STREQ(info.form, "from(n = 2, by = 0)");
  ASSERT_EQ(gc3BundleProgramInfo(group.bundle, 1, &info), gc3Success);
  EXPECT_STREQ(info.form, "allreduce") << "an old bundle has only the name";
  info.size = offsetof(gc3ProgramInfo_t, form);
  info.form = "unchanged";
  ASSERT_EQ(gc3BundleProgramInfo(group.bundle, 0, &info), gc3Success) << "an application of gc3 0.1.0";
  EXPECT_STREQ(info.name, "near");
  EXPECT_STREQ(info.form, "unchanged");
}

TEST(Identity, ReadersRefuseMalformedForms) {
  for (const char *form :
       {"to(n = 2)", "from(2)", "from(n=2)", "from(n = 2", "from(n = \t)", "from(2n = 2)", "from()"}) {
    const std::string bytes = buildBundle({copies("near", form, 0, 7)});
    gc3Bundle_t bundle = nullptr;
    EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3BundleInvalid) << form;
    EXPECT_STREQ(gc3GetLastError(nullptr),
                 "invalid bundle: program 'near': its collective has malformed arguments, or no meaning");
  }
  const std::string bytes = buildBundle({copies("near", "from(n = 2)", 0, 0)});
  gc3Bundle_t bundle = nullptr;
  EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3BundleInvalid);
}
