// SPDX-License-Identifier: Apache-2.0
// Tests the table of settings, the settings of an environment, and their messages.
#include "SettingsSupport.h"
#include "core/Log.h"
#include "core/SettingText.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace gc3;
using core::Setting;
using core::SettingInfo;
using core::Settings;
using gc3::test::settingsOf;

namespace {

TEST(Settings, EveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const SettingInfo &info : core::settingTable) {
    const std::string_view prefix = core::isOfNccl(info.setting) ? "NCCL_" : "GC3_";
    EXPECT_EQ(info.name.substr(0, prefix.size()), prefix);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(&core::infoOf(info.setting), &info);
    EXPECT_NE(info.page.find('#'), std::string_view::npos) << info.name;
    for (std::string_view text : {info.meaning, info.range, info.byDefault}) {
      EXPECT_FALSE(text.empty()) << info.name;
      EXPECT_EQ(text.find_first_of("\n|"), std::string_view::npos) << info.name << ": tables contain it in a cell";
      EXPECT_NE(text.back(), '.') << info.name;
    }
  }
  EXPECT_EQ(names.size(), core::settingCount);
}

TEST(Settings, EveryRowIsRead) {
  const Settings none = settingsOf({});
  for (const SettingInfo &info : core::settingTable) {
    EXPECT_FALSE(none.isSet(info.setting));
    const std::string name(info.name);
    const Settings settings = settingsOf({{name, "a=b, c"}});
    EXPECT_EQ(settings.text(info.setting), "a=b, c");
    for (const SettingInfo &other : core::settingTable)
      EXPECT_EQ(settings.isSet(other.setting), other.setting == info.setting) << other.name;
    EXPECT_FALSE(settingsOf({{name, ""}}).isSet(info.setting)) << "as if it were not set";
  }
}

TEST(Settings, TheFirstOfTwoEntriesCounts) {
  const char *const entries[] = {"GC3_SLOTS",      "GC3_SLOTSX=9",  "=", "GC3_SLOTS=", "GC3_SLOTS=2",
                                 "GC3_THREADS=32", "GC3_THREADS=64"};
  const Settings settings = Settings::read(entries);
  EXPECT_EQ(settings.text(Setting::Slots), "") << "like getenv";
  EXPECT_EQ(settings.text(Setting::Threads), "32");
}

TEST(Settings, DebugMayBeInfoOrTrace) {
  for (const char *value : {"INFO", "info", "Trace"})
    EXPECT_TRUE(settingsOf({{"GC3_DEBUG", value}}).isInfoEnabled()) << value;
  for (const char *value : {"", "WARN", "INFO ", "1"})
    EXPECT_FALSE(settingsOf({{"GC3_DEBUG", value}}).isInfoEnabled()) << value;
}

TEST(Settings, TheProcessReadsEachVariableOnce) {
  const std::string before = core::settings().text(Setting::Trace);
  const bool wasEnabled = core::isInfoEnabled();
  core::settingsAfterNccl();
  for (const SettingInfo &info : core::settingTable)
    setenv(std::string(info.name).c_str(), "changed", 1);
  for (const SettingInfo &info : core::settingTable) {
    EXPECT_NE(core::settings().text(info.setting), "changed") << info.name;
    EXPECT_NE(core::settingsAfterNccl().text(info.setting), "changed") << info.name;
    unsetenv(std::string(info.name).c_str());
  }
  EXPECT_EQ(core::settings().text(Setting::Trace), before);
  EXPECT_EQ(core::isInfoEnabled(), wasEnabled);
}

TEST(Settings, NcclChangesItsOwnOnly) {
  const Settings before = settingsOf({{"GC3_SLOTS", "2"}});
  const Settings after = before.withNcclOf(settingsOf({{"GC3_SLOTS", "3"}, {"NCCL_GRAPH_MIXING_SUPPORT", "0"}}));
  EXPECT_EQ(after.text(Setting::Slots), "2");
  EXPECT_FALSE(after.mixesGraphs());
  EXPECT_EQ(core::changedLines(before, after),
            (std::vector<std::string>{"setting NCCL_GRAPH_MIXING_SUPPORT=0 (changed by NCCL or the application)"}));
  EXPECT_EQ(core::changedLines(before, before), std::vector<std::string>{});
}

TEST(Settings, LinesHaveEachValueAndItsOrigin) {
  for (const SettingInfo &info : core::settingTable) {
    const std::string name(info.name);
    const std::vector<std::string> lines = core::settingLines(settingsOf({{name, "x y"}}));
    ASSERT_EQ(lines.size(), 2u);
    const std::string value = info.setting == Setting::Secret ? "(hidden)" : "x y";
    EXPECT_EQ(lines[0], "setting " + name + "=" + value + " (environment)");
    EXPECT_EQ(lines[1].rfind("settings by default: ", 0), 0u);
    for (const SettingInfo &other : core::settingTable) {
      const std::string text = std::string(other.name) + " (" + std::string(other.byDefault) + ")";
      EXPECT_EQ(lines[1].find(text) != std::string::npos, other.setting != info.setting) << other.name;
    }
  }
}

TEST(Settings, UnknownVariables) {
  const Settings settings = settingsOf({{"GC3_BUNDLE", ""},
                                        {"GC3_CUDA_ARCHITECTURES", "90"},
                                        {"GC3_LOCAL_RANK", "1"},
                                        {"GC3_SLOTS", "4"},
                                        {"gc3_slots", "4"},
                                        {"MY_GC3_SLOTS", "4"},
                                        {"NCCL_DEBUG", "INFO"},
                                        {"GC3_", "1"}});
  EXPECT_EQ(settings.unknownNames(), (std::vector<std::string>{"GC3_", "GC3_BUNDLE"}));
}

TEST(Settings, TheNearestName) {
  const auto nearest = [](std::string_view name) {
    const SettingInfo *info = core::nearestSetting(name);
    return info ? info->name : "";
  };
  for (const SettingInfo &info : core::settingTable) {
    const std::string name(info.name);
    EXPECT_EQ(nearest(name.substr(0, name.size() - 1)), name);
    EXPECT_EQ(nearest(name + "X"), name);
    EXPECT_EQ(nearest("GC3_Q" + name.substr(name.find('_') + 2)), name);
  }
  for (auto [name, expected] : {std::pair("GC3_BUNDLE", "GC3_BUNDLES"),
                                {"GC3_TIMEOUT", "GC3_TIMEOUT_MS"},
                                {"GC3_Debug", "GC3_DEBUG"},
                                {"GC3_SLOTBYTES", "GC3_SLOT_BYTES"},
                                {"GC3_PROGRAMS", "GC3_PROGRAM"},
                                {"GC3_ALLOW_UNPROVED", "GC3_ALLOW_UNPROVEN"},
                                {"GC3_", ""},
                                {"GC3_X", ""},
                                {"GC3_CHANNELS", ""},
                                {"GC3_PROTOCOL", ""}})
    EXPECT_EQ(nearest(name), expected) << name;
  EXPECT_EQ(core::unknownWarning("GC3_BUNDLE"), "unknown variable GC3_BUNDLE; did you mean GC3_BUNDLES?");
  EXPECT_EQ(core::unknownWarning("GC3_CHANNELS"),
            "unknown variable GC3_CHANNELS; 'gc3-run --settings' lists the variables");
}

TEST(Settings, EditDistances) {
  EXPECT_EQ(core::editDistance("", ""), 0u);
  EXPECT_EQ(core::editDistance("", "abc"), 3u);
  EXPECT_EQ(core::editDistance("abc", ""), 3u);
  EXPECT_EQ(core::editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(core::editDistance("abcdef", "abdef"), 1u);
}

TEST(Settings, TheTableHasEachSettingWithItsValue) {
  const std::string text = core::settingsTable(settingsOf({{"GC3_LL128", "refuse"}}));
  EXPECT_NE(text.find("GC3_LL128\n  value      refuse\n  origin     environment\n"), std::string::npos) << text;
  EXPECT_NE(text.find("GC3_ALLOW_UNPROVEN\n  value      0\n  origin     default\n"), std::string::npos) << text;
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(lines, 9 * core::settingCount);
}

TEST(Settings, TheSecretIsHidden) {
  const std::string text = core::settingsTable(settingsOf({{"GC3_SECRET", "0123456789abcdef"}}));
  EXPECT_NE(text.find("GC3_SECRET\n  value      (hidden)\n  origin     environment\n"), std::string::npos) << text;
}

TEST(Settings, ErrorsNameTheRange) {
  EXPECT_EQ(core::outOfRange(Setting::LL128, "no"), "GC3_LL128 is 'no'; it can be replace or refuse");
  EXPECT_EQ(core::outOfRange(Setting::TimeoutMs, "20s"),
            "GC3_TIMEOUT_MS is '20s'; it can be a number of milliseconds up to 4294967295, or 0 for the default");
}

} // namespace
