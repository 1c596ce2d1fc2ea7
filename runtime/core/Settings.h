// SPDX-License-Identifier: Apache-2.0
// Environment variables of the runtime. One table describes them. Messages, `gc3-run --settings`, the manual pages and
// docs/deploy.md (scripts/settings.py) take their text from it. Only Settings.cpp reads the environment.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::core {

enum class Setting : uint8_t {
  Bundles,
  NcclLib,
  GinLib,
  Library,
  Debug,
  Program,
  Tune,
  TuneBudget,
  TuneFile,
  Slots,
  SlotBytes,
  Threads,
  LL128,
  Direct,
  Switch,
  TimeoutMs,
  Trace,
  AllowUnproven,
  TunerTable,
  TunerTimes,
  Secret,
  HostId,
  NcclGraphMixing, ///< this and the next one are settings of NCCL, which gc3 reads, too
  NcclInterfaces,
};
inline constexpr size_t settingCount = static_cast<size_t>(Setting::NcclInterfaces) + 1;

/// The property of a setting that must be identical on all ranks. Ranks compare it when they join, except for
/// `Unchecked`.
enum class Agreement : uint8_t {
  None,
  Value,
  Contents,  ///< the contents of the files that the value names
  IsNonzero, ///< whether the value is set and is not 0
  Unchecked, ///< the value; ranks do not compare it
};

/// Libraries and tools that read a setting.
enum class Reader : uint8_t {
  Front,     ///< libgc3nccl.so
  Tuner,     ///< libgc3tuner.so
  Python,    ///< the Python package gc3
  Libraries, ///< libgc3.so, libgc3nccl.so
  All,       ///< libgc3.so, libgc3nccl.so, gc3-run
};

/// A row of the table. All texts are single lines without a full stop at the end.
struct SettingInfo {
  Setting setting;
  std::string_view name;
  std::string_view meaning;
  std::string_view range;     ///< in words; completes "it can be ..."
  std::string_view byDefault; ///< the default, in words
  Agreement agreement;
  Reader reader;
  std::string_view page; ///< page and section in docs/ with details; empty: none
};

/// Indexed by `Setting`.
extern const std::array<SettingInfo, settingCount> settingTable;

inline const SettingInfo &infoOf(Setting setting) {
  return settingTable[static_cast<size_t>(setting)];
}

/// Returns true for settings that NCCL reads, too.
constexpr bool isOfNccl(Setting setting) {
  return setting >= Setting::NcclGraphMixing;
}

/// Values of the settings in one environment. An empty value counts as not set.
class Settings {
public:
  /// Reads `NAME=VALUE` entries. If several entries have the same name, the first counts, as for getenv.
  static Settings read(std::span<const char *const> environment);

  /// Returns the value of a setting; empty if the setting is not set.
  const std::string &text(Setting setting) const { return values[static_cast<size_t>(setting)]; }
  bool isSet(Setting setting) const { return !text(setting).empty(); }
  /// Returns what logs show as the value of a setting.
  std::string shown(Setting setting) const {
    return isSet(setting) && setting == Setting::Secret ? "(hidden)" : text(setting);
  }

  /// Returns the names of variables that begin with GC3_ and are no settings, options of the build or
  /// variables of a launch.
  const std::vector<std::string> &unknownNames() const { return unknown; }

  /// Returns true if GC3_DEBUG is INFO or TRACE, ignoring case.
  bool isInfoEnabled() const;
  /// Returns false if NCCL_GRAPH_MIXING_SUPPORT is 0 in a notation that NCCL accepts, else true.
  bool mixesGraphs() const;

  /// Returns a copy that has the values of NCCL's own settings from `later`.
  Settings withNcclOf(const Settings &later) const;

private:
  std::array<std::string, settingCount> values;
  std::vector<std::string> unknown;
};

/// Returns the environment of this process, as NAME=VALUE entries.
std::span<const char *const> environment();

/// Returns the settings of this process. Thread-safe. The first call reads the environment, then reports on stderr:
/// unknown variables, and with GC3_DEBUG=INFO each setting with its value and origin. Later changes of the environment
/// have no effect. Tests that need other values pass their own `Settings` (cuda/Options.h, api/Init.h).
const Settings &settings();

/// Like settings(), but with the values that NCCL's own settings have at the first call of this function. NCCL sets its
/// variables from nccl.conf when it creates the first communicator, so callers must create a communicator first.
/// Thread-safe.
const Settings &settingsAfterNccl();

/// Returns the error text for a value outside the setting's range: "NAME is 'VALUE'; it can be RANGE".
std::string outOfRange(Setting setting, std::string_view value);

} // namespace gc3::core
