// SPDX-License-Identifier: Apache-2.0
// Tests the file of learned times with host communicators: a job saves it, and the next job begins with it.
#include "ApiGroup.h"
#include "SettingsSupport.h"
#include "bundle/BundleFile.h"
#include "core/ChoiceInfo.h"
#include "core/LearnedTimes.h"

#include <filesystem>
#include <fstream>

using namespace gc3::test;
using gc3::select::TuneFile;

namespace {

constexpr int ranks = 3;

uint64_t digest() {
  const std::string bytes = buildBundle(differentAllReduces(ranks));
  return (*gc3::bundle::BundleFile::openMemory(bytes.data(), bytes.size()))->digest();
}

/// A file of learned times in a new folder, which is removed at the end.
class Learned : public testing::Test {
protected:
  Learned() {
    std::string name = (std::filesystem::temp_directory_path() / "gc3-XXXXXX").string();
    folder = mkdtemp(name.data());
    path = (folder / "learned").string();
  }
  ~Learned() override { std::filesystem::remove_all(folder); }

  /// Writes times of float sums of 4 to 7 bytes. The last program is the fastest.
  void writeTimes(const std::string &machine = gc3::core::hostMachine(), uint64_t bundle = digest()) const {
    const TuneFile file{
        machine,
        bundle,
        {{"allreduce", "float/sum", false, ranks, 1}},
        {{0, 2, "chain", 60, 30000, 0, 0}, {0, 2, "plain", 60, 20000, 0, 0}, {0, 2, "ring", 60, 100, 0, 0}}};
    ASSERT_EQ(gc3::select::saveTuneFile(path, file), "");
  }
  gc3HostConfig_t config(float budget = 0) const {
    gc3HostConfig_t made = GC3_HOST_CONFIG_INITIALIZER;
    made.tune = gc3TuneOnline, made.tuneBudget = budget, made.tuneFile = path.c_str();
    return made;
  }
  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder;
  std::string path;
};

/// Returns the program that a rank's next call runs.
std::string selected(const Group &group, int rank = 0) {
  const char *name = "";
  EXPECT_EQ(gc3SelectProgram(group.comms[static_cast<size_t>(rank)], "allreduce", 1, gc3Float32, -1, &name),
            gc3Success);
  return name;
}

void makeCalls(Group &group, int calls, bool isInPlace = false) {
  for (int c = 0; c < calls; ++c) {
    float send[ranks] = {1, 2, 3}, recv[ranks] = {};
    float *const to = isInPlace ? send : recv;
    ASSERT_EQ(group.together([&](int r, gc3Comm_t comm) {
      return gc3AllReduce(&send[r], &to[r], 1, gc3Float32, gc3Sum, comm, nullptr);
    }),
              gc3Success);
    ASSERT_EQ(std::vector<float>(to, to + ranks), std::vector<float>(ranks, 6));
  }
}

gc3TuneCounters_t counters(const Group &group) {
  gc3TuneCounters_t now = {sizeof now, 0, 0, 0, 0, 0};
  EXPECT_EQ(gc3CommGetTuneCounters(group.comms[0], &now), gc3Success);
  return now;
}

/// Returns what a function writes to stderr.
template <typename Function>
std::string logOf(Function function) {
  testing::internal::CaptureStderr();
  function();
  return testing::internal::GetCapturedStderr();
}

} // namespace

// Ranks on different machines have loaded nothing alike, if they have loaded nothing.
TEST(LearnedDigest, IgnoresTheMachineIfThereAreNoTimes) {
  const TuneFile none{"a machine", 1, {}, {}};
  TuneFile some{"a machine", 1, {{"allreduce", "float/sum", false, ranks, 1}}, {{0, 2, "ring", 60, 100, 0, 0}}};
  EXPECT_EQ(gc3::core::digestOf(none), gc3::core::digestOf(TuneFile{"another machine", 1, {}, {}}));
  EXPECT_NE(gc3::core::digestOf(none), gc3::core::digestOf(some));
  gc3::core::ignoreLearned(some);
  EXPECT_EQ(gc3::core::digestOf(none), gc3::core::digestOf(some));
}

TEST_F(Learned, TheFirstCallRunsTheLearnedProgramOnAllRanks) {
  writeTimes();
  Group group(differentAllReduces(ranks), ranks, config());
  for (int r = 0; r < ranks; ++r)
    EXPECT_EQ(selected(group, r), "ring");
  makeCalls(group, 1);
  EXPECT_EQ(counters(group).calls, 1);
  EXPECT_EQ(counters(group).explored, 0);
}

TEST_F(Learned, FrozenChoicesAreTheLearnedOnesAndTheFileStays) {
  writeTimes();
  const std::string before = text();
  {
    Group group(differentAllReduces(ranks), ranks, config(-1));
    for (int c = 0; c < 60; ++c) {
      EXPECT_EQ(selected(group), "ring");
      makeCalls(group, 1);
    }
    EXPECT_EQ(counters(group).explored, 0);
    EXPECT_EQ(counters(group).changes, 0);
  }
  EXPECT_EQ(text(), before);
}

TEST_F(Learned, AJobAddsItsCallsWhenItsLastRankIsDestroyed) {
  {
    Group group(differentAllReduces(ranks), ranks, config());
    makeCalls(group, 200);
    makeCalls(group, 100, true);
    gc3CommDestroy(group.comms.back());
    group.comms.pop_back();
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  const gc3::select::TuneResult file = gc3::select::loadTuneFile(path);
  ASSERT_TRUE(file.ok()) << file.outcome().message;
  EXPECT_EQ(gc3::select::reasonToIgnore(*file, gc3::core::hostMachine(), digest()), "");
  ASSERT_EQ(file->contexts.size(), 2u);
  uint64_t calls = 0;
  for (const auto &context : file->contexts)
    EXPECT_EQ(context, (gc3::select::TuneContext{"allreduce", "float/sum", context.inPlace, ranks, 1}));
  for (const auto &row : file->rows) {
    EXPECT_EQ(row.bucket, 2u);
    calls += row.calls;
  }
  EXPECT_GE(calls, 300u);
  EXPECT_LE(calls, 300u + 31); // the last choice can be for more calls
}

TEST_F(Learned, CallsOfSeveralJobsAddUp) {
  writeTimes();
  for (int job = 0; job < 2; ++job) {
    Group group(differentAllReduces(ranks), ranks, config());
    makeCalls(group, 3);
  }
  const gc3::select::TuneResult file = gc3::select::loadTuneFile(path);
  for (const auto &row : file->rows)
    EXPECT_EQ(row.calls == 60, row.arm != "ring") << row.arm << " " << row.calls;
}

TEST_F(Learned, SavesOnRequestToAnyPath) {
  writeTimes();
  const std::string other = path + "-too";
  Group group(differentAllReduces(ranks), ranks, config());
  EXPECT_EQ(gc3CommSaveTuneFile(group.comms[1], other.c_str()), gc3Success);
  std::ifstream copy(other);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(copy), {}), text());
  makeCalls(group, 3);
  EXPECT_EQ(gc3CommSaveTuneFile(group.comms[0], nullptr), gc3Success);
  const std::string first = text();
  EXPECT_NE(first.find("2 ring 6"), std::string::npos) << first;
  EXPECT_EQ(gc3CommSaveTuneFile(group.comms[0], nullptr), gc3Success);
  EXPECT_EQ(text(), first);
}

TEST_F(Learned, RequestsWithoutAPathOrSelectionAreErrors) {
  gc3HostConfig_t noFile = config(), off = config();
  noFile.tuneFile = nullptr, off.tune = gc3TuneOff;
  Group group(differentAllReduces(ranks), ranks, noFile);
  EXPECT_EQ(gc3CommSaveTuneFile(group.comms[0], nullptr), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(nullptr), "there is no path: set GC3_TUNE_FILE or tuneFile, or pass one");
  makeCalls(group, 10);
  const std::string inNone = path + "/none";
  EXPECT_EQ(gc3CommSaveTuneFile(group.comms[0], inNone.c_str()), gc3SystemError);
  EXPECT_EQ(gc3GetLastError(nullptr), "cannot write '" + inNone + "': No such file or directory");
  EXPECT_EQ(gc3CommSaveTuneFile(nullptr, nullptr), gc3InvalidArgument);
  Group plain(differentAllReduces(ranks), ranks, off);
  EXPECT_EQ(gc3CommSaveTuneFile(plain.comms[0], nullptr), gc3InvalidUsage);
  EXPECT_STREQ(gc3GetLastError(nullptr), "the communicator has no online selection");
}

TEST_F(Learned, TheSettingNamesAFileUnlessTheConfigDoes) {
  const gc3::core::Settings settings = settingsOf({{"GC3_TUNE", "online"}, {"GC3_TUNE_FILE", path + "-%b"}});
  gc3HostConfig_t none = GC3_HOST_CONFIG_INITIALIZER;
  none.tuneFile = "";
  const std::string own = path + "-" + gc3::select::digestText(digest());
  for (const gc3HostConfig_t &chosen : {none, gc3HostConfig_t GC3_HOST_CONFIG_INITIALIZER}) {
    EXPECT_FALSE(std::filesystem::exists(own));
    Group group(differentAllReduces(ranks), ranks, chosen, settings);
    makeCalls(group, 10);
  }
  EXPECT_TRUE(std::filesystem::exists(own));
}

TEST_F(Learned, AJobThatLearnsNothingChangesNothing) {
  writeTimes("another");
  const std::string before = text();
  logOf([&] {
    Group group(differentAllReduces(ranks), ranks, config());
    EXPECT_EQ(gc3CommSaveTuneFile(group.comms[0], nullptr), gc3Success);
  });
  EXPECT_EQ(text(), before);
}

TEST_F(Learned, AnAbortedJobSavesNothing) {
  {
    Group group(differentAllReduces(ranks), ranks, config());
    makeCalls(group, 10);
    gc3CommAbort(group.comms.back());
    group.comms.pop_back();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Learned, FilesOfOtherMachinesAndBundlesAreIgnoredWithOneMessage) {
  const auto begins = [&] {
    for (int communicators = 0; communicators < 2; ++communicators) {
      Group group(differentAllReduces(ranks), ranks, config(-1));
      EXPECT_EQ(selected(group), "chain");
    }
  };
  const std::string start = "gc3: GC3_TUNE_FILE: '" + path + "' is ignored: it is for the ";
  writeTimes("another");
  EXPECT_EQ(logOf(begins), start + "machine 'another', not '" + gc3::core::hostMachine() + "'\n");
  writeTimes(gc3::core::hostMachine(), 1);
  EXPECT_EQ(logOf(begins), start + "bundle 0x0000000000000001, not " + gc3::select::digestText(digest()) + "\n");
}

TEST_F(Learned, ADamagedFileIsIgnoredAndStays) {
  writeTimes();
  std::ofstream(path, std::ios::app) << "2 tree 60 fast 0 0\n";
  const std::string before = text(), why = path +
                                           ":9: expected 'BUCKET ARM CALLS MEDIAN SPREAD SECONDS', with a bucket "
                                           "of at most 63, calls and a median above 0";
  EXPECT_EQ(logOf([&] {
              Group group(differentAllReduces(ranks), ranks, config());
              EXPECT_EQ(selected(group), "chain");
              makeCalls(group, 100);
            }),
            "gc3: GC3_TUNE_FILE: " + why + "; the file is ignored\n" +
                "gc3: GC3_TUNE_FILE: cannot replace what is no file of learned times: " + why + "\n");
  EXPECT_EQ(text(), before);
}
