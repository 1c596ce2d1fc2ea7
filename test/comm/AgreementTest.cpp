// SPDX-License-Identifier: Apache-2.0
// When ranks join, they compare exactly the settings that core::settingTable lists as identical on all ranks.
#include "SettingsSupport.h"
#include "comm/RankInfo.h"

#include <gtest/gtest.h>

using namespace gc3;
using core::Agreement;
using core::Setting;
using core::SettingInfo;

namespace {

/// Two valid values of a setting.
struct Sample {
  const char *first, *second;
};

Sample sampleOf(Setting setting) {
  switch (setting) {
  case Setting::Bundles: return {"a.gc3b", "b.gc3b"};
  case Setting::NcclLib: return {"/a/libnccl.so.2", "/b/libnccl.so.2"};
  case Setting::GinLib: return {"/a/libgc3gin.so", "/b/libgc3gin.so"};
  case Setting::Library: return {"/a/libgc3.so.0", "/b/libgc3.so.0"};
  case Setting::Debug: return {"INFO", "WARN"};
  case Setting::Program: return {"ring", "tree"};
  case Setting::Tune: return {"off", "online"};
  case Setting::TuneBudget: return {"2", "0"};
  case Setting::TuneFile: return {"a.txt", "b.txt"};
  case Setting::TunerTable: return {"a.txt", "b.txt"};
  case Setting::TunerTimes: return {"a", "b"};
  case Setting::Slots: return {"4,LL:16", "4,LL:17"};
  case Setting::SlotBytes: return {"LL128:1024", "LL128:2048"};
  case Setting::Threads: return {"96", "128"};
  case Setting::LL128: return {"replace", "refuse"};
  case Setting::Direct: return {"0", "1"};
  case Setting::Switch: return {"0", "1"};
  case Setting::TimeoutMs: return {"0", "100"};
  case Setting::Trace: return {"a.json", "b.json"};
  case Setting::AllowUnproven: return {"0", "1"};
  case Setting::Secret: return {"a secret of users", "another secret of users"};
  case Setting::HostId: return {"a", "b"};
  case Setting::NcclGraphMixing: return {"0", "1"};
  case Setting::NcclInterfaces: return {"eth0", "eth1"};
  }
  __builtin_unreachable();
}

comm::RankInfo infoOfRank(const SettingInfo &info, const char *value) {
  const cuda::Options options =
      cuda::optionsOf(GC3_GPU_CONFIG_INITIALIZER, test::settingsOf({{std::string(info.name), value}}));
  EXPECT_TRUE(options.problem.ok()) << options.problem.text;
  comm::RankInfo made;
  made.set(options);
  return made;
}

/// Returns why two ranks with these values of a setting can't run programs together; empty if they can.
std::string disagreement(const SettingInfo &info, const char *first, const char *second) {
  const comm::RankInfo infos[] = {infoOfRank(info, first), infoOfRank(info, second)};
  return comm::disagreement(infos);
}

TEST(Agreement, RanksCompareWhatTheTableSays) {
  for (const SettingInfo &info : core::settingTable) {
    const auto [first, second] = sampleOf(info.setting);
    EXPECT_EQ(disagreement(info, first, first), "") << info.name;
    const bool isCompared = info.agreement == Agreement::Value || info.agreement == Agreement::IsNonzero;
    const std::string why = disagreement(info, first, second);
    EXPECT_EQ(why.rfind("rank 1 has ", 0) == 0, isCompared) << info.name << ": " << why;
    EXPECT_EQ(why.empty(), !isCompared) << info.name << ": " << why;
  }
}

TEST(Agreement, TimeLimitsMayDiffer) {
  EXPECT_EQ(disagreement(core::infoOf(Setting::TimeoutMs), "100", "200"), "");
}

/// The paths of bundles may differ between ranks, but their contents must not.
TEST(Agreement, ContentsOfBundles) {
  EXPECT_EQ(core::infoOf(Setting::Bundles).agreement, Agreement::Contents);
  comm::RankInfo infos[2];
  infos[1].bundles = 1;
  EXPECT_EQ(comm::disagreement(infos), "rank 1 has other bundles than rank 0");
}

} // namespace
