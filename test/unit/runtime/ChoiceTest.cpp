// SPDX-License-Identifier: Apache-2.0
// Tests programs that users choose with GC3_PROGRAM or with a tuner.
#include "ApiGroup.h"
#include "SettingsSupport.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

using namespace gc3::test;

namespace {

/// Returns programs of two ranks: an AllReduce for small calls, an AllReduce for large calls, an AllGather, and a
/// Broadcast from each rank.
std::vector<ProgramSpec> programs() {
  ProgramSpec small = ringAllReduce(2, true), large = plainRingAllReduce(2), gather = allGather(2, false);
  small.name = "small";
  small.maxBytes = 1024;
  large.name = "large";
  large.minBytes = 1024;
  gather.name = "gather";
  std::vector<ProgramSpec> all{small, large, gather};
  for (uint32_t root : {0u, 1u}) {
    all.push_back(broadcast(2, root));
    all.back().name = "from" + std::to_string(root);
  }
  return all;
}

gc3HostConfig_t listing(const char *list) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.programs = list;
  return config;
}

/// Returns the name of the program that serves a call of `count` floats, or "-" if there is none.
std::string chosen(const Group &group, const char *collective, size_t count, int root = -1) {
  const char *name = nullptr;
  const gc3Result_t result = gc3SelectProgram(group.comms[0], collective, count, gc3Float32, root, &name);
  EXPECT_TRUE(result == gc3Success || result == gc3NoProgram) << gc3GetLastError(group.comms[0]);
  return result == gc3Success ? name : "-";
}

/// Restricts communicators to a list of programs. Returns the names of the programs that then serve a small and a large
/// AllReduce, an AllGather, and a Broadcast from each rank.
std::string chosen(const char *list, const gc3::core::Settings &settings = gc3::core::settings()) {
  const Group group(programs(), 2, listing(list), settings);
  return chosen(group, "allreduce", 4) + " " + chosen(group, "allreduce", 4096) + " " + chosen(group, "allgather", 4) +
         " " + chosen(group, "broadcast", 4, 0) + " " + chosen(group, "broadcast", 4, 1);
}

/// Returns the error message for an invalid list of programs.
std::string refused(const char *list) {
  const std::string bytes = buildBundle(programs());
  gc3Bundle_t bundle = nullptr;
  EXPECT_EQ(gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size()), gc3Success);
  gc3Comm_t comms[2] = {};
  const gc3HostConfig_t config = listing(list);
  EXPECT_EQ(gc3HostCommInitAll(comms, 2, bundle, &config), gc3InvalidArgument) << list;
  gc3BundleFree(bundle);
  return gc3GetLastError(nullptr);
}

} // namespace

TEST(Choice, ListsRestrictPrograms) {
  EXPECT_EQ(chosen(""), "small large gather from0 from1");
  EXPECT_EQ(chosen("small"), "small small gather from0 from1") << "at any size";
  EXPECT_EQ(chosen("allreduce:large"), "large large gather from0 from1");
  EXPECT_EQ(chosen("large,small"), "small large gather from0 from1") << "the size selects one of them";
  EXPECT_EQ(chosen("from1"), "small large gather - from1") << "it has another root";
  EXPECT_EQ(chosen("allreduce:none"), "- - gather from0 from1");
  EXPECT_EQ(chosen("none"), "- - - - -");
  EXPECT_EQ(chosen("small,none"), "small small - - -");
  EXPECT_EQ(chosen(",gather,,"), "small large gather from0 from1");
}

TEST(Choice, ListsThatNameUnknownPrograms) {
  EXPECT_EQ(refused("smal"), "GC3_PROGRAM: no bundle has 'smal'; valid items are PROGRAM, COLLECTIVE:PROGRAM and "
                             "COMMUNICATOR:COLLECTIVE:PROGRAM, with none for no program, of: "
                             "allgather:gather allreduce:large allreduce:small broadcast:from0 broadcast:from1");
  for (const char *list : {"small,tree", "allgather:small", "alltoall:none", "small large", "Small"})
    EXPECT_EQ(refused(list).find("GC3_PROGRAM: no bundle has '"), 0u) << list;
}

TEST(Choice, MalformedLists) {
  for (const char *item : {":small", "allreduce:", "tp::", ":allreduce:small", ":", "a:b:c:d"})
    EXPECT_EQ(refused(("large," + std::string(item)).c_str()),
              "GC3_PROGRAM: '" + std::string(item) +
                  "' is malformed; valid items are PROGRAM, COLLECTIVE:PROGRAM and COMMUNICATOR:COLLECTIVE:PROGRAM, "
                  "with none for no program");
}

/// Items with a communicator apply to communicators whose names match, and replace the other items there.
TEST(Choice, ListsByCommunicator) {
  const auto chosenOn = [](const char *name, const char *list) {
    gc3HostConfig_t config = listing(list);
    config.name = name;
    const Group group(programs(), 2, config);
    return chosen(group, "allreduce", 4) + " " + chosen(group, "allreduce", 4096) + " " + chosen(group, "allgather", 4);
  };
  EXPECT_EQ(chosenOn("tp0", "tp*:allreduce:large"), "large large gather");
  EXPECT_EQ(chosenOn("dp0", "tp*:allreduce:large"), "small large gather");
  EXPECT_EQ(chosenOn(nullptr, "tp*:allreduce:large"), "small large gather") << "it has no name";
  EXPECT_EQ(chosenOn(nullptr, "*:allreduce:large"), "large large gather");
  EXPECT_EQ(chosenOn("tp0", "tp0:allreduce:large,small"), "large large gather") << "small is for the others";
  EXPECT_EQ(chosenOn("dp0", "tp0:allreduce:large,small"), "small small gather");
  EXPECT_EQ(chosenOn("tp0", "small,tp0:allgather:none"), "small small -") << "other collectives keep their items";
  EXPECT_EQ(chosenOn("tp0", "t?0::large,none"), "large large -");
  EXPECT_EQ(chosenOn("tp0", "tp0::none,allreduce:large"), "- - -")
      << "the communicator has an item for all collectives";
  EXPECT_EQ(chosenOn("dp0", "tp0:allreduce:unknown"), "small large gather") << "the item is for other bundles, maybe";
}

TEST(Choice, TheEnvironmentHasAListUnlessTheConfigHas) {
  const gc3::core::Settings large = settingsOf({{"GC3_PROGRAM", "large"}});
  EXPECT_EQ(chosen(nullptr, large), "large large gather from0 from1");
  EXPECT_EQ(chosen("small", large), "small small gather from0 from1");
  EXPECT_EQ(chosen("", large), "small large gather from0 from1");
  EXPECT_EQ(chosen(nullptr), "small large gather from0 from1");
}

TEST(Choice, CallsRunListedPrograms) {
  Group group(programs(), 2, listing("large,allgather:none"));
  Data data = ramp(2, 6), got = data;
  auto reduce = [&](int r, gc3Comm_t comm) {
    return gc3AllReduce(data[r].data(), got[r].data(), 6, gc3Float32, gc3Sum, comm, nullptr);
  };
  EXPECT_EQ(group.together(reduce), gc3Success);
  EXPECT_EQ(got[1], (std::vector<float>{100, 102, 104, 106, 108, 110}));
  auto gather = [&](int r, gc3Comm_t comm) {
    return gc3AllGather(data[r].data(), got[r].data(), 3, gc3Float32, comm, nullptr);
  };
  EXPECT_EQ(group.together(gather), gc3NoProgram);
  EXPECT_EQ(std::string(gc3GetLastError(group.comms[1]))
                .find("no program for 'allgather' on 2 ranks; program 'gather' "
                      "is not in GC3_PROGRAM; the bundle has:"),
            0u);
  auto named = [&](int r, gc3Comm_t comm) {
    return gc3RunProgram(comm, "gather", data[r].data(), got[r].data(), 3, gc3Float32, gc3Sum, nullptr);
  };
  EXPECT_EQ(group.together(named), gc3Success) << "lists do not restrict calls by program name";
}

namespace {

/// A tuner that returns `result`. It stores the parameters of the latest call as text.
struct Tuner {
  int result = gc3TunerBySize;
  std::string lastQuery = {};

  static int ask(const gc3TunerCall_t *call, void *data) {
    auto &self = *static_cast<Tuner *>(data);
    self.lastQuery = std::string(call->collective) + " ranks " + std::to_string(call->ranks) + " root " +
                     std::to_string(call->root) + " count " + std::to_string(call->count) + " bytes " +
                     std::to_string(call->bytes) + " type " + std::to_string(call->type) + " op " +
                     std::to_string(call->op) + ":";
    EXPECT_EQ(call->size, sizeof *call);
    for (int i = 0; i < call->programCount; ++i)
      self.lastQuery += std::string(" ") + call->programs[i];
    return self.result;
  }
  gc3HostConfig_t config(const char *list = "") {
    gc3HostConfig_t config = listing(list);
    config.tuner = ask;
    config.tunerData = this;
    return config;
  }
};

} // namespace

/// The tuner gets the time of each call, except the first one of a size, which prepares it.
TEST(Tuner, GetsTheTimesOfItsChoices) {
  static std::mutex mutex;
  static std::vector<std::string> reported;
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.tuner = [](const gc3TunerCall_t *, void *) { return 1; };
  config.tunerTimes = [](const gc3TunerTime_t *time, void *) {
    EXPECT_EQ(time->size, sizeof *time);
    EXPECT_GT(time->microseconds, 0);
    const std::lock_guard lock(mutex);
    reported.push_back(std::string(time->collective) + " rank " + std::to_string(time->rank) + " of " +
                       std::to_string(time->ranks) + " root " + std::to_string(time->root) + " count " +
                       std::to_string(time->count) + " bytes " + std::to_string(time->bytes) + " type " +
                       std::to_string(time->type) + " op " + std::to_string(time->op) + ": " + time->program);
  };
  Group group(programs(), 2, config);
  for (const gc3Result_t result : group.threads([](int, gc3Comm_t comm) {
         std::array<float, 4> buffer{};
         for (int call = 0; call < 3; ++call)
           if (gc3AllReduce(buffer.data(), buffer.data(), 4, gc3Float32, gc3Max, comm, nullptr) != gc3Success)
             return gc3InternalError;
         return gc3RunProgram(comm, "large", buffer.data(), buffer.data(), 4, gc3Float32, gc3Max, nullptr);
       }))
    EXPECT_EQ(result, gc3Success);
  std::sort(reported.begin(), reported.end());
  const std::string rest = " of 2 root -1 count 4 bytes 16 type 7 op 2: large";
  EXPECT_EQ(reported, (std::vector<std::string>{"allreduce rank 0" + rest, "allreduce rank 0" + rest,
                                                "allreduce rank 1" + rest, "allreduce rank 1" + rest}));
}

TEST(Tuner, ChoosesAmongAllThatCanServe) {
  Tuner tuner;
  const Group group(programs(), 2, tuner.config());
  EXPECT_EQ(chosen(group, "allreduce", 4), "small");
  EXPECT_EQ(tuner.lastQuery, "allreduce ranks 2 root -1 count 4 bytes 16 type 7 op 0: small large");
  tuner.result = 1;
  EXPECT_EQ(chosen(group, "allreduce", 4), "large");
  tuner.result = 0;
  EXPECT_EQ(chosen(group, "allreduce", 4096), "small");
  EXPECT_EQ(chosen(group, "allgather", 4), "gather");
  EXPECT_EQ(tuner.lastQuery, "allgather ranks 2 root -1 count 4 bytes 32 type 7 op 0: gather");
  EXPECT_EQ(chosen(group, "broadcast", 4, 1), "from1");
  EXPECT_EQ(tuner.lastQuery, "broadcast ranks 2 root 1 count 4 bytes 16 type 7 op 0: from1");
  tuner = {gc3TunerNone};
  EXPECT_EQ(chosen(group, "allreduce", 4), "-");
  EXPECT_NE(std::strstr(gc3GetLastError(group.comms[0]), "; the tuner chose none; the bundle has:"), nullptr);
  tuner.lastQuery.clear();
  EXPECT_EQ(chosen(group, "alltoall", 4), "-");
  EXPECT_EQ(tuner.lastQuery, "") << "no program can serve the call";
}

TEST(Tuner, ChoosesAmongListedPrograms) {
  Tuner tuner;
  const Group group(programs(), 2, tuner.config("large,none"));
  EXPECT_EQ(chosen(group, "allreduce", 4), "large");
  EXPECT_EQ(tuner.lastQuery, "allreduce ranks 2 root -1 count 4 bytes 16 type 7 op 0: large");
  EXPECT_EQ(chosen(group, "allgather", 4), "-");
}

TEST(Tuner, ResultsOutOfRangeFailTheCall) {
  for (int result : {2, -3, INT32_MAX, INT32_MIN}) {
    Tuner tuner{result};
    Group group(programs(), 2, tuner.config());
    Data data = ramp(2, 6);
    auto reduce = [&](int r, gc3Comm_t comm) {
      return gc3AllReduce(data[r].data(), data[r].data(), 6, gc3Float32, gc3Max, comm, nullptr);
    };
    EXPECT_EQ(group.together(reduce), gc3InvalidUsage);
    EXPECT_EQ(gc3GetLastError(group.comms[1]), "the tuner returned " + std::to_string(result) +
                                                   " for 'allreduce' of 6 elements, but it can choose from 2 programs");
    EXPECT_EQ(tuner.lastQuery, "allreduce ranks 2 root -1 count 6 bytes 24 type 7 op 2: small large");
    tuner.result = 1;
    EXPECT_EQ(group.together(reduce), gc3Success) << "only that call fails";
    EXPECT_EQ(data[0][5], 105);
    tuner.lastQuery.clear();
    auto named = [&](int r, gc3Comm_t comm) {
      return gc3RunProgram(comm, "small", data[r].data(), data[r].data(), 6, gc3Float32, gc3Sum, nullptr);
    };
    EXPECT_EQ(group.together(named), gc3Success);
    EXPECT_EQ(tuner.lastQuery, "") << "the caller has named the program";
  }
}
