// SPDX-License-Identifier: Apache-2.0
// Tests online selection among the shapes of programs on host communicators.
#include "ApiGroup.h"

#include "api/OnlineCalls.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <unistd.h>

using namespace gc3;
using namespace gc3::test;
using core::Arm;

namespace {

constexpr uint32_t rankCount = 3;
constexpr size_t large = size_t{3} << 16, small = 1000; ///< floats; large calls take several tiles

std::unique_ptr<bundle::BundleFile> open(const std::string &bytes) {
  std::unique_ptr<bundle::BundleFile> made;
  EXPECT_TRUE(bundle::BundleFile::openMemory(bytes.data(), bytes.size()).moveTo(made).ok());
  return made;
}

core::Request requestOf(size_t count, gc3RedOp_t op = gc3Max) {
  return {core::CallKind::Standard, "allreduce", nullptr, nullptr, count, gc3Float32, op, -1};
}

/// Online selection of a host communicator whose calls take the times that a function returns.
class Choices : api::OnlineCalls::Reader {
public:
  using Times = std::function<float(const Arm &)>;

  explicit Choices(Times microseconds, host::CallOptions options = {}, bool hasShapes = true)
      : bytes(buildBundle(differentAllReduces(rankCount))), file(open(bytes)), times(std::move(microseconds)),
        table(*file, site, tuned(std::move(options), hasShapes)), online(table, mutex) {}

  /// Makes calls. Returns their arms.
  std::vector<Arm> call(const core::Request &request, int calls) {
    std::vector<Arm> made;
    for (int c = 0; c < calls; ++c) {
      const api::OnlineCalls::Decision &decision = online.decide(++number, request, *this);
      chosen.push_back(decision.site ? api::OnlineCalls::armOf(decision) : Arm{});
      made.push_back(chosen.back());
    }
    return made;
  }
  std::vector<std::string> learnedArms() {
    const select::TuneFile learned = online.learned();
    std::vector<std::string> names;
    for (const select::TuneRow &row : learned.rows)
      names.push_back(row.arm);
    return names;
  }

private:
  static host::CallOptions tuned(host::CallOptions options, bool hasShapes) {
    options.tune.isOnline = true, options.tune.hasShapes = hasShapes;
    return options;
  }
  api::OnlineCalls::TimedCall lastTimed(uint64_t call) const override {
    return call < 2 ? api::OnlineCalls::TimedCall{}
                    : api::OnlineCalls::TimedCall{call - 1, times(chosen[call - 1]), false, false};
  }

  const std::string bytes;
  const std::unique_ptr<bundle::BundleFile> file;
  const Times times;
  std::mutex mutex;
  const host::Site site{rankCount};
  host::CallTable table;
  api::OnlineCalls online;
  uint64_t number = 0;
  std::vector<Arm> chosen{{}}; ///< by call; calls begin at 1
};

bool hasShapes(const std::vector<Arm> &arms) {
  return std::any_of(arms.begin(), arms.end(), [](const Arm &arm) { return arm.shape != core::Shape{}; });
}

float preferLargeTiles(const Arm &arm) {
  return arm == Arm{0, {.tile = 2}} ? 80.0F : 100.0F;
}

gc3HostConfig_t configOf(gc3Tune_t tune) {
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.tune = tune;
  return config;
}

/// Returns the arms in the file that a communicator saves.
std::vector<std::string> savedArms(const Group &group) {
  const std::string path = testing::TempDir() + "gc3-shapes-" + std::to_string(getpid());
  EXPECT_EQ(gc3CommSaveTuneFile(group.comms[0], path.c_str()), gc3Success) << gc3GetLastError(nullptr);
  const select::TuneResult file = select::loadTuneFile(path);
  std::vector<std::string> names;
  for (const select::TuneRow &row : file->rows)
    names.push_back(row.arm);
  std::filesystem::remove(path), std::filesystem::remove(path + ".lock");
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

} // namespace

TEST(Shapes, HaveTexts) {
  EXPECT_EQ(core::shapeSuffix({}), "");
  EXPECT_EQ(core::shapeSuffix({.tile = -2}), ",tile/4");
  EXPECT_EQ(core::shapeSuffix({.tile = 2}), ",tile*4");
  EXPECT_EQ(core::shapeSuffix({.threads = -1}), ",threads/2");
  EXPECT_EQ(core::shapeSuffix({.tile = -2, .threads = -1}), ",tile/4,threads/2");
}

TEST(Shapes, TheFastestIsChosen) {
  Choices choices(preferLargeTiles);
  EXPECT_EQ(choices.call(requestOf(large), 1), std::vector<Arm>{{}}) << "the first program in the default shape";
  choices.call(requestOf(large), 100);
  EXPECT_EQ(choices.call(requestOf(large), 1), (std::vector<Arm>{{0, {.tile = 2}}}));
  const std::vector<std::string> names = choices.learnedArms();
  EXPECT_EQ(std::count(names.begin(), names.end(), "chain,tile*4"), 1);
}

TEST(Shapes, NeedTheOption) {
  EXPECT_FALSE(hasShapes(Choices(preferLargeTiles, {}, false).call(requestOf(large), 200)));
}

/// Calls of one tile run alike in all shapes.
TEST(Shapes, NeedSeveralTiles) {
  EXPECT_FALSE(hasShapes(Choices(preferLargeTiles).call(requestOf(small), 200)));
}

TEST(Shapes, TheUsersSlotsTakePrecedence) {
  host::CallOptions options;
  options.layout.slotBytes = 4096;
  EXPECT_FALSE(hasShapes(Choices(preferLargeTiles, options).call(requestOf(large), 200)));
}

/// With equal bits, a rounded call keeps its program, but not its shape.
TEST(Shapes, RoundedCallsKeepTheirProgram) {
  host::CallOptions options;
  options.tune.keepsBits = true;
  Choices choices([](const Arm &arm) { return arm.shape.tile == 2 ? 80.0F : 100.0F; }, options);
  const std::vector<Arm> arms = choices.call(requestOf(large, gc3Sum), 100);
  EXPECT_TRUE(std::all_of(arms.begin(), arms.end(), [](const Arm &arm) { return arm.program == 0; }));
  EXPECT_EQ(arms.back(), (Arm{0, {.tile = 2}}));
}

/// Each shape has its own prepared calls, which later calls of the shape reuse.
TEST(Shapes, HavePreparedCalls) {
  const std::string bytes = buildBundle(differentAllReduces(rankCount));
  const std::unique_ptr<bundle::BundleFile> file = open(bytes);
  const host::Site site(rankCount);
  host::CallTable table(*file, site, {});
  Data data(rankCount, std::vector<float>(large, 1));
  std::vector<core::Request> requests;
  for (std::vector<float> &mine : data) {
    requests.push_back(requestOf(large));
    requests.back().send = requests.back().recv = mine.data();
  }
  ASSERT_TRUE(table.select(requests[0]).ok()); // loads the first program
  std::map<int8_t, const host::PreparedCall *> calls;
  uint64_t number = 0;
  const core::Shape byDefault, shorter{.tile = -2}, longer{.tile = 2};
  for (const core::Shape &shape : {byDefault, longer, shorter, byDefault, shorter, longer}) {
    const core::Result<host::Entered> entered = table.begin(requests, ++number, {}, Arm{0, shape});
    ASSERT_TRUE(entered.ok()) << entered.outcome().text;
    host::PreparedCall &call = *entered->call;
    for (uint32_t ended = 0; ended < rankCount;) {
      ended = 0;
      for (uint32_t rank = 0; rank < rankCount; ++rank) {
        call.sweep(rank, number, entered->sharing);
        ended += call.finished(rank, number);
      }
    }
    for (uint32_t rank = 0; rank < rankCount; ++rank)
      call.leave(rank);
    EXPECT_EQ(call.tile(), shape.tile);
    EXPECT_EQ(calls.emplace(shape.tile, &call).first->second, &call);
  }
  EXPECT_EQ(calls.size(), 3U);
}

/// Shapes change from call to call. All results have the bits of the first one.
TEST(Shapes, HaveEqualBits) {
  Group group(differentAllReduces(rankCount), rankCount, configOf(gc3TuneOnlineSameBitsShapes));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-1e3F, 1e3F);
  Data send(rankCount, std::vector<float>(large)), first;
  for (std::vector<float> &mine : send)
    std::generate(mine.begin(), mine.end(), [&] { return value(random); });
  for (int c = 0; c < 30; ++c) {
    Data recv(rankCount, std::vector<float>(large));
    for (const gc3Result_t result : group.threads([&](int r, gc3Comm_t comm) {
           return gc3AllReduce(send[r].data(), recv[r].data(), large, gc3Float32, gc3Sum, comm, nullptr);
         }))
      ASSERT_EQ(result, gc3Success);
    if (first.empty())
      first = recv;
    ASSERT_EQ(recv, first) << "call " << c;
  }
  const std::vector<std::string> names = savedArms(group);
  EXPECT_GE(names.size(), 2U);
  for (const std::string &name : names)
    EXPECT_EQ(name.substr(0, name.find(',')), "chain");
}

TEST(Shapes, KeepDataRight) {
  Group group(differentAllReduces(rankCount), rankCount, configOf(gc3TuneOnlineShapes));
  for (int c = 0; c < 40; ++c) {
    const auto send = [&](int r) { return std::vector<float>(large, static_cast<float>(r + c)); };
    Data data{send(0), send(1), send(2)}, recv(rankCount, std::vector<float>(large));
    const bool isInPlace = c % 3 == 0;
    for (const gc3Result_t result : group.threads([&](int r, gc3Comm_t comm) {
           return gc3AllReduce(data[r].data(), isInPlace ? data[r].data() : recv[r].data(), large, gc3Float32, gc3Sum,
                               comm, nullptr);
         }))
      ASSERT_EQ(result, gc3Success);
    ASSERT_EQ(isInPlace ? data : recv, Data(rankCount, std::vector<float>(large, static_cast<float>(3 * c + 3))));
  }
  const std::vector<std::string> names = savedArms(group);
  EXPECT_TRUE(
      std::any_of(names.begin(), names.end(), [](const std::string &name) { return name.find(',') != name.npos; }));
}

/// A frozen job runs the shape that earlier jobs have learned.
TEST(Shapes, EarlierJobsHaveLearnedThem) {
  const std::string path = testing::TempDir() + "gc3-shapes-earlier-" + std::to_string(getpid());
  const std::string bytes = buildBundle(differentAllReduces(rankCount));
  const select::TuneFile file{core::hostMachine(),
                              open(bytes)->digest(),
                              {{"allreduce", "float/max", false, rankCount, 1}},
                              {{0, 19, "chain", 60, 300, 0, 0}, {0, 19, "ring,tile/4", 60, 200, 0, 0}}};
  ASSERT_EQ(select::saveTuneFile(path, file), "");
  host::CallOptions options;
  options.tune.explorable = 0;
  options.earlier = core::loadLearned(path, core::hostMachine(), open(bytes)->digest());
  EXPECT_EQ(Choices(preferLargeTiles, options).call(requestOf(large), 3), (std::vector<Arm>(3, {2, {.tile = -2}})));
  EXPECT_EQ(Choices(preferLargeTiles, options, false).call(requestOf(large), 3), (std::vector<Arm>(3, {0, {}})));
  std::filesystem::remove(path);
}
