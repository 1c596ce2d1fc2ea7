// SPDX-License-Identifier: Apache-2.0
// The only file that reads the environment.
#include "core/Settings.h"

#include "core/Log.h"
#include "core/SettingText.h"

#include <algorithm>
#include <cstdlib>
#include <strings.h>
#include <unistd.h>
#include <utility>

namespace gc3::core {

namespace {

/// Options of gc3's CMake build. They are not reported as unknown, because some users export them as variables.
constexpr std::string_view buildOptions[] = {"GC3_COMPILER", "GC3_CUDA",        "GC3_CUDA_ARCHITECTURES",
                                             "GC3_FUZZERS",  "GC3_GPU_BUNDLES", "GC3_INSTALL",
                                             "GC3_SYNTH",    "GC3_TESTS",       "GC3_UCX",
                                             "GC3_WERROR"};

/// Variables of the launch of a process, which job/Launcher.h reads.
constexpr std::string_view launchVariables[] = {"GC3_RANK",        "GC3_RANKS", "GC3_LOCAL_RANK",
                                                "GC3_LOCAL_RANKS", "GC3_ROOT",  "GC3_JOB"};

bool isUnknown(std::string_view name) {
  const auto lists = [&](const auto &names) { return std::ranges::find(names, name) != std::end(names); };
  return name.substr(0, 4) == "GC3_" && !lists(buildOptions) && !lists(launchVariables);
}

Settings readProcess() {
  return Settings::read(environment());
}

/// Must not call the function isInfoEnabled(): it waits for settings(), and settings() calls this function.
void report(const Settings &settings) {
  for (const std::string &name : settings.unknownNames())
    log(unknownWarning(name));
  if (settings.isInfoEnabled())
    for (const std::string &line : settingLines(settings))
      log(line);
}

} // namespace

std::span<const char *const> environment() {
  size_t count = 0;
  while (environ && environ[count])
    ++count;
  return {environ, count};
}

Settings Settings::read(std::span<const char *const> environment) {
  Settings settings;
  std::array<bool, settingCount> isRead{};
  for (const std::string_view entry : environment) {
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name.size() == entry.size())
      continue;
    const auto row = std::find_if(settingTable.begin(), settingTable.end(),
                                  [&](const SettingInfo &info) { return info.name == name; });
    if (const auto place = static_cast<size_t>(row - settingTable.begin()); place == settingCount) {
      if (isUnknown(name))
        settings.unknown.emplace_back(name);
    } else if (!std::exchange(isRead[place], true)) {
      settings.values[place] = entry.substr(name.size() + 1);
    }
  }
  return settings;
}

bool Settings::isInfoEnabled() const {
  const char *level = text(Setting::Debug).c_str();
  return strcasecmp(level, "INFO") == 0 || strcasecmp(level, "TRACE") == 0;
}

bool Settings::mixesGraphs() const {
  const char *number = text(Setting::NcclGraphMixing).c_str();
  char *end = nullptr;
  return std::strtoll(number, &end, 0) != 0 || end == number;
}

Settings Settings::withNcclOf(const Settings &later) const {
  Settings merged = *this;
  for (const SettingInfo &info : settingTable)
    if (isOfNccl(info.setting))
      merged.values[static_cast<size_t>(info.setting)] = later.text(info.setting);
  return merged;
}

// The objects are never destroyed: other threads can call these functions while the process ends.
const Settings &settings() {
  static const Settings &own = []() -> const Settings & {
    const auto &read = *new Settings(readProcess());
    report(read);
    return read;
  }();
  return own;
}

const Settings &settingsAfterNccl() {
  static const Settings &own = []() -> const Settings & {
    const auto &merged = *new Settings(settings().withNcclOf(readProcess()));
    if (merged.isInfoEnabled())
      for (const std::string &line : changedLines(settings(), merged))
        log(line);
    return merged;
  }();
  return own;
}

std::string outOfRange(Setting setting, std::string_view value) {
  const SettingInfo &info = infoOf(setting);
  return std::string(info.name) + " is '" + std::string(value) + "'; it can be " + std::string(info.range);
}

} // namespace gc3::core
